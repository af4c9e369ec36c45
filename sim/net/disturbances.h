/* SPDX-License-Identifier: Apache-2.0 */
/* disturbances.h - disturbances of a network beside the job: links that fail and recover, bursts and flows of
 * other tenants.
 *
 *   capacity of a link = line rate x product over the spells and bursts that are active
 *   bursts   active for an exponential time of mean `burst`, then off for one of mean burst x (peak - load) /
 * load, so
 *            that the mean load is `load`; each link draws its own times from its seed
 *   flows    one stream at a time, each starting `every` after the start of the one before, or when that has ended
 *
 * Bursts and flows never end. `is_stuck` tells when a link is dead for good and nothing of the job can continue; the
 * engine is then stopped.
 *
 * The object borrows the network and runs on its engine's thread.
 */
#pragma once

#include "sim/net/net.h"

/* A link has this share of its line rate for a time. */
typedef struct {
  FabLinkId link;
  double fraction;
  FabTimePs at_ps, until_ps; /* until_ps 0: for good */
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
  FabBytesPerS limit_bytes_per_s; /* 0: no limit */
  FabTimePs every_ps;
} FabSideFlow;

typedef struct {
  GArray *spells; /* FabSpell */
  GArray *bursts; /* FabBursts */
  GArray *flows;  /* FabSideFlow, between vertices that a path connects */
} FabDisturbancesPlan;

FabDisturbancesPlan *fab_disturbances_plan_new (void);
void fab_disturbances_plan_free (FabDisturbancesPlan *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabDisturbancesPlan, fab_disturbances_plan_free)

typedef struct _FabDisturbances FabDisturbances;

/* Whether nothing continues except the disturbances. */
typedef gboolean (*FabStuckFn) (gconstpointer owner);

/* Starts on a network with `set_capacity` whose clock is at 0. Everything but the plan must outlive it. (transfer
 * full) */
FabDisturbances *fab_disturbances_new (FabNet *net, const FabDisturbancesPlan *plan, FabStuckFn is_stuck,
                                       gconstpointer owner);
/* Whether no spell will begin or end any more; TRUE for NULL. */
gboolean fab_disturbances_is_settled (const FabDisturbances *self);
void fab_disturbances_free (
    FabDisturbances *self); /* accepts NULL; may be called before or after the network is freed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabDisturbances, fab_disturbances_free)
