/* SPDX-License-Identifier: Apache-2.0 */
/* page.h - the page of `fabricast explore`: that of `fabricast report` with knobs above, and what they changed. */
#pragma once

#include "cli/explore/explored.h"

/* NULL and *error when the scenario cannot be played as it stands, or the program was built without D3.
 * (transfer full) */
char *fab_explore_page (const FabExplored *explored, GError **error);
