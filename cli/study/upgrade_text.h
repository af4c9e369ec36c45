/* SPDX-License-Identifier: Apache-2.0 */
/* upgrade_text.h - how a change of a machine is shown, in text and on pages. */
#pragma once

#include "answer/study/upgrade.h"

/* "14.8 to 36.6 %"; "-" without a band. (transfer full) */
char *fab_upgrade_show_band (const FabUpgrade *self);
/* "$12.8k", "nothing", "no price". (transfer full) */
char *fab_upgrade_show_price (double usd);
