/* SPDX-License-Identifier: Apache-2.0 */
/* diagnostics.c - collects mistakes and prints each with its source line.
 *
 * When a diagnostic is added, the source line is copied and cut to a window around its column, so that long lines and
 * freed documents do not matter. The same message at the same position counts once, because an alias repeats the
 * mistakes behind it. Control characters never reach the terminal. Only MAX_KEPT mistakes are kept and the rest is
 * counted, which bounds the cost of a hostile file. The nearest name is looked for below.
 */
#include "sim/config/diagnostics.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/base/nearest.h"

#define MAX_KEPT 1000
#define MAX_SHOWN 50
#define MAX_HINTS 100
#define MAX_MESSAGE 500 /* characters */
#define WINDOW 100      /* in characters, of a long source line */
#define WINDOW_BEFORE 60

typedef struct {
  char *file; /* NULL: no position */
  guint line, column, length;
  char *message;
  char *excerpt; /* printable part of the source line; NULL: unknown */
  char *caret;
  guint sequence;
} Entry;

struct _FabDiagnostics {
  GPtrArray *entries;
  GHashTable *seen; /* "file:line:column: message" */
  guint count;
};

static void
entry_free (gpointer data)
{
  Entry *entry = data;

  g_free (entry->file);
  g_free (entry->message);
  g_free (entry->excerpt);
  g_free (entry->caret);
  g_free (entry);
}

FabDiagnostics *
fab_diagnostics_new (void)
{
  FabDiagnostics *self = g_new0 (FabDiagnostics, 1);

  self->entries = g_ptr_array_new_with_free_func (entry_free);
  self->seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return self;
}

static char *entry_head (const Entry *entry);

static Entry *
entry_copy (const Entry *self)
{
  Entry *copy = g_memdup2 (self, sizeof *self);

  copy->file = g_strdup (self->file);
  copy->message = g_strdup (self->message);
  copy->excerpt = g_strdup (self->excerpt);
  copy->caret = g_strdup (self->caret);
  return copy;
}

FabDiagnostics *
fab_diagnostics_copy (const FabDiagnostics *self)
{
  FabDiagnostics *copy = fab_diagnostics_new ();

  for (guint i = 0; i < self->entries->len; i++) {
    const Entry *entry = g_ptr_array_index (self->entries, i);

    g_ptr_array_add (copy->entries, entry_copy (entry));
    g_hash_table_add (copy->seen, entry_head (entry));
  }
  copy->count = self->count;
  return copy;
}

void
fab_diagnostics_free (FabDiagnostics *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->entries);
  g_hash_table_unref (self->seen);
  g_free (self);
}

/* Returns the character at `p` and advances to the next; 0xFFFD for a byte that is not UTF-8. */
static gunichar
next_char (const char **p, const char *end)
{
  gunichar c = g_utf8_get_char_validated (*p, end - *p);

  if (c == (gunichar) -1 || c == (gunichar) -2) {
    *p += 1;
    return 0xFFFD;
  }
  *p += g_unichar_to_utf8 (c, NULL);
  return c;
}

static gboolean
is_control (gunichar c)
{
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || c == 0xFEFF
      || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

/* Returns one line of printable text. Characters on which a terminal would act are spelt out. */
static char *
printable_message (const char *text)
{
  GString *out = g_string_new (NULL);
  const char *p = text, *end = text + strlen (text);

  for (guint n = 0; p < end && n < MAX_MESSAGE; n++) {
    gunichar c = next_char (&p, end);

    if (c == '\n')
      g_string_append (out, "\\n");
    else if (is_control (c))
      g_string_append_printf (out, "\\u%04X", (guint) c);
    else
      g_string_append_unichar (out, c);
  }
  if (p < end)
    g_string_append (out, "...");
  return g_string_free (out, FALSE);
}

/* Makes the window of the source line and, below it, the underline at the same screen columns. */
static void
make_excerpt (Entry *entry, const FabMark *mark)
{
  const char *p = mark->text, *end = mark->text + mark->text_length;
  guint first = mark->column > WINDOW ? mark->column - WINDOW_BEFORE : 1;
  guint until = mark->column + MAX (mark->length, 1); /* first column after the underline */
  GString *excerpt = g_string_new (first > 1 ? "..." : "");
  GString *caret = g_string_new (first > 1 ? "   " : "");
  guint column = 1;

  for (; p < end && column < first + WINDOW; column++) {
    gunichar c = next_char (&p, end);
    guint width = c == '\t' ? 1 : g_unichar_iszerowidth (c) ? 0 : g_unichar_iswide (c) ? 2 : 1;
    const char *under = column == mark->column ? "^~" : column > mark->column && column < until ? "~~" : "  ";

    if (column < first)
      continue;
    g_string_append_unichar (excerpt, is_control (c) && c != '\t' ? 0xFFFD : c);
    if (column < mark->column && c == '\t')
      g_string_append_c (caret, '\t');
    else if (column < until)
      g_string_append_len (caret, under, width);
  }
  if (p < end)
    g_string_append (excerpt, "...");
  for (; column < mark->column && column < first + WINDOW; column++)
    g_string_append_c (caret, ' ');
  if (column == mark->column)
    g_string_append_c (caret, '^');
  entry->excerpt = g_string_free (excerpt, FALSE);
  entry->caret = g_string_free (caret, FALSE);
}

static char *
entry_head (const Entry *entry)
{
  if (entry->file == NULL)
    return g_strdup (entry->message);
  if (entry->line > 0)
    return g_strdup_printf ("%s:%u:%u: %s", entry->file, entry->line, entry->column, entry->message);
  if (entry->excerpt != NULL)
    return g_strdup_printf ("%s: %s: %s", entry->file, entry->excerpt, entry->message);
  return g_strdup_printf ("%s: %s", entry->file, entry->message);
}

void
fab_diagnostics_add (FabDiagnostics *self, const FabMark *mark, const char *format, ...)
{
  va_list args;
  Entry *entry;
  g_autofree char *message = NULL;

  if (self->entries->len == MAX_KEPT) {
    self->count++;
    return;
  }
  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  entry = g_new0 (Entry, 1);
  entry->message = printable_message (message);
  entry->sequence = self->count;
  if (mark != NULL) {
    entry->file = printable_message (mark->file);
    entry->line = mark->line;
    entry->column = mark->column;
    if (mark->text != NULL && mark->text_length > 0)
      make_excerpt (entry, mark);
  }
  if (!g_hash_table_add (self->seen, entry_head (entry))) {
    entry_free (entry);
    return;
  }
  g_ptr_array_add (self->entries, entry);
  self->count++;
}

void
fab_diagnostics_add_all (FabDiagnostics *self, const FabDiagnostics *other)
{
  for (guint i = 0; i < other->entries->len && self->entries->len < MAX_KEPT; i++) {
    Entry *entry = entry_copy (g_ptr_array_index (other->entries, i));

    entry->sequence = self->count;
    if (!g_hash_table_add (self->seen, entry_head (entry))) {
      entry_free (entry);
      continue;
    }
    g_ptr_array_add (self->entries, entry);
    self->count++;
  }
}

guint
fab_diagnostics_first (const FabDiagnostics *self, guint *column)
{
  const Entry *entry = self->entries->len > 0 ? g_ptr_array_index (self->entries, 0) : NULL;

  *column = entry != NULL ? entry->column : 0;
  return entry != NULL ? entry->line : 0;
}

guint
fab_diagnostics_count (const FabDiagnostics *self)
{
  return self->count;
}

const char *
fab_diagnostics_nearest (const FabDiagnostics *self, const char *word, const char *const *candidates)
{
  return self->count < MAX_HINTS ? fab_nearest (word, candidates) : NULL;
}

static int
compare_numbers (guint a, guint b)
{
  return (a > b) - (a < b);
}

/* Sorts by file name, line and column. Mistakes without a file come last; those without a line keep their order. */
static int
compare_entries (gconstpointer a, gconstpointer b)
{
  const Entry *x = *(const Entry *const *) a, *y = *(const Entry *const *) b;
  int order = (x->file == NULL) - (y->file == NULL);

  if (order == 0 && x->file != NULL)
    order = strcmp (x->file, y->file);
  if (order == 0)
    order = compare_numbers (x->line, y->line);
  if (order == 0 && x->line > 0)
    order = compare_numbers (x->column, y->column);
  return order != 0 ? order : compare_numbers (x->sequence, y->sequence);
}

static void
append_entry (GString *out, const Entry *entry)
{
  g_autofree char *head = entry_head (entry);

  if (out->len > 0)
    g_string_append_c (out, '\n');
  g_string_append (out, head);
  if (entry->excerpt == NULL)
    return;
  if (entry->line > 0)
    g_string_append_printf (out, "\n%5u | %s", entry->line, entry->excerpt);
  else
    g_string_append_printf (out, "\n      | %s", entry->excerpt);
  if (strchr (entry->caret, '^') != NULL)
    g_string_append_printf (out, "\n      | %s", entry->caret);
}

char *
fab_diagnostics_format (const FabDiagnostics *self)
{
  g_autoptr (GPtrArray) sorted = g_ptr_array_copy (self->entries, NULL, NULL);
  GString *out = g_string_new (NULL);
  guint n_shown = MIN (sorted->len, MAX_SHOWN);

  g_ptr_array_set_free_func (sorted, NULL);
  g_ptr_array_sort (sorted, compare_entries);
  for (guint i = 0; i < n_shown; i++)
    append_entry (out, g_ptr_array_index (sorted, i));
  if (self->count > n_shown)
    g_string_append_printf (out, "\nand %u more", self->count - n_shown);
  return g_string_free (out, FALSE);
}

gboolean
fab_diagnostics_check (const FabDiagnostics *self, GError **error)
{
  g_autofree char *text = NULL;

  if (self->count == 0)
    return TRUE;
  text = fab_diagnostics_format (self);
  return fab_throw (error, FAB_ERROR_INPUT, "%s", text);
}

/* --- reading back --- */

static void
diagnostic_clear (gpointer data)
{
  FabDiagnostic *self = data;

  g_free (self->message);
  g_free (self->file);
  g_free (self->source);
}

/* Takes a whole number and the colon behind it from the front of *text. */
static gboolean
take_number (const char **text, guint *number)
{
  char *end;
  guint64 value = g_ascii_strtoull (*text, &end, 10);

  if (end == *text || *end != ':' || value > G_MAXUINT || !g_ascii_isdigit (**text))
    return FALSE;
  *number = (guint) value;
  *text = end + 1;
  return TRUE;
}

/* "FILE:LINE:COLUMN: message"; a name of a file may have colons. */
static gboolean
read_place (const char *head, FabDiagnostic *self)
{
  for (const char *colon = strchr (head, ':'); colon != NULL; colon = strchr (colon + 1, ':')) {
    const char *rest = colon + 1;

    if (!take_number (&rest, &self->line) || !take_number (&rest, &self->column) || *rest != ' ')
      continue;
    self->file = g_strndup (head, (gsize) (colon - head));
    self->message = g_strdup (rest + 1);
    return TRUE;
  }
  self->line = self->column = 0;
  return FALSE;
}

/* "FILE:LINE:COLUMN: message", or "--set: assignment: message" of any option. */
static void
read_head (const char *head, FabDiagnostic *self)
{
  gsize n = strspn (head, "-" G_CSET_a_2_z);

  if (read_place (head, self))
    return;
  if (g_str_has_prefix (head, "--") && g_str_has_prefix (head + n, ": ")) {
    self->file = g_strndup (head, n);
    head += n + strlen (": ");
  }
  self->message = g_strdup (head);
}

GArray *
fab_diagnostics_parse (const char *text)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (FabDiagnostic));
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  g_array_set_clear_func (all, diagnostic_clear);
  for (guint i = 0; lines[i] != NULL; i++) {
    const char *bar = lines[i][0] == ' ' ? strstr (lines[i], " | ") : NULL;
    FabDiagnostic next = { 0 };

    if (bar != NULL && all->len > 0) { /* the source line, and then the underline */
      FabDiagnostic *last = &g_array_index (all, FabDiagnostic, all->len - 1);

      if (last->source == NULL)
        last->source = g_strdup (bar + strlen (" | "));
      continue;
    }
    read_head (lines[i], &next);
    g_array_append_val (all, next);
  }
  return all;
}
