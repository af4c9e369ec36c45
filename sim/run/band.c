/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/run/band.h"

#include <math.h>
#include <string.h>

const char *const fab_unsure_names[] = {
  [FAB_UNSURE_RATE] = "rate",
  [FAB_UNSURE_LATENCY] = "latency",
  [FAB_UNSURE_ENDPOINT] = "endpoint",
  [FAB_UNSURE_MESSAGES] = "messages",
  NULL,
};

/* --- what is uncertain --- */

/* Returns 0 for a number that is absent: it cannot be changed. */
static double
fraction_of (const FabLinkSpec *spec, FabUnsureKind kind)
{
  switch (kind) {
  case FAB_UNSURE_RATE: return spec->uncertainty.rate_fraction;
  case FAB_UNSURE_LATENCY: return spec->latency_ps > 0 ? spec->uncertainty.latency_fraction : 0;
  case FAB_UNSURE_ENDPOINT: return spec->endpoint_ps > 0 ? spec->uncertainty.endpoint_fraction : 0;
  case FAB_UNSURE_MESSAGES: return spec->messages.n > 0 ? spec->uncertainty.messages_fraction : 0;
  case FAB_N_UNSURE:
  default: g_assert_not_reached ();
  }
}

static gboolean
is_used (const FabGraph *graph, const char *name)
{
  for (FabLinkId link = 0; link < fab_graph_n_links (graph); link++)
    if (g_strcmp0 (fab_graph_link_class (graph, link)->name, name) == 0)
      return TRUE;
  return FALSE;
}

static void
list_of_link (const FabLinkSpec *spec, const FabGraph *graph, GArray *unsure)
{
  for (FabUnsureKind kind = 0; kind < FAB_N_UNSURE; kind++) {
    double fraction = fraction_of (spec, kind);

    if (fraction > 0 && is_used (graph, spec->name)) {
      FabUnsure one = { g_strdup (spec->name), kind, fraction };

      g_array_append_val (unsure, one);
    }
  }
}

static void
unsure_clear (gpointer data)
{
  g_free (((FabUnsure *) data)->link);
}

static GArray *
list_unsure (const FabScenario *scenario, const FabGraph *graph)
{
  const FabCatalog *catalog = fab_scenario_catalog (scenario);
  GArray *unsure = g_array_new (FALSE, FALSE, sizeof (FabUnsure));
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_LINKS);

  g_array_set_clear_func (unsure, unsure_clear);
  for (guint i = 0; names[i] != NULL; i++)
    list_of_link (fab_catalog_link (catalog, names[i]), graph, unsure);
  return unsure;
}

/* --- band --- */

static FabWhatIf
what_if_of (const FabUnsure *unsure, double sign)
{
  double change = sign * unsure->fraction;
  FabWhatIf what_if = { .link_class = unsure->link, .rate_factor = 1, .keeps_messages = TRUE };

  switch (unsure->kind) {
  case FAB_UNSURE_RATE: what_if.rate_factor = 1 + change; break;
  case FAB_UNSURE_LATENCY: what_if.latency_change = change; break;
  case FAB_UNSURE_ENDPOINT: what_if.endpoint_change = change; break;
  case FAB_UNSURE_MESSAGES: what_if.messages_change = change; break;
  case FAB_N_UNSURE:
  default: g_assert_not_reached ();
  }
  return what_if;
}

static FabBand *
band_new (GArray *unsure, guint n)
{
  FabBand *self = g_new0 (FabBand, 1);

  self->unsure = unsure;
  self->n = n;
  self->low = g_new0 (double, n + 1);
  self->high = g_new0 (double, n + 1);
  self->most = g_new0 (guint, n + 1);
  return self;
}

void
fab_band_free (FabBand *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->unsure);
  g_free (self->low);
  g_free (self->high);
  g_free (self->most);
  g_free (self);
}

/* Adds the two ends of one number. Until all numbers are done, `low` and `high` hold sums of squares. */
static void
add_ends (FabBand *self, guint which, const double *values, const double *less, const double *more,
          double *largest)
{
  for (guint i = 0; i < self->n; i++) {
    double rise = MAX (MAX (less[i], more[i]) - values[i], 0);
    double fall = MAX (values[i] - MIN (less[i], more[i]), 0);

    self->high[i] += rise * rise;
    self->low[i] += fall * fall;
    if (MAX (rise, fall) > largest[i]) {
      largest[i] = MAX (rise, fall);
      self->most[i] = which;
    }
  }
}

static gboolean
play_ends (FabBand *self, const double *values, FabBandPlay play, gpointer owner, GError **error)
{
  g_autofree double *less = g_new0 (double, self->n + 1);
  g_autofree double *more = g_new0 (double, self->n + 1);
  g_autofree double *largest = g_new0 (double, self->n + 1);

  for (guint which = 0; which < self->unsure->len; which++) {
    const FabUnsure *unsure = &g_array_index (self->unsure, FabUnsure, which);
    FabWhatIf down = what_if_of (unsure, -1), up = what_if_of (unsure, 1);

    if (!play (owner, &down, less, error) || !play (owner, &up, more, error))
      return FALSE;
    add_ends (self, which, values, less, more, largest);
  }
  for (guint i = 0; i < self->n; i++) {
    self->low[i] = MAX (values[i] - sqrt (self->low[i]), 0);
    self->high[i] = values[i] + sqrt (self->high[i]);
  }
  return TRUE;
}

gboolean
fab_band_find (const FabScenario *scenario, const FabGraph *graph, const double *values, guint n,
               FabBandPlay play, gpointer owner, FabBand **band, GError **error)
{
  GArray *unsure = list_unsure (scenario, graph);
  g_autoptr (FabBand) self = band_new (unsure, n);

  *band = NULL;
  if (unsure->len == 0)
    return TRUE;
  if (!play_ends (self, values, play, owner, error))
    return FALSE;
  *band = g_steal_pointer (&self);
  return TRUE;
}

char *
fab_band_most (const FabBand *self, guint i)
{
  const FabUnsure *unsure = &g_array_index (self->unsure, FabUnsure, self->most[i]);

  return g_strdup_printf ("%s of %s (%.3g %%)", fab_unsure_names[unsure->kind], unsure->link,
                          100 * unsure->fraction);
}
