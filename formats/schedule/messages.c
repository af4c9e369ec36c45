/* SPDX-License-Identifier: Apache-2.0 */
/* messages.c - from nodes of ranks to messages that wait for one another.
 *
 * Nodes of all ranks have numbers, rank after rank. They are taken in an order in which nothing comes before what it
 * waits for. Each then has the messages that it waits for: of a send that it names, until it has left; of a receive,
 * until it has arrived, and what the receive waited for. O(nodes + dependencies + waits).
 */
#include "formats/schedule/messages.h"

#include <string.h>

#include "sim/base/error.h"

#define MOST_RANKS 65536
#define MOST_NODES 4194304
#define MOST_KNOWN_BYTES ((gsize) 256 << 20)

typedef struct {
  const FabTrace *trace;
  const FabGivenHint *hint;
  FabGiven *given;
  guint n_ranks, n_nodes;
  guint *firsts;    /* [ranks + 1] number of the first node of each rank */
  guint *ranks;     /* [nodes] rank */
  guint *partners;  /* [nodes] of a send its receive, of a receive its send; G_MAXUINT: none */
  guint *messages;  /* [nodes] message of a send, once it was taken */
  guint *n_missing; /* [nodes] nodes for which it still waits */
  GArray **next;    /* [nodes] guint: nodes that wait for it; NULL: none */
  GArray **waits;   /* [nodes] FabGivenWait: messages for which it waits; NULL: none */
  GPtrArray *known; /* guint32 *: of each message, a bit for each rank whose data it may carry */
  guint n_words;
  GError **error;
} Graph;

static const FabTracedRank *
rank_at (const Graph *self, guint rank)
{
  return g_ptr_array_index (self->trace->ranks, rank);
}

static const FabTraceNode *
node_at (const Graph *self, guint number)
{
  guint rank = self->ranks[number];

  return &g_array_index (rank_at (self, rank)->nodes, FabTraceNode, number - self->firsts[rank]);
}

static gboolean
is_message (const FabTraceNode *node)
{
  return node->kind == FAB_TRACE_COMM && node->peer >= 0;
}

static gboolean fail_node (const Graph *self, guint number, const char *format, ...) G_GNUC_PRINTF (3, 4);

static gboolean
fail_node (const Graph *self, guint number, const char *format, ...)
{
  const FabTraceNode *node = node_at (self, number);
  va_list args;

  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  return fab_throw (self->error, FAB_ERROR_INPUT, "%s: rank %u: node %" G_GUINT64_FORMAT " (%.60s): %s",
                    rank_at (self, self->ranks[number])->source, self->ranks[number], node->id, node->name,
                    text);
}

/* --- nodes --- */

static FabBytes
bytes_of (const Graph *self, guint number)
{
  const FabTraceNode *node = node_at (self, number);

  return g_array_index (rank_at (self, self->ranks[number])->comms, FabTraceComm, node->comm).bytes;
}

/* Ranks are sorted. Each from 0 on must be there once. */
static gboolean
check_ranks (const Graph *self)
{
  const char *source = rank_at (self, 0)->source;

  if (self->n_ranks < 2 || self->n_ranks > MOST_RANKS)
    return fab_throw (self->error, FAB_ERROR_INPUT,
                      "%s: a schedule has 2 to %d ranks, and %u %s found; the files of Chakra are named "
                      "NAME.0.et, NAME.1.et and so on",
                      source, MOST_RANKS, self->n_ranks, self->n_ranks == 1 ? "was" : "were");
  for (guint rank = 0; rank < self->n_ranks; rank++)
    if (rank_at (self, rank)->rank != rank)
      return fab_throw (self->error, FAB_ERROR_INPUT,
                        "%s: this is rank %" G_GINT64_FORMAT ", where rank %u is expected",
                        rank_at (self, rank)->source, rank_at (self, rank)->rank, rank);
  return TRUE;
}

static gboolean
number_nodes (Graph *self)
{
  gsize n = 0;

  for (guint rank = 0; rank < self->n_ranks; rank++)
    n += rank_at (self, rank)->nodes->len;
  if (n == 0 || n > MOST_NODES)
    return fab_throw (self->error, FAB_ERROR_INPUT, "%s: a schedule has 1 to %d nodes, not %" G_GSIZE_FORMAT,
                      rank_at (self, 0)->source, MOST_NODES, n);
  self->n_nodes = (guint) n;
  self->firsts = g_new0 (guint, self->n_ranks + 1);
  self->ranks = g_new0 (guint, n);
  self->partners = g_new (guint, n);
  self->messages = g_new0 (guint, n);
  self->n_missing = g_new0 (guint, n);
  self->next = g_new0 (GArray *, n);
  self->waits = g_new0 (GArray *, n);
  memset (self->partners, 0xff, n * sizeof (guint));
  for (guint rank = 0; rank < self->n_ranks; rank++) {
    self->firsts[rank + 1] = self->firsts[rank] + rank_at (self, rank)->nodes->len;
    for (guint i = self->firsts[rank]; i < self->firsts[rank + 1]; i++)
      self->ranks[i] = rank;
  }
  return TRUE;
}

static gboolean
check_node (const Graph *self, guint number)
{
  const FabTraceNode *node = node_at (self, number);

  if (node->kind != FAB_TRACE_COMM)
    return TRUE;
  if (node->peer < 0)
    return fail_node (self, number,
                      "a schedule has sends and receives; this is a collective, or has no peer");
  if (node->peer >= self->n_ranks || node->peer == self->ranks[number])
    return fail_node (self, number, "its peer is rank %" G_GINT64_FORMAT " of %u ranks", node->peer,
                      self->n_ranks);
  if (node->is_send && bytes_of (self, number) == 0)
    return fail_node (self, number, "the message has no bytes");
  return TRUE;
}

/* --- who waits for whom --- */

static void
add_edge (Graph *self, guint before, guint after)
{
  if (self->next[before] == NULL)
    self->next[before] = g_array_new (FALSE, FALSE, sizeof (guint));
  g_array_append_val (self->next[before], after);
  self->n_missing[after]++;
}

static gboolean
link_rank (Graph *self, guint rank)
{
  const FabTracedRank *traced = rank_at (self, rank);
  g_autoptr (GHashTable) by_id = g_hash_table_new (g_int64_hash, g_int64_equal);

  for (guint i = 0; i < traced->nodes->len; i++) {
    FabTraceNode *node = &g_array_index (traced->nodes, FabTraceNode, i);

    if (!g_hash_table_insert (by_id, &node->id, GUINT_TO_POINTER (self->firsts[rank] + i)))
      return fail_node (self, self->firsts[rank] + i, "another node has the same number");
  }
  for (guint i = 0; i < traced->nodes->len; i++) {
    const FabTraceNode *node = &g_array_index (traced->nodes, FabTraceNode, i);

    for (guint d = 0; d < node->n_deps; d++) {
      const guint64 *id = &g_array_index (traced->deps, guint64, node->first_dep + d);
      gpointer before;

      if (!g_hash_table_lookup_extended (by_id, id, NULL, &before))
        return fail_node (self, self->firsts[rank] + i,
                          "it waits for node %" G_GUINT64_FORMAT ", which is not there", *id);
      add_edge (self, GPOINTER_TO_UINT (before), self->firsts[rank] + i);
    }
  }
  return TRUE;
}

typedef struct {
  guint from, to;
  guint64 tag;
} Wire;

static guint
wire_hash (gconstpointer a)
{
  const Wire *wire = a;

  return wire->from * 2654435761u ^ wire->to * 40503u ^ (guint) (wire->tag ^ wire->tag >> 32) * 97u;
}

static gboolean
wire_equal (gconstpointer a, gconstpointer b)
{
  const Wire *x = a, *y = b;

  return x->from == y->from && x->to == y->to && x->tag == y->tag;
}

static Wire
wire_of (const Graph *self, guint number)
{
  const FabTraceNode *node = node_at (self, number);
  guint rank = self->ranks[number], peer = (guint) node->peer;

  return (Wire){ node->is_send ? rank : peer, node->is_send ? peer : rank, node->tag };
}

/* The nodes of a kind that use the same wire, in their order. */
static GHashTable *
queues_of (const Graph *self, gboolean is_send)
{
  GHashTable *queues = g_hash_table_new_full (wire_hash, wire_equal, g_free, (GDestroyNotify) g_array_unref);

  for (guint i = 0; i < self->n_nodes; i++) {
    const FabTraceNode *node = node_at (self, i);

    if (!is_message (node) || node->is_send != is_send)
      continue;
    Wire wire = wire_of (self, i);
    GArray *queue = g_hash_table_lookup (queues, &wire);

    if (queue == NULL) {
      queue = g_array_new (FALSE, FALSE, sizeof (guint));
      g_hash_table_insert (queues, g_memdup2 (&wire, sizeof wire), queue);
    }
    g_array_append_val (queue, i);
  }
  return queues;
}

/* Of those that are too many, the first is named. */
static gboolean
match_queues (Graph *self, const GArray *sends, const GArray *receives)
{
  guint n_sends = sends != NULL ? sends->len : 0, n_receives = receives != NULL ? receives->len : 0;

  for (guint i = 0; i < MIN (n_sends, n_receives); i++) {
    guint send = g_array_index (sends, guint, i), receive = g_array_index (receives, guint, i);
    FabBytes sent = bytes_of (self, send), got = bytes_of (self, receive);

    if (got != 0 && got != sent)
      return fail_node (self, receive,
                        "it receives %" G_GINT64_FORMAT " bytes, and rank %u sends %" G_GINT64_FORMAT,
                        (gint64) got, self->ranks[send], (gint64) sent);
    self->partners[send] = receive;
    self->partners[receive] = send;
    add_edge (self, send, receive);
  }
  if (n_sends > n_receives)
    return fail_node (self, g_array_index (sends, guint, n_receives),
                      "rank %" G_GINT64_FORMAT " has no receive for this message",
                      node_at (self, g_array_index (sends, guint, n_receives))->peer);
  if (n_receives > n_sends)
    return fail_node (self, g_array_index (receives, guint, n_sends),
                      "a deadlock: rank %" G_GINT64_FORMAT " never sends this message",
                      node_at (self, g_array_index (receives, guint, n_sends))->peer);
  return TRUE;
}

static gboolean
match_messages (Graph *self)
{
  g_autoptr (GHashTable) sends = queues_of (self, TRUE), receives = queues_of (self, FALSE);

  for (guint i = 0; i < self->n_nodes; i++) {
    if (!is_message (node_at (self, i)) || self->partners[i] != G_MAXUINT)
      continue;
    Wire wire = wire_of (self, i);

    if (!match_queues (self, g_hash_table_lookup (sends, &wire), g_hash_table_lookup (receives, &wire)))
      return FALSE;
  }
  return TRUE;
}

/* --- messages in order --- */

/* A rank waits for the departure of its own messages, and for the arrival of those of others. */
static void
add_wait (GArray *waits, guint message, gboolean is_departure)
{
  FabGivenWait wait = { message, is_departure };

  for (guint i = 0; i < waits->len; i++)
    if (g_array_index (waits, FabGivenWait, i).message == message)
      return;
  g_array_append_val (waits, wait);
}

/* What those that name `before` wait for. */
static void
pass_on (const Graph *self, guint before, GArray *waits)
{
  const FabTraceNode *node = node_at (self, before);

  if (is_message (node) && node->is_send) {
    add_wait (waits, self->messages[before], TRUE);
    return;
  }
  for (guint i = 0; self->waits[before] != NULL && i < self->waits[before]->len; i++) {
    const FabGivenWait *wait = &g_array_index (self->waits[before], FabGivenWait, i);

    add_wait (waits, wait->message, wait->is_departure);
  }
  if (is_message (node))
    add_wait (waits, self->messages[self->partners[before]], FALSE);
}

static gboolean
add_message (Graph *self, guint number, const GArray *waits)
{
  const FabTraceNode *node = node_at (self, number);
  guint32 *known = g_new0 (guint32, self->n_words);
  guint rank = self->ranks[number];

  known[rank / 32] = 1u << rank % 32;
  for (guint i = 0; i < waits->len; i++) {
    const guint32 *before = g_ptr_array_index (self->known, g_array_index (waits, FabGivenWait, i).message);

    for (guint w = 0; w < self->n_words; w++)
      known[w] |= before[w];
  }
  g_ptr_array_add (self->known, known);
  if (self->given->messages->len >= FAB_GIVEN_MOST_MESSAGES
      || self->known->len * (gsize) self->n_words * sizeof *known > MOST_KNOWN_BYTES)
    return fail_node (self, number, "the schedule has more messages than the reader has room for (%d)",
                      FAB_GIVEN_MOST_MESSAGES);
  if (self->given->waits->len + waits->len > FAB_GIVEN_MOST_WAITS)
    return fail_node (self, number, "the messages of the schedule wait for more than four million others");
  self->messages[number] = fab_given_add (self->given, rank, (guint) node->peer,
                                          (double) bytes_of (self, number) / (double) self->hint->bytes,
                                          waits);
  return TRUE;
}

/* Takes a node whose predecessors were all taken. */
static gboolean
take_node (Graph *self, guint number, GQueue *ready)
{
  const FabTraceNode *node = node_at (self, number);

  if (self->waits[number] == NULL)
    self->waits[number] = g_array_new (FALSE, FALSE, sizeof (FabGivenWait));
  if (is_message (node) && node->is_send && !add_message (self, number, self->waits[number]))
    return FALSE;
  for (guint i = 0; self->next[number] != NULL && i < self->next[number]->len; i++) {
    guint after = g_array_index (self->next[number], guint, i);

    if (self->waits[after] == NULL)
      self->waits[after] = g_array_new (FALSE, FALSE, sizeof (FabGivenWait));
    if (self->partners[number] != after || !node->is_send)
      pass_on (self, number, self->waits[after]);
    if (--self->n_missing[after] == 0)
      g_queue_push_tail (ready, GUINT_TO_POINTER (after));
  }
  g_clear_pointer (&self->waits[number], g_array_unref);
  return TRUE;
}

static gboolean
take_nodes (Graph *self)
{
  g_autoptr (GQueue) ready = g_queue_new ();

  for (guint i = 0; i < self->n_nodes; i++)
    if (self->n_missing[i] == 0)
      g_queue_push_tail (ready, GUINT_TO_POINTER (i));
  while (!g_queue_is_empty (ready))
    if (!take_node (self, GPOINTER_TO_UINT (g_queue_pop_head (ready)), ready))
      return FALSE;
  for (guint i = 0; i < self->n_nodes; i++)
    if (self->n_missing[i] > 0)
      return fail_node (self, i, "a deadlock: it waits for itself, over other nodes");
  return TRUE;
}

/* --- what the operation needs --- */

/* Smallest share of the operation's size that a rank has to receive: of a result that hangs on data of others, every
 * byte. */
static double
least_share (FabOp op, guint rank, guint n_ranks)
{
  switch ((guint) op) {
  case FAB_OP_ALL_GATHER:
  case FAB_OP_ALL_TO_ALL: return (double) (n_ranks - 1) / n_ranks;
  case FAB_OP_REDUCE_SCATTER: return 1.0 / n_ranks;
  case FAB_OP_REDUCE: return rank == 0 ? 1 : 0;
  case FAB_OP_BROADCAST: return rank == 0 ? 0 : 1;
  default: return 1;
  }
}

/* Whether the result of a rank hangs on data of another. */
static gboolean
needs (FabOp op, guint rank, guint other)
{
  return op == FAB_OP_REDUCE ? rank == 0 : op == FAB_OP_BROADCAST ? other == 0 : TRUE;
}

/* What a rank receives. */
typedef struct {
  double share;     /* of the operation's size */
  guint n_messages; /* each of which was rounded to whole bytes */
} Received;

static gboolean
check_rank (const Graph *self, guint rank, const guint32 *known, const Received *received)
{
  const double half_byte = 0.5 / (double) self->hint->bytes;
  const char *name = fab_op_names[self->given->op], *source = rank_at (self, rank)->source;
  double least = least_share (self->given->op, rank, self->n_ranks);

  for (guint other = 0; other < self->n_ranks; other++)
    if (other != rank && needs (self->given->op, rank, other) && (known[other / 32] >> other % 32 & 1) == 0)
      return fab_throw (self->error, FAB_ERROR_INPUT, "%s: this is no %s: no data of rank %u reach rank %u",
                        source, name, other, rank);
  if (received->share + half_byte * received->n_messages < least)
    return fab_throw (self->error, FAB_ERROR_INPUT,
                      "%s: this is no %s of %" G_GINT64_FORMAT
                      " bytes: rank %u receives %.0f bytes, and needs "
                      "at least %.0f",
                      source, name, (gint64) self->hint->bytes, rank,
                      received->share * (double) self->hint->bytes, least * (double) self->hint->bytes);
  return TRUE;
}

static gboolean
check_results (const Graph *self)
{
  g_autofree guint32 *known = g_new0 (guint32, (gsize) self->n_ranks * self->n_words);
  g_autofree Received *received = g_new0 (Received, self->n_ranks);

  for (guint i = 0; i < self->given->messages->len; i++) {
    const FabGivenMessage *message = &g_array_index (self->given->messages, FabGivenMessage, i);
    const guint32 *carried = g_ptr_array_index (self->known, i);

    received[message->to].share += message->weight;
    received[message->to].n_messages++;
    for (guint w = 0; w < self->n_words; w++)
      known[(gsize) message->to * self->n_words + w] |= carried[w];
  }
  for (guint rank = 0; rank < self->n_ranks; rank++)
    if (!check_rank (self, rank, known + (gsize) rank * self->n_words, &received[rank]))
      return FALSE;
  return TRUE;
}

/* --- whole --- */

/* The most connections over which a rank sends: pairs of a peer and a tag. */
static guint
count_channels (const Graph *self)
{
  g_autoptr (GHashTable) sends = queues_of (self, TRUE);
  g_autofree guint *n = g_new0 (guint, self->n_ranks);
  GHashTableIter iter;
  gpointer key;
  guint most = 1;

  g_hash_table_iter_init (&iter, sends);
  while (g_hash_table_iter_next (&iter, &key, NULL)) {
    guint *count = &n[((const Wire *) key)->from];

    *count += 1;
    most = MAX (most, *count);
  }
  return most;
}

static void
graph_clear (Graph *self)
{
  for (guint i = 0; i < self->n_nodes; i++) {
    g_clear_pointer (&self->next[i], g_array_unref);
    g_clear_pointer (&self->waits[i], g_array_unref);
  }
  g_free (self->firsts);
  g_free (self->ranks);
  g_free (self->partners);
  g_free (self->messages);
  g_free (self->n_missing);
  g_free (self->next);
  g_free (self->waits);
  g_clear_pointer (&self->known, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Graph, graph_clear)

static gboolean
read_graph (Graph *self)
{
  if (!check_ranks (self) || !number_nodes (self))
    return FALSE;
  for (guint i = 0; i < self->n_nodes; i++)
    if (!check_node (self, i))
      return FALSE;
  for (guint rank = 0; rank < self->n_ranks; rank++)
    if (!link_rank (self, rank))
      return FALSE;
  return match_messages (self) && take_nodes (self) && check_results (self);
}

FabGiven *
fab_given_of_messages (const FabTrace *trace, const FabGivenHint *hint, GError **error)
{
  const char *source = ((const FabTracedRank *) g_ptr_array_index (trace->ranks, 0))->source;
  g_autoptr (FabGiven) given = fab_given_new (hint->name, source);
  g_auto (Graph) graph = { .trace = trace, .hint = hint, .given = given, .error = error };

  if (hint->op < 0 || hint->bytes == 0) {
    fab_throw (error, FAB_ERROR_INPUT,
               "%s: sends and receives do not say what they add up to: give `op` (such as all_reduce) and "
               "`size` (of the operation whose messages these are)",
               source);
    return NULL;
  }
  graph.n_ranks = trace->ranks->len;
  graph.n_words = (graph.n_ranks + 31) / 32;
  graph.known = g_ptr_array_new_with_free_func (g_free);
  given->op = (FabOp) hint->op;
  given->n_ranks = graph.n_ranks;
  if (!read_graph (&graph))
    return NULL;
  given->n_channels = count_channels (&graph);
  fab_given_finish (given);
  return g_steal_pointer (&given);
}
