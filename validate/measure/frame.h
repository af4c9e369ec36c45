/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h - the words of the protocol between two ends (pair.h), on any control channel.
 *
 * A frame is 32 bytes, big endian, and up to 64 KiB that belong to it. Conversation, > from the asking end:
 *
 *   > HELLO backend, machine, largest size, window, time limit     < WELCOME machine
 *   both open; what they exchange meanwhile goes as DATA           <> OPENED
 *   > GO kind, size, number   < READY   both move   < DONE         again and again
 *   > BYE
 *
 * FAILED with a message may stand in place of any word: the end that sent it gave up.
 */
#pragma once

#include "validate/measure/pair.h"

#define FAB_FRAME_VERSION 1u

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
/* Says why this end gives up; what goes wrong with that is nobody's matter. */
void fab_frame_send_failed (FabControl *control, const GError *cause);

/* Any frame but FAILED, which is an error with its message. */
gboolean fab_frame_receive (FabControl *control, FabFrame *frame, GError **error);
/* That type only, anything else is an error. */
gboolean fab_frame_expect (FabControl *control, FabFrameType type, FabFrame *frame, GError **error);

/* A control channel over `below` whose bytes travel as DATA, so that FAILED is understood between them. Closing it
 * does not close `below`. */
FabControl *fab_framed_control_new (FabControl *below);
