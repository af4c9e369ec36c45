/* SPDX-License-Identifier: Apache-2.0 */
/* tables.c - constants of NCCL's protocols and of GPUs.
 *
 * They are those of NCCL (v2.30.7, src/graph/tuning.cc, src/graph/topo.h) and RCCL (2.21, src/graph/tuning.cc).
 * NCCL's base and step times are upper estimates for older machines; `base_us` and `step_us` replace them where small
 * sizes of calibration tables (validate/measured/) say better. They are fitted to base + steps x step = the measured
 * time.
 *
 *   ampere     LL: 8 and 30 steps in polaris_a100_ss11_allreduce_8 and dgxa100_hdr_allreduce_16_ring
 *   hopper     LL and LL128: 6 and 14 steps in alps_gh200_ss11_allreduce_4 (9.4 us) and dgxh100_allreduce_8 (16.9
 * us).
 *              Simple, after the time of the bytes: 32 us at 6 steps (alps_gh200_ss11_allreduce_4), 31 us at 3
 *              (snellius_h100_allgather_4), 43 us at 7 (h100x8_nvswitch_allgather_8)
 *   blackwell  those of hopper, because no calibration table shows small sizes
 *   cdna3      LL and Simple: 14 steps in mi300x_allreduce_8 (13.8 us; after the time of the bytes 31 to 60 us)
 *   cdna4      those of cdna3
 *
 * `issue_us` is the time of small sizes where one process drives n GPUs, divided by n: 48.2 us / 8
 * (dgx1_p100_nvlink1_allreduce_8), 59.8 / 12 (dgx2_v100_broadcast_12), 11.6 / 2 (rtx2080ti_pcie3_nop2p_broadcast_2),
 * 34.7 / 8 (a100x8_nvswitch_allreduce_8), 11.0 / 2 (rtx4090_nop2p_allreduce_2_b), 16.9 / 4
 * (snellius_h100_allgather_4). Those of other architectures are assumed.
 */
#include "models/library/nccl/parts.h"

#include <string.h>

/* A line of LL has 16 bytes, 8 of them data. A line of LL128 has 128 bytes, 120 of them data. */
const double nccl_wire_factors[NCCL_N_PROTOCOLS] = { 16.0 / 8, 128.0 / 120, 1 };

const NcclBlock nccl_blocks[NCCL_N_PROTOCOLS] = { { 512, 8, 8 }, { 640, 8, 30 }, { 512, 64, 8 } };

#define VOLTA_CAPS                                                                           \
  .ll_GBps = { 39.0, 39.0, 20.4 }, .ring_ll128_GBps = 20, .tree_ll128_GBps = { 20, 20, 20 }, \
  .tree_simple_GBps = { 26.5, 18.5, 10 }
#define AMPERE_CAPS                                                                          \
  .ll_GBps = { 87.7, 22.5, 19.0 }, .ring_ll128_GBps = 20, .tree_ll128_GBps = { 20, 20, 20 }, \
  .tree_simple_GBps = { 24, 23.6, 17.8 }

static const NcclArchitecture architectures[] = {
  { .name = "pascal",
    .least_version = 20000,
    .default_version = 22707,
    .issue_us = 6.0,
    .generation = 6,
    .most_channels = 16,
    VOLTA_CAPS },
  { .name = "volta",
    .least_version = 20000,
    .default_version = 22707,
    .issue_us = 5.0,
    .generation = 7,
    .has_ll128 = TRUE,
    .most_channels = 24,
    VOLTA_CAPS },
  { .name = "turing",
    .least_version = 20300,
    .default_version = 23007,
    .issue_us = 5.8,
    .generation = 7,
    .most_channels = 4,
    VOLTA_CAPS },
  { .name = "ampere",
    .least_version = 20703,
    .default_version = 23007,
    .issue_us = 4.3,
    .generation = 8,
    .has_ll128 = TRUE,
    .most_channels = 32,
    AMPERE_CAPS,
    .base_us = { 6.6, 14, 15 },
    .step_us = { 1.0, 2.5, 5.0 } },
  { .name = "ada",
    .least_version = 21408,
    .default_version = 23007,
    .issue_us = 5.5,
    .generation = 8,
    .has_ll128 = TRUE,
    .most_channels = 24,
    AMPERE_CAPS },
  { .name = "hopper",
    .least_version = 21501,
    .default_version = 23007,
    .issue_us = 4.2,
    .generation = 9,
    .has_ll128 = TRUE,
    .most_channels = 24,
    .ll_GBps = { 141, 45, 35 },
    .ring_ll128_GBps = 36.7,
    .tree_ll128_GBps = { 36.7, 36.7, 29 },
    .tree_simple_GBps = { 38.7, 41.4, 36 },
    .nvls_tree_GBps = { 0, 57.7, 45.5 },
    .base_us = { 3.8, 8, 20 },
    .step_us = { 0.94, 0.9, 2.5 } },
  { .name = "blackwell",
    .least_version = 22501,
    .default_version = 23007,
    .issue_us = 4.2,
    .generation = 10,
    .has_ll128 = TRUE,
    .most_channels = 32,
    .ll_GBps = { 282, 90, 70 },
    .ring_ll128_GBps = 40,
    .tree_ll128_GBps = { 55.6, 31.67, 20 },
    .tree_simple_GBps = { 70, 42.8, 24 },
    .nvls_tree_GBps = { 0, 96, 80 },
    .base_us = { 3.8, 8, 20 },
    .step_us = { 0.94, 0.9, 2.5 } },
  { .name = "cdna1",
    .least_version = 20600,
    .default_version = 22203,
    .issue_us = 4.3,
    .is_rccl = TRUE,
    .most_channels = 16,
    VOLTA_CAPS },
  { .name = "cdna2",
    .least_version = 21000,
    .default_version = 22203,
    .issue_us = 4.3,
    .is_rccl = TRUE,
    .most_channels = 32,
    AMPERE_CAPS },
  { .name = "cdna3",
    .least_version = 21803,
    .default_version = 22203,
    .issue_us = 4.3,
    .is_rccl = TRUE,
    .most_channels = 56,
    AMPERE_CAPS,
    .base_us = { 6.6, 14, 8.4 },
    .step_us = { 0.51, 2.2, 2.2 } },
  { .name = "cdna4",
    .least_version = 22203,
    .default_version = 22203,
    .issue_us = 4.3,
    .is_rccl = TRUE,
    .most_channels = 56,
    AMPERE_CAPS,
    .base_us = { 6.6, 14, 8.4 },
    .step_us = { 0.51, 2.2, 2.2 } },
};

static const NcclArchitecture unknown = {
  .name = "", .default_version = 23007, .issue_us = 4.3, .most_channels = 32, AMPERE_CAPS
};

const NcclArchitecture *
nccl_architecture (const char *name)
{
  for (guint i = 0; name != NULL && i < G_N_ELEMENTS (architectures); i++)
    if (strcmp (architectures[i].name, name) == 0)
      return &architectures[i];
  return &unknown;
}

/* Columns as in NcclArchitecture. The first one is not used: on one node it is the GPU that counts. */
static const double amd_ll_GBps[] = { 0, 22.5, 19.0 }, other_ll_GBps[] = { 0, 39.0, 20.4 };

double
nccl_ll_GBps (const NcclCandidate *self)
{
  const NcclArchitecture *architecture = self->architecture;
  guint column = nccl_column (self->group);

  if (column == 0 || architecture->is_rccl)
    return architecture->ll_GBps[column];
  return strcmp (self->group->cluster->processor->name, "amd") == 0 ? amd_ll_GBps[column]
                                                                    : other_ll_GBps[column];
}
