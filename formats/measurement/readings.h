/* SPDX-License-Identifier: Apache-2.0 */
/* readings.h - gives the readers of measurements lines and words, series and mistakes; private to formats/measurement.
 *
 * A reader goes through the lines once, reports every mistake at the word that is wrong, and adds points. A point's
 * series is found by the members that tell series apart. A text with a mistake gives no series at all.
 */
#pragma once

#include "formats/format.h"
#include "formats/measurement/request.h"
#include "formats/measurement/series.h"

enum { FAB_LINE_MAX_WORDS = 320 };

/* A part of the text, not NUL-ended. */
typedef struct {
  const char *at;
  gsize length;
} FabWord;

typedef struct {
  FabWord whole; /* without a launcher's label and the line end */
  FabWord words[FAB_LINE_MAX_WORDS];
  guint n;
  gboolean has_end; /* FALSE: the text ends inside this line */
} FabLine;

/* Reads the line at *cursor and moves *cursor behind it; FALSE at the end of the text. Skips the labels that srun -l
 * ("3: ") and mpirun --tag-output ("[1,0]<stdout>:") put before a line. */
gboolean fab_line_next (const char **cursor, FabLine *line);

gboolean fab_word_is (const FabWord *word, const char *text);
gboolean fab_word_has (const FabWord *word, const char *text);
gboolean fab_word_is_whole (const FabWord *word); /* it has digits only */
char *fab_word_dup (const FabWord *word);
guint fab_word_decimals (const FabWord *word); /* number of digits behind the point */

/* number of significant digits: those from the first that is not 0 */
guint fab_word_digits (const FabWord *word);
guint fab_word_count (const FabWord *word); /* value of the leading digits; 0: none, or above 2^32 - 1 */

/* Finds what follows "key" and a colon: "Mtu             : 4096[B]". */
gboolean fab_line_value (const FabLine *line, const char *key, FabWord *value);

FabReadings *fab_readings_new (const FabMeasurementRequest *request);
void fab_readings_free (FabReadings *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabReadings, fab_readings_free)
const FabMeasurementRequest *fab_readings_request (const FabReadings *self);
gboolean fab_readings_has_mistakes (const FabReadings *self);

/* Returns all series, sorted. Returns NULL and sets *error when there was a mistake or nothing to read. (transfer
 * full) */
FabMeasurements *fab_readings_finish (FabReadings *self, const char *format, GError **error);

/* Reads the next line; FALSE at the end of the text. A line that says that the run was interrupted is a mistake. */
gboolean fab_readings_next (FabReadings *self, FabLine *line);

/* Reports a mistake at a word of the text; `at` NULL: in the text as a whole. */
void fab_readings_mistake (FabReadings *self, const FabWord *at, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* Reports the error of another parser, which names its place. Nothing is read after it. */
void fab_readings_fail (FabReadings *self, const GError *error);

/* Notes what is not imported, a sentence without a full stop, at the first word that it is about; `at` NULL: it is
 * about the text as a whole. The same sentence counts once. */
void fab_readings_leave_out (FabReadings *self, const FabWord *at, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* Read a word; they report a mistake and return FALSE if it is wrong. A number is finite and not negative; a size is
 * whole and above 0. */
gboolean fab_readings_number (FabReadings *self, const FabWord *word, double *value);
gboolean fab_readings_size (FabReadings *self, const FabWord *word, FabBytes *size_bytes);

/* Returns the series with the members of `like`, made on first use. The request's system and source replace its own;
 * where it does not say, there are 2 ends and 1 pair. */
FabMeasuredSeries *fab_readings_series (FabReadings *self, const FabSeries *like);

/* Add a point: the time of one message. `spread` (NULL: unknown) holds all but its size and time. A printed 0 is left
 * out, and noted. The same size with another time is a mistake. `word` is where mistakes are shown. */
void fab_readings_time (FabReadings *self, const FabWord *word, FabMeasuredSeries *series,
                        FabBytes size_bytes, double time_us, const FabMeasuredPoint *spread);
void fab_readings_rate (FabReadings *self, const FabWord *word, FabMeasuredSeries *series,
                        FabBytes size_bytes, double bytes_per_s);

/* Replaces a text member of a series. */
void fab_reading_set (char **text, const char *value);

FabTimePs fab_reading_ps (double time_us);

/* Reports a mistake when a table's last row has no line end and fewer decimals than the row before: it was cut
 * off. */
void fab_readings_check_cut (FabReadings *self, const FabLine *row, const FabLine *before);
