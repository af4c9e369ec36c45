/* SPDX-License-Identifier: Apache-2.0 */
/* rccl_tuner.c - how RCCL chooses between a ring and trees over several nodes of CDNA 3 and 4.
 *
 *   time = latency + bytes / (bus bandwidth x share x correction for the size x 1/2 (tree) or n / 2(n - 1) (ring))
 *
 * The constants are those of ROCm/rccl, src/graph/tuning.cc: tuning models 5 (gfx942) and 6 (gfx950) of 2.25.1 to
 * 2.27.7, model 6 of 2.30.4 (before pull request 9406 of ROCm/rocm-systems, which prints what it chooses), and model 5
 * before it had LL128 (2.18 to 2.22). The best time of any protocol says which algorithm runs; the
 * size says then which protocol (rccl.c, rcclUpdateCollectiveProtocol comes after topoGetAlgoInfo in src/enqueue.cc).
 * The network step of 320 us keeps Simple rings for long messages; it is no time that a step takes.
 */
#include "models/library/nccl/parts.h"

#include <string.h>

enum { N_SIZES = 27, LL128_VERSION = 22501 };

typedef enum { TREE, RING, N_SHAPES } Shape;

typedef double Corrections[NCCL_N_PROTOCOLS][N_SIZES]; /* at 64 B x 2^i */

typedef struct {
  const char *architecture;
  guint from_version;
  const Corrections *corrections[N_SHAPES];
} Tuner;

/* --- constants that all of these models share; LL, LL128, Simple --- */

static const double base_us[NCCL_N_PROTOCOLS] = { 12, 12, 17 };
static const double intra_us[N_SHAPES][NCCL_N_PROTOCOLS] = { { 0.9, 0.9, 2.3 }, { 0.8, 0.8, 2.1 } };
static const double net_us[N_SHAPES][NCCL_N_PROTOCOLS] = { { 10.5, 10.5, 25 }, { 9.5, 9.5, 320 } };

/* Shares of the bus bandwidth, on two nodes and on more. */
static const double shares[2][N_SHAPES][NCCL_N_PROTOCOLS] = {
  { { 0.06, 0.06, 0.11 }, { 0.08, 0.08, 1 } },
  { { 0.06, 0.06, 0.59 }, { 0.08, 0.08, 1 } },
};

#define SHORT_TREE .1, .1, .1, .1, .1, .1, 1, 1, 1, 1, 1, .6, 1, .9, 1, 1
#define SHORT_RING .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, 1, .2, 1, .4, .4, .1, .2
#define TENTHS_16 .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1
#define TENTHS_11 .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1
#define TENTHS_8 .1, .1, .1, .1, .1, .1, .1, .1

static const Corrections old_tree = {
  { SHORT_TREE, TENTHS_11 },
  { 0 },
  { TENTHS_11, .1, .1, .1, .1, .7, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, .8 },
};
static const Corrections old_ring = {
  { SHORT_RING, .2, TENTHS_8 },
  { 0 },
  { TENTHS_16, .1, .1, .1, .1, .1, .1, .1, .8, 1, 1, 1 },
};
static const Corrections cdna3_tree = {
  { SHORT_TREE, TENTHS_11 },
  { SHORT_TREE, TENTHS_11 },
  { TENTHS_11, .1, .1, .1, .1, .7, 1, 1, 1, 1, 1, .7, .7, .5, .6, .6, .6 },
};
static const Corrections cdna3_ring = {
  { SHORT_RING, .2, TENTHS_8 },
  { SHORT_RING, .2, TENTHS_8 },
  { TENTHS_16, .1, .1, .1, .1, .1, .1, 1, .8, 1, 1, 1 },
};
static const Corrections cdna4_tree = {
  { SHORT_TREE, TENTHS_11 },
  { SHORT_TREE, 1, 1, 1, 2, .1, .1, .1, .1, .1, .1, .1 },
  { TENTHS_11, .1, .1, .1, .1, .7, 1, .1, .1, .1, .9, .9, .7, .8, .6, .6, .6 },
};
static const Corrections cdna4_ring = {
  { SHORT_RING, .2, TENTHS_8 },
  { SHORT_RING, .1, TENTHS_8 },
  { TENTHS_16, .1, .1, .1, .1, .1, .1, 1, .8, .8, 1, 1 },
};

static const Corrections later_cdna4_tree = {
  { SHORT_TREE, TENTHS_11 },
  { SHORT_TREE, 1, 1, 1, 2, 2, 1, .1, .9, .9, .1, .1 },
  { TENTHS_11, .1, .1, .1, .1, .7, 1, .1, .1, .1, .1, .1, .7, .15, .6, .7, .6 },
};
static const Corrections later_cdna4_ring = {
  { SHORT_RING, .2, TENTHS_8 },
  { SHORT_RING, .1, .1, .1, .1, 5.5, .1, .1, 1, 1 },
  { TENTHS_16, .1, .1, .1, .1, .9, .1, 1, .1, .6, 1, 1 },
};

/* Later rows of an architecture are for later releases. */
static const Tuner tuners[] = {
  { "cdna3", 0, { &old_tree, &old_ring } },
  { "cdna3", LL128_VERSION, { &cdna3_tree, &cdna3_ring } },
  { "cdna4", 0, { &cdna4_tree, &cdna4_ring } },
  { "cdna4", RCCL_LATER_VERSION, { &later_cdna4_tree, &later_cdna4_ring } },
};

static const Tuner *
find (const NcclCandidate *self)
{
  const Tuner *found = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (tuners); i++)
    if (strcmp (tuners[i].architecture, self->architecture->name) == 0
        && self->version >= tuners[i].from_version)
      found = &tuners[i];
  return found;
}

static gboolean
is_tree (const NcclCandidate *self)
{
  return strcmp (self->algorithm->model, "tree") == 0;
}

gboolean
rccl_has_tuner (const NcclCandidate *common)
{
  return common->architecture->is_rccl && common->group->n_nodes > 1 && find (common) != NULL;
}

gboolean
rccl_tunes (const NcclCandidate *self)
{
  return rccl_has_tuner (self) && (is_tree (self) || self->algorithm->is_searched);
}

/* A step of a ring waits for the proxy thread, three times as long with Simple. */
static double
latency_us (const NcclCandidate *self, Shape shape, NcclProtocol protocol)
{
  const FabCollectiveForm *form = self->form;
  double proxy_us = (double) self->group->cluster->processor->proxy_ps / 1e6;
  double intra = intra_us[shape][protocol], net = net_us[shape][protocol];

  if (shape == TREE)
    return base_us[protocol]
         + 2
               * ((self->n_ranks / self->group->n_nodes - 1) * intra
                  + (g_bit_storage (self->group->n_nodes) - 1) * net);
  intra = MAX (intra, protocol == NCCL_SIMPLE ? 3 * proxy_us : proxy_us);
  return base_us[protocol] + form->n_intra_steps * intra + form->n_inter_steps * net;
}

static double
estimate_us (const NcclCandidate *self, NcclProtocol protocol)
{
  Shape shape = is_tree (self) ? TREE : RING;
  guint size = MIN (g_bit_storage ((gulong) MAX (self->bytes >> 6, 1)) - 1, N_SIZES - 1);
  double per_step = shape == TREE ? 0.5 : 1 / fab_op_bus_factor (self->op, self->n_ranks);
  double GBps = self->busbw_GBps * shares[self->group->n_nodes > 2][shape][protocol] * per_step
              * (*find (self)->corrections[shape])[protocol][size];

  return latency_us (self, shape, protocol) + (double) self->bytes / (GBps * 1e3);
}

double
rccl_tuner_us (const NcclCandidate *self, gboolean any_protocol)
{
  double least = G_MAXDOUBLE;

  for (NcclProtocol protocol = 0; protocol < NCCL_N_PROTOCOLS; protocol++)
    if ((any_protocol || protocol == self->protocol)
        && (protocol != NCCL_LL128 || self->version >= LL128_VERSION))
      least = MIN (least, estimate_us (self, protocol));
  return least;
}
