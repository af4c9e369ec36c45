/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.c - stdout and stderr of a terminal are streams of our own, which fold and colour what goes to the
 * descriptor. */
#define _GNU_SOURCE /* fopencookie */
#include "cli/terminal/terminal.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/terminal/fold.h"
#include "cli/terminal/page.h"
#include "cli/terminal/paint.h"
#include "sim/base/error.h"

gboolean
fab_terminal_is_there (int descriptor)
{
  return isatty (descriptor) == 1;
}

/* Returns a number of the environment; 0: none. */
static guint64
columns_of (const char *variable)
{
  const char *text = g_getenv (variable);

  return text != NULL ? g_ascii_strtoull (text, NULL, 10) : 0;
}

guint
fab_terminal_columns (int descriptor)
{
  guint64 columns = columns_of ("FABRICAST_COLUMNS");
  struct winsize size = { 0 };

  if (columns == 0 && !fab_terminal_is_there (descriptor))
    return 0;
  if (columns == 0)
    columns = columns_of ("COLUMNS");
  if (columns == 0 && ioctl (descriptor, TIOCGWINSZ, &size) == 0)
    columns = size.ws_col;
  if (columns == 0)
    columns = FAB_TERMINAL_COLUMNS;
  return (guint) CLAMP (columns, FAB_TERMINAL_LEAST_COLUMNS, G_MAXUINT16);
}

guint
fab_terminal_page_columns (guint otherwise)
{
  guint columns = fab_terminal_columns (STDOUT_FILENO);

  return columns > 0 ? columns : otherwise;
}

guint
fab_terminal_prose_columns (guint otherwise)
{
  guint columns = fab_terminal_columns (STDOUT_FILENO);

  return columns > 0 ? MIN (columns, FAB_TERMINAL_PROSE_COLUMNS) : otherwise;
}

gboolean
fab_terminal_has_colour (int descriptor, const char *when)
{
  const char *no = g_getenv ("NO_COLOR"), *kind = g_getenv ("TERM"), *force = g_getenv ("CLICOLOR_FORCE");

  if (g_strcmp0 (when, "always") == 0 || g_strcmp0 (when, "never") == 0)
    return strcmp (when, "always") == 0;
  if (force != NULL && *force != '\0' && strcmp (force, "0") != 0 && (no == NULL || *no == '\0'))
    return TRUE;
  return fab_terminal_is_there (descriptor) && (no == NULL || *no == '\0') && g_strcmp0 (kind, "dumb") != 0;
}

/* The locale of the environment, and not that of the program, which is always UTF-8. */
gboolean
fab_terminal_has_unicode (void)
{
  static const char *const poor[] = { "dumb", "linux", NULL };
  const char *kind = g_getenv ("TERM");
  locale_t locale = newlocale (LC_CTYPE_MASK, "", (locale_t) 0);
  gboolean is_utf8 = locale != (locale_t) 0 && strcmp (nl_langinfo_l (CODESET, locale), "UTF-8") == 0;

  if (locale != (locale_t) 0)
    freelocale (locale);
  return is_utf8 && !(kind != NULL && g_strv_contains (poor, kind));
}

const char *
fab_terminal_take_colour (int *argc, char **argv, GError **error)
{
  static const char option[] = "--color=";
  static const char *const words[] = { "auto", "always", "never", NULL };
  const char *when = g_getenv ("FABRICAST_COLOR");
  const char *from = "FABRICAST_COLOR=";
  int n = 0;

  for (int i = 0; i < *argc; i++) {
    if (g_str_has_prefix (argv[i], option)) {
      when = argv[i] + strlen (option);
      from = option;
    } else {
      argv[n++] = argv[i];
    }
  }
  *argc = n;
  argv[n] = NULL;
  if (when != NULL && !g_strv_contains (words, when))
    fab_throw (error, FAB_ERROR_INPUT, "%s%s: there are auto, always and never", from, when);
  return when;
}

/* --- a stream --- */

typedef struct {
  int descriptor;
  guint columns; /* 0: lines stay whole */
  gboolean is_coloured;
  gboolean is_held;   /* a paragraph waits for its end, for tables are looked at as a whole */
  gboolean has_title; /* nothing was printed yet, and a page begins with its title */
  GString *part;      /* of a line */
  GPtrArray *lines;   /* of a paragraph */
} Screen;

static gboolean
write_all (const Screen *self, const GString *text)
{
  for (gsize at = 0; at < text->len;) {
    gssize n = write (self->descriptor, text->str + at, text->len - at);

    if (n < 0 && errno != EINTR)
      return FALSE;
    at += n > 0 ? (gsize) n : 0;
  }
  return TRUE;
}

static void
append_painted (Screen *self, GString *out, const char *folded)
{
  g_auto (GStrv) lines = g_strsplit (folded, "\n", -1);
  guint n = g_strv_length (lines) - 1; /* the last one is empty */

  for (guint first = 0, last; first < n; first = last + 1) {
    for (last = first; last < n && *lines[last] != '\0'; last++)
      continue;
    fab_paint_paragraph (out, (const char *const *) lines + first, last - first, self->has_title);
    if (last < n)
      g_string_append_c (out, '\n');
    self->has_title = self->has_title && *lines[first] == ' '; /* a verdict may stand before it */
  }
}

/* Prints the paragraph. */
static gboolean
release (Screen *self)
{
  g_autoptr (GString) folded = g_string_new (NULL);
  g_autoptr (GString) out = g_string_new (NULL);
  const char *const *lines = (const char *const *) self->lines->pdata;
  guint columns = self->columns;

  if (self->lines->len == 0)
    return TRUE;
  if (self->columns == 0 || (!self->is_held && *lines[0] == ' ')) /* a line of a file, with a mark below it */
    columns = G_MAXUINT;
  fab_fold_paragraph (folded, lines, self->lines->len, columns);
  if (self->is_coloured)
    append_painted (self, out, folded->str);
  g_ptr_array_set_size (self->lines, 0);
  return write_all (self, self->is_coloured ? out : folded);
}

static gboolean
take_line (Screen *self)
{
  g_autoptr (GString) end = g_string_new ("\n");
  gboolean is_empty = self->part->len == 0, is_written = TRUE;

  if (!is_empty)
    g_ptr_array_add (self->lines, g_strndup (self->part->str, self->part->len));
  g_string_truncate (self->part, 0);
  if (is_empty || !self->is_held)
    is_written = release (self);
  return is_written && (!is_empty || write_all (self, end));
}

/* What has a control sequence in it, as a line that shows progress has, is printed at once as it is. */
static gboolean
write_raw (Screen *self, const char *text, gsize size)
{
  g_autoptr (GString) raw = g_string_new_len (text, (gssize) size);
  gboolean is_written = release (self) && write_all (self, self->part) && write_all (self, raw);

  g_string_truncate (self->part, 0);
  return is_written;
}

static ssize_t
screen_write (void *cookie, const char *text, size_t size)
{
  Screen *self = cookie;

  if (memchr (text, '\r', size) != NULL || memchr (text, '\033', size) != NULL)
    return write_raw (self, text, size) ? (ssize_t) size : 0;
  for (gsize i = 0; i < size; i++) {
    if (text[i] != '\n')
      g_string_append_c (self->part, text[i]);
    else if (!take_line (self))
      return 0;
  }
  if (!self->is_held && self->part->len > 0 && !write_raw (self, "", 0))
    return 0;
  return (ssize_t) size;
}

static int
screen_close (void *cookie)
{
  Screen *self = cookie;
  gboolean is_written = write_raw (self, "", 0);

  g_string_free (self->part, TRUE);
  g_ptr_array_unref (self->lines);
  g_free (self);
  return is_written ? 0 : EOF;
}

/* A stream in front of the descriptor, or NULL. */
static FILE *
open_screen (int descriptor, const char *colour)
{
  cookie_io_functions_t functions = { .write = screen_write, .close = screen_close };
  guint columns = fab_terminal_columns (descriptor);
  gboolean is_coloured = fab_terminal_has_colour (descriptor, colour);
  Screen *self;
  FILE *stream;

  if (columns == 0 && !is_coloured)
    return NULL;
  self = g_new0 (Screen, 1);
  self->descriptor = descriptor;
  self->columns = columns;
  self->is_coloured = is_coloured;
  self->is_held = self->has_title = descriptor == STDOUT_FILENO;
  self->part = g_string_new (NULL);
  self->lines = g_ptr_array_new_with_free_func (g_free);
  stream = fopencookie (self, "w", functions);
  if (stream == NULL)
    screen_close (self);
  else if (descriptor == STDERR_FILENO)
    setvbuf (stream, NULL, _IONBF, 0);
  return stream;
}

void
fab_terminal_open (const char *colour, gboolean is_data)
{
  FILE *out = is_data ? NULL : open_screen (STDOUT_FILENO, colour);
  FILE *err = open_screen (STDERR_FILENO, colour);

  if (out != NULL)
    stdout = out;
  if (err != NULL)
    stderr = err;
}

void
fab_terminal_print_page (const char *page)
{
  gboolean is_screen = fileno (stdout) < 0; /* a stream of our own */
  g_autofree char *fitted = fab_page_fit (page, is_screen ? fab_terminal_columns (STDOUT_FILENO) : 0);

  g_print ("%s", fitted);
}

gboolean
fab_terminal_close (void)
{
  gboolean is_written = fflush (stdout) == 0 && !ferror (stdout);

  if (fileno (stdout) >= 0) /* not a stream of our own */
    return is_written;
  is_written = fclose (stdout) == 0 && is_written;
  stdout = stderr; /* nothing is printed after this */
  return is_written;
}

void
fab_terminal_close_errors (void)
{
  FILE *screen = stderr, *plain;

  if (fileno (screen) >= 0) /* not a stream of our own */
    return;
  plain = fdopen (STDERR_FILENO, "w");
  if (plain == NULL)
    return;
  if (stdout == screen)
    stdout = plain;
  stderr = plain;
  fclose (screen);
}
