/* SPDX-License-Identifier: Apache-2.0 */
/* test_msccl.c - schedules of MSCCL's XML: every operation in both forms, what the messages are and wait for, and where
 * each mistake is. */
#include "tests/support/test.h"

#include <string.h>

#include "formats/format.h"
#include "formats/schedule/schedule.h"

static FabGiven *
read_text (const char *text, char **message)
{
  g_autoptr (FabFileBytes) bytes = fab_file_bytes_new ("x.xml", text, strlen (text));
  g_autoptr (GError) error = NULL;
  const FabFileFormat *format = fab_file_format_of_bytes (FAB_FILE_SCHEDULE, "x.xml", "<", 1);

  assert_string_equal (format->name, "MSCCL");
  assert_true (fab_file_bytes_next (bytes, NULL));
  FabGiven *given = format->read.schedule (bytes, &(FabGivenHint){ .name = "x", .op = -1 }, &error);
  assert_true ((given == NULL) == (error != NULL));
  *message = error != NULL ? g_strdup (error->message) : NULL;
  return given;
}

static FabGiven *
read_good (const char *text)
{
  g_autofree char *message = NULL;
  FabGiven *given = read_text (text, &message);

  if (message != NULL)
    fail_msg ("%s, in\n%s", message, text);
  return given;
}

static void
assert_refused (const char *text, const char *wanted)
{
  g_autofree char *message = NULL;
  g_autoptr (FabGiven) given = read_text (text, &message);

  if (given != NULL)
    fail_msg ("'%s' is not said of\n%s", wanted, text);
  assert_string_equal (message, wanted);
}

/* --- every operation, each rank with each other one --- */

typedef struct {
  FabOp op;
  guint n, own; /* ranks; chunks of the result that come from one rank, or belong to it */
  gboolean is_in_place;
  guint root;
} Direct;

static const char *const colls[] = {
  [FAB_OP_ALL_REDUCE] = "allreduce",         [FAB_OP_ALL_GATHER] = "allgather",
  [FAB_OP_REDUCE_SCATTER] = "reducescatter", [FAB_OP_ALL_TO_ALL] = "alltoall",
  [FAB_OP_BROADCAST] = "broadcast",          [FAB_OP_REDUCE] = "reduce",
};

static gboolean
is_divided (const Direct *self)
{
  return self->op == FAB_OP_ALL_GATHER || self->op == FAB_OP_REDUCE_SCATTER || self->op == FAB_OP_ALL_TO_ALL;
}

static guint
count_chunks (const Direct *self)
{
  return is_divided (self) ? self->n * self->own : self->own;
}

static gboolean
sends (const Direct *self, guint from, guint to)
{
  return from != to && (self->op != FAB_OP_BROADCAST || from == self->root)
      && (self->op != FAB_OP_REDUCE || to == self->root);
}

typedef struct {
  GString *text;
  guint n_steps; /* of the present block */
} Writer;

static void
step (Writer *self, const char *type, const char *src, guint src_at, const char *dst, guint dst_at, guint n,
      gint block)
{
  g_string_append_printf (
      self->text,
      "      <step s=\"%u\" type=\"%s\" srcbuf=\"%s\" srcoff=\"%u\" dstbuf=\"%s\" dstoff=\"%u\" "
      "cnt=\"%u\" depid=\"%d\" deps=\"%d\" hasdep=\"0\"/>\n",
      self->n_steps++, type, src, src_at, dst, dst_at, n, block, block < 0 ? -1 : 0);
}

static void
begin_block (Writer *self, guint id, gint to, gint from)
{
  g_string_append_printf (self->text, "    <tb id=\"%u\" send=\"%d\" recv=\"%d\" chan=\"0\">\n", id, to,
                          from);
  self->n_steps = 0;
}

/* Block 0 copies what a rank has itself where input and output are two buffers; 1 + p sends to rank p, 1 + n + p
 * receives from it. Where input and output are one, a chunk is overwritten when it has left. */
static void
write_rank (Writer *self, const Direct *op, guint rank)
{
  guint n = op->n, all = count_chunks (op), own = op->own, mine = rank * own;
  gboolean is_gather = op->op == FAB_OP_ALL_GATHER, is_scatter = op->op == FAB_OP_REDUCE_SCATTER;
  gboolean has_result = (op->op != FAB_OP_REDUCE && op->op != FAB_OP_BROADCAST) || rank == op->root;
  guint n_in = is_gather && !op->is_in_place ? own : all, n_out = is_scatter ? own : all;
  guint at_out = is_scatter && op->is_in_place ? mine : 0;

  g_string_append_printf (self->text, "  <gpu id=\"%u\" i_chunks=\"%u\" o_chunks=\"%u\" s_chunks=\"%u\">\n",
                          rank, n_in, op->is_in_place ? 0 : n_out, n * all);
  if (!op->is_in_place && has_result) {
    begin_block (self, 0, -1, -1);
    step (self, "cpy", "i", is_scatter || op->op == FAB_OP_ALL_TO_ALL ? mine : 0, "o",
          is_gather || op->op == FAB_OP_ALL_TO_ALL ? mine : 0, own, -1);
    g_string_append (self->text, "    </tb>\n");
  }
  for (guint p = 0; p < n; p++) {
    if (!sends (op, rank, p))
      continue;
    guint at = is_gather ? (op->is_in_place ? mine : 0) : is_divided (op) ? p * own : 0;

    begin_block (self, 1 + p, (gint) p, -1);
    step (self, "s", "i", at, "i", at, own, -1);
    g_string_append (self->text, "    </tb>\n");
  }
  for (guint p = 0; p < n; p++) {
    gint copy = op->is_in_place ? -1 : 0;

    if (!sends (op, p, rank))
      continue;
    begin_block (self, 1 + n + p, -1, (gint) p);
    if (op->op == FAB_OP_ALL_REDUCE) {
      step (self, "r", "s", p * all, "s", p * all, own, -1);
      for (guint other = 0; op->is_in_place && other < n; other++)
        if (other != rank)
          step (self, "nop", "i", 0, "i", 0, 0, (gint) (1 + other));
      step (self, "re", "s", p * all, "o", 0, own, copy);
    } else if (op->op == FAB_OP_REDUCE || is_scatter) {
      step (self, "rrc", "o", at_out, "o", at_out, own, copy);
    } else if (op->op == FAB_OP_ALL_TO_ALL && op->is_in_place) {
      step (self, "r", "i", p * own, "i", p * own, own, (gint) (1 + p));
    } else {
      guint at = op->op == FAB_OP_BROADCAST ? 0 : p * own;

      step (self, "r", "o", at, "o", at, own, -1);
    }
    g_string_append (self->text, "    </tb>\n");
  }
  g_string_append (self->text, "  </gpu>\n");
}

static char *
direct_text (const Direct *op)
{
  Writer writer = { g_string_new (NULL), 0 };

  g_string_append_printf (
      writer.text,
      "<algo name=\"direct\" proto=\"LL128\" nchannels=\"1\" nchunksperloop=\"%u\" ngpus=\"%u\" "
      "coll=\"%s\" inplace=\"%d\" root=\"%u\" minBytes=\"1024\" maxBytes=\"1048576\">\n",
      count_chunks (op), op->n, colls[op->op], op->is_in_place, op->root);
  for (guint rank = op->n; rank-- > 0;)
    write_rank (&writer, op, rank);
  g_string_append (writer.text, "</algo>\n");
  return g_string_free (writer.text, FALSE);
}

/* Each rank sends to each other one, once, what the operation says, and waits for nothing. */
static void
assert_direct (const Direct *op, const char *text)
{
  g_autoptr (FabGiven) given = read_good (text);
  g_autofree guint *n_sent = g_new0 (guint, op->n);
  guint n = 0, most = 0;

  assert_int_equal (given->op, op->op);
  assert_int_equal (given->n_ranks, op->n);
  assert_string_equal (given->protocol, "ll128");
  assert_int_equal (given->from_bytes, 1024);
  assert_int_equal (given->to_bytes, 1048576);
  for (guint from = 0; from < op->n; from++)
    for (guint to = 0; to < op->n; to++)
      n += sends (op, from, to);
  assert_int_equal (given->messages->len, n);
  for (guint i = 0; i < n; i++) {
    const FabGivenMessage *message = &g_array_index (given->messages, FabGivenMessage, i);

    assert_true (sends (op, message->from, message->to));
    assert_near (message->weight, (double) op->own / count_chunks (op), 1e-12);
    assert_int_equal (message->n_waits, 0);
    n_sent[message->from]++;
    most = MAX (most, n_sent[message->from]);
  }
  assert_int_equal (given->n_channels, most);
}

/* Without any one of its steps that move data it is no longer that operation. */
static void
assert_all_steps_are_needed (const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", 0);

  for (guint i = 0; lines[i] != NULL; i++) {
    g_autofree char *message = NULL;

    if (strstr (lines[i], "type=\"") == NULL || strstr (lines[i], "type=\"nop\"") != NULL)
      continue;
    g_autofree char *kept = g_steal_pointer (&lines[i]);
    gboolean is_send = strstr (kept, "type=\"s\"") != NULL,
             receives = strstr (kept, "type=\"r\"") != NULL || strstr (kept, "type=\"rrc\"") != NULL;

    lines[i] = g_strdup_printf ("      <step s=\"%c\" type=\"nop\" cnt=\"0\" depid=\"-1\" deps=\"-1\"/>",
                                strstr (kept, "s=\"")[3]);
    g_autofree char *changed = g_strjoinv ("\n", lines);
    g_autoptr (FabGiven) given = read_text (changed, &message);
    const char *wanted = is_send ? "that never comes" : receives ? ", and this thread block receives 0" : "";

    /* what is not received cannot be added */
    if (given != NULL
        || (strstr (message, wanted) == NULL && !(receives && strstr (message, "holds nothing yet"))))
      fail_msg ("without %s: %s", kept, message);
    g_free (lines[i]);
    lines[i] = g_steal_pointer (&kept);
  }
}

/* Without its dependencies a rank adds to what it has not copied yet, or overwrites what it has not sent yet. In an
 * all-reduce a step lies between, and neither of the two orders that are tried is so bad. */
static void
assert_dependencies_are_needed (const Direct *op, const char *text)
{
  g_autoptr (GRegex) waits = g_regex_new ("depid=\"[0-9]+\" deps=\"0\"", 0, 0, NULL);
  g_autofree char *message = NULL,
                  *free = g_regex_replace_literal (waits, text, -1, 0, "depid=\"-1\" deps=\"-1\"", 0, NULL);
  gboolean adds = op->op == FAB_OP_REDUCE_SCATTER || op->op == FAB_OP_REDUCE;
  g_autoptr (FabGiven) given = read_text (free, &message);

  assert_true ((given == NULL) == (op->is_in_place ? op->op == FAB_OP_ALL_TO_ALL : adds));
  if (given == NULL)
    assert_true (g_str_has_suffix (
        message, "; in another order of the thread blocks all is well, so that a dependency "
                 "(depid, deps) is missing"));
}

static void
every_operation_is_what_it_says (G_GNUC_UNUSED void **state)
{
  static const FabOp ops[] = { FAB_OP_ALL_REDUCE, FAB_OP_ALL_GATHER, FAB_OP_REDUCE_SCATTER,
                               FAB_OP_ALL_TO_ALL, FAB_OP_BROADCAST,  FAB_OP_REDUCE };

  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    for (guint n = 2; n <= 4; n++)
      for (guint own = 1; own <= 3; own += 2)
        for (gboolean is_in_place = FALSE; is_in_place <= TRUE; is_in_place++) {
          Direct op = { ops[i], n, own, is_in_place, n - 1 };
          g_autofree char *text = direct_text (&op);

          assert_direct (&op, text);
          if (n == 3)
            assert_all_steps_are_needed (text);
          assert_dependencies_are_needed (&op, text);
        }
}

/* Sets of ranks have 32 of them in a word. */
static void
sums_of_many_ranks_are_told_apart (G_GNUC_UNUSED void **state)
{
  static const guint sizes[] = { 31, 32, 33, 64, 65 };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    guint n = sizes[i], last = n - 1;
    Direct op = { FAB_OP_REDUCE, n, 1, TRUE, 0 };
    g_autofree char *text = direct_text (&op);
    g_autofree char *second = g_strdup_printf (
        "recv=\"%u\" chan=\"0\">\n      <step s=\"0\" type=\"rrc\" srcbuf=\"o\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\"",
        last);
    g_autofree char *lost = g_strdup_printf (
        "recv=\"%u\" chan=\"0\">\n      <step s=\"0\" type=\"rrs\" srcbuf=\"o\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\"",
        last);
    g_autofree char *missing = g_strdup_printf (
        "x.xml:1:1: this is no reduce: at the end chunk 0 of the result of gpu 0 "
        "holds chunk 0 of the data, of %u of %u ranks",
        last, n);
    GString *changed = g_string_new (text);

    assert_direct (&op, text);
    /* what the last rank sends is received and dropped */
    g_string_replace (changed, second, lost, 1);
    g_string_replace (changed, "type=\"rrs\"", "type=\"r\"", 1);
    char *at = strstr (changed->str, "type=\"r\"");
    g_string_replace (changed, "type=\"r\" srcbuf=\"o\" srcoff=\"0\" dstbuf=\"o\"",
                      "type=\"r\" srcbuf=\"s\" srcoff=\"0\" dstbuf=\"s\"", 1);
    assert_non_null (at);
    assert_refused (changed->str, missing);
    g_string_free (changed, TRUE);
  }
}

/* A rank whose data are added a second time is named, in whatever word of the set it is. */
static void
nobody_is_added_twice (G_GNUC_UNUSED void **state)
{
  static const guint ranks[] = { 0, 1, 30, 31, 32, 33, 63, 64 };

  for (guint i = 0; i < G_N_ELEMENTS (ranks); i++) {
    Direct op = { FAB_OP_REDUCE, 65, 1, TRUE, 2 };
    g_autofree char *text = direct_text (&op), *send = g_strdup_printf ("  <gpu id=\"%u\"", ranks[i]),
                    *receive = g_strdup_printf ("recv=\"%u\" chan=\"0\">\n", ranks[i]),
                    *said = g_strdup_printf (": the step adds what gpu %u contributes a second time",
                                             ranks[i]);
    GString *changed = g_string_new (text);
    g_autofree char *message = NULL;

    /* another step behind the one that is there, of the rank's first block and of that which receives from it */
    for (guint side = 0; side < 2; side++) {
      char *at = strstr (strstr (changed->str, side == 0 ? send : receive), "<step s=\"0\"");
      g_autofree char *step = g_strndup (at, strcspn (at, "\n") + 1);

      step[strlen ("<step s=\"")] = '1';
      g_string_insert (changed, at - changed->str + (gssize) strlen (step), step);
    }
    g_autoptr (FabGiven) given = read_text (changed->str, &message);
    assert_null (given);
    if (!g_str_has_suffix (message, said))
      fail_msg ("%s", message);
    g_string_free (changed, TRUE);
  }
}

/* --- what messages wait for --- */

#define STEP(s, type, src, src_at, dst, dst_at, n, block, step)                                  \
  "<step s=\"" #s "\" type=\"" type "\" srcbuf=\"" src "\" srcoff=\"" #src_at "\" dstbuf=\"" dst \
  "\" dstoff=\"" #dst_at "\" cnt=\"" #n "\" depid=\"" #block "\" deps=\"" #step "\"/>\n"
#define GPU(id, i, o, s) "<gpu id=\"" #id "\" i_chunks=\"" #i "\" o_chunks=\"" #o "\" s_chunks=\"" #s "\">\n"
#define TB(id, send, recv, chan) \
  "<tb id=\"" #id "\" send=\"" #send "\" recv=\"" #recv "\" chan=\"" #chan "\">\n"
#define END "</tb>\n"

static const FabGivenMessage *
find_message (const FabGiven *given, guint from, guint to, guint chunks, guint *index)
{
  for (guint i = 0; i < given->messages->len; i++) {
    const FabGivenMessage *message = &g_array_index (given->messages, FabGivenMessage, i);

    if (message->from == from && message->to == to && fabs (message->weight - chunks / 6.0) < 1e-9) {
      *index = i;
      return message;
    }
  }
  fail_msg ("no message of %u chunks from %u to %u", chunks, from, to);
  return NULL;
}

/* '.': not; 'd': until it has left; 'a': until it has arrived. */
static char
waits_for (const FabGiven *given, const FabGivenMessage *message, guint other)
{
  char found = '.';

  for (guint i = 0; i < message->n_waits; i++) {
    const FabGivenWait *wait = &g_array_index (given->waits, FabGivenWait, message->first_wait + i);

    if (wait->message != other)
      continue;
    assert_int_equal (found, '.');
    found = wait->is_departure ? 'd' : 'a';
  }
  return found;
}

/* A broadcast of 6 chunks, 1, 2 and 3 of which go from rank 0 to 1 one after another; another block of rank 1 sends
 * them on to rank 2, and each waits for the step that received it. Rank 2 hands the last on to rank 3, and all chunks
 * before it, in a second block of its own that waits for both. */
static void
messages_wait_for_what_their_blocks_did (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGiven) given = read_good (
      "<algo name=\"b\" ngpus=\"4\" nchunksperloop=\"6\" coll=\"broadcast\" inplace=\"1\">\n" GPU (1, 6, 0, 0)
          TB (0, -1, 0, 0) STEP (0, "r", "i", 0, "i", 0, 1, -1, -1) STEP (1, "r", "i", 1, "i", 1, 2, -1, -1)
              STEP (2, "r", "i", 3, "i", 3, 3, -1, -1) END TB (1, 2, -1, 3)
                  STEP (0, "s", "i", 0, "i", 0, 1, 0, 0) STEP (1, "s", "i", 1, "i", 1, 2, 0, 1)
                      STEP (2, "s", "i", 3, "i", 3, 3, 0, 2) END
      "</gpu>\n" GPU (0, 6, 0, 0) TB (0, 1, -1, 0) STEP (0, "s", "i", 0, "i", 0, 1, -1, -1)
          STEP (1, "s", "i", 1, "i", 1, 2, -1, -1) STEP (2, "s", "i", 3, "i", 3, 3, -1, -1)
              END "</gpu>\n" GPU (2, 6, 0, 0) TB (7, 3, 1, 3) STEP (0, "rcs", "i", 0, "i", 0, 1, -1, -1)
                  STEP (1, "r", "i", 1, "i", 1, 2, -1, -1) STEP (2, "rcs", "i", 3, "i", 3, 3, -1, -1)
                      END TB (9, 3, -1, 1) STEP (0, "s", "i", 1, "i", 1, 2, 7, 1) END
      "</gpu>\n" GPU (3, 6, 0, 0) TB (0, -1, 2, 3) STEP (0, "r", "i", 0, "i", 0, 1, -1, -1)
          STEP (1, "r", "i", 3, "i", 3, 3, -1, -1) END TB (1, -1, 2, 1)
              STEP (0, "r", "i", 1, "i", 1, 2, -1, -1) END "</gpu>\n</algo>");
  /* of each message: from, to, chunks; what it waits for of the others, in this order */
  static const struct {
    guint from, to, chunks;
    const char *waits;
  } wanted[] = {
    { 0, 1, 1, "........." }, { 0, 1, 2, "d........" }, { 0, 1, 3, ".d......." },
    { 1, 2, 1, "a........" }, { 1, 2, 2, ".a.d....." }, { 1, 2, 3, "..a.d...." },
    { 2, 3, 1, "...a....." }, { 2, 3, 2, "....a.d.." }, { 2, 3, 3, ".....ad.." },
  };
  guint n = G_N_ELEMENTS (wanted), numbers[G_N_ELEMENTS (wanted)];

  assert_int_equal (given->messages->len, n);
  assert_int_equal (given->n_channels, 2);
  assert_null (given->protocol);
  for (guint i = 0; i < n; i++)
    find_message (given, wanted[i].from, wanted[i].to, wanted[i].chunks, &numbers[i]);
  for (guint i = 0; i < n; i++) {
    char found[G_N_ELEMENTS (wanted) + 1] = { 0 };

    for (guint other = 0; other < n; other++)
      found[other] = waits_for (given, &g_array_index (given->messages, FabGivenMessage, numbers[i]),
                                numbers[other]);
    assert_string_equal (found, wanted[i].waits);
  }
}

/* --- mistakes, each at its place --- */

/* Two ranks exchange halves, add and exchange the sums, as msccl-tools writes it. */
static const char *const small =
    "<algo name=\"halves\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"2\" ngpus=\"2\" coll=\"allreduce\" "
    "inplace=\"1\" outofplace=\"0\" root=\"0\" minBytes=\"0\" maxBytes=\"0\">\n"
    "  <gpu id=\"0\" i_chunks=\"2\" o_chunks=\"0\" s_chunks=\"1\">\n"
    "    <tb id=\"0\" send=\"1\" recv=\"1\" chan=\"0\">\n"
    "      <step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"1\" "
    "depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n"
    "      <step s=\"1\" type=\"rrcs\" srcbuf=\"i\" srcoff=\"1\" dstbuf=\"i\" dstoff=\"1\" cnt=\"1\" "
    "depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n"
    "      <step s=\"2\" type=\"r\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"1\" "
    "depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n"
    "    </tb>\n"
    "  </gpu>\n"
    "  <gpu id=\"1\" i_chunks=\"2\" o_chunks=\"0\" s_chunks=\"1\">\n"
    "    <tb id=\"0\" send=\"0\" recv=\"0\" chan=\"0\">\n"
    "      <step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"1\" dstbuf=\"i\" dstoff=\"1\" cnt=\"1\" "
    "depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n"
    "      <step s=\"1\" type=\"rrcs\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"1\" "
    "depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n"
    "      <step s=\"2\" type=\"r\" srcbuf=\"i\" srcoff=\"1\" dstbuf=\"i\" dstoff=\"1\" cnt=\"1\" "
    "depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n"
    "    </tb>\n"
    "  </gpu>\n"
    "</algo>\n";

#define LAST_0 "s=\"2\" type=\"r\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"1\""
#define SENDING_0 "s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"1\""
#define SENDING_1 "s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"1\" dstbuf=\"i\" dstoff=\"1\" cnt=\"1\""
#define ADDING_0 "s=\"1\" type=\"rrcs\" srcbuf=\"i\" srcoff=\"1\" dstbuf=\"i\" dstoff=\"1\" cnt=\"1\""
#define BLOCK_0 "<tb id=\"0\" send=\"1\" recv=\"1\" chan=\"0\">"
#define BLOCK_1 "<tb id=\"0\" send=\"0\" recv=\"0\" chan=\"0\">"
#define ALGO "<algo name"

typedef struct {
  const char *old, *new; /* the first `old` becomes `new` */
  const char *at;        /* in whose tag the mistake is, after the change; NULL: in that of the change */
  const char *message;   /* NULL: none */
} Mistake;

static const Mistake mistakes[] = {
  { " ngpus=\"2\"", "", ALGO, "<algo> has no ngpus=\"NUMBER\"" },
  { "ngpus=\"2\"", "ngpus=\"1\"", NULL, "ngpus=\"1\" is not a whole number from 2 to 65536" },
  { "ngpus=\"2\"", "ngpus=\"65537\"", NULL, "ngpus=\"65537\" is not a whole number from 2 to 65536" },
  { "ngpus=\"2\"", "ngpus=\"65536\"", NULL, "there is no <gpu id=\"2\">, though ngpus is 65536" },
  { "ngpus=\"2\"", "ngpus=\"2x\"", NULL, "ngpus=\"2x\" is not a whole number from 2 to 65536" },
  { "ngpus=\"2\"", "ngpus=\"0123456789012345678901234567890123456789x\"", NULL,
    "ngpus=\"0123456789012345678901234567890123456789\" is not a whole number from 2 to 65536" },
  { "ngpus=\"2\"", "ngpus=\"a&#10;b&#233;\"", NULL,
    "ngpus=\"a?b\303\251\" is not a whole number from 2 to 65536" },
  { "loop=\"2\"", "loop=\"0\"", NULL, "nchunksperloop=\"0\" is not a whole number from 1 to 16777216" },
  { "loop=\"2\"", "loop=\"16777217\"", NULL,
    "nchunksperloop=\"16777217\" is not a whole number from 1 to 16777216" },
  { "loop=\"2\"", "loop=\"16777216\"", NULL,
    "gpu 0 has 2 chunks of input and 2 of output; all_reduce of 16777216 chunks needs 16777216 and 16777216" },
  { "loop=\"2\"", "loop=\"3\"", NULL,
    "gpu 0 has 2 chunks of input and 2 of output; all_reduce of 3 chunks needs 3 and 3" },
  { "coll=\"allreduce\" inplace=\"1\"", "coll=\"allreduce\" inplace=\"0\"", NULL,
    "gpu 0 has 2 chunks of input and 0 of output; all_reduce of 2 chunks needs 2 and 2" },
  { "coll=\"allreduce\" inplace=\"1\"", "coll=\"allgather\" inplace=\"0\"", NULL,
    "gpu 0 has 2 chunks of input and 0 of output; all_gather of 2 chunks needs 1 and 2" },
  { "coll=\"allreduce\" inplace=\"1\"", "coll=\"reduce_scatter\" inplace=\"0\"", NULL,
    "gpu 0 has 2 chunks of input and 0 of output; reduce_scatter of 2 chunks needs 2 and 1" },
  { "loop=\"2\" ngpus=\"2\" coll=\"allreduce\"", "loop=\"3\" ngpus=\"2\" coll=\"allgather\"", NULL,
    "3 chunks cannot be divided evenly among 2 gpus" },
  { "loop=\"2\" ngpus=\"2\" coll=\"allreduce\"", "loop=\"3\" ngpus=\"2\" coll=\"reduce_scatter\"", NULL,
    "3 chunks cannot be divided evenly among 2 gpus" },
  { "loop=\"2\" ngpus=\"2\" coll=\"allreduce\"", "loop=\"3\" ngpus=\"2\" coll=\"alltoall\"", NULL,
    "3 chunks cannot be divided evenly among 2 gpus" },
  { "coll=\"allreduce\" ", "", ALGO,
    "<algo> has no coll=\"...\"; it is one of allreduce, allgather, reduce_scatter, reducescatter, alltoall, "
    "broadcast, reduce" },
  { "inplace=\"1\"", "inplace=\"2\"", NULL, "inplace=\"2\" is not a whole number from 0 to 1" },
  { "inplace=\"1\"", "inplace=\"-1\"", NULL, "inplace=\"-1\" is not a whole number from 0 to 1" },
  { "root=\"0\"", "root=\"2\"", NULL, "root=\"2\" is not a whole number from 0 to 1" },
  { "root=\"0\"", "root=\"-1\"", NULL, "root=\"-1\" is not a whole number from 0 to 1" },
  { "root=\"0\"", "root=\"1\"", NULL, NULL },
  { "minBytes=\"0\"", "minBytes=\"-1\"", NULL,
    "minBytes=\"-1\" is not a whole number from 0 to 9223372036854775807" },
  { "maxBytes=\"0\"", "maxBytes=\"-1\"", NULL,
    "maxBytes=\"-1\" is not a whole number from 0 to 9223372036854775807" },
  { "proto=\"Simple\"", "proto=\"Fast\"", NULL,
    "proto=\"Fast\" is not known; it is one of Simple, LL, LL128" },
  { "proto=\"Simple\"", "proto=\"SIMPLE\"", NULL, NULL },
  { "<algo", "<algorithm", NULL, "<algorithm> where <algo> is expected" },
  { "id=\"0\" i_ch", "id=\"2\" i_ch", NULL, "id=\"2\" is not a whole number from 0 to 1" },
  { "id=\"0\" i_ch", "id=\"-1\" i_ch", NULL, "id=\"-1\" is not a whole number from 0 to 1" },
  { "id=\"0\" i_ch", "id=\"1\" i_ch",
    "<gpu id=\"1\" i_chunks=\"2\" o_chunks=\"0\" s_chunks=\"1\">\n    " BLOCK_1, "gpu 1 is described twice" },
  { "i_chunks=\"2\"", "i_chunks=\"-1\"", NULL, "i_chunks=\"-1\" is not a whole number from 0 to 16777216" },
  { "i_chunks=\"2\"", "i_chunks=\"16777217\"", NULL,
    "i_chunks=\"16777217\" is not a whole number from 0 to 16777216" },
  { "o_chunks=\"0\"", "o_chunks=\"-1\"", NULL, "o_chunks=\"-1\" is not a whole number from 0 to 16777216" },
  { "o_chunks=\"0\"", "o_chunks=\"16777217\"", NULL,
    "o_chunks=\"16777217\" is not a whole number from 0 to 16777216" },
  { "s_chunks=\"1\"", "s_chunks=\"-1\"", NULL, "s_chunks=\"-1\" is not a whole number from 0 to 16777216" },
  { "s_chunks=\"1\"", "s_chunks=\"16777217\"", NULL,
    "s_chunks=\"16777217\" is not a whole number from 0 to 16777216" },
  /* with the 2 + 2 + 2 + 2 + 1 chunks of the other buffers */
  { "s_chunks=\"1\"", "s_chunks=\"16777208\"", ALGO,
    "the buffers of all gpus have more than 16777216 chunks" },
  { "s_chunks=\"1\"", "s_chunks=\"16777207\"", NULL, NULL },
  /* one buffer has the larger of the two sizes */
  { "i_chunks=\"2\" o_chunks=\"0\"", "i_chunks=\"0\" o_chunks=\"2\"", NULL, NULL },
  { "i_chunks=\"2\"", "i_chunks=\"1\"", ALGO,
    "gpu 0 has 1 chunks of input and 1 of output; all_reduce of 2 chunks needs 2 and 2" },
  { "<gpu id=\"0\"", "<GPU id=\"0\"", NULL, "<GPU> where <gpu> is expected" },
  { "tb id=\"0\"", "tb id=\"-1\"", NULL, "id=\"-1\" is not a whole number from 0 to 2147483647" },
  { "tb id=\"0\"", "tb id=\"2147483648\"", NULL,
    "id=\"2147483648\" is not a whole number from 0 to 2147483647" },
  { "tb id=\"0\"", "tb id=\"2147483647\"", NULL, NULL },
  { "send=\"1\"", "send=\"-2\"", NULL, "send=\"-2\" is not a whole number from -1 to 1" },
  { "send=\"1\"", "send=\"2\"", NULL, "send=\"2\" is not a whole number from -1 to 1" },
  { "recv=\"1\"", "recv=\"-2\"", NULL, "recv=\"-2\" is not a whole number from -1 to 1" },
  { "recv=\"1\"", "recv=\"2\"", NULL, "recv=\"2\" is not a whole number from -1 to 1" },
  { "chan=\"0\"", "chan=\"-1\"", NULL, "chan=\"-1\" is not a whole number from 0 to 65535" },
  { "chan=\"0\"", "chan=\"65536\"", NULL, "chan=\"65536\" is not a whole number from 0 to 65535" },
  { "chan=\"0\"", "chan=\"65535\"", SENDING_0,
    "the step sends to gpu 1 on channel 65535, which has no thread block that receives there" },
  { "send=\"1\"", "send=\"-1\"", SENDING_0,
    "the step sends, but its thread block has no send=\"RANK\" to send to" },
  { "recv=\"1\"", "recv=\"-1\"", ADDING_0,
    "the step receives, but its thread block has no recv=\"RANK\" to receive from" },
  { "send=\"1\"", "send=\"0\"", NULL, "gpu 0 exchanges messages with itself" },
  { "recv=\"1\"", "recv=\"0\"", NULL, "gpu 0 exchanges messages with itself" },
  { "    " BLOCK_0, BLOCK_0 "</tb>" BLOCK_0, BLOCK_0 "\n", "gpu 0 has two thread blocks with the id 0" },
  { BLOCK_0, TB (1, 1, -1, 0) "</tb>" BLOCK_0, BLOCK_0,
    "two thread blocks of gpu 0 send to gpu 1 on channel 0; each needs a channel of its own" },
  { BLOCK_0, TB (1, -1, 1, 0) "</tb>" BLOCK_0, BLOCK_0,
    "two thread blocks of gpu 0 receive from gpu 1 on channel 0; each needs a channel of its own" },
  { BLOCK_0, TB (1, 1, 1, 1) "</tb>" BLOCK_0, NULL, NULL },
  { "<tb", "<block", NULL, "<block> where <tb> is expected" },
  { "s=\"2\" type=\"r\"", "s=\"3\" type=\"r\"", NULL,
    "s=\"3\" is out of order; this is step 2 of its thread block" },
  { "s=\"2\" type=\"r\"", "s=\"1\" type=\"r\"", NULL,
    "s=\"1\" is out of order; this is step 2 of its thread block" },
  { "s=\"0\" type=\"s\"", "s=\"-1\" type=\"s\"", NULL, "s=\"-1\" is not a whole number from 0 to 4194304" },
  { "s=\"0\" type=\"s\"", "s=\"4194305\" type=\"s\"", NULL,
    "s=\"4194305\" is not a whole number from 0 to 4194304" },
  { "type=\"rrcs\"", "type=\"RRCS\"", NULL, NULL },
  { "type=\"rrcs\"", "type=\"rrcx\"", NULL,
    "type=\"rrcx\" is not known; it is one of s, r, rcs, rrc, rrs, rrcs, cpy, re, nop" },
  { "srcbuf=\"i\"", "srcbuf=\"x\"", NULL, "srcbuf=\"x\" is not known; it is one of i, o, s" },
  { "dstbuf=\"i\"", "dstbuf=\"x\"", NULL, "dstbuf=\"x\" is not known; it is one of i, o, s" },
  { "srcoff=\"0\"", "srcoff=\"-1\"", NULL, "srcoff=\"-1\" is not a whole number from 0 to 16777216" },
  { "dstoff=\"0\"", "dstoff=\"16777217\"", NULL,
    "dstoff=\"16777217\" is not a whole number from 0 to 16777216" },
  { "cnt=\"1\"", "cnt=\"-1\"", NULL, "cnt=\"-1\" is not a whole number from 0 to 16777216" },
  { "cnt=\"1\"", "cnt=\"0\"", NULL, "the step moves no chunk; cnt is at least 1" },
  { "cnt=\"1\"", "cnt=\"3\"", NULL, "chunks 0 to 2 of the input buffer of gpu 0, which has 2" },
  { "srcoff=\"0\"", "srcoff=\"2\"", NULL, "chunks 2 to 2 of the input buffer of gpu 0, which has 2" },
  { "s=\"2\" type=\"r\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\"",
    "s=\"2\" type=\"r\" srcbuf=\"i\" srcoff=\"9\" dstbuf=\"o\" dstoff=\"2\"", NULL,
    "chunks 2 to 2 of the output buffer of gpu 0, which has 2" },
  { "s=\"2\" type=\"r\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\"",
    "s=\"2\" type=\"r\" srcbuf=\"i\" srcoff=\"9\" dstbuf=\"s\" dstoff=\"1\"", NULL,
    "chunks 1 to 1 of the scratch buffer of gpu 0, which has 1" },
  /* what a step only sends has no destination, and what it only receives no source */
  { "srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\"", "srcoff=\"0\" dstbuf=\"i\" dstoff=\"9\"", NULL, NULL },
  { "s=\"2\" type=\"r\" srcbuf=\"i\" srcoff=\"0\"", "s=\"2\" type=\"r\" srcbuf=\"i\" srcoff=\"9\"", NULL,
    NULL },
  { "depid=\"-1\"", "depid=\"-2\"", NULL, "depid=\"-2\" is not a whole number from -1 to 2147483647" },
  { "deps=\"-1\"", "deps=\"-2\"", NULL, "deps=\"-2\" is not a whole number from -1 to 4194304" },
  { "depid=\"-1\"", "depid=\"0\"", NULL, "depid names a thread block, but deps names no step of it" },
  { "depid=\"-1\" deps=\"-1\"", "depid=\"5\" deps=\"0\"", NULL,
    "the step waits for step 0 of thread block 5 of gpu 0, which does not exist" },
  { "depid=\"-1\" deps=\"-1\"", "depid=\"0\" deps=\"3\"", NULL,
    "the step waits for step 3 of thread block 0 of gpu 0, which does not exist" },
  { "depid=\"-1\" deps=\"-1\"", "depid=\"0\" deps=\"0\"", NULL,
    "a deadlock: gpu 0 waits here for step 0 of its thread block 0, which never ends" },
  { "depid=\"-1\" deps=\"-1\"", "depid=\"0\" deps=\"2\"", NULL,
    "a deadlock: gpu 0 waits here for step 2 of its thread block 0, which never ends" },
  { LAST_0 " depid=\"-1\" deps=\"-1\"", LAST_0 " depid=\"0\" deps=\"1\"", NULL, NULL },
  { "<step ", "<stop ", NULL, "<stop> where <step> is expected" },
  { "hasdep=\"0\"/>", "hasdep=\"0\"><x/></step>", "<x/", "<x> inside <step>" },
  { SENDING_0, "s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"2\"",
    "s=\"1\" type=\"rrcs\" srcbuf=\"i\" srcoff=\"0\"", "the step receives 1 chunks, but 2 are sent" },
  { "      <step " SENDING_0,
    "      <step s=\"0\" type=\"s\" srcbuf=\"s\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"1\"",
    "s=\"1\" type=\"rrcs\" srcbuf=\"i\" srcoff=\"0\"", "the step adds a chunk that holds nothing yet" },
  { ADDING_0, "s=\"1\" type=\"rrcs\" srcbuf=\"s\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"1\" cnt=\"1\"", NULL,
    "the step adds a chunk that holds nothing yet" },
  { ADDING_0, "s=\"1\" type=\"rrcs\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"1\" cnt=\"1\"", NULL,
    "the step adds chunks that do not belong together: chunk 1 and chunk 0 of the data" },
  { LAST_0, "s=\"2\" type=\"rrc\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"1\"", NULL,
    "the step adds what gpu 0 contributes a second time" },
  { LAST_0, "s=\"2\" type=\"r\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"s\" dstoff=\"0\" cnt=\"1\"", ALGO,
    "this is no all_reduce: at the end chunk 0 of the result of gpu 0 holds chunk 0 of the data, of 1 of 2 ranks" },
  { LAST_0, "s=\"2\" type=\"r\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"1\" cnt=\"1\"", ALGO,
    "this is no all_reduce: at the end chunk 0 of the result of gpu 0 holds chunk 0 of the data, of 1 of 2 ranks" },
  { LAST_0, "s=\"2\" type=\"nop\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"1\"", BLOCK_0,
    "gpu 1 sends 2 messages on channel 0, and this thread block receives 1" },
};

/* Line and column, from 1, of the last '<' at or before a place. */
static char *
place_of (const char *text, gsize at)
{
  guint line = 1, column = 1;

  while (text[at] != '<')
    at--;
  for (gsize i = 0; i < at; i++) {
    line += text[i] == '\n';
    column = text[i] == '\n' ? 1 : column + 1;
  }
  return g_strdup_printf ("x.xml:%u:%u: ", line, column);
}

static void
each_mistake_is_told_at_its_tag (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGiven) good = read_good (small);

  assert_string_equal (good->protocol, "simple");
  for (guint i = 0; i < G_N_ELEMENTS (mistakes); i++) {
    const Mistake *mistake = &mistakes[i];
    const char *found = strstr (small, mistake->old);
    GString *text = g_string_new (small);

    assert_non_null (found);
    g_string_replace (text, mistake->old, mistake->new, 1);
    if (mistake->message != NULL) {
      const char *at = mistake->at != NULL ? strstr (text->str, mistake->at)
                                           : text->str + (found - small) + strspn (mistake->new, " <");

      assert_non_null (at);
      g_autofree char *place = place_of (text->str, (gsize) (at - text->str));
      g_autofree char *wanted = g_strconcat (place, mistake->message, NULL);
      assert_refused (text->str, wanted);
    } else {
      g_autoptr (FabGiven) given = read_good (text->str);
    }
    g_string_free (text, TRUE);
  }
}

/* Every attribute that has no value of its own must be there. */
static void
no_attribute_may_be_missing (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *element, *attribute, *said;
  } needed[] = {
    { "algo", "ngpus=\"2\"", "NUMBER" },
    { "algo", "nchunksperloop=\"2\"", "NUMBER" },
    { "gpu", "id=\"0\"", "NUMBER" },
    { "gpu", "i_chunks=\"2\"", "NUMBER" },
    { "gpu", "o_chunks=\"0\"", "NUMBER" },
    { "gpu", "s_chunks=\"1\"", "NUMBER" },
    { "tb", "send=\"1\"", "NUMBER" },
    { "tb", "recv=\"1\"", "NUMBER" },
    { "tb", "chan=\"0\"", "NUMBER" },
    { "step", "s=\"0\"", "NUMBER" },
    { "step", "type=\"s\"", "...\"; it is one of s, r, rcs, rrc, rrs, rrcs, cpy, re, nop" },
    { "step", "srcbuf=\"i\"", "...\"; it is one of i, o, s" },
    { "step", "srcoff=\"0\"", "NUMBER" },
    { "step", "dstbuf=\"i\"", "...\"; it is one of i, o, s" },
    { "step", "dstoff=\"0\"", "NUMBER" },
    { "step", "cnt=\"1\"", "NUMBER" },
    { "step", "depid=\"-1\"", "NUMBER" },
    { "step", "deps=\"-1\"", "NUMBER" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (needed); i++) {
    g_autofree char *tag = g_strdup_printf ("<%s ", needed[i].element),
                    *old = g_strdup_printf (" %s", needed[i].attribute);
    const char *begin = strstr (small, tag), *at = strstr (begin, old);
    g_autofree char *head = g_strndup (small, (gsize) (at - small)),
                    *text = g_strconcat (head, at + strlen (old), NULL),
                    *name = g_strndup (needed[i].attribute, strcspn (needed[i].attribute, "=")),
                    *place = place_of (text, (gsize) (begin - small)),
                    *wanted = g_strdup_printf ("%s<%s> has no %s=\"%s%s", place, needed[i].element, name,
                                               needed[i].said, needed[i].said[0] == 'N' ? "\"" : "");

    assert_refused (text, wanted);
  }
}

#define NO_XML "this is no XML of MSCCL (<algo>, <gpu>, <tb>, <step>): "

static void
what_is_no_xml_is_refused (G_GNUC_UNUSED void **state)
{
  g_autofree char *message = NULL;

  assert_refused ("", "x.xml:1:1: " NO_XML "the file is empty");
  assert_refused (
      "<algo name=\"c\" ngpus=\"2\" nchunksperloop=\"2\" coll=\"allgather\" inplace=\"0\">\n" GPU (
          0, 1, 2, 0) "<copy i_off=\"0\" o_off=\"1\">\n  <x/></copy>",
      "x.xml:4:3: nothing stands inside <copy>");
  assert_refused ("\n<x>\n\n</x>\n", "x.xml:2:1: <x> where <algo> is expected");
  assert_refused ("\n\n  <x>\n</x>\n", "x.xml:3:3: <x> where <algo> is expected");
  assert_refused ("  <x>\n\n</x>\n", "x.xml:1:3: <x> where <algo> is expected");
  assert_refused ("<!-- alone -->", "x.xml: this is no XML of MSCCL: there is no <algo>");
  assert_null (read_text ("<algo name=\"\xff\"/>", &message));
  assert_true (g_str_has_suffix (message, NO_XML "a byte is no UTF-8"));
  g_clear_pointer (&message, g_free);
  assert_null (read_text ("<algo", &message));
  assert_true (g_str_has_suffix (message, NO_XML "a bracket or an end tag is wrong or missing"));
}

/* TACCL's <copy> says what the output has at first. Numbers of chunks end before the sizes of the buffers. */
static void
copies_are_inside_the_buffers (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *copy, *message;
  } cases[] = {
    { "<copy i_off=\"0\" o_off=\"1\"/>", NULL },
    { "<copy i_off=\"1\" o_off=\"1\"/>",
      "chunk 1 of the input and 1 of the output: the buffers of gpu 1 have 1 and 2 chunks" },
    { "<copy i_off=\"0\" o_off=\"2\"/>",
      "chunk 0 of the input and 2 of the output: the buffers of gpu 1 have 1 and 2 chunks" },
    { "<copy i_off=\"-1\" o_off=\"1\"/>", "i_off=\"-1\" is not a whole number from 0 to 16777216" },
    { "<copy i_off=\"0\" o_off=\"16777217\"/>",
      "o_off=\"16777217\" is not a whole number from 0 to 16777216" },
    { "<copy o_off=\"1\"/>", "<copy> has no i_off=\"NUMBER\"" },
    { "<copy i_off=\"0\"/>", "<copy> has no o_off=\"NUMBER\"" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf (
        "<algo name=\"c\" ngpus=\"2\" nchunksperloop=\"2\" coll=\"allgather\" inplace=\"0\">\n" GPU (0, 1, 2,
                                                                                                     0)
            TB (0, 1, 1, 0) STEP (0, "cpy", "i", 0, "o", 0, 1, -1, -1)
                STEP (1, "s", "i", 0, "i", 0, 1, -1, -1) STEP (2, "r", "o", 1, "o", 1, 1, -1, -1) END
        "</gpu>\n" GPU (1, 1, 2, 0) "   %s\n" TB (0, 0, 0, 0) STEP (0, "s", "o", 1, "o", 1, 1, -1, -1)
            STEP (1, "r", "o", 0, "o", 0, 1, -1, -1) END "</gpu>\n</algo>\n",
        cases[i].copy);
    g_autofree char *wanted = g_strdup_printf ("x.xml:10:4: %s", cases[i].message);

    if (cases[i].message != NULL) {
      assert_refused (text, wanted);
    } else {
      g_autoptr (FabGiven) given = read_good (text);
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_operation_is_what_it_says),
    cmocka_unit_test (sums_of_many_ranks_are_told_apart),
    cmocka_unit_test (nobody_is_added_twice),
    cmocka_unit_test (messages_wait_for_what_their_blocks_did),
    cmocka_unit_test (each_mistake_is_told_at_its_tag),
    cmocka_unit_test (no_attribute_may_be_missing),
    cmocka_unit_test (what_is_no_xml_is_refused),
    cmocka_unit_test (copies_are_inside_the_buffers),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
