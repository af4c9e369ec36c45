/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/shortcut/sample/sampling.h"

#include "sim/shortcut/memo/plan_ids.h"
#include "sim/shortcut/space/folded_plays.h"
#include "sim/shortcut/time/skips.h"

/* A part of the bytes that was played. */
typedef struct {
  double bytes, events;
  FabTimePs ps, idle_ps; /* on the finer network, and as a stream */
} Point;

typedef struct {
  FabCollectivePlan plan; /* of the first collective of the kind, as the job has it */
  const char *traffic;
  FabCollectivePlan part; /* what is played of it in this round */
  guint next;             /* index in `shares`; G_N_ELEMENTS (shares): nothing is left to play */
  guint n_points;
  Point points[2]; /* the last two, ascending */
} Kind;

static const double shares[] = { 1.0 / 64, 1.0 / 16, 1.0 / 4, 1 };

enum { WHOLE = G_N_ELEMENTS (shares) - 1, DONE = G_N_ELEMENTS (shares), LEAST_CHUNKS = 4 };

static gboolean
is_chunked (const FabCollectivePlan *plan)
{
  return plan->steps.is_pipeline && plan->messages == NULL && plan->steps.n_chunks > LEAST_CHUNKS;
}

/* Returns the plan with a share of its bytes. Chunks keep their size, so that the pace of a pipeline stays. */
static FabCollectivePlan
part_of (const FabCollectivePlan *plan, double share)
{
  FabCollectivePlan part = *plan;

  if (is_chunked (plan)) {
    part.steps.n_chunks = MAX (LEAST_CHUNKS, (guint) (share * plan->steps.n_chunks));
    share = (double) part.steps.n_chunks / plan->steps.n_chunks;
  }
  part.bytes = MAX (1, (FabBytes) (share * (double) plan->bytes));
  return part;
}

/* --- how far a kind is played --- */

/* Returns how many events `bytes` take: on the line through the last two points, or through the origin and one. */
static double
events_for (const Kind *kind, double bytes)
{
  const Point *last = &kind->points[kind->n_points - 1];

  if (kind->n_points == 1)
    return last->events * bytes / last->bytes;
  double slope = (last->events - kind->points[0].events) / (last->bytes - kind->points[0].bytes);
  return last->events + slope * (bytes - last->bytes);
}

static void
add_point (Kind *kind, const FabWarmUp *played)
{
  Point point = { (double) kind->part.bytes, (double) played->n_events, played->duration_ps,
                  fab_collective_plan_idle_ps (&kind->part) };

  if (kind->n_points == 2)
    kind->points[0] = kind->points[1];
  kind->n_points = MIN (kind->n_points + 1, 2);
  kind->points[kind->n_points - 1] = point;
}

/* Chooses the next part: all, where that is affordable; otherwise the next larger one that is. */
static void
choose_next (Kind *kind, guint64 most_events)
{
  guint begun = kind->next++;

  if (begun == WHOLE)
    return;
  if (events_for (kind, (double) kind->plan.bytes) <= (double) most_events)
    kind->next = WHOLE;
  else if (part_of (&kind->plan, shares[kind->next]).bytes <= kind->part.bytes)
    choose_next (kind, most_events);
  else if (events_for (kind, shares[kind->next] * (double) kind->plan.bytes) > (double) most_events)
    kind->next = DONE;
}

/* A part that did not end is given up, and with it all that are larger. */
static void
take (Kind *kind, const FabWarmUp *played, guint64 most_events, FabSamplingCount *count)
{
  count->n_events += played->n_events;
  if (played->duration_ps < 0) {
    kind->next = DONE;
    return;
  }
  add_point (kind, played);
  choose_next (kind, most_events);
}

/* --- playing --- */

/* Plays the present part of every kind that has one. */
static void
play_round (const FabSamplingEnv *env, FabNet *net, GArray *kinds, FabSamplingCount *count)
{
  g_autoptr (GPtrArray) played = g_ptr_array_new ();
  g_autoptr (GArray) inputs = g_array_new (FALSE, FALSE, sizeof (FabEpisodeInput));
  g_autoptr (GArray) collectives = g_array_new (FALSE, FALSE, sizeof (FabDagCollective));

  for (guint k = 0; k < kinds->len; k++) {
    Kind *kind = &g_array_index (kinds, Kind, k);

    if (kind->next == DONE)
      continue;
    kind->part = part_of (&kind->plan, shares[kind->next]);
    g_ptr_array_add (played, kind);
    g_array_append_val (collectives, ((FabDagCollective){ .plan = kind->part }));
  }
  guint none[] = { 0 }; /* there are no tasks: each is alone */
  const FabDag dag = { .next_starts = none,
                       .carried_starts = none,
                       .n_collectives = collectives->len,
                       .collectives = (FabDagCollective *) (gpointer) collectives->data };
  FabFoldedPlays *plays = fab_folded_plays_new (&(FabFoldedPlaysEnv){ .job = { .net = net,
                                                                               .dag = &dag,
                                                                               .is_alone = env->is_alone,
                                                                               .apart = env->apart,
                                                                               .n_apart = env->n_apart },
                                                                      .messages = &fab_skips_watch });
  for (guint i = 0; i < played->len; i++) {
    const Kind *kind = g_ptr_array_index (played, i);
    FabEpisodeInput input = fab_folded_plays_input (plays, &(FabJobCollective){ &kind->part, kind->traffic });

    g_array_append_val (inputs, input);
  }
  const FabWarmUpEnv warm = { .ops = env->ops,
                              .params = env->params,
                              .env = env->env,
                              .n_threads = env->n_threads,
                              .most_events = env->most_events };
  g_autoptr (GArray) results = fab_warm_up (&warm, env->env.engine,
                                            (const FabEpisodeInput *) (gpointer) inputs->data, inputs->len,
                                            TRUE);
  for (guint i = 0; i < played->len; i++)
    take (g_ptr_array_index (played, i), &g_array_index (results, FabWarmUp, i), env->most_events, count);
  fab_folded_plays_free (plays);
}

static gboolean
is_left (const GArray *kinds)
{
  for (guint k = 0; k < kinds->len; k++)
    if (g_array_index (kinds, Kind, k).next != DONE)
      return TRUE;
  return FALSE;
}

static void
play_all (const FabSamplingEnv *env, GArray *kinds, FabSamplingCount *count)
{
  g_autoptr (FabEngine) engine = fab_engine_new ();
  FabNetEnv own = env->env;

  own.engine = engine;
  FabNet *net = env->ops->create (&own, env->params); /* is asked, and plays nothing */
  while (is_left (kinds))
    play_round (env, net, kinds, count);
  fab_net_destroy (net);
}

/* --- what it says of the plans --- */

/* Returns how much longer one more byte takes than as a stream, at least 1. Small messages wait for each other, so that
 * time is convex in bytes: what parts show is a lower bound, and so is the stream. */
static double
steepness (const Kind *kind)
{
  const Point *first = &kind->points[0], *last = &kind->points[1];

  if (kind->n_points < 2 || last->idle_ps <= first->idle_ps)
    return 1;
  return MAX (1, (double) (last->ps - first->ps) / (double) (last->idle_ps - first->idle_ps));
}

/* Returns the factor of a kind; 0: none of it was played. */
static double
factor_of (const Kind *kind)
{
  FabTimePs idle_ps = fab_collective_plan_idle_ps (&kind->plan);

  if (kind->n_points == 0 || idle_ps <= 0)
    return 0;
  const Point *last = &kind->points[kind->n_points - 1];
  return ((double) last->ps + steepness (kind) * (double) (idle_ps - last->idle_ps)) / (double) idle_ps;
}

/* Whether the last part of a kind of which some was played was all of it. */
static gboolean
is_whole (const Kind *kind)
{
  return kind->points[kind->n_points - 1].bytes >= (double) kind->plan.bytes;
}

static void
count_kind (const Kind *kind, double factor, FabSamplingCount *count)
{
  count->n_whole += factor > 0 && is_whole (kind);
  count->n_parts += factor > 0 && !is_whole (kind);
  count->n_skipped += factor <= 0 && kind->plan.bytes > 0;
  if (factor <= 0)
    return;
  count->least_factor = count->least_factor > 0 ? MIN (count->least_factor, factor) : factor;
  count->most_factor = MAX (count->most_factor, factor);
}

/* Returns the Kinds, and for each collective which one it is. (transfer full) */
static GArray *
find_kinds (const GArray *collectives, guint32 *kind_of)
{
  FabPlanIds *ids = fab_plan_ids_new ();
  GArray *kinds = g_array_new (FALSE, TRUE, sizeof (Kind));

  for (guint c = 0; c < collectives->len; c++) {
    const FabJobCollective *collective = &g_array_index (collectives, FabJobCollective, c);

    kind_of[c] = fab_plan_ids_find (ids, collective->plan, collective->traffic);
    if (kind_of[c] < kinds->len)
      continue;
    Kind kind = { .plan = *collective->plan, .traffic = collective->traffic };
    kind.next = collective->plan->bytes > 0 ? 0 : DONE;
    g_array_append_val (kinds, kind);
  }
  fab_plan_ids_free (ids);
  return kinds;
}

void
fab_sample_collectives (const FabSamplingEnv *env, FabDag *dag, const GArray *collectives,
                        FabSamplingCount *count)
{
  g_autofree guint32 *kind_of = g_new0 (guint32, collectives->len + 1);
  g_autoptr (GArray) kinds = find_kinds (collectives, kind_of);
  g_autofree double *factors = g_new0 (double, kinds->len + 1);

  play_all (env, kinds, count);
  for (guint k = 0; k < kinds->len; k++) {
    const Kind *kind = &g_array_index (kinds, Kind, k);

    factors[k] = factor_of (kind);
    count_kind (kind, factors[k], count);
  }
  for (guint c = 0, at = 0; c < dag->n_collectives; c++) {
    FabCollectivePlan *plan = &dag->collectives[c].plan;

    if (plan->footprint == NULL)
      continue;
    if (factors[kind_of[at]] > 0)
      fab_collective_plan_scale (plan, factors[kind_of[at]]);
    at++;
  }
}
