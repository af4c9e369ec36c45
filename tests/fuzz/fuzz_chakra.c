/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_chakra.c - graphs of Chakra as protobuf: read as a trace, and as a collective of sends and receives. Nothing
 * crashes, and what is refused has a message.
 */
#include "formats/schedule/messages.h"
#include "formats/trace/trace.h"
#include "tests/fuzz/target.h"

/* Messages of a graph can be sent, and wait for earlier ones alone. */
static void
check_messages (const FabTrace *trace)
{
  const FabGivenHint hint = { .name = "fuzz", .op = FAB_OP_ALL_REDUCE, .bytes = 16 };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabGiven) given = fab_given_of_messages (trace, &hint, &error);

  if (given == NULL) {
    fuzz_check_message (error);
    return;
  }
  for (guint i = 0; i < given->messages->len; i++) {
    const FabGivenMessage *message = &g_array_index (given->messages, FabGivenMessage, i);

    if (message->from >= given->n_ranks || message->to >= given->n_ranks || message->from == message->to)
      g_error ("a message that nobody can send");
    for (guint w = message->first_wait; w < message->first_wait + message->n_waits; w++)
      if (g_array_index (given->waits, FabGivenWait, w).message >= i)
        g_error ("a message that waits for a later one");
  }
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (FabFileBytes) bytes = fab_file_bytes_new ("fuzz", data, size);
  g_autoptr (FabTrace) trace = fab_trace_new ();
  g_autoptr (GError) error = NULL;

  if (!fab_file_bytes_next (bytes, &error))
    return 0;
  if (fab_file_format_named (FAB_FILE_TRACE, "Chakra")->read.trace (trace, bytes, &error)
      && fab_trace_finish (trace, &error))
    check_messages (trace);
  else
    fuzz_check_message (error);
  return 0;
}
