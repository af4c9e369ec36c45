/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.h - draws one iteration as text from its spans.
 *
 *   compute  [ forward   ][ backward                        ]
 *   comm                     [ all_reduce x161                            ]
 *   exposed                                                   ==============
 *
 * Where ranks differ (stages of a pipeline), a row for each class of ranks comes first. Each column is the letter of
 * what took most of its time. Of more than 16 classes the middle ones are left out.
 *
 *   rank 0   FFFFFFFF......BBFFBBFFBBFFBBFFBBBBBBBB===oo
 *   rank 8   ..FFFFFF....BBFFBBFFBBFFBBFFBBBBBBB....===oo
 *            F forward, B backward, o optimizer, = exposed communication, . idle
 */
#pragma once

#include "sim/result/probe.h"

/* Draws a time axis of `width` columns, at least 20; where `page_columns` is not 0, of as many as a page of that width
 * has beside the names of rows. `classes` are those of the DAG, by number; the streams are those
 * of the first class. (transfer full) */
char *fab_timeline_draw (const FabProbe *probe, const FabRankClassRecord *classes, guint n_classes,
                         guint width, guint page_columns);
