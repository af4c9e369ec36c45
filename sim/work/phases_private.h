/* SPDX-License-Identifier: Apache-2.0 */
/* phases_private.h - what is in phases: for phases.c, which orders and sends them, and phases_form.c. */
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
  GArray *starts; /* guint: first send of each phase */
  gboolean is_next;
};

/* The first send of a phase; beyond the last, how many there are. */
guint fab_phases_start (const FabPhases *self, guint phase);

/* The hops that share a send. (transfer full) */
GArray *fab_phases_hops (const FabPhases *self, guint send, GError **error);

/* Adds the messages of send `send`, which are consecutive; returns the first and how many. */
typedef guint (*FabPhasesAdd) (gpointer owner, guint send, const GArray *after, guint *n);

/* All sends, each with the messages that it waits for. */
void fab_phases_wait_in_order (const FabPhases *self, FabPhasesAdd add, gpointer owner);
