/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/size.h"

#include <math.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/run/run.h"
#include "sim/study/study_band.h"
#include "sim/study/study_bottleneck.h"

void
fab_size_free (FabSize *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->n; i++) {
    fab_try_clear (&self->points[i].trial);
    fab_edits_free (self->points[i].edits);
  }
  g_free (self->points);
  g_free (self);
}

/* Of a value that misses its targets; bytes of memory are exact above it. */
static const double farthest = 1e15;
/* Gaps that differ by less are equal: ends of steps are rounded to picoseconds. */
static const double gap_rounding = 1e-6;

typedef struct {
  const FabStudy *study;
  const FabSizeSpec *spec;
  FabSize *size;
} Trials;

/* A value with which the job does not fit is farther away than any with which it does. */
static double
gap_of (const Trials *self, const FabPoint *point)
{
  double gap = fab_targets_gap (self->spec->targets, self->spec->n_targets, point);

  return fab_study_accepts (self->study, point) ? MIN (gap, farthest)
                                                : farthest + (double) point->memory_bytes;
}

/* Whether the seeds decide: some meet the targets, and others miss them. */
static gboolean
is_luck (const Trials *self, const FabPoint *point)
{
  const FabTarget *targets = self->spec->targets;
  guint n = self->spec->n_targets;

  return fab_study_accepts (self->study, point) && fab_targets_are_met_by_some (targets, n, point)
      && !fab_targets_are_met (targets, n, point);
}

static gboolean
try_values (gpointer data, const guint *items, guint n, FabTrial *trials, GError **error)
{
  const Trials *self = data;
  g_autofree FabTry **tries = g_new (FabTry *, n);

  for (guint i = 0; i < n; i++)
    tries[i] = &self->size->points[items[i]].trial;
  if (!fab_study_play (self->study, tries, n, error))
    return FALSE;
  for (guint i = 0; i < n; i++) {
    const FabPoint *point = tries[i]->point;

    trials[i] = (FabTrial){ .gap = G_MAXDOUBLE };
    if (point == NULL)
      continue;
    trials[i].is_met = fab_study_accepts (self->study, point)
                    && fab_targets_are_met (self->spec->targets, self->spec->n_targets, point);
    trials[i].gap = gap_of (self, point);
    trials[i].middle_gap = fab_targets_middle_gap (self->spec->targets, self->spec->n_targets, point);
    trials[i].is_luck = is_luck (self, point);
  }
  return TRUE;
}

static void
look_for_luck (const Trials *trials)
{
  FabSize *self = trials->size;

  self->luck_from = self->luck_to = -1;
  for (guint i = 0; i < self->n; i++)
    if (self->points[i].trial.point != NULL && is_luck (trials, self->points[i].trial.point)) {
      self->luck_from = self->luck_from < 0 ? i : self->luck_from;
      self->luck_to = i;
    }
}

static void
take_search (FabSize *self, const FabSizeSearch *search)
{
  self->answer = search->first < self->n ? (gint64) search->first : -1;
  self->best = search->best;
  self->before = -1;
  for (guint i = 0; i < self->n; i++) {
    self->n_tried += self->points[i].trial.point != NULL || self->points[i].trial.problem != NULL;
    if (self->answer >= 0 && i < (guint) self->answer && self->points[i].trial.point != NULL)
      self->before = i;
  }
}

/* What became of the values above the answer. Those that cannot be simulated neither meet the targets nor miss them. */
static void
look_above (FabSize *self, const FabStudy *study, const FabSizeSpec *spec)
{
  self->is_unsteady = FALSE;
  for (guint i = (guint) (self->answer + 1); self->answer >= 0 && i < self->n; i++) {
    const FabPoint *point = self->points[i].trial.point;

    self->n_impossible += self->points[i].trial.problem != NULL;
    self->is_unsteady |= point != NULL
                      && (!fab_study_accepts (study, point)
                          || !fab_targets_are_met (spec->targets, spec->n_targets, point));
  }
}

/* At least one value must be simulated and have the figure of the target. */
static gboolean
check_played (const FabSize *self, const FabTarget *target, GError **error)
{
  const FabFigure *figure = target->figure;
  const char *problem = NULL;

  for (guint i = 0; i < self->n; i++) {
    const FabPoint *point = self->points[i].trial.point;

    if (point != NULL && (figure->is_known == NULL || figure->is_known (point)))
      return TRUE;
    if (point != NULL && problem == NULL)
      return fab_throw (error, FAB_ERROR_INPUT, "there is no '%s' here: %s", figure->name, figure->unknown);
    if (problem == NULL)
      problem = self->points[i].trial.problem;
  }
  return fab_throw (error, FAB_ERROR_INPUT, "%s", problem);
}

static void
init_point (FabSizePoint *point, const char *key, const char *value)
{
  point->value = value;
  point->edits = fab_edits_new ();
  fab_edits_vary (point->edits, key, value);
  point->trial.edits = point->edits;
}

/* Of the answer and the value before it in any case, and of all values where that is quick. */
static void
find_bottlenecks (FabSize *self, const FabStudy *study)
{
  g_autofree FabTry **tries = g_new (FabTry *, self->n);
  const guint asked[] = { self->best, self->before >= 0 ? (guint) self->before : self->best };

  for (guint i = 0; i < self->n; i++)
    tries[i] = &self->points[i].trial;
  for (guint i = 0; i < G_N_ELEMENTS (asked); i++)
    if (tries[asked[i]]->point != NULL)
      fab_study_find_bottleneck (study, tries[asked[i]]->edits, tries[asked[i]]->point);
  fab_study_find_bottlenecks (study, tries, self->n);
}

/* Whether several values were simulated, and the figure is the same with all of them. Where seeds differ, the one in
 * the middle says nothing of the others. */
static gboolean
is_unmoved (const FabSize *self, const FabFigure *figure)
{
  const FabPoint *first = NULL;
  guint n = 0;

  for (guint i = 0; i < self->n; i++) {
    const FabPoint *point = self->points[i].trial.point;

    if (point == NULL)
      continue;
    if (point->uses_seed)
      return FALSE;
    if (first != NULL
        && fabs (figure->value (point) - figure->value (first)) > 1e-9 * fabs (figure->value (first)))
      return FALSE;
    first = first != NULL ? first : point;
    n++;
  }
  return n > 1;
}

static void
find_unmoved (FabSize *self, const FabSizeSpec *spec)
{
  const FabPoint *best = self->points[self->best].trial.point;

  for (guint i = 0; self->answer < 0 && best != NULL && i < spec->n_targets && self->unmoved == NULL; i++)
    if (!fab_target_is_met (&spec->targets[i], best) && is_unmoved (self, spec->targets[i].figure))
      self->unmoved = spec->targets[i].figure;
}

FabSize *
fab_size_find (const FabStudy *study, const FabSizeSpec *spec, GError **error)
{
  g_autoptr (FabSize) self = g_new0 (FabSize, 1);
  FabSizeSearch search = { 0 };

  self->n = spec->axis->values->len;
  self->points = g_new0 (FabSizePoint, self->n);
  for (guint i = 0; i < self->n; i++)
    init_point (&self->points[i], spec->axis->key, g_ptr_array_index (spec->axis->values, i));
  Trials trials = { study, spec, self };
  if (!fab_size_search_first (self->n, try_values, &trials, &search, error))
    return NULL;
  take_search (self, &search);
  look_for_luck (&trials);
  look_above (self, study, spec);
  for (guint i = 0; i < spec->n_targets; i++)
    if (!check_played (self, &spec->targets[i], error))
      return NULL;
  find_unmoved (self, spec);
  find_bottlenecks (self, study);
  return g_steal_pointer (&self);
}

/* Appends " (6.5 % tensor, 2.4 % pipeline; 5.9 % between nodes)", the largest dimension first; nothing of a step
 * without exposed communication. */
static void
append_dimensions (GString *text, const FabPoint *point)
{
  gboolean is_said[FAB_N_DIMENSIONS] = { FALSE };
  double percent = 100 / point->step_s;
  guint n = 0;

  while (n < FAB_N_DIMENSIONS) {
    guint largest = FAB_N_DIMENSIONS;

    for (guint i = 0; i < FAB_N_DIMENSIONS; i++)
      if (!is_said[i] && percent * point->exposed_by_s[i] >= 0.05
          && (largest == FAB_N_DIMENSIONS || point->exposed_by_s[i] > point->exposed_by_s[largest]))
        largest = i;
    if (largest == FAB_N_DIMENSIONS)
      break;
    is_said[largest] = TRUE;
    g_string_append_printf (text, "%s%.1f %% %s", n++ == 0 ? " (" : ", ",
                            percent * point->exposed_by_s[largest], fab_dimension_names[largest]);
  }
  if (n > 0)
    g_string_append_printf (text, "; %.1f %% between nodes)", percent * point->exposed_inter_node_s);
}

/* Whether all larger values that were tried could be simulated. */
static gboolean
has_larger (const FabSize *self)
{
  for (guint i = self->best + 1; i < self->n; i++)
    if (self->points[i].trial.problem != NULL)
      return FALSE;
  return TRUE;
}

/* Nothing is known of values beyond the last one. (transfer full) */
static char *
say_others (const FabSize *self, const FabPoint *point)
{
  if (self->unmoved != NULL)
    return g_strdup_printf (
        "All values that were tried have the same %s.%s", self->unmoved->name,
        point->compute_s <= 0
            ? " The job computes nothing; a target of step asks how long its communication takes."
            : "");
  return g_strdup (self->best + 1 < self->n ? "No later value that was tried comes closer."
                                            : "It is the last value; none beyond it was tried.");
}

/* What is left of the step with the value that comes closest. */
static char *
say_rest (const FabSize *self)
{
  const FabSizePoint *best = &self->points[self->best];
  const FabPoint *point = best->trial.point;
  GString *text = g_string_new (NULL);
  double percent = 100 / point->step_s;

  g_string_printf (text, "With %s, %.1f %% of the step is compute, %.1f %% exposed communication",
                   best->value, percent * point->compute_s, percent * point->exposed_s);
  append_dimensions (text, point);
  g_autofree char *others = say_others (self, point);
  g_string_append_printf (text, ", and %.1f %% idle. %s", percent * point->idle_s, others);
  return g_string_free (text, FALSE);
}

FabVerdict *
fab_size_verdict (const FabSize *self)
{
  const FabSizePoint *best = &self->points[self->best];
  FabVerdict *verdict = fab_verdict_copy (best->trial.point != NULL ? best->trial.point->verdict : NULL);

  if (self->answer < 0 && best->trial.point != NULL && best->trial.point->step_s > 0 && has_larger (self)
      && !fab_verdict_stops (verdict))
    fab_verdict_add (verdict, FAB_FINDING_UNREACHABLE_TARGET, say_rest (self), NULL);
  return verdict;
}

enum { MOST_AT_ONCE = 2 * FAB_SIZE_SEARCH_GRID };

typedef struct {
  guint n;
  FabTrialFn trial;
  gpointer data;
  FabSizeSearch *result;
  FabTrial *known;    /* [n] */
  gboolean *is_known; /* [n] */
} Search;

static gboolean
is_less (double gap, double than)
{
  return gap < than - gap_rounding * ABS (than);
}

static gboolean
is_closer (const FabTrial *trial, const FabTrial *than)
{
  return is_less (trial->gap, than->gap)
      || (!is_less (than->gap, trial->gap) && is_less (trial->middle_gap, than->middle_gap));
}

static void
note (Search *self, guint item, const FabTrial *trial)
{
  FabSizeSearch *result = self->result;

  result->n_trials++;
  self->known[item] = *trial;
  self->is_known[item] = TRUE;
  if (trial->is_met && item < result->first)
    result->first = result->best = item;
  if (result->first == self->n
      && (!self->is_known[result->best] || is_closer (trial, &self->known[result->best])))
    result->best = item;
}

/* Tries `n_items` values at equal distances from `from` to `to`, both included, each once. */
static gboolean
try_between (Search *self, guint from, guint to, guint n_items, GError **error)
{
  guint items[MOST_AT_ONCE] = { 0 }, n = 0;
  FabTrial trials[MOST_AT_ONCE] = { { .is_met = FALSE } };

  for (guint i = 0; i < n_items; i++) {
    guint item = n_items == 1 ? from : from + (guint) ((guint64) (to - from) * i / (n_items - 1));

    if (n == 0 || items[n - 1] != item)
      items[n++] = item;
  }
  if (!self->trial (self->data, items, n, trials, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    note (self, items[i], &trials[i]);
  for (guint i = 0; i < n; i++)
    self->result->is_unsteady |= !trials[i].is_met && items[i] > self->result->first;
  return TRUE;
}

/* Closes the gap between the largest value known to miss the target and `first`. */
static gboolean
close_in (Search *self, guint unmet, GError **error)
{
  while (self->result->first - unmet > 1) {
    guint first = self->result->first, inside = first - unmet - 1;
    guint n = MIN (inside, FAB_SIZE_SEARCH_AT_ONCE), step = (inside + 1) / (n + 1);
    guint from = unmet + MAX (step, 1), to = first - MAX (step, 1);

    if (!try_between (self, from, MAX (from, to), n, error))
      return FALSE;
    /* Of the values tried below the first that meets the target, none meets it. */
    for (guint i = n; i-- > 0;) {
      guint item = n == 1 ? from : from + (guint) ((guint64) (MAX (from, to) - from) * i / (n - 1));

      if (item < self->result->first) {
        unmet = MAX (unmet, item);
        break;
      }
    }
  }
  return TRUE;
}

/* The largest value of luck that one which meets the target follows; n: there is none. */
static guint
last_luck (const Search *self)
{
  gboolean is_followed = FALSE;

  for (guint i = self->n; i-- > 0;) {
    if (is_followed && self->known[i].is_luck)
      return i;
    is_followed |= self->known[i].is_met;
  }
  return self->n;
}

/* Moves the answer behind the last value of luck, and closes the gap to it. */
static gboolean
pass_luck (Search *self, GError **error)
{
  for (guint luck = last_luck (self); luck < self->n && luck > self->result->first; luck = last_luck (self)) {
    guint first = luck + 1, unmet = luck;

    while (!self->known[first].is_met)
      first++;
    for (guint i = luck; i < first; i++)
      unmet = self->is_known[i] ? i : unmet;
    self->result->first = self->result->best = first;
    if (!close_in (self, unmet, error))
      return FALSE;
  }
  return TRUE;
}

/* Tries two more rounds, each between the neighbours of the best point. */
static gboolean
look_around (Search *self, guint spacing, GError **error)
{
  for (guint round = 0; round < 2 && self->result->first == self->n && spacing > 1; round++) {
    guint best = self->result->best;
    guint from = best > spacing ? best - spacing : 0, to = MIN (best + spacing, self->n - 1);

    if (!try_between (self, from, to, FAB_SIZE_SEARCH_GRID, error))
      return FALSE;
    spacing = (to - from + FAB_SIZE_SEARCH_GRID - 2)
            / (FAB_SIZE_SEARCH_GRID - 1); /* the largest of this round */
  }
  return TRUE;
}

static gboolean
search_first (Search *self, GError **error)
{
  FabSizeSearch *result = self->result;
  guint n = self->n, n_grid = n <= MOST_AT_ONCE ? n : FAB_SIZE_SEARCH_GRID, unmet = 0;

  if (!try_between (self, 0, n - 1, n_grid, error))
    return FALSE;
  if (n_grid == n || result->first == 0)
    return pass_luck (self, error);
  guint spacing = (n - 1) / (n_grid - 1) + 1;
  if (result->first == n && !look_around (self, spacing, error))
    return FALSE;
  if (result->first == n)
    return TRUE;
  unmet = result->first > spacing ? result->first - spacing : 0;
  for (guint i = 0; i < n_grid; i++) {
    guint item = (guint) ((guint64) (n - 1) * i / (n_grid - 1));

    if (item < result->first)
      unmet = MAX (unmet, item);
  }
  return close_in (self, unmet, error) && pass_luck (self, error);
}

gboolean
fab_size_search_first (guint n, FabTrialFn trial, gpointer data, FabSizeSearch *result, GError **error)
{
  g_autofree FabTrial *known = g_new0 (FabTrial, n);
  g_autofree gboolean *is_known = g_new0 (gboolean, n);
  Search self = { n, trial, data, result, known, is_known };

  g_assert (n > 0);
  *result = (FabSizeSearch){ .first = n };
  return search_first (&self, error);
}

enum { MOST_PER_TECHNOLOGY = 2 };

static const double rate_rounding = 1e-6;

static void
port_free (gpointer data)
{
  FabPort *self = data;

  if (self == NULL)
    return;
  fab_try_clear (&self->trial);
  fab_edits_free (self->edits);
  g_free (self);
}

static FabPort *
port_new (const FabLinkSpec *link, const FabTechnology *technology)
{
  FabPort *self = g_new0 (FabPort, 1);

  self->link = link;
  self->technology = technology;
  self->edits = fab_edits_new ();
  fab_edits_set (self->edits, "cluster.nic", fab_value_text (link->name));
  fab_edits_set (self->edits, "cluster.nic_rate", fab_value_whole (FAB_UNIT_RATE, 0));
  self->trial.edits = self->edits;
  return self;
}

static int
compare_rates (gconstpointer a, gconstpointer b)
{
  FabBytesPerS x = fab_link_spec_line_rate ((*(const FabPort *const *) a)->link),
               y = fab_link_spec_line_rate ((*(const FabPort *const *) b)->link);

  return x < y ? -1 : x > y;
}

/* Whether a port can be bought or is the one that the machine has. */
static gboolean
is_product (const FabCatalog *catalog, const char *link)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_PRODUCTS);

  for (guint i = 0; names[i] != NULL; i++) {
    const FabProductSpec *product = fab_catalog_product (catalog, names[i]);

    if (product->kind == FAB_PRODUCT_NIC && strcmp (product->link, link) == 0)
      return TRUE;
  }
  return FALSE;
}

/* Returns the ports of a technology that are fast enough, the slowest first. */
static GPtrArray *
candidates (const FabCatalog *catalog, const FabTechnology *technology, double rate)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_LINKS);
  GPtrArray *all = g_ptr_array_new_with_free_func (port_free);
  gboolean has_products = FALSE;

  for (guint pass = 0; pass < 2 && !has_products;
       pass++) /* first the products, then, when there are none, all ports */
    for (guint i = 0; names[i] != NULL; i++) {
      const FabLinkSpec *link = fab_catalog_link (catalog, names[i]);

      if (fab_catalog_link_technology (catalog, link) != technology || link->endpoint_ps == 0
          || (pass == 0 && !is_product (catalog, link->name)))
        continue;
      has_products |= pass == 0;
      if ((double) fab_link_spec_line_rate (link) >= rate * (1 - rate_rounding))
        g_ptr_array_add (all, port_new (link, technology));
    }
  g_ptr_array_sort (all, compare_rates);
  if (all->len > MOST_PER_TECHNOLOGY)
    g_ptr_array_set_size (all, MOST_PER_TECHNOLOGY);
  return all;
}

static gboolean
add_until_met (GPtrArray *result, GPtrArray *ports, const FabStudy *study, const FabTarget *targets,
               guint n_targets, GError **error)
{
  for (guint i = 0; i < ports->len; i++) {
    FabPort *port = g_ptr_array_index (ports, i);
    FabTry *tries[] = { &port->trial };

    if (!fab_study_play (study, tries, 1, error))
      return FALSE;
    port->is_met = fab_study_accepts (study, port->trial.point)
                && fab_targets_are_met (targets, n_targets, port->trial.point);
    g_ptr_array_add (result, port);
    ports->pdata[i] = NULL;
    if (port->is_met)
      return TRUE;
  }
  return TRUE;
}

/* NULL without an error: the link is the scenario's own, and has no like in the catalogue. */
static const FabTechnology *
own_technology (const FabStudy *study, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, error);

  if (scenario == NULL)
    return NULL;
  const FabClusterSpec *cluster = &fab_scenario_spec (scenario)->cluster;
  const FabNodeSpec *node = fab_catalog_node (fab_scenario_catalog (scenario), cluster->node);
  const char *nic = cluster->nic ? cluster->nic : node->nic;
  const FabLinkSpec *link = nic ? fab_catalog_link (study->catalog, nic) : NULL;

  return link != NULL ? fab_catalog_link_technology (study->catalog, link) : NULL;
}

GPtrArray *
fab_ports_near (const FabStudy *study, const char *rate, const FabTarget *targets, guint n_targets,
                GError **error)
{
  GError *problem = NULL;
  const FabTechnology *own = own_technology (study, &problem);
  g_autoptr (GPtrArray) result = g_ptr_array_new_with_free_func (port_free);
  g_autoptr (GPtrArray) technologies = g_ptr_array_new ();
  g_autofree const char **names = fab_catalog_names (study->catalog, FAB_SECTION_TECHNOLOGIES);
  gint64 bytes_per_s;

  if (problem != NULL) {
    g_propagate_error (error, problem);
    return NULL;
  }
  if (!fab_units_parse_whole (FAB_UNIT_RATE, rate, &bytes_per_s, error))
    return NULL;
  if (own != NULL)
    g_ptr_array_add (technologies, (gpointer) own);
  for (guint i = 0; names[i] != NULL; i++) {
    const FabTechnology *technology = fab_catalog_technology (study->catalog, names[i]);

    if (technology->is_for_any_node && technology != own)
      g_ptr_array_add (technologies, (gpointer) technology);
  }
  for (guint i = 0; i < technologies->len; i++) {
    g_autoptr (GPtrArray) ports = candidates (study->catalog, g_ptr_array_index (technologies, i),
                                              (double) bytes_per_s);

    if (!add_until_met (result, ports, study, targets, n_targets, error))
      return NULL;
  }
  return g_steal_pointer (&result);
}

/* Whether the targets hold when every figure is off by the same fraction as at the answer. */
static gboolean
is_met_off (const FabSizeSpec *spec, const FabPoint *point, const FabPoint *at, const FabBand *band,
            gboolean is_bad)
{
  for (guint i = 0; i < spec->n_targets; i++) {
    const FabTarget *target = &spec->targets[i];
    double value = target->figure->value (at), now = target->figure->value (point);
    double end = target->is_most == is_bad ? band->high[i] : band->low[i];
    double off = value > 0 ? now * end / value : now;

    if (target->figure->is_known != NULL && !target->figure->is_known (point))
      return FALSE;
    if (target->is_most ? off > target->bound : off < target->bound)
      return FALSE;
  }
  return TRUE;
}

static gint64
first_met (const FabStudy *study, const FabSizeSpec *spec, const FabSize *size, const FabPoint *at,
           const FabBand *band, gboolean is_bad)
{
  for (guint i = 0; i < size->n; i++)
    if (fab_study_accepts (study, size->points[i].trial.point)
        && is_met_off (spec, size->points[i].trial.point, at, band, is_bad))
      return i;
  return -1;
}

gboolean
fab_size_uncertainty (const FabStudy *study, const FabSizeSpec *spec, const FabSize *size,
                      FabUncertainty *uncertainty, GError **error)
{
  const FabSizePoint *at = &size->points[size->best];
  g_autofree const FabFigure **figures = g_new0 (const FabFigure *, spec->n_targets + 1);

  *uncertainty = (FabUncertainty){ NULL, -1, -1 };
  if (at->trial.point == NULL)
    return TRUE;
  for (guint i = 0; i < spec->n_targets; i++)
    figures[i] = spec->targets[i].figure;
  if (!fab_study_band (study, at->edits, at->trial.point, &(FabBandFigures){ figures, spec->n_targets },
                       &uncertainty->band, error))
    return FALSE;
  if (uncertainty->band != NULL) {
    uncertainty->answer_low = first_met (study, spec, size, at->trial.point, uncertainty->band, FALSE);
    uncertainty->answer_high = first_met (study, spec, size, at->trial.point, uncertainty->band, TRUE);
  }
  return TRUE;
}

void
fab_uncertainty_clear (FabUncertainty *self)
{
  g_clear_pointer (&self->band, fab_band_free);
}
