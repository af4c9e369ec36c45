/* SPDX-License-Identifier: Apache-2.0 */
/* job_mix.h - many jobs on one machine: how each kind answers to its places and to others is simulated, then the
 * queue is played (sim/sharing/job_mix.h).
 *
 * A group of nodes is those whose first NIC is at the same switch; in a rail-optimised fabric that is a group of
 * rails. Each kind runs alone on the whole fabric, packed and at larger and larger strides, with a constant load
 * on all links between switches that stands for others (`background`). Others send in bursts, over paths that meet
 * or not: the mix is played with mean loads, and once more as if all that send took the same uplinks.
 * docs/how-to/mix.md says how often neighbours that are simulated together lie between the two.
 */
#pragma once

#include "sim/base/pulse.h"
#include "sim/scenario/scenario.h"
#include "sim/sharing/job_mix.h"
#include "sim/study/point.h"

/* A kind, and what was simulated of it. It owns the arrays of `table`. */
typedef struct {
  const FabMixJobSpec *spec; /* of the scenario */
  FabMixKind table;
  double step_s; /* at the best of its places, alone */
  double
      inter_node_fraction; /* exposed communication between nodes over the step, at its most packed, alone */
  FabPoint *point;         /* of that run */
  FabMixFailures failures; /* where the scenario has failures */
  guint n_jobs;            /* of this kind in the mix */
} FabMixedKind;

/* What is told of some jobs together. */
typedef struct {
  guint n_jobs;
  /* Sums of nodes x seconds, of which the first is the sum of all others. */
  double busy_s, useful_s, places_lost_s, sharing_lost_s, slowed_s, checkpoint_s, undone_s, down_s;
  guint64 n_failures, n_preempted;
  double mean_wait_s, median_wait_s, p95_wait_s, max_wait_s;
  double mean_slowdown, p95_slowdown, max_slowdown; /* time with nodes over work */
  double mean_groups;                               /* groups of nodes that a job had */
} FabMixFigures;

/* The mix by other rules. */
typedef struct {
  char *name; /* "placement spread" */
  char *edit; /* "mix.placement=spread"; NULL: no key says it */
  FabMixFigures figures;
  double span_s;
  double used_fraction, useful_fraction;
} FabMixChange;

typedef struct {
  FabMixMachine machine;
  guint n_nodes, gpus_per_node;
  char **group_names; /* [n_groups + 1] the switch of each group; NULL-ended */
  GArray *kinds;      /* FabMixedKind */
  GArray *jobs;       /* FabMixJob, by arrival */
  FabMixPlay *play;
  FabMixFigures all;
  FabMixFigures worst; /* where jobs that send take the same uplinks (FabMixRules.is_crowded) */
  double worst_span_s;
  FabMixFigures *by_kind; /* [kinds->len] */
  double span_s;          /* from the first arrival to the last end */
  double used_fraction;   /* busy nodes x time, over all nodes x span */
  double useful_fraction; /* the same of the work */
  double
      away_fraction;  /* the same of nodes that are missing, because they are repaired and no spare is left */
  guint busiest;      /* group with the most load */
  guint64 n_left_out; /* rows of the log that are no jobs that ran */
  guint64 n_log_failed, n_log_preempted; /* jobs of the log that it calls failed, and stopped for others */
  guint64 n_cut; /* jobs of the log that are larger than the machine, and are left out as well */
  GArray
      *changes; /* FabMixChange: other placements, the queue without backfilling or with it, ideal uplinks */
} FabMixAnswer;

typedef struct {
  const FabRegistry *registry;
  guint n_threads;    /* that simulate at once; 0: one per processor */
  FabPulse *pulse;    /* counts the runs; NULL: nobody looks */
  const gint *cancel; /* NULL: nobody cancels */
} FabMixRequest;

/* Of a checked scenario with `mix`. NULL and *error: it has none, or a kind cannot be simulated, or the log cannot be
 * read. The scenario outlives the answer. (transfer full) */
FabMixAnswer *fab_mix_answer (const FabScenario *scenario, const FabMixRequest *request, GError **error);
void fab_mix_answer_free (FabMixAnswer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabMixAnswer, fab_mix_answer_free)
