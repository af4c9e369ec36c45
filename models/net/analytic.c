/* SPDX-License-Identifier: Apache-2.0 */
/* analytic.c - every transfer sees an empty fabric.
 *
 *   send    t = sum (hop latency) + bytes / min over links of rate / share of the bytes
 *   stream  t = startup + bytes / min (limit, min over links of line rate / line weight)
 *
 * There is no link state, so nothing contends: this is the lower bound of fluid (tests/property/prop_fidelities.c).
 * Messages may be faster than the formula of a stream, which adds up what they do at once. O(hops) per transfer, O(1)
 * per stream.
 */
#include "models/models.h"
#include "sim/net/net.h"

static void
analytic_send (FabNet *net, const FabTransfer *transfer)
{
  FabPath path = { 0 };
  gboolean has_path = fab_router_append (net->env.router, transfer->src, transfer->dst, transfer->flow_hash,
                                         &path);

  g_assert (has_path);
  g_autoptr (FabFootprint) spread = fab_net_spread (net, transfer);
  FabTimePs wire_ps = 0;
  if (spread != NULL) {
    wire_ps = fab_flow_ps ((double) transfer->bytes, spread->rate_bytes_per_s);
    fab_meter_add_once (net->meter, spread, transfer->bytes);
  } else if (path.n > 0) {
    wire_ps = fab_flow_ps ((double) transfer->bytes,
                           fab_path_rate_bytes_per_s (net->env.graph, &path, transfer->drive));
    fab_meter_add_path (net->meter, &path, transfer->bytes, transfer->drive);
  }
  fab_engine_after (net->env.engine, fab_path_latency_ps (net->env.graph, &path) + wire_ps, transfer->done.fn,
                    transfer->done.owner, transfer->done.arg);
}

static void
analytic_stream (FabNet *net, const FabStream *stream)
{
  FabTimePs flow_ps = fab_flow_ps ((double) stream->bytes, fab_stream_rate_alone (stream));

  fab_meter_add_footprint (net->meter, stream->footprint, stream->bytes, stream->wire_factor);
  fab_engine_after (net->env.engine, fab_ps_add (stream->startup_ps, flow_ps), stream->done.fn,
                    stream->done.owner, stream->done.arg);
}

static FabNet *
analytic_create (const FabNetEnv *env, G_GNUC_UNUSED gconstpointer params)
{
  FabNet *self = g_new0 (FabNet, 1);

  fab_net_init (self, &fab_net_analytic, env);
  return self;
}

static void
analytic_destroy (FabNet *net)
{
  fab_net_clear (net);
  g_free (net);
}

const FabNetOps fab_net_analytic = {
  .info = { .name = "analytic",
            .summary = "Latency plus size over rate, without contention; the lower bound of fluid.",
            .doc = "docs/models/analytic.md" },
  .create = analytic_create,
  .send = analytic_send,
  .stream = analytic_stream,
  .destroy = analytic_destroy,
};
