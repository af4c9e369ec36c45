/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.c - plays thread blocks without time: who waits for whom, and whose data every chunk holds.
 *
 * What a chunk holds is a value: a place of the operation's data and the set of ranks whose data are added up there.
 * Equal values are kept once. O(chunks that are moved) time; memory for each different value a bit per rank.
 *
 * A message waits for what its block did before: for the block's last message to leave, and for the last message that
 * arrived on each connection, of this block and of those that it waited for. What a message has waited for, those that
 * wait for the message need not name again.
 */
#include "formats/schedule/blocks.h"

#include <string.h>

#include "formats/schedule/sums.h"
#include "sim/base/error.h"

#define MOST_SLOTS 16777216  /* chunks of all buffers */
#define MOST_MOVES 50000000  /* chunks that all steps move together */
#define MOST_LOOKS 200000000 /* questions whether a step can be done */
#define MOST_KEPT_WAITS 4194304

/* --- messages to a person --- */

static gboolean fail_at (const FabBlocks *self, guint line, guint column, GError **error, const char *format,
                         ...) G_GNUC_PRINTF (5, 6);

static gboolean
fail_at (const FabBlocks *self, guint line, guint column, GError **error, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  return fab_throw (error, FAB_ERROR_INPUT, "%s:%u:%u: %s", self->source, line, column, text);
}

static const FabBlock *
block_at (const FabBlocks *self, guint index)
{
  return &g_array_index (self->blocks, FabBlock, index);
}

static FabBlockStep *
step_at (const FabBlocks *self, guint index)
{
  return &g_array_index (self->steps, FabBlockStep, index);
}

/* --- checks of single steps --- */

static const char *const buffer_names[] = { "input", "output", "scratch" };

static gboolean
check_chunks (const FabBlocks *self, guint gpu, const FabBlockStep *step, FabChunks chunks, GError **error)
{
  guint n = self->sizes[gpu].n[chunks.buffer];

  if (step->n <= n && chunks.at <= n - step->n)
    return TRUE;
  return fail_at (self, step->line, step->column, error,
                  "chunks %u to %u of the %s buffer of gpu %u, which has %u", chunks.at,
                  chunks.at + step->n - 1, buffer_names[chunks.buffer], gpu, n);
}

static gboolean
check_step (const FabBlocks *self, const FabBlock *block, const FabBlockStep *step, GError **error)
{
  gboolean reads = step->adds || (step->stores && !step->receives) || (step->sends && !step->receives);

  if (step->receives && block->receive_from < 0)
    return fail_at (self, step->line, step->column, error,
                    "the step receives, but its thread block has no recv=\"RANK\" to receive from");
  if (step->sends && block->send_to < 0)
    return fail_at (self, step->line, step->column, error,
                    "the step sends, but its thread block has no send=\"RANK\" to send to");
  if ((step->receives || reads || step->stores) && step->n == 0)
    return fail_at (self, step->line, step->column, error, "the step moves no chunk; cnt is at least 1");
  return (!reads || check_chunks (self, block->gpu, step, step->src, error))
      && (!step->stores || check_chunks (self, block->gpu, step, step->dst, error));
}

static gint64
key_of_block (guint gpu, gint64 id)
{
  return (gint64) ((guint64) gpu << 32 | (guint64) id);
}

/* Turns the ids of blocks for which steps wait into indices. */
static gboolean
resolve_waits (FabBlocks *self, GHashTable *by_id, GError **error)
{
  for (guint b = 0; b < self->blocks->len; b++) {
    const FabBlock *block = block_at (self, b);

    for (guint s = block->first_step; s < block->first_step + block->n_steps; s++) {
      FabBlockStep *step = step_at (self, s);
      gint64 key = key_of_block (block->gpu, step->wait_block);
      gpointer index;

      if (!check_step (self, block, step, error))
        return FALSE;
      if (step->wait_block < 0)
        continue;
      if (!g_hash_table_lookup_extended (by_id, &key, NULL, &index)
          || step->wait_step >= block_at (self, GPOINTER_TO_UINT (index))->n_steps)
        return fail_at (self, step->line, step->column, error,
                        "the step waits for step %" G_GINT64_FORMAT
                        " of thread block %d of gpu %u, which does not exist",
                        step->wait_step, step->wait_block, block->gpu);
      step->wait_block = (gint) GPOINTER_TO_UINT (index);
      step_at (self, block_at (self, GPOINTER_TO_UINT (index))->first_step + (guint) step->wait_step)
          ->is_awaited = 1;
    }
  }
  return TRUE;
}

static GHashTable *
index_blocks (const FabBlocks *self, GError **error)
{
  g_autoptr (GHashTable) by_id = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  for (guint b = 0; b < self->blocks->len; b++) {
    const FabBlock *block = block_at (self, b);
    gint64 key = key_of_block (block->gpu, block->id);

    if (!g_hash_table_insert (by_id, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (b))) {
      fail_at (self, block->line, block->column, error,
               "gpu %u has two thread blocks with the id %" G_GINT64_FORMAT, block->gpu, block->id);
      return NULL;
    }
  }
  return g_steal_pointer (&by_id);
}

/* --- connections --- */

typedef struct {
  gint64 from, to, channel;
} Wire;

static guint
wire_hash (gconstpointer data)
{
  const Wire *self = data;

  return (guint) ((self->from * 31 + self->to) * 31 + self->channel);
}

static gboolean
wire_equal (gconstpointer a, gconstpointer b)
{
  const Wire *x = a, *y = b;

  return x->from == y->from && x->to == y->to && x->channel == y->channel;
}

static gboolean
add_wire (const FabBlocks *self, GHashTable *wires, const FabBlock *block, guint index, gboolean is_sender,
          GError **error)
{
  Wire wire = { is_sender ? block->gpu : block->receive_from, is_sender ? block->send_to : block->gpu,
                block->channel };

  if (wire.from == wire.to)
    return fail_at (self, block->line, block->column, error, "gpu %u exchanges messages with itself",
                    block->gpu);
  if (g_hash_table_insert (wires, g_memdup2 (&wire, sizeof wire), GUINT_TO_POINTER (index)))
    return TRUE;
  return fail_at (self, block->line, block->column, error,
                  "two thread blocks of gpu %u %s gpu %" G_GINT64_FORMAT " on channel %" G_GINT64_FORMAT
                  "; each needs a channel of its own",
                  block->gpu, is_sender ? "send to" : "receive from", is_sender ? wire.to : wire.from,
                  block->channel);
}

/* Finds for each block the one that receives what it sends; G_MAXUINT: nobody does. */
static guint *
find_receivers (const FabBlocks *self, GError **error)
{
  g_autoptr (GHashTable) senders = g_hash_table_new_full (wire_hash, wire_equal, g_free, NULL),
                         receivers = g_hash_table_new_full (wire_hash, wire_equal, g_free, NULL);
  g_autofree guint *found = g_new (guint, self->blocks->len + 1);

  for (guint b = 0; b < self->blocks->len; b++) {
    const FabBlock *block = block_at (self, b);

    if ((block->send_to >= 0 && !add_wire (self, senders, block, b, TRUE, error))
        || (block->receive_from >= 0 && !add_wire (self, receivers, block, b, FALSE, error)))
      return NULL;
  }
  for (guint b = 0; b < self->blocks->len; b++) {
    const FabBlock *block = block_at (self, b);
    Wire wire = { block->gpu, block->send_to, block->channel };
    gpointer receiver;

    found[b] = block->send_to >= 0 && g_hash_table_lookup_extended (receivers, &wire, NULL, &receiver)
                 ? GPOINTER_TO_UINT (receiver)
                 : G_MAXUINT;
  }
  return g_steal_pointer (&found);
}

/* --- playing --- */

/* The last message of a kind: sent by a block, or received by a block. */
typedef struct {
  guint key; /* 2 * block + (received) */
  guint message;
} Wait;

typedef struct {
  guint first_value, n, message;
} Parcel;

typedef struct {
  FabBlocks *blocks;
  const guint *receivers;
  FabGiven *given; /* NULL: messages are not recorded */
  FabSums values;
  gsize *slots[FAB_N_BUFFERS]; /* [n_ranks] where a buffer begins in `chunks` */
  guint *chunks;               /* numbers of values */
  guint *done;                 /* [blocks] steps */
  GArray **inbox;              /* [blocks] Parcel */
  guint *n_taken;              /* [blocks] of the inbox */
  GArray *parcels;             /* guint: values that are on their way */
  GArray **waits;              /* [blocks] Wait */
  GHashTable *kept;            /* from step to GArray of Wait */
  gsize n_kept;
  guint64 n_moves, n_looks;
  guint n_messages;
  GArray *received; /* guint: of the present step */
  GError **error;
} Play;

static guint *
chunk_at (const Play *self, guint gpu, FabChunks chunks)
{
  FabBuffer buffer = self->blocks->is_in_place && chunks.buffer == FAB_BUFFER_OUT ? FAB_BUFFER_IN
                                                                                  : chunks.buffer;

  return self->chunks + self->slots[buffer][gpu] + chunks.at;
}

/* Chunks of the operation's size that belong to one rank, where it is divided among ranks. */
static guint
chunks_of_rank (const FabBlocks *self)
{
  return self->n_chunks / self->n_ranks;
}

static gboolean
is_divided (FabOp op)
{
  return op == FAB_OP_ALL_GATHER || op == FAB_OP_REDUCE_SCATTER || op == FAB_OP_ALL_TO_ALL;
}

/* What a rank has at first. */
static gboolean
fill_inputs (Play *self)
{
  FabBlocks *blocks = self->blocks;
  gboolean is_gather = blocks->op == FAB_OP_ALL_GATHER;
  guint n = is_gather ? chunks_of_rank (blocks) : blocks->n_chunks;

  for (guint rank = 0; rank < blocks->n_ranks; rank++) {
    guint first = is_gather && blocks->is_in_place ? rank * n : 0;
    guint *chunk = chunk_at (self, rank, (FabChunks){ FAB_BUFFER_IN, first });

    if (blocks->op == FAB_OP_BROADCAST && rank != blocks->root)
      continue;
    for (guint k = 0; k < n; k++) {
      guint place = is_gather || blocks->op == FAB_OP_ALL_TO_ALL ? rank * n + k : k;

      chunk[k] = fab_sums_one (&self->values, place, rank);
      if (chunk[k] == 0)
        return FALSE;
    }
  }
  for (guint i = 0; !blocks->is_in_place && i < blocks->copies->len; i++) {
    const FabFirstCopy *copy = &g_array_index (blocks->copies, FabFirstCopy, i);

    *chunk_at (self, copy->gpu,
               (FabChunks){ FAB_BUFFER_OUT, copy->out }) = *chunk_at (self, copy->gpu,
                                                                      (FabChunks){ FAB_BUFFER_IN, copy->in });
  }
  return TRUE;
}

static guint64
count_slots (const FabBlocks *self)
{
  guint64 n = 0;

  for (guint rank = 0; rank < self->n_ranks; rank++)
    for (guint b = 0; b < FAB_N_BUFFERS; b++)
      n += self->sizes[rank].n[b];
  return n;
}

static void
play_init (Play *self, FabBlocks *blocks, const guint *receivers, FabGiven *given, GError **error)
{
  guint n = blocks->blocks->len;
  gsize at = 0;

  *self = (Play){ .blocks = blocks, .receivers = receivers, .given = given, .error = error };
  fab_sums_init (&self->values, blocks->n_ranks);
  for (guint b = 0; b < FAB_N_BUFFERS; b++) {
    self->slots[b] = g_new (gsize, blocks->n_ranks);
    for (guint rank = 0; rank < blocks->n_ranks; rank++) {
      self->slots[b][rank] = at;
      at += blocks->sizes[rank].n[b];
    }
  }
  self->chunks = g_new0 (guint, at + 1);
  self->done = g_new0 (guint, n + 1);
  self->n_taken = g_new0 (guint, n + 1);
  self->inbox = g_new (GArray *, n + 1);
  self->waits = g_new (GArray *, n + 1);
  for (guint b = 0; b < n; b++) {
    self->inbox[b] = g_array_new (FALSE, FALSE, sizeof (Parcel));
    self->waits[b] = g_array_new (FALSE, FALSE, sizeof (Wait));
  }
  self->parcels = g_array_new (FALSE, FALSE, sizeof (guint));
  self->received = g_array_new (FALSE, FALSE, sizeof (guint));
  self->kept = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_array_unref);
}

static void
play_clear (Play *self)
{
  for (guint b = 0; b < self->blocks->blocks->len; b++) {
    g_array_unref (self->inbox[b]);
    g_array_unref (self->waits[b]);
  }
  for (guint b = 0; b < FAB_N_BUFFERS; b++)
    g_free (self->slots[b]);
  g_free (self->chunks);
  g_free (self->done);
  g_free (self->n_taken);
  g_free (self->inbox);
  g_free (self->waits);
  g_array_unref (self->parcels);
  g_array_unref (self->received);
  g_hash_table_unref (self->kept);
  fab_sums_clear (&self->values);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Play, play_clear)

/* --- who waits for whom --- */

static void
note_wait (GArray *waits, guint key, guint message)
{
  Wait wait = { key, message };

  for (guint i = 0; i < waits->len; i++) {
    Wait *known = &g_array_index (waits, Wait, i);

    if (known->key == key) {
      known->message = MAX (known->message, message);
      return;
    }
  }
  g_array_append_val (waits, wait);
}

static void
note_waits (GArray *waits, const GArray *others)
{
  for (guint i = 0; i < others->len; i++)
    note_wait (waits, g_array_index (others, Wait, i).key, g_array_index (others, Wait, i).message);
}

static gboolean
keep_waits (Play *self, guint block, guint step)
{
  GArray *waits = self->waits[block], *kept = g_array_sized_new (FALSE, FALSE, sizeof (Wait), waits->len);

  g_array_append_vals (kept, waits->data, waits->len);
  g_hash_table_insert (self->kept, GUINT_TO_POINTER (step), kept);
  self->n_kept += waits->len;
  return self->n_kept <= MOST_KEPT_WAITS;
}

/* --- a step --- */

static gboolean
fail_step (const Play *self, const FabBlockStep *step, const char *what)
{
  return fail_at (self->blocks, step->line, step->column, self->error, "%s", what);
}

static gboolean
add_chunk (Play *self, const FabBlockStep *step, guint *to, guint other)
{
  const guint *a = fab_sums_at (&self->values, *to), *b = fab_sums_at (&self->values, other);

  if (a == NULL || b == NULL)
    return fail_step (self, step, "the step adds a chunk that holds nothing yet");
  if (a[FAB_SUM_PLACE] != b[FAB_SUM_PLACE])
    return fail_at (self->blocks, step->line, step->column, self->error,
                    "the step adds chunks that do not belong together: chunk %u and chunk %u of the data",
                    a[FAB_SUM_PLACE], b[FAB_SUM_PLACE]);
  guint twice = fab_sums_find_twice (&self->values, a, b);
  if (twice != G_MAXUINT)
    return fail_at (self->blocks, step->line, step->column, self->error,
                    "the step adds what gpu %u contributes a second time", twice);
  *to = fab_sums_add (&self->values, *to, other);
  return *to != 0
      || fail_step (self, step, "the file makes more different sums than the reader has room for (128 MiB)");
}

static gboolean
send_chunks (Play *self, guint index, const FabBlockStep *step, const guint *values)
{
  const FabBlock *block = block_at (self->blocks, index);
  Parcel parcel = { self->parcels->len, step->n, self->n_messages };
  guint receiver = self->receivers[index];

  if (receiver == G_MAXUINT)
    return fail_at (self->blocks, step->line, step->column, self->error,
                    "the step sends to gpu %" G_GINT64_FORMAT " on channel %" G_GINT64_FORMAT
                    ", which has no thread block that receives there",
                    block->send_to, block->channel);
  if (++self->n_messages > FAB_GIVEN_MOST_MESSAGES)
    return fail_at (self->blocks, step->line, step->column, self->error, "the file has more than %d messages",
                    FAB_GIVEN_MOST_MESSAGES);
  g_array_append_vals (self->parcels, values, step->n);
  g_array_append_val (self->inbox[receiver], parcel);
  if (self->given != NULL) {
    const GArray *before = self->waits[index];
    g_autoptr (GArray) waits = g_array_sized_new (FALSE, FALSE, sizeof (FabGivenWait), before->len);

    for (guint i = 0; i < before->len; i++) {
      const Wait *wait = &g_array_index (before, Wait, i);
      FabGivenWait given = { wait->message, wait->key % 2 == 0 };

      g_array_append_val (waits, given);
    }
    if (self->given->waits->len + waits->len > FAB_GIVEN_MOST_WAITS)
      return fail_step (self, step, "the messages of the file wait for more than four million others");
    fab_given_add (self->given, block->gpu, (guint) block->send_to, (double) step->n / self->blocks->n_chunks,
                   waits);
  }
  g_array_set_size (self->waits[index], 0);
  note_wait (self->waits[index], 2 * index, parcel.message);
  return TRUE;
}

static gboolean
take_parcel (Play *self, guint index, const FabBlockStep *step)
{
  const Parcel *parcel = &g_array_index (self->inbox[index], Parcel, self->n_taken[index]);

  if (parcel->n != step->n)
    return fail_at (self->blocks, step->line, step->column, self->error,
                    "the step receives %u chunks, but %u are sent", step->n, parcel->n);
  self->n_taken[index]++;
  g_array_set_size (self->received, 0);
  g_array_append_vals (self->received, &g_array_index (self->parcels, guint, parcel->first_value), parcel->n);
  note_wait (self->waits[index], 2 * index + 1, parcel->message);
  return TRUE;
}

/* What the step works on: what it receives, or chunks of its buffer. `re` adds its source to its destination. */
static gboolean
do_step (Play *self, guint index, const FabBlockStep *step)
{
  const FabBlock *block = block_at (self->blocks, index);
  const guint *src = chunk_at (self, block->gpu, step->src);
  guint *dst = chunk_at (self, block->gpu, step->dst), *work;

  if (step->receives && !take_parcel (self, index, step))
    return FALSE;
  if (!step->receives && (step->adds || step->stores || step->sends)) {
    g_array_set_size (self->received, 0);
    g_array_append_vals (self->received, src, step->n);
  }
  work = (guint *) (gpointer) self->received->data;
  for (guint k = 0; step->adds && k < step->n; k++)
    if (!add_chunk (self, step, &work[k], step->receives ? src[k] : dst[k]))
      return FALSE;
  if (step->stores)
    memmove (dst, work, step->n * sizeof *dst);
  return !step->sends || send_chunks (self, index, step, work);
}

/* Whether the next step of a block can be done now. */
static gboolean
is_ready (Play *self, guint index)
{
  const FabBlock *block = block_at (self->blocks, index);
  const FabBlockStep *step = step_at (self->blocks, block->first_step + self->done[index]);

  self->n_looks++;
  return (step->wait_block < 0 || self->done[step->wait_block] > step->wait_step)
      && (!step->receives || self->n_taken[index] < self->inbox[index]->len);
}

/* Does the next step of a block. */
static gboolean
go_on (Play *self, guint index)
{
  const FabBlock *block = block_at (self->blocks, index);
  guint number = block->first_step + self->done[index];
  const FabBlockStep *step = step_at (self->blocks, number);

  self->n_moves += step->n;
  if (self->n_moves > MOST_MOVES || self->n_looks > MOST_LOOKS)
    return fail_step (self, step,
                      "the steps of the file move too many chunks, or wait too often, to be checked");
  if (step->wait_block >= 0 && self->given != NULL) {
    const FabBlock *other = block_at (self->blocks, (guint) step->wait_block);

    self->n_looks += self->waits[index]->len * 8;
    note_waits (self->waits[index],
                g_hash_table_lookup (self->kept,
                                     GUINT_TO_POINTER (other->first_step + (guint) step->wait_step)));
  }
  if (!do_step (self, index, step))
    return FALSE;
  if (step->is_awaited && self->given != NULL && !keep_waits (self, index, number))
    return fail_step (self, step, "the steps of the file wait for more others than the reader has room for");
  self->done[index]++;
  return TRUE;
}

/* --- all steps --- */

static guint
count_steps (const FabBlocks *self, guint index)
{
  return block_at (self, index)->n_steps;
}

/* The first step that waits for ever. */
static gboolean
fail_stuck (const Play *self, guint index)
{
  const FabBlock *block = block_at (self->blocks, index);
  const FabBlockStep *step = step_at (self->blocks, block->first_step + self->done[index]);

  if (step->wait_block >= 0 && self->done[step->wait_block] <= step->wait_step)
    return fail_at (self->blocks, step->line, step->column, self->error,
                    "a deadlock: gpu %u waits here for step %" G_GINT64_FORMAT
                    " of its thread block %" G_GINT64_FORMAT ", which never ends",
                    block->gpu, step->wait_step, block_at (self->blocks, (guint) step->wait_block)->id);
  return fail_at (self->blocks, step->line, step->column, self->error,
                  "a deadlock: gpu %u waits here for a message of gpu %" G_GINT64_FORMAT
                  " on channel %" G_GINT64_FORMAT " that never comes",
                  block->gpu, block->receive_from, block->channel);
}

static gboolean
fail_left_over (const Play *self, guint index)
{
  const FabBlock *block = block_at (self->blocks, index);

  return fail_at (self->blocks, block->line, block->column, self->error,
                  "gpu %" G_GINT64_FORMAT " sends %u messages on channel %" G_GINT64_FORMAT
                  ", and this thread block receives %u",
                  block->receive_from, self->inbox[index]->len, block->channel, self->n_taken[index]);
}

static gboolean
check_end (const Play *self)
{
  for (guint b = 0; b < self->blocks->blocks->len; b++)
    if (self->done[b] < count_steps (self->blocks, b))
      return fail_stuck (self, b);
  for (guint b = 0; b < self->blocks->blocks->len; b++)
    if (self->n_taken[b] < self->inbox[b]->len)
      return fail_left_over (self, b);
  return TRUE;
}

/* Either each block goes on as far as it can, the first block first; or each does one step, the last block first. */
static gboolean
run_blocks (Play *self, gboolean is_backwards)
{
  guint n = self->blocks->blocks->len;
  gboolean has_moved = TRUE;

  while (has_moved && self->n_looks <= MOST_LOOKS) {
    has_moved = FALSE;
    for (guint i = 0; i < n; i++) {
      guint b = is_backwards ? n - 1 - i : i;

      for (gboolean once = FALSE;
           !(once && is_backwards) && self->done[b] < count_steps (self->blocks, b) && is_ready (self, b);
           once = TRUE) {
        if (!go_on (self, b))
          return FALSE;
        has_moved = TRUE;
      }
    }
  }
  if (self->n_looks > MOST_LOOKS)
    return fail_at (self->blocks, self->blocks->line, self->blocks->column, self->error,
                    "the thread blocks of the file wait for one another too often to be checked");
  return check_end (self);
}

/* --- what the operation means --- */

/* The place of the data that chunk `k` of the result of a rank has to hold. */
static guint
wanted_place (const FabBlocks *self, guint rank, guint k)
{
  guint n = chunks_of_rank (self);

  if (self->op == FAB_OP_ALL_TO_ALL)
    return k / n * self->n_chunks + rank * n + k % n;
  return self->op == FAB_OP_REDUCE_SCATTER ? rank * n + k : k;
}

static guint
wanted_value (Play *self, guint rank, guint k)
{
  const FabBlocks *blocks = self->blocks;
  guint place = wanted_place (blocks, rank, k);

  switch ((guint) blocks->op) {
  case FAB_OP_ALL_GATHER: return fab_sums_one (&self->values, place, place / chunks_of_rank (blocks));
  case FAB_OP_ALL_TO_ALL: return fab_sums_one (&self->values, place, place / blocks->n_chunks);
  case FAB_OP_BROADCAST: return fab_sums_one (&self->values, place, blocks->root);
  default: return fab_sums_of_all (&self->values, place, blocks->n_ranks);
  }
}

static gboolean
fail_result (const Play *self, guint rank, guint k, guint found)
{
  const guint *value = fab_sums_at (&self->values, found);
  guint n = 0;

  if (value == NULL)
    return fail_at (self->blocks, self->blocks->line, self->blocks->column, self->error,
                    "this is no %s: at the end chunk %u of the result of gpu %u holds nothing",
                    fab_op_names[self->blocks->op], k, rank);
  for (guint i = 0; i < self->blocks->n_ranks; i++)
    n += value[FAB_SUM_WORDS + i / 32] >> i % 32 & 1;
  return fail_at (
      self->blocks, self->blocks->line, self->blocks->column, self->error,
      "this is no %s: at the end chunk %u of the result of gpu %u holds chunk %u of the data, of %u of %u "
      "ranks",
      fab_op_names[self->blocks->op], k, rank, value[FAB_SUM_PLACE], n, self->blocks->n_ranks);
}

static gboolean
check_results (Play *self)
{
  const FabBlocks *blocks = self->blocks;
  gboolean is_scatter = blocks->op == FAB_OP_REDUCE_SCATTER;
  guint n = is_scatter ? chunks_of_rank (blocks) : blocks->n_chunks;

  for (guint rank = 0; rank < blocks->n_ranks; rank++) {
    guint first = is_scatter && blocks->is_in_place ? rank * n : 0;
    const guint *chunks = chunk_at (self, rank, (FabChunks){ FAB_BUFFER_OUT, first });

    if (blocks->op == FAB_OP_REDUCE && rank != blocks->root)
      continue;
    for (guint k = 0; k < n; k++)
      if (chunks[k] != wanted_value (self, rank, k))
        return fail_result (self, rank, k, chunks[k]);
  }
  return TRUE;
}

static gboolean
play_once (FabBlocks *self, const guint *receivers, FabGiven *given, GError **error)
{
  g_auto (Play) play;

  play_init (&play, self, receivers, given, error);
  if (!fill_inputs (&play))
    return fail_at (self, self->line, self->column, error,
                    "%u gpus with %u chunks have more data than the reader keeps account of (128 MiB)",
                    self->n_ranks, self->n_chunks);
  return run_blocks (&play, given == NULL) && check_results (&play);
}

/* The buffers that the operation needs. */
static gboolean
check_sizes (const FabBlocks *self, GError **error)
{
  FabBuffer out = self->is_in_place ? FAB_BUFFER_IN : FAB_BUFFER_OUT;
  guint n = self->n_chunks;

  if (is_divided (self->op) && n % self->n_ranks != 0)
    return fail_at (self, self->line, self->column, error, "%u chunks cannot be divided evenly among %u gpus",
                    n, self->n_ranks);
  guint of_rank = n / self->n_ranks;
  guint n_in = self->op == FAB_OP_ALL_GATHER && !self->is_in_place ? of_rank : n;
  guint n_out = self->op == FAB_OP_REDUCE_SCATTER && !self->is_in_place ? of_rank : n;
  for (guint rank = 0; rank < self->n_ranks; rank++)
    if (self->sizes[rank].n[FAB_BUFFER_IN] < n_in || self->sizes[rank].n[out] < n_out)
      return fail_at (self, self->line, self->column, error,
                      "gpu %u has %u chunks of input and %u of output; %s of %u chunks needs %u and %u", rank,
                      self->sizes[rank].n[FAB_BUFFER_IN], self->sizes[rank].n[out], fab_op_names[self->op], n,
                      n_in, n_out);
  for (guint i = 0; i < self->copies->len; i++) {
    const FabFirstCopy *copy = &g_array_index (self->copies, FabFirstCopy, i);
    const guint *sizes = self->sizes[copy->gpu].n;

    if (copy->in >= sizes[FAB_BUFFER_IN] || copy->out >= sizes[FAB_BUFFER_OUT])
      return fail_at (
          self, copy->line, copy->column, error,
          "chunk %u of the input and %u of the output: the buffers of gpu %u have %u and %u chunks", copy->in,
          copy->out, copy->gpu, sizes[FAB_BUFFER_IN], sizes[FAB_BUFFER_OUT]);
  }
  if (count_slots (self) > MOST_SLOTS)
    return fail_at (self, self->line, self->column, error, "the buffers of all gpus have more than %d chunks",
                    MOST_SLOTS);
  return TRUE;
}

/* The second order shows whether the result hangs on the first. */
static gboolean
play_again (FabBlocks *self, const guint *receivers, GError **error)
{
  g_autoptr (GError) problem = NULL;

  if (play_once (self, receivers, NULL, &problem))
    return TRUE;
  return fab_throw (
      error, FAB_ERROR_INPUT,
      "%s; in another order of the thread blocks all is well, so that a dependency (depid, deps) is missing",
      problem->message);
}

gboolean
fab_blocks_play (FabBlocks *self, FabGiven *given, GError **error)
{
  if (!check_sizes (self, error))
    return FALSE;
  g_autoptr (GHashTable) by_id = index_blocks (self, error);
  if (by_id == NULL || !resolve_waits (self, by_id, error))
    return FALSE;
  g_autofree guint *receivers = find_receivers (self, error);
  return receivers != NULL && play_once (self, receivers, given, error)
      && play_again (self, receivers, error);
}
