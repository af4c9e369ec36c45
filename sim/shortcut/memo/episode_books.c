/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/shortcut/memo/episode_books.h"

void
fab_episode_books_init (FabEpisodeBooks *self, FabEngine *engine, FabNet *net, gconstpointer params,
                        gboolean remembers)
{
  *self = (FabEpisodeBooks){
    .engine = engine,
    .net = net,
    .replicas = fab_net_replicas_new (net, params),
    .meter = fab_meter_new (net->env.graph),
    .of_a_plan = fab_meter_new (net->env.graph),
    .remembers = remembers,
    .tolerance = net->ops->tolerance != NULL && params != NULL ? net->ops->tolerance (params) : 0,
    .ids = fab_plan_ids_new (),
    .plans = g_array_new (FALSE, FALSE, sizeof (FabEpisodePlan)),
    .shapes = g_array_new (FALSE, FALSE, sizeof (FabEpisodeShape)),
    .may_be_apart = remembers && fab_net_is_separable (net, FAB_NO_LINK) && params != NULL,
    .pending = g_array_new (FALSE, FALSE, sizeof (FabEpisodeEnd)),
    .late = g_array_new (FALSE, FALSE, sizeof (FabMeterEntry)),
    .lanes = g_array_new (FALSE, TRUE, sizeof (FabLaneQueue)),
  };
  if (self->may_be_apart && net->ops->trace == NULL)
    self->apart_by = fab_plan_shapes_new ();
  fab_episode_tree_init (&self->tree);
}

void
fab_episode_books_clear (FabEpisodeBooks *self)
{
  for (guint i = 0; i < self->shapes->len; i++)
    for (guint k = 0; k < FAB_SAMPLES; k++)
      fab_episode_tree_cut (&self->tree, fab_episode_shape_at (self, i)->samples[k]);
  g_array_unref (self->shapes);
  g_array_unref (self->plans);
  fab_plan_ids_free (self->ids);
  fab_plan_shapes_free (self->apart_by);
  fab_episode_tree_clear (&self->tree);
  g_array_unref (self->pending);
  g_array_unref (self->late);
  g_array_unref (self->lanes);
  fab_meter_free (self->meter);
  fab_meter_free (self->of_a_plan);
  fab_net_replicas_free (self->replicas);
}

/* --- collectives --- */

static void
describe_stream (const FabNet *net, const FabStream *stream, FabPlayTraits *traits)
{
  const FabFootprint *footprint = stream->footprint;
  struct {
    FabBytes bytes;
    FabTimePs startup_ps;
    double wire_factor, limit_bytes_per_s;
    guint64 share;
  } told = { stream->bytes, stream->startup_ps, stream->wire_factor, stream->limit_bytes_per_s,
             stream->share };

  fab_meter_add_line (traits->meter, footprint, (double) stream->bytes, stream->wire_factor);
  for (guint i = 0; i < footprint->n; i++)
    if (!fab_net_is_separable (net, footprint->links[i]))
      traits->is_separable = FALSE;
  if (traits->words == NULL)
    return;
  g_array_append_vals (traits->words, &told, sizeof told / sizeof (guint64));
  g_array_append_val (traits->words, footprint->rate_bytes_per_s);
  g_array_append_vals (traits->words, footprint->weights, footprint->n);
  g_array_append_vals (traits->words, footprint->line_weights, footprint->n);
  g_array_append_vals (traits->links, footprint->links, footprint->n);
}

static void
describe (const FabEpisodeBooks *self, const FabEpisodeInput *input, FabPlayTraits *traits)
{
  if (input->describe != NULL && input->describe (input->owner, self->net, input->plan, traits))
    return;
  const FabStream stream = fab_collective_plan_stream (input->plan);
  describe_stream (self->net, &stream, traits);
}

static void
find_shape (FabEpisodeBooks *self, FabEpisodePlan *plan)
{
  g_autoptr (GArray) words = g_array_new (FALSE, FALSE, sizeof (guint64));
  g_autoptr (GArray) links = g_array_new (FALSE, FALSE, sizeof (FabLinkId));
  g_autoptr (GArray) meter = g_array_new (FALSE, FALSE, sizeof (FabMeterEntry));

  FabPlayTraits traits = { words, links, self->of_a_plan, TRUE };
  describe (self, &plan->input, &traits);
  self->may_be_apart &= traits.is_separable;
  fab_meter_drain (self->of_a_plan, meter);
  if (fab_episode_tree_has_room (&self->tree))
    plan->meter = fab_episode_tree_keep (&self->tree, meter);
  plan->shape = fab_plan_shapes_find (self->apart_by, self->net->env.graph, words, links);
}

guint32
fab_episode_books_plan (FabEpisodeBooks *self, const FabEpisodeInput *input)
{
  guint32 id = fab_plan_ids_find (self->ids, input->plan, input->traffic);
  FabEpisodePlan added = { .input = *input, .shape = { .shape = id } };
  const FabEpisodeShape fresh = { 0 };

  if (id < self->plans->len)
    return id;
  if (self->apart_by != NULL)
    find_shape (self, &added);
  g_array_append_val (self->plans, added);
  if (added.shape.shape == self->shapes->len)
    g_array_append_val (self->shapes, fresh);
  return id;
}

void
fab_episode_books_try_apart (FabEpisodeBooks *self, const FabEpisodeInput *inputs, guint n)
{
  if (!self->may_be_apart || self->apart_by != NULL)
    return;
  g_assert (self->plans->len == 0);
  self->apart_by = fab_plan_shapes_new ();
  for (guint i = 0; i < n && self->may_be_apart; i++)
    fab_episode_books_plan (self, &inputs[i]);
  if (self->may_be_apart)
    return;
  g_clear_pointer (&self->apart_by, fab_plan_shapes_free);
  fab_plan_ids_free (self->ids);
  self->ids = fab_plan_ids_new ();
  g_array_set_size (self->plans, 0);
  g_array_set_size (self->shapes, 0);
  fab_episode_tree_clear (&self->tree);
  fab_episode_tree_init (&self->tree);
}

static guint
find_relation (FabEpisodeBooks *self, guint32 earlier, guint32 later)
{
  return fab_plan_shapes_relation (self->apart_by, fab_episode_plan_at (self, earlier)->shape.links,
                                   fab_episode_plan_at (self, later)->shape.links);
}

gboolean
fab_episode_books_meet (FabEpisodeBooks *self, guint32 earlier, guint32 later)
{
  return self->apart_by == NULL
      || fab_plan_shapes_meet (self->apart_by, fab_episode_plan_at (self, earlier)->shape.links,
                               fab_episode_plan_at (self, later)->shape.links);
}

guint32
fab_episode_books_key (FabEpisodeBooks *self, guint32 plan, const GArray *others)
{
  if (self->apart_by == NULL)
    return plan;
  g_autofree guint *relations = g_new (guint, others->len + 1);
  for (guint i = 0; i < others->len; i++)
    relations[i] = find_relation (self, g_array_index (others, guint32, i), plan);
  return fab_plan_shapes_key (self->apart_by, fab_episode_plan_at (self, plan)->shape.shape, relations,
                              others->len);
}

static FabTimePs
alone_ps (const FabEpisodeBooks *self, guint32 plan)
{
  return fab_episode_shape_at (self, fab_episode_plan_at (self, plan)->shape.shape)->alone_ps;
}

FabTimePs
fab_episode_books_slack_ps (const FabEpisodeBooks *self, guint32 plan, const GArray *others)
{
  FabTimePs least_ps;

  if (self->tolerance <= 0 || self->apart_by == NULL)
    return 0;
  least_ps = alone_ps (self, plan);
  for (guint i = 0; i < others->len; i++)
    least_ps = MIN (least_ps, alone_ps (self, g_array_index (others, guint32, i)));
  return (FabTimePs) (self->tolerance * (double) least_ps);
}

/* --- what is counted --- */

void
fab_episode_books_count (FabEpisodeBooks *self, guint32 id)
{
  const FabEpisodePlan *plan = fab_episode_plan_at (self, id);

  if (plan->meter != NULL)
    fab_episode_books_carried_bytes (self, plan->meter);
  else
    describe (self, &plan->input, &(FabPlayTraits){ NULL, NULL, self->meter, TRUE });
}

void
fab_episode_books_carried (FabEpisodeBooks *self, const GArray *entries)
{
  fab_meter_add_entries (self->meter, (const FabMeterEntry *) (gconstpointer) entries->data, entries->len);
}

void
fab_episode_books_carried_bytes (FabEpisodeBooks *self, GBytes *entries)
{
  gsize size;
  const FabMeterEntry *first = g_bytes_get_data (entries, &size);

  fab_meter_add_entries (self->meter, first, size / sizeof *first);
}

/* A place of a link among those of the collectives of an episode. */
typedef struct {
  guint32 member, rank;
} LinkPlace;

/* Returns from link to LinkPlace. (transfer full) */
static GHashTable *
list_places (const FabEpisodeBooks *self, const GArray *plans)
{
  GHashTable *places = g_hash_table_new_full (NULL, NULL, NULL, g_free);

  for (guint32 member = 0; member < plans->len; member++) {
    const FabEpisodePlan *plan = fab_episode_plan_at (self, g_array_index (plans, guint32, member));
    guint n;
    const FabLinkId *links = fab_plan_shapes_links (self->apart_by, plan->shape.links, &n);

    for (guint32 rank = 0; rank < n; rank++) {
      LinkPlace place = { member, rank };

      if (!g_hash_table_contains (places, GUINT_TO_POINTER (links[rank])))
        g_hash_table_insert (places, GUINT_TO_POINTER (links[rank]), g_memdup2 (&place, sizeof place));
    }
  }
  return places;
}

GBytes *
fab_episode_books_keep_queues (FabEpisodeBooks *self, const GArray *plans, const GArray *queues)
{
  g_autoptr (GHashTable) places = NULL;
  g_autoptr (GArray) kept = NULL;

  if (self->apart_by == NULL || queues->len == 0)
    return fab_episode_tree_keep (&self->tree, queues);
  places = list_places (self, plans);
  kept = g_array_copy ((GArray *) queues);
  for (guint i = 0; i < kept->len; i++) {
    FabLaneQueue *queue = &g_array_index (kept, FabLaneQueue, i);
    const LinkPlace *place = g_hash_table_lookup (places, GUINT_TO_POINTER (queue->link));

    g_assert (place != NULL && queue->lane == queue->link);
    queue->lane = place->member;
    queue->link = place->rank;
  }
  return fab_episode_tree_keep (&self->tree, kept);
}

void
fab_episode_books_add_queues (FabEpisodeBooks *self, const GArray *plans, GBytes *queues)
{
  gsize size;
  const FabLaneQueue *kept = g_bytes_get_data (queues, &size);
  gsize n = size / sizeof *kept;

  if (self->apart_by == NULL) {
    fab_lane_queues_add (self->lanes, kept, n);
    return;
  }
  for (gsize i = 0; i < n; i++) {
    FabLaneQueue queue = kept[i];
    const FabEpisodePlan *plan = fab_episode_plan_at (self, g_array_index (plans, guint32, queue.lane));
    guint n_links;
    const FabLinkId *links = fab_plan_shapes_links (self->apart_by, plan->shape.links, &n_links);

    queue.lane = queue.link = links[queue.link];
    fab_lane_queues_add (self->lanes, &queue, 1);
  }
}

void
fab_episode_books_note_skips (FabEpisodeBooks *self, FabEpisodeNode *node, const GArray *skips, guint first,
                              FabTimePs start_ps, guint folded_for)
{
  g_autoptr (GArray) noted = g_array_new (FALSE, FALSE, sizeof (FabSkip));

  if (node == NULL || node->is_played)
    return;
  for (guint i = first; i < skips->len; i++) {
    FabSkip skip = g_array_index (skips, FabSkip, i);

    skip.at_ps -= start_ps;
    g_array_append_val (noted, skip);
  }
  node->is_played = TRUE;
  node->folded_for = folded_for;
  if (noted->len > 0)
    node->skips = fab_episode_tree_keep (&self->tree, noted);
}

void
fab_episode_books_learn (FabEpisodeBooks *self, guint32 id, const FabWarmUp *warm_up)
{
  guint number = fab_episode_plan_at (self, id)->shape.shape;
  FabEpisodeShape *shape = fab_episode_shape_at (self, number);
  FabEpisodeTree *tree = &self->tree;
  FabEpisodeNode *node;

  if (warm_up->duration_ps < 0 || shape->samples[0] != NULL || !fab_episode_tree_has_room (tree))
    return;
  node = shape->samples[0] = fab_episode_tree_add (tree, NULL, FALSE, number, 0);
  node->is_played = TRUE;
  node = node->output = fab_episode_tree_add (tree, node, TRUE, 0, warm_up->duration_ps);
  node->quiet_ps = 0;
  fab_episode_books_note_skips (self, node, warm_up->skips, 0, 0, warm_up->folded_for);
  if (self->apart_by == NULL)
    node->meter = fab_episode_tree_keep (tree, warm_up->meter);
  if (self->apart_by != NULL)
    g_array_set_size (warm_up->late, 0); /* it is counted with the collective */
  g_autoptr (GArray) plans = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_array_append_val (plans, id);
  node->queues = fab_episode_books_keep_queues (self, plans, warm_up->queues);
  node->late = fab_episode_tree_keep (tree, warm_up->late);
  shape->n_events = MAX (warm_up->n_events, 1);
  shape->alone_ps = warm_up->duration_ps;
  self->net->n_skipped += warm_up->n_skipped;
  shape->will_have_drawn = warm_up->n_drawn > 0;
}
