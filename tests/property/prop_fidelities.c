/* SPDX-License-Identifier: Apache-2.0 */
/* prop_fidelities.c - message by message a collective takes the time of its stream, where nothing else moves and all
 * ranks are alike: every algorithm of NCCL, every operation, from latency alone to bytes alone. */
#include "tests/support/test.h"

#include "models/models.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static int
load_catalog (G_GNUC_UNUSED void **state)
{
  catalog = play_catalog ();
  return 0;
}

static int
drop_catalog (G_GNUC_UNUSED void **state)
{
  fab_catalog_free (g_steal_pointer (&catalog));
  return 0;
}

/* A cluster, a library, and how far the two may be apart. */
typedef struct {
  const char *cluster, *library, *ops;
  double most;
} Case;

static GArray *
durations (const Case *self, const char *op, const char *fidelity)
{
  g_autoptr (GString) yaml = g_string_new ("name: t\niterations: 1\n");
  GArray *times = g_array_new (FALSE, FALSE, sizeof (FabCollectiveRecord));

  g_string_append_printf (yaml,
                          "cluster: %s\ncollectives: %s\nfidelity: %s\njob: {kind: collective, operations: [",
                          self->cluster, self->library, fidelity);
  for (FabBytes size = 8; size <= (FabBytes) 8 << 24; size *= 4096)
    g_string_append_printf (yaml, "{op: %s, size: %" G_GUINT64_FORMAT "B},", op, size);
  g_string_append (yaml, "]}\n");
  g_autoptr (Play) play = play_new (catalog, yaml->str, NULL);
  while (fab_simulation_step (play->simulation)) {
    const GArray *records = fab_simulation_probe (play->simulation)->collectives;

    g_array_append_vals (times, records->data, records->len);
  }
  return times;
}

static void
check_op (const Case *self, const char *op)
{
  g_autoptr (GArray) fluid = durations (self, op, "fluid"), steps = durations (self, op, "step");

  for (guint i = 0; i < fluid->len; i++) {
    const FabCollectiveRecord *a = &g_array_index (fluid, FabCollectiveRecord, i),
                              *b = &g_array_index (steps, FabCollectiveRecord, i);
    double fluid_ps = (double) (a->end_ps - a->start_ps), step_ps = (double) (b->end_ps - b->start_ps);
    double off = step_ps / fluid_ps - 1;

    if (g_getenv ("FAB_SHOW"))
      print_message ("%s %s %s %" G_GUINT64_FORMAT " B (%.1f us): %+.2f %%%s\n", self->cluster, self->library,
                     op, a->bytes, fluid_ps * 1e-6, off * 100, fabs (off) > self->most ? " !!!" : "");
    else if (fabs (off) > self->most)
      fail_msg ("%s, %s, %s of %" G_GUINT64_FORMAT " bytes: %.0f ps as a stream, %.0f in messages",
                self->cluster, self->library, op, a->bytes, fluid_ps, step_ps);
  }
}

static void
check_cases (const Case *cases, guint n)
{
  for (guint i = 0; i < n; i++) {
    g_auto (GStrv) ops = g_strsplit (cases[i].ops, " ", 0);

    for (guint op = 0; ops[op]; op++)
      check_op (&cases[i], ops[op]);
  }
}

#define A100 "{node: dgx-a100, nodes: 1}"
#define A100_4 "{node: dgx-a100, nodes: 4}"
#define H100 "{node: dgx-h100, nodes: 1}"
#define H100_2 "{node: dgx-h100, nodes: 2}"
/* Two ports in two planes in place of one of twice the rate. */
#define PORTS(use)                                                                                        \
  "{node: dgx-a100, nodes: 4, nic_rate: 100Gb/s, nic_ports: 2, port_use: " use ", route: spray, fabric: " \
  "{kind: leaf_spine, nodes_per_leaf: 2, planes: 2}}"
/* NICs that are fast beside the wires inside a node. */
#define FAST_4 "{node: dgx-a100, nodes: 4, nic_rate: 1600Gb/s}"
#define FLAT_32 "{node: dgx-h100, nodes: 32, gpus_per_node: 1, nics_per_node: 1}"

static void
nccl_takes_the_same_time (G_GNUC_UNUSED void **state)
{
  static const Case cases[] = {
    { A100, "{kind: nccl, algorithm: ring}", "all_reduce all_gather reduce_scatter broadcast reduce", 0.02 },
    { A100, "{kind: nccl, algorithm: tree}", "all_reduce", 0.03 },
    { H100, "{kind: nccl, algorithm: nvls}", "all_reduce all_gather reduce_scatter", 0.04 },
    { A100, "{kind: nccl}", "all_to_all send_recv gather scatter", 0.02 },
    { A100_4, "{kind: nccl, algorithm: ring}", "all_reduce all_gather reduce_scatter broadcast reduce",
      0.02 },
    { A100_4, "{kind: nccl, algorithm: tree}", "all_reduce", 0.02 },
    { H100_2, "{kind: nccl, algorithm: nvls_tree}", "all_reduce",
      0.07 }, /* messages leave GPUs at the pace of the tree, and not at once */
    { A100_4, "{kind: nccl}", "all_to_all send_recv gather scatter", 0.02 },
    { PORTS ("merged"), "{kind: nccl, algorithm: ring}", "all_reduce all_gather broadcast", 0.02 },
    { PORTS ("merged"), "{kind: nccl, algorithm: tree}", "all_reduce", 0.02 },
    { PORTS ("merged"), "{kind: nccl}", "all_to_all send_recv", 0.02 },
    { PORTS ("bond"), "{kind: nccl, algorithm: ring}", "all_reduce all_gather", 0.02 },
    { PORTS ("separate"), "{kind: nccl, algorithm: ring}", "all_reduce all_gather", 0.02 },
    { FLAT_32, "{kind: nccl, algorithm: pat}", "all_gather reduce_scatter", 0.02 },
    { FLAT_32, "{kind: nccl, algorithm: ring}", "all_reduce broadcast", 0.03 },
    { FLAT_32, "{kind: nccl, algorithm: tree}", "all_reduce", 0.02 },
  };

  check_cases (cases, G_N_ELEMENTS (cases));
}

static void
plain_takes_the_same_time (G_GNUC_UNUSED void **state)
{
  static const Case cases[] = {
    { A100, "plain", "all_reduce all_gather broadcast", 0.02 },
    { A100, "{kind: plain, algorithm: tree}", "broadcast", 0.02 },
    { A100, "{kind: plain, algorithm: tree}", "all_reduce",
      0.08 }, /* up and down meet less than all the time */
    { A100, "{kind: plain, algorithm: halving_doubling}", "all_reduce", 0.02 },
    { A100, "{kind: plain, algorithm: direct}", "all_reduce all_to_all broadcast", 0.02 },
    { A100, "{kind: plain, algorithm: binomial}", "all_reduce broadcast reduce gather", 0.02 },
    { A100_4, "{kind: plain, algorithm: hierarchical}", "all_reduce",
      0.18 }, /* NICs hide the steps inside nodes */
    { FAST_4, "{kind: plain, algorithm: themis}", "all_reduce all_gather reduce_scatter", 0.05 },
    { FLAT_32, "plain", "all_reduce", 0.02 },
    { FLAT_32, "{kind: mpi, algorithm: ring}", "all_reduce", 0.02 },
    { FLAT_32, "{kind: mpi, algorithm: halving_doubling}", "all_reduce", 0.02 },
    { FLAT_32, "{kind: mpi, algorithm: binomial}", "broadcast reduce", 0.02 },
  };

  check_cases (cases, G_N_ELEMENTS (cases));
}

/* --- the floor --- */

#define FLAT_5 "{node: dgx-h100, nodes: 5, gpus_per_node: 1, nics_per_node: 1}"

/* Times of one all-reduce at a fidelity; 0: the algorithm cannot do it there. */
static double
algorithm_ps (const char *cluster, const char *algorithm, FabBytes bytes, const char *fidelity)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 1\ncluster: %s\ncollectives: {kind: plain, algorithm: %s}\nfidelity: %s\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: %" G_GUINT64_FORMAT "B}]}\n",
      cluster, algorithm, fidelity, bytes);
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                         NULL);
  g_autoptr (FabSimulation) simulation = scenario != NULL
                                           ? fab_simulation_new (scenario, &fab_models, NULL, NULL)
                                           : NULL;

  if (simulation == NULL || !fab_simulation_step (simulation))
    return 0;
  return (double) fab_simulation_probe (simulation)->step.times.duration_ps;
}

/* No contention is never slower than contention, with the same formula. Messages may be faster than the formula, which
 * adds up latency, the first chunk's way and bytes, where messages do them at once: by a quarter at most, where no part
 * is small, and by a twentieth where bytes count. */
static void
analytic_is_the_floor_of_fluid (G_GNUC_UNUSED void **state)
{
  static const char *const clusters[] = { A100, H100_2, FLAT_5 };
  static const FabBytes sizes[] = { 256 << 10, 16 << 20 };
  guint n_compared = 0;

  for (const FabModelInfo *const *info = fab_models.lists[FAB_MODEL_ALGORITHM]; *info != NULL; info++)
    for (guint c = 0; c < G_N_ELEMENTS (clusters); c++)
      for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
        double floor_ps = algorithm_ps (clusters[c], (*info)->name, sizes[s], "analytic");
        double fluid_ps = algorithm_ps (clusters[c], (*info)->name, sizes[s], "fluid");
        double step_ps = floor_ps > 0 ? algorithm_ps (clusters[c], (*info)->name, sizes[s], "step") : 0;

        n_compared += floor_ps > 0;
        if (fluid_ps < floor_ps || step_ps < floor_ps * (s == 0 ? 0.75 : 0.94))
          fail_msg ("%s, %s of %" G_GUINT64_FORMAT " bytes: analytic %.0f ps, fluid %.0f, step %.0f",
                    clusters[c], (*info)->name, sizes[s], floor_ps, fluid_ps, step_ps);
      }
  assert_in_range (n_compared, 30, 1000);
}

/* --- what else there is --- */

static double
step_ps (const char *yaml)
{
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  gboolean has_stepped = fab_simulation_step (play->simulation);

  assert_true (has_stepped);
  return (double) fab_simulation_probe (play->simulation)->step.times.duration_ps;
}

/* Both fidelities of one scenario. */
static void
check_both (const char *what, const char *yaml, double most)
{
  g_autofree char *fluid = g_strconcat (yaml, "fidelity: fluid\n", NULL),
                  *messages = g_strconcat (yaml, "fidelity: step\n", NULL);
  double fluid_ps = step_ps (fluid), messages_ps = step_ps (messages);

  if (g_getenv ("FAB_SHOW"))
    print_message ("%s: %+.2f %%\n", what, (messages_ps / fluid_ps - 1) * 100);
  else if (fabs (messages_ps / fluid_ps - 1) > most)
    fail_msg ("%s: %.0f ps as streams, %.0f in messages", what, fluid_ps, messages_ps);
}

#define GIGABYTE "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n"
#define RINGS "name: t\niterations: 1\ncollectives: {kind: plain, algorithm: ring}\n"
#define FOUR_NICS \
  "cluster: {node: dgx-a100, nodes: 4, nics_per_node: 4, fabric: {kind: rail, nodes_per_leaf: 4}}\n"

/* A NIC at half its rate halves the ring through it, and so all of them. */
static void
a_slow_link_shows (G_GNUC_UNUSED void **state)
{
  const char *slow = RINGS FOUR_NICS GIGABYTE "faults: [{what: nic, name: node2/nic1, rate: 50%}]\n";
  const char *later = RINGS FOUR_NICS GIGABYTE
      "faults: [{what: nic, name: node2/nic1, rate: 50%, at: 5ms}]\n";
  double usual_ps = step_ps (RINGS FOUR_NICS GIGABYTE "fidelity: step\n");
  g_autofree char *messages = g_strconcat (slow, "fidelity: step\n", NULL);

  check_both ("slow NIC", slow, 0.02);
  check_both ("NIC that becomes slow", later, 0.02);
  assert_near (step_ps (messages) / usual_ps, 2, 0.02);
}

/* Rings that share uplinks of a leaf with others of their own kind, and with traffic beside the job. */
static void
contention_that_stays_is_shared_alike (G_GNUC_UNUSED void **state)
{
  check_both ("oversubscribed leaves",
              RINGS "cluster: {node: dgx-a100, nodes: 8, fabric: {kind: leaf_spine, nodes_per_leaf: 2, "
                    "oversubscription: 4}}\n" GIGABYTE,
              0.05);
}

/* Groups that talk at once are played together: tensor, data and pipeline parallel ones of a training step. */
static void
families_take_the_same_time (G_GNUC_UNUSED void **state)
{
  check_both ("megatron",
              "name: t\niterations: 1\ncluster: {node: dgx-a100, nodes: 4}\n"
              "job: {kind: megatron, model: gpt2-xl, micro_batch: 1, sequence: 1024, accumulation: 8, "
              "parallel: {tensor: 4, sequence: true, pipeline: 2}, compute: {kind: mfu, mfu: 40%}}\n",
              0.02);
  check_both ("zero",
              "name: t\niterations: 1\ncluster: {node: dgx-a100, nodes: 2}\n"
              "job: {kind: zero, model: gpt2-xl, stage: 3, micro_batch: 2, sequence: 1024, "
              "compute: {kind: mfu, mfu: 40%}}\n",
              0.02);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_slow_link_shows),           cmocka_unit_test (contention_that_stays_is_shared_alike),
    cmocka_unit_test (families_take_the_same_time), cmocka_unit_test (analytic_is_the_floor_of_fluid),
    cmocka_unit_test (nccl_takes_the_same_time),    cmocka_unit_test (plain_takes_the_same_time),
  };

  return cmocka_run_group_tests_name ("fidelities", tests, load_catalog, drop_catalog);
}
