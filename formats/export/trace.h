/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - writers of a run in a results file as a trace: for chrome://tracing and Perfetto, and as PyTorch's profiler
 * writes it (Kineto). */
#pragma once

#include "sim/result/store.h"

/* The run that is exported. */
typedef struct {
  const char *db; /* for messages */
  FabStore *store;
  gint64 run_id;
  gint64 first, last;         /* the exported iterations */
  FabTimePs start_ps, end_ps; /* start of `first` and end of `last` */
  char *name, *version;       /* name of the run; version of the program that ran it */
  guint n_ranks, n_nodes;
  GArray *classes; /* FabTraceClass, by number */
} FabTraceSource;

typedef struct {
  guint rank_class, first_rank, n_ranks;
  char *name; /* NULL: the class has no name */
} FabTraceClass;

typedef struct {
  guint iteration, rank_class;
  const char *kind, *stream, *name; /* valid until the callback returns */
  FabTimePs start_ps, end_ps;
  gint64 collective; /* -1: the span is no collective, and the members below are unset */
  const char *op, *algorithm, *protocol, *binding_link, *dimension;
  gint64 n_channels, n_ranks, bytes;
  FabTimePs wait_ps, exposed_ps;
  double algbw_bytes_per_s, busbw_bytes_per_s;
} FabTraceSpan;

typedef void (*FabTraceSpanFunc) (const FabTraceSpan *span, gpointer data);
typedef void (*FabTraceIterationFunc) (const FabIterationRecord *times, gpointer data);

/* Opens a run; `run_id` 0: the last one; `first` -1: every iteration. */
gboolean fab_trace_source_open (FabTraceSource *self, const char *db, gint64 run_id, gint64 first,
                                gint64 last, GError **error);
void fab_trace_source_clear (FabTraceSource *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FabTraceSource, fab_trace_source_clear)

/* Calls on_span for every span that overlaps [start, end), as recorded; a span without duration belongs to its
 * iteration. `rank_class` -1: of all classes. */
gboolean fab_trace_each_span (const FabTraceSource *self, gint64 rank_class, FabTraceSpanFunc on_span,
                              gpointer data, GError **error);

/* Calls on_iteration for every iteration of every class; of `rank_class` only, unless it is -1. */
gboolean fab_trace_each_iteration (const FabTraceSource *self, gint64 rank_class,
                                   FabTraceIterationFunc on_iteration, gpointer data, GError **error);

/* Write the formats. */
gboolean fab_trace_write_chrome (const FabTraceSource *source, const char *path, GError **error);

typedef struct {
  const char *ranks;     /* "0,8"; NULL: the first rank of each class */
  gboolean with_waiting; /* a collective's kernel begins when its own rank arrives */
  /* The algorithm as it stands in the names of NCCL's kernels ("RING"); `algorithm` may be NULL. */
  const char *(*kernel_algorithm) (const char *algorithm);
} FabKinetoOptions;

/* Writes a file rank-N.json per rank to `directory`, which is made when missing. */
gboolean fab_trace_write_kineto (const FabTraceSource *source, const char *directory,
                                 const FabKinetoOptions *options, GError **error);

/* A rank whose file is written. */
typedef struct {
  guint rank, rank_class;
} FabTraceRank;

/* Returns FabTraceRank for each number in `list` ("0,8"), or for the first rank of every class when it is NULL. NULL
 * and *error when an item is no number, no rank, or of a class that the results file lacks. (transfer full) */
GArray *fab_trace_ranks (const FabTraceSource *source, const char *list, GError **error);

/* FALSE and *error when the folder holds other traces too: HTA reads every trace in a folder. */
gboolean fab_trace_ranks_alone (const GArray *ranks, const char *directory, GError **error);
