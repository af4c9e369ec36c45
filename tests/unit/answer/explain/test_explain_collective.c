/* SPDX-License-Identifier: Apache-2.0 */
/* test_explain_collective.c - what is said of one collective against its plan: what sets its pace, its rates as
 * nccl-tests prints them, which part of the bytes a link carries and what they lose there, how far such collectives
 * were from their predictions, and what other traffic costs it.
 */
#include "tests/unit/answer/explain/explained.h"

#include "sim/run/band.h"

static FabCatalog *catalog;

#define A100(nodes, collectives, operation)                                              \
  "name: t\ncluster: {node: dgx-a100, nodes: " nodes "}\ncollectives: " collectives "\n" \
  "job: {kind: collective, operations: [{op: " operation "}]}\n"
/* Of latency, copies and kernels. */
#define OWN                                                                                        \
  "name: t\n"                                                                                      \
  "links:\n  - {name: wire, technology: NVLink, lanes: 2, signalling: 40Gb/s, latency: %s,\n"      \
  "     copy: {%s}, kernel: {%s}}\n"                                                               \
  "nodes:\n  - name: own\n    accelerator: a100-sxm4-80gb\n"                                       \
  "    parts: [{name: gpu, kind: accelerator, count: 4}, {name: sw, kind: switch},\n"              \
  "            {name: cpu, kind: host}]\n"                                                         \
  "    wires: [{from: gpu, to: sw, link: wire, count: 5}, {from: sw, to: cpu, link: pcie4-x16}]\n" \
  "cluster: {node: own}\ncollectives: plain\n"                                                     \
  "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n"
#define H100(collectives, operation)                                   \
  "name: t\ncluster: {node: dgx-h100}\ncollectives: " collectives "\n" \
  "job: {kind: collective, operations: [{op: " operation "}]}\n"

static const char *const scenarios[] = {
  A100 ("1", "nccl", "all_reduce, size: 1GB"),
  A100 ("1", "{kind: nccl, protocol: ll128}", "all_reduce, size: 1GB"),
  A100 ("1", "{kind: nccl, protocol: ll}", "all_gather, size: 64MB"),
  A100 ("2", "nccl", "all_reduce, size: 1GB"),
  A100 ("2", "{kind: nccl, algorithm: tree}", "all_reduce, size: 64MB"),
  A100 ("4", "nccl", "all_to_all, size: 256MB"),
  A100 ("2", "nccl", "broadcast, size: 16MB"),
  A100 ("2", "plain", "send_recv, size: 1GB"),
  A100 ("1", "plain", "reduce_scatter, size: 64MB"),
  A100 ("1", "{kind: plain, algorithm: tree}", "reduce, size: 64MB"),
  A100 ("2", "{kind: plain, algorithm: hierarchical}", "all_reduce, size: 64MB"),
  H100 ("{kind: nccl, algorithm: nvls}", "all_reduce, size: 1GB"),
  /* Blocks of 16 tokens are many short messages of one sender. */
  "name: t\ncluster: {node: dgx-h100, nodes: 2}\njob: {kind: kv, model: llama3-70b, prompt: 4000, requests: 4, "
  "prefill: 8, decode: 8, setup: 0s, block: 16}\n",
  H100 ("nccl", "all_reduce, size: 1GB"),
  "name: t\ncluster: {node: dgx-a100, nodes: 2, nics_per_node: 1}\ncollectives: plain\n"
  "job: {kind: collective, operations: [{op: all_to_all, size: 1GB}]}\n",
  /* Each of two ranks sends two of its three parts over the one port, which are 4/3 of what one sends in all. */
  "name: t\ncluster: {node: dgx-a100, nodes: 2, gpus_per_node: 2, nics_per_node: 1}\ncollectives: plain\n"
  "job: {kind: collective, operations: [{op: all_to_all, size: 1GB}]}\n",
  "name: t\nlinks: [{name: m, technology: Ethernet, lanes: 2, signalling: 50Gb/s, latency: 600ns}]\n"
  "cluster: {node: dgx-a100, nodes: 2, gpus_per_node: 1, nics_per_node: 1, nic: m}\ncollectives: plain\n"
  "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n",
  "name: t\nlinks: [{name: m, technology: Ethernet, lanes: 2, signalling: 50Gb/s, latency: 600ns, "
  "messages: [{overhead: 2us, rate: 10GB/s}]}]\n"
  "cluster: {node: dgx-a100, nodes: 2, gpus_per_node: 1, nics_per_node: 1, nic: m}\ncollectives: mpi\n"
  "job: {kind: collective, operations: [{op: all_gather, size: 64MB}]}\n",
};

/* How often each sentence was said. */
typedef struct {
  guint n_ends, n_links, n_pauses, n_formulas, n_more, n_less, n_whole, n_switches, n_flags, n_library,
      n_kernel, n_sums, n_rates, n_bands, n_steps, n_without_steps, n_senders;
} Said;

static void
assert_note (const FabStatement *statement, const char *begin, gboolean is_said)
{
  if (explained_has_note (statement, begin) == is_said)
    return;
  g_autofree char *text = explained_text (statement);
  fail_msg ("\"%s\" is %sin\n%s", begin, is_said ? "not " : "", text);
}

/* The link that the footprint names, and either it or the ends set the pace. */
static void
check_pace (const Explained *it, const FabCollectivePlan *plan, Said *said)
{
  const FabStatement *time = explained_find (it, "time");
  const FabGraph *graph = fab_simulation_cluster (it->play->simulation)->graph;
  const FabLink *link = fab_graph_link (graph, plan->footprint->binding_link);
  g_autofree char *from = fab_graph_vertex_name (graph, link->src),
                  *to = fab_graph_vertex_name (graph, link->dst),
                  *label = fab_link_class_label (fab_graph_link_class (graph, plan->footprint->binding_link));
  g_autofree char *where = g_strdup_printf ("%s -> %s, %u x %s.", from, to, link->count, label);
  gboolean is_ends = fab_collective_plan_waits_for_ends (plan);
  g_autofree char *links = g_strdup_printf ("The link that binds it: %s", where),
                  *ends = g_strdup_printf (
                      "%u %s its pace; a faster link would not change it. The slowest link: %s",
                      plan->n_channels, plan->n_channels == 1 ? "channel sets" : "channels set", where);

  g_autofree char *sender = g_strdup_printf (
      "The time that a message takes of its sender (job.message_time) sets its "
      "pace; a faster link would not change it. The slowest link: %s",
      where);

  assert_note (time, links, !is_ends);
  assert_note (time, sender, is_ends && plan->n_channels == 0);
  said->n_senders += is_ends && plan->n_channels == 0;
  assert_note (time, ends, is_ends && plan->n_channels > 0);
  said->n_ends += is_ends;
  said->n_links += !is_ends;
  /* As nccl-tests prints them. */
  double algbw = (double) plan->bytes / time->value;
  g_autofree char *alg = fab_term_show (FAB_TERM_RATE, algbw),
                  *bus = fab_term_show (FAB_TERM_RATE, algbw * fab_op_bus_factor (plan->op, plan->n_ranks));
  g_autofree char *rates = g_strdup_printf (
      "algbw = size / time = %s; busbw, what nccl-tests compares with the link: %s.", alg, bus);
  assert_note (time, rates, TRUE);
}

/* The rate of the links, or a lower limit and where it comes from. */
static gboolean
check_flow (const Explained *it, const FabCollectivePlan *plan, Said *said)
{
  const FabStatement *flow = explained_find (it, "flow");
  double rate = plan->footprint->rate_bytes_per_s / plan->wire_factor;
  gboolean is_limited = plan->most_bytes_per_s > 0 && plan->most_bytes_per_s < rate;
  gboolean is_ends = fab_collective_plan_waits_for_ends (plan);
  g_autofree char *links = fab_term_show (FAB_TERM_RATE, rate);
  g_autofree char
      *ends = g_strdup_printf ("limit: the rate in size per second that the GPUs send with protocol %s "
                               "and %u %s; the links would allow %s.",
                               plan->protocol != NULL ? plan->protocol : "-", plan->n_channels,
                               plan->n_channels == 1 ? "channel" : "channels", links),
      *pauses = g_strdup_printf (
          "limit: the rate in size per second of the links where a part of them waits while others carry "
          "bytes: steps follow one another, or no channel uses a link; all at once would allow %s.",
          links);

  assert_int_equal (strcmp (flow->formula, "size / limit") == 0, is_limited);
  assert_near (explained_term (flow, "size"), (double) plan->bytes, 1e-12);
  assert_near (flow->value, fab_ps_to_seconds (fab_collective_plan_idle_ps (plan) - plan->startup_ps), 1e-12);
  if (is_limited)
    assert_near (explained_term (flow, "limit"), plan->most_bytes_per_s, 1e-12);
  assert_note (flow, ends, is_limited && is_ends && plan->n_channels > 0);
  g_autofree char *sender = g_strdup_printf (
      "limit: the rate at which the sender issues the bytes, message after "
      "message (job.message_time); the links would allow %s.",
      links);
  assert_note (flow, pauses, is_limited && !is_ends);
  assert_note (flow, sender, is_limited && is_ends && plan->n_channels == 0);
  assert_int_equal (explained_find (it, "line_rate") != NULL, !is_limited);
  said->n_pauses += is_limited && !is_ends;
  said->n_formulas += !is_limited;
  return is_limited;
}

/* The part of the bytes of a rank that the link carries, and what flags and packets add. */
static void
check_share (const Explained *it, const FabCollectivePlan *plan, Said *said)
{
  const FabStatement *flow = explained_find (it, "flow"), *loss = explained_find (it, "loss");
  const FabFootprint *footprint = plan->footprint;
  guint place = fab_footprint_find (footprint, footprint->binding_link);
  double share = footprint->weights[place] / fab_op_bus_factor (plan->op, plan->n_ranks),
         lost = footprint->line_weights[place] / footprint->weights[place];
  gboolean is_switch = strstr (plan->algorithm, "nvls") != NULL;
  g_autofree char *flags = g_strdup_printf ("flags: protocol %s sends flags with the data.", plan->protocol);
  const char *const notes[] = { "share: the switch adds and copies",
                                "share: bytes on this link as a multiple",
                                "share: only this part goes over this link" };
  gint wanted = is_switch ? 0 : share > 1 + 1e-6 ? 1 : share < 1 - 1e-6 ? 2 : -1;

  assert_near (explained_term (flow, "n"), plan->n_ranks, 0);
  assert_near (explained_term (flow, "share"), share, 1e-12);
  assert_near (explained_term (flow, "loss"), lost, 1e-12);
  assert_near (explained_term (flow, "flags"), plan->wire_factor, 1e-12);
  for (gint i = 0; i < 3; i++)
    assert_note (flow, notes[i], i == wanted);
  assert_note (flow, flags, plan->wire_factor > 1 + 1e-6);
  double library = explained_term (loss, "library");
  assert_near (loss->value, lost, 1e-12);
  assert_note (loss, "library: losses in the path", fabs (library - 1) > 1e-6);
  assert_true (library > 0.99);
  said->n_switches += wanted == 0;
  said->n_more += wanted == 1;
  said->n_less += wanted == 2;
  said->n_whole += wanted < 0;
  said->n_flags += plan->wire_factor > 1 + 1e-6;
  said->n_library += fabs (library - 1) > 1e-6;
  said->n_kernel += explained_has_note (loss,
                                        "Kernels move packets of 128 bytes and copy engines packets of 256");
}

/* Links whose data sheets add both directions, and others. */
static void
check_rate (const Explained *it, const FabCollectivePlan *plan, Said *said)
{
  const FabGraph *graph = fab_simulation_cluster (it->play->simulation)->graph;
  FabLinkId link = plan->footprint->binding_link;
  const FabStatement *rate = explained_find (it, "line_rate");
  gboolean sums = fab_graph_link_class (graph, link)->technology->sums_directions;
  double bytes_per_s = (double) fab_graph_link (graph, link)->rate_bytes_per_s;
  g_autofree char *both = g_strdup_printf (
                      "Datasheets add both directions: %.0f GB/s there is %.0f GB/s each way.",
                      bytes_per_s / 5e8, bytes_per_s / 1e9),
                  *each = g_strdup_printf ("A link of %.0f Gb/s carries %.4g GB/s of line bytes, each way.",
                                           bytes_per_s / 1.25e8, bytes_per_s / 1e9);

  assert_near (rate->value, bytes_per_s, 1e-12);
  assert_string_equal (rate->formula, "links * lanes * signalling * coding");
  assert_note (rate, both, sums);
  assert_note (rate, each, !sums);
  said->n_sums += sums;
  said->n_rates += !sums;
}

/* How far measured ones of its kind were from their predictions, and how far this one would be. */
static void
check_band (const Explained *it, const FabCollectivePlan *plan, Said *said)
{
  const FabStatement *time = explained_find (it, "time");
  FabPlanKind kind = fab_plan_kind (it->play->scenario, fab_simulation_cluster (it->play->simulation), plan);
  FabPlanBand band = fab_plan_band (it->play->scenario, plan, &kind);
  gboolean is_said = !kind.is_calibrated && band.coverage_fraction > 0;
  g_autofree char *low = fab_term_show (FAB_TERM_TIME, time->value * band.low_factor),
                  *high = fab_term_show (FAB_TERM_TIME, time->value * band.high_factor),
                  *basis = fab_plan_band_basis (&band), *spread = fab_publications_words (&band);
  g_autofree char *expected = g_strdup_printf (
      "Measured collectives of this kind took %.3g to %.3g times what is predicted, in %.0f %% of cases (%s): here %s "
      "to %s.",
      band.low_factor, band.high_factor, 100 * band.coverage_fraction, basis, low, high);

  assert_note (time, "Measured collectives", is_said);
  if (is_said)
    assert_note (time, expected, TRUE);
  assert_note (time, "The band contains what is the health of real systems: ", is_said && spread != NULL);
  said->n_bands += is_said;
}

/* Steps that follow one another are a part of the time before bytes flow, where the plan knows them. */
static void
check_startup (const Explained *it, const FabCollectivePlan *plan, Said *said)
{
  const FabStatement *startup = explained_find (it, "startup");
  double startup_s = fab_ps_to_seconds (plan->startup_ps), steps_s = fab_ps_to_seconds (plan->steps.steps_ps);
  g_autofree char *wires = fab_term_show (FAB_TERM_TIME, fab_ps_to_seconds (plan->latency_ps));
  g_autofree char *latency = g_strdup_printf ("The latency of the links themselves is %s of it.", wires);

  assert_near (startup->value, startup_s, 1e-12);
  assert_int_equal (startup->depth, 1);
  assert_note (startup, latency, TRUE);
  assert_note (startup, "steps: the successive steps around the ring", startup->formula != NULL);
  assert_int_equal (startup->formula != NULL, steps_s > 0 && steps_s <= startup_s);
  if (startup->formula != NULL) {
    assert_near (explained_term (startup, "steps"), steps_s, 1e-12);
    assert_near (explained_term (startup, "software") + 1, startup_s - steps_s + 1, 1e-12);
  }
  said->n_steps += startup->formula != NULL;
  said->n_without_steps += startup->formula == NULL;
}

static void
check_all (const char *yaml, Said *said)
{
  g_auto (Explained) it = explained (catalog, yaml, "collective largest");
  const FabCollectivePlan *plan = &fab_simulation_dag (it.play->simulation)->collectives[0].plan;

  check_pace (&it, plan, said);
  check_band (&it, plan, said);
  check_startup (&it, plan, said);
  if (check_flow (&it, plan, said))
    return;
  check_share (&it, plan, said);
  check_rate (&it, plan, said);
}

static void
each_sentence_is_that_of_the_plan (G_GNUC_UNUSED void **state)
{
  g_autofree char *no_latency = g_strdup_printf (OWN, "0s", "achievable: 0.5", "achievable: 0.8");
  Said said = { 0 };

  check_all (no_latency, &said);
  for (guint i = 0; i < G_N_ELEMENTS (scenarios); i++)
    check_all (scenarios[i], &said);
  const guint counts[] = { said.n_ends,    said.n_links,  said.n_pauses,   said.n_formulas,
                           said.n_more,    said.n_less,   said.n_whole,    said.n_flags,
                           said.n_library, said.n_kernel, said.n_sums,     said.n_rates,
                           said.n_bands,   said.n_steps,  said.n_switches, said.n_without_steps,
                           said.n_senders };
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    if (counts[i] == 0)
      fail_msg ("sentence %u was never said", i);
}

/* Packets of kernels that are as those of copies, or that are not known, need no word. */
static void
packets_are_told_where_they_differ (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *copy, *kernel;
    gboolean is_told;
    double loss;
  } cases[] = {
    { "payload: 256B, overhead: 64B, achievable: 0.9", "payload: 1B, overhead: 1B, achievable: 0.8", TRUE,
      2 / 0.8 },
    { "payload: 128B, overhead: 32B, achievable: 0.5", "payload: 128B, overhead: 32B, achievable: 0.8", FALSE,
      1.25 / 0.8 },
    { "payload: 128B, overhead: 32B, achievable: 1", "achievable: 0.5", FALSE, 2 },
    /* Both lose as much: then it is said of copies. */
    { "payload: 256B, overhead: 64B, achievable: 0.5", "payload: 1B, overhead: 1B, achievable: 0.8", FALSE,
      2.5 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *yaml = g_strdup_printf (OWN, "1us", cases[i].copy, cases[i].kernel);
    g_auto (Explained) it = explained (catalog, yaml, "collective largest");
    const FabStatement *loss = explained_find (&it, "loss");

    assert_near (loss->value, cases[i].loss, 1e-9);
    assert_note (loss, "Kernels move packets of ", cases[i].is_told);
    assert_string_equal (loss->formula, i == 2 ? "library / achieved"
                                               : "library * (payload + header) / (payload * achieved)");
  }
}

/* Message by message a collective may end before its formula says so, or after. Nothing else is on the network. */
static void
messages_take_another_time_than_the_formula (G_GNUC_UNUSED void **state)
{
  g_auto (Explained) slow = explained (
      catalog,
      "name: t\nfidelity: {kind: packet, mtu: 64KiB}\ncluster: {node: dgx-a100, nodes: 2}\n"
      "job: {kind: collective, operations: [{op: all_to_all, size: 16MB}]}\n",
      "collective largest");
  g_auto (Explained) it = explained (
      catalog,
      "name: t\nfidelity: step\ncluster: {node: dgx-a100, nodes: 2}\ncollectives: plain\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 64MB}]}\n",
      "collective largest");
  const FabStatement *time = explained_find (&it, "time");

  assert_string_equal (time->formula, "startup + flow + beside");
  assert_true (explained_term (time, "beside") < 0);
  assert_note (time, "beside: message by message, the network is a little faster than the formula", TRUE);
  assert_note (time, "beside: other traffic", FALSE);
  time = explained_find (&slow, "time");
  assert_true (explained_term (time, "beside") > 0);
  assert_note (time, "beside: messages, of this collective or of other traffic, waited for one another",
               TRUE);
  assert_note (time, "beside: other traffic", FALSE);
}

/* One rank has a collective of no time and of no link. */
static void
one_rank_sends_nothing (G_GNUC_UNUSED void **state)
{
  g_auto (Explained) it = explained (
      catalog,
      "name: t\ncluster: {node: dgx-a100, gpus_per_node: 1}\ncollectives: plain\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n",
      "collective largest");

  assert_int_equal (it.out->statements->len, 1);
  assert_explained (
      explained_find (&it, "time"),
      "0 all_reduce operation0.0 of 1 GB over 1 rank: time = 0 s\nOne rank has nothing to send.");
}

/* Two collectives at once over one port take longer than each alone, by what the other one sends. */
static void
traffic_beside_is_told (G_GNUC_UNUSED void **state)
{
  g_auto (Explained) alone = explained (catalog, A100 ("2", "plain", "all_reduce, size: 1GB"),
                                        "collective largest"),
                     beside = explained (
                         catalog,
                         "name: t\ncluster: {node: dgx-a100, nodes: 2, gpus_per_node: 1, nics_per_node: 1}\n"
                         "collectives: plain\n"
                         "background: [{kind: transfer, from: node0, to: node1, rate: 20Gb/s}]\n"
                         "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n",
                         "collective largest");
  const FabStatement *time = explained_find (&beside, "time");

  assert_string_equal (explained_find (&alone, "time")->formula, "startup + flow");
  assert_note (explained_find (&alone, "time"), "beside: ", FALSE);
  assert_string_equal (time->formula, "startup + flow + beside");
  assert_near (explained_term (time, "beside"),
               time->value - explained_term (time, "startup") - explained_term (time, "flow"), 1e-9);
  assert_true (explained_term (time, "beside") > 0);
  assert_note (time, "beside: other traffic used the same links at the same time, and each got its share.",
               TRUE);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (each_sentence_is_that_of_the_plan),
    cmocka_unit_test (packets_are_told_where_they_differ),
    cmocka_unit_test (messages_take_another_time_than_the_formula),
    cmocka_unit_test (one_rank_sends_nothing),
    cmocka_unit_test (traffic_beside_is_told),
  };

  return play_run_tests ("explain_collective", tests, &catalog);
}
