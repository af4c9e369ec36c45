/* SPDX-License-Identifier: Apache-2.0 */
/* job_mix.h - many jobs on one machine: they arrive, wait in a queue, are given nodes, slow each other down on the
 * uplinks that they share, and end.
 *
 * The machine is a number of groups of nodes. Nodes of a group reach each other without an uplink; what goes from
 * group to group takes the uplinks of both. How a kind of job answers to that is measured before, by simulation, and
 * handed in as a table. Between two events (an arrival, an end) all speeds are constant. They follow from:
 *
 *   load of group g by job i    load_i (n_ig) x (slowdown_i (m_i, 0) / slowdown_i)
 *   others' load on job j       max over its groups g of min (sum of the load of g by all i but j,
 *                               1 - load_j (n_jg) / sum of load_i (n_ig) over all i)
 *   slowdown_j                  table of j's kind at m_j nodes a group and that load
 *
 * m is the nodes of a job over the groups in which they are, n_ig its nodes in group g. A job inside one group has
 * no load, and the slowdown of level 0 with no others. The minimum is the fair share: others never leave a job less
 * than its part of what all would take. The equations are solved by repetition.
 *
 * Loads are means over time and over the uplinks of a group, so the slowdown is what jobs cost each other that
 * send at unrelated times and over different uplinks as long as there are any. Where `is_crowded` is set, every job
 * that communicates takes its part of the job's own uplinks:
 *
 *   others' load on job j       max over g of s / (s + load_j (n_jg)), s = sum of duty_i load_i (n_ig) over all i but j
 *
 * duty is the share of the time in which a job communicates. The truth lies between the two.
 *
 * Where jobs fail (FabMixFailures), job time runs at 1 / slowdown: a job computes for `interval_s` of it, stands
 * still for `blocking_s` to write a checkpoint, and so on. A failure comes after an exponentially distributed time,
 * also while the job restarts. It undoes what the job did since the last complete checkpoint; then the job holds its
 * nodes for `down_s` and goes on. A planned stop writes a checkpoint first. A node that breaks is away for
 * `repair_s`: a spare takes its place, or else the machine has one node less and the job waits in the queue again. A
 * job that is stopped for one of higher priority loses as much as by a failure, and starts with `restart_s`. For one
 * job alone this is the closed form of sim/reliability/goodput.h.
 *
 * Times are seconds in doubles, as a year of picoseconds exceeds 64 bits.
 */
#pragma once

#include "sim/sharing/job_mix_spec.h"

typedef struct {
  FabMixOutcome *outcomes; /* [n_jobs] */
  double first_s, last_s;  /* the first arrival, the last end */
  double *group_load;      /* [n_groups] mean share of its uplinks that is used, from first_s to last_s */
  guint64 n_nodes;         /* of the machine */
  double away_s;           /* nodes that were away for repair without a spare, times that time */
  guint64 n_failures, n_preempted;
  guint longest_queue; /* most jobs that waited at once, after all that could start had started */
  guint64 n_events;
} FabMixPlay;

/* Plays jobs, which are sorted by arrival. Every job fits: n_nodes of a job is at least 1 and at most that of the
 * machine, work_s > 0. `*cancel` not 0 ends it early with NULL; `cancel` may be NULL. O(events x (running jobs x
 * their groups + waiting jobs)). (transfer full) */
FabMixPlay *fab_mix_play (const FabMixMachine *machine, const FabMixKind *kinds, const FabMixJob *jobs,
                          guint n_jobs, const FabMixRules *rules, const gint *cancel);
void fab_mix_play_free (FabMixPlay *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabMixPlay, fab_mix_play_free)

/* The slowdown of a kind at so many nodes a group, when others take this share of its uplinks: between measured
 * points by straight lines, over the logarithm of the nodes; beyond them, that of the last. */
double fab_mix_slowdown (const FabMixKind *kind, double nodes_per_group, double others);

/* One of its loads likewise; `loads` is own_load or duty. */
double fab_mix_load (const FabMixKind *kind, const double *loads, double nodes_per_group);
