/* SPDX-License-Identifier: Apache-2.0 */
/* print.h - prints what `fabricast calibrate` and `fabricast validate links` report.
 *
 * Every function returns a new text that ends with a newline. (transfer full) Times are in microseconds and rates in
 * GB/s (1e9 bytes per second); errors are percent in text and Markdown, fractions in CSV and JSON.
 */
#pragma once

#include "sim/base/json.h"
#include "validate/fit/check.h"
#include "validate/fit/fragment.h"

/* Prints each entry (FabFragment): its regimes, the residual per size, what it predicts and what it cannot
 * express. */
char *fab_fits_to_text (const GPtrArray *fragments);
char *fab_fits_to_csv (const GPtrArray *fragments); /* one row per size */
char *fab_fits_to_json (const GPtrArray *fragments);

char *fab_link_check_to_text (const FabLinkCheck *check, gboolean is_summary);
char *fab_link_check_to_markdown (const FabLinkCheck *check, gboolean is_summary);
char *fab_link_check_to_csv (const FabLinkCheck *check, gboolean is_summary);
char *fab_link_check_to_json (const FabLinkCheck *check, gboolean is_summary);
