/* SPDX-License-Identifier: Apache-2.0 */
/* bench_scale.c - whole processes: what one more iteration leaves behind, and what 16 384 GPUs take. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models/models.h"
#include "sim/scenario/simulation.h"
#include "tests/bench/bench.h"

#define MIB 0x1p20

/* Of a data-parallel job, and of one that is divided in all ways; either on 16 384 GPUs. */
typedef struct {
  double wall_s, peak_mib;
} Limits;

static const Limits plain_limits = { 10, 2048 }, divided_limits = { 30, 4096 };
static const double max_growth_mib = 0.25;

typedef struct {
  double wall_s, user_s, peak_mib;
  gboolean is_good;
  char *output;
} Child;

static void
child_start (char **argv, const int *ends)
{
  dup2 (ends[1], STDOUT_FILENO);
  close (ends[0]);
  close (ends[1]);
  execv (argv[0], argv);
  _exit (127);
}

static char *
read_all (int fd)
{
  GString *text = g_string_new (NULL);
  char part[4096];
  gssize n;

  while ((n = read (fd, part, sizeof part)) > 0)
    g_string_append_len (text, part, n);
  return g_string_free (text, FALSE);
}

/* Runs it to its end; `output` is what it printed. */
static Child
child_run (char **argv)
{
  double since_s = bench_now_s ();
  struct rusage usage = { 0 };
  Child child = { 0 };
  int ends[2], status = -1;
  pid_t pid;

  if (pipe (ends) != 0)
    return child;
  pid = fork ();
  if (pid == 0)
    child_start (argv, ends);
  close (ends[1]);
  child.output = read_all (ends[0]);
  close (ends[0]);
  child.is_good = pid > 0 && wait4 (pid, &status, 0, &usage) == pid && WIFEXITED (status)
               && WEXITSTATUS (status) == 0;
  child.wall_s = bench_now_s () - since_s;
  child.user_s = (double) usage.ru_utime.tv_sec + (double) usage.ru_utime.tv_usec / 1e6;
  child.peak_mib = (double) usage.ru_maxrss * 1024 / MIB;
  return child;
}

int
bench_steady_child (const char *scenario, const char *n_iterations)
{
  g_autofree char *set = g_strconcat ("iterations=", n_iterations, NULL);
  const char *const sets[] = { set, NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabCatalog) catalog = fab_catalog_load (FAB_SOURCE_DIR "/models/catalog", &fab_models, &error);
  g_autoptr (FabScenario) loaded = catalog ? fab_scenario_load (scenario, sets, &fab_models, catalog, &error)
                                           : NULL;
  g_autoptr (FabSimulation) simulation = loaded ? fab_simulation_new (loaded, &fab_models, NULL, &error)
                                                : NULL;

  if (simulation == NULL) {
    fprintf (stderr, "bench: %s\n", error->message);
    return 2;
  }
  while (fab_simulation_step (simulation))
    ;
  return 0;
}

/* Everything comes from pools that have grown in the first iterations. */
gboolean
bench_steady (const char *scenario)
{
  char *first_argv[] = { (char *) "/proc/self/exe", (char *) "--steady", (char *) scenario, (char *) "1000",
                         NULL };
  char *second_argv[] = { (char *) "/proc/self/exe", (char *) "--steady", (char *) scenario, (char *) "2000",
                          NULL };
  Child first = child_run (first_argv), second = child_run (second_argv);
  double growth_mib = second.peak_mib - first.peak_mib;
  gboolean is_good = first.is_good && second.is_good && growth_mib <= max_growth_mib;

  bench_row ("one DGX A100, GPT-2 XL, 1000 iterations", (second.wall_s - first.wall_s) * 1e3, "ms",
             "%.0f iterations/s", 1000 / (second.wall_s - first.wall_s));
  bench_row ("  memory that they leave behind", MAX (growth_mib, 0), "MiB", "of %.1f; %s", second.peak_mib,
             is_good ? "none is the rule" : "TOO MUCH, or they failed");
  g_free (first.output);
  g_free (second.output);
  return is_good;
}

/* The number behind "key" : in JSON, as text. */
static char *
find_number (const char *json, const char *key)
{
  const char *place = json ? strstr (json, key) : NULL;

  place = place ? strchr (place, ':') : NULL;
  if (place == NULL)
    return g_strdup ("?");
  place += strspn (place, ": ");
  return g_strndup (place, strspn (place, "0123456789"));
}

static gboolean
report (const char *what, const Child *child, const Limits *limits)
{
  g_autofree char *events = find_number (child->output, "\"events\"");
  gboolean is_fast = child->wall_s <= limits->wall_s, is_small = child->peak_mib <= limits->peak_mib;

  bench_row (what, child->wall_s, "s", "user %.2f s%s%s", child->user_s, *events == '?' ? "" : "; events ",
             *events == '?' ? "" : events);
  bench_row ("  peak memory", child->peak_mib, "MiB", "%s; %g s and %.0f MiB are promised",
             !child->is_good       ? "FAILED"
             : is_fast && is_small ? "good"
                                   : "ABOVE",
             limits->wall_s, limits->peak_mib);
  return child->is_good && is_fast && is_small;
}

gboolean
bench_scale (const char *program, const char *scenario)
{
  g_autofree char *directory = g_dir_make_tmp ("fab-bench-XXXXXX", NULL);
  g_autofree char *db = g_build_filename (directory ? directory : ".", "bench.db", NULL);
  char *alone_argv[] = { (char *) program,   (char *) "run",           (char *) scenario,
                         (char *) "--no-db", (char *) "--format=json", NULL };
  char *stored_argv[] = { (char *) program, (char *) "run", (char *) scenario, (char *) "--db", db, NULL };
  Child alone = child_run (alone_argv), stored = child_run (stored_argv);
  gboolean is_good = report ("16384 GPUs, Llama 2 7B, 3 iterations", &alone, &plain_limits);

  is_good = report ("  the same with page and results file", &stored, &plain_limits) && is_good;
  g_free (alone.output);
  g_free (stored.output);
  unlink (db);
  if (directory)
    rmdir (directory);
  return is_good;
}

gboolean
bench_divided (const char *program, const char *scenario)
{
  char *argv[] = { (char *) program,        (char *) "run",
                   (char *) scenario,       (char *) "--no-db",
                   (char *) "--set",        (char *) "cluster.nodes=2048",
                   (char *) "--format=csv", NULL };
  Child child = child_run (argv);
  gboolean is_good = report ("16384 GPUs, Llama 3.1 405B, TP 8 x PP 16 x DP 128", &child, &divided_limits);

  g_free (child.output);
  return is_good;
}

typedef struct {
  const char *what, *scenario;
  const char *sets[3]; /* NULL: no more */
  Limits limits;
} Folded;

static const Folded folded[] = {
  { "1024 GPUs, Llama 2 7B, DDP", "ddp-16384-gpus.yaml", { "cluster.nodes=128" }, { 0.1, 64 } },
  { "16384 GPUs, Llama 2 70B, ZeRO-3", "zero3-70b-16384.yaml", { NULL }, { 1, 2048 } },
  { "131072 GPUs, the same", "zero3-70b-16384.yaml", { "cluster.nodes=16384" }, { 10, 2048 } },
  { "1048576 GPUs, the same",
    "zero3-70b-16384.yaml",
    { "cluster.nodes=131072", "cluster.fabric.radix=256", "cluster.fabric.nodes_per_leaf=128" },
    { 60, 8192 } },
};

gboolean
bench_folded (const char *program, const char *folder)
{
  gboolean is_good = TRUE;

  for (guint i = 0; i < G_N_ELEMENTS (folded); i++) {
    g_autofree char *path = g_build_filename (folder, folded[i].scenario, NULL);
    g_autoptr (GPtrArray) argv = g_ptr_array_new ();
    const char *const first[] = { program, "run", path, "--no-db", "--format=csv", "--iterations=1" };

    for (guint k = 0; k < G_N_ELEMENTS (first); k++)
      g_ptr_array_add (argv, (gpointer) first[k]);
    for (guint k = 0; k < G_N_ELEMENTS (folded[i].sets) && folded[i].sets[k]; k++) {
      g_ptr_array_add (argv, (gpointer) "--set");
      g_ptr_array_add (argv, (gpointer) folded[i].sets[k]);
    }
    g_ptr_array_add (argv, NULL);
    Child child = child_run ((char **) argv->pdata);
    is_good = report (folded[i].what, &child, &folded[i].limits) && is_good;
    g_free (child.output);
  }
  return is_good;
}
