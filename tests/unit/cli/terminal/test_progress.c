/* SPDX-License-Identifier: Apache-2.0 */
/* test_progress.c - the line of a long command, on a terminal that the test holds the other end of. */
#define _GNU_SOURCE /* posix_openpt */
#include "tests/support/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/terminal/progress.h"
#include "sim/run/effort.h"

enum { LINE_BYTES = 4096, WAIT_MS = 10000 };

/* Reads until the terminal has shown the text. Returns all that was read. */
static char *
shown (int terminal, const char *text)
{
  g_autoptr (GString) all = g_string_new (NULL);

  for (guint waited_ms = 0; waited_ms < WAIT_MS && strstr (all->str, text) == NULL; waited_ms += 10) {
    char bytes[LINE_BYTES];
    ssize_t n = read (terminal, bytes, sizeof bytes);

    if (n > 0)
      g_string_append_len (all, bytes, n);
    else
      g_usleep (10 * 1000);
  }
  return g_strdup (all->str);
}

/* A pipe in place of the screen, as of a log. */
typedef struct {
  int ours, kept;
} Log;

static Log
open_log (void)
{
  Log self = { .kept = dup (STDERR_FILENO) };
  int ends[2];

  assert_int_equal (pipe (ends), 0);
  self.ours = ends[0];
  assert_int_equal (fcntl (self.ours, F_SETFL, O_NONBLOCK), 0);
  assert_int_equal (dup2 (ends[1], STDERR_FILENO), STDERR_FILENO);
  close (ends[1]);
  return self;
}

static void
close_log (Log *self)
{
  dup2 (self->kept, STDERR_FILENO);
  close (self->kept);
  close (self->ours);
}

/* What a test puts in place of the screen that errors go to. */
typedef struct {
  int ours, theirs, kept;
} Terminal;

static Terminal
open_terminal (void)
{
  Terminal self = { .ours = posix_openpt (O_RDWR | O_NOCTTY | O_NONBLOCK), .kept = dup (STDERR_FILENO) };

  assert_true (self.ours >= 0 && grantpt (self.ours) == 0 && unlockpt (self.ours) == 0);
  self.theirs = open (ptsname (self.ours), O_RDWR | O_NOCTTY);
  assert_true (self.theirs >= 0 && dup2 (self.theirs, STDERR_FILENO) == STDERR_FILENO);
  return self;
}

static void
close_terminal (Terminal *self)
{
  dup2 (self->kept, STDERR_FILENO);
  close (self->kept);
  close (self->theirs);
  close (self->ours);
}

/* The pulse holds 35 minutes of simulated time. Later the line says no time that stands still. */
static void
a_time_that_is_full_is_not_shown (G_GNUC_UNUSED void **state)
{
  Terminal terminal = open_terminal ();
  FabProgress *progress = fab_progress_start ("iterations");
  FabPulse *pulse = fab_progress_pulse (progress);

  g_atomic_int_set (&pulse->n_known, 10);
  g_atomic_int_set (&pulse->n_done, 3);
  g_atomic_int_set (&pulse->now_us, 1204);
  g_autofree char *early = shown (terminal.ours, "simulated");
  g_atomic_int_set (&pulse->n_done, 4);
  g_atomic_int_set (&pulse->now_us, G_MAXINT);
  g_autofree char *late = shown (terminal.ours, "4 of 10 iterations, 0:");
  fab_progress_free (progress);
  close_terminal (&terminal);

  assert_non_null (strstr (early, "3 of 10 iterations, 1.204 ms simulated, 0:"));
  assert_non_null (strstr (late, "4 of 10 iterations, 0:"));
}

/* The line names what it counts before anything has been done, and before it is known how much there is to do. */
static void
what_has_not_begun_is_named (G_GNUC_UNUSED void **state)
{
  Terminal terminal = open_terminal ();
  FabProgress *progress = fab_progress_start ("iterations");

  g_autofree char *early = shown (terminal.ours, "0:01");
  fab_progress_next (progress, "what-ifs");
  g_autofree char *late = shown (terminal.ours, "what-ifs");
  fab_progress_free (progress);
  close_terminal (&terminal);

  assert_non_null (strstr (early, "0 iterations, 0:01"));
  assert_non_null (strstr (late, "0 what-ifs, 0:01"));
}

/* The flows of an all-to-all end together at the end: how many tasks have ended says little while they are few. */
static void
few_tasks_tell_no_time (G_GNUC_UNUSED void **state)
{
  Terminal terminal = open_terminal ();
  FabProgress *progress = fab_progress_start ("iterations");
  FabPulse *pulse = fab_progress_pulse (progress);

  fab_pulse_expect (pulse, 1);
  fab_pulse_count_tasks (pulse, 0, 10000);
  g_autofree char *first = shown (terminal.ours, "0:01");
  fab_pulse_count_tasks (pulse, 2, 10000);
  g_autofree char *early = shown (terminal.ours, "0:02");
  fab_pulse_count_tasks (pulse, 2000, 10000);
  g_autofree char *late = shown (terminal.ours, "left");
  fab_progress_free (progress);
  close_terminal (&terminal);

  assert_null (strstr (first, "left"));
  assert_null (strstr (early, "left"));
  assert_non_null (strstr (late, "about 0:"));
}

/* What comes before the simulated time begins takes time of its own, and says nothing of the pace. */
static void
the_pace_begins_with_the_simulated_time (G_GNUC_UNUSED void **state)
{
  Terminal terminal = open_terminal ();
  FabProgress *progress = fab_progress_start ("iterations");
  FabPulse *pulse = fab_progress_pulse (progress);

  fab_pulse_expect (pulse, 1);
  fab_pulse_guess (pulse, 1000000);
  g_autofree char *before = shown (terminal.ours, "0:02");
  g_atomic_int_set (&pulse->now_us, 1000); /* a thousandth in no time: an hour, if two seconds counted */
  g_autofree char *early = shown (terminal.ours, "0:03");
  g_atomic_int_set (&pulse->now_us, 501000);
  g_autofree char *late = shown (terminal.ours, "left");
  fab_progress_free (progress);
  close_terminal (&terminal);

  assert_null (strstr (before, "left"));
  assert_null (strstr (early, "left"));
  assert_non_null (strstr (late, "about 0:0"));
}

/* Iterations that ended, and of the one that runs the share of its time, where that was guessed, or of its tasks. */
static void
the_pulse_knows_what_is_done (G_GNUC_UNUSED void **state)
{
  FabPulse pulse = { 0 };

  assert_true (fab_pulse_fraction (&pulse) == 0);
  fab_pulse_count_tasks (&pulse, 5, 10);
  assert_true (fab_pulse_fraction (&pulse) == 0); /* of nobody knows how many iterations */
  fab_pulse_expect (&pulse, 4);
  assert_true (fab_pulse_fraction (&pulse) == 0.125);
  fab_pulse_beat (&pulse);
  assert_true (fab_pulse_fraction (&pulse) == 0.375);
  fab_pulse_guess (&pulse, 1000);
  pulse.now_us = 1250;
  assert_true (fab_pulse_fraction (&pulse) == 0.3125);
  pulse.now_us = G_MAXINT; /* full */
  assert_true (fab_pulse_fraction (&pulse) == 0.375);
}

/* A log is told once how long a long command takes: by its pace after two seconds, or by its packets after five where
 * there is no pace. What comes next is told again; ten seconds or less are not. No line moves the cursor. */
static void
a_log_is_told_how_long_it_takes (G_GNUC_UNUSED void **state)
{
  const FabEffort effort = { .alike_s = 60, .all_s = 600 };
  g_autofree char *bound = fab_effort_show (&effort);
  g_autofree char *told = g_strdup_printf (": this takes %s, by the packets that it simulates\n", bound);
  Log log = open_log ();
  gint64 begun_us = g_get_monotonic_time ();
  FabProgress *progress = fab_progress_start ("iterations");
  FabPulse *pulse = fab_progress_pulse (progress);
  gboolean wants_guess = pulse->wants_guess;

  fab_pulse_expect (pulse, 1000);
  g_usleep (G_USEC_PER_SEC * 3 / 2);
  g_atomic_int_set (&pulse->n_done, 10);
  g_autofree char *first = shown (log.ours, "iterations\n");
  double first_s = (double) (g_get_monotonic_time () - begun_us) / G_USEC_PER_SEC;
  fab_progress_next (progress, "what-ifs");
  fab_pulse_expect (pulse, 1000);
  g_usleep (G_USEC_PER_SEC * 3 / 4);
  g_atomic_int_set (&pulse->n_done, 10);
  g_autofree char *second = shown (log.ours, "what-ifs\n");
  fab_progress_next (progress, "draws"); /* of which half are done in a second: no line */
  fab_pulse_expect (pulse, 2);
  g_usleep (G_USEC_PER_SEC * 3 / 4);
  g_atomic_int_set (&pulse->n_done, 1);
  g_usleep (G_USEC_PER_SEC);
  fab_progress_next (progress, "points");
  g_atomic_int_set (&pulse->alike_s, 60);
  g_atomic_int_set (&pulse->all_s, 600);
  g_autofree char *third = shown (log.ours, "simulates\n");
  double third_s = (double) (g_get_monotonic_time () - begun_us) / G_USEC_PER_SEC;
  fab_progress_next (progress, "seeds");
  g_atomic_int_set (&pulse->all_s, 9);
  g_usleep (G_USEC_PER_SEC / 2);
  fab_progress_next (progress, "jobs");
  g_atomic_int_set (&pulse->alike_s, 60);
  g_atomic_int_set (&pulse->all_s, 600);
  g_autofree char *fourth = shown (log.ours, "simulates\n");
  fab_progress_free (progress);
  close_log (&log);

  assert_false (wants_guess);
  assert_non_null (strstr (first, ": this takes about "));
  assert_non_null (strstr (first, ", by the pace of its first seconds: 1000 iterations\n"));
  assert_true (first_s >= 2);
  assert_non_null (strstr (second, ", by the pace of its first seconds: 1000 what-ifs\n"));
  assert_true (third_s >= 5);
  assert_true (g_str_has_suffix (third, told) && g_str_has_suffix (fourth, told));
  assert_null (strchr (third, '\r'));
  /* one line each */
  const char *const lines[] = { first, second, third, fourth };
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    assert_ptr_equal (strchr (lines[i], '\n') + 1, lines[i] + strlen (lines[i]));
}

int
main (void)
{
  const struct CMUnitTest tests[] = { cmocka_unit_test (a_time_that_is_full_is_not_shown),
                                      cmocka_unit_test (what_has_not_begun_is_named),
                                      cmocka_unit_test (few_tasks_tell_no_time),
                                      cmocka_unit_test (the_pace_begins_with_the_simulated_time),
                                      cmocka_unit_test (a_log_is_told_how_long_it_takes),
                                      cmocka_unit_test (the_pulse_knows_what_is_done) };

  g_unsetenv ("FABRICAST_PROGRESS");
  return cmocka_run_group_tests (tests, NULL, NULL);
}
