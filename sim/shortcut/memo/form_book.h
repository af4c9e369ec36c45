/* SPDX-License-Identifier: Apache-2.0 */
/* form_book.h - forms of a machine, for the same machine with ports of other rates.
 *
 * Which paths, rings and trees a group has does not depend on how fast the fabric's links are, as long as none of
 * them changes its place in the order of rates: a path search compares the least rates of paths with each other and
 * does nothing else with them. So a form for other rates has the same links with the same weights. What follows from
 * rates is computed again, in the same order and to the same last bit: what binds, which hop is the slowest, and what a
 * pipeline takes to fill. The recipe of a form (form_recipe.h) says what that takes.
 *
 * Threads: any number may use one book at once.
 */
#pragma once

#include "sim/collective/collective.h"

typedef struct _FabFormBook FabFormBook;

/* For machines like that of this graph. (transfer full) */
FabFormBook *fab_form_book_new (const FabGraph *graph);
FabFormBook *fab_form_book_ref (FabFormBook *self);
void fab_form_book_unref (FabFormBook *self); /* accepts NULL */

/* Whether the graph differs from the book's in rates of links between NICs and switches of the fabric alone, and
 * links of equal rates have equal ones and faster links faster ones in both, those of drives aside. */
gboolean fab_form_book_fits (const FabFormBook *self, const FabGraph *graph);

/* A form that makes all forms together larger, in links and sends, is not kept. */
void fab_form_book_keep_at_most (FabFormBook *self, guint64 n_items);

/* What libraries ask for forms on graphs that fit. It has none of uneven groups. */
FabFormMemo *fab_form_book_memo (FabFormBook *self);
