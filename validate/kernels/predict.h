/* SPDX-License-Identifier: Apache-2.0 */
/* predict.h - the time that the kernel models give to a measured row. */
#pragma once

#include "sim/machine/cluster.h"
#include "validate/kernels/tables.h"

/* The accelerator as kernels see it, without a power cap. */
FabDevice fab_kernel_device (const FabAcceleratorSpec *accelerator);

/* Share of the memory's rate that a plain elementwise kernel reaches, as `auto` has it. */
#define FAB_KERNEL_MEMORY_FRACTION 0.85

/* Sets predicted_us of every row. FALSE and *error: a row is of a kind that its table cannot have. */
gboolean fab_kernel_table_predict (FabKernelTable *table, const FabCatalog *catalog, GError **error);
