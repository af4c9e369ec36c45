/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.h - one iteration as text, drawn from its spans.
 *
 *   compute  [ forward   ][ backward                        ]
 *   comm                     [ all_reduce x161                            ]
 *   exposed                                                   ==============
 *
 * Where ranks differ (stages of a pipeline), first a row for each class of ranks, one letter a column: what took most
 * of its time. Of more than 16 classes the middle is left out.
 *
 *   rank 0   FFFFFFFF......BBFFBBFFBBFFBBFFBBBBBBBB===oo
 *   rank 8   ..FFFFFF....BBFFBBFFBBFFBBFFBBBBBBB....===oo
 *            F forward, B backward, o optimizer, = exposed communication, . idle
 */
#pragma once

#include "sim/result/probe.h"

/* `width` columns for the time axis, at least 20. `classes` as in the DAG, by number; the streams are those of the
 * first. (transfer full) */
char *fab_timeline_draw (const FabProbe *probe, const FabRankClassRecord *classes, guint n_classes,
                         guint width);
