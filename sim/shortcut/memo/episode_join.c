/* SPDX-License-Identifier: Apache-2.0 */
/* episode_join.c - several episodes that were apart go on as one.
 *
 * What was so far becomes a path in the tree that begins with the collective that began first. When it is new, the
 * network plays all of it once on one replica; later the tree knows it like any other path.
 */
#include "sim/base/order.h"
#include "sim/shortcut/memo/episode.h"

/* The members of all parts in the order in which they began. */
typedef struct {
  guint64 order; /* first: they are sorted by it */
  FabEpisode *part;
  guint32 place;
} Origin;

static FabEpisodeMember *
member_of (const Origin *origin)
{
  return &g_array_index (origin->part->members, FabEpisodeMember, origin->place);
}

/* (transfer full) */
static GArray *
list_members (FabEpisode *const *parts, guint n_parts)
{
  GArray *origins = g_array_new (FALSE, FALSE, sizeof (Origin));

  for (guint p = 0; p < n_parts; p++)
    for (guint32 place = 0; place < parts[p]->members->len; place++) {
      const FabEpisodeMember *member = &g_array_index (parts[p]->members, FabEpisodeMember, place);
      Origin origin = { member->end.order, parts[p], place };

      g_array_append_val (origins, origin);
    }
  g_array_sort (origins, fab_order_uint64s);
  return origins;
}

static void
copy_members (FabEpisode *self, const GArray *origins)
{
  for (guint32 place = 0; place < origins->len; place++) {
    const FabEpisodeMember *from = member_of (&g_array_index (origins, Origin, place));
    FabEpisodeMember member = { .plan = from->plan, .end = from->end, .is_reported = from->is_reported };

    g_array_append_val (self->members, member);
    g_array_append_val (self->plans, member.plan);
    if (!member.is_reported)
      g_array_append_val (self->active, place);
  }
}

/* The events of all parts, with the places that members have now. */
static void
copy_events (FabEpisode *self, const GArray *origins, FabEpisode *const *parts, guint n_parts)
{
  for (guint p = 0; p < n_parts; p++) {
    g_autofree guint32 *places = g_new (guint32, parts[p]->members->len);

    for (guint32 i = 0; i < origins->len; i++) {
      const Origin *origin = &g_array_index (origins, Origin, i);

      if (origin->part == parts[p])
        places[origin->place] = i;
    }
    for (guint i = 0; i < parts[p]->events->len; i++) {
      FabEpisodeEvent event = g_array_index (parts[p]->events, FabEpisodeEvent, i);

      event.place = places[event.place];
      g_array_append_val (self->events, event);
    }
  }
  g_array_sort (self->events, fab_order_uint64s);
}

/* Goes on in the tree to an output that has been before. What links carried is known of the collectives. */
static void
step_to_output (FabEpisode *self, guint32 place, FabTimePs at_ps, FabTimePs slack_ps)
{
  FabEpisodeTree *tree = &self->books->tree;
  FabEpisodeNode *known = self->at->output;
  FabTimePs after_ps = at_ps - self->at_ps;

  if (known == NULL && fab_episode_tree_has_room (tree)) {
    known = self->at->output = fab_episode_tree_add (tree, self->at, TRUE, place, after_ps);
    self->is_new = TRUE;
  }
  if (known != NULL && (known->what != place || ABS (known->after_ps - after_ps) > slack_ps))
    known = NULL;
  self->is_new |= known == NULL;
  self->at = known;
  self->at_ps = at_ps;
}

/* Goes on in the tree to an event; `under_way` (guint32) are the plans that have begun and not ended. */
static void
step_to_event (FabEpisode *self, const FabEpisodeEvent *event, const GArray *under_way)
{
  FabEpisodeNode *before = self->at;
  guint32 plan = g_array_index (self->members, FabEpisodeMember, event->place).plan;
  FabTimePs quiet_ps = event->at_ps - self->at_ps - event->is_output,
            slack_ps = fab_episode_books_slack_ps (self->books, plan, under_way);

  if (event->is_output)
    step_to_output (self, event->place, event->at_ps, slack_ps);
  else
    fab_episode_step_to_input (self, fab_episode_books_key (self->books, plan, under_way), event->at_ps,
                               slack_ps);
  before->quiet_ps = MAX (before->quiet_ps, quiet_ps);
}

/* The members of `places` (guint32) that an event leaves under way. */
static void
note_under_way (const FabEpisode *self, const FabEpisodeEvent *event, GArray *places, GArray *plans)
{
  guint i = 0;

  if (!event->is_output) {
    g_array_append_val (places, event->place);
    g_array_append_val (plans, g_array_index (self->members, FabEpisodeMember, event->place).plan);
    return;
  }
  while (g_array_index (places, guint32, i) != event->place)
    i++;
  if (self->books->net->ops->trace != NULL) /* the key of an input has them all */
    return;
  g_array_remove_index (places, i);
  g_array_remove_index (plans, i);
}

/* Follows the events in the tree, as far as it goes: where a part has left it, it leads nowhere. */
static void
walk (FabEpisode *self)
{
  g_autoptr (GArray) places = g_array_new (FALSE, FALSE, sizeof (guint32)),
                     plans = g_array_new (FALSE, FALSE, sizeof (guint32));

  self->at = fab_episode_shape_at (self->books, self->first)->samples[0];
  for (guint i = 0; i < self->events->len; i++) {
    FabEpisodeEvent *event = &g_array_index (self->events, FabEpisodeEvent, i);

    if (event->node == NULL)
      self->at = NULL;
    if (i > 0 && self->at != NULL)
      step_to_event (self, event, plans);
    note_under_way (self, event, places, plans);
    self->at_ps = event->at_ps;
    event->node = self->at;
  }
}

/* So many are not in the tree. */
static void
leave_tree (FabEpisode *self)
{
  self->is_large = self->is_new = TRUE;
  self->folded_for = FAB_FOLDED_FOR_ALL;
  self->at = NULL;
  for (guint i = 0; i < self->events->len; i++) {
    FabEpisodeEvent *event = &g_array_index (self->events, FabEpisodeEvent, i);

    event->node = NULL;
    self->at_ps = event->at_ps;
  }
}

void
fab_episode_become_large (FabEpisode *self)
{
  if (self->is_warmed_up)
    fab_episode_forget_warm_up (self);
  leave_tree (self);
  fab_episode_replay (self);
}

/* The set that schedules fold for, and the place in the tree. */
static void
find_place (FabEpisode *self)
{
  self->folded_for = FAB_FOLDED_FOR_NONE;
  for (guint i = 0; i < self->members->len; i++)
    self->folded_for = fab_episode_extend (self, g_array_index (self->members, FabEpisodeMember, i).plan);
  walk (self);
}

void
fab_episode_join (FabEpisode *self, FabEpisode *const *parts, guint n_parts)
{
  g_autoptr (GArray) origins = list_members (parts, n_parts);

  copy_members (self, origins);
  copy_events (self, origins, parts, n_parts);
  self->first = fab_episode_plan_at (self->books, g_array_index (self->members, FabEpisodeMember, 0).plan)
                    ->shape.shape;
  self->stream = 0;
  self->start_ps = self->at_ps = g_array_index (self->events, FabEpisodeEvent, 0).at_ps;
  self->is_warmed_up = FALSE;
  self->is_new = self->is_played = FALSE;
  for (guint p = 0; p < n_parts; p++) {
    if (parts[p]->is_warmed_up)
      fab_episode_forget_warm_up (parts[p]);
    self->is_new |= parts[p]->is_new;
    self->is_played |= parts[p]->is_played;
    fab_episode_clear (parts[p]);
  }
  self->books->count.n_joins += n_parts - 1;
  if (self->members->len > FAB_MOST_REMEMBERED)
    leave_tree (self);
  else
    find_place (self);
  if (self->at == NULL)
    fab_episode_replay (self);
}
