/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - what NCCL calls the algorithms that are models here: for those who read or write NCCL's own texts. */
#pragma once

#include <glib.h>

/* The name of the model of an algorithm that is written as in NCCL_ALGO ("CollnetDirect") or as the model itself is
 * ("collnet_direct"), in upper or lower case; static. NULL: NCCL_ALGO has no such value. */
const char *fab_nccl_algorithm_model (const char *name);

/* All values of NCCL_ALGO: "Ring, Tree, ...". (transfer full) */
char *fab_nccl_algorithm_names (void);

/* A list as in NCCL_ALGO or NCCL_PROTO ("Ring,Tree", "^LL", "ring;allreduce:tree") as a scenario writes it. (transfer
 * full) NULL and *message (transfer full): it is none. */
char *fab_nccl_list (gboolean is_algorithm, const char *text, char **message);

/* The algorithm as it stands in the names of NCCL's kernels: "RING", "TREE"; static. `model` may be NULL or name a
 * model that NCCL does not have. */
const char *fab_nccl_algorithm_kernel (const char *model);
