/* SPDX-License-Identifier: Apache-2.0 */
/* test_osu.c - outputs of OSU's and libfabric's benchmarks: who took part, which memory, and what a row is worth. */
#include "tests/unit/formats/measurement/measured.h"

static FabMeasurements *
read_good (const char *text, guint n_ranks)
{
  g_autoptr (GError) error = NULL;
  FabMeasurements *self = measured_text (text, n_ranks, &error);

  if (self == NULL)
    fail_msg ("%s\n%s", error->message, text);
  return self;
}

/* The command above the table says how many ranks there are; the request goes before it. */
static void
commands_tell_the_ranks (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *command;
    guint asked, n_ranks;
  } rows[] = {
    { "mpirun -np 4 ./osu_allreduce", 0, 4 },
    { "mpirun -np4 ./osu_allreduce", 0, 4 },
    { "mpirun -n 16 ./osu_allreduce -d cuda", 0, 16 },
    { "mpirun -np=8 osu_allreduce", 0, 8 },
    { "srun --ntasks 12 osu_allreduce", 0, 12 },
    { "srun --ntasks=12 -N 3 osu_allreduce", 0, 12 },
    { "srun -N2 --ntasks-per-node=4 osu_allreduce", 0, 8 },
    { "srun --nodes=3 --ntasks-per-node 4 osu_allreduce", 0, 12 },
    { "srun -n 2 osu_allreduce -n 9", 0, 2 }, /* what follows the program is its own */
    { "mpirun -n 100000 osu_allreduce", 0, 65535 },
    { "mpirun -np 4 osu_allreduce", 6, 6 },
    { "./osu_allreduce", 6, 6 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strconcat (
        rows[i].command,
        "\n# OSU MPI Allreduce Latency Test v7.5\n# Size       Avg Latency(us)\n"
        "4                1.50\n",
        NULL);
    g_autoptr (FabMeasurements) self = read_good (text, rows[i].asked);

    if (measured_at (self, 0)->series.n_ranks != rows[i].n_ranks)
      fail_msg ("%s: %u", rows[i].command, measured_at (self, 0)->series.n_ranks);
  }
}

/* Where a size is one rank's part, the collective's is so many times as much. */
static void
titles_tell_the_collective (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *title, *op;
    guint factor;
  } rows[] = {
    { "Allreduce Latency", "all_reduce", 1 },
    { "Allgather Latency", "all_gather", 4 },
    { "All-to-All Personalized Exchange Latency", "all_to_all", 4 },
    { "Broadcast Latency", "broadcast", 1 },
    { "Gather Latency", "gather", 4 },
    { "Reduce Latency", "reduce", 1 },
    { "Reduce_scatter Latency", "reduce_scatter", 1 },
    { "Scatter Latency", "scatter", 4 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint k = 0; k < 2; k++) {
      g_autofree char *text = g_strdup_printf (
          "# OSU MPI%s %s Test v7.5\n# Size Avg Latency(us) Min Latency(us) Max Latency(us) Iterations\n"
          "256 3.00 2.00 5.00 1000\n",
          k == 1 ? "-CUDA" : "", rows[i].title);
      g_autoptr (FabMeasurements) self = read_good (text, 4);
      const FabSeries *series = &measured_at (self, 0)->series;
      const FabMeasuredPoint *point = measured_point (measured_at (self, 0), 256 * rows[i].factor);

      assert_int_equal (series->kind, FAB_MEASURE_COLLECTIVE);
      assert_string_equal (series->op, rows[i].op);
      assert_string_equal (series->from_memory, k == 1 ? "gpu" : "host");
      assert_string_equal (series->to_memory, k == 1 ? "gpu" : "host");
      assert_string_equal (series->method, "mpi");
      assert_string_equal (series->backend, "osu");
      assert_int_equal (series->n_pairs, 0);
      assert_int_equal (series->window, 0);
      assert_true (g_str_has_prefix (series->note, k == 1 ? "OSU MPI-CUDA " : "OSU MPI "));
      assert_int_equal (point->time_ps, 3000000);
      assert_int_equal (point->min_ps, 2000000);
      assert_int_equal (point->max_ps, 5000000);
      assert_int_equal (point->n_samples, 1000);
    }
}

/* A rate of 100 MB/s takes 10 us for 1000 B; the two directions share it, and so do pairs. */
static void
pairs_share_what_is_printed (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *head, *from, *to; /* memory; NULL: not known */
    FabMeasureKind kind;
    guint n_pairs, window;
    FabTimePs time_ps;
  } rows[] = {
    { "# OSU MPI Bandwidth Test v7\n# Size      Bandwidth (MB/s)\n", "host", "host", FAB_MEASURE_BANDWIDTH, 1,
      64, 10000000 },
    { "# OSU MPI Bandwidth Test v7\n# [ pairs: 4 ] [ window size: 32 ]\n# Size      MB/s        Messages/s\n",
      "host", "host", FAB_MEASURE_BANDWIDTH, 4, 32, 40000000 },
    { "# OSU MPI Bi-Directional Bandwidth Test v7\n# Size      Bandwidth (MB/s)\n", "host", "host",
      FAB_MEASURE_BIDIRECTIONAL, 1, 64, 20000000 },
    { "mpirun -np 2 osu_bw D H\n# OSU MPI-CUDA Bandwidth Test v7\n# Size      Bandwidth (MB/s)\n", "gpu",
      "host", FAB_MEASURE_BANDWIDTH, 1, 64, 10000000 },
    { "mpirun -np 2 osu_bw H D\n# OSU MPI-CUDA Bandwidth Test v7\n# Size      Bandwidth (MB/s)\n", "host",
      "gpu", FAB_MEASURE_BANDWIDTH, 1, 64, 10000000 },
    { "mpirun -np 2 osu_bw D x\n# OSU MPI-CUDA Bandwidth Test v7\n# Size      Bandwidth (MB/s)\n", NULL, NULL,
      FAB_MEASURE_BANDWIDTH, 1, 64, 10000000 },
    { "mpirun -np 2 osu_bw x D\n# OSU MPI-CUDA Bandwidth Test v7\n# Size      Bandwidth (MB/s)\n", NULL,
      "gpu", FAB_MEASURE_BANDWIDTH, 1, 64, 10000000 },
    { "# OSU MPI-CUDA Bandwidth Test v7\n# Size      Bandwidth (MB/s)\n", NULL, NULL, FAB_MEASURE_BANDWIDTH,
      1, 64, 10000000 },
    { "# OSU MPI-CUDA Bandwidth Test v7\n# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)\n"
      "# Size      Bandwidth (MB/s)\n",
      "gpu", "host", FAB_MEASURE_BANDWIDTH, 1, 64, 10000000 },
    { "# OSU MPI-CUDA Bandwidth Test v7\n# Send Buffer on HOST (H) and Receive Buffer on DEVICE (D)\n"
      "# Size      Bandwidth (MB/s)\n",
      "host", "gpu", FAB_MEASURE_BANDWIDTH, 1, 64, 10000000 },
    { "# OSU MPI Latency Test v7\n# Size      Avg Latency(us)\n", "host", "host", FAB_MEASURE_LATENCY, 1, 0,
      100000000 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strconcat (rows[i].head, "0 1.00\n1000 100.00\n", NULL);
    g_autoptr (FabMeasurements) self = read_good (text, 0);
    const FabSeries *series = &measured_at (self, 0)->series;

    assert_int_equal (self->series->len, 1);
    assert_int_equal (series->kind, rows[i].kind);
    assert_int_equal (series->n_pairs, rows[i].n_pairs);
    assert_int_equal (series->n_ranks, 2 * rows[i].n_pairs);
    assert_int_equal (series->window, rows[i].window);
    assert_int_equal (g_strcmp0 (series->from_memory, rows[i].from), 0);
    assert_int_equal (g_strcmp0 (series->to_memory, rows[i].to), 0);
    assert_null (series->op);
    assert_int_equal (measured_at (self, 0)->points->len, 1);
    assert_int_equal (measured_point (measured_at (self, 0), 1000)->time_ps, rows[i].time_ps);
    assert_int_equal (self->notes->len, 1); /* messages of 0 B */
  }
}

#define LATENCY "# OSU MPI Latency Test v7\n"

/* What a row has behind its value: shortest and longest time and the number of samples, where the head says so. */
static void
rows_have_spread (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *rows;
    FabTimePs min_ps, max_ps;
    guint n_samples;
  } cases[] = {
    { "# Size Avg Latency(us) Min Latency(us) Max Latency(us) Iterations\n8 3.00 2.00 5.00 1000\n", 2000000,
      5000000, 1000 },
    { "# Size Avg Latency(us) Min Latency(us) Max Latency(us) Iterations\n8 3.00 2.00 5.00\n", 2000000,
      5000000, 0 },
    { "# Size Avg Latency(us) Min Latency(us) Max Latency(us) Iterations\n8 3.00 2.00\n", 0, 0, 0 },
    { "# Size Avg Latency(us) Min Lat(us) Max Lat(us) P99 Tail Lat(us)\n8 3.00 2.00 5.00 1000\n", 0, 0, 0 },
    { "# Size Avg Latency(us) Min Lat(us)\n8 3.00 2.00 5.00 1000\n", 0, 0, 0 },
    { "# Size Latency(us)\n8 3.00 2.00 5.00 1000\n", 0, 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strconcat (LATENCY, cases[i].rows, NULL);
    g_autoptr (FabMeasurements) self = read_good (text, 0);
    const FabMeasuredPoint *point = measured_point (measured_at (self, 0), 8);

    assert_int_equal (point->time_ps, 3000000);
    assert_int_equal (point->min_ps, cases[i].min_ps);
    assert_int_equal (point->max_ps, cases[i].max_ps);
    assert_int_equal (point->n_samples, cases[i].n_samples);
  }
}

static void
mistakes_of_osu_have_their_place (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *told;
  } cases[] = {
    { LATENCY "# Size Latency (ms)\n8 1.00\n",
      "t:2:1: no column in us, as `OSU MPI Latency Test v7` has it" },
    { "# OSU MPI Bandwidth Test v7\n# Size Bandwidth (GB/s)\n8 1.00\n",
      "t:2:1: no column in MB/s, as `OSU MPI Bandwidth Test v7` has it" },
    { LATENCY "# Size Latency (us)\n8\n", "t:3:1: a value belongs behind the size: the text was cut off" },
    { LATENCY "# Size Latency (us)\n8 1.00 Pass\n16 2.00 Fail\n",
      "t:4:9: the data did not arrive as it was sent; nothing of it is taken over" },
    { LATENCY "# Size Latency (us)\n8 x\n", "t:3:3: 'x' stands where a number belongs" },
    { LATENCY "# Size Avg Latency(us) Min Latency(us) Max Latency(us)\n8 3.00 x 5.00\n",
      "t:3:8: 'x' stands where a number belongs" },
    { LATENCY "# Size Avg Latency(us) Min Latency(us) Max Latency(us)\n8 3.00 2.00 y\n",
      "t:3:13: 'y' stands where a number belongs" },
    { "./osu_allreduce\n# OSU MPI Allreduce Latency Test v7\n# Size Avg Latency(us)\n8 1.00\n",
      "t:2:1: how many ranks took part is not printed" },
    { LATENCY "8 1.00\n", "no row of osu with a value above 0" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabMeasurements) self = measured_text (cases[i].text, 0, &error);

    assert_null (self);
    if (strstr (error->message, cases[i].told) == NULL)
      fail_msg ("case %u: %s", i, error->message);
  }
}

/* A test that is not read is left out with its rows, and the one below it is read. */
static void
other_tests_are_left_out (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabMeasurements) self = read_good (
      "# OSU MPI Latency Test v7\n# Size Latency (us)\n8 1.00\n"
      "# OSU MPI Barrier Latency Test v7\n# Avg Latency(us)\n16 2.00\n"
      "# OSU MPI Latency Test v7\n# Size Latency (us)\n32 3.00\n",
      0);

  assert_int_equal (self->series->len, 1);
  assert_int_equal (measured_at (self, 0)->points->len, 2);
  assert_int_equal (measured_point (measured_at (self, 0), 32)->time_ps, 3000000);
  assert_int_equal (self->notes->len, 1);
}

/* libfabric: half a round trip of fi_pingpong, and the method from the options or the name. A row of more digits in one
 * of its two values is read by that one. */
static void
fabtests_are_read_by_their_command (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *command, *method, *note;
    FabMeasureKind kind;
  } rows[] = {
    { "$ fi_pingpong -p efa -e rdm 10.0.0.1", "rdm", "fi_pingpong -p efa -e rdm 10.0.0.1",
      FAB_MEASURE_LATENCY },
    { "fi_pingpong -p efa -e rdm -m tagged", "tagged", "fi_pingpong -p efa -e rdm -m tagged",
      FAB_MEASURE_LATENCY },
    { "fi_pingpong -p efa -m msg", "dgram", "fi_pingpong -p efa -m msg", FAB_MEASURE_LATENCY },
    { "fi_rdm_tagged_bw -p tcp", "tagged", "fi_rdm_tagged_bw -p tcp", FAB_MEASURE_BANDWIDTH },
    { "fi_msg_bw -p tcp", "send", "fi_msg_bw -p tcp", FAB_MEASURE_BANDWIDTH },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strconcat (
        rows[i].command,
        "\nbytes iters total time MB/sec usec/xfer Mxfers/sec\n64 10 640 0.00s 32.00 2.00 0.50\n"
        "1.5k 10 15k 0.00s 1024.0 1.5 0.66\n1m 10 10m 0.00s 1048.6 1000.00 0.00\n",
        NULL);
    g_autoptr (FabMeasurements) self = read_good (text, 0);
    const FabSeries *series = &measured_at (self, 0)->series;

    assert_int_equal (series->kind, rows[i].kind);
    assert_string_equal (series->method, rows[i].method);
    assert_string_equal (series->note, rows[i].note);
    assert_string_equal (series->from_memory, "host");
    assert_string_equal (series->to_memory, "host");
    assert_string_equal (series->backend, "fabtests");
    assert_int_equal (measured_at (self, 0)->points->len, 3);
    /* 64 B at 32.00 MB/s; 1536 B at 1024.0 MB/s, since 1.5 has fewer digits; 2^20 B in 1000.00 us */
    assert_int_equal (measured_point (measured_at (self, 0), 64)->time_ps, 2000000);
    assert_int_equal (measured_point (measured_at (self, 0), 1536)->time_ps, 1500000);
    assert_int_equal (measured_point (measured_at (self, 0), 1 << 20)->time_ps, 1000000000);
  }
}

#define FAB_COMMAND "fi_msg_bw -p tcp\n"
#define FAB_COLUMNS "bytes iters total time MB/sec usec/xfer Mxfers/sec\n"
#define FAB_PINGPONG "bytes #sent #ack total time MB/sec usec/xfer Mxfers/sec\n"

/* Sizes in units of 2^10; at 32 MB/s a row of n bytes takes n / 32 us. */
static void
sizes_of_fabtests_have_units (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *size;
    FabBytes bytes; /* 0: it is refused */
  } cases[] = {
    { "64", 64 },         { "1k", 1024 },   { "1.5k", 1536 }, { "2m", 2097152 }, { "1g", 1073741824 },
    { "999999", 999999 }, { "1000000", 0 }, { "0", 0 },       { "0k", 0 },       { "1kk", 0 },
    { "1t", 0 },          { "1k1", 0 },     { "0.4", 0 },     { "0.6", 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf (FAB_COMMAND FAB_COLUMNS "%s 10 640 0.00s 32.00 2 0.50\n",
                                             cases[i].size),
                    *wanted = g_strdup_printf ("t:3:1: '%s' stands where a size belongs, as 64, 4k or 1m",
                                               cases[i].size);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabMeasurements) self = measured_text (text, 0, &error);

    if (cases[i].bytes == 0) {
      assert_null (self);
      assert_true (g_str_has_prefix (error->message, wanted));
    } else
      assert_near ((double) measured_point (measured_at (self, 0), cases[i].bytes)->time_ps,
                   (double) cases[i].bytes / 32 * 1e6, 1e-6);
  }
}

/* A table of fi_pingpong says itself what it is. Labels stand before rows, and rates and times of few digits may
 * disagree. */
static void
tables_of_fabtests (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *told; /* what is wrong; NULL: nothing */
    FabMeasureKind kind;
    FabTimePs time_ps; /* of 64 B */
  } cases[] = {
    { FAB_PINGPONG "64 10 =10 1k 0.00s 32.00 2.00 0.50\n", NULL, FAB_MEASURE_LATENCY, 2000000 },
    { FAB_COMMAND FAB_PINGPONG "64 10 =10 1k 0.00s 32.00 2.00 0.50\n", NULL, FAB_MEASURE_BANDWIDTH, 2000000 },
    { FAB_COMMAND "[r 1] " FAB_COLUMNS "[r 1] 64 10 640 0.00s 32.0 2.00 0.50\n", NULL, FAB_MEASURE_BANDWIDTH,
      2000000 },
    { FAB_COMMAND FAB_COLUMNS "64 10 640 0.00s 32.0 2.19 0.50\n", NULL, FAB_MEASURE_BANDWIDTH, 2190000 },
    { FAB_COMMAND FAB_COLUMNS "64 10 640 0.00s 32.0 1.81 0.50\n", NULL, FAB_MEASURE_BANDWIDTH, 1810000 },
    { FAB_COMMAND FAB_COLUMNS "64 10 640 0.00s 32.0 2.00 0.50", NULL, FAB_MEASURE_BANDWIDTH, 2000000 },
    { FAB_COMMAND FAB_COLUMNS "all bytes of the run are sent now\n64 10 640 0.00s 32.0 2.00 0.50\n", NULL,
      FAB_MEASURE_BANDWIDTH, 2000000 },
    { FAB_COMMAND FAB_COLUMNS "bytes usec/xfer MB/sec\n64 10 640 0.00s 32.0 2.00 0.50\n", NULL,
      FAB_MEASURE_BANDWIDTH, 2000000 },
    { FAB_COMMAND FAB_COLUMNS "64 10 640 0.00s 32 9.00 0.50\n", NULL, FAB_MEASURE_BANDWIDTH, 9000000 },
    { FAB_COMMAND FAB_COLUMNS "64 10 640 0.00s 32.0 9.0 0.50\n", NULL, FAB_MEASURE_BANDWIDTH, 2000000 },
    { FAB_COMMAND FAB_COLUMNS "64 10 640\n64 10 640 0.00s 32.0 2.00 0.50\n", NULL, FAB_MEASURE_BANDWIDTH,
      2000000 },
    { FAB_COMMAND FAB_COLUMNS "64 10 640 0.00s 32.0 2.21 0.50\n",
      "t:3:22: size, MB/sec and usec/xfer of this row do not agree", FAB_MEASURE_BANDWIDTH, 0 },
    { FAB_COMMAND FAB_COLUMNS "64 10 640 0.00s 32.0 1.79 0.50\n",
      "t:3:22: size, MB/sec and usec/xfer of this row do not agree", FAB_MEASURE_BANDWIDTH, 0 },
    { FAB_COLUMNS "64 10 640 0.00s 32.00 2.00 0.50\n",
      "t:1:1: which test is this? Leave the command above it, as `fi_rdm_tagged_bw ...`",
      FAB_MEASURE_BANDWIDTH, 0 },
    { FAB_COMMAND FAB_COLUMNS "64 10 640 0.00s\n", "t:3:1: 4 words in a table of 7 columns",
      FAB_MEASURE_BANDWIDTH, 0 },
    { FAB_COMMAND FAB_COLUMNS "64 10 640 0.00s 32.0 2.00 0.50\n128 10 640 0.00s 32.0 4.00 0.5",
      "t:4:28: the text ends inside this row: it was cut off", FAB_MEASURE_BANDWIDTH, 0 },
    { FAB_COMMAND FAB_COLUMNS "64 10 640 0.00s x 2.00 0.50\n", "t:3:17: 'x' stands where a number belongs",
      FAB_MEASURE_BANDWIDTH, 0 },
    { FAB_COMMAND FAB_COLUMNS "64 10 640 0.00s 32.0 y 0.50\n", "t:3:22: 'y' stands where a number belongs",
      FAB_MEASURE_BANDWIDTH, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabMeasurements) self = measured_text (cases[i].text, 0, &error);

    if (cases[i].told != NULL) {
      assert_null (self);
      if (!g_str_has_prefix (error->message, cases[i].told))
        fail_msg ("case %u: %s", i, error->message);
      continue;
    }
    if (self == NULL)
      fail_msg ("case %u: %s", i, error->message);
    assert_int_equal (measured_at (self, 0)->series.kind, cases[i].kind);
    assert_int_equal (measured_point (measured_at (self, 0), 64)->time_ps, cases[i].time_ps);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (commands_tell_the_ranks),
    cmocka_unit_test (titles_tell_the_collective),
    cmocka_unit_test (pairs_share_what_is_printed),
    cmocka_unit_test (rows_have_spread),
    cmocka_unit_test (mistakes_of_osu_have_their_place),
    cmocka_unit_test (other_tests_are_left_out),
    cmocka_unit_test (fabtests_are_read_by_their_command),
    cmocka_unit_test (sizes_of_fabtests_have_units),
    cmocka_unit_test (tables_of_fabtests),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
