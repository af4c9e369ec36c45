/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/goodput.h"

#include <math.h>

#include "sim/cost/bill.h"
#include "sim/decision/draw.h"
#include "sim/run/run.h"

void
fab_goodput_case_free (FabGoodputCase *self)
{
  if (self == NULL)
    return;
  g_free (self->rates);
  g_free (self);
}

/* --- parts --- */

static guint64
count_rows (const FabBill *bill, FabProductKind kind)
{
  guint64 n = 0;

  for (guint i = 0; i < bill->rows->len; i++)
    if (g_array_index (bill->rows, FabBillRow, i).kind == kind)
      n += g_array_index (bill->rows, FabBillRow, i).count;
  return n;
}

/* How many parts of each kind the job depends on: of the fabric the share of its GPUs. */
static void
count_parts (const FabBill *bill, guint n_ranks, double n_nodes, double parts[FAB_N_FAILURE_PARTS])
{
  double share = (double) n_ranks / (double) bill->n_accelerators;

  parts[FAB_FAILURE_PER_GPU] = n_ranks;
  parts[FAB_FAILURE_PER_NODE] = n_nodes;
  parts[FAB_FAILURE_PER_NIC] = share * (double) count_rows (bill, FAB_PRODUCT_NIC);
  parts[FAB_FAILURE_PER_LINK] = share * (double) count_rows (bill, FAB_PRODUCT_CABLE);
  parts[FAB_FAILURE_PER_SWITCH] = share * (double) bill->n_switches;
  parts[FAB_FAILURE_PER_JOB] = 1;
}

/* --- plays with something wrong --- */

/* What steps with something wrong are held against. A network that sends messages needs long for them, and how much
 * longer a step becomes is a small part of what is lost: then a network that shares links plays both steps. */
typedef struct {
  const FabScenario *scenario;
  const FabSimulation *simulation; /* of the job as it is */
  const FabRegistry *registry;
  FabScenario *fast; /* NULL: the scenario's own network plays */
  double before_s;   /* a step of that network without anything wrong; 0: not played yet */
} Reference;

static gboolean
play_step (FabScenario *changed, const FabRegistry *registry, double *step_s, GError **error)
{
  g_autoptr (FabSimulation) played = NULL;

  if (!fab_scenario_check (changed, error)
      || (played = fab_scenario_run (changed, registry, NULL, NULL, error)) == NULL)
    return FALSE;
  *step_s = fab_ps_to_seconds (fab_simulation_probe (played)->step.times.duration_ps);
  return TRUE;
}

static gboolean
find_before (Reference *self, GError **error)
{
  if (self->before_s > 0)
    return TRUE;
  self->fast = fab_draw_fast (self->scenario, self->registry);
  if (self->fast != NULL)
    return play_step (self->fast, self->registry, &self->before_s, error);
  self->before_s = fab_ps_to_seconds (fab_simulation_probe (self->simulation)->step.times.duration_ps);
  return TRUE;
}

/* By how much a step is longer with one more entry, which it takes, in a list of the scenario. */
static gboolean
find_longer (Reference *self, const char *list, FabValue *entry, double *slowdown, GError **error)
{
  g_autoptr (FabScenario) changed = NULL;
  double step_s;

  if (!find_before (self, error)) {
    fab_value_unref (entry);
    return FALSE;
  }
  changed = fab_scenario_copy (self->fast != NULL ? self->fast : self->scenario);
  if (!fab_scenario_set (changed, list, entry, error) || !play_step (changed, self->registry, &step_s, error))
    return FALSE;
  *slowdown = fmax (0, step_s / self->before_s - 1);
  return TRUE;
}

/* By how much a step is longer when the first NIC has this share of its rate. */
static gboolean
find_slowdown (Reference *self, double rate_fraction, double *slowdown, GError **error)
{
  const FabCluster *cluster = fab_simulation_cluster (self->simulation);

  *slowdown = 0;
  if (cluster->nics_per_node == 0 || cluster->n_nodes < 2)
    return TRUE;
  g_autofree char *nic = fab_graph_vertex_name (cluster->graph, cluster->nics[0]);
  FabValue *fault = fab_value_mapping ();
  fab_value_put (fault, "what", fab_value_text ("nic"));
  fab_value_put (fault, "name", fab_value_text (nic));
  fab_value_put (fault, "rate", fab_value_real (FAB_UNIT_FRACTION, rate_fraction));
  if (find_longer (self, "faults.+", fault, slowdown, error))
    return TRUE;
  g_prefix_error (error, "reliability, with %s at %.3g of its rate: ", nic, rate_fraction);
  return FALSE;
}

/* By how much a step is longer while a checkpoint takes its share of the NICs. What both could fill alone they share
 * fairly: a checkpoint gets half of it, and takes as much longer. */
static gboolean
find_writing (Reference *self, double share, FabReliability *rules, GError **error)
{
  const double most = 0.5, least = 1e-4;
  double *slowdown = &rules->background_slowdown;

  *slowdown = 0;
  if (share < least || fab_simulation_cluster (self->simulation)->n_nodes < 2)
    return TRUE;
  FabValue *load = fab_value_mapping ();
  fab_value_put (load, "kind", fab_value_text ("constant"));
  fab_value_put (load, "load", fab_value_real (FAB_UNIT_FRACTION, fmin (share, most)));
  fab_value_put (load, "links", fab_value_text ("all"));
  rules->background_s *= fmax (1, share / most);
  if (find_longer (self, "background.+", load, slowdown, error))
    return TRUE;
  g_prefix_error (error, "reliability, with a checkpoint on the network: ");
  return FALSE;
}

/* --- the case --- */

static gboolean
take_rates (FabGoodputCase *self, Reference *reference, const double parts[FAB_N_FAILURE_PARTS],
            GError **error)
{
  const double s_per_year = 365.25 * 86400;
  const FabScenario *scenario = reference->scenario;
  const FabReliabilitySpec *spec = &fab_scenario_spec (scenario)->reliability;
  const FabFailureSetSpec *set = fab_catalog_entry (fab_scenario_catalog (scenario), FAB_SECTION_FAILURES,
                                                    spec->failures);
  const FabFailureClassSpec *classes = set->classes.data;

  self->rates = g_new0 (FabFailureRate, set->classes.n + 1);
  for (guint i = 0; i < set->classes.n; i++) {
    FabFailureRate *rate = &self->rates[i];

    *rate = (FabFailureRate){ .name = classes[i].name,
                              .effect = (FabFailureEffect) classes[i].effect,
                              .per_s = classes[i].per_year * spec->rates_factor * parts[classes[i].per]
                                     / s_per_year,
                              .takes_node = classes[i].takes_node };
    if (rate->effect == FAB_FAILURE_SLOWS && rate->per_s > 0
        && !find_slowdown (reference, classes[i].rate_fraction, &rate->slowdown, error))
      return FALSE;
  }
  self->rules.rates = self->rates;
  self->rules.n_rates = set->classes.n;
  return TRUE;
}

static void
take_times (FabGoodputCase *self, const FabReliabilitySpec *spec)
{
  const FabCheckpointTotals *checkpoint = &self->checkpoint;

  self->rules.detection_s = fab_ps_to_seconds (spec->detection_ps);
  self->rules.slow_detection_s = fab_ps_to_seconds (spec->slow_detection_ps);
  self->rules.restart_s = fab_ps_to_seconds (spec->restart_ps) + checkpoint->read_s;
  self->rules.repair_s = fab_ps_to_seconds (spec->repair_ps);
  self->rules.n_spares = (guint) spec->spares;
  self->rules.blocking_s = checkpoint->blocking_s;
  self->rules.background_s = checkpoint->background_s;
  self->rules.least_interval_s = self->step_s;
  if (checkpoint->every.n_steps > 0)
    self->rules.interval_s = (double) checkpoint->every.n_steps * self->step_s;
  else if (checkpoint->every.time_ps > 0)
    self->rules.interval_s = fmax (self->step_s,
                                   fab_ps_to_seconds (checkpoint->every.time_ps) - checkpoint->blocking_s);
}

gboolean
fab_goodput_case_of (const FabScenario *scenario, const FabSimulation *simulation,
                     const FabRegistry *registry, FabGoodputCase **made, GError **error)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  const FabJobTotals *totals = fab_simulation_totals (simulation);
  const FabCluster *cluster = fab_simulation_cluster (simulation);
  double parts[FAB_N_FAILURE_PARTS];

  *made = NULL;
  if (spec->reliability.failures == NULL || !totals->checkpoint.is_known)
    return TRUE;
  g_autoptr (FabGoodputCase) self = g_new0 (FabGoodputCase, 1);
  g_autoptr (FabBill) bill = fab_bill_new (scenario, error);
  if (bill == NULL)
    return FALSE;
  self->n_ranks = fab_cluster_n_ranks (cluster);
  self->checkpoint = totals->checkpoint;
  self->tokens_per_step = totals->tokens;
  self->train_tokens = totals->train_tokens;
  self->step_s = fab_ps_to_seconds (fab_simulation_probe (simulation)->step.times.duration_ps)
               - totals->checkpoint.step_s;
  count_parts (bill, self->n_ranks, cluster->n_nodes, parts);
  take_times (self, &spec->reliability);
  Reference reference = { .scenario = scenario, .simulation = simulation, .registry = registry };
  gboolean is_found = take_rates (self, &reference, parts, error)
                   && find_writing (&reference, self->checkpoint.nic_share, &self->rules, error);
  fab_scenario_free (reference.fast);
  if (!is_found)
    return FALSE;
  *made = g_steal_pointer (&self);
  return TRUE;
}

/* --- the answer --- */

static double
train_seconds (const FabGoodputCase *self)
{
  return self->tokens_per_step > 0 ? self->train_tokens / self->tokens_per_step * self->step_s : 0;
}

double
fab_goodput_case_work_s (const FabGoodputCase *self)
{
  const double usual_s = 30 * 86400.0;
  double train_s = train_seconds (self);

  return train_s > 0 ? train_s : usual_s;
}

FabGoodput
fab_goodput_of_case (const FabGoodputCase *self)
{
  FabGoodput goodput = { .is_known = TRUE,
                         .form = fab_goodput_form (&self->rules),
                         .blocking_s = self->rules.blocking_s,
                         .background_s = self->rules.background_s,
                         .step_s = self->step_s,
                         .train_s = train_seconds (self) };

  goodput.tokens_per_s = self->tokens_per_step / self->step_s * goodput.form.goodput_fraction;
  if (goodput.form.goodput_fraction > 0)
    goodput.calendar_s = goodput.train_s / goodput.form.goodput_fraction;
  goodput.lost_gpu_hours = (goodput.calendar_s - goodput.train_s) * self->n_ranks / 3600;
  goodput.n_interruptions = (goodput.form.stops_per_s + goodput.form.planned_per_s) * goodput.calendar_s;
  return goodput;
}

gboolean
fab_goodput_of (const FabScenario *scenario, const FabSimulation *simulation, const FabRegistry *registry,
                FabGoodput *goodput, GError **error)
{
  g_autoptr (FabGoodputCase) found = NULL;

  *goodput = (FabGoodput){ 0 };
  if (!fab_goodput_case_of (scenario, simulation, registry, &found, error))
    return FALSE;
  if (found != NULL)
    *goodput = fab_goodput_of_case (found);
  return TRUE;
}

static double
known_or_nan (double value)
{
  return value > 0 && isfinite (value) ? value : NAN;
}

FabGoodputRecord
fab_goodput_record (const FabGoodput *self, const char *failures)
{
  const double day_s = 86400;
  const FabTimeShares *shares = &self->form.shares;

  return (FabGoodputRecord){ .failures = failures,
                             .ettr_fraction = self->form.ettr_fraction,
                             .goodput_fraction = self->form.goodput_fraction,
                             .goodput_tokens_per_s = known_or_nan (self->tokens_per_s),
                             .calendar_s = known_or_nan (self->calendar_s),
                             .lost_gpu_hours = self->calendar_s > 0 ? self->lost_gpu_hours : NAN,
                             .stops_per_day = self->form.stops_per_s * day_s,
                             .planned_per_day = self->form.planned_per_s * day_s,
                             .interval_s = known_or_nan (self->form.interval_s),
                             .blocking_s = self->blocking_s,
                             .background_s = self->background_s,
                             .slowed_fraction = shares->slowed,
                             .checkpoint_fraction = shares->checkpoint,
                             .lost_fraction = shares->lost,
                             .down_fraction = shares->down,
                             .planned_fraction = shares->planned,
                             .waiting_fraction = shares->waiting };
}
