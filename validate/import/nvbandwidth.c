/* SPDX-License-Identifier: Apache-2.0 */
/* nvbandwidth.c - a testcase of nvbandwidth: who copies to whom, and what a cell of its matrix says.
 *
 *   host_to_device, device_to_host           the rate of that direction, also when it is bidirectional
 *   device_to_device                         from row to column or back, as the arrow of the description says
 *     bidirectional, "Total", or kernels     both directions together: half of it
 *     bidirectional, "Read1", "Write2", ...  the halves of Total: left out
 *   all_to_host, host_to_all                 each GPU's rate while all copy
 *   all_to_one, one_to_all                   the sum over all the others, which copy at once
 *   latency                                  a load and its answer: half of it
 *
 * A message is the buffer, 512 MiB unless -b said otherwise; the output does not have it.
 */
#include "validate/import/nvbandwidth.h"

#include <string.h>

#define DEFAULT_BYTES ((FabBytes) 512 << 20)
#define LOAD_BYTES 8

typedef enum { SHAPE_TO_GPU, SHAPE_TO_HOST, SHAPE_PAIRS, SHAPE_TO_ONE, SHAPE_FROM_ONE, SHAPE_NONE } Shape;

static const struct {
  const char *prefix;
  Shape shape;
  gboolean is_together; /* all GPUs copy at once */
} shapes[] = {
  { "host_to_device_", SHAPE_TO_GPU, FALSE },
  { "device_to_host_", SHAPE_TO_HOST, FALSE },
  { "host_device_latency_", SHAPE_TO_HOST, FALSE },
  { "device_to_device_", SHAPE_PAIRS, FALSE },
  { "all_to_host_", SHAPE_TO_HOST, TRUE },
  { "host_to_all_", SHAPE_TO_GPU, TRUE },
  { "all_to_one_", SHAPE_TO_ONE, TRUE },
  { "one_to_all_", SHAPE_FROM_ONE, TRUE },
};

typedef struct {
  Shape shape;
  gboolean is_together, is_both, is_latency, is_kernel;
  gboolean is_backwards; /* from column to row */
  double divisor;        /* divides the printed rate */
} Testcase;

void
fab_nvbandwidth_clear (FabNvbandwidth *self)
{
  fab_reading_set (&self->name, NULL);
  fab_reading_set (&self->description, NULL);
  if (self->cells == NULL)
    self->cells = g_array_new (FALSE, FALSE, sizeof (FabWord));
  g_array_set_size (self->cells, 0);
  self->n_rows = self->n_columns = 0;
  self->sum = self->rounding = 0;
}

void
fab_nvbandwidth_free (FabNvbandwidth *self)
{
  fab_nvbandwidth_clear (self);
  g_array_unref (self->cells);
  g_free (self->system);
}

void
fab_nvbandwidth_cell (FabNvbandwidth *self, const FabWord *word)
{
  double value;

  g_array_append_val (self->cells, *word);
  if (fab_word_is (word, "N/A") || !fab_readings_number (self->readings, word, &value))
    return;
  self->sum += value;
  /* the text prints two decimals, JSON six digits */
  self->rounding += 0.01 + value * 1e-5;
}

static Testcase
understand (const FabNvbandwidth *self)
{
  const char *name = g_str_has_prefix (self->name, "multinode_") ? self->name + strlen ("multinode_")
                                                                 : self->name;
  Testcase testcase = { .shape = SHAPE_NONE, .divisor = 1 };
  gboolean is_total = self->description && strstr (self->description, "otal") != NULL;

  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    if (g_str_has_prefix (name, shapes[i].prefix)) {
      testcase.shape = shapes[i].shape;
      testcase.is_together = shapes[i].is_together;
    }
  testcase.is_both = strstr (name, "bidirectional") != NULL;
  testcase.is_latency = strstr (name, "latency") != NULL;
  testcase.is_kernel = g_str_has_suffix (name, "_sm");
  testcase.is_backwards = self->description && strstr (self->description, "(row) <- ") != NULL;
  if (testcase.shape == SHAPE_PAIRS && testcase.is_both && (is_total || testcase.is_kernel))
    testcase.divisor = 2;
  if (!testcase.is_latency && strstr (name, "memcpy") == NULL && testcase.shape < SHAPE_TO_ONE)
    testcase.shape = SHAPE_NONE;
  return testcase;
}

static char *
host_name (const FabNvbandwidth *self, guint row)
{
  return self->n_rows > 1 ? g_strdup_printf ("host%u", row) : g_strdup ("host");
}

static void
set_ends (const FabNvbandwidth *self, const Testcase *testcase, FabSeries *series, guint row, guint column)
{
  g_autofree char *gpu = g_strdup_printf ("gpu%u", column), *peer = g_strdup_printf ("gpu%u", row);
  g_autofree char *host = host_name (self, row);
  const char *ends[][2] = { [SHAPE_TO_GPU] = { host, gpu },
                            [SHAPE_TO_HOST] = { gpu, host },
                            [SHAPE_PAIRS] = { testcase->is_backwards ? gpu : peer,
                                              testcase->is_backwards ? peer : gpu },
                            [SHAPE_TO_ONE] = { "other GPUs", gpu },
                            [SHAPE_FROM_ONE] = { gpu, "other GPUs" } };

  fab_reading_set (&series->from, ends[testcase->shape][0]);
  fab_reading_set (&series->to, ends[testcase->shape][1]);
  fab_reading_set (&series->from_memory, testcase->shape == SHAPE_TO_GPU ? "host" : "gpu");
  fab_reading_set (&series->to_memory, testcase->shape == SHAPE_TO_HOST ? "host" : "gpu");
}

/* Returns "copy" or "kernel-read": reads and writes of one pair are two measurements. */
static const char *
method_of (const FabNvbandwidth *self, const Testcase *testcase)
{
  gboolean is_read = strstr (self->name, "_read_") != NULL;

  if (testcase->is_latency)
    return "load";
  if (strstr (self->name, "_write_") == NULL && !is_read)
    return testcase->is_kernel ? "kernel" : "copy";
  return testcase->is_kernel ? (is_read ? "kernel-read" : "kernel") : is_read ? "copy-read" : "copy";
}

static char *
note_of (const FabNvbandwidth *self, const Testcase *testcase)
{
  const char *why = testcase->is_latency  ? "; half of a load and its answer"
                  : testcase->divisor > 1 ? "; half of both directions together"
                  : testcase->is_together ? "; all GPUs at once"
                  : testcase->is_both     ? "; one direction, while the other is busy"
                                          : "";

  gboolean is_default = fab_readings_request (self->readings)->size_bytes == 0 && !testcase->is_latency;

  return g_strconcat (self->name, why, is_default ? "; 512 MiB is the default of -b" : "", NULL);
}

static void
add_cell (FabNvbandwidth *self, const Testcase *testcase, const FabWord *word, guint row, guint column)
{
  FabBytes asked = fab_readings_request (self->readings)->size_bytes;
  gboolean is_sum = testcase->shape >= SHAPE_TO_ONE;
  FabSeries series = { .kind = testcase->is_latency ? FAB_MEASURE_LATENCY
                             : testcase->is_both    ? FAB_MEASURE_BIDIRECTIONAL
                                                    : FAB_MEASURE_BANDWIDTH };
  g_autofree char *note = note_of (self, testcase);
  FabMeasuredSeries *measured;
  double value;

  if (fab_word_is (word, "N/A") || !fab_readings_number (self->readings, word, &value))
    return;
  series.n_pairs = testcase->is_together ? MAX (self->n_columns - (is_sum ? 1 : 0), 1) : 1;
  fab_reading_set (&series.backend, "nvbandwidth");
  fab_reading_set (&series.system, self->system);
  fab_reading_set (&series.method, method_of (self, testcase));
  fab_reading_set (&series.note, note);
  set_ends (self, testcase, &series, row, column);
  measured = fab_readings_series (self->readings, &series);
  if (testcase->is_latency)
    fab_readings_time (self->readings, word, measured, LOAD_BYTES, value / 2e3, NULL);
  else
    fab_readings_rate (self->readings, word, measured, asked > 0 ? asked : DEFAULT_BYTES,
                       value * 1e9 / (is_sum ? series.n_pairs : testcase->divisor));
  fab_series_clear (&series);
}

static gboolean
is_half (const FabNvbandwidth *self)
{
  static const char *const halves[] = { "Read1", "Read2", "Write1", "Write2" };

  for (guint i = 0; self->description && i < G_N_ELEMENTS (halves); i++)
    if (strstr (self->description, halves[i]) != NULL)
      return TRUE;
  return FALSE;
}

void
fab_nvbandwidth_add (FabNvbandwidth *self, const FabWord *place)
{
  Testcase testcase = understand (self);

  if (self->n_columns == 0 || self->cells->len != self->n_rows * self->n_columns) {
    fab_readings_mistake (self->readings, place, "%s: its matrix is not whole: it was cut off", self->name);
    return;
  }
  if (testcase.shape == SHAPE_NONE)
    fab_readings_leave_out (self->readings, "%s: not a copy between host and GPUs that is known", self->name);
  else if (testcase.shape == SHAPE_PAIRS && self->n_rows != self->n_columns)
    fab_readings_mistake (self->readings, place, "%s: %u rows for %u GPUs: the matrix was cut off",
                          self->name, self->n_rows, self->n_columns);
  else if (is_half (self))
    fab_readings_leave_out (self->readings,
                            "Read1, Read2, Write1, Write2: the two directions that Total adds");
  else
    for (guint i = 0; i < self->cells->len; i++)
      add_cell (self, &testcase, &g_array_index (self->cells, FabWord, i), i / self->n_columns,
                i % self->n_columns);
}
