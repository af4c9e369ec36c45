/* SPDX-License-Identifier: Apache-2.0 */
/* test_verbs.c - the verbs backend over a libibverbs without an adapter: bytes move.
 *
 * Half of a buffer is sent from, the other received into; both_ends.c counts the bytes that the other end's pattern
 * reached.
 */
#include "tests/support/fake_verbs/both_ends.h"
#include "tests/support/test.h"
#include "validate/measure/verbs/device.h"

#define KIB ((FabBytes) 1024)

/* What the queue pairs did, a line each. */
static char *
read_log (void **state)
{
  g_autofree char *path = g_build_filename (*state, "log", NULL);
  char *text = NULL;

  assert_true (g_file_get_contents (path, &text, NULL, NULL));
  return text;
}

static void
run_well (BothEnds *both)
{
  both_ends_run (both);
  for (guint i = 0; i < 2; i++)
    if (both->errors[i] != NULL)
      fail_msg ("end %u: %s", i, both->errors[i]);
}

/* 100 messages of 64 KiB in a window of 8, over 3 queue pairs. Writes and sends fill the other end's half, reads the
 * asking end's own. */
static void
test_bandwidth (void **state)
{
  static const char *const methods[] = { "write", "read", "send" };
  static const Sample samples[] = { { FAB_MEASURE_BANDWIDTH, 64 * 1024, 100 }, { .n_messages = 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (methods); i++) {
    g_autofree char *yaml = g_strdup_printf ("{method: %s, queue_pairs: 3, mtu: 2048}", methods[i]);
    BothEnds both = {
      .devices = "ib0", .params = { yaml }, .window = 8, .max_bytes = 64 * KIB, .samples = samples
    };

    run_well (&both);
    assert_int_equal (both.n_received[i != 1], 64 * KIB);
    assert_true (both.n_received[i == 1] < 64 * KIB);
    assert_true (both.elapsed_ps > 0);
    assert_string_equal (both.series.method, methods[i]);
    assert_string_equal (i == 1 ? both.series.to : both.series.from, "ib0:1@10.0.0.1");
    assert_string_equal (i == 1 ? both.series.from : both.series.to, "ib0:1@10.0.0.2");
    assert_string_equal (both.series.from_memory, "host");
    assert_int_equal (both.series.window, 8);
    assert_int_equal (both.series.n_queue_pairs, 3);
    assert_int_equal (both.series.mtu_bytes, 2048);
    both_ends_clear (&both);
  }
  g_autofree char *log = read_log (state);
  /* ceil (8 / 3) = 3 places per queue; 100 = 34 + 33 + 33; one in 3 / 2 = 1 is signalled. */
  assert_non_null (strstr (log, "messages=34 bytes=2228224 inline=0 signalled=34"));
  assert_non_null (strstr (log, "messages=33 bytes=2162688 inline=0 signalled=33"));
  assert_null (strstr (log, " most=4"));
}

/* A queue of 128 asks for a completion every 64 messages, and with the last: 1000 = 15 x 64 + 40. */
static void
test_signalling (void **state)
{
  static const Sample samples[] = { { FAB_MEASURE_BANDWIDTH, 8, 1000 }, { .n_messages = 0 } };
  BothEnds both = { .devices = "ib0", .max_bytes = 8, .samples = samples };
  g_autofree char *log = NULL;

  run_well (&both);
  log = read_log (state);
  assert_non_null (strstr (log, "messages=1000 bytes=8000 inline=0 signalled=16"));
  assert_non_null (strstr (log, "most=128"));
  assert_int_equal (both.series.window, 128);
  both_ends_clear (&both);
}

static void
test_both_ways (G_GNUC_UNUSED void **state)
{
  static const char *const methods[] = { "write", "read", "send" };
  static const Sample samples[] = { { FAB_MEASURE_BIDIRECTIONAL, 4096, 300 }, { .n_messages = 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (methods); i++) {
    g_autofree char *yaml = g_strdup_printf ("{method: %s}", methods[i]);
    BothEnds both = {
      .devices = "ib0", .params = { yaml }, .window = 64, .max_bytes = 4096, .samples = samples
    };

    run_well (&both);
    assert_int_equal (both.n_received[0], 4096);
    assert_int_equal (both.n_received[1], 4096);
    both_ends_clear (&both);
  }
}

/* Alone: of a write the last byte is the count of messages (1 + 299 % 255 = 45), all before it the pattern. Reads
 * are 2 x 300 whole ones of the asking end; the others 300 each way. */
static void
test_latency (void **state)
{
  static const char *const methods[] = { "write", "read", "send" };
  static const Sample samples[] = { { FAB_MEASURE_LATENCY, 100, 300 }, { .n_messages = 0 } };
  g_autofree char *log = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (methods); i++) {
    g_autofree char *yaml = g_strdup_printf ("{method: %s, inline: 64B}", methods[i]);
    BothEnds both = { .devices = "ib0", .params = { yaml }, .max_bytes = 100, .samples = samples };

    run_well (&both);
    assert_true (both.n_received[0] >= 99);
    assert_int_equal (both.n_received[1] >= 99, i != 1);
    assert_int_equal (both.series.window, 1);
    assert_int_equal (both.series.n_queue_pairs, 1);
    both_ends_clear (&both);
  }
  log = read_log (state);
  assert_non_null (strstr (log, "messages=600 bytes=60000 inline=0 signalled=600"));
  assert_non_null (strstr (log, "messages=300 bytes=30000 inline=0 signalled=300 received=0"));
  assert_non_null (strstr (log, "messages=300 bytes=30000 inline=0 signalled=300 received=300"));
}

/* Inline up to 220 bytes as asked for, or as little as the adapter takes: 220, 110, 55. */
static void
test_inline (void **state)
{
  static const Sample samples[] = { { FAB_MEASURE_EXCHANGE, 56, 10 },
                                    { FAB_MEASURE_EXCHANGE, 55, 10 },
                                    { FAB_MEASURE_EXCHANGE, 221, 10 },
                                    { .n_messages = 0 } };
  static const char *const devices[] = { "ib0 inline=256", "ib0 inline=60", "ib0 inline=0" };
  static const char *const expected[] = { "inline=20 ", "inline=10 ", "inline=0 " };

  for (guint i = 0; i < G_N_ELEMENTS (devices); i++) {
    BothEnds both = { .devices = devices[i], .max_bytes = 221, .samples = samples };
    g_autofree char *log = NULL;

    run_well (&both);
    log = read_log (state);
    assert_non_null (strstr (log, expected[i]));
    both_ends_clear (&both);
  }
}

/* The smaller MTU is used, and said. RoCE takes the GID of RoCE v2 over IPv4. */
static void
test_roce (void **state)
{
  static const Sample samples[] = { { FAB_MEASURE_BANDWIDTH, 9000, 10 }, { .n_messages = 0 } };
  BothEnds both = { .devices = "roce0 link=roce mtu=1024; roce1 link=roce",
                    .params = { "{device: roce0, service_level: 3, traffic_class: 106}", "{device: roce1}" },
                    .max_bytes = 9000,
                    .samples = samples };
  g_autofree char *log = NULL;

  run_well (&both);
  assert_int_equal (both.series.mtu_bytes, 1024);
  assert_string_equal (both.series.note, "MTU 1024: roce0:1 has 1024, roce1:1 at the other end 4096");
  assert_string_equal (both.series.to, "roce1:1@10.0.0.2");
  assert_int_equal (both.n_received[1], 9000);
  log = read_log (state);
  assert_non_null (strstr (log, "mtu=1024 sl=3 tclass=106 gid=3"));
  both_ends_clear (&both);
}

/* Two ports of one device, which is one host measuring itself. */
static void
test_two_ports (void **state)
{
  static const Sample samples[] = { { FAB_MEASURE_BANDWIDTH, 4096, 10 }, { .n_messages = 0 } };
  BothEnds both = { .devices = "ib0 ports=2",
                    .params = { "{device: ib0, port: 1}", "{device: ib0, port: 2}" },
                    .max_bytes = 4096,
                    .samples = samples };
  g_autofree char *log = NULL;

  run_well (&both);
  assert_string_equal (both.series.from, "ib0:1@10.0.0.1");
  assert_string_equal (both.series.to, "ib0:2@10.0.0.2");
  log = read_log (state);
  assert_non_null (strstr (log, "port=1 messages=10"));
  assert_non_null (strstr (log, "port=2 messages=0"));
  both_ends_clear (&both);
}

/* The end that answers takes the port of the same name, else the first of the same kind of network. */
static void
test_port_that_answers (G_GNUC_UNUSED void **state)
{
  static const Sample samples[] = { { FAB_MEASURE_BANDWIDTH, 8, 1 }, { .n_messages = 0 } };
  static const char *const rows[][3] = { { "roce0 link=roce; ib0; ib1", "{device: ib1}", "ib1:1@10.0.0.2" },
                                         { "roce0 link=roce; ib0; ib1", "{device: ib0}", "ib0:1@10.0.0.2" } };
  BothEnds both = { .devices = "roce0 link=roce; ib0 ports=2",
                    .params = { "{device: ib0, port: 2}", "{port: 1}" },
                    .max_bytes = 8,
                    .samples = samples };

  run_well (&both); /* ib0:2 has no twin among the ports 1 there, and roce0 is of another kind */
  assert_string_equal (both.series.to, "ib0:1@10.0.0.2");
  both_ends_clear (&both);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    BothEnds twins = { .devices = rows[i][0], .params = { rows[i][1] }, .max_bytes = 8, .samples = samples };

    run_well (&twins);
    assert_string_equal (twins.series.to, rows[i][2]);
    both_ends_clear (&twins);
  }
}

/* By dma-buf, or where the driver or the adapter has none, by nvidia-peermem. */
static void
test_gpu_memory (G_GNUC_UNUSED void **state)
{
  static const Sample samples[] = { { FAB_MEASURE_BANDWIDTH, 4096, 50 }, { .n_messages = 0 } };
  static const char *const rows[][2] = { { "ib0 reg_errno=14", "" },
                                         { "ib0 dmabuf_errno=95", "" },
                                         { "ib0", "dmabuf=0" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    BothEnds both = { .devices = rows[i][0],
                      .params = { "{memory: gpu, peer_memory: gpu}" },
                      .max_bytes = 4096,
                      .samples = samples };

    g_setenv ("FAB_FAKE_CUDA", rows[i][1], TRUE);
    run_well (&both);
    assert_string_equal (both.series.from_memory, "gpu");
    assert_string_equal (both.series.to_memory, "gpu");
    assert_int_equal (both.n_received[1], 4096);
    both_ends_clear (&both);
  }
}

/* Width 2 is 4 lanes, speed 64 is HDR. */
static void
test_port_words (G_GNUC_UNUSED void **state)
{
  FabVerbsPort port = { .name = NULL };
  g_autofree char *words = NULL;

  g_setenv ("FAB_FAKE_DEVICES", "ib0", TRUE);
  assert_true (fab_verbs_port_open (&port, "ib0:1", NULL));
  words = fab_verbs_port_words (&port);
  assert_string_equal (
      words, "InfiniBand, 4x 53.125 Gb/s signalling, MTU 4096, vendor 0x2c9 part 4123, firmware 20.31.1014");
  fab_verbs_port_clear (&port);
}

#define TEST(f) cmocka_unit_test_setup_teardown (f, both_ends_set_up, both_ends_tear_down)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (test_bandwidth),  TEST (test_signalling), TEST (test_both_ways), TEST (test_latency),
    TEST (test_inline),     TEST (test_roce),       TEST (test_two_ports), TEST (test_port_that_answers),
    TEST (test_gpu_memory), TEST (test_port_words),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
