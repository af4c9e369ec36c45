/* SPDX-License-Identifier: Apache-2.0 */
/* cruise.c - the middle of long messages is not played: once every message arrives at a rate of its own that does not
 * change, all go on at their rates.
 *
 * After every window of so many entries of the agenda the rates of all flows are looked at. Two windows in which no
 * flow has begun or ended, and in which each has arrived at the same rate to 0.1 %, say that nothing changes until the
 * first flow has sent nearly all, or until another event meets the network. What is on its way stays as it is, and is
 * due later. Links count what they have counted in the last window. A flow moves on by whole packets, and its last ones
 * are played.
 *
 * Senders that congestion control governs are always played: what they will do follows from times that they remember.
 * So are messages over links that may lose packets, because receivers know packets by their numbers.
 */
#include <math.h>
#include <string.h>

#include "models/net/packet/parts.h"

enum {
  FIRST_WINDOW = 1 << 12, /* entries of the agenda */
  MOST_WINDOW = 1 << 24,
  LEAST_PACKETS = 128, /* of every flow in a window */
  WORTH = 2,           /* a skip is at least as long as so many windows */
};

/* A flow at the end of a window. */
struct _FlowMark {
  FabBytes missing_bytes, flight_bytes; /* not arrived; of these, sent */
  FabTimePs last_ps;                    /* when its last packet arrived */
  double bytes_per_ps;                  /* in the window; 0: not known */
  guint64 n_skipped;                    /* packets, by the last skip */
};

static struct _FlowMark *
mark_of (const PacketNet *self, guint32 flow)
{
  return &g_array_index (self->cruise.flows, struct _FlowMark, flow);
}

static gboolean
is_under_way (const Flow *flow)
{
  return !flow->is_over && flow->missing_bytes > 0;
}

void
packet_cruise_init (PacketNet *self)
{
  self->cruise = (Cruise){ .window = FIRST_WINDOW, .countdown = FIRST_WINDOW };
  self->cruise.flows = g_array_new (FALSE, TRUE, sizeof (struct _FlowMark));
  self->cruise.lanes = packet_lane_marks_new ();
  self->cruise.counts = packet_lane_marks_new ();
  self->cruise.busy_ps = g_new (double, self->n_links + 1);
}

void
packet_cruise_clear (PacketNet *self)
{
  g_array_unref (self->cruise.flows);
  g_array_unref (self->cruise.lanes);
  g_array_unref (self->cruise.counts);
  g_free (self->cruise.busy_ps);
}

void
packet_cruise_rest (PacketNet *self)
{
  self->cruise.n_windows = 0;
  self->cruise.skip_to_ps = 0;
  self->cruise.window = self->cruise.countdown = FIRST_WINDOW;
}

/* Begins the next window with what is counted now. */
static void
begin_window (PacketNet *self, guint n_windows)
{
  Cruise *cruise = &self->cruise;

  g_array_set_size (cruise->flows, self->n_flows);
  for (guint32 i = 0; i < self->n_flows; i++) {
    struct _FlowMark *mark = mark_of (self, i);

    mark->missing_bytes = self->flows[i].missing_bytes;
    mark->flight_bytes = self->flows[i].missing_bytes - self->flows[i].left_bytes;
    mark->last_ps = self->flows[i].last_ps;
    if (n_windows == 1)
      mark->bytes_per_ps = 0;
  }
  packet_lane_marks_take (self, cruise->lanes);
  cruise->n_windows = n_windows;
  cruise->n_changes = self->n_flow_changes;
  cruise->from_ps = self->now_ps;
  cruise->countdown = cruise->window;
}

static void
begin_first_window (PacketNet *self)
{
  begin_window (self, 1);
}

/* How the rates of flows changed from one window to the next. */
typedef enum { RATES_CHANGE, RATES_SWAY, RATES_STEADY } Rates;

/* Whether every flow has arrived as fast as in the window before, and was sent as fast, so that no queue grows. Rates
 * sway where flows take turns on a link in a pattern that the window cuts: longer windows are steady then. The rate of
 * this window is noted. */
static Rates
compare_rates (PacketNet *self, guint *fewest)
{
  const double close = 0.001, near = 0.01, growth = 0.01;
  double most = 0;
  gboolean is = TRUE;

  *fewest = G_MAXUINT;
  for (guint32 i = 0; i < self->n_flows; i++) {
    const Flow *flow = &self->flows[i];
    struct _FlowMark *mark = mark_of (self, i);
    double bytes = (double) (mark->missing_bytes - flow->missing_bytes);

    if (!is_under_way (flow))
      continue;
    *fewest = MIN (*fewest, (guint) (bytes / (double) self->params.mtu_bytes));
    double rate = flow->last_ps > mark->last_ps ? bytes / (double) (flow->last_ps - mark->last_ps) : 0;
    double grown = fabs ((double) (flow->missing_bytes - flow->left_bytes) - (double) mark->flight_bytes);
    is &= grown <= growth * bytes + (double) self->params.mtu_bytes;
    is &= !g_array_index (self->ways, PathSet, flow->way).is_lossy;
    most = MAX (most,
                rate > 0 && mark->bytes_per_ps > 0 ? fabs (rate / mark->bytes_per_ps - 1) : G_MAXDOUBLE);
    mark->bytes_per_ps = rate;
  }
  if (!is || most > near)
    return RATES_CHANGE;
  return most <= close ? RATES_STEADY : RATES_SWAY;
}

/* Returns for how long all flows go on as they do, unless something meets the network. */
static FabTimePs
find_free_ps (const PacketNet *self, FabTimePs window_ps)
{
  gconstpointer owners[] = { self };
  FabTimePs free_ps = fab_engine_first_of_others_ps (self->base.env.engine, owners, G_N_ELEMENTS (owners))
                    - self->now_ps - 2 * window_ps;

  if (agenda_last_ps (&self->agenda) > self->now_ps + window_ps)
    return 0;
  for (guint32 i = 0; i < self->n_flows; i++) {
    const Flow *flow = &self->flows[i];

    if (is_under_way (flow))
      free_ps = MIN (free_ps,
                     (FabTimePs) ((double) flow->left_bytes / mark_of (self, i)->bytes_per_ps) - window_ps);
  }
  return free_ps;
}

/* Whole packets that a flow moves on by. */
static guint64
packets_in (const PacketNet *self, guint32 flow, FabTimePs by_ps)
{
  return (guint64) (mark_of (self, flow)->bytes_per_ps * (double) by_ps / (double) self->params.mtu_bytes);
}

typedef void (*HopFn) (PacketNet *self, const Hop *hop, double bytes);

/* Calls `visit` for every link of a flow with its part of the bytes, as it takes its paths in turn. */
static void
visit_hops (PacketNet *self, const Flow *flow, double bytes, HopFn visit)
{
  const PathSet *way = &g_array_index (self->ways, PathSet, flow->way);

  for (guint32 p = 0; p < way->n_paths; p++) {
    guint32 first = g_array_index (self->paths, guint32, way->first_path + p);

    for (const Hop *hop = &g_array_index (self->hops, Hop, first); hop->lane != NONE; hop++)
      visit (self, hop, bytes / way->n_paths);
  }
}

/* Adds the time that the link needs. */
static void
add_busy (PacketNet *self, const Hop *hop, double bytes)
{
  guint32 link = self->lanes[hop->lane].link;

  self->cruise.busy_ps[link] += bytes * hop->cost * self->ports[link].ps_per_byte;
}

static void
meter (PacketNet *self, const Hop *hop, double bytes)
{
  fab_meter_add_link (self->base.meter, self->lanes[hop->lane].link, bytes, bytes * hop->cost);
}

/* Rates of single flows are rounded. Returns how many times `by_ps` the busiest link needs for the packets of all, at
 * least 1. */
static double
find_stretch (PacketNet *self, FabTimePs by_ps)
{
  double most_ps = (double) by_ps;

  memset (self->cruise.busy_ps, 0, self->n_links * sizeof (double));
  for (guint32 i = 0; i < self->n_flows; i++)
    if (is_under_way (&self->flows[i]))
      visit_hops (self, &self->flows[i],
                  (double) packets_in (self, i, by_ps) * (double) self->params.mtu_bytes, add_busy);
  for (guint32 link = 0; link < self->n_links; link++)
    most_ps = MAX (most_ps, self->cruise.busy_ps[link]);
  return most_ps / (double) by_ps;
}

void
packet_flow_move (PacketNet *self, guint32 number, guint64 n_packets, FabTimePs by_ps)
{
  Flow *flow = &self->flows[number];

  g_assert (n_packets * self->params.mtu_bytes < flow->left_bytes);
  flow->left_bytes -= n_packets * self->params.mtu_bytes;
  flow->missing_bytes -= n_packets * self->params.mtu_bytes;
  flow->n_sent += (guint32) n_packets; /* numbers begin again after the largest */
  if (packet_path_set_is_spread (self, flow->way))
    visit_hops (self, flow, (double) n_packets * (double) self->params.mtu_bytes, meter);
  flow->last_ps += by_ps;
}

static void
skip_flows (PacketNet *self, FabTimePs by_ps, FabTimePs stretched_ps)
{
  for (guint32 i = 0; i < self->n_flows; i++) {
    if (!is_under_way (&self->flows[i]))
      continue;
    mark_of (self, i)->n_skipped = packets_in (self, i, by_ps);
    packet_flow_move (self, i, mark_of (self, i)->n_skipped, stretched_ps);
  }
}

static void
try_skip (PacketNet *self)
{
  FabTimePs window_ps = self->now_ps - self->cruise.from_ps, by_ps = find_free_ps (self, window_ps);

  if (by_ps < WORTH * window_ps)
    return;
  FabTimePs stretched_ps = (FabTimePs) ((double) by_ps * find_stretch (self, by_ps)) + 1;
  packet_lane_counts_take (self, self->cruise.counts);
  if (stretched_ps > by_ps + window_ps
      || !packet_lane_marks_repeat (self, self->cruise.lanes, (double) by_ps / (double) window_ps,
                                    stretched_ps))
    return;
  skip_flows (self, by_ps, stretched_ps);
  packet_delay (self, self->now_ps, stretched_ps);
  self->cruise.skip_from_ps = self->now_ps;
  self->cruise.skip_to_ps = self->now_ps + stretched_ps;
}

/* Takes back what flows were moved on by in this share of the last skip. */
static void
take_back_flows (PacketNet *self, double share, FabTimePs by_ps)
{
  for (guint32 i = 0; i < self->cruise.flows->len; i++) {
    Flow *flow = &self->flows[i];
    guint64 n_packets = (guint64) ceil (share * (double) mark_of (self, i)->n_skipped);

    if (!is_under_way (flow) || mark_of (self, i)->n_skipped == 0)
      continue;
    flow->left_bytes += n_packets * self->params.mtu_bytes;
    flow->missing_bytes += n_packets * self->params.mtu_bytes;
    flow->n_sent -= (guint32) n_packets;
    if (packet_path_set_is_spread (self, flow->way))
      visit_hops (self, flow, -(double) n_packets * (double) self->params.mtu_bytes, meter);
    flow->last_ps -= by_ps;
  }
}

gboolean
packet_cruise_cut (PacketNet *self)
{
  Cruise *cruise = &self->cruise;
  FabTimePs to_ps = cruise->skip_to_ps, back_ps = to_ps - self->now_ps;

  cruise->skip_to_ps = 0;
  if (back_ps <= 0)
    return FALSE;
  double share = (double) back_ps / (double) (to_ps - cruise->skip_from_ps);
  packet_lane_counts_take_back (self, cruise->counts, share, back_ps);
  take_back_flows (self, share, back_ps);
  packet_delay (self, to_ps, -back_ps);
  cruise->n_windows = 0;
  return TRUE;
}

guint64
packet_cruise_ahead (const PacketNet *self, guint i, FabTimePs now_ps)
{
  const Cruise *cruise = &self->cruise;

  if (cruise->skip_to_ps <= now_ps || i >= cruise->counts->len)
    return 0;
  double share = (double) (cruise->skip_to_ps - now_ps)
               / (double) (cruise->skip_to_ps - cruise->skip_from_ps);
  return (guint64) (share * (double) packet_lane_carried_since (self, cruise->counts, i));
}

/* A window has ended. */
void
packet_cruise_look (PacketNet *self)
{
  Cruise *cruise = &self->cruise;
  guint fewest;

  if (!self->params.has_memo || !self->params.has_skip || self->n_senders > 0) {
    cruise->countdown = MOST_WINDOW;
    return;
  }
  if (cruise->n_windows == 0 || cruise->n_changes != self->n_flow_changes) {
    cruise->window = MAX (MAX (cruise->window / 2, FIRST_WINDOW), self->used_lanes->len);
    begin_first_window (self);
    return;
  }
  Rates rates = compare_rates (self, &fewest);
  if (fewest == G_MAXUINT) { /* no flow is under way */
    begin_first_window (self);
    return;
  }
  gboolean is_short = fewest < LEAST_PACKETS || (rates == RATES_SWAY && cruise->n_windows > 1);
  if (fewest > 0 && is_short && cruise->window < MOST_WINDOW) {
    cruise->window *= 2;
    begin_first_window (self);
    return;
  }
  if (rates == RATES_STEADY && cruise->n_windows > 1)
    try_skip (self);
  if (cruise->skip_to_ps > self->now_ps) {
    cruise->n_windows = 0; /* what flows had before the skip is kept until it ends */
    cruise->countdown = 1;
    return;
  }
  begin_window (self, 2);
}
