/* SPDX-License-Identifier: Apache-2.0 */
/* test_report_data.c - runs and sweeps of a results file as the data of a page. All rows are written here, and what
 * the page gets of them is written out by hand.
 */
#include "tests/support/play.h"
#include "tests/unit/cli/report/report_rows.h"

/* --- a run --- */

static void
test_head (G_GNUC_UNUSED void **state)
{
  static const char *const members[][2] = { { "run", "1" },
                                            { "name", "'small'" },
                                            { "version", "'0.9'" },
                                            { "fidelity", "'packet'" },
                                            { "seed", "11" },
                                            { "ranks", "8" },
                                            { "nodes", "2" },
                                            { "peak_flops_per_s", "1.5e12" },
                                            { "memory_bytes", "6.4e10" },
                                            { "train_tokens", "3e11" },
                                            { "exposure", "[]" },
                                            { "path", "[]" },
                                            { "memory", "[]" },
                                            { "slowest", "[]" },
                                            { "verdict", "[]" },
                                            { "band", "[]" },
                                            { "levers", "[]" },
                                            { "goodput", "[]" } };
  g_autoptr (FabStore) store = fab_store_new (NULL);
  gint64 id;

  begin_run (store, &id);
  add_steps (store);
  assert_true (fab_store_commit_run (store, NULL));
  g_autoptr (JsonNode) root = told_of (store, id, 0);
  JsonObject *run = item_of (root, "runs", 0);
  assert_names (json_node_get_object (root), "format program runs sweeps");
  assert_member (json_node_get_object (root), "format", "1");
  assert_member (json_node_get_object (root), "sweeps", "[]");
  assert_names (
      run, "run name version fidelity seed ranks nodes peak_flops_per_s memory_bytes train_tokens iterations "
           "classes exposure path memory slowest verdict band levers goodput timeline links words scenario");
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    assert_member (run, members[i][0], members[i][1]);
  assert_true (g_str_has_prefix (json_object_get_string_member (run, "scenario"), "name: small\nsummary: "));
  assert_member (run, "words",
                 "{'summary':'A small run.','node':'box','nic':'card','nics_per_node':'3',"
                 "'nic_rate':'200 Gb/s','fabric':'clos','route':'spray','job':'train','stage':'2',"
                 "'model':'tiny','micro_batch':'4','tensor':'5','pipeline':'6','expert':'7',"
                 "'context':'8'}");
}

static void
test_times_of_iterations_and_classes (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStore) store = fab_store_new (NULL);
  gint64 id;

  begin_run (store, &id);
  add_steps (store);
  assert_true (fab_store_commit_run (store, NULL));
  g_autoptr (JsonNode) root = told_of (store, id, 0);
  JsonObject *run = item_of (root, "runs", 0);
  assert_member (
      run, "iterations",
      "[{'iteration':0,'step_s':1e-06,'compute_s':6e-07,'comm_s':5e-07,'overlapped_s':3e-07,"
      "'exposed_s':2e-07,'idle_s':2e-07,'mfu_fraction':0.25,'hfu_fraction':0.375,'tokens_per_s':8},"
      "{'iteration':1,'step_s':9.0005e-06,'compute_s':5e-06,'comm_s':4e-06,'overlapped_s':3e-06,"
      "'exposed_s':1e-06,'idle_s':3.0005e-06,'mfu_fraction':0.5,'hfu_fraction':0.625,"
      "'tokens_per_s':16}]");
  assert_member (
      run, "classes", /* of the last iteration */
      "[{'name':'stage 0','first_rank':0,'ranks':6,'step_s':8e-06,'compute_s':7e-06,'comm_s':6e-06,"
      "'overlapped_s':5e-06,'exposed_s':1.5e-06,'idle_s':2.5e-07},"
      "{'name':'stage 1','first_rank':6,'ranks':2,'step_s':9e-06,'compute_s':4e-06,'comm_s':3e-06,"
      "'overlapped_s':2e-06,'exposed_s':1e-06,'idle_s':5e-07}]");
}

/* Why the last iteration took as long as it did. */
static void
write_reasons (FabStore *store)
{
  GError *error = NULL;
  FabLinkLoadRecord loads[] = { { 0, 1, 5, 0.75 }, { 1, 0, 7, 0.5 } };
  FabCollectiveRecord collectives[] = { collective (0, 0, 900, 900, 1), collective (1, 0, 300, 400, 0),
                                        collective (1, 1, 100, 1200, 1),
                                        collective (1, 2, 500, 500, FAB_RECORD_NO_LINK) };
  /* Of 8 ranks: 6 have 40 ns and 2 have 80 ns of data, which is 50 ns in the mean; of these 15 ns are exposed. */
  FabExposureRecord exposures[] = { { 0, 0, "data", "all_reduce", 1, 9, 1, 1, 0, 0 },
                                    { 1, 0, "data", "all_reduce", 1, 100, 40000, 10000, 0, 0 },
                                    { 1, 0, "tensor", "all_gather", 1, 50, 80000, 20000, 0, 0 },
                                    { 1, 1, "data", "all_reduce", 1, 200, 80000, 30000, 0, 0 } };
  FabPathRecord path[] = {
    { 0, 0, 0, "compute", FAB_SPAN_COMPUTE, "f", 0, 9, -1, FAB_RECORD_NO_LINK },
    { 1, 0, 0, "compute", FAB_SPAN_COMPUTE, "f", 0, 3000000, -1, FAB_RECORD_NO_LINK },
    { 1, 1, 1, "comm", FAB_SPAN_COMM, "c", 3000000, 8000000, 0, 0 },
    { 1, 2, 1, "loader", FAB_SPAN_LOAD, "l", 8000000, 9000500, -1, FAB_RECORD_NO_LINK },
  };

  must (fab_store_add_links (store, two_links, 2, &error), error);
  add_steps (store);
  must (fab_store_add_collectives (store, collectives, 4, &error), error);
  must (fab_store_add_link_loads (store, loads, 2, &error), error);
  must (fab_store_add_exposures (store, exposures, 4, &error), error);
  must (fab_store_add_path (store, path, 4, &error), error);
}

static void
test_reasons (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStore) store = fab_store_new (NULL);
  gint64 id;

  begin_run (store, &id);
  write_reasons (store);
  assert_true (fab_store_commit_run (store, NULL));
  g_autoptr (JsonNode) root = told_of (store, id, 0);
  JsonObject *run = item_of (root, "runs", 0);
  assert_member (run, "exposure",
                 "[{'dimension':'tensor','op':'all_gather','bytes':50,'comm_s':6e-08,'exposed_s':1.5e-08},"
                 "{'dimension':'data','op':'all_reduce','bytes':200,'comm_s':5e-08,'exposed_s':1.5e-08}]");
  assert_member (
      run, "path",
      "[{'kind':'comm','dimension':'data','link_from':'node0/gpu0','link_to':'leaf0',"
      "'spec':'wire','time_s':5e-06},{'kind':'compute','dimension':null,'link_from':null,"
      "'link_to':null,'spec':null,'time_s':3e-06},{'kind':'load','dimension':null,'link_from':null,"
      "'link_to':null,'spec':null,'time_s':1.0005e-06}]");
  assert_member (run, "slowest", /* 300 of the 400 ps that are exposed and have a link */
                 "[{'link_from':'node0/gpu0','link_to':'leaf0','spec':'wire','parallel':2,"
                 "'rate_bytes_per_s':50,'share':0.75,'busy':0.5}]");
}

static void
test_outlook (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStore) store = fab_store_new (NULL);
  GError *error = NULL;
  gint64 id;
  FabMemoryRecord memory[] = { { 1, "parameters", 5 }, { 0, "gradients", 20 }, { 0, "parameters", 30 } };
  FabFindingRecord findings[] = { { "does_not_fit", "stops", "It does not fit.", "Recompute." },
                                  { "waits_for_network", "notes", "It waits.", NULL } };
  FabGoodputRecord goodput = { .failures = "rare",
                               .ettr_fraction = 0.875,
                               .goodput_fraction = 0.75,
                               .goodput_tokens_per_s = 12,
                               .calendar_s = 86400,
                               .lost_gpu_hours = 17,
                               .stops_per_day = 0.5,
                               .planned_per_day = 0.25,
                               .interval_s = 1800 };
  FabBandRecord bands[] = { { 1, "exposed", 0.5, 1.5, 0.9, NULL },
                            { 1, "step", 2, 3, 0.95, "links" },
                            { 0, "step", 7, 8, 0.9, NULL } };
  FabLeverRecord levers[] = { { 0, "link", "wire", "every wire twice as fast", 1, 4, 0.5, 0.25, 3, "fluid",
                                6 },
                              { 1, "compute", "compute", "faster", 0, 5, 0.75, 0.125, 1, NULL, NAN } };
  FabOutlookRecords outlook = { bands, levers, NULL, 3, 2, 0 };

  begin_run (store, &id);
  must (fab_store_add_memory (store, memory, 3, &error), error);
  add_steps (store);
  must (fab_store_add_findings (store, findings, 2, &error), error);
  must (fab_store_add_goodput (store, &goodput, &error), error);
  must (fab_store_commit_run (store, &error), error);
  must (fab_store_add_outlook (store, id, &outlook, &error), error);

  g_autoptr (JsonNode) root = told_of (store, id, 0);
  JsonObject *run = item_of (root, "runs", 0);
  assert_member (run, "memory",
                 "[{'rank_class':0,'part':'parameters','bytes':30},{'rank_class':0,'part':'gradients',"
                 "'bytes':20},{'rank_class':1,'part':'parameters','bytes':5}]");
  assert_member (
      run, "verdict",
      "[{'code':'does_not_fit','severity':'stops','text':'It does not fit.','advice':'Recompute.'},"
      "{'code':'waits_for_network','severity':'notes','text':'It waits.','advice':null}]");
  assert_member (run, "band",
                 "[{'figure':'step','low_s':2,'high_s':3,'coverage_fraction':0.95,'reason':'links'},"
                 "{'figure':'exposed','low_s':0.5,'high_s':1.5,'coverage_fraction':0.9,'reason':null}]");
  assert_member (
      run, "levers",
      "[{'kind':'link','name':'wire','change':'every wire twice as fast','limits':1,'step_s':4,"
      "'exposed_s':0.5,'saved_fraction':0.25,'n_seeds':3,'fidelity':'fluid','base_step_s':6},"
      "{'kind':'compute','name':'compute','change':'faster','limits':0,'step_s':5,'exposed_s':0.75,"
      "'saved_fraction':0.125,'n_seeds':1,'fidelity':null,'base_step_s':null}]");
  assert_member (run, "goodput",
                 "[{'failures':'rare','ettr_fraction':0.875,'calendar_s':86400,'lost_gpu_hours':17,"
                 "'stops_per_day':0.5,'interval_s':1800}]");
}

/* The entries that a run rests on, with where each stands: the node, its accelerator, the model, and the links, those
 * that carried something in the last iteration first. An entry that the catalogue does not have is left out. */
static void
test_sources (G_GNUC_UNUSED void **state)
{
  static const char *const entries[][2] = { { "node", "dgx-h100" }, { "accelerator", "h100-sxm5-80gb" },
                                            { "model", "gpt2-xl" }, { "link", "ib-ndr" },
                                            { "link", "ib-edr" },   { "link", "ib-hdr" } };
  g_autoptr (FabStore) store = fab_store_new (NULL);
  g_autoptr (FabCatalog) catalog = play_catalog ();
  FabRunRecord run = {
    .name = "x",
    .scenario_yaml = "name: x\ncluster: {node: dgx-h100, nodes: 2}\njob: {kind: ddp, model: gpt2-xl}\n",
    .version = "0.9",
    .fidelity = "fluid",
  };
  FabLinkRecord links[] = { { 0, "a", "b", "ib-hdr", 1, 1, 1 }, { 1, "b", "c", "ib-edr", 1, 1, 1 },
                            { 2, "c", "d", "wire", 1, 1, 1 },   { 3, "d", "e", "ib-ndr", 1, 1, 1 },
                            { 4, "e", "f", "ib-ndr", 1, 1, 1 }, { 5, "f", "g", "ib-hdr", 1, 1, 1 } };
  FabLinkLoadRecord loads[] = { { 0, 0, 5, 0.5 }, { 1, 3, 7, 0.5 }, { 1, 4, 7, 0.5 } };
  FabRankClassRecord classes[] = { { 0, 0, 6, "a" }, { 1, 6, 2, "b" } };
  GError *error = NULL;
  gint64 id;

  must (fab_store_begin_run (store, &run, &id, &error), error);
  must (fab_store_add_classes (store, classes, 2, &error), error);
  must (fab_store_add_links (store, links, G_N_ELEMENTS (links), &error), error);
  add_steps (store);
  must (fab_store_add_link_loads (store, loads, G_N_ELEMENTS (loads), &error), error);
  must (fab_store_commit_run (store, &error), error);
  g_autoptr (JsonNode) without = told_of (store, id, 0);
  assert_false (json_object_has_member (item_of (without, "runs", 0), "sources"));
  g_autoptr (JsonNode) root = told (
      &(FabReportRequest){ .store = store, .runs = &id, .n_runs = 1, .catalog = catalog });
  JsonArray *sources = json_object_get_array_member (item_of (root, "runs", 0), "sources");
  assert_int_equal (json_array_get_length (sources), G_N_ELEMENTS (entries));
  for (guint i = 0; i < G_N_ELEMENTS (entries); i++) {
    JsonObject *source = json_array_get_object_element (sources, i);

    assert_names (source, "section name summary source date file line");
    assert_string_equal (json_object_get_string_member (source, "section"), entries[i][0]);
    assert_string_equal (json_object_get_string_member (source, "name"), entries[i][1]);
    g_autofree char *path = g_build_filename (FAB_SOURCE_DIR, "models/catalog",
                                              json_object_get_string_member (source, "file"), NULL),
                    *text = NULL, *name = g_strdup_printf ("  - name: %s", entries[i][1]);
    must (g_file_get_contents (path, &text, NULL, &error), error);
    g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
    assert_string_equal (lines[json_object_get_int_member (source, "line") - 1], name);
  }
}

static void
test_slowest_link_where_nothing_is_exposed (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStore) store = fab_store_new (NULL);
  FabCollectiveRecord collectives[] = { collective (1, 0, 0, 400, 0), collective (1, 1, 0, 1200, 1) };
  GError *error = NULL;
  gint64 id;

  begin_run (store, &id);
  must (fab_store_add_links (store, two_links, 2, &error), error);
  add_steps (store);
  must (fab_store_add_collectives (store, collectives, 2, &error), error);
  must (fab_store_commit_run (store, &error), error);
  g_autoptr (JsonNode) root = told_of (store, id, 0);
  assert_member (item_of (root, "runs", 0), "slowest",
                 "[{'link_from':'leaf0','link_to':'node1/gpu0','spec':'cable','parallel':3,"
                 "'rate_bytes_per_s':70,'share':0.75,'busy':null}]");
}

/* --- tables and sweeps --- */

/* Of a table the page holds the first rows; one of 4096 bytes or more is packed. */
static void
test_tables (G_GNUC_UNUSED void **state)
{
  const struct {
    guint n_links, max_rows, n_runs, held;
  } cases[] = { { 3, 0, 1, 3 },     { 3, 3, 1, 3 },    { 3, 2, 1, 2 },   { 300, 0, 1, 250 },
                { 300, 0, 2, 125 }, { 300, 0, 5, 50 }, { 300, 0, 6, 50 } };

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++) {
    g_autoptr (FabStore) store = fab_store_new (NULL);
    g_autofree FabLinkRecord *links = g_new0 (FabLinkRecord, cases[k].n_links);
    g_autofree FabLinkLoadRecord *loads = g_new0 (FabLinkLoadRecord, cases[k].n_links);
    GError *error = NULL;
    gint64 ids[6];
    guint n_tables = 0;

    for (guint i = 0; i < cases[k].n_links; i++) {
      links[i] = (FabLinkRecord){ i, "node0/a", "leaf0", "ib", 1, 1, 1 };
      loads[i] = (FabLinkLoadRecord){ 1, i, 1, 1.0 / (i + 1) };
    }
    begin_run (store, &ids[0]);
    add_links (store, links, cases[k].n_links, loads, cases[k].n_links);
    must (fab_store_commit_run (store, &error), error);
    for (guint i = 1; i < 6; i++)
      ids[i] = ids[0];
    g_autoptr (JsonNode) root = told (&(FabReportRequest){ .store = store,
                                                           .runs = ids,
                                                           .n_runs = cases[k].n_runs,
                                                           .max_rows = cases[k].max_rows,
                                                           .has_tables = TRUE });
    JsonArray *tables = json_object_get_array_member (item_of (root, "runs", 0), "tables");
    for (const FabQuery *query = fab_queries; query->name != NULL; query++) {
      if (!fab_report_is_table (query, FALSE))
        continue;
      JsonObject *table = json_array_get_object_element (tables, n_tables++);

      assert_string_equal (json_object_get_string_member (table, "name"), query->name);
      assert_string_equal (json_object_get_string_member (table, "summary"), query->summary);
      if (strcmp (query->name, "links") != 0)
        continue;
      g_autofree char *sql = fab_query_sql (query),
                      *first = g_strdup_printf ("%s LIMIT %u", sql, cases[k].held);
      g_autoptr (FabTable) answer = fab_store_query (store, first, ids[0], &error);
      g_autofree char *csv = fab_table_to_csv (answer);

      assert_int_equal (json_object_get_int_member (table, "rows"), cases[k].n_links);
      assert_int_equal (json_object_get_int_member (table, "held"), cases[k].held);
      assert_int_equal (json_object_has_member (table, "packed"), strlen (csv) >= 4096);
      if (strlen (csv) < 4096)
        assert_string_equal (json_object_get_string_member (table, "csv"), csv);
    }
    assert_int_equal (n_tables, json_array_get_length (tables));
  }
}

static void
test_a_sweep (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStore) store = fab_store_new (NULL);
  const char *const nodes[] = { "1", "2", NULL }, *const batches[] = { "4", NULL };
  FabSweepAxisRecord axes[] = { { "cluster.nodes", nodes }, { "job.micro_batch", batches } };
  FabSweepRecord sweeps[] = { { "small", "A small one.", "name: small\n", "0.9", "print", axes, 2, 2 },
                              { "other", NULL, "name: other\n", "0.9", "other print", axes, 1, 2 } };
  FabSweepPointRecord points[] = { { .settings = "cluster.nodes=1",
                                     .step_s = 1,
                                     .compute_s = 2,
                                     .comm_s = 3,
                                     .overlapped_s = 4,
                                     .exposed_s = 5,
                                     .idle_s = 6,
                                     .mfu_fraction = 0.5,
                                     .tokens_per_s = 7,
                                     .train_s = 8,
                                     .memory_bytes = 9,
                                     .n_ranks = 10,
                                     .binding_link = "a to b",
                                     .binding_link_spec = "wire" },
                                   { .point = 1,
                                     .settings = "cluster.nodes=2",
                                     .step_s = NAN,
                                     .compute_s = NAN,
                                     .comm_s = NAN,
                                     .overlapped_s = NAN,
                                     .exposed_s = NAN,
                                     .idle_s = NAN,
                                     .mfu_fraction = NAN,
                                     .tokens_per_s = NAN,
                                     .train_s = NAN,
                                     .memory_bytes = FAB_RECORD_UNKNOWN,
                                     .n_ranks = FAB_RECORD_UNKNOWN,
                                     .problem = "no" } };
  GError *error = NULL;
  gint64 ids[2];

  for (guint i = 0; i < 2; i++)
    must (fab_store_open_sweep (store, &sweeps[i], &ids[i], &error), error);
  must (fab_store_add_points (store, ids[0], points, 2, NULL, &error), error);
  g_autoptr (JsonNode) root = told (&(FabReportRequest){ .store = store, .sweeps = ids, .n_sweeps = 2 });
  JsonObject *sweep = item_of (root, "sweeps", 0);
  assert_member (json_node_get_object (root), "runs", "[]");
  assert_names (sweep, "sweep name summary version scenario whole axes columns points");
  assert_member (sweep, "sweep", "1");
  assert_member (sweep, "name", "'small'");
  assert_member (sweep, "summary", "'A small one.'");
  assert_member (sweep, "version", "'0.9'");
  assert_member (sweep, "scenario", "'name: small\\n'");
  assert_member (sweep, "whole", "2");
  assert_member (sweep, "axes",
                 "[{'key':'cluster.nodes','values':['1','2']},{'key':'job.micro_batch','values':['4']}]");
  assert_member (
      sweep, "columns",
      "['point','step_s','compute_s','comm_s','overlapped_s','exposed_s','idle_s','mfu_fraction',"
      "'tokens_per_s','train_s','memory_bytes','ranks','binding_link','binding_link_spec','problem']");
  assert_member (sweep, "points",
                 "[[0,1,2,3,4,5,6,0.5,7,8,9,10,'a to b','wire',null],"
                 "[1,null,null,null,null,null,null,null,null,null,null,null,null,null,'no']]");
  assert_member (item_of (root, "sweeps", 1), "name", "'other'");
  assert_member (item_of (root, "sweeps", 1), "summary", "null");
  assert_member (item_of (root, "sweeps", 1), "points", "[]");
  assert_member (item_of (root, "sweeps", 1), "axes", "[{'key':'cluster.nodes','values':['1','2']}]");
}

static void
test_a_run_without_an_iteration (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStore) store = fab_store_new (NULL);
  g_autoptr (GError) error = NULL;
  gint64 id;

  begin_run (store, &id);
  assert_true (fab_store_commit_run (store, NULL));
  assert_null (fab_report_data (&(FabReportRequest){ .store = store, .runs = &id, .n_runs = 1 }, &error));
  assert_string_equal (error->message, "run 1 has no iteration");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_head),
    cmocka_unit_test (test_times_of_iterations_and_classes),
    cmocka_unit_test (test_reasons),
    cmocka_unit_test (test_outlook),
    cmocka_unit_test (test_sources),
    cmocka_unit_test (test_slowest_link_where_nothing_is_exposed),
    cmocka_unit_test (test_tables),
    cmocka_unit_test (test_a_sweep),
    cmocka_unit_test (test_a_run_without_an_iteration),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
