/* SPDX-License-Identifier: Apache-2.0 */
/* congestion.c - rate control over Ethernet by ECN marks: Y. Zhu et al., "Congestion Control for Large-Scale RDMA
 * Deployments", SIGCOMM 2015, section 3, as adapters do it (below).
 *
 *   switch    marks with a probability that rises from 0 at mark_from to mark_fraction at mark_all, and is 1 above
 *   receiver  tells the sender at most once per cnp_every
 *   sender    told:         target = rate, rate -= rate x alpha / 2, alpha = (1 - g) alpha + g; the target stays when
 *                           the rate has not risen since the last cut, unless clamp_target
 *             not told:     alpha = (1 - g) alpha per alpha_every
 *             per increase_every, and per increase_bytes: target += 0 for the first `recovery` times, then
 * `increase`,
 *             and hyper_increase once both have come so often; rate = (rate + target) / 2
 */
#include <math.h>

#include "models/net/packet/parts.h"
#include "sim/base/mix.h"

/* ECN thresholds by line rate, and between these rates in proportion; beyond the last one they stay, as buffers do:
 * KMIN_MAP and KMAX_MAP of the ns-3 configuration of ASTRA-sim and of SimAI (github.com/astra-sim/astra-sim,
 * github.com/aliyun/SimAI; read on 2026-11-22). Up to 100 Gb/s they are the rule of Y. Li et al., "HPCC: High Precision
 * Congestion Control", SIGCOMM 2019 (simulation/run.py of its simulator): 100 and 400 kB per 25 Gb/s. */
typedef struct {
  double gbit_per_s;
  double mark_from_kb, mark_all_kb;
} Preset;

static const Preset presets[] = {
  { 0, 0, 0 }, { 25, 100, 400 }, { 40, 200, 800 }, { 100, 400, 1600 }, { 200, 600, 2400 }, { 400, 800, 3200 },
};

static double
between (double at, double from, double to)
{
  return from + at * (to - from);
}

/* PFC comes after ECN, else it keeps senders from being told (SIGCOMM 2015, section 4): a port that is fed by one link
 * marks before that link is paused. */
Thresholds
packet_thresholds (const PacketParams *params, FabBytesPerS rate_bytes_per_s, FabBytes queue_bytes)
{
  const double bytes_per_gbit = 1e9 / 8, most = G_MAXINT32;
  double gbit_per_s = MIN ((double) rate_bytes_per_s / bytes_per_gbit,
                           presets[G_N_ELEMENTS (presets) - 1].gbit_per_s);
  guint above = 1;

  while (presets[above].gbit_per_s < gbit_per_s)
    above++;
  const Preset *low = &presets[above - 1], *high = &presets[above];
  double at = (gbit_per_s - low->gbit_per_s) / (high->gbit_per_s - low->gbit_per_s);
  double from = between (at, low->mark_from_kb, high->mark_from_kb) * 1000,
         all = between (at, low->mark_all_kb, high->mark_all_kb) * 1000;

  if (queue_bytes > 0 && all > (double) queue_bytes) {
    from *= (double) queue_bytes / all;
    all = (double) queue_bytes;
  }
  from = params->mark_from_bytes > 0 ? (double) params->mark_from_bytes : from;
  double pause = params->pause_bytes > 0 ? (double) params->pause_bytes : from;
  return (Thresholds){
    .mark_from = (guint32) from,
    .mark_all = (guint32) (params->mark_all_bytes > 0 ? (double) params->mark_all_bytes : MAX (all, from)),
    .pause = (guint32) MIN (pause, most),
    .resume = params->resume_bytes > 0 ? (guint32) params->resume_bytes : (guint32) MIN (pause * 0.75, most),
  };
}

/* What a rise adds per line rate: 5 Mb/s and 50 Mb/s per 25 Gb/s (HPCC's simulation/run.py, the parameters that its
 * authors had of the vendor of their adapters). */
static const double increase_fraction = 0.005 / 25, hyper_fraction = 0.05 / 25;

/* A flow keeps at least a hundredth of the line rate: MIN_RATE 1 Gb/s in HPCC's simulation/run.py, at 100 Gb/s. */
static const double least_fraction = 0.01;

static double
line_rate (const PacketNet *self, const Flow *flow)
{
  return (double) FAB_PS_PER_S / g_array_index (self->ways, PathSet, flow->way).ps_per_byte;
}

static void
set_rate (PacketNet *self, guint32 number, double rate)
{
  Flow *flow = &self->flows[number];
  double line = line_rate (self, flow);
  Rate *state = &self->rates[number];

  state->target = MIN (state->target, line);
  state->rate = CLAMP (rate, line * least_fraction, line);
  flow->pace_ps_per_byte = state->rate >= line
                             ? flow->ends_ps_per_byte
                             : MAX ((double) FAB_PS_PER_S / state->rate, flow->ends_ps_per_byte);
}

void
packet_dcqcn_start (PacketNet *self, guint32 number)
{
  double line = line_rate (self, &self->flows[number]);

  self->rates[number] = (Rate){ .rate = line, .target = line, .alpha = 1, .told_ps = -FAB_PS_PER_S };
}

gboolean
packet_dcqcn_marks (PacketNet *self, guint32 link, guint32 queued_bytes)
{
  const PacketParams *p = &self->params;
  const Thresholds *thresholds = &self->thresholds[link];
  double above = (double) queued_bytes - thresholds->mark_from;
  double range = (double) thresholds->mark_all - thresholds->mark_from;

  if (above <= 0)
    return FALSE;
  if (queued_bytes >= thresholds->mark_all)
    return TRUE;
  return (double) (fab_mix (self->base.env.seed, self->n_random++) >> 11) * 0x1p-53
       < p->mark_fraction * above / range;
}

void
packet_dcqcn_marked (PacketNet *self, guint32 number)
{
  Rate *state = &self->rates[number];
  FabTimePs back_ps = g_array_index (self->ways, PathSet, self->flows[number].way).back_ps;

  if (!self->params.has_dcqcn || self->now_ps - state->told_ps < self->params.cnp_every_ps)
    return;
  state->told_ps = self->now_ps;
  self->flows[number].n_entries++;
  agenda_add (&self->agenda, self->now_ps + back_ps, KIND_CNP, number);
}

static void
rise_later (PacketNet *self, guint32 number)
{
  Rate *state = &self->rates[number];

  state->rises_ps = self->now_ps + self->params.increase_every_ps;
  if (state->is_rising)
    return;
  state->is_rising = TRUE;
  self->flows[number].n_entries++;
  agenda_add (&self->agenda, state->rises_ps, KIND_INCREASE, number);
}

void
packet_dcqcn_told (PacketNet *self, guint32 number)
{
  Rate *state = &self->rates[number];
  double g = self->params.gain_fraction;

  if (!self->flows[number].is_over) {
    FabTimePs n_decays = (self->now_ps - state->alpha_ps) / self->params.alpha_every_ps;

    if (state->alpha_ps > 0)
      state->alpha *= pow (1 - g, (double) n_decays);
    if (self->params.clamps_target || state->n_by_time > 0 || state->n_by_bytes > 0)
      state->target = state->rate;
    set_rate (self, number, state->rate * (1 - state->alpha / 2));
    state->alpha = (1 - g) * state->alpha + g;
    state->alpha_ps = self->now_ps;
    state->n_by_time = state->n_by_bytes = 0;
    state->bytes = 0;
    rise_later (self, number);
  }
  packet_flow_release (self, number);
}

static void
rise (PacketNet *self, guint32 number)
{
  Rate *state = &self->rates[number];
  guint32 n = (guint32) self->params.n_recovery, least = MIN (state->n_by_time, state->n_by_bytes);
  double line = line_rate (self, &self->flows[number]);
  FabBytesPerS increase = self->params.increase_bytes_per_s, hyper = self->params.hyper_bytes_per_s;

  if (least > n)
    state->target += (hyper > 0 ? (double) hyper : line * hyper_fraction) * (least - n);
  else if (MAX (state->n_by_time, state->n_by_bytes) >= n)
    state->target += increase > 0 ? (double) increase : line * increase_fraction;
  set_rate (self, number, (state->target + state->rate) / 2);
}

void
packet_dcqcn_rise (PacketNet *self, guint32 number)
{
  Flow *flow = &self->flows[number];
  Rate *state = &self->rates[number];

  if (!flow->is_over && self->now_ps < state->rises_ps) {
    agenda_add (&self->agenda, state->rises_ps, KIND_INCREASE, number);
    return;
  }
  state->is_rising = FALSE;
  if (!flow->is_over) {
    state->n_by_time++;
    rise (self, number);
    if (flow->left_bytes > 0 && state->rate < line_rate (self, flow))
      rise_later (self, number);
  }
  packet_flow_release (self, number);
}

void
packet_dcqcn_sent (PacketNet *self, guint32 number, guint32 size)
{
  Rate *state = &self->rates[number];

  state->bytes += size;
  if (state->bytes < self->params.increase_every_bytes
      || state->rate >= line_rate (self, &self->flows[number]))
    return;
  state->bytes = 0;
  state->n_by_bytes++;
  rise (self, number);
}

/* Sends dropped packets again.
 *
 *   one path      go-back-N, as RoCE adapters do: the receiver accepts packets in order only and reports a missing
 * one
 *                 once, and the sender goes back to it; when nothing follows a loss, a timeout triggers this
 *   many paths    packets need no order: a lost packet is sent again on its own, after the time of the way back,
 * as in
 *                 SRD
 */

static gboolean
is_in_order (const PacketNet *self, const Flow *flow)
{
  return g_array_index (self->ways, PathSet, flow->way).n_paths == 1;
}

static void
tell (PacketNet *self, guint32 number)
{
  FabTimePs back_ps = g_array_index (self->ways, PathSet, self->flows[number].way).back_ps;

  self->flows[number].n_entries++;
  agenda_add (&self->agenda, self->now_ps + back_ps, KIND_NACK, number);
}

gboolean
packet_loss_accepts (PacketNet *self, const Packet *packet)
{
  Flow *flow = &self->flows[packet->flow];
  guint32 number = packet->number & ~MARK_BIT;

  if (!is_in_order (self, flow))
    return TRUE;
  if (number == flow->expected) {
    flow->expected++;
    return TRUE;
  }
  if (number > flow->expected && flow->nacked != flow->expected) {
    flow->nacked = flow->expected;
    tell (self, packet->flow);
  }
  return FALSE;
}

void
packet_loss_drop (PacketNet *self, guint32 packet_number)
{
  const Packet *packet = &self->packets[packet_number];
  guint32 number = packet->flow;
  Flow *flow = &self->flows[number];

  packet_path_set_meter_lost (self, packet);
  if (!is_in_order (self, flow)) {
    flow->lost_bytes += packet->size;
    tell (self, number);
  }
  packet_drop (self, packet_number);
  packet_flow_release (self, number);
}

/* Makes the sender continue from the packet that must come next. */
static void
go_back (PacketNet *self, guint32 number)
{
  Flow *flow = &self->flows[number];
  FabBytes from = (FabBytes) flow->expected * self->params.mtu_bytes;

  flow->n_sent = flow->expected;
  flow->left_bytes = flow->bytes - from;
  flow->flight_bytes = 0;
  flow->unacked_bytes = 0;
  packet_flow_join (self, number);
}

void
packet_loss_nacked (PacketNet *self, guint32 number)
{
  Flow *flow = &self->flows[number];

  if (!flow->is_over && is_in_order (self, flow)) {
    go_back (self, number);
  } else if (!flow->is_over) {
    flow->left_bytes += flow->lost_bytes;
    flow->lost_bytes = 0;
    packet_flow_join (self, number);
  }
  packet_flow_release (self, number);
}

/* Starts the timeout once the last packet has left. */
void
packet_loss_watch (PacketNet *self, guint32 number)
{
  Flow *flow = &self->flows[number];

  if (flow->is_watched || !is_in_order (self, flow))
    return;
  flow->is_watched = TRUE;
  flow->watched = flow->expected;
  flow->n_entries++;
  agenda_add (&self->agenda, self->now_ps + self->params.timeout_ps, KIND_TIMEOUT, number);
}

void
packet_loss_timeout (PacketNet *self, guint32 number)
{
  Flow *flow = &self->flows[number];

  flow->is_watched = FALSE;
  if (!flow->is_over && flow->left_bytes == 0) {
    if (flow->expected == flow->watched)
      go_back (self, number);
    else
      packet_loss_watch (self, number);
  }
  packet_flow_release (self, number);
}
