/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/base/shell.h"

#include <string.h>

char *
fab_shell_word (const char *word)
{
  static const char plain[] = G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "./_=+-:,%@";

  return *word != '\0' && strspn (word, plain) == strlen (word) ? g_strdup (word) : g_shell_quote (word);
}
