/* SPDX-License-Identifier: Apache-2.0 */
/* phases_private.h - the parts of phases, for phases.c, which orders and sends them, and phases_form.c. */
#pragma once

#include "sim/work/phases.h"
#include "sim/work/ways.h"

typedef struct {
  guint from, to;
  double weight;
  gboolean is_in_turn;
} FabSend;

struct _FabPhases {
  const FabGroup *group;
  FabWays *ways;
  gboolean is_pipeline;
  GArray *sends;  /* FabSend, phase by phase */
  GArray *starts; /* guint: index of the first send of each phase */
  gboolean is_next;
};

/* Returns the first send of a phase; beyond the last phase, the number of sends. */
guint fab_phases_start (const FabPhases *self, guint phase);

/* Returns the hops that share a send. (transfer full) */
GArray *fab_phases_hops (const FabPhases *self, guint send, GError **error);

/* Adds the messages of send `send`, which are consecutive. Returns the first and sets *n to their number. */
typedef guint (*FabPhasesAdd) (gpointer owner, guint send, const GArray *after, guint *n);

/* Calls `add` for all sends, each with the messages for which it waits. */
void fab_phases_wait_in_order (const FabPhases *self, FabPhasesAdd add, gpointer owner);
