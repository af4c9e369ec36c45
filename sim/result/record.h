/* SPDX-License-Identifier: Apache-2.0 */
/* record.h - what a run records, as plain structs. The store writes them, exports print them.
 *
 * Times are ps since the start of the run; intervals are half open. `class` is a rank class:
 * ranks that do the same thing at the same time are one class with a multiplicity.
 */
#pragma once

#include "sim/base/units.h"

#define FAB_RECORD_NO_LINK G_MAXUINT

typedef struct {
  const char *name;          /* of the scenario */
  const char *scenario_yaml; /* resolved */
  const char *version;       /* of the program */
  const char *fidelity;
  gint64 seed;
  guint n_ranks;
  guint n_nodes;
  double peak_flops_per_s; /* of one accelerator, for MFU; 0 when the job computes nothing */
  FabBytes memory_bytes;   /* of one accelerator; 0: not known */
  double train_tokens;     /* of the whole training; 0: not said */
} FabRunRecord;

/* One thing that a sweep varies; of several keys that move together "a & b", and values "1 & 2". */
typedef struct {
  const char *key;
  const char *const *values; /* NULL-ended */
} FabSweepAxisRecord;

typedef struct {
  const char *name, *summary; /* of the scenario; summary may be NULL */
  const char *scenario_yaml;  /* resolved, before anything varies */
  const char *version;        /* of the program */
  const char *fingerprint;    /* of all that its points depend on: what is the same sweep */
  const FabSweepAxisRecord *axes;
  guint n_axes;
  gint64 n_points; /* product of the axes' values */
} FabSweepRecord;

/* One point of a sweep. What is not known is NAN, FAB_RECORD_UNKNOWN or NULL, and NULL in the table. */
#define FAB_RECORD_UNKNOWN G_MININT64
typedef struct {
  gint64 point;         /* mixed-radix index of the axes' items, the last axis fastest */
  const char *settings; /* "cluster.nodes=4 job.micro_batch=2" */
  double step_s, compute_s, comm_s, overlapped_s, exposed_s, idle_s;
  double mfu_fraction, tokens_per_s, train_s;
  gint64 memory_bytes, memory_max_bytes, n_ranks, n_nodes;
  const char *binding, *binding_spec;
  double binding_fraction;
  double capex_usd, network_usd, power_watts, network_watts;
  double usd_per_hour, usd_per_step, usd_per_million_tokens, train_usd, step_joules, train_joules;
  const char *problem; /* why it could not be played */
} FabSweepPointRecord;

typedef enum { FAB_SWEEP_REAL, FAB_SWEEP_WHOLE, FAB_SWEEP_TEXT } FabSweepColumnKind;

/* What the table has of a FabSweepPointRecord, in its order, after sweep_id. */
typedef struct {
  const char *name;
  FabSweepColumnKind kind;
  gsize offset;
} FabSweepColumn;

extern const FabSweepColumn fab_sweep_columns[]; /* ended by a row without name */

typedef struct {
  guint rank_class;
  guint first_rank;
  guint n_ranks;
  const char *name; /* "stage 3"; owned by the DAG */
} FabRankClassRecord;

/* On merged intervals of one rank class within [start, start + duration):
 * exposed = comm - overlapped; idle = duration - (compute + comm - overlapped). */
typedef struct {
  guint iteration; /* from 0 */
  guint rank_class;
  FabTimePs start_ps;
  FabTimePs duration_ps;
  FabTimePs compute_ps;
  FabTimePs comm_ps;
  FabTimePs overlapped_ps;
  FabTimePs exposed_ps;
  FabTimePs idle_ps;
} FabIterationRecord;

/* Of the whole job, mean over ranks; times as in FabIterationRecord. */
typedef struct {
  FabIterationRecord times; /* rank_class is 0 */
  double mfu_fraction;      /* model FLOPs (no recomputation) over peak x duration */
  double hfu_fraction;      /* executed FLOPs over peak x duration */
  double tokens_per_s;      /* of the whole job */
} FabStepRecord;

typedef enum { FAB_SPAN_COMPUTE, FAB_SPAN_COMM, FAB_SPAN_LOAD, FAB_SPAN_WAIT } FabSpanKind;

/* One task on one stream of one rank class. */
typedef struct {
  guint iteration;
  guint rank_class;
  FabSpanKind kind;   /* WAIT: a collective waiting for its last rank to arrive */
  const char *stream; /* "compute", "comm", "loader"; static or owned by the DAG */
  const char *name;   /* "forward layer3", "all_reduce bucket2"; owned by the DAG */
  FabTimePs start_ps;
  FabTimePs end_ps;
  gint32 collective; /* index of the FabCollectiveRecord in the same iteration, or -1 */
} FabSpanRecord;

typedef struct {
  guint iteration;
  guint index;           /* in the iteration */
  const char *name;      /* "bucket2" */
  const char *op;        /* "all_reduce" */
  const char *dimension; /* of parallelism: "data" */
  const char *algorithm; /* "ring"; NULL: none, as for send/recv */
  const char *protocol;  /* "simple"; NULL: none */
  guint n_channels;
  guint n_ranks;
  FabBytes bytes;     /* size as nccl-tests counts it */
  FabTimePs ready_ps; /* first rank arrived */
  FabTimePs start_ps; /* last rank arrived */
  FabTimePs end_ps;
  FabTimePs exposed_ps;     /* part of [start, end) in which no compute ran, mean over ranks */
  double algbw_bytes_per_s; /* bytes / (end - start) */
  double busbw_bytes_per_s; /* algbw x the nccl-tests factor of the operation */
  guint binding_link; /* the link that sets its rate when nothing else moves: index of a FabLinkRecord, or
                             * FAB_RECORD_NO_LINK */
} FabCollectiveRecord;

typedef struct {
  guint link;                         /* index */
  const char *from, *to;              /* "node0/gpu3", "leaf0" */
  const char *spec;                   /* "nvlink3" */
  guint count;                        /* parallel links in this edge */
  FabBytesPerS line_rate_bytes_per_s; /* one direction, after coding */
  FabTimePs latency_ps;
} FabLinkRecord;

/* What a rank class said in one dimension by one operation; exposed_ps adds up to that of the class. */
typedef struct {
  guint iteration;
  guint rank_class;
  const char *dimension; /* "data" */
  const char *op;        /* "all_reduce" */
  guint n_collectives;   /* of the iteration's tasks; times are those within its start and end */
  FabBytes bytes;        /* sizes of them, as nccl-tests counts */
  FabTimePs comm_ps;
  FabTimePs exposed_ps; /* dimensions that communicate at once share it */
} FabExposureRecord;

/* What the iteration waited for: spans that follow one another without a hole from its start to its end. */
typedef struct {
  guint iteration;
  guint place; /* from 0 */
  guint rank_class;
  const char *stream;
  FabSpanKind kind; /* never WAIT */
  const char *name;
  FabTimePs start_ps; /* of the part within the iteration */
  FabTimePs end_ps;
  gint32 collective;  /* as in FabSpanRecord */
  guint binding_link; /* of the collective, or FAB_RECORD_NO_LINK */
} FabPathRecord;

/* Mean rate over a link while nothing begins or ends on it; payload. */
typedef struct {
  guint iteration;
  guint link;
  FabTimePs start_ps;
  FabTimePs end_ps;
  double bytes_per_s;
} FabLinkSampleRecord;

/* Memory of one rank of a class. */
typedef struct {
  guint rank_class;
  const char *part; /* "optimizer" */
  FabBytes bytes;
} FabMemoryRecord;

/* Traffic of one link in one iteration; links that carried nothing have no row. */
typedef struct {
  guint iteration;
  guint link;
  FabBytes bytes;       /* payload */
  double busy_fraction; /* line bytes, headers and stalls included, over line rate x duration */
} FabLinkLoadRecord;

/* What waited for one link in the whole run, where the network has queues; links to which nothing came have no row. */
typedef struct {
  guint link;
  FabBytes carried_bytes; /* payload, what was sent again too */
  FabBytes most_bytes;    /* that waited at once */
  double mean_bytes;      /* over the run */
  guint64 n_stalls;       /* times that the far end had no room */
  guint64 n_marks;        /* packets marked */
  guint64 n_pauses;       /* times that the far end stopped it */
  guint64 n_drops;        /* packets lost in front of it */
} FabLinkQueueRecord;
