/* SPDX-License-Identifier: Apache-2.0 */
/* swift.c - a window that keeps the round trip at a target: G. Kumar et al., "Swift: Delay is Simple and Effective for
 * Congestion Control in the Datacenter", SIGCOMM 2020, algorithm 1 and section 3.
 *
 *   target   base + hops x hop + clamp (a / sqrt (window) + b, 0, range), window in packets
 *   below    window += additive per round trip
 *   above    window x= max (1 - beta (delay - target) / delay, 1 - most_cut), at most once per round trip; a lost
 *            packet takes most_cut
 *   < 1      a window of less than a packet sends one packet per delay / window
 *
 * Constants: additive increase 1, beta 0.8, most_cut 0.5, hop = base / 6.55, range = 5 base between windows of 0.1 and
 * 100 packets, as swift.cpp of htsim has them (github.com/Broadcom/csg-htsim, read on 2026-11-23). Its base of 20 us
 * stands for the paper's machines. Here the base follows the longest round trip of the network, and the hops what the
 * path takes without queues.
 */
#include <math.h>

#include "models/models.h"

typedef struct {
  FabTimePs target_ps, hop_ps;
  double range_factor, least_packets, most_packets;
  double additive_packets, beta_fraction, most_cut_fraction;
} SwiftParams;

typedef struct {
  FabCongestion base;
  double window; /* packets */
  double most;   /* of the window */
  FabTimePs cut_ps;
} Swift;

#define ROW(key_, type_, field_, fallback_, help_)                                         \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (SwiftParams, field_), \
  .fallback = fallback_, .help = help_

static const FabParam swift_params[] = {
  { ROW ("target", TIME, target_ps, "0ns",
         "Target round-trip time, before `hop` and `range` are added; 0ns: the round trip of the path in an "
         "empty network.") },
  { ROW (
      "hop", TIME, hop_ps, "0ns",
      "Time that each link of the path adds to the target; 0ns: target / 6.55, or, without a target, 2 / 6.55 of "
      "the longest round trip on every path.") },
  { ROW (
        "range", FACTOR, range_factor, "5",
        "Most that small windows (many flows) add to the target, in targets or, without one, longest round trips."),
    .max = 1e3 },
  { ROW ("range_from", FACTOR, least_packets, "0.1", "Window in packets at which all of `range` is added."),
    .min = 1e-3, .max = 1e6 },
  { ROW ("range_to", FACTOR, most_packets, "100", "Window in packets from which nothing is added."),
    .min = 1e-3, .max = 1e9 },
  { ROW ("increase", FACTOR, additive_packets, "1", "Packets by which the window grows per round trip."),
    .max = 1e6 },
  { ROW ("beta", FRACTION, beta_fraction, "0.8",
         "Fraction of the excess over the target by which the window shrinks."),
    .max = 1 },
  { ROW ("most_cut", FRACTION, most_cut_fraction, "0.5",
         "Largest fraction of the window that one cut removes."),
    .max = 1 },
  { .key = NULL },
};

static void
swift_params_check (gconstpointer params, FabCheck *check)
{
  const SwiftParams *p = params;

  if (p->least_packets >= p->most_packets)
    fab_check_fail (check, &p->most_packets, "range_to %g is not above range_from %g", p->most_packets,
                    p->least_packets);
}

/* With `target: 0ns` a flow may queue for the same time on every path: what its links add is what they take in an empty
 * network, and the base is a part of the longest round trip of the network, the same for all. Flow scaling then counts
 * the packets that the flow's rate has under way on the longest path, so that equal rates have equal targets. */
static double
target_ps (const Swift *self, double window, double delay_ps)
{
  const SwiftParams *p = self->base.params;
  gboolean is_given = p->target_ps > 0;
  double longest = is_given ? (double) p->target_ps : (double) self->base.longest_trip_ps;
  double base = is_given ? longest : (double) self->base.round_trip_ps;
  double hops = p->hop_ps > 0 ? (double) self->base.n_hops * (double) p->hop_ps
                              : (is_given ? self->base.n_hops : 2) * longest / 6.55;
  double range = p->range_factor * longest;
  double packets = is_given ? window : window * (delay_ps + longest - base) / delay_ps;
  double a = range / (1 / sqrt (p->least_packets) - 1 / sqrt (p->most_packets));

  return base + hops + CLAMP (a / sqrt (packets) - a / sqrt (p->most_packets), 0, range);
}

/* The least window is that of the scaling: fewer packets than that are not worth a round trip's wait. */
static void
set_window (Swift *self, double window, double delay_ps)
{
  const SwiftParams *p = self->base.params;

  self->window = CLAMP (window, MIN (p->least_packets / 10, 0.01), self->most);
  self->base.window_bytes = MAX (self->window, 1) * self->base.mtu_bytes;
  self->base.rate_bytes_per_s = self->window < 1
                                  ? self->window * self->base.mtu_bytes / delay_ps * (double) FAB_PS_PER_S
                                  : 0;
}

/* A sender begins with what fills its line. Its own line never queues, so that delay alone would not bound it. */
static void
swift_start (FabCongestion *base)
{
  Swift *self = (Swift *) base;
  double packets_per_ps = base->line_bytes_per_s / base->mtu_bytes / (double) FAB_PS_PER_S;

  self->most = MAX (packets_per_ps * target_ps (self, G_MAXDOUBLE, (double) base->round_trip_ps), 1);
  set_window (self, MAX (packets_per_ps * (double) base->round_trip_ps, 1), (double) base->round_trip_ps);
}

static void
swift_reported (FabCongestion *base, const FabPacketReport *report)
{
  Swift *self = (Swift *) base;
  const SwiftParams *p = base->params;
  double delay_ps = (double) (report->now_ps - report->left_ps),
         target = target_ps (self, self->window, delay_ps);
  double window = self->window;

  if (!report->is_lost && delay_ps < target) {
    window += p->additive_packets * report->bytes / base->mtu_bytes / MAX (window, 1);
  } else if (report->now_ps - self->cut_ps >= (FabTimePs) delay_ps) {
    double rest = report->is_lost ? 0 : 1 - p->beta_fraction * (delay_ps - target) / delay_ps;

    window *= MAX (rest, 1 - p->most_cut_fraction);
    self->cut_ps = report->now_ps;
  }
  set_window (self, window, delay_ps);
}

const FabCongestionOps fab_congestion_swift = {
  .info = { .name = "swift",
            .summary = "Swift: a window that holds the measured round trip at a target.",
            .doc = "docs/models/swift.md",
            .params = swift_params,
            .params_size = sizeof (SwiftParams),
            .check = swift_params_check },
  .state_size = sizeof (Swift),
  .start = swift_start,
  .reported = swift_reported,
};
