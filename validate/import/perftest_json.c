/* SPDX-License-Identifier: Apache-2.0 */
/* perftest_json.c - the file of perftest's --out_json: the facts of a test and one row.
 *
 * Versions before 23.04 write names without quotes, so no JSON parser reads them; both are lists of "name: value"
 * between braces, and read as that. With -a each size replaces the file, which is why it has one row.
 */
#include <string.h>

#include "validate/import/perftest.h"

enum { MAX_FACTS = 64 };

typedef struct {
  FabWord name, value;
} Fact;

typedef struct {
  Fact facts[MAX_FACTS];
  guint n;
  int depth; /* depth of nested braces */
} Facts;

static FabWord
strip (const char *at, const char *end)
{
  while (at < end && (g_ascii_isspace (*at) || *at == '"'))
    at++;
  while (end > at && (g_ascii_isspace (end[-1]) || end[-1] == '"'))
    end--;
  return (FabWord){ .at = at, .length = (gsize) (end - at) };
}

static void
add_fact (Facts *self, const char *start, const char *colon, const char *end)
{
  if (colon != NULL && self->n < MAX_FACTS)
    self->facts[self->n++] = (Fact){ .name = strip (start, colon), .value = strip (colon + 1, end) };
}

/* Collects the facts; braces and commas outside quotes end one. */
static void
collect (const char *text, Facts *self)
{
  gboolean is_quoted = FALSE;
  const char *start = text, *colon = NULL;

  for (const char *at = text; *at != '\0'; at++) {
    if (*at == '"')
      is_quoted = !is_quoted;
    if (is_quoted || strchr ("{},:", *at) == NULL)
      continue;
    if (*at == ':' && colon == NULL)
      colon = at;
    if (*at == ':')
      continue;
    if (*at != '{')
      add_fact (self, start, colon, at);
    self->depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
    start = at + 1;
    colon = NULL;
  }
}

static FabWord
fact (const Facts *self, const char *name)
{
  for (guint i = 0; i < self->n; i++)
    if (fab_word_is (&self->facts[i].name, name))
      return self->facts[i].value;
  return (FabWord){ .length = 0 };
}

static guint
fact_count (const Facts *self, const char *name)
{
  FabWord value = fact (self, name);

  return value.length > 0 ? (guint) MIN (fab_word_count (&value), G_MAXUINT16) : 0;
}

static void
read_test (const Facts *facts, FabPerftest *test)
{
  FabWord device = fact (facts, "Device"), cuda = fact (facts, "cuda_device");
  FabWord rocm = fact (facts, "Use_ROCm_memory");
  g_autofree char *name = device.length > 0 ? fab_word_dup (&device) : NULL;

  fab_reading_set (&test->series.from, name);
  test->series.n_queue_pairs = fact_count (facts, "Number_of_qps");
  test->series.mtu_bytes = fact_count (facts, "Mtu");
  test->tx_depth = fact_count (facts, "TX_depth");
  test->n_reads = fact_count (facts, "Outstand_reads");
  if (cuda.length > 0 || (rocm.length > 0 && fab_word_is (&rocm, "ON"))) {
    fab_reading_set (&test->series.from_memory, "gpu");
    fab_reading_set (&test->series.to_memory, "gpu");
  }
}

static void
read_json (FabReadings *readings)
{
  const FabMeasurementRequest *request = fab_readings_request (readings);
  g_autofree Facts *facts = g_new0 (Facts, 1);
  FabPerftest test = { .is_known = FALSE };
  FabPerftestRow row = { .bytes_per_s = 0 };
  FabWord title;

  collect (request->text, facts);
  title = fact (facts, "test");
  row.size = fact (facts, "MsgSize");
  row.iterations = fact (facts, "n_iterations");
  row.bandwidth = fact (facts, "BW_average");
  row.message_rate = fact (facts, "MsgRate");
  row.min = fact (facts, "t_min");
  row.max = fact (facts, "t_max");
  row.typical = fact (facts, "t_typical");
  row.average = fact (facts, "t_avg");
  if (facts->depth != 0)
    fab_readings_mistake (readings, NULL, "a brace is missing: the file was cut off");
  if (title.length == 0)
    fab_readings_mistake (readings, NULL, "no `test` in `test_info`: which test is this?");
  if (row.size.length == 0 || row.bandwidth.length + row.typical.length + row.average.length == 0)
    fab_readings_mistake (readings, NULL,
                          "no `MsgSize` with `BW_average`, `t_typical` or `t_avg` in `results`");
  if (!fab_readings_has_mistakes (readings) && fab_perftest_note_test (&test, readings, &title)) {
    read_test (facts, &test);
    if (test.is_latency ? row.bandwidth.length > 0 : row.bandwidth.length == 0)
      fab_readings_mistake (readings, &title, "the results are not those of this test");
    else
      fab_perftest_add (&test, readings, &row);
  }
  fab_perftest_clear (&test);
}

static gboolean
recognises (const char *text)
{
  return text[strspn (text, " \t\r\n")] == '{' && strstr (text, "test_info") != NULL
      && strstr (text, "results") != NULL;
}

const FabMeasurementFormat fab_measurement_perftest_json = {
  .name = "perftest-json",
  .tool = "perftest --out_json",
  .recognises = recognises,
  .read = read_json,
};
