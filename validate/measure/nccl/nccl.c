/* SPDX-License-Identifier: Apache-2.0 */
/* nccl.c - the backend `nccl`: collectives over the GPUs of this machine, as nccl-tests counts them.
 *
 * One process has all ranks; what the sizes mean, sim/work/collective.h says.
 */
#include "validate/measure/cuda/describe.h"
#include "validate/measure/nccl/collect.h"

/* The shortest sample: starting the first collective on all GPUs in sequence takes some 10 us each, a percent or two
 * of this. */
#define MIN_SAMPLE_PS G_GINT64_CONSTANT (2000000000)

typedef struct {
  gint64 n_gpus;
  const char *ops;
} Params;

static const FabParam params[] = {
  { .key = "gpus",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (Params, n_gpus),
    .fallback = "0",
    .max = FAB_CUDA_MAX_GPUS,
    .help = "How many GPUs take part, the first ones; 0: all." },
  { .key = "ops",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (Params, ops),
    .fallback = "all_reduce,all_gather,reduce_scatter,broadcast,all_to_all",
    .help = "Which collectives, comma between them; reduce and send_recv as well." },
  { NULL },
};

/* Parses names of operations. (transfer full) */
static GArray *
parse_ops (const char *text, GError **error)
{
  g_autoptr (GArray) ops = g_array_new (FALSE, FALSE, sizeof (FabOp));
  g_auto (GStrv) names = g_strsplit (text, ",", -1);

  for (guint i = 0; names[i]; i++) {
    const char *name = g_strstrip (names[i]);
    FabOp op = FAB_OP_ALL_REDUCE;

    while (op < FAB_N_OPS && !(g_str_equal (fab_op_names[op], name) && fab_collect_can (op)))
      op++;
    if (op == FAB_N_OPS) {
      fab_throw (
          error, FAB_ERROR_INPUT,
          "ops: '%s' is none of all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, "
          "send_recv",
          name);
      return NULL;
    }
    g_array_append_val (ops, op);
  }
  return g_steal_pointer (&ops);
}

static int
compare_texts (gconstpointer a, gconstpointer b)
{
  return g_strcmp0 (*(const char *const *) a, *(const char *const *) b);
}

/* Returns "NCCL_ALGO=Ring NCCL_PROTO=Simple"; NULL: no variable is set. (transfer full) */
static char *
environment (void)
{
  g_auto (GStrv) all = g_get_environ ();
  g_autoptr (GPtrArray) set = g_ptr_array_new ();

  for (guint i = 0; all[i]; i++)
    if (g_str_has_prefix (all[i], "NCCL_"))
      g_ptr_array_add (set, all[i]);
  if (set->len == 0)
    return NULL;
  g_ptr_array_sort (set, compare_texts);
  g_ptr_array_add (set, NULL);
  return g_strjoinv (" ", (char **) set->pdata);
}

static void
describe (FabMeasureHost *host, const FabNccl *nccl, const FabGpus *gpus)
{
  g_autofree char *version = fab_nccl_version (nccl);
  g_autofree char *set = environment ();

  fab_cuda_describe (host, gpus);
  host->machine (host, "nccl", version);
  if (set)
    host->machine (host, "nccl.environment", set);
}

/* Returns what an environment variable requests, in the words of a series; NULL: NCCL chooses. (transfer full) */
static char *
asked_for (const char *variable)
{
  const char *text = g_getenv (variable);

  return text && *text ? g_ascii_strdown (text, -1) : NULL;
}

static gboolean
measure_ops (FabMeasureHost *host, FabCollect *collect, const GArray *ops, GError **error)
{
  g_autofree char *algorithm = asked_for ("NCCL_ALGO");
  g_autofree char *protocol = asked_for ("NCCL_PROTO");

  for (guint i = 0; i < ops->len; i++) {
    FabSeries series = { .kind = FAB_MEASURE_COLLECTIVE,
                         .backend = (char *) "nccl",
                         .from_memory = (char *) "gpu",
                         .to_memory = (char *) "gpu",
                         .algorithm = algorithm,
                         .method = protocol,
                         .n_ranks = collect->n_ranks,
                         .n_pairs = 1 };

    collect->op = g_array_index (ops, FabOp, i);
    series.op = (char *) fab_op_names[collect->op];
    if (!host->measure (host, &series, 0, fab_collect_time, collect, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
measure (FabMeasureHost *host, gconstpointer data, GError **error)
{
  const Params *p = data;
  const FabMeasurePlan *plan = host->plan;
  FabBytes max_bytes = fab_collect_buffer_bytes (plan->sizes_bytes[plan->n_sizes - 1], FAB_CUDA_MAX_GPUS);
  g_autoptr (GArray) ops = parse_ops (p->ops, error);
  g_autoptr (FabNccl) nccl = NULL;
  g_autoptr (FabGpus) gpus = NULL;
  g_autoptr (FabCollect) collect = NULL;

  if (!ops)
    return FALSE;
  if (!plan->kinds[FAB_MEASURE_COLLECTIVE])
    return fab_throw (error, FAB_ERROR_INPUT, "nccl measures kind collective only");
  nccl = fab_nccl_open (error);
  gpus = nccl ? fab_gpus_open ((guint) p->n_gpus, max_bytes, error) : NULL;
  if (!gpus)
    return FALSE;
  if (gpus->n_gpus < 2)
    return fab_throw (error, FAB_ERROR_UNSUPPORTED,
                      "one GPU takes part: collectives need two or more in this machine");
  collect = fab_collect_new (nccl, gpus, error);
  if (!collect)
    return FALSE;
  describe (host, nccl, gpus);
  host->min_sample_ps = MIN_SAMPLE_PS;
  return measure_ops (host, collect, ops, error);
}

static gboolean
probe (GError **error)
{
  g_autoptr (FabCuda) cuda = fab_cuda_open (error);
  g_autoptr (FabNccl) nccl = cuda ? fab_nccl_open (error) : NULL;

  return nccl != NULL;
}

static const FabMeasureBackend backend = {
  .abi = FAB_MEASURE_ABI,
  .info = { .name = "nccl",
            .summary = "Collectives of NCCL over the GPUs here.",
            .doc = "docs/measure-nccl.md",
            .params = params,
            .params_size = sizeof (Params) },
  .needs = "two NVIDIA GPUs, their driver (libcuda.so.1) and NCCL (libnccl.so.2)",
  .measure = measure,
  .probe = probe,
};

const FabMeasureBackend *fab_measure_backend (void);

const FabMeasureBackend *
fab_measure_backend (void)
{
  return &backend;
}
