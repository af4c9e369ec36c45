/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - runs of a results file as traces: what the writers share.
 *
 * A writer reads the store row by row and writes event by event; what it keeps is one iteration at most. Times in a
 * trace are microseconds with three decimals (whole ns); each end of a span is rounded by itself, so that what
 * touches in the run touches in the trace.
 */
#pragma once

#include <stdio.h>

#include "sim/result/store.h"

/* Where a trace goes. A plain file is replaced whole or not at all; "-" is standard output. */
typedef struct {
  FILE *stream;
  char *path, *part; /* `part` is renamed to `path` at the end; NULL: written directly */
  GString *event;    /* being built */
  guint64 n_events, n_bytes;
  gboolean has_member, in_args;
} FabTraceFile;

gboolean fab_trace_file_open (FabTraceFile *self, const char *path, GError **error);
/* FALSE when not all of it could be written: then `path` is as it was. */
gboolean fab_trace_file_close (FabTraceFile *self, GError **error);
/* Gives up: `path` stays as it was. Nothing after fab_trace_file_close. */
void fab_trace_file_abandon (FabTraceFile *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FabTraceFile, fab_trace_file_abandon)

/* Text between events: heads and tails. */
void fab_trace_raw (FabTraceFile *self, const char *text);

/* An event: begin, members, perhaps args and their members, end. `phase` is a letter of the Trace Event Format;
 * `category` may be NULL. */
void fab_trace_begin (FabTraceFile *self, char phase, const char *category, const char *name, gint64 process,
                      gint64 thread, FabTimePs time_ps);
void fab_trace_args (FabTraceFile *self);
void fab_trace_text (FabTraceFile *self, const char *key, const char *value); /* NULL: left out */
void fab_trace_whole (FabTraceFile *self, const char *key, gint64 value);
void fab_trace_real (FabTraceFile *self, const char *key, double value);
/* Microseconds with three decimals; the difference of two rounded ends. */
void fab_trace_lasts (FabTraceFile *self, FabTimePs start_ps, FabTimePs end_ps);
void fab_trace_end (FabTraceFile *self);

/* What is exported. */
typedef struct {
  const char *db; /* for messages */
  FabStore *store;
  gint64 run_id;
  gint64 first, last;         /* iterations */
  FabTimePs start_ps, end_ps; /* of `first` and of `last` */
  char *name, *version;       /* of the run, of the program that played it */
  guint n_ranks, n_nodes;
  GArray *classes; /* FabTraceClass, by number */
} FabTraceSource;

typedef struct {
  guint rank_class, first_rank, n_ranks;
  char *name; /* NULL: it has none */
} FabTraceClass;

typedef struct {
  guint iteration, rank_class;
  const char *kind, *stream, *name; /* until the callback returns */
  FabTimePs start_ps, end_ps;
  gint64 collective; /* -1: none, and nothing below holds */
  const char *op, *algorithm, *protocol, *binding_link, *dimension, *data_type;
  gint64 n_channels, n_ranks, bytes;
  FabTimePs wait_ps, exposed_ps;
  double algbw_bytes_per_s, busbw_bytes_per_s;
} FabTraceSpan;

typedef void (*FabTraceSpanFunc) (const FabTraceSpan *span, gpointer data);
typedef void (*FabTraceIterationFunc) (const FabIterationRecord *times, gpointer data);

/* `run_id` 0: the last run; `first` -1: every iteration. */
gboolean fab_trace_source_open (FabTraceSource *self, const char *db, gint64 run_id, gint64 first,
                                gint64 last, GError **error);
void fab_trace_source_clear (FabTraceSource *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FabTraceSource, fab_trace_source_clear)

/* Every span that reaches into [start, end), as recorded; one without a duration, when it is of an iteration there.
 * `rank_class` -1: of all classes. */
gboolean fab_trace_each_span (const FabTraceSource *self, gint64 rank_class, FabTraceSpanFunc on_span,
                              gpointer data, GError **error);
/* Every iteration of every class, of `rank_class` unless it is -1. */
gboolean fab_trace_each_iteration (const FabTraceSource *self, gint64 rank_class,
                                   FabTraceIterationFunc on_iteration, gpointer data, GError **error);
/* The results file may be of a program that recorded less. `column` NULL: the table. */
gboolean fab_trace_has (const FabTraceSource *self, const char *table, const char *column);

/* The formats. */
gboolean fab_trace_write_chrome (const FabTraceSource *source, const char *path, GError **error);
gboolean fab_trace_write_counters (const FabTraceSource *source, FabTraceFile *file, gint64 process,
                                   GError **error);

typedef struct {
  const char *ranks;     /* "0,8"; NULL: the first of each class */
  gboolean with_waiting; /* a collective's kernel begins when its own rank arrives */
} FabKinetoOptions;

/* One file rank-N.json per rank in `directory`, which is made when missing. */
gboolean fab_trace_write_kineto (const FabTraceSource *source, const char *directory,
                                 const FabKinetoOptions *options, GError **error);

/* Whose files are written (trace_ranks.c). */
typedef struct {
  guint rank, rank_class;
} FabTraceRank;

/* FabTraceRank of each number in `list` ("0,8"), of the first rank of every class for NULL; NULL and *error for
 * what is no number, no rank, or of a class that the results file does not tell. */
GArray *fab_trace_ranks (const FabTraceSource *source, const char *list, GError **error);
/* FALSE and *error when the folder holds other traces too: HTA reads all that is there. */
gboolean fab_trace_ranks_alone (const GArray *ranks, const char *directory, GError **error);

/* What NCCL and PyTorch call a collective (trace_nccl.c). (transfer full) */
char *fab_trace_nccl_kernel (const FabTraceSpan *span);
/* The members of args that PyTorch's record_param_comms has. */
void fab_trace_param_comms (FabTraceFile *file, const FabTraceSpan *span);
