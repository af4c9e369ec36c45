/* SPDX-License-Identifier: Apache-2.0 */
/* find.c - the findings that one simulation gives. */
#include <math.h>

#include "sim/base/units.h"
#include "sim/verdict/choice.h"
#include "sim/verdict/doubts.h"
#include "sim/verdict/verdict.h"

/* --- memory --- */

FabFit
fab_fit_of (const FabSimulation *simulation)
{
  const FabJobTotals *totals = fab_simulation_totals (simulation);
  gboolean has_band = totals->memory_low_factor > 0;
  FabFit self = { .device_bytes = fab_simulation_cluster (simulation)->device.memory_bytes,
                  .low_factor = has_band ? totals->memory_low_factor : 1,
                  .high_factor = has_band ? totals->memory_high_factor : 1 };

  for (guint c = 0; c < fab_simulation_dag (simulation)->n_classes; c++) {
    FabBytes bytes = fab_job_totals_memory (totals, c);

    if (bytes > self.needed_bytes) {
      self.needed_bytes = bytes;
      self.rank_class = c;
    }
  }
  return self;
}

/* Three digits or more; all of those before the point, so that there is no power of ten, even of a number that is
 * rounded up to one. (transfer full) */
static char *
gigabytes_in (FabBytes bytes, int digits)
{
  double value = (double) bytes / 1e9;

  return value >= pow (10, digits) - 0.5 ? g_strdup_printf ("%.0f", value)
                                         : g_strdup_printf ("%.*g", digits, value);
}

char *
fab_verdict_gigabytes (FabBytes bytes, FabBytes other)
{
  for (int digits = 3;; digits++) {
    g_autofree char *text = gigabytes_in (bytes, digits), *beside = gigabytes_in (other, digits);

    if (digits == 12 || bytes == other || g_strcmp0 (text, beside) != 0)
      return g_strconcat (text, " GB", NULL);
  }
}

/* "Measured jobs needed 0.9 to 1.3 times what was predicted, so 152 to 219 GB." (transfer full) */
static char *
band_words (const FabFit *fit)
{
  g_autofree char *low = fab_verdict_gigabytes ((FabBytes) ((double) fit->needed_bytes * fit->low_factor), 0);
  g_autofree char *high = fab_verdict_gigabytes ((FabBytes) ((double) fit->needed_bytes * fit->high_factor),
                                                 0);

  return g_strdup_printf ("Measured jobs needed %.2g to %.3g times what was predicted: %s to %s.",
                          fit->low_factor, fit->high_factor, low, high);
}

static void
add_missed (FabVerdict *self, const FabFit *fit, guint rank)
{
  g_autofree char *needed = fab_verdict_gigabytes (fit->needed_bytes, fit->device_bytes);
  g_autofree char *has = fab_verdict_gigabytes (fit->device_bytes, fit->needed_bytes);
  g_autofree char *missing = fab_verdict_gigabytes (fit->needed_bytes - fit->device_bytes, 0);
  g_autofree char *band = band_words (fit);
  FabFinding finding = {
    .code = FAB_FINDING_DOES_NOT_FIT,
    .text = g_strdup_printf ("The job does not fit: rank %u needs %s of the %s of its accelerator, "
                             "%s too much. %s",
                             rank, needed, has, missing, band),
    .rank = rank,
  };
  fab_verdict_add_finding (self, finding);
}

static void
add_doubtful (FabVerdict *self, const FabFit *fit, guint rank)
{
  g_autofree char *needed = fab_verdict_gigabytes (fit->needed_bytes, fit->device_bytes);
  g_autofree char *has = fab_verdict_gigabytes (fit->device_bytes, fit->needed_bytes);
  g_autofree char *band = band_words (fit);
  FabFinding finding = {
    .code = FAB_FINDING_MAY_NOT_FIT,
    .text = g_strdup_printf ("Memory may not suffice: rank %u needs %s, and its accelerator has %s. %s", rank,
                             needed, has, band),
    .advice = g_strdup (
        "Measure the peak on one node, or make a change that saves memory (recompute, micro_batch)."),
    .rank = rank,
  };
  fab_verdict_add_finding (self, finding);
}

static void
find_fit (FabVerdict *self, const FabSimulation *simulation)
{
  FabFit fit = fab_fit_of (simulation);
  guint rank = fab_simulation_dag (simulation)->classes[fit.rank_class].first_rank;

  if (fab_fit_is_missed (&fit))
    add_missed (self, &fit, rank);
  else if (fab_fit_is_doubtful (&fit))
    add_doubtful (self, &fit, rank);
}

FabVerdict *
fab_verdict_of_built (const FabScenario *scenario, const FabSimulation *simulation)
{
  FabVerdict *self = fab_verdict_new ();

  find_fit (self, simulation);
  fab_verdict_note_design (self, scenario);
  fab_verdict_note_ports (self, scenario, fab_simulation_cluster (simulation)->graph);
  return self;
}

/* --- what nobody measured --- */

static void
find_sizes (FabVerdict *self, const FabDag *dag)
{
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (FabMessageSize));
  guint n_outside = 0;

  for (guint i = 0; i < dag->n_collectives; i++)
    if (dag->collectives[i].plan.messages != NULL)
      fab_schedule_add_sizes (dag->collectives[i].plan.messages, dag->collectives[i].plan.bytes, sizes);
  for (guint i = 0; i < sizes->len; i++)
    n_outside += g_array_index (sizes, FabMessageSize, i).is_outside;
  if (n_outside > 0)
    fab_verdict_add (self, FAB_FINDING_EXTRAPOLATED,
                     g_strdup_printf ("%u of %u message sizes %s outside those at which the links were "
                                      "measured; their times are extrapolated.",
                                      n_outside, sizes->len, fab_plural (n_outside, "lies", "lie")),
                     g_strdup (
                         "Measure the link at these sizes (`fabricast measure`, `fabricast calibrate`)."));
}

/* Whether some number of the entry was measured: what it achieves of its rate, or the time of messages on it. */
static gboolean
is_measured (const FabLinkSpec *spec)
{
  return spec->copy.achievable_fraction < 1 || spec->kernel.achievable_fraction < 1
      || spec->collective_fraction > 0 || spec->messages.n > 0 || spec->measured.to_bytes > 0;
}

/* Only of links that set the pace of a collective: the others could be faster and change nothing. */
static void
find_uncalibrated (FabVerdict *self, const FabScenario *scenario, const FabSimulation *simulation)
{
  const FabGraph *graph = fab_simulation_cluster (simulation)->graph;
  const GArray *collectives = fab_simulation_probe (simulation)->collectives;
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < collectives->len; i++) {
    FabLinkId id = g_array_index (collectives, FabCollectiveRecord, i).binding_link;

    if (id == FAB_RECORD_NO_LINK)
      continue;
    const char *name = fab_graph_link_class (graph, id)->name;
    const FabLinkSpec *spec = fab_catalog_link (fab_scenario_catalog (scenario), name);

    if (g_hash_table_add (seen, (char *) name) && spec != NULL && !is_measured (spec))
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", name);
  }
  if (names->len > 0)
    fab_verdict_add (
        self, FAB_FINDING_UNCALIBRATED,
        g_strdup_printf ("The links that set the pace of collectives are not measured, so their full line "
                         "rate is used: %s.",
                         names->str),
        g_strdup ("Measure them, or set `achievable` from a source."));
}

/* Products on an accelerator that was never measured shape by shape have the constants of another. */
static void
find_unmeasured_compute (FabVerdict *self, const FabSimulation *simulation)
{
  const FabJobTotals *totals = fab_simulation_totals (simulation);
  const char *architecture = fab_simulation_cluster (simulation)->device.architecture;

  if (!totals->has_setup || totals->has_measured_kernels)
    return;
  fab_verdict_add (
      self, FAB_FINDING_UNCALIBRATED,
      g_strdup_printf ("No kernels were measured on accelerators of this generation (%s), so products and "
                       "attention have the constants of others.",
                       architecture != NULL ? architecture : "not named"),
      g_strdup ("Measure a step on one node, and set `job.compute.scale` so that the prediction "
                "equals it."));
}

/* The clock under a power cap is a guess where no such board, or no such cap, was measured. */
static void
find_unmeasured_clock (FabVerdict *self, const FabScenario *scenario, const FabSimulation *simulation)
{
  const FabCatalog *catalog = fab_scenario_catalog (scenario);
  const FabNodeSpec *node = fab_catalog_node (catalog, fab_scenario_spec (scenario)->cluster.node);
  const FabAcceleratorSpec *accelerator = fab_catalog_accelerator (catalog, node->accelerator);
  double cap = fab_simulation_cluster (simulation)->device.cap_fraction;

  if (cap >= 1 || !fab_simulation_totals (simulation)->has_compute_known)
    return;
  if (!accelerator->clock.is_measured)
    fab_verdict_add (
        self, FAB_FINDING_UNCALIBRATED,
        g_strdup_printf (
            "How the clock of %s falls under a power cap was not measured, so it falls as that of "
            "the accelerator that was (docs/models/power.md).",
            accelerator->name),
        g_strdup ("Measure a step at two power limits, and set `clock` of the accelerator's entry."));
  if (!fab_clock_is_tried (&accelerator->clock, cap))
    fab_verdict_add (
        self, FAB_FINDING_UNCALIBRATED,
        g_strdup_printf ("A power cap of %.0f %% is lower than those at which slow-downs were held against "
                         "measurements (%.0f %%).",
                         100 * cap, 100 * accelerator->clock.deep.from_fraction),
        g_strdup ("Raise cluster.power_cap, or measure a step at this limit."));
}

/* (transfer full) */
static char *
advice_on (const FabDoubt *doubt)
{
  g_autofree char *slow = fab_doubt_warning (doubt);

  if (doubt->better == NULL)
    return NULL;
  return g_strdup_printf ("Simulate it again with --fidelity %s%s%s.", doubt->better, slow ? "; " : "",
                          slow ? slow : "");
}

/* --- what the fidelity does not know --- */

static gboolean
find_fidelity (FabVerdict *self, const FabScenario *scenario, const FabSimulation *simulation,
               const FabRegistry *registry, GError **error)
{
  static const FabFindingCode codes[FAB_N_DOUBTS] = {
    [FAB_DOUBT_COLLISION] = FAB_FINDING_FIDELITY_COLLISION,
    [FAB_DOUBT_INCAST] = FAB_FINDING_FIDELITY_INCAST,
    [FAB_DOUBT_SPREADING] = FAB_FINDING_FIDELITY_SPREADING,
    [FAB_DOUBT_CHANNELS] = FAB_FINDING_FIDELITY_CHANNELS,
  };
  const char *fidelity = fab_scenario_spec (scenario)->fidelity.info->name;
  g_autoptr (GArray) doubts = fab_doubts_find (scenario, fab_simulation_plant (simulation),
                                               fab_simulation_dag (simulation), registry, error);

  if (!((const FabNetOps *) fab_scenario_spec (scenario)->fidelity.info)->shares_links)
    fab_verdict_add (
        self, FAB_FINDING_FIDELITY_NO_SHARING,
        g_strdup_printf ("The fidelity %s gives every transfer its links alone, so transfers that contend "
                         "take longer than this.",
                         fidelity),
        NULL);
  for (guint i = 0; doubts != NULL && i < doubts->len; i++) {
    const FabDoubt *doubt = &g_array_index (doubts, FabDoubt, i);

    fab_verdict_add_finding (self, (FabFinding){ codes[doubt->kind],
                                                 g_strdup_printf ("The fidelity %s does not simulate %s.",
                                                                  fidelity, doubt->text),
                                                 advice_on (doubt), g_strdup (doubt->link), -1 });
  }
  return doubts != NULL;
}

/* --- draws --- */

/* Studies that play several seeds say how far they spread instead (sim/study/spread.c). */
static void
find_draws (FabVerdict *self, const FabSimulation *simulation)
{
  if (fab_simulation_uses_seed (simulation))
    fab_verdict_add (self, FAB_FINDING_SPREAD,
                     g_strdup (
                         "The figures are those of one seed. Another seed (of hashed paths, jitter, places, "
                         "other traffic) may give others."),
                     g_strdup ("Simulate several seeds with --seeds 8."));
}

FabVerdict *
fab_verdict_of (const FabScenario *scenario, const FabSimulation *simulation, const FabRegistry *registry,
                GError **error)
{
  g_autoptr (FabVerdict) self = fab_verdict_of_built (scenario, simulation);

  fab_choice_find (self, simulation);
  find_sizes (self, fab_simulation_dag (simulation));
  find_uncalibrated (self, scenario, simulation);
  find_unmeasured_compute (self, simulation);
  find_unmeasured_clock (self, scenario, simulation);
  find_draws (self, simulation);
  fab_verdict_note_port_shares (self, simulation);
  return find_fidelity (self, scenario, simulation, registry, error) ? g_steal_pointer (&self) : NULL;
}
