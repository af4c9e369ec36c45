/* SPDX-License-Identifier: Apache-2.0 */
/* ends.c - opens the two ends.
 *
 * The asking end sends its request. Both make buffers and queue pairs, exchange their cards (queue pair numbers, LID
 * or GID, keys, MTU) and connect.
 */
#include "validate/measure/verbs/ends.h"

#include <string.h>

#include "sim/base/error.h"
#include "validate/measure/clock.h"
#include "validate/measure/verbs/device.h"
#include "validate/measure/verbs/memory.h"
#include "validate/measure/verbs/verbs.h"
#include "validate/measure/verbs/work.h"

static gboolean verbs_meet (const FabVerbsPair *pair, GError **error);

/* Looking whether the person wants to end costs nothing beside so many messages. */
#define MESSAGES_PER_LOOK 1024

/* Latency and exchange: one message under way in each direction, on the first queue pair.
 *
 * A write is noticed by its last byte, which counts 1 ... 255, 1, ...; adapters write a message in order. A send is
 * noticed by its completion, a read by its own.
 */

typedef struct {
  FabVerbsPair *pair;
  FabVerbsPost post;
  volatile guint8 *arriving; /* last byte of what arrives here; NULL: completions tell */
  guint8 *leaving;           /* last byte of what is sent */
  guint n_sent, n_received;
  guint n_early; /* receives that were polled before they were awaited */
  guint n;
} Alone;

static guint8
mark (guint count)
{
  return (guint8) (1 + count % 255);
}

static void
alone_init (Alone *self, FabVerbsPair *pair, FabBytes size_bytes, guint n)
{
  gboolean is_write = pair->request.method == FAB_VERBS_WRITE;

  *self = (Alone){
    .pair = pair,
    .n = n,
    .post = { .size_bytes = size_bytes, .is_signalled = TRUE, .is_polled = is_write, .may_inline = TRUE }
  };
  if (!is_write)
    return;
  self->arriving = pair->memory.host + pair->memory.half_bytes + size_bytes - 1;
  self->leaving = pair->memory.host + size_bytes - 1;
  *self->arriving = 0;
}

/* Waits until this end's message is done, because the buffer may then be written again. */
static gboolean
reap (Alone *self, GError **error)
{
  FabVerbsSpin spin = { .turns = 0 };

  while (self->pair->queues[0].under_way > 0) {
    guint n = 0;

    if (!fab_verbs_poll_sends (self->pair, &n, error))
      return FALSE;
    if (n == 0 && fab_verbs_spin_is_over (&spin, self->pair))
      return fab_verbs_throw_timeout (self->pair, "sent", self->n_sent - 1, self->n, error);
  }
  return TRUE;
}

static gboolean
send_one (Alone *self, GError **error)
{
  if (self->n_sent % MESSAGES_PER_LOOK == MESSAGES_PER_LOOK - 1
      && !fab_control_check (self->pair->control, error))
    return FALSE;
  if (self->leaving != NULL)
    *self->leaving = mark (self->n_sent);
  self->n_sent++;
  return fab_verbs_post (self->pair, 0, &self->post, error);
}

/* In an exchange the other end may be one message ahead, but not two: it waits for ours. */
static gboolean
has_mark (const Alone *self)
{
  guint8 seen = *self->arriving;

  return seen == mark (self->n_received) || (seen != 0 && seen == mark (self->n_received + 1));
}

static gboolean
has_arrived (Alone *self, gboolean *has, GError **error)
{
  if (self->arriving != NULL) {
    *has = has_mark (self);
    return TRUE;
  }
  if (self->n_early == 0 && !fab_verbs_poll_receives (self->pair, &self->n_early, error))
    return FALSE;
  *has = self->n_early > 0;
  if (*has)
    self->n_early--;
  return TRUE;
}

/* While nothing arrives, it also polls the completions of what was sent: a write that failed arrives nowhere. */
static gboolean
receive_one (Alone *self, GError **error)
{
  FabVerbsSpin spin = { .turns = 0 };
  gboolean has = FALSE;

  for (;;) {
    guint n = 0;

    if (!has_arrived (self, &has, error))
      return FALSE;
    if (has)
      break;
    if (spin.turns % 64 == 63 && !fab_verbs_poll_sends (self->pair, &n, error))
      return FALSE;
    if (fab_verbs_spin_is_over (&spin, self->pair))
      return fab_verbs_throw_timeout (self->pair, "received", self->n_received, self->n, error);
  }
  self->n_received++;
  return TRUE;
}

static gboolean
ping_pong (Alone *self, GError **error)
{
  for (guint i = 0; i < self->n; i++) {
    if (self->pair->is_asking && !send_one (self, error))
      return FALSE;
    if (!receive_one (self, error))
      return FALSE;
    if (!self->pair->is_asking && !send_one (self, error))
      return FALSE;
    if (!reap (self, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
exchange (Alone *self, GError **error)
{
  for (guint i = 0; i < self->n; i++)
    if (!send_one (self, error) || !receive_one (self, error) || !reap (self, error))
      return FALSE;
  return TRUE;
}

static gboolean
read_all (Alone *self, GError **error)
{
  for (guint i = 0; i < self->n; i++)
    if (!send_one (self, error) || !reap (self, error))
      return FALSE;
  return TRUE;
}

/* Moves one message at a time. LATENCY: writes and sends go back and forth n times; reads are 2n whole ones, in
 * sequence, by the asking end, so that time / 2n is half a round trip, or one whole read. EXCHANGE: both ends send,
 * then both wait. */
static gboolean
verbs_move_alone (FabVerbsPair *pair, FabMeasureKind kind, FabBytes size_bytes, guint n_messages,
                  FabTimePs *elapsed_ps, GError **error)
{
  gboolean is_read = pair->request.method == FAB_VERBS_READ, is_done;
  FabTimePs start_ps;
  Alone self;

  alone_init (&self, pair, size_bytes, is_read ? 2 * n_messages : n_messages);
  if (!verbs_meet (pair, error))
    return FALSE;
  start_ps = fab_clock_ps ();
  if (is_read)
    is_done = !pair->is_asking || read_all (&self, error);
  else
    is_done = kind == FAB_MEASURE_EXCHANGE ? exchange (&self, error) : ping_pong (&self, error);
  *elapsed_ps = fab_clock_ps () - start_ps;
  if (is_read && pair->is_asking && is_done)
    pair->read_ps = MIN (pair->read_ps > 0 ? pair->read_ps : G_MAXINT64, *elapsed_ps / self.n);
  return is_done;
}

/* Measures bandwidth by keeping the queues full.
 *
 * Messages go to the queue pairs in turn, and every so many of them one requests a completion. The clock runs from
 * before the first post to the last completion, as in perftest; a completion of a reliable connection says that the
 * other end's adapter has the message.
 */

typedef struct {
  FabVerbsPair *pair;
  FabBytes size_bytes;
  guint share, signal_every;
  guint n_sends, n_posted, n_sent; /* to send, posted, done */
  guint n_receives, n_received;
} Stream;

static void
stream_init (Stream *self, FabVerbsPair *pair, FabBytes size_bytes, guint n_sends, guint n_receives)
{
  guint n_queues = pair->request.n_queues;

  *self = (Stream){ .pair = pair,
                    .size_bytes = size_bytes,
                    .share = fab_verbs_queue_share (&pair->request),
                    .n_sends = n_sends,
                    .n_receives = n_receives };
  /* at most half of the share, so that the queue does not run empty while a completion is awaited */
  self->signal_every = MAX (1, self->share / 2);
  for (guint i = 0; i < n_queues; i++)
    pair->queues[i].to_post = n_sends / n_queues + (i < n_sends % n_queues ? 1 : 0);
}

/* Posts while there is room in the window and in the queue whose turn it is. */
static gboolean
fill (Stream *self, GError **error)
{
  FabVerbsPair *pair = self->pair;

  while (self->n_posted < self->n_sends && self->n_posted - self->n_sent < pair->request.window) {
    guint i = self->n_posted % pair->request.n_queues;
    FabVerbsQueue *queue = &pair->queues[i];
    FabVerbsPost post = {
      .size_bytes = self->size_bytes,
      .is_signalled = queue->unsignalled + 1 >= self->signal_every || queue->to_post == 1,
    };

    if (queue->under_way >= self->share)
      return TRUE;
    if (!fab_verbs_post (pair, i, &post, error))
      return FALSE;
    queue->to_post--;
    self->n_posted++;
  }
  return TRUE;
}

static gboolean
throw_stuck (const Stream *self, GError **error)
{
  if (self->n_sent < self->n_sends)
    return fab_verbs_throw_timeout (self->pair, "completed", self->n_sent, self->n_sends, error);
  return fab_verbs_throw_timeout (self->pair, "received", self->n_received, self->n_receives, error);
}

static gboolean
run (Stream *self, GError **error)
{
  FabVerbsSpin spin = { .turns = 0 };
  guint n_moves = 0;

  while (self->n_sent < self->n_sends || self->n_received < self->n_receives) {
    guint sent = 0, received = 0;

    if (!fill (self, error) || !fab_verbs_poll_sends (self->pair, &sent, error))
      return FALSE;
    if (self->n_received < self->n_receives && !fab_verbs_poll_receives (self->pair, &received, error))
      return FALSE;
    self->n_sent += sent;
    self->n_received += received;
    if (sent + received > 0) {
      fab_verbs_spin_reset (&spin);
      if (++n_moves % MESSAGES_PER_LOOK == 0 && !fab_control_check (self->pair->control, error))
        return FALSE;
    } else if (fab_verbs_spin_is_over (&spin, self->pair))
      return throw_stuck (self, error);
  }
  return TRUE;
}

/* Takes the longer time of the two directions. The clocks of the ends show different times, but run equally fast. */
static gboolean
take_longer (const FabVerbsPair *pair, FabTimePs *elapsed_ps, GError **error)
{
  guint64 big = GUINT64_TO_BE ((guint64) *elapsed_ps);

  if (!pair->is_asking)
    return pair->control->send (pair->control, &big, sizeof big, error);
  if (!pair->control->receive (pair->control, &big, sizeof big, error))
    return FALSE;
  *elapsed_ps = MAX (*elapsed_ps, (FabTimePs) (GUINT64_FROM_BE (big) & G_MAXINT64));
  return TRUE;
}

/* Moves up to `window` messages at a time. BANDWIDTH: the asking end, from its first post to its last completion.
 * BIDIRECTIONAL: both ends; the time is that of the slower one. */
static gboolean
verbs_move_stream (FabVerbsPair *pair, FabMeasureKind kind, FabBytes size_bytes, guint n_messages,
                   FabTimePs *elapsed_ps, GError **error)
{
  gboolean is_both = kind == FAB_MEASURE_BIDIRECTIONAL, is_send = pair->request.method == FAB_VERBS_SEND;
  FabTimePs start_ps;
  Stream self;

  stream_init (&self, pair, size_bytes, is_both || pair->is_asking ? n_messages : 0,
               is_send && (is_both || !pair->is_asking) ? n_messages : 0);
  if (!verbs_meet (pair, error))
    return FALSE;
  start_ps = fab_clock_ps ();
  if (!run (&self, error))
    return FALSE;
  /* the caller subtracts one round trip, which for reads is two whole reads: one too many */
  *elapsed_ps = fab_clock_ps () - start_ps + pair->read_ps;
  return !is_both || take_longer (pair, elapsed_ps, error);
}

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

/* Tells the other end that this one is ready, and returns when both are. */
static gboolean
verbs_meet (const FabVerbsPair *pair, GError **error)
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
    return verbs_move_stream (pair, kind, size_bytes, n_messages, elapsed_ps, error);
  return verbs_move_alone (pair, kind, size_bytes, n_messages, elapsed_ps, error);
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
