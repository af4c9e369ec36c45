/* SPDX-License-Identifier: Apache-2.0 */
/* test_events.c - events of traces that exporters write, byte by byte. */
#include "formats/export/events.h"
#include "tests/support/folder.h"

static void
events_are_written_byte_by_byte (G_GNUC_UNUSED void **state)
{
  g_autofree char *path = folder_path ("events.json");
  FabTraceEvents events;

  assert_true (fab_trace_events_open (&events, path, NULL));
  fab_trace_events_raw (&events, "[\n");
  fab_event_begin (&events, 'M', NULL, "a \"b\"\n", 1, -2, 0);
  fab_event_end (&events);
  fab_event_begin (&events, 'X', "kernel", "c", 3, 4, 1234567499);
  fab_event_lasts (&events, 1234567499, 1234567500);
  fab_event_args (&events);
  fab_event_whole (&events, "n", G_MAXINT64);
  fab_event_text (&events, "t", "x\\y");
  fab_event_text (&events, "none", NULL);
  fab_event_real (&events, "r", 1.0 / 3);
  fab_event_real (&events, "i", INFINITY);
  fab_event_real (&events, "m", NAN);
  fab_event_end (&events);
  fab_event_begin (&events, 'i', "d", "e", 0, 0, 500);
  fab_event_text (&events, "s", "g");
  fab_event_end (&events);
  fab_event_begin (&events, 'X', "d", "e", 0, 0, 0);
  fab_event_args (&events);
  fab_event_end (&events);
  assert_int_equal (events.n_events, 4);
  fab_trace_events_raw (&events, "\n]\n");
  assert_true (fab_trace_events_close (&events, NULL));
  assert_content (
      path,
      "[\n"
      "{\"ph\":\"M\",\"name\":\"a \\\"b\\\"\\n\",\"pid\":1,\"tid\":-2,\"ts\":0.000},\n"
      "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"c\",\"pid\":3,\"tid\":4,\"ts\":1234.567,\"dur\":0.001,"
      "\"args\":{\"n\":9223372036854775807,\"t\":\"x\\\\y\",\"r\":0.333333333,\"i\":null,\"m\":null}},\n"
      "{\"ph\":\"i\",\"cat\":\"d\",\"name\":\"e\",\"pid\":0,\"tid\":0,\"ts\":0.001,\"s\":\"g\"},\n"
      "{\"ph\":\"X\",\"cat\":\"d\",\"name\":\"e\",\"pid\":0,\"tid\":0,\"ts\":0.000,\"args\":{}}"
      "\n]\n");
  g_remove (path);
}

/* Times have whole nanoseconds, and a length is the difference of the two that are shown. */
static void
times_are_whole_nanoseconds (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabTimePs start_ps, end_ps;
    const char *ts, *dur;
  } cases[] = {
    { 0, 499, "0.000", "0.000" },
    { 0, 500, "0.000", "0.001" },
    { 499, 1499, "0.000", "0.001" },
    { 499, 1500, "0.000", "0.002" },
    { 500, 1499, "0.001", "0.000" },
    { 999500, 1999500, "1.000", "1.000" },
    { 999499, 12345678499, "0.999", "12344.679" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *path = folder_path ("times.json");
    g_autofree char *wanted = g_strdup_printf (
        "{\"ph\":\"X\",\"name\":\"n\",\"pid\":0,\"tid\":0,\"ts\":%s,\"dur\":%s}", cases[i].ts, cases[i].dur);
    FabTraceEvents events;

    assert_true (fab_trace_events_open (&events, path, NULL));
    fab_event_begin (&events, 'X', NULL, "n", 0, 0, cases[i].start_ps);
    fab_event_lasts (&events, cases[i].start_ps, cases[i].end_ps);
    fab_event_end (&events);
    assert_true (fab_trace_events_close (&events, NULL));
    assert_content (path, wanted);
    g_remove (path);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (events_are_written_byte_by_byte),
    cmocka_unit_test (times_are_whole_nanoseconds),
  };

  return cmocka_run_group_tests (tests, folder_make, folder_remove);
}
