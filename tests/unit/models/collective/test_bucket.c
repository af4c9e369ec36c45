/* SPDX-License-Identifier: Apache-2.0 */
/* test_bucket.c - collectives along all axes of a torus: what links carry, who can do it, and who takes it. */
#include "tests/support/test.h"

#include "models/models.h"
#include "tests/support/play.h"

/* Chips of six ports of 100 GB/s, each with its own router; a byte costs 272/256 on the line. */
#define CHIP                                                                                                     \
  "nodes: [{name: chip, accelerator: tpu-v5p, nic: ici-v5p, p2p: sys, gdr: phb, parts: [{name: chip, "           \
  "kind: accelerator, count: 1}, {name: cpu, kind: host, count: 1}, {name: memory, kind: memory, count: "        \
  "1}, {name: nic, kind: nic, count: 6}], wires: [{from: nic, to: chip, link: pcie6-x16}, {from: nic, to: cpu, " \
  "link: pcie4-x16}, {from: memory, to: cpu, link: ddr4-8ch-3200}], source: test, date: \"2026-11-22\"}]\n"

static int
load_catalog (void **state)
{
  *state = play_catalog ();
  return 0;
}

static int
free_catalog (void **state)
{
  fab_catalog_free (*state);
  return 0;
}

static char *
scenario_of (guint x, guint y, guint z, const char *library, const char *op)
{
  return g_strdup_printf (
      "name: t\niterations: 1\ncluster: {node: chip, nodes: %u, nic: ici-v5p, nics_per_node: 6, "
      "fabric: {kind: torus, x: %u, y: %u, z: %u, links: 1}}\ncollectives: {%s}\n"
      "job: {kind: collective, operations: [{op: %s, size: 64MB}]}\n" CHIP,
      x * y * z, x, y, z, library, op);
}

static FabPlant *
torus (const FabCatalog *catalog, guint x, guint y, guint z)
{
  g_autofree char *yaml = scenario_of (x, y, z, "kind: plain", "all_reduce");
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                         &error);
  FabPlant *plant = scenario != NULL ? fab_plant_new (scenario, NULL, &error) : NULL;

  if (plant == NULL)
    fail_msg ("%s", error->message);
  return plant;
}

static FabGroup
all_of (const FabPlant *plant)
{
  return (FabGroup){ &plant->cluster, plant->cluster.n_nodes, 1 };
}

static void
form_of (const FabGroup *group, FabOp op, FabCollectiveForm *form)
{
  static const FabAlgorithmEnv env = { .net_stretch = 1 };

  assert_true (fab_algorithm_bucket.supports (group, op));
  assert_true (fab_algorithm_bucket.form (group, op, &env, form, NULL));
}

/* The least and the most payload bytes per byte of size that a link between routers carries; links that carry nothing
 * are left out. Returns how many do. */
static guint
links_between_routers (const FabGraph *graph, const FabFootprint *footprint, double *least, double *most)
{
  guint n = 0;

  *least = G_MAXDOUBLE;
  *most = 0;
  for (guint i = 0; i < footprint->n; i++) {
    const FabLink *link = fab_graph_link (graph, footprint->links[i]);

    if (fab_graph_vertex (graph, link->src)->kind != FAB_VERTEX_SWITCH
        || fab_graph_vertex (graph, link->dst)->kind != FAB_VERTEX_SWITCH)
      continue;
    *least = MIN (*least, footprint->weights[i]);
    *most = MAX (*most, footprint->weights[i]);
    n++;
  }
  return n;
}

/* 4 x 4 x 4: every one of 64 x 6 links carries 2 x 63/64 / 6. Three axes of 3 steps, there and back. */
static void
all_links_of_a_cube_carry_alike (void **state)
{
  g_autoptr (FabPlant) plant = torus (*state, 4, 4, 4);
  FabGroup group = all_of (plant);
  FabCollectiveForm form;
  double least, most;

  form_of (&group, FAB_OP_ALL_REDUCE, &form);
  assert_int_equal (links_between_routers (plant->graph, form.footprint, &least, &most), 64 * 6);
  assert_near (least, 2 * 63 / 64.0 / 6, 1e-9);
  assert_near (most, 2 * 63 / 64.0 / 6, 1e-9);
  assert_int_equal (form.n_inter_steps, 18);
  assert_int_equal (form.n_channels, 6);
  assert_true (form.phases_bytes_per_s == 0);
  fab_footprint_free (form.footprint);
  form_of (&group, FAB_OP_ALL_GATHER, &form);
  links_between_routers (plant->graph, form.footprint, &least, &most);
  assert_near (most, 63 / 64.0 / 6, 1e-9);
  assert_int_equal (form.n_inter_steps, 9);
  fab_footprint_free (form.footprint);
}

/* No more than 10 % above what all links alike would carry, axes as unlike as they may be. */
static void
unlike_axes_are_loaded_nearly_alike (void **state)
{
  static const guint sizes[][3] = { { 4, 4, 8 }, { 3, 4, 5 }, { 8, 16, 1 }, { 5, 1, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    const guint *s = sizes[i];
    g_autoptr (FabPlant) plant = torus (*state, s[0], s[1], s[2]);
    FabGroup group = all_of (plant);
    FabCollectiveForm form;
    double least, most, n = group.n_nodes;

    form_of (&group, FAB_OP_REDUCE_SCATTER, &form);
    links_between_routers (plant->graph, form.footprint, &least, &most);
    guint n_axes = (s[0] > 1) + (s[1] > 1) + (s[2] > 1);
    double alike = (n - 1) / n / (2 * n_axes);
    assert_true (most < 1.1 * alike);
    double time = form.phases_bytes_per_s > 0 ? 1 / form.phases_bytes_per_s
                                              : 1 / form.footprint->rate_bytes_per_s;
    assert_true (time < 1.2 * alike * 272 / 256 / 100e9);
    fab_footprint_free (form.footprint);
  }
}

/* The time of an operation whose parts have these shares, in times of all bytes over one link. Half of part p goes
 * along axes p, p + 1, ..., and back in an all-reduce: of n places it moves (n - 1) / n of what it has left, and
 * keeps 1 / n. Over an axis of two, rings in both directions share the link. Parts that are on one axis share it
 * alike. */
static double
time_of_shares (FabOp op, const guint *sizes, guint d, const double *shares)
{
  guint n_phases = op == FAB_OP_ALL_REDUCE ? 2 * d : d, at[3] = { 0 }, axes[3][6];
  double works[3][6], now = 0;

  for (guint p = 0; p < d; p++) {
    double left = shares[p] / 2;

    for (guint k = 0; k < d; k++) {
      guint axis = (p + k) % d, n = sizes[axis];

      axes[p][k] = axes[p][2 * d - 1 - k] = axis;
      works[p][k] = works[p][2 * d - 1 - k] = left * (n - 1) / n * (n == 2 ? 2 : 1);
      left /= n;
    }
  }
  for (;;) {
    guint n_on[3] = { 0 };
    double step = G_MAXDOUBLE;

    for (guint p = 0; p < d; p++)
      if (at[p] < n_phases)
        n_on[axes[p][at[p]]]++;
    for (guint p = 0; p < d; p++)
      if (at[p] < n_phases)
        step = MIN (step, works[p][at[p]] * n_on[axes[p][at[p]]]);
    if (step == G_MAXDOUBLE)
      return now;
    now += step;
    for (guint p = 0; p < d; p++) {
      if (at[p] == n_phases)
        continue;
      works[p][at[p]] -= step / n_on[axes[p][at[p]]];
      at[p] += works[p][at[p]] < 1e-13;
    }
  }
}

/* The shares are as good as the best of all shares in steps of a hundredth, to half a percent. */
static void
shares_are_the_best_there_are (void **state)
{
  static const guint boxes[][3] = { { 4, 8, 1 }, { 8, 16, 1 }, { 3, 4, 5 }, { 3, 3, 6 },
                                    { 4, 4, 8 }, { 6, 2, 2 },  { 4, 4, 2 }, { 2, 2, 8 } };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (boxes); i++) {
    const guint *s = boxes[i / 2], d = s[2] > 1 ? 3 : 2;
    FabOp op = i % 2 == 0 ? FAB_OP_REDUCE_SCATTER : FAB_OP_ALL_REDUCE;
    g_autoptr (FabPlant) plant = torus (*state, s[0], s[1], s[2]);
    FabGroup group = all_of (plant);
    FabCollectiveForm form;
    double best = G_MAXDOUBLE;

    for (guint x = 1; x < 100; x++)
      for (guint y = 1; x + y < (d == 3 ? 100 : 101); y++) {
        const double shares[] = { x / 100.0, y / 100.0, 1 - (x + y) / 100.0 };

        if (d == 3 || x + y == 100)
          best = MIN (best, time_of_shares (op, s, d, shares));
      }
    form_of (&group, op, &form);
    double time_s = form.phases_bytes_per_s > 0 ? 1 / form.phases_bytes_per_s
                                                : 1 / form.footprint->rate_bytes_per_s,
           bytes = time_s * 100e9 * 256 / 272;
    if (bytes > 1.005 * best || bytes < 0.98 * best)
      fail_msg ("%s on %u x %u x %u: %g, and the best is %g", fab_op_names[op], s[0], s[1], s[2], bytes,
                best);
    fab_footprint_free (form.footprint);
  }
}

/* --- groups --- */

static gboolean
supports (const FabPlant *plant, const guint *nodes, guint n, double *most)
{
  FabCluster view;
  double least;

  fab_cluster_view (&view, &plant->cluster, nodes, n);
  FabGroup group = { &view, n, 1 };
  gboolean is_supported = fab_algorithm_bucket.supports (&group, FAB_OP_ALL_REDUCE);
  if (is_supported) {
    FabCollectiveForm form;

    form_of (&group, FAB_OP_ALL_REDUCE, &form);
    links_between_routers (plant->graph, form.footprint, &least, most);
    fab_footprint_free (form.footprint);
  }
  fab_cluster_clear (&view);
  return is_supported;
}

/* On 4 x 4 x 2: a row of 4, three of a row, whose rings go back over the same links, a square of 2 x 2, a plane; and
 * two groups that are no box. */
static void
a_group_is_a_box_of_places (void **state)
{
  g_autoptr (FabPlant) plant = torus (*state, 4, 4, 2);
  static const guint row[] = { 0, 1, 2, 3 }, three[] = { 0, 1, 2 }, square[] = { 0, 1, 4, 5 },
                     apart[] = { 1, 9, 17, 25 }, corner[] = { 0, 1, 4 }, skew[] = { 0, 1, 4, 6 };
  double most;

  /* 2 x 3/4 of half the bytes each way */
  assert_true (supports (plant, row, 4, &most));
  assert_near (most, 2 * 3 / 4.0 / 2, 1e-9);
  /* 2 x 2/3 of half the bytes over each hop; over a link one hop, and the hop back from the other end's ring */
  assert_true (supports (plant, three, 3, &most));
  assert_near (most, 2 * (2 * 2 / 3.0 / 2), 1e-9);
  /* two axes of two: every link carries half of (1/2 + 1/4) both ways round */
  assert_true (supports (plant, square, 4, &most));
  assert_near (most, 2 * 3 / 4.0 / 2, 1e-9);
  assert_true (supports (plant, apart, 4, &most));
  assert_false (supports (plant, corner, 3, &most));
  assert_false (supports (plant, skew, 4, &most));
}

/* --- times --- */

static double
time_of (const FabCatalog *catalog, const guint sizes[3], const char *library, const char *rest)
{
  g_autofree char *base = scenario_of (sizes[0], sizes[1], sizes[2], library, "all_reduce");
  g_autofree char *yaml = g_strconcat (base, rest, NULL);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  assert_true (fab_simulation_step (play->simulation));
  return (double) fab_simulation_probe (play->simulation)->step.times.duration_ps / FAB_PS_PER_S;
}

/* 64 MB over 4 x 4 x 4: 64 MB x 2 x 63/64 / 6 x 272/256 / 100 GB/s = 223.1 us and 18 steps of three links; messages
 * take as long as the stream. */
static void
messages_take_as_long_as_the_stream (void **state)
{
  static const guint cube[] = { 4, 4, 4 }, block[] = { 2, 3, 4 };
  double fluid = time_of (*state, cube, "kind: plain", ""),
         wires = 64e6 * 2 * 63 / 64 / 6 * 272 / 256 / 100e9;

  assert_true (fluid > wires && fluid < wires + 18 * 1e-6);
  assert_near (time_of (*state, cube, "kind: plain", "fidelity: step\n"), fluid, 1e-6);
  fluid = time_of (*state, block, "kind: plain", "");
  double step = time_of (*state, block, "kind: plain", "fidelity: step\n");
  assert_true (step > 0.98 * fluid && step < 1.02 * fluid);
}

/* Plain takes it unasked, mpi only when asked. A ring over one link of each router takes six times as long and more. */
static void
who_knows_the_fabric_takes_it (void **state)
{
  static const guint cube[] = { 4, 4, 4 };
  double unasked = time_of (*state, cube, "kind: plain", "");

  assert_near (unasked, time_of (*state, cube, "kind: plain, algorithm: bucket", ""), 1e-12);
  assert_true (time_of (*state, cube, "kind: plain, algorithm: ring", "") > 6 * unasked);
  assert_near (time_of (*state, cube, "kind: mpi", ""),
               time_of (*state, cube, "kind: mpi, algorithm: ring", ""), 1e-12);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (all_links_of_a_cube_carry_alike),
    cmocka_unit_test (unlike_axes_are_loaded_nearly_alike),
    cmocka_unit_test (shares_are_the_best_there_are),
    cmocka_unit_test (a_group_is_a_box_of_places),
    cmocka_unit_test (messages_take_as_long_as_the_stream),
    cmocka_unit_test (who_knows_the_fabric_takes_it),
  };

  return cmocka_run_group_tests (tests, load_catalog, free_catalog);
}
