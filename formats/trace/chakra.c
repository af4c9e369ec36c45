/* SPDX-License-Identifier: Apache-2.0 */
/* chakra.c - Chakra execution traces as protobuf: GlobalMetadata, then one Node after the other, each after its length.
 *
 * Numbers of fields: mlcommons/chakra, schema/protobuf/et_def.proto, version 0.0.4. The reader knows the wire format
 * (varint, 64 bits, length, 32 bits) and takes the fields that it needs; unknown ones are passed over, as
 * protobuf wants it.
 */
#include <string.h>

#include "formats/trace/reading.h"
#include "sim/base/error.h"
#include "sim/collective/collective.h"

#define MAX_MESSAGE_BYTES (16 * 1048576)

enum {
  NODE_ID = 1,
  NODE_NAME = 2,
  NODE_TYPE = 3,
  NODE_CTRL_DEPS = 4,
  NODE_DATA_DEPS = 5,
  NODE_MICROS = 7,
  NODE_ATTR = 10
};
enum { ATTR_NAME = 1 }; /* the value: whichever other field there is */
enum { TYPE_MEM_LOAD = 2, TYPE_MEM_STORE, TYPE_COMP, TYPE_SEND, TYPE_RECV, TYPE_COLL };

typedef struct {
  const guint8 *at, *end;
} Wire;

typedef struct {
  guint field, kind;
  guint64 number;
  Wire part; /* of a field with a length */
} Field;

static gboolean
read_varint (Wire *wire, guint64 *value)
{
  *value = 0;
  for (guint shift = 0; shift < 64 && wire->at < wire->end; shift += 7) {
    guint8 byte = *wire->at++;

    *value |= (guint64) (byte & 0x7f) << shift;
    if ((byte & 0x80) == 0)
      return TRUE;
  }
  return FALSE;
}

static gboolean
read_fixed (Wire *wire, guint n_bytes, guint64 *value)
{
  if (wire->end - wire->at < (gssize) n_bytes)
    return FALSE;
  *value = 0;
  for (guint i = 0; i < n_bytes; i++)
    *value |= (guint64) wire->at[i] << (8 * i);
  wire->at += n_bytes;
  return TRUE;
}

static gboolean
read_field (Wire *wire, Field *field)
{
  guint64 tag;

  if (!read_varint (wire, &tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
    return FALSE;
  field->field = (guint) (tag >> 3);
  field->kind = tag & 7;
  field->number = 0;
  switch (field->kind) {
  case 0: return read_varint (wire, &field->number);
  case 1: return read_fixed (wire, 8, &field->number);
  case 5: return read_fixed (wire, 4, &field->number);
  case 2:
    if (!read_varint (wire, &field->number) || field->number > (guint64) (wire->end - wire->at))
      return FALSE;
    field->part = (Wire){ wire->at, wire->at + field->number };
    wire->at = field->part.end;
    return TRUE;
  default: return FALSE;
  }
}

/* What the attributes of a node say. */
typedef struct {
  char name[128], group[128];
  guint64 comm_type, comm_bytes, tag, from, to;
  gboolean has_from, has_to;
} Attributes;

static void
copy_text (Wire part, char *to, gsize size)
{
  gsize n = MIN ((gsize) (part.end - part.at), size - 1);

  memcpy (to, part.at, n);
  to[n] = '\0';
}

static gboolean
read_attribute (Wire wire, Attributes *attributes)
{
  Field field, value = { 0 };
  char text[128] = "", name[64] = "";

  while (wire.at < wire.end) {
    if (!read_field (&wire, &field))
      return FALSE;
    if (field.field == ATTR_NAME && field.kind == 2)
      copy_text (field.part, name, sizeof name);
    else {
      value = field;
      if (field.kind == 2)
        copy_text (field.part, text, sizeof text);
    }
  }
  if (strcmp (name, "comm_type") == 0)
    attributes->comm_type = value.number;
  else if (strcmp (name, "comm_size") == 0)
    attributes->comm_bytes = value.number;
  else if (strcmp (name, "comm_tag") == 0)
    attributes->tag = value.number;
  else if (strcmp (name, "comm_dst") == 0) {
    attributes->to = value.number;
    attributes->has_to = TRUE;
  } else if (strcmp (name, "comm_src") == 0) {
    attributes->from = value.number;
    attributes->has_from = TRUE;
  } else if (strcmp (name, "pg_name") == 0 || strcmp (name, "comm_group") == 0)
    g_strlcpy (attributes->group, text, sizeof attributes->group);
  return TRUE;
}

/* Dependencies stand one by one or packed. */
static gboolean
add_deps (FabTracedRank *rank, FabTraceNode *node, Field *field)
{
  guint before = rank->deps->len;
  guint64 id;

  if (field->kind != 2)
    g_array_append_val (rank->deps, field->number);
  while (field->kind == 2 && field->part.at < field->part.end) {
    if (!read_varint (&field->part, &id))
      return FALSE;
    g_array_append_val (rank->deps, id);
  }
  node->n_deps += rank->deps->len - before;
  return TRUE;
}

/* enum CollectiveCommType */
static const guint8 ops[] = { FAB_OP_ALL_REDUCE, FAB_OP_REDUCE,         FAB_OP_ALL_GATHER,
                              FAB_OP_GATHER,     FAB_OP_SCATTER,        FAB_OP_BROADCAST,
                              FAB_OP_ALL_TO_ALL, FAB_OP_REDUCE_SCATTER, FAB_OP_REDUCE_SCATTER };

/* Either end may be named, or both: the peer of a send is where it goes. Without it the other one is taken. */
static void
set_peer (FabTraceNode *node, gboolean is_send, const Attributes *attributes)
{
  gboolean has_own = is_send ? attributes->has_to : attributes->has_from;
  guint64 peer = is_send == has_own ? attributes->to : attributes->from;

  node->is_send = is_send;
  node->tag = attributes->tag;
  if (attributes->has_to || attributes->has_from)
    node->peer = (gint64) MIN (peer, G_MAXINT64);
}

static void
set_comm (FabTrace *trace, FabTracedRank *rank, FabTraceNode *node, guint64 type,
          const Attributes *attributes)
{
  FabTraceComm comm = { .op = fab_op_names[FAB_OP_SEND_RECV], .group = "", .bytes = attributes->comm_bytes };

  node->kind = FAB_TRACE_COMM;
  node->comm = (gint32) rank->comms->len;
  if (type == TYPE_COLL && attributes->comm_type < G_N_ELEMENTS (ops))
    comm.op = fab_op_names[ops[attributes->comm_type]];
  if (type != TYPE_COLL)
    set_peer (node, type == TYPE_SEND, attributes);
  comm.group = fab_trace_intern (trace, attributes->group);
  comm.dimension = fab_trace_dimension (comm.group);
  g_array_append_val (rank->comms, comm);
}

static gboolean
read_node (FabTrace *trace, FabTracedRank *rank, Wire wire)
{
  FabTraceNode node = { .name = "", .comm = -1, .peer = -1, .first_dep = rank->deps->len };
  Attributes attributes = { .name = "" };
  char name[512] = "";
  guint64 type = 0;
  Field field;

  while (wire.at < wire.end) {
    if (!read_field (&wire, &field))
      return FALSE;
    if (field.field == NODE_ID)
      node.id = field.number;
    else if (field.field == NODE_NAME && field.kind == 2)
      copy_text (field.part, name, sizeof name);
    else if (field.field == NODE_TYPE)
      type = field.number;
    else if ((field.field == NODE_CTRL_DEPS || field.field == NODE_DATA_DEPS)
             && !add_deps (rank, &node, &field))
      return FALSE;
    else if (field.field == NODE_MICROS && field.number < G_MAXINT64 / 1000000)
      node.duration_ps = (FabTimePs) field.number * 1000000;
    else if (field.field == NODE_ATTR && field.kind == 2 && !read_attribute (field.part, &attributes))
      return FALSE;
  }
  node.name = fab_trace_intern (trace, name);
  node.kind = type == TYPE_MEM_LOAD || type == TYPE_MEM_STORE ? FAB_TRACE_COPY : FAB_TRACE_COMPUTE;
  if (type >= TYPE_SEND && type <= TYPE_COLL)
    set_comm (trace, rank, &node, type, &attributes);
  g_array_append_val (rank->nodes, node);
  return TRUE;
}

/* Reads the length of the next message and the message into `message`. FALSE without *error: the file has ended. */
static gboolean
read_message (FabFileBytes *bytes, GByteArray *message, GError **error)
{
  const char *data;
  gsize size;
  guint64 length;
  Wire wire;

  g_byte_array_set_size (message, 0);
  if (!fab_file_bytes_peek (bytes, &data, &size, error) || size == 0)
    return FALSE;
  wire = (Wire){ (const guint8 *) data, (const guint8 *) data + MIN (size, 10) };
  if (!read_varint (&wire, &length) || length > MAX_MESSAGE_BYTES)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s: byte %" G_GUINT64_FORMAT ": the length of a Chakra message is missing here",
                      fab_file_bytes_name (bytes), fab_file_bytes_at (bytes));
  fab_file_bytes_take (bytes, (gsize) (wire.at - (const guint8 *) data));
  while (message->len < length) {
    gsize part;

    if (!fab_file_bytes_peek (bytes, &data, &size, error))
      return FALSE;
    part = (gsize) MIN (size, length - message->len);
    if (part == 0)
      return fab_throw (error, FAB_ERROR_INPUT,
                        "%s: byte %" G_GUINT64_FORMAT ": the file ends within a Chakra message; it is cut",
                        fab_file_bytes_name (bytes), fab_file_bytes_at (bytes));
    g_byte_array_append (message, (const guint8 *) data, (guint) part);
    fab_file_bytes_take (bytes, part);
  }
  return TRUE;
}

static gboolean
read_graph (FabTrace *trace, FabFileBytes *bytes, GError **error)
{
  FabTracedRank *rank = fab_trace_add_rank (trace, fab_file_bytes_name (bytes));
  g_autoptr (GByteArray) message = g_byte_array_new ();
  g_autoptr (GError) problem = NULL;
  gboolean is_metadata = TRUE;

  while (read_message (bytes, message, &problem)) {
    /* a message without bytes has no memory */
    const guint8 *data = message->len > 0 ? message->data : (const guint8 *) "";
    Wire wire = { data, data + message->len };

    if (!is_metadata && !read_node (trace, rank, wire))
      return fab_throw (error, FAB_ERROR_INPUT,
                        "%s: byte %" G_GUINT64_FORMAT ": the message that ends here is not a node of Chakra",
                        fab_file_bytes_name (bytes), fab_file_bytes_at (bytes));
    is_metadata = FALSE;
  }
  if (problem != NULL) {
    g_propagate_error (error, g_steal_pointer (&problem));
    return FALSE;
  }
  return TRUE;
}

/* The length of the first message, then a field of GlobalMetadata. */
static gboolean
is_chakra (const FabFileText *text)
{
  gsize at = 0;

  while (at < text->size && at < 5 && (text->text[at] & 0x80) != 0)
    at++;
  at++;
  return at < text->size && (text->text[at - 1] == 0 || text->text[at] == 0x0a || text->text[at] == 0x12);
}

const FabFileFormat fab_file_chakra = {
  .name = "Chakra",
  .kind = FAB_FILE_TRACE,
  .recognises = is_chakra,
  .read.trace = read_graph,
};
