/* SPDX-License-Identifier: Apache-2.0 */
/* designs_page.h - the reference page of designs: what each is made of, with a picture, its assumptions and its source.
 */
#pragma once

#include "sim/scenario/catalog.h"

/* Markdown. Pictures are links to pictures/NAME.svg, which the command below each of them writes. (transfer full) */
char *fab_designs_markdown (const FabCatalog *catalog);
