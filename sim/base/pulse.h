/* SPDX-License-Identifier: Apache-2.0 */
/* pulse.h - how far a long computation is: a few numbers that it sets atomically, and that any thread may read.
 *
 * They are for a person who waits, and change nothing.
 */
#pragma once

#include <glib.h>

typedef struct {
  gint n_done;       /* plays of a study, or iterations of a run, that have ended */
  gint n_known;      /* of so many; 0: not known beforehand */
  gint now_us;       /* simulated time of a run, G_MAXINT from 35 minutes on; 0 where several are played */
  gint step_us;      /* about what an iteration of the run takes of `now_us`; 0: nobody guessed */
  gint n_tasks;      /* of one iteration of the run; 0: nobody counts */
  gint n_tasks_done; /* of the iteration that runs now */
  gint alike_s,
      all_s; /* both ends of what the network says that a run takes (sim/run/effort.h); 0: not known */
  gboolean wants_guess; /* somebody looks on from the beginning, for whom `step_us` is worth a play */
} FabPulse;

/* NULL: nobody looks. */
static inline void
fab_pulse_beat (FabPulse *self)
{
  if (self != NULL)
    g_atomic_int_inc (&self->n_done);
}

static inline void
fab_pulse_expect (FabPulse *self, guint n)
{
  if (self != NULL)
    g_atomic_int_add (&self->n_known, (gint) MIN (n, G_MAXINT / 2));
}

/* Of the iteration that runs now. */
static inline void
fab_pulse_count_tasks (FabPulse *self, guint n_done, guint n_all)
{
  if (self == NULL)
    return;
  g_atomic_int_set (&self->n_tasks_done, (gint) n_done);
  g_atomic_int_set (&self->n_tasks, (gint) n_all);
}

static inline void
fab_pulse_warn_of (FabPulse *self, double alike_s, double all_s)
{
  if (self == NULL)
    return;
  g_atomic_int_set (&self->alike_s, (gint) MIN (alike_s, G_MAXINT / 2));
  g_atomic_int_set (&self->all_s, (gint) MIN (all_s, G_MAXINT / 2));
}

/* Returns the share of all that is known to come that is done, 0 to 1; 0: nothing is known. */
static inline double
fab_pulse_fraction (const FabPulse *self)
{
  gint n_known = g_atomic_int_get (&self->n_known), n_done = g_atomic_int_get (&self->n_done);
  gint step_us = g_atomic_int_get (&self->step_us), now_us = g_atomic_int_get (&self->now_us);
  gint n_tasks = g_atomic_int_get (&self->n_tasks);
  double begun = 0;

  if (n_known == 0)
    return 0;
  if (step_us > 0 && now_us < G_MAXINT) /* the pulse holds 35 minutes of simulated time */
    begun = (double) (now_us % step_us) / step_us;
  else if (n_tasks > 0)
    begun = (double) g_atomic_int_get (&self->n_tasks_done) / n_tasks;
  return MIN ((n_done + begun) / n_known, 1);
}

static inline void
fab_pulse_guess (FabPulse *self, gint64 step_us)
{
  if (self != NULL)
    g_atomic_int_set (&self->step_us, (gint) MIN (step_us, G_MAXINT));
}
