/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.h - in which order a pipeline stage does its passes: pure functions, no clock.
 *
 *   gpipe        all forward passes, then all backward passes (Huang et al. 2019, arXiv 1811.06965)
 *   1f1b         n_stages - 1 - stage forward passes, then one forward, one backward (Narayanan et al. 2021, arXiv
 *                2104.04473, PipeDream-flush); bubble (p - 1)(F + B) of a step of m (F + B)
 *   interleaved  1f1b over `virtual` parts of the model per stage, in rounds of n_stages micro-batches (the same paper,
 *                section 2.2; megatron/core/pipeline_parallel/schedules.py); bubble (p - 1)(F + B) / virtual
 *   zero_bubble  backward in two: for the activations' gradient (B), and for the weights' (W), which fills the end
 *                (Qi et al. 2023, arXiv 2401.10241, ZB-H1); bubble (p - 1)(F + B - W)
 */
#pragma once

#include <glib.h>

typedef enum { SCHEDULE_1F1B, SCHEDULE_GPIPE, SCHEDULE_INTERLEAVED, SCHEDULE_ZERO_BUBBLE } Schedule;

extern const char *const pipeline_schedules[]; /* NULL-ended, in the order of Schedule */

typedef enum {
  ACTION_FORWARD,
  ACTION_BACKWARD, /* zero_bubble: of the activations only */
  ACTION_WEIGHTS,  /* zero_bubble: backward of the weights */
} ActionKind;

typedef struct {
  ActionKind kind;
  guint chunk; /* part of the model of this stage, below n_virtual */
  guint micro; /* micro-batch */
} Action;

/* Actions of one stage, in order. (transfer full) Interleaved asserts that n_micro is a multiple of n_stages. */
GArray *pipeline_actions (Schedule schedule, guint n_stages, guint stage, guint n_virtual, guint n_micro);
