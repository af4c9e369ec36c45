/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_log.c - logs of schedulers: each format, and one sentence for what cannot be read. */
#include "tests/support/test.h"

#include <string.h>

#include "formats/job_log/job_log.h"

static FabJobLog *
parse (const char *text, GError **error)
{
  return fab_job_log_parse ("jobs", text, strlen (text), 8, error);
}

static void
check_row (const FabJobLog *log, guint index, double submit_s, double duration_s, guint64 n_nodes)
{
  const FabJobLogRow *row = &g_array_index (log->rows, FabJobLogRow, index);

  assert_near (row->submit_s, submit_s, 1e-12);
  assert_near (row->duration_s, duration_s, 1e-12);
  assert_int_equal (row->n_nodes, n_nodes);
}

static void
a_table_of_ones_own (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabJobLog) log = parse ("# two jobs\nsubmit_s, nodes, duration_s, kind, priority\n"
                                     "20, 2, 100.5, big, 3\n10,1,60,small,0\n30,1,0,small,0\n",
                                     NULL);

  assert_int_equal (log->rows->len, 2);
  assert_int_equal (log->n_left_out, 1);
  check_row (log, 0, 10, 60, 1);
  check_row (log, 1, 20, 100.5, 2);
  assert_string_equal (g_array_index (log->rows, FabJobLogRow, 1).kind, "big");
  assert_int_equal (g_array_index (log->rows, FabJobLogRow, 1).priority, 3);
}

/* Jobs that failed or gave way kept their nodes busy; words of Slurm, Helios and Philly. Parts of a job in the Standard
 * Workload Format (status 2 to 4) are not jobs. */
static void
endings_are_counted (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabJobLog) log = parse ("submit_s|nodes|duration_s|State\n0|1|10|COMPLETED\n1|1|10|FAILED\n"
                                     "2|1|10|CANCELLED by 1000\n3|1|10|PREEMPTED\n4|1|10|NODE_FAIL\n"
                                     "5|1|10|Killed\n6|1|10|Pass\n",
                                     NULL);
  g_autoptr (FabJobLog) swf = parse ("1 0 5 100 8 -1 -1 8 -1 -1 1 1 1 1 1 -1 -1 -1\n"
                                     "1 0 5 60 8 -1 -1 8 -1 -1 2 1 1 1 1 -1 -1 -1\n"
                                     "1 65 5 40 8 -1 -1 8 -1 -1 3 1 1 1 1 -1 -1 -1\n"
                                     "2 70 5 40 8 -1 -1 8 -1 -1 5 1 1 1 1 -1 -1 -1\n",
                                     NULL);

  assert_int_equal (log->rows->len, 7);
  assert_int_equal (log->n_failed, 4);
  assert_int_equal (log->n_preempted, 1);
  assert_int_equal (swf->rows->len, 2);
  assert_int_equal (swf->n_left_out, 2);
  assert_int_equal (swf->n_failed, 1);

  /* A status is a whole number, and what no status has is a job that ended. */
  const struct {
    const char *status;
    gboolean is_part, has_failed;
  } cases[] = { { "-1", FALSE, FALSE },  { "0", FALSE, TRUE },     { "1", FALSE, FALSE },
                { "2", TRUE, FALSE },    { "3", TRUE, FALSE },     { "4", TRUE, FALSE },
                { "4.9", TRUE, FALSE },  { "5", FALSE, TRUE },     { "6", FALSE, FALSE },
                { "-0.5", FALSE, TRUE }, { "1e10", FALSE, FALSE }, { "-1e10", FALSE, FALSE } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf ("1 0 5 100 8 -1 -1 8 -1 -1 1 1 1 1 1 -1 -1 -1\n"
                                             "2 5 5 100 8 -1 -1 8 -1 -1 %s 1 1 1 1 -1 -1 -1\n",
                                             cases[i].status);
    g_autoptr (FabJobLog) one = parse (text, NULL);

    assert_int_equal (one->n_left_out, cases[i].is_part);
    assert_int_equal (one->rows->len, cases[i].is_part ? 1 : 2);
    assert_int_equal (one->n_failed, cases[i].has_failed);
  }
}

/* sacct -P --format JobID,Submit,Start,End,Elapsed,NNodes */
static void
slurm (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabJobLog) log = parse (
      "JobID|Submit|Start|End|Elapsed|NNodes\n"
      "17|2024-02-29T23:59:00|2024-03-01T00:00:00|2024-03-02T01:02:03|1-01:02:03|4\n"
      "17.batch|2024-02-29T23:59:00|2024-03-01T00:00:00|2024-03-02T01:02:03|1-01:02:03|1\n"
      "18|2024-03-01T00:00:00|Unknown|Unknown|00:00:00|2\n",
      NULL);

  assert_int_equal (log->rows->len, 1);
  assert_int_equal (log->n_left_out, 2);
  check_row (log, 0, 1709251140, 90123, 4); /* date -ud 2024-02-29T23:59:00 +%s */
}

/* The Helios traces: start and end instead of a duration, GPUs instead of nodes. */
static void
helios (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabJobLog) log = parse (
      "job_id,user,gpu_num,cpu_num,state,submit_time,start_time,end_time\n"
      "1,u1,17,64,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:01:00,2020-04-01 00:02:30\n"
      "2,u1,0,64,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:01:00,2020-04-01 00:02:30\n"
      "3,u1,8,64,CANCELLED,2020-04-01 00:00:00,None,2020-04-01 00:02:30\n",
      NULL);

  assert_int_equal (log->rows->len, 1);
  assert_int_equal (log->n_left_out, 2);
  check_row (log, 0, 1585699200, 90, 3);
}

static void
standard_workload_format (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabJobLog) log = parse ("; MaxProcs: 4096\n"
                                     "  1 5 0 100 32 -1 -1 32 100 -1 1 1 1 1 1 -1 -1 -1\n"
                                     "  2 6 0  -1 -1 -1 -1 32 100 -1 0 1 1 1 1 -1 -1 -1\n",
                                     NULL);

  assert_int_equal (log->rows->len, 1);
  assert_int_equal (log->n_left_out, 1);
  check_row (log, 0, 5, 100, 4);
}

static void
refusals_name_the_line (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *said;
  } cases[] = {
    { "", "jobs" },
    { "nodes,duration\n1,2\n", "jobs:1: the first line names no column for the time of arrival" },
    { "submit,nodes\n1,2\n", "jobs:1: no column says how long jobs run" },
    { "submit,duration\n1,2\n", "jobs:1: no column says how large jobs are" },
    { "submit,duration,nodes\n1,2\n", "jobs:2: this line has fewer columns" },
    { "submit,duration,nodes\nyesterday,2,1\n", "jobs:2: a time is a number of seconds or like" },
    { "submit,duration,nodes\n1,long,1\n", "jobs:2: a duration is a number of seconds" },
    { "submit,duration,nodes\n1,2,-1\n", "jobs:2: a number of nodes or GPUs is a count" },
    { "submit,duration,nodes,priority\n1,2,1,high\n", "jobs:2: a priority is a number" },
    { "submit,duration,nodes\n1,2,\xff\n", "jobs:2: this line is no text" },
    { "submit,duration,nodes\n1,0,1\n", "the log has no job that ran" },
    { "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n1 2 3\n",
      "jobs:2: the Standard Workload Format has 18" },
    { "submit,duration,nodes\n2024-13-01T00:00:00,2,1\n", "jobs:2: a time is" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;

    assert_null (parse (cases[i].text, &error));
    assert_non_null (error);
    if (strstr (error->message, cases[i].said) == NULL)
      fail_msg ("case %u: %s", i, error->message);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_table_of_ones_own),
    cmocka_unit_test (endings_are_counted),
    cmocka_unit_test (slurm),
    cmocka_unit_test (helios),
    cmocka_unit_test (standard_workload_format),
    cmocka_unit_test (refusals_name_the_line),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
