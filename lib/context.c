/* SPDX-License-Identifier: Apache-2.0 */
/* context.c - the catalogue, from the library itself or from a directory, and what can be asked of it. */
#include <gio/gio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/catalogue.h" /* of the build */
#include "lib/private.h"

#include "sim/base/order.h"
#include "sim/scenario/catalog_params.h"

#define FOLDER "/fabricast/catalogue"

static void
bytes_clear (gpointer bytes)
{
  g_bytes_unref (*(GBytes **) bytes);
}

/* The files that the build put into the library, in the order of their names. */
static FabCatalog *
built_in (GError **error)
{
  GResource *resource = lib_catalogue_get_resource ();
  g_auto (GStrv) names = g_resource_enumerate_children (resource, FOLDER, G_RESOURCE_LOOKUP_FLAGS_NONE,
                                                        error);
  guint n = names != NULL ? g_strv_length (names) : 0;
  g_autoptr (GArray) held = g_array_new (FALSE, FALSE, sizeof (GBytes *));
  g_autofree FabCatalogText *texts = g_new0 (FabCatalogText, n + 1);

  if (names == NULL)
    return NULL;
  g_array_set_clear_func (held, bytes_clear);
  qsort (names, n, sizeof *names, fab_order_texts);
  for (guint i = 0; i < n; i++) {
    g_autofree char *path = g_strconcat (FOLDER "/", names[i], NULL);
    GBytes *bytes = g_resource_lookup_data (resource, path, G_RESOURCE_LOOKUP_FLAGS_NONE, error);

    if (bytes == NULL)
      return NULL;
    g_array_append_val (held, bytes);
    texts[i].name = names[i];
    texts[i].text = g_bytes_get_data (bytes, &texts[i].size);
  }
  return fab_catalog_parse (texts, n, &fab_models, error);
}

static int
make (const FabricastContextOptions *asked, FabricastContext **context, FabricastError **error)
{
  GError *problem = NULL;
  FabCatalog *catalog = asked->catalogue != NULL ? fab_catalog_load (asked->catalogue, &fab_models, &problem)
                                                 : built_in (&problem);

  if (catalog == NULL)
    return lib_fail_with (error, problem);
  *context = g_new0 (FabricastContext, 1);
  (*context)->n_refs = 1;
  (*context)->catalog = catalog;
  (*context)->n_threads = (guint) asked->n_threads;
  (*context)->schema = fab_schema_json (fab_scenario_params, &fab_models,
                                        "https://fabricast.example/scenario.schema.json",
                                        "Fabricast scenario");
  return FABRICAST_OK;
}

int
fabricast_context_new (const FabricastContextOptions *options, FabricastContext **context,
                       FabricastError **error)
{
  FabricastContextOptions own;
  LibDoor door;
  int status;

  LIB_NEED (context, error);
  if (!lib_take (&own, sizeof own, options, error))
    return FABRICAST_MISUSE;
  if (own.n_threads < 0)
    return lib_fail (error, FABRICAST_MISUSE, "n_threads is %d: 0 or more are possible", own.n_threads);
  lib_door_enter (&door);
  status = make (&own, context, error);
  lib_door_leave (&door);
  return status;
}

FabricastContext *
lib_context_ref (FabricastContext *self)
{
  g_atomic_int_inc (&self->n_refs);
  return self;
}

void
lib_context_unref (FabricastContext *self)
{
  if (!g_atomic_int_dec_and_test (&self->n_refs))
    return;
  fab_catalog_free (self->catalog);
  g_free (self->schema);
  g_free (self);
}

void
fabricast_context_free (FabricastContext *context)
{
  if (context != NULL)
    lib_context_unref (context);
}

const char *
fabricast_schema (const FabricastContext *context)
{
  return context != NULL ? context->schema : NULL;
}

/* --- what there is --- */

/* A row of the tables of fabricast_describe (). */
typedef struct {
  FabricastTable *table;
  guint name, summary, yaml;
  gboolean has_yaml;
  const char *wanted; /* the one name that is asked for; NULL: all */
} Listing;

static void
add_row (Listing *self, const char *name, const char *summary, const char *yaml)
{
  if (self->wanted != NULL && strcmp (self->wanted, name) != 0)
    return;
  lib_table_text (self->table, self->name, name);
  lib_table_text (self->table, self->summary, summary);
  if (self->has_yaml)
    lib_table_text (self->table, self->yaml, yaml);
}

/* The catalogue's sections are the rows of fab_catalog_params; the others are kinds of models. */
static int
find_section (const char *name)
{
  for (int i = 0; fab_catalog_params[i].key != NULL; i++)
    if (strcmp (fab_catalog_params[i].key, name) == 0)
      return i;
  return -1;
}

static int
find_kind (const char *name)
{
  for (int kind = 0; kind < FAB_N_MODEL_KINDS; kind++)
    if (strcmp (fab_model_kind_name ((FabModelKind) kind), name) == 0)
      return kind;
  return -1;
}

static void
list_sections (Listing *self)
{
  for (guint i = 0; fab_catalog_params[i].key != NULL; i++)
    add_row (self, fab_catalog_params[i].key, fab_catalog_params[i].help, NULL);
  for (guint kind = 0; kind < FAB_N_MODEL_KINDS; kind++)
    add_row (self, fab_model_kind_name ((FabModelKind) kind), "Models that a scenario chooses from by name.",
             NULL);
  add_row (self, "keys", "Keys that a scenario may have.", NULL);
}

static const char *
summary_of (const FabParam *params, gconstpointer entry)
{
  for (const FabParam *param = params; param->key != NULL; param++)
    if (strcmp (param->key, "summary") == 0)
      return *(const char *const *) (gconstpointer) ((const char *) entry + param->offset);
  return NULL;
}

static void
list_entries (Listing *self, const FabCatalog *catalog, guint section)
{
  const FabParam *params = fab_catalog_params[section].table;
  g_autofree const char **names = fab_catalog_names (catalog, (FabCatalogSection) section);

  for (guint i = 0; names[i] != NULL; i++) {
    gconstpointer entry = fab_catalog_entry (catalog, (FabCatalogSection) section, names[i]);
    g_autofree char *yaml = self->has_yaml ? fab_schema_write (params, entry) : NULL;

    add_row (self, names[i], summary_of (params, entry), yaml);
  }
}

static void
list_models (Listing *self, guint kind)
{
  for (const FabModelInfo *const *info = fab_models.lists[kind]; *info != NULL; info++)
    add_row (self, (*info)->name, (*info)->summary, NULL);
}

typedef struct {
  FabricastTable *table;
  guint key, type, fallback, help;
  const char *wanted; /* the one key that is asked for; NULL: all */
} Keys;

static const char *
type_of (const FabParam *param)
{
  return param->type == FAB_PARAM_MODEL ? fab_model_kind_name (param->models)
       : param->refers                  ? fab_refers_name (param->refers)
                                        : fab_param_type_name (param->type);
}

static void
add_key (const Keys *self, const FabParam *param, const char *key)
{
  g_autofree char *choices = param->choices != NULL ? g_strjoinv (" | ", (char **) param->choices) : NULL;

  if (self->wanted != NULL && strcmp (self->wanted, key) != 0)
    return;
  lib_table_text (self->table, self->key, key);
  lib_table_text (self->table, self->type, choices != NULL ? choices : type_of (param));
  lib_table_text (self->table, self->fallback, param->fallback);
  lib_table_text (self->table, self->help, param->help);
}

static void
list_keys (const Keys *self, const FabParam *params, const char *above)
{
  for (const FabParam *param = params; param != NULL && param->key != NULL; param++) {
    g_autofree char *key = g_strconcat (above, param->key, NULL);
    g_autofree char *below = g_strconcat (key, param->type == FAB_PARAM_LIST ? ".0." : ".", NULL);

    add_key (self, param, key);
    list_keys (self, param->table, below);
  }
}

static FabricastTable *
describe_keys (const char *wanted)
{
  FabricastTable *table = lib_table_new ();
  Keys keys = { table,
                lib_table_add (table, "key", FABRICAST_TEXT),
                lib_table_add (table, "type", FABRICAST_TEXT),
                lib_table_add (table, "default", FABRICAST_TEXT),
                lib_table_add (table, "help", FABRICAST_TEXT),
                wanted };

  list_keys (&keys, fab_scenario_params, "");
  for (const FabModelInfo *const *info = fab_models.lists[FAB_MODEL_WORKLOAD]; *info != NULL; info++) {
    g_autofree char *above = g_strconcat ("job(", (*info)->name, ").", NULL);

    list_keys (&keys, (*info)->params, above);
  }
  return table;
}

static FabricastTable *
describe_section (const FabricastContext *context, const char *section, const char *name)
{
  int entry = section != NULL ? find_section (section) : -1;
  Listing listing = { .table = lib_table_new (), .wanted = name, .has_yaml = entry >= 0 && name != NULL };

  listing.name = lib_table_add (listing.table, "name", FABRICAST_TEXT);
  listing.summary = lib_table_add (listing.table, "summary", FABRICAST_TEXT);
  if (listing.has_yaml)
    listing.yaml = lib_table_add (listing.table, "yaml", FABRICAST_TEXT);
  if (section == NULL)
    list_sections (&listing);
  else if (entry >= 0)
    list_entries (&listing, context->catalog, (guint) entry);
  else
    list_models (&listing, (guint) find_kind (section));
  return listing.table;
}

static int
describe (const FabricastContext *context, const char *section, const char *name, FabricastTable **table,
          FabricastError **error)
{
  gboolean is_keys = section != NULL && strcmp (section, "keys") == 0;

  if (section != NULL && !is_keys && find_section (section) < 0 && find_kind (section) < 0)
    return lib_fail (error, FABRICAST_INPUT, "unknown section '%s'; without a section, all are listed",
                     section);
  FabricastTable *found = is_keys ? describe_keys (name) : describe_section (context, section, name);
  if (name == NULL || fabricast_table_rows (found) > 0) {
    *table = found;
    return FABRICAST_OK;
  }
  fabricast_table_free (found);
  return lib_fail (error, FABRICAST_INPUT, "no '%s' in %s; without a name, all are listed", name, section);
}

int
fabricast_describe (const FabricastContext *context, const char *section, const char *name,
                    FabricastTable **table, FabricastError **error)
{
  LibDoor door;
  int status;

  LIB_NEED (context, error);
  LIB_NEED (table, error);
  if (section == NULL && name != NULL)
    return lib_fail (error, FABRICAST_MISUSE, "a name needs the section that it is in");
  lib_door_enter (&door);
  status = describe (context, section, name, table, error);
  lib_door_leave (&door);
  return status;
}
