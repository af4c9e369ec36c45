/* SPDX-License-Identifier: Apache-2.0 */
/* arrow.c - a table as a stream of Apache Arrow: one batch with a column per column, which owns copies of the cells and
 * so outlives the table.
 *
 * The structs and what their members mean are those of the Arrow C data interface and the Arrow C stream interface
 * (arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html), whose layout never changes.
 */
#include <math.h>
#include <string.h>

#include "lib/private.h"

struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  struct ArrowSchema **children, *dictionary;
  void (*release) (struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children, *dictionary;
  void (*release) (struct ArrowArray *);
  void *private_data;
};

struct ArrowArrayStream {
  int (*get_schema) (struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next) (struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error) (struct ArrowArrayStream *);
  void (*release) (struct ArrowArrayStream *);
  void *private_data;
};

#define ARROW_FLAG_NULLABLE 2

/* --- the schema --- */

static void
release_schema (struct ArrowSchema *schema)
{
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (schema->children[i]->release != NULL)
      schema->children[i]->release (schema->children[i]);
    g_free (schema->children[i]);
  }
  g_free (schema->children);
  g_free ((char *) schema->name);
  schema->release = NULL;
}

static void
make_schema (struct ArrowSchema *schema, const char *format, const char *name, int64_t n_children)
{
  *schema = (struct ArrowSchema){ .format = format,
                                  .name = g_strdup (name),
                                  .flags = ARROW_FLAG_NULLABLE,
                                  .n_children = n_children,
                                  .children = g_new0 (struct ArrowSchema *, (gsize) n_children),
                                  .release = release_schema };
}

/* 64-bit whole numbers, doubles, and texts with 64-bit offsets. */
static const char *
format_of (int kind)
{
  return kind == FABRICAST_WHOLE ? "l" : kind == FABRICAST_REAL ? "g" : "U";
}

static void
schema_of (const FabricastTable *table, struct ArrowSchema *out)
{
  make_schema (out, "+s", "", table->columns->len);
  for (guint i = 0; i < table->columns->len; i++) {
    const LibColumn *column = &g_array_index (table->columns, LibColumn, i);

    out->children[i] = g_new (struct ArrowSchema, 1);
    make_schema (out->children[i], format_of (column->kind), column->name, 0);
  }
}

/* --- the cells --- */

static void
release_array (struct ArrowArray *array)
{
  for (int64_t i = 0; i < array->n_children; i++) {
    if (array->children[i]->release != NULL)
      array->children[i]->release (array->children[i]);
    g_free (array->children[i]);
  }
  for (int64_t i = 0; i < array->n_buffers; i++)
    g_free ((void *) array->buffers[i]);
  g_free (array->children);
  g_free (array->buffers);
  array->release = NULL;
}

static void
make_array (struct ArrowArray *array, gsize length, int64_t n_buffers, int64_t n_children)
{
  *array = (struct ArrowArray){ .length = (int64_t) length,
                                .n_buffers = n_buffers,
                                .n_children = n_children,
                                .buffers = g_new0 (const void *, (gsize) n_buffers),
                                .children = g_new0 (struct ArrowArray *, (gsize) n_children),
                                .release = release_array };
}

static gboolean
is_known (const LibColumn *column, gsize row)
{
  if (column->kind == FABRICAST_WHOLE)
    return g_array_index (column->cells, gint64, row) != G_MININT64;
  if (column->kind == FABRICAST_REAL)
    return !isnan (g_array_index (column->cells, double, row));
  return g_array_index (column->cells, char *, row) != NULL;
}

/* A bit per row, 1 where the cell is known; NULL where all are. */
static guint8 *
known_bits (const LibColumn *column, gsize n, int64_t *n_null)
{
  g_autofree guint8 *bits = g_new0 (guint8, n / 8 + 1);

  *n_null = 0;
  for (gsize row = 0; row < n; row++)
    if (is_known (column, row))
      bits[row / 8] |= (guint8) (1u << (row % 8));
    else
      ++*n_null;
  return *n_null > 0 ? g_steal_pointer (&bits) : NULL;
}

static void
add_texts (const LibColumn *column, gsize n, const void **buffers)
{
  int64_t *offsets = g_new0 (int64_t, n + 1);
  GString *all = g_string_new (NULL);

  for (gsize row = 0; row < n; row++) {
    const char *text = g_array_index (column->cells, char *, row);

    g_string_append (all, text != NULL ? text : "");
    offsets[row + 1] = (int64_t) all->len;
  }
  buffers[1] = offsets;
  buffers[2] = g_string_free (all, FALSE);
}

/* No rows need a buffer all the same. */
static gpointer
copy_of (gconstpointer data, gsize size)
{
  gpointer copy = g_malloc0 (MAX (size, LIB_CELL_BYTES));

  if (size > 0)
    memcpy (copy, data, size);
  return copy;
}

static void
array_of_column (const LibColumn *column, gsize n, struct ArrowArray *out)
{
  gboolean is_text = column->kind == FABRICAST_TEXT;

  make_array (out, n, is_text ? 3 : 2, 0);
  out->buffers[0] = known_bits (column, n, &out->null_count);
  if (is_text)
    add_texts (column, n, out->buffers);
  else
    out->buffers[1] = copy_of (column->cells->data, LIB_CELL_BYTES * n);
}

static void
array_of (const FabricastTable *table, struct ArrowArray *out)
{
  make_array (out, table->n_rows, 1, table->columns->len);
  for (guint i = 0; i < table->columns->len; i++) {
    out->children[i] = g_new (struct ArrowArray, 1);
    array_of_column (&g_array_index (table->columns, LibColumn, i), table->n_rows, out->children[i]);
  }
}

/* --- the stream --- */

/* A stream gives its schema as often as it is asked, and its batch once. */
typedef struct {
  FabricastTable *empty; /* the columns without their cells */
  struct ArrowArray batch;
} Stream;

static int
get_schema (struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
  const Stream *self = stream->private_data;

  schema_of (self->empty, out);
  return 0;
}

static int
get_next (struct ArrowArrayStream *stream, struct ArrowArray *out)
{
  Stream *self = stream->private_data;

  *out = self->batch; /* without `release`: the end */
  self->batch = (struct ArrowArray){ 0 };
  return 0;
}

static const char *
get_last_error (G_GNUC_UNUSED struct ArrowArrayStream *stream)
{
  return NULL;
}

static void
release_stream (struct ArrowArrayStream *stream)
{
  Stream *self = stream->private_data;

  if (self->batch.release != NULL)
    self->batch.release (&self->batch);
  fabricast_table_free (self->empty);
  g_free (self);
  stream->release = NULL;
}

int
fabricast_table_arrow (const FabricastTable *table, struct ArrowArrayStream *stream, FabricastError **error)
{
  LIB_NEED (table, error);
  LIB_NEED (stream, error);
  Stream *self = g_new0 (Stream, 1);

  self->empty = lib_table_new ();
  for (guint i = 0; i < table->columns->len; i++) {
    const LibColumn *column = &g_array_index (table->columns, LibColumn, i);

    lib_table_add (self->empty, column->name, column->kind);
  }
  array_of (table, &self->batch);
  *stream = (struct ArrowArrayStream){ get_schema, get_next, get_last_error, release_stream, self };
  return FABRICAST_OK;
}
