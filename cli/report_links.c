/* SPDX-License-Identifier: Apache-2.0 */
/* report_links.c - how busy links are, for a drawing: nodes are laid over one another, switches of a tier too.
 *
 * A group is all links between the same two places: "gpu3" of a node and its "nvswitch", or "nic0" and "leaf#", where #
 * stands for numbers. So 200 000 links are a few dozen lines of one node and its tiers, each with the mean, the busiest
 * and a strip of quantiles. Where that is still too many (a rack as one node), places of a node are joined likewise.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/report_parts.h"

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

typedef struct {
  const FabReportRun *run;
  GPtrArray *groups;      /* in order of appearance */
  GHashTable *by_key;     /* Group */
  GHashTable *switches;   /* names of vertices outside nodes */
  GHashTable *tier_sizes; /* "leaf#" -> how many */
  GPtrArray *tiers;       /* names, in order of appearance */
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

static char *
place_of (Links *self, const char *vertex, gboolean *is_inside)
{
  const char *inside = inside_of (vertex);
  char *name;

  *is_inside = inside != NULL;
  if (inside != NULL)
    return self->are_places_joined ? joined_name (inside) : g_strdup (inside);
  name = joined_name (vertex);
  if (g_hash_table_add (self->switches, g_strdup (vertex))) {
    guint n = GPOINTER_TO_UINT (g_hash_table_lookup (self->tier_sizes, name));

    if (n == 0)
      g_ptr_array_add (self->tiers, g_strdup (name));
    g_hash_table_replace (self->tier_sizes, g_strdup (name), GUINT_TO_POINTER (n + 1));
  }
  return name;
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
  fab_json_begin_array (json, "tiers");
  for (guint i = 0; i < self->tiers->len; i++) {
    const char *name = g_ptr_array_index (self->tiers, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "name", name);
    fab_json_add_whole (json, "n", GPOINTER_TO_UINT (g_hash_table_lookup (self->tier_sizes, name)));
    fab_json_end (json);
  }
  fab_json_end (json);
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
  self.switches = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self.tier_sizes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self.tiers = g_ptr_array_new_with_free_func (g_free);
  is_read = fab_report_each (run, link_sql, take_link, &self, error);
  *are_many = self.groups->len > MAX_GROUPS;
  if (is_read && (!*are_many || are_places_joined))
    write_links (&self, run->json);
  g_hash_table_unref (self.by_key);
  g_ptr_array_unref (self.groups);
  g_hash_table_unref (self.switches);
  g_hash_table_unref (self.tier_sizes);
  g_ptr_array_unref (self.tiers);
  return is_read;
}

gboolean
fab_report_add_links (const FabReportRun *run, GError **error)
{
  gboolean are_many;

  return add_links (run, FALSE, &are_many, error) && (!are_many || add_links (run, TRUE, &are_many, error));
}
