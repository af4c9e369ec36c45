/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/shortcut/space/folded_plays.h"

#include "sim/collective/play/plan_schedules.h"
#include "sim/collective/play/play.h"
#include "sim/collective/play/step_cost.h"
#include "sim/shortcut/space/concurrent_kinds.h"
#include "sim/shortcut/space/fold.h"
#include "sim/shortcut/space/rotate.h"

/* What a kind of collectives is played as: one of the two. */
typedef struct {
  FabFoldUse use;
  const FabFootprint *stream;
  guint n_chunks; /* of the schedule */
  guint part; /* the lowest kind of those that may be under way with it, with others of those, and so on */
} Kind;

/* Schedules folded for a set of kinds that is smaller than their part. */
typedef struct {
  char *name;         /* "3 5 ": the kinds */
  GArray *kinds;      /* guint, ascending */
  GPtrArray *folded;  /* FabSchedule of each, NULL for streams; NULL until one is played */
  GHashTable *chunks; /* of FabPlanSchedule: pipelines whose bytes are cut otherwise */
} Version;

struct _FabFoldedPlays {
  FabFoldedPlaysEnv env;
  GHashTable *known; /* of FabPlanSchedule, which are keys and values */
  gboolean is_folded;
  GArray *kinds;       /* Kind, once it is folded */
  GHashTable *streams; /* from footprint to 1 + kind */
  GPtrArray *versions; /* Version; the first one is number 1 */
  GHashTable *by_name; /* from Version.name to its number */
};

static void
version_free (gpointer data)
{
  Version *self = data;

  g_free (self->name);
  g_array_unref (self->kinds);
  g_clear_pointer (&self->folded, g_ptr_array_unref);
  g_hash_table_unref (self->chunks);
  g_free (self);
}

FabFoldedPlays *
fab_folded_plays_new (const FabFoldedPlaysEnv *env)
{
  FabFoldedPlays *self = g_new0 (FabFoldedPlays, 1);

  self->env = *env;
  self->known = fab_plan_schedules_new ();
  self->kinds = g_array_new (FALSE, FALSE, sizeof (Kind));
  self->streams = g_hash_table_new (NULL, NULL);
  self->versions = g_ptr_array_new_with_free_func (version_free);
  self->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  return self;
}

void
fab_folded_plays_free (FabFoldedPlays *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->known);
  g_array_unref (self->kinds);
  g_hash_table_unref (self->streams);
  g_hash_table_unref (self->by_name);
  g_ptr_array_unref (self->versions);
  g_free (self);
}

/* A pipeline whose bytes are cut in two ways has the same classes of lanes twice. */
typedef struct {
  const FabCollectivePlan *plan;
  FabSchedule *pipeline; /* of another plan */
} InChunks;

/* What is known while all is folded. */
typedef struct {
  GArray *in_chunks;
  GHashTable *pipelines; /* from footprint to FabPlanSchedule */
} Everything;

static Kind *
kind_at (const FabFoldedPlays *self, guint kind)
{
  return &g_array_index (self->kinds, Kind, kind);
}

static guint
add_kind (FabFoldedPlays *self, Kind kind)
{
  g_array_append_val (self->kinds, kind);
  return self->kinds->len - 1;
}

static guint
find_stream (FabFoldedPlays *self, const FabFootprint *footprint)
{
  gpointer known = g_hash_table_lookup (self->streams, footprint);

  if (known == NULL) {
    known = GUINT_TO_POINTER (1 + add_kind (self, (Kind){ .stream = footprint }));
    g_hash_table_insert (self->streams, (gpointer) footprint, known);
  }
  return GPOINTER_TO_UINT (known) - 1;
}

static double
limit_of (const FabCollectivePlan *plan)
{
  return plan->steps.pace_bytes_per_s * plan->wire_factor;
}

static FabPlanSchedule *
make_known (FabFoldedPlays *self, const FabCollectivePlan *plan, Everything *all)
{
  FabPlanSchedule *known = fab_plan_schedules_find (self->known, plan);
  const FabPlanSchedule *pipeline = g_hash_table_lookup (all->pipelines, plan->footprint);

  if (known != NULL)
    return known;
  if (pipeline != NULL) {
    InChunks again = { plan, pipeline->schedule };

    known = fab_plan_schedules_add (self->known, plan, NULL);
    known->kind = pipeline->kind;
    g_array_append_val (all->in_chunks, again);
    return known;
  }
  known = fab_plan_schedules_make (self->known, plan);
  FabFoldUse use = { .schedule = known->schedule,
                     .limit_bytes_per_s = limit_of (plan),
                     .steps_ps = plan->steps.steps_ps };
  known->kind = add_kind (self, (Kind){ .use = use, .n_chunks = known->n_chunks });
  if (fab_schedule_is_in_chunks (known->schedule, known->n_chunks))
    g_hash_table_insert (all->pipelines, (gpointer) plan->footprint, known);
  return known;
}

/* The limit of a kind is the highest of its plans, where all have one. */
static guint
note_plan (FabFoldedPlays *self, const FabCollectivePlan *plan, Everything *all)
{
  if (plan->footprint == NULL || plan->bytes == 0)
    return FAB_NO_KIND;
  if (!fab_play_has_messages (self->env.job.net, plan))
    return find_stream (self, plan->footprint);
  const FabPlanSchedule *known = make_known (self, plan, all);
  FabFoldUse *use = &kind_at (self, known->kind)->use;
  double limit = limit_of (plan);
  use->steps_ps = MIN (use->steps_ps, plan->steps.steps_ps);
  use->limit_bytes_per_s = MIN (limit, use->limit_bytes_per_s) > 0 ? MAX (limit, use->limit_bytes_per_s) : 0;
  return known->kind;
}

/* Whether the network plays lanes once that a rotation turns into each other. */
static gboolean
rotates (const FabFoldedPlays *self)
{
  const FabNet *net = self->env.job.net;

  return net->ops->plays_alike != NULL && net->ops->plays_alike (net, FAB_NO_LINK, 1);
}

/* Nothing is turned where a stream may be under way as well. */
static gboolean
rotate_kinds (const FabFoldedPlays *self, const GArray *kinds, const GPtrArray *copies)
{
  for (guint i = 0; i < kinds->len; i++)
    if (kind_at (self, g_array_index (kinds, guint, i))->stream != NULL)
      return FALSE;
  return fab_schedules_rotate (&(FabRotateSpec){ .net = self->env.job.net,
                                                 .schedules = (FabSchedule *const *) copies->pdata,
                                                 .n = copies->len,
                                                 .apart = self->env.job.apart,
                                                 .n_apart = self->env.job.n_apart });
}

/* Folds kinds (guint) together; the schedules are theirs or, where given, `copies`. */
static void
fold_kinds (const FabFoldedPlays *self, const GArray *kinds, const GPtrArray *copies)
{
  g_autoptr (GArray) uses = g_array_new (FALSE, FALSE, sizeof (FabFoldUse));
  g_autoptr (GPtrArray) streams = g_ptr_array_new ();

  for (guint i = 0; i < kinds->len; i++) {
    const Kind *kind = kind_at (self, g_array_index (kinds, guint, i));
    FabFoldUse use = kind->use;

    if (copies != NULL)
      use.schedule = g_ptr_array_index (copies, i);
    if (kind->stream != NULL)
      g_ptr_array_add (streams, (gpointer) kind->stream);
    else
      g_array_append_val (uses, use);
  }
  fab_schedules_fold (self->env.job.net->env.graph,
                      &(FabFoldSpec){ .uses = (const FabFoldUse *) (gpointer) uses->data,
                                      .n_uses = uses->len,
                                      .streams = (const FabFootprint *const *) streams->pdata,
                                      .n_streams = streams->len,
                                      .apart = self->env.job.apart,
                                      .n_apart = self->env.job.n_apart });
}

static void
add_to_part (GArray *part, guint8 *is_done, guint kind)
{
  is_done[kind] = TRUE;
  g_array_append_val (part, kind);
}

/* Folds the kinds of one part: those that may be under way with `first`, with others of those, and so on. */
static void
fold_part (FabFoldedPlays *self, const guint8 *may_meet, guint8 *is_done, guint first)
{
  g_autoptr (GArray) part = g_array_new (FALSE, FALSE, sizeof (guint));
  guint n = self->kinds->len;

  add_to_part (part, is_done, first);
  for (guint i = 0; i < part->len; i++) {
    guint k = g_array_index (part, guint, i);

    kind_at (self, k)->use.is_once = !may_meet[(gsize) k * n + k];
    kind_at (self, k)->part = first;
    for (guint other = 0; other < n; other++)
      if (!is_done[other] && may_meet[(gsize) k * n + other])
        add_to_part (part, is_done, other);
  }
  if (!rotates (self))
    fold_kinds (self, part, NULL);
}

/* All kinds are one part, and each may be under way twice. */
static void
fold_whole (FabFoldedPlays *self)
{
  g_autoptr (GArray) part = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint k = 0; k < self->kinds->len; k++)
    g_array_append_val (part, k);
  if (!rotates (self))
    fold_kinds (self, part, NULL);
}

static void
fold_parts (FabFoldedPlays *self, const guint *kind_of)
{
  g_autofree guint8 *may_meet = fab_concurrency_find (self->env.job.dag, self->env.job.has_next, kind_of,
                                                      self->kinds->len);
  g_autofree guint8 *is_done = g_new0 (guint8, self->kinds->len + 1);

  if (may_meet == NULL) {
    fold_whole (self);
    return;
  }
  for (guint k = 0; k < self->kinds->len; k++)
    if (!is_done[k])
      fold_part (self, may_meet, is_done, k);
}

/* Schedules that may be played at the same time are folded together. */
static void
fold_all (FabFoldedPlays *self)
{
  const FabDag *dag = self->env.job.dag;
  g_autoptr (GArray) in_chunks = g_array_new (FALSE, FALSE, sizeof (InChunks));
  g_autoptr (GHashTable) pipelines = g_hash_table_new (NULL, NULL);
  g_autofree guint *kind_of = g_new (guint, dag->n_collectives + 1);
  Everything all = { in_chunks, pipelines };

  self->is_folded = TRUE;
  for (guint c = 0; c < dag->n_collectives; c++)
    kind_of[c] = note_plan (self, &dag->collectives[c].plan, &all);
  fold_parts (self, kind_of);
  for (guint i = 0; i < in_chunks->len; i++) {
    const InChunks *again = &g_array_index (in_chunks, InChunks, i);
    FabPlanSchedule *known = fab_plan_schedules_find (self->known, again->plan);

    known->schedule = fab_schedule_in_chunks (again->pipeline, known->n_chunks);
  }
}

static gboolean
may_fold (const FabFoldedPlays *self)
{
  return self->env.job.is_alone
      && (self->env.job.net->ops->is_symmetric
          || (rotates (self) && !fab_graph_is_unfolded (self->env.job.net->env.graph)));
}

/* --- fewer kinds at a time --- */

/* Returns the kind of a plan; FAB_NO_KIND: it puts nothing on links. */
static guint
find_kind (FabFoldedPlays *self, const FabCollectivePlan *plan)
{
  if (plan->footprint == NULL || plan->bytes == 0)
    return FAB_NO_KIND;
  if (!fab_play_has_messages (self->env.job.net, plan))
    return find_stream (self, plan->footprint);
  return fab_plan_schedules_find (self->known, plan)->kind;
}

static Version *
version_at (const FabFoldedPlays *self, guint version)
{
  return g_ptr_array_index (self->versions, version - 1);
}

/* Whether kinds (guint) are all of one part, so that they are folded together from the start. */
static gboolean
is_whole_part (const FabFoldedPlays *self, const GArray *kinds)
{
  guint part = kind_at (self, g_array_index (kinds, guint, 0))->part, n = 0;

  for (guint i = 0; i < kinds->len; i++)
    if (kind_at (self, g_array_index (kinds, guint, i))->part != part)
      return FALSE;
  for (guint k = 0; k < self->kinds->len; k++)
    n += kind_at (self, k)->part == part;
  return n == kinds->len;
}

/* Copies the schedules of a version, which are folded then. */
static void
copy_schedules (const FabFoldedPlays *self, Version *version)
{
  version->folded = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_schedule_free);
  for (guint i = 0; i < version->kinds->len; i++) {
    const Kind *kind = kind_at (self, g_array_index (version->kinds, guint, i));

    g_ptr_array_add (version->folded, kind->stream == NULL ? fab_schedule_copy (kind->use.schedule) : NULL);
  }
}

/* What was folded with more kinds can be folded further. */
static void
fold_version (const FabFoldedPlays *self, Version *version)
{
  copy_schedules (self, version);
  fold_kinds (self, version->kinds, version->folded);
}

static Version *
version_new (const GArray *kinds, char *name)
{
  Version *version = g_new0 (Version, 1);

  version->name = name;
  version->kinds = g_array_copy ((GArray *) kinds);
  version->chunks = fab_plan_schedules_new ();
  return version;
}

/* Returns the number of the version of these kinds (guint, ascending). Kinds that no rotation turns are played whole,
 * and so are more kinds with them. */
static guint
find_version (FabFoldedPlays *self, const GArray *kinds)
{
  g_autoptr (GString) name = g_string_new (NULL);
  gpointer known;

  if (!rotates (self) && is_whole_part (self, kinds))
    return FAB_FOLDED_FOR_ALL;
  for (guint i = 0; i < kinds->len; i++)
    g_string_append_printf (name, "%u ", g_array_index (kinds, guint, i));
  if (g_hash_table_lookup_extended (self->by_name, name->str, NULL, &known))
    return GPOINTER_TO_UINT (known);
  Version *version = version_new (kinds, g_strdup (name->str));
  guint number = self->versions->len + 1;
  g_ptr_array_add (self->versions, version);
  if (rotates (self)) {
    copy_schedules (self, version);
    if (!rotate_kinds (self, version->kinds, version->folded)) {
      g_clear_pointer (&version->folded, g_ptr_array_unref);
      number = FAB_FOLDED_FOR_ALL;
    }
  }
  g_hash_table_insert (self->by_name, version->name, GUINT_TO_POINTER (number));
  return number;
}

static guint
plays_extend (gpointer owner, guint version, const FabCollectivePlan *plan)
{
  FabFoldedPlays *self = owner;
  g_autoptr (GArray) kinds = NULL;
  guint at = 0;

  if (version == FAB_FOLDED_FOR_ALL || !may_fold (self))
    return FAB_FOLDED_FOR_ALL;
  if (!self->is_folded)
    fold_all (self);
  guint kind = find_kind (self, plan);
  if (kind == FAB_NO_KIND)
    return version;
  kinds = version != FAB_FOLDED_FOR_NONE ? g_array_copy (version_at (self, version)->kinds)
                                         : g_array_new (FALSE, FALSE, sizeof (guint));
  while (at < kinds->len && g_array_index (kinds, guint, at) < kind)
    at++;
  if (at < kinds->len && g_array_index (kinds, guint, at) == kind)
    return version;
  g_array_insert_val (kinds, at, kind);
  return find_version (self, kinds);
}

static FabSchedule *
find_in_version (FabFoldedPlays *self, Version *version, const FabCollectivePlan *plan)
{
  guint kind = find_kind (self, plan), at = 0;

  if (version->folded == NULL)
    fold_version (self, version);
  while (g_array_index (version->kinds, guint, at) != kind)
    at++;
  guint n_chunks = plan->steps.n_chunks;
  if (kind_at (self, kind)->n_chunks == n_chunks)
    return g_ptr_array_index (version->folded, at);
  const FabPlanSchedule *known = fab_plan_schedules_find (version->chunks, plan);
  if (known == NULL)
    known = fab_plan_schedules_add (
        version->chunks, plan, fab_schedule_in_chunks (g_ptr_array_index (version->folded, at), n_chunks));
  return known->schedule;
}

/* --- plays --- */

static FabSchedule *
fold_and_find (FabFoldedPlays *self, const FabCollectivePlan *plan, guint version)
{
  if (may_fold (self) && !self->is_folded)
    fold_all (self);
  if (version == FAB_FOLDED_FOR_ALL || version == FAB_FOLDED_FOR_NONE)
    return fab_plan_schedules_make (self->known, plan)->schedule;
  return find_in_version (self, version_at (self, version), plan);
}

static gboolean
plays_describe (gpointer owner, FabNet *net, const FabCollectivePlan *plan, FabPlayTraits *traits)
{
  FabFoldedPlays *self = owner;

  if (!fab_play_has_messages (self->env.job.net, plan))
    return FALSE;
  const FabPlaySpec spec = fab_play_spec_of_plan (plan);
  FabSchedule *schedule = fold_and_find (self, plan, FAB_FOLDED_FOR_ALL);
  if (traits->words != NULL)
    fab_step_cost_take (schedule, fold_and_find (self, plan, plays_extend (self, FAB_FOLDED_FOR_NONE, plan)),
                        &spec);
  fab_play_describe (schedule, net, &spec, traits);
  return TRUE;
}

static FabPlay *
plays_begin (gpointer owner, FabNet *net, const FabEpisodeInput *input, guint version, FabDone done)
{
  FabFoldedPlays *self = owner;

  if (!fab_play_has_messages (self->env.job.net, input->plan))
    return NULL;
  FabPlaySpec spec = fab_play_spec_of_plan (input->plan);
  spec.traffic = input->traffic;
  spec.watch = self->env.messages;
  spec.done = done;
  FabSchedule *schedule = fold_and_find (self, input->plan, version);
  if (self->env.lanes != NULL) {
    self->env.lanes->n_lanes += fab_schedule_n_lanes (schedule);
    self->env.lanes->n_alike += fab_schedule_n_alike (schedule);
  }
  return fab_play_new (schedule, net, &spec);
}

FabEpisodeInput
fab_folded_plays_input (FabFoldedPlays *self, const FabJobCollective *collective)
{
  return (FabEpisodeInput){ .plan = collective->plan,
                            .traffic = collective->traffic,
                            .play = plays_begin,
                            .describe = plays_describe,
                            .extend = plays_extend,
                            .owner = self };
}
