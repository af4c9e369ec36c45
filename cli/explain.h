/* SPDX-License-Identifier: Apache-2.0 */
/* explain.h - the output of `fabricast explain`. */
#pragma once

#include "answer/explain/explain.h"

/* Format the explanation. (transfer full) */
char *fab_explain_text (const char *title, const FabExplanation *explanation);
char *fab_explain_csv (const char *title, const FabExplanation *explanation);
char *fab_explain_json (const char *title, const FabExplanation *explanation);
