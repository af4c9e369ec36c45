/* SPDX-License-Identifier: Apache-2.0 */
/* sources.h - measured peaks of memory: INDEX.yaml, and of each source a table and a template of a scenario.
 *
 * The table is a CSV with header lines `# key: value` and the columns `id`, `kind` (allocated, or reserved: what the
 * allocator has taken of the device), `peak_gib` and `doubtful`, beside those that the template has places for.
 */
#pragma once

#include <glib.h>

#include "sim/registry.h"

typedef enum {
  FAB_MEMORY_LOOKED_AT, /* what is counted was found with its rows in sight */
  FAB_MEMORY_HELD_OUT,  /* nothing was changed after its errors were seen */
} FabMemoryRole;

extern const char *const fab_memory_role_names[]; /* "looked at", "held out"; NULL-ended */

typedef struct {
  char **cells;              /* one per column, NULL-ended */
  const char *id, *doubtful; /* doubtful NULL: it is not */
  gboolean is_reserved;
  double peak_bytes;
} FabMemoryRow;

typedef struct {
  const char *name, *title;
  const char *file, *scenario; /* beside INDEX.yaml */
  int role;                    /* FabMemoryRole */
  gboolean in_band;            /* it is part of the band that refusals rest on */
  const char *note;            /* NULL: none */
} FabMemorySourceSpec;

typedef struct {
  const FabMemorySourceSpec *spec;
  GHashTable *header; /* key -> value */
  char **columns;
  GArray *rows;   /* FabMemoryRow */
  char *template; /* text of the scenario */
} FabMemorySource;

typedef struct _FabMemorySources FabMemorySources;

/* NULL and *error: every mistake at its place. */
FabMemorySources *fab_memory_sources_load (const char *directory, const FabRegistry *registry,
                                           GError **error);
void fab_memory_sources_free (FabMemorySources *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabMemorySources, fab_memory_sources_free)

guint fab_memory_sources_n (const FabMemorySources *self);
const FabMemorySource *fab_memory_sources_get (const FabMemorySources *self, guint index);

/* NULL and *error with the nearest name. */
const FabMemorySource *fab_memory_sources_find (const FabMemorySources *self, const char *name,
                                                GError **error);

static inline const FabMemoryRow *
fab_memory_source_row (const FabMemorySource *self, guint row)
{
  return &g_array_index (self->rows, FabMemoryRow, row);
}

/* The scenario of a row. (transfer full) NULL and *error: the template has a place without a column. */
char *fab_memory_source_scenario (const FabMemorySource *self, guint row, GError **error);
