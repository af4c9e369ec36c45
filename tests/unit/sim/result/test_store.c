/* SPDX-License-Identifier: Apache-2.0 */
/* test_store.c - runs into SQLite and questions out of it. What can go wrong with files and
 * processes: test_store_trouble.c. The numbers behind the expectations: store_support.h. */
#include "tests/unit/sim/result/store_support.h"

static void
what_goes_in_comes_out (void **state)
{
  g_autofree char *path = file_in (state, "a.db");

  assert_true (write_run (path, 3, NULL));
  assert_answer (
      path, "SELECT * FROM run",
      "run_id,name,scenario_yaml,version,fidelity,seed,n_ranks,n_nodes,peak_flops_per_s,"
      "memory_bytes,train_tokens\n"
      "1,sample,\"name: sample\nseed: 7\n\",0.1,fluid,7,4,2,312000000000000,80000000000,1000000000000\n");
  assert_answer (path, "SELECT rank_class, first_rank, n_ranks FROM rank_class",
                 "rank_class,first_rank,n_ranks\n0,0,3\n1,3,1\n");
  assert_answer (path, "SELECT * FROM link WHERE link = 1",
                 "run_id,link,from_vertex,to_vertex,spec,n_parallel,line_rate_bytes_per_s,latency_ps\n"
                 "1,1,leaf0,node1/gpu0,ib_ndr,2,50000000000,600000\n");
  assert_answer (path,
                 "SELECT start_ps, step_ps, compute_ps, comm_ps, overlapped_ps, exposed_ps, idle_ps,"
                 " waiting_ps, exposed_inter_node_ps, mfu_fraction, hfu_fraction, tokens_per_s"
                 " FROM iteration WHERE iteration = 1",
                 "start_ps,step_ps,compute_ps,comm_ps,overlapped_ps,exposed_ps,idle_ps,"
                 "waiting_ps,exposed_inter_node_ps,mfu_fraction,hfu_fraction,tokens_per_s\n"
                 "1000000000000,1000000000000,600000000000,500000000000,300000000000,200000000000,"
                 "200000000000,50000000000,150000000000,0.4,0.5,1000000\n");
  assert_answer (path, "SELECT iteration, rank_class, exposed_ps FROM iteration_class",
                 "iteration,rank_class,exposed_ps\n0,0,200000000000\n0,1,200000000000\n"
                 "1,0,200000000000\n1,1,200000000000\n");
  assert_answer (path,
                 "SELECT name, protocol, ready_ps, start_ps, end_ps, binding_link FROM collective LIMIT 2",
                 "name,protocol,ready_ps,start_ps,end_ps,binding_link\n"
                 "bucket0,,0,0,200000000000,1\nbucket1,,240000000000,250000000000,450000000000,\n");
  assert_answer (path,
                 "SELECT span, iteration, rank_class, kind, stream, start_ps, collective FROM span LIMIT 4",
                 "span,iteration,rank_class,kind,stream,start_ps,collective\n"
                 "0,0,0,compute,compute,0,\n1,0,1,comm,comm,1,1\n2,0,0,compute,compute,2,\n"
                 "3,1,0,compute,compute,1000000000000,\n");
  assert_answer (path, "SELECT iteration, link, bytes, busy_fraction FROM link_load WHERE iteration = 1",
                 "iteration,link,bytes,busy_fraction\n1,0,1000,0.25\n1,1,2000,1\n");
}

/* More rows than one statement takes, and not a multiple of it. */
static void
every_row_of_a_batch_is_stored_once_and_in_order (void **state)
{
  g_autofree char *path = file_in (state, "a.db");

  assert_true (write_run (path, 1000, NULL));
  assert_answer (path, "SELECT count (*), sum (span), sum (start_ps % 1000), max (span) FROM span",
                 "count (*),sum (span),sum (start_ps % 1000),max (span)\n2000,1999000,999000,1999\n");
}

/* exposed 0.2 s of a step of 1 s is 20 %, of 0.5 s of communication 40 %; overlapped 0.3 of 0.5 is 60 %. */
static void
views_speak_seconds_and_percent (void **state)
{
  g_autofree char *path = file_in (state, "a.db");

  assert_true (write_run (path, 3, NULL));
  assert_answer (
      path,
      "SELECT run_id, iteration, step_s, compute_s, comm_s, overlapped_s, exposed_s, idle_s, compute_pct, comm_pct,"
      " overlapped_pct, exposed_pct, idle_pct, waiting_s, waiting_pct, exposed_inter_node_s, mfu_pct, hfu_pct,"
      " tokens_per_s FROM v_step WHERE iteration = 0",
      "run_id,iteration,step_s,compute_s,comm_s,overlapped_s,exposed_s,idle_s,compute_pct,comm_pct,"
      "overlapped_pct,exposed_pct,idle_pct,waiting_s,waiting_pct,exposed_inter_node_s,mfu_pct,hfu_pct,tokens_per_s\n"
      "1,0,1,0.6,0.5,0.3,0.2,0.2,60,50,30,20,20,0.05,5,0.15,40,50,1000000\n");
  assert_answer (path, "SELECT * FROM v_exposed WHERE iteration = 1",
                 "run_id,iteration,step_s,comm_s,exposed_s,exposed_pct_of_step,exposed_pct_of_comm\n"
                 "1,1,1,0.5,0.2,20,40\n");
  assert_answer (path, "SELECT * FROM v_overlap WHERE iteration = 0 AND rank_class = 1",
                 "run_id,iteration,rank_class,first_rank,n_ranks,idle_time_us,compute_time_us,"
                 "non_compute_time_us,kernel_time_us,idle_time_pctg,compute_time_pctg,non_compute_time_pctg,"
                 "comp_comm_overlap_pctg\n"
                 "1,0,1,3,1,200000,600000,200000,1000000,20,60,20,60\n");
}

/* Four collectives of 200 ms; those of index 0 are bound by link 1, the others by none. */
static void
views_add_up_collectives (void **state)
{
  g_autofree char *path = file_in (state, "a.db");

  assert_true (write_run (path, 3, NULL));
  assert_answer (
      path,
      "SELECT name, bytes, wait_us, time_us, algbw_gb_per_s, busbw_gb_per_s, binding_from, binding_to "
      "FROM v_collective WHERE iteration = 1",
      "name,bytes,wait_us,time_us,algbw_gb_per_s,busbw_gb_per_s,binding_from,binding_to\n"
      "bucket0,1000000000,0,200000,5,7.5,leaf0,node1/gpu0\n"
      "bucket1,1000000000,10000,200000,5,7.5,,\n");
  assert_answer (
      path, "SELECT * FROM v_collective_total WHERE name = 'bucket1'",
      "run_id,op,name,n_collectives,bytes,time_us,wait_us,exposed_us,algbw_gb_per_s,busbw_gb_per_s\n"
      "1,all_reduce,bucket1,2,2000000000,400000,20000,200000,5,7.5\n");
  assert_answer (path, "SELECT * FROM v_binding ORDER BY link",
                 "run_id,link,from_vertex,to_vertex,spec,n_collectives,time_us,exposed_us,"
                 "time_pct_of_collectives\n"
                 "1,,,,,2,400000,200000,50\n1,1,leaf0,node1/gpu0,ib_ndr,2,400000,200000,50\n");
}

static void
views_rank_links_and_name_tasks (void **state)
{
  g_autofree char *path = file_in (state, "a.db");

  assert_true (write_run (path, 2, NULL));
  assert_answer (path,
                 "SELECT busy_place, link, from_vertex, line_rate_gb_per_s, payload_gb_per_s, busy_pct "
                 "FROM v_link_busy WHERE iteration = 0 ORDER BY busy_place",
                 "busy_place,link,from_vertex,line_rate_gb_per_s,payload_gb_per_s,busy_pct\n"
                 "1,1,leaf0,50,2e-06,50\n2,0,node0/gpu0,50,1e-06,25\n");
  assert_answer (path,
                 "SELECT rank_class, n_ranks, stream, kind, name, duration_us, op, bytes FROM v_timeline "
                 "WHERE iteration = 1",
                 "rank_class,n_ranks,stream,kind,name,duration_us,op,bytes\n"
                 "0,3,compute,compute,layer,1e-06,,\n1,1,comm,comm,layer,1e-06,all_reduce,1000000000\n");
}

/* No FLOP/s to compare with, no time to divide by: NULL, not 0 and not infinity. */
static void
a_share_of_nothing_is_null (void **state)
{
  g_autofree char *path = file_in (state, "a.db");
  g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_WRITE, NULL);
  FabRunRecord run = { "bench", "", "0.1", "fluid", 0, 1, 1, 0, 0, 0 };
  FabStepRecord step = { .times.iteration = 0 };

  assert_true (fab_store_begin_run (store, &run, NULL, NULL));
  assert_true (fab_store_add_steps (store, &step, 1, NULL));
  assert_true (fab_store_commit_run (store, NULL));
  assert_answer (path, "SELECT step_s, exposed_pct, mfu_pct FROM v_step",
                 "step_s,exposed_pct,mfu_pct\n0,,\n");
}

/* Flow i of 1000, of 5 kB for odd i and of 2 MB for even, takes i us, half of which it would take alone for i <= 500,
 * and a quarter above. */
static void
flows_are_told_in_percentiles (void **state)
{
  g_autofree char *path = file_in (state, "a.db");
  g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_WRITE, NULL);
  FabRunRecord run = { "flows", "", "0.1", "packet", 0, 1, 1, 0, 0, 0 };
  FabStepRecord step = { .times.iteration = 0 };

  assert_true (fab_store_begin_run (store, &run, NULL, NULL));
  assert_true (fab_store_add_steps (store, &step, 1, NULL));
  for (guint i = 1; i <= 1000; i++) {
    FabCollectiveRecord flow = { .index = i,
                                 .name = "flow",
                                 .op = "send_recv",
                                 .dimension = "other",
                                 .bytes = i % 2 == 1 ? 5000 : 2000000,
                                 .end_ps = i * G_GINT64_CONSTANT (1000000),
                                 .alone_ps = i * G_GINT64_CONSTANT (1000000) / (i <= 500 ? 2 : 4),
                                 .binding_link = FAB_RECORD_NO_LINK };

    assert_true (fab_store_add_collectives (store, &flow, 1, NULL));
  }
  assert_true (fab_store_commit_run (store, NULL));
  g_autofree char *sql = fab_query_sql (fab_query_find ("flows"));
  g_autoptr (FabTable) table = fab_store_query (store, sql, 0, NULL);
  assert_non_null (table);
  g_autofree char *csv = fab_table_to_csv (table);
  assert_string_equal (
      csv, "size,n_flows,bytes,fct_p50_us,slowdown_p50,fct_p90_us,slowdown_p90,fct_p99_us,slowdown_p99,"
           "fct_p99_9_us,slowdown_p99_9,fct_most_us,slowdown_most\n"
           "up to 10 kB,500,2500000,499,2,899,4,989,4,999,4,999,4\n"
           "above 1 MB,500,1000000000,500,2,900,4,990,4,1000,4,1000,4\n"
           "all,1000,1002500000,500,2,900,4,990,4,999,4,1000,4\n");
}

/* Two runs, so that a query that forgot :run would show double. */
static void
every_named_query_answers (void **state)
{
  g_autofree char *path = file_in (state, "a.db");
  g_autoptr (FabStore) store = NULL;

  assert_true (write_run (path, 4, NULL) && write_run (path, 4, NULL) && write_sweep (path, NULL));
  store = fab_store_open (path, FAB_STORE_WRITE, NULL);
  for (gint64 run = 1; run <= 2; run++)
    assert_true (fab_store_add_outlook (
        store, run,
        &(FabOutlookRecords){ .bands = &(FabBandRecord){ 0, "step", 1, 2, 0.9, NULL }, .n_bands = 1 }, NULL));
  fab_store_free (g_steal_pointer (&store));
  store = fab_store_open (path, FAB_STORE_READ, NULL);
  for (const FabQuery *query = fab_queries; query->name != NULL; query++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *sql = fab_query_sql (query);
    g_autoptr (FabTable) last = fab_store_query (store, sql, 0, &error);
    g_autoptr (FabTable) first = fab_store_query (store, sql, 1, NULL);

    if (last == NULL)
      fail_msg ("%s: %s", query->name, error->message);
    assert_true (last->n_rows > 0 || strcmp (query->name, "flows") == 0); /* the run has none */
    assert_int_equal (last->n_rows, first->n_rows);
    assert_true (g_str_has_suffix (query->summary, "."));
    assert_ptr_equal (fab_query_find (query->name), query);
  }
  assert_null (fab_query_find ("exposures"));
}

static void
run_ids_count_from_one_and_zero_is_the_last (void **state)
{
  g_autofree char *path = file_in (state, "a.db");
  g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_WRITE, NULL);
  g_autoptr (GError) error = NULL;

  for (gint64 i = 1; i <= 3; i++) {
    gint64 run_id = 0;

    assert_true (add_head (store, &run_id, NULL) && fab_store_commit_run (store, NULL));
    assert_int_equal (run_id, i);
  }
  assert_answer (path, "SELECT :run", ":run\n3\n");
  assert_null (fab_store_query (store, "SELECT :run", 4, &error));
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
  assert_says (error, "no run 4 in ");
  assert_says (error, "a.db; the last one is 3, and `fabricast query runs` lists them");
}

static void
reading_is_all_that_a_query_may_do (void **state)
{
  static const struct {
    const char *sql, *says;
  } bad[] = {
    { "DELETE FROM run", "only reading" },
    { "INSERT INTO run SELECT * FROM run", "only reading" },
    { "PRAGMA user_version = 4", "only reading" },
    { "PRAGMA writable_schema = 1", "only reading" },
    { "ATTACH 'other.db' AS o", "only reading" },
    { "VACUUM INTO 'other.db'", "only reading" },
    { "BEGIN", "only reading" },
    { "CREATE TEMP TABLE t (x)", "only reading" },
    { "UPDATE sqlite_schema SET sql = ''", "may not be modified" },
    { "SELECT * FROM pragma_journal_mode", "only reading" },
    { "SELECT load_extension ('x')", "not authorized" },
    { "SELECT fts3_tokenizer ('simple')", "not authorized to use function: fts3_tokenizer" },
    { "SELECT 1; SELECT 2", "more than one statement" },
    { "SELECT 1; nonsense", "more than one statement" },
    { "", "the query is empty" },
    { " ; -- nothing\n", "the query is empty" },
    { "SELEC 1", "the query is wrong: near \"SELEC\": syntax error" },
    { "SELECT speed FROM run",
      "the query is wrong: no such column: speed; docs/reference/results-schema.md" },
    { "SELECT :rank", "uses the parameter :rank, which has no value; only :run and :sweep have one" },
    { "SELECT ?", "uses the parameter ?, which" },
  };
  g_autofree char *path = file_in (state, "a.db");
  g_autoptr (FabStore) store = NULL;

  assert_true (write_run (path, 2, NULL));
  store = fab_store_open (path, FAB_STORE_WRITE, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;

    assert_null (fab_store_query (store, bad[i].sql, 0, &error));
    assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
    assert_says (error, bad[i].says);
  }
  assert_answer (path, "SELECT count (*) FROM run", "count (*)\n1\n");
}

static void
a_query_may_be_any_select (void **state)
{
  g_autofree char *path = file_in (state, "a.db");

  assert_true (write_run (path, 2, NULL));
  assert_answer (path, "-- first\n; SELECT 1 AS x; -- last\n ;", "x\n1\n");
  assert_answer (path,
                 "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 3) SELECT * FROM c",
                 "x\n1\n2\n3\n");
  assert_answer (path, "SELECT value FROM json_each ('[1, \"a\"]')", "value\n1\na\n");
  assert_answer (path, "SELECT name FROM pragma_table_info ('rank_class')",
                 "name\nrun_id\nrank_class\nfirst_rank\nn_ranks\nname\n");
  assert_answer (path, "SELECT 0.1 AS a, 0.1 + 0.2 AS b, 1e300 * 1e300 AS c, x'' AS d, NULL AS e",
                 "a,b,c,d,e\n0.1,0.30000000000000004,inf,\"\",\n");
}

/* A query that has more rows, or takes longer, is refused, and the next one is answered. */
static void
a_query_ends_at_its_limits (void **state)
{
  g_autofree char *path = file_in (state, "a.db");
  const struct {
    const char *sql, *says;
  } bad[] = {
    { "SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3", "more than 2 rows" },
    { "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count (*) FROM c",
      "has not ended within 1 s" },
  };

  assert_true (write_run (path, 2, NULL));
  g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_READ, NULL);
  fab_store_limit_queries (store, 2, 1);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;

    assert_null (fab_store_query (store, bad[i].sql, 0, &error));
    assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
    assert_says (error, bad[i].says);
    g_autofree char *two = ask_store (store, "SELECT 1 AS x UNION ALL SELECT 2", 0);
    assert_string_equal (two, "x\n1\n2\n");
  }
  FabStore *none = NULL;
  assert_true (fab_store_close (&none, NULL)); /* what was never opened */
  for (guint hours = 0; hours < 2; hours++) {  /* any number of rows, and time enough for a million steps */
    fab_store_limit_queries (store, 0, hours * 3600);
    g_autofree char *many = ask_store (
        store,
        "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 50000) SELECT max (x) FROM c",
        0);
    assert_string_equal (many, "max (x)\n50000\n");
  }
}

/* The dump of one file: what is defined, and every row of every table. */
static char *
dump (const char *path)
{
  g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_READ, NULL);
  g_autoptr (FabTable) tables = fab_store_query (
      store, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", 0, NULL);
  GString *out = g_string_new (NULL);
  g_autofree char *schema = ask_store (store, "SELECT type, name, sql FROM sqlite_schema", 0);

  g_string_append (out, schema);
  for (guint i = 0; i < tables->n_rows; i++) {
    g_autofree char *sql = g_strconcat ("SELECT * FROM ", fab_table_cell (tables, i, 0)->text, NULL);
    g_autofree char *rows = ask_store (store, sql, 0);

    g_string_append (out, rows);
  }
  return g_string_free (out, FALSE);
}

/* The second file is written by one store, and had a failed run in between. */
static void
the_same_records_give_the_same_bytes (void **state)
{
  g_autofree char *path_a = file_in (state, "a.db"), *path_b = file_in (state, "b.db");
  g_autoptr (FabStore) store = fab_store_open (path_b, FAB_STORE_WRITE, NULL);
  g_autofree char *a = NULL, *b = NULL;

  assert_true (write_run (path_a, 100, NULL) && write_run (path_a, 101, NULL));
  assert_true (add_run (store, 100, NULL));
  assert_true (add_head (store, NULL, NULL) && add_iteration (store, 0, 50, NULL));
  fab_store_abandon_run (store);
  assert_true (add_run (store, 101, NULL) && fab_store_close (&store, NULL));
  a = dump (path_a);
  b = dump (path_b);
  assert_true (strlen (a) > 10000);
  assert_string_equal (a, b);
}

static void
a_refused_row_drops_its_run_and_no_other (void **state)
{
  g_autofree char *path = file_in (state, "a.db");
  g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_WRITE, NULL);
  g_autoptr (GError) error = NULL;
  FabLinkLoadRecord load = { .iteration = 0, .link = 99, .bytes = 1, .busy_fraction = 0.5 };

  assert_true (add_run (store, 2, NULL) && add_head (store, NULL, NULL) && add_iteration (store, 0, 2, NULL));
  assert_false (fab_store_add_link_loads (store, &load, 1, &error));
  assert_says (error, "a.db: cannot store link loads (from row 1 of 1): ");
  assert_says (error, "FOREIGN KEY constraint failed");
  assert_says (error, "nothing of this run was kept");
  assert_true (add_run (store, 2, NULL));
  assert_answer (path, "SELECT run_id FROM run", "run_id\n1\n2\n");
}

/* As a loader does that works one iteration ahead. */
static void
a_span_may_come_before_its_iteration (void **state)
{
  g_autofree char *path = file_in (state, "a.db");
  g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_WRITE, NULL);
  FabSpanRecord load = { 1, 0, FAB_SPAN_LOAD, "loader", "batch1", 0, MS, -1 };

  assert_true (add_head (store, NULL, NULL) && add_iteration (store, 0, 0, NULL));
  assert_true (fab_store_add_spans (store, &load, 1, NULL));
  assert_true (add_iteration (store, 1, 0, NULL) && fab_store_commit_run (store, NULL));
  assert_answer (path, "SELECT iteration, kind, name FROM v_timeline",
                 "iteration,kind,name\n1,load,batch1\n");
}

/* A reader or a backup that takes the file alone, without the log beside it, finds every run that was kept. */
static void
a_kept_run_is_in_the_file_itself (void **state)
{
  g_autofree char *path = file_in (state, "a.db"), *copy = file_in (state, "copy.db"), *bytes = NULL;
  g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_WRITE, NULL);
  gsize n_bytes;

  assert_true (add_run (store, 10, NULL));
  assert_true (g_file_get_contents (path, &bytes, &n_bytes, NULL));
  assert_true (g_file_set_contents (copy, bytes, (gssize) n_bytes, NULL));
  g_autoptr (FabStore) other = fab_store_open (copy, FAB_STORE_READ, NULL);
  g_autoptr (FabTable) runs = fab_store_query (other, "SELECT count (*) FROM span", 0, NULL);
  assert_int_equal (fab_table_cell (runs, 0, 0)->integer, 20); /* of two iterations */
}

int
main (void)
{
#define store_test(f) cmocka_unit_test_setup_teardown (f, set_up_directory, tear_down_directory)
  const struct CMUnitTest tests[] = {
    store_test (what_goes_in_comes_out),
    store_test (every_row_of_a_batch_is_stored_once_and_in_order),
    store_test (views_speak_seconds_and_percent),
    store_test (views_add_up_collectives),
    store_test (views_rank_links_and_name_tasks),
    store_test (a_share_of_nothing_is_null),
    store_test (every_named_query_answers),
    store_test (flows_are_told_in_percentiles),
    store_test (run_ids_count_from_one_and_zero_is_the_last),
    store_test (reading_is_all_that_a_query_may_do),
    store_test (a_query_may_be_any_select),
    store_test (a_query_ends_at_its_limits),
    store_test (the_same_records_give_the_same_bytes),
    store_test (a_refused_row_drops_its_run_and_no_other),
    store_test (a_span_may_come_before_its_iteration),
    store_test (a_kept_run_is_in_the_file_itself),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
