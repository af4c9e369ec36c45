/* SPDX-License-Identifier: Apache-2.0 */
/* test_explain.c - the chain from a figure to rates of links and accelerators, on machines whose numbers are round. */
#include "tests/unit/answer/explain/explained.h"

#include "sim/base/error.h"

/* Each GPU has 5 x 2 x 5 GB/s = 50 GB/s to the switch. A kernel reaches 0.8 x 128 / (128 + 32) of them, which is 32
 * GB/s, and a link takes 1 us. */
#define WIRE                                                                                                   \
  "links: [{name: wire, technology: NVLink, lanes: 2, signalling: 40Gb/s, latency: 1us, "                      \
  "copy: {payload: 256B, overhead: 64B, achievable: 0.5, source: copies}, "                                    \
  "kernel: {payload: 128B, overhead: 32B, achievable: 0.8, source: kernels}, source: a page, "                 \
  "date: 2026-01-01}]\n"                                                                                       \
  "nodes:\n  - name: own\n    accelerator: a100-sxm4-80gb\n"                                                   \
  "    parts: [{name: gpu, kind: accelerator, count: 4}, {name: sw, kind: switch}, {name: cpu, kind: host}]\n" \
  "    wires: [{from: gpu, to: sw, link: wire, count: 5}, {from: sw, to: cpu, link: pcie4-x16}]\n"
#define OWN WIRE "name: t\ncluster: {node: own, nodes: 1}\n"
#define MODEL                                                                                              \
  "models: [{name: m, summary: s, source: s, date: \"2026-11-29\", shape: {kind: transformer, layers: 4, " \
  "hidden: 1024, heads: 8, vocabulary: 1000, tied: false, biases: false}}]\n"
#define JOB "job: {model: m, micro_batch: 1, sequence: 512, %s}\n"
#define NODES "name: t\ncluster: {node: dgx-a100, nodes: 2, gpus_per_node: 4, nics_per_node: 2}\n"

static FabCatalog *catalog;

/* --- one collective --- */

/* A ring all-reduce of 1 GB over 4: 6 steps of 2 us, and 1.5 GB at 32 GB/s, which are 46.875 ms. */
static void
a_collective_goes_down_to_the_lanes (G_GNUC_UNUSED void **state)
{
  g_auto (Explained) it = explained (
      catalog,
      OWN "collectives: {kind: plain, algorithm: ring}\n"
          "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}, {op: all_reduce, size: 1GB}]}\n",
      "collective largest");
  const FabStatement *time = explained_find (&it, "time");

  assert_int_equal (it.out->statements->len, 5);
  assert_string_equal (time->title, "all_reduce operation0.0 of 1 GB over 4 ranks");
  assert_string_equal (time->formula, "startup + flow");
  assert_near (time->value, 46.887e-3, 1e-9);
  assert_near (explained_term (time, "startup"), 12e-6, 1e-9);
  assert_near (explained_term (time, "flow"), 46.875e-3, 1e-9);
  assert_true (explained_has_note (time, "The link that binds it: node0/gpu0 -> node0/sw, 5 x wire."));
  assert_true (explained_has_note (
      time, "algbw = size / time = 21.33 GB/s; busbw, what nccl-tests compares with the link: 31.99 GB/s."));
  assert_explained (
      explained_find (&it, "startup"),
      "1 time before bytes flow at full rate: startup = steps + software = 12 us + 0 s = 12 us\n"
      "steps: the successive steps around the ring, or up and down the tree; software: kernel "
      "start and pipeline fill.\n"
      "The latency of the links themselves is 12 us of it.");
  assert_explained (
      explained_find (&it, "flow"),
      "1 time of the bytes, alone on an idle network: flow = size * 2 * (n - 1) / n * share * "
      "loss * flags / line_rate = 1 GB * 2 * (4 - 1) / 4 * 1 * 1.5625 * 1 / 50 GB/s = 46.88 ms");
  assert_explained (
      explained_find (&it, "line_rate"),
      "2 line rate of the link, one direction: line_rate = links * lanes * signalling * coding = "
      "5 * 2 * 5 GB/s * 1 = 50 GB/s\n"
      "Datasheets add both directions: 100 GB/s there is 50 GB/s each way.\n"
      "[a page (2026-01-01)]");
  assert_explained (explained_find (&it, "loss"),
                    "2 line bytes per byte of payload: loss = library * (payload + header) / (payload * "
                    "achieved) = 1 * (128 B + 32 B) / (128 B * 0.8) = 1.5625\n"
                    "achieved: the best measured rate, as a fraction of what headers leave.\n"
                    "Kernels move packets of 128 bytes and copy engines packets of 256, so a copy test shows "
                    "more than a collective can reach.\n"
                    "[kernels]");
}

/* What a size counts differs from operation to operation. */
static void
each_operation_has_its_factor (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *op, *formula, *note;
  } rows[] = {
    { "all_gather", "size * (n - 1) / n * share * loss * flags / line_rate",
      "size of an all_gather is the whole result, as nccl-tests counts, not the part of a rank." },
    { "reduce_scatter", "size * (n - 1) / n * share * loss * flags / line_rate",
      "size of a reduce_scatter is the whole input, as nccl-tests counts." },
    { "all_to_all", "size * (n - 1) / n * share * loss * flags / line_rate", NULL },
    { "gather", "size * (n - 1) / n * share * loss * flags / line_rate", NULL },
    { "scatter", "size * (n - 1) / n * share * loss * flags / line_rate", NULL },
    { "broadcast", "size * share * loss * flags / line_rate", NULL },
    { "reduce", "size * share * loss * flags / line_rate", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *yaml = g_strdup_printf (
        OWN "collectives: plain\njob: {kind: collective, operations: [{op: %s, size: 1GB}]}\n", rows[i].op);
    g_auto (Explained) it = explained (catalog, yaml, "collective operation0.0");
    const FabStatement *flow = explained_find (&it, "flow");

    assert_string_equal (flow->formula, rows[i].formula);
    assert_int_equal (explained_has_note (flow, "size of "), rows[i].note != NULL);
    if (rows[i].note != NULL)
      assert_true (explained_has_note (flow, rows[i].note));
  }
}

/* The first of the largest; a name as it is; or the names of the first and the last. */
static void
collectives_are_found_by_name (G_GNUC_UNUSED void **state)
{
  static const char yaml[] = OWN "collectives: plain\njob: {kind: collective, operations: [{op: all_gather, "
                                 "size: 1MB}, {op: all_gather, size: 4MB}, {op: all_reduce, size: 4MB}, "
                                 "{op: all_gather, size: 2MB}]}\n";
  static const char *const rows[][2] = {
    { "collective LARGEST", "all_gather operation1.0 of 4 MB over 4 ranks" },
    { "collective operation0.0", "all_gather operation0.0 of 1 MB over 4 ranks" },
    { "collective operation3.0", "all_gather operation3.0 of 2 MB over 4 ranks" },
  };
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_auto (Explained) it = explained (catalog, yaml, rows[i][0]);
    const GArray *records = fab_simulation_probe (it.play->simulation)->collectives;

    assert_string_equal (explained_find (&it, "time")->title, rows[i][1]);
    if (i == 0) {
      const FabCollectiveRecord *record = &g_array_index (records, FabCollectiveRecord, 1);

      assert_near (explained_find (&it, "time")->value, (double) (record->end_ps - record->start_ps) / 1e12,
                   1e-12);
    }
  }
  g_auto (Explained) it = explained (catalog, yaml, "step");
  assert_null (fab_explain_collective (it.study, "operation9", &error));
  assert_string_equal (error->message,
                       "no collective is called 'operation9'; the first is operation0.0, the last "
                       "operation3.0: `fabricast query collectives`");
}

static void
a_rank_alone_has_no_collective (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  g_auto (Explained) it = explained (catalog,
                                     "name: t\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 1}\n" MODEL
                                     "job: {kind: ddp, model: m, micro_batch: 1, sequence: 512}\n",
                                     "step");

  assert_null (fab_explain_collective (it.study, "largest", &error));
  assert_string_equal (error->message, "the job has no collectives");
  assert_true (explained_has_note (explained_find (&it, "step"), "Means over 1 GPU, of the last iteration."));
}

/* --- what else could run --- */

static double
idle_seconds (const char *algorithm)
{
  g_autofree char *yaml = g_strdup_printf (
      OWN "collectives: {kind: plain, algorithm: %s}\n"
          "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}, {op: all_reduce, size: 1GB}]}\n",
      algorithm);
  g_autofree char *problem = play_problem (catalog, yaml);

  if (problem != NULL)
    return INFINITY;
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  const FabCollectivePlan *plan = &fab_simulation_dag (play->simulation)->collectives[1].plan;
  return strcmp (plan->algorithm, algorithm) != 0 ? INFINITY
                                                  : fab_ps_to_seconds (fab_collective_plan_idle_ps (plan));
}

/* Of all algorithms that can run the collective, the quickest other one is named. */
static void
the_next_best_algorithm_is_named (G_GNUC_UNUSED void **state)
{
  g_autofree const FabAlgorithmOps **all = fab_algorithms_by_preference (
      fab_models.lists[FAB_MODEL_ALGORITHM]);

  g_autofree double *seconds = NULL;
  guint n_all = 0;

  while (all[n_all] != NULL)
    n_all++;
  seconds = g_new (double, n_all);
  for (guint i = 0; i < n_all; i++)
    seconds[i] = idle_seconds (all[i]->info.name);
  for (guint i = 0; i < n_all; i++) {
    const char *name = all[i]->info.name, *best = NULL;
    double own_s = seconds[i], best_s = INFINITY;

    if (!isfinite (own_s))
      continue;
    for (guint k = 0; k < n_all; k++)
      if (k != i && seconds[k] < best_s) {
        best = all[k]->info.name;
        best_s = seconds[k];
      }
    g_autofree char *yaml = g_strdup_printf (
        OWN
        "collectives: {kind: plain, algorithm: %s}\n"
        "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}, {op: all_reduce, size: 1GB}]}\n",
        name);
    g_auto (Explained) it = explained (catalog, yaml, "collective operation1.0");
    g_autofree char *shown = fab_term_show (FAB_TERM_TIME, best_s);
    g_autofree char *expected = best_s >= own_s
                                  ? g_strdup_printf ("It runs as %s with none. The next best, %s with none, "
                                                     "would take %s alone: %.1f %% longer.",
                                                     name, best, shown, 100 * (best_s / own_s - 1))
                                  : g_strdup_printf (
                                      "It runs as %s with none, by the library's own estimate; "
                                      "%s with none would take %s alone, %.1f %% less "
                                      "(collectives.algorithm, collectives.protocol).",
                                      name, best, shown, 100 * (1 - best_s / own_s));
    if (!explained_has_note (explained_find (&it, "time"), expected)) {
      g_autofree char *text = explained_text (explained_find (&it, "time"));

      fail_msg ("\"%s\" is not in\n%s", expected, text);
    }
  }
}

static void
time_nccl (const char *key, const char *value, const FabCollectivePlan *did, double *best_s, char **best)
{
  g_autofree char *yaml = g_strdup_printf (
      NODES "collectives: {kind: nccl, %s: %s}\n"
            "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
      key, value);
  g_autofree char *problem = play_problem (catalog, yaml);

  if (problem != NULL)
    return;
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  const FabCollectivePlan *plan = &fab_simulation_dag (play->simulation)->collectives[0].plan;
  double seconds = fab_ps_to_seconds (fab_collective_plan_idle_ps (plan));

  if ((strcmp (plan->algorithm, did->algorithm) == 0 && strcmp (plan->protocol, did->protocol) == 0)
      || seconds >= *best_s)
    return;
  *best_s = seconds;
  g_free (*best);
  *best = g_strdup_printf ("%s with %s", plan->algorithm, plan->protocol);
}

/* NCCL may be held to another algorithm, and to another protocol of the same one. */
static void
the_next_best_protocol_is_named (G_GNUC_UNUSED void **state)
{
  static const char *const protocols[] = { "ll", "ll128", "simple" };
  g_autofree const FabAlgorithmOps **all = fab_algorithms_by_preference (
      fab_models.lists[FAB_MODEL_ALGORITHM]);
  g_auto (Explained) it = explained (
      catalog,
      NODES "collectives: nccl\njob: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
      "collective largest");
  const FabCollectivePlan *plan = &fab_simulation_dag (it.play->simulation)->collectives[0].plan;
  double best_s = INFINITY, own_s = fab_ps_to_seconds (fab_collective_plan_idle_ps (plan));
  g_autofree char *best = NULL;

  for (guint i = 0; all[i] != NULL; i++)
    time_nccl ("algorithm", all[i]->info.name, plan, &best_s, &best);
  for (guint i = 0; i < G_N_ELEMENTS (protocols); i++)
    time_nccl ("protocol", protocols[i], plan, &best_s, &best);
  g_autofree char *shown = fab_term_show (FAB_TERM_TIME, best_s);
  g_autofree char
      *expected = best_s >= own_s
                    ? g_strdup_printf ("It runs as %s with %s. The next best, %s, would take %s alone:",
                                       plan->algorithm, plan->protocol, best, shown)
                    : g_strdup_printf ("It runs as %s with %s, by the library's own estimate; %s would take "
                                       "%s alone,",
                                       plan->algorithm, plan->protocol, best, shown);

  if (!explained_has_note (explained_find (&it, "time"), expected)) {
    g_autofree char *text = explained_text (explained_find (&it, "time"));

    fail_msg ("\"%s\" is not in\n%s", expected, text);
  }
}

/* A port of another rate than the catalogue's has no lanes that multiply to it. */
static void
a_rate_that_the_scenario_sets_has_no_lanes (G_GNUC_UNUSED void **state)
{
  g_auto (Explained) it = explained (
      catalog,
      "name: t\ncluster: {node: dgx-a100, nodes: 2, gpus_per_node: 1, nics_per_node: 1, nic_rate: 100Gb/s}\n"
      "collectives: plain\njob: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n",
      "collective largest");

  assert_explained (explained_find (&it, "line_rate"),
                    "2 line rate of the link, one direction: line_rate = 12.5 GB/s\n"
                    "The scenario sets it (cluster.nic_rate, a fault, or sharing of the part).");
}

/* --- compute --- */

static double
planned_seconds (const Explained *self, const char *const *ends)
{
  const FabDag *dag = fab_simulation_dag (self->play->simulation);
  double seconds = 0;

  for (guint t = 0; t < dag->n_tasks; t++)
    for (guint i = 0; ends[i] != NULL; i++)
      if (dag->tasks[t].kind == FAB_SPAN_COMPUTE && g_str_has_suffix (dag->tasks[t].name, ends[i]))
        seconds += fab_ps_to_seconds (fab_task_ps (&dag->tasks[t]))
                 * dag->classes[dag->streams[dag->tasks[t].stream].rank_class].n_ranks / 8;
  return seconds;
}

static const char *const jobs[] = {
  "kind: ddp, compute: {kind: mfu, mfu: 50%}",
  "kind: ddp, recompute: full, compute: {kind: mfu, mfu: 50%}",
  "kind: zero, stage: 3, compute: auto",
  "kind: fsdp, compute: auto",
  "kind: fsdp, clip_gradients: false, compute: auto",
  "kind: megatron, parallel: {tensor: 4}, compute: {kind: mfu, mfu: 50%}",
  "kind: megatron, parallel: {tensor: 2, pipeline: 2}, accumulation: 2, compute: roofline",
};

static void
assert_part (const FabStatement *statement, const char *name, double seconds)
{
  if (seconds > 0)
    assert_near (explained_term (statement, name), seconds, 1e-9);
  else
    assert_true (isnan (explained_term (statement, name)));
}

/* Kernels, the optimizer, the norm of gradients and copies of sharding are what the plan has of them; the rest of the
 * measured compute is what collectives beside it cost. */
static void
compute_is_the_sum_of_its_tasks (G_GNUC_UNUSED void **state)
{
  guint n_optimizers = 0, n_clips = 0, n_copies = 0, n_slowed = 0;

  for (guint i = 0; i < G_N_ELEMENTS (jobs); i++) {
    g_autofree char *yaml = g_strdup_printf (NODES MODEL "collectives: plain\n" JOB, jobs[i]);
    g_auto (Explained) it = explained (catalog, yaml, "step");
    const FabStatement *compute = explained_find (&it, "compute");
    double all_s = planned_seconds (&it, (const char *[]){ "", NULL }),
           optimizer_s = planned_seconds (&it, (const char *[]){ "optimizer", NULL }),
           clip_s = planned_seconds (&it, (const char *[]){ "clip", NULL }),
           copies_s = planned_seconds (&it, (const char *[]){ ".copy_out", ".copy_in", NULL });
    double slowed_s = compute->value - all_s;

    n_optimizers += optimizer_s > 0;
    n_clips += clip_s > 0;
    n_copies += copies_s > 0;
    n_slowed += fabs (slowed_s) > 1e-6 * compute->value;
    assert_int_equal (compute->depth, 1);
    assert_near (explained_term (compute, "kernels"), all_s - optimizer_s - clip_s - copies_s, 1e-9);
    assert_near (explained_term (compute, "optimizer"), optimizer_s, 1e-9);
    assert_part (compute, "clip", clip_s);
    assert_part (compute, "copies", copies_s);
    if (fabs (slowed_s) > 1e-6 * compute->value)
      assert_near (explained_term (compute, "slowed"), slowed_s, 1e-6);
    else
      assert_true (isnan (explained_term (compute, "slowed")));
    g_autofree char *formula = g_strdup_printf ("kernels + optimizer%s%s%s", clip_s > 0 ? " + clip" : "",
                                                copies_s > 0 ? " + copies" : "",
                                                fabs (slowed_s) > 1e-6 * compute->value ? " + slowed" : "");
    assert_string_equal (compute->formula, formula);
    assert_int_equal (explained_has_note (compute, "optimizer: "), optimizer_s > 0);
    assert_int_equal (explained_has_note (compute, "clip: "), clip_s > 0);
    assert_int_equal (explained_has_note (compute, "copies: "), copies_s > 0);
    assert_int_equal (explained_has_note (compute, "slowed: "), fabs (slowed_s) > 1e-6 * compute->value);
  }
  assert_true (n_optimizers > 0 && n_clips > 0 && n_copies > 0 && n_slowed > 0);
}

/* Four layers of hidden 1024 have 4 x 12 x 1024^2 weights, and the logits 1000 x 1024 more: 51.36 million that are
 * multiplied with, 6 FLOP each. Attention over 512 positions adds 4 x 12 x 512 x 1024 / 1: 25.17 million of which the
 * mask leaves half. */
static void
flops_are_those_of_the_model (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < 2; i++) {
    g_autofree char *yaml = g_strdup_printf (NODES MODEL "collectives: plain\n" JOB, jobs[i]);
    g_auto (Explained) it = explained (catalog, yaml, "step");
    const FabStatement *flops = explained_find (&it, "flops"), *kernels = explained_find (&it, "kernels");
    const FabJobTotals *totals = fab_simulation_totals (it.play->simulation);
    double recomputed = totals->executed_flops_per_rank - totals->model_flops_per_rank;

    assert_int_equal (recomputed > 0, i == 1);
    assert_int_equal (flops->depth, 3);
    assert_string_equal (flops->formula, i == 1 ? "tokens * flops_per_token / gpus + recomputed"
                                                : "tokens * flops_per_token / gpus");
    assert_near (explained_term (flops, "tokens"), 8 * 512, 1e-12);
    assert_near (explained_term (flops, "gpus"), 8, 1e-12);
    assert_near (explained_term (flops, "flops_per_token"), totals->model_flops_per_rank * 8 / 4096, 1e-12);
    assert_part (flops, "recomputed", recomputed);
    assert_int_equal (explained_has_note (flops, "recomputed: "), i == 1);
    assert_int_equal (kernels->depth, 2);
    assert_string_equal (kernels->formula, "flops / (peak * mfu)");
    assert_near (explained_term (kernels, "peak"), 312e12, 1e-12);
    assert_near (explained_term (kernels, "mfu"), 0.5, 1e-12);
    assert_near (explained_term (kernels, "flops"), totals->executed_flops_per_rank, 1e-12);
    assert_near (kernels->value, totals->executed_flops_per_rank / 156e12, 1e-6);
    assert_true (explained_has_note (kernels, "peak: a100-sxm4-80gb, dense bf16 matrices."));
    assert_non_null (kernels->source);
    assert_null (explained_find (&it, "rate"));
  }
}

/* What the kernels of a micro-batch are made of, where the job's compute prices them. */
static void
kernels_are_priced_by_parts (G_GNUC_UNUSED void **state)
{
  g_autofree char *yaml = g_strdup_printf (NODES MODEL "collectives: plain\n" JOB, jobs[3]);
  g_auto (Explained) it = explained (catalog, yaml, "step");
  const FabJobTotals *totals = fab_simulation_totals (it.play->simulation);
  const FabStatement *priced = explained_find (&it, "priced"), *reached = explained_find (&it, "reached");
  g_autofree char *software = g_strdup_printf ("Software: %s, PyTorch %u.%u", totals->stack,
                                               totals->software.pytorch / 100,
                                               totals->software.pytorch % 100);
  g_autofree char *rule = g_strdup_printf (
      "A token costs 2 FLOP per parameter forward and 4 backward: 6 x %.4g "
      "parameters would be %.4g MFLOP.",
      (double) totals->parameters, 6e-6 * (double) totals->parameters);

  assert_string_equal (priced->formula, "products + attention + memory_bound + launches + host");
  assert_near (explained_term (priced, "products"), totals->parts.products_s, 1e-12);
  assert_near (explained_term (priced, "attention"), totals->parts.attention_s, 1e-12);
  assert_near (explained_term (priced, "memory_bound"), totals->parts.memory_bound_s, 1e-12);
  assert_near (explained_term (priced, "launches"), totals->parts.launches_s, 1e-12);
  assert_true (explained_term (priced, "host") == totals->parts.host_s);
  assert_true (explained_has_note (priced, software));
  assert_string_equal (reached->formula, "flops / (peak * kernels)");
  assert_near (explained_term (reached, "kernels"),
               explained_term (explained_find (&it, "compute"), "kernels"), 1e-12);
  assert_near (explained_term (reached, "peak"), 312e12, 1e-12);
  g_autofree char *waiting = g_strdup_printf (
      "They are %.4g times those of an average GPU, because every step waits for the slowest of 8 GPUs "
      "(job.jitter.gpus).",
      totals->waiting);
  assert_int_equal (explained_has_note (reached, waiting), totals->waiting > 1);
  assert_true (explained_has_note (explained_find (&it, "flops"), rule));
}

/* Under a power cap the clock is lower, and so is the rate of matrices. */
static void
a_power_cap_lowers_the_rate (G_GNUC_UNUSED void **state)
{
  g_auto (Explained) it = explained (
      catalog,
      "name: t\ncluster: {node: dgx-a100, nodes: 1, power_cap: 75%}\n" MODEL
      "collectives: plain\njob: {kind: ddp, model: m, micro_batch: 1, sequence: 512, compute: {kind: mfu, "
      "mfu: 50%}}\n",
      "step");
  const FabDevice *device = &fab_simulation_cluster (it.play->simulation)->device;
  const FabStatement *rate = explained_find (&it, "rate"), *kernels = explained_find (&it, "kernels");

  assert_string_equal (kernels->formula, "flops / (rate * mfu)");
  assert_true (isnan (explained_term (kernels, "peak")));
  assert_near (explained_term (kernels, "rate"), rate->value, 1e-12);
  assert_near (rate->value, 312e12 / device->capped.slowdown, 1e-12);
  assert_near (rate->value, 312e12 * device->capped.fraction / device->capped.full_fraction, 1e-9);
  assert_near (explained_term (rate, "peak"), 312e12, 1e-12);
  assert_int_equal (rate->depth, 3);
  assert_true (explained_has_note (rate, "A GPU may draw 75.0 % of its power (cluster.power_cap)."));
  /* What it draws without a cap, at the highest clock and voltage, less what does not switch. */
  const FabClockCurve *curve = &fab_catalog_accelerator (catalog, "a100-sxm4-80gb")->clock;
  g_autofree char *power = g_strdup_printf (
      "Power at a clock f is %.1f %% + %.4g %% x f V^2, with a voltage V that is constant below 77 %% of the "
      "highest clock and rises to 1.28 times as much",
      100 * curve->static_fraction, 100 * (curve->draw_fraction - curve->static_fraction) / (1.28 * 1.28));
  assert_true (explained_has_note (rate, power));
}

/* --- memory --- */

static const struct {
  const char *name, *formula, *note; /* NULL: not looked at */
} parts[] = {
  { "parameters", "count * share * bytes_each",
    "count: of its pipeline stage, divided by tensor and expert parallelism; share: what sharding leaves." },
  { "optimizer", "count * share * bytes_each",
    "count: parameters that are trained; share: what sharding leaves." },
  { "gradients", NULL, "Those that are there when the rank needs most." },
  { "activations", "waiting + tokens * bytes_per_token",
    "What forward passes leave for backward (docs/models/memory.md)." },
  { "logits", NULL, "The logits, and what the loss makes of them." },
  { "workspace", "count * bytes_each", "What cuBLAS takes of PyTorch's memory for each of its handles." },
};

static void
check_part (const FabStatement *statement)
{
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (strcmp (parts[i].name, statement->name) == 0) {
      assert_true (explained_has_note (statement, parts[i].note));
      if (parts[i].formula != NULL)
        assert_string_equal (statement->formula, parts[i].formula);
    }
}

static void
memory_is_the_sum_of_its_parts (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (jobs); i++) {
    g_autofree char *yaml = g_strdup_printf (NODES MODEL "collectives: plain\n" JOB, jobs[i]);
    g_auto (Explained) it = explained (catalog, yaml, "memory");
    const FabJobTotals *totals = fab_simulation_totals (it.play->simulation);
    const FabDag *dag = fab_simulation_dag (it.play->simulation);
    const FabStatement *memory = explained_find (&it, "memory");
    guint fullest = 0, n = 0;

    for (guint c = 0; c < dag->n_classes; c++)
      if (fab_job_totals_memory (totals, c) > fab_job_totals_memory (totals, fullest))
        fullest = c;
    g_autofree char *name = g_strdup_printf ("The fullest is %s.", dag->classes[fullest].name);
    assert_near (memory->value, (double) fab_job_totals_memory (totals, fullest), 1e-12);
    assert_int_equal (explained_has_note (memory, name), dag->n_classes > 1);
    assert_true (explained_has_note (memory, "A GPU has 80 GB: it fits."));
    for (guint p = 0; p < totals->memory->len; p++) {
      const FabMemoryPart *part = &g_array_index (totals->memory, FabMemoryPart, p);

      if (part->rank_class != fullest)
        continue;
      n++;
      assert_near (explained_term (memory, part->part), (double) part->bytes, 1e-12);
      const FabStatement *statement = g_ptr_array_index (it.out->statements, n);
      assert_string_equal (statement->name, part->part);
      assert_string_equal (statement->title, part->part);
      assert_int_equal (statement->depth, 1);
      assert_near (statement->value, (double) part->bytes, 1e-12);
      check_part (statement);
    }
    assert_int_equal (it.out->statements->len, n + 1);
    assert_int_equal (memory->terms->len, n);
  }
}

/* With one micro-batch under way in each stage, and a vocabulary of which the last stage has the logits, that stage
 * needs most. */
static void
the_fullest_stage_may_be_the_last (G_GNUC_UNUSED void **state)
{
  g_auto (Explained) it = explained (
      catalog,
      NODES
      "models: [{name: m, summary: s, source: s, date: \"2026-11-29\", shape: {kind: transformer, layers: 4, "
      "hidden: 64, heads: 8, vocabulary: 100000, tied: false, biases: false}}]\n"
      "collectives: plain\njob: {model: m, micro_batch: 1, sequence: 512, kind: megatron, parallel: "
      "{pipeline: 2}, accumulation: 1}\n",
      "memory");

  assert_true (explained_has_note (explained_find (&it, "memory"), "The fullest is stage 1."));
}

/* --- other figures --- */

/* The step as the mean over 8 GPUs, what limits it, and the link that is slowest. */
static void
a_step_is_its_parts (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (jobs); i++) {
    g_autofree char *yaml = g_strdup_printf (NODES MODEL "collectives: plain\n" JOB, jobs[i]);
    g_auto (Explained) it = explained (catalog, yaml, "step");
    g_autoptr (FabPoint) point = fab_study_point (it.study, NULL);
    const FabStatement *step = explained_find (&it, "step");
    g_autofree char *waiting = fab_term_show (FAB_TERM_TIME, point->waiting_s);
    g_autofree char *wait = g_strdup_printf ("For %s of it, a collective waits for its last rank.", waiting);
    g_autofree char *link = g_strdup_printf (
        "The slowest link of %.0f %% of the exposed communication is %s (", 100 * point->binding_fraction,
        point->binding);

    assert_int_equal (step->depth, 0);
    assert_near (step->value, point->step_s, 1e-12);
    assert_near (explained_term (step, "compute"), point->compute_s, 1e-12);
    assert_near (explained_term (step, "exposed"), point->exposed_s, 1e-12);
    assert_true (explained_term (step, "idle") == point->idle_s);
    assert_true (explained_has_note (step, "Means over 8 GPUs, of the last iteration."));
    assert_int_equal (explained_has_note (step, "idle: neither"), point->idle_s > 0);
    assert_int_equal (explained_has_note (step, wait), point->waiting_s > 0);
    assert_true (explained_has_note (step, "The step is limited by "));
    assert_true (explained_has_note (step, link));
    assert_int_equal (explained_find (&it, "compute")->depth, 1);
    assert_int_equal (explained_find (&it, "exposed")->depth, 1);
  }
}

static void
figures_begin_with_their_formula (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *figure, *title, *formula, *second; /* second: name of the statement below the first */
  } rows[] = {
    { "step", "time of an iteration", "compute + exposed + idle", "compute" },
    { "exposed", "exposed communication, share of the step", "exposed / step", "exposed" },
    { "exposed.data", "exposed.data, share of the step", "data / step", "data" },
    { "exposed.inter_node", "exposed.inter_node, share of the step", "inter_node / step", "step" },
    { "exposed.intra_node", "exposed.intra_node, share of the step", "intra_node / step", "step" },
    { "idle", "idle, share of the step", "idle / step", "step" },
    { "waiting", "waiting, share of the step", "waiting / step", "step" },
    { "mfu", "model FLOPs utilisation", "model_flops / (peak * step)", "step" },
    { "tokens", "tokens per second of the whole job", "tokens_per_step / step", "step" },
    { "train", "time of the whole training", "train_tokens / tokens", "step" },
    { "hour_cost", "cost of an hour", NULL, NULL },
    { "step_cost", "cost of an iteration", "hour_cost * step / hour", "hour_cost" },
    { "token_cost", "cost of a million tokens", "hour_cost * 1000000 / (3600 * tokens)", "hour_cost" },
  };
  g_autofree char *yaml = g_strdup_printf (
      NODES MODEL "collectives: plain\ncost: {rent: our-cloud}\n"
                  "products: [{name: our-cloud, kind: rent, node: dgx-a100, price_usd: 16}]\n" JOB,
      "kind: ddp, train_tokens: 1000000000, compute: {kind: mfu, mfu: 50%}");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_auto (Explained) it = explained (catalog, yaml, rows[i].figure);
    const FabFigure *figure = fab_figure_find (rows[i].figure);
    const FabStatement *first = g_ptr_array_index (it.out->statements, 0);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabPoint) point = fab_study_point (it.study, &error);

    assert_non_null (point);
    assert_string_equal (first->title, rows[i].title);
    if (rows[i].formula != NULL)
      assert_string_equal (first->formula, rows[i].formula);
    assert_near (first->value, figure->value (point), 1e-9);
    assert_int_equal (first->depth, 0);
    if (!isnan (explained_term (first, "step")))
      assert_near (explained_term (first, "step"), point->step_s, 1e-12);
    if (rows[i].second != NULL && strcmp (rows[i].second, "hour_cost") == 0)
      assert_int_equal (explained_find (&it, "step")->depth, 1);
    if (rows[i].second == NULL)
      continue;
    const FabStatement *second = g_ptr_array_index (it.out->statements, 1);
    assert_string_equal (second->name, rows[i].second);
    assert_int_equal (second->depth, 1);
  }
}

/* Eight GPUs are no groups of three. */
static void
what_cannot_be_played_has_no_explanation (G_GNUC_UNUSED void **state)
{
  g_autofree char *yaml = g_strdup_printf (NODES MODEL "collectives: plain\n" JOB,
                                           "kind: megatron, parallel: {tensor: 3}");
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                         &error);
  g_autoptr (FabStudy) study = scenario != NULL ? fab_study_of ("t", scenario, catalog, &fab_models) : NULL;

  assert_non_null (study);
  assert_null (fab_explain_figure (study, fab_figure_find ("step"), &error));
  assert_non_null (error);
}

static void
figures_that_have_no_explanation (G_GNUC_UNUSED void **state)
{
  g_auto (Explained) it = explained (catalog,
                                     OWN "collectives: plain\njob: {kind: collective, operations: [{op: "
                                         "all_reduce, size: 1MB}]}\n",
                                     "step");
  g_autoptr (GError) error = NULL, unknown = NULL;

  assert_null (fab_explain_figure (it.study, fab_figure_find ("capex"), &error));
  assert_string_equal (
      error->message,
      "'capex' cannot be explained; these figures can: step, exposed, exposed_time, exposed.data, "
      "exposed.tensor, exposed.context, exposed.expert, exposed.pipeline, exposed.offload, "
      "exposed.other, exposed.inter_node, exposed.intra_node, idle, waiting, mfu, tokens, train, "
      "memory, hour_cost, step_cost, token_cost");
  assert_null (fab_explain_figure (it.study, fab_figure_find ("mfu"), &unknown));
  assert_true (g_str_has_prefix (unknown->message, "there is no 'mfu' here: "));
}

/* --- what was left out --- */

static const FabStatement *
assert_counted (const Explained *self, const char *name, guint64 value)
{
  const FabStatement *statement = explained_find (self, name);

  assert_non_null (statement);
  assert_int_equal ((guint64) statement->value, value);
  return statement;
}

static void
the_run_tells_what_was_left_out (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint gpus_per_node;
    const char *fidelity, *job;
  } runs[] = {
    { 4, "fluid", "{model: m, micro_batch: 1, sequence: 512, kind: fsdp}" },
    { 4, "step", "{model: m, micro_batch: 1, sequence: 512, kind: fsdp}" },
    { 4, "{kind: step, memo: false}", "{model: m, micro_batch: 1, sequence: 512, kind: fsdp}" },
    { 4, "step", "{model: m, micro_batch: 1, sequence: 512, kind: ddp, bucket: 8MB}" },
    { 4, "{kind: packet, mtu: 16KiB}", "{model: m, micro_batch: 1, sequence: 512, kind: fsdp}" },
    { 8, "{kind: packet, mtu: 16KiB}", "{kind: collective, operations: [{op: all_reduce, size: 16MB}]}" },
  };
  guint n_skipped = 0, n_warm_ups = 0, n_rehearsals = 0, n_replays = 0;

  for (guint k = 0; k < G_N_ELEMENTS (runs); k++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\ncluster: {node: dgx-a100, nodes: 2, gpus_per_node: %u, nics_per_node: 2, fabric: switch}\n" MODEL
        "iterations: 2\ncollectives: plain\nfidelity: %s\njob: %s\n",
        runs[k].gpus_per_node, runs[k].fidelity, runs[k].job);
    g_auto (Explained) it = explained (catalog, yaml, "run");
    const FabSimulation *simulation = it.play->simulation;
    const FabEpisodesCount count = fab_simulation_episodes (simulation);
    const FabLanesCount lanes = fab_simulation_lanes (simulation);
    const FabFormsCount forms = fab_simulation_forms (simulation);
    const FabStatement *events = assert_counted (&it, "events", fab_simulation_events (simulation));
    guint n = 2;

    assert_int_equal (explained_has_note (events, "At this fidelity a collective of this job is one flow"),
                      lanes.n_lanes == 0);
    assert_counted (&it, "forms", forms.n_all - forms.n_derived - forms.n_known);
    assert_near (explained_term (explained_find (&it, "forms"), "derived"), forms.n_derived, 0);
    if (lanes.n_lanes > 0) {
      const FabStatement *statement = assert_counted (&it, "lanes", lanes.n_lanes);

      assert_near (explained_term (statement, "all"), (double) (lanes.n_lanes + lanes.n_alike), 0);
      assert_near (explained_term (statement, "alike"), (double) lanes.n_alike, 0);
      n++;
    }
    if (count.n_collectives > 0) {
      const FabStatement *statement = assert_counted (&it, "simulated",
                                                      count.n_collectives - count.n_collectives_remembered);

      assert_near (explained_term (statement, "collectives"), (double) count.n_collectives, 0);
      assert_near (explained_term (statement, "remembered"), (double) count.n_collectives_remembered, 0);
      g_autofree char *replays = g_strdup_printf ("%" G_GUINT64_FORMAT " times traffic that was known",
                                                  count.n_replays);
      assert_int_equal (explained_has_note (statement, replays), count.n_replays > 0);
      n++;
    }
    if (count.n_skipped > 0)
      n++, assert_counted (&it, "skipped", count.n_skipped);
    if (count.n_warm_ups > 0) {
      const FabStatement *statement = assert_counted (&it, "warm_ups", count.n_warm_ups);

      assert_near (explained_term (statement, "used"), (double) count.n_warm_ups_used, 0);
      assert_near (explained_term (statement, "unused"), (double) (count.n_warm_ups - count.n_warm_ups_used),
                   0);
      n++;
    }
    if (count.n_rehearsals > 0)
      n++, assert_counted (&it, "rehearsals", count.n_rehearsals);
    assert_int_equal (it.out->statements->len, n);
    for (guint i = 0; i < n; i++)
      assert_int_equal (((FabStatement *) g_ptr_array_index (it.out->statements, i))->depth, i > 0);
    n_skipped += count.n_skipped > 0;
    n_warm_ups += count.n_warm_ups > 0;
    n_rehearsals += count.n_rehearsals > 0;
    n_replays += count.n_replays > 0;
  }
  assert_true (n_skipped > 0);
  assert_true (n_warm_ups > 0);
  assert_true (n_rehearsals > 0);
  assert_true (n_replays > 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_collective_goes_down_to_the_lanes),
    cmocka_unit_test (each_operation_has_its_factor),
    cmocka_unit_test (collectives_are_found_by_name),
    cmocka_unit_test (a_rank_alone_has_no_collective),
    cmocka_unit_test (the_next_best_algorithm_is_named),
    cmocka_unit_test (the_next_best_protocol_is_named),
    cmocka_unit_test (a_rate_that_the_scenario_sets_has_no_lanes),
    cmocka_unit_test (kernels_are_priced_by_parts),
    cmocka_unit_test (compute_is_the_sum_of_its_tasks),
    cmocka_unit_test (flops_are_those_of_the_model),
    cmocka_unit_test (a_power_cap_lowers_the_rate),
    cmocka_unit_test (memory_is_the_sum_of_its_parts),
    cmocka_unit_test (figures_begin_with_their_formula),
    cmocka_unit_test (the_fullest_stage_may_be_the_last),
    cmocka_unit_test (a_step_is_its_parts),
    cmocka_unit_test (what_cannot_be_played_has_no_explanation),
    cmocka_unit_test (figures_that_have_no_explanation),
    cmocka_unit_test (the_run_tells_what_was_left_out),
  };

  return play_run_tests ("explain", tests, &catalog);
}
