/* SPDX-License-Identifier: Apache-2.0 */
/* test_totals.c - what a training job says of itself: its work, its precision, its tokens, and the norm of its
 * gradients. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "models/models.h"
#include "tests/support/play.h"

/* Four blocks of h = 256 and one head of 1000 words: 2 x 12 h^2 FLOPs of matrices and 4 x sequence x h of scores for a
 * token of a block, and 2 x 1000 h of the head. */
#define HEAD                                                                                               \
  "name: totals\niterations: 1\ncollectives: {kind: plain, algorithm: direct}\n"                           \
  "models: [{name: m, summary: s, source: s, date: \"2026-11-29\", shape: {kind: transformer, layers: 4, " \
  "hidden: 256, heads: 4, vocabulary: 1000, tied: false, biases: false}}]\n"                               \
  "cluster: {node: dgx-a100, nodes: 1, gpus_per_node: %u}\n"                                               \
  "job: {model: m, micro_batch: 2, sequence: 128, %s}\n"

static FabCatalog *catalog;

static Play *
job (guint gpus, const char *keys)
{
  g_autofree char *yaml = g_strdup_printf (HEAD, gpus, keys);

  return play_new (catalog, yaml, NULL);
}

static void
the_precision_is_that_of_the_job (G_GNUC_UNUSED void **state)
{
  static const char *const kinds[] = { "ddp", "zero, stage: 2", "fsdp", "megatron" };

  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    for (guint i = 0; i <= FAB_PRECISION_FP8; i++) {
      g_autofree char *keys = g_strdup_printf ("kind: %s, precision: %s", kinds[k], fab_precision_names[i]);
      g_autoptr (Play) play = job (2, keys);

      assert_int_equal (fab_simulation_totals (play->simulation)->precision, i);
    }
}

/* Forward and backward are three times the forward pass; full recomputation is the blocks once more, with FSDP up to
 * their last product. Every rank has an equal share, however the model is divided. */
static void
work_is_counted_once (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint gpus, data, n_micro;
    const char *keys;
    double again; /* of a block, in products of h x h weights and a token */
  } rows[] = { { 1, 1, 1, "kind: ddp", 0 },
               { 4, 4, 1, "kind: ddp", 0 },
               { 4, 2, 1, "kind: megatron, parallel: {tensor: 2}", 0 },
               { 4, 1, 4, "kind: megatron, accumulation: 4, parallel: {pipeline: 2, tensor: 2}", 0 },
               { 4, 4, 3, "kind: zero, stage: 3, accumulation: 3", 0 },
               { 4, 4, 1, "kind: fsdp, recompute: full", 8 },
               { 2, 2, 2, "kind: ddp, accumulation: 2, recompute: full", 12 },
               { 2, 1, 1, "kind: megatron, recompute: full, parallel: {tensor: 2}", 12 } };
  const double h = 256, n_layers = 4, blocks = n_layers * (2 * 12 * h * h + 4 * 128 * h), head = 2 * 1000 * h;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = job (rows[i].gpus, rows[i].keys);
    const FabJobTotals *totals = fab_simulation_totals (play->simulation);
    double tokens = 2.0 * 128 * rows[i].n_micro * rows[i].data;
    double again = rows[i].again > 0 ? n_layers * (2 * rows[i].again * h * h + 4 * 128 * h) : 0;

    assert_near (totals->tokens, tokens, 0);
    assert_near (totals->model_flops_per_rank, 3 * (blocks + head) * tokens / rows[i].gpus, 1e-12);
    assert_near (totals->executed_flops_per_rank - totals->model_flops_per_rank,
                 again * tokens / rows[i].gpus, 1e-12);
    assert_int_equal (totals->trained_parameters, totals->parameters);
  }
}

/* Adapters are a few parameters beside the matrices. Backward does not compute the gradients of frozen weights: a third
 * of the work of their matrices. */
static void
frozen_weights_have_no_gradients (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) whole = job (1, "kind: ddp"), lora = job (1, "kind: ddp, trains: lora, lora_rank: 8");
  const FabJobTotals *all = fab_simulation_totals (whole->simulation),
                     *few = fab_simulation_totals (lora->simulation);

  assert_true (few->trained_parameters > 0 && few->trained_parameters < all->parameters / 20);
  assert_int_equal (few->parameters, all->parameters + few->trained_parameters);
  assert_true (few->model_flops_per_rank > all->model_flops_per_rank * 0.6);
  assert_true (few->model_flops_per_rank < all->model_flops_per_rank * 0.75);
}

static guint
count_norms (const Play *play, guint *n_ranks)
{
  const FabDag *dag = fab_simulation_dag (play->simulation);
  guint n = 0;

  for (guint c = 0; c < dag->n_collectives; c++)
    if (strcmp (dag->collectives[c].name, "gradient norm") == 0) {
      assert_int_equal (dag->collectives[c].plan.op, FAB_OP_ALL_REDUCE);
      assert_int_equal (dag->collectives[c].plan.bytes, 4);
      *n_ranks = dag->collectives[c].plan.n_ranks;
      n++;
    }
  return n;
}

/* Where each rank has all gradients, it knows their norm. Where gradients are divided, one number is summed over all
 * that have a part of them. */
static void
ranks_agree_on_the_norm_of_divided_gradients (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint gpus, n_norms, n_ranks;
    const char *keys;
  } rows[] = { { 1, 0, 0, "kind: ddp" },
               { 4, 0, 0, "kind: ddp" },
               { 4, 0, 0, "kind: megatron" },
               { 4, 1, 4, "kind: megatron, parallel: {tensor: 4}" },
               { 4, 1, 4, "kind: megatron, parallel: {tensor: 2}" },
               { 4, 1, 4, "kind: megatron, parallel: {pipeline: 2}, accumulation: 2" },
               { 2, 1, 2, "kind: megatron, parallel: {tensor: 2}" },
               { 2, 1, 2, "kind: zero, stage: 1" },
               { 4, 1, 4, "kind: megatron, parallel: {tensor: 2, pipeline: 2}, accumulation: 2" },
               { 4, 1, 4, "kind: zero, stage: 1" },
               { 4, 1, 4, "kind: zero, stage: 3" },
               { 1, 0, 0, "kind: zero, stage: 3" },
               { 4, 0, 0, "kind: megatron, parallel: {context: 2}" },
               { 4, 1, 4, "kind: zero, stage: 1, parallel: {context: 2}" },
               { 4, 0, 0, "kind: ddp, outer: {sites: 2}" },
               { 4, 1, 2, "kind: zero, stage: 3, outer: {sites: 2}" },
               { 8, 1, 4, "kind: megatron, parallel: {tensor: 2}, outer: {sites: 2}" },
               { 4, 1, 4, "kind: fsdp" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *off = g_strconcat (rows[i].keys, ", clip_gradients: false", NULL),
                    *on = g_strconcat (rows[i].keys, ", clip_gradients: true", NULL);
    g_autoptr (Play) without = job (rows[i].gpus, off), with = job (rows[i].gpus, on);
    guint n_ranks = 0;

    assert_int_equal (count_norms (without, &n_ranks), 0);
    if (count_norms (with, &n_ranks) != rows[i].n_norms || n_ranks != rows[i].n_ranks)
      fail_msg ("%s: %u norms over %u ranks", rows[i].keys, count_norms (with, &n_ranks), n_ranks);
  }
}

/* Clipping reads gradients in FP32 twice and writes them once: 12 B of each parameter at 85 % of the rate
 * of the memory. */
static void
clipping_moves_the_gradients (G_GNUC_UNUSED void **state)
{
  double s[2];

  for (guint clips = 0; clips < 2; clips++) {
    g_autoptr (Play) play = job (1, clips ? "kind: ddp, clip_gradients: true"
                                          : "kind: ddp, clip_gradients: false");

    assert_true (fab_simulation_step (play->simulation));
    s[clips] = fab_ps_to_seconds (fab_simulation_probe (play->simulation)->step.times.duration_ps);
    if (clips) {
      double bytes = 12.0 * (double) fab_simulation_totals (play->simulation)->parameters;
      double rate = (double) fab_simulation_cluster (play->simulation)->device.memory_bytes_per_s;

      assert_near (s[1] - s[0], bytes / 0.85 / rate, 1e-6);
    }
  }
}

/* A job draws numbers where its steps jitter, or where its experts get different numbers of tokens. */
static void
what_varies_is_drawn (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *keys;
    gboolean uses_seed;
  } rows[] = { { "kind: ddp", FALSE },
               { "kind: ddp, jitter: {cv: 0%}", FALSE },
               { "kind: ddp, jitter: {cv: 1%}", TRUE },
               { "kind: ddp, parallel: {expert: 2, moe: {dispatch: nccl}}", FALSE },
               { "kind: ddp, parallel: {expert: 2, moe: {imbalance: 20%}}", TRUE },
               { "kind: ddp, jitter: {cv: 1%}, parallel: {expert: 2, moe: {imbalance: 20%}}", TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *dense = g_strdup_printf (HEAD, 2, rows[i].keys);
    g_auto (GStrv) parts = g_strsplit (dense, "biases: false", 2);
    g_autofree char *yaml = g_strjoinv ("biases: false, experts: {count: 4, per_token: 2}", parts);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);

    if (fab_simulation_totals (play->simulation)->uses_seed != rows[i].uses_seed)
      fail_msg ("%s", rows[i].keys);
  }
}

/* Ranks of two stages, of which each has its own memory; where every rank is a class of its own, each needs what its
 * stage needs. */
static void
every_rank_has_the_memory_of_its_stage (G_GNUC_UNUSED void **state)
{
  g_autofree char *yaml = g_strdup_printf (HEAD, 8,
                                           "kind: megatron, accumulation: 2, parallel: {pipeline: 2}"),
                  *flat_yaml = g_strconcat ("fold: false\n", yaml, NULL);
  g_autoptr (Play) folded = play_new (catalog, yaml, NULL), flat = play_new (catalog, flat_yaml, NULL);
  const GArray *stages = fab_simulation_totals (folded->simulation)->memory,
               *ranks = fab_simulation_totals (flat->simulation)->memory;
  guint n_found = 0;

  assert_int_equal (fab_simulation_dag (folded->simulation)->n_classes, 2);
  assert_int_equal (fab_simulation_dag (flat->simulation)->n_classes, 8);
  assert_int_equal (ranks->len, 4 * stages->len);
  for (guint i = 0; i < ranks->len; i++) {
    const FabMemoryPart *of_rank = &g_array_index (ranks, FabMemoryPart, i);
    guint rank = fab_simulation_dag (flat->simulation)->classes[of_rank->rank_class].first_rank;

    for (guint k = 0; k < stages->len; k++) {
      const FabMemoryPart *of_stage = &g_array_index (stages, FabMemoryPart, k);

      if (of_stage->rank_class == rank / 4 && strcmp (of_stage->part, of_rank->part) == 0) {
        assert_int_equal (of_rank->bytes, of_stage->bytes);
        n_found++;
      }
    }
  }
  assert_int_equal (n_found, ranks->len);
}

/* Names say what a class is of. */
static void
classes_have_names (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *head, *keys, *names;
  } rows[] = {
    { "", "kind: ddp", "all" },
    { "fold: false\n", "kind: ddp", "rank 0, rank 1" },
    { "", "kind: megatron, parallel: {pipeline: 2}, accumulation: 2", "stage 0, stage 1" },
    { "fold: false\n", "kind: megatron, parallel: {pipeline: 2}, accumulation: 2",
      "stage 0, rank 0, stage 1, rank 1" },
    { "", "kind: ddp, stragglers: [{rank: 1, slowness: 2}]", "replicas 0-0, rank 1" },
    { "", "kind: ddp, jitter: {cv: 1%}", "slowest, jitter 1 of 1" },
    { "fold: false\n", "kind: ddp, jitter: {cv: 1%}", "slowest, rank 0, jitter 1 of 1, rank 1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *plain = g_strdup_printf (HEAD, 2, rows[i].keys),
                    *yaml = g_strconcat (rows[i].head, plain, NULL);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);
    const FabDag *dag = fab_simulation_dag (play->simulation);
    g_autoptr (GString) names = g_string_new (NULL);

    for (guint c = 0; c < dag->n_classes; c++)
      g_string_append_printf (names, "%s%s", c > 0 ? ", " : "", dag->classes[c].name);
    assert_string_equal (names->str, rows[i].names);
  }
}

static double
first_step_s (guint gpus, const char *keys)
{
  g_autoptr (Play) play = job (gpus, keys);

  assert_true (fab_simulation_step (play->simulation));
  return fab_ps_to_seconds (fab_simulation_probe (play->simulation)->step.times.duration_ps);
}

static guint
count_tasks (const Play *play, const char *name, guint rank_class)
{
  const FabDag *dag = fab_simulation_dag (play->simulation);
  guint n = 0;

  for (FabTaskId t = 0; t < dag->n_tasks; t++)
    n += strcmp (dag->tasks[t].name, name) == 0
      && dag->streams[dag->tasks[t].stream].rank_class == rank_class;
  return n;
}

/* A rank loads the samples of its micro-batches before the first of them enters: 3 x 2 samples of 1 MB at a quarter
 * of 1 GB/s, 24 ms. Of a pipeline the first stage alone does. A time is that of the whole batch. */
static void
a_step_begins_with_its_samples (G_GNUC_UNUSED void **state)
{
  static const char loader[] = "data_loader: {from: network, total: 1GB/s, bytes_per_sample: 1MB}";
  static const char *const kinds[] = { "kind: ddp, accumulation: 3, ",
                                       "kind: megatron, parallel: {pipeline: 2}, accumulation: 3, ",
                                       "kind: megatron, parallel: {pipeline: 2, schedule: zero_bubble}, "
                                       "accumulation: 3, " };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    g_autofree char *plain = g_strconcat (kinds[i], "clip_gradients: false", NULL),
                    *bytes = g_strconcat (plain, ", ", loader, NULL),
                    *time = g_strconcat (plain, ", data_loader: {time: 30ms}", NULL),
                    *none = g_strconcat (plain, ", data_loader: {from: network}", NULL);
    double plain_s = first_step_s (4, plain);
    g_autoptr (Play) play = job (4, bytes), timed = job (4, time), without = job (4, none);

    assert_near (first_step_s (4, bytes) - plain_s, 0.024, 1e-9);
    assert_near (first_step_s (4, time) - plain_s, 0.03, 1e-9);
    assert_near (first_step_s (4, none), plain_s, 0);
    for (guint c = 0; c < fab_simulation_dag (play->simulation)->n_classes; c++) {
      assert_int_equal (count_tasks (play, "load", c), c == 0);
      assert_int_equal (count_tasks (timed, "load", c), c == 0);
      assert_int_equal (count_tasks (without, "load", c), 0);
    }
  }
}

/* Bytes that the ranks of a class send in collectives whose names begin so; of one rank. */
static double
sent_bytes (const Play *play, const char *prefix, guint rank_class)
{
  const FabDag *dag = fab_simulation_dag (play->simulation);
  double bytes = 0;

  for (FabTaskId t = 0; t < dag->n_tasks; t++) {
    const FabDagCollective *collective = &dag->collectives[MAX (dag->tasks[t].collective, 0)];

    if (dag->tasks[t].collective >= 0 && g_str_has_prefix (collective->name, prefix)
        && dag->streams[dag->tasks[t].stream].rank_class == rank_class)
      bytes += (double) collective->plan.bytes;
  }
  return bytes;
}

/* Every gradient of 4 bytes is summed once, whichever part of a stage goes back last. With DualPipe each stage has two
 * parts, and every part is on two stages. */
static void
gradients_are_summed_once (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *schedule;
    guint copies;
  } rows[] = { { "gpipe", 1 },       { "1f1b", 1 },          { "interleaved, virtual: 2", 1 },
               { "zero_bubble", 1 }, { "zero_bubble_v", 1 }, { "v_half", 1 },
               { "dualpipe_v", 1 },  { "dualpipe", 2 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint small = 0; small < 2; small++) {
      g_autofree char *keys = g_strdup_printf (
          "kind: ddp, bucket: %s, accumulation: 4, parallel: {pipeline: 2, schedule: %s}",
          small ? "100kB" : "1GB", rows[i].schedule);
      g_autoptr (Play) play = job (4, keys);
      double bytes = 0;

      for (guint c = 0; c < fab_simulation_dag (play->simulation)->n_classes; c++)
        bytes += sent_bytes (play, "bucket", c);
      assert_near (bytes,
                   4.0 * rows[i].copies * (double) fab_simulation_totals (play->simulation)->parameters, 0);
    }
}

/* With 35 micro-batches 32 are alike: one is made for all of them, and the rank computes as long as with each of them.
 * How many steps lie between two checkpoints, and so what each pays, follows from that. Below 32 all are made. */
static void
micro_batches_that_are_alike_count_each (G_GNUC_UNUSED void **state)
{
  for (guint n = 34; n <= 37; n++) {
    g_autofree char *keys = g_strdup_printf (
                        "kind: ddp, accumulation: %u, checkpoint: {every: 1h, to: network, total: 1GB/s}", n),
                    *yaml = g_strdup_printf (HEAD, 1, keys),
                    *whole = g_strconcat ("fold: false\n", yaml, NULL),
                    *note = g_strdup_printf ("end of %u micro-batches that are alike", n - 3);
    g_autoptr (Play) folded = play_new (catalog, yaml, NULL), unfolded = play_new (catalog, whole, NULL);

    assert_int_equal (count_tasks (folded, note, 0), n >= 35);
    assert_int_equal (count_tasks (folded, "forward head", 0), n >= 35 ? 4 : n);
    assert_int_equal (count_tasks (unfolded, "forward head", 0), n);
    assert_near (fab_simulation_totals (folded->simulation)->checkpoint.step_s,
                 fab_simulation_totals (unfolded->simulation)->checkpoint.step_s, 1e-12);
  }
}

/* Whether the only task of a name and rank class waits for the only one of another name. */
static gboolean
waits_for (const Play *play, guint rank_class, const char *name, const char *before)
{
  const FabDag *dag = fab_simulation_dag (play->simulation);

  for (FabTaskId t = 0; t < dag->n_tasks; t++)
    if (strcmp (dag->tasks[t].name, before) == 0
        && dag->streams[dag->tasks[t].stream].rank_class == rank_class)
      for (guint i = dag->next_starts[t]; i < dag->next_starts[t + 1]; i++)
        if (strcmp (dag->tasks[dag->next[i]].name, name) == 0)
          return TRUE;
  return FALSE;
}

/* A checkpoint has 2 bytes of weight and 12 of state of each parameter, and goes to storage that takes 1 GB/s in all.
 * The average step has its share of one, after everything that it computes. */
static void
a_step_has_its_share_of_a_checkpoint (G_GNUC_UNUSED void **state)
{
  static const guint every[] = { 1, 4 };
  static const char *const kinds[] = { "kind: megatron",
                                       "kind: megatron, parallel: {tensor: 2, pipeline: 2}" };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    double plain_s = first_step_s (4, kinds[i]);

    for (guint k = 0; k < G_N_ELEMENTS (every); k++) {
      g_autofree char *keys = g_strdup_printf ("%s, checkpoint: {every: %u, to: network, total: 1GB/s}",
                                               kinds[i], every[k]);
      g_autoptr (Play) play = job (4, keys);
      const FabJobTotals *totals = fab_simulation_totals (play->simulation);
      double share_s = 14.0 * (double) totals->parameters / 1e9 / every[k];

      assert_near (totals->checkpoint.step_s, share_s, 1e-6);
      assert_near (first_step_s (4, keys) - plain_s, share_s, 1e-6);
      for (guint c = 0; c < fab_simulation_dag (play->simulation)->n_classes; c++) {
        assert_true (count_tasks (play, "checkpoint", c) == 1 && count_tasks (play, "written", c) == 1);
        assert_true (waits_for (play, c, "checkpoint", "optimizer"));
        assert_true (waits_for (play, c, "written", "checkpoint"));
      }
    }
  }
}

/* Times that rest on operators lack what published runs take beyond them, where there are several ranks: the band has
 * that factor too. The clock of capped power is uncertain on its own, and both errors add up in quadrature. */
static void
what_is_not_known_of_compute_widens_its_band (G_GNUC_UNUSED void **state)
{
  static const char keys[] = "kind: ddp, compute: {kind: roofline}";
  g_autoptr (Play) one = job (1, keys), two = job (2, keys);
  const FabSetup *alone = &fab_simulation_totals (one->simulation)->compute_known,
                 *both = &fab_simulation_totals (two->simulation)->compute_known;

  assert_true (fab_simulation_totals (one->simulation)->has_compute_known);
  assert_true (alone->low_factor > 0 && alone->low_factor < 1 && alone->high_factor > 1);
  assert_string_equal (alone->generation, "ampere");
  assert_string_equal (alone->precision, "bf16");
  assert_true (both->time_factor > 1);
  assert_near (both->time_factor, alone->time_factor, 1e-12);
  assert_near (both->low_factor, MIN (alone->low_factor * both->time_factor, 1), 1e-12);
  assert_near (both->high_factor, alone->high_factor * both->time_factor, 1e-12);

  g_autofree char *head = g_strdup_printf (HEAD, 1, keys);
  g_auto (GStrv) parts = g_strsplit (head, "nodes: 1,", 2);
  g_autofree char *yaml = g_strjoinv ("nodes: 1, power_cap: 60%,", parts);
  g_autoptr (Play) capped = play_new (catalog, yaml, NULL);
  const FabSetup *known = &fab_simulation_totals (capped->simulation)->compute_known;
  const FabClockBand *clock = &fab_simulation_cluster (capped->simulation)->device.cap_band;

  assert_true (clock->low_factor < 1 && clock->high_factor > 1);
  assert_near (log (known->low_factor), -hypot (log (alone->low_factor), log (clock->low_factor)), 1e-12);
  assert_near (log (known->high_factor), hypot (log (alone->high_factor), log (clock->high_factor)), 1e-12);
}

/* A batch of so many sequences is divided among the data-parallel ranks, 2 at a time; without one accumulation says how
 * many micro-batches there are. */
static void
a_batch_says_how_many_micro_batches_there_are (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint gpus, n_sequences;
    const char *keys;
  } rows[] = { { 1, 2, "kind: ddp" },
               { 1, 2, "kind: ddp, global_batch: 2" },
               { 1, 6, "kind: ddp, accumulation: 3" },
               { 1, 6, "kind: ddp, global_batch: 6" },
               { 4, 8, "kind: ddp, global_batch: 8" },
               { 4, 24, "kind: zero, stage: 1, global_batch: 24" },
               { 4, 24, "kind: megatron, parallel: {tensor: 2, pipeline: 2}, global_batch: 24" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = job (rows[i].gpus, rows[i].keys);

    assert_near (fab_simulation_totals (play->simulation)->tokens, 128.0 * rows[i].n_sequences, 0);
  }
}

/* NULL: the job is right. (transfer full) */
static char *
problem_of (guint gpus, const char *keys)
{
  g_autofree char *yaml = g_strdup_printf (HEAD, gpus, keys);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                         &error);
  g_autoptr (FabSimulation) simulation = scenario != NULL
                                           ? fab_simulation_new (scenario, &fab_models, NULL, &error)
                                           : NULL;

  assert_true ((simulation == NULL) == (error != NULL));
  return error != NULL ? g_strdup (error->message) : NULL;
}

/* Each part of an interleaved schedule gets rounds of at least as many micro-batches as there are stages, the last one
 * too; what is said to write is the next number of which this is true. */
static void
micro_batches_that_do_not_fit_are_refused (G_GNUC_UNUSED void **state)
{
#define PARTS "kind: megatron, parallel: {pipeline: 2, virtual: 2, schedule: interleaved%s}, accumulation: "
  static const struct {
    guint n_micro, round; /* 0: none is given */
    const char *problem;
  } rows[] = {
    { 1, 0, "needs at least as many micro-batches as stages; accumulation gives 1, and there are 2 stages" },
    { 2, 0, NULL },
    { 2, 1, "write parallel.round: 2" },
    { 3, 0, "3 micro-batches cannot pass 2 stages in rounds of 2, because" },
    { 3, 0, "write parallel.round: 3" },
    { 3, 3, NULL },
    { 4, 3, "write parallel.round: 2" },
    { 4, 1, "write parallel.round: 2" },
    { 4, 4, NULL },
    { 5, 3, NULL },
    { 5, 4, "write parallel.round: 3" },
    { 7, 0, "write parallel.round: 4" },
    { 7, 7, NULL },
    { 2, 5, NULL }
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *round = rows[i].round > 0 ? g_strdup_printf (", round: %u", rows[i].round)
                                               : g_strdup (""),
                    *keys = g_strdup_printf (PARTS "%u", round, rows[i].n_micro),
                    *problem = problem_of (4, keys);

    if (rows[i].problem == NULL ? problem != NULL
                                : problem == NULL || strstr (problem, rows[i].problem) == NULL)
      fail_msg ("%u micro-batches in rounds of %u: %s", rows[i].n_micro, rows[i].round, problem);
  }
  g_autofree char *one = problem_of (4, "kind: ddp, global_batch: 1"),
                  *odd = problem_of (4, "kind: ddp, global_batch: 12"),
                  *many = problem_of (1, "kind: ddp, global_batch: 200002"),
                  *most = problem_of (1, "kind: ddp, global_batch: 200000");
  assert_non_null (
      strstr (one, "global_batch 1 is not a multiple of micro_batch x data-parallel ranks = 2 x 4"));
  assert_non_null (
      strstr (odd, "global_batch 12 is not a multiple of micro_batch x data-parallel ranks = 2 x 4"));
  assert_null (most);
  assert_non_null (strstr (many, "global_batch makes 100001 micro-batches; the limit is 100000"));
}

/* What Adam moves for a parameter: 14 B where everything has 16 bits, 28 in FP32, 30 with a master weight. A fused
 * kernel has 73 % of the rate of the memory, and an operation at a time takes 2.79 times as long. What somebody says
 * counts in place of it, and without published software at the whole rate. */
static void
the_optimizer_moves_what_its_states_are (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *keys;
    double bytes;
  } rows[] = { { "kind: ddp, memory: {states: pure}", 14 / 0.73 },
               { "kind: ddp, memory: {states: fp32}", 28 / 0.73 },
               { "kind: ddp, memory: {states: mixed}", 30 / 0.73 },
               { "kind: megatron", 30 / 0.73 },
               { "kind: ddp, memory: {states: mixed}, software: {optimizer: foreach}", 30 / 0.73 * 2.79 },
               { "kind: ddp, optimizer_traffic: 1B", 1 / 0.73 },
               { "kind: ddp, optimizer_traffic: 100B, memory: {states: pure}", 100 / 0.73 },
               { "kind: ddp, optimizer_traffic: 100B, compute: {kind: mfu}", 100 },
               { "kind: ddp, optimizer_traffic: 1B, compute: {kind: mfu}", 1 },
               { "kind: ddp, compute: {kind: mfu}", 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = job (2, rows[i].keys);
    const FabDag *dag = fab_simulation_dag (play->simulation);
    double parameters = (double) fab_simulation_totals (play->simulation)->parameters,
           rate = (double) fab_simulation_cluster (play->simulation)->device.memory_bytes_per_s, s = -1;

    for (FabTaskId t = 0; t < dag->n_tasks; t++)
      if (strcmp (dag->tasks[t].name, "optimizer") == 0)
        s = fab_ps_to_seconds (fab_task_ps (&dag->tasks[t]));
    if (fabs (s - parameters * rows[i].bytes / rate) > 1e-6 * s + 1e-12)
      fail_msg ("%s: %g s", rows[i].keys, s);
  }
}

/* What runs a job: the software of its kind unless it is said; FP32 weights are cast in every pass (autocast) unless
 * the framework hands over 16-bit ones (FSDP, DeepSpeed), kernels are Megatron's, or products are in FP32 too. The
 * kernels of the loss are those that `loss` says; auto is a cast of the logits, which plain PyTorch does without, and
 * torch.compile fuses. */
static void
a_job_says_what_software_runs_it (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *keys, *stack;
    gboolean has_autocast;
    FabLoss loss;
  } rows[] = {
    { "kind: ddp", "eager", FALSE, FAB_LOSS_LOGITS },
    { "kind: ddp, memory: {states: fp32}", "eager", TRUE, FAB_LOSS_FP32 },
    { "kind: ddp, memory: {states: fp32}, precision: fp32", "eager", FALSE, FAB_LOSS_LOGITS },
    { "kind: ddp, memory: {states: fp32}, compute: {kind: auto, stack: compiled}", "compiled", TRUE,
      FAB_LOSS_FUSED },
    { "kind: ddp, memory: {states: fp32, kernels: fused}", "eager", FALSE, FAB_LOSS_FP32 },
    { "kind: ddp, memory: {states: fp32}, compute: {kind: auto, stack: nemo}", "nemo", FALSE, FAB_LOSS_FP32 },
    { "kind: fsdp", "eager", FALSE, FAB_LOSS_FP32 },
    { "kind: fsdp, memory: {states: pure}", "eager", FALSE, FAB_LOSS_LOGITS },
    { "kind: fsdp, memory: {states: fp32}", "eager", FALSE, FAB_LOSS_FP32 },
    { "kind: zero, stage: 3", "deepspeed", FALSE, FAB_LOSS_FP32 },
    { "kind: megatron", "megatron", FALSE, FAB_LOSS_FP32 },
    { "kind: megatron, memory: {loss: plain}", "megatron", FALSE, FAB_LOSS_LOGITS },
    { "kind: ddp, memory: {loss: autocast}", "eager", FALSE, FAB_LOSS_FP32 },
    { "kind: ddp, memory: {loss: fp32}", "eager", FALSE, FAB_LOSS_FP32 },
    { "kind: ddp, memory: {loss: fused}", "eager", FALSE, FAB_LOSS_FUSED },
    { "kind: ddp, memory: {loss: in_place}", "eager", FALSE, FAB_LOSS_FUSED },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = job (1, rows[i].keys);
    const FabJobTotals *totals = fab_simulation_totals (play->simulation);

    assert_string_equal (totals->stack, rows[i].stack);
    if (totals->software.has_autocast != rows[i].has_autocast || totals->software.loss != rows[i].loss)
      fail_msg ("%s: autocast %d, loss %d", rows[i].keys, totals->software.has_autocast,
                totals->software.loss);
  }
  g_autoptr (Play) usual = job (1, "kind: ddp"),
                   said = job (1, "kind: ddp, software: {pytorch: '2.4', optimizer: foreach}");
  const FabSoftware *one = &fab_simulation_totals (usual->simulation)->software,
                    *other = &fab_simulation_totals (said->simulation)->software;
  assert_int_equal (one->pytorch, fab_pytorch_usual ("ampere"));
  assert_false (one->is_pytorch_said);
  assert_int_equal (one->adam, FAB_ADAM_FUSED);
  assert_int_equal (other->pytorch, FAB_PYTORCH (2, 4));
  assert_true (other->is_pytorch_said);
  assert_int_equal (other->adam, FAB_ADAM_FOREACH);
}

/* Published runs take longer than what is priced: by the factor of their software, among several ranks. One rank waits
 * for nobody, a scale is from a run that had all of it, and other compute models know no such runs. */
static void
runs_take_what_published_ones_take (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint gpus;
    const char *compute;
    gboolean has_setup, has_factor, is_average;
  } rows[] = { { 2, "auto", TRUE, TRUE, TRUE },
               { 1, "auto", TRUE, FALSE, TRUE },
               { 2, "auto, scale: 0.9", TRUE, FALSE, TRUE },
               { 2, "auto, scale: 1.1", TRUE, FALSE, TRUE },
               { 2, "roofline", FALSE, FALSE, FALSE },
               { 2, "mfu", FALSE, FALSE, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *keys = g_strdup_printf ("kind: ddp, jitter: {gpus: 2%%}, compute: {kind: %s}",
                                             rows[i].compute);
    g_autoptr (Play) play = job (rows[i].gpus, keys);
    const FabJobTotals *totals = fab_simulation_totals (play->simulation);

    assert_int_equal (totals->has_setup, rows[i].has_setup);
    if ((totals->setup.time_factor > 1) != rows[i].has_factor)
      fail_msg ("%s on %u GPUs: %g", rows[i].compute, rows[i].gpus, totals->setup.time_factor);
    assert_int_equal (totals->waiting > 1, rows[i].is_average && rows[i].gpus > 1);
    assert_true (totals->has_measured_kernels);
    assert_true (totals->memory_low_factor > 0 && totals->memory_low_factor < 1);
    assert_true (totals->memory_high_factor > 1);
    assert_near (totals->most_slowness, 0, 0);
    assert_null (totals->slowness);
  }
}

/* Ranks that divide experts, two or more of them, run as such jobs do, and as uncertainly. */
static void
jobs_that_divide_experts_are_known_apart (G_GNUC_UNUSED void **state)
{
  double low[2], known[2];

  for (guint expert = 1; expert <= 4; expert++) {
    g_autofree char *keys = g_strdup_printf ("kind: ddp, parallel: {expert: %u}", expert),
                    *dense = g_strdup_printf (HEAD, expert == 1 ? 2 : expert, keys);
    g_auto (GStrv) parts = g_strsplit (dense, "biases: false", 2);
    g_autofree char *yaml = g_strjoinv ("biases: false, experts: {count: 12, per_token: 2}", parts);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);
    const FabJobTotals *totals = fab_simulation_totals (play->simulation);

    if (expert <= 2) {
      low[expert - 1] = totals->setup.low_factor;
      known[expert - 1] = totals->compute_known.low_factor;
    }
    assert_near (totals->setup.low_factor, low[expert > 1], 0);
    assert_near (totals->compute_known.low_factor, known[expert > 1], 0);
  }
  assert_true (low[0] < low[1] || low[0] > low[1]);
  assert_true (known[0] < known[1] || known[0] > known[1]);
}

/* What the host updates is no work of the GPU. */
static void
hosts_update_what_is_offloaded (G_GNUC_UNUSED void **state)
{
  static const char *const keys[] = { "kind: zero, stage: 2, offload: {optimizer: cpu}",
                                      "kind: zero, stage: 3, offload: {optimizer: cpu}",
                                      "kind: fsdp, cpu_offload: true", "kind: zero, stage: 2", "kind: fsdp" };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    g_autoptr (Play) play = job (2, keys[i]);
    const FabDag *dag = fab_simulation_dag (play->simulation);

    for (FabTaskId t = 0; t < dag->n_tasks; t++)
      if (strcmp (dag->tasks[t].name, "optimizer") == 0)
        assert_int_equal (fab_task_ps (&dag->tasks[t]) > 0, strstr (keys[i], "offload") == NULL);
  }
}

static void
tokens_of_the_whole_training_are_said (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) none = job (1, "kind: ddp"), some = job (1, "kind: ddp, train_tokens: 3e12");

  assert_near (fab_simulation_totals (none->simulation)->train_tokens, 0, 0);
  assert_near (fab_simulation_totals (some->simulation)->train_tokens, 3e12, 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_precision_is_that_of_the_job),
    cmocka_unit_test (work_is_counted_once),
    cmocka_unit_test (frozen_weights_have_no_gradients),
    cmocka_unit_test (ranks_agree_on_the_norm_of_divided_gradients),
    cmocka_unit_test (clipping_moves_the_gradients),
    cmocka_unit_test (what_varies_is_drawn),
    cmocka_unit_test (every_rank_has_the_memory_of_its_stage),
    cmocka_unit_test (classes_have_names),
    cmocka_unit_test (a_step_begins_with_its_samples),
    cmocka_unit_test (gradients_are_summed_once),
    cmocka_unit_test (micro_batches_that_are_alike_count_each),
    cmocka_unit_test (a_step_has_its_share_of_a_checkpoint),
    cmocka_unit_test (what_is_not_known_of_compute_widens_its_band),
    cmocka_unit_test (a_batch_says_how_many_micro_batches_there_are),
    cmocka_unit_test (micro_batches_that_do_not_fit_are_refused),
    cmocka_unit_test (the_optimizer_moves_what_its_states_are),
    cmocka_unit_test (a_job_says_what_software_runs_it),
    cmocka_unit_test (runs_take_what_published_ones_take),
    cmocka_unit_test (jobs_that_divide_experts_are_known_apart),
    cmocka_unit_test (hosts_update_what_is_offloaded),
    cmocka_unit_test (tokens_of_the_whole_training_are_said),
  };

  return play_run_tests ("totals", tests, &catalog);
}
