/* SPDX-License-Identifier: Apache-2.0 */
/* published.c - reads two YAML files with the schema reader, which owns their texts. */
#include "validate/fit/published.h"

#include <string.h>

#include "validate/check/file.h"
#include "validate/import/measurements.h"

#define LINK_ROW(key_, type_, field_, fallback_, help_)                                         \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (FabPublishedLink, field_), \
  .fallback = fallback_, .help = help_

static const FabParam link_params[] = {
  { LINK_ROW ("file", TEXT, file, NULL, "The CSV file, beside INDEX.yaml.") },
  { LINK_ROW ("link", TEXT, link, NULL, "The link entry that was measured."), .refers = FAB_REFERS_LINK },
  { LINK_ROW ("count", COUNT, count, "1", "Links side by side between the two ends."), .min = 1,
    .max = 4096 },
  { LINK_ROW ("kind", TEXT, kind, NULL, "What was measured, as in the file.") },
  { LINK_ROW ("role", TEXT, role, NULL, "calibration.") },
  { LINK_ROW ("date", TEXT, date, "", "When it was measured or published.") },
  { LINK_ROW ("doubtful", BOOL, is_doubtful, "false",
              "Something else than the link limited it: not for fitting.") },
  { LINK_ROW ("note", TEXT, note, "", "What to know before trusting it.") },
  { .key = NULL },
};

#define SYSTEM_ROW(key_, type_, field_, fallback_, help_)                                         \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (FabPublishedSystem, field_), \
  .fallback = fallback_, .help = help_

static const FabParam system_params[] = {
  { SYSTEM_ROW ("system", TEXT, name, NULL, "What it is called in reports.") },
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
    check_system (self, fab_published_system (self, i));
  return fab_check_file_is_right (self->file, error) ? g_steal_pointer (&self) : NULL;
}

guint
fab_published_n_systems (const FabPublished *self)
{
  return self->content.systems.n;
}

const FabPublishedSystem *
fab_published_system (const FabPublished *self, guint index)
{
  g_assert (index < self->content.systems.n);
  return (const FabPublishedSystem *) self->content.systems.data + index;
}

GPtrArray *
fab_published_links (const FabPublished *self, const FabPublishedSystem *system)
{
  GPtrArray *links = g_ptr_array_new ();
  g_auto (GStrv) names = g_strsplit (system->links, " ", -1);

  for (guint i = 0; names[i]; i++)
    g_ptr_array_add (links, (gpointer) find_link (self, names[i]));
  return links;
}

GPtrArray *
fab_published_series (const FabPublished *self, const FabPublishedLink *link, GError **error)
{
  g_autofree char *path = g_build_filename (self->directory, link->file, NULL);
  FabMeasurementRequest request = { .file = path };
  g_autofree char *text = NULL;
  g_autoptr (FabMeasurements) measurements = NULL;

  if (!g_file_get_contents (path, &text, &request.size, error))
    return NULL;
  request.text = text;
  measurements = fab_measurements_read (&request, error);
  return measurements ? g_ptr_array_ref (measurements->series) : NULL;
}
