/* SPDX-License-Identifier: Apache-2.0 */
/* questions.h - `fabricast help how many nics`: a question in a person's words, answered by commands that work. */
#pragma once

#include <glib.h>

/* Says whether the words are a question, and not the name of a topic or a term: they begin with "how", "which" or the
 * like, end with a question mark, or are three or more. */
gboolean fab_is_question (const char *text);

/* Returns the answers that have most words in common with the question, at most three: each with its command. NULL:
 * none has any. (transfer full) */
char *fab_question_answers (const char *text);

/* Returns the term that a question asks the meaning of: "rail" of "what is a rail?", "MFU" of "what does MFU mean".
 * NULL: it asks for something else. (transfer full) */
char *fab_question_term (const char *text);
