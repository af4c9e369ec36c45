/* SPDX-License-Identifier: Apache-2.0 */
/* help.h - what `fabricast help` prints, for other commands that print the same. */
#pragma once

#include <glib.h>

/* Prints paragraphs of prose, which empty lines divide; an indented line stays as it is. */
void fab_help_print (const char *text);

/* Prints what a term of the glossary means. FALSE and *error, with the nearest term, when there is none. */
gboolean fab_help_term (const char *name, GError **error);
