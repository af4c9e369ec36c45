/* SPDX-License-Identifier: Apache-2.0 */
/* nscc.c - the sender's congestion control of Ultra Ethernet 1.0 (NSCC), for packets that are sprayed over many paths.
 *
 *   not marked, delay below target    window += alpha (target - delay) bytes / window: proportional increase; after a
 *                                     window without delay, bytes x fast: fast increase
 *   not marked, above                 window += fair x bytes / window: fair increase
 *   marked, below                     nothing: the next packet takes another path
 *   marked, above                     window x= max (1 - gamma (mean - target) / mean, 1/2), once per round trip
 *   lost or trimmed                   window -= bytes
 *   quick adapt                       once per round trip + target: after losses, or at a delay above 4 targets, the
 *                                     window is what arrived in that time, when that is less than 1/8 of the largest
 *                                     window; what was under way then changes it no more
 *
 * Delay is the round trip less that of an empty network. The target and all steps follow the longest round trip of the
 * network, so that senders near the receiver and far from it want the same; the largest window and the pauses between
 * cuts follow their own. Increases are summed and applied every 8 packets or longest round trip, with eta bytes more
 * per longest round trip. Rules and constants are read from uec.cpp of the Ultra Ethernet Consortium's simulator
 * (github.com/ultraethernet/uet-htsim, initNsccParams, initNscc and updateCwndOnAck_NSCC, read on 2026-11-23 and
 * 2026-11-27), which scale with the bandwidth-delay product of the longest round trip: a = BDP / (100 Gb/s x 12 us).
 */
#include "models/models.h"

typedef struct {
  FabTimePs target_ps;
  double gamma_fraction, most_factor;
  gint64 quick_part;
} NsccParams;

typedef struct {
  FabCongestion base;
  double window, most; /* bytes */
  double target_ps;
  FabTimePs
      trip_ps; /* the shortest round trip that it has seen; the longest of the network before the first */
  double alpha, fair, fast, eta; /* bytes^2 per ps and byte; bytes; per byte; bytes */
  double mean_ps;                /* of the delay */
  double increase, received, achieved,
      undelayed; /* bytes: to be added x window; since the last adjustment; since the
                                                     last quick adapt; in a row without delay */
  double ignored,
      to_ignore; /* bytes under way at the last quick adapt, and how many of these were heard of */
  double flight; /* bytes */
  FabTimePs adjusted_ps, cut_ps,
      quick_ps; /* last adjustment; last decrease; when to adapt quickly next, 0: never yet */
  gboolean is_fast, has_lost;
} Nscc;

#define ROW(key_, type_, field_, fallback_, help_)                                        \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (NsccParams, field_), \
  .fallback = fallback_, .help = help_

static const FabParam nscc_params[] = {
  { ROW ("target", TIME, target_ps, "0ns",
         "Target queueing delay; 0ns: three quarters of the longest round trip of the network."),
    .max = 1e12 },
  { ROW ("gamma", FRACTION, gamma_fraction, "0.8",
         "Fraction of the excess delay over the target by which the window shrinks."),
    .max = 1 },
  { ROW ("most", FACTOR, most_factor, "1.5",
         "Largest window, which is also the first, in bandwidth-delay products."),
    .min = 0.01, .max = 1e3 },
  { ROW ("quick_part", COUNT, quick_part, "8",
         "Quick adapt cuts the window when fewer bytes arrived than the largest window divided by this "
         "number; 0: never."),
    .max = 1e6 },
  { .key = NULL },
};

static void
set_window (Nscc *self, double window)
{
  self->window = CLAMP (window, (double) self->base.mtu_bytes, self->most);
  self->base.window_bytes = self->window;
}

/* A sender does not know how far its receiver is before it has heard of a packet. */
static void
note_trip (Nscc *self, FabTimePs trip_ps)
{
  const NsccParams *p = self->base.params;

  self->trip_ps = trip_ps;
  self->most = MAX (p->most_factor * self->base.line_bytes_per_s * fab_ps_to_seconds (trip_ps),
                    self->base.mtu_bytes);
}

static void
learn_trip (Nscc *self, const FabPacketReport *report)
{
  FabTimePs trip_ps = report->now_ps - report->left_ps;

  if (trip_ps >= self->trip_ps)
    return;
  note_trip (self, trip_ps);
  set_window (self, self->window);
}

static void
nscc_start (FabCongestion *base)
{
  Nscc *self = (Nscc *) base;
  const NsccParams *p = base->params;
  double trip_ps = (double) base->longest_trip_ps, mtu = base->mtu_bytes;
  double per_ps = base->line_bytes_per_s / (double) FAB_PS_PER_S;
  double a = per_ps * trip_ps / (12.5e9 * 12e-6);

  self->target_ps = p->target_ps > 0 ? (double) p->target_ps : 0.75 * trip_ps;
  self->alpha = 4 * mtu * a / 12e6; /* 4 mtu a b / target, and b = target / 12 us */
  self->fair = 5 * mtu * a;
  self->fast = 0.25 * a;
  self->eta = 0.15 * mtu * a;
  note_trip (self, base->longest_trip_ps);
  self->adjusted_ps = self->cut_ps = -FAB_PS_PER_S; /* never yet */
  set_window (self, self->most);
}

static void
count_delay (Nscc *self, double delay_ps, gboolean is_marked)
{
  const double weight = 0.0125;
  double seen_ps = !is_marked && delay_ps > self->target_ps ? (double) self->trip_ps / 4 : delay_ps;

  self->mean_ps += weight * (seen_ps - self->mean_ps);
}

static void
take_quick (Nscc *self)
{
  set_window (self, self->achieved);
  self->to_ignore = self->flight;
  self->ignored = 0;
  self->has_lost = FALSE;
}

/* Returns whether the report is not to change the window any more. */
static gboolean
adapt_quickly (Nscc *self, const FabPacketReport *report, double delay_ps)
{
  gint64 part = ((const NsccParams *) self->base.params)->quick_part;
  gboolean is_done = FALSE;

  if (part == 0)
    return FALSE;
  if (self->ignored < self->to_ignore && (report->is_marked || report->is_lost)) {
    is_done = TRUE;
  } else if (report->now_ps > self->quick_ps) {
    if (self->quick_ps != 0 && (self->has_lost || delay_ps > 4 * self->target_ps)
        && self->achieved < self->most / (double) part) {
      take_quick (self);
      is_done = TRUE;
    }
    self->achieved = 0;
    self->quick_ps = report->now_ps + self->trip_ps + (FabTimePs) self->target_ps;
  }
  if (is_done)
    self->increase = self->received = 0;
  return is_done;
}

static void
grow (Nscc *self, double bytes, double delay_ps)
{
  if (delay_ps >= self->target_ps) {
    self->increase += self->fair * bytes;
    return;
  }
  self->undelayed = delay_ps < 1e6 ? self->undelayed + bytes : 0; /* 1 us */
  self->is_fast = delay_ps < 1e6 && (self->is_fast || self->undelayed > self->window);
  if (self->is_fast)
    set_window (self, self->window + self->fast * bytes);
  else
    self->increase += self->alpha * bytes * (self->target_ps - delay_ps);
}

static void
shrink (Nscc *self, FabTimePs now_ps)
{
  double gamma = ((const NsccParams *) self->base.params)->gamma_fraction;

  self->is_fast = FALSE;
  self->undelayed = 0;
  if (self->mean_ps <= self->target_ps || now_ps - self->cut_ps <= self->trip_ps)
    return;
  set_window (self, self->window * MAX (1 - gamma * (self->mean_ps - self->target_ps) / self->mean_ps, 0.5));
  self->cut_ps = now_ps;
}

static void
adjust (Nscc *self, FabTimePs now_ps)
{
  double eta = now_ps - self->adjusted_ps >= self->base.longest_trip_ps ? self->eta : 0;

  set_window (self, self->window + self->increase / self->window + eta);
  self->adjusted_ps = eta > 0 ? now_ps : self->adjusted_ps;
  self->increase = self->received = 0;
}

static void
lost (Nscc *self, const FabPacketReport *report)
{
  self->ignored += report->bytes;
  count_delay (self, (double) self->base.longest_trip_ps, TRUE);
  self->has_lost = TRUE;
  if (!adapt_quickly (self, report, 0))
    set_window (self, self->window - report->bytes);
}

static void
nscc_reported (FabCongestion *base, const FabPacketReport *report)
{
  Nscc *self = (Nscc *) base;
  self->flight -= report->bytes;
  learn_trip (self, report);
  if (report->is_lost) {
    lost (self, report);
    return;
  }
  double delay_ps = (double) (report->now_ps - report->left_ps - self->trip_ps);
  self->ignored += self->ignored < self->to_ignore ? report->bytes : 0;
  self->received += report->bytes;
  self->achieved += report->bytes;
  count_delay (self, delay_ps, report->is_marked);
  if (adapt_quickly (self, report, delay_ps))
    return;
  if (!report->is_marked)
    grow (self, report->bytes, delay_ps);
  else if (delay_ps >= self->target_ps)
    shrink (self, report->now_ps);
  if (self->received > 8 * base->mtu_bytes || report->now_ps - self->adjusted_ps > base->longest_trip_ps)
    adjust (self, report->now_ps);
}

static void
nscc_sent (FabCongestion *base, FabTimePs now_ps, guint32 bytes)
{
  Nscc *self = (Nscc *) base;

  self->flight += bytes;
  self->adjusted_ps = self->adjusted_ps < 0 ? now_ps : self->adjusted_ps;
}

const FabCongestionOps fab_congestion_nscc = {
  .info = { .name = "nscc",
            .summary = "NSCC of Ultra Ethernet: marks and delay set the window of sprayed packets.",
            .doc = "docs/models/nscc.md",
            .params = nscc_params,
            .params_size = sizeof (NsccParams) },
  .state_size = sizeof (Nscc),
  .start = nscc_start,
  .sent = nscc_sent,
  .reported = nscc_reported,
};
