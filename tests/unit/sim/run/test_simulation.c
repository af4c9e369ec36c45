/* SPDX-License-Identifier: Apache-2.0 */
/* test_simulation.c - a simulation around its steps (sim/run/simulation.c): what it refuses, what a what-if changes of
 * its job, on which plant it is built, which link binds it, and what it says of itself. */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/version.h"
#include "tests/support/graphs.h"
#include "tests/support/play.h"
#include "tests/support/probe_text.h"

#define DAY_S 86400.0

static FabCatalog *catalog;

#define MODEL "model: gpt2-xl, sequence: 1024, "
#define LOADED "job: {kind: ddp, " MODEL "accumulation: 4, data_loader: {time: 20s}}\n"
#define SLOW "stragglers: [{rank: 3, slowness: 2}]"

static Play *
play_of (const char *head, const char *job, const FabWhatIf *what_if)
{
  g_autofree char *yaml = g_strconcat ("name: t\ncluster: {node: dgx-a100, nodes: 4}\n", head, job, NULL);

  return play_new (catalog, yaml, what_if);
}

/* --- what is refused --- */

/* All tasks of an iteration one after the other, each as slow as the slowest rank, and all collectives alone. */
static double
whole_s (const Play *play)
{
  const FabDag *dag = fab_simulation_dag (play->simulation);
  double slowness = MAX (fab_simulation_totals (play->simulation)->most_slowness, 1), sum_s = 0;

  for (guint t = 0; t < dag->n_tasks; t++)
    sum_s += fab_ps_to_seconds (fab_task_ps (&dag->tasks[t])) * slowness;
  for (guint c = 0; c < dag->n_collectives; c++)
    sum_s += fab_ps_to_seconds (fab_collective_plan_idle_ps (&dag->collectives[c].plan));
  return sum_s;
}

/* The clock has 63 bits of ps, of which a run may fill half, 53 days. As many iterations as fit are taken, and one more
 * is refused. */
static void
a_run_that_outlasts_the_clock_is_refused (G_GNUC_UNUSED void **state)
{
  static const char *const jobs[] = {
    "job: {kind: collective, operations: [{op: all_reduce, size: 2TB}, {op: all_gather, size: 1TB}]}\n",
    LOADED,
    "job: {kind: ddp, " MODEL "accumulation: 4, data_loader: {time: 20s}, " SLOW "}\n",
  };
  const double most_s = fab_ps_to_seconds (FAB_TIME_MAX) / 2;

  for (guint i = 0; i < G_N_ELEMENTS (jobs); i++) {
    g_autoptr (Play) one = play_of ("iterations: 1\n", jobs[i], NULL);
    guint n = (guint) (most_s / whole_s (one));

    for (guint more = 0; more < 2; more++) {
      g_autofree char *yaml = g_strdup_printf (
          "name: t\ncluster: {node: dgx-a100, nodes: 4}\niterations: %u\n%s", n + more, jobs[i]);
      g_autofree char *problem = play_problem (catalog, yaml);
      g_autofree char *says = g_strdup_printf (
          "the run could last %.0f days of simulated time, and the clock holds 53; simulate fewer",
          (n + more) * whole_s (one) / DAY_S);

      if (more == 0)
        assert_null (problem);
      else
        assert_true (problem != NULL && g_str_has_prefix (problem, says));
    }
  }
}

#define WHOLE "{kind: transfer, from: node1/nic0, to: node0/nic0, rate: 1Gb/s}"

/* Rails that no switch joins: what begins on one of them cannot come to another one. */
static void
flows_need_a_path (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *from, *to;
    gboolean has_path;
  } rows[] = { { "node0/nic1", "node2/nic1", TRUE }, { "node0/nic0", "node1/nic1", FALSE } };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (rows); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\niterations: 1\ncluster: {node: dgx-a100, nodes: 4, nics_per_node: 4, gpus_per_node: 4, pxn: no, "
        "fabric: {kind: rail_only}}\njob: {kind: ddp, " MODEL "compute: {kind: mfu}}\n"
        "background: [%s{kind: transfer, from: %s, to: %s, rate: 1Gb/s}%s]\n",
        i % 2 == 0 ? "" : WHOLE ", ", rows[i / 2].from, rows[i / 2].to, i % 2 == 0 ? ", " WHOLE : "");
    g_autofree char *problem = play_problem (catalog, yaml);
    g_autofree char *says = g_strdup_printf ("background: no path leads from %s to %s", rows[i / 2].from,
                                             rows[i / 2].to);

    assert_int_equal (problem == NULL, rows[i / 2].has_path);
    if (problem != NULL)
      assert_string_equal (problem, says);
  }
}

/* A build that somebody cancels says so, whatever else is wrong with it; one that nobody cancels says what is wrong. */
static void
a_build_can_be_cancelled (G_GNUC_UNUSED void **state)
{
  static const char *const jobs[] = { "job: {kind: ddp, " MODEL "micro_batch: 4}\n",
                                      "job: {kind: ddp, " MODEL "micro_batch: 4, global_batch: 100}\n" };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (jobs); i++) {
    g_autofree char *yaml = g_strconcat ("name: t\ncluster: {node: dgx-a100, nodes: 4}\n", jobs[i / 2], NULL);
    g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models,
                                                           catalog, NULL);
    g_autoptr (GError) error = NULL;
    gint cancel = i % 2 == 1;
    g_autoptr (FabSimulation) simulation = fab_simulation_build (scenario, &fab_models, NULL, &cancel,
                                                                 &error);

    assert_int_equal (simulation != NULL, i == 0);
    if (i == 2)
      assert_non_null (strstr (error->message, "global_batch 100 is not a multiple"));
    else if (i == 3)
      assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_CANCELLED));
    else if (simulation == NULL)
      assert_string_equal (error->message, "the run was cancelled");
  }
}

/* --- what a what-if changes of the job --- */

static double
longer (G_GNUC_UNUSED gpointer owner, G_GNUC_UNUSED const FabCluster *cluster, const FabCollectivePlan *plan)
{
  return plan->bytes % 2 == 0 ? 3 : 2;
}

static double
shorter (gpointer n_asked, const FabSetup *known)
{
  *(guint *) n_asked += 1;
  assert_true (known->high_factor > known->low_factor);
  return 0.82;
}

/* Alone, on a plant of the cache, or beside another one. */
typedef enum { ALONE, OF_CACHE, BESIDE, N_WAYS } Way;

static FabSimulation *
build (Way way, FabPlantCache *plants, const Play *first, const FabWhatIf *what_if)
{
  g_autoptr (GError) error = NULL;
  FabSimulation *made;

  if (way == OF_CACHE)
    made = fab_simulation_build_on (plants, first->scenario, &fab_models, what_if, NULL, &error);
  else
    made = fab_simulation_build_beside (way == BESIDE ? first->simulation : NULL, first->scenario,
                                        &fab_models, what_if, NULL, &error);
  assert_non_null (made);
  return made;
}

/* What the kernels, the work on the host and the collectives take longer by. */
typedef struct {
  double compute, host;
  gboolean are_scaled, start_at_once;
} Changed;

static void
assert_changed (const FabDag *before, const FabDag *after, const Changed *changed)
{
  for (guint t = 0; t < before->n_tasks; t++) {
    const FabTask *task = &before->tasks[t];
    double factor = task->collective >= 0          ? 1
                  : task->kind == FAB_SPAN_COMPUTE ? changed->compute
                  : task->kind == FAB_SPAN_LOAD    ? changed->host
                                                   : 1;

    assert_int_equal (after->tasks[t].duration_ps, llround ((double) task->duration_ps * factor));
  }
  for (guint c = 0; c < before->n_collectives; c++) {
    FabCollectivePlan expected = before->collectives[c].plan;
    const FabCollectivePlan *found = &after->collectives[c].plan;

    assert_true (expected.startup_ps > 0);
    if (changed->are_scaled)
      fab_collective_plan_scale (&expected, longer (NULL, NULL, &expected));
    if (changed->start_at_once)
      fab_collective_plan_start_at_once (&expected);
    assert_int_equal (found->startup_ps, expected.startup_ps);
    assert_int_equal (found->latency_ps, expected.latency_ps);
    assert_near (found->wire_factor, expected.wire_factor, 1e-12);
  }
}

/* Kernels and work on the host each by a factor of their own, rounded to whole ps, or kernels by what is said of what
 * is known of them; collectives by what is said of each of them, or without the time before they move bytes. What is
 * not asked for stays, and nobody is asked about kernels where there are none. */
static void
a_what_if_changes_what_it_names (G_GNUC_UNUSED void **state)
{
  guint n_asked = 0;
  const FabPlanScale plans = { longer, NULL };
  const FabComputeScale compute = { shorter, &n_asked };
  const FabWhatIf what_ifs[] = {
    { .rate_factor = 1, .compute_factor = 0.37 }, { .rate_factor = 1, .host_factor = 1.7 },
    { .rate_factor = 1, .plans = &plans },        { .rate_factor = 1, .has_no_latency = TRUE },
    { .rate_factor = 1, .compute = &compute },    { .rate_factor = 1 }
  };
  static const Changed changes[] = { { 0.37, 1, FALSE, FALSE }, { 1, 1.7, FALSE, FALSE },
                                     { 1, 1, TRUE, FALSE },     { 1, 1, FALSE, TRUE },
                                     { 0.82, 1, FALSE, FALSE }, { 1, 1, FALSE, FALSE } };
  g_autoptr (FabPlantCache) plants = fab_plant_cache_new (1);
  g_autoptr (Play) first = play_of ("", LOADED, NULL);
  g_autoptr (Play) idle = play_of ("", "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
                                   NULL);

  for (guint i = 0; i < G_N_ELEMENTS (what_ifs); i++)
    for (Way way = ALONE; way < N_WAYS; way++) {
      g_autoptr (FabSimulation) made = build (way, plants, first, &what_ifs[i]);
      const FabDag *dag = fab_simulation_dag (first->simulation);

      assert_true (dag->n_tasks > 100 && dag->n_collectives > 10);
      assert_changed (dag, fab_simulation_dag (made), &changes[i]);
    }
  assert_int_equal (n_asked, N_WAYS);
  g_autoptr (FabSimulation) asks_nobody = build (ALONE, NULL, idle, &what_ifs[4]);
  assert_int_equal (n_asked, N_WAYS);
}

/* Ranks that are even do the same at the same time: as without the slow one. */
static void
even_ranks_are_as_without_the_slow_one (G_GNUC_UNUSED void **state)
{
  const FabWhatIf even = { .rate_factor = 1, .is_even = TRUE };
  static const char slow_job[] = "job: {kind: ddp, " MODEL SLOW "}\n";
  g_autoptr (Play) slow = play_of ("", slow_job, NULL), quick = play_of ("", slow_job, &even);
  g_autoptr (FabPlantCache) plants = fab_plant_cache_new (1);
  g_autoptr (FabSimulation) on = fab_simulation_build_on (plants, slow->scenario, &fab_models, &even, NULL,
                                                          NULL);
  g_autoptr (FabSimulation) beside = fab_simulation_build_beside (slow->simulation, slow->scenario,
                                                                  &fab_models, &even, NULL, NULL);
  fab_simulation_free (NULL); /* what could not be built */
  FabSimulation *const simulations[] = { quick->simulation, on, beside, slow->simulation };
  FabTimePs steps_ps[G_N_ELEMENTS (simulations)];

  for (guint i = 0; i < G_N_ELEMENTS (simulations); i++) {
    assert_true (fab_simulation_step (simulations[i]));
    steps_ps[i] = fab_simulation_probe (simulations[i])->step.times.duration_ps;
  }
  assert_int_equal (steps_ps[1], steps_ps[0]);
  assert_int_equal (steps_ps[2], steps_ps[0]);
  assert_true ((double) steps_ps[3] > 1.1 * (double) steps_ps[0]);
}

/* Messages of ranks that are alike are simulated once, where nothing else loads the network: neither a flow, nor
 * another job. */
static void
messages_are_folded_where_the_job_is_alone (G_GNUC_UNUSED void **state)
{
  static const char *const heads[] = {
    "", "background: [{kind: transfer, from: node2, to: node3, rate: 1Gb/s}]\n",
    "neighbours: [{name: n, nodes: 2, first: 2, job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}}]\n"
  };

  for (guint i = 0; i < G_N_ELEMENTS (heads); i++) {
    g_autofree char *head = g_strconcat ("fidelity: step\niterations: 1\n", heads[i], NULL);
    g_autoptr (Play) play = play_of (
        head, "collectives: plain\njob: {kind: collective, operations: [{op: all_reduce, size: 8MB}]}\n",
        NULL);

    assert_true (fab_simulation_step (play->simulation));
    FabLanesCount lanes = fab_simulation_lanes (play->simulation);
    assert_true (lanes.n_lanes > 0);
    assert_int_equal (lanes.n_alike > 0, i == 0);
  }
}

/* Lanes that cross a link whose rate changes during the run are simulated for themselves: by a fault or by bursts, also
 * where it is the only such link. */
static void
links_that_change_are_apart (G_GNUC_UNUSED void **state)
{
  static const char *const heads[] = {
    "", "faults: [{what: nic, name: node1/nic0, rate: 50%, at: 1ms}]\n",
    "background: [{kind: bursts, links: \"node1/nic0 -> *\", load: 20%, burst: 1ms}]\n"
  };
  FabLanesCount counts[G_N_ELEMENTS (heads)];

  for (guint i = 0; i < G_N_ELEMENTS (heads); i++) {
    g_autofree char *head = g_strconcat ("fidelity: step\niterations: 1\n", heads[i], NULL);
    g_autoptr (Play) play = play_of (
        head, "collectives: plain\njob: {kind: collective, operations: [{op: all_reduce, size: 80MB}]}\n",
        NULL);

    assert_true (fab_simulation_step (play->simulation));
    counts[i] = fab_simulation_lanes (play->simulation);
    assert_int_equal (counts[i].n_lanes + counts[i].n_alike, counts[0].n_lanes + counts[0].n_alike);
    assert_true (i == 0 || (counts[i].n_lanes > counts[0].n_lanes));
  }
}

/* --- the plant --- */

/* A what-if about the job takes the plant of the cache, and one about the machine has its own. The times of links are
 * asked for where nothing is a what-if, or where the machine is its own. Every plant is given back. */
static void
a_what_if_of_the_job_is_on_the_plant_of_the_cache (G_GNUC_UNUSED void **state)
{
  const FabWhatIf rows[] = { { .rate_factor = 1, .compute_factor = 2 },
                             { .rate_factor = 0.5, .is_every_link = TRUE },
                             { .rate_factor = 0.5, .link_class = "ib-hdr" },
                             { .rate_factor = 1, .is_intact = TRUE },
                             { .rate_factor = 1, .memory_factor = 0.5 } };
  g_autoptr (Play) play = play_of ("iterations: 1\n", "job: {kind: ddp, " MODEL "}\n", NULL);
  g_autoptr (FabPlantCache) plants = fab_plant_cache_new (1);
  const FabPlant *kept = NULL;

  for (guint i = 0; i <= 2 * G_N_ELEMENTS (rows); i++) {
    const FabWhatIf *what_if = i % 2 == 0 ? NULL : &rows[i / 2];
    g_autoptr (FabSimulation) simulation = fab_simulation_build_on (plants, play->scenario, &fab_models,
                                                                    what_if, NULL, NULL);
    const FabPlant *plant = fab_simulation_plant (simulation);
    gboolean is_kept = what_if == NULL || what_if == &rows[0];

    assert_true (fab_simulation_step (simulation));
    assert_int_equal (fab_simulation_probe (simulation)->link_loads->len > 0, what_if != &rows[0]);
    kept = kept == NULL ? plant : kept;
    assert_int_equal (plant == kept, is_kept);
    assert_int_equal (fab_plant_cache_n_built (plants), 1);
  }
}

/* Weighing a job takes the plant and gives it back. */
static void
weighing_gives_the_plant_back (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_of ("", "job: {kind: ddp, " MODEL "}\n", NULL);
  g_autoptr (FabPlantCache) plants = fab_plant_cache_new (1);

  for (guint i = 0; i < 3; i++) {
    FabWeight weight = { 0 };

    assert_true (fab_simulation_weigh (plants, play->scenario, &fab_models, NULL, &weight, NULL));
    assert_int_equal (weight.n_ranks, 32);
    assert_int_equal (fab_plant_cache_n_built (plants), 1);
  }
}

/* --- the link that binds --- */

typedef struct {
  guint link;
  FabTimePs exposed_ps, lasts_ps;
  guint waits_for_ends;
} Bound;

/* By exposed time, and where nothing is exposed by all of it. Equal links: the first. What crosses no link has no
 * part in it. */
static void
a_link_binds_by_its_exposed_time (G_GNUC_UNUSED void **state)
{
  enum { NONE = FAB_RECORD_NO_LINK };
  static const struct {
    Bound bounds[4]; /* until one lasts 0 */
    guint link;
    double fraction, ends_fraction;
  } rows[] = {
    { { { 0, 3, 9, 0 }, { 1, 4, 5, 1 }, { 0, 3, 4, 0 } }, 0, 0.6, 0.4 },
    { { { 0, 3, 9, 0 }, { 3, 4, 5, 1 }, { 2, 1, 40, 1 } }, 3, 0.5, 5 / 8.0 },
    { { { 2, 2, 9, 1 }, { 1, 2, 5, 0 } }, 1, 0.5, 0.5 },
    { { { 0, 0, 9, 0 }, { 1, 0, 5, 1 }, { 1, 0, 6, 0 } }, 1, 0.55, 0.25 },
    { { { 2, 1, 2, 0 }, { 1, 0, 9, 1 } }, 2, 1, 0 },
    { { { 3, 0, 8, 1 }, { NONE, 7, 80, 1 } }, 3, 1, 1 },
    { { { NONE, 7, 80, 1 } }, FAB_NO_LINK, 0, 0 },
    { { { 1, 0, 0, 1 } }, FAB_NO_LINK, 0, 0 },
  };
  static const GraphJoin joins[] = { { 0, 1, 1, 1 }, { 1, 2, 1, 1 }, { 0, 0, 0, 0 } };
  g_autoptr (FabGraph) graph = graph_of ("aaa", joins);

  assert_int_equal (fab_graph_n_links (graph), 4);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabProbe probe;

    fab_probe_init (&probe);
    for (guint k = 0; k < G_N_ELEMENTS (rows[i].bounds) && rows[i].bounds[k].lasts_ps > 0; k++) {
      const Bound *bound = &rows[i].bounds[k];
      FabCollectiveRecord record = { .start_ps = 100 * k,
                                     .end_ps = 100 * k + bound->lasts_ps,
                                     .exposed_ps = bound->exposed_ps,
                                     .binding_link = bound->link,
                                     .waits_for_ends = bound->waits_for_ends };

      g_array_append_val (probe.collectives, record);
    }
    FabBinding binding = fab_binding_find (&probe, graph);
    assert_int_equal (binding.link, rows[i].link);
    assert_near (binding.fraction, rows[i].fraction, 1e-12);
    assert_near (binding.ends_fraction, rows[i].ends_fraction, 1e-12);
    fab_probe_clear (&probe);
  }
}

/* --- around the steps --- */

#define SUM \
  "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}, {op: all_gather, size: 300MB}]}\n"

/* Message by message, without the time before: three times the bytes on the wire take three times as long, but for the
 * links' latencies; every time anew; and nothing where there is one rank. */
static void
collectives_are_timed_by_themselves (G_GNUC_UNUSED void **state)
{
  const FabPlanScale scale = { longer, NULL };
  const FabWhatIf what_if = { .rate_factor = 1, .plans = &scale };
  static const char alone[] =
      "name: t\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 1}\ncollectives: plain\n" SUM;
  g_autoptr (Play) play = play_of ("collectives: plain\n", SUM, NULL),
                   scaled = play_of ("collectives: plain\n", SUM, &what_if),
                   one = play_new (catalog, alone, NULL);

  for (guint c = 0; c < 2; c++) {
    const FabCollectivePlan *plan = &fab_simulation_dag (play->simulation)->collectives[c].plan;
    FabTimePs ps = fab_simulation_time_steps (play->simulation, c, 8);

    assert_near ((double) ps, (double) (fab_collective_plan_idle_ps (plan) - plan->startup_ps), 0.02);
    assert_int_equal (fab_simulation_time_steps (play->simulation, c, 8), ps);
    assert_near ((double) fab_simulation_time_steps (scaled->simulation, c, 8), 3 * (double) ps, 0.01);
    assert_int_equal (fab_simulation_time_steps (one->simulation, c, 8), 0);
  }
}

/* Of the time of the next iteration a lower bound is known before the first one, but where samples that are taken then
 * may find that collectives take less than planned. It is below the time that the iteration takes. */
static void
the_least_time_is_known_beforehand (G_GNUC_UNUSED void **state)
{
  static const char *const fidelities[] = { "fidelity: fluid\n", "fidelity: sampled\n" };

  for (guint i = 0; i < G_N_ELEMENTS (fidelities); i++) {
    g_autofree char *head = g_strconcat ("collectives: plain\n", fidelities[i], NULL);
    g_autoptr (Play) play = play_of (
        head, "iterations: 2\njob: {kind: collective, operations: [{op: all_reduce, size: 4MB}]}\n", NULL);
    FabTimePs before_ps = fab_simulation_least_ps (play->simulation);

    assert_int_equal (before_ps > 0, i == 0);
    assert_true (fab_simulation_step (play->simulation));
    FabTimePs least_ps = fab_simulation_least_ps (play->simulation);
    assert_true (least_ps > 0 && least_ps <= fab_simulation_probe (play->simulation)->step.times.duration_ps);
    FabSamplingCount sampled = fab_simulation_sampled (play->simulation);
    assert_int_equal (sampled.n_events > 0, i == 1);
    assert_true (fab_simulation_step (play->simulation));
    assert_int_equal (fab_simulation_sampled (play->simulation).n_events, sampled.n_events); /* taken once */
  }
}

/* Samples are taken of the collectives of all jobs: those of a neighbour are on other links. */
static void
all_jobs_are_sampled (G_GNUC_UNUSED void **state)
{
  static const char *const heads[] = {
    "",
    "neighbours: [{name: n, nodes: 2, first: 2, job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}}]\n"
  };

  for (guint i = 0; i < G_N_ELEMENTS (heads); i++) {
    g_autofree char *head = g_strconcat ("fidelity: sampled\ncollectives: plain\n", heads[i], NULL);
    g_autoptr (Play) play = play_of (
        head, "iterations: 1\njob: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n", NULL);

    assert_true (fab_simulation_step (play->simulation));
    FabSamplingCount sampled = fab_simulation_sampled (play->simulation);
    assert_int_equal (sampled.n_whole + sampled.n_parts + sampled.n_skipped, 1 + i);
  }
}

/* Links that carried something are recorded, and no others. */
static void
idle_links_have_no_queue (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_of (
      "fidelity: packet\niterations: 1\ncollectives: {kind: plain, algorithm: ring}\n",
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n", NULL);

  assert_true (fab_simulation_step (play->simulation));
  g_autoptr (GArray) queues = fab_simulation_link_queues (play->simulation);
  assert_true (queues->len > 0
               && queues->len < fab_graph_n_links (fab_simulation_plant (play->simulation)->graph));
  for (guint i = 0; i < queues->len; i++)
    assert_true (g_array_index (queues, FabLinkQueueRecord, i).carried_bytes > 0);
}

/* A network with a clock of its own ends early as well once the run is cancelled. */
static void
a_network_hears_that_it_is_cancelled (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_of ("fidelity: step\ncollectives: plain\n", SUM, NULL);
  FabTimePs ps = fab_simulation_time_steps (play->simulation, 0, 64);
  gint cancel = 1;

  assert_true (ps > 0);
  fab_simulation_set_cancel (play->simulation, &cancel);
  assert_true (fab_simulation_time_steps (play->simulation, 0, 64) < ps);
}

/* On several threads collectives that differ are played beforehand, and the figures are the same. A network that skips
 * rounds by what comes next on its clock plays them so on one thread as well. */
static void
threads_change_no_figure (G_GNUC_UNUSED void **state)
{
  static const char *const heads[] = { "fidelity: step\n", "fidelity: {kind: packet, congestion: none}\n" };

  for (guint i = 0; i < G_N_ELEMENTS (heads); i++) {
    g_autoptr (GString) first = g_string_new (NULL);

    for (guint t = 0; t < 3; t++) {
      g_autoptr (Play) play = play_of (
          heads[i],
          "iterations: 2\njob: {kind: collective, operations: [{op: all_reduce, size: "
          "8MB}, {op: all_gather, size: 2MB}]}\n",
          NULL);

      fab_simulation_set_threads (play->simulation, t + 1);
      g_autoptr (GString) text = g_string_new (NULL);
      while (fab_simulation_step (play->simulation))
        probe_text (fab_simulation_probe (play->simulation), t == 0 ? first : text);
      assert_true (first->len > 1000);
      if (t > 0)
        assert_string_equal (text->str, first->str);
      FabMemoRecord memo = fab_simulation_memo_record (play->simulation);
      assert_int_equal (memo.n_collectives, 4);
      FabEpisodesCount count = fab_simulation_episodes (play->simulation);
      assert_int_equal (count.n_warm_ups, t > 0 || i == 1 ? 2 : 0);
      assert_int_equal (count.n_warm_ups_used, count.n_warm_ups);
    }
  }
}

/* A pulse is told what is done while a step runs, and nothing once it is taken away. */
static void
a_pulse_beats_while_it_runs (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_of ("iterations: 4\n", "job: {kind: ddp, " MODEL "}\n", NULL);
  FabPulse pulse = { 0 };

  fab_simulation_set_pulse (play->simulation, &pulse);
  assert_true (fab_simulation_step (play->simulation));
  assert_int_equal (pulse.n_tasks, fab_simulation_dag (play->simulation)->n_tasks);
  pulse = (FabPulse){ 0 };
  fab_simulation_set_pulse (play->simulation, NULL);
  assert_true (fab_simulation_step (play->simulation));
  assert_int_equal (pulse.n_tasks, 0);
}

/* --- what it says of itself --- */

/* A network without a clock of its own has no episodes. */
static void
nothing_is_remembered_without_episodes (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_of ("fidelity: fluid\n", SUM, NULL);

  assert_true (fab_simulation_step (play->simulation));
  FabEpisodesCount count = fab_simulation_episodes (play->simulation);
  assert_int_equal (count.n_episodes, 0);
  assert_int_equal (count.n_collectives, 0);
  assert_int_equal (fab_simulation_memo_record (play->simulation).n_episodes, 0);
}

/* Kernels take longer while collectives occupy multiprocessors: as much as their spans are longer than the tasks, mean
 * over ranks. Where a rank is slow for another reason nothing is said, and without contention nothing is slowed. */
static void
kernels_are_slowed_by_collectives (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *head, *job;
    gboolean is_slowed;
  } rows[] = {
    { "contention: yes\n", "kind: ddp, " MODEL "micro_batch: 1", TRUE },
    { "contention: yes\n",
      "kind: megatron, " MODEL
      "accumulation: 4, parallel: {tensor: 4, pipeline: 4}, overlap_grad_reduce: true, "
      "distributed_optimizer: true",
      TRUE },
    { "contention: no\n", "kind: ddp, " MODEL "micro_batch: 1", FALSE },
    { "contention: yes\n", "kind: ddp, " MODEL "micro_batch: 1, " SLOW, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *job = g_strdup_printf ("job: {%s}\n", rows[i].job);
    g_autoptr (Play) play = play_of (rows[i].head, job, NULL);
    const FabDag *dag = fab_simulation_dag (play->simulation);
    double slowed_ps = 0, n_ranks = 0;

    assert_true (fab_simulation_step (play->simulation));
    const FabProbe *probe = fab_simulation_probe (play->simulation);
    for (guint k = 0; k < probe->spans->len; k++) {
      const FabSpanRecord *span = &g_array_index (probe->spans, FabSpanRecord, k);

      if (span->kind == FAB_SPAN_COMPUTE)
        slowed_ps += (double) (span->end_ps - span->start_ps) * dag->classes[span->rank_class].n_ranks;
    }
    for (guint t = 0; t < dag->n_tasks; t++)
      if (dag->tasks[t].kind == FAB_SPAN_COMPUTE)
        slowed_ps -= (double) fab_task_ps (&dag->tasks[t])
                   * dag->classes[dag->streams[dag->tasks[t].stream].rank_class].n_ranks;
    for (guint c = 0; c < dag->n_classes; c++)
      n_ranks += dag->classes[c].n_ranks;
    double found_ps = (double) fab_simulation_slowed_ps (play->simulation);
    if (rows[i].is_slowed) {
      assert_true (slowed_ps / n_ranks > 1e6);
      assert_near (found_ps, slowed_ps / n_ranks, 1e-4);
    } else {
      assert_near (found_ps, 0, 0);
    }
  }
}

/* The row of the run, and that of its first link: what the scenario and the machine say. */
static void
records_are_of_the_scenario_and_its_machine (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_of ("seed: 5\nfidelity: analytic\n",
                                   "job: {kind: ddp, " MODEL "train_tokens: 1e11}\n", NULL);
  g_autoptr (Play) idle = play_of ("", "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
                                   NULL);
  FabRunRecord run = fab_simulation_run_record (play->simulation);
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);
  const FabGraph *graph = fab_simulation_plant (play->simulation)->graph;

  assert_string_equal (run.name, "t");
  assert_non_null (strstr (run.scenario_yaml, "gpt2-xl"));
  assert_ptr_equal (fab_simulation_run_record (play->simulation).scenario_yaml, run.scenario_yaml);
  assert_string_equal (run.version, fab_version ());
  assert_string_equal (run.fidelity, "analytic");
  assert_int_equal (run.seed, 5);
  assert_int_equal (run.n_ranks, 32);
  assert_int_equal (run.n_nodes, 4);
  assert_near (run.peak_flops_per_s, 312e12, 1e-12);
  assert_int_equal (run.memory_bytes, cluster->device.memory_bytes);
  assert_near (run.train_tokens, 1e11, 1e-12);
  assert_near (fab_simulation_run_record (idle->simulation).peak_flops_per_s, 0, 0);
  for (FabLinkId id = 0; id < fab_graph_n_links (graph); id += 7) {
    FabLinkRecord record = fab_simulation_link_record (play->simulation, id);
    const FabLink *link = fab_graph_link (graph, id);
    g_autofree char *from = (char *) record.from, *to = (char *) record.to,
                    *src = fab_graph_vertex_name (graph, link->src),
                    *dst = fab_graph_vertex_name (graph, link->dst);

    assert_int_equal (record.link, id);
    assert_string_equal (from, src);
    assert_string_equal (to, dst);
    assert_string_equal (record.spec, fab_graph_link_class (graph, id)->name);
    assert_int_equal (record.count, link->count);
    assert_int_equal (record.line_rate_bytes_per_s, link->rate_bytes_per_s);
    assert_int_equal (record.latency_ps, link->latency_ps);
  }
}

/* A seed is used where ranks jitter, in the job or beside it, where paths are hashed, or where the plant draws. */
static void
seeds_are_used_where_something_is_drawn (G_GNUC_UNUSED void **state)
{
#define JITTER "job: {kind: ddp, " MODEL "jitter: {cv: 5%}}"
#define PLAIN "job: {kind: ddp, " MODEL "}"
  static const struct {
    const char *head, *job;
    gboolean is_used;
  } rows[] = {
    { "", PLAIN, FALSE },
    { "", JITTER, TRUE },
    { "neighbours: [{name: n, nodes: 2, first: 2, " JITTER "}]\n", PLAIN, TRUE },
    { "neighbours: [{name: n, nodes: 2, first: 2, " PLAIN "}]\n", PLAIN, FALSE },
    { "background: [{kind: bursts, load: 20%, burst: 1ms}]\n", PLAIN, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = play_of (rows[i].head, rows[i].job, NULL);

    assert_int_equal (fab_simulation_uses_seed (play->simulation), rows[i].is_used);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_run_that_outlasts_the_clock_is_refused),
    cmocka_unit_test (flows_need_a_path),
    cmocka_unit_test (a_build_can_be_cancelled),
    cmocka_unit_test (a_what_if_changes_what_it_names),
    cmocka_unit_test (messages_are_folded_where_the_job_is_alone),
    cmocka_unit_test (links_that_change_are_apart),
    cmocka_unit_test (even_ranks_are_as_without_the_slow_one),
    cmocka_unit_test (a_what_if_of_the_job_is_on_the_plant_of_the_cache),
    cmocka_unit_test (weighing_gives_the_plant_back),
    cmocka_unit_test (a_link_binds_by_its_exposed_time),
    cmocka_unit_test (collectives_are_timed_by_themselves),
    cmocka_unit_test (the_least_time_is_known_beforehand),
    cmocka_unit_test (all_jobs_are_sampled),
    cmocka_unit_test (idle_links_have_no_queue),
    cmocka_unit_test (a_network_hears_that_it_is_cancelled),
    cmocka_unit_test (threads_change_no_figure),
    cmocka_unit_test (a_pulse_beats_while_it_runs),
    cmocka_unit_test (nothing_is_remembered_without_episodes),
    cmocka_unit_test (kernels_are_slowed_by_collectives),
    cmocka_unit_test (records_are_of_the_scenario_and_its_machine),
    cmocka_unit_test (seeds_are_used_where_something_is_drawn),
  };

  return play_run_tests ("simulation", tests, &catalog);
}
