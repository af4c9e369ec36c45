/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_describe.c - `fabricast describe`: every model, catalogue entry and key, from the same tables that check
 * them. */
#include <string.h>

#include "answer/model.h"
#include "cli/cli.h"
#include "cli/hardware/cmd_measure.h"
#include "cli/hardware/describe_keys.h"
#include "cli/hardware/designs_page.h"
#include "cli/help/glossary.h"
#include "cli/help/help.h"
#include "cli/shipped.h"
#include "cli/terminal/terminal.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "sim/result/store.h"
#include "sim/scenario/catalog.h"
#include "sim/scenario/catalog_params.h"
#include "sim/verdict/verdict.h"

/* Links as a table by technology, technologies as one, and the rates that one link's
 * numbers make. O(links^2). */

static double
achievable_gb_per_s (const FabLinkSpec *link, FabDrive drive)
{
  return (double) fab_link_spec_line_rate (link) / fab_link_spec_cost (link, drive) / 1e9;
}

static gboolean
has_multimem (const FabLinkSpec *link)
{
  return link->multimem.payload_bytes > 0;
}

/* Prints what a link's numbers give together, as comment lines below its entry. */
static void
describe_link_rates (const FabLinkSpec *link)
{
  static const char *const drives[] = { "copy engine, NIC", "kernel", "kernel, reduced in a switch" };

  g_print ("# line rate, one direction: %.6g GB/s\n", (double) fab_link_spec_line_rate (link) / 1e9);
  for (guint drive = 0; drive < (has_multimem (link) ? FAB_N_DRIVES : FAB_DRIVE_MULTIMEM); drive++)
    g_print ("# achievable, %s: %.6g GB/s\n", drives[drive], achievable_gb_per_s (link, (FabDrive) drive));
  if (link->collective_fraction > 0)
    g_print ("# reached by collectives: %.6g GB/s\n",
             achievable_gb_per_s (link, FAB_DRIVE_COPY) * link->collective_fraction);
}

static const char *
technology_of (const FabLinkSpec *link)
{
  return link->technology ? link->technology : "other";
}

static void
print_link (GString *page, const FabLinkSpec *link)
{
  g_string_append_printf (page, "  %-26s\v %8.2f\v %8.2f\v %8.2f\v ", link->name,
                          (double) fab_link_spec_line_rate (link) / 1e9,
                          achievable_gb_per_s (link, FAB_DRIVE_COPY),
                          achievable_gb_per_s (link, FAB_DRIVE_KERNEL));
  if (has_multimem (link))
    g_string_append_printf (page, "%8.2f", achievable_gb_per_s (link, FAB_DRIVE_MULTIMEM));
  else
    g_string_append_printf (page, "%8s", "-");
  g_string_append_printf (page, "\v  %s\n", link->summary ? link->summary : "");
}

static void
print_technology (GString *page, const FabCatalog *catalog, const char *const *names, const char *technology)
{
  g_string_append_printf (page, "\n%s\n", technology);
  for (guint i = 0; names[i]; i++) {
    const FabLinkSpec *link = fab_catalog_link (catalog, names[i]);

    if (strcmp (technology_of (link), technology) == 0)
      print_link (page, link);
  }
}

/* Prints every link with its rates, grouped by technology. */
static void
describe_links (const FabCatalog *catalog)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_LINKS);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) technologies = g_ptr_array_new ();
  g_autoptr (GString) page = g_string_new (NULL);

  for (guint i = 0; names[i]; i++) {
    const char *technology = technology_of (fab_catalog_link (catalog, names[i]));

    if (g_hash_table_add (seen, (gpointer) technology))
      g_ptr_array_add (technologies, (gpointer) technology);
  }
  g_string_append_printf (
      page, "GB/s of one link in one direction: the line rate, and the rates that a copy engine or NIC, a "
            "kernel, and\n"
            "a kernel whose data a switch reduces can reach.\n\n");
  g_string_append_printf (page, "  %-26s\v %8s\v %8s\v %8s\v %8s\n", "link", "line", "copy", "kernel",
                          "reduced");
  for (guint i = 0; i < technologies->len; i++)
    print_technology (page, catalog, names, g_ptr_array_index (technologies, i));
  fab_terminal_print_page (page->str);
}

static const char *
choice_of (const char *key, int value)
{
  const FabParam *row = fab_catalog_params[FAB_SECTION_TECHNOLOGIES].table;

  while (strcmp (row->key, key) != 0)
    row++;
  return row->choices[value];
}

/* Prints every technology: what it connects and how it avoids losing packets. */
static void
describe_technologies (const FabCatalog *catalog)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_TECHNOLOGIES);
  g_autoptr (GString) page = g_string_new (NULL);

  g_string_append_printf (page, "%-20s\v %-14s\v %-14s\v %s\n", "technology", "joins", "flow control",
                          "summary");
  for (guint i = 0; names[i]; i++) {
    const FabTechnology *technology = fab_catalog_technology (catalog, names[i]);

    g_string_append_printf (page, "%-20s\v %-14s\v %-14s\v %s\n", names[i],
                            choice_of ("joins", technology->joins),
                            choice_of ("flow_control", technology->flow_control),
                            technology->summary ? technology->summary : "");
  }
  fab_terminal_print_page (page->str);
}

/* What a model takes: parameters, FLOPs and kept activations, by layer and operator. */

static void
print_count (const char *label, guint64 count)
{
  g_print ("# %-13s %" G_GUINT64_FORMAT " (%.4g billion)\n", label, count, (double) count / 1e9);
}

/* Operators of a token are a fraction of a GFLOP, and one column should have one unit. */
static char *
gflop (double flops)
{
  return g_strdup_printf ("%.4g", flops / 1e9);
}

static void
print_flops (const char *label, double flops, const char *note)
{
  g_autofree char *text = gflop (flops);

  g_print ("# %-13s %s GFLOP%s\n", label, text, note);
}

static void
print_totals (const FabModelAnswer *answer, guint sequence)
{
  const FabLayerStack *stack = answer->stack;
  g_autofree char *state = fab_units_show (FAB_UNIT_BYTES, answer->state_bytes),
                  *kept = fab_units_show (FAB_UNIT_BYTES, answer->kept_bytes),
                  *bounds = fab_units_show (FAB_UNIT_BYTES, answer->boundary_bytes);

  g_print ("#\n# per token, sequences of %u tokens (--sequence)\n", sequence);
  print_count ("parameters", stack->parameters);
  if (stack->active_parameters != stack->parameters)
    print_count ("of a token", stack->active_parameters);
  print_flops ("forward", stack->forward_flops_per_token, "");
  print_flops ("and backward", answer->both_flops, "");
  if (answer->causal_flops > 0)
    print_flops ("  causal", answer->causal_flops, ", half of the scores not done");
  print_flops ("  6 N", answer->six_n_flops, ", N the parameters of a token");
  g_print ("# %-13s %s, %g B for each parameter: mixed precision with Adam\n", "state", state,
           FAB_MODEL_STATE_BYTES);
  g_print ("# %-13s %s of 16-bit activations for the backward pass; %s with every layer recomputed\n", "kept",
           kept, bounds);
}

static void
print_operator (GString *page, const FabOperator *op)
{
  g_autofree char *size = NULL, *flops = gflop (op->flops);

  if (op->flops <= 0) {
    g_string_append_printf (page, "#     %s\n", op->name);
    return;
  }
  if (op->kind == FAB_OPERATOR_MATMUL && op->n_matrices > 1)
    size = g_strdup_printf ("%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT,
                            op->n_matrices, op->n, op->k);
  else if (op->kind == FAB_OPERATOR_MATMUL && op->n > 0)
    size = g_strdup_printf ("%" G_GINT64_FORMAT " x %" G_GINT64_FORMAT, op->n, op->k);
  g_string_append_printf (page, "#     %-12s\v %-22s\v %12s\n", op->name, size ? size : "", flops);
}

static void
print_segment (GString *page, const FabLayer *layer, guint index)
{
  const FabSegment *segment = fab_layer_segment (layer, index);
  g_autofree char *flops = gflop (segment->forward_flops);

  g_string_append_printf (page, "#   %-12s\v %24" G_GUINT64_FORMAT "\v %12s\v %10.0f\v %10.0f\v %10.0f\n",
                          segment->name, fab_model_segment_parameters (layer, index), flops,
                          segment->saved_whole_bytes, segment->saved_split_bytes, segment->saved_score_bytes);
  for (guint i = 0; i < segment->operators->len; i++)
    print_operator (page, &g_array_index (segment->operators, FabOperator, i));
}

/* Equal layers that follow one another are shown once. */
static void
print_layers (GString *page, const FabLayerStack *stack, const FabModelLayers *layers)
{
  const FabLayer *layer = fab_layer_stack_layer (stack, layers->first);

  if (layers->n > 1)
    g_string_append_printf (page, "# %u x %s to %s, %" G_GUINT64_FORMAT " parameters each\n", layers->n,
                            layer->name, fab_layer_stack_layer (stack, layers->first + layers->n - 1)->name,
                            layer->parameters);
  else
    g_string_append_printf (page, "# %s, %" G_GUINT64_FORMAT " parameters\n", layer->name, layer->parameters);
  for (guint i = 0; i < layer->segments->len; i++)
    print_segment (page, layer, i);
}

/* Prints parameters, FLOPs, memory and operators of a model at this sequence length, as comments below its entry. */
static void
describe_model (const FabModelSpec *model, guint sequence)
{
  g_autoptr (FabModelAnswer) answer = fab_model_answer (model, sequence);
  g_autoptr (GString) page = g_string_new (NULL);

  print_totals (answer, sequence);
  g_string_append_printf (page, "#\n# %-14s\v %24s\v %12s\v   kept in B: %s\n", "", "", "forward",
                          "divided by");
  g_string_append_printf (page, "# %-14s\v %24s\v %12s\v %10s\v %10s\v %10s\n", "layers", "parameters",
                          "GFLOP", "whole", "tensor p.", "scores");
  for (guint i = 0; i < answer->layers->len; i++)
    print_layers (page, answer->stack, &g_array_index (answer->layers, FabModelLayers, i));
  fab_terminal_print_page (page->str);
}

enum { DEFAULT_SEQUENCE = 2048, MAX_SEQUENCE = 10000000 }; /* as a job has them */

static const FabUsage usage = {
  .arguments = "[SECTION [NAME] | KEY]",
  .summary =
      "Lists models, catalogue entries and the keys of a scenario, with unit, default and source. Without a\n"
      "SECTION, it lists the sections. A KEY is a path (job.micro_batch) or the end of one (nic_rate).",
  .examples = "  fabricast describe\n"
              "  fabricast describe links\n"
              "  fabricast describe nodes dgx-a100\n"
              "  fabricast describe models llama2-7b --sequence 4096\n"
              "  fabricast describe job ddp\n"
              "  fabricast describe cluster.nic_rate\n"
              "  fabricast describe glossary all-reduce\n"
              "  fabricast describe --schema\n",
  .max_rest = 2,
};

typedef struct {
  const FabCatalog *catalog;
  gboolean only_names;
  guint sequence;   /* of what a model is asked for */
  FabFormat format; /* of the glossary and of designs */
} Describe;

/* Catalogue sections in the order of FabCatalogSection, which is that of fab_catalog_params. */
static const char *const catalog_sections[] = {
  "links",       "accelerators", "nodes",  "models",   "products", "technologies", "processors",
  "generations", "bands",        "setups", "failures", "pairs",    "designs",      NULL
};

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
  g_autoptr (GString) page = g_string_new (info->params != NULL ? "\nParameters:\n" : NULL);

  fab_describe_params (page, info->params, 2);
  g_print ("%s: %s\nSee %s.\n%s", info->name, info->summary, info->doc, page->str);
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
  const FabGeneration *generation;
  const FabBandSpec *band;
  const FabSetup *setup;
  const FabFailureSetSpec *failures;
  const FabPairSpec *pair;
  const FabDesignSpec *design;

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
  case FAB_SECTION_GENERATIONS:
    generation = fab_catalog_generation (catalog, name);
    *summary = generation ? generation->summary : NULL;
    return generation;
  case FAB_SECTION_BANDS:
    band = fab_catalog_band (catalog, name);
    *summary = band ? band->summary : NULL;
    return band;
  case FAB_SECTION_SETUPS:
    setup = fab_catalog_setup (catalog, name);
    *summary = setup ? setup->summary : NULL;
    return setup;
  case FAB_SECTION_FAILURES:
    failures = fab_catalog_entry (catalog, section, name);
    *summary = failures ? failures->summary : NULL;
    return failures;
  case FAB_SECTION_PAIRS:
    pair = fab_catalog_entry (catalog, section, name);
    *summary = pair ? pair->summary : NULL;
    return pair;
  case FAB_SECTION_DESIGNS:
    design = fab_catalog_entry (catalog, section, name);
    *summary = design ? design->summary : NULL;
    return design;
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
    describe_link_rates (entry);
  if (section == FAB_SECTION_MODELS)
    describe_model (entry, d->sequence);
}

static void
list_entries (const Describe *d, FabCatalogSection section)
{
  g_autofree const char **names = fab_catalog_names (d->catalog, section);
  const char *summary;

  if (section == FAB_SECTION_LINKS && !d->only_names) {
    describe_links (d->catalog);
    return;
  }
  if (section == FAB_SECTION_TECHNOLOGIES && !d->only_names) {
    describe_technologies (d->catalog);
    return;
  }
  if (d->format == FAB_FORMAT_MARKDOWN) { /* of designs alone, see check_format */
    g_autofree char *page = fab_designs_markdown (d->catalog);

    g_print ("%s", page);
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
                       { "scenarios", "Scenarios that come with Fabricast: `fabricast run NAME` finds them" },
                       { "queries", "Questions that `fabricast query` answers from a results file" },
                       { "measure", "Backends of `fabricast measure` and their parameters" },
                       { "verdicts", "Codes of the verdict on a run, with their meaning" },
                       { "glossary", "Glossary of Fabricast and of the field" } };

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

/* The commands that describe a name, divided by commas; NULL: no section has it. (transfer full) */
static char *
commands_for (const Describe *d, const char *name)
{
  g_autoptr (GPtrArray) commands = g_ptr_array_new_with_free_func (g_free);
  const char *summary;

  for (guint i = 0; catalog_sections[i]; i++)
    if (find_entry (d->catalog, (FabCatalogSection) i, name, &summary) != NULL)
      g_ptr_array_add (commands, g_strdup_printf ("`fabricast describe %s %s`", catalog_sections[i], name));
  for (guint kind = 0; kind < FAB_N_MODEL_KINDS; kind++)
    if (fab_registry_find (&fab_models, (FabModelKind) kind, name) != NULL)
      g_ptr_array_add (commands, g_strdup_printf ("`fabricast describe %s %s`",
                                                  fab_model_kind_name ((FabModelKind) kind), name));
  if (commands->len == 0)
    return NULL;
  g_ptr_array_add (commands, NULL);
  return g_strjoinv (", ", (char **) commands->pdata);
}

static gboolean
unknown_section (const Describe *d, const char *section, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autofree char *commands = commands_for (d, section);
  const char *nearest;

  if (commands != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "'%s' is no section, but a name in one: %s", section, commands);
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
      "'%s' is neither a section nor a key%s%s; `fabricast describe` lists the sections, `describe scenario` all "
      "keys of a scenario, and `describe job NAME` those of a job",
      section, nearest ? "; nearest is " : "", nearest ? nearest : "");
}

static void
list_verdicts (const Describe *d)
{
  for (guint code = 0; code < FAB_N_FINDING_CODES; code++) {
    const FabFindingKind *kind = &fab_finding_kinds[code];

    if (d->only_names)
      g_print ("%s\n", kind->name);
    else
      g_print ("%-20s %-6s %s\n", kind->name, fab_severity_names[kind->severity], kind->summary);
  }
}

static void
list_glossary (const Describe *d)
{
  g_autoptr (FabGlossary) glossary = fab_glossary_new ();
  g_autoptr (GPtrArray) terms = d->only_names ? fab_glossary_sorted (glossary) : NULL;
  g_autofree char *list = d->format == FAB_FORMAT_JSON     ? fab_glossary_json (glossary)
                        : d->format == FAB_FORMAT_MARKDOWN ? fab_glossary_markdown (glossary)
                                                           : fab_glossary_list (glossary);

  for (guint i = 0; terms != NULL && i < terms->len; i++)
    g_print ("%s\n", ((const FabGlossaryTerm *) terms->pdata[i])->name);
  if (terms == NULL)
    g_print ("%s", list);
}

static void
list_scenarios (const Describe *d)
{
  g_autoptr (GPtrArray) names = fab_cli_shipped_scenarios ();

  for (guint i = 0; i < names->len; i++) {
    g_autofree char *summary = d->only_names ? NULL : fab_cli_shipped_summary (names->pdata[i], d->catalog);

    g_print (d->only_names ? "%s\n" : "%-28s %s\n", (const char *) names->pdata[i], summary);
  }
}

static void
print_scenario_keys (void)
{
  g_autoptr (GString) page = g_string_new (NULL);

  fab_describe_params (page, fab_scenario_params, 0);
  g_print ("%s", page->str);
}

/* Whether it is the path of keys, which are printed then. */
static gboolean
print_key (const Describe *d, const char *path)
{
  g_autofree char *page = fab_describe_key (path, d->only_names);

  if (page != NULL)
    g_print ("%s", page);
  return page != NULL;
}

/* Also in the singular, as `describe model llama3-8b` is meant. */
static gboolean
is_catalog_section (guint section, const char *name)
{
  g_autofree char *plural = g_strconcat (name, "s", NULL);

  return strcmp (catalog_sections[section], name) == 0 || strcmp (catalog_sections[section], plural) == 0;
}

static gboolean
list_section (const Describe *d, const char *section, GError **error)
{
  int kind = find_kind (section);

  for (guint i = 0; catalog_sections[i]; i++)
    if (is_catalog_section (i, section)) {
      list_entries (d, (FabCatalogSection) i);
      return TRUE;
    }
  if (kind >= 0)
    list_models (d, (FabModelKind) kind);
  else if (strcmp (section, "scenario") == 0)
    print_scenario_keys ();
  else if (strcmp (section, "scenarios") == 0)
    list_scenarios (d);
  else if (strcmp (section, "queries") == 0)
    for (const FabQuery *query = fab_queries; query->name; query++)
      g_print (d->only_names ? "%s\n" : "%-18s %s\n", query->name, query->summary);
  else if (strcmp (section, "measure") == 0)
    for (const FabBackendRow *row = fab_backend_rows; row->name; row++)
      g_print (d->only_names ? "%s\n" : "%-14s %s\n", row->name, row->summary);
  else if (strcmp (section, "verdicts") == 0)
    list_verdicts (d);
  else if (strcmp (section, "glossary") == 0)
    list_glossary (d);
  else
    return print_key (d, section) || unknown_section (d, section, error);
  return TRUE;
}

static gboolean
unknown_name (const char *section, const char *name, const char *const *names, const char *said,
              GError **error)
{
  const char *nearest = fab_nearest (name, names);

  return fab_throw (error, FAB_ERROR_INPUT, "no '%s' in %s%s%s; `fabricast describe %s` lists them", name,
                    section,
                    nearest ? "; nearest is "
                    : said  ? "; names for it are "
                            : "",
                    nearest ? nearest
                    : said  ? said
                            : "",
                    section);
}

static gboolean
describe_entry (const Describe *d, FabCatalogSection section, const char *name, GError **error)
{
  g_autofree const char **names = fab_catalog_names (d->catalog, section);
  const char *summary;
  gconstpointer entry = find_entry (d->catalog, section, name, &summary);

  if (entry == NULL) {
    g_autofree char *said = fab_catalog_said (d->catalog, section, name);

    return unknown_name (catalog_sections[section], name, names, said, error);
  }
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
    if (is_catalog_section (i, section))
      return describe_entry (d, (FabCatalogSection) i, name, error);
  if (strcmp (section, "measure") == 0)
    return describe_backend (name, error);
  if (strcmp (section, "glossary") == 0)
    return fab_help_term (name, error);
  if (kind < 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "section '%s' has no names; `fabricast describe` lists the sections", section);
  const FabModelInfo *info = fab_registry_find (&fab_models, (FabModelKind) kind, name);
  if (info == NULL) {
    g_autofree const char **names = fab_registry_names (&fab_models, (FabModelKind) kind);
    return unknown_name (section, name, names, NULL, error);
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

/* Only the glossary and the designs have other formats: pages are made of them. */
static gboolean
check_format (const char *name, int argc, char **argv, FabFormat *format, GError **error)
{
  gboolean is_glossary = argc == 2 && strcmp (argv[1], "glossary") == 0;
  gboolean is_designs = argc == 2 && strcmp (argv[1], "designs") == 0;

  if (!fab_cli_page_format (name, format, error))
    return FALSE;
  if (*format == FAB_FORMAT_TEXT || (is_glossary && *format != FAB_FORMAT_CSV)
      || (is_designs && *format == FAB_FORMAT_MARKDOWN))
    return TRUE;
  return fab_throw (
      error, FAB_ERROR_INPUT,
      "--format %s: `describe glossary` has text, json and markdown, `describe designs` text and markdown; all "
      "other sections have text",
      name);
}

static FabExit
run (int argc, char **argv)
{
  g_autofree char *format_name = NULL;
  FabFormat format = FAB_FORMAT_TEXT;
  gboolean only_names = FALSE, wants_schema = FALSE;
  gint64 sequence = DEFAULT_SEQUENCE;
  const GOptionEntry entries[] = {
    { "schema", 0, 0, G_OPTION_ARG_NONE, &wants_schema,
      "Print the JSON Schema of scenario files, for editors", NULL },
    { "names", 0, 0, G_OPTION_ARG_NONE, &only_names, "Print names only, one a line", NULL },
    { "sequence", 0, 0, G_OPTION_ARG_INT64, &sequence,
      "Tokens of a sequence, for a model's FLOPs (default: 2048)", "N" },
    { "format", 0, 0, G_OPTION_ARG_STRING, &format_name,
      "text (default); of the glossary also json and markdown, of designs markdown", "FORMAT" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && check_sequence (sequence, &error)
                  && check_format (format_name, argc, argv, &format, &error)
                  && describe (argc, argv, (Describe){ NULL, only_names, (guint) sequence, format },
                               wants_schema, &error);

  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("describe", error);
}

const FabCommand fab_command_describe = {
  .name = "describe",
  .summary = "List models, hardware and the keys of a scenario",
  .run = run,
};
