/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - what a person calls a vertex or a link, found in an assembled graph. */
#pragma once

#include "sim/fabric/graph.h"
#include "sim/scenario/diagnostics.h"

typedef struct _FabNames FabNames;

/* O(vertices); the graph outlives it. */
FabNames *fab_names_new (const FabGraph *graph);
void fab_names_free (FabNames *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabNames, fab_names_free)

/* The name is the object's. */
const char *fab_names_of (const FabNames *self, FabVertexId vertex);

/* A vertex by its name; `kinds` is a mask of 1 << FabVertexKind, `noun` what such are called. FAB_NO_VERTEX and a
 * diagnostic with the nearest name otherwise. */
FabVertexId fab_names_find (const FabNames *self, const char *name, guint kinds, const char *noun,
                            const FabMark *mark, FabDiagnostics *diagnostics);

enum { FAB_NAMES_ALL_KINDS = 0xff };

/* "node0/nic0 -> switch". (transfer full) */
char *fab_names_link (const FabNames *self, FabLinkId link);

/* Whether a pattern with * and ? fits the link's name or that of either end. */
gboolean fab_names_link_fits (const FabNames *self, FabLinkId link, const char *pattern);
