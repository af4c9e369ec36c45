/* SPDX-License-Identifier: Apache-2.0 */
/* import.h - declares what the files of `fabricast import` share. */
#pragma once

#include "cli/cli.h"

#define IMPORT_NOT_SAID G_MININT64

/* The options as given; NULL or IMPORT_NOT_SAID: not given. */
typedef struct {
  char *format, *out;
  char *accelerator, *nic, *name; /* for machines */
  gint64 n_nodes;
  char *system, *source, *size, *print_format; /* for measurements */
  gint64 n_ranks;
} ImportOptions;

/* Says whether `text` holds measurements, by --from or by its content. A text that is a machine too counts as a
 * machine. */
gboolean import_is_measured (const ImportOptions *o, const char *text);

/* Reads measurements from the files (NULL-ended), of which the first was already read, and writes them to --out or
 * prints them. FALSE with the mistakes of all files. */
gboolean import_measurements (const ImportOptions *o, char **paths, char *first_text, gsize first_size,
                              GError **error);
