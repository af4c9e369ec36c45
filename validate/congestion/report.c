/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/congestion/report.h"

#include <math.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/stats.h"
#include "sim/base/thread_pool.h"
#include "sim/run/run.h"
#include "validate/check/limits.h"

/* --- the file of scenes --- */

#define ROW(owner, key_, type_, field_, help_) \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (owner, field_), .help = help_

static const FabParam limit_params[] = {
  { ROW (FabCongestionLimit, "control", TEXT, control,
         "Congestion control whose row has a limit of its own.") },
  { ROW (FabCongestionLimit, "sizes", TEXT, sizes, "Class of sizes of that row.") },
  { ROW (FabCongestionLimit, "median", FRACTION, median_fraction, "Limit of medians; 0: that of all."),
    .fallback = "0", .max = 10 },
  { ROW (FabCongestionLimit, "p99", FRACTION, p99_fraction, "Limit of 99th percentiles; 0: that of all."),
    .fallback = "0", .max = 10 },
  { ROW (FabCongestionLimit, "why", TEXT, why, "What makes both differ here.") },
  { .key = NULL },
};

static const FabParam scene_params[] = {
  { ROW (FabCongestionScene, "scene", TEXT, name, "Name of the scene, and of its list of flows.") },
  { ROW (FabCongestionScene, "machine", TEXT, machine, "Scenario of the machine on which it is played.") },
  { ROW (FabCongestionScene, "title", TEXT, title, "What happens in it.") },
  { ROW (FabCongestionScene, "limits", LIST, limits, "Limits of single rows."), .table = limit_params,
    .table_size = sizeof (FabCongestionLimit) },
  { .key = NULL },
};

typedef struct {
  double median_fraction, p99_fraction;
  FabParamList scenes;
} Content;

static const FabParam content_params[] = {
  { ROW (Content, "median", FRACTION, median_fraction, "Largest |difference| of medians that is accepted."),
    .max = 10 },
  { ROW (Content, "p99", FRACTION, p99_fraction,
         "Largest |difference| of 99th percentiles that is accepted."),
    .max = 10 },
  { ROW (Content, "scenes", LIST, scenes, "Scenes."), .table = scene_params,
    .table_size = sizeof (FabCongestionScene) },
  { .key = NULL },
};

struct _FabCongestionScenes {
  FabCheckFile *file;
  Content content;
};

FabCongestionScenes *
fab_congestion_scenes_load (const char *path, const FabRegistry *registry, GError **error)
{
  g_autoptr (FabCongestionScenes) self = g_new0 (FabCongestionScenes, 1);

  self->file = fab_check_file_new (registry);
  if (!fab_check_file_read (self->file, path, content_params, &self->content, error))
    return NULL;
  return g_steal_pointer (&self);
}

void
fab_congestion_scenes_free (FabCongestionScenes *self)
{
  if (self != NULL)
    fab_check_file_free (self->file);
  g_free (self);
}

guint
fab_congestion_scenes_n (const FabCongestionScenes *self)
{
  return self->content.scenes.n;
}

const FabCongestionScene *
fab_congestion_scenes_get (const FabCongestionScenes *self, guint index)
{
  return (const FabCongestionScene *) self->content.scenes.data + index;
}

const FabCongestionScene *
fab_congestion_scenes_find (const FabCongestionScenes *self, const char *name, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (guint i = 0; i < self->content.scenes.n; i++) {
    const FabCongestionScene *scene = fab_congestion_scenes_get (self, i);

    if (g_strcmp0 (scene->name, name) == 0)
      return scene;
    g_ptr_array_add (names, (gpointer) scene->name);
  }
  g_ptr_array_add (names, NULL);
  return fab_check_throw_unknown (error, "there is no scene", name, (const char *const *) names->pdata);
}

/* --- flows --- */

/* The authors' simulator acknowledges every packet with a frame of 60 bytes, which with HPCC's reports has 88
 * (rdma-hw.cc, ReceiveUdp; qbb-header.cc). Its run.py gives HPCC a maxStage of 0. With TIMELY every packet has a time
 * stamp of 8 bytes (int-header.h). Marks are drawn, so DCQCN was played with four seeds; the others draw nothing. */
enum { N_CONTROLS = 3, MOST_SEEDS = 4 };

typedef struct {
  const char *name;
  FabBytes ack_bytes;
  struct {
    const char *key, *value;
  } settings[2]; /* of the control; a key of NULL: none */
  guint n_seeds;
  guint first; /* column of its first seed among those of times */
} Control;

static const Control controls[N_CONTROLS] = {
  { "dcqcn", 60, { { NULL, NULL } }, MOST_SEEDS, 1 },
  { "hpcc", 88, { { "stages", "0" } }, 1, 0 },
  { "timely", 60, { { "rules", "hpcc" }, { "report_bytes", "8B" } }, 1, 1 + MOST_SEEDS },
};

typedef struct {
  gint64 from, to, bytes, at_ns, alone_ns, theirs_ns[2 + MOST_SEEDS];
} Flow;

static const char flows_head[] =
    "from,to,bytes,at_ns,alone_ns,hpcc_ns,dcqcn_1_ns,dcqcn_2_ns,dcqcn_3_ns,dcqcn_4_ns,timely_ns";

static gboolean
read_flow (const char *line, Flow *flow)
{
  gint64 *fields[] = { &flow->from,         &flow->to,           &flow->bytes,        &flow->at_ns,
                       &flow->alone_ns,     &flow->theirs_ns[0], &flow->theirs_ns[1], &flow->theirs_ns[2],
                       &flow->theirs_ns[3], &flow->theirs_ns[4], &flow->theirs_ns[5] };
  g_auto (GStrv) words = g_strsplit (line, ",", -1);

  if (g_strv_length (words) != G_N_ELEMENTS (fields))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    if (!g_ascii_string_to_signed (words[i], 10, 0, G_MAXINT64 / 1000, fields[i], NULL))
      return FALSE;
  return flow->bytes > 0 && flow->alone_ns > 0;
}

/* Flow, in the order of the list. NULL and *error. (transfer full) */
static GArray *
read_flows (const char *path, GError **error)
{
  g_autofree char *text = NULL;
  g_autoptr (GArray) flows = g_array_new (FALSE, FALSE, sizeof (Flow));

  if (!g_file_get_contents (path, &text, NULL, error))
    return NULL;
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  if (strcmp (lines[0] ? lines[0] : "", flows_head) != 0) {
    fab_throw (error, FAB_ERROR_INPUT, "%s:1:1: the first line is not '%s'", path, flows_head);
    return NULL;
  }
  for (guint i = 1; lines[i] != NULL && lines[i][0] != '\0'; i++) {
    Flow flow = { 0 };

    if (!read_flow (lines[i], &flow)) {
      fab_throw (error, FAB_ERROR_INPUT,
                 "%s:%u:1: a flow is eleven whole numbers, of which bytes and alone_ns are above 0", path,
                 i + 1);
      return NULL;
    }
    g_array_append_val (flows, flow);
  }
  return g_steal_pointer (&flows);
}

static FabValue *
pairs_of (const GArray *flows)
{
  FabValue *list = fab_value_list ();

  for (guint i = 0; i < flows->len; i++) {
    const Flow *flow = &g_array_index (flows, Flow, i);
    FabValue *pair = fab_value_mapping ();

    fab_value_put (pair, "from", fab_value_count (flow->from));
    fab_value_put (pair, "to", fab_value_count (flow->to));
    fab_value_put (pair, "size", fab_value_whole (FAB_UNIT_BYTES, flow->bytes));
    fab_value_put (pair, "at", fab_value_whole (FAB_UNIT_TIME, flow->at_ns * 1000));
    fab_value_append (list, pair);
  }
  return list;
}

/* --- playing --- */

static FabValue *
congestion_of (const Control *control)
{
  FabValue *value = fab_value_mapping ();

  fab_value_put (value, "kind", fab_value_text (control->name));
  for (guint i = 0; i < G_N_ELEMENTS (control->settings) && control->settings[i].key != NULL; i++)
    fab_value_put (value, control->settings[i].key, fab_value_written (control->settings[i].value));
  return value;
}

/* The completion time of each flow, in ps. NULL and *error. (transfer full) */
static FabTimePs *
play (const FabCongestionSuite *suite, const FabCongestionScene *scene, const GArray *flows,
      const Control *control, guint seed, GError **error)
{
  g_autofree char *file = g_strconcat (scene->machine, ".yaml", NULL);
  g_autofree char *path = g_build_filename (suite->folder, "machines", file, NULL);
  g_autoptr (FabScenario) scenario = fab_scenario_open (path, suite->registry, suite->catalog, error);

  if (scenario == NULL || !fab_scenario_set (scenario, "job.pairs", pairs_of (flows), error)
      || !fab_scenario_set (scenario, "fidelity.congestion", congestion_of (control), error)
      || !fab_scenario_set (scenario, "fidelity.ack", fab_value_whole (FAB_UNIT_BYTES, control->ack_bytes),
                            error)
      || !fab_scenario_set (scenario, "seed", fab_value_count (seed), error)
      || !fab_scenario_check (scenario, error))
    return NULL;
  g_autoptr (FabSimulation) simulation = fab_scenario_run (scenario, suite->registry, NULL, NULL, error);
  if (simulation == NULL)
    return NULL;
  const GArray *records = fab_simulation_probe (simulation)->collectives;
  FabTimePs *times_ps = g_new0 (FabTimePs, flows->len + 1);
  for (guint i = 0; i < records->len; i++) {
    const FabCollectiveRecord *record = &g_array_index (records, FabCollectiveRecord, i);

    times_ps[record->index] = record->end_ps - record->start_ps;
  }
  return times_ps;
}

/* --- quantiles --- */

/* A quantile of fewer flows than this is that of one or two of them. */
enum { LEAST_OF_MEDIAN = 20, LEAST_OF_P99 = 100 };

static const struct {
  const char *name;
  gint64 above_bytes, most_bytes;
} classes[] = {
  { "all", 0, G_MAXINT64 },       { "to 10 kB", 0, 10000 },          { "to 100 kB", 10000, 100000 },
  { "to 1 MB", 100000, 1000000 }, { "longer", 1000000, G_MAXINT64 },
};

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* The nearest rank. Sorts. */
static double
quantile (GArray *values, double fraction)
{
  g_array_sort (values, compare_doubles);
  return g_array_index (values, double, fab_nearest_rank (values->len, fraction));
}

static void
choose_limits (const FabCongestionScenes *scenes, FabCongestionRow *row, gboolean is_all)
{
  const Content *content = &scenes->content;

  row->median.limit_fraction = is_all || row->n_flows >= LEAST_OF_MEDIAN ? content->median_fraction : 0;
  row->p99.limit_fraction = is_all || row->n_flows >= LEAST_OF_P99 ? content->p99_fraction : 0;
  for (guint i = 0; i < row->scene->limits.n; i++) {
    const FabCongestionLimit *own = (const FabCongestionLimit *) row->scene->limits.data + i;

    if (strcmp (own->control, row->control) != 0 || strcmp (own->sizes, row->sizes) != 0)
      continue;
    row->why = own->why;
    row->median.limit_fraction = own->median_fraction > 0 ? own->median_fraction : row->median.limit_fraction;
    row->p99.limit_fraction = own->p99_fraction > 0 ? own->p99_fraction : row->p99.limit_fraction;
  }
}

/* `ours_ps`: of each seed. Quantiles are over the flows of all seeds. */
static void
add_row (GArray *rows, const FabCongestionSuite *suite, FabCongestionRow row, guint class,
         const Control *control, const GArray *flows, FabTimePs *const *ours_ps)
{
  g_autoptr (GArray) theirs = g_array_new (FALSE, FALSE, sizeof (double)),
                     ours = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint i = 0; i < flows->len; i++) {
    const Flow *flow = &g_array_index (flows, Flow, i);

    if (flow->bytes <= classes[class].above_bytes || flow->bytes > classes[class].most_bytes)
      continue;
    row.n_flows++;
    for (guint seed = 0; seed < control->n_seeds; seed++) {
      double there = (double) flow->theirs_ns[control->first + seed] / (double) flow->alone_ns,
             here = (double) ours_ps[seed][i] / 1000 / (double) flow->alone_ns;

      g_array_append_val (theirs, there);
      g_array_append_val (ours, here);
    }
  }
  if (row.n_flows == 0 || (class > 0 && (row.n_flows < LEAST_OF_MEDIAN || row.n_flows == flows->len)))
    return;
  row.median = (FabCongestionPair){ .theirs = quantile (theirs, 0.5), .ours = quantile (ours, 0.5) };
  row.p99 = (FabCongestionPair){ .theirs = quantile (theirs, 0.99), .ours = quantile (ours, 0.99) };
  choose_limits (suite->scenes, &row, class == 0);
  g_array_append_val (rows, row);
}

/* Appends the rows of a scene under one control. FALSE and *error. */
static gboolean
compare_control (const FabCongestionSuite *suite, const FabCongestionScene *scene, const GArray *flows,
                 const Control *control, GArray *rows, GError **error)
{
  FabTimePs *ours_ps[MOST_SEEDS] = { NULL };
  guint n = 0;

  while (n < control->n_seeds && (ours_ps[n] = play (suite, scene, flows, control, n + 1, error)) != NULL)
    n++;
  for (guint class = 0; n == control->n_seeds && class < G_N_ELEMENTS (classes); class ++)
    add_row (rows, suite,
             (FabCongestionRow){ .scene = scene, .control = control->name, .sizes = classes[class].name },
             class, control, flows, ours_ps);
  for (guint i = 0; i < n; i++)
    g_free (ours_ps[i]);
  return n == control->n_seeds;
}

/* FabCongestionRow. NULL and *error. (transfer full) */
static GArray *
compare_scene (const FabCongestionSuite *suite, const FabCongestionScene *scene, GError **error)
{
  g_autofree char *file = g_strconcat (scene->name, ".csv", NULL);
  g_autofree char *path = g_build_filename (suite->folder, "scenes", file, NULL);
  g_autoptr (GArray) flows = read_flows (path, error);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (FabCongestionRow));

  for (guint i = 0; flows != NULL && i < N_CONTROLS; i++)
    if (!compare_control (suite, scene, flows, &controls[i], rows, error))
      return NULL;
  return flows != NULL ? g_steal_pointer (&rows) : NULL;
}

typedef struct {
  const FabCongestionSuite *suite;
  const GPtrArray *chosen;
  GArray **rows;
  GError **errors;
} Plays;

static void
play_scene (gpointer data, guint item)
{
  Plays *self = data;

  self->rows[item] = compare_scene (self->suite, g_ptr_array_index (self->chosen, item), &self->errors[item]);
}

GArray *
fab_congestion_compare (const FabCongestionSuite *suite, const GPtrArray *chosen, GError **error)
{
  g_autofree GArray **parts = g_new0 (GArray *, chosen->len + 1);
  g_autofree GError **errors = g_new0 (GError *, chosen->len + 1);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (FabCongestionRow));
  GError *first = NULL;

  fab_thread_pool_run (suite->n_threads, chosen->len, play_scene, &(Plays){ suite, chosen, parts, errors });
  for (guint i = 0; i < chosen->len; i++) {
    if (parts[i] != NULL) {
      g_array_append_vals (rows, parts[i]->data, parts[i]->len);
      g_array_unref (parts[i]);
    } else if (first == NULL) {
      first = g_steal_pointer (&errors[i]);
    }
    g_clear_error (&errors[i]);
  }
  if (first == NULL)
    return g_steal_pointer (&rows);
  g_propagate_error (error, first);
  return NULL;
}

double
fab_congestion_pair_difference (const FabCongestionPair *pair)
{
  return pair->ours / pair->theirs - 1;
}

gboolean
fab_congestion_pair_is_met (const FabCongestionPair *pair)
{
  return pair->limit_fraction <= 0 || fabs (fab_congestion_pair_difference (pair)) <= pair->limit_fraction;
}

char **
fab_congestion_exceeded (const GArray *rows)
{
  GPtrArray *lines = g_ptr_array_new ();

  for (guint i = 0; i < rows->len; i++) {
    const FabCongestionRow *row = &g_array_index (rows, FabCongestionRow, i);
    const FabCongestionPair *pairs[] = { &row->median, &row->p99 };
    static const char *const names[] = { "median", "p99" };

    for (guint k = 0; k < G_N_ELEMENTS (pairs); k++)
      if (!fab_congestion_pair_is_met (pairs[k]))
        g_ptr_array_add (lines,
                         g_strdup_printf ("%s, %s, %s: the %s is %+.1f %% from the authors' simulator, "
                                          "and %.3g %% are accepted",
                                          row->scene->name, row->control, row->sizes, names[k],
                                          100 * fab_congestion_pair_difference (pairs[k]),
                                          100 * pairs[k]->limit_fraction));
  }
  g_ptr_array_add (lines, NULL);
  return (char **) g_ptr_array_free (lines, FALSE);
}
