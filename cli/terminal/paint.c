/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/terminal/paint.h"

#include <string.h>

#include "cli/terminal/fold.h"

enum { HEADING_COLUMNS = 52, HEAD_CELLS = 3, EXPOSED_CELLS = 3 };

const char *
fab_paint_code (FabStyle style)
{
  static const char *const codes[] = {
    [FAB_STYLE_PLAIN] = "\033[0m", [FAB_STYLE_HEADING] = "\033[1m", [FAB_STYLE_WARNING] = "\033[33m",
    [FAB_STYLE_BAD] = "\033[31m",  [FAB_STYLE_GOOD] = "\033[32m",   [FAB_STYLE_FAINT] = "\033[2m",
  };

  return codes[style];
}

/* A line and the style of each of its bytes. */
typedef struct {
  const char *text;
  guint8 *styles;
  GArray *cells;
} Line;

static void
style_bytes (Line *line, gsize start, gsize end, FabStyle style)
{
  memset (line->styles + start, style, end - start);
}

static const FabFoldCell *
cell_at (const Line *line, guint i)
{
  return &g_array_index (line->cells, FabFoldCell, i);
}

static gboolean
starts_with (const Line *line, const char *word)
{
  const FabFoldCell *cell = line->cells->len > 0 ? cell_at (line, 0) : NULL;

  return cell != NULL && cell->end - cell->start == strlen (word)
      && strncmp (line->text + cell->start, word, cell->end - cell->start) == 0;
}

/* Every place of a phrase. */
static void
style_phrase (Line *line, const char *phrase, FabStyle style)
{
  for (const char *at = strstr (line->text, phrase); at != NULL; at = strstr (at + 1, phrase))
    style_bytes (line, (gsize) (at - line->text), (gsize) (at - line->text) + strlen (phrase), style);
}

/* "exposed  2.916 ms  0.8 %", or the row of a timeline; not where nothing is exposed, and not the head of a table. */
static void
style_exposed (Line *line)
{
  guint last = MIN (line->cells->len, EXPOSED_CELLS) - 1;
  const FabFoldCell *value;

  if (!starts_with (line, "exposed") || line->cells->len < 2)
    return;
  value = cell_at (line, 1);
  if (strncmp (line->text + value->start, "0 s", 3) != 0 && !g_ascii_isalpha (line->text[value->start]))
    style_bytes (line, cell_at (line, 0)->start, cell_at (line, last)->end, FAB_STYLE_BAD);
}

/* The row of a class of ranks in a timeline: "rank 8  FFFF..BB====". */
static void
style_timeline (Line *line)
{
  const char *at = line->text + strspn (line->text, " ");

  if (!g_str_has_prefix (at, "rank ") || !g_ascii_isdigit (at[5]))
    return;
  at += 5 + strspn (at + 5, "0123456789 ");
  for (const char *p = at; *p != '\0'; p++)
    if (*p == '=' || *p == '.')
      style_bytes (line, (gsize) (p - line->text), (gsize) (p - line->text) + 1,
                   *p == '=' ? FAB_STYLE_BAD : FAB_STYLE_FAINT);
}

/* The head of a table: several cells without a figure. */
static gboolean
is_head (const Line *line)
{
  return line->cells->len >= HEAD_CELLS && strpbrk (line->text, "0123456789") == NULL;
}

/* A few words above what they speak of. */
static gboolean
is_heading (const Line *line)
{
  const FabFoldCell *cell = line->cells->len == 1 ? cell_at (line, 0) : NULL;
  char last = cell != NULL ? line->text[cell->end - 1] : '.';

  return cell != NULL && strchr (".,;", last) == NULL && cell->end - cell->start <= HEADING_COLUMNS
      && !g_str_has_prefix (line->text + cell->start, "fabricast ");
}

/* "fabricast run: ", before a message. */
static void
style_message (Line *line)
{
  const char *end = g_str_has_prefix (line->text, "fabricast ") ? strstr (line->text, ": ") : NULL;

  if (end != NULL
      && strcspn (line->text + strlen ("fabricast "), " ") + strlen ("fabricast ")
             > (gsize) (end - line->text))
    style_bytes (line, 0, (gsize) (end - line->text) + 1, FAB_STYLE_HEADING);
}

/* "fsdp-8b: Llama 3 8B on 64 GPUs", which may be folded; "Usage:" is none. */
static gboolean
is_title (const char *line)
{
  return *line != ' ' && *line != '\0' && strstr (line, "  ") == NULL && !g_str_has_suffix (line, ":");
}

static void
style_line (Line *line, guint i, guint n, gboolean is_first)
{
  if ((is_first && i == 0 && is_title (line->text))
      || (i == 0 && n > 1 && (is_heading (line) || is_head (line))))
    style_bytes (line, 0, strlen (line->text), FAB_STYLE_HEADING);
  style_exposed (line);
  style_timeline (line);
  if (starts_with (line, "stop"))
    style_bytes (line, cell_at (line, 0)->start, strlen (line->text), FAB_STYLE_BAD);
  if (starts_with (line, "caution"))
    style_bytes (line, cell_at (line, 0)->start, cell_at (line, 0)->end, FAB_STYLE_WARNING);
  style_message (line);
  style_phrase (line, "warning:", FAB_STYLE_WARNING);
  style_phrase (line, "does not fit", FAB_STYLE_BAD);
  style_phrase (line, "< best", FAB_STYLE_GOOD);
}

static void
append_styled (GString *out, const Line *line)
{
  FabStyle now = FAB_STYLE_PLAIN;

  for (gsize i = 0; line->text[i] != '\0'; i++) {
    if (line->styles[i] != now) {
      if (now != FAB_STYLE_PLAIN)
        g_string_append (out, fab_paint_code (FAB_STYLE_PLAIN));
      now = line->styles[i];
      if (now != FAB_STYLE_PLAIN)
        g_string_append (out, fab_paint_code (now));
    }
    g_string_append_c (out, line->text[i]);
  }
  g_string_append_printf (out, "%s\n", now != FAB_STYLE_PLAIN ? fab_paint_code (FAB_STYLE_PLAIN) : "");
}

void
fab_paint_paragraph (GString *out, const char *const *lines, guint n, gboolean is_first)
{
  for (guint i = 0; i < n; i++) {
    g_autofree guint8 *styles = g_new0 (guint8, strlen (lines[i]) + 1);
    g_autoptr (GArray) cells = fab_fold_cells (lines[i]);
    Line line = { lines[i], styles, cells };

    if (*lines[i] != '\0')
      style_line (&line, i, n, is_first);
    if (is_first && i > 0 && is_title (lines[0]) && cells->len == 1)
      style_bytes (&line, 0, strlen (lines[i]), FAB_STYLE_HEADING);
    append_styled (out, &line);
  }
}
