/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_env.c - environment variables that people give a job, as keys of the scenario.
 *
 * Each row of the table is one of three. A variable with a key changes the prediction. One with a note is taken, and
 * the note says why the prediction stays as it is. A value that contradicts the model is refused, and the message
 * says what would be right. Names and values: NCCL user guide, "Environment Variables"; RCCL and aws-ofi-nccl, their
 * own pages; src/misc/param.cc and the NCCL_PARAM lines of NCCL 2.30.7. Messages name a variable as mpirun -x takes
 * it.
 */
#include "answer/nccl_env.h"

#include <string.h>

#include "models/library/nccl/names.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"

typedef gboolean (*Convert) (const char *value, const char *key, FabEdits *edits);

typedef struct {
  const char *name;    /* with * at its end: all names that begin so */
  Convert convert;     /* NULL: it is taken as it is */
  const char *key;     /* of the scenario; NULL: the variable has no key */
  const char *may_be;  /* what the value may be; %s stands for the names of the algorithms */
  const char *note;    /* why a value that was taken changes nothing */
  const char *refused; /* what would be right where the value contradicts the model */
} Variable;

static gboolean
is_one_of (const char *name, const char *const *names)
{
  for (guint i = 0; names[i]; i++)
    if (strcmp (name, names[i]) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
convert_list (gboolean is_algorithm, const char *value, const char *key, FabEdits *edits)
{
  g_autofree char *message = NULL, *list = fab_nccl_list (is_algorithm, value, &message);

  if (list == NULL)
    return FALSE;
  fab_edits_ask (edits, key, fab_value_text (list));
  return TRUE;
}

static gboolean
convert_algorithm (const char *value, const char *key, FabEdits *edits)
{
  return convert_list (TRUE, value, key, edits);
}

static gboolean
convert_protocol (const char *value, const char *key, FabEdits *edits)
{
  return convert_list (FALSE, value, key, edits);
}

static gboolean
parse_number (const char *value, guint64 most, guint64 *number)
{
  return g_ascii_string_to_unsigned (value, 10, 0, most, number, NULL);
}

static gboolean
convert_switch (const char *value, const char *key, FabEdits *edits)
{
  guint64 number;

  if (!parse_number (value, 2, &number))
    return FALSE;
  fab_edits_ask (edits, key, fab_value_flag (number > 0));
  return TRUE;
}

static gboolean
convert_unreachable (const char *value, const char *key, FabEdits *edits)
{
  guint64 number;

  if (!parse_number (value, 1, &number))
    return FALSE;
  if (number)
    fab_edits_ask (edits, key, fab_value_text ("none"));
  return TRUE;
}

static gboolean
convert_disable (const char *value, const char *key, FabEdits *edits)
{
  guint64 number;

  if (!parse_number (value, 1, &number))
    return FALSE;
  fab_edits_ask (edits, key, fab_value_flag (number == 0));
  return TRUE;
}

static gboolean
convert_count (const char *value, const char *key, FabEdits *edits)
{
  guint64 number;

  if (!parse_number (value, 64, &number) || number == 0)
    return FALSE;
  fab_edits_ask (edits, key, fab_value_count ((gint64) number));
  return TRUE;
}

/* Old scripts write numbers. */
static gboolean
convert_level (const char *value, const char *key, FabEdits *edits)
{
  static const char *const by_number[] = { "none", "pix", "pxb", "phb", "sys" };
  static const char *const known[] = { "nvl", "pix", "pxb", "phb", "node", "sys", NULL };
  g_autofree char *name = g_ascii_strdown (value, -1);
  guint64 number;

  if (parse_number (value, G_MAXUINT, &number))
    fab_edits_ask (edits, key, fab_value_text (by_number[MIN (number, G_N_ELEMENTS (by_number) - 1)]));
  else if (strcmp (name, "loc") == 0)
    fab_edits_ask (edits, key, fab_value_text ("none"));
  else if (is_one_of (name, known))
    fab_edits_ask (edits, key, fab_value_text (name));
  else
    return FALSE;
  return TRUE;
}

/* Sizes as NCCL reads them: digits alone. */
static gboolean
convert_bytes (const char *value, const char *key, FabEdits *edits)
{
  guint64 number;

  if (!parse_number (value, G_MAXINT32, &number) || number == 0)
    return FALSE;
  g_autofree char *bytes = g_strdup_printf ("%" G_GUINT64_FORMAT "B", number);
  fab_edits_ask (edits, key, fab_value_text (bytes));
  return TRUE;
}

/* Whether such a name stands for all adapters of a driver: without the number of one, which "mlx5" does not have. */
static gboolean
is_family (const char *name)
{
  static const char *const drivers[] = { "mlx4", "mlx5", NULL };

  return is_one_of (name, drivers) || !g_ascii_isdigit (name[strlen (name) - 1]);
}

/* "mlx5_0:1,mlx5_3:1" or "=mlx5_0,mlx5_3": as many NICs. The name of a family stands for many, and ^ leaves some out,
 * so that both say nothing of their number. */
static gboolean
convert_nics (const char *value, const char *key, FabEdits *edits)
{
  g_auto (GStrv) names = g_strsplit (value + strspn (value, "="), ",", -1);
  guint n = g_strv_length (names);

  for (guint i = 0; i < n; i++) {
    g_auto (GStrv) parts = g_strsplit (names[i], ":", 2);

    if (parts[0] == NULL || *parts[0] == '\0')
      return FALSE;
    if (*parts[0] == '^' || is_family (parts[0]))
      return TRUE;
  }
  if (n > 0)
    fab_edits_ask (edits, key, fab_value_count (n));
  return n > 0;
}

/* Without a key: only 0. With sockets, or without a rack's NVLink, the machine is another one. */
static gboolean
convert_zero (const char *value, G_GNUC_UNUSED const char *key, G_GNUC_UNUSED FabEdits *edits)
{
  return strcmp (value, "0") == 0;
}

static gboolean
convert_not_zero (const char *value, G_GNUC_UNUSED const char *key, G_GNUC_UNUSED FabEdits *edits)
{
  return strcmp (value, "0") != 0;
}

static gboolean
convert_not_sockets (const char *value, G_GNUC_UNUSED const char *key, G_GNUC_UNUSED FabEdits *edits)
{
  return g_ascii_strcasecmp (value, "Socket") != 0;
}

static gboolean
convert_plugin (const char *value, const char *key, FabEdits *edits)
{
  if (g_ascii_strcasecmp (value, "none") == 0)
    fab_edits_ask (edits, key, fab_value_text ("none"));
  return TRUE;
}

/* hybrid starts in the adapter, and leaves it only where the adapter runs out of entries for receives. */
static gboolean
convert_matching (const char *value, const char *key, FabEdits *edits)
{
  static const char *const known[] = { "hardware", "hybrid", "software", NULL };
  g_autofree char *name = g_ascii_strdown (value, -1);

  if (!is_one_of (name, known))
    return FALSE;
  fab_edits_ask (edits, key, fab_value_text (strcmp (name, "software") == 0 ? "software" : "hardware"));
  return TRUE;
}

#define ALGORITHMS "one of %s, or a list of them: Ring,Tree or ^Tree or Ring;AllReduce:Tree"
#define PROTOCOLS "one of LL, LL128, Simple, or a list of them: LL,Simple or ^LL128 or LL;AllReduce:Simple"
#define LEVELS "one of LOC, NVL, PIX, PXB, PHB, NODE, SYS"
#define COUNTS "a number from 1 to 64"
#define NICS "names of adapters: mlx5_0:1,mlx5_1:1"

/* Notes: why a value changes nothing. */
#define LOG "it only sets what is logged"
#define MARKS "it marks packets; no other traffic competes here"
#define RETRIES "it is about lost connections, which do not occur here"
#define BOOTSTRAP "it is about the start of the job, not about its data"
#define PLACE "it is about where software is found or placed"
#define OWN_PATH "it picks a way to the same hardware, and healthy ones are as fast"
#define ADAPTER "the adapter is taken as its vendor sets it up"
#define BUFFERS "buffers and chunks have NCCL's default lengths here"
#define MPI "it is about MPI, which only starts the job"
#define PATHS "paths follow `cluster.route`; its ecmp has `queue_pairs`"
#define DEVICES "GPUs are those of --gpus-per-node"
#define TOPOLOGY "the node is that of --node; `fabricast import FILE` reads a topology file"
#define RAILS "rings stay on their rails where the fabric has rails, with either value"
#define REGISTERED "buffers are not registered here unless --set collectives.symmetric=true"
#define PLUGIN "the plug-in is that of the node entry; --set collectives.plugin=NAME changes it"
#define THREADS "thread blocks have NCCL's default number of threads here"

static const Variable variables[] = {
  /* what the model has a key for */
  { "NCCL_ALGO", convert_algorithm, "collectives.algorithm", ALGORITHMS, NULL, NULL },
  { "NCCL_PROTO", convert_protocol, "collectives.protocol", PROTOCOLS, NULL, NULL },
  { "NCCL_NVLS_ENABLE", convert_switch, "collectives.nvls", "0, 1 or 2", NULL, NULL },
  { "NCCL_COLLNET_ENABLE", convert_switch, "collectives.collnet", "0 or 1", NULL, NULL },
  { "NCCL_MIN_NCHANNELS", convert_count, "collectives.min_channels", COUNTS, NULL, NULL },
  { "NCCL_MIN_NRINGS", convert_count, "collectives.min_channels", COUNTS, NULL, NULL },
  { "NCCL_MIN_CTAS", convert_count, "collectives.min_channels", COUNTS, NULL, NULL },
  { "NCCL_MAX_NCHANNELS", convert_count, "collectives.max_channels", COUNTS, NULL, NULL },
  { "NCCL_MAX_NRINGS", convert_count, "collectives.max_channels", COUNTS, NULL, NULL },
  { "NCCL_MAX_CTAS", convert_count, "collectives.max_channels", COUNTS, NULL, NULL },
  { "NCCL_P2P_DISABLE", convert_unreachable, "cluster.p2p", "0 or 1", NULL, NULL },
  { "NCCL_P2P_LEVEL", convert_level, "cluster.p2p", LEVELS, NULL, NULL },
  { "NCCL_NET_GDR_LEVEL", convert_level, "cluster.gdr", LEVELS, NULL, NULL },
  { "NCCL_IB_GDR_LEVEL", convert_level, "cluster.gdr", LEVELS, NULL, NULL },
  { "NCCL_PXN_DISABLE", convert_disable, "cluster.pxn", "0 or 1", NULL, NULL },
  { "NCCL_IB_HCA", convert_nics, "cluster.nics_per_node", NICS, "the node's NICs are all that it names",
    NULL },
  { "NCCL_P2P_NET_CHUNKSIZE", convert_bytes, "collectives.p2p_chunk", "a number of bytes", NULL, NULL },
  { "NCCL_NCHANNELS_PER_NET_PEER", convert_count, "collectives.net_peer_channels", COUNTS, NULL, NULL },
  { "NCCL_GDR_FLUSH_DISABLE", convert_disable, "collectives.flush", "0 or 1", NULL, NULL },
  { "NCCL_NET_PLUGIN", convert_plugin, "collectives.plugin", "a name", PLUGIN, NULL },
  { "FI_CXI_RX_MATCH_MODE", convert_matching, "collectives.matching", "one of hardware, hybrid, software",
    NULL, NULL },

  /* what contradicts the machine with one of its values */
  { "NCCL_IB_DISABLE", convert_zero, NULL, NULL, OWN_PATH,
    "NCCL then uses sockets; name their link with --nic" },
  { "NCCL_NET_DISABLE", convert_zero, NULL, NULL, OWN_PATH,
    "NCCL then uses sockets; name their link with --nic" },
  { "NCCL_NET", convert_not_sockets, NULL, NULL, OWN_PATH, "name the link of the sockets with --nic" },
  { "NCCL_MNNVL_ENABLE", convert_not_zero, NULL, NULL, OWN_PATH,
    "a rack then falls into its trays; name the tray as --node, with --nodes" },
  { "NCCL_NET_GDR_READ", convert_not_zero, NULL, NULL, OWN_PATH,
    "sends then go through host memory; write -x NCCL_NET_GDR_LEVEL=LOC for both directions" },

  /* what changes nothing here */
  { "NCCL_AVOID_RECORD_STREAMS", NULL, NULL, NULL, PLACE, NULL },
  { "NCCL_BUFFSIZE", NULL, NULL, NULL, BUFFERS, NULL },
  { "NCCL_LL_BUFFSIZE", NULL, NULL, NULL, BUFFERS, NULL },
  { "NCCL_LL128_BUFFSIZE", NULL, NULL, NULL, BUFFERS, NULL },
  { "NCCL_NVLS_CHUNKSIZE", NULL, NULL, NULL, BUFFERS, NULL },
  { "NCCL_NVLSTREE_MAX_CHUNKSIZE", NULL, NULL, NULL, BUFFERS, NULL },
  { "NCCL_P2P_PCI_CHUNKSIZE", NULL, NULL, NULL, BUFFERS, NULL },
  { "NCCL_P2P_NVL_CHUNKSIZE", NULL, NULL, NULL, BUFFERS, NULL },
  { "NCCL_CHUNK_SIZE", NULL, NULL, NULL, BUFFERS, NULL },
  { "NCCL_CHECKS_DISABLE", NULL, NULL, NULL, LOG, NULL },
  { "NCCL_CHECK_POINTERS", NULL, NULL, NULL, LOG, NULL },
  { "NCCL_COMM_BLOCKING", NULL, NULL, NULL, BOOTSTRAP, NULL },
  { "NCCL_COMM_ID", NULL, NULL, NULL, BOOTSTRAP, NULL },
  { "NCCL_CONF_FILE", NULL, NULL, NULL, PLACE, NULL },
  { "NCCL_CREATE_THREAD_CONTEXT", NULL, NULL, NULL, BOOTSTRAP, NULL },
  { "NCCL_CROSS_NIC", NULL, NULL, NULL, RAILS, NULL },
  { "NCCL_CTA_POLICY", NULL, NULL, NULL, REGISTERED, NULL },
  { "NCCL_CUMEM_*", NULL, NULL, NULL, OWN_PATH, NULL },
  { "NCCL_DEBUG", NULL, NULL, NULL, LOG, NULL },
  { "NCCL_DEBUG_FILE", NULL, NULL, NULL, LOG, NULL },
  { "NCCL_DEBUG_SUBSYS", NULL, NULL, NULL, LOG, NULL },
  { "NCCL_DEBUG_TIMESTAMP_*", NULL, NULL, NULL, LOG, NULL },
  { "NCCL_DMABUF_ENABLE", NULL, NULL, NULL, OWN_PATH, NULL },
  { "NCCL_GDRCOPY_*", NULL, NULL, NULL, OWN_PATH, NULL },
  { "NCCL_GIN_*", NULL, NULL, NULL, OWN_PATH, NULL },
  { "NCCL_GRAPH_DUMP_FILE", NULL, NULL, NULL, LOG, NULL },
  { "NCCL_GRAPH_FILE", NULL, NULL, NULL, TOPOLOGY, NULL },
  { "NCCL_GRAPH_MIXING_SUPPORT", NULL, NULL, NULL, OWN_PATH, NULL },
  { "NCCL_GRAPH_REGISTER", NULL, NULL, NULL, REGISTERED, NULL },
  { "NCCL_HOSTID", NULL, NULL, NULL, BOOTSTRAP, NULL },
  { "NCCL_IB_ADAPTIVE_ROUTING", NULL, NULL, NULL, PATHS, NULL },
  { "NCCL_IB_AR_THRESHOLD", NULL, NULL, NULL, PATHS, NULL },
  { "NCCL_IB_CUDA_SUPPORT", NULL, NULL, NULL, OWN_PATH, NULL },
  { "NCCL_IB_FIFO_TC", NULL, NULL, NULL, MARKS, NULL },
  { "NCCL_IB_GID_INDEX", NULL, NULL, NULL, MARKS, NULL },
  { "NCCL_IB_IS_GLOBAL", NULL, NULL, NULL, MARKS, NULL },
  { "NCCL_IB_MERGE_NICS", NULL, NULL, NULL, OWN_PATH, NULL },
  { "NCCL_IB_MERGE_VFS", NULL, NULL, NULL, OWN_PATH, NULL },
  { "NCCL_IB_PCI_RELAXED_ORDERING", NULL, NULL, NULL, ADAPTER, NULL },
  { "NCCL_IB_PKEY", NULL, NULL, NULL, MARKS, NULL },
  { "NCCL_IB_QPS_PER_CONNECTION", NULL, NULL, NULL, PATHS, NULL },
  { "NCCL_IB_RETRY_CNT", NULL, NULL, NULL, RETRIES, NULL },
  { "NCCL_IB_RETURN_ASYNC_EVENTS", NULL, NULL, NULL, RETRIES, NULL },
  { "NCCL_IB_ROCE_VERSION_NUM", NULL, NULL, NULL, MARKS, NULL },
  { "NCCL_IB_ADDR_FAMILY", NULL, NULL, NULL, MARKS, NULL },
  { "NCCL_IB_ADDR_RANGE", NULL, NULL, NULL, MARKS, NULL },
  { "NCCL_IB_SL", NULL, NULL, NULL, MARKS, NULL },
  { "NCCL_IB_SPLIT_DATA_ON_QPS", NULL, NULL, NULL, PATHS, NULL },
  { "NCCL_IB_TC", NULL, NULL, NULL, MARKS, NULL },
  { "NCCL_IB_TIMEOUT", NULL, NULL, NULL, RETRIES, NULL },
  { "NCCL_IB_USE_INLINE", NULL, NULL, NULL, ADAPTER, NULL },
  { "NCCL_IB_WARN_RAIL_LOCAL", NULL, NULL, NULL, LOG, NULL },
  { "NCCL_IGNORE_CPU_AFFINITY", NULL, NULL, NULL, PLACE, NULL },
  { "NCCL_IGNORE_DISABLED_P2P", NULL, NULL, NULL, LOG, NULL },
  { "NCCL_LAUNCH_MODE", NULL, NULL, NULL, OWN_PATH, NULL },
  { "NCCL_LOCAL_REGISTER", NULL, NULL, NULL, REGISTERED, NULL },
  { "NCCL_LEGACY_CUDA_REGISTER", NULL, NULL, NULL, REGISTERED, NULL },
  { "NCCL_MEM_SYNC_DOMAIN", NULL, NULL, NULL, OWN_PATH, NULL },
  { "NCCL_MNNVL_*", NULL, NULL, NULL, BOOTSTRAP, NULL },
  { "NCCL_MIN_P2P_NCHANNELS", NULL, NULL, NULL, "sends have the channels of NCCL's own rules", NULL },
  { "NCCL_MAX_P2P_NCHANNELS", NULL, NULL, NULL, "sends have the channels of NCCL's own rules", NULL },
  { "NCCL_NET_SHARED_BUFFERS", NULL, NULL, NULL, BUFFERS, NULL },
  { "NCCL_NET_SHARED_COMMS", NULL, NULL, NULL, OWN_PATH, NULL },
  { "NCCL_NET_FORCE_MERGE", NULL, NULL, NULL, OWN_PATH, NULL },
  { "NCCL_NET_MERGE_LEVEL", NULL, NULL, NULL, OWN_PATH, NULL },
  { "NCCL_NETDEVS_POLICY", NULL, NULL, NULL, OWN_PATH, NULL },
  { "NCCL_NET_GDR_C2C", NULL, NULL, NULL, OWN_PATH, NULL },
  { "NCCL_NSOCKS_PERTHREAD", NULL, NULL, NULL, BOOTSTRAP, NULL },
  { "NCCL_NTHREADS", NULL, NULL, NULL, THREADS, NULL },
  { "NCCL_LL128_NTHREADS", NULL, NULL, NULL, THREADS, NULL },
  { "NCCL_NVB_DISABLE", NULL, NULL, NULL, OWN_PATH, NULL },
  { "NCCL_OOB_*", NULL, NULL, NULL, BOOTSTRAP, NULL },
  { "NCCL_P2P_DIRECT_DISABLE", NULL, NULL, NULL, OWN_PATH, NULL },
  { "NCCL_P2P_PXN_LEVEL", NULL, NULL, NULL, OWN_PATH, NULL },
  { "NCCL_P2P_USE_CUDA_MEMCPY", NULL, NULL, NULL, OWN_PATH, NULL },
  { "NCCL_PROFILER_*", NULL, NULL, NULL, LOG, NULL },
  { "NCCL_PROGRESS_APPENDOP_FREQ", NULL, NULL, NULL, THREADS, NULL },
  { "NCCL_PROXY_*", NULL, NULL, NULL, LOG, NULL },
  { "NCCL_RAS_*", NULL, NULL, NULL, BOOTSTRAP, NULL },
  { "NCCL_RUNTIME_CONNECT", NULL, NULL, NULL, BOOTSTRAP, NULL },
  { "NCCL_SET_STACK_SIZE", NULL, NULL, NULL, BOOTSTRAP, NULL },
  { "NCCL_SET_THREAD_NAME", NULL, NULL, NULL, LOG, NULL },
  { "NCCL_SHM_*", NULL, NULL, NULL, "it matters only where GPUs of a node do not reach each other directly",
    NULL },
  { "NCCL_SINGLE_RING_THRESHOLD", NULL, NULL, NULL, THREADS, NULL },
  { "NCCL_SOCKET_*", NULL, NULL, NULL, BOOTSTRAP, NULL },
  { "NCCL_SYM_*", NULL, NULL, NULL, REGISTERED, NULL },
  { "NCCL_TESTS_*", NULL, NULL, NULL, LOG, NULL },
  { "NCCL_THREAD_THRESHOLDS", NULL, NULL, NULL, THREADS, NULL },
  { "NCCL_TOPO_DUMP_*", NULL, NULL, NULL, LOG, NULL },
  { "NCCL_TOPO_FILE", NULL, NULL, NULL, TOPOLOGY, NULL },
  { "NCCL_TUNER_*", NULL, NULL, NULL, PLUGIN, NULL },
  { "NCCL_UID_STAGGER_*", NULL, NULL, NULL, BOOTSTRAP, NULL },
  { "NCCL_WIN_*", NULL, NULL, NULL, REGISTERED, NULL },
  { "NCCL_WORK_*", NULL, NULL, NULL, THREADS, NULL },
  { "NCCL_FASTRAK_*", NULL, NULL, NULL, PLUGIN, NULL },
  { "NCCL_GPUDIRECTTCPX_*", NULL, NULL, NULL, PLUGIN, NULL },
  { "NCCL_SHIMNET_*", NULL, NULL, NULL, PLUGIN, NULL },
  { "OFI_NCCL_*", NULL, NULL, NULL, PLUGIN, NULL },
  { "RCCL_*", NULL, NULL, NULL, "RCCL's own choices are modelled as in its defaults", NULL },
  { "FI_*", NULL, NULL, NULL, ADAPTER, NULL },
  { "RDMAV_*", NULL, NULL, NULL, ADAPTER, NULL },
  { "MLX5_*", NULL, NULL, NULL, ADAPTER, NULL },
  { "SHARP_*", NULL, NULL, NULL, ADAPTER, NULL },
  { "UCX_*", NULL, NULL, NULL, MPI, NULL },
  { "UCC_*", NULL, NULL, NULL, MPI, NULL },
  { "HCOLL_*", NULL, NULL, NULL, MPI, NULL },
  { "OMPI_*", NULL, NULL, NULL, MPI, NULL },
  { "PMIX_*", NULL, NULL, NULL, MPI, NULL },
  { "PRTE_*", NULL, NULL, NULL, MPI, NULL },
  { "MPICH_*", NULL, NULL, NULL, MPI, NULL },
  { "I_MPI_*", NULL, NULL, NULL, MPI, NULL },
  { "SLURM_*", NULL, NULL, NULL, PLACE, NULL },
  { "CUDA_VISIBLE_DEVICES", NULL, NULL, NULL, DEVICES, NULL },
  { "HIP_VISIBLE_DEVICES", NULL, NULL, NULL, DEVICES, NULL },
  { "ROCR_VISIBLE_DEVICES", NULL, NULL, NULL, DEVICES, NULL },
  { "NVIDIA_VISIBLE_DEVICES", NULL, NULL, NULL, DEVICES, NULL },
  { "MELLANOX_VISIBLE_DEVICES", NULL, NULL, NULL, DEVICES, NULL },
  { "CUDA_*", NULL, NULL, NULL, PLACE, NULL },
  { "HSA_*", NULL, NULL, NULL, PLACE, NULL },
  { "HIP_*", NULL, NULL, NULL, PLACE, NULL },
  { "ROCM_*", NULL, NULL, NULL, PLACE, NULL },
  { "TORCH_*", NULL, NULL, NULL, PLACE, NULL },
  { "GLOO_*", NULL, NULL, NULL, BOOTSTRAP, NULL },
  { "OMP_*", NULL, NULL, NULL, PLACE, NULL },
  { "LD_LIBRARY_PATH", NULL, NULL, NULL, PLACE, NULL },
  { "LD_PRELOAD", NULL, NULL, NULL, PLACE, NULL },
  { "PATH", NULL, NULL, NULL, PLACE, NULL },
  { "HOME", NULL, NULL, NULL, PLACE, NULL },
};

static gboolean
is_named (const Variable *variable, const char *name)
{
  gsize length = strlen (variable->name);

  return variable->name[length - 1] == '*' ? strncmp (name, variable->name, length - 1) == 0
                                           : strcmp (name, variable->name) == 0;
}

/* A name that is unknown, and no misspelt one of NCCL. */
static const Variable foreign = { .note = "it is no variable of NCCL" };

static const Variable *
find_variable (const char *name, GError **error)
{
  const char *names[G_N_ELEMENTS (variables) + 1] = { NULL };
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (variables); i++) {
    if (is_named (&variables[i], name))
      return &variables[i];
    if (!g_str_has_suffix (variables[i].name, "*"))
      names[n++] = variables[i].name;
  }
  const char *nearest = fab_nearest (name, names);
  if (nearest == NULL && !g_str_has_prefix (name, "NCCL_"))
    return &foreign;
  fab_throw (error, FAB_ERROR_INPUT, "-x %s: unknown variable%s%s", name, nearest ? "; nearest is " : "",
             nearest ? nearest : "");
  return NULL;
}

static gboolean
refuse (const Variable *variable, const char *name, const char *value, GError **error)
{
  g_autofree char *algorithms = fab_nccl_algorithm_names ();

  if (variable->refused != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "-x %s=%s: %s", name, value, variable->refused);
  g_auto (GStrv) around = g_strsplit (variable->may_be, "%s", 2);
  g_autofree char *may_be = g_strjoinv (algorithms, around);
  return fab_throw (error, FAB_ERROR_INPUT, "-x %s=%s: it must be %s", name, value, may_be);
}

gboolean
fab_nccl_env_add (FabEdits *edits, const char *name, const char *value, const char **note, GError **error)
{
  const Variable *variable = find_variable (name, error);
  guint n = fab_edits_count (edits);

  *note = NULL;
  if (variable == NULL)
    return FALSE;
  if (variable->convert != NULL && value == NULL)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "-x %s: this variable is not set in the environment; write %s=VALUE", name, name);
  if (variable->convert != NULL && !variable->convert (value, variable->key, edits))
    return refuse (variable, name, value, error);
  if (fab_edits_count (edits) == n)
    *note = variable->note;
  return TRUE;
}
