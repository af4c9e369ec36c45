/* SPDX-License-Identifier: Apache-2.0 */
/* compare_text.c - the table of `fabricast compare`: rows are times, columns are variants; then why, in words. */
#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/compare.h"

enum { NAME_COLUMNS = 36, LEAST_COLUMNS = 12, MOST_SORTS = 8, MOST_LINKS = 3 };

static const double no_difference = 5e-4; /* of the step: a link that differs less is not worth a row */

static void
append_name (FabComparePage *page, guint indent, const char *name)
{
  g_autofree char *printable = fab_cli_printable (name);
  glong length = g_utf8_strlen (printable, -1) + indent;

  g_string_append_printf (page->out, "%*s%s", (int) indent, "", printable);
  if (length >= NAME_COLUMNS)
    g_string_append_printf (page->out, "\n%*s", NAME_COLUMNS, "");
  else
    g_string_append_printf (page->out, "%*s", (int) (NAME_COLUMNS - length), "");
}

static void
append_cell (FabComparePage *page, const char *text)
{
  glong length = g_utf8_strlen (text, -1);

  g_string_append_printf (page->out, "%*s%s", (int) MAX ((glong) page->width - length, 1), "", text);
}

void
fab_compare_append_cells (FabComparePage *page, guint indent, const char *name, char *const *cells)
{
  append_name (page, indent, name);
  for (guint k = 0; k < page->contrast->variants->len; k++)
    append_cell (page, cells[k] != NULL ? cells[k] : "-");
  g_string_append_c (page->out, '\n');
}

static void
append_row (FabComparePage *page, guint indent, const char *name, const double *times_s)
{
  append_name (page, indent, name);
  for (guint k = 0; k < page->contrast->variants->len; k++) {
    g_autofree char *shown = isnan (times_s[k])
                               ? g_strdup ("-")
                               : fab_units_show (FAB_UNIT_TIME,
                                                 round (fabs (times_s[k]) * (double) FAB_PS_PER_S));
    g_autofree char *cell = g_strconcat (!isnan (times_s[k]) && times_s[k] < -1e-12 ? "-" : "", shown, NULL);

    append_cell (page, cell);
  }
  g_string_append_c (page->out, '\n');
}

void
fab_compare_append_head (FabComparePage *page)
{
  append_name (page, 2, "");
  for (guint k = 0; k < page->contrast->variants->len; k++) {
    g_autofree char *name = fab_cli_printable (fab_contrast_variant (page->contrast, k)->name);

    append_cell (page, name);
  }
  g_string_append_c (page->out, '\n');
}

static void
append_difference (FabComparePage *page, const FabContrastRow *step)
{
  const FabVariant *base = fab_contrast_variant (page->contrast, page->contrast->base);
  g_autofree char *name = g_strconcat ("against ", base->name, NULL);
  double base_s = step->times_s[page->contrast->base];

  append_name (page, 4, name);
  for (guint k = 0; k < page->contrast->variants->len; k++) {
    double percent = base_s > 0 ? 100 * (step->times_s[k] / base_s - 1) : 0;
    g_autofree char *cell = k == page->contrast->base ? g_strdup ("-")
                                                      : g_strdup_printf ("%+.2f %%", percent);

    append_cell (page, cell);
  }
  g_string_append_c (page->out, '\n');
}

static const FabContrastRow *
row_at (const FabContrast *contrast, guint index)
{
  return &g_array_index (contrast->rows, FabContrastRow, index);
}

static guint
count_rows (const FabContrast *contrast, FabFactKind kind)
{
  guint n = 0;

  for (guint i = 0; i < contrast->rows->len; i++)
    n += row_at (contrast, i)->kind == kind;
  return n;
}

static void
append_sums (FabComparePage *page, FabFactKind kind, const char *name)
{
  g_autofree double *sums_s = g_new (double, page->contrast->variants->len);

  for (guint k = 0; k < page->contrast->variants->len; k++)
    sums_s[k] = fab_variant_sum_s (fab_contrast_variant (page->contrast, k), kind);
  append_row (page, 2, name, sums_s);
}

/* What a step is made of: it adds up. */
void
fab_compare_append_step (FabComparePage *page)
{
  gboolean has_parts = count_rows (page->contrast, FAB_FACT_EXPOSED_BY) > 1;

  for (guint i = 0; i < page->contrast->rows->len; i++) {
    const FabContrastRow *row = row_at (page->contrast, i);

    if (row->kind < FAB_FACT_EXPOSED_BY || row->kind == FAB_FACT_IDLE)
      append_row (page, row->kind == FAB_FACT_OVERLAPPED || row->kind == FAB_FACT_EXPOSED ? 4 : 2,
                  fab_fact_names[row->kind], row->times_s);
    else if (row->kind == FAB_FACT_EXPOSED_BY && has_parts)
      append_row (page, 6, row->name, row->times_s);
    if (row->kind == FAB_FACT_STEP)
      append_difference (page, row);
  }
  g_string_append_c (page->out, '\n');
}

void
fab_compare_append_sorts (FabComparePage *page)
{
  guint n = count_rows (page->contrast, FAB_FACT_COLLECTIVES), n_shown = 0;

  if (n == 0)
    return;
  append_sums (page, FAB_FACT_COLLECTIVES, "collectives, their times in sum");
  for (guint i = 0; i < page->contrast->rows->len; i++) {
    const FabContrastRow *row = row_at (page->contrast, i);
    g_autofree char *name = row->n > 0 ? g_strdup_printf ("%u x %s", row->n, row->name)
                                       : g_strdup (row->name);

    if (row->kind == FAB_FACT_COLLECTIVES && n > 1 && n_shown++ < MOST_SORTS)
      append_row (page, 4, name, row->times_s);
  }
  if (n > MOST_SORTS)
    g_string_append_printf (page->out, "    and %u sorts more: --format csv\n", n - MOST_SORTS);
  append_sums (page, FAB_FACT_CONTENTION, "  beyond an idle network's");
  append_sums (page, FAB_FACT_WAITING, "  waiting for their last rank");
  g_string_append_c (page->out, '\n');
}

void
fab_compare_append_links (FabComparePage *page)
{
  double step_s = fab_variant_time_s (fab_contrast_variant (page->contrast, page->contrast->base),
                                      FAB_FACT_STEP);
  guint n_shown = 0;

  for (guint i = 0; i < page->contrast->rows->len && n_shown < MOST_LINKS; i++) {
    const FabContrastRow *row = row_at (page->contrast, i);

    if (row->kind != FAB_FACT_LINK || fab_contrast_spread_s (page->contrast, row) <= no_difference * step_s)
      continue;
    if (n_shown++ == 0)
      g_string_append (page->out, "  links busy, the largest differences\n");
    append_row (page, 4, row->name, row->times_s);
  }
  if (n_shown > 0)
    g_string_append_c (page->out, '\n');
}

void
fab_compare_page_init (FabComparePage *page, const FabContrast *contrast)
{
  *page = (FabComparePage){ g_string_new (NULL), contrast, LEAST_COLUMNS };
  for (guint k = 0; k < contrast->variants->len; k++)
    page->width = MAX (page->width, (guint) strlen (fab_contrast_variant (contrast, k)->name) + 2);
}

char *
fab_compare_text (const FabCompareView *view)
{
  FabComparePage page;
  g_autofree char *title = fab_cli_printable (view->title);

  fab_compare_page_init (&page, view->contrast);
  g_string_append_printf (page.out, "%s\n\n", title);
  fab_compare_append_head (&page);
  fab_compare_append_step (&page);
  fab_compare_append_sorts (&page);
  fab_compare_append_links (&page);
  for (guint k = 0; k < view->contrast->variants->len; k++) {
    g_autofree char *words = fab_contrast_explain (view->contrast, k);

    if (k != view->contrast->base)
      g_string_append_printf (page.out, "  %s\n", words);
  }
  for (guint i = 0; view->left_out && view->left_out[i]; i++)
    g_string_append_printf (page.out, "  %s\n", view->left_out[i]);
  return g_string_free (page.out, FALSE);
}
