/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/serving/flows.h"

#include "sim/base/error.h"
#include "sim/collective/shape/flow_path.h"

gboolean
flows_add (Flows *self, const Flow *flow, FlowStreams *streams, GError **error)
{
  guint number = self->n_flows++, message;
  FabFlowPath *path;
  FabCollectivePlan plan;
  FabTaskId task;

  if (number >= FLOWS_MAX)
    return fab_throw (error, FAB_ERROR_INPUT, "job: these are more than %d flows", FLOWS_MAX);
  path = fab_flow_path_new (self->env->cluster, flow->from, flow->to, number, self->footprints, error);
  if (path == NULL) {
    g_prefix_error (error, "job: ");
    return FALSE;
  }
  fab_dag_builder_own (self->builder, path, (GDestroyNotify) fab_flow_path_free);
  plan = fab_flow_path_plan (path, flow->bytes);
  plan.n_channels = 0; /* RDMA occupies no multiprocessor */
  plan.startup_ps = fab_ps_add (plan.startup_ps, flow->setup_ps);
  plan.steps.steps_ps = plan.startup_ps;
  if (flow->message_bytes > 0 && self->message_ps > 0) {
    plan.ends_bytes_per_s = flow->message_bytes / ((double) self->message_ps / 1e12)
                          / MAX (flow->n_beside, 1);
    plan.most_bytes_per_s = plan.steps.pace_bytes_per_s = plan.ends_bytes_per_s;
  }
  if (!streams->is_there)
    *streams = (FlowStreams){ fab_dag_builder_stream (self->builder, flow->rank_class, "flow"),
                              fab_dag_builder_stream (self->builder, flow->target_class, "flow"), TRUE };
  message = fab_dag_builder_collective (self->builder, &plan, FAB_DIMENSION_OTHER,
                                        g_strdup_printf ("flow%u %u->%u", number, flow->from, flow->to));
  task = fab_dag_builder_join (self->builder, streams->sends, message);
  fab_dag_builder_after (self->builder, fab_dag_builder_join (self->builder, streams->receives, message),
                         flow->start);
  if (flow->after != NULL)
    fab_dag_builder_after (self->builder, task, *flow->after);
  return TRUE;
}
