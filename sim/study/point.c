/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/point.h"

#include <string.h>

#include "sim/scenario/binding.h"

void
fab_point_free (FabPoint *self)
{
  if (self == NULL)
    return;
  g_free (self->binding);
  g_free (self->binding_spec);
  g_free (self);
}

static void
take_times (FabPoint *self, const FabStepRecord *step)
{
  self->step_s = fab_ps_to_seconds (step->times.duration_ps);
  self->compute_s = fab_ps_to_seconds (step->times.compute_ps);
  self->comm_s = fab_ps_to_seconds (step->times.comm_ps);
  self->overlapped_s = fab_ps_to_seconds (step->times.overlapped_ps);
  self->exposed_s = fab_ps_to_seconds (step->times.exposed_ps);
  self->idle_s = fab_ps_to_seconds (step->times.idle_ps);
  self->mfu_fraction = step->mfu_fraction;
  self->tokens_per_s = step->tokens_per_s;
}

static void
take_totals (FabPoint *self, const FabSimulation *simulation)
{
  const FabJobTotals *totals = fab_simulation_totals (simulation);
  const FabDag *dag = fab_simulation_dag (simulation);

  self->n_ranks = fab_cluster_n_ranks (fab_simulation_cluster (simulation));
  self->n_nodes = fab_simulation_cluster (simulation)->n_nodes;
  self->memory_max_bytes = fab_simulation_cluster (simulation)->device.memory_bytes;
  for (guint c = 0; c < dag->n_classes; c++)
    self->memory_bytes = MAX (self->memory_bytes, fab_job_totals_memory (totals, c));
  if (self->tokens_per_s > 0)
    self->train_s = totals->train_tokens / self->tokens_per_s;
}

static void
take_binding (FabPoint *self, const FabSimulation *simulation)
{
  const FabGraph *graph = fab_simulation_cluster (simulation)->graph;
  FabBinding binding = fab_binding_find (fab_simulation_probe (simulation), graph);

  if (binding.link == FAB_NO_LINK)
    return;
  const FabLink *link = fab_graph_link (graph, binding.link);
  g_autofree char *from = fab_graph_vertex_name (graph, link->src),
                  *to = fab_graph_vertex_name (graph, link->dst);
  self->binding = g_strconcat (from, " -> ", to, NULL);
  self->binding_spec = g_strdup (fab_graph_link_class (graph, binding.link)->name);
  self->binding_fraction = binding.fraction;
}

FabPoint *
fab_point_of (G_GNUC_UNUSED const FabScenario *scenario, const FabSimulation *simulation,
              G_GNUC_UNUSED GError **error)
{
  FabPoint *self = g_new0 (FabPoint, 1);

  take_times (self, &fab_simulation_probe (simulation)->step);
  take_totals (self, simulation);
  take_binding (self, simulation);
  return self;
}

FabPoint *
fab_point_play (const FabScenario *scenario, const FabRegistry *registry, GError **error)
{
  g_autoptr (FabSimulation) simulation = fab_simulation_new (scenario, registry, NULL, error);

  if (simulation == NULL)
    return NULL;
  while (fab_simulation_step (simulation)) {}
  return fab_simulation_check_hang (simulation, error) ? fab_point_of (scenario, simulation, error) : NULL;
}

/* --- figures by name --- */

static double
step_of (const FabPoint *point)
{
  return point->step_s;
}

static double
exposed_of (const FabPoint *point)
{
  return point->step_s > 0 ? point->exposed_s / point->step_s : 0;
}

static double
exposed_s_of (const FabPoint *point)
{
  return point->exposed_s;
}

static double
mfu_of (const FabPoint *point)
{
  return point->mfu_fraction;
}

static double
tokens_of (const FabPoint *point)
{
  return point->tokens_per_s;
}

static double
train_of (const FabPoint *point)
{
  return point->train_s;
}

static double
memory_of (const FabPoint *point)
{
  return (double) point->memory_bytes;
}

static gboolean
has_compute (const FabPoint *point)
{
  return point->mfu_fraction > 0;
}

static gboolean
has_tokens (const FabPoint *point)
{
  return point->tokens_per_s > 0;
}

static gboolean
has_training (const FabPoint *point)
{
  return point->train_s > 0;
}

static gboolean
has_memory (const FabPoint *point)
{
  return point->memory_bytes > 0;
}

#define NAMES(name_, column_, kind_, summary_) \
  .name = name_, .column = column_, .kind = FAB_FIGURE_##kind_, .summary = summary_

const FabFigure fab_figures[] = {
  { NAMES ("step", "step_s", TIME, "Time of an iteration."), .value = step_of },
  { NAMES ("exposed", "exposed_fraction", FRACTION, "Exposed communication, share of the step."),
    .value = exposed_of },
  { NAMES ("exposed_time", "exposed_s", TIME, "Exposed communication."), .value = exposed_s_of },
  { NAMES ("mfu", "mfu_fraction", FRACTION, "Model FLOPs utilisation."), .value = mfu_of, .is_gain = TRUE,
    .is_known = has_compute, .unknown = "the job computes nothing" },
  { NAMES ("tokens", "tokens_per_s", RATE, "Tokens of the whole job per second."), .value = tokens_of,
    .is_gain = TRUE, .is_known = has_tokens, .unknown = "the job has no tokens" },
  { NAMES ("train", "train_s", TIME, "The whole training."), .value = train_of, .is_known = has_training,
    .unknown = "the job does not say how many tokens the training has (train_tokens)" },
  { NAMES ("memory", "memory_bytes", BYTES, "Memory of the fullest GPU."), .value = memory_of,
    .is_known = has_memory, .unknown = "the job does not say what it keeps in memory" },
  { .name = NULL },
};

const FabFigure *
fab_figure_find (const char *name)
{
  for (const FabFigure *figure = fab_figures; figure->name != NULL; figure++)
    if (strcmp (figure->name, name) == 0)
      return figure;
  return NULL;
}

char *
fab_figure_names (void)
{
  GString *names = g_string_new (NULL);

  for (const FabFigure *figure = fab_figures; figure->name != NULL; figure++)
    g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", figure->name);
  return g_string_free (names, FALSE);
}
