/* SPDX-License-Identifier: Apache-2.0 */
/* kv.c - split serving: ranks that compute the prompts of requests send keys and values to ranks that go on from there.
 *
 * A layer keeps, for each token, the cache that its attention says (FabSegment.cache_bytes). A tensor-parallel rank has
 * the heads that it computes. The cache lies in blocks of some tokens, and each block of a layer is one RDMA write for
 * the keys and one for the values, as in vLLM with Mooncake's or NIXL's connector.
 */
#include <math.h>

#include "models/models.h"
#include "models/workload/serving/flows.h"
#include "sim/base/error.h"
#include "sim/base/param.h"

typedef struct {
  const char *model;
  gint64 prompt, requests, prefill, decode, prefills, decodes, block, bits;
  FabTimePs compute_ps, message_ps, setup_ps;
  gboolean overlaps;
} KvParams;

#define ROW(field_) G_STRUCT_OFFSET (KvParams, field_)

static const FabParam kv_params[] = {
  { .key = "model",
    .type = FAB_PARAM_TEXT,
    .offset = ROW (model),
    .refers = FAB_REFERS_MODEL,
    .is_in_title = TRUE,
    .help = "Model entry, of the catalogue or of this file's `models`." },
  { .key = "prompt",
    .type = FAB_PARAM_COUNT,
    .offset = ROW (prompt),
    .min = 1,
    .max = 1e8,
    .is_in_title = TRUE,
    .help = "Tokens of the prompt of a request, whose keys and values are sent." },
  { .key = "requests",
    .type = FAB_PARAM_COUNT,
    .offset = ROW (requests),
    .fallback = "1",
    .min = 1,
    .max = 1e5,
    .help = "Requests that a prefill instance computes one after another in an iteration." },
  { .key = "prefill",
    .type = FAB_PARAM_COUNT,
    .offset = ROW (prefill),
    .min = 1,
    .max = 1e5,
    .is_in_title = TRUE,
    .help = "Ranks of a prefill instance, among which the heads are divided (tensor parallelism)." },
  { .key = "decode",
    .type = FAB_PARAM_COUNT,
    .offset = ROW (decode),
    .min = 1,
    .max = 1e5,
    .is_in_title = TRUE,
    .help = "Ranks of a decode instance, among which the heads are divided in the same way." },
  { .key = "prefills",
    .type = FAB_PARAM_COUNT,
    .offset = ROW (prefills),
    .fallback = "1",
    .min = 1,
    .max = 1e5,
    .help = "Prefill instances. They are the first ranks; all of them work at the same time." },
  { .key = "decodes",
    .type = FAB_PARAM_COUNT,
    .offset = ROW (decodes),
    .fallback = "1",
    .min = 1,
    .max = 1e5,
    .help = "Decode instances. They take turns: request r of prefill instance i goes to instance (i + r) mod "
            "decodes." },
  { .key = "compute",
    .type = FAB_PARAM_TIME,
    .offset = ROW (compute_ps),
    .fallback = "0s",
    .help = "Time in which a prefill instance computes a request." },
  { .key = "overlap",
    .type = FAB_PARAM_BOOL,
    .offset = ROW (overlaps),
    .fallback = "false",
    .help = "Send the cache of a layer as soon as the layer is computed; false: send all of it at the end." },
  { .key = "block",
    .type = FAB_PARAM_COUNT,
    .offset = ROW (block),
    .fallback = "16",
    .min = 1,
    .max = 1e6,
    .help = "Tokens per block of the cache. For each block and layer, keys are one message and "
            "values another." },
  { .key = "bits",
    .type = FAB_PARAM_COUNT,
    .offset = ROW (bits),
    .fallback = "16",
    .min = 1,
    .max = 64,
    .help = "Bits of an element of the cache." },
  { .key = "message_time",
    .type = FAB_PARAM_TIME,
    .offset = ROW (message_ps),
    .fallback = "215ns",
    .help =
        "Time that a rank's software and adapter take for a message. The default rests on one published table "
        "(Mooncake on H800)." },
  { .key = "setup",
    .type = FAB_PARAM_TIME,
    .offset = ROW (setup_ps),
    .fallback = "420us",
    .help =
        "Time from the end of a request's prompt to its first message: the instances agree on blocks. The "
        "default rests on the same table." },
  { .key = NULL },
};

/* A layer that keeps a cache. */
typedef struct {
  double bytes; /* per token, all heads */
  guint n_heads, n_pieces;
} Cache;

typedef struct {
  const KvParams *params;
  Flows flows;
  GArray *caches;    /* Cache */
  GArray *streams;   /* FlowStreams, of pairs of ranks in the order of their first flows */
  GHashTable *pairs; /* gint64: prefill rank and decode rank, to the index in `streams` plus 1 */
  guint n_prefill, n_decode;
  GArray *tasks; /* FabTaskId: with which compute ends */
  FabTaskId start;
  guint decode_class;
} Kv;

/* What part of a layer's heads a rank has. */
typedef struct {
  double from, to;
  guint replica, n_replicas; /* ranks that have the same part, and which of them this one is */
} Part;

static Part
part_of (guint rank, guint n_ranks, guint n_heads)
{
  guint head;

  if (n_ranks <= n_heads)
    return (Part){ (double) rank / n_ranks, (double) (rank + 1) / n_ranks, 0, 1 };
  head = (guint) ((guint64) rank * n_heads / n_ranks);
  return (Part){ (double) head / n_heads, (double) (head + 1) / n_heads, rank % MAX (n_ranks / n_heads, 1),
                 MAX (n_ranks / n_heads, 1) };
}

/* The part of a layer's cache that goes from one rank of a prefill instance to one of a decode instance. Of ranks that
 * have the same heads one sends. */
static double
share_of (const Kv *self, const Cache *cache, guint p, guint d)
{
  Part from = part_of (p, (guint) self->params->prefill, cache->n_heads);
  Part to = part_of (d, (guint) self->params->decode, cache->n_heads);

  if (d % from.n_replicas != from.replica)
    return 0;
  return MAX (MIN (from.to, to.to) - MAX (from.from, to.from), 0);
}

static guint
n_targets (const Kv *self, const Cache *cache, guint p)
{
  guint n = 0;

  for (guint d = 0; d < (guint) self->params->decode; d++)
    n += share_of (self, cache, p, d) > 1e-9;
  return n;
}

static FlowStreams *
streams_of (Kv *self, guint from, guint to)
{
  gint64 key = (gint64) from << 32 | to;
  guint index = GPOINTER_TO_UINT (g_hash_table_lookup (self->pairs, &key));

  if (index == 0) {
    g_array_set_size (self->streams, self->streams->len + 1);
    index = self->streams->len;
    g_hash_table_insert (self->pairs, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (index));
  }
  return &g_array_index (self->streams, FlowStreams, index - 1);
}

/* What the layers `first` to before `end` send of one request, between two ranks of instances. */
static gboolean
add_pair (Kv *self, guint first, guint end, const guint *instances, guint p, guint d, const FabTaskId *after,
          GError **error)
{
  const KvParams *params = self->params;
  guint from = instances[0] * (guint) params->prefill + p, to = instances[1] * (guint) params->decode + d;
  double bytes = 0, n_messages = 0, n_blocks = ceil ((double) params->prompt / (double) params->block);
  guint n_beside = 1;

  for (guint i = first; i < end; i++) {
    const Cache *cache = &g_array_index (self->caches, Cache, i);
    double share = share_of (self, cache, p, d);

    if (share <= 1e-9)
      continue;
    bytes += share * cache->bytes * (double) params->prompt * (double) params->bits / 16;
    n_messages += n_blocks * cache->n_pieces;
    n_beside = MAX (n_beside, n_targets (self, cache, p));
  }
  if (bytes < 1)
    return TRUE;
  Flow flow = { .rank_class = instances[0],
                .target_class = self->decode_class,
                .from = from,
                .to = self->n_prefill + to,
                .bytes = (FabBytes) bytes,
                .message_bytes = bytes / n_messages,
                .n_beside = n_beside,
                .setup_ps = first == 0 ? params->setup_ps : 0,
                .start = self->start,
                .after = after };
  return flows_add (&self->flows, &flow, streams_of (self, from, to), error);
}

static gboolean
add_layers (Kv *self, guint first, guint end, const guint *instances, const FabTaskId *after, GError **error)
{
  for (guint p = 0; p < (guint) self->params->prefill; p++)
    for (guint d = 0; d < (guint) self->params->decode; d++)
      if (!add_pair (self, first, end, instances, p, d, after, error))
        return FALSE;
  return TRUE;
}

/* Computes a request in one piece or layer by layer, and sends what is ready. */
static gboolean
add_request (Kv *self, guint stream, guint instance, guint request, GError **error)
{
  const KvParams *params = self->params;
  guint n = self->caches->len, n_parts = params->overlaps ? n : 1;
  guint instances[] = { instance, (instance + request) % (guint) params->decodes };

  for (guint i = 0; i < n_parts; i++) {
    FabTimePs begin_ps = params->compute_ps / n_parts * i;
    FabTimePs end_ps = i + 1 == n_parts ? params->compute_ps : params->compute_ps / n_parts * (i + 1);
    FabTaskId task = fab_dag_builder_work (self->flows.builder, stream, FAB_SPAN_COMPUTE, end_ps - begin_ps,
                                           g_strdup_printf ("prompt%u.%u", request, i));

    if (request == 0 && i == 0)
      fab_dag_builder_after (self->flows.builder, task, self->start);
    if (!add_layers (self, i, params->overlaps ? i + 1 : n, instances, &task, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
add_instances (Kv *self, GError **error)
{
  FabDagBuilder *builder = self->flows.builder;
  guint n = (guint) self->params->prefills;
  g_autofree guint *computes = g_new (guint, n);
  FabTaskId end;

  for (guint i = 0; i < n; i++) {
    g_autofree char *name = g_strdup_printf ("prefill %u", i);
    guint index = fab_dag_builder_class (builder, name, i * (guint) self->params->prefill,
                                         (guint) self->params->prefill);

    computes[i] = fab_dag_builder_stream (builder, index, "compute");
  }
  self->decode_class = fab_dag_builder_class (builder, "decode", self->n_prefill, self->n_decode);
  guint arrive = fab_dag_builder_stream (builder, self->decode_class, "arrive");
  self->start = fab_dag_builder_work (builder, arrive, FAB_SPAN_LOAD, 0, g_strdup ("start"));
  for (guint i = 0; i < n; i++)
    for (guint r = 0; r < (guint) self->params->requests; r++)
      if (!add_request (self, computes[i], i, r, error))
        return FALSE;
  end = fab_dag_builder_work (builder, arrive, FAB_SPAN_LOAD, 0, g_strdup ("end"));
  for (guint i = 0; i < n; i++)
    fab_dag_builder_after (builder, end, fab_dag_builder_last (builder, computes[i]));
  for (guint k = 0; k < self->streams->len; k++)
    fab_dag_builder_after (
        builder, end, fab_dag_builder_last (builder, g_array_index (self->streams, FlowStreams, k).receives));
  fab_dag_builder_after_previous (builder, self->start, end);
  return TRUE;
}

static void
list_caches (Kv *self, const FabLayerStack *stack)
{
  for (guint i = 0; i < stack->layers->len; i++) {
    const FabLayer *layer = fab_layer_stack_layer (stack, i);

    for (guint s = 0; s < layer->segments->len; s++) {
      const FabSegment *segment = fab_layer_segment (layer, s);
      Cache cache = { segment->cache_bytes, segment->cache_heads, segment->cache_pieces };

      if (cache.bytes > 0)
        g_array_append_val (self->caches, cache);
    }
  }
}

/* "; prefills: 4 and decodes: 4 would use all", where as many of each do; else "". (transfer full) */
static char *
say_even (const Kv *self, guint n_ranks)
{
  guint64 pair = (guint64) self->params->prefill + self->params->decode;

  if (n_ranks % pair != 0)
    return g_strdup ("");
  return g_strdup_printf ("; prefills: %u and decodes: %u would use all", (guint) (n_ranks / pair),
                          (guint) (n_ranks / pair));
}

static gboolean
check_ranks (const Kv *self, GError **error)
{
  guint n_ranks = fab_cluster_n_ranks (self->flows.env->cluster);

  if (self->caches->len == 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "job: model '%s' has no attention, so it keeps no keys and values",
                      self->params->model);
  if (self->n_prefill + self->n_decode == n_ranks)
    return TRUE;
  g_autofree char *even = say_even (self, n_ranks);
  return fab_throw (
      error, FAB_ERROR_INPUT,
      "job: prefills x prefill and decodes x decode are %u + %u ranks, and the machine has %u%s",
      self->n_prefill, self->n_decode, n_ranks, even);
}

static gboolean
kv_build (const FabWorkloadEnv *env, gconstpointer params, FabDagBuilder *builder, FabJobTotals *totals,
          GError **error)
{
  const KvParams *p = params;
  g_autoptr (FabFootprintBuilder) footprints = fab_footprint_builder_new (env->cluster->graph);
  g_autoptr (FabLayerStack) stack = env->expand_model (env->catalog, p->model,
                                                       (guint) MIN (p->prompt, G_MAXINT32));
  g_autoptr (GArray) caches = g_array_new (FALSE, FALSE, sizeof (Cache));
  g_autoptr (GArray) streams = g_array_new (FALSE, TRUE, sizeof (FlowStreams));
  g_autoptr (GHashTable) pairs = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  Kv self = {
    .params = p,
    .flows = { .env = env, .builder = builder, .footprints = footprints, .message_ps = p->message_ps },
    .caches = caches,
    .streams = streams,
    .pairs = pairs,
  };

  self.n_prefill = (guint) MIN (p->prefills * p->prefill, G_MAXINT32 / 4);
  self.n_decode = (guint) MIN (p->decodes * p->decode, G_MAXINT32 / 4);
  list_caches (&self, stack);
  if (!check_ranks (&self, error))
    return FALSE;
  totals->tokens = (double) p->prompt * (double) p->requests * (double) p->prefills;
  totals->parameters = stack->parameters;
  return add_instances (&self, error);
}

const FabWorkloadOps fab_workload_kv = {
  .info = { .name = "kv",
            .summary = "Sends keys and values from prefill to decode instances (split serving).",
            .doc = "docs/models/kv.md",
            .params = kv_params,
            .params_size = sizeof (KvParams) },
  .build = kv_build,
};
