/* SPDX-License-Identifier: Apache-2.0 */
/* design.h - fills in what `cluster.design` and `cluster.scalable_units` say of a cluster.
 *
 * The keys of the design are laid under those that the scenario has, as those of an included file are: what was written
 * wins. So every command reads the same machine, and the resolved scenario shows it.
 *
 *   node, nic, route   those of the design
 *   nodes              units x nodes of a unit
 *   places             as many, where the scenario has other nodes: the fabric is built for whole units
 *   fabric             that of the number of units, key by key where the scenario has the same kind
 *
 * Without `scalable_units` there are as many units as `nodes` need, or else one.
 */
#pragma once

#include "sim/config/yaml_doc.h"
#include "sim/scenario/catalog.h"

/* Adds keys to the document. Designs of the document's own `designs` come before those of the catalogue. A design that
 * there is not is left to the check of references. */
void fab_design_lay (FabYamlDoc *doc, const FabRegistry *registry, const FabCatalog *shipped,
                     FabDiagnostics *diagnostics);
