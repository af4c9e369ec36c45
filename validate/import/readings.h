/* SPDX-License-Identifier: Apache-2.0 */
/* readings.h - what the readers of measurements share: lines and words, series, mistakes. Private to validate/import.
 *
 * A reader goes over the lines once, says every mistake with the word that is wrong, and adds points; the series that a
 * point belongs to is found by what tells series apart. Nothing of a text with a mistake is kept.
 */
#pragma once

#include "validate/import/lines.h"
#include "validate/import/measurements.h"

typedef struct _FabReadings FabReadings;

/* A format: one file, one row in measurements.c. */
typedef struct {
  const char *name; /* as --from takes it */
  const char *tool; /* the commands that print it */
  gboolean (*recognises) (const char *text);
  void (*read) (FabReadings *readings);
} FabMeasurementFormat;

extern const FabMeasurementFormat fab_measurement_csv;
extern const FabMeasurementFormat fab_measurement_fabtests;
extern const FabMeasurementFormat fab_measurement_nccl_tests;
extern const FabMeasurementFormat fab_measurement_nvbandwidth;
extern const FabMeasurementFormat fab_measurement_nvbandwidth_json;
extern const FabMeasurementFormat fab_measurement_osu;
extern const FabMeasurementFormat fab_measurement_p2p;
extern const FabMeasurementFormat fab_measurement_perftest;
extern const FabMeasurementFormat fab_measurement_perftest_json;

FabReadings *fab_readings_new (const FabMeasurementRequest *request);
void fab_readings_free (FabReadings *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabReadings, fab_readings_free)
const FabMeasurementRequest *fab_readings_request (const FabReadings *self);
gboolean fab_readings_has_mistakes (const FabReadings *self);

/* All series, sorted; NULL and *error when there was a mistake, or nothing to read. */
FabMeasurements *fab_readings_finish (FabReadings *self, const char *format, GError **error);

/* The next line of the text; FALSE at its end. A line that says that the run was interrupted is a mistake. */
gboolean fab_readings_next (FabReadings *self, FabLine *line);

/* What is wrong, at a word of the text; NULL: with the whole of it. */
void fab_readings_mistake (FabReadings *self, const FabWord *at, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* What another parser found wrong, with its place; once, and nothing is read after it. */
void fab_readings_fail (FabReadings *self, const GError *error);

/* What is not taken over, one sentence without a full stop; the same sentence counts once. */
void fab_readings_leave_out (FabReadings *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* FALSE after a mistake. A number is finite and not negative; a size is whole and above 0. */
gboolean fab_readings_number (FabReadings *self, const FabWord *word, double *value);
gboolean fab_readings_size (FabReadings *self, const FabWord *word, FabBytes *size_bytes);

/* The series like this one, made on first use. System and source come from the request where it has them; without
 * numbers of ends and pairs there are 2 and 1. */
FabMeasuredSeries *fab_readings_series (FabReadings *self, const FabSeries *like);

/* A point at `word`: time of one message. `spread` (NULL: not known) has all but the size and time. A printed 0 is
 * left out, and said. The same size with another time is a mistake. */
void fab_readings_time (FabReadings *self, const FabWord *word, FabMeasuredSeries *series,
                        FabBytes size_bytes, double time_us, const FabMeasuredPoint *spread);
void fab_readings_rate (FabReadings *self, const FabWord *word, FabMeasuredSeries *series,
                        FabBytes size_bytes, double bytes_per_s);

/* Replaces a text of a series. */
void fab_reading_set (char **text, const char *value);

FabTimePs fab_reading_ps (double time_us);

/* A table's last row without a line's end, with fewer decimals than the row before it, was cut off: a mistake. */
void fab_readings_check_cut (FabReadings *self, const FabLine *row, const FabLine *before);
