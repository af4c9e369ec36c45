/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/explain/statement.h"

#include <math.h>
#include <string.h>

#include "sim/base/units.h"

FabStatement *
fab_statement_new (guint depth, const char *title, const char *name, FabTermKind kind, double value)
{
  FabStatement *self = g_new0 (FabStatement, 1);

  self->depth = depth;
  self->title = g_strdup (title);
  self->name = name;
  self->kind = kind;
  self->value = value;
  self->terms = g_array_new (FALSE, FALSE, sizeof (FabTerm));
  self->notes = g_ptr_array_new_with_free_func (g_free);
  return self;
}

void
fab_statement_free (FabStatement *self)
{
  if (self == NULL)
    return;
  g_free (self->title);
  g_free (self->formula);
  g_free (self->source);
  g_array_unref (self->terms);
  g_ptr_array_unref (self->notes);
  g_free (self);
}

void
fab_statement_formula (FabStatement *self, const char *formula)
{
  g_free (self->formula);
  self->formula = g_strdup (formula);
}

void
fab_statement_term (FabStatement *self, const char *name, FabTermKind kind, double value)
{
  FabTerm term = { name, kind, value };

  g_array_append_val (self->terms, term);
}

void
fab_statement_origin (FabStatement *self, const char *source, const char *date)
{
  g_free (self->source);
  self->source = source == NULL || date == NULL ? g_strdup (source != NULL ? source : date)
                                                : g_strdup_printf ("%s (%s)", source, date);
}

void
fab_statement_note (FabStatement *self, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_ptr_array_add (self->notes, g_strdup_vprintf (format, args));
  va_end (args);
}

static char *
show_bytes (double bytes)
{
  static const struct {
    double size;
    const char *unit;
  } units[] = { { 1e12, "TB" }, { 1e9, "GB" }, { 1e6, "MB" }, { 1e3, "kB" }, { 1, "B" } };
  guint i = 0;

  while (i + 1 < G_N_ELEMENTS (units) && fabs (bytes) < units[i].size)
    i++;
  return g_strdup_printf ("%.4g %s", bytes / units[i].size, units[i].unit);
}

static char *
show_flops (double flops, const char *unit)
{
  static const char *const prefixes[] = { "", "k", "M", "G", "T", "P", "E", "Z" };
  guint i = 0;

  while (i + 1 < G_N_ELEMENTS (prefixes) && fabs (flops) >= 1000) {
    flops /= 1000;
    i++;
  }
  return g_strdup_printf ("%.4g %s%s", flops, prefixes[i], unit);
}

char *
fab_term_show (FabTermKind kind, double value)
{
  char *text;

  switch (kind) {
  case FAB_TERM_TIME: return fab_units_show (FAB_UNIT_TIME, value * FAB_PS_PER_S);
  case FAB_TERM_BYTES: return show_bytes (value);
  case FAB_TERM_RATE: {
    g_autofree char *bytes = show_bytes (value);

    return g_strconcat (bytes, "/s", NULL);
  }
  case FAB_TERM_FLOPS: return show_flops (value, "FLOP");
  case FAB_TERM_FLOPS_RATE: return show_flops (value, "FLOP/s");
  case FAB_TERM_FRACTION: return g_strdup_printf ("%.4g %%", 100 * value);
  case FAB_TERM_MONEY: return g_strdup_printf ("$%.4g", value);
  case FAB_TERM_NUMBER:
  default:
    text = g_strdup_printf (fabs (value) < 1e7 && value == rint (value) ? "%.0f" : "%.5g", value);
    return text;
  }
}

static const FabTerm *
find_term (const FabStatement *self, const char *name, gsize length)
{
  for (guint i = 0; i < self->terms->len; i++) {
    const FabTerm *term = &g_array_index (self->terms, FabTerm, i);

    if (strlen (term->name) == length && strncmp (term->name, name, length) == 0)
      return term;
  }
  return NULL;
}

char *
fab_statement_numbers (const FabStatement *self)
{
  GString *out;

  if (self->formula == NULL)
    return NULL;
  out = g_string_new (NULL);
  for (const char *at = self->formula; *at != '\0';) {
    gsize length = strspn (at, "abcdefghijklmnopqrstuvwxyz_");
    const FabTerm *term = find_term (self, at, length); /* no name is empty */

    g_assert (length == 0 || term != NULL); /* a formula names its terms */
    if (term != NULL) {
      g_autofree char *shown = fab_term_show (term->kind, term->value);

      g_string_append (out, shown);
      at += length;
    } else {
      g_string_append_c (out, *at++);
    }
  }
  return g_string_free (out, FALSE);
}
