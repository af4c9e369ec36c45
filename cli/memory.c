/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/memory.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/units.h"
#include "sim/run/run.h"

/* From so many nodes on, a run may take more than 1 GB (50 kB per node when alike nodes are built once, 2 to 5 MB when
 * every rank is built by itself; measured with scenarios/hello.yaml, zero3-70b-16384.yaml and megatron-405b.yaml). The
 * sample runs take a few per cent of its time. */
enum { MANY_NODES = 16384, MANY_NODES_UNFOLDED = 512 };

/* The smallest of three runs, of n, 2n and 4n nodes. The first that can be played is taken: the ranks must divide as
 * the job asks. */
static const guint sample_nodes[] = { 256, 384, 320, 0 }, sample_nodes_unfolded[] = { 8, 12, 10, 16, 0 };

/* Growth by more than this from one sample to the next is a cost per pair of nodes. */
#define QUADRATIC 1.3

/* --- what there is --- */

/* Returns the number after `key` in a file of the kernel; G_MAXUINT64 when it says none. */
static guint64
kernel_number (const char *path, const char *key)
{
  g_autofree char *text = NULL;
  const char *found;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return G_MAXUINT64;
  found = strstr (text, key);
  if (found == NULL)
    return G_MAXUINT64;
  found += strlen (key);
  while (g_ascii_isspace (*found))
    found++;
  return g_ascii_isdigit (*found) ? g_ascii_strtoull (found, NULL, 10) : G_MAXUINT64;
}

static guint64
left_of (guint64 limit, guint64 used)
{
  return limit == G_MAXUINT64 ? limit : limit - MIN (limit, used);
}

/* Returns how many bytes this process can still take. */
static guint64
free_bytes (void)
{
  guint64 available_kib = kernel_number ("/proc/meminfo", "MemAvailable:");
  guint64 group = left_of (kernel_number ("/sys/fs/cgroup/memory.max", ""),
                           kernel_number ("/sys/fs/cgroup/memory.current", ""));
  guint64 pages = kernel_number ("/proc/self/statm", "");
  struct rlimit space = { RLIM_INFINITY, RLIM_INFINITY };
  guint64 most = available_kib == G_MAXUINT64 ? available_kib : available_kib << 10;

  getrlimit (RLIMIT_AS, &space);
  if (space.rlim_cur != RLIM_INFINITY && pages != G_MAXUINT64)
    most = MIN (most, left_of (space.rlim_cur, pages * (guint64) sysconf (_SC_PAGESIZE)));
  return MIN (most, group);
}

static gboolean
read_limit (guint64 *bytes, GError **error)
{
  const char *wanted = g_getenv ("FABRICAST_MEMORY");
  gint64 value = 0;

  *bytes = free_bytes ();
  if (wanted == NULL)
    return TRUE;
  if (!fab_units_parse_whole (FAB_UNIT_BYTES, wanted, &value, NULL) || value < 1)
    return fab_throw (error, FAB_ERROR_INPUT, "FABRICAST_MEMORY=%s: write for example 64GB", wanted);
  *bytes = (guint64) value;
  return TRUE;
}

/* --- what it takes --- */

static double
peak_bytes (void)
{
  struct rusage usage = { 0 };

  getrusage (RUSAGE_SELF, &usage);
  return (double) usage.ru_maxrss * 1024;
}

/* Plays one iteration on so many nodes, and again beside it, as `run` does for its what-if. FALSE: that cannot be. */
static gboolean
play_on (const FabScenario *scenario, guint n_nodes)
{
  g_autoptr (FabScenario) copy = fab_scenario_copy (scenario);
  g_autoptr (FabSimulation) first = NULL, second = NULL;
  const FabRunOptions options = { .n_iterations = 1 };

  if (!fab_scenario_set (copy, "cluster.nodes", fab_value_count (n_nodes), NULL)
      || !fab_scenario_check (copy, NULL))
    return FALSE;
  first = fab_scenario_run (copy, &fab_models, NULL, &options, NULL);
  second = first != NULL ? fab_scenario_run (copy, &fab_models, NULL, &options, NULL) : NULL;
  return second != NULL;
}

/* Returns the peak that a run on n_nodes will have; 0: not known. */
static double
estimate_bytes (const FabScenario *scenario, const guint *tries, double n_nodes)
{
  double peaks[3] = { 0 }, n = 0;
  guint n_played = 0;

  for (; *tries != 0 && n_played < G_N_ELEMENTS (peaks); tries++) {
    n = *tries;
    for (n_played = 0; n_played < G_N_ELEMENTS (peaks) && play_on (scenario, *tries << n_played); n_played++)
      peaks[n_played] = peak_bytes ();
  }
  if (n_played < G_N_ELEMENTS (peaks))
    return 0;
  double first = (peaks[1] - peaks[0]) / n, second = (peaks[2] - peaks[1]) / (2 * n);
  double per_pair = first > 0 && second > QUADRATIC * first ? (second - first) / (3 * n) : 0;
  double per_node = MAX (second - 6 * n * per_pair, 0);
  return peaks[2] + per_node * (n_nodes - 4 * n) + per_pair * (n_nodes * n_nodes - 16 * n * n);
}

static void
show_estimate (double bytes, gint64 n_nodes)
{
  g_autofree char *text = fab_units_show (FAB_UNIT_BYTES, bytes);

  if (isatty (STDERR_FILENO) == 1)
    g_printerr ("\r\033[K%" G_GINT64_FORMAT " %s about %s of memory\n", n_nodes,
                fab_plural ((guint64) n_nodes, "node takes", "nodes take"), text);
}

gboolean
fab_cli_check_memory (const FabScenario *scenario, GError **error)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  gint64 n_nodes = spec->cluster.nodes;
  guint64 limit;

  if (n_nodes < (spec->is_folded ? MANY_NODES : MANY_NODES_UNFOLDED))
    return TRUE;
  if (!read_limit (&limit, error))
    return FALSE;
  if (isatty (STDERR_FILENO) == 1)
    g_printerr ("\r\033[Kestimating the memory of %" G_GINT64_FORMAT " %s", n_nodes,
                fab_plural ((guint64) n_nodes, "node", "nodes"));
  double needed = estimate_bytes (scenario, spec->is_folded ? sample_nodes : sample_nodes_unfolded,
                                  (double) n_nodes);
  show_estimate (needed, n_nodes);
  if (needed <= (double) limit)
    return TRUE;
  g_autofree char *needs = fab_units_show (FAB_UNIT_BYTES, needed),
                  *has = fab_units_show (FAB_UNIT_BYTES, (double) limit);
  return fab_throw (error, FAB_ERROR_UNSUPPORTED,
                    "%" G_GINT64_FORMAT
                    " nodes take about %s of memory, and %s are free here: %ssimulate fewer "
                    "nodes, or say with FABRICAST_MEMORY=%.0fGB that there is enough",
                    n_nodes, needs, has, spec->is_folded ? "" : "fold them (leave --no-fold out), ",
                    needed / 1e9 + 1);
}
