/* SPDX-License-Identifier: Apache-2.0 */
/* dcqcn.c - rate control by ECN marks: Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM
 * 2015, section 3, as adapters do it.
 *
 *   receiver  tells the sender of marks at most once per cnp_every
 *   sender    told:         target = rate, rate -= rate x alpha / 2, alpha = (1 - g) alpha + g; the target stays when
 *                           the rate has not risen since the last cut, unless clamp_target
 *             not told:     alpha = (1 - g) alpha per alpha_every
 *             per increase_every, and per increase_bytes: target += 0 for the first `recovery` times, then `increase`,
 *             and hyper_increase once both have come so often; rate = (rate + target) / 2
 *
 * Defaults are those of the vendor of the adapters in Y. Li et al., "HPCC: High Precision Congestion Control", SIGCOMM
 * 2019 (simulation/run.py of its simulator, `dcqcn`: timers of 1 and 300 us, one recovery, steps per line rate, least
 * rate), with the 50 us between two reports of a receiver and the 10 MB of SIGCOMM 2015.
 */
#include <math.h>

#include "models/models.h"

typedef struct {
  gboolean clamps_target;
  double gain_fraction;
  FabTimePs cnp_every_ps, increase_every_ps, alpha_every_ps;
  FabBytes increase_every_bytes;
  gint64 n_recovery;
  FabBytesPerS increase_bytes_per_s, hyper_bytes_per_s;
} DcqcnParams;

typedef struct {
  FabCongestion base;
  double rate, target;           /* payload bytes per second */
  double alpha;                  /* estimate of the share that is marked */
  FabTimePs alpha_ps;            /* when alpha was updated; 0: not yet */
  FabTimePs told_ps;             /* receiver: when it told of marks last */
  FabBytes bytes;                /* sent since the last rise by bytes */
  guint32 n_by_time, n_by_bytes; /* rises since the last cut */
} Dcqcn;

#define ROW(key_, type_, field_, fallback_, help_)                                         \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (DcqcnParams, field_), \
  .fallback = fallback_, .help = help_

static const FabParam dcqcn_params[] = {
  { ROW ("gain", FRACTION, gain_fraction, "0.00390625",
         "Weight of a new ECN mark in the estimate; default 1/256."),
    .max = 1 },
  { ROW ("cnp_every", TIME, cnp_every_ps, "50us",
         "Shortest time between two notifications (CNPs) from a receiver to a sender.") },
  { ROW ("alpha_every", TIME, alpha_every_ps, "1us", "Interval at which the estimate of marks decays."),
    .min = 1e6, .max = 1e15 },
  { ROW ("increase_every", TIME, increase_every_ps, "300us", "Interval after which the rate rises."),
    .min = 1e6, .max = 1e15 },
  { ROW ("increase_bytes", BYTES, increase_every_bytes, "10MB", "Bytes sent after which the rate rises."),
    .min = 1e3, .max = 1e15 },
  { ROW ("recovery", COUNT, n_recovery, "1",
         "Rises after a cut that only return to the rate before it (fast recovery)."),
    .min = 1, .max = 1e3 },
  { ROW ("clamp_target", BOOL, clamps_target, "false",
         "Every cut also lowers the target rate; false: only a cut after a rise does.") },
  { ROW ("increase", RATE, increase_bytes_per_s, "0Gb/s",
         "Additive increase per rise after fast recovery; 0: 5 Mb/s per 25 Gb/s of line rate."),
    .max = 1e15 },
  { ROW ("hyper_increase", RATE, hyper_bytes_per_s, "0Gb/s",
         "Increase once both the timer and the byte counter passed fast recovery; 0: ten times `increase`."),
    .max = 1e15 },
  { .key = NULL },
};

/* What a rise adds per line rate: 5 Mb/s and 50 Mb/s per 25 Gb/s. */
static const double increase_fraction = 0.005 / 25, hyper_fraction = 0.05 / 25;

/* A flow keeps at least a hundredth of the line rate: MIN_RATE 1 Gb/s at 100 Gb/s. */
static const double least_fraction = 0.01;

static void
set_rate (Dcqcn *self, double rate)
{
  double line = self->base.line_bytes_per_s;

  self->rate = CLAMP (rate, line * least_fraction, line);
  self->base.rate_bytes_per_s = self->rate >= line ? 0 : self->rate;
}

static void
dcqcn_start (FabCongestion *base)
{
  Dcqcn *self = (Dcqcn *) base;

  self->rate = self->target = base->line_bytes_per_s;
  self->alpha = 1;
  self->told_ps = -FAB_PS_PER_S;
}

static gboolean
dcqcn_marked (FabCongestion *base, FabTimePs now_ps)
{
  Dcqcn *self = (Dcqcn *) base;

  if (now_ps - self->told_ps < ((const DcqcnParams *) base->params)->cnp_every_ps)
    return FALSE;
  self->told_ps = now_ps;
  return TRUE;
}

static void
dcqcn_told (FabCongestion *base, FabTimePs now_ps)
{
  Dcqcn *self = (Dcqcn *) base;
  const DcqcnParams *p = base->params;
  double g = p->gain_fraction;

  if (self->alpha_ps > 0)
    self->alpha *= pow (1 - g, (double) ((now_ps - self->alpha_ps) / p->alpha_every_ps));
  if (p->clamps_target || self->n_by_time > 0 || self->n_by_bytes > 0)
    self->target = self->rate;
  set_rate (self, self->rate * (1 - self->alpha / 2));
  self->alpha = (1 - g) * self->alpha + g;
  self->alpha_ps = now_ps;
  self->n_by_time = self->n_by_bytes = 0;
  self->bytes = 0;
  base->timer_ps = now_ps + p->increase_every_ps;
}

static void
rise (Dcqcn *self)
{
  const DcqcnParams *p = self->base.params;
  guint32 n = (guint32) p->n_recovery, least = MIN (self->n_by_time, self->n_by_bytes);
  double line = self->base.line_bytes_per_s;
  FabBytesPerS increase = p->increase_bytes_per_s, hyper = p->hyper_bytes_per_s;

  if (least > n)
    self->target += (hyper > 0 ? (double) hyper : line * hyper_fraction) * (least - n);
  else if (MAX (self->n_by_time, self->n_by_bytes) > n)
    self->target += increase > 0 ? (double) increase : line * increase_fraction;
  self->target = MIN (self->target, line);
  set_rate (self, (self->target + self->rate) / 2);
}

static void
dcqcn_timer (FabCongestion *base, FabTimePs now_ps)
{
  Dcqcn *self = (Dcqcn *) base;

  self->n_by_time++;
  rise (self);
  base->timer_ps = self->rate < base->line_bytes_per_s
                     ? now_ps + ((const DcqcnParams *) base->params)->increase_every_ps
                     : FAB_TIME_MAX;
}

static void
dcqcn_sent (FabCongestion *base, G_GNUC_UNUSED FabTimePs now_ps, guint32 bytes)
{
  Dcqcn *self = (Dcqcn *) base;

  self->bytes += bytes;
  if (self->bytes < ((const DcqcnParams *) base->params)->increase_every_bytes
      || self->rate >= base->line_bytes_per_s)
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
  .marked = dcqcn_marked,
  .notified = dcqcn_told,
  .timer = dcqcn_timer,
};
