/* SPDX-License-Identifier: Apache-2.0 */
/* ends.c - opens the two ends.
 *
 * The asking end sends its request. Both make buffers and queue pairs, exchange their cards (queue pair numbers, LID
 * or GID, keys, MTU) and connect.
 */
#include "validate/measure/verbs/ends.h"

#include <string.h>

#include "sim/base/error.h"
#include "validate/measure/verbs/device.h"
#include "validate/measure/verbs/memory.h"
#include "validate/measure/verbs/move.h"
#include "validate/measure/verbs/queue.h"
#include "validate/measure/verbs/wire.h"
#include "validate/measure/verbs/work.h"

/* Messages in flight when no window is requested: the default of perftest's --tx-depth. */
enum { USUAL_WINDOW = 128 };

enum { USUAL_TIMEOUT_S = 30 };

static gboolean
make_request (FabVerbsPair *pair, const FabVerbsParams *params, const FabMeasurePlan *plan,
              FabBytes max_bytes, GError **error)
{
  FabVerbsRequest *request = &pair->request;

  if (plan->window > FAB_VERBS_MAX_WINDOW)
    return fab_throw (error, FAB_ERROR_INPUT, "verbs keeps at most %d messages under way",
                      FAB_VERBS_MAX_WINDOW);
  *request = (FabVerbsRequest){
    .magic = FAB_VERBS_REQUEST,
    .link_layer = pair->port.attr.link_layer,
    .method = (guint32) params->method,
    .place = (guint32) params->peer_memory,
    .mtu = (guint32) params->mtu,
    .n_queues = (guint32) params->n_queue_pairs,
    .window = plan->window > 0 ? plan->window : USUAL_WINDOW,
    .inline_bytes = (guint32) params->inline_bytes,
    .service_level = (guint32) params->service_level,
    .traffic_class = (guint32) params->traffic_class,
    .is_relaxed = (guint32) params->relaxed_ordering,
    .max_bytes = max_bytes,
  };
  g_snprintf (request->name, sizeof request->name, "%s:%u", pair->port.name, pair->port.number);
  return TRUE;
}

/* Opens the asking end's port: the one that backend.c names, else the first active one. */
static gboolean
open_port (FabVerbsPair *pair, const FabVerbsParams *params, GError **error)
{
  g_autoptr (GPtrArray) names = fab_verbs_active_ports (params->device, params->port, error);

  return names != NULL && fab_verbs_port_open (&pair->port, names->pdata[0], error);
}

static gboolean
agree (FabVerbsPair *pair, const FabVerbsParams *params, const FabMeasurePlan *plan, FabBytes max_bytes,
       GError **error)
{
  if (pair->is_asking)
    return open_port (pair, params, error) && make_request (pair, params, plan, max_bytes, error)
        && pair->control->send (pair->control, &pair->request, sizeof pair->request, error);
  return fab_verbs_receive_request (pair->control, &pair->request, error)
      && fab_verbs_port_answer (&pair->port, params, &pair->request, error);
}

static gboolean
check_size (const FabVerbsPair *pair, GError **error)
{
  g_autofree char *most = fab_units_show (FAB_UNIT_BYTES, pair->port.attr.max_msg_sz);

  return pair->request.max_bytes <= pair->port.attr.max_msg_sz
      || fab_throw (error, FAB_ERROR_INPUT, "%s:%u moves messages of up to %s: measure smaller ones",
                    pair->port.name, pair->port.number, most);
}

static guint32
own_mtu (const FabVerbsPair *pair, const FabVerbsParams *params)
{
  guint32 mtu = (guint32) pair->port.attr.active_mtu;

  if (pair->request.mtu != 0)
    mtu = MIN (mtu, pair->request.mtu);
  return params->mtu != 0 ? MIN (mtu, (guint32) params->mtu) : mtu;
}

static gboolean
fill_card (FabVerbsPair *pair, const FabVerbsParams *params, GError **error)
{
  FabVerbsCard *card = &pair->here;

  card->magic = FAB_VERBS_CARD;
  g_snprintf (card->name, sizeof card->name, "%s:%u", pair->port.name, pair->port.number);
  card->mtu = own_mtu (pair, params);
  card->max_reads_in = (guint32) CLAMP (pair->port.device_attr.max_qp_rd_atom, 0, 255);
  card->max_reads_out = (guint32) CLAMP (pair->port.device_attr.max_qp_init_rd_atom, 0, 255);
  card->source_address = pair->memory.address;
  card->address = fab_verbs_memory_receiving (&pair->memory);
  card->rkey = pair->memory.mr->rkey;
  card->polled_rkey = pair->memory.polled_mr->rkey;
  return fab_verbs_port_address (&pair->port, params->gid_index, card, &pair->gid_index, error);
}

static gboolean
make_own (FabVerbsPair *pair, const FabVerbsParams *params, GError **error)
{
  const FabVerbsRequest *request = &pair->request;
  FabVerbsPlace place = (FabVerbsPlace) (pair->is_asking ? (guint32) params->memory : request->place);

  if (!check_size (pair, error))
    return FALSE;
  pair->pd = ibv_alloc_pd (pair->port.context);
  if (pair->pd == NULL)
    return fab_throw (error, FAB_ERROR_UNSUPPORTED, "%s has no protection domain left", pair->port.name);
  return fab_verbs_memory_init (&pair->memory, pair->pd, params, place, request->max_bytes,
                                request->is_relaxed != 0, request->method == FAB_VERBS_WRITE, error)
      && fab_verbs_queues_init (pair, error) && fill_card (pair, params, error);
}

static gboolean
connect_ends (FabVerbsPair *pair, GError **error)
{
  if (!pair->control->send (pair->control, &pair->here, sizeof pair->here, error)
      || !fab_verbs_receive_card (pair->control, &pair->there, error)
      || !fab_verbs_queues_connect (pair, error))
    return FALSE;
  for (guint i = 0; i < pair->request.n_queues; i++)
    for (guint k = 0; k < pair->n_receives; k++)
      if (!fab_verbs_post_receive (pair, i, error))
        return FALSE;
  return TRUE;
}

static void
close_pair (FabPair *base)
{
  FabVerbsPair *pair = (FabVerbsPair *) base;

  fab_verbs_queues_clear (pair);
  fab_verbs_memory_clear (&pair->memory);
  if (pair->pd != NULL)
    ibv_dealloc_pd (pair->pd);
  fab_verbs_port_clear (&pair->port);
  g_free (pair->note);
  g_free (pair);
}

static FabPair *
open_pair (FabControl *control, gconstpointer params, const FabMeasurePlan *plan, FabBytes max_bytes,
           gboolean is_asking, GError **error)
{
  FabVerbsPair *pair = g_new0 (FabVerbsPair, 1);

  pair->control = control;
  pair->is_asking = is_asking;
  pair->timeout_s = plan->timeout_s > 0 ? plan->timeout_s : USUAL_TIMEOUT_S;
  if (agree (pair, params, plan, max_bytes, error) && make_own (pair, params, error)
      && connect_ends (pair, error)) {
    pair->base.ops = fab_verbs_ops ((FabVerbsMethod) pair->request.method,
                                    pair->memory.gpu != NULL || pair->request.place != FAB_VERBS_HOST);
    return &pair->base;
  }
  close_pair (&pair->base);
  return NULL;
}

gboolean
fab_verbs_meet (const FabVerbsPair *pair, GError **error)
{
  FabControl *control = pair->control;
  guint8 byte = 1;

  if (pair->is_asking)
    return control->send (control, &byte, 1, error) && control->receive (control, &byte, 1, error);
  return control->receive (control, &byte, 1, error) && control->send (control, &byte, 1, error);
}

static gboolean
move (FabPair *base, FabMeasureKind kind, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
      GError **error)
{
  FabVerbsPair *pair = (FabVerbsPair *) base;

  if (kind >= FAB_N_MEASURE_KINDS || !base->ops->can[kind] || size_bytes < 1
      || size_bytes > pair->request.max_bytes || n_messages < 1)
    return fab_throw (error, FAB_ERROR_INPUT, "%s was asked for messages that were not agreed on",
                      pair->here.name);
  if (kind == FAB_MEASURE_BANDWIDTH || kind == FAB_MEASURE_BIDIRECTIONAL)
    return fab_verbs_move_stream (pair, kind, size_bytes, n_messages, elapsed_ps, error);
  return fab_verbs_move_alone (pair, kind, size_bytes, n_messages, elapsed_ps, error);
}

static void
set_text (char **field, char *text)
{
  g_free (*field);
  *field = text;
}

/* Describes the ends from where bytes come to where they go: a read takes them from the other end. */
static void
describe (const FabPair *base, FabSeries *series)
{
  const FabVerbsPair *pair = (const FabVerbsPair *) base;
  const FabVerbsRequest *request = &pair->request;
  gboolean is_stream = series->kind == FAB_MEASURE_BANDWIDTH || series->kind == FAB_MEASURE_BIDIRECTIONAL;
  gboolean is_read = request->method == FAB_VERBS_READ;
  char *here = g_strdup_printf ("%s@%s", pair->here.name, pair->control->here);
  char *there = g_strdup_printf ("%s@%s", pair->there.name, pair->control->there);
  const char *here_memory = fab_verbs_place_names[pair->memory.gpu != NULL ? FAB_VERBS_GPU : FAB_VERBS_HOST];
  const char *there_memory = fab_verbs_place_names[request->place];

  set_text (&series->from, is_read ? there : here);
  set_text (&series->to, is_read ? here : there);
  set_text (&series->from_memory, g_strdup (is_read ? there_memory : here_memory));
  set_text (&series->to_memory, g_strdup (is_read ? here_memory : there_memory));
  set_text (&series->method, g_strdup (fab_verbs_method_names[request->method]));
  set_text (&series->note, g_strdup (pair->note));
  series->window = is_stream ? request->window : 1;
  series->n_queue_pairs = is_stream ? request->n_queues : 1;
  series->mtu_bytes = fab_verbs_mtu_bytes ((enum ibv_mtu) pair->mtu);
}

#define OPS(...)                                                                                 \
  {                                                                                              \
    .name = "verbs", .open = open_pair, .move = move, .describe = describe, .close = close_pair, \
    .can = { __VA_ARGS__ },                                                                      \
  }

static const FabPairOps ops_all = OPS ([FAB_MEASURE_LATENCY] = TRUE, [FAB_MEASURE_BANDWIDTH] = TRUE,
                                       [FAB_MEASURE_EXCHANGE] = TRUE, [FAB_MEASURE_BIDIRECTIONAL] = TRUE);
static const FabPairOps ops_read =
    OPS ([FAB_MEASURE_LATENCY] = TRUE, [FAB_MEASURE_BANDWIDTH] = TRUE, [FAB_MEASURE_BIDIRECTIONAL] = TRUE);
static const FabPairOps ops_write_gpu =
    OPS ([FAB_MEASURE_BANDWIDTH] = TRUE, [FAB_MEASURE_BIDIRECTIONAL] = TRUE);

const FabPairOps *
fab_verbs_ops (FabVerbsMethod method, gboolean has_gpu)
{
  if (method == FAB_VERBS_READ)
    return &ops_read;
  return method == FAB_VERBS_WRITE && has_gpu ? &ops_write_gpu : &ops_all;
}
