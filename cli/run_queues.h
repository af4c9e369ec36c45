/* SPDX-License-Identifier: Apache-2.0 */
/* run_queues.h - what waited for links in the whole run, where the network has queues: for page and JSON of
 * `fabricast run`. Nothing where nothing waited. */
#pragma once

#include <json-glib/json-glib.h>

#include "cli/run.h"

void fab_run_append_queues (GString *page, const FabRunResult *result);
void fab_run_add_queues (JsonBuilder *json, const FabRunResult *result);
