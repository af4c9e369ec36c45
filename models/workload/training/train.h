/* SPDX-License-Identifier: Apache-2.0 */
/* train.h - one iteration of a training job: what all strategies share.
 *
 * A rank class is a pipeline stage (and a bin, where some ranks are slower than others: slow.h). train_build () makes
 * the forward and backward passes of each stage as tasks on its compute stream, in the order of the pipeline
 * schedule. Model-parallel communication is part of the passes (passes.h). A strategy says how parameters, gradients
 * and optimizer states are spread over the data-parallel ranks; it adds its communication in hooks, on streams of its
 * own. The simulation finds out which communication overlaps with compute: tasks of different streams run at the same
 * time.
 */
#pragma once

#include "models/workload/training/job.h"

gboolean train_build (const FabWorkloadEnv *env, const TrainParams *params, const Strategy *strategy,
                      gconstpointer strategy_params, FabDagBuilder *builder, FabJobTotals *totals,
                      GError **error);
