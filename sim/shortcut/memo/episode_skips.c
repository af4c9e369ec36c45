/* SPDX-License-Identifier: Apache-2.0 */
/* episode_skips.c - the skips that the network has made in an episode are noted in the tree, so that it makes the same
 * ones when the episode is played again.
 */
#include "sim/shortcut/memo/episode.h"

void
fab_episode_note_skips (FabEpisode *self, FabEpisodeNode *node)
{
  const GArray *made = self->replica->net->skips;

  fab_episode_books_note_skips (self->books, node, made, self->n_skips_noted, self->own_start_ps,
                                self->folded_for);
  self->n_skips_noted = made->len;
}

/* Returns the time from the event before this one. */
static FabTimePs
since_last (const FabEpisode *self, guint i)
{
  return g_array_index (self->events, FabEpisodeEvent, i).at_ps
       - g_array_index (self->events, FabEpisodeEvent, i - 1).at_ps;
}

GArray *
fab_episode_list_skips (const FabEpisode *self)
{
  g_autoptr (GArray) skips = g_array_new (FALSE, FALSE, sizeof (FabSkip));

  for (guint i = 0; i < self->events->len; i++) {
    const FabEpisodeNode *node = g_array_index (self->events, FabEpisodeEvent, i).node;
    gsize size = 0;

    if (node == NULL || !node->is_played || (i > 0 && node->after_ps != since_last (self, i)))
      return NULL;
    const FabSkip *of_node = node->skips != NULL ? g_bytes_get_data (node->skips, &size) : NULL;
    if (size > 0 && self->replica->net->ops->plays_alike != NULL && node->folded_for != self->folded_for)
      return NULL;
    if (size > 0)
      g_array_append_vals (skips, of_node, (guint) (size / sizeof *of_node));
  }
  for (guint i = 0; i < skips->len; i++)
    g_array_index (skips, FabSkip, i).at_ps += fab_engine_now (self->replica->engine);
  return g_steal_pointer (&skips);
}
