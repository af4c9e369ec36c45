/* SPDX-License-Identifier: Apache-2.0 */
/* job_mix_spec.h - the jobs of a mix (job_mix.h), the machine that they share, the rules of its queue, and what became
 * of a job. */
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
   * those the one that started last. It needs the order FAB_MIX_PRIORITY, in which these wait behind it. */
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
