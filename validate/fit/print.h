/* SPDX-License-Identifier: Apache-2.0 */
/* print.h - what `fabricast calibrate` and `fabricast validate links` say. All return a new text that ends its last
 * line.
 *
 * Times are microseconds, rates GB/s of 1e9 bytes; errors are percent in text and Markdown, fractions in CSV and
 * JSON.
 */
#pragma once

#include "sim/base/json.h"
#include "validate/fit/check.h"
#include "validate/fit/fragment.h"

/* Of each entry (FabFragment): regimes, residual per size, what it says and what it cannot. */
char *fab_fits_to_text (const GPtrArray *fragments);
char *fab_fits_to_csv (const GPtrArray *fragments); /* a row per size */
char *fab_fits_to_json (const GPtrArray *fragments);

char *fab_link_check_to_text (const FabLinkCheck *check, gboolean is_summary);
char *fab_link_check_to_markdown (const FabLinkCheck *check, gboolean is_summary);
char *fab_link_check_to_csv (const FabLinkCheck *check, gboolean is_summary);
char *fab_link_check_to_json (const FabLinkCheck *check, gboolean is_summary);

/* Shared by what writes JSON: "rows" and "errors" members of the open object. */
void fab_fit_add_rows (JsonBuilder *json, const GArray *rows);
void fab_fit_add_errors (JsonBuilder *json, const FabFitErrors *errors);
