/* SPDX-License-Identifier: Apache-2.0 */
/* test_unknown_keys.c - what is said of a key that a scenario does not have (sim/config/schema_unknown.c): where it
 * belongs, who has it, what it is called here, or what is nearest to it.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/scenario/scenario.h"
#include "tests/support/play.h"

#define MACHINE "name: t\ncluster: {node: dgx-a100, nodes: 2}\n"

static FabCatalog *catalog;

/* The message about the first mistake, without the line that it shows. (transfer full) */
static char *
message_of (const char *yaml, const char *const *sets)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), sets, &fab_models, catalog,
                                                         &error);

  if (scenario != NULL)
    fail_msg ("accepted: %s", yaml);
  return g_strndup (error->message, strcspn (error->message, "\n"));
}

static void
assert_said (const char *yaml, const char *expected)
{
  g_autofree char *message = message_of (yaml, NULL);
  const char *found = strstr (message, "unknown key");

  if (found == NULL || strcmp (found, expected) != 0)
    fail_msg ("'%s' says '%s', and not '%s'", yaml, message, expected);
}

#define JOB(keys_) MACHINE "job: {model: gpt2-xl, micro_batch: 1, sequence: 512, " keys_ "}\n"

/* A model that does not have it, and those of its kind that do. */
static void
models_that_have_the_key_are_named (G_GNUC_UNUSED void **state)
{
  assert_said (JOB ("kind: ddp, stage: 2"),
               "unknown key 'stage'; 'ddp' does not have it; these have it: 'zero'");
  assert_said (JOB ("kind: fsdp, pattern: shift"),
               "unknown key 'pattern'; 'fsdp' does not have it; these have it: 'traffic'");
  assert_said (JOB ("kind: fsdp, bucket: 1MB"),
               "unknown key 'bucket'; 'fsdp' does not have it; these have it: 'ddp', 'megatron', 'rl'");
  assert_said (MACHINE "fidelity: {kind: fluid, mtu: 1kB}\njob: {kind: ddp, model: gpt2-xl}\n",
               "unknown key 'mtu'; 'fluid' does not have it; these have it: 'packet'");
}

/* The table below in which it is, alone or beside what is nearest. */
static void
the_table_of_the_key_is_named (G_GNUC_UNUSED void **state)
{
  assert_said (JOB ("kind: megatron, tensor: 2"),
               "unknown key 'tensor'; it is a key of 'parallel': write 'parallel: {tensor: ...}'");
  assert_said (JOB ("kind: megatron, mfu: 40%"),
               "unknown key 'mfu'; it is a key of 'compute': write 'compute: {kind: mfu, mfu: ...}'");
  assert_said (MACHINE "fluid: {}\njob: {kind: ddp, model: gpt2-xl}\n",
               "unknown key 'fluid'; it is a key of 'fidelity': write 'fidelity: fluid'");
  assert_said (
      JOB ("kind: megatron, parallel: {overlap: true}"),
      "unknown key 'overlap'; nearest is 'overlap_tensor', or it is a key of 'moe': write 'moe: {overlap: ...}'");
}

/* A key of another mapping, or of the top level, where nothing closer has it. */
static void
the_place_at_the_top_is_named (G_GNUC_UNUSED void **state)
{
  assert_said (JOB ("kind: ddp, iterations: 2"),
               "unknown key 'iterations'; it is a key of the top level, outside of all others");
  assert_said (JOB ("kind: ddp, nic_rate: 400Gb/s"),
               "unknown key 'nic_rate'; it is a key of 'cluster': write 'cluster: {nic_rate: ...}'");
  assert_said (JOB ("kind: megatron, parallel: {micro_batch: 2}"),
               "unknown key 'micro_batch'; it is a key of 'job': write 'job: {micro_batch: ...}'");
  /* What is nearest says more where one is the beginning of the other. */
  assert_said (JOB ("kind: ddp, kinds: 2"), "unknown key 'kinds'; nearest is 'kind'");
  assert_said (JOB ("kind: megatron, parallel: {order_of: 1}"), "unknown key 'order_of'; nearest is 'order'");

  static const char *const sets[][2] = {
    { "job.parallel.nic_rate=400Gb/s",
      "unknown key 'nic_rate'; it is a key of 'cluster': write 'cluster.nic_rate=400Gb/s'" },
    { "micro_batch=8", "unknown key 'micro_batch'; it is a key of 'job': write 'job.micro_batch=8'" },
    { "cluster.micro_batch=8", "unknown key 'micro_batch'; it is a key of 'job': write 'job.micro_batch=8'" },
    { "cluster.iterations=3",
      "unknown key 'iterations'; it is a key of the top level, outside of all others" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (sets); i++) {
    const char *const one[] = { sets[i][0], NULL };
    g_autofree char *message = message_of (JOB ("kind: megatron"), one);

    assert_string_equal (strstr (message, "unknown key"), sets[i][1]);
  }
}

/* Words of other programs, whatever their case. */
static void
other_programs_words_are_known (G_GNUC_UNUSED void **state)
{
  static const char *const words[][2] = {
    { "batch_size", "micro_batch" },
    { "Train_Batch_Size", "global_batch" },
    { "gradient_accumulation_steps", "accumulation" },
    { "max_seq_len", "sequence" },
    { "dtype", "precision" },
    { "gradient_checkpointing", "recompute" },
    { "bucket_cap_mb", "bucket" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++) {
    g_autofree char *yaml = g_strdup_printf (MACHINE "job: {model: gpt2-xl, kind: ddp, %s: 1}\n",
                                             words[i][0]),
                    *expected = g_strdup_printf ("unknown key '%s'; here it is called '%s'", words[i][0],
                                                 words[i][1]);

    assert_said (yaml, expected);
  }
  assert_said (
      JOB ("kind: megatron, tp: 8"),
      "unknown key 'tp'; here it is called 'tensor'; it is a key of 'parallel': write 'parallel: {tensor: ...}'");
}

static void
the_nearest_key_is_named (G_GNUC_UNUSED void **state)
{
  assert_said (JOB ("kind: ddp, bukcet: 1MB"), "unknown key 'bukcet'; nearest is 'bucket'");
  assert_said (MACHINE "sed: 1\njob: {kind: ddp, model: gpt2-xl}\n", "unknown key 'sed'; nearest is 'seed'");
}

/* An assignment is written whole, with the path and the value that it had. */
static void
assignments_are_written_whole (G_GNUC_UNUSED void **state)
{
  static const char *const rows[][2] = {
    { "job.tensor=2", "write 'job.parallel.tensor=2'" },
    { "job.mfu=40%", "write 'job.compute.mfu=40%'" },
    { "fluid=1", "write 'fidelity=fluid'" },
    { "mtu=4kB", "write 'fidelity.mtu=4kB'" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *message = message_of (JOB ("kind: megatron"), (const char *[]){ rows[i][0], NULL });

    if (!g_str_has_suffix (message, rows[i][1]))
      fail_msg ("%s: %s", rows[i][0], message);
  }
}

/* A list of the top level that has the name of a key below it is given a value: the key is named as it is to be
 * written, in a file and for --set. */
static void
a_value_for_a_list_names_the_key_of_that_name (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *assignment, *said;
  } rows[] = {
    { "nodes=4", "--set: nodes=4: 'nodes' is a list here; for the key of 'cluster' write 'cluster.nodes=4'" },
    { "failures=none", "--set: failures=none: 'failures' is a list here; for the key of 'reliability' write "
                       "'reliability.failures=none'" },
  };
  const char *plain = MACHINE "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n";
  g_autofree char *in_file = g_strconcat (plain, "nodes: 4\n", NULL),
                  *indented = g_strconcat (plain, "failures:  x\n", NULL);
  g_autofree char *of_file = message_of (in_file, NULL), *of_other = message_of (indented, NULL);

  assert_string_equal (
      of_file, "t:4:8: 'nodes' is a list here; for the key of 'cluster' write 'cluster: {nodes: ...}'");
  assert_string_equal (of_other, "t:4:12: 'failures' is a list here; for the key of 'reliability' write "
                                 "'reliability: {failures: ...}'");
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const char *const sets[] = { rows[i].assignment, NULL };
    g_autofree char *message = message_of (plain, sets);

    assert_string_equal (message, rows[i].said);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (models_that_have_the_key_are_named),
    cmocka_unit_test (the_table_of_the_key_is_named),
    cmocka_unit_test (the_place_at_the_top_is_named),
    cmocka_unit_test (other_programs_words_are_known),
    cmocka_unit_test (the_nearest_key_is_named),
    cmocka_unit_test (assignments_are_written_whole),
    cmocka_unit_test (a_value_for_a_list_names_the_key_of_that_name),
  };

  return play_run_tests ("unknown_keys", tests, &catalog);
}
