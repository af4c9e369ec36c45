/* SPDX-License-Identifier: Apache-2.0 */
/* test_mpi.c - messages step by step over hosts whose link was measured: the closed forms of rings and trees.
 *
 *   T_one (m) = 100 us + m / 12 MB/s        T_both (m) = 150 us + m / 10 MB/s
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "tests/support/play.h"

#define LINK                                                                                               \
  "links: [{name: lab, signalling: 100Mb/s, latency: 5us, endpoint: 7us, source: s, date: \"2026-11-21\"," \
  " messages: [{overhead: 100us, rate: 12MB/s}, {way: both, overhead: 150us, rate: 10MB/s}]}]\n"
#define WIRE \
  "links: [{name: lab, signalling: 80Mb/s, latency: 5us, endpoint: 7us, source: s, date: \"2026-11-21\"}]\n"

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

/* What one operation takes over `n` hosts, and its plan's sizes of messages. */
static double
time_us (const char *link, guint n, const char *library, const char *op, guint bytes)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {node: host, nodes: %u, nic: lab}\ncollectives: {kind: mpi, %s}\n"
      "job: {kind: collective, operations: [{op: %s, size: %uB}]}\n%s",
      n, library, op, bytes, link);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  fab_simulation_step (play->simulation);
  return fab_ps_to_seconds (fab_simulation_probe (play->simulation)->step.times.duration_ps) * 1e6;
}

static double
one_us (double bytes)
{
  return 100 + bytes / 12;
}

static double
both_us (double bytes)
{
  return 150 + bytes / 10;
}

/* 2(n-1) steps, all in both directions; n = 3 has parts that are no whole bytes. */
static void
rings (G_GNUC_UNUSED void **state)
{
  for (guint n = 2; n <= 9; n++) {
    double steps = n - 1;

    assert_near (time_us (LINK, n, "algorithm: ring", "all_reduce", 1000000), 2 * steps * both_us (1e6 / n),
                 1e-6);
    assert_near (time_us (LINK, n, "algorithm: ring", "all_gather", 1000000), steps * both_us (1e6 / n),
                 1e-6);
    assert_near (time_us (LINK, n, "algorithm: ring", "all_reduce", n * 4), 2 * steps * both_us (4), 1e-6);
  }
}

/* Of 2^k ranks: k messages one after another up; down the root's k, then its largest child's k - 1, ... share a
 * port. A step costs its overhead once. */
static void
trees (G_GNUC_UNUSED void **state)
{
  for (guint k = 1; k <= 4; k++) {
    double up_us = k * one_us (1e6), down_us = 100 * k + k * (k + 1) / 2.0 * 1e6 / 12;

    assert_near (time_us (LINK, 1U << k, "algorithm: binomial", "reduce", 1000000), up_us, 1e-6);
    assert_near (time_us (LINK, 1U << k, "algorithm: binomial", "broadcast", 1000000), down_us, 1e-6);
    assert_near (time_us (LINK, 1U << k, "algorithm: binomial", "all_reduce", 1000000), up_us + down_us,
                 1e-6);
  }
}

/* Ranks 0 -> 1, 2, 4; 1 -> 3, 5: five messages of bytes and two of overhead. Up: 1 and 5 hand to 0 and 4, then 2 and
 * 4 to 0 in turn. */
static void
a_tree_of_six (G_GNUC_UNUSED void **state)
{
  assert_near (time_us (LINK, 6, "algorithm: binomial", "broadcast", 1200000), 2 * 100 + 5 * 1e5, 1e-6);
  assert_near (time_us (LINK, 6, "algorithm: binomial", "reduce", 1200000), 3 * (100 + 1e5), 1e-6);
}

/* Halves, then quarters, and back: 2 log2 n exchanges. */
static void
exchanges (G_GNUC_UNUSED void **state)
{
  assert_near (time_us (LINK, 4, "algorithm: halving_doubling", "all_reduce", 1000000),
               2 * (both_us (5e5) + both_us (2.5e5)), 1e-6);
}

/* Of other numbers: p = 2 or 4 ranks exchange, and the others hand all to one of them before and get all back
 * afterwards. Nobody sends to a rank that still receives what comes before, as the calls block. */
static void
exchanges_of_other_numbers (G_GNUC_UNUSED void **state)
{
  static const guint numbers[] = { 3, 5, 6, 7 };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    double log_p = numbers[i] < 4 ? 1 : 2, p = numbers[i] < 4 ? 2 : 4;

    assert_near (time_us (WIRE, numbers[i], "algorithm: halving_doubling", "all_reduce", 1000000),
                 (2 * log_p + 2) * (7 + 10) + (2 * (p - 1) / p + 2) * 1e5, 1e-6);
  }
}

/* A ring adds n - 1 parts, a tree k whole buffers. */
static void
adds (G_GNUC_UNUSED void **state)
{
  const double add_us = 1e6 / 1000; /* 1 GB/s */

  assert_near (time_us (LINK, 4, "algorithm: ring, reduce_rate: 1GB/s", "all_reduce", 1000000)
                   - time_us (LINK, 4, "algorithm: ring", "all_reduce", 1000000),
               3 * add_us / 4, 1e-6);
  assert_near (time_us (LINK, 8, "algorithm: binomial, reduce_rate: 1GB/s", "all_reduce", 1000000)
                   - time_us (LINK, 8, "algorithm: binomial", "all_reduce", 1000000),
               3 * add_us, 1e-6);
}

/* 7 us of the adapters and two traversals of 5 us; 80 Mb/s are 10 bytes per us. */
static void
without_messages (G_GNUC_UNUSED void **state)
{
  assert_near (time_us (WIRE, 4, "algorithm: ring", "all_reduce", 1000000), 6 * (7 + 10 + 2.5e4), 1e-6);
  assert_near (time_us (WIRE, 4, "algorithm: binomial", "all_reduce", 1000000), 4 * (7 + 10) + 5e5, 1e-6);
}

/* Bursts: up to 16 KiB this link was measured faster than its 80 Mb/s, and what was measured rules. Nothing is
 * shorter than the latency of its wires, twice 5 us. */
static void
faster_than_the_wire (G_GNUC_UNUSED void **state)
{
  const char
      *const bursts = "links: [{name: lab, signalling: 80Mb/s, latency: 5us, source: s, date: \"2026-11-21\","
                      " messages: [{up_to: 16KiB, overhead: 50us, rate: 20MB/s},"
                      " {overhead: 50us, rate: 9.5MB/s}]}]\n";
  const char *const no_time =
      "links: [{name: lab, signalling: 80Mb/s, latency: 5us, source: s, date: \"2026-11-21\","
      " messages: [{up_to: 16KiB, overhead: 1us, rate: 1TB/s},"
      " {overhead: 1us, rate: 9MB/s}]}]\n";

  assert_near (time_us (bursts, 2, "algorithm: binomial", "broadcast", 8192), 50 + 8192 / 20.0, 1e-6);
  assert_near (time_us (bursts, 4, "algorithm: ring", "all_reduce", 32768), 6 * (50 + 8192 / 20.0), 1e-6);
  assert_near (time_us (bursts, 4, "algorithm: binomial", "all_reduce", 8192), 4 * 50 + 5 * 8192 / 20.0,
               1e-6);
  assert_near (time_us (bursts, 4, "algorithm: binomial", "all_reduce", 65536), 4 * 50 + 5 * 65536 / 9.5,
               1e-6);
  const char
      *const quick = "links: [{name: lab, signalling: 80Mb/s, latency: 5us, source: s, date: \"2026-11-21\","
                     " messages: [{overhead: 1us, rate: 9MB/s}]}]\n";
  assert_near (time_us (quick, 2, "algorithm: binomial", "broadcast", 180), 1 + 180 / 9.0, 1e-4);
  assert_near (time_us (no_time, 2, "algorithm: binomial", "broadcast", 8192), 10, 1e-3);
}

static double
operations_us (const char *link, guint n, const char *library, const char *operations)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {node: host, nodes: %u, nic: lab}\ncollectives: {kind: mpi, %s}\n"
      "job: {kind: collective, operations: [%s]}\n%s",
      n, library, operations, link);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  fab_simulation_step (play->simulation);
  return fab_ps_to_seconds (fab_simulation_probe (play->simulation)->step.times.duration_ps) * 1e6;
}

/* Operations one after another take their times together, whichever came before and of whatever size. */
static void
every_operation_has_its_own_messages (G_GNUC_UNUSED void **state)
{
  const double reduce_us = 6 * both_us (2.5e5), gather_us = 3 * both_us (2.5e5),
               small_us = 6 * both_us (1000);

  assert_near (operations_us (LINK, 4, "algorithm: ring",
                              "{op: all_reduce, size: 1MB}, {op: all_gather, size: 1MB}"),
               reduce_us + gather_us, 1e-6);
  assert_near (operations_us (LINK, 4, "algorithm: ring",
                              "{op: all_gather, size: 1MB}, {op: all_reduce, size: 1MB}, "
                              "{op: all_reduce, size: 4000B}, {op: all_gather, size: 1MB}"),
               reduce_us + 2 * gather_us + small_us, 1e-6);
}

/* Two GPUs of each of two nodes, which share a port of their node: the link was measured faster than its wires for
 * small messages, and links inside a node were not measured. What is sent to the other node takes at least as long
 * as one message of this link, and no longer than two of them and what the nodes do inside. */
static void
messages_inside_nodes_have_their_own_time (G_GNUC_UNUSED void **state)
{
  static const char scenario[] =
      "name: t\ncluster: {node: dgx-a100, nodes: %u, gpus_per_node: 2, nics_per_node: 1, nic: lab}\n"
      "collectives: {kind: mpi, algorithm: binomial}\n"
      "job: {kind: collective, operations: [{op: broadcast, size: 8192B}]}\n%s";
  static const char bursts[] =
      "links: [{name: lab, signalling: 80Mb/s, latency: 5us, source: s, date: \"2026-11-21\","
      " messages: [{up_to: 16KiB, overhead: 50us, rate: 20MB/s}, {overhead: 50us, rate: 9.5MB/s}]}]\n";
  double us[2];

  for (guint i = 0; i < 2; i++) {
    g_autofree char *yaml = g_strdup_printf (scenario, i + 1, bursts);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);

    fab_simulation_step (play->simulation);
    us[i] = fab_ps_to_seconds (fab_simulation_probe (play->simulation)->step.times.duration_ps) * 1e6;
  }
  assert_true (us[0] > 0 && us[0] < 10);
  assert_true (us[1] >= 50 + 8192 / 20.0 && us[1] <= us[0] + 2 * (50 + 8192 / 20.0));
}

/* A plan says how many channels the algorithm has, as that of the plain library does: rings over two nodes of eight
 * GPUs have one for each NIC. */
static void
plans_have_the_channels_of_their_algorithm (G_GNUC_UNUSED void **state)
{
  static const char *const kinds[] = { "plain", "mpi" };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\ncluster: {node: dgx-h100, nodes: 2}\ncollectives: {kind: %s, algorithm: ring}\n"
        "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
        kinds[i]);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);
    const FabCollectivePlan *plan = &fab_simulation_dag (play->simulation)->collectives[0].plan;

    assert_string_equal (plan->algorithm, "ring");
    assert_int_equal (plan->n_channels, 8);
  }
}

/* (transfer full) */
static char *
refusal (const char *node, guint n, const char *library, const char *op)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {node: %s, nodes: %u}\ncollectives: {kind: mpi%s}\n"
      "job: {kind: collective, operations: [{op: %s, size: 1MB}]}\n",
      node, n, library, op);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                         &error);
  g_autoptr (FabSimulation) simulation = scenario != NULL
                                           ? fab_simulation_new (scenario, &fab_models, NULL, &error)
                                           : NULL;

  assert_true (simulation == NULL && error != NULL);
  return g_strdup (error->message);
}

/* Switches that reduce send no messages between ranks. Somebody who asks for an algorithm hears that this one cannot do
 * it. */
static void
what_messages_cannot_do_is_said (G_GNUC_UNUSED void **state)
{
  g_autofree char *nvls = refusal ("dgx-h100", 1, ", algorithm: nvls", "all_reduce"),
                  *tree = refusal ("dgx-h100", 1, ", algorithm: binomial", "all_to_all");

  assert_non_null (
      strstr (nvls, "collectives.algorithm: 'nvls' reduces in switches, and mpi only passes messages"));
  assert_non_null (strstr (tree,
                           "collectives.algorithm: 'binomial' cannot do all_to_all over the links between "
                           "these 8 ranks"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (rings),
    cmocka_unit_test (trees),
    cmocka_unit_test (a_tree_of_six),
    cmocka_unit_test (exchanges),
    cmocka_unit_test (exchanges_of_other_numbers),
    cmocka_unit_test (adds),
    cmocka_unit_test (without_messages),
    cmocka_unit_test (faster_than_the_wire),
    cmocka_unit_test (every_operation_has_its_own_messages),
    cmocka_unit_test (messages_inside_nodes_have_their_own_time),
    cmocka_unit_test (plans_have_the_channels_of_their_algorithm),
    cmocka_unit_test (what_messages_cannot_do_is_said),
  };

  return cmocka_run_group_tests_name ("mpi", tests, load_catalog, drop_catalog);
}
