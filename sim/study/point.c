/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/point.h"

#include "sim/scenario/binding.h"
#include "sim/scenario/run.h"

void
fab_point_free (FabPoint *self)
{
  if (self == NULL)
    return;
  g_free (self->binding);
  g_free (self->binding_spec);
  g_free (self);
}

static void
take_times (FabPoint *self, const FabStepRecord *step)
{
  self->step_s = fab_ps_to_seconds (step->times.duration_ps);
  self->compute_s = fab_ps_to_seconds (step->times.compute_ps);
  self->comm_s = fab_ps_to_seconds (step->times.comm_ps);
  self->overlapped_s = fab_ps_to_seconds (step->times.overlapped_ps);
  self->exposed_s = fab_ps_to_seconds (step->times.exposed_ps);
  self->idle_s = fab_ps_to_seconds (step->times.idle_ps);
  self->mfu_fraction = step->mfu_fraction;
  self->tokens_per_s = step->tokens_per_s;
}

/* What a rank has to send at least by the definition of busbw, whatever the algorithm. Between pipeline stages one
 * class sends and the other receives. */
static double
sent_bytes (const FabDag *dag)
{
  double bytes = 0, n_ranks = 0;

  for (guint c = 0; c < dag->n_classes; c++)
    n_ranks += dag->classes[c].n_ranks;
  for (guint i = 0; i < dag->n_collectives; i++) {
    const FabCollectivePlan *plan = &dag->collectives[i].plan;
    guint n_classes = dag->join_starts[i + 1] - dag->join_starts[i];
    double factor = fab_op_bus_factor (plan->op, plan->n_ranks)
                  / (plan->op == FAB_OP_SEND_RECV ? n_classes : 1);

    for (guint j = dag->join_starts[i]; j < dag->join_starts[i + 1]; j++)
      bytes += (double) plan->bytes * factor * dag->classes[dag->join_classes[j]].n_ranks;
  }
  return bytes / n_ranks;
}

static void
take_totals (FabPoint *self, const FabSimulation *simulation)
{
  const FabJobTotals *totals = fab_simulation_totals (simulation);
  const FabDag *dag = fab_simulation_dag (simulation);

  self->n_ranks = fab_cluster_n_ranks (fab_simulation_cluster (simulation));
  self->n_nodes = fab_simulation_cluster (simulation)->n_nodes;
  self->memory_max_bytes = fab_simulation_cluster (simulation)->device.memory_bytes;
  for (guint c = 0; c < dag->n_classes; c++)
    self->memory_bytes = MAX (self->memory_bytes, fab_job_totals_memory (totals, c));
  self->sent_bytes = sent_bytes (dag);
  if (self->tokens_per_s > 0)
    self->train_s = totals->train_tokens / self->tokens_per_s;
}

static void
take_binding (FabPoint *self, const FabSimulation *simulation)
{
  const FabGraph *graph = fab_simulation_cluster (simulation)->graph;
  FabBinding binding = fab_binding_find (fab_simulation_probe (simulation), graph);

  if (binding.link == FAB_NO_LINK)
    return;
  const FabLink *link = fab_graph_link (graph, binding.link);
  g_autofree char *from = fab_graph_vertex_name (graph, link->src),
                  *to = fab_graph_vertex_name (graph, link->dst);
  self->binding = g_strconcat (from, " -> ", to, NULL);
  self->binding_spec = g_strdup (fab_graph_link_class (graph, binding.link)->name);
  self->binding_fraction = binding.fraction;
}

static gboolean
take_spending (FabPoint *self, const FabScenario *scenario, const FabSimulation *simulation, GError **error)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  gboolean is_intact = spec->faults.n == 0 && spec->background.n == 0;
  g_autoptr (FabBill) bill = is_intact
                               ? fab_bill_of_graph (scenario, fab_simulation_plant (simulation)->graph)
                               : fab_bill_new (scenario, error);

  if (bill == NULL)
    return FALSE;
  self->spending = fab_spending_of (bill, &spec->cost,
                                    &(FabWork){ self->n_ranks, self->step_s, self->compute_s,
                                                self->tokens_per_s, self->train_s });
  return TRUE;
}

FabPoint *
fab_point_of (const FabScenario *scenario, const FabSimulation *simulation, GError **error)
{
  g_autoptr (FabPoint) self = g_new0 (FabPoint, 1);

  take_times (self, &fab_simulation_probe (simulation)->step);
  take_totals (self, simulation);
  take_binding (self, simulation);
  return take_spending (self, scenario, simulation, error) ? g_steal_pointer (&self) : NULL;
}

FabPoint *
fab_point_play (const FabScenario *scenario, const FabRegistry *registry, GError **error)
{
  return fab_point_play_within (scenario, registry, NULL, error);
}

FabPoint *
fab_point_play_within (const FabScenario *scenario, const FabRegistry *registry, const FabPointLimits *limits,
                       GError **error)
{
  const FabBytes most_bytes = limits != NULL ? limits->most_bytes : 0;
  const FabRunOptions options = { .cancel = limits != NULL ? limits->cancel : NULL };
  g_autoptr (FabPoint) weighed = g_new0 (FabPoint, 1);
  FabPlantCache *plants = limits != NULL ? limits->plants : NULL;
  g_autoptr (FabSimulation) simulation = plants != NULL ? fab_simulation_build_on (plants, scenario, registry,
                                                                                   options.cancel, error)
                                                        : fab_simulation_build (scenario, registry, NULL,
                                                                                options.cancel, error);

  if (simulation == NULL)
    return NULL;
  take_totals (weighed, simulation);
  if (most_bytes > 0 && weighed->memory_bytes > most_bytes)
    return g_steal_pointer (&weighed);
  return fab_simulation_run (simulation, &options, error) ? fab_point_of (scenario, simulation, error) : NULL;
}
