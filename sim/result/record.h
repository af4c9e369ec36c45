/* SPDX-License-Identifier: Apache-2.0 */
/* record.h - the records of a run as plain structs. The store writes them, exports print them.
 *
 * Times are ps since the start of the run; intervals are half open. `class` is a rank class: ranks that do the same
 * thing at the same time are one class with a multiplicity.
 */
#pragma once

#include "sim/base/units.h"

#define FAB_RECORD_NO_LINK G_MAXUINT

typedef struct {
  const char *name;          /* of the scenario */
  const char *scenario_yaml; /* the resolved scenario */
  const char *version;       /* of the program */
  const char *fidelity;
  gint64 seed;
  guint n_ranks;
  guint n_nodes;
  double peak_flops_per_s; /* of one accelerator, for MFU; 0 when the job computes nothing */
  FabBytes memory_bytes;   /* of one accelerator; 0: unknown */
  double train_tokens;     /* of the whole training; 0: not given */
} FabRunRecord;

/* One thing that a sweep varies. Keys that change together are written "a & b", and their values "1 & 2". */
typedef struct {
  const char *key;
  const char *const *values; /* NULL-ended */
} FabSweepAxisRecord;

typedef struct {
  const char *name, *summary; /* of the scenario; summary may be NULL */
  const char *scenario_yaml;  /* the resolved scenario before anything varies */
  const char *version;        /* of the program */
  /* hash of everything that the points depend on; equal fingerprints mean the same sweep */
  const char *fingerprint;
  const FabSweepAxisRecord *axes;
  guint n_axes;
  gint64 n_points; /* product of the numbers of values of all axes */
} FabSweepRecord;

/* Figures of a point, of its last iteration and as means over ranks. A point in memory (sim/study/point.h) and its row
 * in a file have them alike, but for one thing: in memory 0 means that a figure does not apply, and the row then says
 * NULL where its column allows it (zero_is_null of columns.h). */
#define FAB_POINT_FIGURES                                                              \
  double step_s, compute_s, comm_s, overlapped_s, exposed_s, idle_s;                   \
  double waiting_s;            /* part of idle_s: for the last rank of a collective */ \
  double exposed_inter_node_s; /* part of exposed_s */                                 \
  double mfu_fraction, tokens_per_s;                                                   \
  double train_s;          /* of the whole training */                                 \
  double binding_fraction; /* share of the communication of which the binding link is the slowest */

typedef struct {
  FAB_POINT_FIGURES
} FabPointFigures;

/* One point of a sweep. An unknown value is NAN, FAB_RECORD_UNKNOWN or NULL here, and NULL in the table. */
#define FAB_RECORD_UNKNOWN G_MININT64
typedef struct {
  gint64 point;         /* mixed-radix index of the axes' values; the last axis changes fastest */
  const char *settings; /* "cluster.nodes=4 job.micro_batch=2" */
  union {
    FabPointFigures figures;
    struct {
      FAB_POINT_FIGURES
    };
  };
  gint64 memory_bytes, memory_max_bytes, n_ranks, n_nodes;
  const char *binding_link, *binding_link_spec;
  double capex_usd, network_usd, power_watts, network_watts;
  double usd_per_hour, usd_per_step, usd_per_million_tokens, train_usd, step_joules, train_joules;
  /* By dimension of parallelism. */
  double exposed_data_s, exposed_tensor_s, exposed_context_s, exposed_expert_s, exposed_pipeline_s,
      exposed_offload_s, exposed_other_s;
  gint64 n_seeds; /* the figures are those of the seed with the median step */
  /* Of each seed, in seconds, with blanks between; NULL: one seed. */
  const char *seed_steps, *seed_exposed;
  double ettr_fraction, goodput_tokens_per_s, calendar_s, lost_gpu_hours;
  gint64 global_batch; /* sequences of a step */
  const char *problem; /* why the point could not be simulated */
  const char *verdict; /* codes of its findings: "does_not_fit;waits_for_network" */
  const char *choices; /* what the library chose for its collectives (sim/study/choices.h) */
} FabSweepPointRecord;

typedef struct {
  guint rank_class;
  guint first_rank;
  guint n_ranks;
  const char *name; /* "stage 3"; owned by the DAG */
} FabRankClassRecord;

/* Times are of merged intervals of one rank class within [start, start + duration): exposed = comm - overlapped; idle
 * = duration - (compute + comm - overlapped); sim/execution/account.h says what waiting is. */
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
  FabTimePs waiting_ps;            /* part of idle_ps: a collective waits for its last rank */
  FabTimePs exposed_inter_node_ps; /* part of exposed_ps: of collectives that cross nodes */
} FabIterationRecord;

/* A step of the whole job, as means over ranks; times as in FabIterationRecord. */
typedef struct {
  FabIterationRecord times; /* rank_class is 0 */
  double mfu_fraction;      /* model FLOPs (without recomputation) over peak x duration */
  double hfu_fraction;      /* executed FLOPs over peak x duration */
  double tokens_per_s;      /* of the whole job */
} FabStepRecord;

typedef enum {
  FAB_SPAN_COMPUTE,
  FAB_SPAN_COMM,
  FAB_SPAN_LOAD,
  FAB_SPAN_WAIT,
  FAB_SPAN_ARRIVAL, /* time that passes until a flow arrives: nobody works, and nothing makes it shorter */
} FabSpanKind;

/* One task on one stream of one rank class. */
typedef struct {
  guint iteration;
  guint rank_class;
  FabSpanKind kind;   /* WAIT: the collective waits for its last rank; never ARRIVAL */
  const char *stream; /* "compute", "comm", "loader"; static or owned by the DAG */
  const char *name;   /* "forward layer3", "all_reduce bucket2"; owned by the DAG */
  FabTimePs start_ps;
  FabTimePs end_ps;
  gint32 collective; /* index of the FabCollectiveRecord in the same iteration, or -1 */
} FabSpanRecord;

typedef struct {
  guint iteration;
  guint index;           /* within the iteration */
  const char *name;      /* "bucket2" */
  const char *op;        /* "all_reduce" */
  const char *dimension; /* dimension of parallelism: "data" */
  const char *algorithm; /* "ring"; NULL: none, as for send/recv */
  const char *protocol;  /* "simple"; NULL: none */
  guint n_channels;
  guint n_ranks;
  FabBytes bytes;     /* size by the convention of nccl-tests */
  FabTimePs ready_ps; /* when the first rank arrived */
  FabTimePs start_ps; /* when the last rank arrived */
  FabTimePs end_ps;
  FabTimePs exposed_ps;     /* part of [start, end) during which nothing was computed, mean over ranks */
  double algbw_bytes_per_s; /* bytes / (end - start) */
  double busbw_bytes_per_s; /* algbw x the nccl-tests factor of the operation */
  /* The link that holds it back (sim/execution/contention.h): index of a FabLinkRecord, or FAB_RECORD_NO_LINK. */
  guint binding_link;
  guint
      waits_for_ends; /* 1: the ends and not that link set its pace: fab_collective_plan_waits_for_ends () */
  FabTimePs alone_ps; /* that it takes on an idle network: fab_collective_plan_idle_ps (); 0: not known */
} FabCollectiveRecord;

typedef struct {
  guint link;                         /* index */
  const char *from, *to;              /* "node0/gpu3", "leaf0" */
  const char *spec;                   /* "nvlink3" */
  guint count;                        /* number of parallel links */
  FabBytesPerS line_rate_bytes_per_s; /* one direction, after coding */
  FabTimePs latency_ps;
} FabLinkRecord;

/* What sets the pace of the last iteration's communication: the link that holds back most of its exposed time, or of
 * all its time where nothing is exposed. */
typedef struct {
  guint binding_link;           /* FAB_RECORD_NO_LINK: no link is crossed, and all else is 0 */
  double binding_fraction;      /* share of that time in which it is the slowest link */
  double binding_busy_fraction; /* share of the iteration in which it was busy */
  /* Share of the communication that is latency before bytes flow: no link's fault, and no faster link cures it. */
  double startup_fraction;
  double ends_fraction; /* share of that time in which the ends of collectives set the pace, and no link */
} FabPaceRecord;

/* Communication of one rank class in one dimension by one operation. The exposed_ps of all rows add up to that of the
 * class, and so do the exposed_inter_node_ps and the waiting_ps. */
typedef struct {
  guint iteration;
  guint rank_class;
  const char *dimension; /* "data" */
  const char *op;        /* "all_reduce" */
  guint n_collectives;   /* collectives of the iteration; times count only within its start and end */
  FabBytes bytes;        /* sum of their sizes by the convention of nccl-tests */
  FabTimePs comm_ps;
  FabTimePs exposed_ps;            /* dimensions that communicate at the same time share it */
  FabTimePs exposed_inter_node_ps; /* part of exposed_ps */
  FabTimePs waiting_ps;            /* for the last rank; shared likewise */
} FabExposureRecord;

/* The critical path of an iteration: spans that follow one another without a gap from its start to its end. */
typedef struct {
  guint iteration;
  guint place; /* position on the path, from 0 */
  guint rank_class;
  const char *stream;
  FabSpanKind kind; /* never WAIT */
  const char *name;
  FabTimePs start_ps; /* start of the part within the iteration */
  FabTimePs end_ps;
  gint32 collective;  /* as in FabSpanRecord */
  guint binding_link; /* of the collective, or FAB_RECORD_NO_LINK */
} FabPathRecord;

/* Mean payload rate of a link during an interval in which nothing begins or ends on it. */
typedef struct {
  guint iteration;
  guint link;
  FabTimePs start_ps;
  FabTimePs end_ps;
  double bytes_per_s;
} FabLinkSampleRecord;

/* Memory of one rank of a class, by part. */
typedef struct {
  guint rank_class;
  const char *part; /* "optimizer" */
  FabBytes bytes;
} FabMemoryRecord;

/* A finding of the verdict on a run (sim/verdict/verdict.h). */
typedef struct {
  const char *code, *severity; /* "does_not_fit", "stops" */
  const char *text;
  const char *advice; /* NULL: none */
} FabFindingRecord;

/* How much of the network's work a run at a fidelity that sends messages has played. */
typedef struct {
  guint64 n_collectives;            /* that have ended */
  guint64 n_collectives_remembered; /* of them, ended as they had ended before */
  guint64 n_episodes, n_episodes_remembered;
  guint64 n_replays; /* times that a remembered episode was played again, up to where it went on otherwise */
  guint64 n_events;  /* of the network, that were played */
  guint64 n_skipped; /* messages at `step`, else packets times links: of rounds that were not played */
} FabMemoRecord;

/* Bounds between which a figure of an iteration lies (sim/run/band.h). */
typedef struct {
  guint iteration;
  const char *figure; /* "step", "exposed" */
  double low_s, high_s;
  double coverage_fraction; /* of all cases lie between */
  const char *reason;       /* what most of it comes from; NULL: unknown */
} FabBandRecord;

/* The last iteration, played again with one change (sim/decision/bottleneck.h). */
typedef struct {
  guint place; /* 0: it saves most */
  const char *kind, *name, *change;
  guint limits; /* 1: it limits the step */
  double step_s, exposed_s, saved_fraction;
  guint n_seeds;
  const char *fidelity; /* that played it; NULL: the run's own */
  double base_step_s;   /* without the change, by that fidelity and these seeds; NAN: unknown */
} FabLeverRecord;

/* What failures leave of the whole training (sim/study/goodput.h); NAN: not known. */
typedef struct {
  const char *failures; /* entry of the catalogue */
  double ettr_fraction, goodput_fraction, goodput_tokens_per_s;
  double calendar_s, lost_gpu_hours;
  double stops_per_day, planned_per_day;
  double interval_s, blocking_s, background_s;
  double slowed_fraction, checkpoint_fraction, lost_fraction, down_fraction, planned_fraction,
      waiting_fraction;
} FabGoodputRecord;

/* Traffic of one link in one iteration. Links that carried nothing have no row. */
typedef struct {
  guint iteration;
  guint link;
  FabBytes bytes;       /* payload */
  double busy_fraction; /* line bytes (headers and stalls included) over line rate x duration */
} FabLinkLoadRecord;

/* What waited for one link during the whole run, for networks with queues. Links without traffic have no row. */
typedef struct {
  guint link;
  FabBytes carried_bytes; /* payload, including what was sent again */
  FabBytes most_bytes;    /* largest queue */
  double mean_bytes;      /* mean queue over the run */
  guint64 n_stalls;       /* number of times that the far end had no room */
  guint64 n_marks;        /* packets marked */
  guint64 n_pauses;       /* number of times that the far end paused the link */
  guint64 n_drops;        /* packets lost in front of the link */
} FabLinkQueueRecord;

/* How long the queues of all links of a kind were, as parts of the time, where the network notes it. */
typedef struct {
  const char *ports; /* "leaf -> nic" */
  guint n_links;     /* of that kind that packets reached */
  FabBytes p50_bytes, p90_bytes, p99_bytes, p99_9_bytes;
  FabBytes most_bytes;
  double mean_bytes;
  guint64 n_stalls, n_marks, n_pauses, n_drops; /* as in FabLinkQueueRecord, of all of them */
} FabQueueLengthRecord;
