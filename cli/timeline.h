/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.h - one iteration of one rank class as text, drawn from its spans.
 *
 *   compute  [ forward   ][ backward                        ]
 *   comm                     [ all_reduce x161                            ]
 *   exposed                                                   ==============
 */
#pragma once

#include "sim/result/probe.h"

/* `width` columns for the time axis, at least 20. (transfer full) */
char *fab_timeline_draw (const FabProbe *probe, guint rank_class, guint width);
