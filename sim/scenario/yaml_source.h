/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_source.h - the text from which YAML is read, and positions in it: private to yaml_*.c.
 *
 * A source is a file or one --set assignment. Marks point into its copy of the text, so it lives as long as the
 * document. Lines end at LF, CRLF or CR; columns count characters.
 */
#pragma once

#include "sim/scenario/diagnostics.h"

typedef struct {
  char *file;
  char *data; /* without byte order mark, NUL-terminated */
  gsize size;
  GArray *lines;      /* gsize: start of each line */
  gboolean is_inline; /* an assignment: its marks have line 0 */
} FabYamlSource;

FabYamlSource *fab_yaml_source_new (const char *file, const char *data, gsize size);
/* Reads a file, cut off after the size that fab_yaml_source_check allows; NULL and *error when it cannot be read. */
FabYamlSource *fab_yaml_source_load (const char *path, GError **error);
/* Returns `path` as the text at `mark` means it: relative to that text's file, or to the working directory when it has
 * no file. (transfer full) */
char *fab_yaml_source_beside (const FabMark *mark, const char *path);
void fab_yaml_source_free (FabYamlSource *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabYamlSource, fab_yaml_source_free)

/* Returns FALSE and adds a diagnostic when this cannot be YAML text (size, encoding, NUL, unusual line ends). */
gboolean fab_yaml_source_check (const FabYamlSource *self, FabDiagnostics *diagnostics);

/* `line` and `column` count from 0 here, as in libyaml. Positions behind the end are moved to the end. */
FabMark fab_yaml_source_mark (const FabYamlSource *self, gsize line, gsize column, gsize length);
FabMark fab_yaml_source_mark_at (const FabYamlSource *self, gsize offset);
/* Returns the character at a mark; 0 at the end of its line. */
gunichar fab_yaml_source_char (const FabMark *mark);
