/* SPDX-License-Identifier: Apache-2.0 */
/* run_queues.h - prints what waited for links during the run, where the network has queues; nothing if nothing
 * waited. */
#pragma once

#include "sim/base/json.h"

#include "cli/run.h"

void fab_run_append_queues (GString *page, const FabRunResult *result);
void fab_run_add_queues (FabJson *json, const FabRunResult *result);
