/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - measured training runs of one source, a row each.
 *
 *   # source: ...
 *   id,gpus,nodes,strategy,batch,step_s,micro_batch,...
 *   2346,8,2,FSDP,8,0.4788,1,...
 *
 * Header lines `# key: value`, a line of column names, rows of as many cells. Every row needs `id` (unique), `gpus`,
 * `nodes`, `strategy`, `batch` (sequences or images of all GPUs per step) and `step_s` (seconds). Optional: `anchor`
 * ("yes": the row fixes the efficiency of its group, report.h) and `doubtful` (why it is counted nowhere). The rest is
 * for the scenario's template. No quotes, no commas in cells.
 */
#pragma once

#include <glib.h>

typedef struct {
  char **cells; /* one per column, NULL-ended */
  const char *id, *strategy;
  const char *doubtful; /* NULL: it is not */
  gboolean is_anchor;   /* marked so */
  guint gpus, nodes;
  double batch, step_s;
} FabTrainingRow;

typedef struct {
  GHashTable *header; /* key -> value */
  char **columns;     /* NULL-ended */
  GArray *rows;       /* FabTrainingRow, at least one */
} FabTrainingTable;

/* `name` stands for the path in messages. NULL and *error (FAB_ERROR_INPUT, "name:line: ...") for the first thing that
 * is wrong. */
FabTrainingTable *fab_training_table_parse (const char *name, const char *data, GError **error);
void fab_training_table_free (FabTrainingTable *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabTrainingTable, fab_training_table_free)

/* Of a column; -1: there is none. */
gint fab_training_table_column (const FabTrainingTable *self, const char *name);

static inline const FabTrainingRow *
fab_training_table_row (const FabTrainingTable *self, guint index)
{
  return &g_array_index (self->rows, FabTrainingRow, index);
}
