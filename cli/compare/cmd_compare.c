/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_compare.c - `fabricast compare SCENARIO...`: several scenarios, variants or fidelities, and where they
 * differ. */
#include "cli/compare/cmd_compare.h"

#include <math.h>
#include <string.h>

#include "answer/compare/fidelities.h"
#include "cli/cli.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/rows.h"
#include "cli/terminal/terminal.h"
#include "cli/verdict.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/nearest.h"
#include "sim/base/units.h"

/* --- pages of fidelities --- */

/* What the pages show. `left_out` has a line for each variant that could not run, with the reason, NULL-ended; or
 * NULL. */
typedef struct {
  const FabContrast *contrast;
  const char *title;
  char **left_out;
} FabCompareView;

/* The table of `fabricast compare`: rows are times, columns are variants; then why, in words. */

enum { NAME_COLUMNS = 36, LEAST_COLUMNS = 12, MOST_SORTS = 8, MOST_LINKS = 3 };

static const double no_difference = 5e-4; /* of the step: a link that differs less is not worth a row */

static void
append_name (FabComparePage *page, guint indent, const char *name)
{
  g_autofree char *printable = fab_cli_printable (name);
  glong length = g_utf8_strlen (printable, -1) + indent;

  g_string_append_printf (page->out, "%*s%s", (int) indent, "", printable);
  if (length >= NAME_COLUMNS)
    g_string_append_printf (page->out, "\n%*s", NAME_COLUMNS, "");
  else
    g_string_append_printf (page->out, "%*s", (int) (NAME_COLUMNS - length), "");
}

static void
append_cell (FabComparePage *page, const char *text)
{
  glong length = g_utf8_strlen (text, -1);

  g_string_append_printf (page->out, "%*s%s", (int) MAX ((glong) page->width - length, 1), "", text);
}

void
fab_compare_append_cells (FabComparePage *page, guint indent, const char *name, char *const *cells)
{
  append_name (page, indent, name);
  for (guint k = page->first; k < page->last; k++)
    append_cell (page, cells[k] != NULL ? cells[k] : "-");
  g_string_append_c (page->out, '\n');
}

static void
append_row (FabComparePage *page, guint indent, const char *name, const double *times_s)
{
  append_name (page, indent, name);
  for (guint k = page->first; k < page->last; k++) {
    g_autofree char *shown = isnan (times_s[k])
                               ? g_strdup ("-")
                               : fab_units_show (FAB_UNIT_TIME,
                                                 round (fabs (times_s[k]) * (double) FAB_PS_PER_S));
    g_autofree char *cell = g_strconcat (!isnan (times_s[k]) && times_s[k] < -1e-12 ? "-" : "", shown, NULL);

    append_cell (page, cell);
  }
  g_string_append_c (page->out, '\n');
}

void
fab_compare_append_head (FabComparePage *page)
{
  append_name (page, 2, "");
  for (guint k = page->first; k < page->last; k++) {
    g_autofree char *name = fab_cli_printable (fab_contrast_variant (page->contrast, k)->name);

    append_cell (page, name);
  }
  g_string_append_c (page->out, '\n');
}

static void
append_difference (FabComparePage *page, const FabContrastRow *step)
{
  const FabVariant *base = fab_contrast_variant (page->contrast, page->contrast->base);
  g_autofree char *name = g_strconcat ("against ", base->name, NULL);
  double base_s = step->times_s[page->contrast->base];

  append_name (page, 4, name);
  for (guint k = page->first; k < page->last; k++) {
    double percent = base_s > 0 ? 100 * (step->times_s[k] / base_s - 1) : 0;
    /* what shows as none has no sign of less */
    g_autofree char *cell = k == page->contrast->base
                              ? g_strdup ("-")
                              : g_strdup_printf ("%+.2f %%", fabs (percent) < 0.005 ? 0 : percent);

    append_cell (page, cell);
  }
  g_string_append_c (page->out, '\n');
}

static const FabContrastRow *
row_at (const FabContrast *contrast, guint index)
{
  return &g_array_index (contrast->rows, FabContrastRow, index);
}

static guint
count_rows (const FabContrast *contrast, FabFactKind kind)
{
  guint n = 0;

  for (guint i = 0; i < contrast->rows->len; i++)
    n += row_at (contrast, i)->kind == kind;
  return n;
}

static void
append_sums (FabComparePage *page, FabFactKind kind, const char *name)
{
  g_autofree double *sums_s = g_new (double, page->contrast->variants->len);

  for (guint k = 0; k < page->contrast->variants->len; k++)
    sums_s[k] = fab_variant_sum_s (fab_contrast_variant (page->contrast, k), kind);
  append_row (page, 2, name, sums_s);
}

/* Says why a sum is longer than the step that it is part of. */
static void
append_overlap (FabComparePage *page)
{
  for (guint k = 0; k < page->contrast->variants->len; k++) {
    const FabVariant *variant = fab_contrast_variant (page->contrast, k);

    if (fab_variant_sum_s (variant, FAB_FACT_COLLECTIVES) <= fab_variant_time_s (variant, FAB_FACT_STEP))
      continue;
    g_string_append (page->out,
                     "    (many of them run at the same time, so their sum may exceed the step)\n");
    return;
  }
}

/* What a step is made of: it adds up. */
void
fab_compare_append_step (FabComparePage *page)
{
  gboolean has_parts = count_rows (page->contrast, FAB_FACT_EXPOSED_BY) > 1;

  for (guint i = 0; i < page->contrast->rows->len; i++) {
    const FabContrastRow *row = row_at (page->contrast, i);

    if (row->kind < FAB_FACT_EXPOSED_BY || row->kind == FAB_FACT_IDLE)
      append_row (page, row->kind == FAB_FACT_OVERLAPPED || row->kind == FAB_FACT_EXPOSED ? 4 : 2,
                  fab_fact_names[row->kind], row->times_s);
    else if (row->kind == FAB_FACT_EXPOSED_BY && has_parts)
      append_row (page, 6, row->name, row->times_s);
    if (row->kind == FAB_FACT_STEP)
      append_difference (page, row);
  }
  g_string_append_c (page->out, '\n');
}

void
fab_compare_append_sorts (FabComparePage *page)
{
  guint n = count_rows (page->contrast, FAB_FACT_COLLECTIVES), n_shown = 0;

  if (n == 0)
    return;
  append_sums (page, FAB_FACT_COLLECTIVES, "collectives, sums of their times");
  append_overlap (page);
  for (guint i = 0; i < page->contrast->rows->len; i++) {
    const FabContrastRow *row = row_at (page->contrast, i);
    g_autofree char *name = row->n > 0 ? g_strdup_printf ("%u x %s", row->n, row->name)
                                       : g_strdup (row->name);

    if (row->kind == FAB_FACT_COLLECTIVES && n > 1 && n_shown++ < MOST_SORTS)
      append_row (page, 4, name, row->times_s);
  }
  if (n > MOST_SORTS)
    g_string_append_printf (page->out, "    and %u more %s: --format csv\n", n - MOST_SORTS,
                            fab_plural (n - MOST_SORTS, "kind", "kinds"));
  append_sums (page, FAB_FACT_CONTENTION, "  beyond an idle network's");
  append_sums (page, FAB_FACT_WAITING, "  waiting for their last rank");
  g_string_append_c (page->out, '\n');
}

void
fab_compare_append_links (FabComparePage *page)
{
  double step_s = fab_variant_time_s (fab_contrast_variant (page->contrast, page->contrast->base),
                                      FAB_FACT_STEP);
  guint n_shown = 0;

  for (guint i = 0; i < page->contrast->rows->len && n_shown < MOST_LINKS; i++) {
    const FabContrastRow *row = row_at (page->contrast, i);

    if (row->kind != FAB_FACT_LINK || fab_contrast_spread_s (page->contrast, row) <= no_difference * step_s)
      continue;
    if (n_shown++ == 0)
      g_string_append (page->out, "  busy links, largest differences\n");
    append_row (page, 4, row->name, row->times_s);
  }
  if (n_shown > 0)
    g_string_append_c (page->out, '\n');
}

void
fab_compare_append_verdicts (FabComparePage *page)
{
  g_string_append (page->out, "\n  verdicts\n");
  for (guint k = 0; k < page->contrast->variants->len; k++) {
    const FabVariant *variant = fab_contrast_variant (page->contrast, k);

    fab_cli_append_codes (page->out, variant->name, variant->verdict);
  }
}

void
fab_compare_page_init (FabComparePage *page, const FabContrast *contrast)
{
  *page = (FabComparePage){ .out = g_string_new (NULL), .contrast = contrast, .width = LEAST_COLUMNS };
  for (guint k = 0; k < contrast->variants->len; k++)
    page->width = MAX (page->width, (guint) strlen (fab_contrast_variant (contrast, k)->name) + 2);
}

gboolean
fab_compare_page_next (FabComparePage *page)
{
  guint n = page->contrast->variants->len, columns = fab_terminal_page_columns (G_MAXUINT);
  guint room = columns > NAME_COLUMNS ? (columns - NAME_COLUMNS) / page->width : 0;

  page->first = page->last;
  page->last = MIN (n, page->first + MIN (MAX (room, 1), n));
  return page->first < n;
}

/* Format the view. (transfer full) */
static char *
compare_text (const FabCompareView *view)
{
  FabComparePage page;
  g_autofree char *title = fab_cli_printable (view->title);

  fab_compare_page_init (&page, view->contrast);
  fab_cli_append_stops (page.out, fab_contrast_variant (view->contrast, view->contrast->base)->verdict);
  g_string_append_printf (page.out, "%s\n\n", title);
  while (fab_compare_page_next (&page)) {
    fab_compare_append_head (&page);
    fab_compare_append_step (&page);
    fab_compare_append_sorts (&page);
    fab_compare_append_links (&page);
  }
  for (guint k = 0; k < view->contrast->variants->len; k++) {
    g_autofree char *words = fab_contrast_explain (view->contrast, k, NAN);

    if (k != view->contrast->base)
      g_string_append_printf (page.out, "  %s\n", words);
  }
  for (guint i = 0; view->left_out && view->left_out[i]; i++)
    g_string_append_printf (page.out, "  %s\n", view->left_out[i]);
  fab_compare_append_verdicts (&page);
  return g_string_free (page.out, FALSE);
}

/* `fabricast compare` for programs: a row for each time of each variant, and one JSON object. */

enum { COMPARE_DATA_MOST_LINKS = 10 };

/* Links are many: those that differ most are enough. */
static gboolean
is_printed (const FabContrast *contrast, guint index)
{
  guint n_links = 0;

  for (guint i = index; i > 0 && n_links <= COMPARE_DATA_MOST_LINKS; i--)
    n_links += g_array_index (contrast->rows, FabContrastRow, i - 1).kind == FAB_FACT_LINK;
  return g_array_index (contrast->rows, FabContrastRow, index).kind != FAB_FACT_LINK
      || n_links < COMPARE_DATA_MOST_LINKS;
}

static void
append_field (GString *out, const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, "\"", -1);
  g_autofree char *escaped = g_strjoinv ("\"\"", parts);

  g_string_append_printf (
      out, g_str_has_prefix (escaped, text) && strpbrk (text, ",\n\r") == NULL ? "%s" : "\"%s\"", escaped);
}

static char *
compare_csv (const FabCompareView *view)
{
  const FabContrast *contrast = view->contrast;
  GString *out = g_string_new ("scenario,fidelity,kind,name,time_s,difference_s\n");

  for (guint k = 0; k < contrast->variants->len; k++)
    for (guint i = 0; i < contrast->rows->len && is_printed (contrast, i); i++) {
      const FabContrastRow *row = &g_array_index (contrast->rows, FabContrastRow, i);
      const FabVariant *variant = fab_contrast_variant (contrast, k);
      double difference_s = row->times_s[k] - row->times_s[contrast->base];

      if (isnan (row->times_s[k]))
        continue;
      append_field (out, variant->scenario);
      g_string_append_printf (out, ",%s,%s,", variant->fidelity, fab_fact_names[row->kind]);
      append_field (out, row->name);
      g_string_append_printf (out, ",%.12g,", row->times_s[k]);
      if (k != contrast->base && !isnan (difference_s))
        g_string_append_printf (out, "%.12g", fabs (difference_s) < 5e-13 ? 0.0 : difference_s);
      g_string_append_c (out, '\n');
    }
  return g_string_free (out, FALSE);
}

static void
add_facts (FabJson *json, const FabContrast *contrast, guint index)
{
  fab_json_begin_array (json, "times");
  for (guint i = 0; i < contrast->rows->len && is_printed (contrast, i); i++) {
    const FabContrastRow *row = &g_array_index (contrast->rows, FabContrastRow, i);

    if (isnan (row->times_s[index]))
      continue;
    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "kind", fab_fact_names[row->kind]);
    if (row->name[0] != '\0')
      fab_json_add_text (json, "name", row->name);
    if (row->n > 0)
      fab_json_add_whole (json, "collectives", row->n);
    fab_json_add_real (json, "time_s", row->times_s[index]);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_variant (FabJson *json, const FabContrast *contrast, guint index)
{
  const FabVariant *variant = fab_contrast_variant (contrast, index);
  double step_s = fab_variant_time_s (variant, FAB_FACT_STEP);
  double base_s = fab_variant_time_s (fab_contrast_variant (contrast, contrast->base), FAB_FACT_STEP);
  g_autofree char *words = index != contrast->base ? fab_contrast_explain (contrast, index, NAN) : NULL;

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "scenario", variant->scenario);
  fab_json_add_text (json, "fidelity", variant->fidelity);
  fab_json_add_real (json, "step_s", step_s);
  fab_json_add_real (json, "exposed_s", fab_variant_time_s (variant, FAB_FACT_EXPOSED));
  if (index != contrast->base && base_s > 0)
    fab_json_add_real (json, "difference_fraction", step_s / base_s - 1);
  if (words != NULL)
    fab_json_add_text (json, "explanation", words);
  fab_verdict_add_json (variant->verdict, json, "verdict");
  add_facts (json, contrast, index);
  fab_json_add_whole (json, "events", (gint64) variant->n_events);
  fab_json_begin_object (json, "measured");
  fab_json_add_real (json, "wall_s", variant->wall_s);
  fab_json_end (json);
  fab_json_end (json);
}

void
fab_compare_add_variants (FabJson *json, const FabContrast *contrast)
{
  fab_json_begin_array (json, "variants");
  for (guint k = 0; k < contrast->variants->len; k++)
    add_variant (json, contrast, k);
  fab_json_end (json);
}

static char *
compare_json (const FabCompareView *view)
{
  const FabContrast *contrast = view->contrast;
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "title", view->title);
  fab_json_add_text (json, "against", fab_contrast_variant (contrast, contrast->base)->name);
  fab_compare_add_variants (json, contrast);
  fab_json_begin_array (json, "left_out");
  for (guint i = 0; view->left_out && view->left_out[i]; i++)
    fab_json_add_text (json, NULL, view->left_out[i]);
  fab_json_end (json);
  fab_json_end (json);
  return fab_json_finish (json);
}

/* The fidelities that are asked for by name. */

static void
compare_note_unknown (const char *command, const char *option, const char *name, GString *mistakes)
{
  g_autofree const char **known = fab_registry_names (&fab_models, FAB_MODEL_NET);
  const char *nearest = fab_nearest (name, (const char *const *) known);
  g_autofree char *all = g_strjoinv (", ", (char **) known);

  g_string_append_printf (mistakes, "fabricast %s: %s: unknown fidelity '%s'; ", command, option, name);
  g_string_append_printf (mistakes, nearest ? "nearest is '%s'\n" : "the fidelities are %s\n",
                          nearest ? nearest : all);
}

char **
fab_compare_fidelities (const char *command, const char *list, GString *mistakes)
{
  g_autofree const char **known = fab_registry_names (&fab_models, FAB_MODEL_NET);
  g_auto (GStrv) words = list ? g_strsplit (list, ",", -1) : g_strdupv ((char **) known);
  GPtrArray *names = g_ptr_array_new ();

  for (guint i = 0; words[i]; i++) {
    const char *word = g_strstrip (words[i]);

    if (!g_strv_contains ((const char *const *) known, word))
      compare_note_unknown (command, "--fidelity", word, mistakes);
    else if (g_ptr_array_find_with_equal_func (names, word, g_str_equal, NULL))
      g_string_append_printf (mistakes, "fabricast %s: --fidelity: '%s' is given twice\n", command, word);
    else
      g_ptr_array_add (names, g_strdup (word));
  }
  if (words[0] == NULL)
    g_string_append_printf (mistakes,
                            "fabricast %s: --fidelity: give at least one, for example analytic,fluid\n",
                            command);
  g_ptr_array_add (names, NULL);
  return (char **) g_ptr_array_free (names, FALSE);
}

/* One scenario at several fidelities, and where they differ. */

/* --- what is asked for --- */

/* The names of --fidelity; NULL without it. (transfer full) */
static char **
wanted_names (const FabCompareOptions *o, GString *mistakes)
{
  g_autofree const char **known = fab_registry_names (&fab_models, FAB_MODEL_NET);
  g_auto (GStrv) names = o->fidelity ? fab_compare_fidelities ("compare", o->fidelity, mistakes) : NULL;

  if (o->against && !g_strv_contains ((const char *const *) known, o->against))
    compare_note_unknown ("compare", "--against", o->against, mistakes);
  else if (o->against && names && !g_strv_contains ((const char *const *) names, o->against))
    g_string_append_printf (
        mistakes, "fabricast compare: --against %s: this is not one of the fidelities of --fidelity\n",
        o->against);
  return g_steal_pointer (&names);
}

/* The mistakes of the options and of the scenario, all at once. NULL and *error when there are any. */
static FabScenario *
load_checked (const FabCompareOptions *o, const char *path, const FabCatalog *catalog, GString *mistakes,
              GError **error)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (FabScenario) scenario = fab_cli_scenario (path, o->sets, catalog, &problem);

  if (scenario != NULL && mistakes->len == 0)
    return g_steal_pointer (&scenario);
  if (mistakes->len == 0) {
    g_propagate_error (error, g_steal_pointer (&problem));
    return NULL;
  }
  if (problem != NULL && strchr (problem->message, '\n') == NULL)
    g_string_append_printf (mistakes, "fabricast compare: %s\n", problem->message);
  else if (problem != NULL)
    g_string_append (mistakes, problem->message);
  fab_throw (error, FAB_ERROR_INPUT, "%s", mistakes->str);
  return NULL;
}

/* The one that was named to be held against cannot be left out. */
static gboolean
check_base (const char *against, const FabFidelitiesAnswer *answer, GError **error)
{
  const FabContrast *contrast = answer->contrast;

  return against == NULL || strcmp (fab_contrast_variant (contrast, contrast->base)->name, against) == 0
      || fab_throw (error, FAB_ERROR_INPUT, "--against %s: %s", against, answer->left_out[0]);
}

/* Run the variants and print the page. */
static gboolean
compare_at_fidelities (const FabCompareOptions *o, const char *path, FabExit *code, GError **error)
{
  typedef char *(*ToTextFn) (const FabCompareView *view);
  static const ToTextFn printers[] = {
    [FAB_FORMAT_TEXT] = compare_text, [FAB_FORMAT_JSON] = compare_json, [FAB_FORMAT_CSV] = compare_csv
  };
  g_autoptr (GString) mistakes = g_string_new (NULL);
  g_auto (GStrv) names = wanted_names (o, mistakes);
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabScenario) scenario = catalog ? load_checked (o, path, catalog, mistakes, error) : NULL;

  if (scenario == NULL)
    return FALSE;
  g_autoptr (FabProgress) progress = fab_progress_start ("fidelities");
  const FabFidelitiesRequest request = { &fab_models, (const char *const *) names, o->against,
                                         fab_cli_threads (), fab_progress_pulse (progress) };
  g_autoptr (FabFidelitiesAnswer) answer = fab_fidelities_answer (scenario, &request, error);
  fab_progress_stop (progress);
  if (answer == NULL || !check_base (o->against, answer, error))
    return FALSE;
  const FabContrast *contrast = answer->contrast;
  g_autofree char *title = fab_cli_title (scenario);
  g_autofree char *text = printers[o->format](&(FabCompareView){ contrast, title, answer->left_out });
  if (!fab_cli_print_rows (o->format, text, o->rows, error))
    return FALSE;
  *code = fab_cli_verdict_exit (fab_contrast_variant (contrast, contrast->base)->verdict,
                                o->is_oversized_allowed);
  return TRUE;
}

enum { MOST_SCENARIOS = 16 };

static const FabUsage usage = {
  .arguments = "SCENARIO...",
  .summary =
      "Simulates several scenarios, variants of one scenario (--vary), or one scenario at several fidelities\n"
      "of the network (the default for one scenario), and prints them side by side. It shows the figures, the\n"
      "parts of a step, and the origin of each difference: dimensions, collectives, contention, waiting,\n"
      "links.\n\n"
      "Times are those of the last iteration. --at-equal finds the value of a key with which the others equal\n"
      "the first scenario in a figure.",
  .examples =
      "  fabricast compare scenarios/ddp-2b-4nodes-200g.yaml scenarios/ddp-2b-4nodes-400g.yaml\n"
      "  fabricast compare scenarios/compare-domain-8.yaml scenarios/compare-domain-72.yaml --at-equal step\n"
      "  fabricast compare scenarios/hello.yaml --vary cluster.nodes=2,4 --set job.micro_batch=2\n"
      "  fabricast compare scenarios/neighbour-oversubscribed.yaml --fidelity fluid,analytic\n",
  .min_rest = 1,
  .max_rest = MOST_SCENARIOS,
};

static gboolean
compare (const FabCompareOptions *o, char **paths, guint n_paths, FabExit *code, GError **error)
{
  gboolean has_sides = n_paths > 1 || o->vary != NULL;

  if (o->vary != NULL && n_paths > 1)
    return fab_throw (error, FAB_ERROR_INPUT, "--vary makes variants of one scenario, not of %u", n_paths);
  if (has_sides && o->fidelity != NULL)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "--fidelity compares fidelities of one scenario; here --set fidelity=NAME sets one");
  if (o->equal == NULL && o->by != NULL)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "--by names the key that --at-equal may change; give --at-equal too");
  if (!has_sides && o->equal != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "--at-equal needs two scenarios, or --vary");
  if (!has_sides && o->seeds != NULL)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "--seeds needs two scenarios, or --vary; fidelities are compared with the seed of the scenario");
  return has_sides ? fab_compare_sides (o, paths, n_paths, code, error)
                   : compare_at_fidelities (o, paths[0], code, error);
}

static FabExit
run (int argc, char **argv)
{
  FabCompareOptions o = { 0 };
  const GOptionEntry entries[] = {
    { "fidelity", 0, 0, G_OPTION_ARG_STRING, &o.fidelity,
      "Fidelities, separated by commas (default: analytic and the scenario's own)", "NAMES" },
    { "vary", 0, 0, G_OPTION_ARG_STRING, &o.vary, "Compare variants: one for each value of a key",
      "KEY=VALUES" },
    { "against", 0, 0, G_OPTION_ARG_STRING, &o.against,
      "The one that others are compared with (default: the first)", "NAME" },
    { "at-equal", 0, 0, G_OPTION_ARG_STRING, &o.equal,
      "Find the value with which the others equal it in this figure", "FIGURE" },
    { "by", 0, 0, G_OPTION_ARG_STRING, &o.by, "Key that --at-equal may change (default: cluster.nic_rate)",
      "KEY[=VALUES]" },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.sets, "Override a key of every scenario; repeatable",
      "KEY=VALUE" },
    FAB_HOLD_ENTRY (&o.hold),
    FAB_SEEDS_ENTRY (&o.seeds),
    { "no-band", 0, 0, G_OPTION_ARG_NONE, &o.has_no_band,
      "Print no bands of steps and differences; saves further simulations", NULL },
    FAB_ALLOW_OVERSIZED_ENTRY (&o.is_oversized_allowed),
    FAB_ROWS_ENTRY (&o.rows, "step,exposed"),
    FAB_FORMAT_ENTRY (&o.format_name),
    G_OPTION_ENTRY_NULL
  };
  FabExit code = FAB_EXIT_DONE;
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && fab_cli_format (o.format_name, &o.format, &error)
                  && fab_cli_check_rows (o.format, o.rows, &error)
                  && compare (&o, argv + 1, (guint) argc - 1, &code, &error);

  g_free (o.format_name);
  g_free (o.fidelity);
  g_free (o.seeds);
  g_free (o.hold);
  g_free (o.vary);
  g_free (o.against);
  g_free (o.equal);
  g_free (o.by);
  g_free (o.rows);
  g_strfreev (o.sets);
  return is_done ? code : fab_cli_fail ("compare", error);
}

const FabCommand fab_command_compare = {
  .name = "compare",
  .summary = "Compare scenarios, variants or fidelities, and explain the differences",
  .run = run,
};
