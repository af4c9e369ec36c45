/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/variants/suite.h"

#include <math.h>
#include <string.h>

#include "sim/base/thread_pool.h"
#include "validate/check/limits.h"

static const FabParam limit_params[] = {
  { .key = "fidelity",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (FabFidelityLimit, fidelity),
    .help = "Fidelity that is compared with another." },
  { .key = "against",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (FabFidelityLimit, against),
    .help = "Fidelity with which it is compared." },
  { .key = "limit",
    .type = FAB_PARAM_FRACTION,
    .offset = G_STRUCT_OFFSET (FabFidelityLimit, limit_fraction),
    .fallback = "0",
    .max = 1,
    .help = "Largest |step / step of the other - 1|; 0: none." },
  { .key = NULL },
};

#define LIMITS(owner)                                                                   \
  {                                                                                     \
    .key = "limits", .type = FAB_PARAM_LIST, .offset = G_STRUCT_OFFSET (owner, limits), \
    .table = limit_params, .table_size = sizeof (FabFidelityLimit),                     \
    .help = "Largest differences that are accepted between fidelities."                 \
  }

static const FabParam group_params[] = {
  { .key = "group",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (FabFidelityGroup, name),
    .help = "Name of a group of cases in which fidelities differ for the same reason." },
  { .key = "title",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (FabFidelityGroup, title),
    .help = "What the cases of the group have in common." },
  LIMITS (FabFidelityGroup),
  { .key = NULL },
};

static const FabParam case_params[] = {
  { .key = "case",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (FabFidelityCase, name),
    .help = "A scenario of the suite, without .yaml." },
  { .key = "group",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (FabFidelityCase, group),
    .help = "Group of the case." },
  { .key = "why",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (FabFidelityCase, why),
    .fallback = "",
    .help = "What makes fidelities differ here." },
  LIMITS (FabFidelityCase),
  { .key = NULL },
};

typedef struct {
  const char *fidelities;
  FabParamList groups, cases;
} Content;

static const FabParam content_params[] = {
  { .key = "fidelities",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (Content, fidelities),
    .help = "Fidelities, separated by blanks: the columns of the table." },
  { .key = "groups",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (Content, groups),
    .table = group_params,
    .table_size = sizeof (FabFidelityGroup),
    .help = "Groups of cases." },
  { .key = "cases",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (Content, cases),
    .table = case_params,
    .table_size = sizeof (FabFidelityCase),
    .help = "Cases of the suite." },
  { .key = NULL },
};

struct _FabFidelityLimits {
  FabCheckFile *file;
  Content content;
};

void
fab_fidelity_limits_free (FabFidelityLimits *self)
{
  if (self != NULL)
    fab_check_file_free (self->file);
  g_free (self);
}

guint
fab_fidelity_limits_n (const FabFidelityLimits *self)
{
  return self->content.cases.n;
}

const FabFidelityCase *
fab_fidelity_limits_case (const FabFidelityLimits *self, guint index)
{
  return (const FabFidelityCase *) self->content.cases.data + index;
}

guint
fab_fidelity_limits_n_groups (const FabFidelityLimits *self)
{
  return self->content.groups.n;
}

const FabFidelityGroup *
fab_fidelity_limits_group (const FabFidelityLimits *self, guint index)
{
  return (const FabFidelityGroup *) self->content.groups.data + index;
}

static const FabFidelityGroup *
find_group (const FabFidelityLimits *self, const char *name)
{
  for (guint i = 0; i < self->content.groups.n; i++)
    if (g_strcmp0 (fab_fidelity_limits_group (self, i)->name, name) == 0)
      return fab_fidelity_limits_group (self, i);
  return NULL;
}

const FabFidelityCase *
fab_fidelity_limits_find (const FabFidelityLimits *self, const char *name, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (guint i = 0; i < self->content.cases.n; i++) {
    const FabFidelityCase *which = fab_fidelity_limits_case (self, i);

    if (g_strcmp0 (which->name, name) == 0)
      return which;
    g_ptr_array_add (names, (gpointer) which->name);
  }
  g_ptr_array_add (names, NULL);
  return fab_check_throw_unknown (error, "there is no case", name, (const char *const *) names->pdata);
}

const char **
fab_fidelity_limits_known (const FabFidelityLimits *self, const FabRegistry *registry)
{
  g_autofree const char **names = fab_registry_names (registry, FAB_MODEL_NET);
  g_auto (GStrv) words = g_strsplit (self->content.fidelities, " ", -1);
  GPtrArray *known = g_ptr_array_new ();

  for (guint i = 0; words[i]; i++)
    for (guint k = 0; names[k]; k++)
      if (strcmp (words[i], names[k]) == 0)
        g_ptr_array_add (known, (gpointer) names[k]);
  for (guint k = 0; names[k]; k++)
    if (!g_strv_contains ((const char *const *) words, names[k]))
      g_ptr_array_add (known, (gpointer) names[k]);
  g_ptr_array_add (known, NULL);
  return (const char **) g_ptr_array_free (known, FALSE);
}

static gboolean
is_same_pair (const FabFidelityLimit *a, const FabFidelityLimit *b)
{
  return strcmp (a->fidelity, b->fidelity) == 0 && strcmp (a->against, b->against) == 0;
}

/* All limits of a case, its own and those of its group that it does not replace: FabFidelityLimit. (transfer full) */
static GArray *
fidelity_limits_of (const FabFidelityLimits *self, const FabFidelityCase *which)
{
  const FabFidelityGroup *group = find_group (self, which->group);
  GArray *all = g_array_new (FALSE, FALSE, sizeof (FabFidelityLimit));

  g_array_append_vals (all, group->limits.data, group->limits.n);
  for (guint i = 0; i < which->limits.n; i++) {
    const FabFidelityLimit *own = (const FabFidelityLimit *) which->limits.data + i;
    guint k = 0;

    while (k < all->len && !is_same_pair (&g_array_index (all, FabFidelityLimit, k), own))
      k++;
    if (k < all->len)
      g_array_index (all, FabFidelityLimit, k) = *own;
    else
      g_array_append_val (all, *own);
  }
  return all;
}

/* --- checks --- */

static void
check_limits (FabFidelityLimits *self, const FabParamList *limits, const char *const *words)
{
  for (guint i = 0; i < limits->n; i++) {
    const FabFidelityLimit *limit = (const FabFidelityLimit *) limits->data + i;
    const char *const *sides[] = { &limit->fidelity, &limit->against };

    for (guint k = 0; k < G_N_ELEMENTS (sides); k++)
      if (*sides[k] && !g_strv_contains (words, *sides[k]))
        fab_schema_report (self->file->reader, sides[k], "'%s' is none of the fidelities of this file",
                           *sides[k]);
  }
}

static void
check_names (FabFidelityLimits *self)
{
  g_auto (GStrv) words = g_strsplit (self->content.fidelities, " ", -1);

  for (guint i = 0; i < self->content.groups.n; i++)
    check_limits (self, &fab_fidelity_limits_group (self, i)->limits, (const char *const *) words);
  for (guint i = 0; i < self->content.cases.n; i++) {
    const FabFidelityCase *which = fab_fidelity_limits_case (self, i);

    check_limits (self, &which->limits, (const char *const *) words);
    if (find_group (self, which->group) == NULL)
      fab_schema_report (self->file->reader, &which->group, "there is no group '%s'", which->group);
    if (fab_fidelity_limits_find (self, which->name, NULL) != which)
      fab_schema_report (self->file->reader, &which->name, "'%s' is given twice", which->name);
  }
}

FabFidelityLimits *
fab_fidelity_limits_load (const char *path, const FabRegistry *registry, GError **error)
{
  g_autoptr (FabFidelityLimits) self = g_new0 (FabFidelityLimits, 1);

  self->file = fab_check_file_new (registry);
  if (!fab_check_file_read (self->file, path, content_params, &self->content, error))
    return NULL;
  check_names (self);
  return fab_check_file_is_right (self->file, error) ? g_steal_pointer (&self) : NULL;
}

static void
result_free (gpointer data)
{
  FabFidelityResult *self = data;

  g_free (self->title);
  fab_contrast_free (self->contrast);
  g_array_unref (self->limits);
  g_array_unref (self->gaps);
  g_free (self);
}

void
fab_fidelity_report_free (FabFidelityReport *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->fidelities);
  g_ptr_array_unref (self->results);
  g_free (self);
}

static FabVariant *
play (const FabFidelitySuite *suite, const char *path, const char *fidelity, char **title, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_scenario_open (path, suite->registry, suite->catalog, error);

  if (scenario == NULL || !fab_scenario_set (scenario, "fidelity", fab_value_text (fidelity), error)
      || !fab_scenario_check (scenario, error))
    return NULL;
  if (*title == NULL)
    *title = g_strdup (fab_scenario_spec (scenario)->summary ? fab_scenario_spec (scenario)->summary : "");
  return fab_variant_play (scenario, suite->registry, error);
}

static const FabVariant *
find_variant (const FabContrast *contrast, const char *fidelity)
{
  for (guint k = 0; k < contrast->variants->len; k++)
    if (strcmp (fab_contrast_variant (contrast, k)->fidelity, fidelity) == 0)
      return fab_contrast_variant (contrast, k);
  return NULL;
}

static void
find_gaps (FabFidelityResult *result)
{
  for (guint i = 0; i < result->limits->len; i++) {
    const FabFidelityLimit *limit = &g_array_index (result->limits, FabFidelityLimit, i);
    const FabVariant *now = find_variant (result->contrast, limit->fidelity),
                     *then = find_variant (result->contrast, limit->against);

    if (now == NULL || then == NULL)
      continue;
    FabFidelityGap gap = {
      limit, fab_variant_time_s (now, FAB_FACT_STEP) / fab_variant_time_s (then, FAB_FACT_STEP) - 1
    };
    g_array_append_val (result->gaps, gap);
  }
}

static FabFidelityResult *
result_new (const FabFidelitySuite *suite, const FabFidelityCase *which, GError **error)
{
  g_autofree char *name = g_strconcat (which->name, ".yaml", NULL);
  g_autofree char *path = g_build_filename (suite->folder, name, NULL);
  g_autoptr (GPtrArray) variants = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_variant_free);
  g_autofree char *title = NULL;

  for (guint i = 0; suite->fidelities[i]; i++) {
    FabVariant *variant = play (suite, path, suite->fidelities[i], &title, error);

    if (variant == NULL)
      return NULL;
    g_ptr_array_add (variants, variant);
  }
  FabFidelityResult *result = g_new0 (FabFidelityResult, 1);
  result->which = which;
  result->title = g_steal_pointer (&title);
  result->contrast = fab_contrast_new (g_steal_pointer (&variants), 0);
  result->limits = fidelity_limits_of (suite->limits, which);
  result->gaps = g_array_new (FALSE, FALSE, sizeof (FabFidelityGap));
  find_gaps (result);
  return result;
}

typedef struct {
  const FabFidelitySuite *suite;
  const GPtrArray *cases;
  FabFidelityResult **results;
  GError **errors;
} Plays;

static void
play_case (gpointer data, guint item)
{
  Plays *self = data;

  self->results[item] = result_new (self->suite, g_ptr_array_index (self->cases, item), &self->errors[item]);
}

FabFidelityReport *
fab_fidelity_report_new (const FabFidelitySuite *suite, const GPtrArray *cases, GError **error)
{
  g_autoptr (FabFidelityReport) self = g_new0 (FabFidelityReport, 1);

  self->limits = suite->limits;
  self->fidelities = g_ptr_array_new_with_free_func (g_free);
  self->results = g_ptr_array_new_with_free_func (result_free);
  for (guint i = 0; suite->fidelities[i]; i++)
    g_ptr_array_add (self->fidelities, g_strdup (suite->fidelities[i]));
  g_autofree FabFidelityResult **results = g_new0 (FabFidelityResult *, cases->len + 1);
  g_autofree GError **errors = g_new0 (GError *, cases->len + 1);
  GError *first = NULL;

  fab_thread_pool_run (suite->n_threads, cases->len, play_case, &(Plays){ suite, cases, results, errors });
  for (guint i = 0; i < cases->len; i++) {
    if (results[i] != NULL)
      g_ptr_array_add (self->results, results[i]);
    else if (first == NULL)
      first = g_steal_pointer (&errors[i]);
    g_clear_error (&errors[i]);
  }
  if (first == NULL)
    return g_steal_pointer (&self);
  g_propagate_error (error, first);
  return NULL;
}

gboolean
fab_fidelity_gap_is_met (const FabFidelityGap *gap)
{
  return gap->limit->limit_fraction <= 0 || fabs (gap->difference_fraction) <= gap->limit->limit_fraction;
}

char **
fab_fidelity_report_exceeded (const FabFidelityReport *self)
{
  GPtrArray *lines = g_ptr_array_new ();

  for (guint i = 0; i < self->results->len; i++) {
    const FabFidelityResult *result = g_ptr_array_index (self->results, i);

    for (guint k = 0; k < result->gaps->len; k++) {
      const FabFidelityGap *gap = &g_array_index (result->gaps, FabFidelityGap, k);

      if (!fab_fidelity_gap_is_met (gap))
        g_ptr_array_add (lines, g_strdup_printf ("%s: %s is %+.2f %% from %s, and %.3g %% are accepted",
                                                 result->which->name, gap->limit->fidelity,
                                                 100 * gap->difference_fraction, gap->limit->against,
                                                 100 * gap->limit->limit_fraction));
    }
  }
  g_ptr_array_add (lines, NULL);
  return (char **) g_ptr_array_free (lines, FALSE);
}
