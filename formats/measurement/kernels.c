/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.c - tables of kernels that somebody timed with events, as validate/measured/kernels has them; us of one call.
 *
 *   type,m,n,k,us,...                                              products C[m, n] = A[m, k] B[n, k]^T
 *   pass,batch,heads,kv_heads,sequence,head_dim,causal,us,...      causal attention: forward_KERNEL, backward_KERNEL
 *   kernel,detail,bytes,us,...                                     what moves memory; 0 bytes: host time to issue it
 *
 * Columns behind these say the same in other units and are not read. Lines that begin with # are comments.
 */
#include <string.h>

#include "formats/measurement/readings.h"

enum { MAX_FIELDS = 16, LAUNCH_BYTES = 1 };

#define MOST_BYTES 1125899906842624.0 /* 2^50 */

typedef struct {
  FabReadings *readings;
  FabLine line;
  FabWord fields[MAX_FIELDS];
  guint n_fields;
} Reader;

typedef struct {
  const char *header;
  guint n_columns;
  void (*read_row) (Reader *self);
} Table;

/* Splits at commas; a quoted field may hold some. */
static void
split (Reader *self)
{
  const char *at = self->line.whole.at, *end = at + self->line.whole.length;

  for (self->n_fields = 0; self->n_fields < MAX_FIELDS && at <= end; at++) {
    gboolean is_quoted = at < end && *at == '"';
    const char *start = at += is_quoted;

    while (at < end && *at != (is_quoted ? '"' : ','))
      at++;
    self->fields[self->n_fields++] = (FabWord){ start, (gsize) (at - start) };
    at += is_quoted && at < end;
  }
}

static gboolean
read_numbers (Reader *self, guint first, guint n, double numbers[])
{
  FabBytes number;

  for (guint i = 0; i < n; i++) {
    if (!fab_readings_size (self->readings, &self->fields[first + i], &number))
      return FALSE;
    if (number > 1 << 24) {
      fab_readings_mistake (self->readings, &self->fields[first + i], "a side of a matrix is at most 2^24");
      return FALSE;
    }
    numbers[i] = (double) number;
  }
  return TRUE;
}

static void
add (Reader *self, const FabSeries *like, double size_bytes, const FabWord *word)
{
  FabSeries series = *like;
  double time_us;

  if (size_bytes > MOST_BYTES)
    fab_readings_mistake (self->readings, &self->fields[0], "a kernel that moves more than 2^50 bytes");
  if (!fab_readings_number (self->readings, word, &time_us) || fab_readings_has_mistakes (self->readings))
    return;
  series.backend = (char *) "kernels";
  series.from = series.to = (char *) "gpu0";
  series.from_memory = series.to_memory = (char *) "gpu";
  fab_readings_time (self->readings, word, fab_readings_series (self->readings, &series),
                     (FabBytes) size_bytes, time_us, NULL);
}

/* Bytes of an operand and of the result; 0: the type is not known. */
static guint
type_bytes (const FabWord *type, guint *result_bytes)
{
  gboolean is_16 = fab_word_is (type, "bf16") || fab_word_is (type, "fp16");
  gboolean is_fp8 = fab_word_is (type, "fp8"), is_tf32 = fab_word_is (type, "tf32");

  *result_bytes = is_tf32 ? 4 : 2;
  return is_16 ? 2 : is_fp8 ? 1 : is_tf32 ? 4 : 0;
}

static void
read_product (Reader *self)
{
  double sides[3];
  guint result_bytes, width = type_bytes (&self->fields[0], &result_bytes);
  g_autofree char *precision = fab_word_dup (&self->fields[0]), *shape = NULL;

  if (width == 0)
    fab_readings_mistake (self->readings, &self->fields[0], "a type is bf16, fp16, tf32 or fp8");
  if (width == 0 || !read_numbers (self, 1, 3, sides))
    return;
  shape = g_strdup_printf ("%.0fx%.0fx%.0f", sides[0], sides[1], sides[2]);
  add (self,
       &(FabSeries){
           .kind = FAB_MEASURE_PRODUCT, .op = (char *) "matmul", .precision = precision, .shape = shape },
       (sides[0] + sides[1]) * sides[2] * width + sides[0] * sides[1] * result_bytes, &self->fields[4]);
}

static void
read_attention (Reader *self)
{
  double sides[5];
  g_autofree char *pass = fab_word_dup (&self->fields[0]), *shape = NULL, *method = NULL;
  gboolean is_forward = g_str_has_prefix (pass, "forward_");

  if (!is_forward && !g_str_has_prefix (pass, "backward_"))
    fab_readings_mistake (self->readings, &self->fields[0], "a pass is forward_KERNEL or backward_KERNEL");
  else if (!fab_word_is (&self->fields[6], "1"))
    fab_readings_mistake (self->readings, &self->fields[6],
                          "only causal attention is read, for which this is 1");
  if (fab_readings_has_mistakes (self->readings) || !read_numbers (self, 1, 5, sides))
    return;
  method = g_ascii_strdown (strchr (pass, '_') + 1, -1);
  shape = g_strdup_printf ("%.0fx%.0fx%.0fx%.0fx%.0f", sides[0], sides[1], sides[2], sides[3], sides[4]);
  /* queries, keys, values and the result, of 2 bytes; backward reads their gradients as well */
  add (self,
       &(FabSeries){ .kind = FAB_MEASURE_ATTENTION,
                     .op = (char *) (is_forward ? "forward" : "backward"),
                     .method = method,
                     .precision = (char *) "bf16",
                     .shape = shape },
       sides[0] * sides[3] * sides[4] * (sides[1] + sides[2]) * (is_forward ? 4 : 8), &self->fields[7]);
}

static void
read_memory (Reader *self)
{
  g_autofree char *op = fab_word_dup (&self->fields[0]);
  gboolean is_launch = fab_word_is (&self->fields[2], "0");
  FabBytes size_bytes;

  if (is_launch)
    add (self, &(FabSeries){ .kind = FAB_MEASURE_LAUNCH, .op = op, .method = (char *) "issued" },
         LAUNCH_BYTES, &self->fields[3]);
  else if (fab_readings_size (self->readings, &self->fields[2], &size_bytes))
    add (self, &(FabSeries){ .kind = FAB_MEASURE_MEMORY_BOUND, .op = op, .method = (char *) "kernel" },
         (double) size_bytes, &self->fields[3]);
}

static const Table tables[] = {
  { "type,m,n,k,us", 5, read_product },
  { "pass,batch,heads,kv_heads,sequence,head_dim,causal,us", 8, read_attention },
  { "kernel,detail,bytes,us", 4, read_memory },
};

static const Table *
table_of (const FabLine *line)
{
  for (guint i = 0; i < G_N_ELEMENTS (tables); i++) {
    gsize length = strlen (tables[i].header);

    if (line->whole.length >= length && strncmp (line->whole.at, tables[i].header, length) == 0
        && (line->whole.length == length || line->whole.at[length] == ','))
      return &tables[i];
  }
  return NULL;
}

static void
read_text (FabReadings *readings)
{
  g_autofree Reader *self = g_new0 (Reader, 1);
  const Table *table = NULL;

  self->readings = readings;
  while (fab_readings_next (readings, &self->line)) {
    if (self->line.whole.length == 0 || *self->line.whole.at == '#')
      continue;
    if (table_of (&self->line)) {
      table = table_of (&self->line);
      continue;
    }
    split (self);
    if (table == NULL || self->n_fields < table->n_columns)
      fab_readings_mistake (readings, &self->line.whole, "the row has %u fields, and the table needs %u",
                            self->n_fields, table ? table->n_columns : 0);
    else
      table->read_row (self);
  }
}

/* The first line that is not a comment is one of the headers. */
static gboolean
recognises (const FabFileText *text)
{
  const char *at = text->text;
  FabLine line;

  while (fab_line_next (&at, &line))
    if (line.whole.length > 0 && *line.whole.at != '#')
      return table_of (&line) != NULL;
  return FALSE;
}

const FabFileFormat fab_file_kernels = {
  .name = "kernels",
  .kind = FAB_FILE_MEASUREMENT,
  .help = "times of products, attention and memory-bound kernels",
  .recognises = recognises,
  .read.measurement = read_text,
};
