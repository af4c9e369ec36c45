/* SPDX-License-Identifier: Apache-2.0 */
/* best.h - what commands that look for a better scenario do with the one that they found. */
#pragma once

#include "sim/study/study.h"

/* "NAME: summary" of the scenario of the study, printable. (transfer full); NULL and *error. */
char *fab_best_title (const FabStudy *study, GError **error);

/* Writes the study's scenario with these edits as a file of its own, every default spelt out, under a comment
 * that says `why`. */
gboolean fab_best_write (const FabStudy *study, const FabEdits *edits, const char *why, const char *path,
                         GError **error);

/* A figure by its name, or the usual one for NULL; NULL and *error with all names. */
const FabFigure *fab_best_figure (const char *name, GError **error);

/* "80GB" of an option, 0 for NULL. */
gboolean fab_best_memory (const char *text, FabBytes *bytes, GError **error);

/* "13.5", "118": gigabytes (10^9). (transfer full) */
char *fab_best_gb (double bytes);
