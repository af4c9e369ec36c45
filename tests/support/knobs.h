/* SPDX-License-Identifier: Apache-2.0 */
/* knobs.h - knobs of one key each, for studies of their values. */
#pragma once

#include "sim/study/tune.h"

/* `values` is NULL-ended; the scenario has the one with index `written`. (transfer full) */
FabKnob *knob_of_key (const char *name, const char *key, const char *const *values, guint written);

/* An empty list of knobs, which frees them. (transfer full) */
GPtrArray *knobs_new (void);
