/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory_limit.c - which runs are large, what they may take, and the largest variant of a study. */
#include "tests/support/test.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/memory.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static void
test_allow_large (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *given, *left;
    gboolean is_allowed;
  } cases[] = {
    { "run hello", "run hello", FALSE },
    { "run --allow-large hello", "run hello", TRUE },
    { "--allow-large run hello --allow-large", "run hello", TRUE },
    { "run hello --allow-larger", "run hello --allow-larger", FALSE },
    { "--allow-large", "", TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    char **argv = g_strsplit (cases[i].given, " ", -1);
    guint n_given = g_strv_length (argv);
    g_autofree char **words = g_memdup2 (argv, sizeof (char *) * (n_given + 1));
    int argc = (int) n_given;

    g_unsetenv ("FABRICAST_MEMORY");
    fab_cli_take_allow_large (&argc, words);
    g_autofree char *left = g_strjoinv (" ", words);
    assert_string_equal (left, cases[i].left);
    assert_int_equal (g_strv_length (words), argc);
    assert_int_equal (g_strcmp0 (g_getenv ("FABRICAST_MEMORY"), "all") == 0, cases[i].is_allowed);
    g_strfreev (argv);
  }
  g_unsetenv ("FABRICAST_MEMORY");
}

/* The item of an axis that has most nodes, micro-batches or requests, and all its keys with it: their product where
 * several of these change together. What is no such key makes no run large. */
static void
test_largest_variant (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *axis, *edits;
  } cases[] = {
    { "cluster.nodes=1,8,4", "cluster.nodes=8" },
    { "cluster.nodes=8", "cluster.nodes=8" },
    { "job.accumulation=64,2", "job.accumulation=64" },
    { "job.requests=5,6", "job.requests=6" },
    { "job.global_batch=16,32,8", "job.global_batch=32" },
    { "job.bucket=1MiB,8MiB", "" },
    { "job.micro_batch=1,8", "" },
    { "cluster.nodes=1,8,4 job.bucket=3MiB,2MiB,1MiB", "cluster.nodes=8 job.bucket=2MiB" },
    { "job.bucket=3MiB,2MiB,1MiB cluster.nodes=1,2,4", "job.bucket=1MiB cluster.nodes=4" },
    { "cluster.nodes=8,4,2 job.accumulation=2,8,9", "cluster.nodes=4 job.accumulation=8" }, /* 16, 32, 18 */
    { "cluster.nodes=2,4 job.accumulation=4,2",
      "cluster.nodes=2 job.accumulation=4" }, /* the first of both */
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (GStrv) words = g_strsplit (cases[i].axis, " ", -1);
    g_autoptr (GPtrArray) axes = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_axis_free);
    g_autoptr (FabEdits) edits = fab_edits_new ();

    for (guint k = 0; words[k] != NULL; k++)
      g_ptr_array_add (axes, fab_axis_parse (words[k], NULL));
    fab_cli_add_largest (edits, (const FabAxis *const *) axes->pdata, axes->len);
    g_autofree char *joined = g_strjoinv (" ", (char **) fab_edits_texts (edits));
    assert_string_equal (joined, cases[i].edits);
  }
}

static FabScenario *
scenario_of (const char *sets)
{
  static const char yaml[] = "name: test\n"
                             "iterations: 1\n"
                             "cluster: {node: dgx-a100, nodes: 2, gpus_per_node: 1, nics_per_node: 1}\n"
                             "job: {kind: ddp, model: gpt2, sequence: 128, compute: {kind: mfu, mfu: 40%}}\n";
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("test", yaml, strlen (yaml), NULL, &fab_models,
                                                         catalog, NULL);
  g_auto (GStrv) words = g_strsplit (sets, " ", 0);
  g_autoptr (FabEdits) edits = fab_edits_of ((const char *const *) words);
  g_autoptr (GError) error = NULL;

  fab_scenario_edit (scenario, edits);
  if (!fab_scenario_check (scenario, &error))
    fail_msg ("%s: %s", sets, error->message);
  return g_steal_pointer (&scenario);
}

/* How a check ended in a process of its own, since it bounds what a process may take. */
typedef struct {
  gboolean is_good;
  guint n_threads;
  guint64 limit; /* of the data of the process */
  char message[512];
} Outcome;

static Outcome
outcome_of (const char *sets, guint n_threads, const char *memory)
{
  Outcome outcome = { 0 };
  int ends[2], status;

  assert_int_equal (pipe (ends), 0);
  pid_t child = fork ();
  if (child == 0) {
    struct rlimit data = { 0 };
    GError *error = NULL;

    memory != NULL ? (void) g_setenv ("FABRICAST_MEMORY", memory, TRUE) : g_unsetenv ("FABRICAST_MEMORY");
    FabScenario *scenario = scenario_of (sets);
    outcome.n_threads = n_threads;
    outcome.is_good = fab_cli_check_memory (scenario, &outcome.n_threads, &error);
    getrlimit (RLIMIT_DATA, &data);
    outcome.limit = data.rlim_cur;
    if (error != NULL)
      g_strlcpy (outcome.message, error->message, sizeof outcome.message);
    _exit (write (ends[1], &outcome, sizeof outcome) == sizeof outcome ? 0 : 1);
  }
  assert_int_equal (read (ends[0], &outcome, sizeof outcome), sizeof outcome);
  assert_int_equal (waitpid (child, &status, 0), child);
  close (ends[0]);
  close (ends[1]);
  return outcome;
}

/* A limit is a size; "all" is none. */
static void
test_limits (G_GNUC_UNUSED void **state)
{
  static const char *const wrong[] = { "", "x", "0", "0B", "-1GB", "1.5" };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    Outcome outcome = outcome_of ("", 1, wrong[i]);
    g_autofree char *expected = g_strdup_printf ("FABRICAST_MEMORY=%s: write for example 64GB", wrong[i]);

    assert_false (outcome.is_good);
    assert_string_equal (outcome.message, expected);
  }
  Outcome all = outcome_of ("", 1, "all"), none = outcome_of ("", 1, NULL);
  assert_true (all.is_good && none.is_good);
  assert_int_equal (all.n_threads, 1);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  struct rlimit own = { 0 };
  Outcome bounded = outcome_of ("", 3, "64GB");

  getrlimit (RLIMIT_DATA, &own);
  assert_int_equal (all.limit, own.rlim_cur);
  assert_true (none.limit <= own.rlim_cur);
  assert_true (bounded.is_good);
  assert_int_equal (bounded.n_threads, 3);
  /* 64 GB beside what the process has, which is less than another GB */
  assert_true (own.rlim_cur < (guint64) 64e9
               || (bounded.limit > (guint64) 64e9 && bounded.limit < (guint64) 65e9));
#endif
}

/* From so many on, small runs say what the large one takes. Threads hold one more run each, so that with as many
 * of them as make twice as many runs it is half as many. One less is not looked at, and no limit refuses it. */
static void
test_from_how_many_on (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *key, *named;
    guint many, each; /* the key is so many of them */
    const char *more;
  } cases[] = {
    { "cluster.nodes", "nodes take about", 16384, 1, "" },
    { "cluster.nodes", "nodes take about", 512, 1, " fold=false" },
    { "job.accumulation", "micro-batches take about", 4096, 1, "" },
    { "job.global_batch", "micro-batches take about", 4096, 2, "" }, /* a sequence on each of two GPUs */
    { "job.global_batch", "micro-batches take about", 4096, 6, " job.micro_batch=3" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint n_threads = 1; n_threads <= 4; n_threads += 3) {
      guint many = cases[i].many * 3 / (2 + n_threads);

      for (guint less = 0; less < 2; less++) {
        g_autofree char *sets = g_strdup_printf ("%s=%u%s", cases[i].key, (many - less) * cases[i].each,
                                                 cases[i].more);
        Outcome outcome = outcome_of (sets, n_threads, "1B");
        g_autofree char *begin = g_strdup_printf ("%u %s ", many, cases[i].named);

        assert_int_equal (outcome.is_good, less == 1);
        if (less == 1)
          continue;
        assert_true (g_str_has_prefix (outcome.message, begin));
        assert_non_null (strstr (outcome.message, " of memory, and 1 B are free here: "));
        assert_non_null (strstr (outcome.message, ", or try it nevertheless with --allow-large"));
        assert_int_equal (outcome.n_threads, 1);
      }
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_allow_large),
    cmocka_unit_test (test_largest_variant),
    cmocka_unit_test (test_limits),
    cmocka_unit_test (test_from_how_many_on),
  };

  return play_run_tests ("memory_limit", tests, &catalog);
}
