/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_describe.c - `fabricast describe`: every model, catalogue entry and key, from the same tables that check them. */
#include <string.h>

#include "cli/cli.h"
#include "cli/describe_links.h"
#include "cli/describe_model.h"
#include "cli/measure.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/result/store.h"

enum { DEFAULT_SEQUENCE = 2048, MAX_SEQUENCE = 10000000 }; /* as a job has them */

static const FabUsage usage = {
  .arguments = "[SECTION [NAME]]",
  .summary =
      "Lists what Fabricast knows: models, catalogue entries and the keys of a scenario, with unit, default\n"
      "and source. Without a SECTION, lists the sections.",
  .examples = "  fabricast describe\n"
              "  fabricast describe links\n"
              "  fabricast describe nodes dgx-a100\n"
              "  fabricast describe models llama2-7b --sequence 4096\n"
              "  fabricast describe job ddp\n"
              "  fabricast describe --schema\n",
  .max_rest = 2,
};

typedef struct {
  const FabCatalog *catalog;
  gboolean only_names;
  guint sequence; /* of what a model is asked for */
} Describe;

/* Catalogue sections in the order of FabCatalogSection, which is that of fab_catalog_params. */
static const char *const catalog_sections[] = { "links",    "accelerators", "nodes",      "models",
                                                "products", "technologies", "processors", NULL };

/* --- parameter tables --- */

static void
print_range (const FabParam *param)
{
  if (param->min <= 0 && param->max <= 0)
    return;
  g_print (" [%.12g", param->min);
  if (param->max > 0)
    g_print (" to %.12g", param->max);
  g_print ("%s]", param->max > 0 ? "" : " or more");
}

static void
print_params (const FabParam *table, guint indent)
{
  for (const FabParam *param = table; param && param->key; param++) {
    g_autofree char *choices = param->choices ? g_strjoinv (" | ", (char **) param->choices) : NULL;
    const char *type = param->type == FAB_PARAM_MODEL ? fab_model_kind_name (param->models)
                     : param->refers                  ? fab_refers_name (param->refers)
                                                      : fab_param_type_name (param->type);

    g_print ("%*s%-*s %s", (int) indent, "", (int) (22 - MIN (indent, 16)), param->key,
             choices ? choices : type);
    print_range (param);
    if (param->fallback == NULL && param->type != FAB_PARAM_TABLE && param->type != FAB_PARAM_LIST)
      g_print (", required");
    else if (param->fallback && *param->fallback)
      g_print (", default %s", param->fallback);
    g_print ("\n%*s%s\n", (int) indent + 4, "", param->help);
    print_params (param->table, indent + 2);
  }
}

/* --- models --- */

/* What people ask for, beside the keys of a scenario. */
static const struct {
  const char *name;
  int kind;
} plurals[] = { { "fabrics", FAB_MODEL_FABRIC },
                { "routes", FAB_MODEL_ROUTE },
                { "algorithms", FAB_MODEL_ALGORITHM },
                { "fidelities", FAB_MODEL_NET },
                { "jobs", FAB_MODEL_WORKLOAD } };

static int
find_kind (const char *section)
{
  for (guint kind = 0; kind < FAB_N_MODEL_KINDS; kind++)
    if (strcmp (fab_model_kind_name ((FabModelKind) kind), section) == 0)
      return (int) kind;
  for (guint i = 0; i < G_N_ELEMENTS (plurals); i++)
    if (strcmp (plurals[i].name, section) == 0)
      return plurals[i].kind;
  return -1;
}

static void
print_model (const FabModelInfo *info)
{
  g_print ("%s: %s\nSee %s.\n", info->name, info->summary, info->doc);
  if (info->params)
    g_print ("\nParameters:\n");
  print_params (info->params, 2);
}

/* Libraries alone would not say what they carry out. */
static void
list_collectives (void)
{
  g_autofree char *ops = g_strjoinv (", ", (char **) fab_op_names);

  g_print ("\nOperations: %s\n\nAlgorithms:\n", ops);
  for (const FabModelInfo *const *info = fab_models.lists[FAB_MODEL_ALGORITHM]; *info; info++)
    g_print ("  %-16s %s See %s.\n", (*info)->name, (*info)->summary, (*info)->doc);
}

static void
list_models (const Describe *d, FabModelKind kind)
{
  for (const FabModelInfo *const *info = fab_models.lists[kind]; *info; info++) {
    if (d->only_names)
      g_print ("%s\n", (*info)->name);
    else
      g_print ("%-14s %s\n", (*info)->name, (*info)->summary);
  }
  if (kind == FAB_MODEL_LIBRARY && !d->only_names)
    list_collectives ();
}

/* --- catalogue entries --- */

static gconstpointer
find_entry (const FabCatalog *catalog, FabCatalogSection section, const char *name, const char **summary)
{
  const FabLinkSpec *link;
  const FabAcceleratorSpec *accelerator;
  const FabNodeSpec *node;
  const FabModelSpec *model;
  const FabProductSpec *product;
  const FabTechnology *technology;
  const FabProcessor *processor;

  switch (section) {
  case FAB_SECTION_LINKS:
    link = fab_catalog_link (catalog, name);
    *summary = link ? link->summary : NULL;
    return link;
  case FAB_SECTION_ACCELERATORS:
    accelerator = fab_catalog_accelerator (catalog, name);
    *summary = accelerator ? accelerator->summary : NULL;
    return accelerator;
  case FAB_SECTION_NODES:
    node = fab_catalog_node (catalog, name);
    *summary = node ? node->summary : NULL;
    return node;
  case FAB_SECTION_PRODUCTS:
    product = fab_catalog_product (catalog, name);
    *summary = product ? product->summary : NULL;
    return product;
  case FAB_SECTION_TECHNOLOGIES:
    technology = fab_catalog_technology (catalog, name);
    *summary = technology ? technology->summary : NULL;
    return technology;
  case FAB_SECTION_PROCESSORS:
    processor = fab_catalog_processor (catalog, name);
    *summary = processor ? processor->summary : NULL;
    return processor;
  case FAB_SECTION_MODELS:
  default:
    model = fab_catalog_model (catalog, name);
    *summary = model ? model->summary : NULL;
    return model;
  }
}

static void
print_entry (const Describe *d, FabCatalogSection section, gconstpointer entry)
{
  g_autofree char *yaml = fab_schema_write (fab_catalog_params[section].table, entry);

  g_print ("%s", yaml);
  if (section == FAB_SECTION_LINKS)
    fab_describe_link_rates (entry);
  if (section == FAB_SECTION_MODELS)
    fab_describe_model (entry, d->sequence);
}

static void
list_entries (const Describe *d, FabCatalogSection section)
{
  g_autofree const char **names = fab_catalog_names (d->catalog, section);
  const char *summary;

  if (section == FAB_SECTION_LINKS && !d->only_names) {
    fab_describe_links (d->catalog);
    return;
  }
  if (section == FAB_SECTION_TECHNOLOGIES && !d->only_names) {
    fab_describe_technologies (d->catalog);
    return;
  }
  for (guint i = 0; names[i]; i++) {
    find_entry (d->catalog, section, names[i], &summary);
    if (d->only_names)
      g_print ("%s\n", names[i]);
    else
      g_print ("%-28s %s\n", names[i], summary ? summary : "");
  }
}

/* --- sections --- */

static const struct {
  const char *name, *summary;
} other_sections[] = { { "scenario", "Every key of a scenario file" },
                       { "queries", "Questions to a results file" },
                       { "measure", "Backends of `fabricast measure` and their parameters" } };

static void
list_sections (const Describe *d)
{
  for (guint i = 0; i < G_N_ELEMENTS (other_sections); i++)
    g_print (d->only_names ? "%s\n" : "%-14s %s\n", other_sections[i].name, other_sections[i].summary);
  for (guint i = 0; catalog_sections[i]; i++)
    g_print (d->only_names ? "%s\n" : "%-14s %s\n", catalog_sections[i], fab_catalog_params[i].help);
  for (guint kind = 0; kind < FAB_N_MODEL_KINDS; kind++) {
    g_autofree const char **names = fab_registry_names (&fab_models, (FabModelKind) kind);
    g_autofree char *joined = g_strjoinv (", ", (char **) names);

    g_print (d->only_names ? "%s\n" : "%-14s %s\n", fab_model_kind_name ((FabModelKind) kind), joined);
  }
}

static gboolean
unknown_section (const char *section, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  const char *nearest;

  for (guint i = 0; i < G_N_ELEMENTS (other_sections); i++)
    g_ptr_array_add (names, (gpointer) other_sections[i].name);
  for (guint i = 0; catalog_sections[i]; i++)
    g_ptr_array_add (names, (gpointer) catalog_sections[i]);
  for (guint kind = 0; kind < FAB_N_MODEL_KINDS; kind++)
    g_ptr_array_add (names, (gpointer) fab_model_kind_name ((FabModelKind) kind));
  g_ptr_array_add (names, NULL);
  nearest = fab_nearest (section, (const char *const *) names->pdata);
  return fab_throw (
      error, FAB_ERROR_INPUT,
      "unknown section '%s'%s%s; `fabricast describe` lists them, `describe scenario` all keys of "
      "a scenario, `describe job NAME` those of a job",
      section, nearest ? "; nearest is " : "", nearest ? nearest : "");
}

static gboolean
list_section (const Describe *d, const char *section, GError **error)
{
  int kind = find_kind (section);

  for (guint i = 0; catalog_sections[i]; i++)
    if (strcmp (catalog_sections[i], section) == 0) {
      list_entries (d, (FabCatalogSection) i);
      return TRUE;
    }
  if (kind >= 0)
    list_models (d, (FabModelKind) kind);
  else if (strcmp (section, "scenario") == 0)
    print_params (fab_scenario_params, 0);
  else if (strcmp (section, "queries") == 0)
    for (const FabQuery *query = fab_queries; query->name; query++)
      g_print (d->only_names ? "%s\n" : "%-18s %s\n", query->name, query->summary);
  else if (strcmp (section, "measure") == 0)
    for (const FabBackendRow *row = fab_backend_rows; row->name; row++)
      g_print (d->only_names ? "%s\n" : "%-14s %s\n", row->name, row->summary);
  else
    return unknown_section (section, error);
  return TRUE;
}

static gboolean
unknown_name (const char *section, const char *name, const char *const *names, GError **error)
{
  const char *nearest = fab_nearest (name, names);

  return fab_throw (error, FAB_ERROR_INPUT, "no '%s' in %s%s%s; `fabricast describe %s` lists them", name,
                    section, nearest ? "; nearest is " : "", nearest ? nearest : "", section);
}

static gboolean
describe_entry (const Describe *d, FabCatalogSection section, const char *name, GError **error)
{
  g_autofree const char **names = fab_catalog_names (d->catalog, section);
  const char *summary;
  gconstpointer entry = find_entry (d->catalog, section, name, &summary);

  if (entry == NULL)
    return unknown_name (catalog_sections[section], name, names, error);
  print_entry (d, section, entry);
  return TRUE;
}

static gboolean
describe_backend (const char *name, GError **error)
{
  const FabMeasureBackend *backend = measure_backend (name, error);

  if (backend == NULL)
    return FALSE;
  print_model (&backend->info);
  if (backend->needs)
    g_print ("\nNeeds %s.\n", backend->needs);
  return TRUE;
}

static gboolean
describe_name (const Describe *d, const char *section, const char *name, GError **error)
{
  int kind = find_kind (section);

  for (guint i = 0; catalog_sections[i]; i++)
    if (strcmp (catalog_sections[i], section) == 0)
      return describe_entry (d, (FabCatalogSection) i, name, error);
  if (strcmp (section, "measure") == 0)
    return describe_backend (name, error);
  if (kind < 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "section '%s' has no names; `fabricast describe` lists the sections", section);
  const FabModelInfo *info = fab_registry_find (&fab_models, (FabModelKind) kind, name);
  if (info == NULL) {
    g_autofree const char **names = fab_registry_names (&fab_models, (FabModelKind) kind);
    return unknown_name (section, name, names, error);
  }
  print_model (info);
  return TRUE;
}

static gboolean
describe (int argc, char **argv, Describe d, gboolean wants_schema, GError **error)
{
  g_autoptr (FabCatalog) catalog = NULL;

  if (wants_schema) {
    g_autofree char *schema = fab_schema_json (fab_scenario_params, &fab_models,
                                               "https://fabricast.example/scenario.schema.json",
                                               "Fabricast scenario");
    g_print ("%s", schema);
    return TRUE;
  }
  d.catalog = catalog = fab_cli_catalog (error);
  if (catalog == NULL)
    return FALSE;
  if (argc == 1) {
    list_sections (&d);
    return TRUE;
  }
  return argc == 2 ? list_section (&d, argv[1], error) : describe_name (&d, argv[1], argv[2], error);
}

static gboolean
check_sequence (gint64 sequence, GError **error)
{
  return (sequence >= 1 && sequence <= MAX_SEQUENCE)
      || fab_throw (error, FAB_ERROR_INPUT, "--sequence %" G_GINT64_FORMAT ": from 1 to %d tokens", sequence,
                    MAX_SEQUENCE);
}

static FabExit
run (int argc, char **argv)
{
  gboolean only_names = FALSE, wants_schema = FALSE;
  gint64 sequence = DEFAULT_SEQUENCE;
  const GOptionEntry entries[] = { { "schema", 0, 0, G_OPTION_ARG_NONE, &wants_schema,
                                     "Print the JSON Schema of scenario files, for editors", NULL },
                                   { "names", 0, 0, G_OPTION_ARG_NONE, &only_names,
                                     "Print names only, one a line", NULL },
                                   { "sequence", 0, 0, G_OPTION_ARG_INT64, &sequence,
                                     "Tokens of a sequence, for a model's FLOPs (default: 2048)", "N" },
                                   G_OPTION_ENTRY_NULL };
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && check_sequence (sequence, &error)
                  && describe (argc, argv, (Describe){ NULL, only_names, (guint) sequence }, wants_schema,
                               &error);

  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("describe", error);
}

const FabCommand fab_command_describe = {
  .name = "describe",
  .summary = "List models, catalogue entries and the keys of a scenario",
  .run = run,
};
