/* SPDX-License-Identifier: Apache-2.0 */
/* dcqcn.c - rate control by ECN marks: Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM
 * 2015, section 3, as adapters do it.
 *
 *   receiver  tells the sender of marks at most once per cnp_every
 *   sender    told:             the next boundary of reduce_every cuts: target = rate, rate -= rate x alpha / 2; the
 *                               target stays when the rate has not risen since the last cut, unless clamp_target
 *             per alpha_every:  alpha = (1 - g) alpha, and + g when it was told in between
 *             per increase_every, and per increase_bytes: target += 0 for the first `recovery` times, then `increase`,
 *                               then hyper_increase; rate = (rate + target) / 2
 *
 * With bytes that count, hyper_increase comes once both counters have passed `recovery`, and as often as both have.
 * Without, it is every rise after the first `increase`, as in HPCC's simulator.
 *
 * All timers start with the first word. A rate matters only when a packet leaves or waits to leave, so what was due is
 * made up then: no other timer is on the agenda. A rate takes a packet or a word O(rises since the last), and O(1) once
 * it is the line's.
 */
#include <math.h>

#include "models/models.h"

typedef struct {
  gint adapter;
  gboolean clamps_target;
  double gain_fraction;
  FabTimePs cnp_every_ps, reduce_every_ps, alpha_every_ps, increase_every_ps;
  FabBytes increase_every_bytes;
  gint64 n_recovery;
  FabBytesPerS increase_bytes_per_s, hyper_bytes_per_s, least_bytes_per_s;
} DcqcnParams;

typedef struct {
  FabCongestion base;
  DcqcnParams values;            /* those of the adapter, but for the keys that are given */
  double rate, target;           /* payload bytes per second */
  double alpha;                  /* estimate of the share that is marked */
  FabTimePs marked_ps;           /* receiver: when it told of marks last */
  FabTimePs first_ps;            /* when the first word came; -1: none yet */
  FabTimePs alpha_ps;            /* boundary up to which alpha is known */
  FabTimePs cut_ps, rise_ps;     /* next ones; FAB_TIME_MAX: none */
  FabBytes bytes;                /* sent since the last rise by bytes */
  guint32 n_by_time, n_by_bytes; /* rises since the last cut */
  gboolean was_told;             /* since alpha_ps */
} Dcqcn;

/* Values of the keys that are not given. FAB_TIME_MAX and G_MAXINT64: never. Rates of 0 follow the line.
 *
 * hpcc      `dcqcn` in simulation/run.py of the simulator of Y. Li et al., "HPCC: High Precision Congestion Control",
 *           SIGCOMM 2019 (github.com/alibaba-edu/High-Precision-Congestion-Control, commit 9f4be2a9): what the vendor
 *           of their adapters recommends. Every packet that was marked is a word (rdma-hw.cc, ReceiveAck).
 * connectx  the firmware's defaults of ConnectX-4 and later, as NVIDIA's page "DCQCN CC Parameters" (DOCA, read on
 *           2026-11-29) and `mlxconfig query` of such an adapter list them: dce_tcp_g 1019 of 1024, dce_tcp_rtt 1,
 *           rate_reduce_monitor_period 4, min_time_between_cnps 4, rpg_time_reset 300, rpg_threshold 1, rpg_ai_rate 5,
 *           rpg_hai_rate 50, rpg_min_rate 1. rpg_byte_reset is 32767; github.com/google/isekai (rdma_roce_cc_dcqcn.cc)
 *           has it in 64 B.
 * paper     SIGCOMM 2015, figure 14 and section 5, for 40 Gb/s; the least rate is the default of HPCC's simulator. */
enum { ADAPTER_HPCC, ADAPTER_CONNECTX, ADAPTER_PAPER };

#define US(n) ((FabTimePs) (n) *1000000)
#define MBIT_PER_S(n) ((FabBytesPerS) (n) *1000000 / 8)

static const DcqcnParams adapters[] = {
  [ADAPTER_HPCC] = { .gain_fraction = 1.0 / 256,
                     .cnp_every_ps = 1,
                     .reduce_every_ps = US (4),
                     .alpha_every_ps = US (1),
                     .increase_every_ps = US (300),
                     .increase_every_bytes = G_MAXINT64,
                     .n_recovery = 1,
                     .least_bytes_per_s = MBIT_PER_S (1000) },
  [ADAPTER_CONNECTX] = { .gain_fraction = 5.0 / 1024,
                         .cnp_every_ps = US (4),
                         .reduce_every_ps = US (4),
                         .alpha_every_ps = US (1),
                         .increase_every_ps = US (300),
                         .increase_every_bytes = 32767 * 64,
                         .n_recovery = 1,
                         .increase_bytes_per_s = MBIT_PER_S (5),
                         .hyper_bytes_per_s = MBIT_PER_S (50),
                         .least_bytes_per_s = MBIT_PER_S (1) },
  [ADAPTER_PAPER] = { .clamps_target = TRUE,
                      .gain_fraction = 1.0 / 256,
                      .cnp_every_ps = US (50),
                      .reduce_every_ps = 1,
                      .alpha_every_ps = US (55),
                      .increase_every_ps = US (55),
                      .increase_every_bytes = 10000000,
                      .n_recovery = 5,
                      .increase_bytes_per_s = MBIT_PER_S (40),
                      .hyper_bytes_per_s = MBIT_PER_S (400),
                      .least_bytes_per_s = MBIT_PER_S (100) },
};

static const char *const adapter_names[] = { "hpcc", "connectx", "paper", NULL };

#define ROW(key_, type_, field_, fallback_, help_)                                         \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (DcqcnParams, field_), \
  .fallback = fallback_, .help = help_

static const FabParam dcqcn_params[] = {
  { ROW (
        "adapter", CHOICE, adapter, "hpcc",
        "Whose values the keys have that are 0: hpcc (its authors' simulator), connectx (NVIDIA's firmware), or "
        "paper (SIGCOMM 2015)."),
    .choices = adapter_names },
  { ROW ("gain", FRACTION, gain_fraction, "0", "Weight of a new ECN mark in the estimate; 0: the adapter's."),
    .max = 1 },
  { ROW ("cnp_every", TIME, cnp_every_ps, "0ns",
         "Shortest time between two notifications (CNPs) from a receiver to a sender; 0ns: the adapter's.") },
  { ROW ("reduce_every", TIME, reduce_every_ps, "0ns",
         "Interval at whose end a notified sender reduces its rate; 0ns: the adapter's.") },
  { ROW ("alpha_every", TIME, alpha_every_ps, "0ns",
         "Interval at which the estimate of marks changes; 0ns: the adapter's."),
    .max = 1e15 },
  { ROW ("increase_every", TIME, increase_every_ps, "0ns",
         "Interval after which the rate rises; 0ns: the adapter's."),
    .max = 1e15 },
  { ROW ("increase_bytes", BYTES, increase_every_bytes, "0B",
         "Bytes sent after which the rate rises; 0B: the adapter's."),
    .max = 1e15 },
  { ROW ("recovery", COUNT, n_recovery, "0",
         "Rises after a cut that only return to the rate before it (fast recovery); 0: the adapter's."),
    .max = 1e3 },
  { ROW ("clamp_target", BOOL, clamps_target, "false",
         "Every cut also lowers the target rate, as in the paper; false: only a cut after a rise does.") },
  { ROW ("increase", RATE, increase_bytes_per_s, "0Gb/s",
         "Additive increase per rise after fast recovery; 0: the adapter's, hpcc: 5 Mb/s per 25 Gb/s of line "
         "rate."),
    .max = 1e15 },
  { ROW ("hyper_increase", RATE, hyper_bytes_per_s, "0Gb/s",
         "Increase per rise after that; 0: the adapter's, hpcc: 50 Mb/s per 25 Gb/s of line rate."),
    .max = 1e15 },
  { ROW ("least", RATE, least_bytes_per_s, "0Gb/s", "Lowest rate of a sender; 0: the adapter's."),
    .max = 1e15 },
  { .key = NULL },
};

/* What a rise adds per line rate in HPCC's simulator: 5 Mb/s and 50 Mb/s per 25 Gb/s. */
static const double increase_fraction = 0.005 / 25, hyper_fraction = 0.05 / 25;

static void
set_rate (Dcqcn *self, double rate)
{
  double line = self->base.line_bytes_per_s;

  self->rate = CLAMP (rate, MIN ((double) self->values.least_bytes_per_s, line), line);
  self->base.rate_bytes_per_s = self->rate >= line ? 0 : self->rate;
}

/* The keys that are given, and the adapter's values of all others. */
static DcqcnParams
values_of (const DcqcnParams *given)
{
  DcqcnParams values = adapters[given->adapter];

#define TAKE(field) values.field = given->field > 0 ? given->field : values.field
  TAKE (gain_fraction);
  TAKE (cnp_every_ps);
  TAKE (reduce_every_ps);
  TAKE (alpha_every_ps);
  TAKE (increase_every_ps);
  TAKE (increase_every_bytes);
  TAKE (n_recovery);
  TAKE (increase_bytes_per_s);
  TAKE (hyper_bytes_per_s);
  TAKE (least_bytes_per_s);
  TAKE (clamps_target);
#undef TAKE
  return values;
}

static void
dcqcn_start (FabCongestion *base)
{
  Dcqcn *self = (Dcqcn *) base;

  self->values = values_of (base->params);
  self->rate = self->target = base->line_bytes_per_s;
  self->alpha = 1;
  self->marked_ps = -FAB_PS_PER_S;
  self->first_ps = -1;
  self->cut_ps = self->rise_ps = base->changes_ps = FAB_TIME_MAX;
}

static gboolean
dcqcn_marked (FabCongestion *base, FabTimePs now_ps)
{
  Dcqcn *self = (Dcqcn *) base;

  if (now_ps - self->marked_ps < self->values.cnp_every_ps)
    return FALSE;
  self->marked_ps = now_ps;
  return TRUE;
}

/* Moves alpha to the last boundary up to `to_ps`. Only the first of the intervals can have heard a word. */
static void
follow_alpha (Dcqcn *self, FabTimePs to_ps)
{
  double g = self->values.gain_fraction;
  FabTimePs every_ps = self->values.alpha_every_ps, n = (to_ps - self->alpha_ps) / every_ps;

  if (n <= 0)
    return;
  self->alpha = self->alpha * pow (1 - g, (double) n)
              + (self->was_told ? g * pow (1 - g, (double) n - 1) : 0);
  self->alpha_ps += n * every_ps;
  self->was_told = FALSE;
}

static void
cut (Dcqcn *self)
{
  follow_alpha (self, self->cut_ps);
  if (self->values.clamps_target || self->n_by_time > 0 || self->n_by_bytes > 0)
    self->target = self->rate;
  set_rate (self, self->rate * (1 - self->alpha / 2));
  self->n_by_time = self->n_by_bytes = 0;
  self->bytes = 0;
  self->rise_ps = self->cut_ps + self->values.increase_every_ps;
  self->cut_ps = FAB_TIME_MAX;
}

static double
step_of (const Dcqcn *self)
{
  const DcqcnParams *p = &self->values;
  guint32 n = (guint32) p->n_recovery, least = MIN (self->n_by_time, self->n_by_bytes);
  double line = self->base.line_bytes_per_s;
  double increase = p->increase_bytes_per_s > 0 ? (double) p->increase_bytes_per_s : line * increase_fraction,
         hyper = p->hyper_bytes_per_s > 0 ? (double) p->hyper_bytes_per_s : line * hyper_fraction;

  if (p->increase_every_bytes == G_MAXINT64)
    return self->n_by_time <= n ? 0 : self->n_by_time == n + 1 ? increase : hyper;
  if (least > n)
    return hyper * (least - n);
  return MAX (self->n_by_time, self->n_by_bytes) > n ? increase : 0;
}

static void
rise (Dcqcn *self)
{
  self->target = MIN (self->target + step_of (self), self->base.line_bytes_per_s);
  set_rate (self, (self->target + self->rate) / 2);
}

/* A byte per second below the line is the line: halves of the difference would never end. */
static gboolean
is_full (const Dcqcn *self)
{
  return self->rate > self->base.line_bytes_per_s - 1;
}

/* Does what was due until `now_ps`. */
static void
catch_up (Dcqcn *self, FabTimePs now_ps)
{
  while (MIN (self->cut_ps, self->rise_ps) <= now_ps) {
    if (self->cut_ps <= self->rise_ps) {
      cut (self);
      continue;
    }
    self->n_by_time++;
    rise (self);
    self->rise_ps = is_full (self) ? FAB_TIME_MAX : self->rise_ps + self->values.increase_every_ps;
  }
  self->base.changes_ps = MIN (self->cut_ps, self->rise_ps);
}

static void
dcqcn_elapsed (FabCongestion *base, FabTimePs now_ps)
{
  catch_up ((Dcqcn *) base, now_ps);
}

static void
dcqcn_told (FabCongestion *base, FabTimePs now_ps)
{
  Dcqcn *self = (Dcqcn *) base;
  FabTimePs every_ps = self->values.reduce_every_ps;

  catch_up (self, now_ps);
  if (self->first_ps < 0) {
    self->first_ps = self->alpha_ps = now_ps;
    self->cut_ps = base->changes_ps = now_ps + every_ps;
    return;
  }
  follow_alpha (self, now_ps);
  self->was_told = TRUE;
  if (self->cut_ps == FAB_TIME_MAX)
    self->cut_ps = self->first_ps + ((now_ps - self->first_ps) / every_ps + 1) * every_ps;
  base->changes_ps = MIN (self->cut_ps, self->rise_ps);
}

static void
dcqcn_sent (FabCongestion *base, FabTimePs now_ps, guint32 bytes)
{
  Dcqcn *self = (Dcqcn *) base;

  catch_up (self, now_ps);
  self->bytes += bytes;
  if (self->bytes < self->values.increase_every_bytes || is_full (self))
    return;
  self->bytes = 0;
  self->n_by_bytes++;
  rise (self);
}

const FabCongestionOps fab_congestion_dcqcn = {
  .info = { .name = "dcqcn",
            .summary = "DCQCN: ECN marks lower the rate, elapsed time and sent bytes raise it.",
            .doc = "docs/models/dcqcn.md",
            .params = dcqcn_params,
            .params_size = sizeof (DcqcnParams) },
  .state_size = sizeof (Dcqcn),
  .start = dcqcn_start,
  .sent = dcqcn_sent,
  .elapsed = dcqcn_elapsed,
  .marked = dcqcn_marked,
  .notified = dcqcn_told,
};
