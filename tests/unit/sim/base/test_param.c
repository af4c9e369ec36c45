/* SPDX-License-Identifier: Apache-2.0 */
/* test_param.c - what types and references of parameters are called, and how a check reports a mistake. */
#include "tests/support/test.h"

#include "sim/base/param.h"

static void
types_have_names_and_units (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabParamType type;
    const char *name;
    gboolean is_number, is_whole;
    FabUnit unit;
  } rows[] = {
    { FAB_PARAM_TIME, "time", TRUE, TRUE, FAB_UNIT_TIME },
    { FAB_PARAM_BYTES, "size", TRUE, TRUE, FAB_UNIT_BYTES },
    { FAB_PARAM_LENGTH, "length", TRUE, TRUE, FAB_UNIT_LENGTH },
    { FAB_PARAM_RATE, "rate", TRUE, TRUE, FAB_UNIT_RATE },
    { FAB_PARAM_FLOPS, "FLOPs", TRUE, FALSE, FAB_UNIT_FLOPS },
    { FAB_PARAM_FLOPS_RATE, "FLOP rate", TRUE, FALSE, FAB_UNIT_FLOPS_RATE },
    { FAB_PARAM_FRACTION, "fraction", TRUE, FALSE, FAB_UNIT_FRACTION },
    { FAB_PARAM_FACTOR, "number", TRUE, FALSE, FAB_UNIT_FACTOR },
    { FAB_PARAM_COUNT, "count", TRUE, TRUE, FAB_UNIT_COUNT },
    { FAB_PARAM_PERIOD, "count or time", FALSE, FALSE, 0 },
    { FAB_PARAM_POWER, "power or fraction", FALSE, FALSE, 0 },
    { FAB_PARAM_BOOL, "yes or no", FALSE, FALSE, 0 },
    { FAB_PARAM_TEXT, "text", FALSE, FALSE, 0 },
    { FAB_PARAM_CHOICE, "choice", FALSE, FALSE, 0 },
    { FAB_PARAM_TABLE, "mapping", FALSE, FALSE, 0 },
    { FAB_PARAM_LIST, "list", FALSE, FALSE, 0 },
    { FAB_PARAM_MODEL, "model", FALSE, FALSE, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    assert_string_equal (fab_param_type_name (rows[i].type), rows[i].name);
    assert_int_equal (fab_param_is_number (rows[i].type), rows[i].is_number);
    assert_int_equal (fab_param_is_whole (rows[i].type), rows[i].is_whole);
    if (rows[i].is_number)
      assert_int_equal (fab_param_unit (rows[i].type), rows[i].unit);
  }
}

/* Files are named, and have no section. */
static void
references_have_names_and_sections (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabRefers refers;
    const char *name, *section;
  } rows[] = {
    { FAB_REFERS_LINK, "link", "links" },
    { FAB_REFERS_ACCELERATOR, "accelerator", "accelerators" },
    { FAB_REFERS_NODE, "node", "nodes" },
    { FAB_REFERS_MODEL, "model", "models" },
    { FAB_REFERS_ALGORITHM, "algorithm", "algorithm" },
    { FAB_REFERS_TECHNOLOGY, "technology", "technologies" },
    { FAB_REFERS_PROCESSOR, "processor", "processors" },
    { FAB_REFERS_FAILURES, "set of failures", "failures" },
    { FAB_REFERS_DESIGN, "design", "designs" },
    { FAB_REFERS_FILE, "file", NULL },
    { FAB_REFERS_FILES, "file or list of files", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    assert_string_equal (fab_refers_name (rows[i].refers), rows[i].name);
    if (rows[i].section != NULL)
      assert_string_equal (fab_refers_section (rows[i].refers), rows[i].section);
  }
}

typedef struct {
  FabCheck base;
  gconstpointer field;
  GString *said;
} Reports;

static void
report (FabCheck *check, gconstpointer field, const char *message)
{
  Reports *self = (Reports *) check;

  self->field = field;
  g_string_append_printf (self->said, "%s; ", message);
}

static void
a_mistake_is_reported_at_its_field (G_GNUC_UNUSED void **state)
{
  g_autoptr (GString) said = g_string_new (NULL);
  Reports reports = { { report }, NULL, said };
  gint64 heads = 12;

  fab_check_fail (&reports.base, &heads, "hidden %d is not a multiple of heads %d", 1000, (int) heads);
  assert_ptr_equal (reports.field, &heads);
  fab_check_fail (&reports.base, &reports, "%s", "no");
  assert_ptr_equal (reports.field, &reports);
  assert_string_equal (said->str, "hidden 1000 is not a multiple of heads 12; no; ");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (types_have_names_and_units),
    cmocka_unit_test (references_have_names_and_sections),
    cmocka_unit_test (a_mistake_is_reported_at_its_field),
  };

  return cmocka_run_group_tests_name ("param", tests, NULL, NULL);
}
