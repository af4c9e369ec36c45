/* SPDX-License-Identifier: Apache-2.0 */
/* left_out.c - catalogue entries with some of their numbers exchanged, and a family's tables predicted with them. */
#include "validate/compare/left_out.h"

#include <string.h>

#include "sim/scenario/catalog_params.h"

#define ROW(struct_, key_, type_, field_, fallback_, help_)                            \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (struct_, field_), \
  .fallback = fallback_, .help = help_

static const FabParam put_back_params[] = {
  { ROW (FabPutBackSpec, "section", TEXT, section, NULL, "Of the catalogue: links, generations, ...") },
  { ROW (FabPutBackSpec, "entry", TEXT, entry, NULL,
         "The entry whose numbers rest on the family's tables.") },
  { ROW (FabPutBackSpec, "as", TEXT, as, "",
         "The entry whose numbers count in their place; without one they are cleared.") },
  { ROW (FabPutBackSpec, "keys", TEXT, keys, "", "Only these, between blanks: kernel.achievable endpoint.") },
  { .key = NULL },
};

static const FabParam family_params[] = {
  { ROW (FabLeftOutSpec, "interconnect", TEXT, interconnect, NULL, "The family, as INDEX.yaml calls it.") },
  { ROW (FabLeftOutSpec, "put_back", LIST, put_back, NULL, "Entries of the catalogue."),
    .table = put_back_params, .table_size = sizeof (FabPutBackSpec) },
  { ROW (FabLeftOutSpec, "set", TEXT, sets, "", "Assignments over the scenarios, between blanks.") },
  { ROW (FabLeftOutSpec, "kept", TEXT, kept, "",
         "Files of the source code whose constants rest on its tables, and stay.") },
  { .key = NULL },
};

typedef struct {
  FabParamList generations; /* FabGeneration */
  FabParamList families;    /* FabLeftOutSpec */
} File;

static const FabParam file_params[] = {
  { ROW (File, "generations", LIST, generations, NULL, "Entries that only `as` may name."),
    .table = fab_generation_params, .table_size = sizeof (FabGeneration) },
  { ROW (File, "families", LIST, families, NULL, "One entry per family."), .table = family_params,
    .table_size = sizeof (FabLeftOutSpec) },
  { .key = NULL },
};

struct _FabLeftOut {
  const FabCatalog *catalog;
  FabCheckFile *file;
  File families;
};

/* --- keys --- */

static const FabParam *
find_row (const FabParam *table, const char *key, gsize length)
{
  for (; table != NULL && table->key != NULL; table++)
    if (strlen (table->key) == length && strncmp (table->key, key, length) == 0)
      return table;
  return NULL;
}

/* The row of a key with dots, and where its member is in the struct; NULL: there is none. */
static const FabParam *
find_key (const FabParam *table, const char *key, gsize *offset)
{
  *offset = 0;
  for (;;) {
    gsize length = strcspn (key, ".");
    const FabParam *row = find_row (table, key, length);

    if (row == NULL)
      return NULL;
    *offset += row->offset;
    if (key[length] == '\0')
      return row;
    table = row->table;
    key += length + 1;
  }
}

static gsize
size_of (const FabParam *row)
{
  switch (row->type) {
  case FAB_PARAM_BOOL: return sizeof (gboolean);
  case FAB_PARAM_CHOICE: return sizeof (gint);
  case FAB_PARAM_TEXT: return sizeof (const char *);
  case FAB_PARAM_TABLE: return row->table_size;
  case FAB_PARAM_LIST: return sizeof (FabParamList);
  case FAB_PARAM_PERIOD: return sizeof (FabPeriod);
  case FAB_PARAM_POWER: return sizeof (FabPower);
  case FAB_PARAM_MODEL: return sizeof (FabModelChoice);
  case FAB_PARAM_TIME:
  case FAB_PARAM_BYTES:
  case FAB_PARAM_LENGTH:
  case FAB_PARAM_RATE:
  case FAB_PARAM_FLOPS:
  case FAB_PARAM_FLOPS_RATE:
  case FAB_PARAM_FRACTION:
  case FAB_PARAM_FACTOR:
  case FAB_PARAM_COUNT:
  default: return sizeof (gint64);
  }
}

/* Copies a member of `from` (NULL: zeros) into `to`. */
static void
put_member (const FabParam *row, gsize offset, char *to, const char *from)
{
  if (from != NULL)
    memcpy (to + offset, from + offset, size_of (row));
  else
    memset (to + offset, 0, size_of (row));
}

/* --- entries --- */

static gint
find_section (const char *name)
{
  for (gint i = 0; fab_catalog_params[i].key != NULL; i++)
    if (strcmp (fab_catalog_params[i].key, name) == 0)
      return i;
  return -1;
}

/* Whole entries keep what they are called, and where they come from. */
static gboolean
is_identity (const FabParam *row)
{
  static const char *const keys[] = { "name", "summary", "source", "date", NULL };

  return g_strv_contains (keys, row->key);
}

static void
put_back_entry (const FabPutBackSpec *spec, gint section, char *to, const char *from)
{
  const FabParam *table = fab_catalog_params[section].table;
  g_auto (GStrv) keys = g_strsplit (spec->keys != NULL ? spec->keys : "", " ", -1);
  gsize offset;

  for (guint i = 0; spec->keys != NULL && keys[i] != NULL; i++) {
    const FabParam *row = find_key (table, keys[i], &offset);

    if (row != NULL)
      put_member (row, offset, to, from);
  }
  for (const FabParam *row = table; spec->keys == NULL && row->key != NULL; row++)
    if (!is_identity (row))
      put_member (row, row->offset, to, from);
}

/* What `as` may name: an entry of the file itself, or of the catalogue. */
static gconstpointer
find_as (const FabLeftOut *self, gint section, const char *name)
{
  const FabGeneration *own = self->families.generations.data;

  for (guint i = 0; section == FAB_SECTION_GENERATIONS && i < self->families.generations.n; i++)
    if (strcmp (own[i].name, name) == 0)
      return &own[i];
  return fab_catalog_entry (self->catalog, (FabCatalogSection) section, name);
}

/* --- file --- */

static void
check_put_back (FabLeftOut *self, const FabPutBackSpec *spec)
{
  gint section = spec->section != NULL ? find_section (spec->section) : -1;
  g_auto (GStrv) keys = g_strsplit (spec->keys != NULL ? spec->keys : "", " ", -1);
  gsize offset;

  if (section < 0) {
    fab_schema_report (self->file->reader, &spec->section, "the catalogue has no section '%s'",
                       spec->section);
    return;
  }
  if (fab_catalog_entry (self->catalog, (FabCatalogSection) section, spec->entry) == NULL)
    fab_schema_report (self->file->reader, &spec->entry, "%s has no '%s'", spec->section, spec->entry);
  if (spec->as != NULL && find_as (self, section, spec->as) == NULL)
    fab_schema_report (self->file->reader, &spec->as, "%s has no '%s'", spec->section, spec->as);
  if (spec->as == NULL && spec->keys == NULL)
    fab_schema_report (self->file->reader, &spec->entry, "say the `keys` to clear, or another entry by `as`");
  for (guint i = 0; keys[i] != NULL; i++)
    if (*keys[i] != '\0' && find_key (fab_catalog_params[section].table, keys[i], &offset) == NULL)
      fab_schema_report (self->file->reader, &spec->keys, "%s have no key '%s'", spec->section, keys[i]);
}

static gboolean
has_tables (const FabMeasured *measured, const char *interconnect)
{
  for (guint i = 0; i < fab_measured_n_tables (measured); i++)
    if (strcmp (fab_measured_table (measured, i)->spec->interconnect, interconnect) == 0)
      return TRUE;
  return FALSE;
}

static void
check_families (FabLeftOut *self, const FabMeasured *measured)
{
  const FabLeftOutSpec *families = self->families.families.data;

  for (guint i = 0; i < self->families.families.n; i++) {
    const FabPutBackSpec *put_back = families[i].put_back.data;

    if (!has_tables (measured, families[i].interconnect))
      fab_schema_report (self->file->reader, &families[i].interconnect, "no measured table is of '%s'",
                         families[i].interconnect);
    for (guint k = 0; k < families[i].put_back.n; k++)
      check_put_back (self, &put_back[k]);
  }
}

FabLeftOut *
fab_left_out_load (const char *path, const FabCatalog *catalog, const FabMeasured *measured,
                   const FabRegistry *registry, GError **error)
{
  g_autoptr (FabLeftOut) self = g_new0 (FabLeftOut, 1);

  self->catalog = catalog;
  self->file = fab_check_file_new (registry);
  if (!fab_check_file_read (self->file, path, file_params, &self->families, error))
    return NULL;
  check_families (self, measured);
  return fab_check_file_is_right (self->file, error) ? g_steal_pointer (&self) : NULL;
}

void
fab_left_out_free (FabLeftOut *self)
{
  if (self == NULL)
    return;
  fab_check_file_free (self->file);
  g_free (self);
}

const FabLeftOutSpec *
fab_left_out_find (const FabLeftOut *self, const char *interconnect)
{
  const FabLeftOutSpec *families = self->families.families.data;

  for (guint i = 0; i < self->families.families.n; i++)
    if (strcmp (families[i].interconnect, interconnect) == 0)
      return &families[i];
  return NULL;
}

/* --- catalogue --- */

/* The sections of an overlay own their arrays. */
struct _FabLeftOutCatalog {
  FabCatalogSections sections;
  FabCatalog *catalog;
};

static FabParamList *
list_at (FabCatalogSections *sections, gint section)
{
  return (FabParamList *) ((char *) sections + fab_catalog_params[section].offset);
}

static char *
entry_at (FabParamList *list, gsize size, const char *name)
{
  for (guint i = 0; i < list->n; i++) {
    char *entry = (char *) list->data + i * size;

    if (strcmp (*(char **) entry, name) == 0) /* `name` is the first member of all entries */
      return entry;
  }
  return NULL;
}

/* A copy of the shipped entry, the first time that it is named. */
static char *
own_entry (const FabLeftOut *self, FabCatalogSections *sections, gint section, const char *name)
{
  gsize size = fab_catalog_params[section].table_size;
  FabParamList *list = list_at (sections, section);
  char *entry = entry_at (list, size, name);

  if (entry != NULL)
    return entry;
  list->data = g_realloc (list->data, (list->n + 1) * size);
  entry = (char *) list->data + list->n++ * size;
  memcpy (entry, fab_catalog_entry (self->catalog, (FabCatalogSection) section, name), size);
  return entry;
}

FabLeftOutCatalog *
fab_left_out_catalog (const FabLeftOut *self, const FabLeftOutSpec *family)
{
  FabLeftOutCatalog *overlay = g_new0 (FabLeftOutCatalog, 1);
  const FabPutBackSpec *put_back = family->put_back.data;

  for (guint i = 0; i < family->put_back.n; i++) {
    gint section = find_section (put_back[i].section);
    const char *from = put_back[i].as != NULL ? find_as (self, section, put_back[i].as) : NULL;

    put_back_entry (&put_back[i], section, own_entry (self, &overlay->sections, section, put_back[i].entry),
                    from);
  }
  overlay->catalog = fab_catalog_overlay (self->catalog, &overlay->sections);
  return overlay;
}

const FabCatalog *
fab_left_out_catalog_get (const FabLeftOutCatalog *self)
{
  return self->catalog;
}

void
fab_left_out_catalog_free (FabLeftOutCatalog *self)
{
  if (self == NULL)
    return;
  fab_catalog_free (self->catalog);
  for (gint section = 0; fab_catalog_params[section].key != NULL; section++)
    g_free (list_at (&self->sections, section)->data);
  g_free (self);
}

/* --- report --- */

FabReport *
fab_left_out_report (const FabLeftOut *self, const GPtrArray *tables, const FabRegistry *registry,
                     GError **error)
{
  g_autoptr (GHashTable) overlays = g_hash_table_new_full (NULL, NULL, NULL,
                                                           (GDestroyNotify) fab_left_out_catalog_free);
  g_autoptr (GArray) items = g_array_new (FALSE, FALSE, sizeof (FabReportItem));

  for (guint i = 0; i < tables->len; i++) {
    const FabMeasuredTable *table = g_ptr_array_index (tables, i);
    const FabLeftOutSpec *family = fab_left_out_find (self, table->spec->interconnect);
    FabLeftOutCatalog *overlay = family != NULL ? g_hash_table_lookup (overlays, family) : NULL;

    if (family == NULL)
      continue;
    if (overlay == NULL) {
      overlay = fab_left_out_catalog (self, family);
      g_hash_table_insert (overlays, (gpointer) family, overlay);
    }
    FabReportItem item = { table, overlay->catalog, family->sets };
    g_array_append_val (items, item);
  }
  return fab_report_of ((const FabReportItem *) (gpointer) items->data, items->len, registry, error);
}
