/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h - the messages of the protocol between two ends (pair.h), over any control channel.
 *
 * A frame is 32 bytes, big endian, followed by up to 64 KiB of data: the magic number "FABM", the version of the
 * protocol, type, number (4 bytes each), size (8), count and the number of bytes of data (4 each). In this conversation
 * > comes from the asking end:
 *
 *   > HELLO backend, machine, largest size, window, time limit     < WELCOME machine
 *   both open; what they exchange meanwhile goes as DATA           <> OPENED
 *   > GO kind, size, number   < READY   both move   < DONE         repeated
 *   > BYE
 *
 * A listening end with a secret (secret.h) puts a question before WELCOME, and both ends prove that they know it:
 *
 *   < CHALLENGE nonce         > PROOF nonce, code   < PROOF code
 *
 * Either end may send FAILED with a message instead of any frame; it has then given up. Version 1 had no CHALLENGE and
 * let the asking end set the time limit of the listening one.
 */
#pragma once

#include "validate/measure/control.h"

#define FAB_FRAME_VERSION 2u

/* The most messages that one GO may ask for: no product of a size and a count leaves 64 bits. */
#define FAB_FRAME_MAX_MESSAGES (1u << 20)

/* The most messages that a HELLO may ask to have under way. */
#define FAB_FRAME_MAX_WINDOW (1u << 16)

typedef enum {
  FAB_FRAME_HELLO = 1,
  FAB_FRAME_WELCOME,
  FAB_FRAME_DATA,
  FAB_FRAME_OPENED,
  FAB_FRAME_GO,
  FAB_FRAME_READY,
  FAB_FRAME_DONE,
  FAB_FRAME_FAILED,
  FAB_FRAME_BYE,
  FAB_FRAME_CHALLENGE,
  FAB_FRAME_PROOF,
} FabFrameType;

typedef struct {
  FabFrameType type;
  guint32 number; /* HELLO: time limit in seconds; GO: kind */
  guint32 count;  /* HELLO: window; GO: messages */
  guint64 size_bytes;
  gsize n_data;
  char *data; /* owned, with a NUL behind it; NULL when n_data is 0 */
} FabFrame;

void fab_frame_clear (FabFrame *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FabFrame, fab_frame_clear)

gboolean fab_frame_send (FabControl *control, const FabFrame *frame, GError **error);
gboolean fab_frame_send_type (FabControl *control, FabFrameType type, GError **error);
/* Tells the other end why this end gives up; ignores errors while doing so. */
void fab_frame_send_failed (FabControl *control, const GError *cause);

/* The bytes of a frame without its data. */
#define FAB_FRAME_HEAD_BYTES 32

/* Says whether what has arrived can be answered without waiting: a whole frame, or what is none. `head` has the first
 * `n_head` bytes (up to FAB_FRAME_HEAD_BYTES) of the `n_arrived`. */
gboolean fab_frame_is_there (const guint8 *head, gsize n_head, gsize n_arrived);

/* Receives any frame. FAILED becomes an error with its message. */
gboolean fab_frame_receive (FabControl *control, FabFrame *frame, GError **error);
/* Receives a frame of that type; any other type is an error. */
gboolean fab_frame_expect (FabControl *control, FabFrameType type, FabFrame *frame, GError **error);

/* Makes a control channel over `below` that sends its bytes as DATA, so that a FAILED between them is recognised.
 * Closing it does not close `below`. (transfer full) */
FabControl *fab_framed_control_new (FabControl *below);
