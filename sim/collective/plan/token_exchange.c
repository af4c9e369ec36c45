/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/plan/token_exchange.h"

#include <math.h>

#include "sim/base/error.h"
#include "sim/collective/shape/phases.h"

/* --- routing --- */

/* The probability that none of `per_token` different experts of `n_all` is one of `n_part`. */
static double
chance_of_none (double n_all, double n_part, guint per_token)
{
  double chance = 1;

  for (guint i = 0; i < per_token; i++)
    chance *= MAX (n_all - n_part - i, 0) / (n_all - i);
  return chance;
}

static double
binomial (guint n, guint k)
{
  double ways = 1;

  if (k > n)
    return 0;
  for (guint i = 0; i < k; i++)
    ways *= (double) (n - i) / (i + 1);
  return ways;
}

/* The part has `n_part` experts of each of `n_in` groups. */
static double
chance_of_part (const FabRouting *self, guint n_in, double n_part)
{
  guint picked = self->groups_per_token;
  double n_all = (double) self->n_experts / self->n_groups * picked, none = 0;

  for (guint j = 0; j <= MIN (n_in, picked); j++) {
    double ways = binomial (n_in, j) * binomial (self->n_groups - n_in, picked - j);

    none += ways / binomial (self->n_groups, picked) * chance_of_none (n_all, j * n_part, self->per_token);
  }
  return 1 - none;
}

double
fab_routing_parts (const FabRouting *self, guint n_parts)
{
  double n_part = (double) self->n_experts / n_parts;
  if (n_parts >= self->n_experts)
    return self->per_token;
  if (self->groups_per_token == 0 || self->groups_per_token >= self->n_groups)
    return n_parts * (1 - chance_of_none (self->n_experts, n_part, self->per_token));
  double n_group = (double) self->n_experts / self->n_groups;
  return n_parts * chance_of_part (self, (guint) MAX (n_part / n_group + 0.5, 1), MIN (n_part, n_group));
}

double
fab_token_bytes (double hidden, FabPrecision precision)
{
  const double numbers_per_scale = 128, scale_bytes = 4;

  return precision == FAB_PRECISION_FP8 ? hidden * (1 + scale_bytes / numbers_per_scale)
                                        : hidden * (double) fab_precision_bytes (precision);
}

/* --- cost --- */

typedef struct {
  FabLibrary base;
  FabTokenExchange exchange;
} TokenLibrary;

/* Copies of a token, or messages, that its rank makes or passes on. */
static double
copies_of (const FabTokenExchange *self, guint n_ranks)
{
  return self->is_low_latency ? self->routing.per_token : fab_routing_parts (&self->routing, n_ranks);
}

/* Multiprocessors that copy tokens. A low-latency kernel gives each expert at most one; between nodes every second one
 * of a normal kernel forwards what arrives. */
static double
copying_sms (const FabTokenExchange *self, guint n_device_sms, guint n_nodes)
{
  if (self->is_low_latency)
    return n_device_sms > 0 ? MIN (self->routing.n_experts, n_device_sms) : self->routing.n_experts;
  return n_nodes > 1 ? self->n_sms / 2.0 : self->n_sms;
}

double
fab_token_exchange_kernel_s (const FabTokenExchange *self, const FabTokenCost *cost, const FabTokenRank *rank,
                             double tokens)
{
  const double sharpness = 4;
  guint n_ranks = rank->n_nodes * rank->n_locals;
  double copied = copies_of (self, n_ranks) * self->token_bytes;
  /* Of a node's ranks, a copy is for the one that makes it in one case of n_locals. A low-latency kernel sends to
   * other nodes without them. */
  double sent = copied * (rank->n_locals - 1) / (self->is_low_latency ? n_ranks : rank->n_locals);
  double a_token = fab_ps_to_seconds (cost->token_ps), of_sms, of_links = 0;

  if (cost->sm_bytes_per_s > 0)
    a_token += copied / (double) cost->sm_bytes_per_s;
  of_sms = tokens * a_token / copying_sms (self, rank->n_sms, rank->n_nodes);
  if (rank->links_bytes_per_s > 0 && cost->links_fraction > 0)
    of_links = tokens * sent / (cost->links_fraction * rank->links_bytes_per_s);
  return pow (pow (of_sms, sharpness) + pow (of_links, sharpness), 1 / sharpness);
}

/* The rate of the links between accelerators that leave the first one of the group. */
static double
links_of (const FabGroup *group)
{
  const FabGraph *graph = group->cluster->graph;
  FabLinkId first;
  guint n = fab_graph_out_links (graph, fab_group_gpu (group, 0, 0), &first);
  double rate = 0;

  for (FabLinkId link = first; link < first + n; link++)
    if (fab_graph_link_class (graph, link)->technology->joins == FAB_JOINS_ACCELERATORS)
      rate += (double) fab_graph_link (graph, link)->rate_bytes_per_s;
  return rate;
}

static const FabTokenCost *
cost_of (const FabTokenExchange *self, const FabGeneration *generation)
{
  const FabTokenCosts *costs = self->is_low_latency ? &generation->low_latency
                             : self->is_hybrid      ? &generation->hybrid
                                                    : &generation->tokens;

  return self->is_combine ? &costs->combine : &costs->dispatch;
}

/* --- links --- */

/* Rank `local` of a node that may have fewer than another one. */
static guint
rank_of (const FabGroup *group, guint node, guint local)
{
  guint first = 0;

  for (guint n = 0; n < node; n++)
    first += fab_group_n_locals (group, n);
  return first + local % fab_group_n_locals (group, node);
}

static void
send_between (const FabTokenExchange *self, const FabGroup *group, FabPhases *phases)
{
  guint n_nodes = group->n_nodes;
  double weight = fab_routing_parts (&self->routing, n_nodes) / n_nodes / self->routing.per_token;

  fab_phases_next (phases);
  for (guint distance = 1; distance < n_nodes; distance++)
    for (guint node = 0; node < n_nodes; node++)
      for (guint local = 0; local < fab_group_n_locals (group, node); local++) {
        guint here = rank_of (group, node, local),
              there = rank_of (group, (node + distance) % n_nodes, local);

        fab_phases_send (phases, self->is_combine ? there : here, self->is_combine ? here : there, weight,
                         FAB_WHOLE_BUFFER);
      }
}

static void
send_inside (const FabTokenExchange *self, const FabGroup *group, FabPhases *phases)
{
  double copies = fab_routing_parts (&self->routing, fab_group_n_ranks (group));

  fab_phases_next (phases);
  for (guint node = 0; node < group->n_nodes; node++) {
    guint n = fab_group_n_locals (group, node);

    for (guint distance = 1; distance < n; distance++)
      for (guint local = 0; local < n; local++)
        fab_phases_send (phases, rank_of (group, node, local), rank_of (group, node, (local + distance) % n),
                         copies / n / self->routing.per_token, FAB_WHOLE_BUFFER);
  }
}

static void
send_messages (const FabGroup *group, FabPhases *phases)
{
  guint n = fab_group_n_ranks (group);

  fab_phases_next (phases);
  for (guint distance = 1; distance < n; distance++)
    for (guint from = 0; from < n; from++)
      fab_phases_send (phases, from, (from + distance) % n, 1.0 / n, FAB_WHOLE_BUFFER);
}

static FabPhases *
phases_of (const FabTokenExchange *self, const FabGroup *group)
{
  FabPhases *phases = fab_phases_new (group, !self->is_low_latency);

  if (self->is_low_latency)
    send_messages (group, phases);
  else if (self->is_combine) {
    send_inside (self, group, phases);
    send_between (self, group, phases);
  } else {
    send_between (self, group, phases);
    send_inside (self, group, phases);
  }
  return phases;
}

static gboolean
exchange_supports (G_GNUC_UNUSED const FabGroup *group, FabOp op)
{
  return op == FAB_OP_ALL_TO_ALL;
}

static gboolean
exchange_form (const FabGroup *group, G_GNUC_UNUSED FabOp op, const FabAlgorithmEnv *env,
               FabCollectiveForm *form, GError **error)
{
  g_autoptr (FabPhases) phases = phases_of (env->owner, group);

  return fab_phases_form (phases, env, form, error);
}

static gboolean
exchange_schedule (const FabGroup *group, G_GNUC_UNUSED FabOp op, const FabAlgorithmEnv *env, guint n_chunks,
                   FabSchedule *schedule, GError **error)
{
  g_autoptr (FabPhases) phases = phases_of (env->owner, group);

  return fab_phases_schedule (phases, env, n_chunks, schedule, error);
}

/* Not a row of the registry: nobody but this library can ask for it. */
static const FabAlgorithmOps exchange_algorithm = {
  .info = { .name = "exchange",
            .summary = "Sends tokens to experts and their results back.",
            .doc = "docs/models/experts.md" },
  .supports = exchange_supports,
  .form = exchange_form,
  .schedule = exchange_schedule,
};

/* --- plan --- */

static gboolean
exchange_plan (FabLibrary *library, const FabGroup *group, FabOp op, FabBytes bytes, FabCollectivePlan *plan,
               GError **error)
{
  const TokenLibrary *self = (const TokenLibrary *) library;
  const FabTokenExchange *exchange = &self->exchange;
  const FabCluster *cluster = group->cluster;
  const FabTokenCost *cost = cost_of (exchange, cluster->generation);
  FabAlgorithmEnv env = { .owner = exchange };
  guint n_ranks = fab_group_n_ranks (group);
  double tokens = (double) bytes / (exchange->token_bytes * exchange->routing.per_token);

  g_assert (op == FAB_OP_ALL_TO_ALL);
  if (cost->start_ps == 0)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "kernels that exchange tokens were not measured on accelerators of generation '%s'; use the "
        "collective library, which works on all of them",
        cluster->architecture != NULL ? cluster->architecture : "unknown");
  const FabCollectiveForm *form = fab_library_form (library, &exchange_algorithm, group, op, &env, error);
  if (form == NULL)
    return FALSE;
  FabTokenRank rank = { group->n_nodes, MAX (n_ranks / group->n_nodes, 1), cluster->device.n_sms,
                        links_of (group) };
  double kernel_s = fab_token_exchange_kernel_s (exchange, cost, &rank, tokens);
  double start_s = fab_ps_to_seconds (cost->start_ps)
                 + fab_ps_to_seconds (cost->expert_ps) * exchange->routing.n_experts;

  if (cost->start_bytes_per_s > 0)
    start_s += exchange->token_bytes / (double) cost->start_bytes_per_s;
  plan->algorithm = exchange->is_combine ? "combine" : "dispatch";
  plan->protocol = exchange->is_low_latency ? "low_latency" : exchange->is_hybrid ? "hybrid" : "normal";
  plan->n_channels = exchange->is_low_latency ? (guint) copying_sms (exchange, cluster->device.n_sms, 1)
                                              : exchange->n_sms;
  plan->footprint = form->footprint;
  plan->wire_factor = group->n_nodes > 1 ? 1 / cost->network_fraction : 1;
  plan->ends_bytes_per_s = kernel_s > 0 ? (double) bytes / kernel_s : 0;
  plan->most_bytes_per_s = plan->steps.pace_bytes_per_s = plan->ends_bytes_per_s;
  plan->latency_ps = fab_ps_add (form->inter_latency_ps, form->inter_endpoint_ps);
  start_s += MIN (kernel_s, fab_ps_to_seconds (cost->fill_ps));
  plan->startup_ps = fab_ps_add (fab_seconds_to_ps (start_s), plan->latency_ps);
  return TRUE;
}

static void
exchange_destroy (FabLibrary *library)
{
  fab_library_clear (library);
  g_free (library);
}

static const FabLibraryOps exchange_ops = {
  .info = { .name = "exchange",
            .summary = "Kernels that exchange tokens between experts.",
            .doc = "docs/models/experts.md" },
  .plan = exchange_plan,
  .destroy = exchange_destroy,
};

FabLibrary *
fab_token_exchange_new (const FabTokenExchange *exchange)
{
  static const FabModelInfo *const none[] = { NULL };
  TokenLibrary *self = g_new0 (TokenLibrary, 1);

  g_assert (exchange->routing.per_token > 0 && exchange->token_bytes > 0);
  fab_library_init (&self->base, &exchange_ops, none);
  self->exchange = *exchange;
  return &self->base;
}
