/* SPDX-License-Identifier: Apache-2.0 */
/* chakra.c - Chakra execution traces as protobuf, each message after its length.
 *
 * Fields of Node: 1 id, 2 name, 3 type, 5 data_deps, 7 duration_micros, 10 attr. An attribute has its name in field 1
 * and its value in the field of its type: 7 int32, 9 int64, 27 bool, 29 string. Work is in whole microseconds; what
 * rounding leaves goes to the next work of the stream.
 */
#include <string.h>

#include "formats/export/graphs.h"
#include "sim/base/error.h"
#include "sim/base/output.h"

#define PS_PER_US 1000000

enum { FIELD_ID = 1, FIELD_NAME = 2, FIELD_TYPE = 3, FIELD_DATA_DEPS = 5, FIELD_MICROS = 7, FIELD_ATTR = 10 };
enum { VALUE_INT32 = 7, VALUE_INT64 = 9, VALUE_BOOL = 27, VALUE_TEXT = 29 };
enum { TYPE_COMP = 4, TYPE_SEND = 5, TYPE_RECV = 6, TYPE_COLL = 7 };

/* enum CollectiveCommType; the schema has no type for what is not in it. */
static const gint comm_types[FAB_N_OPS] = {
  [FAB_OP_ALL_REDUCE] = 0, [FAB_OP_REDUCE] = 1,         [FAB_OP_ALL_GATHER] = 2,
  [FAB_OP_GATHER] = 3,     [FAB_OP_SCATTER] = 4,        [FAB_OP_BROADCAST] = 5,
  [FAB_OP_ALL_TO_ALL] = 6, [FAB_OP_REDUCE_SCATTER] = 7, [FAB_OP_SEND_RECV] = -1,
};

/* --- the wire format --- */

static void
put_varint (GByteArray *to, guint64 value)
{
  guint8 bytes[10];
  guint n = 0;

  for (; value >= 0x80; value >>= 7)
    bytes[n++] = (guint8) (value | 0x80);
  bytes[n++] = (guint8) value;
  g_byte_array_append (to, bytes, n);
}

static void
put_number (GByteArray *to, guint field, guint64 value)
{
  put_varint (to, field << 3);
  put_varint (to, value);
}

static void
put_bytes (GByteArray *to, guint field, const void *data, guint size)
{
  put_varint (to, field << 3 | 2);
  put_varint (to, size);
  g_byte_array_append (to, data, size);
}

static void
put_text (GByteArray *to, guint field, const char *text)
{
  put_bytes (to, field, text, (guint) strlen (text));
}

static void
put_number_attribute (GByteArray *to, const char *name, guint value_field, guint64 value)
{
  g_autoptr (GByteArray) attribute = g_byte_array_new ();

  put_text (attribute, 1, name);
  put_number (attribute, value_field, value);
  put_bytes (to, FIELD_ATTR, attribute->data, attribute->len);
}

static void
put_text_attribute (GByteArray *to, const char *name, const char *value)
{
  g_autoptr (GByteArray) attribute = g_byte_array_new ();

  put_text (attribute, 1, name);
  put_text (attribute, VALUE_TEXT, value);
  put_bytes (to, FIELD_ATTR, attribute->data, attribute->len);
}

/* --- nodes --- */

typedef struct {
  guint rank;
  GArray *rests; /* FabTimePs by stream */
  GByteArray *node, *packed;
} Writer;

static void
put_message (Writer *self, const FabJobNode *node)
{
  gboolean is_send = node->kind == FAB_JOB_SEND;

  put_number_attribute (self->node, "comm_size", VALUE_INT64, node->bytes);
  put_number_attribute (self->node, "comm_src", VALUE_INT32, is_send ? self->rank : node->peer);
  put_number_attribute (self->node, "comm_dst", VALUE_INT32, is_send ? node->peer : self->rank);
  put_number_attribute (self->node, "comm_tag", VALUE_INT32, node->tag);
}

static void
put_collective (Writer *self, const FabJobNode *node)
{
  g_autofree char *group = g_strdup_printf ("%u", node->group + 1);

  put_number_attribute (self->node, "comm_type", VALUE_INT64, (guint64) MAX (comm_types[node->op], 0));
  put_number_attribute (self->node, "comm_size", VALUE_INT64, node->bytes);
  put_text_attribute (self->node, "pg_name", group);
}

static void
put_deps (Writer *self, const FabJobNode *node, const GArray *deps)
{
  if (node->n_deps == 0)
    return;
  g_byte_array_set_size (self->packed, 0);
  for (guint d = 0; d < node->n_deps; d++)
    put_varint (self->packed, g_array_index (deps, guint, node->first_dep + d) + 1);
  put_bytes (self->node, FIELD_DATA_DEPS, self->packed->data, self->packed->len);
}

static void
put_node (Writer *self, guint index, const FabJobNode *node, const GArray *deps)
{
  static const guint types[] = { TYPE_COMP, TYPE_SEND, TYPE_RECV, TYPE_COLL };

  if (node->stream >= self->rests->len)
    g_array_set_size (self->rests, node->stream + 1);
  g_byte_array_set_size (self->node, 0);
  put_number (self->node, FIELD_ID, index + 1);
  put_text (self->node, FIELD_NAME, node->name);
  put_number (self->node, FIELD_TYPE, types[node->kind]);
  put_deps (self, node, deps);
  if (node->kind == FAB_JOB_WORK)
    put_number (self->node, FIELD_MICROS,
                (guint64) fab_export_whole (node->duration_ps, PS_PER_US,
                                            &g_array_index (self->rests, FabTimePs, node->stream)));
  put_number_attribute (self->node, "is_cpu_op", VALUE_BOOL, 0);
  if (node->kind == FAB_JOB_SEND || node->kind == FAB_JOB_RECEIVE)
    put_message (self, node);
  else if (node->kind == FAB_JOB_COLLECTIVE)
    put_collective (self, node);
}

/* --- files --- */

static void
flush_message (FabOutput *file, const GByteArray *message)
{
  g_autoptr (GByteArray) length = g_byte_array_new ();

  put_varint (length, message->len);
  fab_output_write_bytes (file, length->data, length->len);
  fab_output_write_bytes (file, message->data, message->len);
}

static gboolean
write_rank (Writer *self, const char *path, const GArray *nodes, const GArray *deps, GError **error)
{
  g_auto (FabOutput) file = { .path = NULL };

  if (!fab_output_open (&file, path, error))
    return FALSE;
  g_array_set_size (self->rests, 0);
  g_byte_array_set_size (self->node, 0);
  put_text (self->node, 1, "0.0.4"); /* GlobalMetadata.version */
  flush_message (&file, self->node);
  for (guint i = 0; i < nodes->len; i++) {
    put_node (self, i, &g_array_index (nodes, FabJobNode, i), deps);
    flush_message (&file, self->node);
  }
  return fab_output_close (&file, error);
}

static gboolean
write_groups (const FabJobGraph *graph, const char *prefix, GError **error)
{
  g_auto (FabOutput) file = { .path = NULL };
  g_autofree char *path = g_strdup_printf ("%s.groups.json", prefix);
  g_autoptr (GString) text = g_string_new ("{");

  for (guint g = 0; g < fab_job_graph_n_groups (graph); g++) {
    const GArray *ranks = fab_job_graph_group (graph, g);

    g_string_append_printf (text, "%s\n  \"%u\": [", g > 0 ? "," : "", g + 1);
    for (guint i = 0; i < ranks->len; i++)
      g_string_append_printf (text, "%s%u", i > 0 ? ", " : "", g_array_index (ranks, guint, i));
    g_string_append_c (text, ']');
  }
  g_string_append (text, "\n}\n");
  if (!fab_output_open (&file, path, error))
    return FALSE;
  fab_output_write (&file, text->str);
  return fab_output_close (&file, error);
}

static void
writer_clear (Writer *self)
{
  g_array_unref (self->rests);
  g_byte_array_unref (self->node);
  g_byte_array_unref (self->packed);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Writer, writer_clear)

gboolean
fab_export_chakra (FabJobGraph *graph, const char *prefix, GError **error)
{
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (FabJobNode));
  g_autoptr (GArray) deps = g_array_new (FALSE, FALSE, sizeof (guint));
  g_auto (Writer) writer = { .rests = g_array_new (FALSE, TRUE, sizeof (FabTimePs)),
                             .node = g_byte_array_new (),
                             .packed = g_byte_array_new () };

  for (guint rank = 0; rank < fab_job_graph_n_ranks (graph); rank++) {
    g_autofree char *path = g_strdup_printf ("%s.%u.et", prefix, rank);

    fab_job_graph_rank (graph, rank, nodes, deps);
    writer.rank = rank;
    if (!write_rank (&writer, path, nodes, deps, error))
      return FALSE;
  }
  return fab_job_graph_n_groups (graph) == 0 || write_groups (graph, prefix, error);
}
