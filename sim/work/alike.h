/* SPDX-License-Identifier: Apache-2.0 */
/* alike.h - nodes of a group in which the same happens: one is looked at, its links are counted for all.
 *
 * With a period of k, what happens inside node i is what happens inside node i mod k, the model, if the two are alike
 * (sim/fabric/twins.h). The caller says what the models do, leaves the others out, and has them all added at the end.
 */
#pragma once

#include "sim/work/hop.h"

typedef struct _FabAlike FabAlike;

/* NULL: there are no such nodes, or they are not to be taken for each other. */
FabAlike *fab_alike_new (const FabGroup *group, guint period);
void fab_alike_free (FabAlike *self); /* accepts NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabAlike, fab_alike_free)

/* Whether the node stands for, or is like, the model of its number; a model is. FALSE where `self` is NULL. */
gboolean fab_alike_has (const FabAlike *self, guint node);
guint fab_alike_model (const FabAlike *self, guint node);

/* Whether a hop may be counted so: not where it matters who else uses the same links. */
static inline gboolean
fab_alike_takes (const FabHop *hop)
{
  return !fab_hop_kind_is_net (hop->kind) && hop->duplex_stretch <= 1;
}

/* A hop inside a model, as fab_hop_use (). */
void fab_alike_use (FabAlike *self, guint model, const FabHop *hop, double weight, double net_stretch);

/* Adds what the models do for all that are like them. */
void fab_alike_add (FabAlike *self, FabFootprintBuilder *builder);
