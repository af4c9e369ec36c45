/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_env.c - what each environment variable of a job becomes, at the ends of its values, and what is refused. */
#include "tests/support/test.h"

#include "answer/nccl_env.h"

typedef struct {
  const char *name, *value; /* NULL: it is not set */
  const char *expected;     /* edits; without any, the note; NULL: it is refused */
} Given;

static void
assert_taken (const Given *given)
{
  g_autoptr (FabEdits) edits = fab_edits_of ((const char *[]){ "cluster.nodes=2", NULL });
  g_autoptr (GError) error = NULL;
  const char *note = "left from before";

  if (!fab_nccl_env_add (edits, given->name, given->value, &note, &error))
    fail_msg ("%s", error->message);
  g_autofree char *texts = g_strjoinv (" ", (char **) fab_edits_texts (edits));
  assert_true (g_str_has_prefix (texts, "cluster.nodes=2"));
  const char *said = fab_edits_count (edits) > 1 ? texts + strlen ("cluster.nodes=2 ") : note;
  if (fab_edits_count (edits) > 1)
    assert_null (note);
  if (strcmp (said, given->expected) != 0)
    fail_msg ("%s=%s is %s and not %s", given->name, given->value, said, given->expected);
}

static void
assert_refused (const Given *given)
{
  g_autoptr (FabEdits) edits = fab_edits_new ();
  g_autoptr (GError) error = NULL;
  const char *note = NULL;

  if (fab_nccl_env_add (edits, given->name, given->value, &note, &error))
    fail_msg ("%s=%s is taken", given->name, given->value);
  assert_int_equal (fab_edits_count (edits), 0);
  assert_null (note);
  if (strcmp (error->message, given->expected) != 0)
    fail_msg ("%s=%s: %s\nand not %s", given->name, given->value, error->message, given->expected);
}

static void
values_become_keys (G_GNUC_UNUSED void **state)
{
  static const Given given[] = {
    { "NCCL_ALGO", "Ring", "collectives.algorithm=ring" },
    { "NCCL_ALGO", "Ring,Tree", "collectives.algorithm='ring,tree'" },
    { "NCCL_ALGO", "^Tree", "collectives.algorithm='^tree'" },
    { "NCCL_PROTO", "LL128", "collectives.protocol=ll128" },
    { "NCCL_PROTO", "^LL128", "collectives.protocol='^ll128'" },
    /* 2: NCCL decides itself */
    { "NCCL_NVLS_ENABLE", "0", "collectives.nvls=false" },
    { "NCCL_NVLS_ENABLE", "1", "collectives.nvls=true" },
    { "NCCL_NVLS_ENABLE", "2", "collectives.nvls=true" },
    { "NCCL_COLLNET_ENABLE", "1", "collectives.collnet=true" },
    { "NCCL_MIN_NRINGS", "1", "collectives.min_channels=1" },
    { "NCCL_MIN_CTAS", "64", "collectives.min_channels=64" },
    { "NCCL_MAX_NCHANNELS", "2", "collectives.max_channels=2" },
    { "NCCL_MAX_NRINGS", "64", "collectives.max_channels=64" },
    { "NCCL_P2P_DISABLE", "1", "cluster.p2p=none" },
    { "NCCL_PXN_DISABLE", "0", "cluster.pxn=true" },
    { "NCCL_PXN_DISABLE", "1", "cluster.pxn=false" },
    { "NCCL_GDR_FLUSH_DISABLE", "0", "collectives.flush=true" },
    /* Old numbers: none, one bridge, bridges, the host bridge, and two that both cross sockets. */
    { "NCCL_P2P_LEVEL", "0", "cluster.p2p=none" },
    { "NCCL_P2P_LEVEL", "1", "cluster.p2p=pix" },
    { "NCCL_P2P_LEVEL", "2", "cluster.p2p=pxb" },
    { "NCCL_P2P_LEVEL", "3", "cluster.p2p=phb" },
    { "NCCL_P2P_LEVEL", "4", "cluster.p2p=sys" },
    { "NCCL_P2P_LEVEL", "5", "cluster.p2p=sys" },
    { "NCCL_P2P_LEVEL", "4294967295", "cluster.p2p=sys" },
    { "NCCL_P2P_LEVEL", "loc", "cluster.p2p=none" },
    { "NCCL_P2P_LEVEL", "node", "cluster.p2p=node" },
    { "NCCL_IB_GDR_LEVEL", "LOC", "cluster.gdr=none" },
    { "NCCL_IB_GDR_LEVEL", "SYS", "cluster.gdr=sys" },
    { "NCCL_NET_GDR_LEVEL", "pxb", "cluster.gdr=pxb" },
    { "NCCL_IB_HCA", "mlx4_0", "cluster.nics_per_node=1" },
    { "NCCL_IB_HCA", "=mlx5_0:1,mlx5_1:2", "cluster.nics_per_node=2" },
    { "NCCL_P2P_NET_CHUNKSIZE", "1", "collectives.p2p_chunk=1B" },
    { "NCCL_P2P_NET_CHUNKSIZE", "2147483647", "collectives.p2p_chunk=2147483647B" },
    { "NCCL_NET_PLUGIN", "None", "collectives.plugin=none" },
    { "FI_CXI_RX_MATCH_MODE", "Hardware", "collectives.matching=hardware" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (given); i++)
    assert_taken (&given[i]);
}

/* The note is that of the variable, of the family of variables, or of what NCCL does not know at all. */
static void
values_that_change_nothing_have_a_note (G_GNUC_UNUSED void **state)
{
  static const Given given[] = {
    { "NCCL_IB_HCA", "mlx5", "the node's NICs are all that it names" },
    { "NCCL_IB_HCA", "mlx4", "the node's NICs are all that it names" },
    { "NCCL_IB_HCA", "bnxt_re", "the node's NICs are all that it names" },
    { "NCCL_IB_HCA", "mlx5_0,^mlx5_1", "the node's NICs are all that it names" },
    { "NCCL_NET_PLUGIN", "aws-ofi",
      "the plug-in is that of the node entry; --set collectives.plugin=NAME changes it" },
    { "NCCL_IB_DISABLE", "0", "it picks a way to the same hardware, and healthy ones are as fast" },
    { "NCCL_NET_DISABLE", "0", "it picks a way to the same hardware, and healthy ones are as fast" },
    { "NCCL_MNNVL_ENABLE", "2", "it picks a way to the same hardware, and healthy ones are as fast" },
    { "NCCL_NET_GDR_READ", "1", "it picks a way to the same hardware, and healthy ones are as fast" },
    { "NCCL_NET", "IB", "it picks a way to the same hardware, and healthy ones are as fast" },
    { "NCCL_NET_SHARED_BUFFERS", "0", "buffers and chunks have NCCL's default lengths here" },
    { "NCCL_MNNVL_UUID", "7", "it is about the start of the job, not about its data" },
    { "NCCL_DEBUG", NULL, "it only sets what is logged" },
    { "NCCL_SHM_", "1", "it matters only where GPUs of a node do not reach each other directly" },
    { "I_MPI_FABRICS", "ofi", "it is about MPI, which only starts the job" },
    { "CUDA_VISIBLE_DEVICES", "0", "GPUs are those of --gpus-per-node" },
    { "CUDA_LAUNCH_BLOCKING", "1", "it is about where software is found or placed" },
    { "HOME", "/root", "it is about where software is found or placed" },
    { "MY_OWN_VARIABLE", "1", "it is no variable of NCCL" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (given); i++)
    assert_taken (&given[i]);
}

/* P2P that is not disabled is the node's own, which needs no word. */
static void
a_default_needs_no_note (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabEdits) edits = fab_edits_new ();
  const char *note = "left from before";

  assert_true (fab_nccl_env_add (edits, "NCCL_P2P_DISABLE", "0", &note, NULL));
  assert_int_equal (fab_edits_count (edits), 0);
  assert_null (note);
}

#define ALGORITHMS                                                                                              \
  "one of Ring, Tree, CollnetDirect, CollnetChain, NVLS, NVLSTree, PAT, or a list of them: Ring,Tree or ^Tree " \
  "or Ring;AllReduce:Tree"

static void
other_values_are_refused (G_GNUC_UNUSED void **state)
{
  static const Given given[] = {
    { "NCCL_ALGO", "rung", "-x NCCL_ALGO=rung: it must be " ALGORITHMS },
    { "NCCL_PROTO", "ring",
      "-x NCCL_PROTO=ring: it must be one of LL, LL128, Simple, or a list of them: LL,Simple or ^LL128 or "
      "LL;AllReduce:Simple" },
    { "NCCL_NVLS_ENABLE", "3", "-x NCCL_NVLS_ENABLE=3: it must be 0, 1 or 2" },
    { "NCCL_P2P_DISABLE", "2", "-x NCCL_P2P_DISABLE=2: it must be 0 or 1" },
    { "NCCL_PXN_DISABLE", "2", "-x NCCL_PXN_DISABLE=2: it must be 0 or 1" },
    { "NCCL_MAX_CTAS", "0", "-x NCCL_MAX_CTAS=0: it must be a number from 1 to 64" },
    { "NCCL_MAX_CTAS", "65", "-x NCCL_MAX_CTAS=65: it must be a number from 1 to 64" },
    { "NCCL_P2P_LEVEL", "none",
      "-x NCCL_P2P_LEVEL=none: it must be one of LOC, NVL, PIX, PXB, PHB, NODE, SYS" },
    { "NCCL_P2P_LEVEL", "4294967296",
      "-x NCCL_P2P_LEVEL=4294967296: it must be one of LOC, NVL, PIX, PXB, PHB, NODE, SYS" },
    { "NCCL_IB_HCA", "", "-x NCCL_IB_HCA=: it must be names of adapters: mlx5_0:1,mlx5_1:1" },
    { "NCCL_IB_HCA", "=", "-x NCCL_IB_HCA==: it must be names of adapters: mlx5_0:1,mlx5_1:1" },
    { "NCCL_IB_HCA", "mlx5_0,,mlx5_1",
      "-x NCCL_IB_HCA=mlx5_0,,mlx5_1: it must be names of adapters: mlx5_0:1,mlx5_1:1" },
    { "NCCL_P2P_NET_CHUNKSIZE", "0", "-x NCCL_P2P_NET_CHUNKSIZE=0: it must be a number of bytes" },
    { "NCCL_P2P_NET_CHUNKSIZE", "2147483648",
      "-x NCCL_P2P_NET_CHUNKSIZE=2147483648: it must be a number of bytes" },
    { "FI_CXI_RX_MATCH_MODE", "auto",
      "-x FI_CXI_RX_MATCH_MODE=auto: it must be one of hardware, hybrid, software" },
    { "NCCL_IB_DISABLE", "1", "-x NCCL_IB_DISABLE=1: NCCL then uses sockets; name their link with --nic" },
    { "NCCL_NET", "socket", "-x NCCL_NET=socket: name the link of the sockets with --nic" },
    { "NCCL_NET_GDR_READ", "0",
      "-x NCCL_NET_GDR_READ=0: sends then go through host memory; write -x NCCL_NET_GDR_LEVEL=LOC for both "
      "directions" },
    { "NCCL_MAX_CTAS", NULL,
      "-x NCCL_MAX_CTAS: this variable is not set in the environment; write NCCL_MAX_CTAS=VALUE" },
    { "NCLL_DEBUG", "INFO", "-x NCLL_DEBUG: unknown variable; nearest is NCCL_DEBUG" },
    { "NCCL_UNHEARD_OF", "1", "-x NCCL_UNHEARD_OF: unknown variable" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (given); i++)
    assert_refused (&given[i]);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (values_become_keys),
    cmocka_unit_test (values_that_change_nothing_have_a_note),
    cmocka_unit_test (a_default_needs_no_note),
    cmocka_unit_test (other_values_are_refused),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
