/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c - a file of limits through the schema reader. */
#include "validate/check/limits.h"

#include "sim/base/error.h"
#include "sim/base/nearest.h"

typedef struct {
  FabLimit all;
  FabParamList rows; /* FabLimit */
} Content;

#define NAME(key_, help_)                                                                          \
  {                                                                                                \
    .key = key_, .type = FAB_PARAM_TEXT, .offset = G_STRUCT_OFFSET (FabLimit, name), .help = help_ \
  }
/* An error is predicted over measured less 1, so it can be more than 100 %. */
#define MEDIAN(key_, class_, help_)                                                               \
  {                                                                                               \
    .key = key_, .type = FAB_PARAM_FACTOR, .offset = G_STRUCT_OFFSET (FabLimit, medians[class_]), \
    .fallback = "0", .min = 0, .max = 10, .help = help_                                           \
  }
#define WRONG                                                                                                \
  {                                                                                                          \
    .key = "wrong", .type = FAB_PARAM_COUNT, .offset = G_STRUCT_OFFSET (FabLimit, n_wrong), .fallback = "0", \
    .max = 1e6, .help = "Allowed pairs of rows with the wrong direction."                                    \
  }
#define SKIPPED                                                                                 \
  {                                                                                             \
    .key = "skipped", .type = FAB_PARAM_COUNT, .offset = G_STRUCT_OFFSET (FabLimit, n_skipped), \
    .fallback = "0", .max = 1e6, .help = "Allowed rows that cannot be read or simulated."       \
  }
#define ALL(key_, table_, help_)                                                                     \
  {                                                                                                  \
    .key = key_, .type = FAB_PARAM_TABLE, .offset = G_STRUCT_OFFSET (Content, all), .table = table_, \
    .table_size = sizeof (FabLimit), .help = help_                                                   \
  }
#define ROWS(key_, table_, help_)                                                                    \
  {                                                                                                  \
    .key = key_, .type = FAB_PARAM_LIST, .offset = G_STRUCT_OFFSET (Content, rows), .table = table_, \
    .table_size = sizeof (FabLimit), .help = help_                                                   \
  }

static const FabParam table_params[] = {
  NAME ("table", "A measured table: its file without .csv."),
  MEDIAN ("small", FAB_SIZE_SMALL, "Allowed median |error| below 256 KiB."),
  MEDIAN ("middle", FAB_SIZE_MIDDLE, "Allowed median |error| from 256 KiB to below 64 MiB."),
  MEDIAN ("large", FAB_SIZE_LARGE, "Allowed median |error| from 64 MiB."),
  { .key = NULL },
};

static const FabParam judged_params[] = {
  MEDIAN ("small", FAB_SIZE_SMALL, "Allowed median |error| over all judged tables, below 256 KiB."),
  MEDIAN ("middle", FAB_SIZE_MIDDLE, "Likewise, from 256 KiB to below 64 MiB."),
  MEDIAN ("large", FAB_SIZE_LARGE, "Likewise, from 64 MiB."),
  { .key = NULL },
};

#define TRAINING_MEDIAN MEDIAN ("median", 0, "Allowed median |error| of the judged rows.")

static const FabParam source_params[] = {
  NAME ("source", "A measured source."), TRAINING_MEDIAN, WRONG, SKIPPED, { .key = NULL }
};

static const FabParam sources_params[] = { TRAINING_MEDIAN, WRONG, { .key = NULL } };

static const FabParam kernels_params[] = {
  NAME ("table", "A measured table: its file without .csv."),
  MEDIAN ("median", 0, "Allowed median |error| of the rows that set no constant."),
  { .key = NULL }
};

static const FabParam content_params[][3] = {
  [FAB_LIMITS_OF_COLLECTIVES] = {
    ALL ("judged", judged_params, "Over all judged tables together; absent: no limit."),
    ROWS ("tables", table_params, "One entry per measured table."),
    { .key = NULL },
  },
  [FAB_LIMITS_OF_TRAINING] = {
    ALL ("all", sources_params, "Over all sources together; absent: no limit."),
    ROWS ("sources", source_params, "One entry per source."),
    { .key = NULL },
  },
  [FAB_LIMITS_OF_KERNELS] = {
    ROWS ("tables", kernels_params, "One entry per table of which rows are judged."),
    { .key = NULL },
  },
};

struct _FabLimits {
  FabCheckFile *file;
  Content content;
};

void
fab_limits_free (FabLimits *self)
{
  if (self != NULL)
    fab_check_file_free (self->file);
  g_free (self);
}

static const FabLimit *
find_row (const FabLimits *self, const char *name, guint n_before)
{
  const FabLimit *rows = self->content.rows.data;

  for (guint i = 0; i < n_before; i++)
    if (g_strcmp0 (rows[i].name, name) == 0)
      return &rows[i];
  return NULL;
}

static void
check_names (FabLimits *self, const FabLimitsRequest *request)
{
  FabLimit *rows = self->content.rows.data;

  for (guint i = 0; i < self->content.rows.n; i++) {
    g_autoptr (GError) problem = NULL;
    const char *name = request->find (request->known, rows[i].name, &problem);

    if (name == NULL)
      fab_schema_report (self->file->reader, &rows[i].name, "%s", problem->message);
    else if (find_row (self, name, i))
      fab_schema_report (self->file->reader, &rows[i].name, "'%s' is given twice", name);
    else
      rows[i].name = name;
  }
}

FabLimits *
fab_limits_load (const char *path, const FabLimitsRequest *request, GError **error)
{
  g_autoptr (FabLimits) self = g_new0 (FabLimits, 1);

  self->file = fab_check_file_new (request->registry);
  if (!fab_check_file_read (self->file, path, content_params[request->kind], &self->content, error))
    return NULL;
  check_names (self, request);
  return fab_check_file_is_right (self->file, error) ? g_steal_pointer (&self) : NULL;
}

const FabLimit *
fab_limits_all (const FabLimits *self)
{
  return &self->content.all;
}

const FabLimit *
fab_limits_find (const FabLimits *self, const char *name)
{
  return find_row (self, name, self->content.rows.n);
}

gboolean
fab_limits_median (const FabLimits *self, const char *name, FabSizeClass size_class, double *limit_fraction)
{
  const FabLimit *row = self ? fab_limits_find (self, name) : NULL;

  *limit_fraction = row ? row->medians[size_class] : 0;
  return *limit_fraction > 0;
}

gboolean
fab_limits_is_whole (const FabLimits *self, guint n)
{
  return n >= self->content.rows.n;
}

char *
fab_limits_show (const FabLimits *self, const char *name, FabSizeClass size_class, const char *before,
                 const char *after)
{
  double limit;

  return fab_limits_median (self, name, size_class, &limit)
           ? g_strdup_printf ("%s%.1f %%%s", before, limit * 100, after)
           : g_strdup ("");
}

void
fab_limits_hold (GPtrArray *lines, const char *what, const FabErrors *errors, double limit_fraction)
{
  double median_percent = errors->median_fraction * 100;

  if (errors->n > 0 && limit_fraction < 0)
    g_ptr_array_add (lines, g_strdup_printf ("%s: median |error| %.1f %%, and no limit is accepted", what,
                                             median_percent));
  else if (errors->n > 0 && errors->median_fraction > limit_fraction)
    g_ptr_array_add (lines, g_strdup_printf ("%s: median |error| %.1f %% exceeds the accepted %.1f %%", what,
                                             median_percent, limit_fraction * 100));
}

FabCheckFile *
fab_check_file_new (const FabRegistry *registry)
{
  FabCheckFile *self = g_new0 (FabCheckFile, 1);

  self->diagnostics = fab_diagnostics_new ();
  self->reader = fab_schema_reader_new (registry, self->diagnostics);
  self->docs = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_yaml_doc_free);
  return self;
}

void
fab_check_file_free (FabCheckFile *self)
{
  if (self == NULL)
    return;
  fab_schema_reader_free (self->reader);
  g_ptr_array_unref (self->docs);
  fab_diagnostics_free (self->diagnostics);
  g_free (self);
}

gboolean
fab_check_file_read (FabCheckFile *self, const char *path, const FabParam *table, gpointer out,
                     GError **error)
{
  GError *problem = NULL;
  FabYamlDoc *doc = fab_yaml_doc_load (path, self->diagnostics, &problem);

  if (problem) {
    g_propagate_error (error, problem);
    return FALSE;
  }
  if (doc) {
    g_ptr_array_add (self->docs, doc);
    fab_schema_read (self->reader, fab_yaml_doc_root (doc), table, out);
  }
  return fab_check_file_is_right (self, error);
}

gboolean
fab_check_file_is_right (const FabCheckFile *self, GError **error)
{
  return fab_diagnostics_check (self->diagnostics, error);
}

gpointer
fab_check_throw_unknown (GError **error, const char *what, const char *name, const char *const *names)
{
  const char *near = fab_nearest (name, names);

  fab_throw (error, FAB_ERROR_INPUT, "%s '%s'%s%s%s", what, name, near ? "; nearest is '" : "",
             near ? near : "", near ? "'" : "");
  return NULL;
}
