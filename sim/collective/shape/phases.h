/* SPDX-License-Identifier: Apache-2.0 */
/* phases.h - an algorithm described as phases, from which both its form and its schedule are made.
 *
 * In each phase some ranks send to others. A rank sends when it has received everything that was sent to it in the
 * last earlier phase in which it received anything; it does not wait for the other ranks. Bytes between nodes are
 * spread evenly over the NICs of the two GPUs (nic_paths.h).
 *
 * Without a pipeline a phase moves whole buffers, and links that only other phases use are idle meanwhile. The form's
 * limit is the rate that remains, where it is below the footprint's rate. In a pipeline the
 * chunks of a buffer are in all phases at once, and only the first chunk pays for each phase: this is the form's
 * fill.
 */
#pragma once

#include "sim/collective/collective.h"

typedef struct _FabPhases FabPhases;

FabPhases *fab_phases_new (const FabGroup *group, gboolean is_pipeline);
void fab_phases_free (FabPhases *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabPhases, fab_phases_free)

/* Starts a phase: what is sent from now on comes after all phases so far. No effect where nothing was sent since the
 * last call. */
void fab_phases_next (FabPhases *self);

/* In this phase rank `from` sends `weight` bytes per byte of size to rank `to`. */
void fab_phases_send (FabPhases *self, guint from, guint to, double weight);

/* The same with calls that block: a rank starts a call when its last one has ended. So the message also waits for
 * what either rank has received, or sent by this function, in the last phase in which it did so. Not for a pipeline. */
void fab_phases_send_in_turn (FabPhases *self, guint from, guint to, double weight);

/* Makes the form; its n_channels is 1. FALSE and *error when two ranks have no path. */
gboolean fab_phases_form (const FabPhases *self, const FabAlgorithmEnv *env, FabCollectiveForm *form,
                          GError **error);

/* Adds all messages to a schedule; a pipeline cuts each into `n_chunks`. FALSE and *error when two ranks have no
 * path. */
gboolean fab_phases_schedule (const FabPhases *self, const FabAlgorithmEnv *env, guint n_chunks,
                              FabSchedule *schedule, GError **error);
