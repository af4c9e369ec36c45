/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/traffic/sizes.h"

#include <string.h>

/* Web search: M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010. Hadoop: A. Roy et al., "Inside the Social
 * Network's (Datacenter) Network", SIGCOMM 2015. Storage: Alibaba's of 2019. The points are those with which HPCC was
 * evaluated (Y. Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019): files WebSearch_distribution.txt,
 * FbHdp_distribution.txt and AliStorage2019.txt of alibaba-edu/High-Precision-Congestion-Control, traffic_gen, commit
 * 9f4be2a. */
static const FlowSizePoint websearch[] = {
  { 0, 0 },        { 10e3, 0.15 }, { 20e3, 0.20 }, { 30e3, 0.30 }, { 50e3, 0.40 }, { 80e3, 0.53 },
  { 200e3, 0.60 }, { 1e6, 0.70 },  { 2e6, 0.80 },  { 5e6, 0.90 },  { 10e6, 0.97 }, { 30e6, 1 },
};

static const FlowSizePoint hadoop[] = {
  { 0, 0 },        { 100, 0.01 },   { 200, 0.02 },  { 300, 0.05 },  { 350, 0.15 },
  { 400, 0.20 },   { 500, 0.30 },   { 600, 0.40 },  { 700, 0.50 },  { 1e3, 0.60 },
  { 2e3, 0.67 },   { 7e3, 0.70 },   { 30e3, 0.72 }, { 50e3, 0.82 }, { 80e3, 0.87 },
  { 120e3, 0.90 }, { 300e3, 0.95 }, { 1e6, 0.975 }, { 2e6, 0.99 },  { 10e6, 1 },
};

static const FlowSizePoint storage[] = {
  { 0, 0 },         { 4e3, 0.2293 },   { 8e3, 0.6921 },   { 16e3, 0.8061 }, { 32e3, 0.9047 },
  { 64e3, 0.9353 }, { 128e3, 0.9677 }, { 256e3, 0.9753 }, { 2e6, 1 },
};

static const FlowSizes published[] = {
  { "websearch", websearch, G_N_ELEMENTS (websearch) },
  { "hadoop", hadoop, G_N_ELEMENTS (hadoop) },
  { "storage", storage, G_N_ELEMENTS (storage) },
};

const FlowSizes *
flow_sizes_published (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (published); i++)
    if (strcmp (published[i].name, name) == 0)
      return &published[i];
  return NULL;
}

double
flow_sizes_mean (const FlowSizes *self)
{
  double mean = 0;

  for (guint i = 1; i < self->n; i++) {
    const FlowSizePoint *from = &self->points[i - 1], *to = &self->points[i];

    mean += (to->below_fraction - from->below_fraction) * (from->bytes + to->bytes) / 2;
  }
  return mean;
}

FabBytes
flow_sizes_quantile (const FlowSizes *self, double fraction)
{
  guint i = 1;

  while (i + 1 < self->n && self->points[i].below_fraction < fraction)
    i++;
  const FlowSizePoint *from = &self->points[i - 1], *to = &self->points[i];
  double width = to->below_fraction - from->below_fraction;
  double part = width > 0 ? (fraction - from->below_fraction) / width : 1;

  return MAX ((FabBytes) (from->bytes + CLAMP (part, 0, 1) * (to->bytes - from->bytes)), 1);
}
