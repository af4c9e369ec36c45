/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/run/simulation.h"

#include "sim/base/error.h"
#include "sim/base/thread_pool.h"
#include "sim/base/version.h"
#include "sim/collective/play/play.h"
#include "sim/run/neighbours.h"
#include "sim/run/queue_lengths.h"
#include "sim/shortcut/sample/sampling.h"
#include "sim/shortcut/time/skips.h"

struct _FabSimulation {
  const FabScenario *scenario;
  FabPlantCache *plants; /* that the plant is of; NULL: it is the simulation's own, or that of another */
  gboolean is_beside;    /* another simulation, whose times alone are asked for */
  gboolean shares_plant; /* with another simulation, which owns it */
  gboolean is_even;      /* no rank is slower than the others (FabWhatIf) */
  FabPlant *plant;
  FabJob *job;
  FabEngine *engine;
  FabEngine *net_engine; /* of the network alone; NULL: it is on `engine` */
  FabNet *net;
  FabShortcuts *shortcuts;
  guint n_threads; /* to warm up and to sample on; 0: one */
  FabSamplingCount sampled;
  gboolean has_begun;
  FabExecutor *executor;
  FabDisturbances *disturbances; /* NULL: no disturbances */
  GArray *apart;                 /* FabLinkId: links whose rate changes during the run */
  FabNeighbours *neighbours;     /* NULL: the job has the machine to itself */
  char *resolved;                /* the scenario as YAML, made on request */
};

/* Checks that the clock can hold all tasks, even one after the other. */
static gboolean
check_length (const FabSimulation *self, GError **error)
{
  const double days = 24 * 3600;
  double seconds = 0;

  for (guint i = 0; i < self->job->dag->n_tasks; i++)
    seconds += fab_ps_to_seconds (self->job->dag->tasks[i].duration_ps) * self->job->dag->tasks[i].n_times
             * MAX (self->job->totals.most_slowness, 1);
  for (guint i = 0; i < self->job->dag->n_collectives; i++)
    seconds += fab_ps_to_seconds (fab_collective_plan_idle_ps (&self->job->dag->collectives[i].plan));
  seconds *= (double) fab_scenario_spec (self->scenario)->iterations;
  if (seconds < fab_ps_to_seconds (FAB_TIME_MAX) / 2)
    return TRUE;
  return fab_throw (error, FAB_ERROR_INPUT,
                    "the run could last %.0f days of simulated time, and the clock holds %.0f; simulate "
                    "fewer iterations, or send fewer bytes",
                    seconds / days, fab_ps_to_seconds (FAB_TIME_MAX) / 2 / days);
}

/* Returns the peak of one accelerator in the precision of the job. */
static double
peak_flops_per_s (const FabSimulation *self)
{
  return fab_device_peak (&self->job->site->cluster.device, self->job->totals.precision);
}

static gboolean
is_stuck (gconstpointer executor)
{
  FabHang hang;

  return fab_executor_find_hang (executor, &hang);
}

/* Refuses a side flow whose ends lie in two disconnected parts of the machine. */
static gboolean
check_flows (const FabSimulation *self, GError **error)
{
  const FabDisturbancesPlan *plan = self->plant->disturbances;

  for (guint i = 0; plan != NULL && i < plan->flows->len; i++) {
    const FabSideFlow *flow = &g_array_index (plan->flows, FabSideFlow, i);
    FabPath path = { 0 };

    if (fab_router_append (self->plant->router, flow->src, flow->dst, i, &path))
      continue;
    g_autofree char *from = fab_graph_vertex_name (self->plant->graph, flow->src),
                    *to = fab_graph_vertex_name (self->plant->graph, flow->dst);
    return fab_throw (error, FAB_ERROR_INPUT, "background: no path leads from %s to %s", from, to);
  }
  return TRUE;
}

/* Whether the job is all that loads the network, so that symmetric messages may be played as one. */
static gboolean
is_alone (const FabSimulation *self)
{
  const FabDisturbancesPlan *plan = self->plant->disturbances;

  return (plan == NULL || plan->flows->len == 0) && fab_scenario_spec (self->scenario)->neighbours.n == 0
      && !fab_graph_is_unfolded (self->plant->graph);
}

/* The links whose rate changes during the run. (transfer full) */
static GArray *
find_apart (const FabDisturbancesPlan *plan)
{
  GArray *apart = g_array_new (FALSE, FALSE, sizeof (FabLinkId));

  for (guint i = 0; plan != NULL && i < plan->spells->len; i++)
    g_array_append_val (apart, g_array_index (plan->spells, FabSpell, i).link);
  for (guint i = 0; plan != NULL && i < plan->bursts->len; i++)
    g_array_append_val (apart, g_array_index (plan->bursts, FabBursts, i).link);
  return apart;
}

/* Whether the network has a clock of its own, since it is idle now and then, and nothing but jobs acts on it. */
static gboolean
has_episodes (const FabSimulation *self, const FabNetOps *ops)
{
  return ops->remembers != NULL && (self->plant->disturbances == NULL || ops->set_capacity == NULL);
}

static void
build_net (FabSimulation *self)
{
  const FabScenarioSpec *spec = fab_scenario_spec (self->scenario);
  const FabNetOps *ops = (const FabNetOps *) spec->fidelity.info;

  self->engine = fab_engine_new ();
  if (has_episodes (self, ops))
    self->net_engine = fab_engine_new ();
  self->net = ops->create (&(FabNetEnv){ self->net_engine != NULL ? self->net_engine : self->engine,
                                         self->plant->graph, self->plant->router, (guint64) spec->seed },
                           spec->fidelity.params);
  self->shortcuts = fab_shortcuts_new (self->engine, self->net, spec->fidelity.params,
                                       self->net_engine != NULL && ops->remembers (spec->fidelity.params));
}

static FabExecutorEnv
executor_env (const FabSimulation *self)
{
  const FabScenarioSpec *spec = fab_scenario_spec (self->scenario);
  return (FabExecutorEnv){
    .engine = self->engine,
    .net = self->net,
    .watch = fab_shortcuts_watch (self->shortcuts),
    .dag = self->job->dag,
    .totals = self->job->totals,
    .peak_flops_per_s = peak_flops_per_s (self),
    .n_iterations = (guint) spec->iterations,
    .slowness = self->is_even ? NULL : self->job->totals.slowness,
    .slowness_owner = self->job->totals.slowness_owner,
    .n_sms = spec->has_contention ? self->plant->cluster.device.n_sms : 0,
    .is_alone = is_alone (self),
    .apart = (const FabLinkId *) (gpointer) self->apart->data,
    .n_apart = self->apart->len,
    .has_no_loads = self->is_beside,
  };
}

static void
build_executor (FabSimulation *self)
{
  self->apart = find_apart (self->plant->disturbances);
  build_net (self);
  const FabExecutorEnv env = executor_env (self);
  self->executor = fab_executor_new (&env);
  if (self->plant->disturbances != NULL && self->net->ops->set_capacity != NULL)
    self->disturbances = fab_disturbances_new (self->net, self->plant->disturbances, is_stuck,
                                               self->executor);
}

static gboolean
add_neighbours (FabSimulation *self, const FabRegistry *registry, GError **error)
{
  FabNeighbourhood at = { self->engine, self->net, fab_shortcuts_watch (self->shortcuts), self->disturbances,
                          self->executor };

  if (fab_scenario_spec (self->scenario)->neighbours.n == 0)
    return TRUE;
  self->neighbours = fab_neighbours_new (self->scenario, registry, self->plant, &at, error);
  return self->neighbours != NULL;
}

/* Where a plant is from, which is given back there; all zero: it is the simulation's own. */
typedef struct {
  FabPlantCache *plants;
  gboolean is_beside, is_shared;
  gboolean is_even; /* as in FabWhatIf */
} PlantSource;

/* On this plant, which it takes; NULL: there is none. */
static FabSimulation *
simulation_new (PlantSource source, FabPlant *plant, const FabScenario *scenario, const FabRegistry *registry,
                guint which, const gint *cancel, GError **error)
{
  g_autoptr (FabSimulation) self = g_new0 (FabSimulation, 1);

  self->scenario = scenario;
  self->plants = source.plants;
  self->is_beside = source.is_beside;
  self->shares_plant = source.is_shared;
  self->is_even = source.is_even;
  self->plant = plant;
  if (self->plant == NULL)
    return NULL;
  self->job = fab_job_new (scenario, registry, self->plant, which, cancel, error);
  if (self->job == NULL || !check_length (self, error) || !check_flows (self, error))
    return NULL;
  build_executor (self);
  return g_steal_pointer (&self);
}

/* `problem` is why there is no plant, or NULL; it is taken. */
static FabSimulation *
build_all (PlantSource source, FabPlant *plant, GError *problem, const FabScenario *scenario,
           const FabRegistry *registry, const gint *cancel, GError **error)
{
  g_autoptr (FabSimulation) self = simulation_new (source, plant, scenario, registry, FAB_FIRST_JOB, cancel,
                                                   &problem);

  if (self != NULL && add_neighbours (self, registry, &problem))
    return g_steal_pointer (&self);
  if (cancel != NULL && g_atomic_int_get (cancel) != 0) {
    g_clear_error (&problem);
    fab_throw (error, FAB_ERROR_CANCELLED, "the run was cancelled");
  } else {
    g_propagate_error (error, problem);
  }
  return NULL;
}

static void
scale_plans (FabSimulation *self, const FabPlanScale *scale)
{
  for (guint i = 0; i < self->job->dag->n_collectives; i++) {
    FabCollectivePlan *plan = &self->job->dag->collectives[i].plan;

    if (plan->footprint != NULL)
      fab_collective_plan_scale (plan, scale->factor (scale->owner, &self->job->site->cluster, plan));
  }
}

/* On the time of all tasks of the kind that are no collectives. */
static void
scale_tasks (FabSimulation *self, FabSpanKind kind, double factor)
{
  const FabDag *dag = self->job->dag;

  for (guint i = 0; i < dag->n_tasks; i++) {
    FabTask *task = &dag->tasks[i];

    if (task->collective < 0 && task->kind == kind)
      task->duration_ps = (FabTimePs) ((double) task->duration_ps * factor + 0.5);
  }
}

static void
scale_compute (FabSimulation *self, const FabComputeScale *scale)
{
  if (self->job->totals.has_compute_known)
    scale_tasks (self, FAB_SPAN_COMPUTE, scale->factor (scale->owner, &self->job->totals.compute_known));
}

static void
start_at_once (FabSimulation *self)
{
  for (guint i = 0; i < self->job->dag->n_collectives; i++)
    if (self->job->dag->collectives[i].plan.footprint != NULL)
      fab_collective_plan_start_at_once (&self->job->dag->collectives[i].plan);
}

static gboolean
changes_machine (const FabWhatIf *what_if)
{
  return what_if != NULL
      && (what_if->link_class != NULL || what_if->is_every_link || what_if->is_intact
          || what_if->memory_factor > 0);
}

/* What a what-if changes of the job once it is built. */
static void
change_job (FabSimulation *self, const FabWhatIf *what_if)
{
  if (what_if->plans != NULL)
    scale_plans (self, what_if->plans);
  if (what_if->has_no_latency)
    start_at_once (self);
  if (what_if->compute != NULL)
    scale_compute (self, what_if->compute);
  if (what_if->compute_factor > 0)
    scale_tasks (self, FAB_SPAN_COMPUTE, what_if->compute_factor);
  if (what_if->host_factor > 0)
    scale_tasks (self, FAB_SPAN_LOAD, what_if->host_factor);
}

FabSimulation *
fab_simulation_build_beside (const FabSimulation *first, const FabScenario *scenario,
                             const FabRegistry *registry, const FabWhatIf *what_if, const gint *cancel,
                             GError **error)
{
  PlantSource source = { .is_beside = first != NULL,
                         .is_shared = first != NULL && !changes_machine (what_if),
                         .is_even = what_if != NULL && what_if->is_even };
  GError *problem = NULL;
  FabPlant *plant;

  g_assert (first == NULL || first->scenario == scenario);
  plant = source.is_shared ? first->plant : fab_plant_new (scenario, what_if, &problem);
  FabSimulation *self = build_all (source, plant, problem, scenario, registry, cancel, error);
  if (self != NULL && what_if != NULL)
    change_job (self, what_if);
  return self;
}

FabSimulation *
fab_simulation_build (const FabScenario *scenario, const FabRegistry *registry, const FabWhatIf *what_if,
                      const gint *cancel, GError **error)
{
  return fab_simulation_build_beside (NULL, scenario, registry, what_if, cancel, error);
}

FabSimulation *
fab_simulation_build_on (FabPlantCache *plants, const FabScenario *scenario, const FabRegistry *registry,
                         const FabWhatIf *what_if, const gint *cancel, GError **error)
{
  GError *problem = NULL;

  if (changes_machine (what_if))
    return fab_simulation_build (scenario, registry, what_if, cancel, error);
  PlantSource source = { .plants = plants,
                         .is_beside = what_if != NULL,
                         .is_even = what_if != NULL && what_if->is_even };
  FabPlant *plant = fab_plant_cache_take (plants, scenario, &problem);
  FabSimulation *self = build_all (source, plant, problem, scenario, registry, cancel, error);
  if (self != NULL && what_if != NULL)
    change_job (self, what_if);
  return self;
}

gboolean
fab_simulation_weigh (FabPlantCache *plants, const FabScenario *scenario, const FabRegistry *registry,
                      const gint *cancel, FabWeight *weight, GError **error)
{
  FabPlant *plant = fab_plant_cache_take (plants, scenario, error);
  FabJob *job = plant != NULL ? fab_job_weigh (scenario, registry, plant, cancel, error) : NULL;
  gboolean is_weighed = job != NULL;

  if (is_weighed) {
    const FabCluster *cluster = &job->site->cluster;
    const GArray *memory = job->totals.memory;

    *weight = (FabWeight){ .n_ranks = fab_cluster_n_ranks (cluster),
                           .n_nodes = cluster->n_nodes,
                           .memory_max_bytes = cluster->device.memory_bytes };
    for (guint i = 0; memory != NULL && i < memory->len; i++)
      weight->memory_bytes = MAX (
          weight->memory_bytes,
          fab_job_totals_memory (&job->totals, g_array_index (memory, FabMemoryPart, i).rank_class));
  }
  fab_job_free (job);
  if (plant != NULL)
    fab_plant_cache_give (plants, plant);
  return is_weighed;
}

FabSimulation *
fab_simulation_new (const FabScenario *scenario, const FabRegistry *registry, const FabWhatIf *what_if,
                    GError **error)
{
  return fab_simulation_build (scenario, registry, what_if, NULL, error);
}

FabSimulation *
fab_simulation_new_alone (const FabScenario *scenario, const FabRegistry *registry, guint which,
                          GError **error)
{
  return simulation_new ((PlantSource){ .plants = NULL }, fab_plant_new (scenario, NULL, error), scenario,
                         registry, which, NULL, error);
}

const FabNeighbours *
fab_simulation_neighbours (const FabSimulation *self)
{
  return self->neighbours;
}

void
fab_simulation_free (FabSimulation *self)
{
  if (self == NULL)
    return;
  fab_disturbances_free (self->disturbances);
  fab_neighbours_free (self->neighbours);
  fab_executor_free (self->executor);
  fab_shortcuts_free (self->shortcuts);
  fab_net_destroy (self->net);
  fab_engine_free (self->net_engine);
  fab_engine_free (self->engine);
  fab_job_free (self->job);
  if (self->plants != NULL && self->plant != NULL)
    fab_plant_cache_give (self->plants, self->plant);
  else if (!self->shares_plant)
    fab_plant_free (self->plant);
  g_clear_pointer (&self->apart, g_array_unref);
  g_free (self->resolved);
  g_free (self);
}

void
fab_simulation_set_threads (FabSimulation *self, guint n_threads)
{
  self->n_threads = fab_thread_pool_size (n_threads);
}

void
fab_simulation_set_brief (FabSimulation *self)
{
  fab_executor_set_brief (self->executor);
}

FabTimePs
fab_simulation_least_ps (const FabSimulation *self)
{
  const FabNetOps *ops = (const FabNetOps *) fab_scenario_spec (self->scenario)->fidelity.info;

  /* Samples may find that collectives take less than their plans say, and are taken when the first step begins. */
  if (ops->sampled_on != NULL && !self->has_begun)
    return 0;
  return fab_executor_least_ps (self->executor);
}

static void
warm_up (FabSimulation *self)
{
  const FabModelChoice *fidelity = &fab_scenario_spec (self->scenario)->fidelity;
  const FabWarmUpEnv env = { .ops = (const FabNetOps *) fidelity->info,
                             .params = fidelity->params,
                             .env = self->net->env,
                             .n_threads = MAX (self->n_threads, 1),
                             .is_all = fab_scenario_spec (self->scenario)->neighbours.n == 0 };
  g_autoptr (GArray) collectives = fab_executor_list_collectives (self->executor);
  const FabExecutorEnv executor = executor_env (self);
  fab_shortcuts_warm_up (self->shortcuts, &env, fab_executor_job (self->executor), collectives);
  fab_shortcuts_rehearse (self->shortcuts, &env, fab_executor_job (self->executor), &executor);
}

/* A network without exact skips (FabNetOps.skip) skips rounds of a collective by what comes next on its clock. A
 * warm-up has nothing else on its clock, so it must be made on one thread as well, for the same figures. */
static gboolean
is_warmed_up (const FabSimulation *self)
{
  return !self->has_begun && self->net_engine != NULL
      && (self->n_threads > 1 || (self->net->ops->mark != NULL && self->net->ops->skip == NULL));
}

static void
sample_job (FabSimulation *self, const FabSamplingEnv *env, const FabExecutor *executor, FabDag *dag)
{
  g_autoptr (GArray) collectives = fab_executor_list_collectives (executor);

  fab_sample_collectives (env, dag, collectives, &self->sampled);
}

/* Where the fidelity times collectives on a finer network: those of all jobs. */
static void
sample (FabSimulation *self)
{
  const FabModelChoice *fidelity = &fab_scenario_spec (self->scenario)->fidelity;
  const FabNetOps *ops = (const FabNetOps *) fidelity->info;
  FabSamplingEnv env = { .env = self->net->env,
                         .n_threads = MAX (self->n_threads, 1),
                         .is_alone = is_alone (self),
                         .apart = (const FabLinkId *) (gpointer) self->apart->data,
                         .n_apart = self->apart->len };

  if (ops->sampled_on == NULL || self->has_begun)
    return;
  env.ops = ops->sampled_on (fidelity->params, &env.params, &env.most_events);
  sample_job (self, &env, self->executor, self->job->dag);
  for (guint i = 0; self->neighbours != NULL && i < fab_neighbours_n (self->neighbours); i++)
    sample_job (self, &env, fab_neighbours_executor (self->neighbours, i),
                fab_neighbours_job (self->neighbours, i)->dag);
}

gboolean
fab_simulation_step (FabSimulation *self)
{
  sample (self);
  if (is_warmed_up (self))
    warm_up (self);
  self->has_begun = TRUE;
  return fab_executor_run_iteration (self->executor);
}

/* Reports buffers that wait for each other. */
static gboolean
check_jam (const FabSimulation *self, GError **error)
{
  const FabGraph *graph = self->plant->graph;
  FabLinkId id = fab_executor_find_jam (self->executor);

  if (id == FAB_NO_LINK)
    return TRUE;
  const FabLink *link = fab_graph_link (graph, id);
  g_autofree char *from = fab_graph_vertex_name (graph, link->src),
                  *to = fab_graph_vertex_name (graph, link->dst);
  return fab_throw (
      error, FAB_ERROR_HUNG,
      "the iteration never ends, because of a deadlock: packets for link %s -> %s and others wait for "
      "buffers that wait for each other in a circle; raise fidelity.lanes or fidelity.buffer, or set "
      "fidelity.flow_control: none",
      from, to);
}

void
fab_simulation_rest (FabSimulation *self)
{
  fab_net_forget (self->net);
}

void
fab_simulation_set_cancel (FabSimulation *self, const gint *cancel)
{
  fab_engine_set_cancel (self->engine, cancel);
  if (self->net_engine != NULL)
    fab_engine_set_cancel (self->net_engine, cancel);
}

void
fab_simulation_set_pulse (FabSimulation *self, FabPulse *pulse)
{
  fab_engine_set_pulse (self->engine, pulse);
  fab_executor_set_pulse (self->executor, pulse);
}

static gboolean
check_hang (const FabSimulation *self, GError **error)
{
  const FabGraph *graph = self->plant->graph;
  FabHang hang;

  if (!fab_executor_find_hang (self->executor, &hang))
    return check_jam (self, error);
  const FabLink *link = fab_graph_link (graph, hang.link.link);
  g_autofree char *from = fab_graph_vertex_name (graph, link->src),
                  *to = fab_graph_vertex_name (graph, link->dst);
  g_autofree char *since = fab_units_show (FAB_UNIT_TIME, (double) hang.link.since_ps);
  g_autofree char *begun = fab_units_show (FAB_UNIT_TIME, (double) hang.collective.start_ps);
  return fab_throw (error, FAB_ERROR_HUNG,
                    "iteration %u never ends: %s %s, begun at %s, hangs on link %s -> %s, dead since %s",
                    hang.collective.iteration, hang.collective.op, hang.collective.name, begun, from, to,
                    since);
}

gboolean
fab_simulation_check (const FabSimulation *self, GError **error)
{
  const char *failure = fab_engine_failure (self->engine);

  if (failure != NULL)
    return fab_throw (error, FAB_ERROR_BROKEN, "%s", failure);
  if (fab_engine_is_cancelled (self->engine))
    return fab_throw (error, FAB_ERROR_CANCELLED, "the run was cancelled");
  return check_hang (self, error);
}

const FabProbe *
fab_simulation_probe (const FabSimulation *self)
{
  return fab_executor_probe (self->executor);
}

const FabPlant *
fab_simulation_plant (const FabSimulation *self)
{
  return self->plant;
}

const FabCluster *
fab_simulation_cluster (const FabSimulation *self)
{
  return &self->job->site->cluster;
}

const FabJobTotals *
fab_simulation_totals (const FabSimulation *self)
{
  return &self->job->totals;
}

const FabDag *
fab_simulation_dag (const FabSimulation *self)
{
  return self->job->dag;
}

FabTimePs
fab_simulation_slowed_ps (const FabSimulation *self)
{
  const FabDag *dag = fab_simulation_dag (self);
  double work_ps = 0, n_ranks = 0;

  if (fab_simulation_totals (self)->slowness != NULL)
    return 0;
  for (guint c = 0; c < dag->n_classes; c++)
    n_ranks += dag->classes[c].n_ranks;
  for (guint t = 0; t < dag->n_tasks; t++)
    if (dag->tasks[t].kind == FAB_SPAN_COMPUTE)
      work_ps += (double) fab_task_ps (&dag->tasks[t])
               * dag->classes[dag->streams[dag->tasks[t].stream].rank_class].n_ranks / n_ranks;
  return MAX (fab_simulation_probe (self)->step.times.compute_ps - (FabTimePs) work_ps, 0);
}

static FabEpisodes *
episodes_of (const FabSimulation *self)
{
  return fab_shortcuts_episodes (self->shortcuts);
}

guint64
fab_simulation_events (const FabSimulation *self)
{
  return fab_engine_events (self->engine) + fab_episodes_events (episodes_of (self));
}

FabEpisodesCount
fab_simulation_episodes (const FabSimulation *self)
{
  return self->net_engine != NULL ? fab_episodes_count (episodes_of (self)) : (FabEpisodesCount){ 0 };
}

FabSamplingCount
fab_simulation_sampled (const FabSimulation *self)
{
  return self->sampled;
}

FabLanesCount
fab_simulation_lanes (const FabSimulation *self)
{
  return fab_shortcuts_lanes (self->shortcuts);
}

FabFormsCount
fab_simulation_forms (const FabSimulation *self)
{
  const FabLibrary *library = self->job->site->library;

  return (FabFormsCount){ library->forms->len, library->n_forms_derived, library->n_forms_known };
}

FabMemoRecord
fab_simulation_memo_record (const FabSimulation *self)
{
  FabEpisodesCount count = fab_simulation_episodes (self);

  return (FabMemoRecord){ .n_collectives = count.n_collectives,
                          .n_collectives_remembered = count.n_collectives_remembered,
                          .n_episodes = count.n_episodes,
                          .n_episodes_remembered = count.n_remembered,
                          .n_replays = count.n_replays,
                          .n_events = fab_episodes_events (episodes_of (self)),
                          .n_skipped = count.n_skipped };
}

GArray *
fab_simulation_link_queues (const FabSimulation *self)
{
  GArray *records = g_array_new (FALSE, FALSE, sizeof (FabLinkQueueRecord));
  g_autofree FabLinkQueue *queues = fab_episodes_link_queues (episodes_of (self));
  guint n_links = queues != NULL ? fab_graph_n_links (self->plant->graph) : 0;

  for (FabLinkId link = 0; link < n_links; link++) {
    FabLinkQueue queue = queues[link];
    FabLinkQueueRecord record = { .link = link,
                                  .carried_bytes = queue.carried_bytes,
                                  .most_bytes = queue.most_bytes,
                                  .mean_bytes = queue.mean_bytes,
                                  .n_stalls = queue.n_stalls,
                                  .n_marks = queue.n_marks,
                                  .n_pauses = queue.n_pauses,
                                  .n_drops = queue.n_drops };

    if (queue.carried_bytes > 0 || queue.most_bytes > 0 || queue.n_drops > 0)
      g_array_append_val (records, record);
  }
  return records;
}

GArray *
fab_simulation_queue_lengths (const FabSimulation *self)
{
  g_autoptr (GArray) queues = fab_simulation_link_queues (self);

  return fab_queue_length_records (self->plant->graph, episodes_of (self), queues);
}

static void
stop_engine (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  fab_engine_stop (owner);
}

FabTimePs
fab_simulation_time_steps (FabSimulation *self, guint collective, guint n_chunks)
{
  const FabCollectivePlan *plan = &self->job->dag->collectives[collective].plan;
  FabEngine *engine = self->net->env.engine;
  FabTimePs start_ps = fab_engine_now (engine);

  const FabPlaySpec spec = { .bytes = plan->bytes,
                             .wire_factor = plan->wire_factor,
                             .share = 1,
                             .watch = &fab_skips_watch,
                             .done = { .fn = stop_engine, .owner = engine } };

  if (plan->footprint == NULL)
    return 0;
  g_autoptr (FabSchedule) schedule = fab_library_schedule (self->job->site->library, plan, n_chunks);
  G_GNUC_UNUSED g_autoptr (FabPlay) play = fab_play_new (schedule, self->net, &spec);
  fab_engine_run (engine);
  return fab_engine_now (engine) - start_ps;
}

gboolean
fab_simulation_uses_seed (const FabSimulation *self)
{
  return self->plant->uses_seed || self->job->totals.uses_seed
      || (self->neighbours != NULL && fab_neighbours_use_seed (self->neighbours))
      || fab_episodes_has_drawn (episodes_of (self));
}

FabRunRecord
fab_simulation_run_record (FabSimulation *self)
{
  const FabScenarioSpec *spec = fab_scenario_spec (self->scenario);

  if (self->resolved == NULL)
    self->resolved = fab_scenario_resolved (self->scenario);
  return (FabRunRecord){
    .name = spec->name,
    .scenario_yaml = self->resolved,
    .version = fab_version (),
    .fidelity = spec->fidelity.info->name,
    .seed = spec->seed,
    .n_ranks = fab_cluster_n_ranks (&self->job->site->cluster),
    .n_nodes = self->job->site->cluster.n_nodes,
    .peak_flops_per_s = self->job->totals.model_flops_per_rank > 0 ? peak_flops_per_s (self) : 0,
    .memory_bytes = self->plant->cluster.device.memory_bytes,
    .train_tokens = self->job->totals.train_tokens,
  };
}

FabLinkRecord
fab_simulation_link_record (const FabSimulation *self, FabLinkId id)
{
  const FabGraph *graph = self->plant->graph;
  const FabLink *link = fab_graph_link (graph, id);

  return (FabLinkRecord){
    .link = id,
    .from = fab_graph_vertex_name (graph, link->src),
    .to = fab_graph_vertex_name (graph, link->dst),
    .spec = fab_graph_link_class (graph, id)->name,
    .count = link->count,
    .line_rate_bytes_per_s = link->rate_bytes_per_s,
    .latency_ps = link->latency_ps,
  };
}

/* By what is exposed; where nothing is, by all of the time. Of equal links the first. */
static FabBinding
find_binding (const FabProbe *probe, const FabGraph *graph, gboolean is_exposed)
{
  g_autofree double *bound = g_new0 (double, fab_graph_n_links (graph) + 1);
  double total = 0, ends = 0;
  FabLinkId most = 0;

  for (guint i = 0; i < probe->collectives->len; i++) {
    const FabCollectiveRecord *record = &g_array_index (probe->collectives, FabCollectiveRecord, i);
    double ps = (double) (is_exposed ? record->exposed_ps : record->end_ps - record->start_ps);

    if (record->binding_link == FAB_NO_LINK)
      continue;
    bound[record->binding_link] += ps;
    total += ps;
    ends += record->waits_for_ends ? ps : 0;
  }
  if (total <= 0)
    return is_exposed ? find_binding (probe, graph, FALSE) : (FabBinding){ .link = FAB_NO_LINK };
  for (FabLinkId link = 1; link < fab_graph_n_links (graph); link++)
    if (bound[link] > bound[most])
      most = link;
  return (FabBinding){ .link = most, .fraction = bound[most] / total, .ends_fraction = ends / total };
}

FabBinding
fab_binding_find (const FabProbe *probe, const FabGraph *graph)
{
  return find_binding (probe, graph, TRUE);
}
