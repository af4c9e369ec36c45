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

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_sizes_by_a_factor),    cmocka_unit_test (test_sizes_by_a_step),
    cmocka_unit_test (test_threads_share_a_node), cmocka_unit_test (test_edits),
    cmocka_unit_test (test_all_mistakes_at_once), cmocka_unit_test (test_variables),
  };

  return cmocka_run_group_tests (tests, setup, teardown);
}
