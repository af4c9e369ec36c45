/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/work/slot.h"

void
fab_slot_init (FabSlot *slot, const FabDag *dag)
{
  slot->n_waiting = g_new0 (guint, dag->n_tasks);
  slot->is_done = g_new0 (guint8, dag->n_tasks);
  slot->begin_ps = g_new0 (FabTimePs, dag->n_tasks);
  slot->released_by = g_new0 (FabTaskId, dag->n_tasks);
  slot->arrived_before = g_new0 (FabTaskId, dag->n_tasks);
  slot->n_arrived = g_new0 (guint, dag->n_collectives + 1);
  slot->arrived = g_new0 (FabTaskId, dag->n_collectives + 1);
  slot->records = g_new0 (FabCollectiveRecord, dag->n_collectives + 1);
  slot->plays = g_new0 (FabPlay *, dag->n_collectives + 1);
}

void
fab_slot_clear (FabSlot *slot, const FabDag *dag)
{
  for (guint i = 0; i < dag->n_collectives; i++)
    fab_play_free (slot->plays[i]);
  g_free (slot->plays);
  g_free (slot->n_waiting);
  g_free (slot->is_done);
  g_free (slot->begin_ps);
  g_free (slot->released_by);
  g_free (slot->arrived_before);
  g_free (slot->n_arrived);
  g_free (slot->arrived);
  g_free (slot->records);
}

guint
fab_slot_count_hung (const FabSlot *slot, const FabDag *dag, const FabNet *net, FabHang *hang)
{
  guint n = 0;

  for (guint c = 0; slot->is_live && c < dag->n_collectives; c++) {
    const FabDagCollective *collective = &dag->collectives[c];
    const FabDeadLink *link = NULL;

    if (collective->plan.footprint != NULL && slot->n_arrived[c] == collective->n_joins
        && slot->records[c].end_ps == 0)
      link = fab_net_find_dead (net, collective->plan.footprint);
    if (link == NULL)
      continue;
    *hang = (FabHang){ slot->records[c], *link };
    n++;
  }
  return n;
}
