/* SPDX-License-Identifier: Apache-2.0 */
/* upgrade_words.h - which upgrades are recommended, and what is said of one, in text and on pages. */
#pragma once

#include "sim/study/upgrade.h"

/* What is recommended. Each is sure, has a price, and is within the budget; NULL: there is none. */
typedef struct {
  const FabUpgrade *setting; /* saves most of those that cost nothing */
  /* Costs least per percent saved of those that have a price and surely save more than `setting`. */
  const FabUpgrade *purchase;
  const FabUpgrade *most; /* saves most */
} FabUpgradeChoice;

/* `budget_usd` 0: there is no limit. */
FabUpgradeChoice fab_upgrade_choose (const FabUpgrades *all, double budget_usd);

/* Whether it is sure, and its price is known and within the budget. */
gboolean fab_upgrade_is_recommendable (const FabUpgrade *self, double budget_usd);

/* US dollars; below 0: not known. */
double fab_upgrade_price (const FabUpgrade *self);

/* Why no purchase is recommended, as a clause: "every gain lies within the spread of the forecast". `budget_usd` as
 * above. */
const char *fab_upgrade_why_no_purchase (const FabUpgrades *all, double budget_usd, gboolean has_no_band);

/* What limits the step (sim/decision/bottleneck.h); where no lever was played, "compute" where little is exposed, else
 * the slowest link, or "ends of collectives". */
const char *fab_upgrade_pace (const FabPoint *point);

typedef enum { FAB_UPGRADE_BUYS, FAB_UPGRADE_KEEPS, FAB_UPGRADE_LEAVES } FabUpgradeParts;

/* "16 x connectx-7-ndr, 1 x qm9700 (no price)"; NULL: nothing. (transfer full) */
char *fab_upgrade_parts (const FabPurchase *purchase, FabUpgradeParts which);

/* "14.8 to 36.6 %"; "-" without a band. (transfer full) */
char *fab_upgrade_show_band (const FabUpgrade *self);
/* "$12.8k", "nothing", "no price". (transfer full) */
char *fab_upgrade_show_price (double usd);
