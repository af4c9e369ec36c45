/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - finds vertices and links of an assembled graph by the names that users write. */
#pragma once

#include "sim/fabric/graph.h"
#include "sim/scenario/diagnostics.h"

typedef struct _FabNames FabNames;

/* O(vertices). The graph must outlive the result. (transfer full) */
FabNames *fab_names_new (const FabGraph *graph);
void fab_names_free (FabNames *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabNames, fab_names_free)

/* Returns the name of a vertex, owned by the object. */
const char *fab_names_of (const FabNames *self, FabVertexId vertex);

/* Finds a vertex by name. `kinds` is a mask of 1 << FabVertexKind; `noun` is what messages call these kinds. If there
 * is none, it adds a diagnostic with the nearest name and returns FAB_NO_VERTEX. */
FabVertexId fab_names_find (const FabNames *self, const char *name, guint kinds, const char *noun,
                            const FabMark *mark, FabDiagnostics *diagnostics);

enum { FAB_NAMES_ALL_KINDS = 0xff };

/* Returns a link's name: "node0/nic0 -> switch". (transfer full) */
char *fab_names_link (const FabNames *self, FabLinkId link);

/* Whether a pattern with * and ? matches the link's name or the name of either end. */
gboolean fab_names_link_fits (const FabNames *self, FabLinkId link, const char *pattern);
