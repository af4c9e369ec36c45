/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/job_mix.h"

#include <math.h>
#include <string.h>

#include "answer/memory_advice.h"
#include "answer/mix_failures.h"
#include "formats/job_log/job_log.h"
#include "sim/assembly/assemble.h"
#include "sim/base/error.h"
#include "sim/base/mix.h"
#include "sim/base/order.h"
#include "sim/base/stats.h"
#include "sim/base/thread_pool.h"
#include "sim/run/run.h"
#include "sim/scenario/placement.h"

/* Shares of the uplinks that others take, in the runs of a kind. */
static const double other_loads[] = { 0, 0.25, 0.5, 0.75, 0.9 };
enum {
  N_LOADS = G_N_ELEMENTS (other_loads),
  MOST_LEVELS = 32
}; /* levels: one for each doubling of a guint */

/* --- groups of nodes --- */

/* The switch of a NIC; FAB_NO_VERTEX: it is joined to something else. */
static FabVertexId
switch_of (const FabGraph *graph, FabVertexId nic)
{
  FabLinkId first;
  guint n = fab_graph_out_links (graph, nic, &first);

  for (FabLinkId link = first; link < first + n; link++) {
    FabVertexId to = fab_graph_link (graph, link)->dst;

    if (fab_graph_vertex (graph, to)->node == FAB_NO_NODE
        && fab_graph_vertex (graph, to)->kind == FAB_VERTEX_SWITCH)
      return to;
  }
  return FAB_NO_VERTEX;
}

/* The group of each place: those of one switch follow one another in the order of their first place. */
typedef struct {
  guint *of_place; /* [n_places] */
  guint *n_nodes;  /* [n_groups] */
  GPtrArray *names;
} Groups;

static void
groups_clear (Groups *self)
{
  g_free (self->of_place);
  g_free (self->n_nodes);
  if (self->names != NULL)
    g_ptr_array_unref (self->names);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Groups, groups_clear)

static gboolean
find_groups (Groups *self, const FabCluster *cluster, GError **error)
{
  g_autoptr (GHashTable) known = g_hash_table_new (NULL, NULL); /* switch to 1 + group */

  self->of_place = g_new0 (guint, cluster->n_nodes);
  self->n_nodes = g_new0 (guint, cluster->n_nodes);
  self->names = g_ptr_array_new_with_free_func (g_free);
  for (guint node = 0; node < cluster->n_nodes; node++) {
    FabVertexId nic = cluster->nics_per_node > 0 ? cluster->nics[node * cluster->nics_per_node]
                                                 : FAB_NO_VERTEX;
    FabVertexId at = nic != FAB_NO_VERTEX ? switch_of (cluster->graph, nic) : FAB_NO_VERTEX;

    if (at == FAB_NO_VERTEX)
      return fab_throw (error, FAB_ERROR_UNSUPPORTED,
                        "a mix places jobs by the switches of their NICs, and node %u has a NIC at no switch",
                        node);
    guint group = GPOINTER_TO_UINT (g_hash_table_lookup (known, GUINT_TO_POINTER (at)));
    if (group == 0) {
      g_ptr_array_add (self->names, fab_graph_vertex_name (cluster->graph, at));
      group = self->names->len;
      g_hash_table_insert (known, GUINT_TO_POINTER (at), GUINT_TO_POINTER (group));
    }
    self->of_place[node] = group - 1;
    self->n_nodes[group - 1]++;
  }
  return TRUE;
}

/* Whether a switch of NICs leads to another one, so that jobs pass through the switches of other jobs: their loads are
 * not those of the groups. */
static gboolean
check_indirect (const FabCluster *cluster, const char *fabric, GError **error)
{
  const FabGraph *graph = cluster->graph;
  g_autoptr (GHashTable) switches = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < cluster->n_nodes * cluster->nics_per_node; i++)
    g_hash_table_add (switches, GUINT_TO_POINTER (switch_of (graph, cluster->nics[i])));
  for (FabLinkId link = 0; link < fab_graph_n_links (graph); link++)
    if (g_hash_table_contains (switches, GUINT_TO_POINTER (fab_graph_link (graph, link)->src))
        && g_hash_table_contains (switches, GUINT_TO_POINTER (fab_graph_link (graph, link)->dst)))
      return fab_throw (
          error, FAB_ERROR_UNSUPPORTED,
          "on a fabric of kind %s jobs send through the switches of other jobs, which a mix does not "
          "see; it knows fabrics whose nodes are at leaf switches, such as leaf_spine and fat_tree",
          fabric);
  return TRUE;
}

/* The machine alone, with all its nodes in the order of their places. */
static gboolean
build_machine (FabMixAnswer *self, const FabScenario *scenario, Groups *groups, GError **error)
{
  g_autoptr (FabScenario) bare = fab_scenario_copy (scenario);
  g_autoptr (FabPlant) plant = NULL;

  fab_scenario_set (bare, "cluster.placement", fab_value_text ("packed"), NULL);
  fab_scenario_set (bare, "cluster.places", NULL, NULL);
  if (!fab_scenario_check (bare, error))
    return FALSE;
  plant = fab_plant_new (bare, NULL, error);
  if (plant == NULL || !find_groups (groups, &plant->cluster, error)
      || !check_indirect (&plant->cluster, fab_scenario_spec (bare)->cluster.fabric.info->name, error))
    return FALSE;
  self->n_nodes = plant->cluster.n_nodes;
  self->gpus_per_node = plant->cluster.gpus_per_node;
  self->machine.n_groups = groups->names->len;
  self->machine.group_nodes = g_memdup2 (groups->n_nodes, groups->names->len * sizeof (guint));
  g_ptr_array_add (groups->names, NULL);
  self->group_names = (char **) g_ptr_array_free (g_steal_pointer (&groups->names), FALSE);
  return TRUE;
}

/* --- kinds --- */

/* One run: a kind at a level, with a load of others. */
typedef struct {
  guint kind, level, load;
  guint stride;
  double step_s, own_load, duty;
  FabPoint *point;          /* of the first run of a kind */
  FabGoodputCase *failures; /* likewise; NULL: nothing is known of them */
  GError *problem;
} Trial;

typedef struct {
  const FabScenario *scenario;
  const FabMixRequest *request;
  FabMixAnswer *answer;
  GArray *trials;
} Measuring;

static void
trial_clear (gpointer data)
{
  Trial *self = data;

  fab_point_free (self->point);
  fab_goodput_case_free (self->failures);
  g_clear_error (&self->problem);
}

/* The scenario of one kind alone on the whole fabric. */
static FabScenario *
scenario_of (const FabScenario *scenario, const FabMixJobSpec *spec, const Trial *trial, GError **error)
{
  g_autoptr (FabScenario) alone = fab_scenario_copy (scenario);
  g_autoptr (FabValue) written = fab_scenario_written (scenario, fab_mix_job_params, spec, NULL);
  FabValue *job = fab_value_ref ((FabValue *) fab_value_at (written, "job"));

  if (!fab_scenario_set (alone, "mix", NULL, error) || !fab_scenario_set (alone, "job", job, error)
      || !fab_scenario_set (alone, "cluster.places",
                            fab_value_count (fab_scenario_spec (scenario)->cluster.nodes), error)
      || !fab_scenario_set (alone, "cluster.nodes", fab_value_count (spec->nodes), error)
      || !fab_scenario_set (alone, "cluster.placement", fab_value_text ("strided"), error)
      || !fab_scenario_set (alone, "cluster.place_stride", fab_value_count (trial->stride), error)
      || !fab_scenario_set (alone, "iterations", fab_value_count (2), error))
    return NULL;
  if (trial->load > 0) {
    g_autofree char *others = g_strdup_printf ("background.+={kind: constant, links: uplinks, load: %g%%}",
                                               100 * other_loads[trial->load]);

    fab_scenario_assign (alone, others, NULL);
  }
  return fab_scenario_check (alone, error) ? g_steal_pointer (&alone) : NULL;
}

/* `otherwise` where the whole is nothing, such as the step of a collective of one GPU. */
static double
share_of (double part, double whole, double otherwise)
{
  return whole > 0 ? part / whole : otherwise;
}

/* The share that the job takes of all links which leave the switches of its NICs for other switches, and how much
 * of the time it communicates. */
static void
measure_uplinks (const FabSimulation *simulation, Trial *trial)
{
  const FabCluster *cluster = fab_simulation_cluster (simulation);
  const FabProbe *probe = fab_simulation_probe (simulation);
  const FabGraph *graph = cluster->graph;
  g_autoptr (GHashTable) switches = g_hash_table_new (NULL, NULL);
  const FabIterationRecord *times = &probe->step.times;
  double used = 0, all = 0;
  GHashTableIter iter;
  gpointer key;

  for (guint i = 0; i < cluster->n_nodes * cluster->nics_per_node; i++)
    g_hash_table_add (switches, GUINT_TO_POINTER (switch_of (graph, cluster->nics[i])));
  g_hash_table_iter_init (&iter, switches);
  while (g_hash_table_iter_next (&iter, &key, NULL)) {
    FabLinkId first;
    guint n = GPOINTER_TO_UINT (key) != FAB_NO_VERTEX
                ? fab_graph_out_links (graph, GPOINTER_TO_UINT (key), &first)
                : 0;

    for (guint l = 0; l < n; l++)
      if (fab_graph_vertex (graph, fab_graph_link (graph, first + l)->dst)->node == FAB_NO_NODE)
        all += (double) fab_graph_link (graph, first + l)->rate_bytes_per_s;
  }
  for (guint i = 0; i < probe->link_loads->len; i++) {
    const FabLinkLoadRecord *load = &g_array_index (probe->link_loads, FabLinkLoadRecord, i);
    const FabLink *link = fab_graph_link (graph, load->link);

    if (g_hash_table_contains (switches, GUINT_TO_POINTER (link->src))
        && fab_graph_vertex (graph, link->dst)->node == FAB_NO_NODE)
      used += load->busy_fraction * (double) link->rate_bytes_per_s;
  }
  trial->own_load = share_of (used, all, 0);
  trial->duty = share_of ((double) times->comm_ps, (double) times->duration_ps, 0);
}

static void
play_trial (const Measuring *self, Trial *trial)
{
  const FabMixedKind *kind = &g_array_index (self->answer->kinds, FabMixedKind, trial->kind);
  const FabRegistry *registry = self->request->registry;
  const FabRunOptions options = { .cancel = self->request->cancel };
  g_autoptr (FabScenario) alone = scenario_of (self->scenario, kind->spec, trial, &trial->problem);
  g_autoptr (FabSimulation) simulation = alone ? fab_simulation_build (alone, registry, NULL,
                                                                       self->request->cancel, &trial->problem)
                                               : NULL;

  if (simulation == NULL || !fab_simulation_run (simulation, &options, &trial->problem))
    return;
  trial->step_s = fab_ps_to_seconds (fab_simulation_probe (simulation)->step.times.duration_ps);
  if (trial->load > 0)
    return;
  measure_uplinks (simulation, trial);
  if (trial->level == 0
      && fab_goodput_case_of (alone, simulation, registry, &trial->failures, &trial->problem))
    trial->point = fab_point_of (alone, simulation, registry, &trial->problem);
  if (trial->point != NULL)
    fab_memory_advice_free (fab_advise_memory (
        alone, simulation, &(FabMemoryTrying){ registry, 1, self->request->cancel }, trial->point->verdict));
}

static void
work_trial (gpointer data, guint item)
{
  const Measuring *self = data;

  play_trial (self, &g_array_index (self->trials, Trial, item));
  fab_pulse_beat (self->request->pulse);
}

/* Nodes a group of so many nodes at a stride. */
static double
nodes_per_group (const Groups *groups, guint n_groups, guint n_places, guint n, guint stride)
{
  g_autofree guint *places = fab_placement_map (FAB_PLACEMENT_STRIDED, n, n_places, stride, 0);
  g_autofree guint8 *is_used = g_new0 (guint8, n_groups);
  guint n_used = 0;

  for (guint i = 0; i < n; i++) {
    n_used += !is_used[groups->of_place[places[i]]];
    is_used[groups->of_place[places[i]]] = 1;
  }
  return (double) n / n_used;
}

/* The strides that give fewer and fewer nodes a group, and the trials of a kind at them. */
static void
plan_kind (Measuring *self, const Groups *groups, guint which)
{
  FabMixAnswer *answer = self->answer;
  FabMixedKind *kind = &g_array_index (answer->kinds, FabMixedKind, which);
  guint n = (guint) kind->spec->nodes, largest = 0;
  double *levels = g_new (double, MOST_LEVELS);

  for (guint g = 0; g < answer->machine.n_groups; g++)
    largest = MAX (largest, answer->machine.group_nodes[g]);
  for (guint stride = 1; stride <= largest; stride *= 2) {
    double m = nodes_per_group (groups, answer->machine.n_groups, answer->n_nodes, n, stride);
    guint level = kind->table.n_levels;

    if (level > 0 && m >= levels[level - 1])
      continue;
    levels[kind->table.n_levels++] = m;
    for (guint load = 0; load < N_LOADS; load++) {
      Trial trial = { .kind = which, .level = level, .load = load, .stride = stride };

      if (load == 0 || m < n)
        g_array_append_val (self->trials, trial);
    }
  }
  kind->table.n_loads = N_LOADS;
  kind->table.others = other_loads;
  kind->table.nodes_per_group = levels;
}

/* The step of a kind at the best of its places, alone. */
static double
best_step (const GArray *trials, guint kind)
{
  double best_s = INFINITY;

  for (guint i = 0; i < trials->len; i++) {
    const Trial *trial = &g_array_index (trials, Trial, i);

    if (trial->kind == kind && trial->load == 0)
      best_s = MIN (best_s, trial->step_s);
  }
  return best_s;
}

/* Tables of the kinds, of what the trials gave. */
static void
fill_tables (Measuring *self)
{
  for (guint i = 0; i < self->answer->kinds->len; i++) {
    FabMixKind *table = &g_array_index (self->answer->kinds, FabMixedKind, i).table;
    double *slowdown = g_new (double, table->n_levels *N_LOADS);

    for (guint k = 0; k < table->n_levels * N_LOADS; k++)
      slowdown[k] = 1; /* inside a group, whatever others do */
    table->slowdown = slowdown;
    table->own_load = g_new0 (double, table->n_levels);
    table->duty = g_new0 (double, table->n_levels);
  }
  for (guint i = 0; i < self->trials->len; i++) {
    Trial *trial = &g_array_index (self->trials, Trial, i);
    FabMixedKind *kind = &g_array_index (self->answer->kinds, FabMixedKind, trial->kind);

    if (trial->level == 0 && trial->load == 0) {
      kind->step_s = best_step (self->trials, trial->kind);
      kind->point = g_steal_pointer (&trial->point);
      if (trial->failures != NULL) {
        kind->failures = fab_mix_failures_of (&trial->failures->rules);
        kind->table.failures = &kind->failures;
      }
      kind->inter_node_fraction = share_of (kind->point->exposed_inter_node_s, kind->point->step_s, 0);
    }
    ((double *) kind->table.slowdown)[trial->level * N_LOADS + trial->load] = share_of (trial->step_s,
                                                                                        kind->step_s, 1);
    if (trial->load == 0) {
      ((double *) kind->table.own_load)[trial->level] = trial->own_load;
      ((double *) kind->table.duty)[trial->level] = trial->duty;
    }
  }
}

static gboolean
measure_kinds (FabMixAnswer *self, const FabScenario *scenario, const FabMixRequest *request,
               const Groups *groups, GError **error)
{
  g_autoptr (GArray) trials = g_array_new (FALSE, TRUE, sizeof (Trial));
  Measuring measuring = { scenario, request, self, trials };

  g_array_set_clear_func (trials, trial_clear);
  for (guint i = 0; i < self->kinds->len; i++)
    plan_kind (&measuring, groups, i);
  fab_pulse_expect (request->pulse, trials->len);
  fab_thread_pool_run (request->n_threads, trials->len, work_trial, &measuring);
  for (guint i = 0; i < trials->len; i++) {
    Trial *trial = &g_array_index (trials, Trial, i);
    const FabMixedKind *kind = &g_array_index (self->kinds, FabMixedKind, trial->kind);

    if (trial->problem != NULL) {
      g_propagate_prefixed_error (error, g_steal_pointer (&trial->problem),
                                  "mix: jobs '%s': ", kind->spec->name);
      return FALSE;
    }
    if (trial->level == 0 && trial->load == 0 && fab_scenario_spec (scenario)->reliability.failures != NULL
        && !fab_mix_failures_check (kind->spec->name, trial->failures, error))
      return FALSE;
  }
  fill_tables (&measuring);
  return TRUE;
}

/* --- jobs --- */

/* Numbers of one kind, the same however many other kinds there are. */
typedef struct {
  guint64 seed, n;
} Draws;

static double
draw (Draws *self)
{
  return ((double) (fab_mix (self->seed, self->n++) >> 11) + 0.5) / 9007199254740992.0;
}

/* Box and Muller, 1958. */
static double
draw_normal (Draws *self)
{
  double radius = sqrt (-2 * log (draw (self)));

  return radius * cos (2 * G_PI * draw (self));
}

static void
draw_jobs (FabMixAnswer *self, guint which, guint64 seed)
{
  const FabMixJobSpec *spec = g_array_index (self->kinds, FabMixedKind, which).spec;
  Draws draws = { fab_mix (seed, which), 0 };
  double now_s = 0, every_s = fab_ps_to_seconds (spec->every_ps), mean_s = fab_ps_to_seconds (spec->work_ps);

  for (gint64 i = 0; i < spec->count; i++) {
    now_s -= every_s * log (draw (&draws));
    double normal = spec->spread > 0 ? draw_normal (&draws) : 0;
    FabMixJob job = { .submit_s = now_s,
                      .work_s = mean_s * exp (spec->spread * normal - spec->spread * spec->spread / 2),
                      .kind = which,
                      .n_nodes = (guint) spec->nodes,
                      .priority = spec->priority };

    g_array_append_val (self->jobs, job);
  }
}

/* The kind that the log names, or else the one with the nearest number of nodes. */
static gboolean
kind_of (const FabMixAnswer *self, const FabJobLogRow *row, guint *which, GError **error)
{
  double nearest = INFINITY;

  for (guint i = 0; i < self->kinds->len; i++) {
    const FabMixJobSpec *spec = g_array_index (self->kinds, FabMixedKind, i).spec;
    double distance = fabs (log ((double) spec->nodes / (double) row->n_nodes));

    if (row->kind != NULL && strcmp (row->kind, spec->name) == 0) {
      *which = i;
      return TRUE;
    }
    if (distance < nearest) {
      nearest = distance;
      *which = i;
    }
  }
  if (row->kind != NULL)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "the log has jobs of kind '%s', and `mix.jobs` has none of that name", row->kind);
  return TRUE;
}

static gboolean
take_log (FabMixAnswer *self, const char *path, GError **error)
{
  g_autoptr (FabJobLog) log = fab_job_log_read (path, self->gpus_per_node, error);

  if (log == NULL)
    return FALSE;
  self->n_left_out = log->n_left_out;
  self->n_log_failed = log->n_failed;
  self->n_log_preempted = log->n_preempted;
  for (guint i = 0; i < log->rows->len; i++) {
    const FabJobLogRow *row = &g_array_index (log->rows, FabJobLogRow, i);
    double first_s = g_array_index (log->rows, FabJobLogRow, 0).submit_s;
    guint which = 0;

    if (!kind_of (self, row, &which, error))
      return FALSE;
    if (row->n_nodes > self->n_nodes) {
      self->n_cut++;
      continue;
    }
    FabMixJob job = { .submit_s = row->submit_s - first_s,
                      .work_s = row->duration_s,
                      .kind = which,
                      .n_nodes = (guint) row->n_nodes,
                      .priority = row->priority };
    g_array_append_val (self->jobs, job);
  }
  return TRUE;
}

static gint
compare_submits (gconstpointer a, gconstpointer b)
{
  const FabMixJob *left = a, *right = b;

  return fab_order_doubles (&left->submit_s, &right->submit_s);
}

static gboolean
gather_jobs (FabMixAnswer *self, const FabScenario *scenario, GError **error)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);

  for (guint i = 0; i < self->kinds->len; i++)
    draw_jobs (self, i, (guint64) spec->seed);
  if (spec->mix.log != NULL && !take_log (self, spec->mix.log, error))
    return FALSE;
  if (self->jobs->len == 0)
    return fab_throw (error, FAB_ERROR_INPUT, "every job of the log is larger than the machine of %u %s",
                      self->n_nodes, fab_plural (self->n_nodes, "node", "nodes"));
  g_array_sort (self->jobs, compare_submits);
  for (guint i = 0; i < self->jobs->len; i++)
    g_array_index (self->kinds, FabMixedKind, g_array_index (self->jobs, FabMixJob, i).kind).n_jobs++;
  return TRUE;
}

/* --- figures --- */

/* `values` is sorted; 0: there are none. */
static double
percentile (const GArray *values, double fraction)
{
  return values->len > 0 ? g_array_index (values, double, fab_nearest_rank (values->len, fraction)) : 0;
}

/* Of the jobs of a kind; G_MAXUINT: of all. */
static FabMixFigures
sum_up (const FabMixAnswer *self, const FabMixPlay *play, guint which)
{
  g_autoptr (GArray) waits = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) slowdowns = g_array_new (FALSE, FALSE, sizeof (double));
  FabMixFigures sum = { 0 };

  for (guint i = 0; i < self->jobs->len; i++) {
    const FabMixJob *job = &g_array_index (self->jobs, FabMixJob, i);
    const FabMixOutcome *outcome = &play->outcomes[i];
    double wait_s = outcome->end_s - job->submit_s - outcome->busy_s,
           slowdown = outcome->busy_s / job->work_s;

    if (which != G_MAXUINT && job->kind != which)
      continue;
    sum.n_jobs++;
    sum.busy_s += job->n_nodes * outcome->busy_s;
    sum.useful_s += job->n_nodes * job->work_s;
    sum.places_lost_s += job->n_nodes * outcome->places_lost_s;
    sum.sharing_lost_s += job->n_nodes * outcome->sharing_lost_s;
    sum.slowed_s += job->n_nodes * outcome->slowed_s;
    sum.checkpoint_s += job->n_nodes * outcome->checkpoint_s;
    sum.undone_s += job->n_nodes * outcome->undone_s;
    sum.down_s += job->n_nodes * outcome->down_s;
    sum.n_failures += outcome->n_failures;
    sum.n_preempted += outcome->n_preempted;
    sum.mean_wait_s += wait_s;
    sum.mean_slowdown += slowdown;
    sum.mean_groups += outcome->n_groups;
    g_array_append_val (waits, wait_s);
    g_array_append_val (slowdowns, slowdown);
  }
  g_array_sort (waits, fab_order_doubles);
  g_array_sort (slowdowns, fab_order_doubles);
  sum.mean_wait_s /= MAX (sum.n_jobs, 1);
  sum.mean_slowdown /= MAX (sum.n_jobs, 1);
  sum.mean_groups /= MAX (sum.n_jobs, 1);
  sum.median_wait_s = percentile (waits, 0.5);
  sum.p95_wait_s = percentile (waits, 0.95);
  sum.max_wait_s = percentile (waits, 1);
  sum.p95_slowdown = percentile (slowdowns, 0.95);
  sum.max_slowdown = percentile (slowdowns, 1);
  return sum;
}

static FabMixPlay *
play_by (const FabMixAnswer *self, const FabMixRules *rules, const gint *cancel, GError **error)
{
  g_autofree FabMixKind *tables = g_new (FabMixKind, self->kinds->len + 1);

  for (guint i = 0; i < self->kinds->len; i++)
    tables[i] = g_array_index (self->kinds, FabMixedKind, i).table;
  FabMixPlay *play = fab_mix_play (&self->machine, tables, (const FabMixJob *) self->jobs->data,
                                   self->jobs->len, rules, cancel);
  if (play == NULL)
    fab_throw (error, FAB_ERROR_CANCELLED, "the mix was cancelled");
  return play;
}

static void
change_clear (gpointer data)
{
  FabMixChange *self = data;

  g_free (self->name);
  g_free (self->edit);
}

static gboolean
add_change (FabMixAnswer *self, const FabMixRules *rules, const char *name, const char *edit,
            const gint *cancel, GError **error)
{
  g_autoptr (FabMixPlay) play = play_by (self, rules, cancel, error);

  if (play == NULL)
    return FALSE;
  FabMixChange change = { .name = g_strdup (name),
                          .edit = g_strdup (edit),
                          .figures = sum_up (self, play, G_MAXUINT),
                          .span_s = play->last_s - play->first_s };
  change.used_fraction = change.figures.busy_s / (self->n_nodes * change.span_s);
  change.useful_fraction = change.figures.useful_s / (self->n_nodes * change.span_s);
  g_array_append_val (self->changes, change);
  return TRUE;
}

static gboolean
try_changes (FabMixAnswer *self, const FabMixRules *rules, const gint *cancel, GError **error)
{
  FabMixRules other = *rules;

  for (guint p = 0; p < FAB_N_MIX_PLACEMENTS; p++) {
    g_autofree char *name = g_strconcat ("placement ", fab_mix_placement_names[p], NULL);
    g_autofree char *edit = g_strconcat ("mix.placement=", fab_mix_placement_names[p], NULL);

    other.placement = (FabMixPlacement) p;
    if (p != rules->placement && !add_change (self, &other, name, edit, cancel, error))
      return FALSE;
  }
  other = *rules;
  other.has_backfill = !rules->has_backfill;
  if (!add_change (self, &other, other.has_backfill ? "with backfilling" : "without backfilling",
                   other.has_backfill ? "mix.backfill=true" : "mix.backfill=false", cancel, error))
    return FALSE;
  other = *rules;
  other.has_preemption = !rules->has_preemption;
  if (rules->order == FAB_MIX_PRIORITY
      && !add_change (self, &other, other.has_preemption ? "with preemption" : "without preemption",
                      other.has_preemption ? "mix.preempt=true" : "mix.preempt=false", cancel, error))
    return FALSE;
  other = *rules;
  other.has_failures = FALSE;
  if (rules->has_failures && !add_change (self, &other, "nothing fails", NULL, cancel, error))
    return FALSE;
  other = *rules;
  other.is_ideal = TRUE;
  return add_change (self, &other, "uplinks that never bind", NULL, cancel, error);
}

static gboolean
play_all (FabMixAnswer *self, const FabScenarioSpec *spec, const FabMixRequest *request, GError **error)
{
  const FabMixRules rules = { .placement = (FabMixPlacement) spec->mix.placement,
                              .order = (FabMixOrder) spec->mix.order,
                              .has_backfill = spec->mix.has_backfill,
                              .has_preemption = spec->mix.has_preemption,
                              .has_failures = spec->reliability.failures != NULL,
                              .n_spares = (guint) spec->reliability.spares,
                              .seed = (guint64) spec->seed };

  FabMixRules worst_rules = rules;

  worst_rules.is_crowded = TRUE;
  self->play = play_by (self, &rules, request->cancel, error);
  g_autoptr (FabMixPlay) worst = self->play != NULL ? play_by (self, &worst_rules, request->cancel, error)
                                                    : NULL;
  if (worst == NULL)
    return FALSE;
  self->all = sum_up (self, self->play, G_MAXUINT);
  self->worst = sum_up (self, worst, G_MAXUINT);
  self->worst_span_s = worst->last_s - worst->first_s;
  self->by_kind = g_new0 (FabMixFigures, self->kinds->len + 1);
  for (guint i = 0; i < self->kinds->len; i++)
    self->by_kind[i] = sum_up (self, self->play, i);
  self->span_s = self->play->last_s - self->play->first_s;
  self->used_fraction = self->all.busy_s / (self->n_nodes * self->span_s);
  self->useful_fraction = self->all.useful_s / (self->n_nodes * self->span_s);
  self->away_fraction = self->play->away_s / (self->n_nodes * self->span_s);
  for (guint g = 1; g < self->machine.n_groups; g++)
    if (self->play->group_load[g] > self->play->group_load[self->busiest])
      self->busiest = g;
  return try_changes (self, &rules, request->cancel, error);
}

/* --- all --- */

static void
kind_clear (gpointer data)
{
  FabMixedKind *self = data;

  g_free ((gpointer) self->table.nodes_per_group);
  g_free ((gpointer) self->table.own_load);
  g_free ((gpointer) self->table.duty);
  g_free ((gpointer) self->table.slowdown);
  fab_point_free (self->point);
}

static gboolean
check_mix (const FabScenario *scenario, GError **error)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  const FabNodeSpec *node = fab_catalog_node (fab_scenario_catalog (scenario), spec->cluster.node);
  guint sharers = fab_cluster_spec_sharers (&spec->cluster, node);

  if (sharers > 1)
    return fab_throw (
        error, FAB_ERROR_UNSUPPORTED,
        "%u nodes of '%s' share switches of their GPUs, and a mix does not know which of them a job gets; "
        "take a node entry that is the whole rack",
        sharers, node->name);
  if (spec->mix.jobs.n == 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s has no mix of jobs: `mix.jobs` lists their kinds (`fabricast describe scenario`)",
                      spec->name);
  if (spec->neighbours.n > 0)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "%s has neighbours as well, and a mix has all jobs of the machine: list them in `mix.jobs`",
        spec->name);
  return TRUE;
}

FabMixAnswer *
fab_mix_answer (const FabScenario *scenario, const FabMixRequest *request, GError **error)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  const FabMixJobSpec *jobs = spec->mix.jobs.data;
  g_auto (Groups) groups = { 0 };

  if (!check_mix (scenario, error))
    return NULL;
  g_autoptr (FabMixAnswer) self = g_new0 (FabMixAnswer, 1);
  self->kinds = g_array_new (FALSE, TRUE, sizeof (FabMixedKind));
  g_array_set_clear_func (self->kinds, kind_clear);
  self->jobs = g_array_new (FALSE, FALSE, sizeof (FabMixJob));
  self->changes = g_array_new (FALSE, FALSE, sizeof (FabMixChange));
  g_array_set_clear_func (self->changes, change_clear);
  for (guint i = 0; i < spec->mix.jobs.n; i++) {
    FabMixedKind kind = { .spec = &jobs[i] };

    g_array_append_val (self->kinds, kind);
  }
  if (!build_machine (self, scenario, &groups, error) || !gather_jobs (self, scenario, error)
      || !measure_kinds (self, scenario, request, &groups, error) || !play_all (self, spec, request, error))
    return NULL;
  return g_steal_pointer (&self);
}

void
fab_mix_answer_free (FabMixAnswer *self)
{
  if (self == NULL)
    return;
  g_free ((gpointer) self->machine.group_nodes);
  g_strfreev (self->group_names);
  g_array_unref (self->kinds);
  g_array_unref (self->jobs);
  g_array_unref (self->changes);
  fab_mix_play_free (self->play);
  g_free (self->by_kind);
  g_free (self);
}
