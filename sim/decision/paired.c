/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/decision/paired.h"

#include <math.h>
#include <string.h>

#include "sim/run/pair.h"

/* --- what is known of the base --- */

/* The steps of a side at both ends of one cause. */
typedef struct {
  gboolean is_known; /* FALSE: nothing is uncertain there */
  double low_s, high_s;
} Ends;

typedef struct {
  gboolean is_known;
  double low_factor, high_factor;
  char entry[FAB_FAMILY_BYTES];
} Compute;

struct _FabPaired {
  const FabDecisionEnv *env;
  const FabPairedSide *side;
  guint draw;                           /* on which the ends are played */
  FabScenario *scenario;                /* of that draw, as it is played */
  double step_s;                        /* of it */
  double work_s;                        /* that its kernels take */
  gboolean is_fast;                     /* it is played on a network of flows in place of its own */
  GHashTable *collectives;              /* signatures of its collectives */
  GHashTable *times;                    /* what each collective takes, by task_of (): FabTimePs */
  FabPlanKind kinds[FAB_N_PLAN_PLACES]; /* of those that take longest; family "": there is none */
  double weights_s[FAB_N_PLAN_PLACES];
  Compute compute;
  Ends ends[FAB_N_PAIRED];
  GArray *links;     /* FabUnsure */
  GArray *link_ends; /* Ends of each */
};

/* --- collectives --- */

/* All collectives of a play at one end. */
typedef struct {
  const FabScenario *scenario;
  FabPaired *recorded; /* the base while it is played itself; NULL: it is known */
  const FabPaired *base;
  gboolean is_high, is_apart;
  gboolean is_uncertain; /* some collective has other ends than 1 */
  GHashTable *kinds;     /* FabFootprint -> FabPlanKind */
} Scaler;

/* The sizes between which errors are alike: those of the bands (docs/explanation/uncertainty.md). */
static guint
size_class (FabBytes bytes)
{
  return bytes < 256 * 1024 ? 0 : bytes < 64 * 1024 * 1024 ? 1 : 2;
}

/* Two collectives with one signature are the same to the model and to what was measured. (transfer full) */
static char *
signature_of (const FabCollectivePlan *plan, const FabPlanKind *kind)
{
  return g_strdup_printf ("%s %d %d %u %s %s %u %u", kind->family, kind->place, (int) plan->op,
                          size_class (plan->bytes), plan->algorithm, plan->protocol ? plan->protocol : "",
                          plan->n_channels, plan->n_ranks);
}

/* What a collective does, whatever runs it. (transfer full) */
static char *
task_of (const FabCollectivePlan *plan, const FabPlanKind *kind)
{
  return g_strdup_printf ("%d %d %" G_GUINT64_FORMAT " %u", kind->place, (int) plan->op, plan->bytes,
                          plan->n_ranks);
}

static void
record_time (FabPaired *base, const FabCollectivePlan *plan, const FabPlanKind *kind)
{
  FabTimePs time_ps = fab_collective_plan_idle_ps (plan);

  g_hash_table_replace (base->times, task_of (plan, kind), g_memdup2 (&time_ps, sizeof time_ps));
}

static void
record (FabPaired *base, const FabCollectivePlan *plan, const FabPlanKind *kind)
{
  double weight_s = fab_ps_to_seconds (fab_collective_plan_idle_ps (plan));

  g_hash_table_add (base->collectives, signature_of (plan, kind));
  record_time (base, plan, kind);
  if (base->kinds[kind->place].family[0] != '\0' && weight_s <= base->weights_s[kind->place])
    return;
  base->kinds[kind->place] = *kind;
  base->weights_s[kind->place] = weight_s;
}

/* As far off as the base's own collectives at the same place: what both share. */
static FabPlanBand
shared_band (const Scaler *self, const FabCollectivePlan *plan, const FabPlanKind *kind)
{
  FabPlanKind used = *kind;

  if (self->recorded == NULL && self->base->kinds[kind->place].family[0] != '\0') {
    used = self->base->kinds[kind->place];
    used.operations = kind->operations;
  }
  return fab_plan_band (self->scenario, plan, &used);
}

static FabPairRelation
relation_of (const Scaler *self, const FabCollectivePlan *plan, const FabPlanKind *kind)
{
  g_autofree char *signature = signature_of (plan, kind);

  if (g_hash_table_contains (self->base->collectives, signature))
    return FAB_PAIR_SAME;
  const FabCatalog *catalog = fab_scenario_catalog (self->scenario);
  const char *family = self->base->kinds[kind->place].family;
  if (strcmp (family, kind->family) == 0)
    return FAB_PAIR_ALIKE;
  return fab_catalog_band (catalog, family) != NULL && fab_catalog_band (catalog, kind->family) != NULL
           ? FAB_PAIR_OTHER
           : FAB_PAIR_UNMEASURED;
}

/* The technology of a family, and the rate of its ports: "infiniband-400". */
static double
port_rate (const char *family, gsize *technology)
{
  const char *dash = strrchr (family, '-');

  *technology = dash != NULL ? (gsize) (dash - family) : strlen (family);
  return dash != NULL ? g_ascii_strtod (dash + 1, NULL) : 0;
}

/* Whether the collective runs over ports of the base's technology that are at least as fast. */
static gboolean
has_faster_ports (const Scaler *self, const FabPlanKind *kind)
{
  const char *family = self->base->kinds[kind->place].family;
  gsize before, after;
  double rate_before = port_rate (family, &before), rate_after = port_rate (kind->family, &after);

  return kind->place == FAB_PLAN_BETWEEN && before == after && strncmp (family, kind->family, before) == 0
      && rate_after >= rate_before && rate_before > 0;
}

/* Faster ports of one technology do not make a collective take longer than the base has it: at most, they change
 * nothing. */
static double
most_factor (const Scaler *self, const FabCollectivePlan *plan, const FabPlanKind *kind, double high_factor)
{
  g_autofree char *task = task_of (plan, kind);
  const FabTimePs *before_ps = g_hash_table_lookup (self->base->times, task);
  FabTimePs now_ps = fab_collective_plan_idle_ps (plan);

  if (before_ps == NULL || !has_faster_ports (self, kind))
    return high_factor;
  return MIN (high_factor, MAX ((double) *before_ps / (double) now_ps, 1));
}

static double
apart_factor (Scaler *self, const FabCollectivePlan *plan, const FabPlanKind *kind)
{
  if (self->base->kinds[kind->place].family[0] == '\0') { /* nothing of the base is like it */
    FabPlanBand own = fab_plan_band (self->scenario, plan, kind);

    self->is_uncertain |= own.coverage_fraction > 0;
    return self->is_high ? own.high_factor : own.low_factor;
  }
  FabPairEnds ends = fab_pair_of_collectives (fab_scenario_catalog (self->scenario), kind->place, plan->bytes,
                                              relation_of (self, plan, kind));
  self->is_uncertain |= ends.low_factor < 1 || ends.high_factor > 1;
  return self->is_high ? most_factor (self, plan, kind, ends.high_factor) : ends.low_factor;
}

static double
scale_plan (gpointer owner, const FabCluster *cluster, const FabCollectivePlan *plan)
{
  Scaler *self = owner;
  const FabPlanKind *kind = fab_plan_kind_kept (self->kinds, self->scenario, cluster, plan);

  if (self->recorded != NULL)
    record (self->recorded, plan, kind);
  if (kind->is_calibrated)
    return 1;
  if (self->is_apart)
    return apart_factor (self, plan, kind);
  FabPlanBand band = shared_band (self, plan, kind);
  self->is_uncertain |= band.coverage_fraction > 0;
  return self->is_high ? band.high_factor : band.low_factor;
}

/* --- playing --- */

/* One side while its ends are played. */
typedef struct {
  const FabPaired *base;
  FabPaired *recorded;         /* the base itself; NULL: another side */
  const FabScenario *scenario; /* of the draw, as it is played */
  double work_s;
  Compute compute;
} Playing;

static gboolean
play_plans (Playing *self, gboolean is_apart, Ends *ends, GError **error)
{
  g_autoptr (GHashTable) kinds = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  Scaler scaler = { .scenario = self->scenario,
                    .recorded = self->recorded,
                    .base = self->base,
                    .is_apart = is_apart,
                    .kinds = kinds };
  const FabPlanScale scale = { scale_plan, &scaler };
  const FabWhatIf what_if = { .plans = &scale };
  FabDrawTimes low, high;

  *ends = (Ends){ 0 };
  if (!fab_draw_play (self->base->env, self->scenario, &what_if, &low, error))
    return FALSE;
  self->work_s = low.work_s;
  if (!scaler.is_uncertain)
    return TRUE;
  g_hash_table_remove_all (kinds); /* the footprints were those of another play */
  scaler.is_high = TRUE;
  if (!fab_draw_play (self->base->env, self->scenario, &what_if, &high, error))
    return FALSE;
  *ends = (Ends){ TRUE, low.step_s, high.step_s };
  return TRUE;
}

typedef struct {
  const Compute *ends; /* by which kernels are scaled; NULL: the job's own */
  Compute known;       /* of the job */
  gboolean is_high;
} ComputeScaler;

static double
scale_compute (gpointer owner, const FabSetup *known)
{
  ComputeScaler *self = owner;

  self->known = (Compute){ TRUE, known->low_factor, known->high_factor, "" };
  g_snprintf (self->known.entry, sizeof self->known.entry, "%s-%s-%s",
              known->generation != NULL ? known->generation : "unknown",
              known->precision != NULL ? known->precision : "unknown",
              known->name != NULL ? known->name : "unknown");
  const Compute *ends = self->ends != NULL ? self->ends : &self->known;
  return self->is_high ? ends->high_factor : ends->low_factor;
}

static gboolean
play_compute (Playing *self, const Compute *scaled_by, Ends *ends, GError **error)
{
  ComputeScaler scaler = { .ends = scaled_by };
  const FabComputeScale scale = { scale_compute, &scaler };
  const FabWhatIf what_if = { .compute = &scale };
  FabDrawTimes low, high;

  *ends = (Ends){ 0 };
  if (!fab_draw_play (self->base->env, self->scenario, &what_if, &low, error))
    return FALSE;
  if (!scaler.known.is_known)
    return TRUE;
  scaler.is_high = TRUE;
  if (!fab_draw_play (self->base->env, self->scenario, &what_if, &high, error))
    return FALSE;
  self->compute = scaler.known;
  *ends = (Ends){ TRUE, low.step_s, high.step_s };
  return TRUE;
}

/* A link that the side does not have changes nothing. */
static gboolean
play_link (const Playing *self, const FabUnsure *unsure, Ends *ends, GError **error)
{
  const FabWhatIf down = fab_unsure_what_if (unsure, -1), up = fab_unsure_what_if (unsure, 1);
  FabDrawTimes low, high;

  if (!fab_draw_play (self->base->env, self->scenario, &down, &low, error)
      || !fab_draw_play (self->base->env, self->scenario, &up, &high, error))
    return FALSE;
  *ends = (Ends){ TRUE, low.step_s, high.step_s };
  return TRUE;
}

/* --- the base --- */

/* The draw of a side on which the ends are played, on a network of flows where its own sends messages. (transfer
 * full) */
static FabScenario *
scenario_of (const FabDecisionEnv *env, const FabPairedSide *side, guint draw, gboolean *is_fast,
             GError **error)
{
  g_autoptr (FabScenario) own = fab_draw_of (side->scenario, MIN (draw, side->n_draws - 1), error);
  FabScenario *fast = own != NULL ? fab_draw_fast (own, env->registry) : NULL;

  *is_fast = fast != NULL;
  return fast != NULL ? fast : g_steal_pointer (&own);
}

/* The step of that draw as it is. */
static gboolean
find_step (const FabDecisionEnv *env, const FabPairedSide *side, guint draw, const FabScenario *scenario,
           gboolean is_fast, double *step_s, GError **error)
{
  FabDrawTimes times;

  *step_s = side->steps_s[MIN (draw, side->n_draws - 1)];
  if (!is_fast)
    return TRUE;
  if (!fab_draw_play (env, scenario, NULL, &times, error))
    return FALSE;
  *step_s = times.step_s;
  return TRUE;
}

static gboolean
play_base (FabPaired *self, GError **error)
{
  Playing playing = { .base = self, .recorded = self, .scenario = self->scenario };

  if (!play_plans (&playing, FALSE, &self->ends[FAB_PAIRED_COLLECTIVES], error)
      || !play_compute (&playing, NULL, &self->ends[FAB_PAIRED_COMPUTE], error))
    return FALSE;
  self->compute = playing.compute;
  self->work_s = playing.work_s;
  for (guint i = 0; i < self->links->len; i++) {
    Ends ends;

    if (!play_link (&playing, &g_array_index (self->links, FabUnsure, i), &ends, error))
      return FALSE;
    g_array_append_val (self->link_ends, ends);
  }
  return TRUE;
}

FabPaired *
fab_paired_new (const FabDecisionEnv *env, const FabPairedSide *base, GError **error)
{
  g_autoptr (FabPaired) self = g_new0 (FabPaired, 1);

  self->env = env;
  self->side = base;
  self->draw = fab_draw_median (base->steps_s, base->n_draws);
  self->collectives = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->times = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->links = fab_unsure_links (base->scenario);
  self->link_ends = g_array_new (FALSE, FALSE, sizeof (Ends));
  self->scenario = scenario_of (env, base, self->draw, &self->is_fast, error);
  if (self->scenario == NULL
      || !find_step (env, base, self->draw, self->scenario, self->is_fast, &self->step_s, error)
      || !play_base (self, error))
    return NULL;
  return g_steal_pointer (&self);
}

void
fab_paired_free (FabPaired *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->collectives, g_hash_table_unref);
  g_clear_pointer (&self->times, g_hash_table_unref);
  g_clear_pointer (&self->links, g_array_unref);
  g_clear_pointer (&self->link_ends, g_array_unref);
  fab_scenario_free (self->scenario);
  g_free (self);
}

/* --- comparing --- */

/* Sums of squares of what the logarithm of the ratio rises and falls by. */
typedef struct {
  double ratio; /* ln (other / base) as predicted, on the draw that is played */
  double up, down, largest;
  double worst; /* the largest logarithm of a ratio in any play */
  FabPairedCause most;
  gboolean is_any; /* something but the draws is uncertain */
} Sum;

static void
add_change (Sum *self, FabPairedCause cause, double rise, double fall)
{
  self->up += rise * rise;
  self->down += fall * fall;
  if (rise + fall > self->largest) {
    self->largest = rise + fall;
    self->most = cause;
  }
}

/* The ends of both sides, or of the other alone. */
static void
add_ends (Sum *self, FabPairedCause cause, double low_base_s, double high_base_s, const Ends *other)
{
  double low = log (other->low_s / low_base_s) - self->ratio,
         high = log (other->high_s / high_base_s) - self->ratio;

  self->is_any = TRUE;
  self->worst = MAX (self->worst, MAX (low, high) + self->ratio);
  add_change (self, cause, MAX (MAX (low, high), 0), MAX (-MIN (low, high), 0));
}

static gboolean
add_collectives (const FabPaired *self, Playing *playing, double step_s, Sum *sum, GError **error)
{
  const Ends *base = &self->ends[FAB_PAIRED_COLLECTIVES];
  Ends shared, apart;

  if (!play_plans (playing, FALSE, &shared, error) || !play_plans (playing, TRUE, &apart, error))
    return FALSE;
  if (shared.is_known || base->is_known) {
    if (!shared.is_known)
      shared = (Ends){ .low_s = step_s, .high_s = step_s };
    add_ends (sum, FAB_PAIRED_COLLECTIVES, base->is_known ? base->low_s : self->step_s,
              base->is_known ? base->high_s : self->step_s, &shared);
  }
  if (apart.is_known)
    add_ends (sum, FAB_PAIRED_OTHER_COLLECTIVES, self->step_s, self->step_s, &apart);
  return TRUE;
}

static FabPairRelation
compute_relation (const FabPaired *self, const Playing *playing)
{
  const double rounding = 1e-9;

  if (strcmp (self->compute.entry, playing->compute.entry) != 0)
    return FAB_PAIR_OTHER;
  return fabs (self->work_s - playing->work_s) <= rounding * self->work_s ? FAB_PAIR_SAME : FAB_PAIR_ALIKE;
}

static gboolean
add_compute (const FabPaired *self, Playing *playing, Sum *sum, GError **error)
{
  const Ends *base = &self->ends[FAB_PAIRED_COMPUTE];
  Ends shared, apart;

  if (!play_compute (playing, self->compute.is_known ? &self->compute : NULL, &shared, error))
    return FALSE;
  if (!shared.is_known)
    return TRUE;
  add_ends (sum, FAB_PAIRED_COMPUTE, base->is_known ? base->low_s : self->step_s,
            base->is_known ? base->high_s : self->step_s, &shared);
  FabPairEnds ends = fab_pair_of_compute (fab_scenario_catalog (self->scenario),
                                          compute_relation (self, playing));
  const Compute scaled_by = { TRUE, ends.low_factor, ends.high_factor, "" };
  if (ends.low_factor >= 1 && ends.high_factor <= 1)
    return TRUE;
  if (!play_compute (playing, &scaled_by, &apart, error))
    return FALSE;
  add_ends (sum, FAB_PAIRED_OTHER_COMPUTE, self->step_s, self->step_s, &apart);
  return TRUE;
}

static gboolean
add_links (const FabPaired *self, const Playing *playing, Sum *sum, GError **error)
{
  for (guint i = 0; i < self->links->len; i++) {
    const Ends *base = &g_array_index (self->link_ends, Ends, i);
    Ends other;

    if (!play_link (playing, &g_array_index (self->links, FabUnsure, i), &other, error))
      return FALSE;
    add_ends (sum, FAB_PAIRED_LINKS, base->low_s, base->high_s, &other);
  }
  return TRUE;
}

static void
close_band (FabPairedBand *band, Sum *sum)
{
  const FabDifference *change = &band->change;
  const double middle = log1p (change->median);

  add_change (sum, FAB_PAIRED_DRAWS, log1p (change->high) - middle, middle - log1p (change->low));
  band->worst_fraction = expm1 (MAX (sum->worst, log1p (change->high)));
  band->low_fraction = expm1 (middle - sqrt (sum->down));
  band->high_fraction = expm1 (middle + sqrt (sum->up));
  if (fab_paired_is_never_slower (band))
    band->high_fraction = MIN (band->high_fraction, MAX (band->worst_fraction, 0));
  band->coverage_fraction = sum->is_any ? 0.9 : 0;
  band->most = sum->most;
}

gboolean
fab_paired_compare (const FabPaired *self, const FabPairedSide *other, FabPairedBand *band, GError **error)
{
  const FabPairedSide *base = self->side;
  guint draw = base->n_draws == 1 ? fab_draw_median (other->steps_s, other->n_draws) : self->draw;
  gboolean is_fast;
  g_autoptr (FabScenario) scenario = scenario_of (self->env, other, draw, &is_fast, error);
  Playing playing = { .base = self, .scenario = scenario };
  Sum sum = { .most = FAB_PAIRED_DRAWS };
  double step_s;

  if (scenario == NULL || !find_step (self->env, other, draw, scenario, is_fast, &step_s, error))
    return FALSE;
  sum.ratio = sum.worst = log (step_s / self->step_s);
  if (!add_collectives (self, &playing, step_s, &sum, error) || !add_compute (self, &playing, &sum, error)
      || !add_links (self, &playing, &sum, error))
    return FALSE;
  band->change = fab_difference_of (base->steps_s, base->n_draws, other->steps_s, other->n_draws, TRUE);
  close_band (band, &sum);
  return TRUE;
}

gboolean
fab_paired_may_be_none (const FabPairedBand *self)
{
  return self->low_fraction < FAB_DIFFERENCE_LEAST && self->high_fraction > -FAB_DIFFERENCE_LEAST;
}

const char *
fab_paired_most (const FabPairedBand *self)
{
  static const char *const words[FAB_N_PAIRED] = {
    [FAB_PAIRED_COLLECTIVES] = "collectives that both have",
    [FAB_PAIRED_OTHER_COLLECTIVES] = "collectives that differ",
    [FAB_PAIRED_COMPUTE] = "compute that both have",
    [FAB_PAIRED_OTHER_COMPUTE] = "compute that differs",
    [FAB_PAIRED_LINKS] = "measured links",
    [FAB_PAIRED_DRAWS] = "the seeds",
  };

  return words[self->most];
}
