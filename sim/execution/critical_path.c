/* SPDX-License-Identifier: Apache-2.0 */
/* critical_path.c - the tasks of an iteration of which each started when the one before it ended (account.h). */
#include "sim/execution/account.h"

static FabPathRecord
path_record (const FabTrail *trail, const FabTask *task, FabTimePs start_ps, FabTimePs end_ps)
{
  const FabDagStream *stream = &trail->dag->streams[task->stream];

  return (FabPathRecord){
    .iteration = trail->iteration,
    .rank_class = stream->rank_class,
    .stream = stream->name,
    .kind = task->kind,
    .name = task->name,
    .start_ps = start_ps,
    .end_ps = end_ps,
    .collective = task->collective,
    .binding_link = task->collective >= 0 ? trail->records[task->collective].binding_link
                                          : FAB_RECORD_NO_LINK,
  };
}

static void
reverse (GArray *path, guint first)
{
  for (guint i = first, j = path->len; i + 1 < j; i++, j--) {
    FabPathRecord *a = &g_array_index (path, FabPathRecord, i);
    FabPathRecord *b = &g_array_index (path, FabPathRecord, j - 1), kept = *a;

    *a = *b;
    *b = kept;
  }
  for (guint i = first; i < path->len; i++)
    g_array_index (path, FabPathRecord, i).place = i - first;
}

gboolean
fab_critical_path (const FabTrail *trail, FabTaskId last, FabTimePs start_ps, FabTimePs end_ps, GArray *path)
{
  guint first = path->len;
  FabTaskId id = last;

  while (end_ps > start_ps) {
    if (id == FAB_NO_TASK)
      break;
    const FabTask *task = &trail->dag->tasks[id];
    gboolean is_collective = task->collective >= 0;
    FabTimePs begin_ps = is_collective ? trail->records[task->collective].start_ps : trail->begin_ps[id];

    if (begin_ps < end_ps) {
      FabPathRecord record = path_record (trail, task, MAX (begin_ps, start_ps), end_ps);
      g_array_append_val (path, record);
    }
    end_ps = begin_ps;
    id = trail->released_by[is_collective ? trail->arrived[task->collective] : id];
  }
  reverse (path, first);
  return end_ps <= start_ps;
}
