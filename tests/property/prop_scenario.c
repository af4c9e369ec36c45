/* SPDX-License-Identifier: Apache-2.0 */
/* prop_scenario.c - random DDP jobs on the catalogue's nodes, from YAML to the probe.
 *
 * None is faster than physics; links carry what the ring's weights say; more bandwidth never lengthens a step; where
 * only one collective runs at a time every network agrees; the same input gives the same bytes.
 */
#include "tests/support/test.h"

#include "tests/support/play.h"
#include "tests/support/probe_text.h"
#include "tests/support/seeds.h"

typedef struct {
  const char *node, *nvlink, *pcie, *nic, *library, *fabric;
  guint nodes, gpus, nics; /* used; gpus and nics of each node */
  guint nodes_per_leaf;    /* 0: one switch */
  gboolean recomputes;
  guint n_blocks, n_tensors, parameters; /* equal blocks of equal tensors */
  guint micro_batch, sequence, mfu_percent;
  guint bucket_kib, load_us;
} Spec;

static FabCatalog *catalog; /* shared by all seeds */

static guint
pick (Random *random, const guint *values, guint n)
{
  return values[random_below (random, n)];
}

static Spec
random_spec (Random *random)
{
  static const guint counts[] = { 1, 2, 3, 4, 8, 8, 8 }, node_counts[] = { 1, 1, 2, 3, 4, 6 };
  gboolean is_hopper = random_chance (random, 50);

  return (Spec){
    .node = is_hopper ? "dgx-h100" : "dgx-a100",
    .nvlink = is_hopper ? "nvlink4" : "nvlink3",
    .pcie = is_hopper ? "pcie5-x16" : "pcie4-x16",
    .nic = random_chance (random, 50) ? "ib-ndr" : "ib-hdr",
    .library = random_chance (random, 50) ? "plain" : "nccl",
    .nodes = pick (random, node_counts, G_N_ELEMENTS (node_counts)),
    .gpus = pick (random, counts, G_N_ELEMENTS (counts)),
    .nics = pick (random, counts, G_N_ELEMENTS (counts)),
    .nodes_per_leaf = random_chance (random, 50) ? random_between (random, 1, 4) : 0,
    .recomputes = random_chance (random, 50),
    .n_blocks = random_between (random, 1, 5),
    .n_tensors = random_between (random, 1, 4),
    .parameters = (guint) random_scale (random, 1e3, 1e8),
    .micro_batch = random_between (random, 1, 4),
    .sequence = random_between (random, 1, 4096),
    .mfu_percent = random_between (random, 20, 100),
    .bucket_kib = (guint) random_scale (random, 1, 100000),
    .load_us = random_chance (random, 30) ? random_between (random, 1, 3000) : 0,
  };
}

static char *
write_yaml (const Spec *s, const char *fidelity)
{
  g_autofree char *rail = g_strdup_printf ("{kind: rail, nodes_per_leaf: %u}", s->nodes_per_leaf);

  return g_strdup_printf (
      "name: random\niterations: 3\nfidelity: %s\ncollectives: %s\n"
      "cluster: {node: %s, nodes: %u, gpus_per_node: %u, nics_per_node: %u, nic: %s, fabric: %s}\n"
      "job: {kind: ddp, model: blocks, micro_batch: %u, sequence: %u, recompute: %s, bucket: %uKiB,\n"
      "  compute: {kind: mfu, mfu: %u%%}, data_loader: {time: %uus}}\n"
      "models: [{name: blocks, summary: s, source: s, date: \"2026-11-20\",\n"
      "  shape: {kind: layers, layers: [{name: block, count: %u, tensors: [{count: %u, parameters: %u}]}]}}]\n",
      fidelity, s->library, s->node, s->nodes, s->gpus, s->nics, s->nic,
      s->nodes_per_leaf > 0 ? rail : "switch", s->micro_batch, s->sequence, s->recomputes ? "full" : "none",
      s->bucket_kib, s->mfu_percent, s->load_us, s->n_blocks, s->n_tensors, s->parameters);
}

/* --- physics --- */

static double
gradient_bytes (const Spec *s)
{
  return 4.0 * s->n_blocks * s->n_tensors * s->parameters;
}

static double
line_rate (const char *link)
{
  return (double) fab_link_spec_line_rate (fab_catalog_link (catalog, link));
}

/* Forward 2 FLOP per parameter and token, backward twice that, recomputation once more. */
static double
compute_bound_s (const Spec *s, const FabCluster *cluster)
{
  double forward = 2 * gradient_bytes (s) / 4 * s->micro_batch * s->sequence;

  return forward * (s->recomputes ? 4 : 3)
       / (cluster->device.peak_flops_per_s[FAB_PRECISION_BF16] * s->mfu_percent / 100);
}

/* To reduce S bytes every party sends its own once, or others' sums, and gets the result: S each way at least, even
 * where switches reduce. A GPU over all its links at line rate, a node over all its ports. (18 NVLinks of a bundle at
 * most.) */
static double
comm_bound_s (const Spec *s)
{
  double gpu_s = gradient_bytes (s) / (18 * line_rate (s->nvlink) + line_rate (s->pcie));
  double node_s = gradient_bytes (s) / (s->nics * line_rate (s->nic));

  return MAX (s->nodes * s->gpus > 1 ? gpu_s : 0, s->nodes > 1 ? node_s : 0);
}

static void
assert_step (const Spec *s, const FabProbe *probe, const FabCluster *cluster)
{
  const FabIterationRecord *r = &probe->step.times;

  assert_true (fab_ps_to_seconds (r->compute_ps) >= compute_bound_s (s, cluster) * (1 - 1e-9));
  assert_true (fab_ps_to_seconds (r->comm_ps) >= comm_bound_s (s) * (1 - 1e-9));
  assert_true (r->duration_ps >= MAX (r->compute_ps, r->comm_ps));
  assert_int_equal (r->exposed_ps, r->comm_ps - r->overlapped_ps);
  assert_int_equal (r->idle_ps, r->duration_ps - r->compute_ps - r->exposed_ps);
  assert_true (probe->step.mfu_fraction <= s->mfu_percent / 100.0 * (1 + 1e-9));
}

static void
check_physics (Random *random)
{
  Spec spec = random_spec (random);
  g_autofree char *yaml = write_yaml (&spec, "fluid");
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  while (fab_simulation_step (play->simulation))
    assert_step (&spec, fab_simulation_probe (play->simulation), fab_simulation_cluster (play->simulation));
}

static void
no_step_beats_physics (G_GNUC_UNUSED void **state)
{
  seeds_run (200, check_physics);
}

/* --- conservation --- */

/* Links of one ring's way from each NIC to that of the next node: over the leaf, or over leaf, spine and leaf. */
static guint
count_fabric_hops (const Spec *s)
{
  guint n = 0;

  for (guint node = 0; node < s->nodes; node++) {
    guint next = (node + 1) % s->nodes;
    gboolean is_far = s->nodes_per_leaf > 0 && node / s->nodes_per_leaf != next / s->nodes_per_leaf;

    n += is_far ? 4 : 2;
  }
  return n;
}

/* Two links between GPUs over the NVSwitch; between nodes two from the GPU beside the NIC and two to the next. */
static double
ring_links (const Spec *s)
{
  if (s->nodes == 1)
    return 2.0 * s->gpus;
  return s->nodes * (2.0 * (s->gpus - 1) + 4) + count_fabric_hops (s);
}

/* DGX A100 with all GPUs: every NIC has two GPUs beside it, so that the way of a ring is known. */
static void
check_sum_of_bytes (Random *random)
{
  Spec spec = random_spec (random);
  double expected, sum = 0;

  spec.node = "dgx-a100";
  spec.gpus = 8;
  if (strcmp (spec.library, "nccl") == 0)
    spec.library = "{kind: nccl, algorithm: ring}";
  g_autofree char *yaml = write_yaml (&spec, random_chance (random, 50) ? "fluid" : "analytic");
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  assert_true (fab_simulation_step (play->simulation));
  const GArray *loads = fab_simulation_probe (play->simulation)->link_loads;
  for (guint i = 0; i < loads->len; i++)
    sum += (double) g_array_index (loads, FabLinkLoadRecord, i).bytes;
  expected = gradient_bytes (&spec) * fab_op_bus_factor (FAB_OP_ALL_REDUCE, spec.nodes * spec.gpus)
           * ring_links (&spec);
  /* Every load is rounded to a byte. */
  assert_true (fabs (sum - expected) <= 1e-9 * expected + loads->len);
}

static void
links_carry_in_sum_what_the_ring_sends (G_GNUC_UNUSED void **state)
{
  seeds_run (200, check_sum_of_bytes);
}

static void
add_plan (const FabCollectivePlan *plan, double *bytes)
{
  for (guint i = 0; plan->footprint && i < plan->footprint->n; i++)
    bytes[plan->footprint->links[i]] += (double) plan->bytes * plan->footprint->weights[i];
}

/* Every link on its own, by the weights of the plans that the job was built with. */
static void
check_bytes_of_links (Random *random)
{
  Spec spec = random_spec (random);
  g_autofree char *yaml = write_yaml (&spec, random_chance (random, 50) ? "fluid" : "analytic");
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  const FabGraph *graph = fab_simulation_cluster (play->simulation)->graph;
  const FabDag *dag = fab_simulation_dag (play->simulation);
  g_autofree double *expected = g_new0 (double, fab_graph_n_links (graph));

  for (guint c = 0; c < dag->n_collectives; c++)
    add_plan (&dag->collectives[c].plan, expected);
  while (fab_simulation_step (play->simulation)) {
    const GArray *loads = fab_simulation_probe (play->simulation)->link_loads;
    guint n_used = 0;

    for (FabLinkId l = 0; l < fab_graph_n_links (graph); l++)
      n_used += expected[l] > 0;
    assert_int_equal (loads->len, n_used);
    for (guint i = 0; i < loads->len; i++) {
      const FabLinkLoadRecord *load = &g_array_index (loads, FabLinkLoadRecord, i);

      assert_true (fabs ((double) load->bytes - expected[load->link]) <= 1e-9 * expected[load->link] + 1);
      assert_true (load->busy_fraction <= 1 + 1e-9);
    }
  }
}

static void
every_link_carries_what_its_weights_say (G_GNUC_UNUSED void **state)
{
  seeds_run (200, check_bytes_of_links);
}

/* --- comparisons --- */

static FabTimePs
total_ps (const char *yaml, const FabWhatIf *what_if)
{
  g_autoptr (Play) play = play_new (catalog, yaml, what_if);
  FabTimePs sum_ps = 0;

  while (fab_simulation_step (play->simulation))
    sum_ps += fab_simulation_probe (play->simulation)->step.times.duration_ps;
  return sum_ps;
}

static void
check_what_if (Random *random)
{
  Spec spec = random_spec (random);
  const char *const classes[] = { spec.nvlink, spec.pcie, spec.nic };

  if (strcmp (spec.library, "nccl") == 0) /* its tuner may take a worse way over faster links */
    spec.library = "{kind: nccl, algorithm: ring, protocol: simple}";
  g_autofree char *yaml = write_yaml (&spec, "fluid");
  FabTimePs usual_ps = total_ps (yaml, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (classes); i++) {
    FabWhatIf what_if = { .link_class = classes[i], .rate_factor = 1 + 3 * random_unit (random) };
    FabTimePs changed_ps = total_ps (yaml, &what_if);

    if (changed_ps > usual_ps)
      fail_msg ("%s at %.17g: %" G_GINT64_FORMAT " instead of %" G_GINT64_FORMAT "\n%s", what_if.link_class,
                what_if.rate_factor, changed_ps, usual_ps, yaml);
  }
}

/* Channels limit these all-reduces, so that faster adapters change the startup and what of it overlaps, and not their
 * sum. Rounded apart, the two came to a ps more in each iteration. */
static void
rounding_never_lengthens_a_step (G_GNUC_UNUSED void **state)
{
  static const char yaml[] =
      "name: rounded\niterations: 3\n"
      "collectives: {kind: nccl, algorithm: ring, protocol: simple}\n"
      "cluster: {node: dgx-a100, nodes: 4, nics_per_node: 2, nic: ib-hdr, fabric: {kind: rail, nodes_per_leaf: 2}}\n"
      "job: {kind: ddp, model: blocks, micro_batch: 4, sequence: 3861, recompute: none, bucket: 568KiB,\n"
      "  compute: {kind: mfu, mfu: 76%}, data_loader: {time: 1107us}}\n"
      "models: [{name: blocks, summary: s, source: s, date: \"2026-11-20\", shape: {kind: layers,\n"
      "  layers: [{name: block, count: 5, tensors: [{count: 2, parameters: 52961350}]}]}}]\n";
  FabWhatIf faster = { .link_class = "ib-hdr", .rate_factor = 2.2144509209314513 };

  assert_true (total_ps (yaml, &faster) <= total_ps (yaml, NULL));
}

static void
more_bandwidth_never_lengthens_a_step (G_GNUC_UNUSED void **state)
{
  seeds_run (200, check_what_if);
}

/* DDP's all-reduces follow one another on one stream: nothing is shared, so sharing changes nothing. */
static void
check_fidelities (Random *random)
{
  Spec spec = random_spec (random);
  g_autofree char *fluid = write_yaml (&spec, "fluid"), *analytic = write_yaml (&spec, "analytic");

  assert_int_equal (total_ps (fluid, NULL), total_ps (analytic, NULL));
}

static void
one_collective_at_a_time_is_the_same_on_every_network (G_GNUC_UNUSED void **state)
{
  seeds_run (200, check_fidelities);
}

static void
check_determinism (Random *random)
{
  Spec spec = random_spec (random);
  g_autofree char *yaml = write_yaml (&spec, "fluid");
  g_autofree char *first = play_text (catalog, yaml), *second = play_text (catalog, yaml);

  assert_string_equal (first, second);
}

static void
the_same_input_gives_the_same_bytes (G_GNUC_UNUSED void **state)
{
  seeds_run (100, check_determinism);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (no_step_beats_physics),
    seeds_test (links_carry_in_sum_what_the_ring_sends),
    seeds_test (every_link_carries_what_its_weights_say),
    seeds_test (more_bandwidth_never_lengthens_a_step),
    cmocka_unit_test (rounding_never_lengthens_a_step),
    seeds_test (one_collective_at_a_time_is_the_same_on_every_network),
    seeds_test (the_same_input_gives_the_same_bytes),
  };
  int n_failed;

  catalog = play_catalog ();
  n_failed = cmocka_run_group_tests_name ("scenario", tests, NULL, NULL);
  fab_catalog_free (catalog);
  return n_failed;
}
