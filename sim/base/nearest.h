/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.h - the name that somebody meant who wrote another one. */
#pragma once

#include <glib.h>

/* Returns the nearest of `candidates` (NULL-ended) by edit distance, or NULL when none is near. */
const char *fab_nearest (const char *word, const char *const *candidates);
/* Returns up to four of the names, the shortest first, whose `summaries` have the letters and digits of the word, as
 * "ib-edr, ib-hdr"; NULL: none has. (transfer full) */
char *fab_nearest_said (const char *word, const char *const *names, const char *const *summaries);
/* Returns "; nearest is NAME" for a message, of a list separated by ", ", or "". (transfer full) */
char *fab_nearest_note (const char *word, const char *list);
