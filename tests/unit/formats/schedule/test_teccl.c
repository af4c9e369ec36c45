/* SPDX-License-Identifier: Apache-2.0 */
/* test_teccl.c - schedules of TE-CCL: which messages their flows become, how long these take, and what is refused. */
#include "tests/support/test.h"

#include <string.h>

#include "formats/format.h"
#include "formats/schedule/schedule.h"
#include "tests/support/rig.h"

#define HEAD "{\n\"1-Epoch_Duration\": 1.0, \"3-Epochs_Required\": 2,\n"

/* The bytes in memory have no path, so that messages begin with "teccl: ". */
static FabGiven *
read_text (const char *text, char **message)
{
  g_autoptr (FabFileBytes) bytes = fab_file_bytes_new ("teccl", text, strlen (text));
  g_autoptr (GError) error = NULL;
  const FabFileFormat *format = fab_file_format_of_bytes (FAB_FILE_SCHEDULE, "teccl", text, strlen (text));

  assert_non_null (format);
  assert_string_equal (format->name, "TE-CCL");
  assert_true (fab_file_bytes_next (bytes, NULL));
  FabGiven *given = format->read.schedule (bytes, &(FabGivenHint){ .name = "t", .op = -1 }, &error);
  assert_true ((given == NULL) == (error != NULL));
  if (message != NULL)
    *message = error != NULL ? g_strdup (error->message) : NULL;
  else
    assert_null (error);
  return given;
}

static const FabGivenMessage *
message_at (const FabGiven *given, guint index)
{
  return &g_array_index (given->messages, FabGivenMessage, index);
}

/* The one message between two ranks with a weight; *index is its number. */
static const FabGivenMessage *
find_message (const FabGiven *given, guint from, guint to, double weight, guint *index)
{
  const FabGivenMessage *found = NULL;

  for (guint i = 0; i < given->messages->len; i++) {
    const FabGivenMessage *message = message_at (given, i);

    if (message->from != from || message->to != to || fabs (message->weight - weight) > 1e-9)
      continue;
    assert_null (found);
    found = message;
    *index = i;
  }
  assert_non_null (found);
  return found;
}

static gboolean
waits_for (const FabGiven *given, const FabGivenMessage *message, guint other, gboolean is_departure)
{
  for (guint i = message->first_wait; i < message->first_wait + message->n_waits; i++) {
    const FabGivenWait *wait = &g_array_index (given->waits, FabGivenWait, i);

    if (wait->message == other)
      return wait->is_departure == is_departure;
  }
  return FALSE;
}

/* --- all-gather --- */

/* A ring of n GPUs behind switch 0, which have the numbers 1, 3, 5, ...: in epoch k each passes on what came in the
 * one before. The last GPU of the text is listed first. */
static char *
ring_text (guint n)
{
  GString *text = g_string_new (HEAD "\"7-Flows\": [");

  for (guint epoch = 0; epoch + 1 < n; epoch++)
    for (guint i = n; i-- > 0;)
      g_string_append_printf (text, "%s\"Chunk 0 from %u traveled over %u->%u in epoch %u via switches 0\"",
                              epoch > 0 || i + 1 < n ? ",\n" : "", 2 * ((i + n - epoch) % n) + 1, 2 * i + 1,
                              2 * ((i + 1) % n) + 1, epoch);
  g_string_append (text, "],\n\"8-Chunk paths\": {\"Demand at 1 for chunk 0 from 3 met by epoch 0\": "
                         "[\"3->1 in epoch 0\"]}, \"Solver_Time\": 0.5}\n");
  return g_string_free (text, FALSE);
}

static FabTimePs
time_given (const Rig *rig, const FabGiven *given, FabBytes bytes)
{
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  FabAlgorithmEnv env = { .net_stretch = 1, .owner = given };
  FabGroup group = rig_group (rig);

  assert_true (given->ops.schedule (&group, given->op, &env, 1, schedule, NULL));
  return rig_play (rig, schedule, bytes, NULL);
}

/* GPUs of 1 byte per ps behind one switch, 100 ps from each other. */
static Rig *
star (guint n)
{
  return rig_new (
      &(RigSpec){ .n_nodes = 1, .gpus_per_node = n, .gpu_bytes_per_s = FAB_PS_PER_S, .gpu_latency_ps = 50 });
}

/* n - 1 steps of 1000 bytes and 100 ps. */
static void
a_ring_is_the_ring_that_is_built_in (G_GNUC_UNUSED void **state)
{
  for (guint n = 2; n <= 12; n++) {
    g_autoptr (Rig) rig = star (n);
    g_autofree FabLinkLoad *loads = g_new0 (FabLinkLoad, fab_graph_n_links (rig->graph));
    g_autofree char *text = ring_text (n);
    g_autoptr (FabGiven) given = read_text (text, NULL);

    assert_int_equal (given->op, FAB_OP_ALL_GATHER);
    assert_int_equal (given->n_ranks, n);
    assert_int_equal (given->messages->len, n * (n - 1));
    assert_int_equal (given->n_channels, 1);
    for (guint i = 0; i < given->messages->len; i++)
      assert_int_equal (message_at (given, i)->to, (message_at (given, i)->from + 1) % n);
    FabTimePs ps = time_given (rig, given, 1000 * n);
    assert_int_equal (ps, (n - 1) * (1000 + 100));
    assert_int_equal (ps,
                      rig_time_schedule (rig, &fab_algorithm_ring, FAB_OP_ALL_GATHER, 1000 * n, 1, loads));
  }
}

/* Flows of three GPUs, all of them neighbours. */
#define FROM(n, a, b)                                                  \
  "\"Chunk 0 from " #n " traveled over " #n "->" #a " in epoch 0\",\n" \
  "\"Chunk 0 from " #n " traveled over " #n "->" #b " in epoch 1\""

/* What a GPU sends over a link in one epoch waits until it has sent what it sends there in the one before: here all
 * links out of a GPU lead to one switch, or each leads to another GPU. */
static void
a_link_does_one_epoch_after_another (G_GNUC_UNUSED void **state)
{
  g_autoptr (GString) text = g_string_new (
      HEAD "\"7-Flows\": [" FROM (0, 1, 2) "," FROM (1, 2, 0) "," FROM (2, 0, 1) "]}");
  guint first, second;

  for (guint with_switch = 0; with_switch < 2; with_switch++) {
    g_autoptr (FabGiven) given = read_text (text->str, NULL);

    find_message (given, 0, 1, 1 / 3.0, &first);
    const FabGivenMessage *message = find_message (given, 0, 2, 1 / 3.0, &second);
    assert_int_equal (message->n_waits, with_switch);
    assert_true (waits_for (given, message, first, TRUE) == (with_switch == 1));
    g_string_replace (text, "in epoch 0", "in epoch 0 via switches 9 -> 8", 0);
    g_string_replace (text, "in epoch 1", "in epoch 1 via switches 9", 0);
  }
}

/* --- all-to-all --- */

#define PATH(at, chunk, from, epochs, text) \
  "\"Demand at " #at " for chunk " #chunk " from " #from " met by epoch 1\": [" text "]"
#define WHOLE(from, to) "[[0, \"" #from "->" #to " with volume 1.0 in epoch 0\"]]"
#define SPLIT                                   \
  "[[0, \"0->1 with volume 0.5 in epoch 0\"]]," \
  "[[0, \"0->2 with volume 0.5 in epoch 0\"], [1, \"2->1 with volume 0.5 in epoch 1\"]]"
#define OTHERS                                                                         \
  PATH (2, 2, 0, 0, "[[1, \"0->2 with volume 1.0 in epoch 1\"]]")                      \
  "," PATH (0, 0, 1, 0, WHOLE (1, 0)) ",\n" PATH (2, 2, 1, 0, WHOLE (1, 2)) "," PATH ( \
      0, 0, 2, 0, WHOLE (2, 0)) "," PATH (1, 1, 2, 0, WHOLE (2, 1)) "}}"
#define LIST \
  "\"7-Flows\": [\"Chunk 1 from 0 traveled over 0->1 with volume 0.5 in epoch 0\"],\n\"8-Chunk paths\": {"

/* Half of what GPU 0 has for GPU 1 goes over GPU 2. It goes on when that half has come, and when GPU 2 has sent its own
 * chunk. */
static void
parts_of_a_chunk_take_their_paths (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGiven) given = read_text (HEAD LIST PATH (1, 1, 0, 1, SPLIT) ",\n" OTHERS, NULL);
  double received[3] = { 0 };
  guint first, own, last;

  assert_int_equal (given->op, FAB_OP_ALL_TO_ALL);
  assert_int_equal (given->n_ranks, 3);
  assert_int_equal (given->messages->len, 8);
  for (guint i = 0; i < given->messages->len; i++)
    received[message_at (given, i)->to] += message_at (given, i)->weight;
  assert_near (received[0], 2 / 3.0, 1e-9);
  assert_near (received[1], 2 / 3.0, 1e-9);
  assert_near (received[2], 2 / 3.0 + 1 / 6.0, 1e-9);
  find_message (given, 0, 2, 1 / 6.0, &first);
  find_message (given, 2, 1, 1 / 3.0, &own);
  const FabGivenMessage *message = find_message (given, 2, 1, 1 / 6.0, &last);
  assert_int_equal (message->n_waits, 2);
  assert_true (waits_for (given, message, first, FALSE));
  assert_true (waits_for (given, message, own, TRUE));
}

/* --- chunks of all GPUs --- */

/* GPUs as a solver may number them among the switches; the smallest number is rank 0. */
static const guint nodes[] = { 40, 7, 65535, 300 };

static guint
rank_of (guint i, guint n)
{
  guint rank = 0;

  for (guint other = 0; other < n; other++)
    rank += nodes[other] < nodes[i];
  return rank;
}

/* Every chunk goes from its GPU to each other one that gets it, in one epoch for each round of neighbours. Of an
 * all-to-all of n GPUs chunk c is for rank c mod n. The flows stand in another order than they happen. `left_out`: the
 * one in whose place the one before it stands twice; G_MAXUINT: none. */
static char *
direct_text (guint n, guint n_chunks, gboolean is_exchange, guint left_out)
{
  g_autoptr (GPtrArray) flows = g_ptr_array_new_with_free_func (g_free);
  GString *text = g_string_new (HEAD "\"2-Other\": {\"7-Flows\": [1]}, ");

  for (guint i = 0; i < n; i++)
    for (guint k = 1; k < n; k++)
      for (guint c = 0; c < n_chunks; c++) {
        guint to = (i + k) % n;

        if (!is_exchange)
          g_ptr_array_add (flows, g_strdup_printf ("\"Chunk %u from %u traveled over %u->%u in epoch %u\"", c,
                                                   nodes[i], nodes[i], nodes[to], k));
        else if (c % n == rank_of (to, n))
          g_ptr_array_add (flows,
                           g_strdup_printf ("\"Demand at %u for chunk %u from %u met by epoch %u\": [[[%u, "
                                            "\"%u->%u with volume 1.0 in epoch %u\"]]]",
                                            nodes[to], c, nodes[i], k, k, nodes[i], nodes[to], k));
      }
  if (left_out != G_MAXUINT) {
    g_free (flows->pdata[left_out]);
    flows->pdata[left_out] = g_strdup (flows->pdata[left_out > 0 ? left_out - 1 : flows->len - 1]);
  }
  if (is_exchange)
    g_string_append_printf (
        text,
        "\"7-Flows\": [\"Chunk 1 from %u traveled over %u->%u with volume 1.0 in epoch 1\"],\n"
        "\"8-Chunk paths\": {",
        nodes[0], nodes[0], nodes[1]);
  else
    g_string_append (text, "\"7-Flows\": [");
  for (guint i = 0; i < flows->len; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ",\n" : "", (char *) flows->pdata[flows->len - 1 - i]);
  g_string_append (text, is_exchange ? "}}" : "]}");
  return g_string_free (text, FALSE);
}

/* Ranks of the senders and receivers, the weight of each message, and as many as chunks and receivers. */
static void
each_chunk_goes_to_those_that_get_it (G_GNUC_UNUSED void **state)
{
  for (gboolean is_exchange = FALSE; is_exchange <= TRUE; is_exchange++)
    for (guint n = 2; n <= 4; n++)
      for (guint times = 1; times <= 2; times++) {
        guint n_chunks = is_exchange ? times * n : times + 1, n_pair = is_exchange ? times : n_chunks;
        g_autofree char *text = direct_text (n, n_chunks, is_exchange, G_MAXUINT);
        g_autoptr (FabGiven) given = read_text (text, NULL);
        guint n_found[4][4] = { 0 };

        assert_int_equal (given->op, is_exchange ? FAB_OP_ALL_TO_ALL : FAB_OP_ALL_GATHER);
        assert_int_equal (given->n_ranks, n);
        assert_int_equal (given->n_channels, n - 1);
        assert_int_equal (given->messages->len, n * (n - 1) * n_pair);
        for (guint i = 0; i < given->messages->len; i++) {
          const FabGivenMessage *message = message_at (given, i);

          n_found[message->from][message->to]++;
          assert_near (message->weight, is_exchange ? 1.0 / n_chunks : 1.0 / n / n_chunks, 1e-9);
        }
        for (guint from = 0; from < n; from++)
          for (guint to = 0; to < n; to++)
            assert_int_equal (n_found[from][to], from != to ? n_pair : 0);
      }
}

static void assert_refused (const char *text, const char *part);

/* Without any one of its flows it is no longer that operation, and the message says which chunk does not come where. */
static void
each_flow_is_needed (G_GNUC_UNUSED void **state)
{
  const guint n = 3, n_chunks = 3;

  for (guint i = 0, left_out = 0; i < n; i++)
    for (guint k = 1; k < n; k++)
      for (guint c = 0; c < n_chunks; c++, left_out++) {
        g_autofree char *text = direct_text (n, n_chunks, FALSE, left_out);
        g_autofree char *said = g_strdup_printf (
            "Flows: this is no all_gather: chunk %u of rank %u does not come to rank %u", c, rank_of (i, n),
            rank_of ((i + k) % n, n));

        assert_refused (text, said);
      }
}

/* A GPU sends two chunks over a link in epoch 0, two in epoch 2 and one in epoch 3: each waits for those of the last
 * epoch before in which the link was used. */
static void
a_link_remembers_its_last_epoch (G_GNUC_UNUSED void **state)
{
#define CHUNK(c, epoch) "\"Chunk " #c " from 1 traveled over 1->2 in epoch " #epoch "\","
#define BACK(c) "\"Chunk " #c " from 2 traveled over 2->1 in epoch 0\""
  g_autoptr (FabGiven) given = read_text (HEAD "\"7-Flows\": [" CHUNK (3, 3) CHUNK (0, 0) CHUNK (4, 2)
                                              CHUNK (2, 2) CHUNK (1, 0) BACK (0) "," BACK (1) "," BACK (
                                                  2) "," BACK (3) "," BACK (4) "]}",
                                          NULL);
  guint n_first = 0, n_next = 0;

  assert_int_equal (given->messages->len, 10);
  for (guint i = 0; i < given->messages->len; i++) {
    const FabGivenMessage *message = message_at (given, i);

    assert_int_equal (message->n_waits, message->n_waits > 0 ? 2 : 0);
    for (guint w = message->first_wait; w < message->first_wait + message->n_waits; w++) {
      const FabGivenWait *wait = &g_array_index (given->waits, FabGivenWait, w);

      assert_true (wait->is_departure);
      assert_int_equal (message_at (given, wait->message)->from, 0);
      assert_int_equal (message_at (given, wait->message)->n_waits,
                        message_at (given, wait->message)->n_waits > 0 ? 2 : 0);
      n_first += message_at (given, wait->message)->n_waits == 0;
      n_next += message_at (given, wait->message)->n_waits > 0;
    }
    assert_true (message->from == 0 || message->n_waits == 0);
  }
  assert_int_equal (n_first, 4); /* two of epoch 2 wait for two of epoch 0 */
  assert_int_equal (n_next, 2);  /* and that of epoch 3 for the two of epoch 2 */
}

/* Chunk 0 of GPU 1 comes to GPU 3 twice, in the same epoch or in different ones: what GPU 3 sends on waits for what
 * came first, and of the same epoch for what stands first. */
static void
the_first_arrival_counts (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *one, *other;
    guint from; /* rank of the sender for which it waits */
  } cases[] = {
    { "1->3 in epoch 1", "2->3 in epoch 1", 0 },
    { "2->3 in epoch 1", "1->3 in epoch 1", 1 },
    { "2->3 in epoch 2", "1->3 in epoch 1", 0 },
    { "1->3 in epoch 2", "2->3 in epoch 1", 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf (
        HEAD
        "\"7-Flows\": [\"Chunk 0 from 1 traveled over 3->2 in epoch 3\", \"Chunk 0 from 1 traveled over %s\", "
        "\"Chunk 0 from 1 traveled over %s\", \"Chunk 0 from 1 traveled over 1->2 in epoch 0\", "
        "\"Chunk 0 from 2 traveled over 2->1 in epoch 9\", \"Chunk 0 from 2 traveled over 2->3 in epoch 9\", "
        "\"Chunk 0 from 3 traveled over 3->1 in epoch 9\", \"Chunk 0 from 3 traveled over 3->2 in epoch 9\"]}",
        cases[i].one, cases[i].other);
    g_autoptr (FabGiven) given = read_text (text, NULL);
    guint n_found = 0;

    assert_int_equal (given->n_channels, 2);
    for (guint m = 0; m < given->messages->len; m++) {
      const FabGivenMessage *message = message_at (given, m);

      if (message->from != 2 || message->to != 1)
        continue;
      for (guint w = message->first_wait; w < message->first_wait + message->n_waits; w++) {
        const FabGivenWait *wait = &g_array_index (given->waits, FabGivenWait, w);

        if (wait->is_departure)
          continue;
        n_found++;
        assert_int_equal (message_at (given, wait->message)->from, cases[i].from);
      }
    }
    assert_int_equal (n_found, 1);
  }
}

/* --- what is refused --- */

static void
assert_refused (const char *text, const char *part)
{
  g_autofree char *message = NULL;
  g_autoptr (FabGiven) given = read_text (text, &message);

  assert_null (given);
  if (!g_str_has_prefix (message, "teccl: ") || strstr (message, part) == NULL)
    fail_msg ("'%s' does not say '%s'", message, part);
}

static void
wrong_flows_are_refused_at_their_place (G_GNUC_UNUSED void **state)
{
  assert_refused (HEAD "\"7-Flows\": [" FROM (0, 1, 2) "," FROM (1, 2, 0) "]}",
                  "Flows[1]: 0->2 in epoch 1: node 2 has no chunk of its own");
  assert_refused (HEAD "\"7-Flows\": [" FROM (0, 1, 2) "," FROM (1, 2, 0) "," FROM (2, 0, 0) "]}",
                  "Flows: this is no all_gather: chunk 0 of rank 2 does not come to rank 1");
  assert_refused (HEAD "\"7-Flows\": [" FROM (
                      0, 1, 2) ",\"Chunk 0 from 1 traveled over 1->2 in epoch 0\","
                               "\"Chunk 0 from 1 traveled over 2->0 in epoch 0\"," FROM (2, 0, 1) "]}",
                  "Flows[3]: 2->0 in epoch 0: chunk 0 of GPU 1 has not come to GPU 2 before");
  assert_refused (
      HEAD "\"7-Flows\": [" FROM (0, 1, 2) "," FROM (1, 2, 5) "," FROM (2, 0, 1) "]}",
      "Flows[3]: 1->5 in epoch 1: node 5 has no chunk of its own, so that it is no GPU; flows that name "
      "switches one by one, as the A* solver writes them, are not read");
  assert_refused (HEAD "\"7-Flows\": [" FROM (0, 1, 0) "," FROM (1, 2, 0) "]}", "a GPU sends to itself");
  assert_refused (HEAD "\"7-Flows\": [" FROM (0, 1, 2) "]}", "all chunks are those of one GPU");
  assert_refused (HEAD
                  "\"7-Flows\": [\"Chunk 9999 from 0 traveled over 0->1 in epoch 0\"," FROM (1, 0, 0) "]}",
                  "10000 chunks of each of 2 GPUs need 20000 flows, and there are 3");
  assert_refused (HEAD "\"7-Flows\": [\"Chunk 0 from 0 went over 0->1 in epoch 0\"]}",
                  "7-Flows: 'Chunk 0 from 0 went over 0->1 in epoch 0' is no flow of TE-CCL");
  assert_refused (HEAD "\"7-Flows\": [\"Chunk 0 from 0 traveled over 0->70000 in epoch 0\"]}", "is no flow");
  assert_refused (HEAD "\"7-Flows\": [3]}", "a flow is not a text");
  assert_refused (HEAD "\"7-Flows\": 3}", "7-Flows is not a list");
  assert_refused (HEAD "\"7-Flows\": []}", "the schedule has no flows");
  assert_refused (HEAD "\"7-Flows\": [", "byte ");
}

static void
wrong_paths_are_refused_at_their_place (G_GNUC_UNUSED void **state)
{
  assert_refused (HEAD LIST "}}", "the flows have volumes, as in an all-to-all, but there are no paths");
  assert_refused (HEAD LIST PATH (1, 1, 0, 1, "[[0, \"0->1 with volume 0.5 in epoch 0\"]]") ",\n" OTHERS,
                  "this is no all_to_all: 0.5 of chunk 1 of rank 0 come to rank 1");
  assert_refused (HEAD LIST PATH (1, 1, 0, 1, "[[0, \"0->2 with volume 1 in epoch 0\"]]") ",\n" OTHERS,
                  "Chunk paths[\"Demand at 1 for chunk 1 from 0 met by epoch 1\"]: 0->2 in epoch 0: "
                  "chunk 1 of GPU 0 is for rank 1, not for GPU 2");
  assert_refused (
      HEAD LIST PATH (
          1, 1, 0, 1,
          "[[0, \"0->2 with volume 1 in epoch 0\"], [0, \"2->1 with volume 1 in epoch 0\"]]") ",\n" OTHERS,
      "2->1 in epoch 0: the chunk comes in epoch 0 only");
  assert_refused (
      HEAD LIST PATH (
          1, 1, 0, 1,
          "[[0, \"0->2 with volume 1 in epoch 0\"], [1, \"0->1 with volume 1 in epoch 1\"]]") ",\n" OTHERS,
      "0->1 in epoch 1: the path does not go on from node 2");
  assert_refused (
      HEAD LIST PATH (
          1, 1, 0, 1,
          "[[0, \"0->2 with volume 1 in epoch 0\"], [1, \"2->1 with volume 0.5 in epoch 1\"]]") ",\n" OTHERS,
      "the path changes its volume");
  assert_refused (HEAD LIST PATH (1, 1, 1, 1, "[[0, \"1->0 with volume 1 in epoch 0\"]]") ",\n" OTHERS,
                  "chunk 1 is GPU 1's own, of 3 GPUs");
  assert_refused (HEAD LIST PATH (1, 3, 0, 1, SPLIT) ",\n" OTHERS,
                  "this is no all_to_all: 3 GPUs have 4 chunks each, and 8 flows");
  assert_refused (HEAD LIST "\"Demand\": []}}", "'Demand' is no demand of TE-CCL");
  assert_refused (HEAD LIST PATH (1, 1, 0, 1, "[[\"0->1 with volume 1 in epoch 0\"]]") ",\n" OTHERS,
                  "a step of a path is no epoch with a text");
}

/* Which texts are flows. Numbers end at the limits of the reader; an epoch is any that has 31 bits. */
static void
a_flow_is_one_sentence (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text;
    gboolean is_flow;
  } cases[] = {
    { "Chunk 0 from 0 traveled over 0->1 in epoch 0", TRUE },
    { "Chunk 16777215 from 65535 traveled over 65535->65535 in epoch 2147483647", TRUE },
    { "Chunk 16777216 from 0 traveled over 0->1 in epoch 0", FALSE },
    { "Chunk 0 from 65536 traveled over 0->1 in epoch 0", FALSE },
    { "Chunk 0 from 0 traveled over 65536->1 in epoch 0", FALSE },
    { "Chunk 0 from 0 traveled over 0->65536 in epoch 0", FALSE },
    { "Chunk 0 from 0 traveled over 0->1 in epoch 2147483648", FALSE },
    { "Chunk 0 from 0 traveled over 0->1 in epoch 0 via switches 65535 -> 65535->65535", TRUE },
    { "Chunk 0 from 0 traveled over 0->1 in epoch 0 via switches 65536", FALSE },
    { "Chunk 0 from 0 traveled over 0->1 in epoch 0 via switches 1 -> 65536", FALSE },
    { "Chunk 0 from 0 traveled over 0->1 in epoch 0 via switches 1 -> ", FALSE },
    { "Chunk 0 from 0 traveled over 0->1 in epoch 0 via switches ", FALSE },
    { "Chunk 0 from 0 traveled over 0->1 in epoch 0 via", FALSE },
    { "Chunk 0 from 0 traveled over 0->1 in epoch 0.", FALSE },
    { "Chunk 0 from 0 traveled over 0->1 in epoch ", FALSE },
    { "Chunk 0 from 0 traveled over 0->1", FALSE },
    { "Chunk 0 from 0 traveled over 0->", FALSE },
    { "Chunk 0 from 0 traveled over 0-1 in epoch 0", FALSE },
    { "Chunk 0 from 0 traveled over -1->1 in epoch 0", FALSE },
    { "Chunk 0 from  traveled over 0->1 in epoch 0", FALSE },
    { "Chunk  from 0 traveled over 0->1 in epoch 0", FALSE },
    { "chunk 0 from 0 traveled over 0->1 in epoch 0", FALSE },
    { "Chunk 0 from 0 traveled over 0->1 with volume 1.001 in epoch 0", TRUE },
    { "Chunk 0 from 0 traveled over 0->1 with volume 1e-9 in epoch 0", TRUE },
    { "Chunk 0 from 0 traveled over 0->1 with volume 1.0011 in epoch 0", FALSE },
    { "Chunk 0 from 0 traveled over 0->1 with volume 0 in epoch 0", FALSE },
    { "Chunk 0 from 0 traveled over 0->1 with volume -1 in epoch 0", FALSE },
    { "Chunk 0 from 0 traveled over 0->1 with volume nan in epoch 0", FALSE },
    { "Chunk 0 from 0 traveled over 0->1 with volume in epoch 0", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf (HEAD "\"7-Flows\": [\"%s\"]}", cases[i].text), *message = NULL,
                    *said = g_strdup_printf ("7-Flows: '%.80s' is no flow of TE-CCL", cases[i].text);
    g_autoptr (FabGiven) given = read_text (text, &message);

    assert_null (given); /* one flow is no schedule */
    if ((strstr (message, said) == NULL) != cases[i].is_flow)
      fail_msg ("'%s': %s", cases[i].text, message);
  }
}

/* Where the JSON is not what TE-CCL writes, the message says what should stand there. */
static void
wrong_json_is_refused (G_GNUC_UNUSED void **state)
{
#define KEY "\"Demand at 1 for chunk 1 from 0 met by epoch 1\": "
  static const struct {
    const char *rest, *message;
  } cases[] = {
    { "\"8-Chunk paths\": []}", "8-Chunk paths is not an object" },
    { "\"8-Chunk paths\": {\"Demand at 65536 for chunk 1 from 0 met by epoch 1\": []}}",
      "is no demand of TE-CCL" },
    { "\"8-Chunk paths\": {\"Demand at 1 for chunk 16777216 from 0 met by epoch 1\": []}}",
      "is no demand of TE-CCL" },
    { "\"8-Chunk paths\": {\"Demand at 1 for chunk 1 from 65536 met by epoch 1\": []}}",
      "is no demand of TE-CCL" },
    { "\"8-Chunk paths\": {\"Demand at 1 for chunk 1 from 0 met by epoch 2147483648\": []}}",
      "is no demand of TE-CCL" },
    { "\"8-Chunk paths\": {\"Demand at 1 for chunk 1 from 0 met by epoch 1.\": []}}",
      "is no demand of TE-CCL" },
    { "\"8-Chunk paths\": {" KEY "{}}}", "8-Chunk paths: the paths of a demand are not a list" },
    { "\"8-Chunk paths\": {" KEY "[3]}}", "8-Chunk paths: a path is not a list" },
    { "\"8-Chunk paths\": {" KEY "[[3]]}}", "8-Chunk paths: a path is not a list of steps" },
    { "\"8-Chunk paths\": {" KEY "[[[0, 3]]]}}", "8-Chunk paths: a step of a path is no epoch with a text" },
    { "\"8-Chunk paths\": {" KEY "[[[0, \"0->1 in epoch 0\"]]]}}",
      "'0->1 in epoch 0' is no step of a path of TE-CCL" },
    { "\"8-Chunk paths\": {" KEY "[[[0, \"0->1 with volume 1\"]]]}}",
      "'0->1 with volume 1' is no step of a path" },
    { "\"8-Chunk paths\": {" KEY "[[[0, \"0->1 with volume 1 in epoch 0\", 1]]]}}",
      "8-Chunk paths: a step of a path has more than an epoch and a text" },
    { "\"8-Chunk paths\": {" KEY "[\"0->1 in epoch 0\"]}}", "the schedule has no flows" },
    { "\"8-Chunk paths\": {" KEY "[[]]}}", "the schedule has no flows" },
    /* the largest numbers */
    { "\"8-Chunk paths\": {\"Demand at 65535 for chunk 16777215 from 65535 met by epoch 2147483647\": []}}",
      "the schedule has no flows" },
    { "\"4\": 5} 6", "byte " },
    { "\"4\": 5}", "the schedule has no flows" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strconcat (HEAD, cases[i].rest, NULL);

    assert_refused (text, cases[i].message);
  }
  assert_refused ("[\"1-Epoch_Duration\"]", "the schedule is not an object");
}

/* What comes of a chunk over all its paths is one chunk, within a thousandth; the messages then carry all of it. */
static void
a_solver_has_a_tolerance (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *first, *second;
    gboolean is_good;
  } cases[] = {
    { "0.4", "0.6", TRUE },     { "0.4", "0.5991", TRUE },  { "0.4", "0.6009", TRUE },
    { "0.4", "0.5989", FALSE }, { "0.4", "0.6011", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf (
        HEAD LIST
        "\"Demand at 1 for chunk 1 from 0 met by epoch 1\": [[[0, \"0->1 with volume %s in epoch 0\"]], "
        "[[0, \"0->2 with volume %s in epoch 0\"], [1, \"2->1 with volume %s in epoch 1\"]]],\n" OTHERS,
        cases[i].first, cases[i].second, cases[i].second);
    g_autofree char *message = NULL;
    g_autoptr (FabGiven) given = read_text (text, &message);
    double whole = g_ascii_strtod (cases[i].first, NULL) + g_ascii_strtod (cases[i].second, NULL);
    guint index;

    assert_true ((given != NULL) == cases[i].is_good);
    if (given != NULL) {
      find_message (given, 0, 1, g_ascii_strtod (cases[i].first, NULL) / whole / 3, &index);
      find_message (given, 2, 1, g_ascii_strtod (cases[i].second, NULL) / whole / 3, &index);
    }
  }
  assert_refused (
      HEAD LIST PATH (
          1, 1, 0, 1,
          "[[0, \"0->2 with volume 0.5 in epoch 0\"], [1, \"2->1 with volume 0.502 in epoch 1\"]]") ",\n" OTHERS,
      "the path changes its volume");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_ring_is_the_ring_that_is_built_in),
    cmocka_unit_test (a_link_does_one_epoch_after_another),
    cmocka_unit_test (parts_of_a_chunk_take_their_paths),
    cmocka_unit_test (each_chunk_goes_to_those_that_get_it),
    cmocka_unit_test (each_flow_is_needed),
    cmocka_unit_test (a_link_remembers_its_last_epoch),
    cmocka_unit_test (the_first_arrival_counts),
    cmocka_unit_test (a_flow_is_one_sentence),
    cmocka_unit_test (wrong_json_is_refused),
    cmocka_unit_test (a_solver_has_a_tolerance),
    cmocka_unit_test (wrong_flows_are_refused_at_their_place),
    cmocka_unit_test (wrong_paths_are_refused_at_their_place),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
