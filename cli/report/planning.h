/* SPDX-License-Identifier: Apache-2.0 */
/* planning.h - the opening of a report for somebody who has to decide: the decision in three sentences, alternatives
 * with bands and money, and what would change the answer. What follows it on the page is the evidence.
 *
 * Of one run, the alternatives are the changes of its machine that `fabricast upgrade` ranks. Of several runs, they are
 * the runs. Both are simulated again from the scenarios that the results file keeps.
 */
#pragma once

#include "sim/base/pulse.h"
#include "sim/result/store.h"
#include "sim/scenario/catalog.h"

/* Returns HTML, of which everything that a person wrote is escaped. `pulse` counts the simulations; NULL: nobody looks.
 * NULL and *error when a run cannot be simulated again. (transfer full) */
char *fab_planning_html (FabStore *store, const gint64 *runs, guint n_runs, const FabCatalog *catalog,
                         FabPulse *pulse, GError **error);

extern const char fab_planning_style[]; /* CSS for it */
