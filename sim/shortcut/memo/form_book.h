/* SPDX-License-Identifier: Apache-2.0 */
/* form_book.h - forms of a machine, for the same machine with ports of other rates.
 *
 * Which paths, rings and trees a group has does not depend on how fast the fabric's links are, as long as none of
 * them changes its place in the order of rates: a path search compares the least rates of paths with each other and
 * does nothing else with them. So a form for other rates has the same links with the same weights. What follows from
 * rates is computed again, in the same order and to the same last bit: what binds, which hop is the slowest, and what a
 * pipeline takes to fill. The tape of a form says what that takes.
 *
 * Threads: any number may use one book at once.
 */
#pragma once

#include "sim/collective/collective.h"

/* --- what a form was made of --- */

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

/* --- forms of many rates --- */

/* For machines like that of this graph. (transfer full) */
FabFormBook *fab_form_book_new (const FabGraph *graph);
FabFormBook *fab_form_book_ref (FabFormBook *self);
void fab_form_book_unref (FabFormBook *self); /* accepts NULL */

/* Whether the graph differs from the book's in rates of links between NICs and switches of the fabric alone, and
 * links of equal rates have equal ones and faster links faster ones in both, those of drives aside. */
gboolean fab_form_book_fits (const FabFormBook *self, const FabGraph *graph);

/* The form for the rates of the group's graph, which fits; the caller owns its footprint. FALSE: the book has
 * none. It has none of uneven groups. */
gboolean fab_form_book_find (FabFormBook *self, const FabAlgorithmOps *algorithm, const FabGroup *group,
                             FabOp op, double net_stretch, FabCollectiveForm *form);

/* Keeps a copy of a form, and its tape, which it takes. */
void fab_form_book_add (FabFormBook *self, const FabAlgorithmOps *algorithm, const FabGroup *group, FabOp op,
                        double net_stretch, const FabCollectiveForm *form, FabFormTape *tape);
