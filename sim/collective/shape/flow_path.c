/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/shape/flow_path.h"

#include "sim/base/error.h"

static gboolean
find_hop (const FabCluster *cluster, guint from, guint to, guint64 flow, FabHop *hop, GError **error)
{
  guint n = cluster->gpus_per_node;
  guint out = fab_cluster_nic_of (cluster, from % n), in = fab_cluster_nic_of (cluster, to % n);

  if (from / n == to / n)
    return fab_hop_inside (cluster, cluster->gpus[from], cluster->gpus[to], hop, error);
  if (out == G_MAXUINT || in == G_MAXUINT)
    return fab_throw (error, FAB_ERROR_INPUT, "rank %u has no NIC through which to reach rank %u",
                      out == G_MAXUINT ? from : to, out == G_MAXUINT ? to : from);
  return fab_hop_over (cluster, cluster->gpus[from], cluster->nics[from / n * cluster->nics_per_node + out],
                       cluster->nics[to / n * cluster->nics_per_node + in], cluster->gpus[to], flow, hop,
                       error);
}

FabFlowPath *
fab_flow_path_new (const FabCluster *cluster, guint from, guint to, guint64 flow,
                   FabFootprintBuilder *builder, GError **error)
{
  FabHop hop;

  if (!find_hop (cluster, from, to, flow, &hop, error))
    return NULL;
  FabFlowPath *self = g_new0 (FabFlowPath, 1);
  self->cluster = cluster;
  self->hop = hop;
  fab_hop_use (&self->hop, 1, 0, builder);
  self->footprint = fab_footprint_builder_finish (builder);
  return self;
}

void
fab_flow_path_free (FabFlowPath *self)
{
  if (self == NULL)
    return;
  fab_hop_clear (&self->hop);
  fab_footprint_free (self->footprint);
  g_free (self);
}

/* One lane of one message. */
static FabSchedule *
make_message (gconstpointer owner, G_GNUC_UNUSED const FabCollectivePlan *plan)
{
  const FabFlowPath *self = owner;
  FabSchedule *schedule = fab_schedule_new (self->cluster);
  FabHop hop = self->hop;

  g_array_ref (hop.shares);
  fab_schedule_lane (schedule, &hop, 0, 1, 1);
  return schedule;
}

FabCollectivePlan
fab_flow_path_plan (const FabFlowPath *self, FabBytes bytes)
{
  FabTimePs startup_ps = fab_ps_add (self->hop.latency_ps, self->hop.endpoint_ps);

  return (FabCollectivePlan){ .algorithm = "message",
                              .protocol = "none",
                              .n_channels = 1,
                              .n_ranks = 2,
                              .op = FAB_OP_SEND_RECV,
                              .bytes = bytes,
                              .footprint = self->footprint,
                              .startup_ps = startup_ps,
                              .latency_ps = self->hop.latency_ps,
                              .wire_factor = 1,
                              .n_connections = 1,
                              .steps = { .make = make_message,
                                         .owner = self,
                                         .n_chunks = 1,
                                         .steps_ps = startup_ps,
                                         .intra_cost = 1,
                                         .inter_cost = 1 } };
}
