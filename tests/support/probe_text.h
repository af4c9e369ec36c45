/* SPDX-License-Identifier: Apache-2.0 */
/* probe_text.h - everything that a probe holds, as text: two runs are the same when their texts are. */
#pragma once

#include "sim/result/probe.h"

/* Appends; doubles with all their digits. */
void probe_text (const FabProbe *probe, GString *text);
