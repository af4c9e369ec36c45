/* SPDX-License-Identifier: Apache-2.0 */
/* single.c - streams and transfers on the network `step`, as lines of one message. */
#include "models/net/step/parts.h"

void
fab_step_stream (FabNet *net, const FabStream *stream)
{
  FabTimePs begin_ps = fab_engine_now (net->env.engine) + stream->startup_ps;
  FabNetLine *line;

  if (stream->bytes == 0) {
    fab_engine_at (net->env.engine, begin_ps, stream->done.fn, stream->done.owner, stream->done.arg);
    return;
  }
  line = fab_step_open (net, &(FabConnection){ .footprint = stream->footprint,
                                               .share = stream->share,
                                               .wire_factor = stream->wire_factor,
                                               .limit_bytes_per_s = stream->limit_bytes_per_s });
  line->done = stream->done;
  fab_step_message (net, line, (double) stream->bytes, begin_ps);
}

static FabFootprint *
footprint_of (StepNet *self, const FabTransfer *transfer, const FabPath *path)
{
  FabFootprint *spread = fab_net_spread (&self->base, transfer);

  if (spread != NULL)
    return spread;
  fab_footprint_builder_add (self->builder, path, (FabUse){ 1, transfer->drive, 1, 1 });
  return fab_footprint_builder_finish (self->builder);
}

void
fab_step_send (FabNet *net, const FabTransfer *transfer)
{
  FabPath path = { 0 };
  gboolean has_path = fab_router_append (net->env.router, transfer->src, transfer->dst, transfer->flow_hash,
                                         &path);
  FabTimePs begin_ps = fab_engine_now (net->env.engine) + fab_path_latency_ps (net->env.graph, &path);

  g_assert (has_path);
  if (transfer->bytes == 0 || path.n == 0) {
    fab_engine_at (net->env.engine, begin_ps, transfer->done.fn, transfer->done.owner, transfer->done.arg);
    return;
  }
  FabFootprint *footprint = footprint_of ((StepNet *) net, transfer, &path);
  FabNetLine *line = fab_step_open (net,
                                    &(FabConnection){ .footprint = footprint, .share = 1, .wire_factor = 1 });
  line->own = footprint;
  line->sharer.share = 1;
  line->done = transfer->done;
  fab_step_message (net, line, (double) transfer->bytes, begin_ps);
}
