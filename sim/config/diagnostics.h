/* SPDX-License-Identifier: Apache-2.0 */
/* diagnostics.h - collects all mistakes of an input, each with its position.
 *
 * A diagnostic prints as
 *
 *   scenario.yaml:12:9: unknown key 'bandwith'; nearest is 'bandwidth'
 *      12 |   link: {bandwith: 200Gb/s}
 *         |          ^~~~~~~~
 *
 * and one in an assignment of an option as `--set: cluster.nodez=8: unknown key ...`. The collection copies
 * what it needs; one thread at a time may use it.
 */
#pragma once

#include <glib.h>

typedef struct {
  const char *file; /* path as the user gave it, or an option ("--set"); owned by the document */
  guint line;       /* from 1; 0: no line number, the text is the position */
  guint column;     /* from 1, in characters */
  guint length;     /* characters to underline, at least 1 */
  const char *text; /* the source line, not NUL-terminated at its end; NULL: unknown */
  gsize text_length;
} FabMark;

/* TRUE in an assignment, such as that of `--set`: there is no file with lines. */
static inline gboolean
fab_mark_is_assignment (const FabMark *self)
{
  return self->line == 0 && self->text != NULL;
}

typedef struct _FabDiagnostics FabDiagnostics;

FabDiagnostics *fab_diagnostics_new (void);
FabDiagnostics *fab_diagnostics_copy (const FabDiagnostics *self);
void fab_diagnostics_free (FabDiagnostics *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabDiagnostics, fab_diagnostics_free)

/* Adds a mistake. `mark` may be NULL for a mistake without position. Everything is copied. The same message at the
 * same position counts once. */
void fab_diagnostics_add (FabDiagnostics *self, const FabMark *mark, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
/* Adds all mistakes of another collection. */
void fab_diagnostics_add_all (FabDiagnostics *self, const FabDiagnostics *other);

/* Returns the line and column of the first mistake; 0 when it has none. */
guint fab_diagnostics_first (const FabDiagnostics *self, guint *column);
guint fab_diagnostics_count (const FabDiagnostics *self);

/* Returns fab_nearest (), or NULL once there are so many mistakes that a hint is not worth its time. */
const char *fab_diagnostics_nearest (const FabDiagnostics *self, const char *word,
                                     const char *const *candidates);

/* Returns all mistakes in the order of files and lines, as a person reads them. At most 50 are spelt out; the rest is
 * counted. (transfer full) */
char *fab_diagnostics_format (const FabDiagnostics *self);

/* Returns FALSE and sets *error (FAB_ERROR_INPUT, the formatted text) when there are mistakes. */
gboolean fab_diagnostics_check (const FabDiagnostics *self, GError **error);

/* A mistake as it was formatted. */
typedef struct {
  char *message;
  char *file; /* NULL: it has no position; the option of an assignment, whose text is in `source` */
  guint line, column;
  char *source; /* the printable part of the source line; NULL: unknown */
} FabDiagnostic;

/* Returns the mistakes (FabDiagnostic) of a text that fab_diagnostics_format () made. Any other text is one mistake
 * without a position. The array frees what its rows own. (transfer full) */
GArray *fab_diagnostics_parse (const char *text);
