/* SPDX-License-Identifier: Apache-2.0 */
/* osu.c - the OSU micro-benchmarks of MPI: a title, a line of columns, a line for each size.
 *
 *   latency                          half a round trip, average
 *   bandwidth, bi-directional        MB/s of 10^6; the second prints both directions together: half of it
 *   multiple bandwidth               MB/s of all pairs together: divided by them
 *   all-reduce, broadcast, ...       average over the ranks; sizes become those of sim/collective/collective.h
 *
 * How many ranks take part is not printed: the command above says it (mpirun -np 4, srun -n 4), or the request.
 */
#include <string.h>

#include "formats/measurement/readings.h"
#include "sim/collective/collective.h"

/* messages in flight unless -W says otherwise */
enum { WINDOW = 64 };

typedef struct {
  const char *title; /* between "# OSU MPI " and " Test" */
  FabMeasureKind kind;
  FabOp op;
  gboolean is_part; /* the printed size is one rank's part of the message */
} Test;

static const Test tests[] = {
  { "Latency", FAB_MEASURE_LATENCY, FAB_N_OPS, FALSE },
  { "Bandwidth", FAB_MEASURE_BANDWIDTH, FAB_N_OPS, FALSE },
  { "Multiple Bandwidth / Message Rate", FAB_MEASURE_BANDWIDTH, FAB_N_OPS, FALSE },
  { "Bi-Directional Bandwidth", FAB_MEASURE_BIDIRECTIONAL, FAB_N_OPS, FALSE },
  { "Allreduce Latency", FAB_MEASURE_COLLECTIVE, FAB_OP_ALL_REDUCE, FALSE },
  { "Allgather Latency", FAB_MEASURE_COLLECTIVE, FAB_OP_ALL_GATHER, TRUE },
  { "All-to-All Personalized Exchange Latency", FAB_MEASURE_COLLECTIVE, FAB_OP_ALL_TO_ALL, TRUE },
  { "Broadcast Latency", FAB_MEASURE_COLLECTIVE, FAB_OP_BROADCAST, FALSE },
  { "Gather Latency", FAB_MEASURE_COLLECTIVE, FAB_OP_GATHER, TRUE },
  { "Reduce Latency", FAB_MEASURE_COLLECTIVE, FAB_OP_REDUCE, FALSE },
  { "Reduce_scatter Latency", FAB_MEASURE_COLLECTIVE, FAB_OP_REDUCE_SCATTER, FALSE },
  { "Scatter Latency", FAB_MEASURE_COLLECTIVE, FAB_OP_SCATTER, TRUE },
};

typedef struct {
  FabReadings *readings;
  const Test *test; /* NULL: no test, or one that is left out */
  FabWord title;
  char *note;
  guint n_pairs, window;
  guint n_ranks;         /* of the last command; 0: it did not say */
  const char *memory[2]; /* of sender and receiver; NULL: unknown */
  const char *from_command[2];
  const char *collective_memory; /* for collectives -d cuda is enough */
  /* the text has a line of columns; it has min, max and iterations behind the average */
  gboolean has_columns, has_spread;
  guint n_rows;
} Reader;

/* Reads "# OSU MPI-CUDA Latency Test v7.5". */
static void
start_test (Reader *self, const FabLine *line)
{
  g_autofree char *text = fab_word_dup (&line->whole);
  char *title = strstr (text, "# OSU MPI"), *end = strstr (title, " Test");
  gboolean is_device = strncmp (title, "# OSU MPI-", 10) == 0;

  self->test = NULL;
  self->title = line->whole;
  self->has_columns = FALSE;
  self->n_pairs = 1;
  self->window = WINDOW;
  self->collective_memory = is_device ? "gpu" : "host";
  for (guint i = 0; i < 2; i++)
    self->memory[i] = self->from_command[i] ? self->from_command[i] : is_device ? NULL : "host";
  g_free (self->note);
  self->note = g_strdup (title + strlen ("# "));
  title = strchr (title + strlen ("# OSU "), ' ');
  if (title == NULL || end == NULL || end < title)
    return;
  *end = '\0';
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    if (strcmp (title + 1, tests[i].title) == 0)
      self->test = &tests[i];
  if (self->test == NULL)
    fab_readings_leave_out (self->readings, &line->whole, "`%s`: not a test of OSU that is read", self->note);
}

static const char *
memory_of (const FabWord *word)
{
  return fab_word_is (word, "D") ? "gpu" : fab_word_is (word, "H") ? "host" : NULL;
}

/* Returns the number behind one of two options, in the same word or the next one; 0: there is none. */
static guint
option_count (const FabLine *line, guint i, const char *option, const char *other)
{
  const char *names[] = { option, other };
  FabWord word = line->words[i];

  for (guint k = 0; k < G_N_ELEMENTS (names); k++) {
    gsize length = strlen (names[k]);

    if (fab_word_is (&word, names[k]) && i + 1 < line->n)
      return MIN (fab_word_count (&line->words[i + 1]), G_MAXUINT16);
    if (word.length > length && strncmp (word.at, names[k], length) == 0) {
      length += word.at[length] == '=';
      word = (FabWord){ .at = word.at + length, .length = word.length - length };
      return (guint) MIN (fab_word_is_whole (&word) ? fab_word_count (&word) : 0, G_MAXUINT16);
    }
  }
  return 0;
}

/* Reads "mpirun -np 4 ./osu_allreduce -d cuda", "srun -N2 --ntasks-per-node=4 osu_bw D D". */
static void
read_command (Reader *self, const FabLine *line)
{
  guint n = line->n, n_nodes = 0, n_per_node = 0;

  self->n_ranks = 0;
  for (guint i = 0; i < 2; i++)
    self->from_command[i] = n > 2 && memory_of (&line->words[n - 1]) ? memory_of (&line->words[n - 2 + i])
                                                                     : NULL;
  for (guint i = 0; i < n && !fab_word_has (&line->words[i], "osu_"); i++) {
    guint n_ranks = MAX (option_count (line, i, "-np", "-n"), option_count (line, i, "--ntasks", "--ntasks"));

    self->n_ranks = MAX (self->n_ranks, n_ranks);
    n_nodes = MAX (n_nodes, option_count (line, i, "-N", "--nodes"));
    n_per_node = MAX (n_per_node, option_count (line, i, "--ntasks-per-node", "--ntasks-per-node"));
  }
  if (self->n_ranks == 0)
    self->n_ranks = n_nodes * n_per_node;
}

/* Reads "# [ pairs: 8 ] [ window size: 64 ]", "# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)". */
static void
read_comment (Reader *self, const FabLine *line)
{
  FabWord value;

  if (fab_line_value (line, "pairs", &value))
    self->n_pairs = CLAMP (fab_word_count (&value), 1, G_MAXINT);
  if (fab_line_value (line, "window size", &value))
    self->window = MIN (fab_word_count (&value), G_MAXINT);
  if (fab_word_has (&line->whole, "Send Buffer on")) {
    self->memory[0] = fab_word_has (&line->whole, "Send Buffer on DEVICE") ? "gpu" : "host";
    self->memory[1] = fab_word_has (&line->whole, "Receive Buffer on DEVICE") ? "gpu" : "host";
  }
}

/* Reads "# Size  Avg Latency(us)  Min Latency(us)  Max Latency(us)  Iterations". */
static void
read_columns (Reader *self, const FabLine *line)
{
  gboolean is_rate = self->test->kind == FAB_MEASURE_BANDWIDTH
                  || self->test->kind == FAB_MEASURE_BIDIRECTIONAL;

  self->has_columns = fab_word_has (&line->whole, is_rate ? "MB/s" : "(us)");
  self->has_spread = !fab_word_has (&line->whole, "Tail") && fab_word_has (&line->whole, "Min Lat")
                  && fab_word_has (&line->whole, "Max Lat");
  if (!self->has_columns)
    fab_readings_mistake (self->readings, &line->whole, "no column in %s, as `%s` has it",
                          is_rate ? "MB/s" : "us", self->note);
}

static void
describe (const Reader *self, FabSeries *series, guint n_ranks)
{
  gboolean is_collective = self->test->kind == FAB_MEASURE_COLLECTIVE;

  series->kind = self->test->kind;
  series->n_ranks = is_collective ? n_ranks : 2 * self->n_pairs;
  series->n_pairs = is_collective ? 0 : self->n_pairs;
  series->window = is_collective || self->test->kind == FAB_MEASURE_LATENCY ? 0 : self->window;
  fab_reading_set (&series->backend, "osu");
  fab_reading_set (&series->method, "mpi");
  fab_reading_set (&series->op, is_collective ? fab_op_names[self->test->op] : NULL);
  fab_reading_set (&series->from_memory, is_collective ? self->collective_memory : self->memory[0]);
  fab_reading_set (&series->to_memory, is_collective ? self->collective_memory : self->memory[1]);
  fab_reading_set (&series->note, self->note);
}

static gboolean
read_spread (Reader *self, const FabLine *line, FabMeasuredPoint *spread)
{
  double min_us, max_us;

  if (!self->has_spread || line->n < 4)
    return TRUE;
  if (!fab_readings_number (self->readings, &line->words[2], &min_us)
      || !fab_readings_number (self->readings, &line->words[3], &max_us))
    return FALSE;
  spread->min_ps = fab_reading_ps (min_us);
  spread->max_ps = fab_reading_ps (max_us);
  spread->n_samples = line->n > 4 ? fab_word_count (&line->words[4]) : 0;
  return TRUE;
}

static guint
ranks_of (Reader *self)
{
  guint asked = fab_readings_request (self->readings)->n_ranks;

  if (self->n_ranks == 0 && asked == 0)
    fab_readings_mistake (
        self->readings, &self->title,
        "how many ranks took part is not printed: leave the command above it (mpirun -np N ...), or "
        "give --ranks N");
  return asked > 0 ? asked : self->n_ranks;
}

static void
add_row (Reader *self, const FabLine *line, FabBytes size_bytes, double value)
{
  gboolean is_collective = self->test->kind == FAB_MEASURE_COLLECTIVE;
  guint n_ranks = is_collective ? ranks_of (self) : 0;
  double directions = self->test->kind == FAB_MEASURE_BIDIRECTIONAL ? 2 : 1;
  FabSeries series = { .kind = self->test->kind };
  FabMeasuredPoint spread = { .is_complete = TRUE };
  FabMeasuredSeries *measured;

  if ((is_collective && n_ranks == 0) || !read_spread (self, line, &spread))
    return;
  describe (self, &series, n_ranks);
  measured = fab_readings_series (self->readings, &series);
  if (self->test->kind == FAB_MEASURE_BANDWIDTH || self->test->kind == FAB_MEASURE_BIDIRECTIONAL)
    fab_readings_rate (self->readings, &line->words[1], measured, size_bytes,
                       value * 1e6 / directions / self->n_pairs);
  else
    fab_readings_time (self->readings, &line->words[1], measured,
                       self->test->is_part ? size_bytes * n_ranks : size_bytes, value, &spread);
  fab_series_clear (&series);
}

static void
read_row (Reader *self, const FabLine *line)
{
  FabBytes size_bytes;
  double value;

  self->n_rows++;
  if (line->n < 2)
    fab_readings_mistake (self->readings, &line->whole,
                          "a value belongs behind the size: the text was cut off");
  else if (fab_word_is (&line->words[line->n - 1], "Fail"))
    fab_readings_mistake (self->readings, &line->words[line->n - 1],
                          "the data did not arrive as it was sent; nothing of it is taken over");
  else if (fab_word_is (&line->words[0], "0"))
    fab_readings_leave_out (self->readings, &line->words[0], "messages of 0 B");
  else if (fab_readings_size (self->readings, &line->words[0], &size_bytes)
           && fab_readings_number (self->readings, &line->words[1], &value))
    add_row (self, line, size_bytes, value);
}

static void
read_line (Reader *self, const FabLine *line)
{
  gboolean is_comment = line->n > 0 && fab_word_is (&line->words[0], "#");

  if (is_comment && fab_word_has (&line->whole, "# OSU MPI"))
    start_test (self, line);
  else if (is_comment && self->test != NULL && fab_word_has (&line->words[MIN (1, line->n - 1)], "Size"))
    read_columns (self, line);
  else if (is_comment)
    read_comment (self, line);
  else if (fab_word_has (&line->whole, "osu_"))
    read_command (self, line);
  else if (self->has_columns && line->n > 0 && fab_word_is_whole (&line->words[0]))
    read_row (self, line);
}

static void
read_text (FabReadings *readings)
{
  Reader self = { .readings = readings };
  FabLine line, before = { .n = 0 };
  guint n_rows;

  while (fab_readings_next (readings, &line)) {
    n_rows = self.n_rows;
    read_line (&self, &line);
    if (self.n_rows == n_rows)
      continue;
    fab_readings_check_cut (readings, &line, &before);
    before = line;
  }
  g_free (self.note);
}

static gboolean
recognises (const FabFileText *text)
{
  return fab_file_text_has (text, "# OSU MPI") && fab_file_text_has (text, " Test");
}

const FabFileFormat fab_file_osu = {
  .name = "osu",
  .help = "osu_latency, osu_bw, osu_bibw, osu_allreduce, ...",
  .kind = FAB_FILE_MEASUREMENT,
  .recognises = recognises,
  .read.measurement = read_text,
};
