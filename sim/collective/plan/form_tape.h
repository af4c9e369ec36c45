/* SPDX-License-Identifier: Apache-2.0 */
/* form_tape.h - of what a form was made: its hops and stages, so that what follows from rates can be computed again for
 * a graph with other rates, in the same order and to the same last bit: what binds, which hop is the slowest, and what
 * a pipeline takes to fill.
 */
#pragma once

#include "sim/collective/collective.h"

FabFormTape *fab_form_tape_new (const FabGraph *graph);
void fab_form_tape_free (FabFormTape *self); /* accepts NULL */

/* A hop of the form, whose rate decides what the form's slowest hop is. Returns its number: hops of which rates make
 * the same are one. */
guint fab_form_tape_hop (FabFormTape *self, const FabHop *hop);
/* A stage (sim/work/stages.h): `factor` line bytes over the hop per byte of size, after the stages in `after` (guint,
 * counted from the beginning of the part; NULL: none). */
void fab_form_tape_stage (FabFormTape *self, const FabHop *hop, double factor, const GArray *after);
void fab_form_tape_end_part (FabFormTape *self);
/* The form is whole; of a tape that is never closed no other form can be made. */
void fab_form_tape_close (FabFormTape *self, gboolean is_pipeline);

/* Whether the tape was closed and holds all that rates decided. */
gboolean fab_form_tape_is_whole (const FabFormTape *self);
guint fab_form_tape_n_stages (const FabFormTape *self);

/* Makes the form of another graph from the one that was recorded: the same links, with other rates. The caller owns its
 * footprint. The tape must be whole. */
void fab_form_tape_replay (const FabFormTape *self, const FabGraph *graph, const FabCollectiveForm *known,
                           FabCollectiveForm *form);
