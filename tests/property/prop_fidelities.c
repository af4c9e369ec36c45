/* SPDX-License-Identifier: Apache-2.0 */
/* prop_fidelities.c - message by message a collective takes the time of its stream, where nothing else moves and all
 * ranks are alike: every algorithm of NCCL, every operation, from latency alone to bytes alone. */
#include "tests/support/test.h"

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
  for (FabBytes size = 8; size <= (FabBytes) 8 << 27; size *= 8)
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
#define H100_16 "{node: dgx-h100, nodes: 16}"
#define FLAT_32 "{node: dgx-h100, nodes: 32, gpus_per_node: 1, nics_per_node: 1}"

static void
nccl_takes_the_same_time (G_GNUC_UNUSED void **state)
{
  static const Case cases[] = {
    { A100, "{kind: nccl, algorithm: ring}", "all_reduce all_gather reduce_scatter broadcast reduce", 0.02 },
    { A100, "{kind: nccl, algorithm: tree}", "all_reduce", 0.02 },
    { H100, "{kind: nccl, algorithm: nvls}", "all_reduce all_gather reduce_scatter", 0.02 },
    { A100, "{kind: nccl}", "all_to_all send_recv gather scatter", 0.02 },
    { A100_4, "{kind: nccl, algorithm: ring}", "all_reduce all_gather reduce_scatter broadcast reduce",
      0.02 },
    { A100_4, "{kind: nccl, algorithm: tree}", "all_reduce", 0.02 },
    { H100_2, "{kind: nccl, algorithm: nvls_tree}", "all_reduce", 0.02 },
    { H100_16, "{kind: nccl, algorithm: ring}", "all_reduce all_gather", 0.02 },
    { H100_16, "{kind: nccl, algorithm: nvls_tree}", "all_reduce", 0.02 },
    { A100_4, "{kind: nccl}", "all_to_all send_recv gather scatter", 0.02 },
    { FLAT_32, "{kind: nccl, algorithm: pat}", "all_gather reduce_scatter", 0.02 },
    { FLAT_32, "{kind: nccl, algorithm: ring}", "all_reduce broadcast", 0.02 },
    { FLAT_32, "{kind: nccl, algorithm: tree}", "all_reduce", 0.02 },
  };

  check_cases (cases, G_N_ELEMENTS (cases));
}

static void
plain_takes_the_same_time (G_GNUC_UNUSED void **state)
{
  static const Case cases[] = {
    { A100, "plain", "all_reduce all_gather broadcast", 0.02 },
    { A100, "{kind: plain, algorithm: tree}", "all_reduce broadcast", 0.02 },
    { A100, "{kind: plain, algorithm: halving_doubling}", "all_reduce", 0.02 },
    { A100, "{kind: plain, algorithm: direct}", "all_reduce all_to_all broadcast", 0.02 },
    { A100, "{kind: plain, algorithm: binomial}", "all_reduce broadcast reduce gather", 0.02 },
    { A100_4, "{kind: plain, algorithm: hierarchical}", "all_reduce", 0.02 },
    { FLAT_32, "plain", "all_reduce", 0.02 },
    { FLAT_32, "{kind: mpi, algorithm: ring}", "all_reduce", 0.02 },
    { FLAT_32, "{kind: mpi, algorithm: halving_doubling}", "all_reduce", 0.02 },
    { FLAT_32, "{kind: mpi, algorithm: binomial}", "broadcast reduce", 0.02 },
  };

  check_cases (cases, G_N_ELEMENTS (cases));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (nccl_takes_the_same_time),
    cmocka_unit_test (plain_takes_the_same_time),
  };

  return cmocka_run_group_tests_name ("fidelities", tests, load_catalog, drop_catalog);
}
