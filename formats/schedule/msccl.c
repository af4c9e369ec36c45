/* SPDX-License-Identifier: Apache-2.0 */
/* msccl.c - schedules of MSCCL: <algo>, in it <gpu>, in it <tb> (a thread block), in it <step>.
 *
 * Attributes and types of steps as the runtime reads them (microsoft/msccl, src/graph/topo.cc); the compiler that
 * writes them is microsoft/msccl-tools (msccl/language/ir.py).
 *
 *   s send, r receive, rcs receive, store and send, rrc receive, add and store, rrs receive, add and send, rrcs all of
 *   them, cpy copy, re add a buffer to another, nop wait only
 *
 * With inplace="1" input and output are the same buffer. nchunksperloop is the number of chunks of the operation's
 * size.
 */
#include <string.h>

#include "formats/schedule/blocks.h"
#include "formats/schedule/schedule.h"
#include "sim/base/error.h"

#define MOST_FILE_MIB 64
#define MOST_RANKS 65536
#define MOST_CHUNKS 16777216
#define MOST_STEPS 4194304

typedef struct {
  FabFileBytes *bytes;
  const char *source;
  const GByteArray *text;
  gsize line_start; /* of the line that was looked at last */
  guint line;
  guint depth;
  gboolean is_in_copy; /* the present element is <copy> */
  FabBlocks blocks;
  FabGiven *given;
  gint64 gpu; /* the present one */
  gboolean *has_gpu;
} Reader;

/* --- places --- */

/* Where the parser stands, which takes an empty first line for no line. */
static void
get_position (const Reader *self, GMarkupParseContext *context, gint *line, gint *character)
{
  g_markup_parse_context_get_position (context, line, character);
  *line += self->text->len > 0 && self->text->data[0] == '\n';
}

/* The line and column of the tag whose end the parser has reached. */
static void
find_place (Reader *self, GMarkupParseContext *context, guint *line, guint *column)
{
  const char *text = (const char *) self->text->data;
  gint at_line, at_char;
  gsize at;

  get_position (self, context, &at_line, &at_char);
  while (self->line < (guint) at_line) {
    const char *end = memchr (text + self->line_start, '\n', self->text->len - self->line_start);

    if (end == NULL)
      break;
    self->line_start = (gsize) (end - text) + 1;
    self->line++;
  }
  at = MIN (self->line_start + (gsize) MAX (at_char - 1, 0), self->text->len - 1);
  do /* the parser stands behind the tag, perhaps at the next one */
    at -= at > 0;
  while (at > 0 && text[at] != '<');
  *line = self->line;
  for (gsize i = at; i < self->line_start; i++)
    *line -= text[i] == '\n';
  *column = 1;
  for (; at > 0 && text[at - 1] != '\n'; at--)
    ++*column;
}

typedef struct {
  Reader *reader;
  guint line, column;
  const char *element;
  const char **names, **values;
  GError **error;
} Element;

static gboolean fail (const Element *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
fail (const Element *self, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  return fab_throw (self->error, FAB_ERROR_INPUT, "%s:%u:%u: %s", self->reader->source, self->line,
                    self->column, text);
}

/* --- attributes --- */

static const char *
find_attribute (const Element *self, const char *name)
{
  for (guint i = 0; self->names[i] != NULL; i++)
    if (strcmp (self->names[i], name) == 0)
      return self->values[i];
  return NULL;
}

/* A text that may be shown: short, and without characters that a terminal interprets. */
static char *
shown (const char *text)
{
  g_autofree char *part = g_utf8_substring (text, 0, MIN (g_utf8_strlen (text, -1), 40));
  GString *clean = g_string_new (NULL);

  for (const char *at = part; *at != '\0'; at = g_utf8_next_char (at))
    g_string_append_unichar (clean, g_unichar_isprint (g_utf8_get_char (at)) ? g_utf8_get_char (at) : '?');
  return g_string_free (clean, FALSE);
}

static gboolean
read_number (const Element *self, const char *name, gint64 min, gint64 max, gint64 *value)
{
  const char *text = find_attribute (self, name);

  if (text == NULL)
    return fail (self, "<%s> has no %s=\"NUMBER\"", self->element, name);
  if (g_ascii_string_to_signed (text, 10, min, max, value, NULL))
    return TRUE;
  g_autofree char *clean = shown (text);
  return fail (self, "%s=\"%s\" is not a whole number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, name,
               clean, min, max);
}

/* The same where the attribute may be missing. */
static gboolean
read_optional (const Element *self, const char *name, gint64 min, gint64 max, gint64 *value)
{
  return find_attribute (self, name) == NULL || read_number (self, name, min, max, value);
}

typedef struct {
  const char *text;
  guint value;
} Word;

/* Reads one of the words of a list that ends with NULL. */
static gboolean
read_word (const Element *self, const char *name, const Word *words, guint *value)
{
  const char *text = find_attribute (self, name);
  g_autoptr (GString) known = g_string_new (NULL);

  for (guint i = 0; words[i].text != NULL; i++) {
    if (text != NULL && g_ascii_strcasecmp (text, words[i].text) == 0) {
      *value = words[i].value;
      return TRUE;
    }
    g_string_append_printf (known, "%s%s", i > 0 ? ", " : "", words[i].text);
  }
  if (text == NULL)
    return fail (self, "<%s> has no %s=\"...\"; it is one of %s", self->element, name, known->str);
  g_autofree char *clean = shown (text);
  return fail (self, "%s=\"%s\" is not known; it is one of %s", name, clean, known->str);
}

/* --- elements --- */

static const Word operations[] = {
  { "allreduce", FAB_OP_ALL_REDUCE },
  { "allgather", FAB_OP_ALL_GATHER },
  { "reduce_scatter", FAB_OP_REDUCE_SCATTER },
  { "reducescatter", FAB_OP_REDUCE_SCATTER },
  { "alltoall", FAB_OP_ALL_TO_ALL },
  { "broadcast", FAB_OP_BROADCAST },
  { "reduce", FAB_OP_REDUCE },
  { NULL, 0 },
};

static const char *const protocols[] = { "simple", "ll", "ll128" };
static const Word protocol_words[] = { { "Simple", 0 }, { "LL", 1 }, { "LL128", 2 }, { NULL, 0 } };

static gboolean
read_algo (Element *e)
{
  Reader *self = e->reader;
  FabBlocks *blocks = &self->blocks;
  gint64 n_ranks, n_chunks, in_place = 0, root = 0, from = 0, to = 0;
  guint op, protocol = 0;

  if (!read_word (e, "coll", operations, &op) || !read_number (e, "ngpus", 2, MOST_RANKS, &n_ranks)
      || !read_number (e, "nchunksperloop", 1, MOST_CHUNKS, &n_chunks)
      || !read_optional (e, "inplace", 0, 1, &in_place) || !read_optional (e, "root", 0, n_ranks - 1, &root)
      || !read_optional (e, "minBytes", 0, G_MAXINT64, &from)
      || !read_optional (e, "maxBytes", 0, G_MAXINT64, &to)
      || (find_attribute (e, "proto") != NULL && !read_word (e, "proto", protocol_words, &protocol)))
    return FALSE;
  blocks->op = (FabOp) op;
  blocks->n_ranks = (guint) n_ranks;
  blocks->n_chunks = (guint) n_chunks;
  blocks->root = (guint) root;
  blocks->is_in_place = in_place != 0;
  blocks->line = e->line;
  blocks->column = e->column;
  blocks->sizes = g_new0 (FabBufferSizes, n_ranks);
  self->has_gpu = g_new0 (gboolean, n_ranks);
  self->given->op = blocks->op;
  self->given->n_ranks = blocks->n_ranks;
  self->given->from_bytes = (FabBytes) from;
  self->given->to_bytes = (FabBytes) to;
  self->given->protocol = find_attribute (e, "proto") != NULL ? protocols[protocol] : NULL;
  return TRUE;
}

static gboolean
read_gpu (Element *e)
{
  Reader *self = e->reader;
  gint64 n[FAB_N_BUFFERS];
  FabBufferSizes *sizes;

  if (!read_number (e, "id", 0, self->blocks.n_ranks - 1, &self->gpu)
      || !read_number (e, "i_chunks", 0, MOST_CHUNKS, &n[FAB_BUFFER_IN])
      || !read_number (e, "o_chunks", 0, MOST_CHUNKS, &n[FAB_BUFFER_OUT])
      || !read_number (e, "s_chunks", 0, MOST_CHUNKS, &n[FAB_BUFFER_SCRATCH]))
    return FALSE;
  if (self->has_gpu[self->gpu])
    return fail (e, "gpu %" G_GINT64_FORMAT " is described twice", self->gpu);
  self->has_gpu[self->gpu] = TRUE;
  sizes = &self->blocks.sizes[self->gpu];
  for (guint b = 0; b < FAB_N_BUFFERS; b++)
    sizes->n[b] = (guint) n[b];
  if (self->blocks.is_in_place)
    sizes->n[FAB_BUFFER_IN] = sizes->n[FAB_BUFFER_OUT] = MAX (sizes->n[FAB_BUFFER_IN],
                                                              sizes->n[FAB_BUFFER_OUT]);
  return TRUE;
}

/* What TACCL's ncclize writes, and so TE-CCL: chunks that are part of the result already. */
static gboolean
read_copy (Element *e)
{
  Reader *self = e->reader;
  FabFirstCopy copy = { .gpu = (guint) self->gpu, .line = e->line, .column = e->column };
  gint64 in, out;

  if (!read_number (e, "i_off", 0, MOST_CHUNKS, &in) || !read_number (e, "o_off", 0, MOST_CHUNKS, &out))
    return FALSE;
  if (self->blocks.copies->len >= MOST_STEPS)
    return fail (e, "the file has more than %d copies", MOST_STEPS);
  copy.in = (guint) in;
  copy.out = (guint) out;
  g_array_append_val (self->blocks.copies, copy);
  return TRUE;
}

static gboolean
read_block (Element *e)
{
  Reader *self = e->reader;
  gint64 most = self->blocks.n_ranks - 1;
  FabBlock block = {
    .gpu = (guint) self->gpu, .first_step = self->blocks.steps->len, .line = e->line, .column = e->column
  };

  if (!read_number (e, "id", 0, G_MAXINT32, &block.id) || !read_number (e, "send", -1, most, &block.send_to)
      || !read_number (e, "recv", -1, most, &block.receive_from)
      || !read_number (e, "chan", 0, 65535, &block.channel))
    return FALSE;
  g_array_append_val (self->blocks.blocks, block);
  return TRUE;
}

/* What a step does, a bit each. */
enum { RECEIVES = 1, ADDS = 2, STORES = 4, SENDS = 8 };

static const Word types[] = {
  { "s", SENDS },
  { "r", RECEIVES | STORES },
  { "rcs", RECEIVES | STORES | SENDS },
  { "rrc", RECEIVES | ADDS | STORES },
  { "rrs", RECEIVES | ADDS | SENDS },
  { "rrcs", RECEIVES | ADDS | STORES | SENDS },
  { "cpy", STORES },
  { "re", ADDS | STORES },
  { "nop", 0 },
  { NULL, 0 },
};

static const Word buffers[] = {
  { "i", FAB_BUFFER_IN }, { "o", FAB_BUFFER_OUT }, { "s", FAB_BUFFER_SCRATCH }, { NULL, 0 }
};

static gboolean
read_chunks (const Element *e, const char *buffer_name, const char *offset_name, FabChunks *chunks)
{
  guint buffer;
  gint64 at;

  if (!read_word (e, buffer_name, buffers, &buffer) || !read_number (e, offset_name, 0, MOST_CHUNKS, &at))
    return FALSE;
  *chunks = (FabChunks){ (FabBuffer) buffer, (guint) at };
  return TRUE;
}

static gboolean
read_step (Element *e)
{
  Reader *self = e->reader;
  FabBlock *block = &g_array_index (self->blocks.blocks, FabBlock, self->blocks.blocks->len - 1);
  gint64 number, n, wait_block, wait_step;
  FabBlockStep step = { .line = e->line, .column = e->column };
  guint type;

  if (!read_number (e, "s", 0, MOST_STEPS, &number) || !read_word (e, "type", types, &type)
      || !read_number (e, "cnt", 0, MOST_CHUNKS, &n) || !read_number (e, "depid", -1, G_MAXINT32, &wait_block)
      || !read_number (e, "deps", -1, MOST_STEPS, &wait_step))
    return FALSE;
  if (number != block->n_steps)
    return fail (e, "s=\"%" G_GINT64_FORMAT "\" is out of order; this is step %u of its thread block", number,
                 block->n_steps);
  if (wait_block >= 0 && wait_step < 0)
    return fail (e, "depid names a thread block, but deps names no step of it");
  if (self->blocks.steps->len >= MOST_STEPS)
    return fail (e, "the file has more than %d steps", MOST_STEPS);
  if (type != 0
      && (!read_chunks (e, "srcbuf", "srcoff", &step.src) || !read_chunks (e, "dstbuf", "dstoff", &step.dst)))
    return FALSE;
  step.receives = (type & RECEIVES) != 0;
  step.adds = (type & ADDS) != 0;
  step.stores = (type & STORES) != 0;
  step.sends = (type & SENDS) != 0;
  step.n = type != 0 ? (guint) n : 0;
  step.wait_block = (gint) wait_block;
  step.wait_step = wait_step;
  g_array_append_val (self->blocks.steps, step);
  block->n_steps++;
  return TRUE;
}

/* --- the document --- */

static const struct {
  const char *name;
  gboolean (*read) (Element *e);
} levels[] = { { "algo", read_algo }, { "gpu", read_gpu }, { "tb", read_block }, { "step", read_step } };

enum { BLOCK_LEVEL = 2 }; /* where a <tb> stands */

static void
start_element (GMarkupParseContext *context, const char *name, const char **names, const char **values,
               gpointer user, GError **error)
{
  Reader *self = user;
  Element element = { self, 0, 0, name, names, values, error };

  find_place (self, context, &element.line, &element.column);
  if (self->is_in_copy) {
    fail (&element, "nothing stands inside <copy>");
    return;
  }
  if (self->depth == BLOCK_LEVEL && strcmp (name, "copy") == 0) {
    if (read_copy (&element)) {
      self->is_in_copy = TRUE;
      self->depth++;
    }
    return;
  }
  if (self->depth >= G_N_ELEMENTS (levels) || strcmp (name, levels[self->depth].name) != 0) {
    g_autofree char *clean = shown (name);

    fail (&element, self->depth < G_N_ELEMENTS (levels) ? "<%s> where <%s> is expected" : "<%s> inside <%s>",
          clean, levels[MIN (self->depth, G_N_ELEMENTS (levels) - 1)].name);
    return;
  }
  if (levels[self->depth].read (&element))
    self->depth++;
}

static void
end_element (G_GNUC_UNUSED GMarkupParseContext *context, G_GNUC_UNUSED const char *name, gpointer user,
             G_GNUC_UNUSED GError **error)
{
  Reader *self = user;

  self->is_in_copy = FALSE;
  self->depth--;
}

/* --- the file --- */

static GByteArray *
read_text (FabFileBytes *bytes, GError **error)
{
  g_autoptr (GByteArray) text = g_byte_array_new ();
  const char *data;
  gsize size;

  while (fab_file_bytes_peek (bytes, &data, &size, error) && size > 0) {
    if (text->len + size > (gsize) MOST_FILE_MIB << 20) {
      fab_throw (error, FAB_ERROR_INPUT, "%s: larger than %d MiB, the limit of a schedule",
                 fab_file_bytes_name (bytes), MOST_FILE_MIB);
      return NULL;
    }
    g_byte_array_append (text, (const guint8 *) data, (guint) size);
    fab_file_bytes_take (bytes, size);
  }
  return error != NULL && *error != NULL ? NULL : g_steal_pointer (&text);
}

/* A mistake of XML itself. The parser's own sentence may show text of the file, which may be private. */
static gboolean
fail_markup (const Reader *self, GMarkupParseContext *context, const GError *problem, GError **error)
{
  gint line, column;

  get_position (self, context, &line, &column);
  return fab_throw (error, FAB_ERROR_INPUT,
                    "%s:%d:%d: this is no XML of MSCCL (<algo>, <gpu>, <tb>, <step>): %s", self->source, line,
                    column,
                    problem->code == G_MARKUP_ERROR_EMPTY ? "the file is empty"
                    : problem->code == G_MARKUP_ERROR_BAD_UTF8
                        ? "a byte is no UTF-8"
                        : "a bracket or an end tag is wrong or missing");
}

static gboolean
parse (Reader *self, GError **error)
{
  static const GMarkupParser parser = { .start_element = start_element, .end_element = end_element };
  g_autoptr (GMarkupParseContext) context = g_markup_parse_context_new (&parser, 0, self, NULL);
  const char *text = self->text->len > 0 ? (const char *) self->text->data
                                         : ""; /* an empty file has no memory */
  g_autoptr (GError) problem = NULL;

  if (g_markup_parse_context_parse (context, text, (gssize) self->text->len, &problem)
      && g_markup_parse_context_end_parse (context, &problem))
    return TRUE;
  if (problem->domain == G_MARKUP_ERROR)
    return fail_markup (self, context, problem, error);
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

static gboolean
check_gpus (const Reader *self, GError **error)
{
  if (self->blocks.n_ranks == 0) /* a comment alone is XML too */
    return fab_throw (error, FAB_ERROR_INPUT, "%s: this is no XML of MSCCL: there is no <algo>",
                      self->source);
  for (guint rank = 0; rank < self->blocks.n_ranks; rank++)
    if (!self->has_gpu[rank])
      return fab_throw (error, FAB_ERROR_INPUT, "%s:%u:%u: there is no <gpu id=\"%u\">, though ngpus is %u",
                        self->source, self->blocks.line, self->blocks.column, rank, self->blocks.n_ranks);
  return TRUE;
}

/* The most thread blocks of a GPU that send. */
static guint
count_senders (const FabBlocks *self)
{
  g_autofree guint *n = g_new0 (guint, self->n_ranks);
  guint most = 0;

  for (guint b = 0; b < self->blocks->len; b++) {
    const FabBlock *block = &g_array_index (self->blocks, FabBlock, b);

    n[block->gpu] += block->send_to >= 0;
    most = MAX (most, n[block->gpu]);
  }
  return most;
}

static FabGiven *
read_msccl (FabFileBytes *bytes, const FabGivenHint *hint, GError **error)
{
  const char *source = fab_file_bytes_name (bytes);
  g_autoptr (GError) problem = NULL;
  g_autoptr (GByteArray) text = read_text (bytes, &problem);
  g_autoptr (FabGiven) given = fab_given_new (hint->name, source);
  Reader self = { .bytes = bytes,
                  .source = source,
                  .text = text,
                  .line = 1,
                  .given = given,
                  .blocks = { .source = source,
                              .blocks = g_array_new (FALSE, FALSE, sizeof (FabBlock)),
                              .steps = g_array_new (FALSE, FALSE, sizeof (FabBlockStep)),
                              .copies = g_array_new (FALSE, FALSE, sizeof (FabFirstCopy)) } };
  gboolean is_good = text != NULL && parse (&self, &problem) && check_gpus (&self, &problem)
                  && fab_blocks_play (&self.blocks, given, &problem);

  if (is_good)
    given->n_channels = count_senders (&self.blocks);
  g_free (self.blocks.sizes);
  g_free (self.has_gpu);
  g_array_unref (self.blocks.blocks);
  g_array_unref (self.blocks.steps);
  g_array_unref (self.blocks.copies);
  if (!is_good) {
    g_propagate_error (error, g_steal_pointer (&problem));
    return NULL;
  }
  fab_given_finish (given);
  return g_steal_pointer (&given);
}

static gboolean
is_xml (const FabFileText *text)
{
  return fab_file_text_first (text) == '<';
}

const FabFileFormat fab_file_msccl = {
  .name = "MSCCL",
  .kind = FAB_FILE_SCHEDULE,
  .recognises = is_xml,
  .read.schedule = read_msccl,
};
