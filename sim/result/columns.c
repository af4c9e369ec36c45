/* SPDX-License-Identifier: Apache-2.0 */
/* columns.c - the columns of all tables, in the order in which they stand in a file, and the SQL that makes them.
 *
 * Every table is STRICT and keyed by run (or sweep) first, so that one run is one contiguous range and a question
 * about it never reads another. Tables with keys of their own are WITHOUT ROWID: their key is their place.
 */
#include "sim/result/columns.h"

#include <math.h>

/* What the compiler compares a field with: a field of another type is a warning. */
#define FAB_FIELD_REAL double
#define FAB_FIELD_WHOLE gint64
#define FAB_FIELD_UNSIGNED guint64
#define FAB_FIELD_COUNT guint
#define FAB_FIELD_INDEX gint32
#define FAB_FIELD_TEXT const char *
#define FAB_FIELD_SPAN FabSpanKind

#define OFFSET(Record, field, Type) \
  (G_STRUCT_OFFSET (Record, field) + 0 * sizeof (&((Record *) 0)->field == (Type *) 0))
#define RENAMED(Record, name_, field, kind_) \
  .name = #name_, .kind = FAB_COLUMN_##kind_, .offset = OFFSET (Record, field, FAB_FIELD_##kind_)
#define COLUMN(Record, field, kind_) RENAMED (Record, field, field, kind_)

/* Where the time of an iteration goes; `in`: the path of these fields in the record, with its point. `is_same`: its
 * length is that of every row of the iteration. */
#define TIMES(Record, in, is_same)                                                                      \
  { RENAMED (Record, start_ps, in start_ps, WHOLE), .is_place = TRUE,                                   \
    .meaning = "Start of the iteration." },                                                             \
      { RENAMED (Record, step_ps, in duration_ps, WHOLE),                                               \
        .since = 11,                                                                                    \
        .former = "duration_ps",                                                                        \
        .check = "step_ps >= 0",                                                                        \
        .is_place = is_same,                                                                            \
        .meaning = "Length of the iteration." },                                                        \
      { RENAMED (Record, compute_ps, in compute_ps, WHOLE), .meaning = "Time in which a kernel ran." }, \
      { RENAMED (Record, comm_ps, in comm_ps, WHOLE),                                                   \
        .meaning = "Time in which a collective or a message was under way." },                          \
      { RENAMED (Record, overlapped_ps, in overlapped_ps, WHOLE),                                       \
        .meaning = "Time in which both happened." },                                                    \
      { RENAMED (Record, exposed_ps, in exposed_ps, WHOLE), .meaning = "`comm_ps - overlapped_ps`." },  \
      { RENAMED (Record, idle_ps, in idle_ps, WHOLE),                                                   \
        .meaning = "Time with neither: `step_ps - (compute_ps + comm_ps - overlapped_ps)`." },          \
      { RENAMED (Record, waiting_ps, in waiting_ps, WHOLE), .since = 5,                                 \
        .meaning = "The part of `idle_ps` in which a collective waited for its last rank." },           \
  {                                                                                                     \
    RENAMED (Record, exposed_inter_node_ps, in exposed_inter_node_ps, WHOLE),                           \
        .since = 5, .meaning = "The part of `exposed_ps` of collectives that cross nodes."              \
  }

#define OF_A_RUN "run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE"
#define OF_A_PART "run_id INTEGER NOT NULL" /* goes with what the keys name */
#define TO_ITERATION "FOREIGN KEY (run_id, iteration) REFERENCES iteration ON DELETE CASCADE"
#define TO_CLASS "FOREIGN KEY (run_id, rank_class) REFERENCES rank_class ON DELETE CASCADE"
#define TO_LINK "FOREIGN KEY (run_id, link) REFERENCES link (run_id, link)"
#define TO_BINDING_LINK "FOREIGN KEY (run_id, binding_link) REFERENCES link (run_id, link)"

#define TABLE(name_, Record, columns_) \
  .name = #name_, .columns = columns_, .n_columns = G_N_ELEMENTS (columns_), .row_size = sizeof (Record)

static const FabColumn run_columns[] = {
  { COLUMN (FabRunRecord, name, TEXT), .meaning = "The name of the scenario." },
  { COLUMN (FabRunRecord, scenario_yaml, TEXT),
    .meaning = "The resolved scenario. Simulating it again gives the same run." },
  { COLUMN (FabRunRecord, version, TEXT), .meaning = "The version of the program." },
  { COLUMN (FabRunRecord, fidelity, TEXT), .meaning = "The model of the network." },
  { COLUMN (FabRunRecord, seed, WHOLE) },
  { COLUMN (FabRunRecord, n_ranks, COUNT) },
  { COLUMN (FabRunRecord, n_nodes, COUNT) },
  { COLUMN (FabRunRecord, peak_flops_per_s, REAL),
    .meaning = "Peak rate of one accelerator; 0: the job computes nothing." },
  { COLUMN (FabRunRecord, memory_bytes, UNSIGNED), .since = 2,
    .meaning = "Memory of one accelerator; 0: not known." },
  { COLUMN (FabRunRecord, train_tokens, REAL), .since = 2,
    .meaning = "Tokens of the whole training; 0: the scenario does not say." },
};

static const FabColumn rank_class_columns[] = {
  { COLUMN (FabRankClassRecord, rank_class, COUNT) },
  { COLUMN (FabRankClassRecord, first_rank, COUNT), .meaning = "The lowest rank of the class." },
  { COLUMN (FabRankClassRecord, n_ranks, COUNT), .meaning = "Number of ranks in the class." },
  { COLUMN (FabRankClassRecord, name, TEXT), .since = 2, .meaning = "`stage 3`." },
};

static const FabColumn link_columns[] = {
  { COLUMN (FabLinkRecord, link, COUNT) },
  { RENAMED (FabLinkRecord, from_vertex, from, TEXT), .meaning = "`node0/gpu3`." },
  { RENAMED (FabLinkRecord, to_vertex, to, TEXT), .meaning = "`leaf0`." },
  { COLUMN (FabLinkRecord, spec, TEXT), .meaning = "The catalogue entry." },
  { RENAMED (FabLinkRecord, n_parallel, count, COUNT), .meaning = "Number of parallel links in the edge." },
  { COLUMN (FabLinkRecord, line_rate_bytes_per_s, UNSIGNED),
    .meaning = "Rate of one link in one direction, after line coding." },
  { COLUMN (FabLinkRecord, latency_ps, WHOLE) },
};

static const FabColumn iteration_columns[] = {
  { RENAMED (FabStepRecord, iteration, times.iteration, COUNT), .is_place = TRUE },
  TIMES (FabStepRecord, times., FALSE),
  { COLUMN (FabStepRecord, mfu_fraction, REAL), .meaning = "Model FLOPs divided by peak x duration." },
  { COLUMN (FabStepRecord, hfu_fraction, REAL), .meaning = "Executed FLOPs divided by peak x duration." },
  { COLUMN (FabStepRecord, tokens_per_s, REAL), .meaning = "Tokens per second of the whole job." },
};

static const FabColumn iteration_class_columns[] = {
  { COLUMN (FabIterationRecord, iteration, COUNT), .is_place = TRUE },
  { COLUMN (FabIterationRecord, rank_class, COUNT), .is_place = TRUE },
  TIMES (FabIterationRecord, , TRUE),
};

static const FabColumn collective_columns[] = {
  { COLUMN (FabCollectiveRecord, iteration, COUNT) },
  { RENAMED (FabCollectiveRecord, collective, index, COUNT), .meaning = "Counts from 0 in its iteration." },
  { COLUMN (FabCollectiveRecord, name, TEXT), .meaning = "`bucket2`." },
  { COLUMN (FabCollectiveRecord, op, TEXT), .meaning = "`all_reduce`." },
  { COLUMN (FabCollectiveRecord, dimension, TEXT), .since = 2, .before = "'other'",
    .meaning = "The dimension of parallelism whose ranks communicate: `data`, `tensor`, `context`, "
               "`expert`, `pipeline` or `other`." },
  { COLUMN (FabCollectiveRecord, algorithm, TEXT), .may_be_null = TRUE,
    .meaning = "`ring`; NULL: the operation has no algorithm, as `send_recv`." },
  { COLUMN (FabCollectiveRecord, protocol, TEXT), .may_be_null = TRUE,
    .meaning = "`simple`; NULL: the operation has no protocol." },
  { COLUMN (FabCollectiveRecord, n_channels, COUNT) },
  { COLUMN (FabCollectiveRecord, n_ranks, COUNT) },
  { COLUMN (FabCollectiveRecord, bytes, UNSIGNED),
    .meaning = "Size of the collective, as nccl-tests counts it." },
  { COLUMN (FabCollectiveRecord, ready_ps, WHOLE), .meaning = "Time at which the first rank arrived." },
  { COLUMN (FabCollectiveRecord, start_ps, WHOLE), .check = "start_ps >= ready_ps",
    .meaning = "Time at which the last rank arrived. `start_ps - ready_ps` is the wait for it." },
  { COLUMN (FabCollectiveRecord, end_ps, WHOLE), .check = "end_ps >= start_ps",
    .meaning = "Time at which the collective had ended on all ranks." },
  { COLUMN (FabCollectiveRecord, exposed_ps, WHOLE),
    .meaning = "The part of `start_ps` to `end_ps` in which no compute ran, mean over ranks." },
  { COLUMN (FabCollectiveRecord, algbw_bytes_per_s, REAL), .meaning = "`bytes / (end_ps - start_ps)`." },
  { COLUMN (FabCollectiveRecord, busbw_bytes_per_s, REAL),
    .meaning = "`algbw_bytes_per_s` times the factor of nccl-tests for the operation." },
  { COLUMN (FabCollectiveRecord, binding_link, COUNT), .may_be_null = TRUE,
    .meaning = "The slowest link of the collective; NULL: it crossed no link." },
  { COLUMN (FabCollectiveRecord, waits_for_ends, COUNT), .since = 6,
    .meaning =
        "1: the GPUs' thread blocks and copies or the library's protocol set the pace, and a faster link "
        "would not change it. 0: `binding_link` set the pace." },
  { COLUMN (FabCollectiveRecord, alone_ps, WHOLE), .since = 10, .before = "0",
    .meaning = "Time that it takes on an idle network; 0: not known. `(end_ps - start_ps) / alone_ps` is its "
               "slow-down." },
};

/* A span has no foreign key to its iteration or its collective, because spans that start early in the next iteration
 * (a prefetched load, or a pipeline stage that begins before the last one ends) are stored before that iteration. A
 * deferred key would work, but it makes SQLite search all spans at every new iteration: 24 s instead of 3 s for 2
 * million spans in 100 iterations. */
static const FabColumn span_columns[] = {
  { .name = "span", .kind = FAB_COLUMN_SERIAL, .meaning = "Counts from 0 in its run." },
  { COLUMN (FabSpanRecord, iteration, COUNT) },
  { COLUMN (FabSpanRecord, rank_class, COUNT) },
  { COLUMN (FabSpanRecord, kind, SPAN),
    .meaning = "`compute`, `comm`, `load`, or `wait`. In `wait`, a collective waits for its last rank." },
  { COLUMN (FabSpanRecord, stream, TEXT), .meaning = "`compute`, `comm`, `loader`." },
  { COLUMN (FabSpanRecord, name, TEXT), .meaning = "`forward layer3`." },
  { COLUMN (FabSpanRecord, start_ps, WHOLE) },
  { COLUMN (FabSpanRecord, end_ps, WHOLE), .check = "end_ps >= start_ps" },
  { COLUMN (FabSpanRecord, collective, INDEX), .may_be_null = TRUE,
    .meaning = "Collective of the same iteration; NULL: the task is not a collective." },
};

static const FabColumn link_load_columns[] = {
  { COLUMN (FabLinkLoadRecord, iteration, COUNT) },
  { COLUMN (FabLinkLoadRecord, link, COUNT) },
  { COLUMN (FabLinkLoadRecord, bytes, UNSIGNED), .meaning = "Payload." },
  { COLUMN (FabLinkLoadRecord, busy_fraction, REAL),
    .meaning = "Line bytes, with headers and stalls, divided by line rate x duration." },
};

static const FabColumn link_queue_columns[] = {
  { COLUMN (FabLinkQueueRecord, link, COUNT), .is_place = TRUE },
  { COLUMN (FabLinkQueueRecord, carried_bytes, UNSIGNED),
    .meaning = "Payload that the link carried. Packets that were lost further on and sent again count "
               "each time." },
  { RENAMED (FabLinkQueueRecord, most_queue_bytes, most_bytes, UNSIGNED),
    .meaning = "The most payload that waited in front of the link at one time. Bytes that a sender has "
               "not sent yet do not count." },
  { RENAMED (FabLinkQueueRecord, mean_queue_bytes, mean_bytes, REAL),
    .meaning = "Mean payload in the queue, from the start of the run to the end of its last iteration." },
  { COLUMN (FabLinkQueueRecord, n_stalls, UNSIGNED),
    .meaning = "How often packets waited although the wire was free, because the far end had no room or "
               "had paused the link." },
  { COLUMN (FabLinkQueueRecord, n_marks, UNSIGNED),
    .meaning = "Packets that were marked, by the length of the queue (`mark_at`)." },
  { COLUMN (FabLinkQueueRecord, n_pauses, UNSIGNED),
    .meaning = "How often the far end paused the link (PFC)." },
  { COLUMN (FabLinkQueueRecord, n_drops, UNSIGNED),
    .meaning = "Packets that were lost in front of the link." },
};

static const FabColumn queue_length_columns[] = {
  { COLUMN (FabQueueLengthRecord, ports, TEXT), .meaning = "What the links join: `leaf -> nic`." },
  { COLUMN (FabQueueLengthRecord, n_links, COUNT), .meaning = "Links of the kind that packets reached." },
  { COLUMN (FabQueueLengthRecord, p50_bytes, UNSIGNED),
    .meaning =
        "Length that a queue of the kind does not exceed for half of the time; at most 9 % too long." },
  { COLUMN (FabQueueLengthRecord, p90_bytes, UNSIGNED), .meaning = "The same for 90 % of the time." },
  { COLUMN (FabQueueLengthRecord, p99_bytes, UNSIGNED), .meaning = "The same for 99 % of the time." },
  { COLUMN (FabQueueLengthRecord, p99_9_bytes, UNSIGNED), .meaning = "The same for 99.9 % of the time." },
  { COLUMN (FabQueueLengthRecord, most_bytes, UNSIGNED), .meaning = "The longest queue." },
  { COLUMN (FabQueueLengthRecord, mean_bytes, REAL), .meaning = "The mean over links and time." },
  { COLUMN (FabQueueLengthRecord, n_stalls, UNSIGNED), .meaning = "As in `link_queue`, of all these links." },
  { COLUMN (FabQueueLengthRecord, n_marks, UNSIGNED), .meaning = "As in `link_queue`." },
  { COLUMN (FabQueueLengthRecord, n_pauses, UNSIGNED), .meaning = "As in `link_queue`." },
  { COLUMN (FabQueueLengthRecord, n_drops, UNSIGNED), .meaning = "As in `link_queue`." },
};

static const FabColumn exposure_columns[] = {
  { COLUMN (FabExposureRecord, iteration, COUNT) },
  { COLUMN (FabExposureRecord, rank_class, COUNT) },
  { COLUMN (FabExposureRecord, dimension, TEXT), .meaning = "As in `collective`." },
  { COLUMN (FabExposureRecord, op, TEXT) },
  { COLUMN (FabExposureRecord, n_collectives, COUNT),
    .meaning = "Collectives of the iteration in which the class takes part." },
  { COLUMN (FabExposureRecord, bytes, UNSIGNED),
    .meaning = "Sizes of these collectives, as nccl-tests counts them." },
  { COLUMN (FabExposureRecord, comm_ps, WHOLE),
    .meaning = "Time in which at least one of these collectives was under way, within the iteration." },
  { COLUMN (FabExposureRecord, exposed_ps, WHOLE),
    .meaning = "Share of these collectives in `iteration_class.exposed_ps`. The rows of a class add up "
               "to it exactly." },
  { COLUMN (FabExposureRecord, exposed_inter_node_ps, WHOLE), .since = 5,
    .meaning = "The part of `exposed_ps` of collectives that cross nodes." },
  { COLUMN (FabExposureRecord, waiting_ps, WHOLE), .since = 5,
    .meaning = "Idle time in which at least one of these collectives waited for its last rank. It is "
               "shared in the same way." },
};

static const FabColumn critical_path_columns[] = {
  { COLUMN (FabPathRecord, iteration, COUNT) },
  { COLUMN (FabPathRecord, place, COUNT), .meaning = "Counts from 0 in its iteration, in order of time." },
  { COLUMN (FabPathRecord, rank_class, COUNT) },
  { COLUMN (FabPathRecord, stream, TEXT) },
  { COLUMN (FabPathRecord, kind, SPAN),
    .meaning = "`compute`, `comm`, `load`, or `arrival`: time until a flow arrives." },
  { COLUMN (FabPathRecord, name, TEXT) },
  { COLUMN (FabPathRecord, start_ps, WHOLE), .meaning = "Time at which the row before it ends." },
  { COLUMN (FabPathRecord, end_ps, WHOLE), .check = "end_ps > start_ps" },
  { COLUMN (FabPathRecord, collective, INDEX), .may_be_null = TRUE, .meaning = "As in `span`." },
  { COLUMN (FabPathRecord, binding_link, COUNT), .may_be_null = TRUE,
    .meaning = "Binding link of the collective; NULL: no link set its rate." },
};

static const FabColumn link_sample_columns[] = {
  { COLUMN (FabLinkSampleRecord, iteration, COUNT) },
  { COLUMN (FabLinkSampleRecord, link, COUNT) },
  { COLUMN (FabLinkSampleRecord, start_ps, WHOLE) },
  { COLUMN (FabLinkSampleRecord, end_ps, WHOLE), .check = "end_ps > start_ps" },
  { COLUMN (FabLinkSampleRecord, bytes_per_s, REAL),
    .meaning = "Rate of payload. Each collective of the iteration counts with its mean rate from start "
               "to end." },
};

static const FabColumn memory_columns[] = {
  { COLUMN (FabMemoryRecord, rank_class, COUNT) },
  { COLUMN (FabMemoryRecord, part, TEXT), .meaning = "`parameters`, `gradients`, ..." },
  { COLUMN (FabMemoryRecord, bytes, UNSIGNED) },
};

static const FabColumn finding_columns[] = {
  { .name = "place", .kind = FAB_COLUMN_SERIAL, .meaning = "Counts from 0 in its run." },
  { COLUMN (FabFindingRecord, code, TEXT), .meaning = "`does_not_fit`, ... ([verdict](verdict.md))." },
  { COLUMN (FabFindingRecord, severity, TEXT), .meaning = "`stops`, `warns` or `notes`." },
  { COLUMN (FabFindingRecord, text, TEXT), .meaning = "The finding in words." },
  { COLUMN (FabFindingRecord, advice, TEXT), .may_be_null = TRUE,
    .meaning = "The remedy in words; NULL: there is none." },
};

static const FabColumn memo_columns[] = {
  { COLUMN (FabMemoRecord, n_collectives, UNSIGNED), .meaning = "Collectives that have ended." },
  { COLUMN (FabMemoRecord, n_collectives_remembered, UNSIGNED),
    .meaning = "Collectives whose times were taken from an earlier equal one instead of being simulated." },
  { COLUMN (FabMemoRecord, n_episodes, UNSIGNED),
    .meaning = "Episodes: spans of time in which the network was never idle." },
  { COLUMN (FabMemoRecord, n_episodes_remembered, UNSIGNED),
    .meaning = "Episodes of which nothing was simulated, because all of it was remembered." },
  { COLUMN (FabMemoRecord, n_replays, UNSIGNED),
    .meaning = "How often an episode was simulated again from its start, because it went on differently "
               "from the remembered one." },
  { COLUMN (FabMemoRecord, n_events, UNSIGNED), .meaning = "Events of the network that were simulated." },
  { COLUMN (FabMemoRecord, n_skipped, UNSIGNED), .since = 7,
    .meaning = "Work skipped because rounds of rings repeat: messages at `step`, packets times "
               "links at `packet`." },
};

static const FabColumn band_columns[] = {
  { COLUMN (FabBandRecord, iteration, COUNT) },
  { COLUMN (FabBandRecord, figure, TEXT), .meaning = "`step` or `exposed`." },
  { COLUMN (FabBandRecord, low_s, REAL), .meaning = "The lower bound." },
  { COLUMN (FabBandRecord, high_s, REAL), .meaning = "The upper bound." },
  { COLUMN (FabBandRecord, coverage_fraction, REAL),
    .meaning = "Share of cases that lie between the bounds, 0.9 or 0.95." },
  { COLUMN (FabBandRecord, reason, TEXT), .may_be_null = TRUE,
    .meaning = "The largest source of the width: `collectives (2 published measurements of port-200)`." },
};

static const FabColumn lever_columns[] = {
  { COLUMN (FabLeverRecord, place, COUNT), .meaning = "0 for the lever that shortens the step most." },
  { COLUMN (FabLeverRecord, kind, TEXT),
    .meaning =
        "`link`, `links`, `nics`, `channels`, `messages`, `latency`, `compute`, `memory`, `host`, `ranks` or "
        "`draws`." },
  { COLUMN (FabLeverRecord, name, TEXT),
    .meaning =
        "What is changed: `ib-ndr`, `ib-ndr at 100 Gb/s` (a rate that the scenario sets), `NICs`, `compute`." },
  { COLUMN (FabLeverRecord, change, TEXT), .meaning = "How it is changed: `every ib-ndr twice as fast`." },
  { COLUMN (FabLeverRecord, limits, COUNT),
    .meaning =
        "1: of all levers this one limits the step. No row has 1 where none alone shortens it by 1 %." },
  { COLUMN (FabLeverRecord, step_s, REAL),
    .meaning = "Step of the last iteration with the change; with several seeds, of the median one." },
  { COLUMN (FabLeverRecord, exposed_s, REAL),
    .meaning = "Exposed communication of the last iteration with the change." },
  { COLUMN (FabLeverRecord, saved_fraction, REAL),
    .meaning =
        "Share of the step that the change saves, the median over seeds; below 0: the step is longer." },
  { COLUMN (FabLeverRecord, n_seeds, COUNT), .meaning = "Number of seeds that were simulated." },
  { COLUMN (FabLeverRecord, fidelity, TEXT), .since = 12, .may_be_null = TRUE,
    .meaning =
        "`fluid`: the fidelity that simulated the change, where it is not the run's own; NULL: it is." },
  { COLUMN (FabLeverRecord, base_step_s, REAL), .since = 12, .may_be_null = TRUE,
    .meaning = "Step without the change at that fidelity; with several seeds, the median one." },
};

static const FabColumn goodput_columns[] = {
  { COLUMN (FabGoodputRecord, failures, TEXT), .meaning = "The set of rates: `meta-llama3`." },
  { COLUMN (FabGoodputRecord, ettr_fraction, REAL),
    .meaning = "Effective training time ratio: the share of the time in which work is done that is kept." },
  { COLUMN (FabGoodputRecord, goodput_fraction, REAL),
    .meaning = "The same at the speed of a machine without slow parts." },
  { COLUMN (FabGoodputRecord, goodput_tokens_per_s, REAL), .may_be_null = TRUE,
    .meaning = "Tokens per second of the calendar; NULL: the job has none." },
  { COLUMN (FabGoodputRecord, calendar_s, REAL), .may_be_null = TRUE,
    .meaning = "The whole training; NULL: its length is not known." },
  { COLUMN (FabGoodputRecord, lost_gpu_hours, REAL), .may_be_null = TRUE,
    .meaning = "GPU hours that it takes more than without failures." },
  { COLUMN (FabGoodputRecord, stops_per_day, REAL), .meaning = "Failures that stop the job." },
  { COLUMN (FabGoodputRecord, planned_per_day, REAL),
    .meaning = "Stops that somebody decides, for slow parts that were found too." },
  { COLUMN (FabGoodputRecord, interval_s, REAL), .may_be_null = TRUE,
    .meaning = "Computing time between checkpoints; NULL: none is worth its time." },
  { COLUMN (FabGoodputRecord, blocking_s, REAL), .meaning = "How long the job stands still for one." },
  { COLUMN (FabGoodputRecord, background_s, REAL), .meaning = "How long it is then written beside the job." },
  { COLUMN (FabGoodputRecord, slowed_fraction, REAL),
    .meaning = "Share of the time that slow parts and the traffic of checkpoints add." },
  { COLUMN (FabGoodputRecord, checkpoint_fraction, REAL), .meaning = "Standing still for checkpoints." },
  { COLUMN (FabGoodputRecord, lost_fraction, REAL), .meaning = "Work that failures undo." },
  { COLUMN (FabGoodputRecord, down_fraction, REAL), .meaning = "Detection and restart." },
  { COLUMN (FabGoodputRecord, planned_fraction, REAL), .meaning = "Planned stops." },
  { COLUMN (FabGoodputRecord, waiting_fraction, REAL), .meaning = "Waiting for a node to be repaired." },
};

static const FabColumn pace_columns[] = {
  { COLUMN (FabPaceRecord, binding_link, COUNT), .is_place = TRUE,
    .meaning = "The link that holds back most of the exposed communication." },
  { COLUMN (FabPaceRecord, binding_busy_fraction, REAL),
    .meaning = "Share of the iteration in which it was busy." },
  { COLUMN (FabPaceRecord, startup_fraction, REAL),
    .meaning = "Share of the communication that is latency before bytes flow." },
  { COLUMN (FabPaceRecord, ends_fraction, REAL),
    .meaning =
        "Share of the exposed communication in which the GPUs' thread blocks and copies or the library's "
        "protocol set the pace, and no link." },
  { COLUMN (FabPaceRecord, binding_fraction, REAL),
    .meaning = "Share of the exposed communication of which `binding_link` is the slowest link." },
};

static const FabColumn sweep_columns[] = {
  { COLUMN (FabSweepRecord, name, TEXT), .meaning = "The name of the scenario." },
  { COLUMN (FabSweepRecord, summary, TEXT), .may_be_null = TRUE,
    .meaning = "The summary of the scenario; NULL: it has none." },
  { COLUMN (FabSweepRecord, scenario_yaml, TEXT),
    .meaning = "The resolved scenario, before any axis is applied." },
  { COLUMN (FabSweepRecord, version, TEXT), .meaning = "The version of the program." },
  { COLUMN (FabSweepRecord, fingerprint, TEXT), .is_unique = TRUE,
    .meaning = "SHA-256 of all input of the points: the scenario, the files it includes, the catalogue, "
               "the settings, the axes and the version." },
  { COLUMN (FabSweepRecord, n_points, WHOLE), .meaning = "Number of points of the complete sweep." },
};

static const FabColumn sweep_axis_columns[] = {
  { COLUMN (FabSweepAxisRow, axis, COUNT) },
  { COLUMN (FabSweepAxisRow, key, TEXT),
    .meaning = "`cluster.nodes`, or `cluster.nodes & job.micro_batch` for keys that move together." },
};

static const FabColumn sweep_value_columns[] = {
  { COLUMN (FabSweepValueRow, axis, COUNT) },
  { COLUMN (FabSweepValueRow, item, COUNT) },
  { COLUMN (FabSweepValueRow, value, TEXT), .meaning = "`4`, or `4 & 2`." },
};

static const FabColumn sweep_point_columns[] = {
  { COLUMN (FabSweepPointRecord, point, WHOLE), .check = "point >= 0",
    .meaning = "Number of the point in the grid. The last axis varies fastest: with two axes the number "
               "is `item0 x (values of axis 1) + item1`." },
  { COLUMN (FabSweepPointRecord, settings, TEXT),
    .meaning = "The assignments of the point: `cluster.nodes=4 job.micro_batch=2`." },
  { COLUMN (FabSweepPointRecord, step_s, REAL), .may_be_null = TRUE,
    .meaning = "Duration of the last iteration, mean over ranks." },
  { COLUMN (FabSweepPointRecord, compute_s, REAL), .may_be_null = TRUE,
    .meaning = "The column of the same name of `iteration`; the next four too." },
  { COLUMN (FabSweepPointRecord, comm_s, REAL), .may_be_null = TRUE },
  { COLUMN (FabSweepPointRecord, overlapped_s, REAL), .may_be_null = TRUE },
  { COLUMN (FabSweepPointRecord, exposed_s, REAL), .may_be_null = TRUE },
  { COLUMN (FabSweepPointRecord, idle_s, REAL), .may_be_null = TRUE },
  { COLUMN (FabSweepPointRecord, mfu_fraction, REAL), .may_be_null = TRUE, .zero_is_null = TRUE,
    .meaning = "NULL: the job computes nothing." },
  { COLUMN (FabSweepPointRecord, tokens_per_s, REAL), .may_be_null = TRUE, .zero_is_null = TRUE,
    .meaning = "NULL: the job has no tokens." },
  { COLUMN (FabSweepPointRecord, train_s, REAL), .may_be_null = TRUE, .zero_is_null = TRUE,
    .meaning = "Time of the whole training; NULL: the job does not say how many tokens it has." },
  { COLUMN (FabSweepPointRecord, memory_bytes, WHOLE), .may_be_null = TRUE,
    .meaning = "Memory that the fullest rank needs; NULL: not known." },
  { COLUMN (FabSweepPointRecord, memory_max_bytes, WHOLE), .may_be_null = TRUE,
    .meaning = "Memory that a rank has; NULL: not known." },
  { COLUMN (FabSweepPointRecord, n_ranks, WHOLE), .may_be_null = TRUE },
  { COLUMN (FabSweepPointRecord, n_nodes, WHOLE), .may_be_null = TRUE },
  { COLUMN (FabSweepPointRecord, binding_link, TEXT), .since = 11, .former = "binding", .may_be_null = TRUE,
    .meaning = "The slowest link of most communication; NULL: no link is." },
  { COLUMN (FabSweepPointRecord, binding_link_spec, TEXT), .since = 11, .former = "binding_spec",
    .may_be_null = TRUE, .meaning = "The catalogue entry of that link." },
  { COLUMN (FabSweepPointRecord, binding_fraction, REAL), .may_be_null = TRUE, .zero_is_null = TRUE,
    .meaning = "Share of communication of which that link is the slowest." },
  { COLUMN (FabSweepPointRecord, capex_usd, REAL), .may_be_null = TRUE,
    .meaning = "Price of the whole machine; NULL: a part has no price ([cost](../how-to/cost.md))." },
  { COLUMN (FabSweepPointRecord, network_usd, REAL), .may_be_null = TRUE,
    .meaning = "The network's part of it." },
  { COLUMN (FabSweepPointRecord, power_watts, REAL), .may_be_null = TRUE,
    .meaning = "Power at the meter for the job's share of the machine; NULL: the watts of a part are not "
               "known." },
  { COLUMN (FabSweepPointRecord, network_watts, REAL), .may_be_null = TRUE,
    .meaning = "The network's part of it." },
  { COLUMN (FabSweepPointRecord, usd_per_hour, REAL), .may_be_null = TRUE,
    .meaning = "Cost of one hour of the job; NULL: not known." },
  { COLUMN (FabSweepPointRecord, usd_per_step, REAL), .may_be_null = TRUE },
  { COLUMN (FabSweepPointRecord, usd_per_million_tokens, REAL), .may_be_null = TRUE },
  { COLUMN (FabSweepPointRecord, train_usd, REAL), .may_be_null = TRUE, .meaning = "The whole training." },
  { COLUMN (FabSweepPointRecord, step_joules, REAL), .may_be_null = TRUE },
  { COLUMN (FabSweepPointRecord, train_joules, REAL), .may_be_null = TRUE, .meaning = "The whole training." },
  { COLUMN (FabSweepPointRecord, waiting_s, REAL), .since = 5, .may_be_null = TRUE,
    .meaning = "As in `iteration`." },
  { COLUMN (FabSweepPointRecord, exposed_inter_node_s, REAL), .since = 5, .may_be_null = TRUE,
    .meaning = "As in `iteration`." },
  { COLUMN (FabSweepPointRecord, exposed_data_s, REAL), .since = 5, .may_be_null = TRUE,
    .meaning = "The part of `exposed_s` of data parallelism; NULL: the job does not communicate in this "
               "dimension." },
  { COLUMN (FabSweepPointRecord, exposed_tensor_s, REAL), .since = 5, .may_be_null = TRUE,
    .meaning = "The part of `exposed_s` of tensor parallelism; NULL: the job has none." },
  { COLUMN (FabSweepPointRecord, exposed_context_s, REAL), .since = 5, .may_be_null = TRUE,
    .meaning = "The part of `exposed_s` of context parallelism; NULL: the job has none." },
  { COLUMN (FabSweepPointRecord, exposed_expert_s, REAL), .since = 5, .may_be_null = TRUE,
    .meaning = "The part of `exposed_s` of expert parallelism; NULL: the job has none." },
  { COLUMN (FabSweepPointRecord, exposed_pipeline_s, REAL), .since = 5, .may_be_null = TRUE,
    .meaning = "The part of `exposed_s` of pipeline parallelism; NULL: the job has none." },
  { COLUMN (FabSweepPointRecord, exposed_offload_s, REAL), .since = 5, .may_be_null = TRUE,
    .meaning =
        "The part of `exposed_s` of transfers to and from host memory and drives; NULL: the job has none." },
  { COLUMN (FabSweepPointRecord, exposed_other_s, REAL), .since = 5, .may_be_null = TRUE,
    .meaning = "The part of `exposed_s` of all other communication; NULL: the job has none." },
  { COLUMN (FabSweepPointRecord, n_seeds, WHOLE), .since = 5, .may_be_null = TRUE,
    .meaning = "Number of seeds of the point. Its figures are those of the seed with the median step." },
  { COLUMN (FabSweepPointRecord, seed_steps, TEXT), .since = 5, .may_be_null = TRUE,
    .meaning = "The step of each seed in seconds, separated by blanks; NULL: one seed." },
  { COLUMN (FabSweepPointRecord, seed_exposed, TEXT), .since = 5, .may_be_null = TRUE,
    .meaning = "Exposed communication of each seed in seconds, separated by blanks; NULL: one seed." },
  { COLUMN (FabSweepPointRecord, ettr_fraction, REAL), .since = 7, .may_be_null = TRUE,
    .meaning = "As in `goodput`; NULL: the scenario has no rates of failures." },
  { COLUMN (FabSweepPointRecord, goodput_tokens_per_s, REAL), .since = 7, .may_be_null = TRUE,
    .meaning = "Tokens per second of the calendar; NULL: not known." },
  { COLUMN (FabSweepPointRecord, calendar_s, REAL), .since = 7, .may_be_null = TRUE,
    .meaning = "The whole training by the calendar; NULL: not known." },
  { COLUMN (FabSweepPointRecord, lost_gpu_hours, REAL), .since = 7, .may_be_null = TRUE,
    .meaning = "GPU hours that failures cost; NULL: not known." },
  { COLUMN (FabSweepPointRecord, global_batch, WHOLE), .since = 7, .may_be_null = TRUE,
    .meaning = "Sequences of a step, over all ranks; NULL: the job has no batches." },
  { COLUMN (FabSweepPointRecord, problem, TEXT), .may_be_null = TRUE,
    .meaning = "Reason why the point cannot be simulated; all figures are then NULL. NULL: it was "
               "simulated." },
  { COLUMN (FabSweepPointRecord, verdict, TEXT), .since = 5, .may_be_null = TRUE,
    .meaning =
        "The codes of its findings, separated by `;` ([verdict](verdict.md)); NULL: it was not simulated." },
  { COLUMN (FabSweepPointRecord, choices, TEXT), .since = 8, .may_be_null = TRUE,
    .meaning =
        "Choices of the library, separated by `;`: operation, dimension, bytes (two digits), algorithm, "
        "protocol, channels, seconds in sum. NULL: not known." },
};

const FabRecordTable fab_record_tables[FAB_N_TABLES] = {
  [FAB_TABLE_RUN] = { TABLE (run, FabRunRecord, run_columns), .what = "the run",
                      .owner = "run_id INTEGER PRIMARY KEY CHECK (run_id >= 1)", .about = "one row per run" },
  [FAB_TABLE_CLASS] = { TABLE (rank_class, FabRankClassRecord, rank_class_columns), .what = "rank classes",
                        .owner = OF_A_RUN,
                        .about = "ranks that do the same thing at the same time are one class",
                        .keys = { "PRIMARY KEY (run_id, rank_class)" } },
  [FAB_TABLE_LINK] = { TABLE (link, FabLinkRecord, link_columns), .what = "links", .owner = OF_A_RUN,
                       .about = "one directed edge of the fabric", .keys = { "PRIMARY KEY (run_id, link)" } },
  [FAB_TABLE_STEP] = { TABLE (iteration, FabStepRecord, iteration_columns), .what = "iterations",
                       .owner = OF_A_RUN,
                       .about = "one row per iteration of the whole job; times are the mean over ranks",
                       .keys = { "PRIMARY KEY (run_id, iteration)" } },
  [FAB_TABLE_ITERATION] = { TABLE (iteration_class, FabIterationRecord, iteration_class_columns),
                            .what = "iterations of classes", .owner = OF_A_PART,
                            .about = "the same times for each class of ranks",
                            .keys = { "PRIMARY KEY (run_id, iteration, rank_class)", TO_ITERATION,
                                      TO_CLASS } },
  [FAB_TABLE_COLLECTIVE] = { TABLE (collective, FabCollectiveRecord, collective_columns),
                             .what = "collectives", .owner = OF_A_PART,
                             .about = "one collective, or one message from rank to rank",
                             .keys = { "PRIMARY KEY (run_id, iteration, collective)", TO_ITERATION,
                                       TO_BINDING_LINK } },
  [FAB_TABLE_SPAN] = { TABLE (span, FabSpanRecord, span_columns), .what = "spans", .owner = OF_A_PART,
                       .about = "one task on one stream of one rank class",
                       .keys = { "PRIMARY KEY (run_id, span)", TO_CLASS } },
  [FAB_TABLE_LINK_LOAD] = { TABLE (link_load, FabLinkLoadRecord, link_load_columns), .what = "link loads",
                            .owner = OF_A_PART,
                            .about = "traffic of one link in one iteration. A link that carried nothing has "
                                     "no row",
                            .keys = { "PRIMARY KEY (run_id, iteration, link)", TO_ITERATION, TO_LINK } },
  [FAB_TABLE_LINK_QUEUE] = { TABLE (link_queue, FabLinkQueueRecord, link_queue_columns),
                             .what = "link queues", .since = 3, .owner = OF_A_PART,
                             .about = "the queue in front of one link over the whole run. Only `fidelity: "
                                      "packet` has queues, and a link that no packet reached has no row",
                             .keys = { "PRIMARY KEY (run_id, link)",
                                       "FOREIGN KEY (run_id, link) REFERENCES link ON DELETE CASCADE" } },
  [FAB_TABLE_EXPOSURE] = { TABLE (exposure, FabExposureRecord, exposure_columns), .what = "exposures",
                           .since = 2, .owner = OF_A_PART,
                           .about = "communication and waiting of a class of ranks in one dimension of "
                                    "parallelism, by operation",
                           .note = "While no compute runs, the dimensions that communicate share the time "
                                   "equally, and so do the operations of one dimension. Copies outside "
                                   "collectives count as `send_recv` of `other`.",
                           .keys = { "PRIMARY KEY (run_id, iteration, rank_class, dimension, op)",
                                     TO_ITERATION, TO_CLASS } },
  [FAB_TABLE_PATH] = { TABLE (critical_path, FabPathRecord, critical_path_columns),
                       .what = "the critical path", .since = 2, .owner = OF_A_PART,
                       .about = "the tasks that the iteration waited for",
                       .note = "The rows cover the iteration without a gap. The path is followed back "
                               "from the last task to the task that released it, and from a collective to "
                               "the task that released its last rank. A faster task outside the path "
                               "gains nothing, unless tasks contend. A faster task on it gains time until "
                               "another path is the longest.",
                       .keys = { "PRIMARY KEY (run_id, iteration, place)", TO_ITERATION, TO_CLASS,
                                 "FOREIGN KEY (run_id, iteration, collective) REFERENCES collective",
                                 TO_BINDING_LINK } },
  [FAB_TABLE_LINK_SAMPLE] = { TABLE (link_sample, FabLinkSampleRecord, link_sample_columns),
                              .what = "link samples", .since = 2, .owner = OF_A_PART,
                              .about =
                                  "load over time of the slowest links of collectives, of the eight busiest "
                                  "at most. Times without traffic have no row",
                              .keys = { "PRIMARY KEY (run_id, iteration, link, start_ps)", TO_ITERATION,
                                        TO_LINK } },
  [FAB_TABLE_MEMORY] = { TABLE (memory, FabMemoryRecord, memory_columns), .what = "memory", .since = 2,
                         .owner = OF_A_PART, .about = "memory of one rank of a class",
                         .keys = { "PRIMARY KEY (run_id, rank_class, part)", TO_CLASS } },
  [FAB_TABLE_FINDING] = { TABLE (finding, FabFindingRecord, finding_columns), .what = "the verdict",
                          .since = 5, .owner = OF_A_RUN,
                          .about = "the findings of the verdict, to know before a figure of the run "
                                   "is quoted",
                          .keys = { "PRIMARY KEY (run_id, place)" } },
  [FAB_TABLE_MEMO] = { TABLE (memo, FabMemoRecord, memo_columns), .what = "the memo", .since = 6,
                       .owner = OF_A_RUN,
                       .about = "how much of the network's work was simulated, and how much was remembered",
                       .note = "A run at `step` or `packet` has one row. Other fidelities have none. With "
                               "`--no-memo` nothing is remembered.",
                       .keys = { "PRIMARY KEY (run_id)" } },
  [FAB_TABLE_BAND] = { TABLE (band, FabBandRecord, band_columns), .what = "the band", .since = 6,
                       .owner = OF_A_PART, .about = "band of a figure of an iteration",
                       .note = "A run with `--no-band` has no rows here, and neither has a run without "
                               "uncertain inputs.",
                       .keys = { "PRIMARY KEY (run_id, iteration, figure)", TO_ITERATION } },
  [FAB_TABLE_LEVER] = { TABLE (lever, FabLeverRecord, lever_columns), .what = "the levers", .since = 8,
                        .owner = OF_A_RUN,
                        .about = "the run simulated again with one change of the machine or of the software",
                        .note = "A run with `--no-bottleneck` has no rows here.",
                        .keys = { "PRIMARY KEY (run_id, place)" } },
  [FAB_TABLE_GOODPUT] = { TABLE (goodput, FabGoodputRecord, goodput_columns), .what = "the goodput",
                          .since = 7, .owner = OF_A_RUN, .about = "what failures leave of the whole training",
                          .note =
                              "One row for a run of a training whose scenario has `reliability.failures`; "
                              "the shares and `goodput_fraction` add up to 1.",
                          .keys = { "PRIMARY KEY (run_id)" } },
  [FAB_TABLE_PACE] = { TABLE (pace, FabPaceRecord, pace_columns), .what = "the pace", .since = 9,
                       .owner = OF_A_PART,
                       .about = "what sets the pace of the last iteration's communication",
                       .note = "A run whose collectives cross no link has no row here. Where nothing is "
                               "exposed, the shares are those of all communication.",
                       .keys = { "PRIMARY KEY (run_id)",
                                 "FOREIGN KEY (run_id, binding_link) REFERENCES link ON DELETE CASCADE" } },
  [FAB_TABLE_QUEUE_LENGTH] = { TABLE (queue_length, FabQueueLengthRecord, queue_length_columns),
                               .what = "lengths of queues", .since = 10, .owner = OF_A_PART,
                               .about = "how long the queues in front of links of one kind were, by time. "
                                        "Only a run at `packet` with `percentiles: true` has rows",
                               .keys = { "PRIMARY KEY (run_id, ports)" } },
  [FAB_TABLE_SWEEP] = { TABLE (sweep, FabSweepRecord, sweep_columns), .what = "the sweep", .since = 4,
                        .owner = "sweep_id INTEGER PRIMARY KEY CHECK (sweep_id >= 1)",
                        .about = "one row per sweep. Deleting the row deletes the rest of the sweep, with "
                                 "`PRAGMA foreign_keys = 1`" },
  [FAB_TABLE_SWEEP_AXIS] = { TABLE (sweep_axis, FabSweepAxisRow, sweep_axis_columns), .what = "the axes",
                             .since = 4,
                             .owner = "sweep_id INTEGER NOT NULL REFERENCES sweep ON DELETE CASCADE",
                             .about = "the keys that a sweep varies",
                             .keys = { "PRIMARY KEY (sweep_id, axis)" } },
  [FAB_TABLE_SWEEP_VALUE] = { TABLE (sweep_value, FabSweepValueRow, sweep_value_columns),
                              .what = "the values of the axes", .since = 4,
                              .owner = "sweep_id INTEGER NOT NULL", .about = "the values of an axis",
                              .keys = { "PRIMARY KEY (sweep_id, axis, item)",
                                        "FOREIGN KEY (sweep_id, axis) REFERENCES sweep_axis ON DELETE CASCADE" } },
  [FAB_TABLE_SWEEP_POINT] = { TABLE (sweep_point, FabSweepPointRecord, sweep_point_columns),
                              .what = "points of the sweep", .since = 4,
                              .owner = "sweep_id INTEGER NOT NULL REFERENCES sweep ON DELETE CASCADE",
                              .about = "one row per point that is done",
                              .keys = { "CHECK ((step_s IS NULL) = (problem IS NOT NULL))",
                                        "PRIMARY KEY (sweep_id, point)" } },
};

static void
append_column (GString *sql, const FabColumn *column, gboolean is_last)
{
  g_string_append_printf (sql, "  %s %s", column->name, fab_column_type (column));
  if (!column->may_be_null)
    g_string_append (sql, " NOT NULL");
  if (column->is_unique)
    g_string_append (sql, " UNIQUE");
  if (column->check)
    g_string_append_printf (sql, " CHECK (%s)", column->check);
  if (!is_last)
    g_string_append_c (sql, ',');
  if (column->meaning)
    g_string_append_printf (sql, " -- %s", column->meaning);
  g_string_append_c (sql, '\n');
}

static const char *const span_names[] = {
  [FAB_SPAN_COMPUTE] = "compute", [FAB_SPAN_COMM] = "comm",       [FAB_SPAN_LOAD] = "load",
  [FAB_SPAN_WAIT] = "wait",       [FAB_SPAN_ARRIVAL] = "arrival",
};

static FabField
whole_field (gint64 value, gboolean is_known)
{
  return is_known ? (FabField){ FAB_CELL_INTEGER, value, (double) value, NULL } : (FabField){ FAB_CELL_NULL };
}

static FabField
text_field (const char *text)
{
  return text != NULL ? (FabField){ .kind = FAB_CELL_TEXT, .text = text } : (FabField){ FAB_CELL_NULL };
}

static FabField
unsigned_field (guint64 value)
{
  g_assert (value <= G_MAXINT64);
  return whole_field ((gint64) value, TRUE);
}

static FabField
real_field (double value)
{
  if (isnan (value))
    return (FabField){ .kind = FAB_CELL_NULL };
  return (FabField){ .kind = FAB_CELL_REAL, .real = value };
}

FabField
fab_column_read (const FabColumn *column, gconstpointer record, gint64 row)
{
  gconstpointer field = (const char *) record + column->offset;

  switch (column->kind) {
  case FAB_COLUMN_REAL: return real_field (*(const double *) field);
  case FAB_COLUMN_WHOLE:
    return whole_field (*(const gint64 *) field, *(const gint64 *) field != FAB_RECORD_UNKNOWN);
  case FAB_COLUMN_UNSIGNED: return unsigned_field (*(const guint64 *) field);
  case FAB_COLUMN_COUNT:
    return whole_field (*(const guint *) field, *(const guint *) field != FAB_RECORD_NO_LINK);
  case FAB_COLUMN_INDEX: return whole_field (*(const gint32 *) field, *(const gint32 *) field >= 0);
  case FAB_COLUMN_TEXT: return text_field (*(const char *const *) field);
  case FAB_COLUMN_SPAN: return text_field (span_names[*(const FabSpanKind *) field]);
  case FAB_COLUMN_SERIAL: return whole_field (row, TRUE);
  }
  g_assert_not_reached ();
}

gboolean
fab_column_is_time (const FabColumn *column)
{
  return column->kind == FAB_COLUMN_WHOLE && g_str_has_suffix (column->name, "_ps");
}

const char *
fab_column_unit (const FabColumn *column)
{
  static const struct {
    const char *end, *unit;
  } units[] = {
    { "bytes_per_s", "B/s" }, { "_per_s", "1/s" }, { "_bytes", "B" }, { "_ps", "ps" }, { "_s", "s" }
  };

  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    if (g_str_has_suffix (column->name, units[i].end))
      return units[i].unit;
  return NULL;
}

const char *
fab_column_type (const FabColumn *column)
{
  switch (column->kind) {
  case FAB_COLUMN_REAL: return "REAL";
  case FAB_COLUMN_TEXT:
  case FAB_COLUMN_SPAN: return "TEXT";
  case FAB_COLUMN_WHOLE:
  case FAB_COLUMN_UNSIGNED:
  case FAB_COLUMN_COUNT:
  case FAB_COLUMN_INDEX:
  case FAB_COLUMN_SERIAL: return "INTEGER";
  }
  g_assert_not_reached ();
}

char *
fab_record_table_sql (const FabRecordTable *table)
{
  GString *sql = g_string_new (NULL);

  g_string_append_printf (sql, "CREATE TABLE %s (\n  %s,\n", table->name, table->owner);
  for (guint i = 0; i < table->n_columns; i++)
    append_column (sql, &table->columns[i], i + 1 == table->n_columns && table->keys[0] == NULL);
  for (guint i = 0; table->keys[i]; i++)
    g_string_append_printf (sql, "  %s%s\n", table->keys[i], table->keys[i + 1] ? "," : "");
  g_string_append (sql, table->keys[0] ? ") STRICT, WITHOUT ROWID;\n" : ") STRICT;\n");
  return g_string_free (sql, FALSE);
}
