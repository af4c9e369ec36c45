/* SPDX-License-Identifier: Apache-2.0 */
/* prop_senders.c - senders under congestion control, against their papers' rules done step by step, for random words
 * and delays.
 *
 * DCQCN has timers: the reference walks from one of their ticks to the next and does what the paper says of each.
 * Swift, TIMELY and HPCC have none: the reference is their algorithm 1 for one report.
 */
#include "tests/support/test.h"

#include "models/models.h"
#include "tests/support/lone_sender.h"
#include "tests/support/seeds.h"

enum { MOST_EVENTS = 400, SWITCHES = 3 };

#define LINE LONE_SENDER_BYTES_PER_S

/* --- DCQCN --- */

/* Its constants, and what they are worth for a sender of 100 Gb/s. */
typedef struct {
  const char *yaml;
  double gain;
  FabTimePs cnp_ps, reduce_ps, alpha_ps, increase_ps;
  guint64 increase_bytes; /* G_MAXUINT64: bytes do not count */
  guint n_recovery;
  double increase, hyper, least;
  gboolean clamps;
} Dcqcn;

/* A 1/256 and 4, 1, 300 us, 5 and 50 Mb/s per 25 Gb/s: HPCC's run.py. 5/1024, 4, 4, 1, 300 us, 2 MB, 5 and 50 Mb/s:
 * NVIDIA's page. 1/256, 50, 55, 55 us, 10 MB, 5 steps, 40 and 400 Mb/s: figure 14 of the paper. */
static const Dcqcn dcqcns[] = {
  { "{}", 1 / 256.0, 1, 4 * US, 1 * US, 300 * (FabTimePs) US, G_MAXUINT64, 1, 2.5e6, 25e6, 125e6, FALSE },
  { "{adapter: connectx}", 5 / 1024.0, 4 * US, 4 * US, 1 * US, 300 * (FabTimePs) US, 2097088, 1, 625e3,
    6.25e6, 125e3, FALSE },
  { "{adapter: paper}", 1 / 256.0, 50 * US, 1, 55 * US, 55 * US, 10000000, 5, 5e6, 50e6, 12.5e6, TRUE },
  { "{gain: 25%, cnp_every: 3us, reduce_every: 7us, alpha_every: 2us, increase_every: 11us, increase_bytes: 40kB, "
    "recovery: 3, increase: 800Mb/s, hyper_increase: 2400Mb/s, least: 8Gb/s, clamp_target: true}",
    0.25, 3 * US, 7 * US, 2 * US, 11 * US, 40000, 3, 1e8, 3e8, 1e9, TRUE },
  { "{gain: 50%, reduce_every: 5us, alpha_every: 5us, increase_every: 5us, recovery: 2, increase: 8Gb/s}",
    0.5, 1, 5 * US, 5 * US, 5 * US, G_MAXUINT64, 2, 1e9, 25e6, 125e6, FALSE },
};

typedef struct {
  const Dcqcn *of;
  double rate, target, alpha;
  FabTimePs first_ps, tick_ps, cut_ps, rise_ps, word_ps; /* the next ticks; FAB_TIME_MAX: none */
  gboolean was_told, has_told;
  guint64 bytes;
  guint n_by_time, n_by_bytes;
} Stepper;

static void
stepper_rise (Stepper *self)
{
  guint n = self->of->n_recovery, low = MIN (self->n_by_time, self->n_by_bytes),
        high = MAX (self->n_by_time, self->n_by_bytes);

  if (self->of->increase_bytes
      == G_MAXUINT64) /* time alone counts: after recovery one step, then large ones */
    self->target += high <= n ? 0 : high == n + 1 ? self->of->increase : self->of->hyper;
  else if (low > n)
    self->target += (low - n) * self->of->hyper;
  else if (high > n)
    self->target += self->of->increase;
  self->target = MIN (self->target, LINE);
  self->rate = (self->rate + self->target) / 2;
}

static gboolean
stepper_is_full (const Stepper *self)
{
  return self->rate > LINE - 1;
}

static void
stepper_cut (Stepper *self)
{
  if (self->of->clamps || self->n_by_time + self->n_by_bytes > 0)
    self->target = self->rate;
  self->rate = MAX (self->rate - self->rate * self->alpha / 2, self->of->least);
  self->n_by_time = self->n_by_bytes = 0;
  self->bytes = 0;
  self->rise_ps = self->cut_ps + self->of->increase_ps;
  self->cut_ps = FAB_TIME_MAX;
}

/* All that is due until now, tick by tick; of those at one time alpha's comes first, then the cut. */
static void
stepper_walk (Stepper *self, FabTimePs now_ps)
{
  for (;;) {
    FabTimePs next_ps = MIN (self->tick_ps, MIN (self->cut_ps, self->rise_ps));

    if (next_ps > now_ps)
      return;
    if (next_ps == self->tick_ps) {
      self->alpha = (1 - self->of->gain) * self->alpha + (self->was_told ? self->of->gain : 0);
      self->was_told = FALSE;
      self->tick_ps += self->of->alpha_ps;
    } else if (next_ps == self->cut_ps) {
      stepper_cut (self);
    } else {
      self->n_by_time++;
      stepper_rise (self);
      self->rise_ps = stepper_is_full (self) ? FAB_TIME_MAX : self->rise_ps + self->of->increase_ps;
    }
  }
}

static void
stepper_told (Stepper *self, FabTimePs now_ps)
{
  if (self->first_ps < 0) { /* all clocks start; alpha is 1 */
    self->first_ps = now_ps;
    self->tick_ps = now_ps + self->of->alpha_ps;
    self->cut_ps = now_ps + self->of->reduce_ps;
    return;
  }
  self->was_told = TRUE;
  if (self->cut_ps != FAB_TIME_MAX)
    return;
  /* The first boundary after the word: what is left of the interval that it falls into. */
  self->cut_ps = now_ps + self->of->reduce_ps - (now_ps - self->first_ps) % self->of->reduce_ps;
}

static void
stepper_sent (Stepper *self, guint bytes)
{
  self->bytes += bytes;
  if (self->bytes < self->of->increase_bytes || stepper_is_full (self))
    return;
  self->bytes = 0;
  self->n_by_bytes++;
  stepper_rise (self);
}

static void
assert_rate (const LoneSender *alone, double rate)
{
  assert_near (alone->state->rate_bytes_per_s, rate >= LINE ? 0 : rate, 1e-9);
}

static void
check_dcqcn (Random *random)
{
  const Dcqcn *of = &dcqcns[random_below (random, G_N_ELEMENTS (dcqcns))];
  g_auto (LoneSender) alone = lone_sender_new (&fab_congestion_dcqcn, of->yaml);
  Stepper stepper = { .of = of, .rate = LINE, .target = LINE, .alpha = 1, .first_ps = -1 };
  FabTimePs now_ps = 1 * US, between_ps = of->reduce_ps > 1 ? of->reduce_ps : 10 * US;
  gboolean is_quiet = FALSE;

  stepper.tick_ps = stepper.cut_ps = stepper.rise_ps = FAB_TIME_MAX;
  for (guint i = 0; i < MOST_EVENTS; i++) {
    if (random_chance (random, 5))
      is_quiet = !is_quiet;
    now_ps += is_quiet && random_chance (random, 20) ? random_below (random, 3) * of->increase_ps
                                                     : random_between (random, 1, 4) * between_ps / 4;
    if (random_chance (random, 20))
      now_ps += random_below (random, 1000);
    stepper_walk (&stepper, now_ps);
    if (!is_quiet && random_chance (random, 50)) {
      gboolean goes_out = !stepper.has_told || now_ps - stepper.word_ps >= of->cnp_ps;

      assert_int_equal (alone.ops->marked (alone.state, now_ps), goes_out);
      if (!goes_out) {
        alone.ops->elapsed (alone.state, now_ps);
      } else {
        stepper.has_told = TRUE;
        stepper.word_ps = now_ps;
        alone.ops->notified (alone.state, now_ps);
        stepper_told (&stepper, now_ps);
      }
    } else if (random_chance (random, 50)) {
      guint bytes = random_between (random, 1, 1000) * (is_quiet ? 4000 : 1);

      alone.ops->sent (alone.state, now_ps, bytes);
      stepper_sent (&stepper, bytes);
    } else {
      alone.ops->elapsed (alone.state, now_ps);
      assert_true (alone.state->changes_ps == MIN (stepper.cut_ps, stepper.rise_ps));
    }
    assert_rate (&alone, stepper.rate);
  }
}

static void
dcqcn_does_what_its_timers_say (G_GNUC_UNUSED void **state)
{
  seeds_run (200, check_dcqcn);
}

/* --- Swift --- */

typedef struct {
  const char *yaml;
  FabTimePs target_ps, hop_ps; /* 0: they follow the network */
  double range, from, to, increase, beta, most_cut;
} Swift;

static const Swift swifts[] = {
  { "{}", 0, 0, 5, 0.1, 100, 1, 0.8, 0.5 },
  { "{target: 25us}", 25 * US, 0, 5, 0.1, 100, 1, 0.8, 0.5 },
  { "{target: 20us, hop: 3us, range: 2, range_from: 0.5, range_to: 40, increase: 3, beta: 40%, most_cut: 20%}",
    20 * US, 3 * US, 2, 0.5, 40, 3, 0.4, 0.2 },
  { "{hop: 1500ns, range: 0}", 0, 1500000, 0, 0.1, 100, 1, 0.8, 0.5 },
};

/* The paper's section 3.5, and docs/models/swift.md where no target is given. Path and longest round trip in ps. */
static double
swift_target_ps (const Swift *of, const FabCongestion *path, double window, double delay_ps)
{
  double own_ps = (double) path->round_trip_ps, longest_ps = (double) path->longest_trip_ps;
  double base_ps = own_ps, hops_ps = 2 * longest_ps / 6.55, range_ps = of->range * longest_ps;

  if (of->target_ps > 0) {
    base_ps = (double) of->target_ps;
    hops_ps = path->n_hops * base_ps / 6.55;
    range_ps = of->range * base_ps;
  } else {
    window *= (delay_ps + longest_ps - own_ps) / delay_ps;
  }
  if (of->hop_ps > 0)
    hops_ps = path->n_hops * (double) of->hop_ps;
  /* A line in 1 / sqrt (window), from `range` at `from` to nothing at `to`. */
  double at = (1 / sqrt (window) - 1 / sqrt (of->to)) / (1 / sqrt (of->from) - 1 / sqrt (of->to));
  return base_ps + hops_ps + range_ps * (at < 0 ? 0 : at > 1 ? 1 : at);
}

static void
check_swift (Random *random)
{
  const Swift *of = &swifts[random_below (random, G_N_ELEMENTS (swifts))];
  g_auto (LoneSender) alone = lone_sender_new (&fab_congestion_swift, of->yaml);
  FabCongestion *path = alone.state;

  path->longest_trip_ps = path->round_trip_ps + random_below (random, 20) * US;
  path->n_hops = random_between (random, 2, 6);
  alone.ops->start (path);
  /* The line carries 12.5 packets per us. */
  double window = 125, most = 12.5e-6 * swift_target_ps (of, path, 1e300, 10e6),
         least = MIN (of->from / 10, 0.01);
  FabTimePs now_ps = 1000 * (FabTimePs) US, cut_ps = -1;
  guint heavy = random_below (random, 100);

  assert_near (path->window_bytes, MIN (window, most) * 1000, 1e-9);
  window = MIN (window, most);
  for (guint i = 0; i < MOST_EVENTS; i++) {
    FabTimePs delay_ps = random_chance (random, heavy) ? random_between (random, 10, 400) * US
                                                       : random_between (random, 10, 15) * US;
    FabPacketReport report = lone_sender_report (now_ps += random_below (random, 20) * US, delay_ps);
    double target_ps = swift_target_ps (of, path, window, (double) delay_ps);

    report.bytes = random_between (random, 1, 1000);
    report.is_lost = random_chance (random, 5);
    alone.ops->reported (path, &report);
    if (!report.is_lost && (double) delay_ps < target_ps)
      window += of->increase * report.bytes / 1000.0 / (window < 1 ? 1 : window);
    else if (cut_ps < 0 || now_ps - cut_ps >= delay_ps) {
      double cut = of->beta * ((double) delay_ps - target_ps) / (double) delay_ps;

      window *= 1 - (report.is_lost || cut > of->most_cut ? of->most_cut : cut);
      cut_ps = now_ps;
    }
    window = window > most ? most : window < least ? least : window;
    assert_near (path->window_bytes, (window > 1 ? window : 1) * 1000, 1e-9);
    /* Below one packet: one in delay / window. */
    assert_near (path->rate_bytes_per_s, window < 1 ? 1000 * window / ((double) delay_ps * 1e-12) : 0, 1e-9);
  }
}

static void
swift_does_what_algorithm_1_says (G_GNUC_UNUSED void **state)
{
  seeds_run (200, check_swift);
}

/* --- TIMELY --- */

typedef struct {
  const char *yaml;
  guint segment_bytes; /* 0: once per round trip, as HPCC's simulator does */
  double low_us, high_us, min_rtt_us, alpha, beta, step, least;
} Timely;

static const Timely timelys[] = {
  { "{}", 64000, 50, 500, 20, 0.875, 0.8, 12.5e6, 125e6 },
  { "{rules: hpcc}", 0, 50, 500, 20, 0.875, 0.8, 12.5e6, 125e6 },
  { "{segment: 3kB, low: 30us, high: 80us, min_rtt: 10us, alpha: 50%, beta: 30%, increase: 2Gb/s, least: 5Gb/s}",
    3000, 30, 80, 10, 0.5, 0.3, 250e6, 625e6 },
  { "{rules: hpcc, low: 30us, high: 80us, min_rtt: 40us, alpha: 25%, beta: 30%, increase: 1Gb/s}", 0, 30, 80,
    40, 0.25, 0.3, 125e6, 125e6 },
};

static void
check_timely (Random *random)
{
  const Timely *of = &timelys[random_below (random, G_N_ELEMENTS (timelys))];
  g_auto (LoneSender) alone = lone_sender_new (&fab_congestion_timely, of->yaml);
  double rate = LINE, change_us = 0, last_us = 0, rtt_us = 20, bytes = 0;
  FabTimePs now_ps = 1000 * (FabTimePs) US, completed_ps = -1;
  guint n_rises = 0;

  for (guint i = 0; i < 3 * MOST_EVENTS; i++) {
    if (random_chance (random, 10))
      rtt_us = random_between (random, 12, random_chance (random, 10) ? 900 : 120);
    rtt_us = MAX (rtt_us + random_between (random, 0, 4) - 2, 10);
    FabPacketReport report = lone_sender_report (now_ps += random_between (random, 1, 30) * US,
                                                 (FabTimePs) rtt_us * US);
    report.is_lost = random_chance (random, 5);
    alone.ops->reported (alone.state, &report);
    bytes += report.is_lost ? 0 : 1000;
    gboolean completes = of->segment_bytes > 0 ? bytes >= of->segment_bytes : report.left_ps > completed_ps;
    if (!report.is_lost && completes) {
      if (completed_ps >= 0) {
        change_us = (1 - of->alpha) * change_us + of->alpha * (rtt_us - last_us);
        gboolean is_low = rtt_us<of->low_us, is_high = rtt_us> of->high_us;
        if (is_low || (!is_high && change_us <= 0)) {
          gboolean counts = !is_low || of->segment_bytes == 0; /* the simulator counts every rise */

          rate += (counts && n_rises >= 5 ? 5 : 1) * of->step;
          n_rises += counts ? 1 : 0;
        } else {
          double kept = is_high ? 1 - of->beta * (1 - of->high_us / rtt_us)
                                : 1 - of->beta * change_us / of->min_rtt_us;

          rate *= kept < 0 ? 0 : kept;
          n_rises = 0;
        }
        rate = rate > LINE ? LINE : rate < of->least ? of->least : rate;
      }
      last_us = rtt_us;
      completed_ps = now_ps;
      bytes = 0;
    }
    assert_rate (&alone, rate);
  }
}

static void
timely_does_what_algorithm_1_says (G_GNUC_UNUSED void **state)
{
  seeds_run (100, check_timely);
}

/* --- HPCC --- */

typedef struct {
  const char *yaml;
  double eta;
  guint n_stages;
  double step, least; /* bytes per second */
} Hpcc;

static const Hpcc hpccs[] = {
  { "{}", 0.95, 5, 5e6, 125e6 },
  { "{stages: 0}", 0.95, 0, 5e6, 125e6 },
  { "{utilisation: 80%, stages: 2, increase: 1Gb/s, least: 4Gb/s}", 0.8, 2, 125e6, 500e6 },
};

static void
check_hpcc (Random *random)
{
  const Hpcc *of = &hpccs[random_below (random, G_N_ELEMENTS (hpccs))];
  g_auto (LoneSender) alone = lone_sender_new (&fab_congestion_hpcc, of->yaml);
  const double trip_ps = 10e6, full = 125000; /* of a line of 12.5 GB/s in 10 us */
  double reference = full, window = full, u_mean = 1;
  FabTelemetry last[SWITCHES], hops[SWITCHES] = { { .port = 7 }, { .port = 8 }, { .port = 9 } };
  FabTimePs now_ps = 1000 * (FabTimePs) US, updated_ps = -1;
  guint stage = 0, load = random_between (random, 20, 100), n_last = 0;

  for (guint i = 0; i < MOST_EVENTS; i++) {
    FabTimePs gap_ps = random_between (random, 1, 15) * US;
    FabPacketReport report = lone_sender_report (now_ps += gap_ps, random_between (random, 10, 20) * US);
    double most = 0, tau_ps = 0;
    gboolean is_known = FALSE;

    if (random_chance (random, 5))
      load = random_between (random, 20, 100);
    report.hops = hops;
    report.n_hops = SWITCHES;
    if (random_chance (random, 3))
      hops[random_below (random, SWITCHES)].port++; /* another path */
    for (guint h = 0; h < SWITCHES; h++) {
      hops[h].at_ps = now_ps - (h + 1) * US;
      hops[h].busy_ps += gap_ps * load / 100 - random_below (random, 1000);
      hops[h].queue_ps = load > 80 ? random_below (random, 8) * US : 0;
      if (n_last > 0 && hops[h].port == last[h].port) {
        double between_ps = (double) (hops[h].at_ps - last[h].at_ps);
        double u = MIN (hops[h].queue_ps, last[h].queue_ps) / trip_ps
                 + (double) (hops[h].busy_ps - last[h].busy_ps) / between_ps;

        is_known = TRUE;
        tau_ps = u > most ? MIN (between_ps, trip_ps) : tau_ps;
        most = MAX (u, most);
      }
    }
    alone.ops->reported (alone.state, &report);
    memcpy (last, hops, sizeof last);
    n_last = SWITCHES;
    if (!is_known) {
      updated_ps = updated_ps < 0 ? now_ps : updated_ps;
      /* What all ports forgot counts as nothing that was seen. */
      continue;
    }
    u_mean = (1 - tau_ps / trip_ps) * u_mean + tau_ps / trip_ps * most;
    gboolean falls = u_mean >= of->eta || stage >= of->n_stages;
    window = (falls ? reference / (u_mean / of->eta) : reference) + of->step * 10e-6;
    window = window > full ? full : window < of->least * 10e-6 ? of->least * 10e-6 : window;
    if (report.sent_ps > updated_ps) {
      stage = falls ? 0 : stage + 1;
      reference = window;
      updated_ps = now_ps;
    }
    assert_near (alone.state->window_bytes, window + 999, 1e-9);
    assert_near (alone.state->rate_bytes_per_s, window < full ? window / 10e-6 : 0, 1e-9);
  }
}

static void
hpcc_does_what_algorithm_1_says (G_GNUC_UNUSED void **state)
{
  seeds_run (100, check_hpcc);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (dcqcn_does_what_its_timers_say),
    seeds_test (swift_does_what_algorithm_1_says),
    seeds_test (timely_does_what_algorithm_1_says),
    seeds_test (hpcc_does_what_algorithm_1_says),
  };

  return cmocka_run_group_tests_name ("senders", tests, NULL, NULL);
}
