/* SPDX-License-Identifier: Apache-2.0 */
/* describe_links.h - what `fabricast describe links` and `technologies` print: private to cli. */
#pragma once

#include "sim/scenario/catalog.h"

/* Every link under its technology, with its rates. */
void fab_describe_links (const FabCatalog *catalog);

/* Every technology: what it joins and how it keeps packets. */
void fab_describe_technologies (const FabCatalog *catalog);

/* What the numbers of one link make together, as comment lines below its entry. */
void fab_describe_link_rates (const FabLinkSpec *link);
