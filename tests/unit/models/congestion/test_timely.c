/* SPDX-License-Identifier: Apache-2.0 */
/* test_timely.c - TIMELY's rules by hand, of its paper and of the simulator of HPCC's authors. */
#include "tests/support/test.h"

#include "models/models.h"
#include "tests/support/lone_sender.h"

/* At a line of 100 Gb/s a step is 100 Mb/s, 12.5 MB/s. Segments of two packets: the first only tells the round
 * trip. One of 60 us after 40 us: the change is 0.875 x 20 us and the gradient 0.875, so that the rate falls by 0.8
 * x 0.875. With the same round trip again the change is an eighth of that: 2.1875 us. Above 500 us it falls by 0.8
 * of what is above. Below 50 us it rises, whatever the change. When the round trip falls from packet to packet,
 * five steps are small, and the sixth is five times as large. */
static void
timely_follows_the_change_of_the_round_trip (G_GNUC_UNUSED void **state)
{
  g_auto (LoneSender) alone = lone_sender_new (&fab_congestion_timely, "{segment: 2000B}");
  const double step = 12.5e6;
  double rate = LONE_SENDER_BYTES_PER_S;
  FabTimePs now_ps = 1000 * US;
  const struct {
    guint rtt_us;
    double factor, steps;
  } completions[] = {
    { 40, 1, 0 },                       /* the first */
    { 60, 1 - 0.8 * 0.875, 0 },         /* a gradient of 17.5 / 20 */
    { 60, 1 - 0.8 * 17.5 / 8 / 20, 0 }, /* and of 2.1875 / 20 */
    { 1000, 1 - 0.8 * 0.5, 0 },         /* above `high` */
    { 45, 1, 1 },                       /* below `low`; the change is -717.6 us */
    { 55, 1, 1 },                       /* -80.95 us */
    { 54, 1, 1 },
    { 53, 1, 1 },
    { 52, 1, 1 }, /* -11 us, -2.3 us, -1.2 us */
    { 51, 1, 1 },
    { 50, 1, 5 }, /* the fifth and the sixth between the two */
  };

  assert_near (alone.state->rate_bytes_per_s, 0, 0);
  for (guint i = 0; i < G_N_ELEMENTS (completions); i++) {
    for (guint packet = 0; packet < 2; packet++) {
      FabPacketReport report = lone_sender_report (now_ps += US, completions[i].rtt_us * (FabTimePs) US);

      alone.ops->reported (alone.state, &report);
      if (packet == 1)
        rate = rate * completions[i].factor + completions[i].steps * step;
      assert_near (alone.state->rate_bytes_per_s, rate < LONE_SENDER_BYTES_PER_S ? rate : 0, 1e-9);
    }
  }
  for (guint i = 0; i < 40; i++) { /* 1 - 0.8 x 0.95 each, down to 1 Gb/s */
    FabPacketReport report = lone_sender_report (now_ps += US, 10000 * (FabTimePs) US);

    alone.ops->reported (alone.state, &report);
  }
  assert_near (alone.state->rate_bytes_per_s, 125e6, 1e-9);
  assert_int_equal (alone.ops->header_bytes (alone.params->params), 0);
}

/* Once per round trip: reports of packets that were sent before the last change count for nothing. Rises below `low`
 * make later steps larger. */
static void
timely_of_the_simulator_changes_once_per_round_trip (G_GNUC_UNUSED void **state)
{
  g_auto (LoneSender) alone = lone_sender_new (&fab_congestion_timely, "{rules: hpcc, report_bytes: 8B}");
  FabPacketReport first = lone_sender_report (100 * US, 10 * US),
                  above = lone_sender_report (1200 * US, 1000 * US),
                  late = lone_sender_report (1210 * US, 1000 * US);
  double rate = LONE_SENDER_BYTES_PER_S * (1 - 0.8 * 0.5);

  alone.ops->reported (alone.state, &first);
  assert_near (alone.state->rate_bytes_per_s, 0, 0);
  alone.ops->reported (alone.state, &above);
  assert_near (alone.state->rate_bytes_per_s, rate, 1e-9);
  alone.ops->reported (alone.state, &late);
  assert_near (alone.state->rate_bytes_per_s, rate, 1e-9);
  for (guint i = 0; i < 6; i++) {
    FabPacketReport below = lone_sender_report ((1300 + 100 * i) * US, 10 * US);

    alone.ops->reported (alone.state, &below);
    rate += 12.5e6 * (i < 5 ? 1 : 5);
    assert_near (alone.state->rate_bytes_per_s, rate, 1e-9);
  }
  assert_int_equal (alone.ops->header_bytes (alone.params->params), 8);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (timely_follows_the_change_of_the_round_trip),
    cmocka_unit_test (timely_of_the_simulator_changes_once_per_round_trip),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
