/* SPDX-License-Identifier: Apache-2.0 */
/* catalog.c - the entries of all catalogue files, found by name in O(1).
 * One reader fills and owns the sections of every file. An overlay indexes a scenario's own entries, asks the shipped
 * catalogue for the rest, and owns neither. */
#include "sim/scenario/catalog.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "sim/base/order.h"
#include "sim/config/schema_reader.h"
#include "sim/scenario/catalog_check.h"
#include "sim/scenario/catalog_params.h"

struct _FabCatalog {
  const FabCatalog *shipped;           /* of an overlay only */
  GPtrArray *names[FAB_N_SECTIONS];    /* in file order */
  GHashTable *entries[FAB_N_SECTIONS]; /* name -> spec */
  FabDiagnostics *diagnostics;         /* from here on: of a loaded catalogue only */
  FabSchemaReader *reader;
  GPtrArray *docs, *sections; /* FabYamlDoc, FabCatalogSections; one per file */
};

static FabCatalog *
catalog_new (void)
{
  FabCatalog *self = g_new0 (FabCatalog, 1);

  for (guint i = 0; i < FAB_N_SECTIONS; i++) {
    self->names[i] = g_ptr_array_new ();
    self->entries[i] = g_hash_table_new (g_str_hash, g_str_equal);
  }
  return self;
}

void
fab_catalog_free (FabCatalog *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < FAB_N_SECTIONS; i++) {
    g_ptr_array_unref (self->names[i]);
    g_hash_table_unref (self->entries[i]);
  }
  fab_schema_reader_free (self->reader);
  fab_diagnostics_free (self->diagnostics);
  g_clear_pointer (&self->sections, g_ptr_array_unref);
  g_clear_pointer (&self->docs, g_ptr_array_unref);
  g_free (self);
}

/* Indexes the first of several equal names. The duplicate is reported elsewhere. */
static void
index_sections (FabCatalog *self, const FabCatalogSections *sections)
{
  for (guint section = 0; section < FAB_N_SECTIONS; section++) {
    gsize size;
    const FabParamList *list = fab_catalog_section (sections, section, &size);

    for (guint i = 0; i < list->n; i++) {
      char *entry = (char *) list->data + i * size;
      char *name = *(char **) entry;

      if (name == NULL || g_hash_table_contains (self->entries[section], name))
        continue;
      g_hash_table_insert (self->entries[section], name, entry);
      g_ptr_array_add (self->names[section], name);
    }
  }
}

/* Takes the document; NULL: its diagnostics are kept, and the other files are still read. */
static void
add_doc (FabCatalog *self, FabYamlDoc *doc)
{
  FabCatalogSections *sections;

  if (doc == NULL)
    return;
  g_ptr_array_add (self->docs, doc);
  sections = g_new0 (FabCatalogSections, 1);
  g_ptr_array_add (self->sections, sections);
  fab_schema_read (self->reader, fab_yaml_doc_root (doc), fab_catalog_params, sections);
  index_sections (self, sections);
}

static gboolean
load_file (FabCatalog *self, const char *path, GError **error)
{
  GError *problem = NULL;

  add_doc (self, fab_yaml_doc_load (path, self->diagnostics, &problem));
  if (problem != NULL)
    g_propagate_error (error, problem);
  return problem == NULL;
}

static GPtrArray *
list_files (const char *directory, GError **error)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) problem = NULL;
  g_autoptr (GDir) dir = g_dir_open (directory, 0, &problem);
  const char *name;

  if (dir == NULL) {
    fab_throw (error, FAB_ERROR_IO, "cannot read the catalogue: %s", problem->message);
    return NULL;
  }
  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, ".yaml") && name[0] != '.')
      g_ptr_array_add (paths, g_build_filename (directory, name, NULL));
  g_ptr_array_sort (paths, fab_order_texts);
  return g_steal_pointer (&paths);
}

static void
check_wires (FabCatalog *self, const FabParamList *links)
{
  const GPtrArray *nodes = self->names[FAB_SECTION_NODES];

  for (guint i = 0; i < nodes->len; i++)
    fab_catalog_check_wires (self->reader, links, fab_catalog_node (self, g_ptr_array_index (nodes, i)));
}

static void
check_all (FabCatalog *self)
{
  guint n = self->sections->len;

  g_ptr_array_add (self->sections, NULL);
  fab_catalog_check_sections (self->reader, (const FabCatalogSections *const *) self->sections->pdata, TRUE);
  for (guint i = 0; i < n; i++) {
    const FabCatalogSections *sections = g_ptr_array_index (self->sections, i);

    check_wires (self, &sections->links);
    fab_schema_check_references (self->reader, fab_catalog_params, sections, fab_catalog_reference_names,
                                 self);
  }
}

/* For files to be read into. */
static FabCatalog *
begin_reading (const FabRegistry *registry)
{
  FabCatalog *self = catalog_new ();

  self->diagnostics = fab_diagnostics_new ();
  self->reader = fab_schema_reader_new (registry, self->diagnostics);
  self->docs = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_yaml_doc_free);
  self->sections = g_ptr_array_new_with_free_func (g_free);
  return self;
}

FabCatalog *
fab_catalog_parse (const FabCatalogText *texts, guint n, const FabRegistry *registry, GError **error)
{
  g_autoptr (FabCatalog) self = begin_reading (registry);

  for (guint i = 0; i < n; i++)
    add_doc (self, fab_yaml_doc_parse (texts[i].name, texts[i].text, texts[i].size, self->diagnostics));
  check_all (self);
  return fab_diagnostics_check (self->diagnostics, error) ? g_steal_pointer (&self) : NULL;
}

FabCatalog *
fab_catalog_load (const char *directory, const FabRegistry *registry, GError **error)
{
  g_autoptr (GPtrArray) paths = list_files (directory, error);
  g_autoptr (FabCatalog) self = paths != NULL ? begin_reading (registry) : NULL;

  if (self == NULL)
    return NULL;
  for (guint i = 0; i < paths->len; i++)
    if (!load_file (self, g_ptr_array_index (paths, i), error))
      return NULL;
  check_all (self);
  return fab_diagnostics_check (self->diagnostics, error) ? g_steal_pointer (&self) : NULL;
}

char *
fab_catalog_write (const FabCatalog *self)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < self->docs->len; i++) {
    g_autofree char *one = fab_schema_write (fab_catalog_params, g_ptr_array_index (self->sections, i));

    g_string_append (text, one);
  }
  return g_string_free (text, FALSE);
}

FabCatalog *
fab_catalog_overlay (const FabCatalog *shipped, const FabCatalogSections *own)
{
  FabCatalog *self = catalog_new ();

  self->shipped = shipped;
  index_sections (self, own);
  return self;
}

static gconstpointer
find (const FabCatalog *self, FabCatalogSection section, const char *name)
{
  gconstpointer entry = name != NULL ? g_hash_table_lookup (self->entries[section], name) : NULL;

  return entry == NULL && self->shipped != NULL ? find (self->shipped, section, name) : entry;
}

gconstpointer
fab_catalog_entry (const FabCatalog *self, FabCatalogSection section, const char *name)
{
  return find (self, section, name);
}

const FabLinkSpec *
fab_catalog_link (const FabCatalog *self, const char *name)
{
  return find (self, FAB_SECTION_LINKS, name);
}

const FabAcceleratorSpec *
fab_catalog_accelerator (const FabCatalog *self, const char *name)
{
  return find (self, FAB_SECTION_ACCELERATORS, name);
}

const FabNodeSpec *
fab_catalog_node (const FabCatalog *self, const char *name)
{
  return find (self, FAB_SECTION_NODES, name);
}

const FabModelSpec *
fab_catalog_model (const FabCatalog *self, const char *name)
{
  return find (self, FAB_SECTION_MODELS, name);
}

const FabProductSpec *
fab_catalog_product (const FabCatalog *self, const char *name)
{
  return find (self, FAB_SECTION_PRODUCTS, name);
}

const FabProcessor *
fab_catalog_processor (const FabCatalog *self, const char *name)
{
  return find (self, FAB_SECTION_PROCESSORS, name);
}

const FabGeneration *
fab_catalog_generation (const FabCatalog *self, const char *name)
{
  return find (self, FAB_SECTION_GENERATIONS, name);
}

const FabBandSpec *
fab_catalog_band (const FabCatalog *self, const char *name)
{
  return find (self, FAB_SECTION_BANDS, name);
}

const FabSetup *
fab_catalog_setup (const FabCatalog *self, const char *name)
{
  return find (self, FAB_SECTION_SETUPS, name);
}

const FabTechnology *
fab_catalog_technology (const FabCatalog *self, const char *name)
{
  return find (self, FAB_SECTION_TECHNOLOGIES, name);
}

const FabTechnology *
fab_catalog_link_technology (const FabCatalog *self, const FabLinkSpec *spec)
{
  return spec->technology != NULL ? fab_catalog_technology (self, spec->technology) : &fab_technology_unnamed;
}

FabLinkClass
fab_catalog_link_class (const FabCatalog *catalog, const FabLinkSpec *spec)
{
  const FabTechnology *technology = fab_catalog_link_technology (catalog, spec);
  int flow_control = spec->flow_control > 0 ? spec->flow_control - 1 : technology->flow_control;
  FabLinkClass self = { .name = spec->name,
                        .technology = technology,
                        .flow_control = (FabFlowControl) flow_control,
                        .endpoint_ps = spec->endpoint_ps,
                        .rendezvous = spec->rendezvous,
                        .messages = { .regimes = spec->messages.data,
                                      .n = spec->messages.n,
                                      .factor = 1,
                                      .from_bytes = spec->measured.from_bytes,
                                      .to_bytes = spec->measured.to_bytes },
                        .has_reduction = spec->can_reduce || spec->multimem.payload_bytes > 0,
                        .inlined = spec->inlined,
                        .software_match_ps = spec->software_match_ps };

  for (FabDrive drive = 0; drive < FAB_N_DRIVES; drive++)
    self.cost[drive] = fab_link_spec_cost (spec, drive);
  if (spec->collective_fraction > 0)
    self.collective_stretch = 1 / spec->collective_fraction;
  return self;
}

gboolean
fab_catalog_is_own (const FabCatalog *self, FabCatalogSection section, const char *name)
{
  return self->shipped != NULL && g_hash_table_contains (self->entries[section], name);
}

const char **
fab_catalog_names (const FabCatalog *self, FabCatalogSection section)
{
  GPtrArray *names = g_ptr_array_new ();

  for (const FabCatalog *at = self; at != NULL; at = at->shipped)
    for (guint i = 0; i < at->names[section]->len; i++) {
      gpointer name = g_ptr_array_index (at->names[section], i);

      if (at == self || !g_hash_table_contains (self->entries[section], name))
        g_ptr_array_add (names, name);
    }
  g_ptr_array_add (names, NULL);
  return (const char **) g_ptr_array_free (names, FALSE);
}

static FabCatalogSection
section_of (FabRefers refers)
{
  static const FabCatalogSection sections[] = {
    [FAB_REFERS_LINK] = FAB_SECTION_LINKS,
    [FAB_REFERS_ACCELERATOR] = FAB_SECTION_ACCELERATORS,
    [FAB_REFERS_NODE] = FAB_SECTION_NODES,
    [FAB_REFERS_MODEL] = FAB_SECTION_MODELS,
    [FAB_REFERS_TECHNOLOGY] = FAB_SECTION_TECHNOLOGIES,
    [FAB_REFERS_PROCESSOR] = FAB_SECTION_PROCESSORS,
    [FAB_REFERS_FAILURES] = FAB_SECTION_FAILURES,
    [FAB_REFERS_DESIGN] = FAB_SECTION_DESIGNS,
  };

  return sections[refers];
}

const char **
fab_catalog_reference_names (gpointer catalog, FabRefers refers)
{
  return fab_catalog_names (catalog, section_of (refers));
}

char *
fab_catalog_said (const FabCatalog *self, FabCatalogSection section, const char *word)
{
  const FabParam *row = fab_schema_find_row (fab_catalog_params[section].table, "summary");
  g_autofree const char **names = fab_catalog_names (self, section);
  guint n = g_strv_length ((char **) names);
  g_autofree const char **summaries = g_new0 (const char *, n + 1);

  for (guint i = 0; row != NULL && i < n; i++) {
    gconstpointer entry = fab_catalog_entry (self, section, names[i]);

    summaries[i] = entry != NULL ? *(const char *const *) fab_schema_field (entry, row) : NULL;
  }
  return fab_nearest_said (word, names, summaries);
}

char *
fab_catalog_reference_said (gpointer catalog, FabRefers refers, const char *word)
{
  return refers == FAB_REFERS_ALGORITHM ? NULL : fab_catalog_said (catalog, section_of (refers), word);
}

const FabMark *
fab_catalog_mark (const FabCatalog *self, gconstpointer field)
{
  const FabMark *mark = self->reader != NULL ? fab_schema_mark (self->reader, field) : NULL;

  return mark == NULL && self->shipped != NULL ? fab_catalog_mark (self->shipped, field) : mark;
}
