/* SPDX-License-Identifier: Apache-2.0 */
/* test_collective_request.c - ranks, sizes and edits of a request in the terms of nccl-tests; all mistakes at once. */
#include "answer/collective_request.h"

#include "answer/nccl_env.h"
#include "models/models.h"
#include "tests/support/test.h"

#define CATALOG FAB_SOURCE_DIR "/models/catalog"

static int
setup (void **state)
{
  *state = fab_catalog_load (CATALOG, &fab_models, NULL);
  return *state ? 0 : -1;
}

static int
teardown (void **state)
{
  fab_catalog_free (*state);
  return 0;
}

static FabCollectiveRequest
request (void)
{
  return (FabCollectiveRequest){ .node = "dgx-a100",
                                 .op = FAB_OP_ALL_GATHER,
                                 .type = fab_nccl_type ("float"),
                                 .range = { 1 << 10, 4 << 10, 0, 2 } };
}

/* 1 KiB over 8 ranks is 128 B for each, which is a multiple of 16; so are 2 and 4 KiB. */
static void
test_sizes_by_a_factor (void **state)
{
  FabCollectiveRequest asked = request ();
  g_autoptr (FabDiagnostics) problems = fab_diagnostics_new ();
  g_autoptr (FabCollectiveCase) run = fab_collective_case_new (&asked, *state, problems);

  assert_non_null (run);
  assert_int_equal (run->n_ranks, 8);
  assert_int_equal (run->gpus_per_process, 8);
  assert_int_equal (run->sizes->len, 3);
  assert_int_equal (g_array_index (run->sizes, FabBytes, 2), 4 << 10);
  assert_int_equal (g_array_index (run->counts, guint64, 2), (4 << 10) / 4 / 8);
  assert_int_equal (run->prediction.n_sizes, 3);
}

/* 8 ranks take at least 8 x 16 B: 64 B are too small, 64 + 100 B are 128. */
static void
test_sizes_by_a_step (void **state)
{
  FabCollectiveRequest asked = request ();
  g_autoptr (FabDiagnostics) problems = fab_diagnostics_new ();

  asked.range = (FabSizeRange){ 64, 164, 100, 0 };
  g_autoptr (FabCollectiveCase) run = fab_collective_case_new (&asked, *state, problems);
  assert_non_null (run);
  assert_int_equal (run->n_too_small, 1);
  assert_int_equal (run->sizes->len, 1);
  assert_int_equal (g_array_index (run->sizes, FabBytes, 0), 128);
}

static void
test_threads_share_a_node (void **state)
{
  FabCollectiveRequest asked = request ();
  g_autoptr (FabDiagnostics) problems = fab_diagnostics_new ();

  asked.nodes = 2;
  asked.threads = 4;
  g_autoptr (FabCollectiveCase) run = fab_collective_case_new (&asked, *state, problems);
  assert_non_null (run);
  assert_int_equal (run->n_ranks, 16);
  assert_int_equal (run->gpus_per_process, 2);
}

/* What a person asked for, in the order in which the later one may not undo the one before. */
static void
test_edits (void **state)
{
  FabCollectiveRequest asked = request ();
  g_autoptr (FabDiagnostics) problems = fab_diagnostics_new ();
  g_autoptr (FabEdits) variables = fab_edits_new ();
  g_autoptr (FabEdits) sets = fab_edits_of ((const char *[]){ "cluster.pxn=true", NULL });

  const char *note;

  assert_true (fab_nccl_env_add (variables, "NCCL_MAX_CTAS", "4", &note, NULL));
  assert_null (note);
  assert_true (fab_nccl_env_add (variables, "NCCL_DEBUG", "INFO", &note, NULL));
  assert_string_equal (note, "it only sets what is logged");
  asked.nic = "ib-ndr";
  asked.protocol = "simple";
  asked.environment = variables;
  asked.sets = sets;
  g_autoptr (FabCollectiveCase) run = fab_collective_case_new (&asked, *state, problems);
  assert_non_null (run);
  g_autofree char *texts = g_strjoinv (" ", (char **) fab_edits_texts (run->edits));
  assert_string_equal (texts, "cluster.nic=ib-ndr collectives.gpus_per_process=8 collectives.max_channels=4 "
                              "collectives.protocol=simple cluster.pxn=true");
}

static void
test_all_mistakes_at_once (void **state)
{
  FabCollectiveRequest asked = request ();
  g_autoptr (FabDiagnostics) problems = fab_diagnostics_new ();

  asked.threads = -1;
  asked.range = (FabSizeRange){ 2, 1, 0, 1 };
  assert_null (fab_collective_case_new (&asked, *state, problems));
  assert_int_equal (fab_diagnostics_count (problems), 3);
}

typedef struct {
  const char *name, *value, *expected; /* edits; NULL: it is refused */
} Given;

static void
test_variables (G_GNUC_UNUSED void **state)
{
  static const Given given[] = {
    { "NCCL_IB_HCA", "mlx5_0:1,mlx5_3:1", "cluster.nics_per_node=2" },
    { "NCCL_IB_HCA", "=mlx5_0,mlx5_1,mlx5_2,mlx5_3", "cluster.nics_per_node=4" },
    { "NCCL_IB_HCA", "mlx5", "" },    /* all that begin so */
    { "NCCL_IB_HCA", "^mlx5_2", "" }, /* all but one */
    { "NCCL_IB_HCA", ",", NULL },
    { "NCCL_P2P_NET_CHUNKSIZE", "524288", "collectives.p2p_chunk=524288B" },
    { "NCCL_P2P_NET_CHUNKSIZE", "512K", NULL },
    { "NCCL_NCHANNELS_PER_NET_PEER", "4", "collectives.net_peer_channels=4" },
    { "NCCL_GDR_FLUSH_DISABLE", "1", "collectives.flush=false" },
    { "FI_CXI_RX_MATCH_MODE", "software", "collectives.matching=software" },
    { "FI_CXI_RX_MATCH_MODE", "hybrid", "collectives.matching=hardware" },
    { "NCCL_MIN_NCHANNELS", "16", "collectives.min_channels=16" },
    { "NCCL_NET_GDR_LEVEL", "PHB", "cluster.gdr=phb" },
    { "NCCL_P2P_LEVEL", "NVL", "cluster.p2p=nvl" },
    { "NCCL_NET_PLUGIN", "none", "collectives.plugin=none" },
    { "NCCL_IB_HCA", "bnxt_re0,bnxt_re1", "cluster.nics_per_node=2" },
    { "NCCL_NET_PLUGIN", "libnccl-net-ofi.so", "" },
    { "NCCL_NET", "IB", "" },
    { "NCCL_NET", "Socket", NULL },
    { "NCCL_IB_DISABLE", "0", "" },
    { "NCCL_IB_DISABLE", "1", NULL },
    { "NCCL_MNNVL_ENABLE", "0", NULL },
    { "NCCL_CROSS_NIC", "0", "" },
    { "NCCL_SHM_DISABLE", "1", "" },
    { "NCCL_IB_QPS_PER_CONNECTION", "4", "" },
    { "NCCL_IB_SL", "1", "" },
    { "NCCL_IB_TC", "106", "" },
    { "NCCL_IB_GID_INDEX", "3", "" },
    { "NCCL_IB_PCI_RELAXED_ORDERING", "1", "" },
    { "NCCL_BUFFSIZE", "8388608", "" },
    { "NCCL_NTHREADS", "512", "" },
    { "NCCL_TOPO_FILE", "/opt/topo.xml", "" },
    { "NCCL_SOCKET_IFNAME", "eth0", "" },
    { "UCX_NET_DEVICES", "mlx5_0:1", "" },
    { "FI_PROVIDER", "efa", "" },
    { "CUDA_VISIBLE_DEVICES", "0,1", "" },
    { "LD_LIBRARY_PATH", NULL, "" },
    { "RCCL_MSCCL_ENABLE", "0", "" },
    { "MY_OWN_VARIABLE", "1", "" },
    { "NCLL_DEBUG", "INFO", NULL },
    { "NCCL_UNHEARD_OF", "1", NULL },
    { "NCCL_MAX_CTAS", "0", NULL },
    { "NCCL_MAX_CTAS", NULL, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (given); i++) {
    g_autoptr (FabEdits) edits = fab_edits_new ();
    const char *note = NULL;
    gboolean is_taken = fab_nccl_env_add (edits, given[i].name, given[i].value, &note, NULL);
    g_autofree char *texts = g_strjoinv (" ", (char **) fab_edits_texts (edits));

    assert_int_equal (is_taken, given[i].expected != NULL);
    if (!is_taken)
      continue;
    assert_string_equal (texts, given[i].expected);
    assert_true ((note != NULL) == (*texts == '\0'));
  }
}

/* --- ranks --- */

/* A DGX A100 has eight GPUs. What is asked for counts before what was measured, and that before all GPUs of one node.
 * Of a thread are the GPUs of -g where a node has fewer or more than that, its share where there are threads, and
 * all of a single node. */
static void
test_ranks (void **state)
{
  static const struct {
    gint64 nodes, gpus_per_node, gpus_per_thread, threads;
    guint measured_ranks, measured_nodes, measured_per_thread; /* 0 ranks: nothing was measured */
    gint64 nodes_wanted, gpus_wanted, process_wanted;
  } cases[] = {
    { 0, 0, 0, 0, 0, 0, 0, 1, 8, 8 }, { 2, 0, 0, 0, 0, 0, 0, 2, 8, 1 }, { 1, 4, 0, 0, 0, 0, 0, 1, 4, 4 },
    { 3, 4, 2, 0, 0, 0, 0, 3, 4, 2 }, { 0, 0, 2, 0, 0, 0, 0, 1, 2, 2 }, { 0, 0, 2, 3, 0, 0, 0, 1, 6, 2 },
    { 2, 0, 1, 4, 0, 0, 0, 2, 4, 1 }, { 0, 0, 0, 3, 0, 0, 0, 1, 8, 2 }, { 0, 0, 0, 16, 0, 0, 0, 1, 8, 1 },
    { 0, 0, 0, 0, 8, 2, 0, 2, 4, 1 }, { 0, 0, 0, 0, 8, 2, 4, 2, 4, 4 }, { 2, 0, 0, 0, 16, 2, 1, 2, 8, 1 },
    { 0, 0, 0, 0, 4, 1, 0, 1, 4, 4 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabCollectiveRequest asked = request ();
    FabNcclTestsRow rows[] = { { .size_bytes = 4096, .count = 1024 },
                               { .size_bytes = 1024, .count = 256 },
                               { .size_bytes = 2048, .count = 512 } };
    FabNcclTests measured = { .n_ranks = cases[i].measured_ranks,
                              .n_nodes = cases[i].measured_nodes,
                              .gpus_per_thread = cases[i].measured_per_thread,
                              .rows = g_array_new (FALSE, FALSE, sizeof (FabNcclTestsRow)) };
    g_autoptr (FabDiagnostics) problems = fab_diagnostics_new ();

    g_array_append_vals (measured.rows, rows, G_N_ELEMENTS (rows));
    asked.nodes = cases[i].nodes;
    asked.gpus_per_node = cases[i].gpus_per_node;
    asked.gpus_per_thread = cases[i].gpus_per_thread;
    asked.threads = cases[i].threads;
    asked.measured = cases[i].measured_ranks > 0 ? &measured : NULL;
    g_autoptr (FabCollectiveCase) run = fab_collective_case_new (&asked, *state, problems);
    assert_non_null (run);
    assert_int_equal (run->nodes, cases[i].nodes_wanted);
    assert_int_equal (run->gpus_per_node, cases[i].gpus_wanted);
    assert_int_equal (run->gpus_per_process, cases[i].process_wanted);
    assert_int_equal (run->n_ranks, cases[i].nodes_wanted * cases[i].gpus_wanted);
    assert_int_equal (run->prediction.nodes, run->nodes);
    assert_int_equal (run->prediction.gpus_per_node, run->gpus_per_node);
    if (asked.measured != NULL) { /* its sizes, as they stand there */
      assert_int_equal (run->sizes->len, 3);
      assert_int_equal (g_array_index (run->sizes, FabBytes, 1), 1024);
      assert_int_equal (g_array_index (run->counts, guint64, 2), 512);
      assert_int_equal (run->first_bytes, 1024);
      assert_int_equal (run->last_bytes, 4096);
    } else {
      assert_int_equal (run->first_bytes, 1 << 10);
      assert_int_equal (run->last_bytes, 4 << 10);
    }
    g_array_unref (measured.rows);
  }
}

/* What was measured over other ranks is refused with both numbers. */
static void
test_measured_over_other_ranks (void **state)
{
  FabCollectiveRequest asked = request ();
  FabNcclTests measured = { .n_ranks = 16,
                            .n_nodes = 2,
                            .rows = g_array_new (FALSE, FALSE, sizeof (FabNcclTestsRow)) };
  g_autoptr (FabDiagnostics) problems = fab_diagnostics_new ();

  asked.measured = &measured;
  asked.measured_name = "a.txt";
  asked.nodes = 1;
  assert_null (fab_collective_case_new (&asked, *state, problems));
  g_autofree char *text = fab_diagnostics_format (problems);
  assert_non_null (
      strstr (text, "--check a.txt: measured over 16 ranks on 2 nodes, but 1 x dgx-a100 with 8 GPUs are 8; "
                    "give --node, --nodes and --gpus-per-node as they were measured"));
  g_array_unref (measured.rows);
}

/* --- limits --- */

static void
test_limits (void **state)
{
  static const struct {
    gint64 nodes;
    FabSizeRange range;
    const char *problem; /* NULL: there is none */
    guint n_sizes;
  } cases[] = {
    { 1000001, { 1024, 4096, 0, 2 }, "--nodes, --gpus-per-node, -g and -t must be from 1 to 1000000", 0 },
    { -1, { 1024, 4096, 0, 2 }, "--nodes, --gpus-per-node, -g and -t must be from 1 to 1000000", 0 },
    { 1, { 1024, 1023, 0, 2 }, "-e must not be smaller than -b", 0 },
    { 1, { 1024, 1024, 0, 2 }, NULL, 1 },
    { 1, { 1024, 4096, 0, 1 }, "-f must be a number larger than 1", 0 },
    { 1, { 1024, 4096, 0, 2e15 }, "-f must be a number larger than 1", 0 },
    { 1, { 1024, 4096, 0, 1e15 }, NULL, 1 },
    { 1, { 1024, 4096, 0, NAN }, "-f must be a number larger than 1", 0 },
    { 1, { 1024, 4096, 1024, 0 }, NULL, 4 },
    { 1, { 128, 128 * 10000, 128, 0 }, NULL, 10000 },
    { 1,
      { 128, 128 * 10001, 128, 0 },
      "there are more than 10000 sizes from -b to -e; give a larger -f or -i",
      0 },
    { 1,
      { 8, 16, 8, 0 },
      "-e gives less than one element of type float to each of 8 ranks; give a larger size",
      0 },
    /* A factor next to 1 goes on by a byte at least: 1024, 1025 and 1026. */
    { 1, { 1024, 1026, 0, 1.0000001 }, NULL, 3 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabCollectiveRequest asked = request ();
    g_autoptr (FabDiagnostics) problems = fab_diagnostics_new ();

    asked.nodes = cases[i].nodes;
    asked.range = cases[i].range;
    g_autoptr (FabCollectiveCase) run = fab_collective_case_new (&asked, *state, problems);
    assert_int_equal (run != NULL, cases[i].problem == NULL);
    if (cases[i].problem != NULL) {
      g_autofree char *text = fab_diagnostics_format (problems);

      if (strstr (text, cases[i].problem) == NULL)
        fail_msg ("case %u: %s", i, text);
    } else
      assert_int_equal (run->sizes->len, cases[i].n_sizes);
  }
}

/* --- edits --- */

/* How many GPUs a process has is set for the library that asks, unless it is one or a person says it. */
static void
test_processes_are_set (void **state)
{
  static const struct {
    const char *library, *set;
    gint64 gpus_per_node;
    const char *wanted;
  } cases[] = {
    { NULL, NULL, 8, "collectives.gpus_per_process=8" },
    { NULL, NULL, 2, "collectives.gpus_per_process=2" },
    { NULL, NULL, 1, "" },
    { "nccl", NULL, 8, "collectives=nccl collectives.gpus_per_process=8" },
    { "rccl", NULL, 8, "collectives=rccl" },
    { NULL, "collectives=plain", 8, "collectives=plain" },
    { NULL, "collectives.kind=rccl", 8, "collectives.kind=rccl" },
    { NULL, "collectives.gpus_per_process=4", 8, "collectives.gpus_per_process=4" },
    { NULL, "cluster.pxn=true", 8, "collectives.gpus_per_process=8 cluster.pxn=true" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabCollectiveRequest asked = request ();
    g_autoptr (FabDiagnostics) problems = fab_diagnostics_new ();
    g_autoptr (FabEdits) sets = fab_edits_of ((const char *[]){ cases[i].set, NULL });

    asked.library = cases[i].library;
    asked.gpus_per_node = cases[i].gpus_per_node;
    asked.sets = sets;
    g_autoptr (FabCollectiveCase) run = fab_collective_case_new (&asked, *state, problems);
    g_autofree char *texts = g_strjoinv (" ", (char **) fab_edits_texts (run->edits));
    assert_string_equal (texts, cases[i].wanted);
  }
}

/* A rack of 18 trays with four GPUs each has as many operating systems, and a process drives those of one at most. */
static void
test_a_process_has_one_system (void **state)
{
  static const struct {
    gint64 gpus_per_node, process_wanted;
  } cases[] = { { 4, 4 }, { 5, 1 }, { 72, 1 }, { 0, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabCollectiveRequest asked = request ();
    g_autoptr (FabDiagnostics) problems = fab_diagnostics_new ();

    asked.node = "gb200-nvl72";
    asked.gpus_per_node = cases[i].gpus_per_node;
    g_autoptr (FabCollectiveCase) run = fab_collective_case_new (&asked, *state, problems);
    assert_int_equal (run->gpus_per_node, cases[i].gpus_per_node > 0 ? cases[i].gpus_per_node : 72);
    assert_int_equal (run->gpus_per_process, cases[i].process_wanted);
  }
}

/* Of a scenario the request sets the size; files come first, and then the machine, the library and its choices. */
static void
test_edits_of_a_scenario (void **state)
{
  static const char yaml[] = "name: t\ncluster: {node: dgx-a100, nodes: 4}\n"
                             "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n";
  g_autoptr (FabScenario) base = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, *state,
                                                     NULL);
  g_autoptr (FabValue) files = fab_value_list ();
  g_autoptr (FabDiagnostics) problems = fab_diagnostics_new ();
  FabCollectiveRequest asked = request ();

  fab_value_append (files, fab_value_text ("links.yaml"));
  asked.base = base;
  asked.include = files;
  asked.nodes = 2;
  asked.gpus_per_node = 4;
  asked.fabric = "switch";
  asked.library = "nccl";
  asked.algorithm = "ring";
  asked.form = FAB_FORM_CLOSED;
  asked.has_band = TRUE;
  g_autoptr (FabCollectiveCase) run = fab_collective_case_new (&asked, *state, problems);
  assert_non_null (run);
  g_autofree char *texts = g_strjoinv (" ", (char **) fab_edits_texts (run->edits));
  assert_string_equal (texts,
                       "include=[links.yaml] cluster.nodes=2 cluster.gpus_per_node=4 cluster.fabric=switch "
                       "collectives=nccl collectives.algorithm=ring");
  assert_ptr_equal (run->prediction.base, base);
  assert_string_equal (run->prediction.node, "dgx-a100");
  assert_int_equal (run->prediction.op, FAB_OP_ALL_GATHER);
  assert_int_equal (run->prediction.form, FAB_FORM_CLOSED);
  assert_true (run->prediction.has_band);
  assert_ptr_equal (run->prediction.edits, run->edits);
}

/* Mistakes from before are mistakes of the request too, and the number of ranks is one that can be. */
static void
test_mistakes_from_before (void **state)
{
  FabCollectiveRequest asked = request ();
  g_autoptr (FabDiagnostics) problems = fab_diagnostics_new (), none = fab_diagnostics_new ();

  fab_diagnostics_add (problems, NULL, "it was wrong");
  assert_null (fab_collective_case_new (&asked, *state, problems));
  assert_int_equal (fab_diagnostics_count (problems), 1);
  asked.nodes = 1000000;
  asked.gpus_per_node = 1000000;
  asked.range = (FabSizeRange){ G_GUINT64_CONSTANT (1) << 50, G_GUINT64_CONSTANT (1) << 50, 0, 2 };
  g_autoptr (FabCollectiveCase) run = fab_collective_case_new (&asked, *state, none);
  assert_non_null (run);
  assert_int_equal (run->n_ranks, G_MAXINT32);
  /* Nobody knows how many GPUs a node has that is not known; the prediction will refuse it. */
  FabCollectiveRequest unknown = request ();
  unknown.node = "none";
  unknown.nodes = 4;
  g_autoptr (FabCollectiveCase) other = fab_collective_case_new (&unknown, *state, none);
  assert_int_equal (other->gpus_per_node, 0);
  assert_int_equal (other->n_ranks, 1);
  fab_collective_case_free (NULL); /* there is none to free */
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_sizes_by_a_factor),
    cmocka_unit_test (test_sizes_by_a_step),
    cmocka_unit_test (test_threads_share_a_node),
    cmocka_unit_test (test_edits),
    cmocka_unit_test (test_all_mistakes_at_once),
    cmocka_unit_test (test_variables),
    cmocka_unit_test (test_ranks),
    cmocka_unit_test (test_measured_over_other_ranks),
    cmocka_unit_test (test_limits),
    cmocka_unit_test (test_processes_are_set),
    cmocka_unit_test (test_a_process_has_one_system),
    cmocka_unit_test (test_edits_of_a_scenario),
    cmocka_unit_test (test_mistakes_from_before),
  };

  return cmocka_run_group_tests (tests, setup, teardown);
}
