/* SPDX-License-Identifier: Apache-2.0 */
/* samples.h - the measurements file: SQLite, raw samples and what they come to. Schema: docs/measurements.md.
 *
 * A sample is committed before the next one is taken, so that whatever ends the program loses no more than the one in
 * flight. A file that is no measurements file, or of a newer
 * schema, is refused untouched. Imports write points without samples.
 */
#pragma once

#include "validate/measure/series.h"

typedef struct _FabSamples FabSamples;

typedef enum { FAB_SAMPLES_READ, FAB_SAMPLES_WRITE /* created when missing */ } FabSamplesMode;

FabSamples *fab_samples_open (const char *path, FabSamplesMode mode, GError **error);
void fab_samples_free (FabSamples *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSamples, fab_samples_free)

/* The series with this key, made on first use; *id from 1. */
gboolean fab_samples_begin_series (FabSamples *self, const FabSeries *series, gint64 *id, GError **error);

/* One raw sample: time of one message. */
gboolean fab_samples_keep (FabSamples *self, gint64 series_id, FabBytes size_bytes, FabTimePs time_ps,
                           GError **error);

/* The samples of a point so far, in the order they were taken: GArray of FabTimePs. (transfer full) */
GArray *fab_samples_of_point (FabSamples *self, gint64 series_id, FabBytes size_bytes, GError **error);

/* What they come to; replaces an earlier row. */
gboolean fab_samples_end_point (FabSamples *self, gint64 series_id, const FabMeasuredPoint *point,
                                GError **error);

/* FALSE when there is no such point yet, and *error only when the file cannot be read. */
gboolean fab_samples_find_point (FabSamples *self, gint64 series_id, FabBytes size_bytes,
                                 FabMeasuredPoint *point, GError **error);

/* Everything that has points: GPtrArray of FabMeasuredSeries, in the order they were begun. (transfer full) */
GPtrArray *fab_samples_load (FabSamples *self, GError **error);

/* A whole imported series in one transaction; a series with this key is replaced. */
gboolean fab_samples_put (FabSamples *self, const FabMeasuredSeries *series, GError **error);

/* Machine as key = value rows: "cpu", "kernel", "gpu0", "driver", ... */
gboolean fab_samples_set_machine (FabSamples *self, const char *key, const char *value, GError **error);
/* One sentence, kept once. */
gboolean fab_samples_add_note (FabSamples *self, const char *note, GError **error);

/* For printing: "key", "value", "key", "value", ... and the notes; NULL-ended. (transfer full) */
char **fab_samples_machine (FabSamples *self, GError **error);
char **fab_samples_notes (FabSamples *self, GError **error);
