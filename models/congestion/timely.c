/* SPDX-License-Identifier: Apache-2.0 */
/* timely.c - a rate by how the round trip changes: R. Mittal et al., "TIMELY: RTT-based Congestion Control for the
 * Datacenter", SIGCOMM 2015, algorithm 1.
 *
 *   per completion   change = (1 - alpha) change + alpha (rtt - rtt of the completion before)
 *                    gradient = change / min_rtt
 *   rtt < low        rate += increase
 *   rtt > high       rate x= 1 - beta (1 - high / rtt)
 *   gradient <= 0    rate += increase; five times that after five such completions in a row
 *   else             rate x= 1 - beta gradient
 *
 * The paper completes a segment of 16 to 64 KB; the round trip is that of its last packet. The simulator of HPCC's
 * authors (github.com/alibaba-edu/High-Precision-Congestion-Control, commit 9f4be2a9, rdma-hw.cc, UpdateRateTimely)
 * completes once per round trip: with the first report of a packet that was sent after the completion before. There
 * every rise counts towards the larger step, also one below `low`. alpha 0.875, beta 0.8, 50 us, 500 us, 20 us: its
 * defaults, as the paper's. Steps of 10 Mb/s per 10 Gb/s of the line and a least rate of 1 Gb/s: its run.py.
 */
#include "models/models.h"

enum { RULES_PAPER, RULES_HPCC };

typedef struct {
  gint rules;
  FabBytes segment_bytes, report_bytes;
  FabTimePs low_ps, high_ps, min_rtt_ps;
  double alpha_fraction, beta_fraction;
  FabBytesPerS increase_bytes_per_s, least_bytes_per_s;
} TimelyParams;

typedef struct {
  FabCongestion base;
  double rate;            /* bytes with headers per second */
  double bytes;           /* reported since the last completion */
  FabTimePs completed_ps; /* the last completion; -1: none yet */
  double rtt_ps;          /* of the last completion */
  double change_ps;
  guint n_rises; /* in a row */
} Timely;

static const char *const rules_names[] = { "paper", "hpcc", NULL };

#define ROW(key_, type_, field_, fallback_, help_)                                          \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (TimelyParams, field_), \
  .fallback = fallback_, .help = help_

static const FabParam timely_params[] = {
  { ROW (
        "rules", CHOICE, rules, "paper",
        "When a rate changes: paper (with every `segment`), or hpcc (once per round trip, as in the simulator of "
        "HPCC's authors)."),
    .choices = rules_names },
  { ROW ("segment", BYTES, segment_bytes, "64KB",
         "Bytes whose completion changes the rate; with rules: paper."),
    .min = 1, .max = 1e12 },
  { ROW ("low", TIME, low_ps, "50us", "Round trip below which the rate rises (T_low).") },
  { ROW ("high", TIME, high_ps, "500us", "Round trip above which the rate falls (T_high).") },
  { ROW ("min_rtt", TIME, min_rtt_ps, "20us", "Change of the round trip that counts as a gradient of 1."),
    .min = 1 },
  { ROW ("alpha", FRACTION, alpha_fraction, "0.875", "Weight of a new change of the round trip."), .max = 1 },
  { ROW ("beta", FRACTION, beta_fraction, "0.8", "Part of the gradient by which the rate falls."), .max = 1 },
  { ROW ("increase", RATE, increase_bytes_per_s, "0Gb/s",
         "Additive step of the rate; 0: 10 Mb/s per 10 Gb/s of line rate."),
    .max = 1e15 },
  { ROW ("least", RATE, least_bytes_per_s, "1Gb/s", "Lowest rate of a sender."), .max = 1e15 },
  { ROW ("report_bytes", BYTES, report_bytes, "0B",
         "Bytes that a time stamp takes in every packet; 0: adapters keep the times."),
    .max = 1e3 },
  { .key = NULL },
};

static const double increase_fraction = 0.01 / 10;

enum { RISES_BEFORE_LARGE = 5, LARGE_STEPS = 5 };

static void
timely_params_check (gconstpointer params, FabCheck *check)
{
  const TimelyParams *p = params;

  if (p->low_ps >= p->high_ps)
    fab_check_fail (check, &p->high_ps, "high is not above low");
}

static void
set_rate (Timely *self, double rate)
{
  double least = (double) ((const TimelyParams *) self->base.params)->least_bytes_per_s,
         line = self->base.wire_bytes_per_s;

  self->rate = CLAMP (rate, MIN (least, line), line);
  self->base.rate_bytes_per_s = self->rate >= line ? 0 : self->rate / line * self->base.line_bytes_per_s;
}

static void
timely_start (FabCongestion *base)
{
  Timely *self = (Timely *) base;

  self->completed_ps = -1;
  set_rate (self, base->wire_bytes_per_s);
}

static void
rise (Timely *self, gboolean counts)
{
  const TimelyParams *p = self->base.params;
  double step = p->increase_bytes_per_s > 0 ? (double) p->increase_bytes_per_s
                                            : self->base.wire_bytes_per_s * increase_fraction;

  set_rate (self, self->rate + (counts && self->n_rises >= RISES_BEFORE_LARGE ? LARGE_STEPS : 1) * step);
  self->n_rises += counts;
}

static void
fall (Timely *self, double factor)
{
  set_rate (self, self->rate * MAX (factor, 0));
  self->n_rises = 0;
}

static void
change_rate (Timely *self, double rtt_ps)
{
  const TimelyParams *p = self->base.params;
  double gradient;

  self->change_ps += p->alpha_fraction * (rtt_ps - self->rtt_ps - self->change_ps);
  gradient = self->change_ps / (double) p->min_rtt_ps;
  if (rtt_ps < (double) p->low_ps)
    rise (self, p->rules == RULES_HPCC);
  else if (rtt_ps > (double) p->high_ps)
    fall (self, 1 - p->beta_fraction * (1 - (double) p->high_ps / rtt_ps));
  else if (gradient <= 0)
    rise (self, TRUE);
  else
    fall (self, 1 - p->beta_fraction * gradient);
}

/* Whether a report completes a segment or a round trip. */
static gboolean
is_complete (const Timely *self, const FabPacketReport *report)
{
  const TimelyParams *p = self->base.params;

  return p->rules == RULES_HPCC ? report->left_ps > self->completed_ps
                                : self->bytes >= (double) p->segment_bytes;
}

/* What is lost has no round trip. */
static void
timely_reported (FabCongestion *base, const FabPacketReport *report)
{
  Timely *self = (Timely *) base;
  double rtt_ps = (double) (report->now_ps - report->left_ps);

  if (report->is_lost)
    return;
  self->bytes += report->bytes;
  if (!is_complete (self, report))
    return;
  if (self->completed_ps >= 0)
    change_rate (self, rtt_ps);
  self->bytes = 0;
  self->completed_ps = report->now_ps;
  self->rtt_ps = rtt_ps;
}

static guint32
timely_header_bytes (gconstpointer params)
{
  return (guint32) ((const TimelyParams *) params)->report_bytes;
}

const FabCongestionOps fab_congestion_timely = {
  .info = { .name = "timely",
            .summary =
                "TIMELY: the rate falls while the measured round trip grows, and rises while it shrinks.",
            .doc = "docs/models/timely.md",
            .params = timely_params,
            .params_size = sizeof (TimelyParams),
            .check = timely_params_check },
  .state_size = sizeof (Timely),
  .header_bytes = timely_header_bytes,
  .start = timely_start,
  .reported = timely_reported,
};
