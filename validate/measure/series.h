/* SPDX-License-Identifier: Apache-2.0 */
/* series.h - what was measured: series of points, a point being one message size and its times.
 *
 * The one form of a measurement, whether `fabricast measure` made it or another tool printed it and `fabricast
 * import` read it. A time is always that of ONE message (or one collective), in ps, one direction: rates are
 * size / time. Which message is meant, `kind` says.
 */
#pragma once

#include <glib.h>

#include "sim/base/units.h"

typedef enum {
  FAB_MEASURE_LATENCY,   /* one message alone: half a round trip */
  FAB_MEASURE_BANDWIDTH, /* `window` messages under way in one direction: time between two of them */
  FAB_MEASURE_EXCHANGE, /* both ends send one message and wait for the other's: from start to the later end */
  FAB_MEASURE_BIDIRECTIONAL, /* `window` messages under way each way: time between two of one direction */
  FAB_MEASURE_COLLECTIVE, /* `op` over n_ranks, size as in sim/work/collective.h: time of the slowest rank */
  FAB_N_MEASURE_KINDS,
} FabMeasureKind;

extern const char *const fab_measure_kind_names[]; /* "latency", "bandwidth", ...; NULL-ended */

/* What was measured between what. Texts are owned; NULL means not known or not applicable. */
typedef struct {
  FabMeasureKind kind;
  char *backend;     /* "tcp", "cuda", ...; of an import the format: "perftest" */
  char *system;      /* the machine in words; equal texts are the same machine */
  char *from, *to;   /* "gpu0", "host", "mlx5_0:1@10.9.0.1" */
  char *from_memory; /* "host", "pageable", "gpu" */
  char *to_memory;
  char *method;    /* "copy", "kernel", "write", "read", "send", "sockets", "tagged" */
  char *op;        /* COLLECTIVE: a name of fab_op_names */
  char *algorithm; /* COLLECTIVE: "ring", "binomial", as it was asked for; NULL: the library's choice */
  char *source;    /* imports: file, repository; NULL: measured here */
  char *note;
  guint n_ranks;       /* ends that take part: 2, or those of a collective */
  guint n_pairs;       /* pairs that run at the same time: 1 */
  guint window;        /* messages under way; 0: not known */
  guint n_queue_pairs; /* 0: not applicable */
  guint mtu_bytes;     /* 0: not known */
} FabSeries;

/* The members of FabSeries by the names that they have in the file, in CSV and in JSON; ended by a NULL name. */
typedef struct {
  const char *name;
  gsize offset;
} FabSeriesField;

extern const FabSeriesField fab_series_texts[];  /* char * */
extern const FabSeriesField fab_series_counts[]; /* guint */

/* Times of one size. Where single samples are known, `time_ps` is their median. */
typedef struct {
  FabBytes size_bytes;
  FabTimePs time_ps;
  FabTimePs low_ps, high_ps;                /* 95 % confidence interval of the median; 0, 0: not known */
  FabTimePs min_ps, p05_ps, p95_ps, max_ps; /* 0: not known */
  guint n_samples;                          /* 0: not known */
  guint n_outliers;     /* farther than 3 scaled median absolute deviations from the median */
  gboolean is_complete; /* FALSE: a limit ended it before it was precise enough */
} FabMeasuredPoint;

/* A series and its points, sizes ascending. */
typedef struct {
  FabSeries series;
  GArray *points; /* FabMeasuredPoint */
} FabMeasuredSeries;

FabMeasuredSeries *fab_measured_series_new (const FabSeries *series); /* copies; no points yet */
void fab_measured_series_free (gpointer self);

/* All that tells a series from another, as one line: the key by which measuring is resumed. (transfer full) */
char *fab_series_key (const FabSeries *series);

/* For people: "tcp latency, 10.9.0.1 to 10.9.0.2, sockets". (transfer full) */
char *fab_series_title (const FabSeries *series);

/* `name` as one of fab_measure_kind_names; FALSE: no such kind. */
gboolean fab_measure_kind_find (const char *name, FabMeasureKind *kind);

void fab_series_copy (FabSeries *to, const FabSeries *from);
void fab_series_clear (FabSeries *series);

/* Payload rate of one direction in bytes per second: size / time. */
double fab_point_rate (const FabMeasuredPoint *point);
