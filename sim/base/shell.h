/* SPDX-License-Identifier: Apache-2.0 */
/* shell.h - words of commands that the program prints, as a shell reads them. */
#pragma once

#include <glib.h>

/* Returns the word as it is where it has letters, digits and ./_=+-:,%@ only, and in quotes otherwise. (transfer
 * full) */
char *fab_shell_word (const char *word);
