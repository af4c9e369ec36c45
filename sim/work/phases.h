/* SPDX-License-Identifier: Apache-2.0 */
/* phases.h - an algorithm as phases: in each some ranks send, and what a rank sends waits for what it got last.
 *
 * Its form and its schedule both come out of that. What goes between nodes is spread over the NICs of the two GPUs.
 * Where nothing is in chunks, phases follow one another: the form's limit is what that takes (wait_time.h), where it is
 * below the footprint's rate. In a pipeline chunks are in all phases at once, and only the first one pays for each:
 * the form's fill.
 */
#pragma once

#include "sim/work/collective.h"

typedef struct _FabPhases FabPhases;

FabPhases *fab_phases_new (const FabGroup *group, gboolean is_pipeline);
void fab_phases_free (FabPhases *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabPhases, fab_phases_free)

/* What is sent from now on belongs to a phase after all so far; without effect where nothing was sent since. */
void fab_phases_next (FabPhases *self);

/* `weight` bytes per byte of size from one rank to another. */
void fab_phases_send (FabPhases *self, guint from, guint to, double weight);

/* The same by calls that block: it also waits for what either end has sent in turn before. Not in a pipeline. */
void fab_phases_send_in_turn (FabPhases *self, guint from, guint to, double weight);

/* All of the form but n_channels, which is 1. */
gboolean fab_phases_form (const FabPhases *self, const FabAlgorithmEnv *env, FabCollectiveForm *form,
                          GError **error);

gboolean fab_phases_schedule (const FabPhases *self, const FabAlgorithmEnv *env, guint n_chunks,
                              FabSchedule *schedule, GError **error);
