/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - YAML files of this room, read into structs by parameter tables (sim/scenario/schema.h).
 *
 * A file owns every text and list of the structs that it filled, so it must live as long as they are used. Every
 * mistake is reported at its place, and all of them at once.
 */
#pragma once

#include "sim/scenario/schema.h"

typedef struct {
  FabDiagnostics *diagnostics; /* for mistakes that have no field */
  FabSchemaReader *reader;     /* for fab_schema_report at a field */
  GPtrArray *docs;             /* FabYamlDoc */
} FabCheckFile;

FabCheckFile *fab_check_file_new (const FabRegistry *registry);
void fab_check_file_free (FabCheckFile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabCheckFile, fab_check_file_free)

/* Fills `out`, which the table describes. One FabCheckFile may read several paths. FALSE and *error: the file cannot be
 * read, or has mistakes. */
gboolean fab_check_file_read (FabCheckFile *self, const char *path, const FabParam *table, gpointer out,
                              GError **error);

/* FALSE and *error when mistakes were reported since. */
gboolean fab_check_file_is_right (const FabCheckFile *self, GError **error);

/* Throws "WHAT 'NAME'", with the nearest of `names` (NULL-ended) where one is near. Returns NULL. */
gpointer fab_check_throw_unknown (GError **error, const char *what, const char *name,
                                  const char *const *names);
