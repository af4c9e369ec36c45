/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h - compute kernels, which run slower while collectives occupy streaming multiprocessors (SMs).
 *
 * A channel of a collective library is one thread block, so it occupies one SM as long as the collective moves bytes.
 * A kernel fills the accelerator, so its rate is the share of SMs that is left:
 *
 *   rate = 1 - min (channels of the collectives that the rank class takes part in, n_sms) / n_sms
 *
 * With 16 to 24 channels on 108 to 132 SMs, a kernel slows down by 12 to 22 %. Measurements show 18.9 % on average
 * and 40 % at most (arXiv 2507.03114, A100, H100, MI210, MI250); they include effects left out here: the memory
 * bandwidth, the caches and the power that a collective takes. A collective that waits for its last rank counts only
 * from the arrival of that rank.
 *
 * Work is counted in ps x SMs, which are integers: only the end of a kernel is rounded, up to a ps. The object
 * runs on the engine's thread.
 */
#pragma once

#include "sim/engine/engine.h"
#include "sim/execution/dag.h"
#include "sim/net/net.h"

typedef struct _FabKernels FabKernels;

/* `n_sms` is that of one accelerator; 0: nothing slows down. (transfer full) */
FabKernels *fab_kernels_new (FabEngine *engine, const FabDag *dag, guint n_sms);
void fab_kernels_free (FabKernels *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabKernels, fab_kernels_free)

/* Starts a kernel on an idle stream; it takes duration_ps when it has the accelerator to itself. */
void fab_kernels_start (FabKernels *self, guint stream, FabTimePs duration_ps, FabDone done);

/* A collective of the DAG begins, or ends, moving bytes. */
void fab_copy_kernels_hold (FabKernels *self, guint collective);
void fab_kernels_let_go (FabKernels *self, guint collective);
