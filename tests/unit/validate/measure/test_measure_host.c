/* SPDX-License-Identifier: Apache-2.0 */
/* test_measure_host.c - how often the host asks for a sample, when it stops, and what a second run does again.
 *
 * The function that is timed says itself how long it took, so nothing depends on the machine's clock.
 */
#include "validate/measure/host_run.h"

#include <gio/gio.h>
#include <glib/gstdio.h>

#include "sim/base/error.h"
#include "tests/support/test.h"

#define MS_PS (G_GINT64_CONSTANT (1000000000))

static const FabBytes sizes[] = { 8, 64, 512 };

typedef struct {
  char *path;
  FabSamples *samples;
  guint n_calls[G_N_ELEMENTS (sizes)]; /* by size */
  guint n_messages;                    /* of the last call */
  FabTimePs message_ps, jump_ps;       /* every second sample takes jump_ps more */
  guint cancel_at, fail_at;            /* all calls together; 0: never */
  guint n_all;
} Rig;

static gboolean
rig_move (gpointer data, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps, GError **error)
{
  Rig *self = data;

  if (++self->n_all == self->fail_at)
    return fab_throw (error, FAB_ERROR_IO, "the cable was pulled");
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    self->n_calls[i] += sizes[i] == size_bytes;
  self->n_messages = n_messages;
  *elapsed_ps = n_messages * (self->message_ps + (self->n_all % 2) * self->jump_ps);
  return TRUE;
}

static gboolean
rig_is_cancelled (gpointer data)
{
  const Rig *self = data;

  return self->cancel_at > 0 && self->n_all >= self->cancel_at;
}

static gboolean
rig_measure (Rig *self, const FabHostLimits *limits, FabTimePs min_sample_ps, FabBytes max_bytes,
             GError **error)
{
  const gboolean kinds[FAB_N_MEASURE_KINDS] = { TRUE };
  const FabMeasurePlan plan = { .sizes_bytes = sizes, .n_sizes = G_N_ELEMENTS (sizes), .kinds = kinds };
  const FabHostPerson person = { .data = self, .is_cancelled = rig_is_cancelled };
  const FabSeries series = { .kind = FAB_MEASURE_LATENCY, .backend = (char *) "fake" };
  FabMeasureHost *host = fab_host_new (&plan, limits, self->samples, &person);

  host->min_sample_ps = min_sample_ps;
  self->n_all = 0;
  memset (self->n_calls, 0, sizeof self->n_calls);
  gboolean is_measured = host->measure (host, &series, max_bytes, rig_move, self, error);
  assert_true (fab_host_has_any (host));
  fab_host_free (host);
  return is_measured;
}

static guint
n_points (Rig *self, gboolean is_complete)
{
  g_autoptr (GPtrArray) all = fab_samples_load (self->samples, NULL);
  guint n = 0;

  for (guint i = 0; i < all->len; i++) {
    const FabMeasuredSeries *series = g_ptr_array_index (all, i);

    for (guint j = 0; j < series->points->len; j++)
      n += g_array_index (series->points, FabMeasuredPoint, j).is_complete == is_complete;
  }
  return n;
}

static int
set_up (void **state)
{
  Rig *self = g_new0 (Rig, 1);
  int fd = g_file_open_tmp ("fab-host-XXXXXX", &self->path, NULL);

  g_close (fd, NULL);
  self->message_ps = 20 * MS_PS;
  self->samples = fab_samples_open (self->path, FAB_SAMPLES_WRITE, NULL);
  *state = self;
  return self->samples ? 0 : -1;
}

static int
tear_down (void **state)
{
  Rig *self = *state;

  fab_samples_free (self->samples);
  g_unlink (self->path);
  g_free (self->path);
  g_free (self);
  return 0;
}

static const FabHostLimits usual = {
  .precision_fraction = 0.02, .min_samples = 10, .max_samples = 40, .max_time_ps = FAB_TIME_MAX
};

/* Two calls warm up (20 ms each, 10 ms are enough), ten are samples: all equal, so the interval is of no width. */
static void
test_steady_sizes_take_the_least (void **state)
{
  Rig *self = *state;
  g_autoptr (GArray) times = NULL;

  assert_true (rig_measure (self, &usual, 0, 0, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    assert_int_equal (self->n_calls[i], 12);
  times = fab_samples_of_point (self->samples, 1, 8, NULL);
  assert_int_equal (times->len, 10);
  assert_int_equal (n_points (self, TRUE), 3);
}

static void
test_complete_sizes_are_left_alone (void **state)
{
  Rig *self = *state;

  assert_true (rig_measure (self, &usual, 0, 64, NULL));
  assert_int_equal (self->n_calls[2], 0);
  assert_true (rig_measure (self, &usual, 0, 0, NULL));
  assert_int_equal (self->n_calls[0] + self->n_calls[1], 0);
  assert_int_equal (self->n_calls[2], 12);
}

/* Half of them take twice as long: the interval of the median is from one to the other, whatever n is. */
static void
test_limits_end_what_jumps (void **state)
{
  Rig *self = *state;
  FabHostLimits soon = usual;

  self->jump_ps = self->message_ps;
  assert_true (rig_measure (self, &usual, 0, 0, NULL));
  assert_int_equal (self->n_calls[0], 42);
  assert_int_equal (n_points (self, FALSE), 3);

  assert_true (rig_measure (self, &usual, 0, 0, NULL)); /* as many as are allowed are there */
  assert_int_equal (self->n_all, 0);

  soon.max_samples = 1000; /* more are allowed, but the time is over: one more */
  soon.max_time_ps = 1;
  assert_true (rig_measure (self, &soon, 0, 8, NULL));
  assert_int_equal (self->n_calls[0], 3);
}

/* 1 us a message, 3 ms asked for: samples become 3000 messages or more. */
static void
test_samples_become_long (void **state)
{
  Rig *self = *state;
  g_autoptr (GArray) times = NULL;

  self->message_ps = MS_PS / 1000;
  assert_true (rig_measure (self, &usual, 3 * MS_PS, 8, NULL));
  assert_in_range (self->n_messages, 3000, 6000);
  times = fab_samples_of_point (self->samples, 1, 8, NULL);
  assert_int_equal (g_array_index (times, FabTimePs, 0), MS_PS / 1000);
}

/* Interrupted in the second size: its four samples are kept and count, the first size is not touched. */
static void
test_interruption_keeps_what_there_is (void **state)
{
  Rig *self = *state;
  g_autoptr (GError) error = NULL;

  self->cancel_at = 12 + 2 + 4;
  assert_false (rig_measure (self, &usual, 0, 0, &error));
  assert_true (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED));
  assert_int_equal (n_points (self, TRUE), 1);

  self->cancel_at = 0;
  assert_true (rig_measure (self, &usual, 0, 0, NULL));
  assert_int_equal (self->n_calls[0], 0);
  assert_int_equal (self->n_calls[1], 2 + 6);
  assert_int_equal (self->n_calls[2], 12);
  assert_int_equal (n_points (self, TRUE), 3);
}

static void
test_failure_keeps_what_there_is (void **state)
{
  Rig *self = *state;
  g_autoptr (GError) error = NULL;

  self->fail_at = 15;
  assert_false (rig_measure (self, &usual, 0, 0, &error));
  assert_string_equal (error->message, "the cable was pulled");
  assert_int_equal (n_points (self, TRUE), 1);
}

/* A write that fails once, as of a disk that is full for a moment, must not leave samples of a machine that nobody
 * knows. */
static void
test_a_fact_that_is_lost_ends_it (G_GNUC_UNUSED void **state)
{
  g_autofree char *path = NULL;
  const FabMeasurePlan plan = { .sizes_bytes = sizes, .n_sizes = G_N_ELEMENTS (sizes) };
  const FabSeries series = { .kind = FAB_MEASURE_LATENCY, .backend = (char *) "fake" };
  Rig rig = { .message_ps = 20 * MS_PS };
  g_autoptr (GError) error = NULL;

  g_close (g_file_open_tmp ("fab-host-XXXXXX", &path, NULL), NULL);
  rig.samples = fab_samples_open (path, FAB_SAMPLES_WRITE, NULL);
  assert_non_null (rig.samples);
  fab_samples_free (g_steal_pointer (&rig.samples));
  rig.samples = fab_samples_open (path, FAB_SAMPLES_READ, NULL); /* takes no fact */
  assert_non_null (rig.samples);
  FabMeasureHost *host = fab_host_new (&plan, &usual, rig.samples, &(FabHostPerson){ 0 });
  host->machine (host, "cpu", "made up");
  assert_false (host->measure (host, &series, 0, rig_move, &rig, &error));
  assert_int_equal (rig.n_all, 0);
  assert_non_null (strstr (error->message, "machine"));
  fab_host_free (host);
  fab_samples_free (rig.samples);
  g_unlink (path);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (test_steady_sizes_take_the_least, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_complete_sizes_are_left_alone, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_limits_end_what_jumps, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_samples_become_long, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_interruption_keeps_what_there_is, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_failure_keeps_what_there_is, set_up, tear_down),
    cmocka_unit_test (test_a_fact_that_is_lost_ends_it),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
