/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_source.h - the text that YAML is read from, and places in it: private to yaml_*.c.
 *
 * A source is a file or one --set assignment. Marks point into its copy of the text, so it
 * lives as long as the document. Lines end at LF, CRLF or CR; columns are characters.
 */
#pragma once

#include "sim/scenario/diagnostics.h"

typedef struct {
  char *file;
  char *data; /* without byte order mark, with a NUL behind */
  gsize size;
  GArray *lines;      /* gsize: where each line begins */
  gboolean is_inline; /* an assignment: marks carry line 0 */
} FabYamlSource;

FabYamlSource *fab_yaml_source_new (const char *file, const char *data, gsize size);
/* The text of a file, cut behind what fab_yaml_source_check allows; NULL and *error when it cannot be read. */
FabYamlSource *fab_yaml_source_load (const char *path, GError **error);
/* `path` as the text at `mark` means it: relative to its file, to the working directory when it has none.
 * (transfer full) */
char *fab_yaml_source_beside (const FabMark *mark, const char *path);
void fab_yaml_source_free (FabYamlSource *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabYamlSource, fab_yaml_source_free)

/* FALSE: a diagnostic says why this cannot be YAML text (size, encoding, NUL, odd line ends). */
gboolean fab_yaml_source_check (const FabYamlSource *self, FabDiagnostics *diagnostics);

/* `line` and `column` count from 0 here, as libyaml has them; places behind the end are moved to it. */
FabMark fab_yaml_source_mark (const FabYamlSource *self, gsize line, gsize column, gsize length);
FabMark fab_yaml_source_mark_at (const FabYamlSource *self, gsize offset);
/* The character at a mark; 0 at the end of its line. */
gunichar fab_yaml_source_char (const FabMark *mark);
