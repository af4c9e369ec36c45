/* SPDX-License-Identifier: Apache-2.0 */
/* samples.h - the measurements file: SQLite with raw samples and their statistics. Schema:
 * docs/reference/measurements.md.
 *
 * Each sample is committed before the next one is taken, so that however the program ends, it loses at most the
 * current one. A file that is no measurements file, or has a newer schema, is refused and left untouched. Imports
 * write points without samples. One thread uses an open file at a time.
 */
#pragma once

#include "formats/measurement/series.h"

typedef struct _FabSamples FabSamples;

typedef enum { FAB_SAMPLES_READ, FAB_SAMPLES_WRITE /* creates a missing file */ } FabSamplesMode;

FabSamples *fab_samples_open (const char *path, FabSamplesMode mode, GError **error);
void fab_samples_free (FabSamples *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSamples, fab_samples_free)

/* Finds or makes the series with this key; *id counts from 1. */
gboolean fab_samples_begin_series (FabSamples *self, const FabSeries *series, gint64 *id, GError **error);

/* Adds a raw sample: the time of one message. */
gboolean fab_samples_keep (FabSamples *self, gint64 series_id, FabBytes size_bytes, FabTimePs time_ps,
                           GError **error);

/* Returns a point's samples in the order they were taken: GArray of FabTimePs. (transfer full) */
GArray *fab_samples_of_point (FabSamples *self, gint64 series_id, FabBytes size_bytes, GError **error);

/* Writes a point's statistics; replaces earlier ones. */
gboolean fab_samples_end_point (FabSamples *self, gint64 series_id, const FabMeasuredPoint *point,
                                GError **error);

/* Reads a point's statistics. Returns FALSE when there are none; sets *error only when the file cannot be read. */
gboolean fab_samples_find_point (FabSamples *self, gint64 series_id, FabBytes size_bytes,
                                 FabMeasuredPoint *point, GError **error);

/* Reads every series that has points: GPtrArray of FabMeasuredSeries, in the order they were begun. (transfer
 * full) */
GPtrArray *fab_samples_load (FabSamples *self, GError **error);

/* Writes a whole imported series in one transaction; replaces a series with this key. */
gboolean fab_samples_put (FabSamples *self, const FabMeasuredSeries *series, GError **error);

/* Sets a fact of the machine: "cpu", "kernel", "gpu0", "driver", ... */
gboolean fab_samples_set_machine (FabSamples *self, const char *key, const char *value, GError **error);

/* Adds a sentence, unless it is already there. */
gboolean fab_samples_add_note (FabSamples *self, const char *note, GError **error);

/* Return what is printed: "key", "value", "key", "value", ...; and the notes. NULL-ended. (transfer full) */
char **fab_samples_machine (FabSamples *self, GError **error);
char **fab_samples_notes (FabSamples *self, GError **error);
