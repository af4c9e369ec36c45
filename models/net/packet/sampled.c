/* SPDX-License-Identifier: Apache-2.0 */
/* sampled.c - fluid, with collectives that take as long as packets say.
 *
 *   factor   = time of a collective alone at packet / its time alone as a stream (sim/shortcut/sample/sampling.h)
 *   sharing  = as in fluid: every byte counts `factor` times on its links
 *
 * Before the first iteration each kind of collective of the job is simulated alone, packet by packet: its queues, its
 * colliding paths and the pace of its messages are in its time. A kind that takes more than `effort` events is
 * simulated in parts. Then the job is played as in fluid. What is left out are queues in which packets of several
 * collectives meet.
 */
#include "models/models.h"
#include "models/net/packet/packet.h"

typedef struct {
  gint64 most_events;
  PacketParams packet;
} SampledParams;

static const FabParam sampled_params[] = {
  { .key = "effort",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (SampledParams, most_events),
    .fallback = "5000000",
    .min = 10000,
    .max = 1e12,
    .help =
        "Events that are simulated at most of one kind of collective; one event is about one packet on one link. "
        "Of a kind that takes more, two smaller parts are simulated." },
  { .key = "packet",
    .type = FAB_PARAM_TABLE,
    .offset = G_STRUCT_OFFSET (SampledParams, packet),
    .table = packet_params,
    .table_size = sizeof (PacketParams),
    .help = "How packets are simulated." },
  { .key = NULL },
};

static void
check (gconstpointer params, FabCheck *check)
{
  packet_params_check (&((const SampledParams *) params)->packet, check);
}

static FabNet *
create (const FabNetEnv *env, G_GNUC_UNUSED gconstpointer params)
{
  return fab_net_fluid.create (env, NULL);
}

static void
send (FabNet *net, const FabTransfer *transfer)
{
  fab_net_fluid.send (net, transfer);
}

static void
stream (FabNet *net, const FabStream *stream)
{
  fab_net_fluid.stream (net, stream);
}

static void
destroy (FabNet *net)
{
  fab_net_fluid.destroy (net);
}

static void
forget (FabNet *net)
{
  fab_net_fluid.forget (net);
}

static void
set_capacity (FabNet *net, FabLinkId link, double fraction)
{
  fab_net_fluid.set_capacity (net, link, fraction);
}

static const FabNetOps *
sampled_on (gconstpointer params, gconstpointer *net_params, guint64 *most_events)
{
  const SampledParams *self = params;

  *net_params = &self->packet;
  *most_events = (guint64) self->most_events;
  return &fab_net_packet;
}

const FabNetOps fab_net_sampled = {
  .info = { .name = "sampled",
            .summary = "As fluid, with each collective timed alone at packet, in parts where it is large.",
            .doc = "docs/models/sampled.md",
            .params = sampled_params,
            .params_size = sizeof (SampledParams),
            .check = check },
  .shares_links = TRUE,
  .create = create,
  .send = send,
  .stream = stream,
  .destroy = destroy,
  .forget = forget,
  .set_capacity = set_capacity,
  .sampled_on = sampled_on,
};
