/* SPDX-License-Identifier: Apache-2.0 */
/* hold_text.h - the option --hold of studies, and the line that says which batch their points hold. */
#pragma once

#include "answer/study/hold.h"
#include "cli/study/points_text.h"

#define FAB_HOLD_ENTRY(text_)                                                                         \
  {                                                                                                   \
    "hold", 0, 0, G_OPTION_ARG_STRING, text_,                                                         \
        "What stays where the number of ranks changes: batch, the global batch (strong scaling), or " \
        "micro_batch, that of each GPU (weak scaling)",                                               \
        "WHAT"                                                                                        \
  }

/* Takes the value of --hold into the study. NULL: the global batch where one of the figures that the study is about is
 * of the whole training, else what the job writes down. FALSE and *error when the job cannot hold it. */
gboolean fab_hold_take (FabStudy *study, const char *text, const FabFigure *const *figures, guint n,
                        GError **error);

/* Appends a line about the batch of the points; nothing where all have as many ranks, or no batch. `study` is whose
 * variants they are; NULL: they are scenarios of their own. */
void fab_hold_append (GString *text, const FabStudy *study, const FabHoldRange *range);
/* The same where `hold` is held: "batch". `why` is appended to that: ", because ...". */
void fab_hold_append_as (GString *text, const char *hold, const char *why, const FabHoldRange *range);
/* The same of rows of a table. */
void fab_hold_append_points (GString *text, const FabStudy *study, const FabPoints *points);
