/* SPDX-License-Identifier: Apache-2.0 */
/* files.h - reads files up to a limit, and writes them without damage to devices, pipes and databases. */
#pragma once

#include "sim/scenario/scenario.h"

/* Reads a whole text, without the mark of UTF-8 before it; "-" is standard input. Refuses more than `limit_bytes`, so
 * that a device cannot fill the memory.
 * The text ends with a NUL beyond `size`. */
gboolean fab_cli_read_file (const char *path, gsize limit_bytes, char **text, gsize *size, GError **error);

/* What a shell gives as a file and is a pipe, as <(COMMAND) and /dev/stdin, can be read once, but a scenario is looked
 * into more than once. Its descriptor becomes that of a temporary file with the text. Other files stay as they are. */
void fab_cli_keep_pipe (const char *path);

/* Fails when a file that `option` ("--out") names, and that is to be written at the end, is one of the files
 * (NULL-ended, or NULL) that the command needs, or in a folder of which it needs the files. `out` may be NULL or "-",
 * which pass. */
gboolean fab_cli_check_apart (const char *option, const char *out, char *const *files, GError **error);

/* Fails also when it is a database, or in a place where nothing can be written. Commands that compute for long ask this
 * first. */
gboolean fab_cli_check_out (const char *option, const char *out, char *const *files, GError **error);

/* The same of the files that a scenario was read from and of those that it names; `other` is one more, or NULL. */
gboolean fab_cli_check_scenario_out (const char *option, const char *out, const FabScenario *scenario,
                                     const char *other, GError **error);

/* What g_print prints goes to standard error from now on when `out` (which may be NULL) is "-": standard output is the
 * file then. */
void fab_cli_keep_stdout (const char *out);

/* Returns the value of `include` for the files of --with (NULL-ended). NULL and *error when one cannot be read.
 * (transfer full) */
FabValue *fab_cli_with (char **files, GError **error);

/* Writes a file; "-" is standard output. A plain file (links are followed) is replaced whole or not at all; devices and
 * pipes are written to. A database, which may hold hours of measurements, is never replaced. */
gboolean fab_cli_write_file (const char *path, const char *text, GError **error);
