/* SPDX-License-Identifier: Apache-2.0 */
/* plan_shapes.h - which collectives are alike but for the links they use, and how those of two lie to each other.
 *
 * The links of a collective are numbered in ascending order from 0. Collectives are of one shape when a network is told
 * the same of them with these numbers for the links, and links of one number are alike. The relation of two
 * collectives says which of their links are the same, and in which order all of them come. So collectives of equal
 * shapes, of which each two have equal relations, are the same for a network in which only what shares links meets: to
 * the last digit, since sums over links have the same order, too.
 */
#pragma once

#include "sim/net/net.h"

typedef struct _FabPlanShapes FabPlanShapes;

typedef struct {
  guint shape; /* from 0 */
  guint links; /* number of the set of its links */
} FabPlanShape;

FabPlanShapes *fab_plan_shapes_new (void);
void fab_plan_shapes_free (FabPlanShapes *self); /* accepts NULL */

/* Returns the shape of a collective: `words` (guint64) is everything that the network is told but for the links, and
 * `links` (FabLinkId) are these in the same order, as often as they come. */
FabPlanShape fab_plan_shapes_find (FabPlanShapes *self, const FabGraph *graph, const GArray *words,
                                   const GArray *links);

/* Returns the links of a set, in ascending order. They stay where they are. */
const FabLinkId *fab_plan_shapes_links (const FabPlanShapes *self, guint links, guint *n);

/* Returns the number of the relation of two sets of links, of which one collective began before the other; 0: they have
 * no link in common, and do not meet. A set meets itself, also without links. */
guint fab_plan_shapes_relation (FabPlanShapes *self, guint earlier, guint later);

/* Whether their relation is not 0. The relation itself takes much longer to find the first time. */
gboolean fab_plan_shapes_meet (FabPlanShapes *self, guint earlier, guint later);

/* Returns a number for a collective of a shape that begins while others are under way, of the relations to which there
 * are `n`, in the order in which they began. */
guint32 fab_plan_shapes_key (FabPlanShapes *self, guint shape, const guint *relations, guint n);
