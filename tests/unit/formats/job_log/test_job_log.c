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

/* Spreadsheets, R and pandas put quotes around fields, whose dividers and doubled quotes are text. A quote that
 * does not end at a divider is text, and so is each of sacct -P. */
static void
fields_may_have_quotes (G_GNUC_UNUSED void **state)
{
  static const char *const kinds[] = { "a, b", "say \"x\"", "\"open", "\"a\"b", "", "\"", "plain" };
  g_autoptr (FabJobLog) log = parse ("\"submit\",\"kind\",\"duration\",\"nodes\"\n"
                                     "\"0\",\"a, b\",\"60\",\"2\"\n"
                                     "1,\"say \"\"x\"\"\",60,2\n"
                                     "2,\"open,60,2\n"
                                     "3,\"a\"b,60,2\n"
                                     "4,\"\",60,2\n"
                                     "5,\"\"\"\",60,2\n"
                                     "6,plain,60,\"2\"\n",
                                     NULL);
  g_autoptr (FabJobLog) slurm = parse ("Submit|Kind|Elapsed|NNodes\n0|\"a|60|2\n1|\"b\"|60|2\n", NULL);

  assert_int_equal (log->rows->len, G_N_ELEMENTS (kinds));
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    const char *kind = g_array_index (log->rows, FabJobLogRow, i).kind;

    check_row (log, i, i, 60, 2);
    assert_string_equal (kind != NULL ? kind : "", kinds[i]);
  }
  assert_int_equal (slurm->rows->len, 2);
  assert_string_equal (g_array_index (slurm->rows, FabJobLogRow, 0).kind, "\"a");
  assert_string_equal (g_array_index (slurm->rows, FabJobLogRow, 1).kind, "\"b\"");
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
    { "submit,start,nodes\n1,2,3\n", "jobs:1: no column says how long jobs run" },
    { "submit,end,nodes\n1,2,3\n", "jobs:1: no column says how long jobs run" },
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

/* One row of a table with these columns and fields; the message where it is refused, NULL where it is read or left
 * out. */
static FabJobLog *
read_row (const char *header, const char *fields, char **message)
{
  g_autofree char *text = g_strdup_printf ("%s\n%s\n", header, fields);
  g_autoptr (GError) error = NULL;
  FabJobLog *log = fab_job_log_parse ("jobs", text, strlen (text), 8, &error);

  *message = error != NULL ? g_strdup (error->message) : NULL;
  return log;
}

static const FabJobLogRow *
row_of (const FabJobLog *log)
{
  assert_int_equal (log->rows->len, 1);
  return &g_array_index (log->rows, FabJobLogRow, 0);
}

/* Every name that a column is known by, in whatever letters, with blanks around it. */
static void
columns_are_known_by_name (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *header, *fields;
    double submit_s, duration_s;
    guint64 n_nodes;
  } cases[] = {
    { "submit_s,duration_s,nodes", "5,7,3", 5, 7, 3 },
    { " SUBMIT , Duration , NNodes ", " 5 , 7 , 3 ", 5, 7, 3 },
    { "submit_time,elapsed,allocnodes", "5,0:00:07,3", 5, 7, 3 },
    { "submit,elapsedraw,node_num", "5,7,3", 5, 7, 3 },
    { "submit,start,end,nodes", "5,10,17,3", 5, 7, 3 },
    { "submit,start_s,end_s,nodes", "5,10,17,3", 5, 7, 3 },
    { "submit,start_time,end_time,nodes", "5,10,17,3", 5, 7, 3 },
    { "submit,duration,start,end,nodes", "5,7,10,99,3", 5, 7, 3 },    /* the duration counts */
    { "submit,duration,start,end,nodes", "5,None,10,17,3", 5, 7, 3 }, /* unless it is absent */
    { "submit,duration,gpus", "5,7,16", 5, 7, 2 },
    { "submit,duration,gpu_num", "5,7,17", 5, 7, 3 },
    { "submit,duration,gpus,nodes", "5,7,80,3", 5, 7, 3 },
    { "submit,duration,gpus,nodes", "5,7,80,0", 5, 7, 10 },
    { "submit,duration,gpus,nodes", "5,7,1,", 5, 7, 1 },
    { "x|submit|duration|nodes", "a,b,c|5|7|3", 5, 7, 3 },
    { "submit;duration;nodes;a,b", "5;7;3;c", 5, 7, 3 },
    { "submit\tduration\tnodes", "5\t7\t3", 5, 7, 3 },
    { "submit,duration,nodes,submit,nodes", "5,7,3,6,4", 5, 7, 3 }, /* the first of two */
    { "nodes,duration,submit", "3,7,5,more,fields", 5, 7, 3 },
    { "gpus,duration,submit", "24,7,5", 5, 7, 3 },
    { "duration,submit,nodes", "7,5,3", 5, 7, 3 },
    { "start,end,submit,nodes", "10,17,5,3", 5, 7, 3 },
    { "end,start,submit,nodes", "17,10,5,3", 5, 7, 3 },
    { "submit,duration,nodes", "-1e11,1e11,1e9", -1e11, 1e11, 1000000000 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *message = NULL;
    g_autoptr (FabJobLog) log = read_row (cases[i].header, cases[i].fields, &message);

    if (log == NULL)
      fail_msg ("%s: %s", cases[i].header, message);
    check_row (log, 0, cases[i].submit_s, cases[i].duration_s, cases[i].n_nodes);
    assert_int_equal (log->n_left_out, 0);
  }
}

/* Every day of three centuries, against GLib. */
static void
dates_are_those_of_the_calendar (G_GNUC_UNUSED void **state)
{
  g_autoptr (GString) text = g_string_new ("submit,duration,nodes\n");
  g_autoptr (GDateTime) first = g_date_time_new_utc (1970, 1, 1, 0, 0, 0);
  const guint n_days = 330 * 366;

  for (guint day = 0; day < n_days; day++) {
    g_autoptr (GDateTime) at = g_date_time_add_days (first, (gint) day);
    g_autofree char *date = g_date_time_format (at, day % 2 == 0 ? "%Y-%m-%dT01:02:03" : "%Y-%m-%d 01:02:03");

    g_string_append_printf (text, "%s,1,1\n", date);
  }
  g_autoptr (FabJobLog) log = parse (text->str, NULL);
  assert_int_equal (log->rows->len, n_days);
  for (guint day = 0; day < n_days; day++)
    assert_true (g_array_index (log->rows, FabJobLogRow, day).submit_s == day * 86400.0 + 3723);
}

/* Times at both sides of what a clock and a calendar have. NAN: they are refused. */
static void
times_have_their_limits (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *time;
    double value;
  } times[] = {
    { "1970-01-01T00:00:00", 0 },
    { "1970-01-31T23:59:60", 31 * 86400.0 },
    { "9999-12-31T00:00:00", 253402214400 },
    { "1.5", 1.5 },
    { "1e3", 1000 },
    { "1969-12-31T23:59:59", NAN },
    { "10000-01-01T00:00:00", NAN },
    { "2024-00-01T00:00:00", NAN },
    { "2024-13-01T00:00:00", NAN },
    { "2024-01-00T00:00:00", NAN },
    { "2024-01-32T00:00:00", NAN },
    { "2024-01-01T24:00:00", NAN },
    { "2024-01-01T00:60:00", NAN },
    { "2024-01-01T00:00:61", NAN },
    { "2024-01-01T00:00:00Z", NAN },
    { "2024-01-01T00:00", NAN },
    { "2024-01-01", NAN },
    { "2024/01/01T00:00:00", NAN },
    { "2024-01-01T0000001:00:00", NAN },
    { "1.00001e11", NAN },
    { "-1.00001e11", NAN },
    { "1 2", NAN },
    { "inf", NAN },
  }, lengths[] = {
    { "7", 7 },
    { "0.5", 0.5 },
    { "00:00:01", 1 },
    { "01:02:03", 3723 },
    { "100:00:00", 360000 },
    { "1-00:00:00", 86400 },
    { "2-03:04:05", 183845 },
    { "999999-00:00:00", 999999 * 86400.0 },
    { "1000000-00:00:00", NAN },
    { "-00:00:01", NAN },
    { "01:02", NAN },
    { "1 00:00:00", NAN }, /* not a hundred hours */
    { "01:02:03.5", NAN },
    { "1-2-03:04:05", NAN },
    { "2024-01-01T00:00:00", NAN },
    { "long", NAN },
  };

  for (guint i = 0; i < G_N_ELEMENTS (times); i++) {
    g_autofree char *message = NULL, *fields = g_strdup_printf ("%s,1,1", times[i].time);
    g_autofree char *said = g_strdup_printf (
        "jobs:2: a time is a number of seconds or like 2024-05-01T12:00:00, not '%s'", times[i].time);
    g_autoptr (FabJobLog) log = read_row ("submit,duration,nodes", fields, &message);

    if (isnan (times[i].value))
      assert_string_equal (message, said);
    else
      assert_true (row_of (log)->submit_s == times[i].value);
  }
  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++) {
    g_autofree char *message = NULL, *fields = g_strdup_printf ("0,%s,1", lengths[i].time);
    g_autofree char *said = g_strdup_printf (
        "jobs:2: a duration is a number of seconds or [days-]hours:minutes:seconds, not '%s'",
        lengths[i].time);
    g_autoptr (FabJobLog) log = read_row ("submit,duration,nodes", fields, &message);

    if (isnan (lengths[i].value))
      assert_string_equal (message, said);
    else
      assert_true (row_of (log)->duration_s == lengths[i].value);
  }
}

/* A row whose time or size is absent is left out, and one whose numbers are wrong is refused. */
static void
fields_are_numbers_or_absent (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *fields, *message; /* of submit, duration, nodes, priority; NULL: it is left out */
  } cases[] = {
    { ",1,1,0", NULL },
    { "Unknown,1,1,0", NULL },
    { "NONE,1,1,0", NULL },
    { "null,1,1,0", NULL },
    { "NaN,1,1,0", NULL },
    { "0,n/a,1,0", NULL },
    { "0,0,1,0", NULL },
    { "0,-1,1,0", NULL },
    { "0,1,,0", NULL },
    { "0,1,0,0", NULL },
    { "0,1,0.9,0", NULL },
    { "0,1,-1,0", "a number of nodes or GPUs is a count, not '-1'" },
    { "0,1,1.1e9,0", "a number of nodes or GPUs is a count, not '1.1e9'" },
    { "0,1,many,0", "a number of nodes or GPUs is a count, not 'many'" },
    { "0,1,1,high", "a priority is a number, not 'high'" },
    { "0,1,1", "this line has fewer columns than the first" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf ("\n; x\nsubmit,duration,nodes,priority\n0,1,1,-3\n# y\n%s\n",
                                             cases[i].fields);
    g_autofree char *said = g_strdup_printf ("jobs:6: %s", cases[i].message);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabJobLog) log = parse (text, &error);

    if (cases[i].message != NULL) {
      assert_null (log);
      assert_string_equal (error->message, said);
    } else {
      assert_int_equal (row_of (log)->priority, -3);
      assert_null (row_of (log)->kind);
      assert_int_equal (log->n_left_out, 1);
    }
  }
  g_autofree char *message = NULL;
  g_autoptr (FabJobLog) log = read_row ("submit,duration,nodes,priority,kind", "0,1,1,none,", &message);
  assert_int_equal (row_of (log)->priority, 0);
  assert_null (row_of (log)->kind);
}

/* Words that schedulers write for how a job ended, of Slurm, Helios and Philly; whatever follows them. */
static void
states_are_known_by_their_first_letters (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *state;
    guint failed, preempted;
  } cases[] = {
    { "PREEMPTED", 0, 1 },  { "REQUEUED", 0, 1 },  { "FAILED", 1, 0 },
    { "NODE_FAIL", 1, 0 },  { "BOOT_FAIL", 1, 0 }, { "OUT_OF_MEMORY", 1, 0 },
    { "TIMEOUT", 1, 0 },    { "DEADLINE", 1, 0 },  { "CANCELLED", 1, 0 },
    { "Killed", 1, 0 },     { "COMPLETED", 0, 0 }, { "Pass", 0, 0 },
    { "NOT_FAILED", 0, 0 }, { "", 0, 0 },          { "fai", 0, 0 },
    { "fail", 1, 0 },       { "node_fai", 0, 0 },  { "CANCELLED by 7", 1, 0 },
  };
  static const char *const columns[] = { "state", "status" };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint c = 0; c < G_N_ELEMENTS (columns); c++) {
      g_autofree char *message = NULL, *header = g_strdup_printf ("submit,duration,nodes,%s", columns[c]),
                      *fields = g_strdup_printf ("0,1,1,%s", cases[i].state);
      g_autoptr (FabJobLog) log = read_row (header, fields, &message);

      assert_int_equal (log->n_failed, cases[i].failed);
      assert_int_equal (log->n_preempted, cases[i].preempted);
    }
}

/* Rows are sorted by their time of arrival, and those of one time keep the order of the file. */
static void
rows_are_sorted (G_GNUC_UNUSED void **state)
{
  g_autoptr (GString) text = g_string_new ("submit,duration,nodes\n");
  guint n_found = 0;

  for (guint i = 0; i < 200; i++)
    g_string_append_printf (text, "%u,1,%u\n", (i * 7) % 10, i + 1);
  g_autoptr (FabJobLog) log = parse (text->str, NULL);
  for (guint time = 0; time < 10; time++)
    for (guint i = 0; i < 200; i++)
      if ((i * 7) % 10 == time)
        check_row (log, n_found++, time, 1, i + 1);
  assert_int_equal (n_found, log->rows->len);
}

/* Fields 2, 4, 5, 8 and 11 of 18. */
static void
lines_of_swf (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *line;
    guint64 n_nodes; /* 0: it is left out */
    const char *message;
  } cases[] = {
    { "1 5 0 100 16 -1 -1 99 100 -1 1 1 1 1 1 -1 -1 -1", 2, NULL },
    { "1 5 0 100 17 -1 -1 99 100 -1 1 1 1 1 1 -1 -1 -1", 3, NULL },
    { "1 5 0 100 0 -1 -1 24 100 -1 1 1 1 1 1 -1 -1 -1", 3, NULL }, /* those that it asked for */
    { "1 5 0 100 -1 -1 -1 25 100 -1 1 1 1 1 1 -1 -1 -1", 4, NULL },
    { "1 5 0 100 1 -1 -1 25 100 -1 1 1 1 1 1 -1 -1 -1", 1, NULL },
    { "1 5 0 100 -1 -1 -1 -1 100 -1 1 1 1 1 1 -1 -1 -1", 0, NULL },
    { "1 5 0 100 1e9 -1 -1 -1 100 -1 1 1 1 1 1 -1 -1 -1", 125000000, NULL },
    { "1 5 0 100 1.1e9 -1 -1 -1 100 -1 1 1 1 1 1 -1 -1 -1", 0, NULL },
    { "1 5 0 0 16 -1 -1 -1 100 -1 1 1 1 1 1 -1 -1 -1", 0, NULL },
    { "1 5 0 100 16 -1 -1 -1 100 -1 1 1 1 1 1 -1 -1 -1 more", 2, NULL },
    { "1 5 0 100 16 -1 -1 -1 100 -1 1 1 1 1 1 -1 -1", 0,
      "jobs:3: the Standard Workload Format has 18 numbers a line" },
    { "1 5 0 100 16 -1 -1 x 100 -1 1 1 1 1 1 -1 -1 -1", 0,
      "jobs:3: the Standard Workload Format has 18 numbers a line" },
    { "1 5 0 1.1e11 16 -1 -1 -1 100 -1 1 1 1 1 1 -1 -1 -1", 0,
      "jobs:3: the Standard Workload Format has 18 numbers a line" },
    { "1 5 0 100 16 -1 -1 -1 100 -1 1 1 1 1 1 -1 -1 -1.1e11", 0,
      "jobs:3: the Standard Workload Format has 18 numbers a line" },
    { "1 5 0 100 16 -1 -1 -1 100 -1 1 1 1 1 1 -1 -1 nan", 0,
      "jobs:3: the Standard Workload Format has 18 numbers a line" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf ("; head\n1 9 0 50 8 -1 -1 8 -1 -1 1 1 1 1 1 -1 -1 -1\n%s\n",
                                             cases[i].line);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabJobLog) log = parse (text, &error);

    if (cases[i].message != NULL) {
      assert_null (log);
      assert_string_equal (error->message, cases[i].message);
      continue;
    }
    assert_non_null (log);
    assert_int_equal (log->rows->len, cases[i].n_nodes > 0 ? 2 : 1);
    assert_int_equal (log->n_left_out, cases[i].n_nodes == 0);
    if (cases[i].n_nodes > 0)
      check_row (log, 0, 5, 100, cases[i].n_nodes);
    check_row (log, log->rows->len - 1, 9, 50, 1);
  }
  /* the first line says which format it is: 17 or 19 numbers are names of columns */
  static const char *const others[] = { "1 5 0 100 16 -1 -1 -1 100 -1 1 1 1 1 1 -1 -1",
                                        "1 5 0 100 16 -1 -1 -1 100 -1 1 1 1 1 1 -1 -1 -1 -1" };
  for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
    g_autoptr (GError) error = NULL;

    assert_null (parse (others[i], &error));
    assert_non_null (
        strstr (error->message, "jobs:1: the first line names no column for the time of arrival"));
  }
}

/* Without a number of GPUs per node, a GPU is a node; an empty file is told as such, and a cut one too. */
static void
files_and_nodes (G_GNUC_UNUSED void **state)
{
  static const char table[] = "submit,duration,gpus\n0,1,5\n", packed[] = "\x1f\x8b\x08";
  g_autoptr (FabJobLog) log = fab_job_log_parse ("jobs", table, strlen (table), 0, NULL);
  g_autoptr (GError) none = NULL, comments = NULL, cut = NULL, nowhere = NULL;

  assert_int_equal (row_of (log)->n_nodes, 5);
  assert_null (parse ("", &none));
  assert_string_equal (none->message, "jobs:0: the log has no job that ran");
  assert_null (parse ("# nothing\n\n; else\n", &comments));
  assert_string_equal (comments->message, "jobs:3: the log has no job that ran");
  assert_null (fab_job_log_parse ("jobs", packed, 3, 8, &cut));
  assert_string_equal (cut->message, "jobs: byte 3: the gzip stream ends early; the file is cut");
  assert_null (fab_job_log_read ("/nowhere/jobs.csv", 8, &nowhere));
  assert_string_equal (nowhere->message, "/nowhere/jobs.csv: No such file or directory");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_table_of_ones_own),
    cmocka_unit_test (fields_may_have_quotes),
    cmocka_unit_test (endings_are_counted),
    cmocka_unit_test (slurm),
    cmocka_unit_test (helios),
    cmocka_unit_test (standard_workload_format),
    cmocka_unit_test (refusals_name_the_line),
    cmocka_unit_test (columns_are_known_by_name),
    cmocka_unit_test (dates_are_those_of_the_calendar),
    cmocka_unit_test (times_have_their_limits),
    cmocka_unit_test (fields_are_numbers_or_absent),
    cmocka_unit_test (states_are_known_by_their_first_letters),
    cmocka_unit_test (rows_are_sorted),
    cmocka_unit_test (lines_of_swf),
    cmocka_unit_test (files_and_nodes),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
