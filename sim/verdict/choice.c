/* SPDX-License-Identifier: Apache-2.0 */
/* choice.c - a collective whose plan takes t alone, where another one would take b < t, loses (1 - b / t) of the time
 * for which it is exposed. What is lost is summed over the step; the text names the operation that loses most. What
 * the step gains is not that: another collective may become exposed instead, and hidden ones become shorter too. */
#include "sim/verdict/choice.h"

#include <string.h>

#include "sim/base/units.h"

static const double least_fraction = 0.02; /* of the step */

/* Collectives of one operation, size and plan. */
typedef struct {
  const FabCollectivePlan *plan;
  guint n;
  double lost_ps;
} Kind;

static guint
hash_of_kind (gconstpointer data)
{
  const FabCollectivePlan *plan = ((const Kind *) data)->plan;

  return g_str_hash (plan->algorithm) ^ (guint) plan->op ^ (guint) (plan->bytes * 2654435761U);
}

static gboolean
are_same_kind (gconstpointer a, gconstpointer b)
{
  const FabCollectivePlan *x = ((const Kind *) a)->plan, *y = ((const Kind *) b)->plan;

  return x->op == y->op && x->bytes == y->bytes && x->n_ranks == y->n_ranks && x->footprint == y->footprint
      && x->protocol == y->protocol && x->n_channels == y->n_channels;
}

/* Of a plan that has a faster one. */
static double
lost_ps (const FabCollectivePlan *plan, const FabCollectiveRecord *record)
{
  return (double) record->exposed_ps
       * (1 - (double) plan->best.idle_ps / (double) fab_collective_plan_idle_ps (plan));
}

/* Adds a collective to its kind, and returns it. */
static Kind *
add_to_kind (GHashTable *kinds, const FabCollectivePlan *plan, double lost)
{
  Kind *kind = g_hash_table_lookup (kinds, &(Kind){ .plan = plan });

  if (kind == NULL) {
    kind = g_new0 (Kind, 1);
    kind->plan = plan;
    g_hash_table_add (kinds, kind);
  }
  kind->n++;
  kind->lost_ps += lost;
  return kind;
}

/* What to set, with other algorithms of this operation alone. (transfer full) */
static char *
write_advice (const FabCollectivePlan *plan)
{
  gboolean is_other = strcmp (plan->algorithm, plan->best.algorithm) != 0;
  g_autofree char *what = is_other ? g_strdup_printf ("Try collectives.algorithm=%s:%s",
                                                      fab_op_names[plan->op], plan->best.algorithm)
                                   : g_strdup ("Try another collectives.protocol or min_channels");

  return g_strdup_printf (
      "%s, and measure it: the step may gain less or more, because communication overlaps. A "
      "larger or faster machine may be slower for this reason.",
      what);
}

static void
add_finding (FabVerdict *self, const Kind *worst, double lost_fraction)
{
  const FabCollectivePlan *plan = worst->plan;
  g_autofree char *size = fab_units_write_whole (FAB_UNIT_BYTES, (gint64) plan->bytes);
  g_autofree char *takes = fab_units_show (FAB_UNIT_TIME, (double) fab_collective_plan_idle_ps (plan));
  g_autofree char *would = fab_units_show (FAB_UNIT_TIME, (double) plan->best.idle_ps);

  fab_verdict_add (
      self, FAB_FINDING_CHOICE,
      g_strdup_printf (
          "By its own estimate, the collective library chooses slower algorithms than it could. All else "
          "equal, GPUs wait for them for %.1f %% of the step more. %u x %s of %s takes %s as %s with %s on %u %s; "
          "%s with %s on %u would take %s.",
          100 * lost_fraction, worst->n, fab_op_names[plan->op], size, takes, plan->algorithm, plan->protocol,
          plan->n_channels, fab_plural (plan->n_channels, "channel", "channels"), plan->best.algorithm,
          plan->best.protocol, plan->best.n_channels, would),
      write_advice (plan));
}

void
fab_choice_find (FabVerdict *self, const FabSimulation *simulation)
{
  const FabDag *dag = fab_simulation_dag (simulation);
  const FabProbe *probe = fab_simulation_probe (simulation);
  g_autoptr (GHashTable) kinds = g_hash_table_new_full (hash_of_kind, are_same_kind, g_free, NULL);
  const Kind *worst = NULL;
  double sum_ps = 0;

  for (guint i = 0; i < probe->collectives->len; i++) {
    const FabCollectiveRecord *record = &g_array_index (probe->collectives, FabCollectiveRecord, i);
    const FabCollectivePlan *plan = &dag->collectives[record->index].plan;
    double lost = lost_ps (plan, record);

    if (plan->best.algorithm == NULL || !(lost > 0)) /* of a plan that takes no time it is no number */
      continue;
    const Kind *kind = add_to_kind (kinds, plan, lost);
    worst = worst == NULL || kind->lost_ps > worst->lost_ps ? kind : worst;
    sum_ps += lost;
  }
  if (worst != NULL && sum_ps >= least_fraction * (double) probe->step.times.duration_ps)
    add_finding (self, worst, sum_ps / (double) probe->step.times.duration_ps);
}
