/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/terminal/fold.h"

#include <string.h>

enum {
  LEAST_ROOM = 24,  /* columns that words need below a cell */
  HANG = 4,         /* columns by which what continues stands to the right */
  PROSE_HANG = 2,   /* of a line that is one sentence */
  PROSE = 88,       /* columns: lines of prose that were broken for a page are longer, */
  MOST_PROSE = 112, /* and no longer than that */
  UNIT = 6,         /* bytes of a unit, with what may follow it: "GB/s)," */
  LONG_WORD = 20,   /* bytes: no figure is so long */
};

guint
fab_fold_width (const char *text, gsize length)
{
  guint columns = 0;

  for (const char *p = text; p < text + length; p = g_utf8_next_char (p)) {
    gunichar c = g_utf8_get_char (p);

    columns += g_unichar_iszerowidth (c) ? 0 : g_unichar_iswide (c) ? 2 : 1;
  }
  return columns;
}

GArray *
fab_fold_cells (const char *line)
{
  GArray *cells = g_array_new (FALSE, FALSE, sizeof (FabFoldCell));
  gsize at = strspn (line, " ");

  while (line[at] != '\0') {
    const char *gap = strstr (line + at, "  ");
    FabFoldCell cell = { at, gap != NULL ? (gsize) (gap - line) : strlen (line), 0 };

    cell.column = fab_fold_width (line, cell.start);
    g_array_append_val (cells, cell);
    at = cell.end + strspn (line + cell.end, " ");
  }
  return cells;
}

static const FabFoldCell *
cell_at (const GArray *cells, guint i)
{
  return &g_array_index (cells, FabFoldCell, i);
}

/* Says whether a cell holds words rather than a figure: it has at least two spaces, or a long word. */
static gboolean
is_words (const char *line, const FabFoldCell *cell)
{
  guint n_spaces = 0;

  for (gsize i = cell->start; i < cell->end; i++)
    n_spaces += line[i] == ' ';
  return n_spaces >= 2 || (n_spaces == 1 && cell->end - cell->start > LONG_WORD);
}

/* --- one line --- */

/* Returns the end of the word that starts here. Words in quotation marks of a shell are one. */
static const char *
word_end (const char *word, gboolean is_command)
{
  char quote = '\0';
  const char *p = word;

  for (; *p != '\0' && (*p != ' ' || quote != '\0'); p++)
    if (is_command && (*p == '\'' || *p == '"') && (quote == '\0' || quote == *p))
      quote = quote == '\0' ? *p : '\0';
  return p;
}

/* "12.5" of "12.5 GB/s", "(-1.4" of "(-1.4 %)": a number and its unit stay on one line. */
static gboolean
is_number (const char *word, const char *end)
{
  while (word < end && strchr ("($+-", *word) != NULL)
    word++;
  if (word == end || !g_ascii_isdigit (*word))
    return FALSE;
  while (word < end && (g_ascii_isalnum (*word) || *word == '.'))
    word++;
  return word == end;
}

/* Returns the end of what may not be broken: a word, or a number with its unit. */
static const char *
piece_end (const char *word, gboolean is_command)
{
  const char *end = word_end (word, is_command);
  const char *next = *end == ' ' && end[1] != ' ' ? end + 1 : end;

  if (is_command || next == end || !is_number (word, end))
    return end;
  const char *next_end = word_end (next, FALSE);
  return next_end > next && next_end - next <= UNIT ? next_end : end;
}

/* Appends words after `column` columns that are taken; continues at `hang`. */
static void
append_words (GString *out, const char *text, guint column, guint hang, guint columns, gboolean is_command)
{
  const char *end = text;

  for (const char *word = text; *word != '\0'; word = end + strspn (end, " ")) {
    guint gap = end > text ? MIN ((guint) (word - end), 2) : 0;

    end = piece_end (word, is_command);
    guint width = fab_fold_width (word, (gsize) (end - word));
    guint after = is_command && end[strspn (end, " ")] != '\0' ? 2 : 0; /* " \\" */

    if (gap > 0 && column + gap + width + after > columns) {
      g_string_append_printf (out, "%s\n%*s", is_command ? " \\" : "", (int) hang, "");
      column = hang;
      gap = 0;
    }
    g_string_append_printf (out, "%*s%.*s", (int) gap, "", (int) (end - word), word);
    column += gap + width;
  }
  g_string_append_c (out, '\n');
}

/* A line to be typed into a shell, and not a message that names the command. */
static gboolean
is_command (const char *line)
{
  const char *word = line + strspn (line, " ");
  const char *second = word + strcspn (word, " ");

  return g_str_has_prefix (word, "fabricast ") && *second != '\0' && second[strcspn (second + 1, " ")] != ':';
}

/* Where the words of a line that is too long hang: columns, and the cell that is folded. */
static void
fold_cells (GString *out, const char *line, const GArray *cells, guint columns)
{
  guint indent = cell_at (cells, 0)->column, last = cells->len - 1;
  const FabFoldCell *cell = cell_at (cells, last);

  if (cells->len == 1) {
    g_string_append_len (out, line, (gssize) cell->start);
    append_words (out, line + cell->start, indent, indent + (is_command (line) ? HANG : PROSE_HANG), columns,
                  is_command (line));
  } else if (cell->column + LEAST_ROOM <= columns && is_words (line, cell)) {
    g_string_append_len (out, line, (gssize) cell->start);
    append_words (out, line + cell->start, cell->column, cell->column, columns, FALSE);
  } else if (is_words (line, cell) && fab_fold_width (line, cell_at (cells, last - 1)->end) <= columns) {
    g_string_append_len (out, line, (gssize) cell_at (cells, last - 1)->end);
    g_string_append_printf (out, "\n%*s", (int) indent + HANG, "");
    append_words (out, line + cell->start, indent + HANG, indent + HANG, columns, FALSE);
  } else {
    g_string_append_len (out, line, (gssize) cell_at (cells, 0)->start);
    append_words (out, line + cell_at (cells, 0)->start, indent, indent + HANG, columns, FALSE);
  }
}

/* Appends one line without its end. Tabs and "|" make a row of a table for other programs. */
static void
fold_line (GString *out, const char *line, guint columns)
{
  g_autoptr (GArray) cells = NULL;

  if (fab_fold_width (line, strlen (line)) > columns && strchr (line, '\t') == NULL && *line != '|')
    cells = fab_fold_cells (line);
  if (cells != NULL && cells->len > 0)
    fold_cells (out, line, cells, columns);
  else
    g_string_append_printf (out, "%s\n", line);
}

/* --- paragraphs --- */

/* Says whether the line is too long and goes on in the next one: prose that was broken for a wider page, and not two
 * lines of a list. */
static gboolean
goes_on (const char *line, const char *next, guint columns)
{
  gsize length = strlen (line), indent = strspn (line, " ");
  const char *word = next + strspn (next, " ");

  guint width = fab_fold_width (line, length);

  return width > MAX (columns, PROSE) && width <= MOST_PROSE && strcspn (word, ":=") >= strcspn (word, " ")
      && strstr (next, ": ") == NULL && strchr ("#|-", *word) == NULL
      && strchr (".:;!?", line[length - 1]) == NULL && strstr (line + indent, "  ") == NULL
      && strspn (next, " ") == indent && next[indent] != '\0' && strstr (next + indent, "  ") == NULL
      && !is_command (line) && strchr (next, '\t') == NULL;
}

void
fab_fold_paragraph (GString *out, const char *const *lines, guint n, guint columns)
{
  for (guint i = 0; i < n; i++) {
    g_autoptr (GString) whole = g_string_new (lines[i]);

    while (i + 1 < n && goes_on (lines[i], lines[i + 1], columns)) {
      i++;
      g_string_append_printf (whole, " %s", lines[i] + strspn (lines[i], " "));
    }
    fold_line (out, whole->str, columns);
  }
}

/* --- prose --- */

char *
fab_fold_prose (const char *text, guint columns)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GString) sentence = g_string_new (NULL);
  GString *out = g_string_new (NULL);

  for (guint i = 0; lines[i] != NULL; i++) {
    gboolean is_prose = *lines[i] != '\0' && *lines[i] != ' ';

    if (is_prose)
      g_string_append_printf (sentence, "%s%s", sentence->len > 0 ? " " : "", lines[i]);
    if (sentence->len > 0 && (!is_prose || lines[i + 1] == NULL)) {
      append_words (out, sentence->str, 0, 0, columns, FALSE);
      g_string_truncate (sentence, 0);
    }
    if (!is_prose && (*lines[i] != '\0' || lines[i + 1] != NULL))
      g_string_append_printf (out, "%s\n", lines[i]);
  }
  return g_string_free (out, FALSE);
}
