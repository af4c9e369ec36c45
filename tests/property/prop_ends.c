/* SPDX-License-Identifier: Apache-2.0 */
/* prop_ends.c - a plan of which the ends set the time gains nothing from a faster link, and any other plan does.
 *
 * All libraries, algorithms and protocols over several nodes of the catalogue, each planned on the machine as it is and
 * with all links of twice the rate. Where fab_collective_plan_waits_for_ends () holds, the faster
 * link saves less than 5 % of the time on an idle network; where it does not, and little of the time is startup, it
 * saves more. Where the library does otherwise with the faster link, the two plans cannot be compared.
 *
 * Between the two is the one case that neither word fits: where a copy follows the links one after another, and both
 * take a part of the time (at most `series`).
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/run/simulation.h"
#include "tests/support/play.h"

static const double saving = 0.05, series = 0.025, most_startup = 0.2;

static const char *const machines[] = { "dgx-a100", "dgx-h100",      "hgx-b200", "p5",
                                        "gh200-x4", "l40s-pcie-amd", "mi300x" };

static const char *const ways[] = {
  "plain, algorithm: ring",
  "plain, algorithm: tree",
  "plain, algorithm: halving_doubling",
  "plain, algorithm: binomial",
  "mpi, algorithm: ring",
  "mpi, algorithm: tree",
  "mpi, algorithm: halving_doubling",
  "mpi, algorithm: binomial",
  "nccl",
  "nccl, algorithm: ring, protocol: ll",
  "nccl, algorithm: ring, protocol: ll128",
  "nccl, algorithm: ring, protocol: simple",
  "nccl, algorithm: tree, protocol: ll",
  "nccl, algorithm: tree, protocol: ll128",
  "nccl, algorithm: tree, protocol: simple",
  "nccl, algorithm: nvls",
  "nccl, algorithm: nvls_tree",
  "nccl, collnet: true, algorithm: collnet_direct",
  "nccl, collnet: true, algorithm: collnet_chain",
};

static const char *const ops[] = { "all_reduce", "all_gather", "broadcast", "all_to_all" };

static FabCatalog *catalog, *fast_catalog;

/* Makes all links of a catalogue twice as fast. Their entries are its own, so that nothing else sees it. */
static void
double_rates (const FabCatalog *self)
{
  g_autofree const char **names = fab_catalog_names (self, FAB_SECTION_LINKS);

  for (guint i = 0; names[i] != NULL; i++)
    ((FabLinkSpec *) fab_catalog_link (self, names[i]))->signalling_bytes_per_s *= 2;
}

/* Its simulation is NULL where the library cannot do this on the machine. */
typedef struct {
  FabScenario *scenario;
  FabSimulation *simulation;
} Planned;

static Planned
plan_all (const FabCatalog *with, const char *yaml)
{
  g_autoptr (GError) wrong = NULL, cannot = NULL;
  Planned self = { fab_scenario_parse ("test", yaml, strlen (yaml), NULL, &fab_models, with, &wrong), NULL };

  if (self.scenario == NULL)
    fail_msg ("%s", wrong->message);
  self.simulation = fab_simulation_new (self.scenario, &fab_models, NULL, &cannot);
  return self;
}

static void
planned_clear (Planned *self)
{
  fab_simulation_free (self->simulation);
  fab_scenario_free (self->scenario);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Planned, planned_clear)

static const FabCollectivePlan *
plan_at (const FabSimulation *simulation, guint i)
{
  return &fab_simulation_dag (simulation)->collectives[i].plan;
}

static gboolean
are_alike (const FabCollectivePlan *a, const FabCollectivePlan *b)
{
  return g_strcmp0 (a->algorithm, b->algorithm) == 0 && g_strcmp0 (a->protocol, b->protocol) == 0
      && a->n_channels == b->n_channels;
}

static void
check_plan (const FabCollectivePlan *plan, const FabCollectivePlan *faster, const char *yaml)
{
  double before = (double) fab_collective_plan_idle_ps (plan),
         saved = 1 - (double) fab_collective_plan_idle_ps (faster) / before;
  gboolean waits = fab_collective_plan_waits_for_ends (plan);

  gboolean is_startup = (double) plan->startup_ps > most_startup * before;
  double least = plan->ends_bytes_per_s > 0 ? series : saving * (1 - most_startup);
  if (waits ? !is_startup && saved > saving : !is_startup && saved < least)
    fail_msg ("%s of %" G_GUINT64_FORMAT
              " bytes by %s %s with %u channels %s its ends, and links twice as fast save "
              "%.1f %% of %.1f us, of which %.1f are startup\n%s",
              fab_op_names[plan->op], plan->bytes, plan->algorithm, plan->protocol, plan->n_channels,
              waits ? "waits for" : "does not wait for", 100 * saved, before / 1e6,
              (double) plan->startup_ps / 1e6, yaml);
}

/* Returns how many plans were compared. */
static guint
check_way (const char *machine, guint n_nodes, const char *op, const char *way)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {node: %s, nodes: %u}\ncollectives: {kind: %s}\n"
      "job: {kind: collective, operations: [{op: %s, size: 8MiB}, {op: %s, size: 128MiB}, {op: %s, size: 2GiB}]}\n",
      machine, n_nodes, way, op, op, op);
  g_auto (Planned) usual = plan_all (catalog, yaml), faster = plan_all (fast_catalog, yaml);
  guint n = 0;

  for (guint i = 0; usual.simulation != NULL && i < fab_simulation_dag (usual.simulation)->n_collectives;
       i++) {
    if (!are_alike (plan_at (usual.simulation, i), plan_at (faster.simulation, i)))
      continue;
    check_plan (plan_at (usual.simulation, i), plan_at (faster.simulation, i), yaml);
    n++;
  }
  return n;
}

/* MPI counts messages one by one, and no plan says what kernels do to each of them in host memory. */
static gboolean
is_left_out (const char *machine, const char *way)
{
  return strcmp (machine, "l40s-pcie-amd") == 0 && g_str_has_prefix (way, "mpi");
}

static void
faster_links_help_where_the_ends_do_not_set_the_time (G_GNUC_UNUSED void **state)
{
  guint n = 0;

  fast_catalog = play_catalog ();
  double_rates (fast_catalog);
  for (guint m = 0; m < G_N_ELEMENTS (machines); m++)
    for (guint n_nodes = 1; n_nodes <= 4; n_nodes *= 2)
      for (guint o = 0; o < G_N_ELEMENTS (ops); o++)
        for (guint w = 0; w < G_N_ELEMENTS (ways); w++)
          if (!is_left_out (machines[m], ways[w]))
            n += check_way (machines[m], n_nodes, ops[o], ways[w]);
  fab_catalog_free (g_steal_pointer (&fast_catalog));
  assert_true (n > 1000);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (faster_links_help_where_the_ends_do_not_set_the_time),
  };

  return play_run_tests ("ends", tests, &catalog);
}
