/* SPDX-License-Identifier: Apache-2.0 */
/* tables.c - constants of NCCL's protocols and of GPUs.
 *
 * They are those of NCCL (v2.30.7; earlier releases: versions.c; src/graph/tuning.cc, topo.h) and RCCL (2.21,
 * src/graph/tuning.cc). NCCL's base and step times are upper estimates for older machines; what was measured of a
 * generation replaces them (models/catalog/generations.yaml).
 */
#include "models/library/nccl/parts.h"

#include <string.h>

/* A line of LL has 16 bytes, 8 of them data. A line of LL128 has 128 bytes, 120 of them data. RCCL's has 64 bytes, 56
 * of them data (NCCL_LL128_LINESIZE in src/include/device.h, 2.18 to 2.30). */
static const double wire_factors[NCCL_N_PROTOCOLS] = { 16.0 / 8, 128.0 / 120, 1 },
                    rccl_ll128_factor = 64.0 / 56;

/* RCCL's have 256 threads in all protocols, and LL128 works on half of 4 words for each thread (NCCL_MAX_NTHREADS,
 * NCCL_LL128_SHMEM_ELEMS_PER_THREAD in src/include/device.h; NCCL has 8 words). */
static const NcclBlock blocks[NCCL_N_PROTOCOLS] = { { 512, 8, 8 }, { 640, 8, 30 }, { 512, 64, 8 } };
static const NcclBlock rccl_blocks[NCCL_N_PROTOCOLS] = { { 256, 8, 8 }, { 256, 8, 14 }, { 256, 64, 8 } };

#define VOLTA_CAPS                             \
  .caps = { .ll_GBps = { 39.0, 39.0, 20.4 },   \
            .ring_ll128_GBps = { 20, 20, 20 }, \
            .tree_ll128_GBps = { 20, 20, 20 }, \
            .tree_simple_GBps = { 26.5, 18.5, 10 } }
#define AMPERE_CAPS                            \
  .caps = { .ll_GBps = { 87.7, 22.5, 19.0 },   \
            .ring_ll128_GBps = { 20, 20, 20 }, \
            .tree_ll128_GBps = { 20, 20, 20 }, \
            .tree_simple_GBps = { 24, 23.6, 17.8 } }

static const NcclArchitecture architectures[] = {
  { .name = "pascal",
    .least_version = 20000,
    .default_version = 22707,
    .generation = 6,
    .most_channels = 16,
    VOLTA_CAPS },
  { .name = "volta",
    .least_version = 20000,
    .default_version = 22707,
    .generation = 7,
    .has_ll128 = TRUE,
    .most_channels = 24,
    VOLTA_CAPS },
  { .name = "turing",
    .least_version = 20300,
    .default_version = 23007,
    .generation = 7,
    .most_channels = 4,
    VOLTA_CAPS },
  { .name = "ampere",
    .least_version = 20703,
    .default_version = 23007,
    .generation = 8,
    .has_ll128 = TRUE,
    .most_channels = 32,
    AMPERE_CAPS },
  { .name = "ada",
    .least_version = 21408,
    .default_version = 23007,
    .generation = 8,
    .has_ll128 = TRUE,
    .most_channels = 24,
    AMPERE_CAPS },
  { .name = "hopper",
    .least_version = 21501,
    .default_version = 23007,
    .generation = 9,
    .has_ll128 = TRUE,
    .most_channels = 24,
    .caps = { .ll_GBps = { 141, 45, 35 },
              .ring_ll128_GBps = { 36.7, 36.7, 36.7 },
              .tree_ll128_GBps = { 36.7, 36.7, 29 },
              .tree_simple_GBps = { 38.7, 41.4, 36 },
              .nvls_tree_GBps = { 0, 57.7, 45.5 } } },
  { .name = "blackwell",
    .least_version = 22501,
    .default_version = 23007,
    .generation = 10,
    .has_ll128 = TRUE,
    .most_channels = 32,
    .caps = { .ll_GBps = { 282, 90, 70 },
              .ring_ll128_GBps = { 40, 40, 40 },
              .tree_ll128_GBps = { 55.6, 31.67, 20 },
              .tree_simple_GBps = { 70, 42.8, 24 },
              .nvls_tree_GBps = { 0, 96, 80 } } },
  { .name = "cdna1",
    .least_version = 20600,
    .default_version = 22203,
    .is_rccl = TRUE,
    .most_channels = 16,
    VOLTA_CAPS },
  { .name = "cdna2",
    .least_version = 21000,
    .default_version = 22203,
    .is_rccl = TRUE,
    .most_channels = 32,
    AMPERE_CAPS },
  { .name = "cdna3",
    .least_version = 21803,
    .default_version = 22707,
    .is_rccl = TRUE,
    .most_channels = 56,
    AMPERE_CAPS },
  { .name = "cdna4",
    .least_version = 22203,
    .default_version = 22707,
    .is_rccl = TRUE,
    .most_channels = 56,
    AMPERE_CAPS },
};

static const NcclArchitecture unknown = {
  .name = "", .default_version = 23007, .most_channels = 32, AMPERE_CAPS
};

const NcclArchitecture *
nccl_architecture (const char *name)
{
  for (guint i = 0; name != NULL && i < G_N_ELEMENTS (architectures); i++)
    if (strcmp (architectures[i].name, name) == 0)
      return &architectures[i];
  return &unknown;
}

double
nccl_wire_factor (const NcclCandidate *self, NcclProtocol protocol)
{
  return self->architecture->is_rccl && protocol == NCCL_LL128 ? rccl_ll128_factor : wire_factors[protocol];
}

const NcclBlock *
nccl_block (const NcclCandidate *self)
{
  return self->architecture->is_rccl ? &rccl_blocks[self->protocol] : &blocks[self->protocol];
}

const FabStartup *
nccl_measured_startup (const NcclCandidate *self)
{
  const FabStartups *all = &self->group->cluster->generation->startups;
  const FabStartup *startup = self->protocol == NCCL_LL    ? &all->ll
                            : self->protocol == NCCL_LL128 ? &all->ll128
                                                           : &all->simple;

  return startup->base_ps > 0 && startup->step_ps > 0 ? startup : NULL;
}

/* Columns as in NcclArchitecture. The first one is not used: on one node it is the GPU that counts. */
static const double amd_ll_GBps[] = { 0, 22.5, 19.0 }, other_ll_GBps[] = { 0, 39.0, 20.4 };

double
nccl_ll_GBps (const NcclCandidate *self)
{
  const NcclArchitecture *architecture = self->architecture;
  guint column = nccl_column (self->group);

  if (column == 0 || architecture->is_rccl)
    return self->caps->ll_GBps[column];
  return strcmp (self->group->cluster->processor->name, "amd") == 0 ? amd_ll_GBps[column]
                                                                    : other_ll_GBps[column];
}
