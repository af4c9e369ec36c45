/* SPDX-License-Identifier: Apache-2.0 */
/* upgrade.h - what to change of a machine that exists, and what each change gains and costs.
 *
 * Single changes come from what the machine allows: ports of the next generation, more NICs per node, less
 * oversubscription, another fabric of the same switches, larger domains, other nodes, more nodes, and settings of the
 * software. Each is simulated. The best of each kind are then combined: every pair, and the best pair with every third.
 *
 *   saved      1 - (time for the same work after the change) / (time before): of a step, where the batch is kept; the
 *              median over the seeds
 *   band       of the saving (sim/decision/paired.h): what both machines share cancels out
 *   price      of what is bought anew (sim/cost/purchase.h)
 *
 * A change is sure when the whole band of its saving is above none, and no seed says the opposite. Only sure
 * changes are recommended, and those that cost nothing and make the step longer in no play.
 */
#pragma once

#include "sim/cost/purchase.h"
#include "sim/study/change.h"
#include "sim/study/study_band.h"
#include "sim/study/tune.h"

typedef enum {
  FAB_UPGRADE_SETTING, /* software: costs nothing */
  FAB_UPGRADE_NIC,     /* the ports' link entry */
  FAB_UPGRADE_NICS,    /* NICs per node */
  FAB_UPGRADE_FABRIC,  /* leaves, spines, their links */
  FAB_UPGRADE_DOMAIN,  /* GPUs of a switch domain */
  FAB_UPGRADE_NODE,    /* other nodes with other accelerators */
  FAB_UPGRADE_NODES,   /* more of them */
  FAB_N_UPGRADE_KINDS,
} FabUpgradeKind;

#define FAB_UPGRADE_LEAST 0.005 /* a saving below this is none */

extern const char *const fab_upgrade_kind_names[FAB_N_UPGRADE_KINDS + 1]; /* "setting", ...: NULL-ended */

typedef enum {
  FAB_UPGRADE_SURE,       /* the whole band of the saving is a gain */
  FAB_UPGRADE_UNSURE,     /* it saves, but within the band it may not */
  FAB_UPGRADE_NO_GAIN,    /* it saves less than half a percent, or another change saves as much for less */
  FAB_UPGRADE_TOO_LARGE,  /* the job does not fit into memory */
  FAB_UPGRADE_IMPOSSIBLE, /* trial.problem says why */
} FabUpgradeState;

typedef struct {
  FabChange change;    /* name and edits; its kind is FAB_CHANGE_SET */
  FabUpgradeKind kind; /* of the first part */
  guint kinds;         /* 1 << FabUpgradeKind of its parts */
  guint n_parts;       /* 1: a single change */
  FabTry trial;
  FabUpgradeState state;
  FabScenario *scenario; /* to which the bill points; NULL: no gain */
  FabBill *bill;
  FabPurchase *purchase; /* NULL: no gain, or the machine cannot be counted */
  double saved_fraction;
  double low_fraction, high_fraction; /* the band of the saving; both saved_fraction: there is no band */
  FabPairedBand paired;               /* of the step, against the scenario as it is; n 0: not played again */
  FabBand *band;                      /* of the step; NULL: not played again */
} FabUpgrade;

typedef struct {
  const FabStudy *study;
  GPtrArray *all;     /* FabUpgrade, in the order in which they were made */
  GPtrArray *ranking; /* FabUpgrade with a gain: sure ones by price per percent, then unsure ones by gain */
  FabPoint *base;     /* the scenario as it is */
  FabScenario *scenario; /* of `base` */
  FabBill *bill;
  FabBand *band; /* of its step; NULL: nothing is uncertain, or nobody asked */
} FabUpgrades;

typedef struct {
  const GPtrArray *knobs; /* FabKnob: the job's settings; NULL: none */
  guint kinds;            /* 1 << FabUpgradeKind: what may change; 0: everything */
  gboolean has_no_band;   /* nothing is played again for bands, and so nothing is sure */
} FabUpgradeLimits;

/* Returns NULL and *error when the scenario as it is cannot be simulated. The study must outlive the result. (transfer
 * full) */
FabUpgrades *fab_upgrades_find (const FabStudy *study, const FabUpgradeLimits *limits, GError **error);
void fab_upgrades_free (FabUpgrades *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabUpgrades, fab_upgrades_free)

static inline gboolean
fab_upgrade_has_band (const FabUpgrade *self)
{
  return self->paired.change.n > 0 && self->paired.coverage_fraction > 0;
}

/* Whether a change of `all` surely saves at least half a percent more than another one: both are played against each
 * other. `than` may be NULL: the scenario as it is. */
gboolean fab_upgrade_is_better (const FabUpgrades *all, const FabUpgrade *self, const FabUpgrade *than);

/* Dollars per percent saved; 0 for what costs nothing; below 0: the price is not known. */
double fab_upgrade_usd_per_percent (const FabUpgrade *self);

/* Adds the single changes (FabUpgrade) that the machine of the scenario allows to `all`. */
void fab_upgrade_options (const FabStudy *study, const FabScenario *scenario, const FabUpgradeLimits *limits,
                          GPtrArray *all);

/* Takes `edits`. (transfer full) */
FabUpgrade *fab_upgrade_new (FabUpgradeKind kind, char *name, FabEdits *edits);
void fab_upgrade_free (gpointer upgrade); /* a FabUpgrade */

/* Which changes are worth combining, and which of all come first (upgrade_rank.c). Nothing is played: the changes have
 * their savings, their states and what they cost. */

/* What is worth combining: the best of every kind, two settings, and two numbers of nodes. What costs most comes first,
 * settings last. Sorts the candidates by what they save, and of every setting only the best value gains after that.
 * (transfer container) */
GPtrArray *fab_upgrade_rank_parts (GPtrArray *candidates);

typedef struct {
  FabUpgrade *joined, *a, *b; /* made of the other two, and not of this list */
} FabUpgradeJoined;

/* All pairs (FabUpgradeJoined) of parts that do not set the same key. (transfer container) */
GArray *fab_upgrade_rank_pairs (const GPtrArray *parts);
/* The best pair with each of the other parts, and so the best pair with each number of nodes. (transfer container) */
GArray *fab_upgrade_rank_triples (const GPtrArray *parts, const GArray *pairs);
/* What it saves must be more than what the larger of its two parts saves. */
void fab_upgrade_rank_check (const FabUpgradeJoined *self);

/* Adds all single changes that gain; of the combinations that no other one surpasses in both price and gain, those that
 * save most and those of which a percent costs least. The others of `gains` do not gain after that. */
void fab_upgrade_rank (const GPtrArray *gains, GPtrArray *ranking);
/* Sure ones first, by their price; others by what they save. */
void fab_upgrade_rank_sort (GPtrArray *ranking);

/* The band of what is saved, from that of the step; `work_ratio`: steps before over steps after that do the same work.
 */
void fab_upgrade_take_band (FabUpgrade *self, double work_ratio);
