/* SPDX-License-Identifier: Apache-2.0 */
/* prop_more.c - a better machine is never slower, unless the verdict names the choice that makes it so.
 *
 * Random jobs on random machines, each played as it is and with one thing better: more NICs, faster ports, a faster
 * link, less oversubscription, a fault that is less severe. Machines are all nodes of the catalogue, on all fabrics,
 * routes and libraries; jobs are collectives, traffic, DDP, ZeRO, FSDP and Megatron.
 *
 * What may be: 3 %, because channels and rings are whole numbers, and ports of neighbouring entries were measured one
 * by one. Where a hash chooses paths, the best of several seeds is held against the worst of them. Where the library's
 * own estimate chooses a slower way, the verdict of the better machine has FAB_FINDING_CHOICE.
 *
 * Neighbours of a study are held tighter: where a step along a rate, a number of NICs or a latency makes a step of
 * training more than 1 % longer, the library chooses otherwise at the two, which the study then prints.
 *
 * FAB_TEST_ROUNDS=20 plays 2400 pairs in a few minutes.
 */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/run/run.h"
#include "sim/study/choice_changes.h"
#include "sim/verdict/verdict.h"
#include "tests/support/play.h"
#include "tests/support/seeds.h"

static const double tolerance = 0.03;

enum { N_PAIRS = 120, N_HASH_SEEDS = 4, MOST_GPUS_OF_NODE = 80, MANY_GPUS_OF_NODE = 32 };

static FabCatalog *catalog; /* shared by all seeds */
static const char **nodes;

#define PICK(random, array) ((array)[random_below ((random), G_N_ELEMENTS (array))])

/* The parts of a scenario that differ between the two plays. */
typedef struct {
  char *keys;   /* of the cluster, "nics_per_node: 2, " */
  char *faults; /* a list; NULL: none */
  guint oversubscription;
} Half;

typedef struct {
  Half worse, better;
  gboolean has_same_ports; /* the fabric's wiring is the same in both */
} Change;

static void
half_clear (Half *self)
{
  g_free (self->keys);
  g_free (self->faults);
}

/* --- jobs --- */

static char *
random_training (Random *random, guint n_gpus, guint kib)
{
  static const char *const models[] = { "gpt2", "bert-base", "gpt2-medium", "resnet-50", "gpt3-125m" };
  static const char *const kinds[] = { "ddp", "ddp", "zero", "fsdp", "megatron" };
  const char *kind = PICK (random, kinds), *model = PICK (random, models);
  g_autoptr (GString) own = g_string_new (NULL);
  guint tensor = 1u << random_below (random, 3);

  if (strcmp (kind, "ddp") == 0)
    g_string_printf (own, "bucket: %uKiB, ", kib / 8 + 100);
  else if (strcmp (kind, "zero") == 0)
    g_string_printf (own, "stage: %u, ", random_between (random, 1, 3));
  else if (strcmp (kind, "fsdp") == 0)
    g_string_printf (own, "sharding: %s, ", random_chance (random, 50) ? "full" : "hybrid");
  else
    g_string_printf (own, "accumulation: 2, parallel: {tensor: %u}, ", n_gpus % tensor == 0 ? tensor : 1);
  return g_strdup_printf (
      "{kind: %s, model: %s, %smicro_batch: 1, sequence: 256, compute: {kind: mfu, mfu: 50%%}}", kind,
      strcmp (kind, "megatron") == 0 ? "gpt2-medium" : model, own->str);
}

static char *
random_job (Random *random, guint n_gpus)
{
  static const char *const ops[] = { "all_reduce", "all_gather", "reduce_scatter",
                                     "broadcast",  "reduce",     "all_to_all" };
  static const char *const patterns[] = { "permutation", "shift, distance: 1", "all_pairs",
                                          "incast, senders: 2" };
  guint kib = (guint) random_scale (random, 1, 4e5);

  if (random_chance (random, 40))
    return g_strdup_printf ("{kind: collective, operations: [{op: %s, size: %uKiB}]}", PICK (random, ops),
                            kib);
  if (n_gpus > 2 && random_chance (random, 15))
    return g_strdup_printf ("{kind: traffic, pattern: %s, size: %uKiB}", PICK (random, patterns),
                            kib / 16 + 1);
  return random_training (random, n_gpus, kib);
}

/* --- machines --- */

/* A fabric whose wiring depends on how many NICs there are is no better one for having more of them: dragonflies and
 * tori are left out then. */
static char *
random_fabric (Random *random, const Change *change, guint oversubscription)
{
  static const char *const clos[] = { "rail", "leaf_spine", "fat_tree" };
  const char *kind = PICK (random, clos);
  guint per_leaf = random_between (random, 1, 4);

  switch (random_below (random, change->has_same_ports ? 7 : 5)) {
  case 0: return g_strdup ("switch");
  case 1: return g_strdup ("rail_only");
  case 5: return g_strdup ("{kind: dragonfly, routers_per_group: 4, nics_per_router: 4, global_ports: 4}");
  case 6: return g_strdup ("{kind: torus, dimensions: 2}");
  default:
    return g_strdup_printf ("{kind: %s, %snodes_per_leaf: %u, oversubscription: %u}", kind,
                            strcmp (kind, "fat_tree") == 0 ? "radix: 1024, " : "", per_leaf,
                            oversubscription);
  }
}

static void
change_nics (Random *random, guint n_nics, Change *change)
{
  guint few = random_between (random, 1, MAX (n_nics - 1, 1));

  change->has_same_ports = FALSE;
  change->worse.keys = g_strdup_printf ("nics_per_node: %u, ", few);
  change->better.keys = g_strdup_printf ("nics_per_node: %u, ",
                                         random_between (random, MIN (few + 1, n_nics), n_nics));
}

static void
change_rate (Random *random, guint n_nics, Change *change)
{
  static const char *const rates[] = { "25Gb/s", "50Gb/s", "100Gb/s", "200Gb/s", "400Gb/s" };
  guint n = random_between (random, 1, n_nics), rate = random_below (random, G_N_ELEMENTS (rates) - 1);
  guint faster = random_between (random, rate + 1, G_N_ELEMENTS (rates) - 1);

  change->worse.keys = g_strdup_printf ("nics_per_node: %u, nic_rate: %s, ", n, rates[rate]);
  change->better.keys = g_strdup_printf ("nics_per_node: %u, nic_rate: %s, ", n, rates[faster]);
}

/* Entries of one family whose second has no longer latency: the first HDR adapters take longer than EDR's. */
static void
change_link (Random *random, guint n_nics, Change *change)
{
  static const char *const faster[][2] = { { "ib-hdr", "ib-ndr" },     { "ib-ndr", "ib-xdr" },
                                           { "roce-100", "roce-200" }, { "roce-200", "roce-400" },
                                           { "roce-100", "roce-400" }, { "efa-v1", "efa-v2" } };
  guint n = random_between (random, 1, n_nics), at = random_below (random, G_N_ELEMENTS (faster));

  change->worse.keys = g_strdup_printf ("nics_per_node: %u, nic: %s, ", n, faster[at][0]);
  change->better.keys = g_strdup_printf ("nics_per_node: %u, nic: %s, ", n, faster[at][1]);
}

static void
change_fault (Random *random, guint n_nics, Change *change)
{
  g_autofree char *name = n_nics > 1 ? g_strdup_printf ("node0/nic%u", random_below (random, n_nics))
                                     : g_strdup ("node0/nic");

  if (n_nics > 1 && random_chance (random, 40)) {
    change->has_same_ports = FALSE;
    change->worse.faults = g_strdup_printf ("[{what: nic, name: %s, dead: true}]", name);
    return;
  }
  change->worse.faults = g_strdup_printf ("[{what: nic, name: %s, rate: %u%%}]", name,
                                          random_between (random, 10, 50));
  if (random_chance (random, 50))
    change->better.faults = g_strdup_printf ("[{what: nic, name: %s, rate: 75%%}]", name);
}

static Change
random_change (Random *random, guint n_nics)
{
  Change change = { .worse.oversubscription = 1, .better.oversubscription = 1, .has_same_ports = TRUE };

  switch (random_below (random, 6)) {
  case 0:
  case 1: change_nics (random, n_nics, &change); break;
  case 2: change_rate (random, n_nics, &change); break;
  case 3: change_link (random, n_nics, &change); break;
  case 4:
    change.worse.oversubscription = 4;
    change.better.oversubscription = random_between (random, 1, 2);
    break;
  default: change_fault (random, n_nics, &change); break;
  }
  return change;
}

/* --- the property --- */

typedef struct {
  double least_s, most_s; /* over the seeds */
  gboolean has_choice;    /* the verdict names a choice of the library */
} Steps;

/* FALSE: what was drawn is no machine: a dead NIC cuts it in two, or a leaf has more ports than its radix. */
static gboolean
play (const char *yaml, guint seed, Steps *steps)
{
  g_autofree char *seeded = g_strdup_printf ("seed: %u\n%s", seed, yaml);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("random", seeded, strlen (seeded), NULL, &fab_models,
                                                         catalog, &error);
  g_autoptr (FabSimulation) simulation = scenario
                                           ? fab_scenario_run (scenario, &fab_models, NULL, NULL, &error)
                                           : NULL;

  if (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT))
    return FALSE;
  if (simulation == NULL)
    fail_msg ("%s\n%s", error->message, seeded);
  g_autoptr (FabVerdict) verdict = fab_verdict_of (scenario, simulation, &fab_models, &error);
  double s = fab_ps_to_seconds (fab_simulation_probe (simulation)->step.times.duration_ps);

  steps->least_s = seed == 1 ? s : MIN (steps->least_s, s);
  steps->most_s = MAX (steps->most_s, s);
  steps->has_choice = steps->has_choice || fab_verdict_find (verdict, FAB_FINDING_CHOICE) != NULL;
  return TRUE;
}

/* Whether the machine that has more is not the better one for this job. Which NIC serves a pair of GPUs changes with
 * the rate of the NICs, and on a torus the ways of an all-to-all do with it. A broadcast or a reduction to one rank
 * runs on more channels where there are more or faster NICs, and each channel of a small one has a start-up. */
static gboolean
is_odd_pair (const char *fabric, const char *job, gboolean has_same_nics)
{
  if (strstr (fabric, "torus") != NULL && strstr (job, "all_to_all") != NULL)
    return TRUE;
  return !has_same_nics && (strstr (job, "op: broadcast") != NULL || strstr (job, "op: reduce,") != NULL);
}

static void
check_more (Random *random)
{
  /* Over faster adapters NCCL sets up more channels, whose messages a thread posts one after another. */
  static const char *const few = "{kind: nccl, max_channels: 4}";
  const char *const libraries[] = { few, few, few, few, "plain", "mpi" };
  static const char *const routes[] = { "shortest", "shortest", "ecmp", "spray", "adaptive" };
  const char *node = nodes[random_below (random, g_strv_length ((char **) nodes))];
  const FabNodeSpec *spec = fab_catalog_node (catalog, node);
  guint n_nics = fab_node_spec_n_parts (spec, FAB_PART_NIC);
  guint n_gpus = fab_node_spec_n_parts (spec, FAB_PART_ACCELERATOR);
  guint n_nodes = n_gpus > MANY_GPUS_OF_NODE ? 2 : random_between (random, 2, 8);

  if (n_nics == 0 || n_gpus > MOST_GPUS_OF_NODE)
    return;
  Change change = random_change (random, n_nics);
  g_autofree char *job = random_job (random, n_gpus);
  const char *library = PICK (random, libraries), *route = PICK (random, routes);
  const char *fidelity = random_chance (random, 80) ? "fluid" : "analytic";
  guint n_seeds = strcmp (route, "ecmp") == 0 ? N_HASH_SEEDS : 1;

  gboolean has_same_nics = change.worse.oversubscription > change.better.oversubscription;

  /* A path that adapts to loads is another one on a better machine, and dragonflies have paths of several lengths. */
  change.has_same_ports = change.has_same_ports && strcmp (route, "adaptive") != 0;
  Random fabric_random = *random;
  const Half *halves[] = { &change.worse, &change.better };
  Steps steps[2] = { 0 };
  g_autoptr (GString) said = g_string_new (NULL);
  gboolean is_played = TRUE;

  for (guint i = 0; i < 2; i++) {
    const Half *half = halves[i];

    *random = fabric_random;
    g_autofree char *fabric = random_fabric (random, &change, half->oversubscription);
    g_autofree char *yaml = g_strdup_printf (
        "name: random\niterations: 2\nfidelity: %s\ncollectives: %s\n"
        "cluster: {node: %s, nodes: %u, %sfabric: %s, route: %s}\njob: %s\n%s%s\n",
        fidelity, library, node, n_nodes, half->keys ? half->keys : "", fabric, route, job,
        half->faults ? "faults: " : "", half->faults ? half->faults : "");

    is_played = is_played && !is_odd_pair (fabric, job, has_same_nics);
    for (guint seed = 1; is_played && seed <= n_seeds; seed++)
      is_played = play (yaml, seed, &steps[i]);
    g_string_append_printf (said, "%.9g to %.9g s:\n%s", steps[i].least_s, steps[i].most_s, yaml);
  }
  half_clear (&change.worse);
  half_clear (&change.better);
  if (is_played && steps[1].least_s > steps[0].most_s * (1 + tolerance) && !steps[1].has_choice)
    fail_msg ("a better machine is slower\n%s", said->str);
}

static void
a_better_machine_is_never_slower_without_a_reason (G_GNUC_UNUSED void **state)
{
  seeds_run (N_PAIRS, check_more);
}

/* --- neighbours --- */

/* Every neighbour along a key. What is said of them is what a study prints: the library chose otherwise. */
static const char *const jobs[] = {
  "cluster: {node: dgx-h100, nodes: 4, %s, fabric: {kind: leaf_spine, nodes_per_leaf: 2}, route: spray}\n"
  "job: {kind: ddp, model: gpt2-xl, micro_batch: 8, sequence: 1024, bucket: 100MiB}\n",
  "cluster: {node: dgx-a100, nodes: 8, %s, fabric: rail}\n"
  "job: {kind: fsdp, model: gpt2-xl, micro_batch: 4, sequence: 1024}\n",
  "cluster: {node: hgx-b200, nodes: 4, %s, fabric: rail}\n"
  "job: {kind: zero, stage: 2, model: gpt2-xl, micro_batch: 4, sequence: 1024}\n",
};

/* `format` with `value` in place of its %s. (transfer full) */
static char *
put_in (const char *format, const char *value)
{
  g_auto (GStrv) parts = g_strsplit (format, "%s", 2);

  return g_strjoinv (value, parts);
}

static FabPoint *
point_of (const char *job, const char *keys, const FabWhatIf *what_if)
{
  g_autofree char *body = put_in (job, keys);
  g_autofree char *yaml = g_strconcat ("name: t\niterations: 2\n", body, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("test", yaml, strlen (yaml), NULL, &fab_models,
                                                         catalog, &error);
  g_autoptr (FabSimulation) simulation = scenario
                                           ? fab_scenario_run (scenario, &fab_models, what_if, NULL, &error)
                                           : NULL;
  FabPoint *point = simulation ? fab_point_of (scenario, simulation, &fab_models, &error) : NULL;

  if (point == NULL)
    fail_msg ("%s\n%s", error->message, yaml);
  return point;
}

static void
check_neighbours (const FabPoint *worse, const FabPoint *better, const char *job, const char *keys)
{
  g_autoptr (GArray) changes = fab_choice_changes (worse, better);

  if (fab_choice_slowdown (worse, better) > 0 && changes->len == 0)
    fail_msg ("with %s the step is %.9g s in place of %.9g, and the library chooses the same\n%s", keys,
              better->step_s, worse->step_s, job);
}

/* `first` to `last`, each `step` better than the one before. */
static void
check_key (const char *job, const char *format, guint first, guint last, guint step)
{
  g_autoptr (FabPoint) worse = NULL;

  for (guint value = first; value <= last; value += step) {
    g_autofree char *number = g_strdup_printf ("%u", value);
    g_autofree char *keys = put_in (format, number);
    FabPoint *better = point_of (job, keys, NULL);

    if (worse != NULL)
      check_neighbours (worse, better, job, keys);
    fab_point_free (worse);
    worse = better;
  }
}

static void
more_bandwidth_is_slower_only_where_the_library_chooses_otherwise (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (jobs); i++)
    check_key (jobs[i], "nic_rate: %sGb/s", 50, 540, 10);
}

static void
more_nics_are_slower_only_where_the_library_chooses_otherwise (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (jobs); i++)
    check_key (jobs[i], "nics_per_node: %s", 1, 8, 1);
}

static void
less_latency_is_slower_only_where_the_library_chooses_otherwise (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (jobs); i++) {
    g_autoptr (FabPoint) worse = NULL;

    for (gint percent = 300; percent >= -75; percent -= 75) {
      FabWhatIf what_if = { .link_class = strstr (jobs[i], "a100") != NULL ? "ib-hdr" : "ib-ndr",
                            .rate_factor = 1,
                            .latency_change = percent / 100.0,
                            .endpoint_change = percent / 100.0 };
      FabPoint *better = point_of (jobs[i], "gpus_per_node: 8", &what_if);

      if (worse != NULL)
        check_neighbours (worse, better, jobs[i], "less latency");
      fab_point_free (worse);
      worse = better;
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (a_better_machine_is_never_slower_without_a_reason),
    cmocka_unit_test (more_bandwidth_is_slower_only_where_the_library_chooses_otherwise),
    cmocka_unit_test (more_nics_are_slower_only_where_the_library_chooses_otherwise),
    cmocka_unit_test (less_latency_is_slower_only_where_the_library_chooses_otherwise),
  };
  int n_failed;

  catalog = play_catalog ();
  nodes = fab_catalog_names (catalog, FAB_SECTION_NODES);
  n_failed = cmocka_run_group_tests_name ("more", tests, NULL, NULL);
  g_free (nodes);
  fab_catalog_free (catalog);
  return n_failed;
}
