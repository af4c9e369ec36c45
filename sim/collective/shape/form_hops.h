/* SPDX-License-Identifier: Apache-2.0 */
/* form_hops.h - what the hops of a collective say of its form: the kinds of its steps, and the longest sequence. */
#pragma once

#include "sim/collective/collective.h"

/* --- the slowest hops --- */

typedef struct {
  double bytes_per_s[2]; /* of the slowest hop so far, inside a node and between nodes; 0: there is none */
} FabSlowestHops;

/* The slowest hop inside a node says of what kind the form's steps there are, and the slowest one between nodes of what
 * kind those are; of hops of one rate it is the first. Adapters add to a step what those of the longest hop do. */
void fab_slowest_hops_note (FabSlowestHops *self, const FabHop *hop, FabCollectiveForm *form);
/* The same of what is known of a hop without its way. */
void fab_slowest_hops_note_rate (FabSlowestHops *self, FabHopKind kind, double bytes_per_s,
                                 const FabTechnology *technology, FabCollectiveForm *form);

/* A hop that is a step: the slowest hops, and the latency of the longest. */
void fab_slowest_hops_note_step (FabSlowestHops *self, const FabHop *hop, FabCollectiveForm *form);

/* --- the longest sequence --- */

/* Steps that wait for one another. */
typedef struct {
  FabTimePs latency_ps;
  guint n_intra, n_inter;
} FabStepChain;

/* For a library a step between nodes costs more than any step inside a node, whatever the wires. */
gboolean fab_step_chain_is_longer (const FabStepChain *self, const FabStepChain *other);
void fab_step_chain_add (FabStepChain *self, const FabHop *hop);
