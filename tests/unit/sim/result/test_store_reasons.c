/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_reasons.c - why a step takes as long as it does, into SQLite and out of it: shares of exposed time, the
 * critical path, memory, samples and queues of links. The numbers behind the expectations: store_support.h. */
#include "tests/unit/sim/result/store_support.h"

static void
reasons_that_go_in_come_out (void **state)
{
  g_autofree char *path = file_in (state, "a.db");

  assert_true (write_run (path, 3, NULL));
  assert_answer (
      path,
      "SELECT run_id, iteration, rank_class, dimension, op, n_collectives, bytes, comm_ps, exposed_ps,"
      " exposed_inter_node_ps, waiting_ps FROM exposure WHERE iteration = 1 AND dimension = 'tensor'",
      "run_id,iteration,rank_class,dimension,op,n_collectives,bytes,comm_ps,exposed_ps,"
      "exposed_inter_node_ps,waiting_ps\n"
      "1,1,0,tensor,all_reduce,1,1000000000,200000000000,50000000000,0,10000000000\n");
  assert_answer (
      path, "SELECT * FROM critical_path WHERE iteration = 1 AND place > 0",
      "run_id,iteration,place,rank_class,stream,kind,name,start_ps,end_ps,collective,binding_link\n"
      "1,1,1,0,compute,compute,backward,1300000000000,1800000000000,,\n"
      "1,1,2,1,comm,comm,all_reduce bucket0,1800000000000,2000000000000,0,1\n");
  assert_answer (path, "SELECT * FROM link_sample WHERE iteration = 0",
                 "run_id,iteration,link,start_ps,end_ps,bytes_per_s\n1,0,1,0,200000000000,5000000000\n"
                 "1,0,1,250000000000,450000000000,4000000000\n");
  assert_answer (path, "SELECT * FROM memory",
                 "run_id,rank_class,part,bytes\n1,0,optimizer,40000000000\n1,0,parameters,20000000000\n"
                 "1,1,parameters,8000000000\n");
  assert_answer (path, "SELECT * FROM link_queue",
                 "run_id,link,carried_bytes,most_queue_bytes,mean_queue_bytes,n_stalls,n_marks,n_pauses,"
                 "n_drops\n1,0,4000,0,0,12,0,3,0\n1,1,3500,900,250.5,0,5,0,2\n");
  assert_answer (path, "SELECT name, dimension FROM collective WHERE iteration = 0",
                 "name,dimension\nbucket0,data\nbucket1,tensor\n");
  assert_answer (path, "SELECT name FROM rank_class", "name\nmost\nlast\n");
}

/* 150 ms of a step of 1 s, of 300 ms of communication; 40 GB of 80. */
static void
views_say_which_part_of_what (void **state)
{
  g_autofree char *path = file_in (state, "a.db");

  assert_true (write_run (path, 3, NULL));
  assert_answer (
      path,
      "SELECT run_id, iteration, rank_class, class_name, n_ranks, dimension, op, n_collectives, bytes,"
      " comm_us, exposed_us, exposed_pct_of_step, exposed_pct_of_comm, exposed_inter_node_us, waiting_us"
      " FROM v_exposure WHERE iteration = 0 AND rank_class = 0",
      "run_id,iteration,rank_class,class_name,n_ranks,dimension,op,n_collectives,bytes,comm_us,"
      "exposed_us,exposed_pct_of_step,exposed_pct_of_comm,exposed_inter_node_us,waiting_us\n"
      "1,0,0,most,3,data,all_reduce,1,1000000000,300000,150000,15,50,150000,40000\n"
      "1,0,0,most,3,tensor,all_reduce,1,1000000000,200000,50000,5,25,0,10000\n");
  assert_answer (
      path, "SELECT * FROM v_critical_path WHERE iteration = 0",
      "run_id,iteration,kind,dimension,link,from_vertex,to_vertex,spec,n_spans,time_us,pct_of_step\n"
      "1,0,comm,data,1,leaf0,node1/gpu0,ib_ndr,1,200000,20\n"
      "1,0,compute,,,,,,2,800000,80\n");
  assert_answer (path, "SELECT * FROM v_memory WHERE rank_class = 0",
                 "run_id,rank_class,class_name,n_ranks,part,gb,pct_of_memory\n"
                 "1,0,most,3,optimizer,40,50\n1,0,most,3,parameters,20,25\n");
}

/* Figures that no view names come into it by themselves. */
static void
views_end_with_every_other_figure (void **state)
{
  g_autofree char *path = file_in (state, "a.db"), *pace = fab_query_sql (fab_query_find ("pace"));

  assert_true (write_run (path, 3, NULL));
  assert_answer (
      path, pace,
      "binding_from,binding_to,binding_link_spec,binding_busy_fraction,startup_fraction,ends_fraction,"
      "binding_fraction\nleaf0,node1/gpu0,ib_ndr,0.5,0.25,0.125,0.75\n");
  assert_answer (path, "SELECT waits_for_ends, alone_us FROM v_collective WHERE iteration = 0",
                 "waits_for_ends,alone_us\n0,160000\n0,160000\n");
  assert_answer (path, "SELECT ettr_fraction, goodput_tokens_per_s, choices FROM v_sweep_point",
                 "ettr_fraction,goodput_tokens_per_s,choices\n");
}

/* Of one run, the longest first. */
static void
queues_are_asked_of_one_run (void **state)
{
  g_autofree char *path = file_in (state, "a.db");

  assert_true (write_run (path, 3, NULL) && write_run (path, 3, NULL));
  assert_answer (path, fab_query_find ("queues")->sql,
                 "link,from_vertex,to_vertex,spec,carried_bytes,most_queue_bytes,mean_queue_bytes,n_stalls,"
                 "n_marks,n_pauses,n_drops\n"
                 "1,leaf0,node1/gpu0,ib_ndr,3500,900,250.5,0,5,0,2\n"
                 "0,node0/gpu0,leaf0,ib_ndr,4000,0,0,12,0,3,0\n");
}

/* 40 collectives, of which 10 were played. */
static void
what_was_played_is_asked_of_one_run (void **state)
{
  g_autofree char *path = file_in (state, "a.db");

  assert_true (write_run (path, 3, NULL) && write_run (path, 3, NULL));
  assert_answer (
      path, fab_query_find ("memo")->sql,
      "n_collectives,n_collectives_remembered,n_episodes,n_episodes_remembered,n_replays,n_events,n_skipped\n"
      "40,30,8,5,1,9000,700\n");
  assert_answer (path, "SELECT count (*) FROM memo", "count (*)\n2\n");
}

/* The run stays as it was when what is added to it is refused. */
static void
an_outlook_is_added_to_a_run_that_is_stored (void **state)
{
  const FabBandRecord bands[] = { { 0, "step", 0.5, 2, 0.9, "collectives (2 tables of lab)" },
                                  { 0, "exposed", 0.25, 1.5, 0.9, NULL } };
  const FabLeverRecord lever = { 0, "link",  "ib_ndr", "every ib_ndr twice as fast", 1, 0.75, 0.125, 0.25,
                                 8, "fluid", 1.5 };
  const FabFindingRecord finding = { "waits_for_network", "notes", "The step is limited by ib_ndr.", NULL };
  g_autofree char *path = file_in (state, "a.db");
  g_autoptr (FabStore) store = NULL;

  assert_true (write_run (path, 3, NULL) && write_run (path, 3, NULL));
  store = fab_store_open (path, FAB_STORE_WRITE, NULL);
  assert_true (
      fab_store_add_outlook (store, 2, &(FabOutlookRecords){ bands, &lever, &finding, 2, 1, 1 }, NULL));
  assert_false (fab_store_add_outlook (store, 2, &(FabOutlookRecords){ .bands = bands, .n_bands = 1 },
                                       NULL)); /* it is there already */
  fab_store_free (g_steal_pointer (&store));
  assert_answer (path, fab_query_find ("band")->sql,
                 "iteration,figure,low_s,high_s,coverage_fraction,reason\n"
                 "0,step,0.5,2,0.9,collectives (2 tables of lab)\n"
                 "0,exposed,0.25,1.5,0.9,\n");
  assert_answer (
      path, "SELECT run_id, place, name, limits, step_s, saved_fraction, fidelity, base_step_s FROM lever",
      "run_id,place,name,limits,step_s,saved_fraction,fidelity,base_step_s\n"
      "2,0,ib_ndr,1,0.75,0.25,fluid,1.5\n");
  assert_answer (path, "SELECT run_id, code, text FROM finding WHERE run_id = 2",
                 "run_id,code,text\n2,waits_for_network,The step is limited by ib_ndr.\n");
}

/* docs/reference/results-schema.md, "Tables". */
static void
a_run_can_be_dropped_as_documented (void **state)
{
  g_autofree char *path = file_in (state, "a.db");
  g_autoptr (FabStore) store = NULL;

  assert_true (write_run (path, 3, NULL) && write_run (path, 3, NULL));
  store = fab_store_open (path, FAB_STORE_WRITE, NULL);
  assert_true (
      fab_store_exec (store,
                      "PRAGMA foreign_keys = 1;"
                      "DELETE FROM link_sample WHERE run_id = 1; DELETE FROM critical_path WHERE run_id = 1;"
                      "DELETE FROM link_load WHERE run_id = 1; DELETE FROM span WHERE run_id = 1;"
                      "DELETE FROM collective WHERE run_id = 1; DELETE FROM run WHERE run_id = 1",
                      "drop", NULL));
  fab_store_free (g_steal_pointer (&store));
  assert_answer (path,
                 "SELECT count (*) AS n FROM exposure UNION ALL SELECT count (*) FROM memory UNION ALL "
                 "SELECT count (*) FROM critical_path UNION ALL SELECT count (*) FROM link_sample UNION ALL "
                 "SELECT count (*) FROM link_queue",
                 "n\n6\n3\n6\n4\n2\n");
}

/* As `name`: so that nobody has to look for what a column means. */
static void
every_column_and_question_is_on_its_page (void **state)
{
  static const char sql[] = "SELECT m.name, p.name FROM sqlite_schema AS m, pragma_table_info (m.name) AS p"
                            " WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'";
  g_autofree char *path = file_in (state, "a.db"), *page = NULL;
  g_autoptr (FabStore) store = NULL;
  g_autoptr (FabTable) columns = NULL;

  assert_true (g_file_get_contents (FAB_SOURCE_DIR "/docs/reference/results-schema.md", &page, NULL, NULL));
  assert_true (write_run (path, 3, NULL));
  store = fab_store_open (path, FAB_STORE_READ, NULL);
  columns = fab_store_query (store, sql, 0, NULL);
  assert_true (columns != NULL && columns->n_rows > 100);
  for (guint i = 0; i < columns->n_rows; i++)
    for (guint part = 0; part < 2; part++) {
      g_autofree char *name = g_strdup_printf ("`%s`", fab_table_cell (columns, i, part)->text);

      if (strstr (page, name) == NULL)
        fail_msg ("docs/reference/results-schema.md does not say %s", name);
    }
  for (const FabQuery *query = fab_queries; query->name != NULL; query++) {
    g_autofree char *row = g_strdup_printf ("\n| `%s`", query->name);

    if (strstr (page, row) == NULL)
      fail_msg ("docs/reference/results-schema.md has no question %s", query->name);
  }
}

#define store_test(f) cmocka_unit_test_setup_teardown (f, set_up_directory, tear_down_directory)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    store_test (reasons_that_go_in_come_out),
    store_test (views_end_with_every_other_figure),
    store_test (views_say_which_part_of_what),
    store_test (queues_are_asked_of_one_run),
    store_test (an_outlook_is_added_to_a_run_that_is_stored),
    store_test (what_was_played_is_asked_of_one_run),
    store_test (an_outlook_is_added_to_a_run_that_is_stored),
    store_test (a_run_can_be_dropped_as_documented),
    store_test (every_column_and_question_is_on_its_page),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
