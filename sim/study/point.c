/* SPDX-License-Identifier: Apache-2.0 */
/* point.c - the figures by which points are compared: their names, their columns, and how they are read and shown. */
#include "sim/study/point.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/run/run.h"
#include "sim/run/simulation.h"
#include "sim/study/axis.h"
#include "sim/study/choices.h"
#include "sim/study/machine.h"

void
fab_point_free (FabPoint *self)
{
  if (self == NULL)
    return;
  g_free (self->binding);
  g_free (self->binding_spec);
  fab_verdict_free (self->verdict);
  fab_bottleneck_free (self->bottleneck);
  g_clear_pointer (&self->choices, g_array_unref);
  g_clear_pointer (&self->draws, g_ptr_array_unref);
  g_free (self);
}

FabPoint *
fab_point_copy (const FabPoint *self)
{
  FabPoint *copy = g_memdup2 (self, sizeof *self);

  copy->binding = g_strdup (self->binding);
  copy->binding_spec = g_strdup (self->binding_spec);
  copy->verdict = self->verdict != NULL ? fab_verdict_copy (self->verdict) : NULL;
  copy->bottleneck = self->bottleneck != NULL ? fab_bottleneck_copy (self->bottleneck) : NULL;
  copy->choices = self->choices != NULL ? g_array_ref (self->choices) : NULL;
  copy->draws = NULL;
  return copy;
}

gboolean
fab_point_fits (const FabPoint *self)
{
  return self->memory_max_bytes == 0 || self->memory_bytes <= self->memory_max_bytes;
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
  self->waiting_s = fab_ps_to_seconds (step->times.waiting_ps);
  self->exposed_inter_node_s = fab_ps_to_seconds (step->times.exposed_inter_node_ps);
  self->mfu_fraction = step->mfu_fraction;
  self->tokens_per_s = step->tokens_per_s;
}

static guint
find_dimension (const char *name)
{
  guint d = 0;

  while (strcmp (fab_dimension_names[d], name) != 0)
    d++;
  return d;
}

/* Means over ranks, of which each class stands for some. */
static void
take_exposures (FabPoint *self, const FabSimulation *simulation)
{
  const GArray *records = fab_simulation_probe (simulation)->exposures;
  const FabDag *dag = fab_simulation_dag (simulation);
  double n_ranks = 0;

  for (guint c = 0; c < dag->n_classes; c++)
    n_ranks += dag->classes[c].n_ranks;
  for (guint i = 0; i < records->len; i++) {
    const FabExposureRecord *record = &g_array_index (records, FabExposureRecord, i);
    guint d = find_dimension (record->dimension);

    self->dimensions |= 1U << d;
    self->exposed_by_s[d] += fab_ps_to_seconds (record->exposed_ps) * dag->classes[record->rank_class].n_ranks
                           / n_ranks;
  }
}

/* What a rank has to send at least by the definition of busbw, whatever the algorithm. Between pipeline stages one
 * class sends and the other receives. */
static double
sent_bytes (const FabDag *dag)
{
  double bytes = 0, n_ranks = 0;

  for (guint c = 0; c < dag->n_classes; c++)
    n_ranks += dag->classes[c].n_ranks;
  for (guint i = 0; i < dag->n_collectives; i++) {
    const FabCollectivePlan *plan = &dag->collectives[i].plan;
    guint n_classes = dag->join_starts[i + 1] - dag->join_starts[i];
    double factor = fab_op_bus_factor (plan->op, plan->n_ranks)
                  / (plan->op == FAB_OP_SEND_RECV ? n_classes : 1);

    for (guint j = dag->join_starts[i]; j < dag->join_starts[i + 1]; j++)
      bytes += (double) plan->bytes * factor * dag->classes[dag->join_classes[j]].n_ranks;
  }
  return bytes / n_ranks;
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
  self->sent_bytes = sent_bytes (dag);
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

static gboolean
has_goodput (const FabPoint *point)
{
  return point->goodput.is_known;
}

/* With failures where they are known. */
static double
days_of (const FabPoint *point)
{
  return has_goodput (point) ? point->goodput.calendar_s : point->train_s;
}

/* One product does not block, and the fabric of which the step is does. */
static void
judge_price (FabPoint *self, const FabBill *bill)
{
  if (bill->n_replaced < 2 || bill->replaced_ratio < 1 + 1e-9)
    return;
  fab_verdict_add (
      self->verdict, FAB_FINDING_ONE_SWITCH,
      g_strdup_printf (
          "All NICs fit on one switch, so the price counts it in place of the fabric's %" G_GUINT64_FORMAT
          " switches. The step is that of the fabric, which is oversubscribed by %.3g:1.",
          bill->n_replaced, bill->replaced_ratio),
      g_strdup ("cluster.fabric=switch has this price, and does not block."));
}

static gboolean
take_spending (FabPoint *self, const FabScenario *scenario, const FabSimulation *simulation, GError **error)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  gboolean is_intact = spec->faults.n == 0 && spec->background.n == 0;
  g_autoptr (FabBill) bill = is_intact
                               ? fab_bill_of_graph (scenario, fab_simulation_plant (simulation)->graph)
                               : fab_bill_new (scenario, error);

  if (bill == NULL)
    return FALSE;
  judge_price (self, bill);
  self->spending = fab_spending_of (
      bill, &spec->cost,
      &(FabWork){ self->n_ranks, self->step_s, self->compute_s,
                  has_goodput (self) ? self->goodput.tokens_per_s : self->tokens_per_s, days_of (self) });
  return TRUE;
}

static guint64
batch_of (const FabScenario *scenario)
{
  const FabBatch batch = fab_batch_of (scenario);

  return fab_batch_sequences (&batch);
}

FabPoint *
fab_point_of (const FabScenario *scenario, const FabSimulation *simulation, const FabRegistry *registry,
              GError **error)
{
  g_autoptr (FabPoint) self = g_new0 (FabPoint, 1);

  take_times (self, &fab_simulation_probe (simulation)->step);
  take_exposures (self, simulation);
  take_totals (self, simulation);
  take_binding (self, simulation);
  self->global_batch = batch_of (scenario);
  self->choices = fab_choices_of (simulation);
  self->n_events = fab_simulation_events (simulation);
  self->uses_seed = fab_simulation_uses_seed (simulation);
  self->verdict = fab_verdict_of (scenario, simulation, registry, error);
  return self->verdict != NULL && fab_goodput_of (scenario, simulation, registry, &self->goodput, error)
              && take_spending (self, scenario, simulation, error)
           ? g_steal_pointer (&self)
           : NULL;
}

FabPoint *
fab_point_weigh (const FabScenario *scenario, const FabRegistry *registry, const FabPointLimits *limits,
                 GError **error)
{
  FabPoint *self;
  FabWeight weight;

  if (!fab_simulation_weigh (limits->plants, scenario, registry, limits->cancel, &weight, error))
    return NULL;
  self = g_new0 (FabPoint, 1);
  self->n_ranks = weight.n_ranks;
  self->n_nodes = weight.n_nodes;
  self->memory_bytes = weight.memory_bytes;
  self->memory_max_bytes = weight.memory_max_bytes;
  self->global_batch = batch_of (scenario);
  return self;
}

/* Of a play that ends early. */
typedef struct {
  double most_step_s;
  guint n_iterations;
  gboolean is_over; /* the last step takes longer */
} StepLimit;

/* Once the last iteration but one has ended, what is left of the last one says how long it takes at least. */
static gboolean
look_at_step (gpointer owner, const FabSimulation *simulation, guint n_done)
{
  StepLimit *self = owner;

  if (n_done + 1 == self->n_iterations)
    self->is_over = fab_ps_to_seconds (fab_simulation_least_ps (simulation)) > self->most_step_s;
  return !self->is_over;
}

/* Plays it to its end, unless its step must take longer than the limit. FALSE and *error, which is NULL in that case.
 */
static gboolean
play_below (FabSimulation *simulation, const FabScenario *scenario, const FabPointLimits *limits,
            GError **error)
{
  StepLimit limit = { limits != NULL ? limits->most_step_s : 0,
                      (guint) fab_scenario_spec (scenario)->iterations, FALSE };
  FabRunOptions options = { .cancel = limits != NULL ? limits->cancel : NULL, .is_brief = TRUE };

  if (limit.most_step_s <= 0
      || fab_simulation_uses_seed (simulation)) /* another seed may be within the limit */
    return fab_simulation_run (simulation, &options, error);
  options.owner = &limit;
  options.progress = look_at_step;
  if (!look_at_step (&limit, simulation, 0))
    return FALSE;
  gboolean is_played = fab_simulation_run (simulation, &options, error);
  if (limit.is_over)
    g_clear_error (error);
  return is_played;
}

FabPoint *
fab_point_play_within (const FabScenario *scenario, const FabRegistry *registry, const FabPointLimits *limits,
                       GError **error)
{
  const gint *cancel = limits != NULL ? limits->cancel : NULL;
  g_autoptr (FabPoint) weighed = g_new0 (FabPoint, 1);
  GError *problem = NULL;
  FabPlantCache *plants = limits != NULL ? limits->plants : NULL;
  g_autoptr (FabSimulation) simulation = plants != NULL
                                           ? fab_simulation_build_on (plants, scenario, registry, NULL,
                                                                      cancel, error)
                                           : fab_simulation_build (scenario, registry, NULL, cancel, error);

  if (simulation == NULL)
    return NULL;
  if (play_below (simulation, scenario, limits, &problem))
    return fab_point_of (scenario, simulation, registry, error);
  if (problem != NULL) {
    g_propagate_error (error, problem);
    return NULL;
  }
  take_totals (weighed, simulation);
  weighed->global_batch = batch_of (scenario);
  return g_steal_pointer (&weighed);
}

/* The figures by which points are compared: their names, their columns, and how they are read and shown. */

/* --- values --- */

#define MEMBER(name_, member_)                \
  static double name_ (const FabPoint *point) \
  {                                           \
    return point->member_;                    \
  }

MEMBER (step_of, step_s)
MEMBER (exposed_s_of, exposed_s)
MEMBER (mfu_of, mfu_fraction)
MEMBER (tokens_of, tokens_per_s)
MEMBER (train_of, train_s)
MEMBER (capex_of, spending.capex_usd)
MEMBER (power_of, spending.power_watts)
MEMBER (hour_cost_of, spending.usd_per_hour)
MEMBER (step_cost_of, spending.usd_per_step)
MEMBER (token_cost_of, spending.usd_per_million_tokens)
MEMBER (train_cost_of, spending.train_usd)
MEMBER (ettr_of, goodput.form.ettr_fraction)
MEMBER (goodput_of, goodput.tokens_per_s)
MEMBER (lost_of, goodput.lost_gpu_hours)
MEMBER (step_energy_of, spending.step_joules)
MEMBER (train_energy_of, spending.train_joules)

static double
exposed_of (const FabPoint *point)
{
  return point->step_s > 0 ? point->exposed_s / point->step_s : 0;
}

static double
memory_of (const FabPoint *point)
{
  return (double) point->memory_bytes;
}

static double
network_share_of (const FabPoint *point)
{
  return point->spending.capex_usd > 0 ? point->spending.network_usd / point->spending.capex_usd : 0;
}

static double
network_power_of (const FabPoint *point)
{
  return point->spending.power_watts > 0 ? point->spending.network_watts / point->spending.power_watts : 0;
}

static double
of_step (const FabPoint *point, double seconds)
{
  return point->step_s > 0 ? seconds / point->step_s : 0;
}

#define SHARE(name_, seconds_)                \
  static double name_ (const FabPoint *point) \
  {                                           \
    return of_step (point, point->seconds_);  \
  }

SHARE (idle_of, idle_s)
SHARE (waiting_of, waiting_s)
SHARE (inter_node_of, exposed_inter_node_s)

static double
intra_node_of (const FabPoint *point)
{
  return of_step (point, point->exposed_s - point->exposed_inter_node_s);
}

#define DIMENSION(name_, dimension_)                                   \
  SHARE (name_##_of, exposed_by_s[FAB_DIMENSION_##dimension_])         \
  static gboolean has_##name_ (const FabPoint *point)                  \
  {                                                                    \
    return (point->dimensions & 1U << FAB_DIMENSION_##dimension_) > 0; \
  }

DIMENSION (data, DATA)
DIMENSION (tensor, TENSOR)
DIMENSION (context, CONTEXT)
DIMENSION (expert, EXPERT)
DIMENSION (pipeline, PIPELINE)
DIMENSION (offload, OFFLOAD)
DIMENSION (other, OTHER)

/* --- whether they are known --- */

#define KNOWN(name_, member_)                   \
  static gboolean name_ (const FabPoint *point) \
  {                                             \
    return point->member_ > 0;                  \
  }

KNOWN (has_compute, mfu_fraction)
KNOWN (has_tokens, tokens_per_s)
KNOWN (has_training, train_s)
KNOWN (has_memory, memory_bytes)
KNOWN (has_lost, goodput.calendar_s)
KNOWN (has_capex, spending.capex_usd)
KNOWN (has_power, spending.power_watts)
KNOWN (has_cost, spending.usd_per_hour)
KNOWN (has_token_cost, spending.usd_per_million_tokens)
KNOWN (has_train_cost, spending.train_usd)
KNOWN (has_train_energy, spending.train_joules)

/* --- the table --- */

#define NAMES(name_, column_, kind_, summary_) \
  .name = name_, .column = column_, .kind = FAB_FIGURE_##kind_, .summary = summary_

/* A share of the step. */
#define EXPOSED_BY(name_, summary_)                                               \
  {                                                                               \
    NAMES ("exposed." #name_, "exposed_" #name_ "_fraction", FRACTION, summary_), \
        .value = name_##_of, .is_known = has_##name_,                             \
        .unknown = "the job does not communicate in this dimension"               \
  }

G_STATIC_ASSERT (FAB_N_DIMENSIONS == 7); /* each is a figure */

static const char no_training[] = "the job does not say how many tokens the training has (train_tokens)";
static const char no_goodput[] =
    "nothing fails (reliability.failures names rates of failures), or the job writes no checkpoint";
static const char no_price[] = "a part of the machine has no price; `fabricast cost` names it";
static const char no_watts[] = "the power of a part of the machine is not known; `fabricast cost` names it";
static const char no_token_cost[] =
    "the job has no tokens, or a part of the machine has no price; `fabricast cost` names it";
static const char no_train_cost[] =
    "the job does not say how many tokens the training has (train_tokens), or a part of the machine has "
    "no price";

const FabFigure fab_figures[] = {
  { NAMES ("step", "step_s", TIME, "Time of an iteration."), .value = step_of, .is_by_step = TRUE },
  { NAMES ("exposed", "exposed_fraction", FRACTION, "Exposed communication, as a share of the step."),
    .value = exposed_of },
  { NAMES ("exposed_time", "exposed_s", TIME, "Exposed communication."), .value = exposed_s_of },
  EXPOSED_BY (data, "Exposed communication of data parallelism."),
  EXPOSED_BY (tensor, "Exposed communication of tensor parallelism."),
  EXPOSED_BY (context, "Exposed communication of context parallelism."),
  EXPOSED_BY (expert, "Exposed communication of expert parallelism."),
  EXPOSED_BY (pipeline, "Exposed communication between pipeline stages."),
  EXPOSED_BY (offload, "Exposed communication with host memory and drives."),
  EXPOSED_BY (other, "Exposed communication of all other kinds."),
  { NAMES ("exposed.inter_node", "exposed_inter_node_fraction", FRACTION,
           "Exposed communication of collectives that cross nodes."),
    .value = inter_node_of },
  { NAMES ("exposed.intra_node", "exposed_intra_node_fraction", FRACTION,
           "Exposed communication of collectives inside nodes."),
    .value = intra_node_of },
  { NAMES ("idle", "idle_fraction", FRACTION,
           "Time with neither compute nor communication, as a share of the step."),
    .value = idle_of },
  { NAMES ("waiting", "waiting_fraction", FRACTION,
           "Idle time while a collective waits for its last rank, as a share of the step."),
    .value = waiting_of },
  { NAMES ("mfu", "mfu_fraction", FRACTION, "Model FLOPs utilisation."), .value = mfu_of, .is_gain = TRUE,
    .is_by_step = TRUE, .is_known = has_compute, .unknown = "the job computes nothing" },
  { NAMES ("tokens", "tokens_per_s", RATE, "Tokens of the whole job per second."), .per = "per second",
    .value = tokens_of, .is_gain = TRUE, .is_by_step = TRUE, .is_known = has_tokens,
    .unknown = "the job has no tokens" },
  { NAMES ("train", "train_s", TIME, "Time of the whole training without a pause."), .value = train_of,
    .is_by_step = TRUE, .is_of_training = TRUE, .is_known = has_training, .unknown = no_training },
  { NAMES ("days", "calendar_s", TIME,
           "Calendar time of the whole training: with failures where `reliability` has rates."),
    .value = days_of, .is_of_training = TRUE, .is_known = has_training, .unknown = no_training },
  { NAMES ("ettr", "ettr_fraction", FRACTION,
           "Effective training time ratio: share of the calendar time that failures leave for "
           "training."),
    .value = ettr_of, .is_gain = TRUE, .is_known = has_goodput, .unknown = no_goodput },
  { NAMES ("goodput", "goodput_tokens_per_s", RATE, "Tokens of the whole job per second of the calendar."),
    .per = "per second", .value = goodput_of, .is_gain = TRUE, .is_known = has_goodput,
    .unknown = no_goodput },
  { NAMES ("lost_gpu_hours", "lost_gpu_hours", RATE, "GPU hours of the training that failures cost."),
    .value = lost_of, .is_of_training = TRUE, .is_known = has_lost, .unknown = no_goodput },
  { NAMES ("memory", "memory_bytes", BYTES, "Memory that the fullest GPU needs."), .value = memory_of,
    .is_known = has_memory, .unknown = "the job does not say what it keeps in memory" },
  { NAMES ("capex", "capex_usd", MONEY, "Price of the whole machine."), .value = capex_of,
    .is_known = has_capex, .unknown = no_price },
  { NAMES ("network_share", "network_capex_fraction", FRACTION, "The network's share of that price."),
    .value = network_share_of, .is_known = has_capex, .unknown = no_price },
  { NAMES ("power", "power_watts", POWER, "Power at the site's meter for the job's share of the machine."),
    .value = power_of, .is_known = has_power, .unknown = no_watts },
  { NAMES ("network_power", "network_power_fraction", FRACTION, "The network's share of that power."),
    .value = network_power_of, .is_known = has_power, .unknown = no_watts },
  { NAMES ("hour_cost", "usd_per_hour", MONEY,
           "Cost of an hour of the job: price spread over the years, and electricity; or rent."),
    .per = "per hour", .value = hour_cost_of, .is_known = has_cost, .unknown = no_price },
  { NAMES ("step_cost", "usd_per_step", MONEY, "Cost of an iteration."), .per = "per step",
    .value = step_cost_of, .is_known = has_cost, .unknown = no_price },
  { NAMES ("token_cost", "usd_per_million_tokens", MONEY, "Cost of a million tokens."),
    .per = "per million tokens", .value = token_cost_of, .is_known = has_token_cost,
    .unknown = no_token_cost },
  { NAMES ("train_cost", "train_usd", MONEY, "Cost of the whole training."), .value = train_cost_of,
    .is_of_training = TRUE, .is_known = has_train_cost, .unknown = no_train_cost },
  { NAMES ("step_energy", "step_joules", ENERGY, "Energy of an iteration, at the meter."), .per = "per step",
    .value = step_energy_of, .is_known = has_power, .unknown = no_watts },
  { NAMES ("train_energy", "train_joules", ENERGY, "Energy of the whole training, at the meter."),
    .value = train_energy_of, .is_of_training = TRUE, .is_known = has_train_energy, .unknown = no_training },
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

/* --- text --- */

typedef struct {
  const char *unit; /* NULL ends the list */
  double factor;    /* in ascending order */
} Scale;

static const Scale money_scale[] = { { "", 1 }, { "k", 1e3 }, { "M", 1e6 }, { "G", 1e9 }, { NULL, 0 } };
static const Scale energy_scale[] = { { "J", 1 },       { "kJ", 1e3 },     { "MJ", 1e6 }, { "kWh", 3.6e6 },
                                      { "MWh", 3.6e9 }, { "GWh", 3.6e12 }, { NULL, 0 } };
static const Scale power_scale[] = { { "W", 1 }, { "kW", 1e3 }, { "MW", 1e6 }, { "GW", 1e9 }, { NULL, 0 } };
static const Scale time_scale[] = {
  { "min", 60 }, { "h", 3600 }, { "d", 86400 }, { "days", 86400 }, { NULL, 0 }
};

static const Scale *
scale_of (FabFigureKind kind)
{
  return kind == FAB_FIGURE_MONEY  ? money_scale
       : kind == FAB_FIGURE_ENERGY ? energy_scale
       : kind == FAB_FIGURE_POWER  ? power_scale
                                   : NULL;
}

static FabUnit
unit_of (FabFigureKind kind)
{
  return kind == FAB_FIGURE_FRACTION ? FAB_UNIT_FRACTION
       : kind == FAB_FIGURE_BYTES    ? FAB_UNIT_BYTES
                                     : FAB_UNIT_FACTOR;
}

char *
fab_figure_show (FabFigureKind kind, double value)
{
  const Scale *scale = scale_of (kind);

  if (kind == FAB_FIGURE_TIME)
    return fab_units_show (FAB_UNIT_TIME, value * (double) FAB_PS_PER_S);
  if (kind == FAB_FIGURE_FRACTION)
    return g_strdup_printf ("%.3g %%", 100 * value);
  if (kind == FAB_FIGURE_RATE && value >= 1000)
    return g_strdup_printf ("%.0f", value);
  if (scale == NULL)
    return fab_units_show (unit_of (kind), value);
  while (scale[1].unit != NULL && value >= scale[1].factor)
    scale++;
  return kind == FAB_FIGURE_MONEY ? g_strdup_printf ("$%.4g%s", value / scale->factor, scale->unit)
                                  : g_strdup_printf ("%.4g %s", value / scale->factor, scale->unit);
}

char *
fab_figure_write (const FabFigure *figure, double value)
{
  g_autofree char *shown = fab_figure_show (figure->kind, value);

  return figure->per ? g_strjoin (" ", shown, figure->per, NULL) : g_steal_pointer (&shown);
}

char *
fab_figure_label (const FabFigure *figure)
{
  return figure->per ? g_strjoin (" ", figure->name, figure->per, NULL) : g_strdup (figure->name);
}

char *
fab_figure_cell (const FabFigure *figure, double value)
{
  return figure->kind == FAB_FIGURE_FRACTION ? g_strdup_printf ("%.1f %%", 100 * value)
                                             : fab_figure_show (figure->kind, value);
}

static gboolean
parse_scaled (const Scale *scale, const char *text, double *value)
{
  const char *unit;

  if (!fab_axis_split_number (text, value, &unit) || *value < 0)
    return FALSE;
  while (*unit == ' ')
    unit++;
  for (; scale->unit != NULL; scale++)
    if (strcmp (unit, scale->unit) == 0) {
      *value *= scale->factor;
      return TRUE;
    }
  return FALSE;
}

/* Accepts days and hours too, because trainings are counted in them; the units of scenarios end at seconds. */
static gboolean
parse_time (const char *text, double *seconds, GError **error)
{
  gint64 ps;

  if (parse_scaled (time_scale, text, seconds))
    return TRUE;
  if (!fab_units_parse_whole (FAB_UNIT_TIME, text, &ps, error))
    return FALSE;
  *seconds = fab_ps_to_seconds (ps);
  return TRUE;
}

static gboolean
parse_bytes (const char *text, double *bytes, GError **error)
{
  gint64 whole;

  if (!fab_units_parse_whole (FAB_UNIT_BYTES, text, &whole, error))
    return FALSE;
  *bytes = (double) whole;
  return TRUE;
}

gboolean
fab_figure_parse (FabFigureKind kind, const char *text, double *value, GError **error)
{
  const Scale *scale = scale_of (kind);
  const char *number = kind == FAB_FIGURE_MONEY && *text == '$' ? text + 1 : text;

  if (kind == FAB_FIGURE_TIME)
    return parse_time (text, value, error);
  if (kind == FAB_FIGURE_BYTES)
    return parse_bytes (text, value, error);
  if (scale == NULL)
    return fab_units_parse_real (unit_of (kind), text, value, error);
  return parse_scaled (scale, number, value)
      || fab_throw (error, FAB_ERROR_INPUT, "'%s' is not a valid %s", text,
                    kind == FAB_FIGURE_MONEY    ? "sum of US dollars: $2, 1.5k, $40M"
                    : kind == FAB_FIGURE_ENERGY ? "energy: 500kJ, 12kWh, 3MWh"
                                                : "power: 800W, 12kW, 1.5MW");
}
