/* SPDX-License-Identifier: Apache-2.0 */
/* page.h - the page of `fabricast explore`: that of `fabricast report`, with knobs and what they changed. */
#pragma once

#include "cli/explore/explored.h"

/* Returns HTML. NULL and *error when the scenario cannot run as it is, or the program was built without D3. (transfer
 * full) */
char *fab_explore_page (const FabExplored *explored, GError **error);
