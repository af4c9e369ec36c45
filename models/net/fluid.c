/* SPDX-License-Identifier: Apache-2.0 */
/* fluid.c - flows share links by weighted max-min, and all links of a flow advance together.
 *
 *   rates       max-min over line rate / line weight (sim/solve/sharing.h), solved again when flows start or end:
 * once
 *               for everything at the same time, and only for the flows that are affected; links that a job's
 *               collectives cross in the same way are one (sim/solve/folding.h)
 *   completion  now + remaining / rate, rounded up to a ps
 *   fairness    a link is shared per connection: a stream of 8 channels counts eightfold
 *
 * A flow that is alone in the network is not entered on its links at all. So the one collective at a time of a DDP
 * job costs O(1), whatever the number of links. When a link loses some or all of its rate, the rates of the flows on it
 * change from then on. There are no queues: no loss and no head-of-line blocking.
 */
#include <math.h>

#include "models/models.h"
#include "sim/base/pool.h"
#include "sim/net/net.h"
#include "sim/solve/folding.h"

/* The links of a message on one path. */
typedef struct {
  FabPath path;
  double line_weights[FAB_PATH_MAX_LINKS];
  FabDrive drive;
} SendLinks;

typedef struct {
  FabFoldedFlow folded;     /* its rate is in bytes of the stream or message per second */
  double alone_bytes_per_s; /* rate when nothing else moves */
  double remaining_bytes;
  double rate_bytes_per_s;
  FabTimePs updated_ps;
  FabTimer timer;
  FabDone done;
  FabBytes bytes;
  const FabFootprint *footprint; /* NULL for sends on one path */
  FabFootprint *spread;          /* the footprint of a send on several paths; owned by the flow */
  SendLinks *own;                /* for a send on one path */
} Flow;

typedef struct {
  FabNet base;
  FabPool flows, send_links;
  FabFolding *folding;   /* NULL: no two flows have met yet, and no capacity has changed */
  gboolean is_solve_due; /* a solve is scheduled for the end of this instant */
  guint n_active;
  Flow *alone;
  double *fractions; /* per link: share of its line rate; NULL: no link has ever changed */
  guint n_changed;   /* number of links below their full rate */
} FluidNet;

static void flow_end (gpointer owner, guint64 arg);

static void
flow_set_rate (gpointer owner, FabSharer *sharer, double rate_bytes_per_s)
{
  FluidNet *self = owner;
  Flow *flow = (Flow *) sharer;
  FabEngine *engine = self->base.env.engine;
  FabTimePs now_ps = fab_engine_now (engine);

  if (fabs (rate_bytes_per_s - flow->rate_bytes_per_s) <= 1e-12 * rate_bytes_per_s)
    return;
  flow->remaining_bytes -= flow->rate_bytes_per_s * fab_ps_to_seconds (now_ps - flow->updated_ps);
  flow->remaining_bytes = MAX (flow->remaining_bytes, 0);
  flow->rate_bytes_per_s = rate_bytes_per_s;
  flow->updated_ps = now_ps;
  if (flow->timer)
    fab_engine_cancel (engine, flow->timer);
  flow->timer = 0;
  if (rate_bytes_per_s <= 0) /* waits at a dead link */
    return;
  flow->timer = fab_engine_after (engine, fab_flow_ps (flow->remaining_bytes, rate_bytes_per_s), flow_end,
                                  self, GPOINTER_TO_SIZE (flow));
}

static void
solve (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  FluidNet *self = owner;

  self->is_solve_due = FALSE;
  fab_folding_solve (self->folding); /* a flow was added to it, or removed from it */
}

/* Solves after everything else that is due now; a new flow has no rate until then. */
static void
solve_soon (FluidNet *self)
{
  if (!self->is_solve_due)
    fab_engine_after (self->base.env.engine, 0, solve, self, 0);
  self->is_solve_due = TRUE;
}

/* Returns the present capacity of a link. */
static double
capacity_of (gconstpointer owner, guint link)
{
  const FluidNet *self = owner;
  double rate = (double) fab_graph_link (self->base.env.graph, link)->rate_bytes_per_s;

  return self->fractions != NULL ? rate * self->fractions[link] : rate;
}

static FabFolding *
folding_of (FluidNet *self)
{
  const FabGraph *graph = self->base.env.graph;

  if (self->folding == NULL)
    self->folding = fab_folding_new (fab_graph_n_links (graph), capacity_of, flow_set_rate, self,
                                     fab_graph_is_unfolded (graph));
  return self->folding;
}

static void
flow_begin (gpointer owner, guint64 arg)
{
  FluidNet *self = owner;
  Flow *flow = GSIZE_TO_POINTER (arg);

  flow->updated_ps = fab_engine_now (self->base.env.engine);
  if (self->n_active++ == 0 && self->n_changed == 0) {
    self->alone = flow;
    flow_set_rate (self, &flow->folded.sharer, flow->alone_bytes_per_s);
    return;
  }
  if (self->alone)
    fab_folding_enter (folding_of (self), &g_steal_pointer (&self->alone)->folded);
  fab_folding_add (folding_of (self), &flow->folded);
  solve_soon (self);
}

static void
flow_meter (FluidNet *self, const Flow *flow)
{
  if (flow->spread)
    fab_meter_add_once (self->base.meter, flow->spread, flow->bytes);
  else if (flow->footprint)
    fab_meter_add_footprint (self->base.meter, flow->footprint, flow->bytes,
                             flow->folded.sharer.weight_factor);
  else
    fab_meter_add_path (self->base.meter, &flow->own->path, flow->bytes, flow->own->drive);
}

static void
flow_end (gpointer owner, guint64 arg)
{
  FluidNet *self = owner;
  Flow *flow = GSIZE_TO_POINTER (arg);
  FabDone done = flow->done;

  self->n_active--;
  if (self->alone == flow) {
    self->alone = NULL;
  } else {
    fab_folding_remove (self->folding, &flow->folded);
    solve_soon (self);
  }
  flow_meter (self, flow);
  if (flow->own)
    fab_pool_give (&self->send_links, flow->own);
  fab_footprint_free (flow->spread);
  fab_pool_give (&self->flows, flow);
  done.fn (done.owner, done.arg);
}

static void
flow_start (FluidNet *self, Flow *flow, FabTimePs latency_ps)
{
  flow->remaining_bytes = (double) flow->bytes;
  fab_engine_after (self->base.env.engine, latency_ps, flow_begin, self, GPOINTER_TO_SIZE (flow));
}

static void
fluid_stream (FabNet *net, const FabStream *stream)
{
  FluidNet *self = (FluidNet *) net;
  const FabFootprint *footprint = stream->footprint;
  Flow *flow;

  if (stream->bytes == 0) {
    fab_engine_after (net->env.engine, stream->startup_ps, stream->done.fn, stream->done.owner,
                      stream->done.arg);
    return;
  }
  flow = fab_pool_take (&self->flows);
  flow->folded = (FabFoldedFlow){
    .sharer = { .weight_factor = stream->wire_factor,
                .share = stream->share / (footprint->binding_weight * stream->wire_factor),
                .limit = stream->limit_bytes_per_s },
    .links = footprint->links,
    .weights = footprint->line_weights,
    .n = footprint->n,
    .stays = stream->stays,
  };
  flow->footprint = footprint;
  flow->bytes = stream->bytes;
  flow->alone_bytes_per_s = fab_stream_rate_alone (stream);
  flow->done = stream->done;
  flow_start (self, flow, stream->startup_ps);
}

static SendLinks *
send_links_new (FluidNet *self, const FabTransfer *transfer)
{
  const FabGraph *graph = self->base.env.graph;
  SendLinks *own = fab_pool_take (&self->send_links);
  gboolean has_path = fab_router_append (self->base.env.router, transfer->src, transfer->dst,
                                         transfer->flow_hash, &own->path);

  g_assert (has_path);
  own->drive = transfer->drive;
  for (guint i = 0; i < own->path.n; i++)
    own->line_weights[i] = fab_graph_link_class (graph, own->path.links[i])->cost[transfer->drive];
  return own;
}

static void
flow_take_path (FluidNet *self, Flow *flow)
{
  flow->folded = (FabFoldedFlow){
    .sharer = { .weight_factor = 1, .share = 1 },
    .links = flow->own->path.links,
    .weights = flow->own->line_weights,
    .n = flow->own->path.n,
  };
  flow->alone_bytes_per_s = fab_path_rate_bytes_per_s (self->base.env.graph, &flow->own->path,
                                                       flow->own->drive);
}

/* The parts on all paths advance together, as one message. */
static void
flow_spread (Flow *flow)
{
  flow->footprint = flow->spread;
  flow->folded = (FabFoldedFlow){
    .sharer = { .weight_factor = 1, .share = 1 },
    .links = flow->spread->links,
    .weights = flow->spread->line_weights,
    .n = flow->spread->n,
  };
  flow->alone_bytes_per_s = flow->spread->rate_bytes_per_s;
}

static void
fluid_send (FabNet *net, const FabTransfer *transfer)
{
  FluidNet *self = (FluidNet *) net;
  SendLinks *own = send_links_new (self, transfer);
  FabTimePs latency_ps = fab_path_latency_ps (net->env.graph, &own->path);
  Flow *flow;

  if (transfer->bytes == 0 || own->path.n == 0) {
    fab_pool_give (&self->send_links, own);
    fab_engine_after (net->env.engine, latency_ps, transfer->done.fn, transfer->done.owner,
                      transfer->done.arg);
    return;
  }
  flow = fab_pool_take (&self->flows);
  flow->spread = fab_net_spread (net, transfer);
  if (flow->spread != NULL) {
    fab_pool_give (&self->send_links, own);
    flow_spread (flow);
  } else {
    flow->own = own;
    flow_take_path (self, flow);
  }
  flow->bytes = transfer->bytes;
  flow->done = transfer->done;
  flow_start (self, flow, latency_ps);
}

static void
fluid_set_capacity (FabNet *net, FabLinkId link, double fraction)
{
  FluidNet *self = (FluidNet *) net;
  guint n_links = fab_graph_n_links (net->env.graph);

  if (self->fractions == NULL) {
    self->fractions = g_new (double, n_links + 1);
    for (guint i = 0; i < n_links; i++)
      self->fractions[i] = 1;
  }
  self->n_changed -= self->fractions[link] < 1;
  self->n_changed += fraction < 1;
  self->fractions[link] = fraction;
  if (self->alone)
    fab_folding_enter (folding_of (self), &g_steal_pointer (&self->alone)->folded);
  fab_folding_change_capacity (folding_of (self), link);
  solve_soon (self);
}

static FabNet *
fluid_create (const FabNetEnv *env, G_GNUC_UNUSED gconstpointer params)
{
  FluidNet *self = g_new0 (FluidNet, 1);

  fab_net_init (&self->base, &fab_net_fluid, env);
  fab_pool_init (&self->flows, sizeof (Flow));
  fab_pool_init (&self->send_links, sizeof (SendLinks));
  return &self->base;
}

/* Flows in it point into it, and so do links that have lost some of their rate. */
static void
fluid_forget (FabNet *net)
{
  FluidNet *self = (FluidNet *) net;

  if (self->n_active == 0 && self->n_changed == 0 && !self->is_solve_due)
    g_clear_pointer (&self->folding, fab_folding_free);
}

static void
fluid_destroy (FabNet *net)
{
  FluidNet *self = (FluidNet *) net;

  fab_folding_free (self->folding);
  g_free (self->fractions);
  fab_pool_clear (&self->flows);
  fab_pool_clear (&self->send_links);
  fab_net_clear (net);
  g_free (self);
}

const FabNetOps fab_net_fluid = {
  .info = { .name = "fluid",
            .summary = "Flows share links by weighted max-min; a collective is one set of coupled flows.",
            .doc = "docs/models/fluid.md" },
  .shares_links = TRUE,
  .create = fluid_create,
  .send = fluid_send,
  .stream = fluid_stream,
  .destroy = fluid_destroy,
  .forget = fluid_forget,
  .set_capacity = fluid_set_capacity,
};
