/* SPDX-License-Identifier: Apache-2.0 */
/* calibrated.c - reads two YAML files with the schema reader, which owns their texts. */
#include "validate/fit/calibrated.h"

#include <string.h>

#include "formats/measurement/measurements.h"
#include "sim/base/error.h"
#include "validate/check/limits.h"
#include "validate/fit/fragment.h"
#include "validate/fit/groups.h"

typedef struct {
  const char *file; /* beside INDEX.yaml */
  const char *link; /* entry of the catalogue */
  gint64 count;     /* links side by side between the two ends */
  const char *kind, *role, *date, *note;
  gboolean is_doubtful; /* excluded from fits */
} FabPublishedLink;

static const FabPublishedSystem *published_system (const FabPublished *self, guint index);

/* Reads two YAML files with the schema reader, which owns their texts. */

#define LINK_ROW(key_, type_, field_, fallback_, help_)                                         \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (FabPublishedLink, field_), \
  .fallback = fallback_, .help = help_

static const FabParam link_params[] = {
  { LINK_ROW ("file", TEXT, file, NULL, "The CSV file, beside INDEX.yaml.") },
  { LINK_ROW ("link", TEXT, link, NULL, "The link entry that was measured."), .refers = FAB_REFERS_LINK },
  { LINK_ROW ("count", COUNT, count, "1", "Links side by side between the two ends."), .min = 1,
    .max = 4096 },
  { LINK_ROW ("kind", TEXT, kind, NULL, "The measurement, as in the file.") },
  { LINK_ROW ("role", TEXT, role, NULL, "calibration.") },
  { LINK_ROW ("date", TEXT, date, "", "When it was measured or published.") },
  { LINK_ROW ("doubtful", BOOL, is_doubtful, "false",
              "Something other than the link limited the measurement, so nothing is fitted to it.") },
  { LINK_ROW ("note", TEXT, note, "", "What to know before trusting it.") },
  { .key = NULL },
};

#define SYSTEM_ROW(key_, type_, field_, fallback_, help_)                                         \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (FabPublishedSystem, field_), \
  .fallback = fallback_, .help = help_

static const FabParam system_params[] = {
  { SYSTEM_ROW ("system", TEXT, name, NULL, "Name of the system in reports.") },
  { SYSTEM_ROW ("links", TEXT, links, NULL, "Files of measured/links without .csv, between blanks.") },
  { SYSTEM_ROW ("tables", TEXT, tables, NULL, "Judged tables of measured, between blanks.") },
  { SYSTEM_ROW (
      "same", BOOL, is_same, NULL,
      "true: links and tables were measured on the same machines; false: on others of their kind.") },
  { SYSTEM_ROW ("note", TEXT, note, "", "What the measurement can and cannot tell of the collectives.") },
  { .key = NULL },
};

typedef struct {
  FabParamList links;   /* FabPublishedLink */
  FabParamList systems; /* FabPublishedSystem */
} Content;

static const FabParam index_params[] = {
  { .key = "links",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (Content, links),
    .table = link_params,
    .table_size = sizeof (FabPublishedLink),
    .help = "One entry per CSV file." },
  { .key = NULL },
};

static const FabParam systems_params[] = {
  { .key = "systems",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (Content, systems),
    .table = system_params,
    .table_size = sizeof (FabPublishedSystem),
    .help = "One entry per system." },
  { .key = NULL },
};

struct _FabPublished {
  FabCheckFile *file;
  Content content;
  char *directory;
};

void
fab_published_free (FabPublished *self)
{
  if (self == NULL)
    return;
  fab_check_file_free (self->file);
  g_free (self->directory);
  g_free (self);
}

static const FabPublishedLink *
find_link (const FabPublished *self, const char *name)
{
  const FabPublishedLink *links = self->content.links.data;

  for (guint i = 0; i < self->content.links.n; i++)
    if (g_str_has_prefix (links[i].file, name) && strcmp (links[i].file + strlen (name), ".csv") == 0)
      return &links[i];
  return NULL;
}

static void
check_system (FabPublished *self, const FabPublishedSystem *system)
{
  g_auto (GStrv) names = g_strsplit (system->links, " ", -1);

  for (guint i = 0; names[i]; i++) {
    const FabPublishedLink *link = find_link (self, names[i]);

    if (link == NULL)
      fab_schema_report (self->file->reader, &system->links, "no file '%s.csv' stands in INDEX.yaml",
                         names[i]);
    else if (link->is_doubtful)
      fab_schema_report (self->file->reader, &system->links, "'%s' is doubtful, and so not for fitting",
                         names[i]);
  }
}

static const char **
link_names (gpointer catalog, G_GNUC_UNUSED FabRefers refers)
{
  return fab_catalog_names (catalog, FAB_SECTION_LINKS);
}

FabPublished *
fab_published_load (const char *links_directory, const char *systems_path, const FabCatalog *catalog,
                    const FabRegistry *registry, GError **error)
{
  g_autoptr (FabPublished) self = g_new0 (FabPublished, 1);
  g_autofree char *index = g_build_filename (links_directory, "INDEX.yaml", NULL);

  self->directory = g_strdup (links_directory);
  self->file = fab_check_file_new (registry);
  if (!fab_check_file_read (self->file, index, index_params, &self->content, error)
      || !fab_check_file_read (self->file, systems_path, systems_params, &self->content, error))
    return NULL;
  fab_schema_check_references (self->file->reader, index_params, &self->content, link_names,
                               (gpointer) catalog);
  for (guint i = 0; i < self->content.systems.n; i++)
    check_system (self, published_system (self, i));
  return fab_check_file_is_right (self->file, error) ? g_steal_pointer (&self) : NULL;
}

static guint
published_n_systems (const FabPublished *self)
{
  return self->content.systems.n;
}

static const FabPublishedSystem *
published_system (const FabPublished *self, guint index)
{
  g_assert (index < self->content.systems.n);
  return (const FabPublishedSystem *) self->content.systems.data + index;
}

/* Returns the FabPublishedLink of a system, in its order. (transfer container) */
static GPtrArray *
published_links (const FabPublished *self, const FabPublishedSystem *system)
{
  GPtrArray *links = g_ptr_array_new ();
  g_auto (GStrv) names = g_strsplit (system->links, " ", -1);

  for (guint i = 0; names[i]; i++)
    g_ptr_array_add (links, (gpointer) find_link (self, names[i]));
  return links;
}

/* Reads a file. Returns a GPtrArray of FabMeasuredSeries. (transfer full) */
static GPtrArray *
published_series (const FabPublished *self, const FabPublishedLink *link, GError **error)
{
  g_autofree char *path = g_build_filename (self->directory, link->file, NULL);
  FabMeasurementRequest request = { .file.name = path };
  g_autofree char *text = NULL;
  g_autoptr (FabMeasurements) measurements = NULL;

  if (!g_file_get_contents (path, &text, &request.file.size, error))
    return NULL;
  request.file.text = text;
  measurements = fab_measurements_read (&request, error);
  return measurements ? g_ptr_array_ref (measurements->series) : NULL;
}

static const double hold_out = 1.0 / 3;
static const guint hops = 2; /* through one switch */

const char *const fab_known_names[FAB_N_KNOWN] = { "datasheet", "p2p", "catalogue", "catalogue + p2p" };

/* The link entries of a system, and everything that they were made of. */
typedef struct {
  const FabCalibratedRequest *request;
  GPtrArray *links;     /* FabPublishedLink */
  GArray *specs;        /* FabLinkSpec, one per link of the catalogue */
  GPtrArray *series;    /* GPtrArray of FabMeasuredSeries */
  GPtrArray *fits;      /* FabLinkFit */
  GPtrArray *fragments; /* FabFragment */
} Calibration;

static Calibration
calibration_new (const FabCalibratedRequest *request, const FabPublishedSystem *system)
{
  return (Calibration){
    .request = request,
    .links = published_links (request->published, system),
    .specs = g_array_new (FALSE, FALSE, sizeof (FabLinkSpec)),
    .series = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref),
    .fits = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_link_fit_free),
    .fragments = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_fragment_free),
  };
}

static void
calibration_clear (Calibration *self)
{
  g_ptr_array_unref (self->fragments);
  g_ptr_array_unref (self->fits);
  g_ptr_array_unref (self->series);
  g_ptr_array_unref (self->links);
  g_array_unref (self->specs);
}

/* Removes what was measured and leaves what a datasheet says: no loss, no software. */
static void
forget_measured (FabLinkSpec *spec)
{
  spec->copy.achievable_fraction = spec->kernel.achievable_fraction = 1;
  spec->multimem.achievable_fraction = 1;
  spec->endpoint_ps = 0;
  spec->collective_fraction = 0;
}

/* Reads the series of all files that measured one link with the same number of links side by side. */
static GPtrArray *
read_series (Calibration *self, const FabPublishedLink *like, GError **error)
{
  GPtrArray *all = g_ptr_array_new ();

  g_ptr_array_add (self->series, all);
  for (guint i = 0; i < self->links->len; i++) {
    const FabPublishedLink *link = g_ptr_array_index (self->links, i);
    GPtrArray *some;

    if (strcmp (link->link, like->link) != 0 || link->count != like->count)
      continue;
    if ((some = published_series (self->request->published, link, error)) == NULL)
      return NULL;
    g_ptr_array_add (self->series, some);
    g_ptr_array_extend (all, some, NULL, NULL);
  }
  return all;
}

/* Lets each group set the parameters that it determines; the others keep the values of earlier groups. */
static gboolean
add_groups (Calibration *self, FabLinkSpec *spec, const FabPublishedLink *like, GError **error)
{
  GPtrArray *series = read_series (self, like, error);
  FabGroupFilter all = { 0 };
  g_autoptr (GPtrArray) groups = series ? fab_link_groups_new (series, &all, error) : NULL;

  for (guint i = 0; groups && i < groups->len; i++) {
    const FabLinkGroup *group = g_ptr_array_index (groups, i);
    FabLinkSpec base = *spec;
    FabLinkFit *fit = fab_link_fit_new (group->series, &(FabFitSizes){ .hold_out = hold_out }, error);
    FabFragmentRequest request = {
      .name = like->link, .base = &base, .count = (guint) like->count, .hops = hops, .version = FAB_VERSION
    };
    FabFragment *fragment;

    if (fit)
      g_ptr_array_add (self->fits, fit);
    fragment = fit ? fab_fragment_new (fit, &request, error) : NULL;
    if (fragment == NULL)
      return FALSE;
    g_ptr_array_add (self->fragments, fragment);
    *spec = fragment->spec;
  }
  return groups != NULL;
}

static gboolean
is_first (const Calibration *self, guint index, gboolean of_count)
{
  const FabPublishedLink *link = g_ptr_array_index (self->links, index);

  for (guint i = 0; i < index; i++) {
    const FabPublishedLink *before = g_ptr_array_index (self->links, i);

    if (strcmp (before->link, link->link) == 0 && (!of_count || before->count == link->count))
      return FALSE;
  }
  return TRUE;
}

static gboolean
calibrate (Calibration *self, FabKnown known, GError **error)
{
  gboolean is_p2p = known == FAB_KNOWN_P2P || known == FAB_KNOWN_CATALOG_P2P;

  for (guint i = 0; i < self->links->len; i++) {
    const FabPublishedLink *link = g_ptr_array_index (self->links, i);
    FabLinkSpec spec = *fab_catalog_link (self->request->catalog, link->link);

    if (!is_first (self, i, FALSE))
      continue;
    if (known == FAB_KNOWN_DATASHEET || known == FAB_KNOWN_P2P)
      forget_measured (&spec);
    for (guint k = i; is_p2p && k < self->links->len; k++) {
      const FabPublishedLink *other = g_ptr_array_index (self->links, k);

      if (strcmp (other->link, link->link) == 0 && is_first (self, k, TRUE)
          && !add_groups (self, &spec, other, error)) {
        g_prefix_error (error, "%s: ", other->file);
        return FALSE;
      }
    }
    g_array_append_val (self->specs, spec);
  }
  return TRUE;
}

static FabReport *
predict (const FabCalibratedRequest *request, const FabPublishedSystem *system, const GPtrArray *tables,
         FabKnown known, GError **error)
{
  Calibration calibration = calibration_new (request, system);
  FabReport *report = NULL;

  if (calibrate (&calibration, known, error)) {
    FabCatalogSections own = { .links = { calibration.specs->data, calibration.specs->len } };
    g_autoptr (FabCatalog) catalog = fab_catalog_overlay (request->catalog, &own);

    report = fab_report_new (tables, NULL, catalog, request->registry, error);
  }
  calibration_clear (&calibration);
  return report;
}

static GPtrArray *
find_tables (const FabMeasured *measured, const FabPublishedSystem *system, GError **error)
{
  g_autoptr (GPtrArray) tables = g_ptr_array_new ();
  g_auto (GStrv) names = g_strsplit (system->tables, " ", -1);

  for (guint i = 0; names[i]; i++) {
    const FabMeasuredTable *table = fab_measured_find (measured, names[i], error);

    if (table == NULL)
      return NULL;
    if (table->spec->role != FAB_ROLE_JUDGED || table->spec->is_doubtful) {
      fab_throw (error, FAB_ERROR_INPUT, "%s: '%s' is not a judged table, or its measurements are doubtful",
                 system->name, names[i]);
      return NULL;
    }
    g_ptr_array_add (tables, (gpointer) table);
  }
  return g_steal_pointer (&tables);
}

static void
free_system (gpointer data)
{
  FabCalibratedSystem *self = data;

  for (FabKnown known = 0; known < FAB_N_KNOWN; known++)
    fab_report_free (self->reports[known]);
  g_free (self);
}

static gboolean
add_system (FabCalibratedReport *self, const FabCalibratedRequest *request, const FabPublishedSystem *spec,
            GError **error)
{
  FabCalibratedSystem *system = g_new0 (FabCalibratedSystem, 1);
  g_autoptr (GPtrArray) tables = find_tables (request->measured, spec, error);

  system->spec = spec;
  g_ptr_array_add (self->systems, system);
  for (FabKnown known = 0; tables && known < FAB_N_KNOWN; known++)
    if ((system->reports[known] = predict (request, spec, tables, known, error)) == NULL) {
      g_prefix_error (error, "%s: ", spec->name);
      return FALSE;
    }
  return tables != NULL;
}

static FabErrors
summarise (const FabCalibratedReport *self, FabKnown known, FabSizeClass size_class)
{
  g_autoptr (GArray) errors = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (FabBytes));

  for (guint i = 0; i < self->systems->len; i++) {
    const FabCalibratedSystem *system = g_ptr_array_index (self->systems, i);
    const GPtrArray *comparisons = system->reports[known]->comparisons;

    for (guint k = 0; k < comparisons->len; k++) {
      const FabComparison *comparison = g_ptr_array_index (comparisons, k);

      for (guint r = 0; r < comparison->rows->len; r++) {
        const FabComparisonRow *row = &g_array_index (comparison->rows, FabComparisonRow, r);

        if (fab_size_class (row->measured->size_bytes) != size_class)
          continue;
        g_array_append_val (errors, row->error_fraction);
        g_array_append_val (sizes, row->measured->size_bytes);
      }
    }
  }
  return fab_errors_of ((const double *) (gpointer) errors->data, (const FabBytes *) (gpointer) sizes->data,
                        errors->len);
}

FabCalibratedReport *
fab_calibrated_report_new (const FabCalibratedRequest *request, GError **error)
{
  g_autoptr (FabCalibratedReport) self = g_new0 (FabCalibratedReport, 1);

  self->systems = g_ptr_array_new_with_free_func (free_system);
  for (guint i = 0; i < published_n_systems (request->published); i++)
    if (!add_system (self, request, published_system (request->published, i), error))
      return NULL;
  for (FabKnown known = 0; known < FAB_N_KNOWN; known++)
    for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++)
      self->errors[known][c] = summarise (self, known, (FabSizeClass) c);
  return g_steal_pointer (&self);
}

void
fab_calibrated_report_free (FabCalibratedReport *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->systems);
  g_free (self);
}
