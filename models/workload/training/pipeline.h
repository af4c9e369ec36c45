/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.h - in which order a pipeline stage does its passes: pure functions, no clock.
 *
 * p stages train m micro-batches in a step. The forward pass of a stage for one micro-batch takes F, the backward
 * pass B. The bubble is the time for which a stage has nothing to do.
 *
 *   1f1b         A stage does p - 1 - stage forward passes, then one forward and one backward pass in turn (Narayanan
 *                et al. 2021, arXiv 2104.04473, PipeDream-flush). Bubble: (p - 1)(F + B) in a step of m (F + B).
 *   gpipe        All forward passes, then all backward passes (Huang et al. 2019, arXiv 1811.06965). Same bubble.
 *   interleaved  As 1f1b, but each stage has v parts of the model (`virtual`), in rounds of p micro-batches or more;
 *                the last round may be smaller, but not below p (--microbatch-group-size-per-virtual-pipeline-stage,
 *                megatron/core/pipeline_parallel/schedules.py; the same paper, section 2.2). Bubble:
 *                (p - 1)(F + B) / v.
 *   zero_bubble  The backward pass is two passes: one for the gradient of the activations, one for that of the weights
 *                (W), which fills the end (Qi et al. 2023, arXiv 2401.10241, ZB-H1). Bubble: (p - 1)(F + B - W), with
 *                the activations of p micro-batches, as 1f1b has them on its first stage.
 *   zero_bubble_h2
 *                The same with twice as many forward passes before the first backward pass (ZB-H2). Bubble of a stage
 *                from its first pass to its last: (p - 1)(F + B - 2 W), with the activations of 2 p - 1 micro-batches.
 *                It saves this only where a stage may begin its next step before the others have ended theirs.
 *
 * Adding a schedule is adding a row in pipeline.c.
 */
#pragma once

#include <glib.h>

typedef enum {
  ACTION_FORWARD,
  ACTION_BACKWARD, /* where the schedule splits backward passes: of the activations only */
  ACTION_WEIGHTS,  /* the backward pass of the weights, where the schedule splits backward passes */
} ActionKind;

/* One pass of one stage through one part of the model for one micro-batch. */
typedef struct {
  ActionKind kind;
  guint chunk; /* which of the stage's parts of the model, below n_virtual */
  guint micro; /* which micro-batch of the step */
} Action;

/* What a schedule orders. */
typedef struct {
  guint n_stages, n_virtual; /* parts of the model on each stage */
  guint n_micro;             /* micro-batches of a step */
  guint round; /* interleaved: micro-batches that go through one part before the next part begins */
} PipelineSize;

/* One schedule. */
typedef struct {
  const char *name;  /* as in the scenario */
  gboolean is_usual; /* what the scenario's default is; exactly one row has this flag */
  gboolean
      has_parts; /* stages have several parts of the model, and micro-batches go through them in rounds */
  gboolean splits_backward; /* gradients of weights are passes of their own */
  gboolean always_overlaps; /* stages compute while they send, whatever `overlap_p2p` says */
  /* Appends the actions of one stage, in order. */
  void (*add) (GArray *actions, const PipelineSize *size, guint stage);
} PipelineSchedule;

extern const char *const pipeline_schedules[]; /* the names of all rows, NULL-ended */

/* The row of which `pipeline_schedules[index]` is the name. */
const PipelineSchedule *pipeline_schedule (gint index);
const PipelineSchedule *pipeline_schedule_named (const char *name); /* NULL: there is none */
const PipelineSchedule *pipeline_schedule_usual (void);
/* The schedule for stages that have several parts of the model. */
const PipelineSchedule *pipeline_schedule_for_parts (void);

/* Actions (Action) of one stage, in order. (transfer full) */
GArray *pipeline_actions (const PipelineSchedule *schedule, const PipelineSize *size, guint stage);
