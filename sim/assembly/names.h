/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - finds parts of a machine by the names that a scenario writes: node3/nic2, leaf5, leaf* -> spine1. */
#pragma once

#include "sim/config/diagnostics.h"
#include "sim/fabric/graph.h"

typedef struct _FabNames FabNames;

enum { FAB_NAMES_ALL_KINDS = 0xff };

/* O(vertices). The graph must outlive the result. (transfer full) */
FabNames *fab_names_new (const FabGraph *graph);
void fab_names_free (FabNames *self); /* accepts NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabNames, fab_names_free)

/* Returns the name of a vertex, owned by the object. */
const char *fab_names_of (const FabNames *self, FabVertexId vertex);

/* Finds a vertex by name. `kinds` is a mask of 1 << FabVertexKind; `noun` is what messages call these kinds. If there
 * is none, it adds a diagnostic with the nearest name and returns FAB_NO_VERTEX. */
FabVertexId fab_names_find (const FabNames *self, const char *name, guint kinds, const char *noun,
                            const FabMark *mark, FabDiagnostics *diagnostics);

/* Whether a pattern with * and ? matches the link's name or the name of either end. */
gboolean fab_names_link_fits (const FabNames *self, FabLinkId link, const char *pattern);
