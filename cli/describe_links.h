/* SPDX-License-Identifier: Apache-2.0 */
/* describe_links.h - the output of `fabricast describe links` and `technologies`; private to cli. */
#pragma once

#include "sim/scenario/catalog.h"

/* Prints every link with its rates, grouped by technology. */
void fab_describe_links (const FabCatalog *catalog);

/* Prints every technology: what it connects and how it avoids losing packets. */
void fab_describe_technologies (const FabCatalog *catalog);

/* Prints what a link's numbers give together, as comment lines below its entry. */
void fab_describe_link_rates (const FabLinkSpec *link);
