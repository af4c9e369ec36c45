/* SPDX-License-Identifier: Apache-2.0 */
/* accept.c - accept.yaml through the schema reader, held against a report. */
#include "validate/compare/accept.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/scenario/schema.h"

/* A limit of 0 stands for none: the fallback. */
typedef struct {
  const char *table;
  double limits[FAB_N_SIZE_CLASSES];
} Row;

#define LIMIT_ROW(key_, class_, help_)                                                        \
  {                                                                                           \
    .key = key_, .type = FAB_PARAM_FRACTION, .offset = G_STRUCT_OFFSET (Row, limits[class_]), \
    .fallback = "0", .max = 1, .help = help_                                                  \
  }

static const FabParam row_params[] = {
  { .key = "table",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (Row, table),
    .help = "A measured table: its file without .csv." },
  LIMIT_ROW ("small", FAB_SIZE_SMALL, "Allowed median |error| below 256 KiB."),
  LIMIT_ROW ("middle", FAB_SIZE_MIDDLE, "Allowed median |error| from 256 KiB to below 64 MiB."),
  LIMIT_ROW ("large", FAB_SIZE_LARGE, "Allowed median |error| from 64 MiB."),
  { .key = NULL },
};

/* The same without a name. */
static const FabParam judged_params[] = {
  LIMIT_ROW ("small", FAB_SIZE_SMALL, "Allowed median |error| over all judged tables, below 256 KiB."),
  LIMIT_ROW ("middle", FAB_SIZE_MIDDLE, "Likewise, from 256 KiB to below 64 MiB."),
  LIMIT_ROW ("large", FAB_SIZE_LARGE, "Likewise, from 64 MiB."),
  { .key = NULL },
};

typedef struct {
  Row judged;          /* over all judged tables; table is NULL */
  FabParamList tables; /* Row */
} Content;

static const FabParam content_params[] = {
  { .key = "judged",
    .type = FAB_PARAM_TABLE,
    .offset = G_STRUCT_OFFSET (Content, judged),
    .table = judged_params,
    .table_size = sizeof (Row),
    .help = "Over all judged tables together; absent: no limit." },
  { .key = "tables",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (Content, tables),
    .table = row_params,
    .table_size = sizeof (Row),
    .help = "One entry per measured table." },
  { .key = NULL },
};

struct _FabAccept {
  FabDiagnostics *diagnostics;
  FabYamlDoc *doc;
  FabSchemaReader *reader;
  Content content;
};

void
fab_accept_free (FabAccept *self)
{
  if (self == NULL)
    return;
  fab_schema_reader_free (self->reader);
  fab_yaml_doc_free (self->doc);
  fab_diagnostics_free (self->diagnostics);
  g_free (self);
}

static const Row *
find_row (const FabAccept *self, const char *table, guint n_before)
{
  const Row *rows = self->content.tables.data;

  for (guint i = 0; i < n_before; i++)
    if (g_strcmp0 (rows[i].table, table) == 0)
      return &rows[i];
  return NULL;
}

static void
check_names (FabAccept *self, const FabMeasured *measured)
{
  Row *rows = self->content.tables.data;

  for (guint i = 0; i < self->content.tables.n; i++) {
    g_autoptr (GError) problem = NULL;
    const FabMeasuredTable *table = fab_measured_find (measured, rows[i].table, &problem);

    if (table == NULL)
      fab_schema_report (self->reader, &rows[i].table, "%s", problem->message);
    else if (find_row (self, table->name, i))
      fab_schema_report (self->reader, &rows[i].table, "'%s' stands twice", table->name);
    else
      rows[i].table = table->name; /* without ".csv" */
  }
}

FabAccept *
fab_accept_load (const char *path, const FabMeasured *measured, const FabRegistry *registry, GError **error)
{
  g_autoptr (FabAccept) self = g_new0 (FabAccept, 1);
  GError *problem = NULL;

  self->diagnostics = fab_diagnostics_new ();
  self->reader = fab_schema_reader_new (registry, self->diagnostics);
  self->doc = fab_yaml_doc_load (path, self->diagnostics, &problem);
  if (problem) {
    g_propagate_error (error, problem);
    return NULL;
  }
  if (self->doc
      && fab_schema_read (self->reader, fab_yaml_doc_root (self->doc), content_params, &self->content))
    check_names (self, measured);
  return fab_diagnostics_check (self->diagnostics, error) ? g_steal_pointer (&self) : NULL;
}

gboolean
fab_accept_limit (const FabAccept *self, const char *table, FabSizeClass size_class, double *limit_fraction)
{
  const Row *row = find_row (self, table, self->content.tables.n);

  *limit_fraction = row ? row->limits[size_class] : 0;
  return *limit_fraction > 0;
}

/* Only when every table is there: a part says nothing of the whole. */
static void
add_judged (const FabAccept *self, const FabReport *report, GPtrArray *lines)
{
  if (report->comparisons->len < self->content.tables.n)
    return;
  for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++) {
    double limit = self->content.judged.limits[c], median = report->roles[FAB_ROLE_JUDGED][c].median_fraction;

    if (limit > 0 && report->roles[FAB_ROLE_JUDGED][c].n > 0 && median > limit)
      g_ptr_array_add (
          lines,
          g_strdup_printf ("all judged tables: %s: median |error| %.1f %% exceeds the accepted %.1f %%",
                           fab_size_class_names[c], median * 100, limit * 100));
  }
}

char **
fab_accept_exceeded (const FabAccept *self, const FabReport *report)
{
  GPtrArray *lines = g_ptr_array_new ();

  for (guint i = 0; i < report->comparisons->len; i++) {
    const FabComparison *comparison = g_ptr_array_index (report->comparisons, i);

    for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++) {
      const FabErrors *errors = &comparison->errors[c];
      const char *table = comparison->table->name, *name = fab_size_class_names[c];
      double limit;

      if (errors->n == 0)
        continue;
      if (!fab_accept_limit (self, table, (FabSizeClass) c, &limit))
        g_ptr_array_add (lines, g_strdup_printf ("%s: %s: median |error| %.1f %%, and no limit is accepted",
                                                 table, name, errors->median_fraction * 100));
      else if (errors->median_fraction > limit)
        g_ptr_array_add (lines,
                         g_strdup_printf ("%s: %s: median |error| %.1f %% exceeds the accepted %.1f %%",
                                          table, name, errors->median_fraction * 100, limit * 100));
    }
  }
  add_judged (self, report, lines);
  g_ptr_array_add (lines, NULL);
  return (char **) g_ptr_array_free (lines, FALSE);
}
