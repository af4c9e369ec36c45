/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/measure/frame.h"

#include <string.h>

#include "sim/base/error.h"

#define MAGIC 0x4641424du /* "FABM" */
#define MAX_DATA_BYTES 65536u

/* A frame's head as it is sent. */
typedef struct {
  guint32 magic, version, type, number;
  guint64 size_bytes;
  guint32 count, n_data;
} Wire;

G_STATIC_ASSERT (sizeof (Wire) == FAB_FRAME_HEAD_BYTES);

static const char *const type_names[] = {
  [FAB_FRAME_HELLO] = "HELLO",         [FAB_FRAME_WELCOME] = "WELCOME", [FAB_FRAME_DATA] = "DATA",
  [FAB_FRAME_OPENED] = "OPENED",       [FAB_FRAME_GO] = "GO",           [FAB_FRAME_READY] = "READY",
  [FAB_FRAME_DONE] = "DONE",           [FAB_FRAME_FAILED] = "FAILED",   [FAB_FRAME_BYE] = "BYE",
  [FAB_FRAME_CHALLENGE] = "CHALLENGE", [FAB_FRAME_PROOF] = "PROOF",
};

void
fab_frame_clear (FabFrame *self)
{
  g_clear_pointer (&self->data, g_free);
  self->n_data = 0;
}

gboolean
fab_frame_send (FabControl *control, const FabFrame *frame, GError **error)
{
  Wire wire = { .magic = GUINT32_TO_BE (MAGIC),
                .version = GUINT32_TO_BE (FAB_FRAME_VERSION),
                .type = GUINT32_TO_BE (frame->type),
                .number = GUINT32_TO_BE (frame->number),
                .size_bytes = GUINT64_TO_BE (frame->size_bytes),
                .count = GUINT32_TO_BE (frame->count),
                .n_data = GUINT32_TO_BE ((guint32) frame->n_data) };
  g_autofree char *packet = g_malloc (sizeof wire + frame->n_data);

  g_assert (frame->n_data <= MAX_DATA_BYTES);
  memcpy (packet, &wire, sizeof wire);
  if (frame->n_data > 0)
    memcpy (packet + sizeof wire, frame->data, frame->n_data);
  return control->send (control, packet, sizeof wire + frame->n_data, error);
}

gboolean
fab_frame_send_type (FabControl *control, FabFrameType type, GError **error)
{
  return fab_frame_send (control, &(FabFrame){ .type = type }, error);
}

void
fab_frame_send_failed (FabControl *control, const GError *cause)
{
  FabFrame frame = { .type = FAB_FRAME_FAILED,
                     .n_data = MIN (strlen (cause->message), MAX_DATA_BYTES),
                     .data = cause->message };

  fab_frame_send (control, &frame, NULL);
}

/* Reads no more than the magic number until that is right: another program may send less than a frame. */
static gboolean
receive_wire (FabControl *control, Wire *wire, GError **error)
{
  if (!control->receive (control, &wire->magic, sizeof wire->magic, error))
    return FALSE;
  if (GUINT32_FROM_BE (wire->magic) != MAGIC)
    return fab_throw (error, FAB_ERROR_IO,
                      "the program at %s is not `fabricast measure`; does another program have this port?",
                      control->there);
  return control->receive (control, (char *) wire + sizeof wire->magic, sizeof *wire - sizeof wire->magic,
                           error);
}

gboolean
fab_frame_is_there (const guint8 *head, gsize n_head, gsize n_arrived)
{
  Wire wire = { 0 };

  memcpy (&wire, head, MIN (n_head, sizeof wire));
  if (n_head < sizeof wire.magic)
    return FALSE;
  if (GUINT32_FROM_BE (wire.magic) != MAGIC)
    return TRUE;
  return n_head == sizeof wire
      && (GUINT32_FROM_BE (wire.n_data) > MAX_DATA_BYTES
          || n_arrived >= sizeof wire + GUINT32_FROM_BE (wire.n_data));
}

static gboolean
check_wire (const FabControl *control, const Wire *wire, GError **error)
{
  if (GUINT32_FROM_BE (wire->version) != FAB_FRAME_VERSION)
    return fab_throw (
        error, FAB_ERROR_IO,
        "%s speaks version %u of the protocol and this end version %u; use the same fabricast on both",
        control->there, GUINT32_FROM_BE (wire->version), FAB_FRAME_VERSION);
  guint32 type = GUINT32_FROM_BE (wire->type);
  if (type < FAB_FRAME_HELLO || type > FAB_FRAME_PROOF || GUINT32_FROM_BE (wire->n_data) > MAX_DATA_BYTES)
    return fab_throw (error, FAB_ERROR_IO, "%s sends a message that the protocol does not have",
                      control->there);
  return TRUE;
}

/* Sets *error from the other end's message, escaped: it is printed on a terminal. */
static gboolean
fail_there (const FabControl *control, const FabFrame *frame, GError **error)
{
  g_autofree char *text = fab_printable (frame->data ? frame->data : "");

  return fab_throw (error, FAB_ERROR_IO, "the other end, %s, gave up: %s", control->there, text);
}

gboolean
fab_frame_receive (FabControl *control, FabFrame *frame, GError **error)
{
  Wire wire;

  fab_frame_clear (frame);
  if (!receive_wire (control, &wire, error) || !check_wire (control, &wire, error))
    return FALSE;
  *frame = (FabFrame){ .type = (FabFrameType) GUINT32_FROM_BE (wire.type),
                       .number = GUINT32_FROM_BE (wire.number),
                       .count = GUINT32_FROM_BE (wire.count),
                       .size_bytes = GUINT64_FROM_BE (wire.size_bytes),
                       .n_data = GUINT32_FROM_BE (wire.n_data) };
  if (frame->n_data > 0) {
    frame->data = g_malloc0 (frame->n_data + 1);
    if (!control->receive (control, frame->data, frame->n_data, error))
      return FALSE;
  }
  return frame->type != FAB_FRAME_FAILED || fail_there (control, frame, error);
}

gboolean
fab_frame_expect (FabControl *control, FabFrameType type, FabFrame *frame, GError **error)
{
  if (!fab_frame_receive (control, frame, error))
    return FALSE;
  return frame->type == type
      || fab_throw (error, FAB_ERROR_IO, "%s says %s, and %s was expected", control->there,
                    type_names[frame->type], type_names[type]);
}

/* --- bytes as DATA frames --- */

typedef struct {
  FabControl base;
  FabControl *below;
  GByteArray *waiting; /* arrived, but not yet asked for */
} Framed;

static gboolean
framed_send (FabControl *control, gconstpointer data, gsize size, GError **error)
{
  Framed *self = (Framed *) control;

  for (gsize sent = 0; sent < size;) {
    gsize part = MIN (size - sent, MAX_DATA_BYTES);
    FabFrame frame = { .type = FAB_FRAME_DATA, .n_data = part, .data = (char *) data + sent };

    if (!fab_frame_send (self->below, &frame, error))
      return FALSE;
    sent += part;
  }
  return TRUE;
}

static gboolean
framed_receive (FabControl *control, gpointer data, gsize size, GError **error)
{
  Framed *self = (Framed *) control;

  while (self->waiting->len < size) {
    g_auto (FabFrame) frame = { 0 };

    if (!fab_frame_expect (self->below, FAB_FRAME_DATA, &frame, error))
      return FALSE;
    if (frame.n_data == 0) /* an end that sends nothing but these would be waited for without end */
      return fab_throw (error, FAB_ERROR_IO, "%s sends DATA without data", control->there);
    g_byte_array_append (self->waiting, (const guint8 *) frame.data, (guint) frame.n_data);
  }
  memcpy (data, self->waiting->data, size);
  g_byte_array_remove_range (self->waiting, 0, (guint) size);
  return TRUE;
}

static void
framed_close (FabControl *control)
{
  Framed *self = (Framed *) control;

  g_byte_array_unref (self->waiting);
  g_free (control->here);
  g_free (control->there);
  g_free (self);
}

FabControl *
fab_framed_control_new (FabControl *below)
{
  Framed *self = g_new0 (Framed, 1);

  self->base = (FabControl){ .send = framed_send,
                             .receive = framed_receive,
                             .close = framed_close,
                             .here = g_strdup (below->here),
                             .there = g_strdup (below->there),
                             .timeout_s = below->timeout_s,
                             .end_us = below->end_us,
                             .canceller = below->canceller };
  self->below = below;
  self->waiting = g_byte_array_new ();
  return &self->base;
}
