/* SPDX-License-Identifier: Apache-2.0 */
/* explain_print.c - an explanation as a page: each result with its formula, the numbers in it, and what they mean. */
#include <string.h>

#include "cli/explain.h"
#include "sim/base/json.h"
#include "sim/result/table.h"

enum { WIDTH = 110 };

static const FabStatement *
statement_at (const FabExplanation *explanation, guint index)
{
  return g_ptr_array_index (explanation->statements, index);
}

/* Words in lines below one another. */
static void
append_words (GString *text, guint indent, const char *words)
{
  g_auto (GStrv) parts = g_strsplit_set (words, " \n", -1);
  glong column = 0;

  for (guint i = 0; parts[i] != NULL; i++) {
    glong length = g_utf8_strlen (parts[i], -1);

    if (length == 0)
      continue;
    if (column > 0 && column + 1 + length > WIDTH) {
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

char *
fab_explain_text (const char *title, const FabExplanation *explanation)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%s\n", title);
  for (guint i = 0; i < explanation->statements->len; i++)
    append_statement (text, statement_at (explanation, i));
  return g_string_free (text, FALSE);
}

/* --- for programs --- */

static const char *const kind_names[] = {
  [FAB_TERM_TIME] = "s",        [FAB_TERM_BYTES] = "B",           [FAB_TERM_RATE] = "B/s",
  [FAB_TERM_FLOPS] = "FLOP",    [FAB_TERM_FLOPS_RATE] = "FLOP/s", [FAB_TERM_FRACTION] = "fraction",
  [FAB_TERM_NUMBER] = "number", [FAB_TERM_MONEY] = "USD",
};

char *
fab_explain_csv (G_GNUC_UNUSED const char *title, const FabExplanation *explanation)
{
  static const char *const columns[] = { "place", "depth",   "title",   "name",   "value",
                                         "unit",  "formula", "numbers", "source", NULL };
  g_autoptr (FabTable) table = fab_table_new (columns);

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

char *
fab_explain_json (const char *title, const FabExplanation *explanation)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "scenario", title);
  fab_json_begin_array (json, "statements");
  for (guint i = 0; i < explanation->statements->len; i++)
    add_statement (json, statement_at (explanation, i));
  fab_json_end (json);
  fab_json_end (json);
  return fab_json_finish (json);
}
