/* SPDX-License-Identifier: Apache-2.0 */
/* episode_counted.c - what links carry in an episode is counted once, also where the network plays it again.
 *
 * Packets of a collective that is under way may be counted a little sooner or later when they are played again, so that
 * nothing says which of them were counted before an output. Therefore all is counted again, less what was counted.
 */
#include "sim/shortcut/memo/episode.h"

void
fab_episode_note_counted (FabEpisode *self, const FabMeterEntry *entries, gsize n)
{
  if (self->counted == NULL)
    self->counted = fab_meter_new (self->books->net->env.graph);
  fab_meter_add_entries (self->counted, entries, n);
}

static void
note_all (FabEpisode *self, const GArray *entries)
{
  fab_episode_note_counted (self, (const FabMeterEntry *) (gconstpointer) entries->data, entries->len);
}

void
fab_episode_owe_counted (FabEpisode *self)
{
  g_array_set_size (self->owed, 0);
  if (self->counted == NULL)
    return;
  fab_meter_drain (self->counted, self->owed);
  note_all (self, self->owed);
  for (guint i = 0; i < self->owed->len; i++) {
    FabLinkLoad *load = &g_array_index (self->owed, FabMeterEntry, i).load;

    *load = (FabLinkLoad){ -load->payload_bytes, -load->line_bytes };
  }
}

void
fab_episode_forget_counted (FabEpisode *self)
{
  if (self->counted != NULL)
    fab_meter_drain (self->counted, self->owed);
  g_array_set_size (self->owed, 0);
}

GArray *
fab_episode_carried_until (FabEpisode *self, guint32 place)
{
  FabEpisodeMember *member = &g_array_index (self->members, FabEpisodeMember, place);

  if (self->books->apart_by != NULL) {
    g_clear_pointer (&member->carried, g_array_unref);
    return NULL;
  }
  GArray *carried = fab_meter_drain (self->replica->net->meter, g_steal_pointer (&member->carried));
  g_array_append_vals (carried, self->owed->data, self->owed->len);
  g_array_set_size (self->owed, 0);
  note_all (self, carried);
  return carried;
}
