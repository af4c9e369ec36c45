/* SPDX-License-Identifier: Apache-2.0 */
/* technologies.h - kinds of links and a processor for graphs that tests build by hand, with the properties of the
 * shipped entries. */
#pragma once

#include "sim/fabric/generation.h"
#include "sim/fabric/processor.h"
#include "sim/fabric/technology.h"

extern const FabTechnology test_pcie, test_nvlink, test_c2c, test_xgmi, test_upi, test_memory, test_ethernet,
    test_infiniband;
/* The numbers that tests of the nccl library count with by hand: an Ampere GPU. */
extern const FabGeneration test_generation;
extern const FabProcessor test_processor; /* nothing is lost in its memory */
