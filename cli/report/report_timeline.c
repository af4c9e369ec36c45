/* SPDX-License-Identifier: Apache-2.0 */
/* report_timeline.c - the spans of an iteration, lane by lane, few enough to draw.
 *
 * A lane is a stream of a class of ranks. Of more spans than the page may hold, short ones that follow one another
 * are drawn as one; how short is found by doubling. A span is six integers: kind, start after the start of the one
 * before it in its lane and length (ns), name, form of its collective (or -1), and how many spans it stands for.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/report/report.h"

enum { MAX_NAME = 120 };

typedef struct {
  guint rank_class, stream, kind, name;
  gint form;
  guint n; /* spans drawn as one */
  FabTimePs start_ps, end_ps;
} Span;

typedef struct {
  GHashTable *numbers; /* text -> its number + 1 */
  GPtrArray *texts;
} Words;

typedef struct {
  const FabReportRun *run;
  GArray *spans;
  Words names, streams, forms; /* forms: JSON of what all collectives of one form have in common */
} Timeline;

static const char *const kinds[] = { "compute", "comm", "load", "wait" };

static const char span_sql[] =
    "SELECT s.rank_class, s.stream, s.kind, s.name, s.start_ps, s.end_ps, c.op, c.dimension, c.algorithm, c.protocol,"
    " c.n_channels, c.n_ranks, c.bytes, l.from_vertex, l.to_vertex, l.spec"
    " FROM span AS s LEFT JOIN collective AS c"
    " ON c.run_id = s.run_id AND c.iteration = s.iteration AND c.collective = s.collective"
    " LEFT JOIN link AS l ON l.run_id = c.run_id AND l.link = c.binding_link"
    " WHERE s.run_id = :run AND s.iteration BETWEEN :iteration - 1 AND :iteration + 1 AND s.end_ps > s.start_ps"
    " ORDER BY s.span";

/* --- words by number --- */

static void
words_init (Words *self)
{
  self->texts = g_ptr_array_new_with_free_func (g_free);
  self->numbers = g_hash_table_new (g_str_hash, g_str_equal);
}

static void
words_clear (Words *self)
{
  g_hash_table_unref (self->numbers);
  g_ptr_array_unref (self->texts);
}

static guint
number_of (Words *self, const char *text)
{
  gpointer known = g_hash_table_lookup (self->numbers, text);

  if (known != NULL)
    return GPOINTER_TO_UINT (known) - 1;
  g_ptr_array_add (self->texts, g_strdup (text));
  g_hash_table_insert (self->numbers, g_ptr_array_index (self->texts, self->texts->len - 1),
                       GUINT_TO_POINTER (self->texts->len));
  return self->texts->len - 1;
}

/* A name may be as long as a person likes; a page cannot. */
static guint
number_of_name (Words *self, const char *name)
{
  if (g_utf8_strlen (name, -1) <= MAX_NAME)
    return number_of (self, name);
  g_autofree char *head = g_utf8_substring (name, 0, MAX_NAME - 1);
  g_autofree char *cut = g_strconcat (head, "\u2026", NULL);
  return number_of (self, cut);
}

/* --- reading --- */

static char *
form_of (const FabField *fields)
{
  static const char *const texts[] = { "op", "dimension", "algorithm", "protocol" };
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_COMPACT);

  fab_json_begin_object (json, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    fab_json_add_text (json, texts[i], fields[6 + i].text);
  fab_json_add_whole (json, "channels", fields[10].integer);
  fab_json_add_whole (json, "ranks", fields[11].integer);
  fab_json_add_whole (json, "bytes", fields[12].integer);
  fab_json_add_text (json, "link_from", fields[13].text);
  fab_json_add_text (json, "link_to", fields[14].text);
  fab_json_add_text (json, "spec", fields[15].text);
  fab_json_end (json);
  return fab_json_text (json);
}

static guint
kind_of (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (strcmp (kinds[i], name) == 0)
      return i;
  return 0;
}

static gboolean
take_span (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  Timeline *self = data;
  FabTimePs from_ps = self->run->start_ps, to_ps = from_ps + self->run->duration_ps;
  Span span = { .rank_class = (guint) fields[0].integer,
                .kind = kind_of (fields[2].text),
                .form = -1,
                .n = 1,
                .start_ps = MAX (fields[4].integer, from_ps) - from_ps,
                .end_ps = MIN (fields[5].integer, to_ps) - from_ps };

  if (span.end_ps <= span.start_ps)
    return TRUE;
  span.stream = number_of (&self->streams, fields[1].text);
  span.name = number_of_name (&self->names, fields[3].text);
  if (fields[6].text != NULL) {
    g_autofree char *form = form_of (fields);

    span.form = (gint) number_of (&self->forms, form);
  }
  g_array_append_val (self->spans, span);
  return TRUE;
}

static gint
by_lane (gconstpointer a, gconstpointer b)
{
  const Span *x = a, *y = b;

  if (x->rank_class != y->rank_class)
    return x->rank_class < y->rank_class ? -1 : 1;
  if (x->stream != y->stream)
    return x->stream < y->stream ? -1 : 1;
  if (x->start_ps != y->start_ps)
    return x->start_ps < y->start_ps ? -1 : 1;
  return x->end_ps < y->end_ps ? -1 : x->end_ps > y->end_ps;
}

/* --- drawing together --- */

static gboolean
is_of_lane (const Span *a, const Span *b)
{
  return a->rank_class == b->rank_class && a->stream == b->stream;
}

static gboolean
joins (const Span *a, const Span *b, FabTimePs short_ps)
{
  return is_of_lane (a, b) && a->kind == b->kind && b->start_ps - a->end_ps < short_ps
      && MIN (a->end_ps - a->start_ps, b->end_ps - b->start_ps) < short_ps;
}

/* (transfer full) */
static GArray *
drawn_together (const GArray *spans, FabTimePs short_ps)
{
  GArray *drawn = g_array_sized_new (FALSE, FALSE, sizeof (Span), spans->len);

  for (guint i = 0; i < spans->len; i++) {
    const Span *span = &g_array_index (spans, Span, i);
    Span *last = drawn->len > 0 ? &g_array_index (drawn, Span, drawn->len - 1) : NULL;

    if (last != NULL && joins (last, span, short_ps)) {
      last->end_ps = MAX (last->end_ps, span->end_ps);
      last->n += span->n;
    } else {
      g_array_append_val (drawn, *span);
    }
  }
  return drawn;
}

/* How short spans are that were drawn together; 0: none. */
static FabTimePs
thin_out (Timeline *self, guint max_spans)
{
  FabTimePs short_ps = 0;

  while (self->spans->len > max_spans && short_ps <= self->run->duration_ps) {
    short_ps = MAX (2 * short_ps, self->run->duration_ps / 65536 + 1);
    GArray *drawn = drawn_together (self->spans, short_ps);

    g_array_unref (self->spans);
    self->spans = drawn;
  }
  return short_ps;
}

/* --- writing --- */

static gint64
ns (FabTimePs time_ps)
{
  return (time_ps + 500) / 1000;
}

static void
end_lane (FabJson *json, const Span *last)
{
  if (last == NULL)
    return;
  fab_json_end (json);
  fab_json_end (json);
}

/* Of a span its kind, its start after that of the one before it, its length, its name, its form and how many it
 * is. */
static void
add_spans (const Timeline *self, FabJson *json)
{
  const Span *last = NULL;

  for (guint i = 0; i < self->spans->len; i++) {
    const Span *span = &g_array_index (self->spans, Span, i);
    gboolean is_first = last == NULL || !is_of_lane (last, span);
    gint64 start_ns = ns (span->start_ps), before_ns = is_first ? 0 : ns (last->start_ps);
    const gint64 numbers[] = { span->kind, start_ns - before_ns, ns (span->end_ps) - start_ns,
                               span->name, span->form,           span->n };

    if (is_first) {
      end_lane (json, last);
      fab_json_begin_object (json, NULL);
      fab_json_add_whole (json, "class", span->rank_class);
      fab_json_add_text (json, "stream", g_ptr_array_index (self->streams.texts, span->stream));
      fab_json_begin_array (json, "spans");
    }
    for (guint k = 0; k < G_N_ELEMENTS (numbers); k++)
      fab_json_add_whole (json, NULL, numbers[k]);
    last = span;
  }
  end_lane (json, last);
}

static void
add_words (const Words *words, FabJson *json)
{
  for (guint i = 0; i < words->texts->len; i++)
    fab_json_add_text (json, NULL, g_ptr_array_index (words->texts, i));
}

static void
write_timeline (const Timeline *self, guint n_recorded, FabTimePs short_ps)
{
  FabJson *json = self->run->json;

  fab_json_begin_object (json, "timeline");
  fab_json_add_whole (json, "iteration", self->run->iteration);
  fab_json_add_whole (json, "duration_ns", ns (self->run->duration_ps));
  fab_json_add_whole (json, "recorded", n_recorded);
  fab_json_add_whole (json, "short_ns", ns (short_ps));
  fab_json_begin_array (json, "names");
  add_words (&self->names, json);
  fab_json_end (json);
  fab_json_begin_array (json, "forms");
  for (guint i = 0; i < self->forms.texts->len; i++)
    fab_json_add_json (json, NULL, g_ptr_array_index (self->forms.texts, i));
  fab_json_end (json);
  fab_json_begin_array (json, "lanes");
  add_spans (self, json);
  fab_json_end (json);
  fab_json_end (json);
}

gboolean
fab_report_add_timeline (const FabReportRun *run, guint max_spans, GError **error)
{
  Timeline self = { .run = run, .spans = g_array_new (FALSE, FALSE, sizeof (Span)) };
  gboolean is_read;

  words_init (&self.names);
  words_init (&self.streams);
  words_init (&self.forms);
  is_read = fab_report_each (run, span_sql, take_span, &self, error);
  if (is_read) {
    guint n_recorded = self.spans->len;

    g_array_sort (self.spans, by_lane);
    FabTimePs short_ps = thin_out (&self, max_spans);
    write_timeline (&self, n_recorded, short_ps);
  }
  g_array_unref (self.spans);
  words_clear (&self.names);
  words_clear (&self.streams);
  words_clear (&self.forms);
  return is_read;
}

/* How busy links are, for a drawing: nodes are laid over one another, switches of a tier too.
 *
 * A group is all links between the same two places: "gpu3" of a node and its "nvswitch", or "nic0" and "leaf#",
 * where # stands for numbers. So 200 000 links are a few dozen lines of one node and its tiers, each with the mean, the
 * busiest and a strip of quantiles. Where that is still too many (a rack as one node), places of a node are joined
 * likewise.
 */

enum { MAX_GROUPS = 400, STRIP = 48 };

typedef struct {
  char *key, *from, *to, *spec;
  gboolean is_from_inside, is_to_inside; /* of a node */
  gint64 n_parallel;
  double rate_bytes_per_s, bytes;
  char *busiest_from, *busiest_to;
  double busiest;
  guint n_carried;
  GArray *busy; /* float, of every link */
} Group;

/* How many places go by one name. */
typedef struct {
  GHashTable *seen;  /* places */
  GHashTable *sizes; /* "leaf#" -> how many */
  GPtrArray *names;  /* "leaf#", in order of appearance */
} Census;

typedef struct {
  const FabReportRun *run;
  GPtrArray *groups;  /* in order of appearance */
  GHashTable *by_key; /* Group */
  Census switches;    /* outside nodes */
  Census parts;       /* of a node, where its places are joined */
  guint n_links;
  gboolean are_places_joined;
} Links;

static const char link_sql[] =
    "SELECT l.from_vertex, l.to_vertex, l.spec, l.n_parallel, l.line_rate_bytes_per_s, b.busy_fraction, b.bytes"
    " FROM link AS l LEFT JOIN link_load AS b"
    " ON b.run_id = l.run_id AND b.iteration = :iteration AND b.link = l.link"
    " WHERE l.run_id = :run ORDER BY l.link";

static void
group_free (gpointer data)
{
  Group *group = data;

  g_free (group->key);
  g_free (group->from);
  g_free (group->to);
  g_free (group->spec);
  g_free (group->busiest_from);
  g_free (group->busiest_to);
  g_array_unref (group->busy);
  g_free (group);
}

/* --- places --- */

/* What follows "node12/"; NULL when it is not in a node. */
static const char *
inside_of (const char *vertex)
{
  gsize digits = g_str_has_prefix (vertex, "node") ? strspn (vertex + 4, "0123456789") : 0;

  return digits > 0 && vertex[4 + digits] == '/' ? vertex + 4 + digits + 1 : NULL;
}

/* "pod3/leaf12" is "pod#/leaf#". */
static char *
joined_name (const char *name)
{
  GString *joined = g_string_new (NULL);

  for (const char *p = name; *p != '\0'; p++)
    if (!g_ascii_isdigit (*p))
      g_string_append_c (joined, *p);
    else if (joined->len == 0 || joined->str[joined->len - 1] != '#')
      g_string_append_c (joined, '#');
  return g_string_free (joined, FALSE);
}

static void
census_init (Census *self)
{
  self->seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->sizes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->names = g_ptr_array_new_with_free_func (g_free);
}

static void
census_clear (Census *self)
{
  g_hash_table_unref (self->seen);
  g_hash_table_unref (self->sizes);
  g_ptr_array_unref (self->names);
}

/* Returns the name that a place goes by, and counts the place when it is new. (transfer full) */
static char *
counted_name (Census *self, const char *place)
{
  char *name = joined_name (place);

  if (g_hash_table_add (self->seen, g_strdup (place))) {
    guint n = GPOINTER_TO_UINT (g_hash_table_lookup (self->sizes, name));

    if (n == 0)
      g_ptr_array_add (self->names, g_strdup (name));
    g_hash_table_replace (self->sizes, g_strdup (name), GUINT_TO_POINTER (n + 1));
  }
  return name;
}

static void
write_census (const Census *self, const char *key, FabJson *json)
{
  fab_json_begin_array (json, key);
  for (guint i = 0; i < self->names->len; i++) {
    const char *name = g_ptr_array_index (self->names, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "name", name);
    fab_json_add_whole (json, "n", GPOINTER_TO_UINT (g_hash_table_lookup (self->sizes, name)));
    fab_json_end (json);
  }
  fab_json_end (json);
}

static char *
place_of (Links *self, const char *vertex, gboolean *is_inside)
{
  const char *inside = inside_of (vertex);

  *is_inside = inside != NULL;
  if (inside != NULL)
    return self->are_places_joined ? counted_name (&self->parts, inside) : g_strdup (inside);
  return counted_name (&self->switches, vertex);
}

/* --- groups --- */

static Group *
group_of (Links *self, const FabField *fields)
{
  gboolean is_from_inside, is_to_inside;
  g_autofree char *from = place_of (self, fields[0].text, &is_from_inside);
  g_autofree char *to = place_of (self, fields[1].text, &is_to_inside);
  g_autofree char *key = g_strdup_printf ("%d%d\n%s\n%s\n%s", is_from_inside, is_to_inside, from, to,
                                          fields[2].text);
  Group *group = g_hash_table_lookup (self->by_key, key);

  if (group != NULL)
    return group;
  group = g_new0 (Group, 1);
  group->key = g_steal_pointer (&key);
  group->from = g_steal_pointer (&from);
  group->to = g_steal_pointer (&to);
  group->spec = g_strdup (fields[2].text);
  group->is_from_inside = is_from_inside;
  group->is_to_inside = is_to_inside;
  group->n_parallel = fields[3].integer;
  group->rate_bytes_per_s = fields[4].real;
  group->busiest = -1;
  group->busy = g_array_new (FALSE, FALSE, sizeof (float));
  g_ptr_array_add (self->groups, group);
  g_hash_table_insert (self->by_key, group->key, group);
  return group;
}

static gboolean
take_link (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  Links *self = data;
  Group *group = group_of (self, fields);
  float busy = (float) fields[5].real;

  self->n_links++;
  group->n_carried += fields[5].kind != FAB_CELL_NULL;
  group->bytes += fields[6].real;
  g_array_append_val (group->busy, busy);
  if (fields[5].real > group->busiest) {
    group->busiest = fields[5].real;
    g_free (group->busiest_from);
    g_free (group->busiest_to);
    group->busiest_from = g_strdup (fields[0].text);
    group->busiest_to = g_strdup (fields[1].text);
  }
  return TRUE;
}

/* --- writing --- */

static int
busiest_first (const void *a, const void *b)
{
  float x = *(const float *) a, y = *(const float *) b;

  return (x < y) - (x > y);
}

/* Links from the busiest to the idlest: each, or evenly spaced quantiles; in thousandths. */
static void
write_strip (const Group *group, FabJson *json)
{
  const float *busy = (const float *) (gpointer) group->busy->data;
  guint n = group->busy->len, shown = MIN (n, STRIP);

  fab_json_begin_array (json, "strip");
  for (guint i = 0; i < shown; i++)
    fab_json_add_whole (json, NULL,
                        (gint64) (1000 * busy[shown > 1 ? (gsize) i * (n - 1) / (shown - 1) : 0] + 0.5f));
  fab_json_end (json);
}

static void
write_group (const Group *group, FabJson *json)
{
  double sum = 0;

  for (guint i = 0; i < group->busy->len; i++)
    sum += g_array_index (group->busy, float, i);
  qsort (group->busy->data, group->busy->len, sizeof (float), busiest_first);
  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "from", group->from);
  fab_json_add_text (json, "to", group->to);
  fab_json_add_whole (json, "from_inside", group->is_from_inside);
  fab_json_add_whole (json, "to_inside", group->is_to_inside);
  fab_json_add_text (json, "spec", group->spec);
  fab_json_add_whole (json, "parallel", group->n_parallel);
  fab_json_add_real (json, "rate_bytes_per_s", group->rate_bytes_per_s);
  fab_json_add_whole (json, "n", group->busy->len);
  fab_json_add_whole (json, "carried", group->n_carried);
  fab_json_add_real (json, "bytes", group->bytes);
  fab_json_add_real (json, "mean", sum / MAX (group->busy->len, 1));
  fab_json_add_real (json, "busiest", MAX (group->busiest, 0));
  fab_json_add_text (json, "busiest_from", group->busiest_from);
  fab_json_add_text (json, "busiest_to", group->busiest_to);
  write_strip (group, json);
  fab_json_end (json);
}

static void
write_links (const Links *self, FabJson *json)
{
  fab_json_begin_object (json, "links");
  fab_json_add_whole (json, "n", self->n_links);
  write_census (&self->switches, "tiers", json);
  write_census (&self->parts, "parts", json);
  fab_json_begin_array (json, "groups");
  for (guint i = 0; i < MIN (self->groups->len, MAX_GROUPS); i++)
    write_group (g_ptr_array_index (self->groups, i), json);
  fab_json_end (json);
  fab_json_end (json);
}

static gboolean
add_links (const FabReportRun *run, gboolean are_places_joined, gboolean *are_many, GError **error)
{
  Links self = { .run = run, .are_places_joined = are_places_joined };
  gboolean is_read;

  self.groups = g_ptr_array_new_with_free_func (group_free);
  self.by_key = g_hash_table_new (g_str_hash, g_str_equal);
  census_init (&self.switches);
  census_init (&self.parts);
  is_read = fab_report_each (run, link_sql, take_link, &self, error);
  *are_many = self.groups->len > MAX_GROUPS;
  if (is_read && (!*are_many || are_places_joined))
    write_links (&self, run->json);
  g_hash_table_unref (self.by_key);
  g_ptr_array_unref (self.groups);
  census_clear (&self.switches);
  census_clear (&self.parts);
  return is_read;
}

gboolean
fab_report_add_links (const FabReportRun *run, GError **error)
{
  gboolean are_many;

  return add_links (run, FALSE, &are_many, error) && (!are_many || add_links (run, TRUE, &are_many, error));
}
