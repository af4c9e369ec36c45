/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/collective.h"

#include <string.h>

const char *const fab_op_names[FAB_N_OPS + 1] = {
  [FAB_OP_ALL_REDUCE] = "all_reduce",
  [FAB_OP_ALL_GATHER] = "all_gather",
  [FAB_OP_REDUCE_SCATTER] = "reduce_scatter",
  [FAB_OP_BROADCAST] = "broadcast",
  [FAB_OP_REDUCE] = "reduce",
  [FAB_OP_ALL_TO_ALL] = "all_to_all",
  [FAB_OP_SEND_RECV] = "send_recv",
  [FAB_OP_GATHER] = "gather",
  [FAB_OP_SCATTER] = "scatter",
};

gboolean
fab_op_find (const char *name, FabOp *op)
{
  for (guint i = 0; i < FAB_N_OPS; i++)
    if (strcmp (fab_op_names[i], name) == 0) {
      *op = (FabOp) i;
      return TRUE;
    }
  return FALSE;
}

double
fab_op_bus_factor (FabOp op, guint n_ranks)
{
  double share = (double) (n_ranks - 1) / n_ranks;

  switch (op) {
  case FAB_OP_ALL_REDUCE: return 2 * share;
  case FAB_OP_ALL_GATHER:
  case FAB_OP_REDUCE_SCATTER:
  case FAB_OP_ALL_TO_ALL:
  case FAB_OP_GATHER:
  case FAB_OP_SCATTER: return share;
  case FAB_OP_BROADCAST:
  case FAB_OP_REDUCE:
  case FAB_OP_SEND_RECV: return 1;
  case FAB_N_OPS:
  default: g_assert_not_reached ();
  }
}

FabTimePs
fab_form_latency_ps (const FabCollectiveForm *form)
{
  return fab_ps_add (fab_ps_times (form->intra_latency_ps, form->n_intra_steps),
                     fab_ps_times (form->inter_latency_ps, form->n_inter_steps));
}

/* Whether the links between two processors are among them. */
static gboolean
passes_sockets (const FabGraph *graph, const FabFootprint *footprint)
{
  for (guint i = 0; i < footprint->n; i++) {
    const FabLink *link = fab_graph_link (graph, footprint->links[i]);

    if (fab_graph_vertex (graph, link->src)->kind == FAB_VERTEX_HOST
        && fab_graph_vertex (graph, link->dst)->kind == FAB_VERTEX_HOST)
      return TRUE;
  }
  return FALSE;
}

/* Whether the kernels of an accelerator move less through host memory than this link of its, both ways. */
static gboolean
is_faster_than_kernels (const FabCluster *cluster, FabLinkId id, gboolean is_far)
{
  const FabProcessor *processor = cluster->processor;
  const FabLink *link = fab_graph_link (cluster->graph, id);
  double most = (double) (is_far ? processor->staged_kernel_far_bytes_per_s
                                 : processor->staged_kernel_most_bytes_per_s);
  double stretch = fab_slowdown_stretch (&processor->staged_kernel)
                 * fab_slowdown_stretch (&processor->staged_both_ways);

  gboolean is_of_device = fab_graph_vertex (cluster->graph, link->src)->kind == FAB_VERTEX_ACCELERATOR
                       || fab_graph_vertex (cluster->graph, link->dst)->kind == FAB_VERTEX_ACCELERATOR;

  return is_of_device && most > 0
      && (double) link->rate_bytes_per_s / fab_graph_link_class (cluster->graph, id)->cost[FAB_DRIVE_KERNEL]
             > most * stretch;
}

double
fab_form_kernels_bytes_per_s (const FabCollectiveForm *form, const FabCluster *cluster)
{
  const FabFootprint *footprint = form->footprint;
  gboolean has_phases = form->phases_bytes_per_s > 0;
  double s_per_byte = 0;

  if (form->intra_kind != FAB_HOP_STAGED || (has_phases && form->n_inter_steps > 0))
    return 0;
  gboolean is_far = passes_sockets (cluster->graph, footprint);
  for (guint i = 0; i < footprint->n; i++)
    if (is_faster_than_kernels (cluster, footprint->links[i], is_far))
      s_per_byte = MAX (
          s_per_byte, footprint->line_weights[i]
                          / (double) fab_graph_link (cluster->graph, footprint->links[i])->rate_bytes_per_s);
  if (has_phases) /* all of them go that way */
    s_per_byte *= footprint->rate_bytes_per_s / form->phases_bytes_per_s;
  return s_per_byte > 0 ? 1 / s_per_byte : 0;
}

FabStream
fab_collective_plan_stream (const FabCollectivePlan *plan)
{
  return (FabStream){
    .footprint = plan->footprint,
    .bytes = plan->bytes,
    .startup_ps = plan->startup_ps,
    .latency_ps = plan->latency_ps,
    .wire_factor = plan->wire_factor,
    .limit_bytes_per_s = plan->most_bytes_per_s,
    .share = plan->n_connections,
    .stays = TRUE,
  };
}

gboolean
fab_collective_plan_waits_for_ends (const FabCollectivePlan *plan)
{
  const double least_share = 0.95; /* of the time of the bytes, which the ends alone would take */
  double bytes = (double) plan->bytes;

  if (plan->footprint == NULL || plan->waits_for_ends)
    return plan->footprint != NULL;
  FabStream stream = fab_collective_plan_stream (plan);
  double bytes_s = bytes / fab_stream_rate_alone (&stream) + fab_ps_to_seconds (plan->fill_ps);
  return plan->ends_bytes_per_s > 0 && bytes / plan->ends_bytes_per_s >= least_share * bytes_s;
}

static FabTimePs
scaled_ps (FabTimePs time_ps, double factor)
{
  double scaled = (double) time_ps * factor + 0.5;

  return scaled >= (double) FAB_TIME_MAX ? FAB_TIME_MAX : (FabTimePs) scaled;
}

void
fab_collective_plan_scale (FabCollectivePlan *plan, double factor)
{
  plan->startup_ps = scaled_ps (plan->startup_ps, factor);
  plan->latency_ps = MIN (scaled_ps (plan->latency_ps, factor), plan->startup_ps);
  plan->fill_ps = scaled_ps (plan->fill_ps, factor);
  plan->steps.steps_ps = scaled_ps (plan->steps.steps_ps, factor);
  plan->steps.fill_ps = scaled_ps (plan->steps.fill_ps, factor);
  plan->wire_factor *= factor;
  plan->most_bytes_per_s /= factor;
  plan->ends_bytes_per_s /= factor;
  plan->steps.pace_bytes_per_s /= factor;
}

void
fab_collective_plan_start_at_once (FabCollectivePlan *plan)
{
  plan->startup_ps = plan->latency_ps = 0;
  plan->steps.steps_ps = plan->steps.fill_ps = 0;
}

void
fab_collective_plan_share (FabCollectivePlan *plan, guint64 n)
{
  g_assert (n > 0);
  plan->bytes = (plan->bytes + n - 1) / n;
  plan->startup_ps = (FabTimePs) ((guint64) plan->startup_ps / n);
  plan->latency_ps = (FabTimePs) ((guint64) plan->latency_ps / n);
  plan->fill_ps = (FabTimePs) ((guint64) plan->fill_ps / n);
  plan->best.idle_ps = (FabTimePs) ((guint64) plan->best.idle_ps / n);
  plan->steps = (FabCollectivePlanSteps){ 0 };
}

FabTimePs
fab_collective_plan_idle_ps (const FabCollectivePlan *plan)
{
  if (plan->footprint == NULL)
    return 0;
  FabStream stream = fab_collective_plan_stream (plan);
  return fab_ps_add (plan->startup_ps, fab_flow_ps ((double) plan->bytes, fab_stream_rate_alone (&stream)));
}

double
fab_collective_plan_wire_per_byte (const FabCollectivePlan *plan)
{
  return plan->footprint ? plan->footprint->binding_weight * plan->wire_factor : 0;
}

static gint
compare_preference (gconstpointer a, gconstpointer b)
{
  guint first = (*(const FabAlgorithmOps *const *) a)->preference;
  guint second = (*(const FabAlgorithmOps *const *) b)->preference;

  return first < second ? -1 : first > second;
}

const FabAlgorithmOps **
fab_algorithms_by_preference (const FabModelInfo *const *algorithms)
{
  GPtrArray *sorted = g_ptr_array_new ();

  for (guint i = 0; algorithms[i] != NULL; i++)
    g_ptr_array_add (sorted, (gpointer) algorithms[i]);
  g_ptr_array_sort (sorted, compare_preference);
  g_ptr_array_add (sorted, NULL);
  return (const FabAlgorithmOps **) g_ptr_array_free (sorted, FALSE);
}
