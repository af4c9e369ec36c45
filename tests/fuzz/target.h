/* SPDX-License-Identifier: Apache-2.0 */
/* target.h - what every fuzz target defines, and what it may ask of messages. */
#pragma once

#include <glib.h>

/* Takes an input that anybody may have written. It returns 0, and ends the process where something is wrong. */
int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* A refusal has a sentence that a terminal can show. */
static inline void
fuzz_check_message (const GError *error)
{
  if (error == NULL || error->message == NULL || error->message[0] == '\0'
      || !g_utf8_validate (error->message, -1, NULL))
    g_error ("refused without a message");
}

/* Whatever a file says, what is printed of it is UTF-8. */
static inline void
fuzz_check_text (const char *text)
{
  if (text == NULL || !g_utf8_validate (text, -1, NULL))
    g_error ("a text that is no UTF-8");
}
