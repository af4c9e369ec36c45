/* SPDX-License-Identifier: Apache-2.0 */
/* waits.h - the finding that says what a step waits for, from the levers that were played (bottleneck.h).
 *
 * The lever that limits the step decides: links, NICs, channels, latency and luck are the network; compute and memory
 * are compute, or the pipeline's other stages where ranks idle for them longer than they compute; the host, and slow
 * ranks, are themselves. Where no lever shortens the step, its largest part decides.
 */
#pragma once

#include "sim/decision/bottleneck.h"
#include "sim/verdict/verdict.h"

/* Of a simulation that was played, with the bottleneck of its scenario. (transfer full) */
FabFinding fab_waits_find (const FabBottleneck *bottleneck, const FabSimulation *simulation);
