/* SPDX-License-Identifier: Apache-2.0 */
/* collective_curve.c - bus bandwidth over sizes, as a picture below the table. Rows whose sizes grow by a factor are
 * equally far apart. */
#include "answer/predict.h"
#include "cli/run/collective.h"
#include "cli/terminal/curve.h"
#include "sim/base/units.h"

static char *
show_rate (double GBps, G_GNUC_UNUSED gconstpointer of)
{
  return g_strdup_printf ("%.4g GB/s", GBps);
}

void
collective_print_curve (const GArray *rows)
{
  g_autofree double *busbw = g_new (double, rows->len);
  g_autofree char *first = NULL, *last = NULL, *curve = NULL;

  for (guint i = 0; i < rows->len; i++)
    busbw[i] = g_array_index (rows, FabPrediction, i).busbw_GBps;
  first = fab_units_write_whole (FAB_UNIT_BYTES, (gint64) g_array_index (rows, FabPrediction, 0).size_bytes);
  last = fab_units_write_whole (FAB_UNIT_BYTES,
                                (gint64) g_array_index (rows, FabPrediction, rows->len - 1).size_bytes);
  curve = fab_curve_for_screen (&(FabCurve){
      .title = "busbw",
      .first = first,
      .last = last,
      .prefix = "# ",
      .values = busbw,
      .n = rows->len,
      .show = show_rate,
  });
  if (curve != NULL && *curve != '\0')
    g_print ("\n%s", curve);
}
