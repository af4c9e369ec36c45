/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/run/neighbours.h"

#include "sim/collective/plan/given.h"
#include "sim/scenario/neighbour_params.h"
#include "sim/scenario/schedule_params.h"
#include "sim/scenario/setup.h"

/* --- a job --- */

static FabLayerStack *
expand_model (gconstpointer catalog, const char *name, guint sequence)
{
  const FabModelSpec *model = fab_catalog_model (catalog, name);
  const FabShapeOps *shape = (const FabShapeOps *) model->shape.info;
  FabLayerStack *stack = fab_layer_stack_new ();

  shape->expand (model->shape.params, sequence, stack);
  return stack;
}

static FabSetup
find_setup (gconstpointer catalog, const FabSetupKey *key)
{
  return fab_setup_find (catalog, key);
}

static FabDevice
find_device (gconstpointer catalog, const char *name)
{
  const FabAcceleratorSpec *spec = fab_catalog_accelerator (catalog, name);

  return (FabDevice){ .peak_flops_per_s = { [FAB_PRECISION_FP16] = spec->peak_fp16_flops_per_s },
                      .memory_bytes_per_s = spec->memory_bytes_per_s };
}

static const FabModelChoice *
choice_of (const FabScenario *scenario, guint which)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);

  return which == FAB_FIRST_JOB ? &spec->job
                                : &((const FabNeighbourSpec *) spec->neighbours.data + which)->job;
}

static void
site_free (gpointer site)
{
  FabJobSite *self = site;

  fab_library_destroy (self->library);
  fab_cluster_clear (&self->cluster);
  g_free (self);
}

/* The algorithms that files give. FALSE and *error when a file has changed since the scenario was checked. */
static gboolean
give_schedules (FabLibrary *library, const FabScenarioSpec *spec, const FabRegistry *registry, GError **error)
{
  for (guint i = 0; i < spec->schedules.n; i++) {
    FabScheduleFile file = fab_schedule_file ((const FabScheduleSpec *) spec->schedules.data + i);
    FabGiven *given = registry->schedule_file->read (&file, error);

    if (given == NULL)
      return FALSE;
    fab_library_give (library, given);
  }
  return TRUE;
}

static const FabJobSite *
find_site (const FabScenario *scenario, const FabRegistry *registry, const FabPlant *plant, guint which,
           GError **error)
{
  const FabScenarioSpec *spec = fab_scenario_spec (plant->scenario != NULL ? plant->scenario : scenario);
  const FabLibraryOps *library = (const FabLibraryOps *) spec->collectives.info;
  FabJobSite *made;
  guint n;

  for (guint i = 0; i < plant->sites->len; i++) {
    const FabJobSite *site = g_ptr_array_index (plant->sites, i);

    if (site->which == which)
      return site;
  }
  g_autofree guint *nodes = fab_neighbour_nodes (&spec->neighbours, which, plant->cluster.n_nodes, &n);
  made = g_new0 (FabJobSite, 1);
  made->which = which;
  fab_cluster_view (&made->cluster, &plant->cluster, nodes, n);
  made->library = library->create (registry->lists[FAB_MODEL_ALGORITHM], spec->collectives.params);
  made->library->memo = plant->book != NULL ? fab_form_book_memo (plant->book) : NULL;
  if (!give_schedules (made->library, spec, registry, error)) {
    site_free (made);
    return NULL;
  }
  g_ptr_array_set_free_func (plant->sites, site_free);
  g_ptr_array_add (plant->sites, made);
  return made;
}

static FabJob *
make_job (const FabScenario *scenario, const FabRegistry *registry, const FabPlant *plant, guint which,
          gboolean is_weighed, const gint *cancel, GError **error)
{
  const FabModelChoice *choice = choice_of (scenario, which);
  const FabWorkloadOps *ops = (const FabWorkloadOps *) choice->info;
  g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();
  g_autoptr (FabJob) self = g_new0 (FabJob, 1);

  self->site = find_site (scenario, registry, plant, which, error);
  if (self->site == NULL)
    return NULL;
  FabWorkloadEnv env = { &self->site->cluster,
                         self->site->library,
                         expand_model,
                         find_setup,
                         find_device,
                         fab_scenario_catalog (scenario),
                         (guint64) fab_scenario_spec (scenario)->seed,
                         fab_scenario_spec (scenario)->reliability.failures != NULL,
                         is_weighed };
  self->site->library->cancel = cancel;
  gboolean is_built = ops->build (&env, choice->params, builder, &self->totals, error);
  self->site->library->cancel = NULL;
  if (!is_built)
    return NULL;
  if (!is_weighed)
    self->dag = fab_dag_builder_freeze (builder);
  return g_steal_pointer (&self);
}

FabJob *
fab_job_new (const FabScenario *scenario, const FabRegistry *registry, const FabPlant *plant, guint which,
             const gint *cancel, GError **error)
{
  return make_job (scenario, registry, plant, which, FALSE, cancel, error);
}

FabJob *
fab_job_weigh (const FabScenario *scenario, const FabRegistry *registry, const FabPlant *plant,
               const gint *cancel, GError **error)
{
  return make_job (scenario, registry, plant, FAB_FIRST_JOB, TRUE, cancel, error);
}

void
fab_job_free (FabJob *self)
{
  if (self == NULL)
    return;
  fab_dag_free (self->dag);
  fab_job_totals_clear (&self->totals);
  g_free (self);
}

/* --- others --- */

typedef struct {
  FabJob *job;
  FabExecutor *executor;
  GArray *steps; /* FabStepRecord */
} Neighbour;

struct _FabNeighbours {
  FabNeighbourhood at;
  GArray *all; /* Neighbour */
};

static void
neighbour_clear (gpointer data)
{
  Neighbour *self = data;

  fab_executor_free (self->executor);
  fab_job_free (self->job);
  g_array_unref (self->steps);
}

void
fab_neighbours_free (FabNeighbours *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->all);
  g_free (self);
}

const GArray *
fab_neighbours_steps (const FabNeighbours *self, guint which)
{
  return g_array_index (self->all, Neighbour, which).steps;
}

gboolean
fab_neighbours_use_seed (const FabNeighbours *self)
{
  for (guint i = 0; i < self->all->len; i++)
    if (g_array_index (self->all, Neighbour, i).job->totals.uses_seed)
      return TRUE;
  return FALSE;
}

guint
fab_neighbours_n (const FabNeighbours *self)
{
  return self->all->len;
}

FabJob *
fab_neighbours_job (const FabNeighbours *self, guint which)
{
  return g_array_index (self->all, Neighbour, which).job;
}

const FabExecutor *
fab_neighbours_executor (const FabNeighbours *self, guint which)
{
  return g_array_index (self->all, Neighbour, which).executor;
}

static void
begin (gpointer owner, guint64 which)
{
  FabNeighbours *self = owner;

  fab_executor_begin_iteration (g_array_index (self->all, Neighbour, which).executor);
}

/* Starts the next iteration as an event of its own. Neighbours must not run for ever beside a job that hangs. */
static void
ended (gpointer owner, guint64 which)
{
  FabNeighbours *self = owner;
  Neighbour *one = &g_array_index (self->all, Neighbour, which);
  FabHang hang;

  g_array_append_val (one->steps, fab_executor_probe (one->executor)->step);
  fab_engine_after (self->at.engine, 0, begin, self, which);
  if (self->at.net->dead->len > 0 && fab_disturbances_is_settled (self->at.disturbances)
      && fab_executor_find_hang (self->at.first, &hang))
    fab_engine_stop (self->at.engine);
}

static void
launch (FabNeighbours *self, FabJob *job, FabTimePs start_ps, const FabScenario *scenario)
{
  FabExecutorEnv env = {
    .engine = self->at.engine,
    .net = self->at.net,
    .watch = self->at.watch,
    .dag = job->dag,
    .totals = job->totals,
    .peak_flops_per_s = fab_device_peak (&job->site->cluster.device, job->totals.precision),
    .n_iterations = G_MAXUINT,
    .slowness = job->totals.slowness,
    .slowness_owner = job->totals.slowness_owner,
    .n_sms = fab_scenario_spec (scenario)->has_contention ? job->site->cluster.device.n_sms : 0,
    .ended = { ended, self, self->all->len },
  };
  Neighbour one = { job, fab_executor_new (&env), g_array_new (FALSE, FALSE, sizeof (FabStepRecord)) };

  g_array_append_val (self->all, one);
  fab_engine_after (self->at.engine, start_ps, begin, self, self->all->len - 1);
}

FabNeighbours *
fab_neighbours_new (const FabScenario *scenario, const FabRegistry *registry, const FabPlant *plant,
                    const FabNeighbourhood *at, GError **error)
{
  g_autoptr (FabNeighbours) self = g_new0 (FabNeighbours, 1);

  self->at = *at;
  self->all = g_array_new (FALSE, FALSE, sizeof (Neighbour));
  g_array_set_clear_func (self->all, neighbour_clear);
  const FabParamList *specs = &fab_scenario_spec (scenario)->neighbours;
  for (guint i = 0; i < specs->n; i++) {
    FabJob *job = fab_job_new (scenario, registry, plant, i, NULL, error);

    if (job == NULL)
      return NULL;
    launch (self, job, ((const FabNeighbourSpec *) specs->data + i)->start_ps, scenario);
  }
  return g_steal_pointer (&self);
}
