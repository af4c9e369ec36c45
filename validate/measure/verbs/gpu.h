/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.h - allocates GPU memory with the CUDA driver, which is loaded only when needed: the module links no CUDA. */
#pragma once

#include <glib.h>

#include "sim/base/units.h"

typedef struct _FabVerbsGpu FabVerbsGpu;

/* Allocates `size_bytes` on GPU `index`, aligned to pages. (transfer full) */
FabVerbsGpu *fab_verbs_gpu_new (gint64 index, FabBytes size_bytes, GError **error);
guint64 fab_verbs_gpu_address (const FabVerbsGpu *self);

/* Returns a file descriptor that stands for the memory (dma-buf), or -1 with *error. The caller closes it. */
int fab_verbs_gpu_dmabuf (FabVerbsGpu *self, GError **error);
void fab_verbs_gpu_free (FabVerbsGpu *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabVerbsGpu, fab_verbs_gpu_free)
