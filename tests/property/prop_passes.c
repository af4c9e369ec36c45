/* SPDX-License-Identifier: Apache-2.0 */
/* prop_passes.c - random jobs that divide a model: what a pass sends, it has.
 *
 * Tokens go to experts by an all-to-all, and only then the ranks that share an expert gather them; results are summed
 * first and sent back after it (Megatron-LM, megatron/core/transformer/moe/token_dispatcher.py). A pass gathers what
 * it has received from another stage, sends keys and values of tokens that it has gathered, and passes on sums. So
 * where nothing is meant to overlap, no two of these are under way at the same time on one rank.
 */
#include "tests/support/test.h"

#include "tests/support/play.h"
#include "tests/support/seeds.h"

static FabCatalog *catalog;

/* What a random job may send at the same time. */
typedef struct {
  gboolean inputs_beside_context; /* inputs are gathered once more while keys and values are gathered */
  gboolean overlaps_p2p;
} Allowed;

static char *
random_job (Random *random, Allowed *allowed)
{
  static const guint sizes[] = { 1, 2, 2, 4 };
  static const char *const strategies[] = {
    "ddp", "megatron",
    "megatron, distributed_optimizer: true, overlap_grad_reduce: true, overlap_param_gather: true", "fsdp",
    "zero, stage: 1"
  };
  guint tensor = sizes[random_below (random, 4)], context = random_chance (random, 40) ? 2 : 1;
  guint pipeline = random_chance (random, 50) ? 2 : 1, expert = sizes[random_below (random, 4)];
  gboolean is_sequence = tensor > 1 && random_chance (random, 70);
  gboolean overlaps_tensor = is_sequence && random_chance (random, 30);
  gboolean is_ring = random_chance (random, 50);
  gboolean has_own_grid = is_sequence && random_chance (random, 30);

  *allowed = (Allowed){ is_sequence && overlaps_tensor && !is_ring, random_chance (random, 30) };
  return g_strdup_printf (
      "name: random\niterations: 1\nfidelity: %s\ncollectives: plain\n"
      "cluster: {node: dgx-h100, nodes: %u}\n"
      "models: [{name: m, summary: s, source: s, date: \"2026-11-30\", shape: {kind: transformer, layers: 4, "
      "hidden: 512, heads: 8, vocabulary: 1000, feed_forward: 1024, gated: true, experts: {count: 8, per_token: 2, "
      "shared: %u}}}]\n"
      "job: {kind: %s, model: m, sequence: 256, accumulation: %u, recompute: %s, compute: {kind: mfu, mfu: 40%%}, "
      "parallel: {tensor: %u, context: %u, pipeline: %u, expert: %u, %s sequence: %s, overlap_tensor: %s, "
      "context_kind: %s, overlap_p2p: %s}}\n",
      random_chance (random, 50) ? "fluid" : "step", tensor * context * pipeline * expert > 8 ? 8U : 1U,
      random_below (random, 2), strategies[random_below (random, G_N_ELEMENTS (strategies))],
      random_between (random, 1, 3), random_chance (random, 30) ? "full" : "none", tensor, context, pipeline,
      expert, has_own_grid ? "expert_tensor: 1," : "", is_sequence ? "true" : "false",
      overlaps_tensor ? "true" : "false", is_ring ? "ring" : "gather",
      allowed->overlaps_p2p ? "true" : "false");
}

static gboolean
is_transfer (const FabSpanRecord *span)
{
  return g_str_has_prefix (span->stream, "send ") || g_str_has_prefix (span->stream, "receive ");
}

static gboolean
is_of_pass (const FabSpanRecord *span)
{
  return strcmp (span->stream, "tensor") == 0 || strcmp (span->stream, "context") == 0
      || strcmp (span->stream, "expert") == 0;
}

static gboolean
is_allowed (const Allowed *allowed, const FabSpanRecord *a, const FabSpanRecord *b)
{
  gboolean is_context = strcmp (a->stream, "context") == 0 || strcmp (b->stream, "context") == 0;
  gboolean is_tensor = strcmp (a->stream, "tensor") == 0 || strcmp (b->stream, "tensor") == 0;

  if (is_transfer (a) || is_transfer (b))
    return allowed->overlaps_p2p || (is_transfer (a) && is_transfer (b));
  return is_context && is_tensor && allowed->inputs_beside_context;
}

static void
assert_apart (const Allowed *allowed, const GArray *spans)
{
  for (guint i = 0; i < spans->len; i++)
    for (guint k = 0; k < i; k++) {
      const FabSpanRecord *a = &g_array_index (spans, FabSpanRecord, i);
      const FabSpanRecord *b = &g_array_index (spans, FabSpanRecord, k);

      if (a->rank_class != b->rank_class || a->kind != FAB_SPAN_COMM || b->kind != FAB_SPAN_COMM
          || !(is_of_pass (a) || is_transfer (a)) || !(is_of_pass (b) || is_transfer (b))
          || a->start_ps >= b->end_ps || b->start_ps >= a->end_ps || is_allowed (allowed, a, b))
        continue;
      print_error ("%s (%s) and %s (%s) are under way at the same time\n", a->name, a->stream, b->name,
                   b->stream);
      fail ();
    }
}

static void
check_apart (Random *random)
{
  Allowed allowed;
  g_autofree char *yaml = random_job (random, &allowed);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  while (fab_simulation_step (play->simulation))
    assert_apart (&allowed, fab_simulation_probe (play->simulation)->spans);
}

static void
what_a_pass_sends_it_has (G_GNUC_UNUSED void **state)
{
  seeds_run (60, check_apart);
}

int
main (void)
{
  const struct CMUnitTest tests[] = { seeds_test (what_a_pass_sends_it_has) };

  return play_run_tests ("passes", tests, &catalog);
}
