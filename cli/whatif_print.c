/* SPDX-License-Identifier: Apache-2.0 */
/* whatif_print.c - the page of `fabricast whatif`: a sentence for each change, a table, what algorithms changed. */
#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/whatif.h"
#include "sim/base/error.h"

enum { MOST_SWITCHES = 6 };

gint
fab_whatif_column (const FabWhatIfView *view, guint side)
{
  gint column = -1;

  for (guint i = 0; i <= side; i++)
    column += fab_sides_at (view->sides, i)->point != NULL;
  return fab_sides_at (view->sides, side)->point != NULL ? column : -1;
}

const FabChange *
fab_whatif_change (const FabWhatIfView *view, guint side)
{
  return side > 0 && side <= view->changes->len ? g_ptr_array_index (view->changes, side - 1) : NULL;
}

/* --- words --- */

static void
append_binding (GString *out, const FabPoint *before, const FabPoint *after)
{
  if (g_strcmp0 (before->binding_spec, after->binding_spec) == 0
      && g_strcmp0 (before->binding, after->binding) == 0)
    return;
  if (after->binding == NULL)
    g_string_append (out, " No link binds.");
  else
    g_string_append_printf (out, " %s (%s) binds%s%s.", after->binding, after->binding_spec,
                            before->binding ? " in place of " : "", before->binding ? before->binding : "");
}

static void
append_count (GString *out, guint n, guint all, const char *noun)
{
  if (n == 0)
    g_string_append_printf (out, "none of %u %s", all, noun);
  else if (n == all)
    g_string_append_printf (out, "all %u %s", all, noun);
  else
    g_string_append_printf (out, "%u of %u %s", n, all, noun);
}

/* How far a fault reaches. */
static void
append_reach (GString *out, const FabBlast *blast)
{
  g_string_append (out, " It slows ");
  if (blast->n_collectives > 0)
    append_count (out, blast->n_slower, blast->n_collectives, "collectives");
  else
    g_string_append (out, "other collectives than there were");
  g_string_append (out, "; ");
  append_count (out, blast->n_waiting, blast->n_ranks, "GPUs");
  g_string_append (out, blast->n_waiting == 0 ? " waits longer." : " wait longer.");
}

char *
fab_whatif_words (const FabWhatIfView *view, guint side)
{
  const FabSide *one = fab_sides_at (view->sides, side);
  const FabChange *change = fab_whatif_change (view, side);
  gint column = fab_whatif_column (view, side);

  if (column < 0) {
    g_auto (GStrv) lines = g_strsplit (one->problem->message, "\n", 2);

    return g_strdup_printf ("%s: %s", one->name, lines[0]);
  }
  g_autofree char *why = fab_contrast_explain (view->contrast, (guint) column);
  g_autoptr (GString) out = g_string_new (why);
  append_binding (out, fab_sides_at (view->sides, 0)->point, one->point);
  if (change != NULL && change->kind == FAB_CHANGE_FAULT) {
    FabBlast blast = fab_blast_of (fab_contrast_variant (view->contrast, 0),
                                   fab_contrast_variant (view->contrast, (guint) column));

    append_reach (out, &blast);
  }
  return g_strdup (out->str);
}

/* --- table --- */

static glong
name_width (const FabWhatIfView *view)
{
  glong width = 0;

  for (guint i = 0; i < view->sides->len; i++) {
    g_autofree char *name = fab_cli_printable (fab_sides_at (view->sides, i)->name);

    width = MAX (width, g_utf8_strlen (name, -1));
  }
  return width;
}

static char *
show_change (double before, double after)
{
  return before > 0 ? g_strdup_printf ("%+.1f %%", 100 * (after / before - 1)) : g_strdup ("-");
}

static char *
show_time (double seconds)
{
  return fab_units_show (FAB_UNIT_TIME, round (seconds * (double) FAB_PS_PER_S));
}

static void
append_row (GString *text, const FabWhatIfView *view, guint side, glong width)
{
  const FabSide *one = fab_sides_at (view->sides, side);
  const FabPoint *base = fab_sides_at (view->sides, 0)->point, *point = one->point;
  g_autofree char *name = fab_cli_printable (one->name);

  g_string_append_printf (text, "  %s%*s", name, (int) (width - g_utf8_strlen (name, -1)), "");
  if (point == NULL) {
    g_string_append (text,
                     one->problem->code == FAB_ERROR_HUNG ? "  the job hangs\n" : "  cannot be played\n");
    return;
  }
  g_autofree char *step = show_time (point->step_s), *exposed = show_time (point->exposed_s);
  g_autofree char *more_step = side > 0 ? show_change (base->step_s, point->step_s) : g_strdup ("-");
  double change_s = point->exposed_s - base->exposed_s;
  g_autofree char *size = show_time (fabs (change_s));
  g_autofree char *more_exposed = side > 0 ? g_strconcat (change_s < 0 ? "-" : "+", size, NULL)
                                           : g_strdup ("-");
  g_string_append_printf (text, " %7u %11s %10s %11s %11s %7.1f %% %12.0f  %s\n", point->n_ranks, step,
                          more_step, exposed, more_exposed, 100 * point->mfu_fraction, point->tokens_per_s,
                          point->binding_spec ? point->binding_spec : "-");
}

static void
append_table (GString *text, const FabWhatIfView *view)
{
  glong width = name_width (view);

  g_string_append_printf (text, "  %*s %7s %11s %10s %11s %11s %9s %12s  %s\n", (int) width, "", "GPUs",
                          "step", "change", "exposed", "change", "MFU", "tokens/s", "binding");
  for (guint i = 0; i < view->sides->len; i++)
    append_row (text, view, i, width);
}

/* Collectives that go by another algorithm, by size. */
static void
append_switches (GString *text, const FabWhatIfView *view, guint side)
{
  gint column = fab_whatif_column (view, side);
  g_autofree char *name = fab_cli_printable (fab_sides_at (view->sides, side)->name);

  if (column < 0)
    return;
  g_autoptr (GArray) switches = fab_switches_of (fab_contrast_variant (view->contrast, 0),
                                                 fab_contrast_variant (view->contrast, (guint) column));
  if (switches->len > 0)
    g_string_append_printf (text, "\n  collectives that go by another algorithm: %s\n", name);
  for (guint i = 0; i < MIN (switches->len, MOST_SWITCHES); i++) {
    const FabSwitch *one = &g_array_index (switches, FabSwitch, i);
    g_autofree char *bytes = fab_units_show (FAB_UNIT_BYTES, (double) one->bytes);
    g_autofree char *then = show_time (one->before_s), *now = show_time (one->after_s);

    g_string_append_printf (text, "    %5u x %s of %s: %s %s, %s %s\n", one->n, one->op, bytes,
                            one->before ? one->before : "-", then, one->after ? one->after : "-", now);
  }
  if (switches->len > MOST_SWITCHES)
    g_string_append_printf (text, "    and %u sizes more\n", switches->len - MOST_SWITCHES);
}

char *
fab_whatif_text (const FabWhatIfView *view)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%s\n\n", view->title);
  for (guint i = 1; i < view->sides->len; i++) {
    g_autofree char *words = fab_whatif_words (view, i);
    g_autofree char *printable = fab_cli_printable (words);

    g_string_append_printf (text, "  %s\n", printable);
  }
  if (view->apart != NULL)
    g_string_append_printf (text, "  %s\n", view->apart);
  g_string_append_c (text, '\n');
  append_table (text, view);
  for (guint i = 1; i <= view->changes->len; i++)
    append_switches (text, view, i);
  return g_string_free (text, FALSE);
}
