/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory_states.c - parameters, gradients and states of the optimizer of a rank, in bytes for each parameter of
 * the model, with four ranks of one node.
 *
 * Mixed precision has 2 B of weights, 12 of the optimizer (a master weight and two moments in FP32) and 2 or 4 of a
 * gradient (Rajbhandari et al. 2020, arXiv 1910.02054, section 3). ZeRO 1 divides the optimizer by the ranks, ZeRO 2
 * the gradients too, ZeRO 3 and FSDP all of it. With sequences of 8 tokens activations are nothing beside them.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "tests/support/play.h"

#define HEAD                                                                                               \
  "name: states\niterations: 1\ncluster: {node: dgx-h100, nodes: %u, gpus_per_node: %u}\n"                 \
  "models: [{name: m, summary: s, source: s, date: \"2026-11-29\", shape: {kind: transformer, layers: 4, " \
  "hidden: 1024, heads: 16, kv_heads: 4, feed_forward: 2816, vocabulary: 32000, gated: true, tied: "       \
  "false, biases: false}}]\njob: {model: m, micro_batch: 1, sequence: 8, clip_gradients: false, %s}\n"

static FabCatalog *catalog;

static const double block = 2 * 1024 * 1024 + 2 * 256 * 1024 + 3 * 2816 * 1024 + 2 * 1024,
                    rest = 2 * 32000 * 1024 + 1024;

static double
part (const Play *play, const char *name)
{
  const GArray *memory = fab_simulation_totals (play->simulation)->memory;

  for (guint i = 0; i < memory->len; i++)
    if (strcmp (g_array_index (memory, FabMemoryPart, i).part, name) == 0)
      return (double) g_array_index (memory, FabMemoryPart, i).bytes / (4 * block + rest);
  return 0;
}

typedef struct {
  const char *keys;
  double parameters, gradients, optimizer, buckets, gathered, secondary; /* bytes for each parameter */
} States;

static void
assert_states (guint nodes, const States *row)
{
  g_autofree char *yaml = g_strdup_printf (HEAD, nodes, 4 / nodes, row->keys);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  const struct {
    const char *name;
    double bytes;
  } parts[] = { { "parameters", row->parameters }, { "gradients", row->gradients },
                { "optimizer", row->optimizer },   { "buckets", row->buckets },
                { "gathered", row->gathered },     { "secondary", row->secondary } };

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (!is_near (part (play, parts[i].name), parts[i].bytes, 1e-6))
      fail_msg ("%s: %s has %g B, not %g", row->keys, parts[i].name, part (play, parts[i].name),
                parts[i].bytes);
}

/* DDP copies gradients into buckets of their size, unless gradients are views of them; one rank has no reducer. */
static void
replicas_have_all_states (G_GNUC_UNUSED void **state)
{
  static const States rows[] = {
    { "kind: ddp", 2, 4, 12, 4, 0, 0 },
    { "kind: ddp, gradient: bf16", 2, 2, 12, 2, 0, 0 },
    { "kind: ddp, gradient_as_bucket_view: true", 2, 4, 12, 0, 0, 0 },
    { "kind: ddp, memory: {states: fp32}", 4, 4, 8, 4, 0, 0 },
    { "kind: ddp, memory: {states: pure}", 2, 2, 4, 4, 0, 0 },
    { "kind: megatron", 2, 4, 12, 0, 0, 0 },
    { "kind: megatron, distributed_optimizer: true", 2, 4, 3, 0, 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_states (1, &rows[i]);
}

/* Gradients are 16-bit. They wait in a bucket of at most the model, and in two of them where sums overlap the backward
 * pass. What is offloaded is in host memory. The second copy of ZeRO++ is divided by the ranks that share it. */
static void
zero_divides_states (G_GNUC_UNUSED void **state)
{
  static const States rows[] = {
    { "kind: zero, stage: 1", 2, 2, 3, 2, 0, 0 },
    { "kind: zero, stage: 1, accumulation: 2", 2, 2, 3, 2, 0, 0 },
    { "kind: zero, stage: 2", 2, 0.5, 3, 2, 0, 0 },
    { "kind: zero, stage: 2, gradient: fp32", 2, 1, 3, 4, 0, 0 },
    { "kind: zero, stage: 2, overlap_comm: yes", 2, 0.5, 3, 4, 0, 0 },
    { "kind: zero, stage: 2, offload: {optimizer: cpu}", 2, 0.5, 0, 2, 0, 0 },
    { "kind: zero, stage: 3", 0.5, 0.5, 3, 4, 2, 0 },
    { "kind: zero, stage: 3, overlap_comm: no", 0.5, 0.5, 3, 2, 2, 0 },
    { "kind: zero, stage: 3, offload: {optimizer: cpu}", 0.5, 0, 0, 4, 2, 0 },
    { "kind: zero, stage: 3, offload: {optimizer: cpu, parameters: cpu}", 0, 0, 0, 4, 2, 0 },
    { "kind: zero, stage: 3, secondary: 2", 0.5, 0.5, 3, 4, 2, 1 },
    { "kind: zero, stage: 3, secondary: 4", 0.5, 0.5, 3, 4, 2, 0.5 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_states (1, &rows[i]);
}

/* At most a million parameters are whole at once, and a bucket holds a thousand gradients; there are two. */
static void
zero_keeps_its_limits (G_GNUC_UNUSED void **state)
{
  const double n = 4 * block + rest;
  const States row = {
    "kind: zero, stage: 3, max_live: 1000000, reduce_bucket: 1000", 0.5, 0.5, 3, 2 * 2000 / n, 2e6 / n, 0
  };

  assert_states (1, &row);
}

/* FP32 weights, moments of 8 B and no master. Embedding and head stay whole in 16 bits, and so do three blocks: two
 * under way and the one that computes. Two blocks of gradients wait for their sum. Shards of two ranks of a node are
 * half of the model. Without sums between accumulations gradients are whole. */
static void
fsdp_divides_all (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint nodes, shards, n_whole;
    double gradients; /* G_MAXDOUBLE: not asked for */
    const char *keys;
  } rows[] = {
    { 1, 4, 3, G_MAXDOUBLE, "kind: fsdp" },
    { 1, 4, 2, G_MAXDOUBLE, "kind: fsdp, in_flight: 1" },
    { 2, 2, 3, G_MAXDOUBLE, "kind: fsdp, sharding: hybrid" },
    { 1, 4, 3, 4, "kind: fsdp, accumulation: 2, no_sync: true" },
  };
  const double n = 4 * block + rest;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *yaml = g_strdup_printf (HEAD, rows[i].nodes, 4 / rows[i].nodes, rows[i].keys);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);

    assert_near (part (play, "parameters"), 4.0 / rows[i].shards, 1e-6);
    assert_near (part (play, "optimizer"), 8.0 / rows[i].shards, 1e-6);
    assert_near (part (play, "gathered"), 2 * (rest + rows[i].n_whole * block) / n, 1e-6);
    assert_near (part (play, "buckets"), 2 * 2 * block / n, 1e-6);
    if (rows[i].gradients < G_MAXDOUBLE)
      assert_near (part (play, "gradients"), rows[i].gradients, 1e-6);
    else
      assert_near (part (play, "gradients") + part (play, "streams"), 4.0 / rows[i].shards, 1e-6);
  }
  const States away = { "kind: fsdp, cpu_offload: true", 0, 0, 0, 2 * 2 * block / n,
                        2 * (rest + 3 * block) / n,      0 };
  assert_states (1, &away);
}

/* Frozen weights are gathered as others are, and adapters with those of their block: three blocks at once beside
 * embedding and head, or all of the model where it stays whole or as many are under way. */
static void
fsdp_gathers_frozen_weights_too (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *keys;
    guint n_whole;
  } rows[] = { { "", 3 }, { ", in_flight: 1", 2 }, { ", in_flight: 9", 4 }, { ", sharding: grad_op", 4 } };
  const double n = 4 * block + rest;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *keys = g_strconcat ("kind: fsdp, trains: lora, lora_rank: 8", rows[i].keys, NULL),
                    *yaml = g_strdup_printf (HEAD, 1, 4, keys);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);
    double adapters = (double) fab_simulation_totals (play->simulation)->trained_parameters;

    assert_true (adapters > 0);
    assert_near (part (play, "gathered"), 2 * (rest + rows[i].n_whole * (block + adapters / 4)) / n, 1e-6);
    assert_near (part (play, "parameters"), 4.0 / 4 * (n + adapters) / n, 1e-6);
  }
}

/* What a job says of its gradients, in the numbers that it writes. */
static void
gradients_have_the_bytes_of_their_type (G_GNUC_UNUSED void **state)
{
  static const char *const kinds[] = { "ddp", "zero, stage: 1", "zero, stage: 3", "fsdp", "megatron" };
  static const struct {
    const char *type;
    double bytes;
  } types[] = { { "fp32", 4 }, { "bf16", 2 } };

  for (guint i = 0; i < G_N_ELEMENTS (kinds) * G_N_ELEMENTS (types); i++) {
    g_autofree char *keys = g_strdup_printf ("kind: %s, gradient: %s", kinds[i / 2], types[i % 2].type);
    g_autofree char *yaml = g_strdup_printf (HEAD, 1, 4, keys);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);
    const FabJobTotals *totals = fab_simulation_totals (play->simulation);

    assert_near ((double) totals->parameters, 4 * block + rest, 1e-12);
    assert_near ((double) totals->gradient_bytes, types[i % 2].bytes * (4 * block + rest), 1e-12);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (replicas_have_all_states),
    cmocka_unit_test (zero_divides_states),
    cmocka_unit_test (zero_keeps_its_limits),
    cmocka_unit_test (fsdp_divides_all),
    cmocka_unit_test (fsdp_gathers_frozen_weights_too),
    cmocka_unit_test (gradients_have_the_bytes_of_their_type),
  };

  return play_run_tests ("memory_states", tests, &catalog);
}
