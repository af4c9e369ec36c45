/* SPDX-License-Identifier: Apache-2.0 */
/* testbed.h - machines of the catalogue without a job, for questions about the machine itself. */
#pragma once

#include "sim/assembly/assemble.h"

typedef struct {
  const char *node; /* node entry of the catalogue; NULL: that of the design */
  gint64 nodes;
  gint64 gpus_per_node;  /* 0: all that the node has */
  const FabEdits *edits; /* over the scenario, or NULL */
  const char *design;    /* design entry of the catalogue; NULL: none */
  gint64 units;          /* scalable units of the design; 0: as many as the nodes need */
} FabTestbedRequest;

typedef struct {
  FabScenario *scenario;
  FabPlant *plant;
} FabTestbed;

/* NULL and *error with every mistake of the request. */
FabTestbed *fab_testbed_new (const FabTestbedRequest *request, const FabCatalog *catalog,
                             const FabRegistry *registry, GError **error);
/* Takes the scenario. */
FabTestbed *fab_testbed_new_of (FabScenario *scenario, GError **error);
void fab_testbed_free (FabTestbed *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabTestbed, fab_testbed_free)
