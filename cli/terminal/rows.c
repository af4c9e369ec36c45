/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/terminal/rows.h"

#include <string.h>

#include "sim/base/error.h"

enum {
  MOST_INDENT = 10 /* columns before a label; what stands further to the right continues the row above */
};

/* Bytes of the first cell of a line, from `indent` on. */
static gsize
cell_length (const char *line, gsize indent)
{
  const char *cell = line + indent, *gap = strstr (cell, "  "), *tab = strchr (cell, '\v');
  const char *end = cell + strlen (cell);

  if (gap != NULL)
    end = gap;
  if (tab != NULL && tab < end)
    end = tab;
  return (gsize) (end - cell);
}

static gboolean
is_label (const char *line, gsize indent)
{
  return indent >= 1 && indent < MOST_INDENT && line[indent] != '\0' && line[indent] != '\v';
}

/* The first line of a paragraph, whose first cell is empty. */
static gboolean
is_head (const char *line, gsize indent)
{
  return indent >= MOST_INDENT || line[indent] == '\v';
}

/* Cells of a line, which two blanks or a vertical tab divide. */
static guint
count_cells (const char *line)
{
  guint n = 0;

  while (*(line += strspn (line, " \v")) != '\0') {
    n++;
    line += cell_length (line, 0);
  }
  return n;
}

/* Says whether a cell has this name, or begins with the name and a blank, a comma or a colon. */
static gboolean
has_name (const char *cell, gsize length, const char *name)
{
  gsize n = strlen (name);

  if (n == 0 || n > length)
    return FALSE;
  for (gsize i = 0; i < n; i++)
    if (g_ascii_tolower (cell[i]) != g_ascii_tolower (name[i]) && !(name[i] == '-' && cell[i] == ' '))
      return FALSE;
  return n == length || strchr (" ,:", cell[n]) != NULL;
}

typedef struct {
  char **names;
  gboolean *is_found; /* of each name */
} Choice;

static gboolean
is_chosen (const Choice *self, const char *cell, gsize length)
{
  gboolean is_any = FALSE;

  for (guint i = 0; self->names[i] != NULL; i++)
    if (has_name (cell, length, self->names[i]))
      is_any = self->is_found[i] = TRUE;
  return is_any;
}

static void
append_rows (GString *out, const char *page, const Choice *choice)
{
  g_auto (GStrv) lines = g_strsplit (page, "\n", -1);
  const char *head = NULL; /* of the table, until one of its rows is from */
  gsize from = 0;          /* indent of the chosen row whose lines follow; 0: none */

  for (guint i = 0; lines[i] != NULL; i++) {
    const char *line = lines[i];
    gsize indent = strspn (line, " ");

    if (*line == '\0') {
      from = 0;
      continue;
    }
    if (is_head (line, indent) && (i == 0 || *lines[i - 1] == '\0')) {
      head = line;
      continue;
    }
    if (is_label (line, indent) && is_chosen (choice, line + indent, cell_length (line, indent))
        && (from == 0 || indent <= from))
      from = indent;
    else if (indent <= from)
      from = 0;
    if (from == 0)
      continue;
    if (head != NULL && count_cells (line) > count_cells (head)) {
      g_string_append_printf (out, "%s\n", head);
      head = NULL;
    }
    g_string_append_printf (out, "%s\n", line);
  }
}

/* The names of the rows with at least two cells, each once. */
static char *
list_names (const char *page, const FabRowsPart *parts, guint n_parts)
{
  g_auto (GStrv) lines = g_strsplit (page, "\n", -1);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GString *out = g_string_new (NULL);

  for (guint i = 0; lines[i] != NULL; i++) {
    gsize indent = strspn (lines[i], " "), n = cell_length (lines[i], indent);
    g_autofree char *name = g_strdelimit (g_strndup (lines[i] + indent, n), " ", '-');

    if (!is_label (lines[i], indent) || lines[i][indent + n] == '\0' || g_hash_table_contains (seen, name))
      continue;
    g_string_append_printf (out, "%s%s", out->len > 0 ? ", " : "", name);
    g_hash_table_add (seen, g_steal_pointer (&name));
  }
  for (guint p = 0; p < n_parts; p++)
    g_string_append_printf (out, "%s%s", out->len > 0 ? ", " : "", parts[p].name);
  return g_string_free (out, FALSE);
}

char *
fab_rows_choose (const char *page, const FabRowsPart *parts, guint n_parts, const char *chosen,
                 GError **error)
{
  g_auto (GStrv) names = g_strsplit (chosen, ",", -1);
  g_autofree gboolean *is_found = g_new0 (gboolean, g_strv_length (names) + 1);
  const Choice choice = { names, is_found };
  g_autoptr (GString) out = g_string_new (NULL);

  if (names[0] == NULL) {
    fab_throw (error, FAB_ERROR_INPUT, "--rows: name at least one row");
    return NULL;
  }
  append_rows (out, page, &choice);
  for (guint p = 0; p < n_parts; p++)
    if (is_chosen (&choice, parts[p].name, strlen (parts[p].name)))
      g_string_append_printf (out, "%s%s", parts[p].text, g_str_has_suffix (parts[p].text, "\n") ? "" : "\n");
  for (guint i = 0; names[i] != NULL; i++)
    if (!is_found[i]) {
      g_autofree char *all = list_names (page, parts, n_parts);

      fab_throw (error, FAB_ERROR_INPUT, "--rows %s: this page has no row '%s'; its rows are %s", chosen,
                 names[i], all);
      return NULL;
    }
  return g_strdup (out->str);
}
