/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/memory.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/memory_growth.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/thread_pool.h"
#include "sim/base/units.h"
#include "sim/run/run.h"
#include "sim/study/machine.h"

/* What makes a run large. From `many` on it may take more than 1 GB on one thread: nodes 50 kB each when alike nodes
 * are built once, 2 to 5 MB when every rank is built by itself (measured with scenarios/hello.yaml,
 * zero3-70b-16384.yaml and megatron-405b.yaml), micro-batches about 30 kB each (GPT-2 on two nodes), requests 70 kB (of
 * eight GPUs to eight others). The sample runs take a few per cent of its time.
 *
 * Samples are the smallest of those that are played (memory_growth.h): the ranks must divide as the job asks. */
typedef struct {
  const char *key, *singular, *plural;
  gint64 many;
  guint samples[5];
  const char *instead;
} Growth;

static const Growth folded_nodes = {
  .key = "cluster.nodes",
  .singular = "node takes",
  .plural = "nodes take",
  .many = 16384,
  .samples = { 256, 384, 320 },
  .instead = "simulate fewer nodes",
};

static const Growth nodes = {
  .key = "cluster.nodes",
  .singular = "node takes",
  .plural = "nodes take",
  .many = 512,
  .samples = { 8, 12, 10, 16 },
  .instead = "fold them (leave --no-fold out), simulate fewer nodes",
};

static const Growth micro_batches = {
  .key = "job.accumulation",
  .singular = "micro-batch takes",
  .plural = "micro-batches take",
  .many = 4096,
  .samples = { 64, 96, 80 },
  .instead = "simulate fewer (their time repeats)",
};

/* The key that says how many micro-batches there are where job.accumulation does not. */
static const char global_batch[] = "job.global_batch";

static const Growth requests = {
  .key = "job.requests",
  .singular = "request takes",
  .plural = "requests take",
  .many = 8192,
  .samples = { 512, 768, 640 },
  .instead = "simulate fewer",
};

/* FABRICAST_MEMORY that refuses nothing. */
#define ALL_MEMORY "all"

/* What takes more says so. */
static const double large_bytes = 1e9;

/* A run is held beside the same one without a change, and each thread holds one with a change. */
enum { HELD_BESIDE = 2 };

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

/* Returns what the system counts against RLIMIT_DATA. */
static guint64
data_bytes (void)
{
  guint64 kib = kernel_number ("/proc/self/status", "VmData:");

  return kib == G_MAXUINT64 ? 0 : kib << 10;
}

static gboolean
read_limit (guint64 *bytes, GError **error)
{
  const char *wanted = g_getenv ("FABRICAST_MEMORY");
  gint64 value = 0;

  *bytes = free_bytes ();
  if (wanted == NULL)
    return TRUE;
  if (strcmp (wanted, ALL_MEMORY) == 0) {
    *bytes = G_MAXUINT64;
    return TRUE;
  }
  if (!fab_units_parse_whole (FAB_UNIT_BYTES, wanted, &value, NULL) || value < 1)
    return fab_throw (error, FAB_ERROR_INPUT, "FABRICAST_MEMORY=%s: write for example 64GB", wanted);
  *bytes = (guint64) value;
  return TRUE;
}

/* What cannot be estimated beforehand ends with a sentence (main.c) when it has taken all that was free, before the
 * kernel ends it, or another program, without one. Sanitizers reserve more than there is. */
static void
set_limit (guint64 bytes)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  struct rlimit data = { RLIM_INFINITY, RLIM_INFINITY };
  guint64 used = data_bytes ();

  if (bytes >= G_MAXINT64 - used || getrlimit (RLIMIT_DATA, &data) != 0)
    return;
  data.rlim_cur = (rlim_t) MIN (data.rlim_max, bytes + used);
  setrlimit (RLIMIT_DATA, &data);
#endif
}

/* --- what it takes --- */

/* Of this program alone: ru_maxrss begins with what the program had that started this one. */
static double
peak_bytes (void)
{
  guint64 kib = kernel_number ("/proc/self/status", "VmHWM:");
  struct rusage usage = { 0 };

  if (kib != G_MAXUINT64)
    return (double) kib * 1024;
  getrusage (RUSAGE_SELF, &usage);
  return (double) usage.ru_maxrss * 1024;
}

/* How many of it a scenario has, and the key that says so: its value is `n` times `each`. */
typedef struct {
  const FabScenario *scenario;
  const char *key;
  gint64 n, each;
} Amount;

/* A global batch says how many micro-batches there are: so many as it has sequences for all copies of the model. */
static Amount
amount_of (const FabScenario *scenario, const Growth *growth)
{
  const FabBatch batch = fab_batch_of (scenario);
  gint64 each = (gint64) (batch.micro_batch * fab_batch_copies (&batch));

  if (growth == &micro_batches && batch.global_batch > 0 && each > 0)
    return (Amount){ scenario, global_batch, (gint64) batch.global_batch / each, each };
  return (Amount){ scenario, growth->key, fab_scenario_get_whole (scenario, growth->key, 0), 1 };
}

/* Plays one iteration of so many, and again beside it, as `run` does for its what-if. FALSE: that cannot be. */
static gboolean
play_with (const Amount *self, guint n)
{
  g_autoptr (FabScenario) copy = fab_scenario_copy (self->scenario);
  g_autoptr (FabSimulation) first = NULL, second = NULL;
  const FabRunOptions options = { .n_iterations = 1 };

  if (!fab_scenario_set (copy, self->key, fab_value_count (n * self->each), NULL)
      || !fab_scenario_check (copy, NULL))
    return FALSE;
  first = fab_scenario_run (copy, &fab_models, NULL, &options, NULL);
  second = first != NULL ? fab_scenario_run (copy, &fab_models, NULL, &options, NULL) : NULL;
  return second != NULL;
}

static gboolean
play_sample (gpointer data, guint n, double *bytes)
{
  if (!play_with (data, n))
    return FALSE;
  *bytes = peak_bytes ();
  return TRUE;
}

static double
peak_on (const FabPeak *peak, guint n_threads)
{
  return peak->base_bytes + (HELD_BESIDE + n_threads) * peak->play_bytes;
}

static void
clear_line (void)
{
  if (isatty (STDERR_FILENO) == 1)
    g_printerr ("\r\033[K");
}

static void
show_estimate (const Growth *growth, double bytes, gint64 n, guint n_threads)
{
  g_autofree char *text = fab_units_show (FAB_UNIT_BYTES, bytes);
  gboolean is_terminal = isatty (STDERR_FILENO) == 1;

  if (is_terminal || bytes >= large_bytes)
    g_printerr ("%s%" G_GINT64_FORMAT " %s about %s of memory on %u %s\n",
                is_terminal ? "" : "fabricast: ", n,
                fab_plural ((guint64) n, growth->singular, growth->plural), text, n_threads,
                fab_plural (n_threads, "thread", "threads"));
}

/* Lowers *n_threads to as many as there is memory for. */
static gboolean
check_growth (Amount *amount, const Growth *growth, guint *n_threads, GError **error)
{
  const gint64 n = amount->n;
  guint64 limit;

  if (!read_limit (&limit, error))
    return FALSE;
  if (isatty (STDERR_FILENO) == 1)
    g_printerr ("\r\033[Kestimating the memory of %s=%" G_GINT64_FORMAT, amount->key, n * amount->each);
  const FabPeak peak = fab_peak_of (growth->samples, (double) n, (double) limit, play_sample, amount);
  clear_line ();
  if (peak.base_bytes <= 0)
    return TRUE;
  while (*n_threads > 1 && peak_on (&peak, *n_threads) > (double) limit)
    (*n_threads)--;
  double needed = peak_on (&peak, *n_threads);
  if (needed <= (double) limit) {
    show_estimate (growth, needed, n, *n_threads);
    return TRUE;
  }
  g_autofree char *needs = fab_units_show (FAB_UNIT_BYTES, needed),
                  *has = fab_units_show (FAB_UNIT_BYTES, (double) limit);
  return fab_throw (
      error, FAB_ERROR_UNSUPPORTED,
      "%" G_GINT64_FORMAT
      " %s about %s of memory, and %s are free here: %s, or try it nevertheless with --allow-large",
      n, growth->plural, needs, has, growth->instead);
}

/* From as few on it may take more than 1 GB on so many threads. */
static gint64
many_on (const Growth *growth, guint n_threads)
{
  return growth->many * (HELD_BESIDE + 1) / (HELD_BESIDE + n_threads);
}

gboolean
fab_cli_check_memory (const FabScenario *scenario, guint *n_threads, GError **error)
{
  guint64 limit;
  const Growth *const grown[] = { &micro_batches, &requests,
                                  fab_scenario_spec (scenario)->is_folded ? &folded_nodes : &nodes };

  *n_threads = fab_thread_pool_size (*n_threads);
  for (guint i = 0; i < G_N_ELEMENTS (grown); i++) {
    Amount amount = amount_of (scenario, grown[i]);

    if (amount.n >= many_on (grown[i], *n_threads) && !check_growth (&amount, grown[i], n_threads, error))
      return FALSE;
  }
  if (!read_limit (&limit, error))
    return FALSE;
  set_limit (limit);
  return TRUE;
}

static gboolean
makes_large (const FabAxis *axis)
{
  const char *const keys[] = { nodes.key, micro_batches.key, requests.key, global_batch, NULL };

  return g_strv_contains (keys, axis->key);
}

/* How large the keys make a run with one of their values; 0: they do not, or the value is no number. */
static double
size_of_item (const FabAxis *const *keys, guint n, guint item)
{
  gboolean is_any = FALSE;
  double size = 1;

  for (guint k = 0; k < n; k++)
    if (makes_large (keys[k])) {
      const char *unit;
      double number = 0;

      fab_axis_split_number (g_ptr_array_index (keys[k]->values, item), &number, &unit);
      size *= number;
      is_any = TRUE;
    }
  return is_any ? size : 0;
}

void
fab_cli_add_largest (FabEdits *edits, const FabAxis *const *keys, guint n)
{
  guint largest = 0;
  double most = 0;

  for (guint i = 0; i < keys[0]->values->len; i++) {
    double size = size_of_item (keys, n, i);

    if (size > most) {
      largest = i;
      most = size;
    }
  }
  for (guint k = 0; most > 0 && k < n; k++)
    fab_edits_vary (edits, keys[k]->key, g_ptr_array_index (keys[k]->values, largest));
}

void
fab_cli_take_allow_large (int *argc, char **argv)
{
  int n = 0;

  for (int i = 0; i < *argc; i++)
    if (strcmp (argv[i], "--allow-large") == 0)
      g_setenv ("FABRICAST_MEMORY", ALL_MEMORY, TRUE);
    else
      argv[n++] = argv[i];
  *argc = n;
  argv[n] = NULL;
}
