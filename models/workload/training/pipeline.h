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
 *   zero_bubble_v
 *                Each stage has two parts of the model in a V: the first stage has the first part and the last one. A
 *                micro-batch goes down the stages and up again, so that gradients come back where it came from
 *                (ZB-V of Qi et al., section 6). The order is found by their rules (pipeline_v.c). With F = B = W no
 *                stage is idle from its first pass to its last, with the activations of p micro-batches, as 1f1b.
 *   v_half, v_min
 *                The same V with passes at fixed distances, so that a stage has about half or a third of these
 *                activations (Qi et al. 2024, arXiv 2405.15362; pipeline_fixed.c).
 *   dualpipe     Micro-batches enter at both ends: half of them go down the stages, half of them up. Each stage has
 *                two parts, and each part of the model is on two stages. A forward pass of one direction and a
 *                backward pass of the other run together, so that one computes while the tokens of the other are on
 *                their way to experts (DeepSeek-AI 2024, arXiv 2412.19437, section 3.2.1; deepseek-ai/DualPipe,
 *                dualpipe/dualpipe.py). With B the whole backward pass and FB such a pair, bubble:
 *                (p / 2 - 1)(FB + B - 3 W), with the activations of p + 1 passes through one of p parts.
 *   dualpipe_v   The same order cut in half: the V of zero_bubble_v in place of two copies (dualpipe/dualpipev.py).
 *                With p stages of two parts each: (p - 1)(FB + B - 3 W), and 2 p + 1 passes through one of 2 p parts.
 *
 * Adding a schedule is adding a row in pipeline.c.
 */
#pragma once

#include <glib.h>

typedef enum {
  ACTION_FORWARD,
  ACTION_BACKWARD, /* the whole backward pass */
  ACTION_INPUTS,   /* the backward pass of the activations only */
  ACTION_WEIGHTS,  /* the rest of such a pass: that of the weights */
} ActionKind;

/* One pass of one stage through one part of the model for one micro-batch. */
typedef struct {
  ActionKind kind;
  guint chunk;      /* which of the stage's parts of the model, below pipeline_n_chunks () */
  guint micro;      /* which micro-batch of the step */
  gboolean is_pair; /* a forward pass that runs together with the action after it, a backward pass */
} Action;

/* Which stage has which parts of the model. */
typedef enum {
  PLACE_ROUND,     /* part k is on stage k mod p */
  PLACE_V,         /* two parts per stage: down the stages, and up again */
  PLACE_BOTH_WAYS, /* p parts, each on two stages: k, and p - 1 - k */
} PipelinePlace;

/* What a schedule orders. Costs are the times of passes in any one unit; 0: all are the same. */
typedef struct {
  guint n_stages, n_virtual; /* parts of the model on each stage, where the user says how many */
  guint n_micro;             /* micro-batches of a step */
  guint round; /* interleaved: micro-batches that go through one part before the next part begins */
  guint forward_cost, inputs_cost, weights_cost;
} PipelineSize;

/* One schedule. */
typedef struct _PipelineSchedule {
  const char *name;  /* as in the scenario */
  gboolean is_usual; /* what the scenario's default is; exactly one row has this flag */
  gboolean
      has_parts; /* stages have as many parts as `virtual` says, and micro-batches go through them in rounds */
  gboolean
      splits_backward; /* gradients of weights are passes of their own, of some micro-batches or of all */
  gboolean always_overlaps; /* stages compute while they send, whatever `overlap_p2p` says */
  gboolean has_pairs;       /* some forward and backward passes run together */
  guint least;              /* micro-batches that a step needs, over the number of stages; 0: any number */
  PipelinePlace place;
  /* Appends the actions of one stage, in order; or those of all stages. One of the two is there. */
  void (*add) (GArray *actions, const PipelineSize *size, guint stage);
  void (*add_all) (GArray *const *actions, const PipelineSize *size);
} PipelineSchedule;

extern const char *const pipeline_schedules[]; /* the names of all rows, NULL-ended */

/* The row of which `pipeline_schedules[index]` is the name. */
const PipelineSchedule *pipeline_schedule (gint index);
const PipelineSchedule *pipeline_schedule_named (const char *name); /* NULL: there is none */
const PipelineSchedule *pipeline_schedule_usual (void);
/* The schedule for stages that have several parts of the model. */
const PipelineSchedule *pipeline_schedule_for_parts (void);

/* That schedule, or the usual one where a single stage has all parts in any case. */
const PipelineSchedule *pipeline_schedule_of (gint index, guint n_stages);

/* NULL, or why the schedule cannot do as many stages and micro-batches. (transfer full) */
char *pipeline_problem (const PipelineSchedule *schedule, guint n_stages, guint n_micro);

/* Parts of the model on each stage, and in all. */
guint pipeline_n_chunks (const PipelineSchedule *schedule, guint n_virtual);
guint pipeline_n_parts (const PipelineSchedule *schedule, guint n_stages, guint n_virtual);

/* Which part of the model is a stage's `chunk`. */
guint pipeline_part (const PipelineSchedule *schedule, guint n_stages, guint stage, guint chunk);

/* The stage that has a part. Where two have it, that of the micro-batches which are in part `chunk` of their stage. */
guint pipeline_stage (const PipelineSchedule *schedule, guint n_stages, guint part, guint chunk);

/* The other stage that has the same parts; `stage` itself: there is none. */
guint pipeline_twin (const PipelineSchedule *schedule, guint n_stages, guint stage);

/* Actions (Action) of all stages (GArray), in order. (transfer full) */
GPtrArray *pipeline_actions (const PipelineSchedule *schedule, const PipelineSize *size);

/* Appends an action. */
void pipeline_add (GArray *actions, ActionKind kind, guint chunk, guint micro);
