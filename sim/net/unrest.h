/* SPDX-License-Identifier: Apache-2.0 */
/* unrest.h - what happens on a network beside the job: links that break and come back, others' bursts, others' flows.
 *
 *   capacity of a link = line rate x product over the spells and bursts that are on now
 *   bursts   on for an exponential time of mean `burst`, then off for one of mean burst x (peak - load) / load, so that
 *            the mean load is `load`; each link its own, from its seed
 *   flows    one stream at a time, each starting `every` after the one before, or when that has ended
 *
 * Bursts and flows never end: where a link is dead for good and nothing of the job can go on, who runs the engine is
 * told by `is_stuck`, and the engine is stopped.
 */
#pragma once

#include "sim/net/net.h"

/* A share of the line rate for a time. */
typedef struct {
  FabLinkId link;
  double fraction;
  FabTimePs at_ps, until_ps; /* 0: for good */
} FabSpell;

typedef struct {
  FabLinkId link;
  double load_fraction, peak_fraction; /* 0 < load < peak < 1 */
  FabTimePs burst_ps;
  guint64 seed;
} FabBursts;

typedef struct {
  FabVertexId src, dst;
  FabBytes bytes;
  FabBytesPerS limit_bytes_per_s; /* 0: none */
  FabTimePs every_ps;
} FabSideFlow;

typedef struct {
  GArray *spells; /* FabSpell */
  GArray *bursts; /* FabBursts */
  GArray *flows;  /* FabSideFlow; there is a path */
} FabUnrestPlan;

FabUnrestPlan *fab_unrest_plan_new (void);
void fab_unrest_plan_free (FabUnrestPlan *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabUnrestPlan, fab_unrest_plan_free)

typedef struct _FabUnrest FabUnrest;

/* Whether nothing but what is here goes on. */
typedef gboolean (*FabStuckFn) (gconstpointer owner);

/* On a network with `set_capacity`, whose clock stands at 0. All outlive it but the plan. */
FabUnrest *fab_unrest_new (FabNet *net, const FabUnrestPlan *plan, FabStuckFn is_stuck, gconstpointer owner);
/* Whether no spell will begin or end any more; TRUE for NULL. */
gboolean fab_unrest_is_settled (const FabUnrest *self);
void fab_unrest_free (FabUnrest *self); /* accepts NULL; before or after the network */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabUnrest, fab_unrest_free)
