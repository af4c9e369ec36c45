/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/rig.h"

#include "tests/support/technologies.h"

static FabLinkForm
link_form (FabGraphBuilder *builder, const char *name, FabBytesPerS rate_bytes_per_s, FabTimePs latency_ps,
           double cost, gboolean has_reduction, FabInlined inlined, FabTimePs software_match_ps)
{
  double used = cost > 0 ? cost : 1;
  FabLinkClass link_class = { .name = name,
                              .technology = &test_nvlink,
                              .cost = { used, used, used },
                              .has_reduction = has_reduction,
                              .inlined = inlined,
                              .software_match_ps = software_match_ps };

  return (FabLinkForm){ rate_bytes_per_s, latency_ps, fab_graph_builder_class (builder, &link_class), 1 };
}

static void
add_node (Rig *self, FabGraphBuilder *builder, guint node)
{
  const RigSpec *spec = &self->spec;
  guint gpu = fab_graph_builder_part (builder, "gpu", TRUE);
  guint nic = fab_graph_builder_part (builder, "nic", TRUE);
  guint part = fab_graph_builder_part (builder, "switch", FALSE);
  guint32 owner = spec->has_network_star ? FAB_NO_NODE : node, index = spec->has_network_star ? node : 0;
  FabVertexId centre = fab_graph_builder_vertex (builder, FAB_VERTEX_SWITCH, owner, part, index);
  FabLinkForm form = link_form (builder, "gpu", spec->gpu_bytes_per_s, spec->gpu_latency_ps, spec->gpu_cost,
                                spec->gpus_reduce, (FabInlined){ 0 }, 0);
  FabLinkForm plain_form = link_form (builder, "nic-host", spec->gpu_bytes_per_s, spec->gpu_latency_ps,
                                      spec->gpu_cost, FALSE, (FabInlined){ 0 }, 0);

  for (guint i = 0; i < spec->gpus_per_node; i++) {
    FabVertexId id = fab_graph_builder_vertex (builder, FAB_VERTEX_ACCELERATOR, node, gpu, i);

    self->cluster.gpus[node * spec->gpus_per_node + i] = id;
    fab_graph_builder_join (builder, id, centre, &form);
  }
  for (guint i = 0; i < spec->nics_per_node; i++) {
    FabVertexId id = fab_graph_builder_vertex (builder, FAB_VERTEX_NIC, node, nic, i);

    self->cluster.nics[node * spec->nics_per_node + i] = id;
    fab_graph_builder_join (builder, id, centre, &plain_form);
  }
}

static void
add_fabric (const Rig *self, FabGraphBuilder *builder)
{
  const RigSpec *spec = &self->spec;
  g_autofree FabNicSeat *seats = g_new0 (FabNicSeat, spec->nics_per_node + 1);
  FabFabricEnv env = { .builder = builder,
                       .n_places = spec->n_nodes,
                       .nics_per_node = spec->nics_per_node,
                       .n_rails = spec->nics_per_node,
                       .n_boards = 1,
                       .seats = seats,
                       .nics = self->cluster.nics };

  if (spec->nics_per_node == 0)
    return;
  for (guint i = 0; i < spec->nics_per_node; i++)
    seats[i].rail = i;
  env.port = link_form (builder, "nic", spec->nic_bytes_per_s, spec->nic_latency_ps, spec->nic_cost,
                        spec->nics_reduce, spec->nic_inlined, spec->nic_software_match_ps);
  if (spec->nodes_per_leaf == 0) {
    fab_fabric_switch.build (&env, NULL, NULL);
    return;
  }
  g_autofree char *yaml = g_strdup_printf ("{nodes_per_leaf: %" G_GINT64_FORMAT "}", spec->nodes_per_leaf);
  g_autoptr (Params) params = params_new (&fab_fabric_rail.info, yaml);
  fab_fabric_rail.build (&env, params->params, NULL);
}

Rig *
rig_new (const RigSpec *spec)
{
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  Rig *self = g_new0 (Rig, 1);
  FabCluster *cluster = &self->cluster;

  self->spec = *spec;
  cluster->n_nodes = spec->n_nodes;
  cluster->gpus_per_node = spec->gpus_per_node;
  cluster->nics_per_node = spec->nics_per_node;
  cluster->gpus = g_new (FabVertexId, spec->n_nodes * spec->gpus_per_node + 1);
  cluster->nics = g_new (FabVertexId, spec->n_nodes * spec->nics_per_node + 1);
  cluster->architecture = "ampere";
  cluster->device.peak_flops_per_s[FAB_PRECISION_BF16] = 1e12;
  cluster->device.memory_bytes_per_s = FAB_PS_PER_S;
  cluster->p2p = cluster->gdr = FAB_REACH_SYS;
  cluster->generation = &test_generation;
  cluster->processor = &test_processor;
  for (guint node = 0; node < spec->n_nodes; node++)
    add_node (self, builder, node);
  add_fabric (self, builder);
  self->graph = fab_graph_builder_freeze (builder);
  self->router = fab_route_shortest.create (self->graph, NULL, 1);
  cluster->graph = self->graph;
  cluster->router = self->router;
  fab_cluster_measure (cluster);
  g_autofree char *params = g_strdup_printf ("{algorithm: '%s'}", spec->algorithm ? spec->algorithm : "");
  self->plain_params = params_new (&fab_library_plain.info, params);
  self->plain = fab_library_plain.create (fab_models.lists[FAB_MODEL_ALGORITHM], self->plain_params->params);
  return self;
}

Rig *
rig_new_flat (guint n_gpus)
{
  return rig_new (&(RigSpec){ .n_nodes = 1, .gpus_per_node = n_gpus, .gpu_bytes_per_s = FAB_PS_PER_S });
}

void
rig_free (Rig *self)
{
  if (self == NULL)
    return;
  fab_library_destroy (self->plain);
  params_free (self->plain_params);
  fab_router_destroy (self->router);
  fab_graph_free (self->graph);
  fab_cluster_clear (&self->cluster);
  g_free (self);
}

FabGroup
rig_group (const Rig *self)
{
  return (FabGroup){ &self->cluster, self->spec.n_nodes, self->spec.gpus_per_node };
}

FabVertexId
rig_gpu (const Rig *self, guint rank)
{
  return self->cluster.gpus[rank];
}

FabCollectivePlan
rig_plan (Rig *self, FabOp op, FabBytes bytes)
{
  FabGroup group = rig_group (self);
  FabCollectivePlan plan;
  gboolean is_planned = fab_library_plan (self->plain, &group, op, bytes, &plan, NULL);

  g_assert_true (is_planned);
  return plan;
}

FabTimePs
rig_ring_latency_ps (const Rig *self, FabOp op)
{
  const RigSpec *spec = &self->spec;
  gint64 rounds = op == FAB_OP_ALL_REDUCE ? 2 : 1;
  gint64 n_inter = rounds * (spec->n_nodes - 1);
  gint64 n_intra = rounds * (spec->n_nodes * spec->gpus_per_node - 1) - n_inter;

  /* GPU, switch, GPU; and GPU, switch, NIC, fabric, NIC, switch, GPU. */
  return n_intra * 2 * spec->gpu_latency_ps + n_inter * (4 * spec->gpu_latency_ps + 2 * spec->nic_latency_ps);
}

double
rig_ring_rate_bytes_per_s (const Rig *self, FabOp op)
{
  const RigSpec *spec = &self->spec;
  double bus = fab_op_bus_factor (op, spec->n_nodes * spec->gpus_per_node);
  double gpu = (double) spec->gpu_bytes_per_s / MAX (spec->gpu_cost, 1);
  double nic = (double) spec->nic_bytes_per_s / MAX (spec->nic_cost, 1) * spec->nics_per_node;

  return (spec->n_nodes > 1 ? MIN (gpu, nic) : gpu) / bus;
}

RigNet
rig_net_with (const Rig *self, const FabNetOps *ops, const char *yaml)
{
  FabEngine *engine = fab_engine_new ();
  FabNetEnv env = { engine, self->graph, self->router, 1 };
  Params *params = params_new (&ops->info, yaml);

  return (RigNet){ engine, ops->create (&env, params->params), params };
}

RigNet
rig_net (const Rig *self, const FabNetOps *ops)
{
  return rig_net_with (self, ops, "");
}

void
rig_net_clear (RigNet *self)
{
  fab_net_destroy (g_steal_pointer (&self->net));
  g_clear_pointer (&self->params, params_free);
  fab_engine_free (g_steal_pointer (&self->engine));
}

static void
note_end (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  RigNet *rig = owner;

  fab_engine_stop (rig->engine);
}

FabTimePs
rig_time_stream (const Rig *self, const FabNetOps *ops, FabStream stream)
{
  RigNet rig = rig_net (self, ops);
  FabTimePs end_ps;

  stream.done = (FabDone){ note_end, &rig, 0 };
  fab_net_stream (rig.net, &stream);
  fab_engine_run (rig.engine);
  end_ps = fab_engine_now (rig.engine);
  rig_net_clear (&rig);
  return end_ps;
}

FabTimePs
rig_time_send (const Rig *self, const FabNetOps *ops, FabTransfer transfer)
{
  RigNet rig = rig_net (self, ops);
  FabTimePs end_ps;

  transfer.done = (FabDone){ note_end, &rig, 0 };
  fab_net_send (rig.net, &transfer);
  fab_engine_run (rig.engine);
  end_ps = fab_engine_now (rig.engine);
  rig_net_clear (&rig);
  return end_ps;
}

FabTimePs
rig_play (const Rig *self, FabSchedule *schedule, FabBytes bytes, FabLinkLoad *loads)
{
  RigNet rig = rig_net (self, &fab_net_fluid);
  FabTimePs end_ps;
  g_autoptr (FabPlay) play = fab_play_new (
      schedule, rig.net,
      &(FabPlaySpec){ .bytes = bytes, .wire_factor = 1, .share = 1, .done = { note_end, &rig, 0 } });

  fab_engine_run (rig.engine);
  end_ps = fab_engine_now (rig.engine);
  if (loads != NULL)
    fab_meter_take (rig.net->meter, loads);
  rig_net_clear (&rig);
  return end_ps;
}

FabTimePs
rig_time_schedule (const Rig *self, const FabAlgorithmOps *algorithm, FabOp op, FabBytes bytes,
                   guint n_chunks, FabLinkLoad *loads)
{
  const FabAlgorithmEnv env = { .net_stretch = 1 };
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&self->cluster);
  FabGroup group = rig_group (self);
  gboolean is_made = algorithm->schedule (&group, op, &env, n_chunks, schedule, NULL);

  g_assert_true (is_made);
  return rig_play (self, schedule, bytes, loads);
}
