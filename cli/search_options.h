/* SPDX-License-Identifier: Apache-2.0 */
/* search_options.h - options of the commands that search for a better scenario: plan, tune, upgrade. */
#pragma once

#include "sim/study/study.h"

/* -o FILE: fails when `path`, which may be NULL, cannot become that file. Asked before the search, which takes long;
 * what is printed goes to standard error from now on when standard output is the file. */
gboolean fab_search_option_check_out (const FabStudy *study, const char *path, GError **error);

/* -o FILE: writes the study's scenario with these edits, which were found, to a file, with every default spelt out,
 * under a comment that says `why`. */
gboolean fab_search_option_out (const FabStudy *study, const FabEdits *edits, const char *why,
                                const char *path, GError **error);

/* --by NAME: finds a figure by its name; NULL means the usual one. Returns NULL and *error, which lists all names, if
 * there is none. */
const FabFigure *fab_search_option_by (const char *name, GError **error);

/* --memory 80GB: parses it; NULL gives 0. */
gboolean fab_search_option_memory (const char *text, FabBytes *bytes, GError **error);

/* Formats gigabytes (10^9 bytes) as "13.5" or "118". (transfer full) */
char *fab_search_gigabytes (double bytes);
