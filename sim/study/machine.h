/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h - how many GPUs a scenario has, and the assignments that make them more, fewer, or joined otherwise. */
#pragma once

#include "sim/scenario/scenario.h"

guint fab_machine_gpus_per_node (const FabScenario *scenario);
guint fab_machine_gpus (const FabScenario *scenario);
/* GPUs that one NVLink switch, or the like, joins: of a node, or of the nodes that have it in common. */
guint fab_machine_domain (const FabScenario *scenario);

/* Adds the assignments ("a.b=c", owned by `sets`) that make it `n` GPUs: whole nodes, or a part of one. FALSE and
 * *error where they are neither. */
gboolean fab_machine_set_gpus (const FabScenario *scenario, guint n, GPtrArray *sets, GError **error);

/* The same for as many GPUs in domains of `n`: parts of its nodes with their share of NICs, or a node of the catalogue
 * with the same GPU. FALSE and *error, which says what there is. */
gboolean fab_machine_set_domain (const FabScenario *scenario, guint n, GPtrArray *sets, GError **error);
