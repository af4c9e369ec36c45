/* SPDX-License-Identifier: Apache-2.0 */
/* hall.h - machines of the catalogue without a job, for questions about the machine itself. */
#pragma once

#include "sim/scenario/assemble.h"

typedef struct {
  const char *node; /* node entry of the catalogue */
  gint64 nodes;
  gint64 gpus_per_node;  /* 0: all that the node has */
  const FabEdits *edits; /* over the scenario, or NULL */
} FabHallRequest;

typedef struct {
  FabScenario *scenario;
  FabPlant *plant;
} FabHall;

/* NULL and *error with every mistake of the request. */
FabHall *fab_hall_new (const FabHallRequest *request, const FabCatalog *catalog, const FabRegistry *registry,
                       GError **error);
/* Takes the scenario. */
FabHall *fab_hall_new_of (FabScenario *scenario, GError **error);
void fab_hall_free (FabHall *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabHall, fab_hall_free)
