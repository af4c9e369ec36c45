/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_frame.c - what another program might say on the control channel: no crash, no more memory than a frame may
 * have, a message for what is refused.
 *
 * As a test it mutates a conversation with the seeds 1 to N_ROUNDS; FAB_TEST_SEED=17 runs that one alone. Compiled
 * with -Dfuzz=true it is a libFuzzer target with the same check.
 */
#include <string.h>

#include "sim/base/error.h"
#include "tests/support/random.h"
#include "validate/measure/frame.h"

enum { N_ROUNDS = 20000, MAX_DATA_BYTES = 65536 };

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* Bytes as if they came from elsewhere; what is sent is put behind them. */
typedef struct {
  FabControl base;
  GByteArray *bytes;
  gsize at;
} Tape;

static gboolean
tape_send (FabControl *control, gconstpointer data, gsize size, G_GNUC_UNUSED GError **error)
{
  g_byte_array_append (((Tape *) control)->bytes, data, (guint) size);
  return TRUE;
}

static gboolean
tape_receive (FabControl *control, gpointer data, gsize size, GError **error)
{
  Tape *self = (Tape *) control;

  if (size > self->bytes->len - self->at)
    return fab_throw (error, FAB_ERROR_IO, "the tape is over");
  memcpy (data, self->bytes->data + self->at, size);
  self->at += size;
  return TRUE;
}

static Tape
tape_new (const guint8 *data, gsize size)
{
  Tape self = { .base = { tape_send, tape_receive, NULL, (char *) "here", (char *) "there" },
                .bytes = g_byte_array_new () };

  g_byte_array_append (self.bytes, data, (guint) size);
  return self;
}

static void
check_message (const GError *error)
{
  if (error == NULL || error->message[0] == '\0' || !g_utf8_validate (error->message, -1, NULL)
      || strpbrk (error->message, "\033\n\r") != NULL)
    g_error ("refused without a message for a terminal");
}

/* Returns how many frames were understood. */
static guint
check_frames (const guint8 *data, gsize size)
{
  Tape tape = tape_new (data, size);
  g_autoptr (GError) error = NULL;
  g_auto (FabFrame) frame = { 0 };
  guint n = 0;

  for (; fab_frame_receive (&tape.base, &frame, &error); n++)
    if (frame.type < FAB_FRAME_HELLO || frame.type > FAB_FRAME_PROOF || frame.n_data > MAX_DATA_BYTES
        || (frame.n_data > 0 && frame.data[frame.n_data] != '\0'))
      g_error ("a frame that makes no sense");
  check_message (error);
  g_byte_array_unref (tape.bytes);
  return n;
}

static void
check_framed (const guint8 *data, gsize size)
{
  Tape tape = tape_new (data, size);
  FabControl *framed = fab_framed_control_new (&tape.base);
  g_autoptr (GError) error = NULL;
  char bytes[7];

  while (framed->receive (framed, bytes, sizeof bytes, &error)) {}
  check_message (error);
  framed->close (framed);
  g_byte_array_unref (tape.bytes);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  (void) check_frames (data, size);
  check_framed (data, size);
  return 0;
}

#ifndef FAB_LIBFUZZER

/* Every word once, some with data. */
static GByteArray *
record_conversation (void)
{
  Tape tape = tape_new (NULL, 0);
  const GError cause = { .message = (char *) "no device\n\033[2J\xff" };

  for (guint type = FAB_FRAME_HELLO; type <= FAB_FRAME_PROOF; type++) {
    const FabFrame frame = {
      .type = type, .number = type, .size_bytes = 8, .n_data = 4, .data = (char *) "word"
    };

    if (type == FAB_FRAME_FAILED)
      continue;
    fab_frame_send (&tape.base, &frame, NULL);
    fab_frame_send_type (&tape.base, FAB_FRAME_DATA, NULL);
  }
  fab_frame_send_failed (&tape.base, &cause);
  return tape.bytes;
}

/* Three pieces of data. */
static GByteArray *
record_data (void)
{
  Tape tape = tape_new (NULL, 0);
  FabControl *framed = fab_framed_control_new (&tape.base);
  const char bytes[300] = { 0 };

  framed->send (framed, bytes, 1, NULL);
  framed->send (framed, bytes, 10, NULL);
  framed->send (framed, bytes, sizeof bytes, NULL);
  framed->close (framed);
  return tape.bytes;
}

static guint
run_seed (const GByteArray *tape, guint seed)
{
  Random random = { .state = seed };
  GByteArray *bytes = g_byte_array_new ();
  guint n_understood;

  g_byte_array_append (bytes, tape->data, tape->len);
  for (guint n = random_below (&random, 4); n > 0; n--)
    bytes->data[random_below (&random, bytes->len)] = (guint8) random_below (&random, 256);
  if (random_chance (&random, 30))
    g_byte_array_set_size (bytes, random_below (&random, bytes->len) + 1);
  n_understood = check_frames (bytes->data, bytes->len);
  check_framed (bytes->data, bytes->len);
  g_byte_array_unref (bytes);
  return n_understood;
}

int
main (void)
{
  const char *only = g_getenv ("FAB_TEST_SEED");
  guint first = only ? (guint) g_ascii_strtoull (only, NULL, 10) : 1, n_understood = 0;
  GByteArray *tapes[] = { record_conversation (), record_data () };

  for (guint seed = first; seed <= (only ? first : N_ROUNDS); seed++)
    n_understood += run_seed (tapes[seed % 2], seed);
  if (check_frames (tapes[0]->data, tapes[0]->len) != 20 || check_frames (tapes[1]->data, tapes[1]->len) != 3)
    g_error ("what was recorded is not understood");
  g_byte_array_unref (tapes[0]);
  g_byte_array_unref (tapes[1]);
  g_print ("%u frames understood\n", n_understood);
  return only || n_understood > N_ROUNDS ? 0 : 1;
}

#endif
