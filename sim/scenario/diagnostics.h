/* SPDX-License-Identifier: Apache-2.0 */
/* diagnostics.h - what is wrong with an input, all of it, each at its place.
 *
 * A diagnostic prints as
 *
 *   scenario.yaml:12:9: unknown key 'bandwith'; nearest is 'bandwidth'
 *      12 |   link: {bandwith: 200Gb/s}
 *         |          ^~~~~~~~
 *
 * and one in an assignment of the command line as `--set: cluster.nodez=8: unknown key ...`.
 */
#pragma once

#include <glib.h>

typedef struct {
  const char *file; /* path as the user gave it, or "--set"; not owned: lives as long as the document */
  guint line;       /* from 1; 0: no line number, the text is the place */
  guint column;     /* from 1, in characters */
  guint length;     /* characters to underline, at least 1 */
  const char *text; /* the source line, not terminated by it; NULL: unknown */
  gsize text_length;
} FabMark;

typedef struct _FabDiagnostics FabDiagnostics;

FabDiagnostics *fab_diagnostics_new (void);
void fab_diagnostics_free (FabDiagnostics *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabDiagnostics, fab_diagnostics_free)

/* `mark` may be NULL for what has no position. Everything is copied. The same message at the same place
 * counts once. */
void fab_diagnostics_add (FabDiagnostics *self, const FabMark *mark, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
guint fab_diagnostics_count (const FabDiagnostics *self);

/* fab_nearest, until there are so many mistakes that a hint is no longer worth its time; NULL then. */
const char *fab_diagnostics_nearest (const FabDiagnostics *self, const char *word,
                                     const char *const *candidates);

/* All of them, in file and line order, as a person reads them. At most 50 are spelt
 * out; the rest is counted. */
char *fab_diagnostics_format (const FabDiagnostics *self);

/* Sets *error (FAB_ERROR_INPUT, the formatted text) and returns FALSE when there are any. */
gboolean fab_diagnostics_check (const FabDiagnostics *self, GError **error);

/* The nearest of `candidates` (NULL-ended) by edit distance, or NULL when none is near. */
const char *fab_nearest (const char *word, const char *const *candidates);
