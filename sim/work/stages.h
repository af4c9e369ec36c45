/* SPDX-License-Identifier: Apache-2.0 */
/* stages.h - an algorithm told once, as stages: its form and its schedule both come out of them.
 *
 * A stage is a hop that carries a share of the bytes after other stages. A pipeline cuts the bytes into chunks, each of
 * which takes the stages in their order; then the form has a fill: the longest way's time per byte of chunk, less
 * that of the links that bind, which every chunk takes.
 */
#pragma once

#include "sim/work/collective.h"

typedef struct _FabStages FabStages;

/* For a form, with `schedule` NULL; else each stage becomes a lane of it, with a message per chunk. */
FabStages *fab_stages_new (const FabGroup *group, const FabAlgorithmEnv *env, FabSchedule *schedule,
                           guint n_chunks);
void fab_stages_free (FabStages *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabStages, fab_stages_free)

/* `n` empty lists of stages (GArray of guint): what each of n places waits for. */
GPtrArray *fab_stage_lists_new (guint n);

static inline GArray *
fab_stage_list (const GPtrArray *lists, guint index)
{
  return g_ptr_array_index (lists, index);
}

/* `weight` payload bytes per byte of size over the hop, which it takes, after the stages in `after` (guint; NULL:
 * none). `n_beside`: stages, this one included, that share its slowest link at the same moment for the same chunk.
 * Returns its index. A hop that ends in a switch belongs to one step with the hops that follow it. */
guint fab_stages_add (FabStages *self, FabHop *hop, double weight, guint n_beside, const GArray *after);

/* The same of a form, but for the links: the hop, which stays the caller's, is like one of another node, and he adds
 * both with fab_alike_add (). */
guint fab_stages_add_like (FabStages *self, const FabHop *hop, double weight, guint n_beside,
                           const GArray *after);
/* Where links are added; NULL: for a schedule. */
FabFootprintBuilder *fab_stages_builder (const FabStages *self);

/* No stage that is added from now on waits for one before: a form forgets them. */
void fab_stages_end_part (FabStages *self);

/* Footprint, steps and what they are like; channels and is_in_network are the algorithm's. */
void fab_stages_form (FabStages *self, gboolean is_pipeline, FabCollectiveForm *form);
