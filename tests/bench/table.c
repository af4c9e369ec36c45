/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define HEADING "## Results\n"

/* With other work on more than this part of a core the page says so. */
static const double idle_load = 0.5;

typedef struct {
  char *work, *cells, *note; /* Markdown, without the first cell */
  double ratio;
} Line;

struct _BenchTable {
  GArray *lines;
  double first_load, most_load; /* of others, in cores */
};

static void
line_clear (gpointer line)
{
  g_free (((Line *) line)->work);
  g_free (((Line *) line)->cells);
  g_free (((Line *) line)->note);
}

BenchTable *
bench_table_new (void)
{
  BenchTable *self = g_new0 (BenchTable, 1);

  self->lines = g_array_new (FALSE, TRUE, sizeof (Line));
  g_array_set_clear_func (self->lines, line_clear);
  return self;
}

void
bench_table_free (BenchTable *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->lines);
  g_free (self);
}

/* ---- cells ---------------------------------------------------------------------------------- */

/* Three digits and a unit: "24.1 M", "3.25 m". (transfer full) */
static char *
scaled (double value, const char *unit)
{
  static const struct {
    double factor;
    const char *prefix;
  } scales[] = { { 1e9, "G" },  { 1e6, "M" },  { 1e3, "k" }, { 1, "" },
                 { 1e-3, "m" }, { 1e-6, "µ" }, { 1e-9, "n" } };
  guint i = 0;
  double shown;

  while (i + 1 < G_N_ELEMENTS (scales) && value < scales[i].factor * 0.9995)
    i++;
  shown = value / scales[i].factor;
  return g_strdup_printf ("%.*f %s%s",
                          shown < 9.995   ? 2
                          : shown < 99.95 ? 1
                                          : 0,
                          shown, scales[i].prefix, unit);
}

static char *
figure (const BenchLine *line, double value)
{
  g_autofree char *rate = g_strchomp (scaled (value, ""));

  if (value <= 0)
    return g_strdup ("-");
  if (line->things)
    return g_strdup_printf ("%s %s/s", rate, line->things);
  /* Seconds beyond a thousand stay seconds. */
  return value < 999 ? scaled (value, "s") : g_strdup_printf ("%.0f s", value);
}

static double
times_as_fast (const BenchLine *line)
{
  if (!line->is_measured || line->peer <= 0)
    return 0;
  return line->things ? line->value / line->peer : line->peer / line->value;
}

static char *
limit_cell (const BenchLine *line)
{
  g_autofree char *limit = figure (line, line->limit), *yardstick = scaled (line->limit, "s");

  if (!line->is_measured)
    return g_strdup ("-");
  return line->limit_name ? g_strdup_printf ("%s: %s", line->limit_name, limit)
                          : g_strdup_printf ("yardstick: %s", yardstick);
}

static char *
peer_cell (const BenchLine *line)
{
  g_autofree char *peer = figure (line, line->recorded > 0 ? line->recorded : line->peer);

  if (line->peer_name == NULL)
    return g_strdup ("-");
  if (line->recorded > 0)
    return g_strdup_printf ("%s: %s, recorded", line->peer_name, peer);
  return g_strdup_printf ("%s: %s", line->peer_name, line->peer > 0 ? peer : line->peer_state);
}

static char *
number (double value)
{
  return value > 0 ? g_strdup_printf (value < 99.5 ? "%.3g" : "%.0f", value) : g_strdup ("-");
}

/* ---- the terminal ---------------------------------------------------------------------------- */

static char *
cpu_model (void)
{
  g_autofree char *text = NULL;
  const char *line;

  if (!g_file_get_contents ("/proc/cpuinfo", &text, NULL, NULL)
      || (line = strstr (text, "model name")) == NULL || (line = strchr (line, ':')) == NULL)
    return g_strdup ("unknown processor");
  return g_strstrip (g_strndup (line + 1, strcspn (line + 1, "\n")));
}

static char *
machine (void)
{
  g_autofree char *model = cpu_model ();
  double bytes = (double) sysconf (_SC_PHYS_PAGES) * (double) sysconf (_SC_PAGESIZE);
  struct utsname name = { 0 };

#ifdef __OPTIMIZE__
  const char *optimised = "optimised";
#else
  const char *optimised = "NOT OPTIMISED";
#endif
  uname (&name);
  return g_strdup_printf ("%s, %ld cores, %.0f GiB, %s %s; Fabricast " FAB_VERSION ", compiler " __VERSION__
                          ", %s",
                          model, sysconf (_SC_NPROCESSORS_ONLN), bytes / 0x1p30, name.sysname, name.machine,
                          optimised);
}

static double
load_now (void)
{
  double load = 0;

  return getloadavg (&load, 1) == 1 ? load : 0;
}

static void
print_row (const char *const *cells)
{
  static const int widths[] = { 52, 19, 34, 7, 26, 6, 18 };

  for (guint i = 0; i < G_N_ELEMENTS (widths); i++) {
    int width = (int) g_utf8_strlen (cells[i], -1);

    printf ("%s%*s ", cells[i], MAX (widths[i] - width, 0), "");
  }
  printf ("\n");
  fflush (stdout);
}

void
bench_table_begin (BenchTable *self)
{
  const char *const head[] = { "work",  "Fabricast", "raw limit, same run", "ratio", "peer, same run",
                               "times", "goal" };
  g_autofree char *text = machine ();

  self->first_load = self->most_load = load_now ();
  printf ("%s\n\n", text);
  print_row (head);
}

void
bench_table_add (BenchTable *self, const BenchLine *line)
{
  g_autofree char *own = figure (line, line->is_measured ? line->value : 0), *limit = limit_cell (line);
  g_autofree char *ratio = number (line->ratio), *peer = peer_cell (line), *goal = figure (line, line->goal);
  g_autofree char *times = number (times_as_fast (line));
  const char *const cells[] = { line->work, own, limit, ratio, peer, times, goal };
  Line kept = { .work = g_strdup (line->work),
                .cells = g_strdup_printf (" %s | %s | %s | %s | %s | %s |", own, limit, ratio, peer, times,
                                          goal),
                .note = g_strdup (line->note),
                .ratio = line->ratio };

  print_row (cells);
  if (line->note && *line->note)
    printf ("  %s\n", line->note);
  fflush (stdout);
  self->most_load = MAX (self->most_load, load_now ());
  g_array_append_val (self->lines, kept);
}

/* This program is one of those that wait for a core. */
static char *
load_text (const BenchTable *self)
{
  double cores = (double) sysconf (_SC_NPROCESSORS_ONLN);

  if (self->first_load <= idle_load && self->most_load <= 1 + idle_load)
    return g_strdup ("The machine was idle otherwise.");
  return g_strdup_printf (
      "The machine was NOT idle: load %.1f before, up to %.1f meanwhile, on %.0f cores. Others took "
      "caches and memory from all that was measured.",
      self->first_load, self->most_load, cores);
}

void
bench_table_end (BenchTable *self)
{
  g_autofree char *text = load_text (self);

  printf ("\n%s\n", text);
}

/* ---- the page -------------------------------------------------------------------------------- */

static char *
version_of (const char *package)
{
  const char *argv[] = { "dpkg-query", "-W", "-f=${Version}", package, NULL };
  g_autofree char *output = NULL;
  int status = 1;

  if (!g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                     &output, NULL, &status, NULL)
      || status != 0 || *output == '\0')
    return g_strdup ("not here");
  return g_steal_pointer (&output);
}

static void
append_head (const BenchTable *self, const char *peers, GString *text)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *date = g_date_time_format (now, "%Y-%m-%d"), *what = machine (), *load = load_text (self);
  g_autofree char *simgrid = version_of ("libsimgrid-dev"), *ns3 = version_of ("libns3-dev");

  g_string_append_printf (text, "%s. %s.\n%s\n", date, what, load);
  if (peers)
    g_string_append_printf (text, "Peers as Debian builds them: SimGrid %s, ns-3 %s (its asserts are on).\n",
                            simgrid, ns3);
  g_string_append (
      text, "\n| work | Fabricast | raw limit, same run | ratio | peer, same run | times as fast | goal |\n"
            "|---|---|---|---|---|---|---|\n");
}

gboolean
bench_table_write (const BenchTable *self, const char *page, const char *peers, GError **error)
{
  g_autofree char *before = NULL;
  g_autoptr (GString) text = NULL;
  const char *place;

  if (!g_file_get_contents (page, &before, NULL, error))
    return FALSE;
  place = strstr (before, "\n" HEADING);
  if (place == NULL) {
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s: no heading %s", page, HEADING);
    return FALSE;
  }
  text = g_string_new_len (before, place - before + 1);
  g_string_append (text, HEADING "\n");
  append_head (self, peers, text);
  for (guint i = 0; i < self->lines->len; i++) {
    const Line *line = &g_array_index (self->lines, Line, i);

    g_string_append_printf (text, "| %s |%s\n", line->work, line->cells);
  }
  g_string_append (text, "\nWhat else was seen:\n\n");
  for (guint i = 0; i < self->lines->len; i++) {
    const Line *line = &g_array_index (self->lines, Line, i);

    if (line->note && *line->note)
      g_string_append_printf (text, "- %s: %s\n", line->work, line->note);
  }
  return g_file_set_contents (page, text->str, -1, error);
}

BenchTable *
bench_table_read (const char *page, GError **error)
{
  enum { WORK = 1, RATIO = 4, N_CELLS = 9 };
  g_autofree char *text = NULL;
  g_auto (GStrv) rows = NULL;
  BenchTable *self;

  if (!g_file_get_contents (page, &text, NULL, error))
    return NULL;
  self = bench_table_new ();
  rows = g_strsplit (text, "\n", -1);
  for (char **row = rows; *row; row++) {
    g_auto (GStrv) cells = g_strsplit (*row, "|", -1);

    if (g_strv_length (cells) == N_CELLS) {
      Line line = { .work = g_strdup (g_strstrip (cells[WORK])),
                    .ratio = g_ascii_strtod (cells[RATIO], NULL) };

      g_array_append_val (self->lines, line);
    }
  }
  return self;
}

double
bench_table_ratio (const BenchTable *self, const char *work)
{
  for (guint i = 0; i < self->lines->len; i++)
    if (strcmp (g_array_index (self->lines, Line, i).work, work) == 0)
      return g_array_index (self->lines, Line, i).ratio;
  return 0;
}
