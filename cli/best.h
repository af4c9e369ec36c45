/* SPDX-License-Identifier: Apache-2.0 */
/* best.h - helpers of the commands that search for a better scenario. */
#pragma once

#include "sim/study/study.h"

/* Returns "NAME: summary" of the study's scenario, printable; NULL and *error on failure. (transfer full) */
char *fab_best_title (const FabStudy *study, GError **error);

/* Writes the study's scenario with these edits to a file, with every default spelt out, under a comment that says
 * `why`. */
gboolean fab_best_write (const FabStudy *study, const FabEdits *edits, const char *why, const char *path,
                         GError **error);

/* Finds a figure by its name; NULL means the usual one. Returns NULL and *error, which lists all names, if there is
 * none. */
const FabFigure *fab_best_figure (const char *name, GError **error);

/* Parses "80GB" of an option; NULL gives 0. */
gboolean fab_best_memory (const char *text, FabBytes *bytes, GError **error);

/* Formats gigabytes (10^9 bytes) as "13.5" or "118". (transfer full) */
char *fab_best_gb (double bytes);
