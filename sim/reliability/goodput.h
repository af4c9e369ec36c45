/* SPDX-License-Identifier: Apache-2.0 */
/* goodput.h - how much of the wall time of a long job is useful, when parts fail.
 *
 * The job computes for `interval_s`, stops for `blocking_s` to copy a checkpoint, and goes on while the checkpoint is
 * written for another `background_s` (0: synchronous). A failure that stops the job costs the work since the last
 * checkpoint that was complete, then detection and restart. Failures come at random and independently, at a constant
 * rate l for the whole job, also while it restarts. With s = interval + blocking, R = detection + restart and
 * g = background the expected number of checkpoints that survive a cycle from restart to failure is
 *
 *   e^(-l g) / (e^(l s) - 1)
 *
 * and a cycle takes e^(l R) / l on average, so that the useful share of the time is
 *
 *   U = l x interval x e^(-l (R + g)) / (e^(l s) - 1)
 *
 * With g = 0 this is the complete cost function of J. T. Daly (A higher order estimate of the optimum checkpoint
 * interval for restart dumps, Future Generation Computer Systems 22, 2006); g is the same argument for a checkpoint
 * that is complete only later. Its first order is J. W. Young's (CACM 17(9), 1974).
 *
 * Nodes that fail and need repair are replaced by spares. With S spares, failures of rate m that take a node, and a
 * mean time T of repair, the job waits for the share of the time that Erlang's loss formula gives for S + 1 servers
 * and load m T: in the state with S + 1 broken nodes nothing runs and nothing fails. The formula holds for any
 * distribution of T.
 *
 * A part that is slow and not dead makes the job slower until it is found. Slow parts of one class are present with
 * probability 1 - e^(-rate x time to find); the worst one that is present sets the pace.
 *
 * While a checkpoint is written beside the job, steps take longer. It is written for a time of the clock, so that at
 * most this time is lost, however slow the steps are: g x slowdown / (1 + slowdown) for each checkpoint.
 *
 * All functions are pure. Times are seconds in double: a training may take longer than 2^63 ps.
 */
#pragma once

#include <glib.h>

typedef enum {
  FAB_FAILURE_STOPS,   /* the job stops at once and loses what was not saved */
  FAB_FAILURE_SLOWS,   /* the job runs slower until the part is found, and is then stopped as planned */
  FAB_FAILURE_PLANNED, /* somebody stops the job, which writes a checkpoint first */
  FAB_N_FAILURE_EFFECTS,
} FabFailureEffect;

extern const char *const fab_failure_effect_names[]; /* "stops", "slows", "planned"; NULL-ended */

/* One class of events, for all parts of the job together. */
typedef struct {
  const char *name;
  FabFailureEffect effect;
  double per_s;
  gboolean takes_node; /* a node leaves for repair */
  double slowdown;     /* SLOWS: by how much longer a step takes, 0.25 for a quarter */
} FabFailureRate;

typedef struct {
  const FabFailureRate *rates;
  guint n_rates;
  double detection_s;      /* from a failure until somebody acts */
  double slow_detection_s; /* from when a part is slow until it is found */
  double restart_s;        /* from then until the job computes again, reading the checkpoint included */
  double repair_s;         /* how long a node is away on average; 0: another one is always there */
  guint n_spares;
  double interval_s;               /* computing time between checkpoints; 0: the best one */
  double least_interval_s;         /* the best one is at least this long: a step */
  double blocking_s, background_s; /* of a checkpoint */
  double background_slowdown;      /* by how much longer steps take while a checkpoint is written */
} FabReliability;

/* Shares of the wall time; they add up to 1. */
typedef struct {
  double useful;     /* computing that is kept, slow parts and checkpoint traffic taken out */
  double slowed;     /* what slow parts and checkpoint traffic add to it */
  double checkpoint; /* the job stands still for a checkpoint that is kept */
  double lost;       /* computing and checkpoints that a failure undoes */
  double down;       /* detection and restart */
  double planned;    /* stopped by somebody: checkpoint and restart */
  double waiting;    /* for a repaired node */
} FabTimeShares;

typedef struct {
  double interval_s;    /* between checkpoints: given, or the best one */
  double stops_per_s;   /* failures that stop the job */
  double planned_per_s; /* stops that somebody decides, slow parts that were found included */
  FabTimeShares shares;
  double ettr_fraction;    /* effective training time ratio: useful + slowed */
  double goodput_fraction; /* useful */
} FabGoodputForm;

/* The closed form above. */
FabGoodputForm fab_goodput_form (const FabReliability *self);

/* The mean speed of steps beside which checkpoints are written, one every `cycle_s`, relative to steps without. */
double fab_goodput_writing_speed (const FabReliability *self, double cycle_s);

/* Useful share of the time when only failures that stop the job count: U above. */
double fab_goodput_useful (double per_s, double interval_s, double blocking_s, double background_s,
                           double down_s);

/* The interval with the largest useful share: the root of (1 - l t) e^(l (t + blocking)) = 1, at least `least_s`. */
double fab_goodput_best_interval (double per_s, double blocking_s, double least_s);

/* The two known approximations of it: sqrt (2 blocking / l), and Daly's of higher order. */
double fab_goodput_young_interval (double per_s, double blocking_s);
double fab_goodput_daly_interval (double per_s, double blocking_s);

/* Erlang's loss formula: share of the time in which all of `n` servers are busy under a load in erlangs. O(n). */
double fab_erlang_loss (guint n, double load);

/* The fewest spares with which the job waits for at most `share` of its time; at most `most`. */
guint fab_goodput_spares (const FabReliability *self, double share, guint most);
