/* SPDX-License-Identifier: Apache-2.0 */
/* files.h - files that a command is given: read up to a limit, written without harm to what is no plain file. */
#pragma once

#include "sim/scenario/value.h"

/* The whole of a file, of standard input for "-"; what is larger than `limit_bytes` is refused, so that a device
 * cannot fill the memory. Ends with a NUL beyond `size`. */
gboolean fab_cli_read_file (const char *path, gsize limit_bytes, char **text, gsize *size, GError **error);

/* What `fabricast measure` and runs write. */
gboolean fab_cli_is_database (const char *path);

/* Whether --out, which may be NULL, is none of the files (NULL-ended) that are read. */
gboolean fab_cli_check_out (const char *out, char *const *files, GError **error);

/* The value of `include` that the files of --with (NULL-ended) stand for. NULL and *error for one that cannot be read.
 * (transfer full) */
FabValue *fab_cli_with (char **files, GError **error);

/* Plain files (where links lead) are replaced whole or not at all; to devices and pipes it is written. A database,
 * which may hold hours of measuring, is never replaced. */
gboolean fab_cli_write_file (const char *path, const char *text, GError **error);
