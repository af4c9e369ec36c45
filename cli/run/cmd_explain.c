/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_explain.c - `fabricast explain SCENARIO [FIGURE]`: why this number. */
#include <string.h>

#include "answer/explain/explain.h"
#include "cli/cli.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/terminal.h"
#include "cli/verdict.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/nearest.h"
#include "sim/result/table.h"

/* An explanation as a page: each result with its formula, the numbers in it, and what they mean. */

enum { FILE_COLUMNS = 110 };

static const FabStatement *
statement_at (const FabExplanation *explanation, guint index)
{
  return g_ptr_array_index (explanation->statements, index);
}

/* Words in lines below one another. */
static void
append_words (GString *text, guint indent, const char *words)
{
  glong width = fab_terminal_prose_columns (FILE_COLUMNS);
  g_auto (GStrv) parts = g_strsplit_set (words, " \n", -1);
  glong column = 0;

  for (guint i = 0; parts[i] != NULL; i++) {
    glong length = g_utf8_strlen (parts[i], -1);

    if (length == 0)
      continue;
    if (column > 0 && column + 1 + length > width) {
      g_string_append_c (text, '\n');
      column = 0;
    }
    if (column == 0)
      g_string_append_printf (text, "%*s", (int) indent, "");
    else
      g_string_append_c (text, ' ');
    g_string_append (text, parts[i]);
    column += column == 0 ? (glong) indent + length : 1 + length;
  }
  g_string_append_c (text, '\n');
}

/* "*" reads as "x" where there are numbers and names. */
static char *
spoken (const char *formula)
{
  g_auto (GStrv) parts = g_strsplit (formula, "*", -1);

  return g_strjoinv ("x", parts);
}

static void
append_statement (GString *text, const FabStatement *statement)
{
  guint indent = 2 + 2 * statement->depth, under = indent + (guint) strlen (statement->name) + 1;
  g_autofree char *value = fab_term_show (statement->kind, statement->value);
  g_autofree char *numbers = fab_statement_numbers (statement);

  g_string_append_printf (text, "\n%*s%s\n", (int) indent, "", statement->title);
  if (numbers != NULL) {
    g_autofree char *formula = spoken (statement->formula), *shown = spoken (numbers);

    g_string_append_printf (text, "%*s%s = %s\n", (int) indent, "", statement->name, formula);
    g_string_append_printf (text, "%*s= %s\n", (int) under, "", shown);
    if (strcmp (shown, value) != 0)
      g_string_append_printf (text, "%*s= %s\n", (int) under, "", value);
  } else {
    g_string_append_printf (text, "%*s%s = %s\n", (int) indent, "", statement->name, value);
  }
  for (guint i = 0; i < statement->notes->len; i++)
    append_words (text, indent + 2, g_ptr_array_index (statement->notes, i));
  if (statement->source != NULL) {
    g_autofree char *source = g_strconcat ("[", statement->source, "]", NULL);

    append_words (text, indent + 2, source);
  }
}

/* Format the explanation. (transfer full) */
static char *
explain_text (const char *title, const FabExplanation *explanation)
{
  GString *text = g_string_new (NULL);

  fab_cli_append_stops (text, explanation->verdict);
  g_string_append_printf (text, "%s\n", title);
  for (guint i = 0; i < explanation->statements->len; i++)
    append_statement (text, statement_at (explanation, i));
  fab_cli_append_findings (text, explanation->verdict);
  return g_string_free (text, FALSE);
}

/* --- for programs --- */

static const char *const kind_names[] = {
  [FAB_TERM_TIME] = "s",        [FAB_TERM_BYTES] = "B",           [FAB_TERM_RATE] = "B/s",
  [FAB_TERM_FLOPS] = "FLOP",    [FAB_TERM_FLOPS_RATE] = "FLOP/s", [FAB_TERM_FRACTION] = "fraction",
  [FAB_TERM_NUMBER] = "number", [FAB_TERM_MONEY] = "USD",
};

static char *
explain_csv (G_GNUC_UNUSED const char *title, const FabExplanation *explanation)
{
  static const char *const columns[] = { "place",   "depth",   "title",  "name",    "value", "unit",
                                         "formula", "numbers", "source", "verdict", NULL };
  g_autoptr (FabTable) table = fab_table_new (columns);
  g_autofree char *codes = fab_verdict_codes (explanation->verdict);

  for (guint i = 0; i < explanation->statements->len; i++) {
    const FabStatement *statement = statement_at (explanation, i);
    g_autofree char *numbers = fab_statement_numbers (statement);

    fab_table_add_integer (table, i);
    fab_table_add_integer (table, statement->depth);
    fab_table_add_text (table, statement->title);
    fab_table_add_text (table, statement->name);
    fab_table_add_real (table, statement->value);
    fab_table_add_text (table, kind_names[statement->kind]);
    fab_table_add_text (table, statement->formula);
    fab_table_add_text (table, numbers);
    fab_table_add_text (table, statement->source);
    fab_table_add_text (table, codes);
  }
  return fab_table_to_csv (table);
}

static void
add_terms (FabJson *json, const FabStatement *statement)
{
  fab_json_begin_object (json, "terms");
  for (guint i = 0; i < statement->terms->len; i++) {
    const FabTerm *term = &g_array_index (statement->terms, FabTerm, i);

    fab_json_add_real (json, term->name, term->value);
  }
  fab_json_end (json);
}

static void
add_statement (FabJson *json, const FabStatement *statement)
{
  fab_json_begin_object (json, NULL);
  fab_json_add_whole (json, "depth", statement->depth);
  fab_json_add_text (json, "title", statement->title);
  fab_json_add_text (json, "name", statement->name);
  fab_json_add_real (json, "value", statement->value);
  fab_json_add_text (json, "unit", kind_names[statement->kind]);
  fab_json_add_text (json, "formula", statement->formula);
  add_terms (json, statement);
  fab_json_begin_array (json, "notes");
  for (guint i = 0; i < statement->notes->len; i++)
    fab_json_add_text (json, NULL, g_ptr_array_index (statement->notes, i));
  fab_json_end (json);
  fab_json_add_text (json, "source", statement->source);
  fab_json_end (json);
}

static char *
explain_json (const char *title, const FabExplanation *explanation)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "scenario", title);
  fab_json_begin_array (json, "statements");
  for (guint i = 0; i < explanation->statements->len; i++)
    add_statement (json, statement_at (explanation, i));
  fab_json_end (json);
  fab_verdict_add_json (explanation->verdict, json, "verdict");
  fab_json_end (json);
  return fab_json_finish (json);
}

typedef struct {
  char *format_name, *collective;
  char **sets;
  gboolean is_oversized_allowed;
  FabFormat format;
} ExplainOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO [FIGURE]",
  .summary =
      "Explains a figure: its formula, the numbers in it and their sources, down to the lanes of the binding\n"
      "link. Every line can be checked with a pocket calculator.\n\n"
      "FIGURE: step (default), exposed, exposed_time, exposed.data (or another dimension),\n"
      "exposed.inter_node, exposed.intra_node, idle, waiting, mfu, tokens, train, memory, hour_cost,\n"
      "step_cost, token_cost; or run: what of the run was simulated, and what was not.",
  .examples = "  fabricast explain scenarios/hello.yaml\n"
              "  fabricast explain scenarios/ddp-2b-4nodes-200g.yaml memory\n"
              "  fabricast explain scenarios/zero3-13b-slow-fabric.yaml --collective largest\n",
  .min_rest = 1,
  .max_rest = 2,
};

static FabExplanation *
find (const ExplainOptions *o, const FabStudy *study, const char *name, GError **error)
{
  const FabFigure *figure = fab_figure_find (name ? name : "step");

  if (o->collective != NULL && name != NULL) {
    fab_throw (error, FAB_ERROR_INPUT, "give either a figure or --collective, not both");
    return NULL;
  }
  if (o->collective != NULL)
    return fab_explain_collective (study, o->collective, error);
  if (name != NULL && strcmp (name, "run") == 0)
    return fab_explain_run (study, error);
  if (figure != NULL)
    return fab_explain_figure (study, figure, error);
  g_autofree char *names = fab_figure_names ();
  g_autofree char *note = fab_nearest_note (name, names);
  fab_throw (error, FAB_ERROR_INPUT, "there is no figure '%s'%s; these are: %s", name, note, names);
  return NULL;
}

static gboolean
explain (const ExplainOptions *o, const char *path, const char *name, FabExit *code, GError **error)
{
  typedef char *(*ToTextFn) (const char *title, const FabExplanation *explanation);
  static const ToTextFn printers[] = {
    [FAB_FORMAT_TEXT] = explain_text, [FAB_FORMAT_JSON] = explain_json, [FAB_FORMAT_CSV] = explain_csv
  };
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabStudy) study = fab_cli_study (path, o->sets, catalog, error);
  g_autoptr (FabProgress) progress = fab_progress_start ("points");
  g_autoptr (FabExplanation) found = study ? find (o, study, name, error) : NULL;
  g_autofree char *title = found ? fab_cli_study_title (study, error) : NULL;

  if (title == NULL)
    return FALSE;
  fab_progress_stop (progress);
  g_autofree char *text = printers[o->format](title, found);
  g_print ("%s", text);
  *code = fab_cli_verdict_exit (found->verdict, o->is_oversized_allowed);
  return TRUE;
}

static FabExit
run (int argc, char **argv)
{
  ExplainOptions o = { 0 };
  const GOptionEntry entries[] = { { "collective", 0, 0, G_OPTION_ARG_STRING, &o.collective,
                                     "Explain one collective of the last iteration, by its name or `largest`",
                                     "NAME" },
                                   FAB_SET_ENTRY (&o.sets),
                                   FAB_ALLOW_OVERSIZED_ENTRY (&o.is_oversized_allowed),
                                   FAB_FORMAT_ENTRY (&o.format_name),
                                   G_OPTION_ENTRY_NULL };
  FabExit code = FAB_EXIT_DONE;
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && fab_cli_format (o.format_name, &o.format, &error)
                  && explain (&o, argv[1], argc > 2 ? argv[2] : NULL, &code, &error);

  g_free (o.format_name);
  g_free (o.collective);
  g_strfreev (o.sets);
  return is_done ? code : fab_cli_fail ("explain", error);
}

const FabCommand fab_command_explain = {
  .name = "explain",
  .summary = "Show the formulas, numbers and sources behind a figure",
  .run = run,
};
