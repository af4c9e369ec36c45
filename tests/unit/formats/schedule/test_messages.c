/* SPDX-License-Identifier: Apache-2.0 */
/* test_messages.c - schedules as sends and receives of ranks, written as GOAL: which operations they can be, what each
 * message waits for, and what is refused. */
#include "tests/support/test.h"

#include <glib/gstdio.h>
#include <string.h>

#include "formats/schedule/schedule.h"

/* What is refused begins with the path, which is left out of *message. */
static FabGiven *
read_file (const char *text, const FabScheduleFile *said, char **message)
{
  g_autofree char *path = NULL;
  g_autoptr (GError) error = NULL;
  gint fd = g_file_open_tmp ("messages-XXXXXX", &path, NULL);
  FabScheduleFile file = *said;
  FabGiven *given;

  assert_true (fd >= 0);
  g_close (fd, NULL);
  assert_true (g_file_set_contents (path, text, -1, NULL));
  file.path = path;
  given = fab_format_schedule.read (&file, &error);
  g_remove (path);
  assert_true ((given == NULL) == (error != NULL));
  *message = NULL;
  if (error != NULL) {
    g_autofree char *begin = g_strconcat (path, ": ", NULL), *name = g_path_get_basename (path);
    GString *plain = g_string_new (error->message);

    g_string_replace (plain, begin, "", 1);
    g_string_replace (plain, name, "NAME", 0);
    *message = g_string_free (plain, FALSE);
  }
  return given;
}

static FabGiven *
read_good (const char *text, const char *op, FabBytes bytes)
{
  g_autofree char *message = NULL;
  FabGiven *given = read_file (text, &(FabScheduleFile){ .op = op, .size_bytes = bytes }, &message);

  if (message != NULL)
    fail_msg ("%s, of\n%s", message, text);
  return given;
}

static void
assert_refused (const char *text, const char *op, FabBytes bytes, const char *wanted)
{
  g_autofree char *message = NULL;
  g_autoptr (FabGiven) given = read_file (text, &(FabScheduleFile){ .op = op, .size_bytes = bytes },
                                          &message);

  if (given != NULL)
    fail_msg ("'%s' is not said of\n%s", wanted, text);
  assert_string_equal (message, wanted);
}

/* --- what an operation needs --- */

/* Whether the result of `to` hangs on data of `from`; the root is rank 0. */
static gboolean
needs (FabOp op, guint to, guint from)
{
  return from != to && (op != FAB_OP_REDUCE || to == 0) && (op != FAB_OP_BROADCAST || from == 0);
}

/* Bytes that a rank receives at least from each rank whose data it needs, of an operation of n (n - 1) k bytes. */
static guint
least_bytes (FabOp op, guint n, guint k)
{
  switch ((guint) op) {
  case FAB_OP_ALL_GATHER:
  case FAB_OP_ALL_TO_ALL: return (n - 1) * k; /* a rank's share */
  case FAB_OP_REDUCE_SCATTER: return k;       /* a share is added up of n - 1 parts */
  case FAB_OP_BROADCAST: return n * (n - 1) * k;
  default: return n * k; /* the whole is added up of n - 1 parts */
  }
}

/* Each rank sends to each other one that needs it; from rank `from` to `to` `fewer` bytes fewer, all of them: none. */
static char *
direct_text (FabOp op, guint n, guint k, guint from, guint to, guint fewer)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "num_ranks %u\n", n);
  for (guint rank = 0; rank < n; rank++) {
    g_string_append_printf (text, "rank %u {\n", rank);
    for (guint other = 0; other < n; other++)
      for (guint is_send = 0; is_send < 2; is_send++) {
        guint source = is_send ? rank : other, target = is_send ? other : rank;
        guint bytes = least_bytes (op, n, k) - (source == from && target == to ? fewer : 0);

        if (needs (op, target, source) && bytes > 0)
          g_string_append_printf (text, "l%u: %s %ub %s %u tag 3\n", 2 * other + is_send,
                                  is_send ? "send" : "recv", bytes, is_send ? "to" : "from", other);
      }
    g_string_append (text, "x: calc 5\n}\n");
  }
  return g_string_free (text, FALSE);
}

static void
a_rank_receives_what_the_operation_needs (G_GNUC_UNUSED void **state)
{
  static const FabOp ops[] = { FAB_OP_ALL_REDUCE, FAB_OP_ALL_GATHER, FAB_OP_REDUCE_SCATTER,
                               FAB_OP_ALL_TO_ALL, FAB_OP_BROADCAST,  FAB_OP_REDUCE };

  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    for (guint n = 2; n <= 5; n++) {
      FabOp op = ops[i];
      const char *name = fab_op_names[op];
      guint k = 10, size = n * (n - 1) * k;
      guint to = op == FAB_OP_BROADCAST ? n - 1 : 0, from = op == FAB_OP_BROADCAST ? 0 : n - 1;
      guint n_received = op == FAB_OP_BROADCAST ? 1 : n - 1, least = n_received * least_bytes (op, n, k);
      /* each message may have been rounded by half a byte */
      guint fewer = n_received / 2 + 1;
      g_autofree char *good = direct_text (op, n, k, n, n, 0),
                      *rounded = direct_text (op, n, k, from, to, (n_received - 1) / 2),
                      *short_of = direct_text (op, n, k, from, to, fewer),
                      *absent = direct_text (op, n, k, from, to, least_bytes (op, n, k));
      g_autoptr (FabGiven) given = read_good (good, name, size), other = read_good (rounded, name, size);
      guint n_messages = 0;

      for (guint a = 0; a < n; a++)
        for (guint b = 0; b < n; b++)
          n_messages += needs (op, a, b);
      assert_int_equal (given->messages->len, n_messages);
      assert_int_equal (given->op, op);
      assert_int_equal (given->n_ranks, n);
      assert_int_equal (given->n_channels, op == FAB_OP_REDUCE ? 1 : n - 1);
      for (guint m = 0; m < n_messages; m++) {
        const FabGivenMessage *message = &g_array_index (given->messages, FabGivenMessage, m);

        assert_true (needs (op, message->to, message->from));
        assert_near (message->weight, (double) least_bytes (op, n, k) / size, 1e-12);
        assert_int_equal (message->n_waits, 0);
      }
      g_autofree char *too_few = g_strdup_printf (
          "this is no %s of %u bytes: rank %u receives %u bytes, and needs at least %u", name, size, to,
          least - fewer, least);
      g_autofree char *unheard = g_strdup_printf ("this is no %s: no data of rank %u reach rank %u", name,
                                                  from, to);
      assert_refused (short_of, name, size, too_few);
      assert_refused (absent, name, size, unheard);
    }
}

/* Rank r hands on to r - 1 what it has from r + 1: the data of all come to rank 0. Sets of ranks have 32 in a word. */
static char *
chain_text (guint n, const char *last)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "num_ranks %u\n", n);
  for (guint rank = 0; rank < n; rank++) {
    g_string_append_printf (text, "rank %u {\n", rank);
    if (rank + 1 < n)
      g_string_append_printf (text, "r: recv 100b from %u tag 1\n", rank + 1);
    if (rank > 0)
      g_string_append_printf (text, "s: send 100b to %u tag 1\n", rank - 1);
    if (rank > 0 && rank + 1 < n)
      g_string_append (text, rank + 2 < n ? "s requires r\n" : last);
    g_string_append (text, "}\n");
  }
  return g_string_free (text, FALSE);
}

static void
data_come_over_other_ranks (G_GNUC_UNUSED void **state)
{
  static const guint sizes[] = { 3, 31, 32, 33, 34, 65 };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    guint n = sizes[i];
    g_autofree char *good = chain_text (n, "s requires r\n"), *broken = chain_text (n, "");
    g_autofree char *said = g_strdup_printf ("this is no reduce: no data of rank %u reach rank 0", n - 1);
    g_autoptr (FabGiven) given = read_good (good, "reduce", 100);

    for (guint m = 0; m < given->messages->len; m++) {
      const FabGivenMessage *message = &g_array_index (given->messages, FabGivenMessage, m);

      assert_int_equal (message->n_waits, message->from + 1 < n);
      if (message->n_waits == 0)
        continue;
      const FabGivenWait *wait = &g_array_index (given->waits, FabGivenWait, message->first_wait);
      assert_int_equal (g_array_index (given->messages, FabGivenMessage, wait->message).from,
                        message->from + 1);
      assert_false (wait->is_departure);
    }
    assert_refused (broken, "reduce", 100, said);
  }
}

/* --- what messages wait for --- */

/* Rank 0 sends a, b and c; rank 1 sends s and t, rank 2 sends u and v. */
static const char *const waiting = "num_ranks 3\n"
                                   "rank 0 {\n"
                                   "a: send 10b to 1 tag 1\n"
                                   "b: send 20b to 1 tag 1\n"
                                   "c: send 30b to 2 tag 1\n"
                                   "b requires a\n"
                                   "c requires a\n"
                                   "c requires b\n"
                                   "u: recv 60b from 2 tag 9\n"
                                   "v: recv 0b from 2 tag 8\n"
                                   "}\n"
                                   "rank 1 {\n"
                                   "a: recv 10b from 0 tag 1\n"
                                   "b: recv 20b from 0 tag 1\n"
                                   "x: calc 100\n"
                                   "s: send 40b to 2 tag 1\n"
                                   "t: send 50b to 2 tag 2\n"
                                   "b requires a\n"
                                   "x requires b\n"
                                   "s requires x\n"
                                   "s requires a\n"
                                   "t requires s\n"
                                   "t requires a\n"
                                   "}\n"
                                   "rank 2 {\n"
                                   "t: recv 50b from 1 tag 2\n"
                                   "s: recv 40b from 1 tag 1\n"
                                   "c: recv 30b from 0 tag 1\n"
                                   "u: send 60b to 0 tag 9\n"
                                   "v: send 70b to 0 tag 8\n"
                                   "y: calc 1\n"
                                   "y requires u\n"
                                   "y requires t\n"
                                   "c requires s\n"
                                   "u requires c\n"
                                   "v requires y\n"
                                   "}\n";

/* 'd': until the other has left, 'a': until it has arrived; of a b c s t u v in this order. A receive hands on what it
 * waited for itself, and a calc all that it waited for; a send hands on itself alone. */
static void
messages_wait_for_what_their_nodes_name (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint from, to, bytes;
    const char *waits;
  } wanted[] = {
    { 0, 1, 10, "......." }, { 0, 1, 20, "d......" }, { 0, 2, 30, "dd....." }, { 1, 2, 40, "aa....." },
    { 1, 2, 50, "a..d..." }, { 2, 0, 60, "..aa..." }, { 2, 0, 70, "....ad." },
  };
  enum { N = G_N_ELEMENTS (wanted) };
  g_autoptr (FabGiven) given = read_good (waiting, "reduce", 30);
  guint numbers[N];

  assert_int_equal (given->messages->len, N);
  assert_int_equal (given->n_channels, 2); /* of all pairs of a peer and a tag, over which a rank sends */
  for (guint i = 0; i < N; i++) {
    numbers[i] = G_MAXUINT;
    for (guint m = 0; m < N; m++) {
      const FabGivenMessage *message = &g_array_index (given->messages, FabGivenMessage, m);

      if (message->from == wanted[i].from && message->to == wanted[i].to
          && is_near (message->weight, wanted[i].bytes / 30.0, 1e-9))
        numbers[i] = m;
    }
    assert_int_not_equal (numbers[i], G_MAXUINT);
  }
  for (guint i = 0; i < N; i++) {
    const FabGivenMessage *message = &g_array_index (given->messages, FabGivenMessage, numbers[i]);
    char found[N + 1] = { 0 };

    for (guint other = 0; other < N; other++) {
      found[other] = '.';
      for (guint w = 0; w < message->n_waits; w++) {
        const FabGivenWait *wait = &g_array_index (given->waits, FabGivenWait, message->first_wait + w);

        if (wait->message != numbers[other])
          continue;
        assert_int_equal (found[other], '.');
        found[other] = wait->is_departure ? 'd' : 'a';
      }
    }
    assert_string_equal (found, wanted[i].waits);
  }
}

#define TWO_SENDS(first, second)         \
  "num_ranks 3\nrank 0 {\n" first second \
  "}\nrank 1 {\nrecv 10b from 0 tag 1\n}\nrank 2 {\nrecv 10b from 0 tag 1\n}\n"

/* Two files that say the same in another order give the same messages in one order. */
static void
the_order_of_a_file_does_not_matter (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGiven) one = read_good (TWO_SENDS ("send 10b to 1 tag 1\n", "send 10b to 2 tag 1\n"),
                                        "broadcast", 10),
                       other = read_good (TWO_SENDS ("send 10b to 2 tag 1\n", "send 10b to 1 tag 1\n"),
                                          "broadcast", 10);

  assert_int_equal (one->messages->len, 2);
  for (guint i = 0; i < 2; i++)
    assert_int_equal (g_array_index (one->messages, FabGivenMessage, i).to,
                      g_array_index (other->messages, FabGivenMessage, i).to);
}

/* A rank that sends to two peers, to one of them with two tags, has three connections. */
static void
connections_are_pairs_of_peer_and_tag (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGiven) given = read_good (
      "num_ranks 3\nrank 0 {\nsend 5b to 1 tag 1\nsend 5b to 1 tag 2\nsend 5b to 1 tag 2\n"
      "send 10b to 2 tag 1\n}\nrank 1 {\nrecv 5b from 0 tag 2\nrecv 5b from 0 tag 1\n"
      "recv 5b from 0 tag 2\n}\nrank 2 {\nrecv 10b from 0 tag 1\n}\n",
      "broadcast", 10);

  assert_int_equal (given->n_channels, 3);
  assert_int_equal (given->messages->len, 4);
  /* All bits of a tag count: 4294967297 is 2^32 + 1. */
  g_autoptr (FabGiven) wide = read_good (
      "num_ranks 2\nrank 0 {\nsend 3b to 1 tag 0\nsend 7b to 1 tag 4294967297\nsend 5b to 1 tag 1\n}\nrank 1 {\n"
      "recv 5b from 0 tag 1\nrecv 7b from 0 tag 4294967297\nrecv 3b from 0 tag 0\n}\n",
      "broadcast", 10);
  assert_int_equal (wide->n_channels, 3);
}

/* --- what is refused --- */

#define HEAD "num_ranks 2\nrank 0 {\n"
#define SECOND "}\nrank 1 {\n"
#define SENDS_0 "s: send 8b to 1 tag 1\n"
#define RECEIVES_0 "r: recv 8b from 1 tag 1\n"
#define SENDS_1 "s: send 8b to 0 tag 1\n"
#define RECEIVES_1 "r: recv 8b from 0 tag 1\n"

static void
wrong_graphs_are_refused_at_their_node (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *message;
  } cases[] = {
    { "num_ranks 2\nrank 0 {\ncalc 1\n}\n",
      "a schedule has 2 to 65536 ranks, and 1 was found; the files of Chakra are named NAME.0.et, NAME.1.et "
      "and so on" },
    { "num_ranks 3\nrank 2 {\ncalc 1\n}\nrank 0 {\ncalc 1\n}\n", "this is rank 2, where rank 1 is expected" },
    { HEAD SECOND "}\n", "a schedule has 1 to 4194304 nodes, not 0" },
    { HEAD "send 8b to 0 tag 1\n" SECOND "}\n", "rank 0: node 0 (send): its peer is rank 0 of 2 ranks" },
    { "num_ranks 3\nrank 0 {\nx: calc 1\nsend 8b to 2 tag 1\n" SECOND "}\n",
      "rank 0: node 1 (send): its peer is rank 2 of 2 ranks" },
    { HEAD "send 0b to 1 tag 1\n" SECOND "recv 0b from 0 tag 1\n}\n",
      "rank 0: node 0 (send): the message has no bytes" },
    { HEAD SENDS_0 SECOND "recv 9b from 0 tag 1\n}\n",
      "rank 1: node 0 (recv): it receives 9 bytes, and rank 0 sends 8" },
    { HEAD SENDS_0 SENDS_0 SECOND RECEIVES_1 "}\n",
      "rank 0: node 1 (send): rank 1 has no receive for this message" },
    { HEAD SENDS_0 SECOND "recv 8b from 0 tag 2\n}\n",
      "rank 0: node 0 (send): rank 1 has no receive for this message" },
    { HEAD SENDS_0 SECOND RECEIVES_1 RECEIVES_1 "}\n",
      "rank 1: node 1 (recv): a deadlock: rank 0 never sends this message" },
    { HEAD SENDS_0 "x: calc 1\ny: calc 2\nx requires y\ny requires x\n" SECOND RECEIVES_1 "}\n",
      "rank 0: node 1 (calc): a deadlock: it waits for itself, over other nodes" },
    { HEAD RECEIVES_0 SENDS_0 "s requires r\n" SECOND RECEIVES_1 SENDS_1 "s requires r\n}\n",
      "rank 0: node 0 (recv): a deadlock: it waits for itself, over other nodes" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_refused (cases[i].text, "all_reduce", 8, cases[i].message);
}

#define EXCHANGE HEAD SENDS_0 RECEIVES_0 SECOND SENDS_1 RECEIVES_1 "}\n"
#define MSCCL(proto)                                                                                                  \
  "<algo name=\"b\" " proto "ngpus=\"2\" nchunksperloop=\"1\" coll=\"broadcast\" inplace=\"1\">"                      \
  "<gpu id=\"0\" i_chunks=\"1\" o_chunks=\"0\" s_chunks=\"0\"><tb id=\"0\" send=\"1\" recv=\"-1\" chan=\"0\">"        \
  "<step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>" \
  "</tb></gpu>"                                                                                                       \
  "<gpu id=\"1\" i_chunks=\"1\" o_chunks=\"0\" s_chunks=\"0\"><tb id=\"0\" send=\"-1\" recv=\"0\" chan=\"0\">"        \
  "<step s=\"0\" type=\"r\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>" \
  "</tb></gpu></algo>"

/* A person says of a file what it does not say itself, and nothing else than what it says. */
static void
what_is_said_of_a_file_agrees_with_it (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *op, *protocol;
    FabBytes bytes;
    const char *message; /* NULL: none */
    const char *found;   /* the protocol then */
  } cases[] = {
    { EXCHANGE, NULL, NULL, 8,
      "sends and receives do not say what they add up to: give `op` (such as all_reduce) and `size` (of the operation "
      "whose messages these are)",
      NULL },
    { EXCHANGE, "all_reduce", NULL, 0,
      "sends and receives do not say what they add up to: give `op` (such as all_reduce) and `size` (of the operation "
      "whose messages these are)",
      NULL },
    { EXCHANGE, "sum", NULL, 8, "op: 'sum' is not an operation; choose one of ", NULL },
    { EXCHANGE, "all_reduce", NULL, 8, NULL, NULL },
    { EXCHANGE, "all_reduce", "simple", 8, NULL, "simple" },
    { EXCHANGE, "all_reduce", "ll", 8, NULL, "ll" },
    { EXCHANGE, "all_reduce", "ll128", 8, NULL, "ll128" },
    { EXCHANGE, "all_reduce", "LL", 8, "protocol: 'LL' is not known; it is simple, ll or ll128", NULL },
    { MSCCL (""), NULL, NULL, 0, NULL, NULL },
    { MSCCL (""), "broadcast", "ll", 0, NULL, "ll" },
    { MSCCL (""), "all_reduce", NULL, 0, "op is all_reduce, but NAME is made for broadcast", NULL },
    { MSCCL (""), "reduce_scatter", NULL, 0, "op is reduce_scatter, but NAME is made for broadcast", NULL },
    { MSCCL ("proto=\"LL\" "), NULL, NULL, 0, NULL, "ll" },
    { MSCCL ("proto=\"LL\" "), NULL, "ll", 0, NULL, "ll" },
    { MSCCL ("proto=\"Simple\" "), NULL, "simple", 0, NULL, "simple" },
    { MSCCL ("proto=\"LL\" "), NULL, "simple", 0, "protocol is simple, but NAME is made for ll", NULL },
    { MSCCL ("proto=\"LL\" "), NULL, "ll128", 0, "protocol is ll128, but NAME is made for ll", NULL },
    { MSCCL ("proto=\"LL\" "), NULL, "fast", 0, "protocol is fast, but NAME is made for ll", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabScheduleFile file = { .op = cases[i].op, .size_bytes = cases[i].bytes, .protocol = cases[i].protocol };
    g_autofree char *message = NULL;
    g_autoptr (FabGiven) given = read_file (cases[i].text, &file, &message);

    if (cases[i].message == NULL) {
      assert_null (message);
      if (cases[i].found != NULL)
        assert_string_equal (given->protocol, cases[i].found);
      else
        assert_null (given->protocol);
    } else if (given != NULL || !g_str_has_prefix (message, cases[i].message)) {
      fail_msg ("case %u: '%s', and not '%s'", i, message, cases[i].message);
    }
  }
}

/* Every operation has its name, whatever its number. */
static void
operations_are_known_by_name (G_GNUC_UNUSED void **state)
{
  for (guint op = 0; op < FAB_N_OPS; op++) {
    g_autofree char *message = NULL,
                    *wanted = g_strdup_printf ("op is %s, but NAME is made for broadcast", fab_op_names[op]);
    g_autoptr (FabGiven) given = read_file (MSCCL (""), &(FabScheduleFile){ .op = fab_op_names[op] },
                                            &message);

    assert_true ((given != NULL) == (op == FAB_OP_BROADCAST));
    if (given == NULL)
      assert_string_equal (message, wanted);
  }
}

/* Chakra has a file for each rank, of which the first is named; here as JSON. NULL: there is no such file. */
static void
assert_files_refused (const char *const *texts, guint n, guint named, const char *wanted)
{
  g_autofree char *folder = g_dir_make_tmp ("chakra-XXXXXX", NULL);
  g_autoptr (GError) error = NULL;
  FabScheduleFile file = { .op = "all_reduce", .size_bytes = 8 };
  g_autoptr (FabGiven) given = NULL;
  g_autofree char *first = g_strdup_printf ("%s/x.%u.et", folder, named);

  for (guint rank = 0; rank < n; rank++) {
    g_autofree char *path = g_strdup_printf ("%s/x.%u.et", folder, rank);

    assert_true (texts[rank] == NULL || g_file_set_contents (path, texts[rank], -1, NULL));
  }
  file.path = first;
  given = fab_format_schedule.read (&file, &error);
  assert_null (given);
  GString *message = g_string_new (error->message);
  g_string_replace (message, folder, "", 0);
  assert_string_equal (message->str, wanted);
  g_string_free (message, TRUE);
  for (guint rank = 0; rank < n; rank++) {
    g_autofree char *path = g_strdup_printf ("%s/x.%u.et", folder, rank);

    g_remove (path);
  }
  g_rmdir (folder);
}

#define TOO_FEW \
  "a schedule has 2 to 65536 ranks, and 1 was found; the files of Chakra are named NAME.0.et, NAME.1.et and so on"
#define GRAPH(nodes) "{\"nodes\": [" nodes "]}"
#define WORK(id, name, deps) \
  "{\"id\": " id ", \"name\": \"" name "\", \"NodeType\": 4, \"data_deps\": [" deps "]}"

static void
files_of_chakra_are_found_by_number (G_GNUC_UNUSED void **state)
{
  const char *work = GRAPH (WORK ("1", "a", ""));
  const char *const
      collective[] = { work, GRAPH (WORK ("7", "a", "") ",{\"id\": 9, \"name\": \"sum\", \"NodeType\": 7}") },
      *const twice[] = { GRAPH (WORK ("1", "a", "") "," WORK ("2", "b", "1") "," WORK ("1", "c", "")), work },
      *const absent[] = { work, work, GRAPH (WORK ("1", "a", "") "," WORK ("3", "c", "1, 9")) },
      *const gap[] = { work, NULL, work }, *const two[] = { work, work };

  assert_files_refused (
      collective, 2, 0,
      "/x.1.et: rank 1: node 9 (sum): a schedule has sends and receives; this is a collective, or has "
      "no peer");
  assert_files_refused (twice, 2, 0, "/x.0.et: rank 0: node 1 (c): another node has the same number");
  assert_files_refused (absent, 3, 0, "/x.2.et: rank 2: node 3 (c): it waits for node 9, which is not there");
  assert_files_refused (gap, 3, 0, "/x.0.et: " TOO_FEW);
  assert_files_refused (two, 2, 1, "/x.1.et: " TOO_FEW); /* which is not the first */
  assert_files_refused (two, 2, 0, "/x.0.et: this is no all_reduce: no data of rank 1 reach rank 0");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_rank_receives_what_the_operation_needs),
    cmocka_unit_test (data_come_over_other_ranks),
    cmocka_unit_test (messages_wait_for_what_their_nodes_name),
    cmocka_unit_test (the_order_of_a_file_does_not_matter),
    cmocka_unit_test (connections_are_pairs_of_peer_and_tag),
    cmocka_unit_test (wrong_graphs_are_refused_at_their_node),
    cmocka_unit_test (what_is_said_of_a_file_agrees_with_it),
    cmocka_unit_test (operations_are_known_by_name),
    cmocka_unit_test (files_of_chakra_are_found_by_number),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
