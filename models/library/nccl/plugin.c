/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.c - network plug-ins: the latency that they tell NCCL's tuner, what they set, and what their own tuners
 * choose.
 *
 * aws-ofi-nccl 1.21.1 knows families of instances (src/platform-aws.cpp:83-285) and has a tuner for some of them
 * (src/tuner/nccl_ofi_regions.cpp). That tuner holds regions in the plane of size and number of ranks, both
 * logarithmic. A region is given here by its upper end in bytes at some numbers of ranks; between these, and beyond the
 * last one, the end is a straight line in that plane. The first region that holds the point is chosen. On two nodes, on
 * other shapes than eight GPUs per node (the plug-in knows one and two too, these are not here) and where no region
 * holds the point, NCCL's tuner chooses.
 *
 * Where messages go by sends (p3dn, p4d, p4de), whose bytes EFA may deliver out of order within 128, or without
 * GPUDirect, the plug-in sets NCCL_PROTO=simple where nobody has set it (src/nccl_ofi_net.cpp,
 * nccl_net_ofi_configure_nccl_proto_simple; logs of p4d with 1.11 and 1.14: issues 715 and 889 of aws-ofi-nccl).
 */
#include <math.h>
#include <string.h>

#include "models/library/nccl/parts.h"

#define MOST G_MAXDOUBLE

typedef struct {
  double ranks, bytes;
} RegionEnd;

enum { MOST_ENDS = 10 };

struct NcclRegion {
  FabOp op;
  const char *model;
  NcclProtocol protocol;
  guint last_ranks; /* the region does not hold more ranks; 0: it goes on */
  RegionEnd ends[MOST_ENDS];
};

static const NcclRegion p5_regions[] = {
  { FAB_OP_ALL_REDUCE,
    "tree",
    NCCL_LL128,
    0,
    { { 16, 31457280 },
      { 32, 37748736 },
      { 64, 117440512 },
      { 128, 301989888 },
      { 256, 301989888 },
      { 512, 335544320 },
      { 1024, 536870912 },
      { 2048, 402653184 },
      { 4096, 402653184 } } },
  { FAB_OP_ALL_REDUCE,
    "ring",
    NCCL_LL128,
    256,
    { { 17, 1073741824 },
      { 64, 2147483648 },
      { 128, 2147483648 },
      { 160, 1342177280 },
      { 256, 1074790400 } } },
  { FAB_OP_ALL_REDUCE, "ring", NCCL_SIMPLE, 127, { { 17, MOST } } },
  { FAB_OP_ALL_REDUCE,
    "nvls_tree",
    NCCL_SIMPLE,
    0,
    { { 128, 6442450944 }, { 160, 8053063680 }, { 192, 9663676416 } } },
  { FAB_OP_ALL_REDUCE, "ring", NCCL_SIMPLE, 0, { { 128, MOST } } },
};

static const NcclRegion p5en_regions[] = {
  { FAB_OP_ALL_REDUCE, "tree", NCCL_LL, 0, { { 16, 196608 }, { 1024, 196608 } } },
  { FAB_OP_ALL_REDUCE, "tree", NCCL_LL128, 0, { { 16, 13107200 }, { 127, 129499136 }, { 1024, 218103808 } } },
  { FAB_OP_ALL_REDUCE,
    "ring",
    NCCL_LL128,
    128,
    { { 16, 29884416 }, { 32, 293601280 }, { 64, 589299712 }, { 128, 549453824 } } },
  { FAB_OP_ALL_REDUCE,
    "nvls_tree",
    NCCL_SIMPLE,
    0,
    { { 32, 509607936 }, { 256, 7516192768 }, { 448, 17179869184 } } },
  { FAB_OP_ALL_REDUCE, "ring", NCCL_SIMPLE, 0, { { 16, MOST } } },
  { FAB_OP_ALL_GATHER,
    "ring",
    NCCL_LL,
    0,
    { { 16, 786432 },
      { 128, 4718592 },
      { 384, 13630464 },
      { 512, 19922944 },
      { 768, 28305408 },
      { 1024, 33554432 } } },
  { FAB_OP_ALL_GATHER,
    "ring",
    NCCL_LL128,
    0,
    { { 16, 236978176 }, { 64, 956301312 }, { 384, 7247754240 }, { 896, 17179865088 } } },
  { FAB_OP_ALL_GATHER, "ring", NCCL_SIMPLE, 0, { { 16, MOST } } },
  { FAB_OP_REDUCE_SCATTER,
    "ring",
    NCCL_LL,
    0,
    { { 16, 786432 }, { 128, 4718592 }, { 256, 7340032 }, { 512, 18874368 } } },
  { FAB_OP_REDUCE_SCATTER,
    "ring",
    NCCL_LL128,
    0,
    { { 16, 291504128 },
      { 32, 589299712 },
      { 128, 2415919104 },
      { 256, 7247757312 },
      { 640, 17179869184 } } },
  { FAB_OP_REDUCE_SCATTER, "ring", NCCL_SIMPLE, 0, { { 16, MOST } } },
};

static const NcclRegion p6_b200_regions[] = {
  { FAB_OP_ALL_REDUCE, "tree", NCCL_LL, 0, { { 16, 393216 }, { 1024, 393216 } } },
  { FAB_OP_ALL_REDUCE,
    "tree",
    NCCL_LL128,
    0,
    { { 16, 4718592 },
      { 32, 18350080 },
      { 64, 40370176 },
      { 128, 57147392 },
      { 256, 72876032 },
      { 1024, 96993280 },
      { 2048, 106430464 } } },
  { FAB_OP_ALL_REDUCE, "ring", NCCL_LL128, 128, { { 32, 133693440 }, { 64, 120061952 }, { 128, 90701824 } } },
  { FAB_OP_ALL_REDUCE,
    "nvls_tree",
    NCCL_SIMPLE,
    0,
    { { 32, 435159040 }, { 64, 1072693248 }, { 512, 10737418240 }, { 1500, 34359738368 } } },
  { FAB_OP_ALL_REDUCE, "ring", NCCL_SIMPLE, 0, { { 16, MOST } } },
  { FAB_OP_ALL_GATHER,
    "ring",
    NCCL_LL,
    0,
    { { 16, 786432 },
      { 32, 1572864 },
      { 64, 2621440 },
      { 128, 4718592 },
      { 256, 17301504 },
      { 1024, 74973184 },
      { 2048, 213385216 } } },
  { FAB_OP_ALL_GATHER,
    "ring",
    NCCL_LL128,
    0,
    { { 16, 198705152 }, { 32, 456130560 }, { 64, 871366656 }, { 512, 8321499136 }, { 2048, 32212254720 } } },
  { FAB_OP_ALL_GATHER, "ring", NCCL_SIMPLE, 0, { { 16, MOST } } },
  { FAB_OP_REDUCE_SCATTER,
    "ring",
    NCCL_LL,
    0,
    { { 16, 786432 },
      { 32, 1572864 },
      { 64, 2621440 },
      { 128, 4718592 },
      { 256, 17301504 },
      { 512, 35127296 },
      { 1024, 73924608 },
      { 2048, 209190912 } } },
  { FAB_OP_REDUCE_SCATTER,
    "ring",
    NCCL_LL128,
    0,
    { { 16, 219676672 }, { 32, 508559360 }, { 64, 592445440 }, { 256, 4294967296 }, { 512, 8589934592 } } },
  { FAB_OP_REDUCE_SCATTER, "ring", NCCL_SIMPLE, 0, { { 16, MOST } } },
};

static const NcclRegion p6_b300_regions[] = {
  { FAB_OP_ALL_REDUCE,
    "tree",
    NCCL_LL,
    0,
    { { 16, 720896 }, { 32, 491520 }, { 64, 425984 }, { 256, 425984 }, { 512, 360448 }, { 2048, 360448 } } },
  { FAB_OP_ALL_REDUCE,
    "tree",
    NCCL_LL128,
    0,
    { { 16, 31457280 },
      { 32, 54525952 },
      { 64, 109051904 },
      { 128, 125829120 },
      { 256, 125829120 },
      { 512, 184549376 },
      { 1024, 218103808 },
      { 2048, 251658240 } } },
  { FAB_OP_ALL_REDUCE,
    "ring",
    NCCL_LL128,
    128,
    { { 16, 62914560 }, { 32, 603979776 }, { 64, 1006632960 }, { 128, 1006632960 } } },
  { FAB_OP_ALL_REDUCE,
    "nvls_tree",
    NCCL_SIMPLE,
    0,
    { { 32, 603979776 },
      { 64, 2013265920 },
      { 128, 4026531840 },
      { 256, 9663676416 },
      { 512, 19327352832 } } },
  { FAB_OP_ALL_REDUCE, "ring", NCCL_SIMPLE, 0, { { 16, MOST } } },
  { FAB_OP_ALL_GATHER, "ring", NCCL_LL, 0, { { 16, 1703936 }, { 1024, 109051904 } } },
  { FAB_OP_ALL_GATHER, "ring", NCCL_LL128, 0, { { 16, 436207616 }, { 1024, 27917287424 } } },
  { FAB_OP_ALL_GATHER, "ring", NCCL_SIMPLE, 0, { { 16, MOST } } },
  { FAB_OP_REDUCE_SCATTER, "ring", NCCL_LL, 0, { { 16, 1703936 }, { 1024, 109051904 } } },
  { FAB_OP_REDUCE_SCATTER,
    "ring",
    NCCL_LL128,
    0,
    { { 16, 301989888 },
      { 32, 738197504 },
      { 64, 1207959552 },
      { 128, 3489660928 },
      { 1024, 27917287424 } } },
  { FAB_OP_REDUCE_SCATTER, "ring", NCCL_SIMPLE, 0, { { 16, MOST } } },
};

enum { CHUNK_BYTES = 512 * 1024 }; /* that the plug-in sets for the switches' algorithms */

#define REGIONS(regions_) .regions = regions_, .n_regions = G_N_ELEMENTS (regions_)

static const NcclPlugin plugins[] = {
  { .name = "none" },
  { .name = "efa", .told_us = 75, .is_simple_only = TRUE },
  { .name = "efa-p3dn", .told_us = 150, .is_simple_only = TRUE },
  { .name = "efa-p5", .told_us = 75, .nvls_chunk_bytes = CHUNK_BYTES, REGIONS (p5_regions) },
  { .name = "efa-p5en", .told_us = 35, .nvls_chunk_bytes = CHUNK_BYTES, REGIONS (p5en_regions) },
  { .name = "efa-p6-b200", .told_us = 35, .nvls_chunk_bytes = CHUNK_BYTES, REGIONS (p6_b200_regions) },
  { .name = "efa-p6-b300", .told_us = 35, .nvls_chunk_bytes = CHUNK_BYTES, REGIONS (p6_b300_regions) },
  { .name = "efa-g7e", .told_us = 35 },
};

const NcclPlugin *
nccl_plugin (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (plugins); i++)
    if (strcmp (plugins[i].name, name) == 0)
      return &plugins[i];
  return NULL;
}

char *
nccl_plugin_names (void)
{
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (plugins); i++)
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", plugins[i].name);
  return g_string_free (names, FALSE);
}

/* The upper end of a region at a number of ranks; 0: the region does not hold as few or as many. */
static double
end_bytes (const NcclRegion *self, guint n_ranks)
{
  guint n = 0, i = 0;

  while (n < MOST_ENDS && self->ends[n].ranks > 0)
    n++;
  if (n_ranks < self->ends[0].ranks || (self->last_ranks > 0 && n_ranks > self->last_ranks))
    return 0;
  if (n == 1)
    return self->ends[0].bytes;
  while (i + 2 < n && n_ranks > self->ends[i + 1].ranks)
    i++;
  const RegionEnd *a = &self->ends[i], *b = a + 1;
  return a->bytes * pow (b->bytes / a->bytes, log (n_ranks / a->ranks) / log (b->ranks / a->ranks));
}

gboolean
nccl_plugin_chooses (const NcclPlugin *self, const FabGroup *group, FabOp op, FabBytes bytes,
                     const char **model, NcclProtocol *protocol)
{
  enum { GPUS_PER_NODE = 8, LEAST_NODES = 3 };

  if (group->gpus_per_node != GPUS_PER_NODE || group->n_nodes < LEAST_NODES)
    return FALSE;
  for (guint i = 0; i < self->n_regions; i++) {
    const NcclRegion *region = &self->regions[i];

    if (region->op != op || (double) bytes > end_bytes (region, fab_group_n_ranks (group)))
      continue;
    *model = region->model;
    *protocol = region->protocol;
    return TRUE;
  }
  return FALSE;
}
