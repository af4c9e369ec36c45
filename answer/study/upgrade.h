/* SPDX-License-Identifier: Apache-2.0 */
/* upgrade.h - what to change of a machine: which changes are recommended, why no purchase is, and what one consists of
 * (sim/study/upgrade.h finds and plays the changes).
 */
#pragma once

#include "answer/study/points.h"
#include "sim/study/upgrade.h"

/* What is recommended. Each is sure, has a price, and is within the budget; NULL: there is none. */
typedef struct {
  const FabUpgrade *setting; /* saves most of those that cost nothing */
  /* Costs least per percent saved of those that have a price and surely save more than `setting`. */
  const FabUpgrade *purchase;
  const FabUpgrade *most; /* saves most */
} FabUpgradeChoice;

typedef struct {
  GPtrArray *knobs; /* FabKnob: the job's settings; NULL: it has none */
  FabUpgrades *all;
  double budget_usd; /* 0: there is no limit */
  FabUpgradeChoice choice;
  const char *no_purchase; /* why none is recommended, as a clause; NULL: one is */
  char *nearest;           /* which comes nearest to it then, and by how much it misses; NULL: none does */
  GPtrArray *rows;         /* FabUpgrade: the ranking, then those without a gain */
  const char *hold;        /* which batch the changes hold; NULL: the job has none */
} FabUpgradeAnswer;

/* `budget_usd` 0: there is no limit. The settings that may change are those of the job, where `limits` names none. What
 * limits the step with each recommended change is known on all seeds. The study outlives the answer. NULL and *error:
 * see fab_upgrades_find (). (transfer full) */
FabUpgradeAnswer *fab_upgrade_answer (const FabStudy *study, const FabUpgradeLimits *limits,
                                      double budget_usd, GError **error);
void fab_upgrade_answer_free (FabUpgradeAnswer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabUpgradeAnswer, fab_upgrade_answer_free)

/* Whether what saves most is neither the setting nor the purchase, and surely saves more than these: they are played
 * against each other. */
gboolean fab_upgrade_is_most_apart (const FabUpgradeAnswer *self);

/* The changes as rows, in the order of `rows`. (transfer full) */
FabPoints *fab_upgrade_points (const FabUpgradeAnswer *self);

/* What of it surely pays for itself within the budget. */
FabUpgradeChoice fab_upgrade_choose (const FabUpgrades *all, double budget_usd);

/* Whether it is sure, and its price is known and within the budget. */
gboolean fab_upgrade_is_recommendable (const FabUpgrade *self, double budget_usd);

/* US dollars; below 0: not known. */
double fab_upgrade_price (const FabUpgrade *self);

/* Why no purchase is recommended: "every gain lies within the spread of the forecast". */
const char *fab_upgrade_why_no_purchase (const FabUpgrades *all, double budget_usd, gboolean has_no_band);

/* The purchase that comes nearest to being recommended, as a clause with what it misses: "NIC ports ib-ndr saves 43.0 %
 * for $46.4k, $36.4k more than the budget". `setting` is what saves most of what costs nothing, or NULL. NULL: no
 * purchase was tried. (transfer full) */
char *fab_upgrade_nearest (const FabUpgrades *all, double budget_usd, const FabUpgrade *setting);

/* The next best purchase, and the price of the recommended one above which it saves more per dollar. NULL: there is
 * none, or no purchase is recommended. */
const FabUpgrade *fab_upgrade_break_even (const FabUpgrades *all, const FabUpgradeChoice *choice,
                                          double *usd);

/* What limits the step (sim/decision/bottleneck.h); "-": it is not known. */
const char *fab_upgrade_pace (const FabPoint *point);

typedef enum { FAB_UPGRADE_BUYS, FAB_UPGRADE_KEEPS, FAB_UPGRADE_LEAVES } FabUpgradeParts;

/* "16 x connectx-7-ndr, 1 x qm9700 (no price)"; NULL: nothing. (transfer full) */
char *fab_upgrade_parts (const FabPurchase *purchase, FabUpgradeParts which);
