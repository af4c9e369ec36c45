/* SPDX-License-Identifier: Apache-2.0 */
/* megatron_layers.h - how the blocks of a model are divided among stages, of Megatron-LM's arguments. */
#pragma once

#include "formats/job/rows.h"

/* Sets parallel.virtual, parallel.schedule and parallel.layers. `stages`: of the pipeline. */
void fab_job_take_stages (FabJobReading *self, gint64 stages);
