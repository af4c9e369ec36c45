/* SPDX-License-Identifier: Apache-2.0 */
/* columns.c - the columns of all tables, in the order in which they stand in a file, and the SQL that makes them.
 *
 * Every table is STRICT and keyed by run (or sweep) first, so that one run is one contiguous range and a question
 * about it never reads another. Tables with keys of their own are WITHOUT ROWID: their key is their place.
 */
#include "sim/result/columns.h"

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

/* Where the time of an iteration goes; `in`: the path of these fields in the record, with its point. */
#define TIMES(Record, in)                                                                              \
  { RENAMED (Record, start_ps, in start_ps, WHOLE), .meaning = "The start of the iteration." },        \
      { RENAMED (Record, duration_ps, in duration_ps, WHOLE), .check = "duration_ps >= 0",             \
        .meaning = "Its length." },                                                                    \
      { RENAMED (Record, compute_ps, in compute_ps, WHOLE), .meaning = "Some kernel ran." },           \
      { RENAMED (Record, comm_ps, in comm_ps, WHOLE),                                                  \
        .meaning = "Some collective or message was under way." },                                      \
      { RENAMED (Record, overlapped_ps, in overlapped_ps, WHOLE), .meaning = "Both at once." },        \
      { RENAMED (Record, exposed_ps, in exposed_ps, WHOLE), .meaning = "`comm_ps - overlapped_ps`." }, \
      { RENAMED (Record, idle_ps, in idle_ps, WHOLE),                                                  \
        .meaning = "Neither: `duration_ps - (compute_ps + comm_ps - overlapped_ps)`." },               \
      { RENAMED (Record, waiting_ps, in waiting_ps, WHOLE), .since = 5,                                \
        .meaning = "The part of `idle_ps` in which a collective waited for its last rank." },          \
  {                                                                                                    \
    RENAMED (Record, exposed_inter_node_ps, in exposed_inter_node_ps, WHOLE),                          \
        .since = 5, .meaning = "The part of `exposed_ps` of collectives that cross nodes."             \
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
    .meaning = "The resolved scenario: running it again gives this run." },
  { COLUMN (FabRunRecord, version, TEXT), .meaning = "The version of the program." },
  { COLUMN (FabRunRecord, fidelity, TEXT), .meaning = "The model of the network." },
  { COLUMN (FabRunRecord, seed, WHOLE) },
  { COLUMN (FabRunRecord, n_ranks, COUNT) },
  { COLUMN (FabRunRecord, n_nodes, COUNT) },
  { COLUMN (FabRunRecord, peak_flops_per_s, REAL),
    .meaning = "Of one accelerator; 0: the job computes nothing." },
  { COLUMN (FabRunRecord, memory_bytes, UNSIGNED), .since = 2,
    .meaning = "Of one accelerator; 0: not known." },
  { COLUMN (FabRunRecord, train_tokens, REAL), .since = 2,
    .meaning = "Of the whole training; 0: the scenario does not say." },
};

static const FabColumn rank_class_columns[] = {
  { COLUMN (FabRankClassRecord, rank_class, COUNT) },
  { COLUMN (FabRankClassRecord, first_rank, COUNT), .meaning = "The lowest of its ranks." },
  { COLUMN (FabRankClassRecord, n_ranks, COUNT), .meaning = "How many ranks it stands for." },
  { COLUMN (FabRankClassRecord, name, TEXT), .since = 2, .meaning = "`stage 3`." },
};

static const FabColumn link_columns[] = {
  { COLUMN (FabLinkRecord, link, COUNT) },
  { RENAMED (FabLinkRecord, from_vertex, from, TEXT), .meaning = "`node0/gpu3`." },
  { RENAMED (FabLinkRecord, to_vertex, to, TEXT), .meaning = "`leaf0`." },
  { COLUMN (FabLinkRecord, spec, TEXT), .meaning = "The catalogue entry." },
  { RENAMED (FabLinkRecord, n_parallel, count, COUNT), .meaning = "Links in the edge." },
  { COLUMN (FabLinkRecord, line_rate_bytes_per_s, UNSIGNED), .meaning = "Of one direction, after coding." },
  { COLUMN (FabLinkRecord, latency_ps, WHOLE) },
};

static const FabColumn iteration_columns[] = {
  { RENAMED (FabStepRecord, iteration, times.iteration, COUNT) },
  TIMES (FabStepRecord, times.),
  { COLUMN (FabStepRecord, mfu_fraction, REAL), .meaning = "Model FLOPs over peak x duration." },
  { COLUMN (FabStepRecord, hfu_fraction, REAL), .meaning = "Executed FLOPs over peak x duration." },
  { COLUMN (FabStepRecord, tokens_per_s, REAL), .meaning = "Of the whole job." },
};

static const FabColumn iteration_class_columns[] = {
  { COLUMN (FabIterationRecord, iteration, COUNT) },
  { COLUMN (FabIterationRecord, rank_class, COUNT) },
  TIMES (FabIterationRecord, ),
};

static const FabColumn collective_columns[] = {
  { COLUMN (FabCollectiveRecord, iteration, COUNT) },
  { RENAMED (FabCollectiveRecord, collective, index, COUNT), .meaning = "Counts from 0 in its iteration." },
  { COLUMN (FabCollectiveRecord, name, TEXT), .meaning = "`bucket2`." },
  { COLUMN (FabCollectiveRecord, op, TEXT), .meaning = "`all_reduce`." },
  { COLUMN (FabCollectiveRecord, dimension, TEXT), .since = 2,
    .meaning = "The dimension of parallelism whose ranks talk: `data`, `tensor`, `context`, "
               "`expert`, `pipeline` or `other`." },
  { COLUMN (FabCollectiveRecord, algorithm, TEXT), .may_be_null = TRUE,
    .meaning = "`ring`; NULL: there is none, as for `send_recv`." },
  { COLUMN (FabCollectiveRecord, protocol, TEXT), .may_be_null = TRUE,
    .meaning = "`simple`; NULL: there is none." },
  { COLUMN (FabCollectiveRecord, n_channels, COUNT) },
  { COLUMN (FabCollectiveRecord, n_ranks, COUNT) },
  { COLUMN (FabCollectiveRecord, bytes, UNSIGNED), .meaning = "The size as nccl-tests counts it." },
  { COLUMN (FabCollectiveRecord, ready_ps, WHOLE), .meaning = "The first rank arrived." },
  { COLUMN (FabCollectiveRecord, start_ps, WHOLE), .check = "start_ps >= ready_ps",
    .meaning = "The last rank arrived; `start_ps - ready_ps` is waiting." },
  { COLUMN (FabCollectiveRecord, end_ps, WHOLE), .check = "end_ps >= start_ps", .meaning = "It was done." },
  { COLUMN (FabCollectiveRecord, exposed_ps, WHOLE),
    .meaning = "The part of `start_ps` to `end_ps` in which no compute ran, mean over ranks." },
  { COLUMN (FabCollectiveRecord, algbw_bytes_per_s, REAL), .meaning = "`bytes / (end_ps - start_ps)`." },
  { COLUMN (FabCollectiveRecord, busbw_bytes_per_s, REAL),
    .meaning = "That times the factor of nccl-tests for the operation." },
  { COLUMN (FabCollectiveRecord, binding_link, COUNT), .may_be_null = TRUE,
    .meaning = "The slowest of its links; NULL: it crossed none." },
  { COLUMN (FabCollectiveRecord, waits_for_ends, COUNT), .since = 6,
    .meaning =
        "1: thread blocks, copies or the protocol at its ends set its pace, and a faster link would not "
        "change it. 0: `binding_link` did." },
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
    .meaning = "`compute`, `comm`, `load`, or `wait`: a collective waits for its last rank." },
  { COLUMN (FabSpanRecord, stream, TEXT), .meaning = "`compute`, `comm`, `loader`." },
  { COLUMN (FabSpanRecord, name, TEXT), .meaning = "`forward layer3`." },
  { COLUMN (FabSpanRecord, start_ps, WHOLE) },
  { COLUMN (FabSpanRecord, end_ps, WHOLE), .check = "end_ps >= start_ps" },
  { COLUMN (FabSpanRecord, collective, INDEX), .may_be_null = TRUE,
    .meaning = "Of the same iteration; NULL: the task is none." },
};

static const FabColumn link_load_columns[] = {
  { COLUMN (FabLinkLoadRecord, iteration, COUNT) },
  { COLUMN (FabLinkLoadRecord, link, COUNT) },
  { COLUMN (FabLinkLoadRecord, bytes, UNSIGNED), .meaning = "Payload." },
  { COLUMN (FabLinkLoadRecord, busy_fraction, REAL),
    .meaning = "Line bytes, headers and stalls included, over line rate x duration." },
};

static const FabColumn link_queue_columns[] = {
  { COLUMN (FabLinkQueueRecord, link, COUNT) },
  { COLUMN (FabLinkQueueRecord, carried_bytes, UNSIGNED),
    .meaning = "Payload that the link carried, what was lost further on and sent again too." },
  { RENAMED (FabLinkQueueRecord, most_queue_bytes, most_bytes, UNSIGNED),
    .meaning = "The most payload that waited in front of the link at once; what a sender has"
               " not sent yet does not wait." },
  { RENAMED (FabLinkQueueRecord, mean_queue_bytes, mean_bytes, REAL),
    .meaning = "Its mean from the start of the run to the end of its last iteration." },
  { COLUMN (FabLinkQueueRecord, n_stalls, UNSIGNED),
    .meaning = "Times that something waited, the wire was free and the far end had no room, "
               "or had paused the link." },
  { COLUMN (FabLinkQueueRecord, n_marks, UNSIGNED),
    .meaning = "Packets that were marked when they joined the queue." },
  { COLUMN (FabLinkQueueRecord, n_pauses, UNSIGNED),
    .meaning = "Times that the far end stopped the link (PFC)." },
  { COLUMN (FabLinkQueueRecord, n_drops, UNSIGNED),
    .meaning = "Packets that were lost in front of the link." },
};

static const FabColumn exposure_columns[] = {
  { COLUMN (FabExposureRecord, iteration, COUNT) },
  { COLUMN (FabExposureRecord, rank_class, COUNT) },
  { COLUMN (FabExposureRecord, dimension, TEXT), .meaning = "As in `collective`." },
  { COLUMN (FabExposureRecord, op, TEXT) },
  { COLUMN (FabExposureRecord, n_collectives, COUNT),
    .meaning = "Those of the iteration's tasks in which the class takes part." },
  { COLUMN (FabExposureRecord, bytes, UNSIGNED), .meaning = "Their sizes as nccl-tests counts them." },
  { COLUMN (FabExposureRecord, comm_ps, WHOLE),
    .meaning = "Some of them were under way, between the start and the end of the iteration." },
  { COLUMN (FabExposureRecord, exposed_ps, WHOLE),
    .meaning = "Their part of `iteration_class.exposed_ps`, to which the rows of a class add"
               " up exactly." },
  { COLUMN (FabExposureRecord, exposed_inter_node_ps, WHOLE), .since = 5,
    .meaning = "The part of `exposed_ps` of collectives that cross nodes." },
  { COLUMN (FabExposureRecord, waiting_ps, WHOLE), .since = 5,
    .meaning = "Idle while some of them waited for their last rank; shared in the same way." },
};

static const FabColumn critical_path_columns[] = {
  { COLUMN (FabPathRecord, iteration, COUNT) },
  { COLUMN (FabPathRecord, place, COUNT), .meaning = "Counts from 0 in its iteration, in order of time." },
  { COLUMN (FabPathRecord, rank_class, COUNT) },
  { COLUMN (FabPathRecord, stream, TEXT) },
  { COLUMN (FabPathRecord, kind, SPAN), .meaning = "`compute`, `comm` or `load`." },
  { COLUMN (FabPathRecord, name, TEXT) },
  { COLUMN (FabPathRecord, start_ps, WHOLE), .meaning = "Where the row before it ends." },
  { COLUMN (FabPathRecord, end_ps, WHOLE), .check = "end_ps > start_ps" },
  { COLUMN (FabPathRecord, collective, INDEX), .may_be_null = TRUE, .meaning = "As in `span`." },
  { COLUMN (FabPathRecord, binding_link, COUNT), .may_be_null = TRUE,
    .meaning = "Of the collective; NULL: no link set its rate." },
};

static const FabColumn link_sample_columns[] = {
  { COLUMN (FabLinkSampleRecord, iteration, COUNT) },
  { COLUMN (FabLinkSampleRecord, link, COUNT) },
  { COLUMN (FabLinkSampleRecord, start_ps, WHOLE) },
  { COLUMN (FabLinkSampleRecord, end_ps, WHOLE), .check = "end_ps > start_ps" },
  { COLUMN (FabLinkSampleRecord, bytes_per_s, REAL),
    .meaning = "Payload; each collective of the iteration counts with its mean rate from "
               "start to end." },
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
  { COLUMN (FabFindingRecord, text, TEXT), .meaning = "What was found, in plain words." },
  { COLUMN (FabFindingRecord, advice, TEXT), .may_be_null = TRUE, .meaning = "What to do; NULL: nothing." },
};

static const FabColumn memo_columns[] = {
  { COLUMN (FabMemoRecord, n_collectives, UNSIGNED), .meaning = "Collectives that have ended." },
  { COLUMN (FabMemoRecord, n_collectives_remembered, UNSIGNED),
    .meaning = "Of them, those that were not played, because the same had happened before." },
  { COLUMN (FabMemoRecord, n_episodes, UNSIGNED),
    .meaning = "Spans of time in which the network was never idle." },
  { COLUMN (FabMemoRecord, n_episodes_remembered, UNSIGNED),
    .meaning = "Of them, those of which nothing was played." },
  { COLUMN (FabMemoRecord, n_replays, UNSIGNED),
    .meaning = "How often an episode was played again from its begin, because it went on in a new way." },
  { COLUMN (FabMemoRecord, n_events, UNSIGNED), .meaning = "Events of the network that were played." },
};

static const FabColumn band_columns[] = {
  { COLUMN (FabBandRecord, iteration, COUNT) },
  { COLUMN (FabBandRecord, figure, TEXT), .meaning = "`step` or `exposed`." },
  { COLUMN (FabBandRecord, low_s, REAL), .meaning = "The lower bound." },
  { COLUMN (FabBandRecord, high_s, REAL), .meaning = "The upper bound." },
  { COLUMN (FabBandRecord, coverage_fraction, REAL),
    .meaning = "The share of cases that lie between the bounds, 0.9 or 0.95." },
  { COLUMN (FabBandRecord, reason, TEXT), .may_be_null = TRUE,
    .meaning = "What most of the width comes from: `collectives (2 tables of port-200)`." },
};

static const FabColumn faster_columns[] = {
  { COLUMN (FabFasterRecord, spec, TEXT), .meaning = "The catalogue entry whose links are faster." },
  { COLUMN (FabFasterRecord, rate_factor, REAL), .meaning = "How many times as fast." },
  { COLUMN (FabFasterRecord, step_s, REAL), .meaning = "The step of the last iteration then." },
  { COLUMN (FabFasterRecord, exposed_s, REAL), .meaning = "Its exposed communication then." },
  { COLUMN (FabFasterRecord, binding_from, TEXT), .may_be_null = TRUE,
    .meaning = "The link that sets the pace then; NULL: none does." },
  { COLUMN (FabFasterRecord, binding_to, TEXT), .may_be_null = TRUE },
  { COLUMN (FabFasterRecord, binding_spec, TEXT), .may_be_null = TRUE },
};

static const FabColumn sweep_columns[] = {
  { COLUMN (FabSweepRecord, name, TEXT), .meaning = "The name of the scenario." },
  { COLUMN (FabSweepRecord, summary, TEXT), .may_be_null = TRUE,
    .meaning = "Of the scenario; NULL: it has none." },
  { COLUMN (FabSweepRecord, scenario_yaml, TEXT),
    .meaning = "The resolved scenario, before anything varies." },
  { COLUMN (FabSweepRecord, version, TEXT), .meaning = "The version of the program." },
  { COLUMN (FabSweepRecord, fingerprint, TEXT), .is_unique = TRUE,
    .meaning = "SHA-256 of all that the points depend on: the same scenario, files that it "
               "includes, catalogue, settings, axes and version have the same one." },
  { COLUMN (FabSweepRecord, n_points, WHOLE), .meaning = "How many points it has when it is complete." },
};

static const FabColumn sweep_axis_columns[] = {
  { COLUMN (FabSweepAxisRow, axis, COUNT) },
  { COLUMN (FabSweepAxisRow, key, TEXT),
    .meaning = "`cluster.nodes`; of keys that move together `cluster.nodes & "
               "job.micro_batch`." },
};

static const FabColumn sweep_value_columns[] = {
  { COLUMN (FabSweepValueRow, axis, COUNT) },
  { COLUMN (FabSweepValueRow, item, COUNT) },
  { COLUMN (FabSweepValueRow, value, TEXT), .meaning = "`4`, or `4 & 2`." },
};

static const FabColumn sweep_point_columns[] = {
  { COLUMN (FabSweepPointRecord, point, WHOLE), .check = "point >= 0",
    .meaning = "Counts through the grid, the last axis fastest: of two axes it is `item0 x "
               "(values of axis 1) + item1`." },
  { COLUMN (FabSweepPointRecord, settings, TEXT),
    .meaning = "The assignments of the point: `cluster.nodes=4 job.micro_batch=2`." },
  { COLUMN (FabSweepPointRecord, step_s, REAL), .may_be_null = TRUE,
    .meaning = "The last iteration, mean over ranks." },
  { COLUMN (FabSweepPointRecord, compute_s, REAL), .may_be_null = TRUE,
    .meaning = "As in `iteration`, and the next four." },
  { COLUMN (FabSweepPointRecord, comm_s, REAL), .may_be_null = TRUE },
  { COLUMN (FabSweepPointRecord, overlapped_s, REAL), .may_be_null = TRUE },
  { COLUMN (FabSweepPointRecord, exposed_s, REAL), .may_be_null = TRUE },
  { COLUMN (FabSweepPointRecord, idle_s, REAL), .may_be_null = TRUE },
  { COLUMN (FabSweepPointRecord, mfu_fraction, REAL), .may_be_null = TRUE,
    .meaning = "NULL: the job computes nothing." },
  { COLUMN (FabSweepPointRecord, tokens_per_s, REAL), .may_be_null = TRUE,
    .meaning = "NULL: the job has no tokens." },
  { COLUMN (FabSweepPointRecord, train_s, REAL), .may_be_null = TRUE,
    .meaning = "The whole training; NULL: the job does not say how long it is." },
  { COLUMN (FabSweepPointRecord, memory_bytes, WHOLE), .may_be_null = TRUE,
    .meaning = "Of the fullest rank; NULL: not known." },
  { COLUMN (FabSweepPointRecord, memory_max_bytes, WHOLE), .may_be_null = TRUE,
    .meaning = "What a rank has; NULL: not known." },
  { COLUMN (FabSweepPointRecord, n_ranks, WHOLE), .may_be_null = TRUE },
  { COLUMN (FabSweepPointRecord, n_nodes, WHOLE), .may_be_null = TRUE },
  { COLUMN (FabSweepPointRecord, binding, TEXT), .may_be_null = TRUE,
    .meaning = "The link that sets the pace of most communication; NULL: no link does." },
  { COLUMN (FabSweepPointRecord, binding_spec, TEXT), .may_be_null = TRUE,
    .meaning = "Its catalogue entry." },
  { COLUMN (FabSweepPointRecord, binding_fraction, REAL), .may_be_null = TRUE,
    .meaning = "Of how much communication it sets the pace." },
  { COLUMN (FabSweepPointRecord, capex_usd, REAL), .may_be_null = TRUE,
    .meaning = "The price of the whole machine; NULL: something has no price "
               "([cost](../how-to/cost.md))." },
  { COLUMN (FabSweepPointRecord, network_usd, REAL), .may_be_null = TRUE,
    .meaning = "The network's part of it." },
  { COLUMN (FabSweepPointRecord, power_watts, REAL), .may_be_null = TRUE,
    .meaning = "At the meter, of the job's share; NULL: something has no watts." },
  { COLUMN (FabSweepPointRecord, network_watts, REAL), .may_be_null = TRUE,
    .meaning = "The network's part of it." },
  { COLUMN (FabSweepPointRecord, usd_per_hour, REAL), .may_be_null = TRUE,
    .meaning = "What the job costs; NULL: not known." },
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
    .meaning = "The part of `exposed_s` of a dimension; NULL: the job does not communicate in it." },
  { COLUMN (FabSweepPointRecord, exposed_tensor_s, REAL), .since = 5, .may_be_null = TRUE,
    .meaning = "Likewise." },
  { COLUMN (FabSweepPointRecord, exposed_context_s, REAL), .since = 5, .may_be_null = TRUE,
    .meaning = "Likewise." },
  { COLUMN (FabSweepPointRecord, exposed_expert_s, REAL), .since = 5, .may_be_null = TRUE,
    .meaning = "Likewise." },
  { COLUMN (FabSweepPointRecord, exposed_pipeline_s, REAL), .since = 5, .may_be_null = TRUE,
    .meaning = "Likewise." },
  { COLUMN (FabSweepPointRecord, exposed_offload_s, REAL), .since = 5, .may_be_null = TRUE,
    .meaning = "Likewise." },
  { COLUMN (FabSweepPointRecord, exposed_other_s, REAL), .since = 5, .may_be_null = TRUE,
    .meaning = "Likewise." },
  { COLUMN (FabSweepPointRecord, n_seeds, WHOLE), .since = 5, .may_be_null = TRUE,
    .meaning = "Seeds of the point; its figures are those of the seed with the median step." },
  { COLUMN (FabSweepPointRecord, seed_steps, TEXT), .since = 5, .may_be_null = TRUE,
    .meaning = "The step of each seed in seconds, with blanks between; NULL: one seed." },
  { COLUMN (FabSweepPointRecord, seed_exposed, TEXT), .since = 5, .may_be_null = TRUE,
    .meaning = "Likewise exposed communication." },
  { COLUMN (FabSweepPointRecord, problem, TEXT), .may_be_null = TRUE,
    .meaning = "Why the point cannot be played; then all figures are NULL. NULL: it was "
               "played." },
  { COLUMN (FabSweepPointRecord, verdict, TEXT), .since = 5, .may_be_null = TRUE,
    .meaning =
        "The codes of its findings, with `;` between ([verdict](verdict.md)); NULL: it was not played." },
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
                            .about =
                                "traffic of one link in one iteration; a link that carried nothing has no row",
                            .keys = { "PRIMARY KEY (run_id, iteration, link)", TO_ITERATION, TO_LINK } },
  [FAB_TABLE_LINK_QUEUE] = { TABLE (link_queue, FabLinkQueueRecord, link_queue_columns),
                             .what = "link queues", .since = 3, .owner = OF_A_PART,
                             .about =
                                 "what waited for one link in the whole run; only `fidelity: packet` has "
                                 "queues, and links to which nothing came have no row",
                             .keys = { "PRIMARY KEY (run_id, link)",
                                       "FOREIGN KEY (run_id, link) REFERENCES link ON DELETE CASCADE" } },
  [FAB_TABLE_EXPOSURE] = { TABLE (exposure, FabExposureRecord, exposure_columns), .what = "exposures",
                           .since = 2, .owner = OF_A_PART,
                           .about = "what a class of ranks communicated and waited for in one dimension of "
                                    "parallelism by one operation",
                           .note =
                               "At an instant at which no compute runs, the dimensions that communicate "
                               "share the time equally, and the operations of one dimension likewise. Copies"
                               " that are no collective count as `send_recv` of `other`.",
                           .keys = { "PRIMARY KEY (run_id, iteration, rank_class, dimension, op)",
                                     TO_ITERATION, TO_CLASS } },
  [FAB_TABLE_PATH] = { TABLE (critical_path, FabPathRecord, critical_path_columns),
                       .what = "the critical path", .since = 2, .owner = OF_A_PART,
                       .about = "what the iteration waited for",
                       .note = "The rows cover the iteration without a hole. From the task that ended last "
                               "one goes back to the one that released it, and from a collective to what "
                               "released the rank that came last. So making a task faster that is not on the"
                               " path gains nothing, where nothing else contends; making one faster that is "
                               "on it gains until another path is the longest.",
                       .keys = { "PRIMARY KEY (run_id, iteration, place)", TO_ITERATION, TO_CLASS,
                                 "FOREIGN KEY (run_id, iteration, collective) REFERENCES collective",
                                 TO_BINDING_LINK } },
  [FAB_TABLE_LINK_SAMPLE] = { TABLE (link_sample, FabLinkSampleRecord, link_sample_columns),
                              .what = "link samples", .since = 2, .owner = OF_A_PART,
                              .about =
                                  "load over time of the links that set the pace, the eight busiest at most; "
                                  "where nothing moves there is no row",
                              .keys = { "PRIMARY KEY (run_id, iteration, link, start_ps)", TO_ITERATION,
                                        TO_LINK } },
  [FAB_TABLE_MEMORY] = { TABLE (memory, FabMemoryRecord, memory_columns), .what = "memory", .since = 2,
                         .owner = OF_A_PART, .about = "memory of one rank of a class",
                         .keys = { "PRIMARY KEY (run_id, rank_class, part)", TO_CLASS } },
  [FAB_TABLE_FINDING] = { TABLE (finding, FabFindingRecord, finding_columns), .what = "the verdict",
                          .since = 5, .owner = OF_A_RUN,
                          .about = "what must be known before a figure of the run is quoted",
                          .keys = { "PRIMARY KEY (run_id, place)" } },
  [FAB_TABLE_MEMO] = { TABLE (memo, FabMemoRecord, memo_columns), .what = "what was played", .since = 6,
                       .owner = OF_A_RUN,
                       .about = "how much of the network's work was played, and how much was known",
                       .note =
                           "One row for a run at `step` or `packet`; none where the network keeps no memory of "
                           "what happened, and with `--no-memo` nothing is remembered.",
                       .keys = { "PRIMARY KEY (run_id)" } },
  [FAB_TABLE_BAND] = { TABLE (band, FabBandRecord, band_columns), .what = "the band", .since = 6,
                       .owner = OF_A_PART, .about = "how far a figure of an iteration may be off",
                       .note = "Nothing stands here for a run that was played with `--no-band`, or of which "
                               "nothing is uncertain.",
                       .keys = { "PRIMARY KEY (run_id, iteration, figure)", TO_ITERATION } },
  [FAB_TABLE_FASTER] = { TABLE (faster, FabFasterRecord, faster_columns), .what = "the what-if", .since = 6,
                         .owner = OF_A_RUN,
                         .about = "the run played again with faster links of the kind that set its pace",
                         .keys = { "PRIMARY KEY (run_id, spec, rate_factor)" } },
  [FAB_TABLE_SWEEP] = { TABLE (sweep, FabSweepRecord, sweep_columns), .what = "the sweep", .since = 4,
                        .owner = "sweep_id INTEGER PRIMARY KEY CHECK (sweep_id >= 1)",
                        .about =
                            "one row per sweep; deleting it deletes the rest, with `PRAGMA foreign_keys ="
                            " 1`" },
  [FAB_TABLE_SWEEP_AXIS] = { TABLE (sweep_axis, FabSweepAxisRow, sweep_axis_columns),
                             .what = "what a sweep varies", .since = 4,
                             .owner = "sweep_id INTEGER NOT NULL REFERENCES sweep ON DELETE CASCADE",
                             .about = "what varies", .keys = { "PRIMARY KEY (sweep_id, axis)" } },
  [FAB_TABLE_SWEEP_VALUE] = { TABLE (sweep_value, FabSweepValueRow, sweep_value_columns),
                              .what = "what a sweep varies", .since = 4, .owner = "sweep_id INTEGER NOT NULL",
                              .about = "the values of an axis",
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
