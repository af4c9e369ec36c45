/* SPDX-License-Identifier: Apache-2.0 */
/* bench_levels.c - every shipped scenario, one iteration, at the levels that play messages and packets, and with the
 * latter sampled. */
#include <string.h>

#include "tests/bench/bench.h"

/* What takes longer is ended, and its row fails. */
enum { MOST_S = 60 };

static const char *const levels[] = { "step", "packet", "sampled" };

typedef struct {
  const char *program, *scenario, *level;
  double peak_mib;
} LevelRun;

static BenchSample
run_once (gpointer data)
{
  LevelRun *self = data;
  const char *const argv[] = {
    self->program, "run", self->scenario, "--fidelity", self->level,       "--iterations",      "1",
    "--format",    "csv", "--no-db",      "--no-band",  "--no-bottleneck", "--allow-oversized", NULL
  };
  BenchChild child = bench_run_within (argv, NULL, MOST_S);

  self->peak_mib = MAX (self->peak_mib, child.peak_mib);
  g_free (child.output);
  return (BenchSample){ .value = child.is_good ? child.cpu_s : 0 };
}

static char *
describe (gpointer data)
{
  const LevelRun *self = data;

  return g_strdup_printf ("peak %.0f MiB", self->peak_mib);
}

static gint
by_name (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Sorted paths of the scenarios in a folder. (transfer full) */
static GPtrArray *
scenarios_of (const char *folder)
{
  GPtrArray *paths = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, ".yaml"))
      g_ptr_array_add (paths, g_build_filename (folder, name, NULL));
  g_ptr_array_sort (paths, by_name);
  return paths;
}

/* Whether the program takes it as a scenario: some files are pieces of others. */
static gboolean
is_scenario (const char *program, const char *path)
{
  const char *const argv[] = { program, "check", "--quiet", path, NULL };
  BenchChild child = bench_run (argv, NULL);

  g_free (child.output);
  return child.is_good;
}

void
bench_levels (Bench *bench)
{
  g_autoptr (GPtrArray) paths = scenarios_of (FAB_SOURCE_DIR "/scenarios");

  for (guint i = 0; i < paths->len; i++) {
    const char *path = g_ptr_array_index (paths, i);
    g_autofree char *name = g_path_get_basename (path);

    if (!is_scenario (bench_program (bench), path))
      continue;
    for (guint level = 0; level < G_N_ELEMENTS (levels); level++) {
      g_autofree char *work = g_strdup_printf ("%s, %s", name, levels[level]);
      LevelRun run = { bench_program (bench), path, levels[level], 0 };

      bench_measure (bench, &(BenchRow){ .work = work, .once = run_once }, describe, &run);
    }
  }
}
