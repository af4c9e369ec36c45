/* SPDX-License-Identifier: Apache-2.0 */
/* mpi.c - a library that sends messages, one step of the algorithm after another: Open MPI, MPICH.
 *
 *   time = the longest sequence of the algorithm's messages that wait for one another. A message of m bytes takes
 *          T (m)                        between nodes: the measured time, `messages` of the link of the NICs
 *          endpoint + wires + m / rate  inside a node, and where the link has no measured times
 *        + b / rate                     where other messages send b bytes through the same port at that step
 *        + m / reduce_rate              where the receiver adds it to what it has
 *   startup = that time, minus the time of the same sequence with bytes / rate of the links alone
 *
 * T (m) is the time that was measured with traffic in both directions where a message comes the other way through one
 * of the two NICs in the same step. A network plays the bytes: the plan is a stream over the algorithm's footprint,
 * whose rate is limited so that it is no faster than its messages follow one another. Some messages were measured to
 * be faster than their wires (bursts). Then the measured time counts, and the stream carries so many bytes less.
 *
 * A plan takes O(messages). The library owns a schedule for each group, operation and algorithm.
 */
#include <string.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/collective/plan/given.h"

typedef struct {
  const char *algorithm;
  FabBytesPerS reduce_bytes_per_s;
} MpiParams;

static const FabParam mpi_params[] = {
  { .key = "algorithm",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (MpiParams, algorithm),
    .fallback = "",
    .refers = FAB_REFERS_ALGORITHM,
    .help = "Use this algorithm only; empty: the first that supports the operation." },
  { .key = "reduce_rate",
    .type = FAB_PARAM_RATE,
    .offset = G_STRUCT_OFFSET (MpiParams, reduce_bytes_per_s),
    .fallback = "0B/s",
    .max = 1e15,
    .help = "Rate at which a rank adds received data to its own; 0B/s: adding takes no time." },
  { .key = NULL },
};

typedef struct {
  const FabCollectiveForm *form;
  FabSchedule *schedule;
} KnownSchedule;

typedef struct {
  FabLibrary base;
  MpiParams params;
  GArray *schedules; /* KnownSchedule: those made so far */
} MpiLibrary;

/* Measured times of messages contain what is lost on the way, so that NICs lose nothing on top. */
static const FabAlgorithmEnv env = { .net_stretch = 0 };

/* --- messages --- */

typedef struct {
  double reduce_s_per_byte; /* time of adding, averaged over all messages of a sequence */
} Cost;

/* An all-reduce adds in the first half of its steps and distributes the result in the second half. */
static Cost
cost_of (const MpiLibrary *self, FabOp op)
{
  double share = op == FAB_OP_ALL_REDUCE ? 0.5 : op == FAB_OP_REDUCE || op == FAB_OP_REDUCE_SCATTER ? 1 : 0;

  return (Cost){ self->params.reduce_bytes_per_s > 0 ? share / (double) self->params.reduce_bytes_per_s : 0 };
}

static double
wire_s (G_GNUC_UNUSED gconstpointer data, const FabMessageStep *step)
{
  return step->port_bytes / fab_hop_rate (step->hop, env.net_stretch);
}

static double
message_s (gconstpointer data, const FabMessageStep *step)
{
  const Cost *cost = data;
  const FabHop *hop = step->hop;
  FabMessageWay way = step->is_both ? FAB_WAY_BOTH : FAB_WAY_ONE;
  double s = hop->messages != NULL && hop->messages->n > 0
               ? fab_ps_to_seconds (fab_message_among_ps (hop->messages, way, step->bytes, step->port_bytes))
               : fab_ps_to_seconds (fab_ps_add (hop->endpoint_ps, hop->latency_ps)) + wire_s (NULL, step);

  return s + step->bytes * cost->reduce_s_per_byte;
}

/* How much earlier a message was measured to end than its wires allow, in seconds; 0 for most messages. Taken from
 * the measurement itself, without the factor by which an uncertainty band varies it. */
static double
lead_s (gconstpointer data, const FabMessageStep *step)
{
  if (step->hop->messages == NULL || step->hop->messages->n == 0)
    return 0;
  FabMessages measured = *step->hop->messages;
  FabHop hop = *step->hop;
  FabMessageStep alone = *step;

  measured.factor = 1;
  hop.messages = &measured;
  alone.hop = &hop;
  return MAX (fab_ps_to_seconds (hop.latency_ps) + wire_s (NULL, step) - message_s (data, &alone), 0);
}

static void
schedule_clear (gpointer data)
{
  fab_schedule_free (((KnownSchedule *) data)->schedule);
}

/* NULL and *error when a hop has no path. */
static FabSchedule *
find_schedule (MpiLibrary *self, const FabCollectiveForm *form, const FabAlgorithmOps *algorithm,
               const FabGroup *group, FabOp op, const FabAlgorithmEnv *by, GError **error)
{
  for (guint i = 0; i < self->schedules->len; i++) {
    const KnownSchedule *known = &g_array_index (self->schedules, KnownSchedule, i);

    if (known->form == form)
      return known->schedule;
  }
  g_autoptr (FabSchedule) schedule = fab_schedule_new (group->cluster);
  if (!algorithm->schedule (group, op, by, 1, schedule, error))
    return NULL;
  KnownSchedule made = { form, schedule };
  g_array_append_val (self->schedules, made);
  return g_steal_pointer (&schedule);
}

/* --- plan --- */

/* The part of the bytes that the stream carries, so that it takes no longer than the messages do. */
static double
part_that_flows (FabSchedule *schedule, FabCollectivePlan *plan, const Cost *cost, double way_s,
                 double wires_s)
{
  const double least = 1e-6; /* where messages were measured to be shorter than the latency of their wires */
  double room_s = way_s - fab_ps_to_seconds (plan->latency_ps);

  if (room_s >= wires_s || fab_schedule_longest (schedule, plan->bytes, lead_s, cost) <= 0)
    return 1;
  return MAX (room_s / wires_s, least);
}

static void
fill_plan (const MpiLibrary *self, const FabCollectiveForm *form, FabSchedule *schedule,
           FabCollectivePlan *plan)
{
  const double rounding = 1e-9;
  Cost cost = cost_of (self, plan->op);
  double bytes = (double) plan->bytes;
  double way_s = fab_schedule_longest (schedule, plan->bytes, message_s, &cost);
  double wires_s = fab_schedule_longest (schedule, plan->bytes, wire_s, NULL);
  double rate = form->footprint->rate_bytes_per_s;

  plan->messages = schedule;
  plan->n_channels = form->n_channels;
  plan->footprint = form->footprint;
  plan->most_bytes_per_s = form->phases_bytes_per_s;
  if (plan->most_bytes_per_s > 0)
    rate = MIN (rate, plan->most_bytes_per_s);
  if (wires_s > bytes / rate * (1 + rounding))
    plan->most_bytes_per_s = bytes / wires_s;
  plan->latency_ps = fab_form_latency_ps (form);
  plan->wire_factor = part_that_flows (schedule, plan, &cost, way_s, wires_s);
  plan->most_bytes_per_s /= plan->wire_factor;
  plan->startup_ps = MAX (fab_seconds_to_ps (MAX (way_s - wires_s * plan->wire_factor, 0)), plan->latency_ps);
  plan->steps = (FabCollectivePlanSteps){
    .n_chunks = 1, .steps_ps = plan->startup_ps, .intra_cost = 1, .inter_cost = 1
  };
}

static gboolean
can_use (const MpiLibrary *self, const FabAlgorithmOps *algorithm, const FabGroup *group, FabOp op)
{
  const char *wanted = self->params.algorithm;

  return (wanted == NULL || strcmp (wanted, algorithm->info.name) == 0) && algorithm->supports (group, op);
}

static gboolean
no_algorithm (const MpiLibrary *self, FabOp op, guint n_ranks, gboolean is_in_network, GError **error)
{
  if (is_in_network)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "collectives.algorithm: '%s' reduces in switches, and mpi only passes messages between "
                      "ranks; collectives.kind=plain supports it",
                      self->params.algorithm);
  if (self->params.algorithm != NULL)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "collectives.algorithm: '%s' cannot do %s over the links between these %u ranks",
                      self->params.algorithm, fab_op_names[op], n_ranks);
  return fab_throw (error, FAB_ERROR_INPUT, "no algorithm can do %s over %u ranks", fab_op_names[op],
                    n_ranks);
}

static gboolean
plan_with (MpiLibrary *self, const FabAlgorithmOps *algorithm, const FabGroup *group,
           const FabAlgorithmEnv *by, FabCollectivePlan *plan, GError **error)
{
  const FabCollectiveForm *form = fab_library_form (&self->base, algorithm, group, plan->op, by, error);
  FabSchedule *schedule = form != NULL ? find_schedule (self, form, algorithm, group, plan->op, by, error)
                                       : NULL;

  if (schedule == NULL)
    return FALSE;
  plan->algorithm = algorithm->info.name;
  fill_plan (self, form, schedule, plan);
  return TRUE;
}

static gboolean
mpi_plan_by (FabLibrary *library, const FabGroup *group, const FabGiven *given, FabCollectivePlan *plan,
             GError **error)
{
  FabAlgorithmEnv by = env;

  by.owner = given;
  return plan_with ((MpiLibrary *) library, &given->ops, group, &by, plan, error);
}

static gboolean
mpi_plan (FabLibrary *library, const FabGroup *group, FabOp op, G_GNUC_UNUSED FabBytes bytes,
          FabCollectivePlan *plan, GError **error)
{
  MpiLibrary *self = (MpiLibrary *) library;
  gboolean is_in_network = FALSE;

  for (guint i = 0; library->algorithms[i]; i++) {
    const FabAlgorithmOps *algorithm = library->algorithms[i];

    if (!can_use (self, algorithm, group, op))
      continue;
    is_in_network = algorithm->reduces_in != FAB_REDUCES_IN_RANKS;
    if (is_in_network)
      continue;
    return plan_with (self, algorithm, group, &env, plan, error);
  }
  return no_algorithm (self, op, plan->n_ranks, is_in_network, error);
}

static FabLibrary *
mpi_create (const FabModelInfo *const *algorithms, gconstpointer params)
{
  MpiLibrary *self = g_new0 (MpiLibrary, 1);

  fab_library_init (&self->base, &fab_library_mpi, algorithms);
  self->params = *(const MpiParams *) params;
  self->schedules = g_array_new (FALSE, FALSE, sizeof (KnownSchedule));
  g_array_set_clear_func (self->schedules, schedule_clear);
  return &self->base;
}

static void
mpi_destroy (FabLibrary *library)
{
  g_array_unref (((MpiLibrary *) library)->schedules);
  fab_library_clear (library);
  g_free (library);
}

const FabLibraryOps fab_library_mpi = {
  .info = { .name = "mpi",
            .summary = "Sends messages step by step at measured message times: Open MPI, MPICH.",
            .doc = "docs/models/mpi.md",
            .params = mpi_params,
            .params_size = sizeof (MpiParams) },
  .create = mpi_create,
  .plan = mpi_plan,
  .plan_by = mpi_plan_by,
  .destroy = mpi_destroy,
};
