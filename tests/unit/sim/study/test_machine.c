/* SPDX-License-Identifier: Apache-2.0 */
/* test_machine.c - edits that give a machine other numbers of GPUs and other domains, and a job as many sequences. */
#include "sim/study/machine.h"

#include <string.h>

#include "models/models.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

/* (transfer full) */
static FabScenario *
scenario_of (const char *cluster)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {%s}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
      cluster);
  g_autoptr (GError) error = NULL;
  FabScenario *scenario = fab_scenario_parse ("t.yaml", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                              &error);

  if (scenario == NULL)
    fail_msg ("%s", error->message);
  return scenario;
}

typedef gboolean (*SetFn) (const FabScenario *scenario, guint n, FabEdits *edits, GError **error);

/* The edits as texts, or the error. (transfer full) */
static char *
result_of (SetFn set, const FabScenario *scenario, guint n)
{
  g_autoptr (FabEdits) edits = fab_edits_new ();
  g_autoptr (GError) error = NULL;

  if (!set (scenario, n, edits, &error))
    return g_strdup (error->message);
  return g_strjoinv (" ", (char **) fab_edits_texts (edits));
}

typedef struct {
  const char *cluster;
  guint n;
  const char *edits; /* or the beginning of the error */
} Row;

static void
assert_rows (SetFn set, const Row *rows, guint n)
{
  for (guint i = 0; i < n; i++) {
    g_autoptr (FabScenario) scenario = scenario_of (rows[i].cluster);
    g_autofree char *result = result_of (set, scenario, rows[i].n);

    if (strcmp (result, rows[i].edits) != 0)
      fail_msg ("%s to %u: %s", rows[i].cluster, rows[i].n, result);
  }
}

static void
gpus_and_domains_are_counted (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cluster;
    guint per_node, all, domain;
  } rows[] = {
    { "node: dgx-a100, nodes: 4", 8, 32, 8 },
    { "node: dgx-a100, nodes: 4, gpus_per_node: 3", 3, 12, 3 },
    { "node: gb200-tray, nodes: 18", 4, 72, 72 },
    { "node: gb200-tray, nodes: 3", 4, 12, 12 }, /* fewer than share the switches */
    { "node: gb200-tray, nodes: 36", 4, 144, 72 },
    { "node: gb200-tray, nodes: 36, domain_nodes: 9", 4, 144, 36 },
    { "node: gb200-tray, nodes: 36, gpus_per_node: 2", 2, 72, 36 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabScenario) scenario = scenario_of (rows[i].cluster);

    assert_int_equal (fab_machine_gpus_per_node (scenario), rows[i].per_node);
    assert_int_equal (fab_machine_gpus (scenario), rows[i].all);
    assert_int_equal (fab_machine_domain (scenario), rows[i].domain);
  }
}

/* Part of a node, or whole nodes. */
static void
any_whole_number_of_nodes_can_be_had (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { "node: dgx-a100, nodes: 4", 0, "0 GPUs are not a whole number of nodes of 8" },
    { "node: dgx-a100, nodes: 4", 1, "cluster.nodes=1 cluster.gpus_per_node=1" },
    { "node: dgx-a100, nodes: 4", 7, "cluster.nodes=1 cluster.gpus_per_node=7" },
    { "node: dgx-a100, nodes: 4", 8, "cluster.nodes=1" },
    { "node: dgx-a100, nodes: 4", 9, "9 GPUs are not a whole number of nodes of 8" },
    { "node: dgx-a100, nodes: 4", 16, "cluster.nodes=2" },
    { "node: dgx-a100, nodes: 4, gpus_per_node: 6", 16, "16 GPUs are not a whole number of nodes of 6" },
    { "node: dgx-a100, nodes: 4, gpus_per_node: 6", 18, "cluster.nodes=3" },
  };

  assert_rows (fab_machine_set_gpus, rows, G_N_ELEMENTS (rows));
}

/* As many GPUs in other domains: parts of nodes with their share of the NICs, nodes that share switches, or a node of
 * the catalogue with the same GPU. Of several, that of the most GPUs is taken. */
static void
domains_are_parts_of_nodes_or_nodes_of_the_catalogue (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { "node: dgx-a100, nodes: 4", 0, "a domain needs at least one GPU" },
    { "node: dgx-a100, nodes: 4", 4, "cluster.nodes=8 cluster.gpus_per_node=4 cluster.nics_per_node=4" },
    { "node: dgx-a100, nodes: 4", 1, "cluster.nodes=32 cluster.gpus_per_node=1 cluster.nics_per_node=1" },
    { "node: dgx-a100, nodes: 4, nics_per_node: 4", 2,
      "cluster.nodes=16 cluster.gpus_per_node=2 cluster.nics_per_node=1" },
    { "node: dgx-a100, nodes: 4, nics_per_node: 2", 1,
      "cluster.nodes=32 cluster.gpus_per_node=1 cluster.nics_per_node=1" },
    { "node: dgx-a100, nodes: 4, nics_per_node: 1", 4,
      "cluster.nodes=8 cluster.gpus_per_node=4 cluster.nics_per_node=1" },
    { "node: gb200-nvl72, nodes: 2", 144,
      "the catalogue joins gb200 in domains of 72 (a4x), 72 (oci-gb200), 72 (gb200-nvl72), 72 (gb200-tray), not of "
      "144" },
    { "node: dgx-a100, nodes: 4", 3, "nodes of 8 GPUs cannot be divided into domains of 3" },
    { "node: gb200-tray, nodes: 18", 2,
      "cluster.nodes=36 cluster.gpus_per_node=2 cluster.domain_nodes=1 cluster.nics_per_node=2" },
    { "node: gb200-tray, nodes: 18", 4, "cluster.domain_nodes=1" },
    { "node: gb200-tray, nodes: 18", 8, "cluster.domain_nodes=2" },
    { "node: gb200-tray, nodes: 36", 48, "cluster.domain_nodes=12" },
    { "node: gb200-tray, nodes: 18", 72,
      "cluster.node=gb200-nvl72 cluster.nodes=1 cluster.gpus_per_node=0 cluster.nics_per_node=0" },
    { "node: gb200-tray, nodes: 36, domain_nodes: 9", 72,
      "cluster.node=gb200-nvl72 cluster.nodes=2 cluster.gpus_per_node=0 cluster.nics_per_node=0 "
      "cluster.domain_nodes=0" },
    { "node: dgx-h100, nodes: 64", 256,
      "cluster.node=superpod-h100-256 cluster.nodes=2 cluster.gpus_per_node=0 cluster.nics_per_node=0" },
    { "node: dgx-h100, nodes: 33", 256,
      "264 GPUs are not a whole number of domains of 256; 512 GPUs are (cluster.nodes=64)" },
    { "node: dgx-h100, nodes: 90, gpus_per_node: 3", 256, /* 512 are no whole number of nodes */
      "270 GPUs are not a whole number of domains of 256; 768 GPUs are (cluster.nodes=256)" },
    { "node: trn2, nodes: 4", 48,
      "the catalogue joins trn2 in domains of 16 (trn2), 64 (trn2-ultra), not of 48" },
    { "node: trn2, nodes: 4", 64,
      "cluster.node=trn2-ultra cluster.nodes=1 cluster.gpus_per_node=0 cluster.nics_per_node=0" },
  };

  assert_rows (fab_machine_set_domain, rows, G_N_ELEMENTS (rows));
}

/* (transfer full) */
static char *
held (const FabBatch *batch, guint64 copies, gboolean is_strong)
{
  g_autoptr (FabEdits) edits = fab_edits_new (), by_gpus = fab_edits_new ();
  g_autoptr (GError) error = NULL, other = NULL;
  gboolean is_set = fab_batch_set_copies (batch, copies, is_strong, edits, &error);
  gboolean is_other = fab_batch_set (batch, (guint) (copies * batch->n_model_ranks), is_strong, by_gpus,
                                     &other);
  char *text = is_set ? g_strjoinv (" ", (char **) fab_edits_texts (edits)) : g_strdup (error->message);
  g_autofree char *same = is_other ? g_strjoinv (" ", (char **) fab_edits_texts (by_gpus))
                                   : g_strdup (other->message);

  assert_string_equal (text, same);
  return text;
}

/* What each copy of the model has stays; a global batch grows with the copies. */
static void
the_batch_of_a_copy_is_kept (G_GNUC_UNUSED void **state)
{
  for (guint64 global = 0; global <= 24; global++)
    for (guint64 before = 1; before <= 6; before++)
      for (guint64 after = 0; after <= 9; after++) {
        const FabBatch batch = { (guint) before * 4, 2, 3, global, 4 };
        g_autofree char *text = held (&batch, after, FALSE);
        g_autofree char *expected = global == 0 ? g_strdup ("")
                                  : after == 0  ? g_strdup ("the model is divided over 4 GPUs")
                                  : global * after % before != 0
                                      ? g_strdup_printf ("a global batch of %u on %u GPUs is none on %u",
                                                         (guint) global, (guint) before * 4,
                                                         (guint) after * 4)
                                      : g_strdup_printf ("job.global_batch=%u",
                                                         (guint) (global * after / before));

        assert_string_equal (text, expected);
        assert_int_equal (fab_batch_copies (&batch), before);
        assert_int_equal (fab_batch_sequences (&batch), global > 0 ? global : 2 * 3 * before);
      }
}

/* All sequences of a step stay: in the largest micro-batch that is not larger and divides the share of a copy. Where
 * the copies do not divide them, the nearest numbers that do are named. */
static void
the_batch_of_the_job_is_kept (G_GNUC_UNUSED void **state)
{
  for (guint64 micro = 1; micro <= 6; micro++)
    for (guint64 accumulation = 1; accumulation <= 3; accumulation++)
      for (guint64 before = 1; before <= 5; before++)
        for (guint64 after = 1; after <= 40; after++)
          for (guint64 global = 0; global <= 30; global += 30) {
            const FabBatch batch = { (guint) before * 2, micro, accumulation, global, 2 };
            guint64 all = global > 0 ? global : micro * accumulation * before, size = 0, fewer = 0, more = 0;
            g_autofree char *text = held (&batch, after, TRUE), *expected = NULL;

            for (guint64 m = 1; m <= micro; m++)
              size = all % (after * m) == 0 ? m : size;
            for (guint64 c = all; c > 0; c--) {
              more = c > after && all % c == 0 ? c : more;
              fewer = fewer == 0 && c < after && all % c == 0 ? c : fewer;
            }
            if (size > 0)
              expected = g_strdup_printf ("job.micro_batch=%u job.accumulation=%u job.global_batch=0",
                                          (guint) size, (guint) (all / after / size));
            else {
              g_autofree char *right = more > 0 ? g_strdup_printf ("%u or %u", (guint) fewer, (guint) more)
                                                : g_strdup_printf ("%u", (guint) fewer);
              expected = g_strdup_printf (
                  "a batch of %u sequence%s cannot be divided over %u copies of the model; it can over %s, and with "
                  "--hold micro_batch it grows with them",
                  (guint) all, all == 1 ? "" : "s", (guint) after, right);
            }
            assert_string_equal (text, expected);
          }
  const FabBatch none = { 8, 0, 1, 0, 1 }, divided = { 8, 1, 1, 0, 16 };
  g_autofree char *no_batch = held (&none, 4, TRUE), *no_copy = held (&divided, 0, TRUE),
                  *nothing = held (&divided, 1, TRUE);

  assert_string_equal (no_batch,
                       "the job has no batch that could be held; leave out --hold batch and --strong");
  assert_string_equal (no_copy, "the model is divided over 16 GPUs");
  assert_string_equal (nothing, "the model is divided over 16 GPUs"); /* no copy fits before */
}

/* Of a scenario: what it writes, and the GPUs that one copy is divided over. */
static void
batches_are_read_from_scenarios (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) plain = play_new (catalog,
                                     "name: t\ncluster: {node: dgx-h100, nodes: 2}\n"
                                     "job: {kind: ddp, model: gpt2-xl, micro_batch: 3, accumulation: 5}\n",
                                     NULL),
                   divided = play_new (
                       catalog,
                       "name: t\ncluster: {node: dgx-h100, nodes: 4}\n"
                       "job: {kind: megatron, model: llama3-8b, micro_batch: 1, global_batch: 64,\n"
                       "  sequence: 1024, parallel: {tensor: 4, pipeline: 2, context: 2}}\n",
                       NULL),
                   none = play_new (catalog,
                                    "name: t\ncluster: {node: dgx-h100, nodes: 1}\n"
                                    "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
                                    NULL);
  FabBatch a = fab_batch_of (plain->scenario), b = fab_batch_of (divided->scenario),
           c = fab_batch_of (none->scenario);

  assert_true (a.n_gpus == 16 && a.micro_batch == 3 && a.accumulation == 5 && a.global_batch == 0
               && a.n_model_ranks == 1);
  assert_true (b.n_gpus == 32 && b.micro_batch == 1 && b.global_batch == 64 && b.n_model_ranks == 16);
  assert_true (c.n_gpus == 8 && c.micro_batch == 0 && c.global_batch == 0 && fab_batch_sequences (&c) == 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (gpus_and_domains_are_counted),
    cmocka_unit_test (any_whole_number_of_nodes_can_be_had),
    cmocka_unit_test (domains_are_parts_of_nodes_or_nodes_of_the_catalogue),
    cmocka_unit_test (the_batch_of_a_copy_is_kept),
    cmocka_unit_test (the_batch_of_the_job_is_kept),
    cmocka_unit_test (batches_are_read_from_scenarios),
  };

  return play_run_tests ("machine", tests, &catalog);
}
