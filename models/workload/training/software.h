/* SPDX-License-Identifier: Apache-2.0 */
/* software.h - the keys that say which software a training job runs. */
#pragma once

#include "sim/base/param.h"

typedef struct {
  const char *pytorch; /* "auto": the usual release of the accelerator */
  gint optimizer;      /* FabAdam */
} SoftwareParams;

extern const FabParam software_params[];

/* Whether the job says its release of PyTorch. */
gboolean software_has_release (const SoftwareParams *params);
extern const char *const optimizer_kernels[]; /* in the order of FabAdam; NULL-ended */
