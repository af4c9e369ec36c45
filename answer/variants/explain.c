/* SPDX-License-Identifier: Apache-2.0 */
/* explain.c - what makes one variant's step longer than another's, in words.
 *
 * step = compute + exposed by dimension + idle, so the difference of two steps is the sum of the differences of
 * these. The largest is named, then what the collectives behind it say of themselves.
 */
#include <math.h>
#include <string.h>

#include "answer/variants/contrast.h"

static const double same_work = 1e-6; /* numbers of tokens in a step that are no further apart are equal */
static const double no_difference = 0.0005; /* of a step: less is not worth a sentence */

typedef struct {
  const FabContrast *contrast;
  guint index;
  double step_s; /* difference of the steps, as below: positive is longer than the base */
} Case;

static double
difference_s (const Case *self, const FabContrastRow *row)
{
  double now_s = row->times_s[self->index], then_s = row->times_s[self->contrast->base];

  return (isnan (now_s) ? 0 : now_s) - (isnan (then_s) ? 0 : then_s);
}

/* The row of these kinds that differs most in the direction `sign`; NULL: none does. */
static const FabContrastRow *
find_largest (const Case *self, FabFactKind first, FabFactKind last, double sign)
{
  const FabContrastRow *found = NULL;

  for (guint i = 0; i < self->contrast->rows->len; i++) {
    const FabContrastRow *row = &g_array_index (self->contrast->rows, FabContrastRow, i);
    double found_s = found ? sign * difference_s (self, found) : 0;

    if (row->kind >= first && row->kind <= last && sign * difference_s (self, row) > found_s)
      found = row;
  }
  return found;
}

/* Of what a step is made of. */
static const FabContrastRow *
find_part (const Case *self)
{
  const FabFactKind kinds[] = { FAB_FACT_COMPUTE, FAB_FACT_EXPOSED_BY, FAB_FACT_IDLE };
  double sign = self->step_s > 0 ? 1 : -1;
  const FabContrastRow *found = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    const FabContrastRow *row = find_largest (self, kinds[i], kinds[i], sign);

    if (row && (found == NULL || sign * difference_s (self, row) > sign * difference_s (self, found)))
      found = row;
  }
  return found;
}

static char *
show (double seconds)
{
  return fab_units_show (FAB_UNIT_TIME, round (fabs (seconds) * (double) FAB_PS_PER_S));
}

/* More than half of what compute differs by. */
static gboolean
is_beside_collectives (const Case *self, const FabContrastRow *compute)
{
  const FabContrast *contrast = self->contrast;
  double slowed_s = fab_contrast_variant (contrast, self->index)->slowed_s
                  - fab_contrast_variant (contrast, contrast->base)->slowed_s;

  return slowed_s * difference_s (self, compute) > 0
      && 2 * fabs (slowed_s) > fabs (difference_s (self, compute));
}

static void
append_part (GString *out, const Case *self, const FabContrastRow *part)
{
  const char *more = difference_s (self, part) > 0 ? "more" : "less";
  g_autofree char *time = show (difference_s (self, part));

  switch ((int) part->kind) {
  case FAB_FACT_COMPUTE:
    g_string_append_printf (out, ": %s %s of compute%s", time, more,
                            is_beside_collectives (self, part) ? ", which is slower beside collectives" : "");
    break;
  case FAB_FACT_IDLE:
    g_string_append_printf (out, ": %s %s of waiting without communication", time, more);
    break;
  default:
    if (g_str_equal (part->name, fab_dimension_names[FAB_DIMENSION_OTHER]))
      g_string_append_printf (out, ": %s %s of communication is exposed", time, more);
    else
      g_string_append_printf (out, ": %s %s of the %s is exposed", time, more,
                              fab_dimension_say (part->name));
  }
}

/* Of the same name, of another kind; 0: there is none. */
static double
same_name_s (const Case *self, const FabContrastRow *row, FabFactKind kind)
{
  for (guint i = 0; i < self->contrast->rows->len; i++) {
    const FabContrastRow *other = &g_array_index (self->contrast->rows, FabContrastRow, i);

    if (other->kind == kind && g_str_equal (other->name, row->name))
      return difference_s (self, other);
  }
  return 0;
}

/* "data all_reduce" of "data all_reduce tree". */
static gsize
family_length (const char *name)
{
  const char *blank = strrchr (name, ' ');

  return blank ? (gsize) (blank - name) : strlen (name);
}

static gboolean
is_only_in (const FabContrastRow *row, guint one, guint other)
{
  return !isnan (row->times_s[one]) && isnan (row->times_s[other]);
}

/* Algorithms of the collectives like `row` that only variant `one` has; *change_s: of all that are like it. */
static char *
own_algorithms (const Case *self, const FabContrastRow *row, guint one, guint other, double *change_s)
{
  gsize length = family_length (row->name);
  GString *names = g_string_new (NULL);

  *change_s = 0;
  for (guint i = 0; i < self->contrast->rows->len; i++) {
    const FabContrastRow *like = &g_array_index (self->contrast->rows, FabContrastRow, i);

    if (like->kind != FAB_FACT_COLLECTIVES || family_length (like->name) != length
        || strncmp (like->name, row->name, length) != 0)
      continue;
    *change_s += difference_s (self, like);
    if (is_only_in (like, one, other) && like->name[length] != '\0')
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", like->name + length + 1);
  }
  return g_string_free (names, FALSE);
}

/* Says whether a sum over collectives, of which many may be under way at once, is longer than the step. */
static gboolean
is_long_sum (const Case *self, const FabContrastRow *row)
{
  const guint sides[] = { self->index, self->contrast->base };

  for (guint i = 0; i < G_N_ELEMENTS (sides); i++)
    if (row->times_s[sides[i]]
        > fab_variant_time_s (fab_contrast_variant (self->contrast, sides[i]), FAB_FACT_STEP))
      return TRUE;
  return FALSE;
}

static const char *
in_sum (const Case *self, const FabContrastRow *row)
{
  return is_long_sum (self, row) ? "in total over collectives that overlap" : "in total";
}

/* Collectives that go by another algorithm are held together with those that they replace. FALSE: these do not. */
static gboolean
append_other_algorithms (GString *out, const Case *self, const FabContrastRow *row)
{
  guint base = self->contrast->base;
  double change_s;
  g_autofree char *now = own_algorithms (self, row, self->index, base, &change_s);
  g_autofree char *then = own_algorithms (self, row, base, self->index, &change_s);
  g_autofree char *time = show (change_s);

  if (*now == '\0' && *then == '\0')
    return FALSE;
  g_string_append_printf (out, " Its %.*s", (int) family_length (row->name), row->name);
  if (*now != '\0')
    g_string_append_printf (out, " uses %s", now);
  if (*then != '\0')
    g_string_append_printf (out, *now != '\0' ? " in place of %s" : " no longer uses %s", then);
  g_string_append_printf (out, ": %s %s %s", time, change_s > 0 ? "more" : "less", in_sum (self, row));
  return TRUE;
}

static void
append_collectives (GString *out, const Case *self)
{
  const FabContrastRow *row = find_largest (self, FAB_FACT_COLLECTIVES, FAB_FACT_COLLECTIVES,
                                            self->step_s > 0 ? 1 : -1);
  const FabContrastRow *waits = find_largest (self, FAB_FACT_WAITING, FAB_FACT_WAITING,
                                              self->step_s > 0 ? 1 : -1);

  if (row != NULL && !append_other_algorithms (out, self, row)) {
    g_autofree char *time = show (difference_s (self, row));
    double contention_s = same_name_s (self, row, FAB_FACT_CONTENTION);
    gboolean is_contention = fabs (contention_s - difference_s (self, row)) < 0.01 * fabs (contention_s);

    guint n = row->counts[self->index], before = row->counts[self->contrast->base];
    g_autofree char *others = n != before ? g_strdup_printf (", %u before,", before) : g_strdup ("");

    g_string_append_printf (out, " Its %u %s (%s)%s take%s %s %s %s%s", n,
                            fab_plural (n, "collective", "collectives"), row->name, others, n == 1 ? "s" : "",
                            time, difference_s (self, row) > 0 ? "more" : "less", in_sum (self, row),
                            is_contention ? ", all of it beyond what they take on an idle network" : "");
  }
  if (waits != NULL && fabs (difference_s (self, waits)) > fabs (self->step_s) / 10) {
    g_autofree char *time = show (difference_s (self, waits));

    g_string_append_printf (out, "%s %s waits %s %s for its last rank%s", row ? ";" : " Its", waits->name,
                            time, difference_s (self, waits) > 0 ? "longer" : "less",
                            is_long_sum (self, waits) ? ", in total over waits that overlap" : "");
    row = waits;
  }
  if (row != NULL)
    g_string_append_c (out, '.');
}

/* What of a step is said: a step of other work is no faster or slower than another one. */
static void
append_change (GString *out, const FabVariant *now, const FabVariant *then, double change)
{
  double ratio = now->tokens > 0 && then->tokens > 0 ? now->tokens / then->tokens : 1;
  gboolean is_same_work = fabs (ratio - 1) < same_work, is_as_long = fabs (change) <= no_difference;

  if (is_same_work && is_as_long)
    g_string_append_printf (out, " and %s agree on the step to %.2f %%", then->name, 100 * fabs (change));
  else if (is_same_work)
    g_string_append_printf (out, " is %.1f %% %s than %s", 100 * fabs (change),
                            change > 0 ? "slower" : "faster", then->name);
  else if (is_as_long)
    g_string_append_printf (out, " takes as long as %s", then->name);
  else
    g_string_append_printf (out, " takes %.1f %% %s than %s", 100 * fabs (change),
                            change > 0 ? "longer" : "less time", then->name);
  if (!is_same_work)
    g_string_append_printf (out, " for a step of %.3g times as many tokens", ratio);
}

char *
fab_contrast_explain (const FabContrast *self, guint index, double change)
{
  const FabVariant *now = fab_contrast_variant (self, index), *then = fab_contrast_variant (self, self->base);
  double now_s = fab_variant_time_s (now, FAB_FACT_STEP), then_s = fab_variant_time_s (then, FAB_FACT_STEP);
  Case c = { self, index, now_s - then_s };
  GString *out = g_string_new (now->name);

  if (isnan (change))
    change = then_s > 0 ? c.step_s / then_s : 0;
  append_change (out, now, then, change);
  if (fabs (change) <= no_difference) {
    g_string_append_c (out, '.');
    return g_string_free (out, FALSE);
  }
  gboolean is_alike = (c.step_s > 0) == (change > 0); /* these two plays differ in the same direction */
  const FabContrastRow *part = is_alike ? find_part (&c) : NULL;
  if (part != NULL)
    append_part (out, &c, part);
  g_string_append_c (out, '.');
  if (is_alike)
    append_collectives (out, &c);
  return g_string_free (out, FALSE);
}
