/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline_rules.h - schedules whose order takes more than a loop. */
#pragma once

#include "models/workload/training/pipeline.h"

/* zero_bubble_v, for all stages. */
void pipeline_add_zero_bubble_v (GArray *const *actions, const PipelineSize *size);

/* v_half and v_min, for all stages. */
void pipeline_add_v_half (GArray *const *actions, const PipelineSize *size);
void pipeline_add_v_min (GArray *const *actions, const PipelineSize *size);

/* dualpipe and dualpipe_v, for one stage. */
void pipeline_add_dualpipe (GArray *actions, const PipelineSize *size, guint stage);
void pipeline_add_dualpipe_v (GArray *actions, const PipelineSize *size, guint stage);
