/* SPDX-License-Identifier: Apache-2.0 */
/* test_choices.c - what plan and tune may choose: assignments that load, keep the batch and what the scenario
 * says. */
#include "tests/support/test.h"

#include "models/models.h"
#include "models/workload/training/choices.h"
#include "models/workload/training/keys.h"

#define CATALOG FAB_SOURCE_DIR "/models/catalog"
#define HEAD "name: c\ncluster: {node: dgx-a100, nodes: 4}\njob: {model: gpt2-xl, sequence: 512, "

static FabCatalog *catalog;

static FabScenario *
load (const char *yaml, const char *const *sets)
{
  g_autoptr (GError) error = NULL;
  FabScenario *scenario = fab_scenario_parse ("c", yaml, strlen (yaml), sets, &fab_models, catalog, &error);

  if (scenario == NULL)
    fail_msg ("%s", error->message);
  return scenario;
}

static const TrainParams *
train_of (const FabScenario *scenario)
{
  return fab_scenario_spec (scenario)->job.params;
}

/* What a scenario writes, set over an empty job, is the same job. */
static void
test_written_reads_back (void **state)
{
  const char *yaml = HEAD "kind: fsdp, sharding: hybrid, micro_batch: 2, compute: {kind: mfu, mfu: 37%}, "
                          "stragglers: [{rank: 3, slowness: 1.5}], jitter: {cv: 2%}, "
                          "parallel: {pipeline: 2, order: tp-cp-ep-pp-dp}}\n";
  g_autoptr (FabScenario) first = load (yaml, NULL);
  const FabModelChoice *job = &fab_scenario_spec (first)->job;
  g_autoptr (FabValue) written = fab_scenario_written (first, job->info->params, job->params, NULL);
  g_autofree char *keys = fab_value_write (written);
  g_autoptr (FabScenario) second = load (HEAD "kind: ddp}\n", NULL);
  g_autoptr (GError) error = NULL;

  fab_value_put (written, "kind", fab_value_text ("fsdp"));
  assert_true (fab_scenario_set (second, "job", g_steal_pointer (&written), &error));
  assert_true (fab_scenario_check (second, &error));
  g_autofree char *was = fab_scenario_resolved (first), *is = fab_scenario_resolved (second);

  (void) state;
  assert_string_equal (was, is);
  assert_null (strstr (keys, "in_flight")); /* a default */
  assert_non_null (strstr (keys, "compute: {kind: mfu, mfu: 0.37"));
}

static void
test_written_text (void **state)
{
  static const char *const texts[] = { "25MiB", "a b",   "it's", "",    "x: y", "{",
                                       "-1",    "tp-cp", "#",    "50%", "null" };

  (void) state;
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (FabValue) value = fab_value_text (texts[i]);
    g_autofree char *text = fab_value_write (value);
    g_autofree char *yaml = g_strdup_printf ("{a: %s}", text);
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autoptr (FabYamlDoc) doc = fab_yaml_doc_parse ("t", yaml, strlen (yaml), diagnostics);

    assert_int_equal (fab_diagnostics_count (diagnostics), 0);
    assert_string_equal (fab_yaml_get (fab_yaml_doc_root (doc), "a")->text, texts[i]);
  }
}

/* --- strategies --- */

static GPtrArray *
candidates_of (const char *yaml, const char *names, double sequences)
{
  g_autoptr (FabScenario) scenario = load (yaml, NULL);
  g_autoptr (GError) error = NULL;
  double found;
  GPtrArray *candidates = fab_strategy_candidates (scenario, names, &found, &error);

  assert_non_null (candidates);
  assert_near (found, sequences, 0);
  return candidates;
}

/* Every one loads, trains as many sequences, and has what the scenario says. */
static void
check_candidates (const char *yaml, double sequences)
{
  g_autoptr (GPtrArray) candidates = candidates_of (yaml, NULL, sequences);
  guint n_loaded = 0;

  for (guint i = 0; i < candidates->len; i++) {
    const FabCandidate *candidate = g_ptr_array_index (candidates, i);

    if (candidate->trial.problem != NULL || candidate->edits == NULL)
      continue;
    g_autoptr (FabScenario) scenario = load (yaml, fab_edits_texts (candidate->edits));
    const TrainParams *p = train_of (scenario);
    gint64 ranks = 32 / (p->parallel.tensor * p->parallel.context * p->parallel.pipeline);

    n_loaded++;
    assert_int_equal (p->global_batch, (gint64) sequences);
    assert_int_equal (p->global_batch % (p->micro_batch * ranks), 0);
    assert_int_equal (p->sequence, 512);
    assert_string_equal (p->model, "gpt2-xl");
    assert_near (p->train_tokens, 5e9, 0);
    if (i > 0) /* the first is the job as it is written */
      assert_string_equal (recompute_kinds[p->recompute], candidate->remedy);
  }
  assert_true (n_loaded > 60);
}

static void
test_candidates_keep_the_job (void **state)
{
  (void) state;
  check_candidates (HEAD "kind: ddp, micro_batch: 4, train_tokens: 5e9}\n", 4 * 32);
  check_candidates (HEAD
                    "kind: zero, stage: 3, secondary: 8, offload: {parameters: cpu}, train_tokens: 5e9}\n",
                    32);
  check_candidates (HEAD "kind: fsdp, sharding: hybrid, shard: 4, accumulation: 2, train_tokens: 5e9}\n", 64);
  check_candidates (HEAD "kind: megatron, global_batch: 64, train_tokens: 5e9, gradient: bf16, parallel: "
                         "{tensor: 2, pipeline: 4, schedule: interleaved, virtual: 2}}\n",
                    64);
}

/* 48 blocks and 25 heads on four nodes of eight: no power of two but 1 divides the heads; 1, 2, 4, 8, 16 stages
 * divide ranks and blocks, 32 the ranks alone. */
static void
test_divisions (void **state)
{
  static const char *const expected[] = { "-",          "pipeline 2",  "pipeline 4",
                                          "pipeline 8", "pipeline 16", "pipeline 32" };
  g_autoptr (GPtrArray) candidates = candidates_of (HEAD "kind: ddp}\n", "megatron", 32);
  guint n = 0;

  (void) state;
  for (guint i = 1; i < candidates->len; i++) {
    const FabCandidate *candidate = g_ptr_array_index (candidates, i);

    if (candidate->family == ((const FabCandidate *) g_ptr_array_index (candidates, i - 1))->family)
      continue;
    assert_true (n < G_N_ELEMENTS (expected));
    assert_string_equal (candidate->division, expected[n++]);
  }
  assert_int_equal (n, G_N_ELEMENTS (expected));
}

/* A model of so many blocks, heads and experts (0: none) on nodes of eight GPUs, with 256 sequences a step. */
typedef struct {
  guint n_nodes, n_blocks, n_heads, n_experts, sequence;
  const char *parallel;
  guint most_context;
  const char *schedule; /* the one that is tried beside the usual one; NULL: none */
  guint n_parts;        /* of each stage with that schedule */
} Machine;

static gboolean
is_power (guint n)
{
  return (n & (n - 1)) == 0;
}

/* The most ranks, at most `most`, that divide both the experts and `data`. */
static guint
most_sharing (guint n_experts, guint data, guint most)
{
  guint found = 1;

  for (guint n = 1; n <= n_experts && n <= most; n++)
    found = n_experts % n == 0 && data % n == 0 ? n : found;
  return found;
}

static void
add_size (GString *name, const char *axis, guint n)
{
  if (n > 1)
    g_string_append_printf (name, "%s%s %u", name->len > 0 ? ", " : "", axis, n);
}

static void
add_name (GPtrArray *names, const guint sizes[4], const char *schedule)
{
  GString *name = g_string_new (NULL);

  add_size (name, "tensor", sizes[0]);
  add_size (name, "context", sizes[1]);
  add_size (name, "expert", sizes[2]);
  add_size (name, "pipeline", sizes[3]);
  if (schedule != NULL)
    g_string_append_printf (name, " %s", schedule);
  g_ptr_array_add (names, g_string_free (name->len > 0 ? name : g_string_append_c (name, '-'), FALSE));
}

/* All divisions: tensor parallelism inside a node by powers of two that divide the heads, context parallelism of long
 * sequences, as many stages as are a power of two or divide the blocks, and experts on no ranks, on as many as a node
 * has left, or on as many as can share them. (transfer full) */
static GPtrArray *
divisions_of (const Machine *machine)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  guint n_ranks = 8 * machine->n_nodes;

  for (guint tensor = 1; tensor <= 8; tensor *= 2)
    for (guint context = 1; machine->n_heads % tensor == 0 && context <= machine->most_context; context *= 2)
      for (guint stages = 1; stages <= machine->n_blocks && stages <= 64; stages++) {
        guint model = tensor * context * stages, before = 0;

        if (!(is_power (stages) || machine->n_blocks % stages == 0) || n_ranks % model != 0)
          continue;
        guint near = most_sharing (machine->n_experts, n_ranks / model, 8 / (tensor * context)),
              most = most_sharing (machine->n_experts, n_ranks / model, machine->n_experts),
              n[] = { 1, near, most };
        for (guint i = 0; i < 3; before = n[i++]) {
          const guint sizes[] = { tensor, context, n[i], stages };

          if (n[i] <= before)
            continue;
          add_name (names, sizes, NULL);
          if (machine->schedule != NULL && stages > 1 && stages * machine->n_parts <= machine->n_blocks)
            add_name (names, sizes, machine->schedule);
        }
      }
  return names;
}

static void
test_divisions_are_all_that_fit (void **state)
{
  static const Machine machines[] = {
    { 2, 6, 8, 0, 512, "{pipeline: 1}", 1, NULL, 0 },
    { 3, 12, 16, 0, 512, "{context: 2}", 2, NULL, 0 },
    { 2, 8, 8, 12, 512, "{expert: 1}", 1, NULL, 0 },
    { 4, 4, 4, 16, 16384, "{expert: 1}", 8, NULL, 0 },
    { 2, 4, 4, 0, 16383, "{expert: 1}", 1, NULL, 0 },
    { 2, 8, 12, 0, 512, "{pipeline: 2, virtual: 2, schedule: interleaved}", 1, "interleaved", 2 },
    { 2, 8, 12, 0, 512, "{pipeline: 2, schedule: zero_bubble}", 1, "zero_bubble", 1 },
    { 1, 3, 6, 6, 512, "{pipeline: 2, schedule: gpipe}", 1, "gpipe", 1 },
  };

  (void) state;
  for (guint m = 0; m < G_N_ELEMENTS (machines); m++) {
    const Machine *one = &machines[m];
    g_autofree char
        *experts = one->n_experts > 0
                     ? g_strdup_printf (", experts: {count: %u, per_token: 2}", one->n_experts)
                     : g_strdup (""),
        *yaml = g_strdup_printf (
            "name: c\ncluster: {node: dgx-a100, nodes: %u}\n"
            "models: [{name: m, summary: s, source: s, date: \"2026-11-30\", shape: {kind: transformer, "
            "layers: %u, hidden: 384, heads: %u, vocabulary: 100%s}}]\n"
            "job: {kind: megatron, model: m, sequence: %u, global_batch: 768, parallel: %s}\n",
            one->n_nodes, one->n_blocks, one->n_heads, experts, one->sequence, one->parallel);
    g_autoptr (GPtrArray) expected = divisions_of (one), candidates = candidates_of (yaml, "megatron", 768);
    guint n = 0;

    for (guint i = 1; i < candidates->len; i++) {
      const FabCandidate *candidate = g_ptr_array_index (candidates, i);

      if (i > 1
          && candidate->family == ((const FabCandidate *) g_ptr_array_index (candidates, i - 1))->family)
        continue;
      if (n == expected->len || strcmp (candidate->division, g_ptr_array_index (expected, n)) != 0)
        fail_msg ("machine %u: '%s' in place of '%s'", m, candidate->division,
                  n < expected->len ? (const char *) g_ptr_array_index (expected, n) : "nothing");
      n++;
    }
    assert_int_equal (n, expected->len);
  }
}

/* What a scenario says of its parallelism beside the sizes is true of every division. */
static void
test_divisions_keep_what_is_said (void **state)
{
  static const char yaml[] = HEAD
      "kind: megatron, global_batch: 64, recompute: full, parallel: {pipeline: 4, balance: cost, "
      "order: tp-cp-pp-dp, context_kind: gather, schedule: interleaved, virtual: 3, overlap_p2p: true}}\n";
  g_autoptr (GPtrArray) candidates = candidates_of (yaml, "megatron", 64);
  guint n_usual = 0, n_written = 0;

  (void) state;
  for (guint i = 1; i < candidates->len; i++) {
    const FabCandidate *candidate = g_ptr_array_index (candidates, i);

    if (candidate->trial.problem != NULL)
      continue;
    g_autoptr (FabScenario) scenario = load (yaml, fab_edits_texts (candidate->edits));
    const ParallelParams *p = &train_of (scenario)->parallel;
    gboolean is_usual = strstr (candidate->division, "interleaved") == NULL;

    assert_string_equal (p->order, "tp-cp-pp-dp");
    assert_string_equal (context_kinds[p->context_kind], "gather");
    assert_int_equal (p->is_sequence, p->tensor > 1);
    assert_int_equal (p->balance == BALANCE_COST, p->pipeline > 1);
    assert_int_equal (p->overlaps_p2p, p->pipeline > 1);
    assert_int_equal (p->virtual_stages, is_usual ? 1 : 3);
    n_usual += is_usual && p->pipeline > 1;
    n_written += !is_usual;
  }
  assert_true (n_usual > 0 && n_written > 0);
}

static void
test_what_cannot_be (void **state)
{
  g_autoptr (GPtrArray) candidates = candidates_of (HEAD
                                                    "kind: ddp, global_batch: 16, parallel: {pipeline: 2}}\n",
                                                    "zero1", 16);
  const FabCandidate *candidate = g_ptr_array_index (candidates, 1);

  (void) state;
  assert_int_equal (candidates->len, 2);
  assert_string_equal (candidate->trial.problem,
                       "a global batch of 16 sequences cannot be divided among 32 data-parallel ranks");
}

/* "strategy | division | batch" of the families of the strategies, in order, but not of the job as it is written. Each
 * size of a micro-batch is tried without recomputation, with that of attention, and with that of all. */
static char *
families_of (const char *yaml, const char *names, double sequences)
{
  static const char *const remedies[] = { "none", "selective", "full" };
  g_autoptr (GPtrArray) candidates = candidates_of (yaml, names, sequences);
  GString *text = g_string_new (NULL);
  guint family = 0, remedy = 0;

  for (guint i = 1; i < candidates->len; i++) {
    const FabCandidate *candidate = g_ptr_array_index (candidates, i);

    if (i == 1 || candidate->family != family)
      g_string_append_printf (text, "%s%s | %s |", i > 1 ? "\n" : "", candidate->strategy,
                              candidate->division);
    family = candidate->family;
    if (candidate->trial.problem != NULL) {
      g_string_append_printf (text, " %s: %s", candidate->batch, candidate->trial.problem);
      assert_int_equal (candidate->state, FAB_CANDIDATE_IMPOSSIBLE);
      continue;
    }
    assert_string_equal (candidate->remedy, remedies[remedy]);
    if (remedy == 0)
      g_string_append_printf (text, " %s", candidate->batch);
    remedy = (remedy + 1) % G_N_ELEMENTS (remedies);
  }
  assert_int_equal (remedy, 0);
  return g_string_free (text, FALSE);
}

static void
assert_families (const char *yaml, const char *names, double sequences, const char *expected)
{
  g_autofree char *families = families_of (yaml, names, sequences);

  assert_string_equal (families, expected);
}

/* Micro-batches are powers of two that divide what a rank has, up to 64 sequences, or 8 where the model is divided, and
 * what the scenario says. 32 ranks of 4 nodes have 96 sequences each, or 10. */
static void
test_batches_are_tried_in_all_sizes (void **state)
{
  static const char large[] = HEAD "kind: ddp, global_batch: 3072, micro_batch: %s}\n";
  g_autofree char *plain = g_strdup_printf (large, "1"), *three = g_strdup_printf (large, "3"),
                  *most = g_strdup_printf (large, "96");

  (void) state;
  assert_families (plain, "ddp", 3072, "ddp | - | 1 x 96 2 x 48 4 x 24 8 x 12 16 x 6 32 x 3");
  assert_families (three, "ddp", 3072, "ddp | - | 1 x 96 2 x 48 3 x 32 4 x 24 8 x 12 16 x 6 32 x 3");
  assert_families (most, "zero1", 3072, "zero1 | - | 1 x 96 2 x 48 4 x 24 8 x 12 16 x 6 32 x 3 96 x 1");
  assert_families (HEAD "kind: ddp, global_batch: 320}\n", "fsdp, ddp", 320,
                   "ddp | - | 1 x 10 2 x 5\nfsdp | - | 1 x 10 2 x 5");
  assert_families (HEAD "kind: ddp, global_batch: 4096}\n", "zero3", 4096,
                   "zero3 | - | 1 x 128 2 x 64 4 x 32 8 x 16 16 x 8 32 x 4 64 x 2");
  g_autofree char *divided = families_of (HEAD "kind: ddp, global_batch: 1024}\n", "megatron", 1024);
  assert_true (g_str_has_prefix (divided, "megatron | - | 1 x 32 2 x 16 4 x 8 8 x 4\n"));
}

/* Powers of two, and whole nodes, below the job. */
static void
test_shards_divide_the_ranks (void **state)
{
  static const struct {
    guint n_nodes, gpus;
    const char *shards;
  } rows[] = { { 4, 8, "2 4 8 16" }, { 6, 8, "2 4 8 16 24" }, { 3, 4, "2 4" },     { 5, 2, "2" },
               { 6, 2, "2 4 6" },    { 1, 4, "2" },           { 12, 1, "2 3 4 6" } };

  (void) state;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    guint n_ranks = rows[i].n_nodes * rows[i].gpus;
    g_autofree char *yaml = g_strdup_printf (
        "name: c\ncluster: {node: dgx-a100, nodes: %u, gpus_per_node: %u}\n"
        "job: {kind: ddp, model: gpt2-xl, sequence: 512, global_batch: %u}\n",
        rows[i].n_nodes, rows[i].gpus, n_ranks);
    g_auto (GStrv) shards = g_strsplit (rows[i].shards, " ", -1);
    g_autoptr (GString) expected = g_string_new (NULL);

    for (guint k = 0; shards[k] != NULL; k++)
      g_string_append_printf (expected, "%shsdp | shard %s | 1 x 1", k > 0 ? "\n" : "", shards[k]);
    assert_families (yaml, "hsdp", n_ranks, expected->str);
  }
}

static void
test_what_cannot_be_tried_is_said (void **state)
{
  static const char small[] = "name: c\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: %u}\n"
                              "job: {kind: ddp, model: gpt2-xl, sequence: 512, global_batch: %u}\n";
  g_autofree char *two = g_strdup_printf (small, 2, 2), *three = g_strdup_printf (small, 3, 3),
                  *odd = g_strdup_printf (small, 2, 3);

  (void) state;
  assert_families (two, "hsdp", 2, "hsdp | - | -: no shard group is smaller than the job");
  assert_families (three, "hsdp", 3, "hsdp | - | -: no shard group is smaller than the job");
  assert_families (two, "zero3-hpz", 2,
                   "zero3-hpz | - | -: with one node, there is nothing outside it to save");
  assert_families (
      odd, "ddp", 3,
      "ddp | - | -: a global batch of 3 sequences cannot be divided among 2 data-parallel ranks");
}

/* Schedules that a batch is too small for, or does not fill evenly. */
static void
test_schedules_say_what_they_need (void **state)
{
  static const struct {
    const char *schedule, *problem; /* NULL: it can be tried */
    guint global_batch;
  } rows[] = {
    { "dualpipe", "schedule dualpipe needs at least 4 micro-batches, an even number of them", 2 },
    { "dualpipe", "schedule dualpipe needs at least 4 micro-batches, an even number of them", 5 },
    { "dualpipe", NULL, 4 },
    { "dualpipe_v", "schedule dualpipe_v needs at least 4 micro-batches", 3 },
    { "dualpipe_v", NULL, 5 },
    { "interleaved, virtual: 2", "schedule interleaved needs micro-batches in multiples of the stages", 1 },
    { "interleaved, virtual: 2", "schedule interleaved needs micro-batches in multiples of the stages", 3 },
    { "interleaved, virtual: 2", NULL, 2 },
  };

  (void) state;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: c\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 2}\n"
        "job: {kind: megatron, model: gpt2-xl, sequence: 512, global_batch: %u, "
        "parallel: {pipeline: 2, schedule: %s}}\n",
        rows[i].global_batch, rows[i].schedule);
    g_auto (GStrv) words = g_strsplit (rows[i].schedule, ",", 2);
    g_autofree char *families = families_of (yaml, "megatron", rows[i].global_batch),
                    *line = g_strdup_printf ("pipeline 2 %s |", words[0]);
    const char *found = strstr (families, line);

    if (found == NULL)
      fail_msg ("%s is not tried:\n%s", rows[i].schedule, families);
    g_auto (GStrv) lines = g_strsplit (found + strlen (line), "\n", 2);
    if (rows[i].problem == NULL ? strstr (lines[0], " x ") == NULL
                                : strcmp (lines[0] + strlen (" -: "), rows[i].problem) != 0)
      fail_msg ("%s with %u sequences:%s", rows[i].schedule, rows[i].global_batch, lines[0]);
  }
}

/* The job itself comes first. Without names, and with `all`, each strategy is tried; a name that is none is said. */
static void
test_strategies_are_asked_for_by_name (void **state)
{
  static const char yaml[] = HEAD "kind: zero, stage: 2, micro_batch: 2, accumulation: 3, recompute: full}\n";
  g_autoptr (FabScenario) scenario = load (yaml, NULL);
  g_autoptr (GPtrArray) all = candidates_of (yaml, "all", 192), none = candidates_of (yaml, NULL, 192),
                        one = candidates_of (yaml, " zero2 ", 192);
  const FabCandidate *written = g_ptr_array_index (one, 0);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GError) error = NULL;
  double sequences;

  (void) state;
  assert_int_equal (all->len, none->len);
  for (guint i = 1; i < all->len; i++)
    g_hash_table_add (seen, (gpointer) ((const FabCandidate *) g_ptr_array_index (all, i))->strategy);
  for (const FabStrategy *strategy = fab_strategies; strategy->name != NULL; strategy++)
    assert_true (g_hash_table_contains (seen, strategy->name));
  assert_string_equal (written->strategy, "as written");
  assert_string_equal (written->batch, "2 x 3");
  assert_string_equal (written->division, "-");
  assert_string_equal (written->remedy, "full");
  assert_string_equal (((const FabCandidate *) g_ptr_array_index (one, 1))->strategy, "zero2");
  assert_null (fab_strategy_candidates (scenario, "zero2,zero4", &sequences, &error));
  assert_non_null (strstr (error->message, "there is no strategy 'zero4'"));
  assert_non_null (strstr (error->message, "the strategies are: all, ddp, zero1, zero2, zero3"));
}

/* A key is written where its value is not what such a job has anyway. */
static void
test_keys_that_are_defaults_are_left_out (void **state)
{
  (void) state;
  for (const FabStrategy *strategy = fab_strategies; strategy->name != NULL; strategy++)
    for (const FabStrategyKey *key = strategy->keys; key != NULL && key->key != NULL; key++) {
      const FabModelInfo *info = fab_registry_find (&fab_models, FAB_MODEL_WORKLOAD, strategy->kind);
      const FabParam *param = info->params;

      while (strcmp (param->key, key->key) != 0)
        param++;
      assert_int_equal (fab_strategy_must_write (strategy, key),
                        g_strcmp0 (param->fallback, key->value) != 0);
    }
}

/* --- what may save memory --- */

/* Every change that may save memory is one that the scenario takes, whatever keys of its own it writes: the model and
 * its sequence stay. */
static void
test_remedies_load (void **state)
{
  static const struct {
    const char *job;
    guint n_least; /* changes of the strategy that there must be at least */
  } rows[] = {
    { "kind: ddp}", 6 },
    { "kind: ddp, bucket: 30MiB, micro_batch: 4}", 6 },
    { "kind: fsdp, sharding: grad_op, in_flight: 3}", 3 },
    { "kind: zero, stage: 1, reduce_bucket: 1000000, offload: {optimizer: none}}", 5 },
    { "kind: megatron, overlap_grad_reduce: true, bucket: 1000000, micro_batch: 2}", 5 },
  };

  (void) state;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *yaml = g_strconcat (HEAD, rows[i].job, "\n", NULL);
    g_autoptr (FabScenario) written = load (yaml, NULL);
    g_autoptr (GPtrArray) remedies = fab_job_remedies (written);
    const TrainParams *before = train_of (written);
    guint n_strategies = 0;

    for (guint r = 0; r < remedies->len; r++) {
      const FabRemedy *remedy = g_ptr_array_index (remedies, r);
      g_autoptr (FabScenario) changed = load (yaml, fab_edits_texts (remedy->edits));
      const TrainParams *after = train_of (changed);

      assert_string_equal (after->model, before->model);
      assert_int_equal (after->sequence, before->sequence);
      n_strategies += strcmp (remedy->group, "strategy") == 0;
    }
    assert_true (n_strategies >= rows[i].n_least);
  }
}

/* --- knobs --- */

/* The value that the scenario has is among them, once, in its place. */
static void
test_knobs_have_what_is_written (void **state)
{
  g_autoptr (FabScenario) scenario = load (HEAD
                                           "kind: ddp, bucket: 30MiB, micro_batch: 3, accumulation: 4}\n",
                                           NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) knobs = fab_job_knobs (scenario, NULL, &error);
  const FabKnob *bucket, *micro;

  (void) state;
  assert_int_equal (knobs->len, 2);
  bucket = g_ptr_array_index (knobs, 0);
  micro = g_ptr_array_index (knobs, 1);
  assert_int_equal (bucket->values->len, 10);
  assert_string_equal (fab_knob_value (bucket, bucket->written)->label, "30MiB");
  assert_string_equal (fab_knob_value (bucket, bucket->written - 1)->label, "25MiB");
  assert_int_equal (micro->values->len, 4); /* 1, 2, 3 and 4 divide 12 */
  assert_string_equal (fab_knob_value (micro, micro->written)->label, "3 x 4");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_written_reads_back),
    cmocka_unit_test (test_written_text),
    cmocka_unit_test (test_candidates_keep_the_job),
    cmocka_unit_test (test_divisions),
    cmocka_unit_test (test_what_cannot_be),
    cmocka_unit_test (test_knobs_have_what_is_written),
    cmocka_unit_test (test_remedies_load),
    cmocka_unit_test (test_divisions_are_all_that_fit),
    cmocka_unit_test (test_divisions_keep_what_is_said),
    cmocka_unit_test (test_batches_are_tried_in_all_sizes),
    cmocka_unit_test (test_shards_divide_the_ranks),
    cmocka_unit_test (test_what_cannot_be_tried_is_said),
    cmocka_unit_test (test_schedules_say_what_they_need),
    cmocka_unit_test (test_strategies_are_asked_for_by_name),
    cmocka_unit_test (test_keys_that_are_defaults_are_left_out),
  };
  g_autoptr (GError) error = NULL;
  int failed;

  catalog = fab_catalog_load (CATALOG, &fab_models, &error);
  if (catalog == NULL)
    g_error ("%s", error->message);
  failed = cmocka_run_group_tests (tests, NULL, NULL);
  fab_catalog_free (catalog);
  return failed;
}
