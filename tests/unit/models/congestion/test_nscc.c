/* SPDX-License-Identifier: Apache-2.0 */
/* test_nscc.c - the window of NSCC after every report, against its rules written once more, one after the other, over
 * long random lives of a sender: calm ones, crowded ones, ones with losses, and receivers that turn out to be near.
 */
#include "tests/support/test.h"

#include "models/models.h"
#include "tests/support/lone_sender.h"
#include "tests/support/random.h"

/* What the network is: 125 kB are on the way in the longest round trip, 10 us, and a packet has 1000 B. */
static const double line = LONE_SENDER_BYTES_PER_S / 1e12, longest_ps = 10e6, mtu = 1000;
static const double a = 125e3 / 150e3; /* of 100 Gb/s over 12 us */

typedef struct {
  double target_ps, gamma, most, part; /* parameters; part 0: no quick adapt */
  double window, trip_ps, mean_ps;
  double increase, n_new, arrived,
      calm; /* bytes since the last adjustment and quick adapt, and in a row without delay */
  double flight, old, old_left; /* bytes under way; at the last quick adapt, and those not heard of since */
  double adjusted_ps, cut_ps, quick_ps;
  gboolean is_fast, has_lost;
} Rules;

static void
limit (Rules *self, double window)
{
  double most = MAX (self->most * line * self->trip_ps, mtu);

  self->window = window < mtu ? mtu : window > most ? most : window;
}

static void
begin (Rules *self)
{
  self->trip_ps = longest_ps;
  self->adjusted_ps = self->cut_ps = -1e12;
  limit (self, G_MAXDOUBLE);
}

static void
send (Rules *self, double now_ps, double bytes)
{
  self->flight += bytes;
  if (self->adjusted_ps < 0)
    self->adjusted_ps = now_ps;
}

/* TRUE: the report changes the window no more. */
static gboolean
adapts_quickly (Rules *self, double now_ps, gboolean is_bad, double delay_ps)
{
  gboolean is_done = FALSE;

  if (self->part == 0)
    return FALSE;
  if (self->old_left > 0 && is_bad) {
    is_done = TRUE;
  } else if (now_ps > self->quick_ps) {
    gboolean is_crowded = self->has_lost || delay_ps > 4 * self->target_ps;

    if (self->quick_ps > 0 && is_crowded && self->arrived < self->most * line * self->trip_ps / self->part) {
      limit (self, self->arrived);
      self->old = self->old_left = self->flight;
      self->has_lost = FALSE;
      is_done = TRUE;
    }
    self->arrived = 0;
    self->quick_ps = now_ps + self->trip_ps + self->target_ps;
  }
  if (is_done)
    self->increase = self->n_new = 0;
  return is_done;
}

static void
note_delay (Rules *self, double delay_ps)
{
  self->mean_ps = 0.9875 * self->mean_ps + 0.0125 * delay_ps;
}

static void
hear (Rules *self, double now_ps, double trip_ps, double bytes, gboolean is_marked, gboolean is_lost)
{
  self->flight -= bytes;
  if (trip_ps < self->trip_ps) {
    self->trip_ps = trip_ps;
    limit (self, self->window);
  }
  double delay_ps = trip_ps - self->trip_ps;
  if (is_lost) {
    self->old_left -= bytes;
    note_delay (self, longest_ps);
    self->has_lost = TRUE;
    if (!adapts_quickly (self, now_ps, TRUE, 0))
      limit (self, self->window - bytes);
    return;
  }
  if (self->old_left > 0)
    self->old_left -= bytes;
  self->n_new += bytes;
  self->arrived += bytes;
  note_delay (self, !is_marked && delay_ps > self->target_ps ? self->trip_ps / 4 : delay_ps);
  if (adapts_quickly (self, now_ps, is_marked, delay_ps))
    return;
  if (!is_marked && delay_ps >= self->target_ps) {
    self->increase += 5 * mtu * a * bytes;
  } else if (!is_marked) {
    self->calm = delay_ps < 1e6 ? self->calm + bytes : 0;
    if (delay_ps >= 1e6)
      self->is_fast = FALSE;
    else if (self->calm > self->window)
      self->is_fast = TRUE;
    if (self->is_fast)
      limit (self, self->window + 0.25 * a * bytes);
    else
      self->increase += 4 * mtu * a / 12e6 * (self->target_ps - delay_ps) * bytes;
  } else if (delay_ps >= self->target_ps) {
    self->is_fast = FALSE;
    self->calm = 0;
    if (self->mean_ps > self->target_ps && now_ps - self->cut_ps > self->trip_ps) {
      double kept = 1 - self->gamma * (self->mean_ps - self->target_ps) / self->mean_ps;

      limit (self, self->window * (kept < 0.5 ? 0.5 : kept));
      self->cut_ps = now_ps;
    }
  }
  if (self->n_new <= 8 * mtu && now_ps - self->adjusted_ps <= longest_ps)
    return;
  gboolean is_late = now_ps - self->adjusted_ps >= longest_ps;
  limit (self, self->window + self->increase / self->window + (is_late ? 0.15 * mtu * a : 0));
  if (is_late)
    self->adjusted_ps = now_ps;
  self->increase = self->n_new = 0;
}

/* What a part of a life is like: delays up to `delay_us`, marks and losses in percent, and the time between reports. */
static const struct {
  double least_us, delay_us;
  guint marked, lost;
  double gap_us;
} parts[] = { { 0, 0.9, 0, 0, 0.2 },  { 0, 2, 20, 0, 0.5 },  { 2, 12, 0, 0, 0.4 },   { 5, 20, 60, 0, 0.3 },
              { 8, 40, 90, 5, 0.2 },  { 20, 60, 50, 20, 2 }, { 0, 1.1, 2, 0, 0.05 }, { 0, 9, 30, 1, 6 },
              { 7, 8, 100, 0, 0.3 },  { 0, 30, 0, 40, 3 },   { 30, 31, 100, 0, 12 }, { 0, 0.5, 0, 0, 0.01 },
              { 3, 16, 100, 0, 0.1 }, { 20, 80, 100, 50, 8 } };

static void
live (const char *yaml, const Rules *params, guint seed, double nearest_us)
{
  g_auto (LoneSender) alone = lone_sender_new (&fab_congestion_nscc, yaml);
  Random random = { seed };
  Rules rules = *params;
  FabTimePs now_ps = 0;

  begin (&rules);
  assert_near (alone.state->window_bytes, rules.window, 1e-12);
  for (guint i = 0; i < 3000; i++) {
    guint kind = (i / 60 * 7 + seed) % G_N_ELEMENTS (parts);
    guint32 bytes = random_chance (&random, 80) ? 1000 : (guint32) (1 + random_below (&random, 999));
    double base_us = i < 300 ? 10
                   : i < 900 ? (10 + nearest_us) / 2
                             : nearest_us,
           span_us = parts[kind].delay_us;
    double delay_us = parts[kind].least_us
                    + (span_us - parts[kind].least_us) * (double) random_below (&random, 1000) / 999;
    FabTimePs trip_ps = (FabTimePs) ((base_us + delay_us) * 1e6);

    now_ps += (FabTimePs) (parts[kind].gap_us * 2e3 * (double) random_below (&random, 1000));
    if (random_chance (&random, 90)) {
      alone.ops->sent (alone.state, now_ps, bytes);
      send (&rules, (double) now_ps, bytes);
    }
    FabPacketReport report = lone_sender_report (now_ps + trip_ps, trip_ps);
    report.sent_ps -= 12345; /* it waited in its own adapter, which is no delay */
    report.bytes = bytes;
    report.is_lost = random_chance (&random, parts[kind].lost);
    report.is_marked = !report.is_lost && random_chance (&random, parts[kind].marked);
    alone.ops->reported (alone.state, &report);
    hear (&rules, (double) report.now_ps, (double) trip_ps, bytes, report.is_marked, report.is_lost);
    if (fabs (alone.state->window_bytes - rules.window) > 1e-6 * rules.window)
      fail_msg ("seed %u, report %u: a window of %.9g, and not %.9g", seed, i, alone.state->window_bytes,
                rules.window);
  }
}

static void
the_window_follows_the_rules (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *yaml;
    Rules rules;
  } kinds[] = {
    { "{}", { .target_ps = 7.5e6, .gamma = 0.8, .most = 1.5, .part = 8 } },
    { "{target: 3us}", { .target_ps = 3e6, .gamma = 0.8, .most = 1.5, .part = 8 } },
    { "{gamma: 0.3, most: 4}", { .target_ps = 7.5e6, .gamma = 0.3, .most = 4, .part = 8 } },
    { "{quick_part: 0}", { .target_ps = 7.5e6, .gamma = 0.8, .most = 1.5, .part = 0 } },
    { "{quick_part: 1, target: 1us}", { .target_ps = 1e6, .gamma = 0.8, .most = 1.5, .part = 1 } },
    { "{most: 0.05}", { .target_ps = 7.5e6, .gamma = 0.8, .most = 0.05, .part = 8 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    for (guint seed = 1; seed <= 6; seed++)
      live (kinds[i].yaml, &kinds[i].rules, seed, seed % 2 ? 10 : 4);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_window_follows_the_rules),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
