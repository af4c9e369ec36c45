/* SPDX-License-Identifier: Apache-2.0 */
/* import.h - what the files of `fabricast import` share. */
#pragma once

#include "cli/cli.h"

#define IMPORT_NOT_SAID G_MININT64

/* As it was typed; NULL or IMPORT_NOT_SAID where it was not. */
typedef struct {
  char *format, *out;
  char *accelerator, *nic, *name; /* of machines */
  gint64 n_nodes;
  char *system, *source, *size, *print_format; /* of measurements */
  gint64 n_ranks;
} ImportOptions;

/* Does `text` hold measurements, as --from says or by its content? What is a machine as well is a machine. */
gboolean import_is_measured (const ImportOptions *o, const char *text);

/* Reads measurements of the files (NULL-ended), whose first one's text is known, and writes them to --out or prints
 * them. FALSE with the mistakes of all of them. */
gboolean import_measurements (const ImportOptions *o, char **paths, char *first_text, gsize first_size,
                              GError **error);
