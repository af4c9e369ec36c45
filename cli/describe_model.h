/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/scenario/catalog.h"

/* Prints parameters, FLOPs, memory and operators of a model at this sequence length, as comments below its entry. */
void fab_describe_model (const FabModelSpec *model, guint sequence);
