/* SPDX-License-Identifier: Apache-2.0 */
/* test_serving.c - jobs that move memory between ranks: keys and values of split serving (kv), weights of
 * reinforcement learning (rl). Who sends what to whom, by hand.
 *
 * DGX H100 with one GPU and one port each on a single switch. The model has three layers of two heads of keys and
 * values with 64 elements each: 2 x 2 x 64 elements of 2 B, 512 B for each token and layer.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "tests/support/play.h"
#include "tests/unit/models/workload/training/program_text.h"

#define HEAD                                                                                               \
  "name: serving\niterations: 2\ncollectives: {kind: plain, algorithm: direct}\n"                          \
  "cluster: {node: dgx-h100, nodes: %u, gpus_per_node: 1, nics_per_node: 1, fabric: switch}\n"             \
  "models: [{name: m, summary: s, source: s, date: \"2026-11-29\", shape: {kind: transformer, layers: 3, " \
  "hidden: 256, heads: 4, kv_heads: 2, vocabulary: 1000, tied: false, biases: false}}]\n"                  \
  "job: {model: m, %s}\n"

enum { LAYERS = 3, TOKEN_BYTES = 512, SETUP_PS = 420000000 };

static FabCatalog *catalog;

static Play *
job (guint nodes, const char *keys)
{
  g_autofree char *yaml = g_strdup_printf (HEAD, nodes, keys);

  return play_new (catalog, yaml, NULL);
}

static const FabDag *
dag_of (const Play *play)
{
  return fab_simulation_dag (play->simulation);
}

/* "0->2:768 1->3:768": the bytes of all flows in their order. (transfer full) */
static char *
flows_of (const Play *play)
{
  const FabDag *dag = dag_of (play);
  GString *out = g_string_new (NULL);

  for (guint c = 0; c < dag->n_collectives; c++) {
    g_auto (GStrv) words = g_strsplit (dag->collectives[c].name, " ", 2);

    g_string_append_printf (out, "%s%s:%" G_GUINT64_FORMAT, c > 0 ? " " : "", words[1] ? words[1] : words[0],
                            (guint64) dag->collectives[c].plan.bytes);
  }
  return g_string_free (out, FALSE);
}

static void
assert_flows (guint nodes, const char *keys, const char *expected)
{
  g_autoptr (Play) play = job (nodes, keys);
  g_autofree char *flows = flows_of (play);

  if (strcmp (flows, expected) != 0)
    fail_msg ("%s sends %s, and not %s", keys, flows, expected);
}

/* --- keys and values --- */

/* 100 tokens are 51200 B of each of three layers: 153600 B. Ranks have the heads of their part of an instance. Where
 * more ranks than heads compute, of those with the same head one sends to each. */
static void
heads_go_to_the_ranks_that_have_them (G_GNUC_UNUSED void **state)
{
  assert_flows (2, "kind: kv, prompt: 100, prefill: 1, decode: 1", "0->1:153600");
  assert_flows (4, "kind: kv, prompt: 100, prefill: 2, decode: 2", "0->2:76800 1->3:76800");
  assert_flows (3, "kind: kv, prompt: 100, prefill: 1, decode: 2", "0->1:76800 0->2:76800");
  assert_flows (3, "kind: kv, prompt: 100, prefill: 2, decode: 1", "0->2:76800 1->2:76800");
  assert_flows (6, "kind: kv, prompt: 100, prefill: 4, decode: 2", "0->4:76800 3->5:76800");
  assert_flows (5, "kind: kv, prompt: 100, prefill: 1, decode: 4",
                "0->1:76800 0->2:76800 0->3:76800 0->4:76800");
  assert_flows (2, "kind: kv, prompt: 100, prefill: 1, decode: 1, bits: 8", "0->1:76800");
}

/* Request r of instance i goes to instance (i + r) mod decodes. */
static void
decode_instances_take_turns (G_GNUC_UNUSED void **state)
{
  assert_flows (3, "kind: kv, prompt: 1, prefill: 1, decode: 1, decodes: 2, requests: 3",
                "0->1:1536 0->2:1536 0->1:1536");
  assert_flows (4, "kind: kv, prompt: 1, prefill: 1, decode: 1, prefills: 2, decodes: 2, requests: 2",
                "0->2:1536 0->3:1536 1->3:1536 1->2:1536");
  assert_flows (6, "kind: kv, prompt: 1, prefill: 2, decode: 1, prefills: 2, decodes: 2",
                "0->4:768 1->4:768 2->5:768 3->5:768");
}

/* A layer at a time: each is sent when it is computed, and the instances agree once. All layers compute as long as the
 * request, of which thirds do not go up evenly. */
static void
layers_are_sent_as_they_are_computed (G_GNUC_UNUSED void **state)
{
  const char *keys = "kind: kv, prompt: 100, prefill: 1, decode: 1, compute: 1000001ps, overlap: ";
  g_autofree char *yes = g_strconcat (keys, "true", NULL), *no = g_strconcat (keys, "false", NULL);
  g_autoptr (Play) layers = job (2, yes), whole = job (2, no);
  const FabDag *dag = dag_of (layers);
  FabTimePs compute_ps = 0;
  guint n = 0;

  assert_flows (2, yes, "0->1:51200 0->1:51200 0->1:51200");
  for (guint t = 0; t < dag->n_tasks; t++)
    if (dag->tasks[t].kind == FAB_SPAN_COMPUTE) {
      compute_ps += dag->tasks[t].duration_ps;
      n++;
    }
  assert_int_equal (n, LAYERS);
  assert_int_equal (compute_ps, 1000001);
  FabTimePs alone_ps = dag_of (whole)->collectives[0].plan.startup_ps - SETUP_PS;
  assert_int_equal (dag->collectives[0].plan.startup_ps, alone_ps + SETUP_PS);
  assert_int_equal (dag->collectives[1].plan.startup_ps, alone_ps);
  assert_int_equal (dag->collectives[2].plan.startup_ps, alone_ps);
}

/* 100 tokens are 7 blocks of 16: 7 messages of keys and 7 of values for each layer. One takes 215 ns, and a rank that
 * sends to two others at once does every second for each. */
static void
messages_take_their_time (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) one = job (2, "kind: kv, prompt: 100, prefill: 1, decode: 1"),
                   two = job (3, "kind: kv, prompt: 100, prefill: 1, decode: 2"),
                   large = job (
                       2, "kind: kv, prompt: 100, prefill: 1, decode: 1, block: 100, message_time: 1us"),
                   none = job (2, "kind: kv, prompt: 100, prefill: 1, decode: 1, message_time: 0s");

  assert_near (dag_of (one)->collectives[0].plan.ends_bytes_per_s, 153600 / (7 * 2 * LAYERS * 215e-9), 1e-9);
  assert_near (dag_of (two)->collectives[0].plan.ends_bytes_per_s, 76800 / (7 * 2 * LAYERS * 215e-9) / 2,
               1e-9);
  assert_near (dag_of (large)->collectives[0].plan.ends_bytes_per_s, 153600 / (2 * LAYERS * 1e-6), 1e-9);
  assert_true (dag_of (none)->collectives[0].plan.most_bytes_per_s == 0);
}

static FabTimePs
step_ps (guint nodes, const char *keys)
{
  g_autoptr (Play) play = job (nodes, keys);
  FabTimePs first, second;

  assert_true (fab_simulation_step (play->simulation));
  first = fab_simulation_probe (play->simulation)->step.times.duration_ps;
  assert_true (fab_simulation_step (play->simulation));
  second = fab_simulation_probe (play->simulation)->step.times.duration_ps;
  assert_int_equal (first, second); /* the next iteration begins when this one has ended */
  return first;
}

/* Two requests of 1 s each, and what is sent of them is little: the second cache follows its prompt. Sent layer by
 * layer, a third of the cache is left when the prompt ends. */
static void
caches_follow_their_prompts (G_GNUC_UNUSED void **state)
{
  const char *keys = "kind: kv, prefill: 1, decode: 1, message_time: 0s, setup: 0s, compute: 1s, ";
  g_autofree char *one = g_strconcat (keys, "prompt: 1000000", NULL),
                  *two = g_strconcat (keys, "prompt: 1000000, requests: 2", NULL),
                  *overlapped = g_strconcat (keys, "prompt: 1000000, overlap: true", NULL);
  double second = (double) FAB_PS_PER_S, send_ps = (double) step_ps (2, one) - second;

  assert_true (send_ps > 0.02 * second && send_ps < 0.1 * second); /* 1.5 GB over 50 GB/s */
  assert_near ((double) step_ps (2, two), 2 * second + send_ps, 1e-9);
  assert_near ((double) step_ps (2, overlapped), second + send_ps / 3, 1e-5);
}

/* `library` in place of the plain one; NULL: that. */
static void
assert_refused_by (const char *library, guint nodes, const char *keys, const char *part)
{
  g_autofree char *plain = g_strdup_printf (HEAD, nodes, keys);
  g_auto (GStrv) parts = g_strsplit (plain, "{kind: plain, algorithm: direct}", 2);
  g_autofree char *yaml = g_strjoinv (library != NULL ? library : "{kind: plain, algorithm: direct}", parts);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                         &error);
  g_autoptr (FabSimulation) simulation = scenario != NULL
                                           ? fab_simulation_new (scenario, &fab_models, NULL, &error)
                                           : NULL;

  if (simulation != NULL)
    fail_msg ("accepted: %s", keys);
  if (strstr (error->message, part) == NULL)
    fail_msg ("'%s' is not in '%s'", part, error->message);
}

static void
assert_refused (guint nodes, const char *keys, const char *part)
{
  assert_refused_by (NULL, nodes, keys, part);
}

/* "trainers: 2 from 0, generators: 3 from 2" */
static void
assert_classes (const Play *play, const char *expected)
{
  const FabDag *dag = dag_of (play);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint c = 0; c < dag->n_classes; c++)
    g_string_append_printf (text, "%s%s: %u from %u", c > 0 ? ", " : "", dag->classes[c].name,
                            dag->classes[c].n_ranks, dag->classes[c].first_rank);
  assert_string_equal (text->str, expected);
}

static void
instances_are_all_ranks (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = job (
      6, "kind: kv, prompt: 10, prefill: 2, decode: 1, prefills: 2, decodes: 2, requests: 5");

  assert_near (fab_simulation_totals (play->simulation)->tokens, 10 * 5 * 2, 0);
  assert_classes (play, "prefill 0: 2 from 0, prefill 1: 2 from 2, decode: 2 from 4");
  assert_refused (4, "kind: kv, prompt: 1, prefill: 2, decode: 1", "are 2 + 1 ranks, and the machine has 4");
  assert_refused (4, "kind: kv, prompt: 1, prefill: 1, decode: 1",
                  "the machine has 4; prefills: 2 and decodes: 2 would use all");
  assert_refused (4, "kind: kv, prompt: 1, prefill: 2, decode: 1, prefills: 2, decodes: 2",
                  "are 4 + 2 ranks, and the machine has 4");
}

/* --- weights --- */

/* Parts of a trainer and of a generating rank are intervals of the weights; W bytes in 16 bits. */
static void
ranks_pull_what_they_share (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint nodes;
    const char *keys, *pairs;
    double parts[8]; /* of the weights */
  } rows[] = {
    { 2, "trainers: 1", "0->1", { 1 } },
    { 6, "trainers: 2", "0->2 0->3 1->4 1->5", { .25, .25, .25, .25 } },
    { 6, "trainers: 2, replica: 2", "0->2 1->3 0->4 1->5", { .5, .5, .5, .5 } },
    { 4, "trainers: 2, replica: 1", "0->2 1->2 0->3 1->3", { .5, .5, .5, .5 } },
    { 5, "trainers: 3", "0->3 1->3 1->4 2->4", { 1 / 3.0, 1 / 6.0, 1 / 6.0, 1 / 3.0 } },
    { 5, "trainers: 2, replica: 3", "0->2 0->3 1->3 1->4", { 1 / 3.0, 1 / 6.0, 1 / 6.0, 1 / 3.0 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *keys = g_strdup_printf ("kind: rl, %s", rows[i].keys);
    g_autoptr (Play) play = job (rows[i].nodes, keys);
    double bytes = 2 * (double) fab_simulation_totals (play->simulation)->parameters;
    g_auto (GStrv) pairs = g_strsplit (rows[i].pairs, " ", -1);

    assert_int_equal (dag_of (play)->n_collectives, g_strv_length (pairs));
    for (guint c = 0; pairs[c] != NULL; c++) {
      const FabDagCollective *flow = &dag_of (play)->collectives[c];

      assert_true (g_str_has_suffix (flow->name, pairs[c]));
      assert_true (fabs ((double) flow->plan.bytes - rows[i].parts[c] * bytes) <= 1);
    }
  }
}

/* Buckets of a third and a rest: the trainers gather each, and the first of them sends it to all others. One trainer
 * has all of it. */
static void
trainers_broadcast_buckets (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) size = job (2, "kind: rl, trainers: 1");
  guint64 bytes = fab_simulation_totals (size->simulation)->parameters * 2, bucket = bytes / 3;

  for (guint trainers = 1; trainers <= 2; trainers++) {
    g_autofree char *keys = g_strdup_printf (
        "kind: rl, method: broadcast, trainers: %u, bucket: %" G_GUINT64_FORMAT "B", trainers, bucket);
    g_autoptr (Play) play = job (trainers + 3, keys);
    const FabDag *dag = dag_of (play);
    guint n_buckets = bytes % 3 > 0 ? 4 : 3;
    guint64 sent = 0, gathered = 0;

    assert_int_equal (dag->n_collectives, trainers * n_buckets);
    for (guint c = 0; c < dag->n_collectives; c++) {
      const FabCollectivePlan *plan = &dag->collectives[c].plan;
      gboolean is_gather = trainers == 2 && c % 2 == 0;

      assert_int_equal (plan->op, is_gather ? FAB_OP_ALL_GATHER : FAB_OP_BROADCAST);
      assert_int_equal (plan->n_ranks, is_gather ? trainers : 4);
      assert_true ((guint64) plan->bytes <= bucket);
      *(is_gather ? &gathered : &sent) += (guint64) plan->bytes;
    }
    assert_int_equal (sent, bytes);
    assert_int_equal (gathered, trainers == 2 ? bytes : 0);
  }
}

/* Generating takes g, training t and sending s. One after another: g + t + s. At the same time, and then the weights:
 * the longer one and s. In the background: the longer one of g and t + s; kernels of a broadcast take multiprocessors
 * of the generation, which RDMA does not. */
static void
modes_say_what_runs_beside_what (G_GNUC_UNUSED void **state)
{
  static const char *const methods[] = { "pull", "broadcast" };
  static const FabTimePs times_ms[][2] = { { 10, 4 }, { 4, 10 }, { 10, 10 } };

  for (guint i = 0; i < 6; i++) {
    FabTimePs g = times_ms[i / 2][0], t = times_ms[i / 2][1];
    g_autofree char *keys = g_strdup_printf (
        "kind: rl, trainers: 1, setup: 1ms, method: %s, generation: %dms, training: %dms, mode: ",
        methods[i % 2], (int) g, (int) t);
    g_autofree char *in_turn = g_strconcat (keys, "synchronous", NULL),
                    *beside = g_strconcat (keys, "one_step_off", NULL),
                    *behind = g_strconcat (keys, "background", NULL);
    const FabTimePs ms = FAB_PS_PER_S / 1000;
    FabTimePs send_ps = step_ps (2, in_turn) - (g + t) * ms;

    assert_true (send_ps > ms && send_ps < 2 * ms);
    assert_int_equal (step_ps (2, beside), MAX (g, t) * ms + send_ps);
    FabTimePs most_ps = MAX (g * ms, t * ms + send_ps);
    if (i % 2 == 0)
      assert_int_equal (step_ps (2, behind), most_ps);
    else
      assert_near ((double) step_ps (2, behind), (double) most_ps, 2e-3);
  }
}

static void
somebody_trains_and_somebody_generates (G_GNUC_UNUSED void **state)
{
  static const char tree[] = "{kind: nccl, algorithm: tree}"; /* which has all-reduce alone */

  g_autoptr (Play) play = job (5, "kind: rl, trainers: 2");

  assert_classes (play, "trainers: 2 from 0, generators: 3 from 2");
  assert_refused_by (tree, 4, "kind: rl, trainers: 2, method: broadcast",
                     "NCCL has no 'tree' for all_gather");
  assert_refused_by (tree, 4, "kind: rl, trainers: 1, method: broadcast", "NCCL has no 'tree' for broadcast");
  assert_refused (4, "kind: rl, trainers: 4", "trainers: 4 leaves no rank to generate; the machine has 4");
  assert_refused (4, "kind: rl, trainers: 1, replica: 2",
                  "3 generating ranks cannot be divided into replicas of 2");
}

/* --- programs --- */

/* The weights are 2 676 480 numbers of 2 bytes: of two trainers one half each. Both ends of a flow join it, the sender
 * when its data are there, and the next step begins when all has arrived. Of trainers in the background nobody waits
 * for what is generated. */

static const struct {
  guint nodes;
  const char *keys, *program;
} programs[] = {
  { 4, "kind: rl, trainers: 2, generation: 3us, training: 5us",
    "0 compute: train < start < generate\n"
    "1 compute: start, generate, end < train < flow0 0->2 < flow1 1->3\n"
    "0 flow: flow0 0->2 send_recv 2676480 < generate < train\n"
    "1 flow: flow0 0->2 send_recv 2676480 < start\n"
    "0 flow: flow1 1->3 send_recv 2676480 < generate < train\n"
    "1 flow: flow1 1->3 send_recv 2676480 < start" },
  { 4, "kind: rl, trainers: 2, replica: 1, generation: 3us, training: 5us, mode: one_step_off",
    "0 compute: train < start\n"
    "1 compute: start, generate, end < train < flow0 0->2 < flow1 1->2 < flow2 0->3 < flow3 1->3\n"
    "0 flow: flow0 0->2 send_recv 2676480 < generate < train\n"
    "1 flow: flow0 0->2 send_recv 2676480 < start\n"
    "0 flow: flow1 1->2 send_recv 2676480 < generate < train\n"
    "1 flow: flow1 1->2 send_recv 2676480 < start\n"
    "0 flow: flow2 0->3 send_recv 2676480 < generate < train\n"
    "1 flow: flow2 0->3 send_recv 2676480 < start\n"
    "0 flow: flow3 1->3 send_recv 2676480 < generate < train\n"
    "1 flow: flow3 1->3 send_recv 2676480 < start" },
  { 3, "kind: rl, trainers: 2, generation: 3us, training: 5us, mode: background",
    "0 compute: train < start\n"
    "1 compute: start, generate, end < train < flow0 0->2 < flow1 1->2\n"
    "0 flow: flow0 0->2 send_recv 2676480 < train\n"
    "1 flow: flow0 0->2 send_recv 2676480 < start\n"
    "0 flow: flow1 1->2 send_recv 2676480 < train\n"
    "1 flow: flow1 1->2 send_recv 2676480 < start" },
  { 4, "kind: rl, trainers: 2, method: broadcast, bucket: 1500kB, generation: 3us, training: 5us",
    "0 compute: train < start < generate\n"
    "1 compute: start, generate, end < train < broadcast3\n"
    "0 broadcast: broadcast0 broadcast 1500000 < generate < gather0, broadcast1 broadcast 1500000 < "
    "gather1, broadcast2 broadcast 1500000 < gather2, broadcast3 broadcast 852960 < gather3\n"
    "1 broadcast: broadcast0 broadcast 1500000 < start, broadcast1 broadcast 1500000 < start, "
    "broadcast2 broadcast 1500000 < start, broadcast3 broadcast 852960 < start\n"
    "0 gather: gather0 all_gather 1500000 < train, gather1 all_gather 1500000, gather2 all_gather "
    "1500000, gather3 all_gather 852960" },
  { 2, "kind: rl, trainers: 1, method: broadcast, bucket: 1500kB, mode: background",
    "0 compute: train < start\n"
    "1 compute: start, generate, end < train < broadcast3\n"
    "0 broadcast: broadcast0 broadcast 1500000 < train, broadcast1 broadcast 1500000 < train, "
    "broadcast2 broadcast 1500000 < train, broadcast3 broadcast 852960 < train\n"
    "1 broadcast: broadcast0 broadcast 1500000 < start, broadcast1 broadcast 1500000 < start, "
    "broadcast2 broadcast 1500000 < start, broadcast3 broadcast 852960 < start" },
  { 2, "kind: rl, trainers: 1, method: broadcast, bucket: 5352959B",
    "0 compute: train < start < generate\n"
    "1 compute: start, generate, end < train < broadcast1\n"
    "0 broadcast: broadcast0 broadcast 5352959 < generate < train, broadcast1 broadcast 1 < train\n"
    "1 broadcast: broadcast0 broadcast 5352959 < start, broadcast1 broadcast 1 < start" },
  { 3, "kind: kv, prompt: 100, prefill: 1, decode: 2, compute: 3us",
    "0 compute: prompt0.0 < start\n"
    "1 arrive: start, end < prompt0.0 < flow0 0->1 < flow1 0->2\n"
    "0 flow: flow0 0->1 send_recv 76800 < prompt0.0\n"
    "1 flow: flow0 0->1 send_recv 76800 < start\n"
    "0 flow: flow1 0->2 send_recv 76800 < prompt0.0\n"
    "1 flow: flow1 0->2 send_recv 76800 < start" },
  { 3, "kind: kv, prompt: 100, prefill: 1, decode: 2, compute: 3us, requests: 2",
    "0 compute: prompt0.0 < start, prompt1.0\n"
    "1 arrive: start, end < prompt1.0 < flow2 0->1 < flow3 0->2\n"
    "0 flow: flow0 0->1 send_recv 76800 < prompt0.0, flow2 0->1 send_recv 76800 < prompt1.0\n"
    "1 flow: flow0 0->1 send_recv 76800 < start, flow2 0->1 send_recv 76800 < start\n"
    "0 flow: flow1 0->2 send_recv 76800 < prompt0.0, flow3 0->2 send_recv 76800 < prompt1.0\n"
    "1 flow: flow1 0->2 send_recv 76800 < start, flow3 0->2 send_recv 76800 < start" },
  { 4, "kind: kv, prompt: 100, prefill: 2, decode: 1, decodes: 2, requests: 3, compute: 3us",
    "0 compute: prompt0.0 < start, prompt1.0, prompt2.0\n"
    "1 arrive: start, end < flow2 0->3 < flow3 1->3 < prompt2.0 < flow4 0->2 < flow5 1->2\n"
    "0 flow: flow0 0->2 send_recv 76800 < prompt0.0, flow4 0->2 send_recv 76800 < prompt2.0\n"
    "1 flow: flow0 0->2 send_recv 76800 < start, flow4 0->2 send_recv 76800 < start\n"
    "0 flow: flow1 1->2 send_recv 76800 < prompt0.0, flow5 1->2 send_recv 76800 < prompt2.0\n"
    "1 flow: flow1 1->2 send_recv 76800 < start, flow5 1->2 send_recv 76800 < start\n"
    "0 flow: flow2 0->3 send_recv 76800 < prompt1.0\n"
    "1 flow: flow2 0->3 send_recv 76800 < start\n"
    "0 flow: flow3 1->3 send_recv 76800 < prompt1.0\n"
    "1 flow: flow3 1->3 send_recv 76800 < start" },
  { 2, "kind: kv, prompt: 100, prefill: 1, decode: 1, overlap: true, requests: 2, compute: 3us",
    "0 compute: prompt0.0 < start, prompt0.1, prompt0.2, prompt1.0, prompt1.1, prompt1.2\n"
    "1 arrive: start, end < prompt1.2 < flow5 0->1\n"
    "0 flow: flow0 0->1 send_recv 51200 < prompt0.0, flow1 0->1 send_recv 51200 < prompt0.1, flow2 0->1"
    " send_recv 51200 < prompt0.2, flow3 0->1 send_recv 51200 < prompt1.0, flow4 0->1 send_recv 51200 <"
    " prompt1.1, flow5 0->1 send_recv 51200 < prompt1.2\n"
    "1 flow: flow0 0->1 send_recv 51200 < start, flow1 0->1 send_recv 51200 < start, flow2 0->1 "
    "send_recv 51200 < start, flow3 0->1 send_recv 51200 < start, flow4 0->1 send_recv 51200 < start, "
    "flow5 0->1 send_recv 51200 < start" },
};

static void
every_rank_has_its_program (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (programs); i++) {
    g_autoptr (Play) play = job (programs[i].nodes, programs[i].keys);
    g_autofree char *text = program_text (dag_of (play));

    if (strcmp (text, programs[i].program) != 0)
      fail_msg ("%s:\n%s\nexpected:\n%s", programs[i].keys, text, programs[i].program);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (heads_go_to_the_ranks_that_have_them),
    cmocka_unit_test (decode_instances_take_turns),
    cmocka_unit_test (layers_are_sent_as_they_are_computed),
    cmocka_unit_test (messages_take_their_time),
    cmocka_unit_test (caches_follow_their_prompts),
    cmocka_unit_test (instances_are_all_ranks),
    cmocka_unit_test (ranks_pull_what_they_share),
    cmocka_unit_test (trainers_broadcast_buckets),
    cmocka_unit_test (modes_say_what_runs_beside_what),
    cmocka_unit_test (every_rank_has_its_program),
    cmocka_unit_test (somebody_trains_and_somebody_generates),
  };

  return play_run_tests ("serving", tests, &catalog);
}
