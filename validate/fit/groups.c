/* SPDX-License-Identifier: Apache-2.0 */
/* groups.c - sorts series by their texts, then pairs of ends by the rate of their largest messages. O(series^2). */
#include "validate/fit/groups.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"

/* The largest ratio of rates between pairs of ends that are joined by the same kind of link. */
static const double alike = 1.3;

static gboolean
is_equal_or_free (const char *wanted, const char *text)
{
  return wanted == NULL || g_strcmp0 (wanted, text) == 0;
}

static gboolean
is_wanted (const FabSeries *series, const FabGroupFilter *filter)
{
  return series->kind < FAB_MEASURE_COLLECTIVE && is_equal_or_free (filter->system, series->system)
      && is_equal_or_free (filter->from, series->from) && is_equal_or_free (filter->to, series->to)
      && is_equal_or_free (filter->method, series->method)
      && (filter->memory == NULL || g_strcmp0 (filter->memory, series->from_memory) == 0
          || g_strcmp0 (filter->memory, series->to_memory) == 0);
}

const FabDeviceMethod *
fab_series_device_method (const FabSeries *series)
{
  static const FabDeviceMethod methods[] = {
    { "copy", TRUE, FALSE, FAB_DRIVE_COPY },     { "copy-read", TRUE, TRUE, FAB_DRIVE_COPY },
    { "kernel", TRUE, FALSE, FAB_DRIVE_KERNEL }, { "kernel-read", TRUE, TRUE, FAB_DRIVE_KERNEL },
    { "staged", FALSE, FALSE, FAB_DRIVE_COPY },  { "flag", FALSE, FALSE, FAB_DRIVE_KERNEL },
    { "load", FALSE, FALSE, FAB_DRIVE_KERNEL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (methods); i++)
    if (g_strcmp0 (series->method, methods[i].name) == 0)
      return &methods[i];
  return NULL;
}

FabDrive
fab_series_drive (const FabSeries *series)
{
  const FabDeviceMethod *method = fab_series_device_method (series);

  return method ? method->drive : FAB_DRIVE_COPY;
}

static const char *
or_nothing (const char *text)
{
  return text ? text : "";
}

static gboolean
is_within (const FabSeries *series)
{
  return series->from != NULL && g_strcmp0 (series->from, series->to) == 0;
}

/* Names a kind of series as people do: "write", "host-to-gpu", "gpu-to-gpu-read", "within-gpu". */
static char *
name_sort (const FabSeries *series)
{
  const FabDeviceMethod *method = fab_series_device_method (series);
  gboolean is_plain = method && method->is_plain;
  GString *name = g_string_new (is_plain ? NULL : series->method);

  if (is_within (series))
    g_string_append (name, "-within");
  if (series->from_memory)
    g_string_append_printf (name, "-%s", series->from_memory);
  if (series->to_memory && (is_plain || g_strcmp0 (series->from_memory, series->to_memory) != 0)
      && !is_within (series))
    g_string_append_printf (name, "-to-%s", series->to_memory);
  if (method && method->is_read)
    g_string_append (name, "-read");
  if (series->n_pairs > 1)
    g_string_append_printf (name, "-%u-pairs", series->n_pairs);
  if (name->len == 0)
    g_string_assign (name, "link");
  if (name->str[0] == '-')
    g_string_erase (name, 0, 1);
  return g_string_free (name, FALSE);
}

static char *
sort_key (const FabSeries *series)
{
  g_autofree char *name = name_sort (series);

  return g_strjoin ("\n", or_nothing (series->system), name, NULL);
}

/* A pair of ends, one direction, and the rate of its largest messages. */
typedef struct {
  const FabMeasuredSeries *series;
  double rate;
} Pair;

static double
last_rate (const FabMeasuredSeries *series)
{
  return fab_point_rate (&g_array_index (series->points, FabMeasuredPoint, series->points->len - 1));
}

static int
compare_pairs (gconstpointer a, gconstpointer b)
{
  const Pair *x = a, *y = b;

  return (x->rate < y->rate) - (x->rate > y->rate);
}

static gboolean
is_same_pair (const FabSeries *a, const FabSeries *b)
{
  return g_strcmp0 (a->from, b->from) == 0 && g_strcmp0 (a->to, b->to) == 0;
}

static gboolean
is_same_kind (const FabSeries *a, const FabSeries *b)
{
  return a->kind == b->kind && g_strcmp0 (a->method, b->method) == 0;
}

/* Lists the pairs, at least one, by the rates of the first series' kind only: those of different kinds cannot be
 * compared. */
static GArray *
list_pairs (const GPtrArray *sort)
{
  GArray *pairs = g_array_new (FALSE, FALSE, sizeof (Pair));
  const FabMeasuredSeries *first = g_ptr_array_index (sort, 0);

  for (guint i = 0; i < sort->len; i++) {
    const FabMeasuredSeries *one = g_ptr_array_index (sort, i);
    Pair pair = { one, last_rate (one) };

    if (is_same_kind (&one->series, &first->series))
      g_array_append_val (pairs, pair);
  }
  g_array_sort (pairs, compare_pairs);
  return pairs;
}

/* Returns the class of rates that the pair belongs to. The fastest is 0; pairs without that kind are 0 too. */
static guint
rank_of (const GArray *pairs, const FabSeries *series)
{
  guint rank = 0;
  double fastest = g_array_index (pairs, Pair, 0).rate;

  for (guint i = 0; i < pairs->len; i++) {
    const Pair *pair = &g_array_index (pairs, Pair, i);

    if (pair->rate * alike < fastest) {
      fastest = pair->rate;
      rank++;
    }
    if (is_same_pair (&pair->series->series, series))
      return rank;
  }
  return 0;
}

static void
group_free (gpointer data)
{
  FabLinkGroup *self = data;

  g_ptr_array_unref (self->series);
  g_free (self->suffix);
  g_free (self);
}

static FabLinkGroup *
find_group (const GPtrArray *groups, const char *suffix)
{
  for (guint i = 0; i < groups->len; i++)
    if (strcmp (((FabLinkGroup *) g_ptr_array_index (groups, i))->suffix, suffix) == 0)
      return g_ptr_array_index (groups, i);
  return NULL;
}

static FabLinkGroup *
add_group (GPtrArray *groups, const char *name)
{
  FabLinkGroup *group = g_new0 (FabLinkGroup, 1);

  group->suffix = g_strdup (name);
  for (guint i = 2; find_group (groups, group->suffix) != NULL; i++) {
    g_free (group->suffix);
    group->suffix = g_strdup_printf ("%s-%u", name, i);
  }
  group->series = g_ptr_array_new ();
  g_ptr_array_add (groups, group);
  return group;
}

static void
split_sort (GPtrArray *groups, const GPtrArray *sort)
{
  g_autoptr (GArray) pairs = list_pairs (sort);
  g_autofree char *name = name_sort (&((const FabMeasuredSeries *) g_ptr_array_index (sort, 0))->series);
  g_autofree FabLinkGroup **ranks = g_new0 (FabLinkGroup *, pairs->len + 1);

  for (guint rank = 0; rank <= pairs->len; rank++)
    for (guint i = 0; i < sort->len; i++) {
      FabMeasuredSeries *one = g_ptr_array_index (sort, i);

      if (rank_of (pairs, &one->series) != rank)
        continue;
      if (ranks[rank] == NULL)
        ranks[rank] = add_group (groups, name);
      g_ptr_array_add (ranks[rank]->series, one);
    }
}

/* What a series says of a wanted text, "KEY=VALUE" or any other: nothing, something else, or that. */
typedef enum { SAYS_NOTHING, SAYS_OTHER, SAYS_IT } Saying;

static Saying
compare_value (const char *is, const char *wanted)
{
  return g_strcmp0 (is, wanted) == 0 ? SAYS_IT : is == NULL ? SAYS_NOTHING : SAYS_OTHER;
}

static gboolean
is_named (const FabSeriesField *field, const char *wanted, const char *equals)
{
  return strlen (field->name) == (gsize) (equals - wanted) && g_str_has_prefix (wanted, field->name);
}

static Saying
compare_series (const FabSeries *series, const char *wanted)
{
  const char *equals = strchr (wanted, '=');
  g_autofree char *key = fab_series_key (series);

  for (const FabSeriesField *field = fab_series_texts; equals && field->name; field++)
    if (is_named (field, wanted, equals))
      return compare_value (G_STRUCT_MEMBER (char *, series, field->offset), equals + 1);
  for (const FabSeriesField *field = fab_series_counts; equals && field->name; field++)
    if (is_named (field, wanted, equals)) {
      guint count = G_STRUCT_MEMBER (guint, series, field->offset);
      g_autofree char *is = g_strdup_printf ("%u", count);
      Saying saying = compare_value (is, equals + 1);

      return saying == SAYS_OTHER && count == 0 ? SAYS_NOTHING : saying;
    }
  return strstr (key, wanted) ? SAYS_IT : SAYS_OTHER;
}

/* Says whether another series of the same kind and drive matches; if so, a series that says nothing is not meant. */
static gboolean
has_better (const GPtrArray *series, const FabSeries *one, const char *wanted)
{
  for (guint i = 0; i < series->len; i++) {
    const FabSeries *other = &((const FabMeasuredSeries *) g_ptr_array_index (series, i))->series;

    if (is_same_kind (one, other) && compare_series (other, wanted) == SAYS_IT)
      return TRUE;
  }
  return FALSE;
}

static gboolean
is_said (const GPtrArray *groups, const char *wanted)
{
  for (guint i = 0; i < groups->len; i++) {
    const FabLinkGroup *group = g_ptr_array_index (groups, i);

    for (guint k = 0; k < group->series->len; k++)
      if (compare_series (&((const FabMeasuredSeries *) g_ptr_array_index (group->series, k))->series, wanted)
          == SAYS_IT)
        return TRUE;
  }
  return FALSE;
}

/* Chooses the series that match, and those of kinds that the text does not apply to. */
static GPtrArray *
choose_of (const GPtrArray *series, const char *wanted)
{
  GPtrArray *chosen = g_ptr_array_new ();

  for (guint i = 0; i < series->len; i++) {
    FabMeasuredSeries *one = g_ptr_array_index (series, i);
    Saying saying = compare_series (&one->series, wanted);

    if (saying == SAYS_IT || (saying == SAYS_NOTHING && !has_better (series, &one->series, wanted)))
      g_ptr_array_add (chosen, one);
  }
  return chosen;
}

/* Keeps the link with that suffix; if there is none, keeps the matching series of every link. */
static void
choose_series (GPtrArray *groups, const char *wanted)
{
  FabLinkGroup *named = find_group (groups, wanted);

  if (named == NULL && !is_said (groups, wanted))
    g_ptr_array_set_size (groups, 0);
  for (guint i = groups->len; i-- > 0;) {
    FabLinkGroup *group = g_ptr_array_index (groups, i);
    GPtrArray *chosen = named ? NULL : choose_of (group->series, wanted);

    if (chosen) {
      g_ptr_array_unref (group->series);
      group->series = chosen;
    }
    if (named ? group != named : group->series->len == 0)
      g_ptr_array_remove_index (groups, i);
  }
}

GPtrArray *
fab_link_groups_new (const GPtrArray *series, const FabGroupFilter *filter, GError **error)
{
  g_autoptr (GPtrArray) groups = g_ptr_array_new_with_free_func (group_free);
  g_autoptr (GPtrArray) sorts = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  g_autoptr (GHashTable) by_key = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < series->len; i++) {
    FabMeasuredSeries *one = g_ptr_array_index (series, i);
    g_autofree char *key = sort_key (&one->series);
    GPtrArray *sort = g_hash_table_lookup (by_key, key);

    if (!is_wanted (&one->series, filter) || one->points->len == 0)
      continue;
    if (sort == NULL) {
      g_ptr_array_add (sorts, sort = g_ptr_array_new ());
      g_hash_table_insert (by_key, g_steal_pointer (&key), sort);
    }
    g_ptr_array_add (sort, one);
  }
  for (guint i = 0; i < sorts->len; i++)
    split_sort (groups, g_ptr_array_index (sorts, i));
  g_autofree char *all = fab_link_groups_list (groups);
  if (filter->series)
    choose_series (groups, filter->series);
  if (groups->len > 0)
    return g_steal_pointer (&groups);
  if (*all != '\0')
    fab_throw (error, FAB_ERROR_INPUT, "no series has '%s' in its key; there are the links %s",
               filter->series, all);
  else
    fab_throw (error, FAB_ERROR_INPUT,
               "none of the %u series is a point-to-point measurement that was asked for", series->len);
  return NULL;
}

char *
fab_link_groups_list (const GPtrArray *groups)
{
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < groups->len; i++) {
    const FabLinkGroup *group = g_ptr_array_index (groups, i);

    g_string_append_printf (out, "%s%s", i > 0 ? ", " : "", group->suffix);
  }
  return g_string_free (out, FALSE);
}
