/* SPDX-License-Identifier: Apache-2.0 */
/* test_fidelity_suite.c - limits between fidelities from a file, two small cases that are played, and the pages of what
 * comes out. */
#include <glib/gstdio.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "tests/support/test.h"
#include "validate/variants/suite.h"

#define CATALOG FAB_SOURCE_DIR "/models/catalog"

static const char limits_yaml[] =
    "fidelities: fluid analytic\n"
    "groups:\n"
    "  - {group: quiet, title: Nothing else runs, limits: [{fidelity: analytic, against: fluid, limit: 12.5%}]}\n"
    "  - {group: empty, title: No case}\n"
    "  - {group: loud, title: All run, limits: [{fidelity: analytic, against: fluid}, "
    "{fidelity: fluid, against: analytic, limit: 1%}]}\n"
    "cases:\n"
    "  - {case: one, group: quiet}\n"
    "  - {case: two, group: loud, why: of a reason, limits: [{fidelity: fluid, against: analytic, "
    "limit: 25%}, {fidelity: fluid, "
    "against: fluid, limit: 50%}]}\n"
    "  - {case: three, group: quiet}\n";

typedef struct {
  FabCatalog *catalog;
  char *folder;
} Fixture;

static const char *const files[] = { "limits.yaml", "one.yaml", "two.yaml" };

static void
put (const Fixture *f, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (f->folder, name, NULL);

  assert_true (g_file_set_contents (path, text, -1, NULL));
}

static int
setup (void **state)
{
  Fixture *f = g_new0 (Fixture, 1);

  *state = f;
  f->catalog = fab_catalog_load (CATALOG, &fab_models, NULL);
  f->folder = g_dir_make_tmp ("fab-fidelity-XXXXXX", NULL);
  put (f, "one.yaml",
       "name: one\nsummary: The first\ncluster: {node: dgx-a100, nodes: 2}\n"
       "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n");
  put (f, "two.yaml",
       "name: two\nsummary: The second\ncluster: {node: dgx-a100, nodes: 1}\n"
       "job: {kind: collective, operations: [{op: all_gather, size: 1MB}]}\n");
  return 0;
}

static int
teardown (void **state)
{
  Fixture *f = *state;

  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autofree char *path = g_build_filename (f->folder, files[i], NULL);

    g_unlink (path);
  }
  g_rmdir (f->folder);
  fab_catalog_free (f->catalog);
  g_free (f->folder);
  g_free (f);
  return 0;
}

static FabFidelityLimits *
load (const Fixture *f, const char *text, GError **error)
{
  g_autofree char *path = g_build_filename (f->folder, "limits.yaml", NULL);

  put (f, "limits.yaml", text);
  return fab_fidelity_limits_load (path, &fab_models, error);
}

/* --- limits --- */

static void
limits_from_a_file (void **state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabFidelityLimits) limits = load (*state, limits_yaml, &error);

  assert_null (error);
  assert_int_equal (fab_fidelity_limits_n (limits), 3);
  assert_int_equal (fab_fidelity_limits_n_groups (limits), 3);
  assert_string_equal (fab_fidelity_limits_group (limits, 2)->title, "All run");
  assert_string_equal (fab_fidelity_limits_case (limits, 1)->group, "loud");
  assert_ptr_equal (fab_fidelity_limits_find (limits, "two", NULL), fab_fidelity_limits_case (limits, 1));
  assert_null (fab_fidelity_limits_find (limits, "twoo", &error));
  assert_non_null (strstr (error->message, "there is no case 'twoo'"));
  assert_non_null (strstr (error->message, "two"));
  /* Those of the file come first, in its order, then all others. */
  g_autofree const char **known = fab_fidelity_limits_known (limits, &fab_models);
  g_autofree const char **names = fab_registry_names (&fab_models, FAB_MODEL_NET);
  assert_string_equal (known[0], "fluid");
  assert_string_equal (known[1], "analytic");
  assert_int_equal (g_strv_length ((char **) known), g_strv_length ((char **) names));
  for (guint i = 0; names[i] != NULL; i++)
    assert_true (g_strv_contains (known, names[i]));
}

static void
mistakes_of_a_file (void **state)
{
  static const struct {
    const char *text, *words;
  } cases[] = {
    { "fidelities: a b\ngroups: [{group: g, title: t, limits: [{fidelity: c, against: a}]}]\ncases: []\n",
      "'c' is none of the fidelities of this file" },
    { "fidelities: a b\ngroups: [{group: g, title: t, limits: [{fidelity: b, against: d}]}]\ncases: []\n",
      "'d' is none of the fidelities of this file" },
    { "fidelities: a b\ngroups: [{group: g, title: t}]\ncases: "
      "[{case: x, group: g, limits: [{fidelity: e, against: a}]}]\n",
      "'e' is none of the fidelities of this file" },
    { "fidelities: a b\ngroups: [{group: g, title: t}]\ncases: [{case: x, group: h}]\n",
      "there is no group 'h'" },
    { "fidelities: a b\ngroups: [{group: g, title: t}]\ncases: "
      "[{case: x, group: g}, {case: y, group: g}, {case: x, group: g}]\n",
      "'x' is given twice" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;

    assert_null (load (*state, cases[i].text, &error));
    if (strstr (error->message, cases[i].words) == NULL)
      fail_msg ("%s is not in %s", cases[i].words, error->message);
  }
}

/* --- cases that are played --- */

static FabFidelityReport *
play (const Fixture *f, const FabFidelityLimits *limits, const char *const *fidelities, guint n_cases,
      GError **error)
{
  g_autoptr (GPtrArray) cases = g_ptr_array_new ();
  const FabFidelitySuite suite = { limits, f->folder, f->catalog, &fab_models, fidelities, 1 };

  for (guint i = 0; i < n_cases; i++)
    g_ptr_array_add (cases, (gpointer) fab_fidelity_limits_case (limits, i));
  return fab_fidelity_report_new (&suite, cases, error);
}

static const char *const both[] = { "fluid", "analytic", NULL };

static const FabFidelityGap *
gap_at (const FabFidelityReport *report, guint result, guint gap)
{
  return &g_array_index (((const FabFidelityResult *) g_ptr_array_index (report->results, result))->gaps,
                         FabFidelityGap, gap);
}

/* Each limit of which both fidelities were played has a difference; a case's own one stands in the place of its
 * group's. */
static void
differences_of_cases (void **state)
{
  static const char *const alone[] = { "analytic", NULL };
  static const struct {
    guint result;
    const char *fidelity, *against;
    double limit;
  } right[] = { { 0, "analytic", "fluid", 0.125 },
                { 1, "analytic", "fluid", 0 },
                { 1, "fluid", "analytic", 0.25 },
                { 1, "fluid", "fluid", 0.5 } };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabFidelityLimits) limits = load (*state, limits_yaml, NULL);
  g_autoptr (FabFidelityReport) report = play (*state, limits, both, 2, &error),
                                one = play (*state, limits, alone, 2, NULL);

  if (error != NULL)
    fail_msg ("%s", error->message);
  assert_int_equal (report->results->len, 2);
  assert_int_equal (report->fidelities->len, 2);
  for (guint i = 0, k = 0; i < G_N_ELEMENTS (right); i++, k++) {
    const FabFidelityResult *result = g_ptr_array_index (report->results, right[i].result);

    k = i > 0 && right[i].result != right[i - 1].result ? 0 : k;
    const FabFidelityGap *gap = gap_at (report, right[i].result, k);
    double now = fab_variant_time_s (
        fab_contrast_variant (result->contrast, strcmp (right[i].fidelity, "fluid") != 0), FAB_FACT_STEP);
    double then = fab_variant_time_s (
        fab_contrast_variant (result->contrast, strcmp (right[i].against, "fluid") != 0), FAB_FACT_STEP);

    assert_string_equal (gap->limit->fidelity, right[i].fidelity);
    assert_string_equal (gap->limit->against, right[i].against);
    assert_near (gap->limit->limit_fraction, right[i].limit, 1e-12);
    assert_true (now > 0 && then > 0);
    assert_true (fabs (gap->difference_fraction - (now / then - 1)) < 1e-12);
  }
  for (guint i = 0; i < 2; i++) {
    const FabFidelityResult *result = g_ptr_array_index (report->results, i);

    assert_int_equal (result->gaps->len, i == 0 ? 1 : 3);
    assert_string_equal (result->title, i == 0 ? "The first" : "The second");
    assert_int_equal (((const FabFidelityResult *) g_ptr_array_index (one->results, i))->gaps->len, 0);
  }
  /* The scenario of the third is not there. */
  assert_null (play (*state, limits, both, 3, &error));
  assert_non_null (strstr (error->message, "three.yaml"));
}

/* --- pages --- */

static void
set_time (FabVariant *variant, FabFactKind kind, double time_s)
{
  for (guint i = 0; i < variant->facts->len; i++)
    if (g_array_index (variant->facts, FabFact, i).kind == kind)
      g_array_index (variant->facts, FabFact, i).time_s = time_s;
}

/* Steps of 1 and 1.25 s, half of which is exposed, and such differences. */
static FabFidelityReport *
made (void **state, const FabFidelityLimits *limits)
{
  static const double differences[] = { 0.25, -0x1p-15, -0.25, 0.5 };
  FabFidelityReport *report = play (*state, limits, both, 2, NULL);

  for (guint i = 0, n = 0; i < 2; i++) {
    const FabFidelityResult *result = g_ptr_array_index (report->results, i);

    for (guint k = 0; k < 2; k++) {
      FabVariant *variant = g_ptr_array_index (result->contrast->variants, k);

      set_time (variant, FAB_FACT_STEP, 1 + k / 4.0 + i);
      set_time (variant, FAB_FACT_EXPOSED, (1 + k / 4.0 + i) / 2);
    }
    for (guint k = 0; k < result->gaps->len; k++)
      g_array_index (result->gaps, FabFidelityGap, k).difference_fraction = differences[n++];
  }
  return report;
}

static const char text_page[] =
    "step at                            fluid    analytic\n"
    "\n"
    "quiet: Nothing else runs\n"
    "  one                                1 s      1.25 s  analytic/fluid +25.00 % (accepted 12.5 %) EXCEEDED\n"
    "\n"
    "loud: All run\n"
    "  two                                2 s      2.25 s  analytic/fluid +0.00 %  fluid/analytic -25.00 % "
    "(accepted 25 %)  fluid/fluid +50.00 % (accepted 50 %)\n";

static const char markdown_page[] =
    "\n"
    "## quiet\n"
    "\n"
    "Nothing else runs.\n"
    "\n"
    "| case | fluid | analytic | differences | what, and why they differ |\n"
    "|---|---:|---:|---|---|\n"
    "| one | 1 s | 1.25 s | analytic against fluid +25.00 % (accepted 12.5 %) | The first |\n"
    "\n"
    "## loud\n"
    "\n"
    "All run.\n"
    "\n"
    "| case | fluid | analytic | differences | what, and why they differ |\n"
    "|---|---:|---:|---|---|\n"
    "| two | 2 s | 2.25 s | analytic against fluid +0.00 %; fluid against analytic -25.00 % (accepted 25 %); "
    "fluid against fluid +50.00 % (accepted 50 %) | The second: of a reason |\n";

static const char csv_page[] = "case,group,fidelity,step_s,exposed_s\n"
                               "one,quiet,fluid,1,0.5\n"
                               "one,quiet,analytic,1.25,0.625\n"
                               "two,loud,fluid,2,1\n"
                               "two,loud,analytic,2.25,1.125\n";

static const char json_page[] =
    "{\"cases\" : [{\"case\" : \"one\",\"group\" : \"quiet\",\"title\" : \"The first\",\"step_s\" : "
    "{\"fluid\" : 1.0,\"analytic\" : 1.25},\"differences\" : [{\"fidelity\" : \"analytic\",\"against\" : "
    "\"fluid\",\"difference_fraction\" : 0.25,\"accepted_fraction\" : 0.125}]},{\"case\" : \"two\",\"group\" "
    ": \"loud\",\"title\" : \"The second\",\"why\" : \"of a reason\",\"step_s\" : {\"fluid\" : "
    "2.0,\"analytic\" : 2.25},\"differences\" : [{\"fidelity\" : \"analytic\",\"against\" : "
    "\"fluid\",\"difference_fraction\" : -3.0517578125e-05},{\"fidelity\" : \"fluid\",\"against\" : "
    "\"analytic\",\"difference_fraction\" : -0.25,\"accepted_fraction\" : 0.25},{\"fidelity\" : "
    "\"fluid\",\"against\" : \"fluid\",\"difference_fraction\" : 0.5,\"accepted_fraction\" : 0.5}]}]}";

static void
pages (void **state)
{
  g_autoptr (GRegex) breaks = g_regex_new ("\\s*\n\\s*", 0, 0, NULL);
  g_autoptr (FabFidelityLimits) limits = load (*state, limits_yaml, NULL);
  g_autoptr (FabFidelityReport) report = made (state, limits);
  g_autofree char *text = fab_fidelity_to_text (report), *markdown = fab_fidelity_to_markdown (report),
                  *csv = fab_fidelity_to_csv (report), *json = fab_fidelity_to_json (report),
                  *line = g_regex_replace_literal (breaks, json, -1, 0, "", 0, NULL);
  g_auto (GStrv) exceeded = fab_fidelity_report_exceeded (report);

  assert_string_equal (text, text_page);
  assert_string_equal (strstr (markdown, "\n## quiet"), markdown_page);
  assert_string_equal (csv, csv_page);
  assert_string_equal (line, json_page);
  assert_int_equal (g_strv_length (exceeded), 1);
  assert_string_equal (exceeded[0], "one: analytic is +25.00 % from fluid, and 12.5 % are accepted");
}

/* A difference is accepted up to its limit, in both directions. */
static void
what_is_accepted (G_GNUC_UNUSED void **state)
{
  static const struct {
    double limit, difference;
    gboolean is_met;
  } cases[] = { { 0, 5, TRUE },
                { 0.25, 0.25, TRUE },
                { 0.25, -0.25, TRUE },
                { 0.25, 0.251, FALSE },
                { 0.25, -0.251, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const FabFidelityLimit limit = { "a", "b", cases[i].limit };

    assert_int_equal (fab_fidelity_gap_is_met (&(FabFidelityGap){ &limit, cases[i].difference }),
                      cases[i].is_met);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (limits_from_a_file, setup, teardown),
    cmocka_unit_test_setup_teardown (mistakes_of_a_file, setup, teardown),
    cmocka_unit_test_setup_teardown (differences_of_cases, setup, teardown),
    cmocka_unit_test_setup_teardown (pages, setup, teardown),
    cmocka_unit_test (what_is_accepted),
  };

  return cmocka_run_group_tests_name ("fidelity_suite", tests, NULL, NULL);
}
