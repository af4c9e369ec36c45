/* SPDX-License-Identifier: Apache-2.0 */
/* perftest.c - one test of perftest: its series, and a row as the time of one message.
 *
 *   time = size x directions / BW average = directions / MsgRate
 *
 * whichever has more digits. MB and MiB are 2^20 bytes (perftest_parameters.c), Gb 1e9 bits; a bidirectional test
 * prints both directions together. Latencies are t_typical, the median: half a round trip, of a read all of it.
 */
#include "validate/import/perftest.h"

#include <math.h>

#define MAX_DISAGREEMENT 0.05

/* bytes per second of MiB/s and of Gb/s */
static const double bandwidth_units[] = { 1048576, 1.25e8 };

void
fab_perftest_clear (FabPerftest *self)
{
  fab_series_clear (&self->series);
  *self = (FabPerftest){ .is_known = FALSE };
}

static const char *
find_method (const FabWord *text)
{
  static const char *const methods[][3] = { { "Write", "_write_", "write" },
                                            { "Read", "_read_", "read" },
                                            { "Send", "_send_", "send" } };

  for (guint i = 0; i < G_N_ELEMENTS (methods); i++)
    if (fab_word_has (text, methods[i][0]) || fab_word_has (text, methods[i][1]))
      return methods[i][2];
  return NULL;
}

gboolean
fab_perftest_note_test (FabPerftest *self, FabReadings *readings, const FabWord *text)
{
  gboolean is_latency = fab_word_has (text, "Latency") || fab_word_has (text, "_lat");
  gboolean is_both = fab_word_has (text, "Bidirectional") || fab_word_has (text, " -b ")
                  || fab_word_has (text, "--bidirectional");
  const char *method = find_method (text);

  if (method == NULL) {
    fab_readings_mistake (readings, text, "of perftest write, read and send are taken over, this is another");
    return FALSE;
  }
  fab_perftest_clear (self);
  self->is_known = TRUE;
  self->is_latency = is_latency;
  self->series.kind = is_latency ? FAB_MEASURE_LATENCY
                    : is_both    ? FAB_MEASURE_BIDIRECTIONAL
                                 : FAB_MEASURE_BANDWIDTH;
  fab_reading_set (&self->series.backend, "perftest");
  fab_reading_set (&self->series.method, method);
  fab_reading_set (&self->series.from_memory, "host");
  fab_reading_set (&self->series.to_memory, "host");
  return TRUE;
}

static const char *
note_of (const FabPerftest *self, gboolean is_typical)
{
  gboolean is_read = g_strcmp0 (self->series.method, "read") == 0;

  if (self->is_latency && is_typical)
    return is_read ? "t_typical, the median; request and answer together"
                   : "t_typical, the median; half a round trip";
  if (self->is_latency)
    return is_read ? "t_avg; request and answer together" : "t_avg; half a round trip";
  return self->series.kind == FAB_MEASURE_BIDIRECTIONAL
           ? "BW average, half of both directions together; small ones from MsgRate"
           : "BW average; small ones from MsgRate";
}

static FabMeasuredSeries *
series_of (FabPerftest *self, FabReadings *readings, gboolean is_typical)
{
  gboolean is_read = g_strcmp0 (self->series.method, "read") == 0;
  guint depth = is_read && self->n_reads > 0 ? self->n_reads : self->tx_depth;

  self->series.window = self->is_latency ? 0 : depth * MAX (self->series.n_queue_pairs, 1);
  fab_reading_set (&self->series.note, note_of (self, is_typical));
  return fab_readings_series (readings, &self->series);
}

static void
add_latency (FabPerftest *self, FabReadings *readings, const FabPerftestRow *row, FabBytes size_bytes)
{
  gboolean is_typical = row->typical.length > 0;
  const FabWord *word = is_typical ? &row->typical : &row->average;
  FabMeasuredPoint spread = { .n_samples = (guint) fab_word_count (&row->iterations), .is_complete = TRUE };
  double time_us, min_us = 0, max_us = 0;

  if (!fab_readings_number (readings, word, &time_us)
      || (row->min.length > 0 && !fab_readings_number (readings, &row->min, &min_us))
      || (row->max.length > 0 && !fab_readings_number (readings, &row->max, &max_us)))
    return;
  if (max_us > 0 && !(min_us <= time_us && time_us <= max_us)) {
    fab_readings_mistake (readings, word, "this is not between the row's t_min and t_max");
    return;
  }
  spread.min_ps = fab_reading_ps (min_us);
  spread.max_ps = fab_reading_ps (max_us);
  fab_readings_time (readings, word, series_of (self, readings, is_typical), size_bytes, time_us, &spread);
}

/* Returns half a unit of the word's last digit. */
static double
rounding (const FabWord *word)
{
  return 0.5 * pow (10, -(double) fab_word_decimals (word));
}

/* Says whether the message rate agrees with the bandwidth in this unit. */
static gboolean
agrees (const FabPerftestRow *row, double bandwidth, double rate_M, double size_bytes, double unit)
{
  double by_rate = rate_M * 1e6 * size_bytes;
  double slack = rounding (&row->bandwidth) * unit + rounding (&row->message_rate) * 1e6 * size_bytes;

  return fabs (bandwidth * unit - by_rate) <= slack + MAX_DISAGREEMENT * by_rate;
}

/* Finds the unit that agrees with the message rate, because JSON does not name it; 0: it cannot be told. */
static double
find_unit (const FabPerftestRow *row, double bandwidth, double rate_M, double size_bytes)
{
  double unit = 0;

  for (guint i = 0; i < G_N_ELEMENTS (bandwidth_units); i++)
    if (agrees (row, bandwidth, rate_M, size_bytes, bandwidth_units[i]))
      unit = unit > 0 ? -1 : bandwidth_units[i];
  return MAX (unit, 0);
}

static void
add_bandwidth (FabPerftest *self, FabReadings *readings, const FabPerftestRow *row, FabBytes size_bytes)
{
  double directions = self->series.kind == FAB_MEASURE_BIDIRECTIONAL ? 2 : 1;
  double bandwidth, rate_M = 0, unit = row->bytes_per_s, bytes_per_s;

  if (!fab_readings_number (readings, &row->bandwidth, &bandwidth)
      || (row->message_rate.length > 0 && !fab_readings_number (readings, &row->message_rate, &rate_M)))
    return;
  if (unit <= 0)
    unit = find_unit (row, bandwidth, rate_M, (double) size_bytes);
  if (unit <= 0 || (rate_M > 0 && !agrees (row, bandwidth, rate_M, (double) size_bytes, unit))) {
    fab_readings_mistake (readings, &row->bandwidth,
                          "bandwidth and message rate of this row do not agree, in MiB/s or in Gb/s");
    return;
  }
  bytes_per_s = rate_M > 0 && fab_word_digits (&row->message_rate) > fab_word_digits (&row->bandwidth)
                  ? rate_M * 1e6 * (double) size_bytes
                  : bandwidth * unit;
  fab_readings_rate (readings, &row->bandwidth, series_of (self, readings, FALSE), size_bytes,
                     bytes_per_s / directions);
}

void
fab_perftest_add (FabPerftest *self, FabReadings *readings, const FabPerftestRow *row)
{
  FabBytes size_bytes;

  if (!fab_readings_size (readings, &row->size, &size_bytes))
    return;
  if (self->is_latency)
    add_latency (self, readings, row, size_bytes);
  else
    add_bandwidth (self, readings, row, size_bytes);
}
