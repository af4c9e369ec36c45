/* SPDX-License-Identifier: Apache-2.0 */
/* series.h - measurements as series of points; a point is a message size and its times.
 *
 * Measurements have this form whether `fabricast measure` took them or `fabricast import` read them from another
 * tool's output. A time is always that of one message (or one collective) in one direction, in ps; rates are size /
 * time. `kind` says how the message is sent.
 */
#pragma once

#include <glib.h>

#include "sim/base/units.h"

typedef enum {
  FAB_MEASURE_LATENCY,   /* one message alone: half a round trip */
  FAB_MEASURE_BANDWIDTH, /* `window` messages in flight in one direction: time between two of them */
  FAB_MEASURE_EXCHANGE,  /* both ends send one message and wait for the other's: time until both have it */
  FAB_MEASURE_BIDIRECTIONAL, /* `window` messages in flight each way: time between two of one direction */
  FAB_MEASURE_COLLECTIVE, /* `op` over n_ranks, size as in sim/collective/collective.h: time of the slowest rank */
  /* Kernels of a GPU; points have no meaning for a link. Time of one of those that are queued back to back. */
  FAB_MEASURE_PRODUCT,      /* `shape` m x n x k in `precision`; size: bytes of its matrices */
  FAB_MEASURE_MEMORY_BOUND, /* `op` that only moves memory; size: bytes read and written */
  FAB_MEASURE_COPY,         /* by a copy engine; size: bytes copied */
  FAB_MEASURE_LAUNCH, /* of a kernel that does nothing; `method` held: on the GPU, issued: by the host; size 1 */
  FAB_MEASURE_ATTENTION, /* `op` forward or backward, `shape`, `precision`; size: bytes of its tensors */
  FAB_N_MEASURE_KINDS,
} FabMeasureKind;

extern const char *const fab_measure_kind_names[]; /* "latency", "bandwidth", ...; NULL-ended */

/* What was measured, and between which ends. The series owns the texts; NULL means unknown or not applicable. */
typedef struct {
  FabMeasureKind kind;
  char *backend;     /* "tcp", "cuda", ...; for imports the format: "perftest" */
  char *system;      /* the machine in words; equal texts mean the same machine */
  char *from, *to;   /* "gpu0", "host", "mlx5_0:1@10.9.0.1" */
  char *from_memory; /* "host", "pageable", "gpu" */
  char *to_memory;
  char *method;    /* "copy", "kernel", "write", "read", "send", "sockets", "tagged" */
  char *op;        /* for COLLECTIVE: a name of fab_op_names; of a kernel, what it does */
  char *algorithm; /* for COLLECTIVE: "ring", "binomial", as requested; NULL: the library's choice */
  char *precision; /* of PRODUCT and ATTENTION: "bf16", "fp16", "tf32", "fp8" */
  /* Of PRODUCT: m, n and k, "4096x14336x4096"; of ATTENTION: batch, heads, heads of keys, sequence and head size,
   * "2x32x8x4096x128". */
  char *shape;
  char *source; /* of imports: file, repository; NULL: measured here */
  char *note;
  guint n_ranks;       /* number of ends: 2, or those of a collective */
  guint n_pairs;       /* pairs of ends that run at the same time: usually 1 */
  guint window;        /* messages in flight; 0: unknown */
  guint n_queue_pairs; /* 0: not applicable */
  guint mtu_bytes;     /* 0: unknown */
} FabSeries;

/* The names of FabSeries' members in the file, in CSV and in JSON; each list ends with a NULL name. */
typedef struct {
  const char *name;
  gsize offset;
} FabSeriesField;

extern const FabSeriesField fab_series_texts[];  /* char * */
extern const FabSeriesField fab_series_counts[]; /* guint */

/* Times of one size. `time_ps` is the median where single samples are known. */
typedef struct {
  FabBytes size_bytes;
  FabTimePs time_ps;
  FabTimePs low_ps, high_ps;                /* 95 % confidence interval of the median; 0, 0: unknown */
  FabTimePs min_ps, p05_ps, p95_ps, max_ps; /* 0: unknown */
  guint n_samples;                          /* 0: unknown */
  guint n_outliers;     /* farther than 3 scaled median absolute deviations from the median */
  gboolean is_complete; /* FALSE: a limit was reached before the median was precise enough */
} FabMeasuredPoint;

/* A series and its points, sizes ascending. */
typedef struct {
  FabSeries series;
  GArray *points; /* FabMeasuredPoint */
} FabMeasuredSeries;

FabMeasuredSeries *fab_measured_series_new (const FabSeries *series); /* copies; no points yet */
void fab_measured_series_free (gpointer self);

/* Returns all members that tell a series from another as one line; measuring is resumed by this key. (transfer
 * full) */
char *fab_series_key (const FabSeries *series);

/* Returns a title for people: "tcp latency, 10.9.0.1 to 10.9.0.2, sockets". (transfer full) */
char *fab_series_title (const FabSeries *series);

/* Says whether it is a kind of kernels, which no link is fitted to. */
static inline gboolean
fab_measure_kind_is_kernel (FabMeasureKind kind)
{
  return kind >= FAB_MEASURE_PRODUCT;
}

/* Reads "4096x14336x4096" into `n` numbers, each from 1 to 2^40; FALSE: it has another form. */
gboolean fab_series_read_shape (const char *shape, guint n, double numbers[]);

/* Finds `name` in fab_measure_kind_names; FALSE: no such kind. */
gboolean fab_measure_kind_find (const char *name, FabMeasureKind *kind);

void fab_series_copy (FabSeries *to, const FabSeries *from);
void fab_series_clear (FabSeries *series);

/* Returns the payload rate of one direction in bytes per second: size / time. */
double fab_point_rate (const FabMeasuredPoint *point);

/* What a text with measurements becomes. */
typedef struct {
  const char *format;
  GPtrArray *series; /* FabMeasuredSeries, at least one; each has points, sizes ascending */
  GPtrArray *notes;  /* FabFileNote: what the text has and the series lack */
} FabMeasurements;

void fab_measurements_free (FabMeasurements *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabMeasurements, fab_measurements_free)
