/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h - compute kernels, which run slower while collectives hold streaming multiprocessors.
 *
 * A channel of a collective library is one thread block, so it holds one multiprocessor for as long as the collective
 * moves bytes. A kernel fills the accelerator, so what is left of it is its rate:
 *
 *   rate = 1 - min (channels of the collectives that the rank class takes part in, n_sms) / n_sms
 *
 * 16 to 24 channels on 108 to 132 multiprocessors: 12 to 22 % slower. Measured are 18.9 % on average and 40 % at most
 * (arXiv 2507.03114, A100, H100, MI210, MI250), which also has what is left out here: the memory bandwidth and the
 * caches that a collective takes, and the power. A collective that waits for its last rank counts only from then on.
 *
 * Work is counted in ps x multiprocessors, which are integers: nothing is rounded but a kernel's end, up to a ps.
 */
#pragma once

#include "sim/engine/engine.h"
#include "sim/net/net.h"
#include "sim/work/dag.h"

typedef struct _FabKernels FabKernels;

/* `n_sms` of one accelerator; 0: nothing slows down. */
FabKernels *fab_kernels_new (FabEngine *engine, const FabDag *dag, guint n_sms);
void fab_kernels_free (FabKernels *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabKernels, fab_kernels_free)

/* A kernel on a stream that runs none; it takes duration_ps when it has the accelerator to itself. */
void fab_kernels_start (FabKernels *self, guint stream, FabTimePs duration_ps, FabDone done);

/* A collective of the DAG begins, or ends, to move bytes. */
void fab_kernels_hold (FabKernels *self, guint collective);
void fab_kernels_let_go (FabKernels *self, guint collective);
