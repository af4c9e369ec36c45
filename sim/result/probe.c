/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/result/probe.h"

void
fab_probe_init (FabProbe *self)
{
  *self = (FabProbe){
    .iterations = g_array_new (FALSE, FALSE, sizeof (FabIterationRecord)),
    .spans = g_array_new (FALSE, FALSE, sizeof (FabSpanRecord)),
    .collectives = g_array_new (FALSE, TRUE, sizeof (FabCollectiveRecord)),
    .link_loads = g_array_new (FALSE, FALSE, sizeof (FabLinkLoadRecord)),
    .exposures = g_array_new (FALSE, FALSE, sizeof (FabExposureRecord)),
    .path = g_array_new (FALSE, FALSE, sizeof (FabPathRecord)),
    .samples = g_array_new (FALSE, FALSE, sizeof (FabLinkSampleRecord)),
  };
}

void
fab_probe_clear (FabProbe *self)
{
  g_clear_pointer (&self->iterations, g_array_unref);
  g_clear_pointer (&self->spans, g_array_unref);
  g_clear_pointer (&self->collectives, g_array_unref);
  g_clear_pointer (&self->link_loads, g_array_unref);
  g_clear_pointer (&self->exposures, g_array_unref);
  g_clear_pointer (&self->path, g_array_unref);
  g_clear_pointer (&self->samples, g_array_unref);
}

void
fab_probe_empty (FabProbe *self)
{
  g_array_set_size (self->iterations, 0);
  g_array_set_size (self->spans, 0);
  g_array_set_size (self->collectives, 0);
  g_array_set_size (self->link_loads, 0);
  g_array_set_size (self->exposures, 0);
  g_array_set_size (self->path, 0);
  g_array_set_size (self->samples, 0);
  self->step = (FabStepRecord){ 0 };
}
