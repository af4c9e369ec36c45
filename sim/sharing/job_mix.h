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

#include <glib.h>

typedef enum {
  FAB_MIX_PACKED, /* the fewest groups: the fullest group that has room, or else the emptiest groups first */
  FAB_MIX_SPREAD, /* one node after another in the group with the most free nodes */
  FAB_MIX_FIRST,  /* the first free nodes */
  FAB_MIX_RANDOM, /* nodes drawn from those that are free */
  FAB_N_MIX_PLACEMENTS,
} FabMixPlacement;

extern const char *const fab_mix_placement_names[]; /* "packed", ...; NULL-ended */

typedef enum {
  FAB_MIX_FIFO,     /* in the order of arrival */
  FAB_MIX_PRIORITY, /* the highest priority first, then in the order of arrival */
  FAB_MIX_SHORTEST, /* the least work first */
  FAB_N_MIX_ORDERS,
} FabMixOrder;

extern const char *const fab_mix_order_names[]; /* "fifo", ...; NULL-ended */

/* How jobs of one kind fail, and what they save. All 0 and interval_s infinite: they never fail and save nothing. */
typedef struct {
  double stops_per_s;   /* failures that stop the job */
  double breaks_per_s;  /* of those, that take a node away */
  double planned_per_s; /* stops that somebody decides */
  double interval_s;    /* job time between checkpoints; infinite: none is written */
  double blocking_s;    /* job time in which it stands still for each */
  double background_s;  /* job time until a checkpoint is complete after that, while the job computes */
  double detection_s;   /* from a failure until the job is started again */
  double restart_s;     /* from then until it computes */
  double planned_s;     /* the job stands still for a planned stop */
  double repair_s;      /* how long a node that broke is away; 0: another one is always there */
  double slowing;       /* computing takes so many times as long because of parts that are slow, at least 1 */
} FabMixFailures;

/* How one kind of job answers to its places and to others. Arrays are the caller's. */
typedef struct {
  guint n_levels, n_loads;       /* each at least 1 */
  const double *nodes_per_group; /* [n_levels], descending: m */
  const double *own_load; /* [n_levels] share of the uplinks of a group that its m nodes there take, alone */
  const double *duty;     /* [n_levels] share of the time in which it communicates */
  const double *others;   /* [n_loads], ascending from 0: share of each uplink that others take */
  /* [n_levels x n_loads], the row of level 0 first: time of a step over that at the best of the levels with no others;
   * at least 1. */
  const double *slowdown;
  const FabMixFailures *failures; /* NULL: jobs never fail and save nothing */
} FabMixKind;

typedef struct {
  double submit_s;
  double work_s; /* its time when nothing slows it */
  guint kind, n_nodes;
  gint64 priority; /* higher is earlier */
} FabMixJob;

typedef struct {
  guint n_groups;
  const guint *group_nodes; /* [n_groups] */
} FabMixMachine;

typedef struct {
  FabMixPlacement placement;
  FabMixOrder order;
  /* A job may start before one that waits longer, where it does not delay the first that waits (EASY backfilling;
   * Lifka, JSSPP 1995). It is taken to need its work and nothing more. */
  gboolean has_backfill;
  gboolean is_crowded; /* jobs that send take the same uplinks; FALSE: they count by their mean loads */
  gboolean is_ideal;   /* uplinks never bind and places do not matter */
  /* A job that waits stops jobs of lower priority where that gives it enough nodes: the lowest priority first, and of
   * those the one that started last. */
  gboolean has_preemption;
  gboolean has_failures; /* jobs fail as their kinds say */
  guint n_spares;        /* nodes beside the machine, which take the place of those that break */
  guint64 seed;          /* of random places and failures */
} FabMixRules;

/* What became of one job. */
typedef struct {
  double start_s, end_s; /* of its first start, and when its work was done */
  /* Time in which it had nodes: its work and all that follows. A job that is stopped gives its nodes back. */
  double busy_s;
  double places_lost_s;  /* because its nodes are in several groups */
  double sharing_lost_s; /* because of others on its uplinks */
  double slowed_s;       /* because of parts that are slow */
  double checkpoint_s;   /* it stood still for checkpoints that were kept */
  double undone_s;       /* what failures undid, and stops for others */
  double down_s;         /* detection, restart and planned stops */
  guint n_groups;        /* in which its nodes were at last */
  guint n_failures, n_preempted;
} FabMixOutcome;

typedef struct {
  FabMixOutcome *outcomes; /* [n_jobs] */
  double first_s, last_s;  /* the first arrival, the last end */
  double *group_load;      /* [n_groups] mean share of its uplinks that is used, from first_s to last_s */
  guint64 n_nodes;         /* of the machine */
  double away_s;           /* nodes that were away for repair without a spare, times that time */
  guint64 n_failures, n_preempted;
  guint longest_queue; /* most jobs that waited at once */
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
