/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_schedule.c - broken schedules: nothing crashes, what is refused has a message, what is taken can be played.
 *
 * As a test it mutates the samples below with the seeds 1 to N_ROUNDS; FAB_TEST_SEED=17 runs that one alone. Compiled
 * with -Dfuzz=true it is a libFuzzer target with the same check.
 */
#include <string.h>

#include "formats/schedule/messages.h"
#include "formats/trace/trace.h"
#include "tests/support/random.h"

enum { N_ROUNDS = 20000 };

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
check_given (const FabGiven *given)
{
  for (guint i = 0; i < given->messages->len; i++) {
    const FabGivenMessage *message = &g_array_index (given->messages, FabGivenMessage, i);

    if (message->from >= given->n_ranks || message->to >= given->n_ranks || message->from == message->to
        || !(message->weight > 0))
      g_error ("a message that nobody can send");
    for (guint w = message->first_wait; w < message->first_wait + message->n_waits; w++)
      if (g_array_index (given->waits, FabGivenWait, w).message >= i)
        g_error ("a message that waits for a later one");
  }
}

static FabGiven *
read_graphs (FabFileBytes *bytes, GError **error)
{
  FabGivenHint hint = { .name = "fuzz", .op = FAB_OP_ALL_REDUCE, .bytes = 16 };
  g_autoptr (FabTrace) trace = fab_trace_new ();

  if (!fab_file_format_named (FAB_FILE_TRACE, "GOAL")->read.trace (trace, bytes, error)
      || !fab_trace_finish (trace, error))
    return NULL;
  return fab_given_of_messages (trace, &hint, error);
}

/* GOAL begins with its number of ranks, TE-CCL's JSON with a brace; all else is read as XML. */
int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (FabFileBytes) bytes = fab_file_bytes_new ("fuzz", data, size);
  gboolean is_goal = size > 3 && memcmp (data, "num", 3) == 0;
  g_autoptr (GError) error = NULL;
  g_autoptr (FabGiven) given = NULL;

  if (!fab_file_bytes_next (bytes, &error))
    return 0;
  given = is_goal ? read_graphs (bytes, &error)
                  : fab_file_format_named (FAB_FILE_SCHEDULE, size > 0 && data[0] == '{' ? "TE-CCL" : "MSCCL")
                        ->read.schedule (bytes, &(FabGivenHint){ .name = "fuzz", .op = -1 }, &error);
  if ((given == NULL) != (error != NULL))
    g_error ("neither a schedule nor a message");
  if (error != NULL && (error->message[0] == '\0' || !g_utf8_validate (error->message, -1, NULL)))
    g_error ("refused without a message");
  if (given != NULL)
    check_given (given);
  return 0;
}

#ifndef FAB_LIBFUZZER

static const char sample[] =
    "<!-- c -->\n<algo name=\"x\" proto=\"LL\" ngpus=\"2\" nchunksperloop=\"2\" coll=\"allreduce\" inplace=\"1\" "
    "minBytes=\"0\" maxBytes=\"9\">\n"
    "<gpu id=\"0\" i_chunks=\"2\" o_chunks=\"0\" s_chunks=\"1\">\n<tb id=\"0\" send=\"1\" recv=\"1\" chan=\"0\">\n"
    "<step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>\n"
    "<step s=\"1\" type=\"rrcs\" srcbuf=\"i\" srcoff=\"1\" dstbuf=\"i\" dstoff=\"1\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>\n"
    "<step s=\"2\" type=\"r\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>\n"
    "</tb>\n<tb id=\"1\" send=\"-1\" recv=\"-1\" chan=\"0\">\n"
    "<step s=\"0\" type=\"nop\" srcbuf=\"i\" srcoff=\"-1\" dstbuf=\"o\" dstoff=\"-1\" cnt=\"0\" depid=\"0\" deps=\"2\"/>\n"
    "<step s=\"1\" type=\"cpy\" srcbuf=\"i\" srcoff=\"1\" dstbuf=\"s\" dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>\n"
    "</tb>\n</gpu>\n"
    "<gpu id=\"1\" i_chunks=\"2\" o_chunks=\"0\" s_chunks=\"0\">\n<tb id=\"0\" send=\"0\" recv=\"0\" chan=\"0\">\n"
    "<step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"1\" dstbuf=\"i\" dstoff=\"1\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>\n"
    "<step s=\"1\" type=\"rrcs\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>\n"
    "<step s=\"2\" type=\"r\" srcbuf=\"i\" srcoff=\"1\" dstbuf=\"i\" dstoff=\"1\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>\n"
    "</tb>\n</gpu>\n</algo>\n";

static const char goal_sample[] = "num_ranks 2\nrank 0 {\ns: send 8b to 1 tag 1\nr: recv 8b from 1 tag 1\n"
                                  "c: calc 3\nc requires r\nt: send 8b to 1 tag 2\nt requires c\n"
                                  "u: recv 8b from 1 tag 2\n}\nrank 1 {\ns: send 8b to 0 tag 1\n"
                                  "r: recv 8b from 0 tag 1\nt: send 8b to 0 tag 2\nt requires r\n"
                                  "u: recv 8b from 0 tag 2\n}\n";

static const char gather_sample[] =
    "{\"1-Epoch_Duration\": 1.0,\n\"7-Flows\": [\n\"Chunk 0 from 1 traveled over 1->2 in epoch 0\",\n"
    "\"Chunk 0 from 2 traveled over 2->3 in epoch 0 via switches 0 -> 4\",\n"
    "\"Chunk 0 from 3 traveled over 3->1 in epoch 0\",\n\"Chunk 0 from 1 traveled over 2->3 in epoch 1\",\n"
    "\"Chunk 0 from 2 traveled over 3->1 in epoch 1\",\n\"Chunk 0 from 3 traveled over 1->2 in epoch 1\"],\n"
    "\"8-Chunk paths\": {\"Demand at 2 for chunk 0 from 1 met by epoch 0\": [\"1->2 in epoch 0\"]}}\n";

static const char exchange_sample[] =
    "{\"1-Epoch_Duration\": 1.0,\n\"6-Flows\": [\"Chunk 1 from 0 traveled over 0->1 with volume 1.0 in epoch 0\"],\n"
    "\"7-chunk paths\": {\"Demand at 1 for chunk 1 from 0 met by epoch 2\": "
    "[[[0, \"0->1 with volume 0.5 in epoch 0\"]], [[2, \"0->1 with volume 0.5 in epoch 2 via switches 3->4\"]]],\n"
    "\"Demand at 0 for chunk 0 from 1 met by epoch 0\": [[[0, \"1->0 with volume 1.0 in epoch 0\"]]]}}\n";

static const char *const samples[] = { sample, gather_sample, goal_sample, exchange_sample };

static const char *const words[] = {
  "0",  "1",    "2",     "-1",   "65536", "16777216", "99999999999999999999",
  "\"", "<",    ">",     "/",    "<tb",   "<copy",    "type=\"re\"",
  "\n", "\xff", "&amp;", "rrcs", "s",     "o",        "broadcast"
};

static void
mutate_once (Random *random, GString *text)
{
  gsize at = random_below (random, (guint) text->len + 1), span = random_between (random, 1, 40);

  switch (random_below (random, 6)) {
  case 0: g_string_erase (text, (gssize) at, (gssize) MIN (span, text->len - at)); break;
  case 1: g_string_truncate (text, MAX (at, text->len / 2)); break;
  case 2:
    if (at < text->len && g_ascii_isdigit (text->str[at]))
      text->str[at] = (char) ('0' + random_below (random, 10));
    break;
  case 3:
    if (at < text->len)
      text->str[at] = (char) (text->str[at] ^ (1 << random_below (random, 8)));
    break;
  default: g_string_insert (text, (gssize) at, words[random_below (random, G_N_ELEMENTS (words))]); break;
  }
}

/* Every second round only turns digits, which mostly leaves the file readable. */
static void
run_seed (guint seed)
{
  Random random = { .state = seed };
  g_autoptr (GString) text = g_string_new (samples[seed / 2 % G_N_ELEMENTS (samples)]);

  for (guint n = random_below (&random, 4); n > 0 && seed % 2 == 0; n--)
    mutate_once (&random, text);
  for (guint n = seed % 2 * 40; n > 0; n--) {
    gsize at = random_below (&random, (guint) text->len);

    if (g_ascii_isdigit (text->str[at]))
      text->str[at] = (char) ('0' + random_below (&random, 3));
  }
  LLVMFuzzerTestOneInput ((const guint8 *) text->str, text->len);
}

int
main (void)
{
  const char *only = g_getenv ("FAB_TEST_SEED");

  if (only != NULL)
    run_seed ((guint) g_ascii_strtoull (only, NULL, 10));
  for (guint seed = 1; only == NULL && seed <= N_ROUNDS; seed++)
    run_seed (seed);
  return 0;
}
#endif
