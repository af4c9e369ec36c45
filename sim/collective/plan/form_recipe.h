/* SPDX-License-Identifier: Apache-2.0 */
/* form_recipe.h - of what a form was made: its hops and sends, so that what follows from rates can be computed again
 * for a graph with other rates, in the same order and to the same last bit: what binds, which hop is the slowest, and
 * what a pipeline takes to fill.
 */
#pragma once

#include "sim/collective/collective.h"

FabFormRecipe *fab_form_recipe_new (const FabGraph *graph);
void fab_form_recipe_free (FabFormRecipe *self); /* accepts NULL */

/* A hop of the form, whose rate decides what the form's slowest hop is. Returns its number: hops of which rates make
 * the same are one. */
guint fab_form_recipe_hop (FabFormRecipe *self, const FabHop *hop);
/* A send (sim/collective/shape/send_graph.h): `factor` line bytes over the hop per byte of size, after the sends in
 * `after` (guint, counted from the beginning of the part; NULL: none). */
void fab_form_recipe_send (FabFormRecipe *self, const FabHop *hop, double factor, const GArray *after);
void fab_form_recipe_end_part (FabFormRecipe *self);
/* The form is whole; of a recipe that is never closed no other form can be made. */
void fab_form_recipe_close (FabFormRecipe *self, gboolean is_pipeline);

/* Whether the recipe was closed and holds all that rates decided. */
gboolean fab_form_recipe_is_whole (const FabFormRecipe *self);
guint fab_form_recipe_n_sends (const FabFormRecipe *self);

/* Makes the form of another graph from the one that was recorded: the same links, with other rates. The caller owns its
 * footprint. The recipe must be whole. */
void fab_form_recipe_replay (const FabFormRecipe *self, const FabGraph *graph, const FabCollectiveForm *known,
                             FabCollectiveForm *form);
