/* SPDX-License-Identifier: Apache-2.0 */
/* test_chakra.c - Chakra's graphs in protobuf: every field that is read, those that are not, and cut files. */
#include "tests/unit/formats/trace/told.h"

#include "formats/format.h"

enum { MOST_MESSAGE = 16 << 20 }; /* bytes */

static void
put_varint (GByteArray *out, guint64 value)
{
  do {
    guint8 byte = (value & 0x7f) | (value > 0x7f ? 0x80 : 0);

    g_byte_array_append (out, &byte, 1);
  } while ((value >>= 7) > 0);
}

static void
put_number (GByteArray *out, guint field, guint64 value)
{
  put_varint (out, field << 3);
  put_varint (out, value);
}

static void
put_bytes (GByteArray *out, guint field, const void *data, gsize size)
{
  put_varint (out, field << 3 | 2);
  put_varint (out, size);
  g_byte_array_append (out, data, (guint) size);
}

/* Adds an attribute: a text, or a number where `text` is NULL. */
static void
put_attribute (GByteArray *node, const char *name, const char *text, guint64 number)
{
  g_autoptr (GByteArray) attribute = g_byte_array_new ();

  put_bytes (attribute, 1, name, strlen (name));
  if (text != NULL)
    put_bytes (attribute, 13, text, strlen (text));
  else
    put_number (attribute, 4, number);
  put_bytes (node, 10, attribute->data, attribute->len);
}

/* A node with a type, after its metadata's fields; `more` may be NULL. */
static GByteArray *
node_of (guint64 id, const char *name, guint64 type)
{
  GByteArray *node = g_byte_array_new ();

  put_number (node, 1, id);
  put_bytes (node, 2, name, strlen (name));
  put_number (node, 3, type);
  return node;
}

static void
put_message (GByteArray *file, GByteArray *message)
{
  put_varint (file, message->len);
  g_byte_array_append (file, message->data, message->len);
  g_byte_array_unref (message);
}

static FabTrace *
read_bytes (const char *name, const GByteArray *file, GError **error)
{
  g_autoptr (FabTrace) trace = fab_trace_new ();
  g_autoptr (FabFileBytes) bytes = fab_file_bytes_new (name, file->data, file->len);

  assert_true (fab_file_bytes_next (bytes, NULL));
  return fab_trace_read_bytes (trace, bytes, error) && fab_trace_finish (trace, error)
           ? g_steal_pointer (&trace)
           : NULL;
}

static GByteArray *
metadata (void)
{
  GByteArray *head = g_byte_array_new ();

  put_bytes (head, 1, "0.0.4", 5);
  return head;
}

/* Fields of et_def.proto: id 1, name 2, type 3, dependencies 4 and 5, us 7, attributes 10; a field that is not known
 * is passed over, of whatever form. */
static void
chakra_is_read_field_by_field (G_GNUC_UNUSED void **state)
{
  static const guint8 packed[] = { 1, 0xac, 0x02, 3 },
                      fixed[] = { 11 << 3 | 1, 1, 2, 3, 4, 5, 6, 7, 8, 12 << 3 | 5, 1, 2, 3, 4 };
  g_autoptr (GByteArray) file = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  GByteArray *node = node_of (300, "mul", 4);

  put_message (file, metadata ());
  put_bytes (node, 4, packed, sizeof packed);
  put_number (node, 5, 9);
  put_number (node, 7, 6);
  g_byte_array_append (node, fixed, sizeof fixed);
  put_number (node, 6, 77);
  put_message (file, node);
  for (guint type = 2; type <= 3; type++)
    put_message (file, node_of (type, "memory", type));
  put_message (file, node_of (4, "other", 8));
  node = node_of (5, "out", 5);
  put_attribute (node, "comm_size", NULL, 200);
  put_attribute (node, "comm_dst", NULL, 3);
  put_attribute (node, "comm_src", NULL, 2);
  put_attribute (node, "comm_tag", NULL, 8);
  put_message (file, node);
  node = node_of (6, "in", 6);
  put_attribute (node, "comm_dst", NULL, 3);
  put_attribute (node, "comm_src", NULL, 2);
  put_message (file, node);
  node = node_of (7, "in", 6);
  put_attribute (node, "comm_dst", NULL, 3);
  put_message (file, node);
  node = node_of (8, "out", 5);
  put_attribute (node, "comm_src", NULL, 2);
  put_message (file, node);
  put_message (file, node_of (9, "nowhere", 5));
  node = node_of (10, "all", 7);
  put_attribute (node, "comm_type", NULL, 2);
  put_attribute (node, "comm_size", NULL, 1000);
  put_attribute (node, "pg_name", "tp_1", 0);
  put_attribute (node, "comm_dst", NULL, 3);
  put_message (file, node);
  node = node_of (11, "all", 7);
  put_attribute (node, "comm_group", "3", 0);
  put_message (file, node);

  g_autoptr (FabTrace) trace = read_bytes ("t.3.et", file, &error);
  if (trace == NULL)
    fail_msg ("%s", error->message);
  g_autofree char *told = trace_told (trace);
  assert_string_equal (
      told,
      "rank 3 of 0\nnode 300 mul: compute 6000000 after 1,300,3,9\nnode 2 memory: copy 0\nnode 3 memory: copy 0\n"
      "node 4 other: compute 0\nnode 5 out: comm 0 to 3 tag 8 | send_recv 200 B 0 ranks, other, ''\n"
      "node 6 in: comm 0 from 2 tag 0 | send_recv 0 B 0 ranks, other, ''\n"
      "node 7 in: comm 0 from 3 tag 0 | send_recv 0 B 0 ranks, other, ''\n"
      "node 8 out: comm 0 to 2 tag 0 | send_recv 0 B 0 ranks, other, ''\n"
      "node 9 nowhere: comm 0 | send_recv 0 B 0 ranks, other, ''\n"
      "node 10 all: comm 0 | all_gather 1000 B 0 ranks, tensor, 'tp_1'\n"
      "node 11 all: comm 0 | all_reduce 0 B 0 ranks, other, '3'\n");
}

/* enum CollectiveCommType of et_def.proto. */
static void
chakra_has_types_of_collectives (G_GNUC_UNUSED void **state)
{
  static const char *const ops[] = { "all_reduce",     "reduce",    "all_gather", "gather",
                                     "scatter",        "broadcast", "all_to_all", "reduce_scatter",
                                     "reduce_scatter", "send_recv" };

  for (guint i = 0; i < G_N_ELEMENTS (ops); i++) {
    g_autoptr (GByteArray) file = g_byte_array_new ();
    GByteArray *node = node_of (1, "c", 7);

    put_attribute (node, "comm_type", NULL, i);
    put_message (file, metadata ());
    put_message (file, node);
    g_autoptr (FabTrace) trace = read_bytes ("t.et", file, NULL);
    g_autofree char *told = trace_told (trace),
                    *expected = g_strdup_printf (
                        "rank 0 of 0\nnode 1 c: comm 0 | %s 0 B 0 ranks, other, ''\n", ops[i]);
    assert_string_equal (told, expected);
  }
}

/* What is no number of a rank in the name of a file is none. */
static void
names_of_files_say_the_rank (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name;
    gint64 rank;
  } rows[] = { { "t.7.et", 7 },       { "7.et", 0 },    { "a.b.7.et", 7 },
               { "t.x.et", 0 },       { "t.-1.et", 0 }, { "t.1048575.et", 1048575 },
               { "t.1048576.et", 0 }, { "t.7.8.et", 8 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GByteArray) file = g_byte_array_new ();

    put_message (file, metadata ());
    g_autoptr (FabTrace) trace = read_bytes (rows[i].name, file, NULL);
    assert_int_equal (((const FabTracedRank *) g_ptr_array_index (trace->ranks, 0))->rank, rows[i].rank);
  }
}

/* Each cut of a graph is refused at the byte where it ends, but for those between two messages. */
static void
cut_graphs_are_refused (G_GNUC_UNUSED void **state)
{
  g_autoptr (GByteArray) file = g_byte_array_new ();
  g_autoptr (GByteArray) wrong = g_byte_array_new ();
  GByteArray *node = node_of (1, "node", 7);
  guint head;

  put_message (file, metadata ());
  head = file->len;
  put_attribute (node, "comm_type", NULL, 1);
  put_message (file, node);
  for (guint size = head; size <= file->len; size++) {
    g_autoptr (GByteArray) part = g_byte_array_append (g_byte_array_new (), file->data, size);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabTrace) trace = read_bytes ("x", part, &error);
    g_autofree char *message = g_strdup_printf (
        "x: byte %u: the file ends within a Chakra message; it is cut", size);

    assert_true ((trace != NULL) == (size == head || size == file->len));
    if (trace == NULL)
      assert_string_equal (error->message, message);
  }
  put_message (wrong, metadata ());
  node = g_byte_array_new ();
  put_varint (node, 1 << 3 | 3); /* a form that protobuf no longer has */
  put_message (wrong, node);
  g_autoptr (GError) error = NULL;
  assert_null (read_bytes ("x", wrong, &error));
  assert_string_equal (error->message, "x: byte 10: the message that ends here is not a node of Chakra");
}

/* A node of these bytes, whose field may be cut or impossible. */
static void
fields_have_limits (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint8 bytes[12];
    guint n;
    gboolean is_good;
  } cases[] = {
    { { 0x08, 0x01 }, 2, TRUE },
    { { 0x08, 0x80 }, 2, FALSE }, /* a number goes on behind the end */
    { { 0x08 }, 1, FALSE },
    { { 0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01 }, 11, TRUE },
    { { 0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01 }, 12, FALSE }, /* 11 bytes */
    { { 0x00, 0x01 }, 2, FALSE }, /* no field 0 */
    { { 0x59, 1, 2, 3, 4, 5, 6, 7, 8 }, 9, TRUE },
    { { 0x59, 1, 2, 3, 4, 5, 6, 7 }, 8, FALSE },
    { { 0x5d, 1, 2, 3, 4 }, 5, TRUE },
    { { 0x5d, 1, 2, 3 }, 4, FALSE },
    { { 0x12, 0x02, 'a', 'b' }, 4, TRUE },
    { { 0x12, 0x03, 'a', 'b' }, 4, FALSE },
    { { 0xf8, 0xff, 0xff, 0xff, 0x0f, 0x01 }, 6, TRUE },  /* field 2^29 - 1, the last one */
    { { 0x80, 0x80, 0x80, 0x80, 0x10, 0x01 }, 6, FALSE }, /* field 2^29 */
    { { 0x22, 0x02, 0x05, 0x80 }, 4, FALSE }, /* packed dependencies, the second of which is cut */
    { { 0x52, 0x02, 0x08, 0x80 }, 4, FALSE }, /* a field within an attribute */
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GByteArray) file = g_byte_array_new ();
    GByteArray *node = g_byte_array_append (g_byte_array_new (), cases[i].bytes, cases[i].n);

    put_message (file, metadata ());
    put_message (file, node);
    g_autoptr (FabTrace) trace = read_bytes ("x", file, NULL);
    if ((trace != NULL) != cases[i].is_good)
      fail_msg ("case %u", i);
  }
}

/* A length of 2^63 / 10^6 us or more is none; names have 511 bytes, and those of groups 127. */
static void
values_have_limits (G_GNUC_UNUSED void **state)
{
  g_autofree char *name = g_strnfill (600, 'n'), *group = g_strnfill (200, 'g');
  g_autoptr (GByteArray) file = g_byte_array_new ();
  GByteArray *node = node_of (1, name, 7);

  put_message (file, metadata ());
  put_attribute (node, "pg_name", group, 0);
  put_message (file, node);
  for (guint i = 0; i < 2; i++) {
    node = node_of (2 + i, "n", 4);
    put_number (node, 7, G_GUINT64_CONSTANT (9223372036853) + i);
    put_message (file, node);
  }
  g_autoptr (FabTrace) trace = read_bytes ("t.et", file, NULL);
  const FabTracedRank *rank = g_ptr_array_index (trace->ranks, 0);
  const FabTraceNode *nodes = (const FabTraceNode *) (gpointer) rank->nodes->data;
  assert_int_equal (strlen (nodes[0].name), 511);
  assert_int_equal (strlen (g_array_index (rank->comms, FabTraceComm, 0).group), 127);
  assert_int_equal (nodes[1].duration_ps, G_GINT64_CONSTANT (9223372036853000000));
  assert_int_equal (nodes[2].duration_ps, 0);
}

/* A message is not longer than the reader says. */
static void
messages_have_a_limit (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GByteArray) file = g_byte_array_new ();
    g_autoptr (GError) error = NULL;

    put_message (file, metadata ());
    put_varint (file, MOST_MESSAGE + i);
    assert_null (read_bytes ("x", file, &error));
    assert_non_null (strstr (error->message, i == 0 ? "the file ends within a Chakra message; it is cut"
                                                    : "the length of a Chakra message is missing here"));
  }
}

/* A graph begins with the length of its metadata, and a field of them; metadata may be empty. */
static void
graphs_are_known_by_their_beginning (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *bytes;
    guint n;
    gboolean is_graph;
  } cases[] = {
    { "\x07\x0a\x05", 3, TRUE },
    { "\x07\x12\x05", 3, TRUE },
    { "\x07\x1a\x05", 3, FALSE },
    { "\x07", 1, FALSE },
    { "\x00\x05", 2, TRUE },
    { "\x01\x05", 2, FALSE },
    { "\x80\x01\x0a\x7d", 4, TRUE },
    { "\x80\x01\x1a\x7d", 4, FALSE },
    { "\x80\x01", 2, FALSE },
    { "\x80\x80\x01\x12", 4, TRUE },
    { "\x80\x80\x80\x01\x0a", 5, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const FabFileFormat *format = fab_file_format_of_bytes (FAB_FILE_TRACE, "x", cases[i].bytes, cases[i].n);

    if ((format != NULL && strcmp (format->name, "Chakra") == 0) != cases[i].is_graph)
      fail_msg ("case %u", i);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (chakra_is_read_field_by_field),
    cmocka_unit_test (chakra_has_types_of_collectives),
    cmocka_unit_test (names_of_files_say_the_rank),
    cmocka_unit_test (cut_graphs_are_refused),
    cmocka_unit_test (fields_have_limits),
    cmocka_unit_test (values_have_limits),
    cmocka_unit_test (messages_have_a_limit),
    cmocka_unit_test (graphs_are_known_by_their_beginning),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
