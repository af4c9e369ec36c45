/* SPDX-License-Identifier: Apache-2.0 */
/* host_run.c - describes a machine from what the kernel says, so that people know later what was measured. */
#include "validate/measure/host_run.h"

#include <gio/gio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "sim/base/error.h"
#include "sim/base/version.h"
#include "validate/measure/clock.h"
#include "validate/measure/stats.h"

/* Describes a machine from what the kernel says, so that people know later what was measured. */

/* Returns the value of the first "key : value" line with this key in a file of /proc. (transfer full) */
static char *
proc_value (const char *path, const char *key)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return NULL;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i]; i++) {
    const char *colon = strchr (lines[i], ':');

    if (colon && g_str_has_prefix (lines[i], key))
      return g_strstrip (g_strdup (colon + 1));
  }
  return NULL;
}

static char *
cpu_name (void)
{
  struct utsname system = { 0 };
  char *name = proc_value ("/proc/cpuinfo", "model name"); /* on x86; Arm has none */

  uname (&system);
  return name ? name : g_strdup (system.machine);
}

/* Returns "node7: AMD EPYC 7763, 128 CPUs"; machines with equal texts count as the same machine. (transfer full) */
static char *
machine_name (void)
{
  g_autofree char *cpu = cpu_name ();

  return g_strdup_printf ("%s: %s, %u CPUs", g_get_host_name (), cpu, g_get_num_processors ());
}

void
fab_machine_describe (FabMeasureHost *host)
{
  struct utsname system = { 0 };
  g_autofree char *cpu = cpu_name ();
  g_autofree char *n_cpus = g_strdup_printf ("%u", g_get_num_processors ());
  g_autofree char *memory = fab_units_show (FAB_UNIT_BYTES, (double) sysconf (_SC_PHYS_PAGES)
                                                                * (double) sysconf (_SC_PAGESIZE));
  g_autofree char *board = NULL, *kernel = NULL, *date = NULL;
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();

  uname (&system);
  kernel = g_strdup_printf ("%s %s", system.sysname, system.release);
  date = g_date_time_format (now, "%Y-%m-%d %H:%M:%S UTC");
  host->machine (host, "host", g_get_host_name ());
  host->machine (host, "cpu", cpu);
  host->machine (host, "cpus", n_cpus);
  host->machine (host, "memory", memory);
  host->machine (host, "kernel", kernel);
  host->machine (host, "date", date);
  host->machine (host, "fabricast", fab_version ());
  if (g_file_get_contents ("/sys/class/dmi/id/product_name", &board, NULL, NULL))
    host->machine (host, "product", g_strstrip (board));
}

enum {
  CLOCK_TICKS = 200, /* a sample lasts at least as many steps of the clock: the error is half a percent */
  WARM_UP_CALLS = 2,
  MAX_MESSAGES = 1 << 20, /* of one sample */
  MAX_GROWTH = 16,
  INTERVAL_SAMPLES = 6, /* fewer give no confidence interval */
};

#define SHORTEST_SAMPLE_PS (50 * G_GINT64_CONSTANT (1000000))
#define WARM_UP_PS (10 * G_GINT64_CONSTANT (1000000000))

typedef struct {
  FabMeasureHost base;
  FabHostLimits limits;
  FabSamples *samples;
  FabHostPerson person;
  FabTimePs clock_sample_ps; /* a sample that long is precise enough for the clock */
  GHashTable *series;        /* keys of the series measured so far */
  char *system;
  GError *lost; /* the first fact or note that could not be kept; NULL: all were */
} Host;

/* The work on one size of one series. */
typedef struct {
  Host *host;
  const FabSeries *series;
  gint64 series_id;
  FabTimedFunc func;
  gpointer data;
  GArray *times_ps;
  FabMeasuredPoint point;
  guint n_messages; /* of one sample */
  guint n_sizes, n_done;
} Work;

/* Returns the smallest step of the clock. */
static FabTimePs
clock_step_ps (void)
{
  FabTimePs step_ps = FAB_TIME_MAX, last_ps = fab_clock_ps ();

  for (guint i = 0; i < 1000; i++) {
    FabTimePs time_ps = fab_clock_ps ();

    if (time_ps > last_ps)
      step_ps = MIN (step_ps, time_ps - last_ps);
    last_ps = time_ps;
  }
  return step_ps < FAB_TIME_MAX ? step_ps : 0;
}

static gboolean
host_is_cancelled (FabMeasureHost *base)
{
  Host *self = (Host *) base;

  return self->person.is_cancelled && self->person.is_cancelled (self->person.data);
}

static gboolean
check_cancelled (Host *self, GError **error)
{
  if (!host_is_cancelled (&self->base))
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "interrupted");
  return FALSE;
}

static void
show_progress (const Work *work)
{
  const FabHostPerson *person = &work->host->person;
  FabHostProgress progress = { work->series, &work->point, work->n_sizes, work->n_done };

  if (person->progress)
    person->progress (person->data, &progress);
}

/* --- one size --- */

static gboolean
take_sample (const Work *work, FabTimePs *elapsed_ps, GError **error)
{
  if (!check_cancelled (work->host, error)
      || !work->func (work->data, work->point.size_bytes, work->n_messages, elapsed_ps, error))
    return FALSE;
  *elapsed_ps = MAX (*elapsed_ps, 1);
  return TRUE;
}

/* Finds how many messages make a sample long enough. */
static gboolean
warm_up (Work *work, GError **error)
{
  FabTimePs wanted_ps = MAX (work->host->clock_sample_ps, work->host->base.min_sample_ps);
  FabTimePs elapsed_ps = 0, total_ps = 0;

  work->n_messages = 1;
  show_progress (work);
  for (guint n_calls = 0; n_calls < WARM_UP_CALLS || total_ps < WARM_UP_PS || elapsed_ps < wanted_ps;
       n_calls++) {
    if (!take_sample (work, &elapsed_ps, error))
      return FALSE;
    total_ps = fab_ps_add (total_ps, elapsed_ps);
    if (elapsed_ps >= wanted_ps)
      continue;
    if (work->n_messages == MAX_MESSAGES)
      break;
    double growth = MIN (1.25 * (double) wanted_ps / (double) elapsed_ps, MAX_GROWTH);
    work->n_messages = MIN ((guint) (work->n_messages * growth) + 1, MAX_MESSAGES);
  }
  return TRUE;
}

/* Sets the point's statistics; TRUE when it is precise enough. */
static gboolean
is_precise (Work *work)
{
  const FabHostLimits *limits = &work->host->limits;

  if (work->times_ps->len == 0)
    return FALSE;
  fab_stats_point ((const FabTimePs *) work->times_ps->data, work->times_ps->len, &work->point);
  work->point.is_complete = work->times_ps->len >= limits->min_samples
                         && fab_stats_half_width (&work->point) <= limits->precision_fraction;
  return work->point.is_complete;
}

static gboolean
is_at_limit (const Work *work, FabTimePs begun_ps)
{
  const FabHostLimits *limits = &work->host->limits;

  return work->times_ps->len >= limits->max_samples
      || (work->times_ps->len >= INTERVAL_SAMPLES && fab_clock_ps () - begun_ps >= limits->max_time_ps);
}

static gboolean
add_sample (Work *work, GError **error)
{
  FabTimePs elapsed_ps, time_ps;

  if (!take_sample (work, &elapsed_ps, error))
    return FALSE;
  time_ps = MAX ((elapsed_ps + work->n_messages / 2) / work->n_messages, 1);
  g_array_append_val (work->times_ps, time_ps);
  return fab_samples_keep (work->host->samples, work->series_id, work->point.size_bytes, time_ps, error);
}

static gboolean
sample_until_precise (Work *work, GError **error)
{
  FabTimePs begun_ps = fab_clock_ps ();
  guint next_check = MAX (work->host->limits.min_samples, work->times_ps->len);

  if (is_precise (work)
      /* if the program was killed before it kept the point */
      || work->times_ps->len >= work->host->limits.max_samples)
    return TRUE;
  if (!warm_up (work, error))
    return FALSE;
  for (;;) {
    if (!add_sample (work, error))
      return FALSE;
    gboolean is_last = is_at_limit (work, begun_ps);
    if (!is_last && work->times_ps->len < next_check)
      continue;
    next_check = work->times_ps->len + 1 + work->times_ps->len / 8;
    gboolean is_done = is_precise (work) || is_last;
    show_progress (work);
    if (is_done)
      return TRUE;
  }
}

static gboolean
measure_size (Work *work, GError **error)
{
  Host *self = work->host;
  FabBytes size_bytes = work->point.size_bytes;
  g_autoptr (GError) cause = NULL;
  gboolean is_kept;

  if (fab_samples_find_point (self->samples, work->series_id, size_bytes, &work->point, &cause)
      && work->point.is_complete && fab_stats_half_width (&work->point) <= self->limits.precision_fraction)
    return TRUE;
  if (cause) {
    g_propagate_error (error, g_steal_pointer (&cause));
    return FALSE;
  }
  work->point = (FabMeasuredPoint){ .size_bytes = size_bytes };
  work->times_ps = fab_samples_of_point (self->samples, work->series_id, size_bytes, error);
  if (work->times_ps == NULL)
    return FALSE;
  is_kept = sample_until_precise (work, error)
         && fab_samples_end_point (self->samples, work->series_id, &work->point, error);
  g_clear_pointer (&work->times_ps, g_array_unref);
  return is_kept;
}

/* --- the host --- */

static guint
count_sizes (const FabMeasurePlan *plan, FabBytes max_bytes)
{
  guint n = 0;

  while (n < plan->n_sizes && (max_bytes == 0 || plan->sizes_bytes[n] <= max_bytes))
    n++;
  return n;
}

static gboolean
measure_series (Host *self, const FabSeries *series, const FabBytes *sizes_bytes, guint n_sizes,
                FabTimedFunc func, gpointer data, GError **error)
{
  Work work = { .host = self, .series = series, .func = func, .data = data, .n_sizes = n_sizes };

  g_hash_table_add (self->series, fab_series_key (series));
  if (!fab_samples_begin_series (self->samples, series, &work.series_id, error))
    return FALSE;
  for (; work.n_done < work.n_sizes; work.n_done++) {
    work.point = (FabMeasuredPoint){ .size_bytes = sizes_bytes[work.n_done] };
    if (!check_cancelled (self, error) || !measure_size (&work, error))
      return FALSE;
  }
  show_progress (&work);
  return TRUE;
}

/* Samples without what was said of their machine are worth little. */
static gboolean
check_kept (const Host *self, GError **error)
{
  if (self->lost != NULL)
    g_propagate_error (error, g_error_copy (self->lost));
  return self->lost == NULL;
}

static gboolean
measure_sizes (Host *self, const FabSeries *series, const FabBytes *sizes_bytes, guint n_sizes,
               FabTimedFunc func, gpointer data, GError **error)
{
  FabSeries own;
  gboolean is_measured;

  g_assert (self->samples != NULL);
  fab_series_copy (&own, series);
  if (own.system == NULL)
    own.system = g_strdup (self->system);
  is_measured = check_kept (self, error)
             && measure_series (self, &own, sizes_bytes, n_sizes, func, data, error)
             && check_kept (self, error);
  fab_series_clear (&own);
  return is_measured;
}

static gboolean
host_measure (FabMeasureHost *base, const FabSeries *series, FabBytes max_bytes, FabTimedFunc func,
              gpointer data, GError **error)
{
  const FabMeasurePlan *plan = base->plan;

  return measure_sizes ((Host *) base, series, plan->sizes_bytes, count_sizes (plan, max_bytes), func, data,
                        error);
}

static gboolean
host_measure_one (FabMeasureHost *base, const FabSeries *series, FabBytes size_bytes, FabTimedFunc func,
                  gpointer data, GError **error)
{
  return measure_sizes ((Host *) base, series, &size_bytes, 1, func, data, error);
}

static void
host_machine (FabMeasureHost *base, const char *key, const char *value)
{
  Host *self = (Host *) base;

  if (self->samples)
    fab_samples_set_machine (self->samples, key, value, self->lost == NULL ? &self->lost : NULL);
}

static void G_GNUC_PRINTF (2, 3) host_note (FabMeasureHost *base, const char *format, ...)
{
  Host *self = (Host *) base;
  g_autofree char *note = NULL;
  va_list args;

  va_start (args, format);
  note = g_strdup_vprintf (format, args);
  va_end (args);
  if (self->samples)
    fab_samples_add_note (self->samples, note, self->lost == NULL ? &self->lost : NULL);
  if (self->person.note)
    self->person.note (self->person.data, note);
}

FabMeasureHost *
fab_host_new (const FabMeasurePlan *plan, const FabHostLimits *limits, FabSamples *samples,
              const FabHostPerson *person)
{
  Host *self = g_new0 (Host, 1);

  self->system = machine_name ();
  self->base = (FabMeasureHost){ .plan = plan,
                                 .measure = host_measure,
                                 .measure_one = host_measure_one,
                                 .machine = host_machine,
                                 .note = host_note,
                                 .is_cancelled = host_is_cancelled,
                                 .system = self->system };
  self->limits = *limits;
  self->samples = samples;
  self->person = *person;
  self->clock_sample_ps = MAX (SHORTEST_SAMPLE_PS, CLOCK_TICKS * clock_step_ps ());
  self->series = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return &self->base;
}

void
fab_host_free (FabMeasureHost *host)
{
  Host *self = (Host *) host;

  if (self == NULL)
    return;
  g_hash_table_unref (self->series);
  g_clear_error (&self->lost);
  g_free (self->system);
  g_free (self);
}

gboolean
fab_host_has_series (const FabMeasureHost *host, const FabSeries *series)
{
  g_autofree char *key = fab_series_key (series);

  return g_hash_table_contains (((const Host *) host)->series, key);
}

gboolean
fab_host_has_any (const FabMeasureHost *host)
{
  return g_hash_table_size (((const Host *) host)->series) > 0;
}
