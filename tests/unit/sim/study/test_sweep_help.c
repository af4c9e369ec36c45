/* SPDX-License-Identifier: Apache-2.0 */
/* test_sweep_help.c - a rank other than 0: what it says to a rank 0 that a script stands for, and when.
 *
 * The clock is the test's own. It goes on each time that the rank looks for a message.
 */
#include "tests/support/test.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "models/models.h"
#include "sim/study/sweep.h"
#include "sim/study/sweep_record.h"
#include "tests/support/play.h"

enum { MOST_POINTS = 40, SECOND_US = G_USEC_PER_SEC };

static FabCatalog *catalog;
static gint64 now_us = SECOND_US;
static gint64 play_us; /* by which it goes on with each network */

/* In place of the clock of GLib. */
gint64
g_get_monotonic_time (void)
{
  return now_us;
}

/* What the script does, and what it has seen. */
typedef struct {
  FabRanks ranks;
  guint n_threads;     /* of the rank; 0: two */
  gint64 tick_us;      /* by which the clock goes on */
  guint n_points;      /* to be given, from the first on */
  guint n_silent;      /* looks after which it says something; 0: it gives points at once */
  guint n_ticks_alive; /* looks between signs of life; 0: there are none */
  guint ends_at;       /* the look at which the sweep ends; 0: when all points were reported */
  gboolean is_whole;   /* and all ranks are there */
  guint32 enough;      /* it ends when the rank wants so many; 0: it need not */

  GPtrArray *come; /* GByteArray: messages to the rank */
  guint n_looks, n_given, n_asked, n_reports, n_hellos, n_byes, n_left, n_left_whole;
  guint answer_at; /* the look at which an open request is answered; 0: there is none */
  guint32 wanted;  /* of that request */
  guint32 first_wanted, most_wanted;
  gboolean is_open; /* the rank has asked, and no points have reached it since */
  gint64 reported_us, began_us;
  guint n_times[MOST_POINTS]; /* each point was reported */
  double step_s[MOST_POINTS];
  GString *hello;
} Script;

static void
add_message (Script *self, FabRanksKind kind, gconstpointer more, gsize size)
{
  GByteArray *message = g_byte_array_new ();
  const guint8 first = (guint8) kind;

  g_byte_array_append (message, &first, 1);
  g_byte_array_append (message, more, (guint) size);
  g_ptr_array_add (self->come, message);
}

static void
take_records (Script *self, const guint8 *bytes, gsize n_left)
{
  while (n_left > 0) {
    g_autoptr (FabSweepPointRecord) record = fab_sweep_record_read (&bytes, &n_left);

    assert_non_null (record);
    assert_in_range (record->point, 0, self->n_given - 1);
    assert_null (record->problem);
    self->n_times[record->point]++;
    self->step_s[record->point] = record->step_s;
  }
}

/* A report is a request where none is open, results that waited for 20 ms, or a sign of life after a second. */
static void
take_report (Script *self, const guint8 *bytes, gsize size)
{
  gint64 since_us = now_us - self->reported_us;
  guint32 n_wanted;

  assert_true (size >= sizeof n_wanted);
  memcpy (&n_wanted, bytes, sizeof n_wanted);
  gboolean is_request = n_wanted > 0 && !self->is_open, has_results = size > sizeof n_wanted;
  assert_true (is_request || (has_results && since_us > 20000) || since_us >= SECOND_US);
  assert_true (self->n_reports == 0 || since_us <= SECOND_US + self->tick_us + play_us);
  take_records (self, bytes + sizeof n_wanted, size - sizeof n_wanted);
  if (is_request) {
    self->first_wanted = self->n_asked == 0 ? n_wanted : self->first_wanted;
    self->answer_at = self->n_looks + self->n_silent + 1;
    self->n_asked++;
  }
  self->wanted = n_wanted;
  self->most_wanted = MAX (self->most_wanted, n_wanted);
  self->is_open = n_wanted > 0; /* a report that wants nothing takes a request back */
  self->reported_us = now_us;
  self->n_reports++;
}

static void
script_send (FabRanks *ranks, guint to, gconstpointer bytes, gsize size)
{
  Script *self = (Script *) ranks;
  const guint8 *message = bytes;

  assert_int_equal (to, 0);
  assert_int_equal (self->n_byes, 0);
  assert_int_equal (self->n_left, 0);
  if (message[0] == FAB_RANKS_HELLO) {
    assert_int_equal (self->n_hellos++ + self->n_reports, 0);
    for (gsize i = 1; i < size; i++)
      g_string_append_c (self->hello, message[i] != 0 ? (char) message[i] : '|');
  } else if (message[0] == FAB_RANKS_REPORT) {
    take_report (self, message + 1, size - 1);
  } else {
    assert_int_equal (message[0], FAB_RANKS_BYE);
    assert_int_equal (size, 1);
    self->n_byes++;
  }
}

static gboolean
is_all_reported (const Script *self)
{
  for (guint i = 0; i < self->n_points; i++)
    if (self->n_times[i] == 0)
      return FALSE;
  return TRUE;
}

static void
act (Script *self)
{
  const guint8 is_whole = self->is_whole ? 1 : 0;

  if (self->answer_at > 0 && self->n_looks >= self->answer_at && self->wanted > 0
      && self->n_given < self->n_points) {
    gint64 points[MOST_POINTS];
    guint n = MIN (self->wanted, self->n_points - self->n_given);

    for (guint i = 0; i < n; i++)
      points[i] = self->n_given++;
    add_message (self, FAB_RANKS_POINTS, points, n * sizeof *points);
    self->answer_at = 0;
  } else if (self->n_ticks_alive > 0 && self->n_looks % self->n_ticks_alive == 0) {
    add_message (self, FAB_RANKS_POINTS, "", 0);
  }
  if (self->enough > 0)
    assert_true (self->n_looks < 10000000);
  if (self->ends_at > 0  ? self->n_looks == self->ends_at
      : self->enough > 0 ? self->wanted >= self->enough
                         : self->n_points > 0 && is_all_reported (self))
    add_message (self, FAB_RANKS_END, &is_whole, 1);
}

static gboolean
script_receive (FabRanks *ranks, guint *from, GByteArray *bytes)
{
  Script *self = (Script *) ranks;

  if (self->come->len == 0) {
    now_us += self->tick_us;
    self->n_looks++;
    act (self);
    return FALSE;
  }
  const GByteArray *message = g_ptr_array_index (self->come, 0);
  *from = 0;
  self->is_open &= message->data[0] != FAB_RANKS_POINTS || message->len == 1;
  g_byte_array_set_size (bytes, 0);
  g_byte_array_append (bytes, message->data, message->len);
  g_ptr_array_remove_index (self->come, 0);
  return TRUE;
}

static void
script_leave (FabRanks *ranks, gboolean is_whole)
{
  Script *self = (Script *) ranks;

  assert_int_equal (self->n_byes, 1);
  self->n_left++;
  self->n_left_whole += is_whole ? 1 : 0;
}

static void
free_message (gpointer message)
{
  g_byte_array_unref (message);
}

static gboolean
is_late (gpointer data)
{
  const Script *self = data;

  return self->n_looks >= 7;
}

static FabStudy *
study_new (const FabRegistry *registry)
{
  static const char yaml[] = "name: t\niterations: 1\ncluster: {node: dgx-h100, nodes: 2, gpus_per_node: 1}\n"
                             "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n";
  g_autofree char *path = NULL;
  int file = g_file_open_tmp ("help-XXXXXX.yaml", &path, NULL);

  assert_true (file >= 0 && g_close (file, NULL) && g_file_set_contents (path, yaml, -1, NULL));
  FabStudy *study = fab_study_new (path, NULL, catalog, registry, NULL);
  g_remove (path);
  assert_non_null (study);
  return study;
}

/* Plays the script against a rank. What it has seen is left in *self. Returns what the rank returned. */
static gboolean
help (Script *self, const FabStudy *study, const FabGrid *grid, const char *problem, gboolean is_cancelled)
{
  char print[] = "print";
  const FabSweepPlan plan = { .fingerprint = print };
  const FabSweepSpec spec = { .study = study,
                              .grid = grid,
                              .plan = problem == NULL ? &plan : NULL,
                              .n_threads = self->n_threads > 0 ? self->n_threads : 2,
                              .ranks = &self->ranks,
                              .data = self,
                              .is_cancelled = is_cancelled ? is_late : NULL };
  g_autoptr (GError) error = NULL;

  self->ranks = (FabRanks){ FAB_RANKS_ABI, 1, 2, 1, "here", script_send, script_receive, script_leave };
  self->come = g_ptr_array_new_with_free_func (free_message);
  self->hello = g_string_new (NULL);
  self->began_us = now_us;
  gboolean is_good = fab_sweep_help (&spec, problem, &error);
  g_autofree char *hello = g_strdup_printf ("%s|here|%ld|%s|", problem == NULL ? "print" : "",
                                            (long) getpid (), problem != NULL ? problem : "");

  assert_null (error);
  assert_string_equal (self->hello->str, hello);
  assert_true (self->n_hellos == 1 && self->n_byes == 1 && self->n_left == 1);
  g_ptr_array_unref (self->come);
  g_string_free (self->hello, TRUE);
  return is_good;
}

/* It asks for points, is given them at once or after a while, and reports each once, as the study plays it. */
static void
points_are_played_and_reported_once (G_GNUC_UNUSED void **state)
{
  static const char *const vary[] = { "cluster.nic_rate=10..400Gb/s:10", NULL };
  g_autoptr (FabStudy) study = study_new (&fab_models);
  g_autoptr (FabGrid) grid = fab_grid_new (vary, NULL, NULL);

  for (guint n_silent = 0; n_silent <= 30; n_silent += 10)
    for (guint is_whole = 0; is_whole < 2; is_whole++) {
      Script script = { .tick_us = 1000,
                        .n_points = MOST_POINTS,
                        .n_silent = n_silent,
                        .n_ticks_alive = 1000,
                        .is_whole = is_whole == 1 };

      assert_true (help (&script, study, grid, NULL, FALSE));
      assert_int_equal (script.n_given, MOST_POINTS);
      assert_true (script.n_asked > 1);
      assert_int_equal (script.n_left_whole, is_whole);
      for (guint i = 0; i < MOST_POINTS; i++)
        assert_int_equal (script.n_times[i], 1);
      for (guint i = 0; i < MOST_POINTS; i += 13) {
        g_autoptr (FabEdits) edits = fab_grid_edits (grid, i);
        FabTry one = { .edits = edits }, *tries[] = { &one };

        assert_true (fab_study_play (study, tries, 1, NULL));
        assert_near (script.step_s[i], one.point->step_s, 0);
        fab_try_clear (&one);
      }
    }
}

static FabNet *
slow_create (const FabNetEnv *env, gconstpointer params)
{
  now_us += play_us;
  return fab_net_fluid.create (env, params);
}

/* A rank with one thread asks for one point first, and when it knows how long a point takes, for as many more as
 * last 50 ms: of points of 5005 us nine. Of these none or one may wait still. What takes no time counts as a
 * microsecond, and more than 4096 points for a thread are never asked for. */
static void
a_rank_asks_for_a_while_of_work (G_GNUC_UNUSED void **state)
{
  static const struct {
    gint64 play_us;
    guint n_threads;
    guint32 most;
  } rows[] = { { 5005, 1, 1 + 9 }, { 60000, 1, 1 }, { 0, 1, 4097 }, { 0, 2, 2 * 4097 } };
  static const char *const vary[] = { "cluster.nic_rate=10..400Gb/s:10", NULL };
  static FabNetOps ops;
  static const FabModelInfo *nets[] = { &ops.info, NULL };
  FabRegistry models = fab_models;

  ops = fab_net_fluid;
  ops.create = slow_create;
  models.lists[FAB_MODEL_NET] = nets;
  g_autoptr (FabStudy) study = study_new (&models);
  g_autoptr (FabGrid) grid = fab_grid_new (vary, NULL, NULL);
  study->n_seeds = 1;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Script script = { .n_points = MOST_POINTS, .n_threads = rows[i].n_threads };

    play_us = rows[i].play_us;
    script.enough = rows[i].most > rows[i].n_threads ? rows[i].n_threads + 1 : 0;
    script.tick_us = script.enough > 0 ? 0 : 100; /* else nothing would be reported */
    assert_true (help (&script, study, grid, NULL, FALSE));
    assert_int_equal (script.first_wanted, rows[i].n_threads);
    assert_in_range (script.most_wanted, script.enough > 0 ? rows[i].most - rows[i].n_threads : rows[i].most,
                     rows[i].most);
  }
  play_us = 0;
}

/* A rank with a problem plays nothing, says so, and gives a sign of life each second until the sweep ends. */
static void
a_rank_that_cannot_help_says_so (G_GNUC_UNUSED void **state)
{
  for (guint is_whole = 0; is_whole < 2; is_whole++) {
    Script script = { .tick_us = SECOND_US / 4, .ends_at = 40, .is_whole = is_whole == 1 };

    assert_true (help (&script, NULL, NULL, "no such file", FALSE));
    assert_int_equal (script.n_asked, 0);
    assert_in_range (script.n_reports, 9, 11); /* of ten seconds */
    assert_int_equal (script.n_left_whole, is_whole);
  }
}

/* Rank 0 is gone when nothing was heard of it for six minutes; a message without points is a sign of life. */
static void
rank_0_may_be_silent_for_six_minutes (G_GNUC_UNUSED void **state)
{
  Script silent = { .tick_us = 10 * SECOND_US },
         alive = { .tick_us = 10 * SECOND_US, .n_ticks_alive = 35, .ends_at = 100 };
  gint64 began_us = now_us;

  assert_false (help (&silent, NULL, NULL, "a problem", FALSE));
  assert_in_range (now_us - began_us, 360 * (gint64) SECOND_US, 371 * (gint64) SECOND_US);
  assert_int_equal (silent.n_left_whole, 0);
  assert_true (help (&alive, NULL, NULL, "a problem", FALSE));
  assert_in_range (alive.n_looks, 100, 101);
}

static void
a_cancelled_rank_leaves_at_once (G_GNUC_UNUSED void **state)
{
  Script script = { .tick_us = 1000, .is_whole = TRUE };

  assert_false (help (&script, NULL, NULL, "a problem", TRUE));
  assert_in_range (script.n_looks, 7, 8);
  assert_int_equal (script.n_left_whole, 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (points_are_played_and_reported_once),
    cmocka_unit_test (a_rank_asks_for_a_while_of_work),
    cmocka_unit_test (a_rank_that_cannot_help_says_so),
    cmocka_unit_test (rank_0_may_be_silent_for_six_minutes),
    cmocka_unit_test (a_cancelled_rank_leaves_at_once),
  };

  return play_run_tests ("sweep_help", tests, &catalog);
}
