/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.h - what each command's study says on its page: one file for each. */
#pragma once

#include "cli/report/study/page.h"
#include "cli/report/study/read.h"

enum { FAB_STUDY_MOST_ROWS = 12 };

void fab_study_fill_size (FabStudyPage *page, JsonObject *study);
void fab_study_fill_compare (FabStudyPage *page, JsonObject *study);
void fab_study_fill_upgrade (FabStudyPage *page, JsonObject *study);
void fab_study_fill_grow (FabStudyPage *page, JsonObject *study);
void fab_study_fill_cost (FabStudyPage *page, JsonObject *study);

/* Or "-". (transfer full) */
char *fab_study_show_text (const char *text);
/* "no price" for NAN. (transfer full) */
char *fab_study_show_price (double usd);
/* Cautions of a list of findings that warn or notes what limits the step, each once. `of` is the name of the
 * alternative whose step it is; NULL: there is one. */
void fab_study_add_verdict (FabStudyPage *page, JsonObject *object, const char *of);
/* What a band rests on, where the object has one. */
void fab_study_add_band (FabStudyPage *page, JsonObject *band);
