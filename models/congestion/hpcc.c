/* SPDX-License-Identifier: Apache-2.0 */
/* hpcc.c - a window by what switches write into packets: Y. Li et al., "HPCC: High Precision Congestion Control",
 * SIGCOMM 2019, algorithm 1.
 *
 *   per hop    u = min (queue, queue before) / (rate x T) + bytes sent in between / (rate x time in between)
 *   U          of the hop with the largest u: U = (1 - tau / T) U + (tau / T) u, tau: time in between, at most T
 *   window     reference / (U / eta) + W_ai when U >= eta, or after max_stage rounds of only adding W_ai; else
 *              reference + W_ai. The reference is set to it once per round trip
 *   rate       window / T, with T the longest round trip of the empty network: one for all, section 3.2 and GLOBAL_T of
 *              its simulator. A new rate is also that of the gap which the last packet has begun (ChangeRate)
 *
 * U begins at 1, and the first report only sets the reference's round trip. A packet may leave while less payload than
 * the window, which is of the line's bytes with headers, is under way.
 *
 * eta 95 %, max_stage 5: section 5.1. All else is that of the paper's simulator
 * (github.com/alibaba-edu/High-Precision-Congestion-Control, commit 9f4be2a9), whose run.py has a max_stage of 0: W_ai
 * of 10 Mb/s x T per 25 Gb/s of the line, a least rate of 1 Gb/s, and 42 bytes in every packet for five hops
 * (int-header.h).
 */
#include "models/models.h"

enum { MOST_HOPS = 12 };

typedef struct {
  double utilisation_fraction;
  gint64 n_stages;
  FabBytesPerS increase_bytes_per_s, least_bytes_per_s;
  FabBytes report_bytes;
} HpccParams;

typedef struct {
  FabCongestion base;
  FabTelemetry hops[MOST_HOPS]; /* of the report before */
  guint n_hops;                 /* 0: none came yet */
  double reference, window;     /* bytes */
  double utilisation;           /* U */
  gint64 stage;
  FabTimePs updated_ps; /* packets that were sent later report on the reference that was set then */
} Hpcc;

#define ROW(key_, type_, field_, fallback_, help_)                                        \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (HpccParams, field_), \
  .fallback = fallback_, .help = help_

static const FabParam hpcc_params[] = {
  { ROW ("utilisation", FRACTION, utilisation_fraction, "95%",
         "Target utilisation of the busiest port (eta)."),
    .min = 0.01, .max = 1 },
  { ROW ("stages", COUNT, n_stages, "5",
         "Round trips in a row in which the window grows by fixed steps only."),
    .max = 1e6 },
  { ROW ("increase", RATE, increase_bytes_per_s, "0Gb/s",
         "Additive step of the rate, W_ai / T; 0: 10 Mb/s per 25 Gb/s of line rate."),
    .max = 1e15 },
  { ROW ("least", RATE, least_bytes_per_s, "1Gb/s", "Lowest rate of a sender."), .max = 1e15 },
  { ROW ("report_bytes", BYTES, report_bytes, "42B",
         "Bytes that the report of the switches takes in every packet; 42: five hops."),
    .max = 1e3 },
  { .key = NULL },
};

static const double increase_fraction = 0.01 / 25;

static void
set_window (Hpcc *self, double window)
{
  double trip_s = fab_ps_to_seconds (self->base.longest_trip_ps), full = self->base.wire_bytes_per_s * trip_s;

  double least = (double) ((const HpccParams *) self->base.params)->least_bytes_per_s * trip_s;

  self->window = CLAMP (window, MIN (least, full), full);
  self->base.window_bytes = self->window + self->base.mtu_bytes - 1;
  self->base.rate_bytes_per_s = self->window >= full ? 0 : self->window / full * self->base.line_bytes_per_s;
}

static void
hpcc_start (FabCongestion *base)
{
  Hpcc *self = (Hpcc *) base;

  set_window (self, base->wire_bytes_per_s * fab_ps_to_seconds (base->longest_trip_ps));
  self->reference = self->window;
  self->utilisation = 1;
  self->updated_ps = -1;
}

/* Returns FALSE unless the report before was of one of the same ports. */
static gboolean
measure (Hpcc *self, const FabPacketReport *report)
{
  double trip_ps = (double) self->base.longest_trip_ps, most = 0, tau_ps = 0;
  guint n = MIN (report->n_hops, MOST_HOPS);
  gboolean is_known = FALSE;

  for (guint i = 0; i < n; i++) {
    const FabTelemetry *now = &report->hops[i], *before = &self->hops[i];
    double between_ps = (double) (now->at_ps - before->at_ps);

    if (i < self->n_hops && now->port == before->port && between_ps > 0) {
      double u = MIN (now->queue_ps, before->queue_ps) / trip_ps
               + (double) (now->busy_ps - before->busy_ps) / between_ps;

      is_known = TRUE;
      tau_ps = u > most ? between_ps : tau_ps;
      most = MAX (most, u);
    }
    self->hops[i] = *now;
  }
  self->n_hops = n;
  tau_ps = MIN (tau_ps, trip_ps);
  self->utilisation += tau_ps / trip_ps * (most - self->utilisation);
  return is_known;
}

static void
hpcc_reported (FabCongestion *base, const FabPacketReport *report)
{
  Hpcc *self = (Hpcc *) base;
  const HpccParams *p = base->params;
  gboolean is_due = report->sent_ps > self->updated_ps;
  double step = (p->increase_bytes_per_s > 0 ? (double) p->increase_bytes_per_s
                                             : base->wire_bytes_per_s * increase_fraction)
              * fab_ps_to_seconds (base->longest_trip_ps);

  if (report->is_lost)
    return;
  if (!measure (self, report)) {
    self->updated_ps = self->updated_ps < 0 ? report->now_ps : self->updated_ps;
    return;
  }
  double excess = self->utilisation / p->utilisation_fraction;
  gboolean falls = excess >= 1 || self->stage >= p->n_stages;

  set_window (self, (falls ? self->reference / MAX (excess, 1e-3) : self->reference) + step);
  if (!is_due)
    return;
  self->stage = falls ? 0 : self->stage + 1;
  self->reference = self->window;
  self->updated_ps = report->now_ps;
}

static guint32
hpcc_header_bytes (gconstpointer params)
{
  return (guint32) ((const HpccParams *) params)->report_bytes;
}

const FabCongestionOps fab_congestion_hpcc = {
  .info = { .name = "hpcc",
            .summary = "HPCC: switches write queue lengths and rates into packets; these set the window.",
            .doc = "docs/models/hpcc.md",
            .params = hpcc_params,
            .params_size = sizeof (HpccParams) },
  .state_size = sizeof (Hpcc),
  .has_telemetry = TRUE,
  .lengthens_gap = TRUE,
  .header_bytes = hpcc_header_bytes,
  .start = hpcc_start,
  .reported = hpcc_reported,
};
