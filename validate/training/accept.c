/* SPDX-License-Identifier: Apache-2.0 */
/* accept.c - accept-training.yaml through the schema reader, held against a report. */
#include "validate/training/accept.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/scenario/schema.h"

/* A median of 0 stands for none: the fallback. */
typedef struct {
  const char *source; /* NULL: all of them */
  double median;
  gint64 wrong;
} Row;

#define MEDIAN                                                                                             \
  {                                                                                                        \
    .key = "median", .type = FAB_PARAM_FRACTION, .offset = G_STRUCT_OFFSET (Row, median), .fallback = "0", \
    .max = 1, .help = "Allowed median |error| of the judged rows."                                         \
  }
#define WRONG                                                                                         \
  {                                                                                                   \
    .key = "wrong", .type = FAB_PARAM_COUNT, .offset = G_STRUCT_OFFSET (Row, wrong), .fallback = "0", \
    .max = 1e6, .help = "Allowed pairs of rows with the wrong direction."                             \
  }

static const FabParam all_params[] = { MEDIAN, WRONG, { .key = NULL } };

static const FabParam row_params[] = {
  { .key = "source",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (Row, source),
    .help = "A measured source." },
  MEDIAN,
  WRONG,
  { .key = NULL },
};

typedef struct {
  Row all;
  FabParamList sources; /* Row */
} Content;

static const FabParam content_params[] = {
  { .key = "all",
    .type = FAB_PARAM_TABLE,
    .offset = G_STRUCT_OFFSET (Content, all),
    .table = all_params,
    .table_size = sizeof (Row),
    .help = "Over all sources together; absent: no limit." },
  { .key = "sources",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (Content, sources),
    .table = row_params,
    .table_size = sizeof (Row),
    .help = "One entry per source." },
  { .key = NULL },
};

struct _FabTrainingAccept {
  FabDiagnostics *diagnostics;
  FabYamlDoc *doc;
  FabSchemaReader *reader;
  Content content;
};

void
fab_training_accept_free (FabTrainingAccept *self)
{
  if (self == NULL)
    return;
  fab_schema_reader_free (self->reader);
  fab_yaml_doc_free (self->doc);
  fab_diagnostics_free (self->diagnostics);
  g_free (self);
}

static const Row *
find_row (const FabTrainingAccept *self, const char *source, guint n_before)
{
  const Row *rows = self->content.sources.data;

  for (guint i = 0; i < n_before; i++)
    if (g_strcmp0 (rows[i].source, source) == 0)
      return &rows[i];
  return NULL;
}

static void
check_names (FabTrainingAccept *self, const FabTrainingSources *sources)
{
  const Row *rows = self->content.sources.data;

  for (guint i = 0; i < self->content.sources.n; i++) {
    g_autoptr (GError) problem = NULL;

    if (fab_training_sources_find (sources, rows[i].source, &problem) == NULL)
      fab_schema_report (self->reader, &rows[i].source, "%s", problem->message);
    else if (find_row (self, rows[i].source, i))
      fab_schema_report (self->reader, &rows[i].source, "'%s' stands twice", rows[i].source);
  }
}

FabTrainingAccept *
fab_training_accept_load (const char *path, const FabTrainingSources *sources, const FabRegistry *registry,
                          GError **error)
{
  g_autoptr (FabTrainingAccept) self = g_new0 (FabTrainingAccept, 1);
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
    check_names (self, sources);
  return fab_diagnostics_check (self->diagnostics, error) ? g_steal_pointer (&self) : NULL;
}

gboolean
fab_training_accept_limit (const FabTrainingAccept *self, const char *source, double *limit_fraction)
{
  const Row *row = find_row (self, source, self->content.sources.n);

  *limit_fraction = row ? row->median : 0;
  return *limit_fraction > 0;
}

static void
hold (const char *name, const Row *limit, const FabErrors *errors, const FabDirections *directions,
      GPtrArray *lines)
{
  if (errors->n > 0 && errors->median_fraction > limit->median)
    g_ptr_array_add (lines, g_strdup_printf ("%s: median |error| %.1f %% exceeds the accepted %.1f %%", name,
                                             errors->median_fraction * 100, limit->median * 100));
  if (directions->n_wrong > limit->wrong)
    g_ptr_array_add (lines, g_strdup_printf ("%s: %u changes have the wrong direction, %" G_GINT64_FORMAT
                                             " are accepted",
                                             name, directions->n_wrong, limit->wrong));
}

char **
fab_training_accept_exceeded (const FabTrainingAccept *self, const FabTrainingReport *report)
{
  GPtrArray *lines = g_ptr_array_new ();

  for (guint i = 0; i < report->results->len; i++) {
    const FabTrainingResult *result = g_ptr_array_index (report->results, i);
    const char *name = result->source->spec->name;
    const Row *row = find_row (self, name, self->content.sources.n);

    if (row)
      hold (name, row, &result->errors, &result->directions, lines);
    else if (result->errors.n > 0)
      g_ptr_array_add (lines, g_strdup_printf ("%s: median |error| %.1f %%, and no limit is accepted", name,
                                               result->errors.median_fraction * 100));
  }
  /* Only when every source is there: a part says nothing of the whole. */
  if (self->content.all.median > 0 && report->results->len >= self->content.sources.n)
    hold ("all sources", &self->content.all, &report->errors, &report->directions, lines);
  g_ptr_array_add (lines, NULL);
  return (char **) g_ptr_array_free (lines, FALSE);
}
