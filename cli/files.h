/* SPDX-License-Identifier: Apache-2.0 */
/* files.h - files that a command is given: read up to a limit, written without harm to what is no plain file. */
#pragma once

#include <glib.h>

/* The whole of a file, of standard input for "-"; what is larger than `limit_bytes` is refused, so that a device
 * cannot fill the memory. Ends with a NUL beyond `size`. */
gboolean fab_cli_read_file (const char *path, gsize limit_bytes, char **text, gsize *size, GError **error);

/* Plain files (where links lead) are replaced whole or not at all; to devices and pipes it is written. */
gboolean fab_cli_write_file (const char *path, const char *text, GError **error);
