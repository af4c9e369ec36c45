/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/fit/check.h"

#include <math.h>

#include "sim/base/error.h"

static const FabBytes filling_network_bytes = 64 << 10, filling_copy_bytes = 1 << 20;

/* A predicted time, and half of its 95 % interval as a fraction of it; ps 0: the entry does not predict it. */
typedef struct {
  double ps, band_fraction;
} Prediction;

static double
rate_of (const FabLinkCheckRequest *request, FabDrive drive)
{
  return (double) fab_link_spec_line_rate (request->link) / fab_link_spec_cost (request->link, drive)
       * request->count;
}

/* Adds the time of endpoint and wires to that of the bytes; their intervals are independent. */
static Prediction
predict_parts (const FabLinkCheckRequest *request, double share, double bytes)
{
  const FabLinkSpec *link = request->link;
  double endpoint_ps = (double) link->endpoint_ps;
  double wire_ps = bytes / (rate_of (request, FAB_DRIVE_COPY) * share) * (double) FAB_PS_PER_S;
  double ps = endpoint_ps + (double) request->hops * (double) link->latency_ps + wire_ps;

  return (Prediction){ ps, hypot (endpoint_ps * link->uncertainty.endpoint_fraction,
                                  wire_ps * link->uncertainty.rate_fraction)
                               / ps };
}

static Prediction
predict_message (const FabLinkFit *fit, const FabLinkCheckRequest *request, FabMeasureKind which,
                 double bytes)
{
  const FabLinkSpec *link = request->link;
  FabMessages messages = { .regimes = link->messages.data, .n = link->messages.n, .factor = 1 };
  FabMessageWay way = which == FAB_MEASURE_EXCHANGE ? FAB_WAY_BOTH : FAB_WAY_ONE;
  double share = way == FAB_WAY_BOTH && link->collective_fraction > 0 ? link->collective_fraction : 1;

  if (messages.n > 0 && request->count == 1)
    return (Prediction){ (double) fab_message_ps (&messages, way, bytes),
                         link->uncertainty.messages_fraction };
  return fit->is_device ? (Prediction){ 0, 0 } : predict_parts (request, share, bytes);
}

static Prediction
predict (const FabLinkFit *fit, const FabLinkCheckRequest *request, FabDrive drive, FabMeasureKind which,
         FabBytes size_bytes)
{
  const FabLinkSpec *link = request->link;
  gboolean is_timed = which == FAB_MEASURE_LATENCY || which == FAB_MEASURE_EXCHANGE;
  gboolean is_shared = which == FAB_MEASURE_BIDIRECTIONAL && !fit->is_device && link->collective_fraction > 0;
  double rate = rate_of (request, drive) * (is_shared ? link->collective_fraction : 1);

  if (is_timed && drive == FAB_DRIVE_COPY)
    return predict_message (fit, request, which, (double) size_bytes);
  if (is_timed || size_bytes < (fit->is_device ? filling_copy_bytes : filling_network_bytes))
    return (Prediction){ 0, 0 };
  return (Prediction){ (double) size_bytes / rate * (double) FAB_PS_PER_S, link->uncertainty.rate_fraction };
}

static gboolean
is_outside (const FabLinkMeasured *measured, FabBytes size_bytes)
{
  return measured->to_bytes > 0 && (size_bytes < measured->from_bytes || size_bytes > measured->to_bytes);
}

static void
add_row (FabLinkCheckKind *self, FabFitRow row, const Prediction *prediction, const FabLinkSpec *link)
{
  if (prediction->ps <= 0) {
    self->n_left_out++;
    return;
  }
  row.predicted_ps = prediction->ps;
  row.error_fraction = row.predicted_ps / row.measured_ps - 1;
  row.band_fraction = prediction->band_fraction;
  row.part = is_outside (&link->measured, row.size_bytes) ? FAB_FIT_OUTSIDE : row.part;
  self->n_in_band += fabs (row.measured_ps / row.predicted_ps - 1) <= row.band_fraction;
  g_array_append_val (self->rows, row);
}

static FabLinkCheckKind *
check_kind (const FabLinkFit *fit, const FabLinkCheckRequest *request, FabDrive drive, FabMeasureKind which)
{
  const FabFitKind *kind = &fit->kinds[drive][which];
  FabLinkCheckKind *self = g_new0 (FabLinkCheckKind, 1);

  self->measured = kind;
  self->which = which;
  self->rows = g_array_new (FALSE, FALSE, sizeof (FabFitRow));
  for (guint i = 0; i < kind->points->len; i++) {
    const FabFitPoint *point = &g_array_index (kind->points, FabFitPoint, i);
    FabFitRow row = { .size_bytes = (FabBytes) point->size_bytes, .measured_ps = point->time_ps };
    Prediction prediction = predict (fit, request, drive, which, row.size_bytes);

    if (kind->curve)
      row.part = g_array_index (kind->curve->rows, FabFitRow, i).part;
    add_row (self, row, &prediction, request->link);
  }
  for (FabFitPart part = 0; part < FAB_N_FIT_PARTS; part++)
    self->errors[part] = fab_fit_errors (self->rows, part);
  return self;
}

gboolean
fab_link_check_has_band (const FabLinkCheckKind *kind)
{
  for (guint i = 0; i < kind->rows->len; i++)
    if (g_array_index (kind->rows, FabFitRow, i).band_fraction > 0)
      return TRUE;
  return FALSE;
}

static void
free_kind (gpointer data)
{
  FabLinkCheckKind *self = data;

  g_array_unref (self->rows);
  g_free (self);
}

FabLinkCheck *
fab_link_check_new (const FabLinkFit *fit, const FabLinkCheckRequest *request, GError **error)
{
  g_autoptr (FabLinkCheck) self = g_new0 (FabLinkCheck, 1);
  guint n_rows = 0;

  self->link = request->link->name;
  self->kinds = g_ptr_array_new_with_free_func (free_kind);
  for (FabDrive drive = FAB_DRIVE_COPY; drive <= FAB_DRIVE_KERNEL; drive++)
    for (FabMeasureKind which = 0; which < FAB_N_MEASURE_KINDS; which++)
      if (fit->kinds[drive][which].series) {
        FabLinkCheckKind *kind = check_kind (fit, request, drive, which);

        g_ptr_array_add (self->kinds, kind);
        n_rows += kind->rows->len;
      }
  if (n_rows == 0) {
    fab_throw (
        error, FAB_ERROR_INPUT,
        "link '%s' says nothing of what was measured: it has no `messages`, and no message is large enough to fill it",
        self->link);
    return NULL;
  }
  return g_steal_pointer (&self);
}

void
fab_link_check_free (FabLinkCheck *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->kinds);
  g_free (self);
}
