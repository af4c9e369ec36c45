/* SPDX-License-Identifier: Apache-2.0 */
/* pulse.h - how far a long computation is: a few numbers that it sets atomically, and that any thread may read.
 *
 * They are for a person who waits, and change nothing.
 */
#pragma once

#include <glib.h>

typedef struct {
  gint n_done;          /* plays of a study, or iterations of a run, that have ended */
  gint n_known;         /* of so many; 0: not known beforehand */
  gint now_us;          /* simulated time of a run, G_MAXINT from 35 minutes on; 0 where several are played */
  gint step_us;         /* about what an iteration of the run takes of `now_us`; 0: nobody guessed */
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

static inline void
fab_pulse_guess (FabPulse *self, gint64 step_us)
{
  if (self != NULL)
    g_atomic_int_set (&self->step_us, (gint) MIN (step_us, G_MAXINT));
}
