/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/port_router.h"

#include "sim/base/mix.h"

const char *const fab_port_mode_names[FAB_N_PORT_MODES + 1] = {
  [FAB_PORTS_MERGED] = "merged",
  [FAB_PORTS_BOND] = "bond",
  [FAB_PORTS_SEPARATE] = "separate",
};

/* One port of the sender, and what the other router finds the way to: a switch and then a port of the receiver, or the
 * receiver itself. */
typedef struct {
  FabLinkId out, in; /* in: FAB_NO_LINK where the other router goes up to the receiver */
  FabVertexId from, to;
  guint n_links; /* between them */
} Way;

/* A transfer between two NICs, with what it crosses inside their nodes. */
typedef struct {
  FabVertexId out_nic, in_nic;
  FabPath whole; /* of the other router; empty between two NICs */
  guint first, end;
  guint64 flow_hash; /* which tells flows of other NICs apart too */
} Transfer;

typedef struct {
  FabRouter base;
  FabRouterOps ops; /* those that the other router has */
  FabRouter *inner;
  const FabGraph *graph;
  FabPortMode mode;
  guint64 seed;
  GArray *ways; /* Way: of the present transfer */
} PortRouter;

/* --- ports --- */

static gboolean
is_port (const FabGraph *graph, FabLinkId link)
{
  return fab_graph_vertex (graph, fab_graph_link (graph, link)->dst)->node == FAB_NO_NODE;
}

guint
fab_nic_ports (const FabGraph *graph, FabVertexId nic, FabLinkId *first)
{
  FabLinkId from;
  guint n = fab_graph_out_links (graph, nic, &from), n_ports = 0;

  *first = FAB_NO_LINK;
  for (FabLinkId link = from; link < from + n; link++)
    if (is_port (graph, link)) {
      *first = n_ports == 0 ? link : *first;
      n_ports++;
    }
  return n_ports;
}

/* The k-th of them. */
static FabLinkId
port_at (const FabGraph *graph, FabLinkId first, guint k)
{
  FabLinkId link = first;

  for (;; link++)
    if (is_port (graph, link) && k-- == 0)
      return link;
}

/* --- the ends of a transfer --- */

static gboolean
is_nic (const PortRouter *self, FabVertexId vertex)
{
  return fab_graph_vertex (self->graph, vertex)->kind == FAB_VERTEX_NIC;
}

static gboolean
is_outside (const PortRouter *self, FabLinkId link)
{
  return fab_graph_vertex (self->graph, fab_graph_link (self->graph, link)->src)->node == FAB_NO_NODE
      || is_port (self->graph, link);
}

/* Between other parts of two nodes the other router says by which NICs. */
static gboolean
find_nics (PortRouter *self, FabVertexId src, FabVertexId dst, Transfer *transfer)
{
  FabPath *whole = &transfer->whole;

  if (is_nic (self, src) && is_nic (self, dst)) {
    transfer->out_nic = src;
    transfer->in_nic = dst;
    return TRUE;
  }
  if (!self->inner->ops->append (self->inner, src, dst, transfer->flow_hash, whole))
    return FALSE;
  for (transfer->end = whole->n; transfer->end > 0 && !is_outside (self, whole->links[transfer->end - 1]);)
    transfer->end--;
  while (transfer->first < transfer->end && !is_outside (self, whole->links[transfer->first]))
    transfer->first++;
  if (transfer->first == transfer->end)
    return FALSE;
  transfer->out_nic = fab_graph_link (self->graph, whole->links[transfer->first])->src;
  transfer->in_nic = fab_graph_link (self->graph, whole->links[transfer->end - 1])->dst;
  return is_nic (self, transfer->out_nic) && is_nic (self, transfer->in_nic);
}

/* FALSE: the transfer is the other router's, as from a vertex to itself. */
static gboolean
find_ends (PortRouter *self, FabVertexId src, FabVertexId dst, guint64 flow_hash, Transfer *transfer)
{
  FabLinkId first;

  *transfer = (Transfer){ .flow_hash = flow_hash };
  if (fab_graph_vertex (self->graph, src)->node == fab_graph_vertex (self->graph, dst)->node
      || !find_nics (self, src, dst, transfer))
    return FALSE;
  transfer->flow_hash = fab_mix (fab_mix (flow_hash, transfer->out_nic), transfer->in_nic);
  return fab_nic_ports (self->graph, transfer->out_nic, &first) > 1
      || fab_nic_ports (self->graph, transfer->in_nic, &first) > 1;
}

/* --- the ways that its ports have --- */

/* FALSE: there is none, and nothing is added. */
static gboolean
add_way (PortRouter *self, const Transfer *transfer, FabLinkId out, FabLinkId in)
{
  Way way = { out, in, .from = fab_graph_link (self->graph, out)->dst, .to = transfer->in_nic };
  FabPath path;

  path.n = 0;
  if (in != FAB_NO_LINK)
    way.to = fab_graph_link (self->graph, in)->src;
  if (way.from != way.to
      && !self->inner->ops->append (self->inner, way.from, way.to, transfer->flow_hash, &path))
    return FALSE;
  way.n_links = path.n;
  g_array_append_val (self->ways, way);
  return TRUE;
}

/* Each port of the sender to the port of its number, else to the next one that can be reached. */
static void
list_merged (PortRouter *self, const Transfer *transfer, FabLinkId first_out, guint n_outs)
{
  FabLinkId first_in;
  guint n_ins = fab_nic_ports (self->graph, transfer->in_nic, &first_in);

  for (guint i = 0; i < n_outs; i++) {
    FabLinkId out = port_at (self->graph, first_out, i);
    gboolean is_found = FALSE;

    if (self->inner->ops->is_for_nics) {
      add_way (self, transfer, out, FAB_NO_LINK);
      continue;
    }
    for (guint k = 0; !is_found && k < n_ins; k++) {
      FabLinkId back = port_at (self->graph, first_in, (i + k) % n_ins);

      is_found = add_way (self, transfer, out, fab_graph_link (self->graph, back)->reverse);
    }
  }
}

/* The port of a flow, among those from which the way is shortest. */
static void
pick_bonded (PortRouter *self, const Transfer *transfer, FabLinkId first_out, guint n_outs)
{
  guint least = G_MAXUINT, n = 0;

  for (guint i = 0; i < n_outs; i++)
    add_way (self, transfer, port_at (self->graph, first_out, i), FAB_NO_LINK);
  for (guint i = 0; i < self->ways->len; i++)
    least = MIN (least, g_array_index (self->ways, Way, i).n_links);
  for (guint i = 0; i < self->ways->len; i++)
    if (g_array_index (self->ways, Way, i).n_links == least)
      g_array_index (self->ways, Way, n++) = g_array_index (self->ways, Way, i);
  if (n > 0)
    g_array_index (self->ways, Way, 0) = g_array_index (self->ways, Way,
                                                        fab_mix (self->seed, transfer->flow_hash) % n);
  g_array_set_size (self->ways, MIN (n, 1));
}

/* FALSE: no port has a way. */
static gboolean
list_ways (PortRouter *self, const Transfer *transfer)
{
  FabLinkId first;
  guint n = fab_nic_ports (self->graph, transfer->out_nic, &first);

  g_array_set_size (self->ways, 0);
  if (self->mode == FAB_PORTS_BOND)
    pick_bonded (self, transfer, first, n);
  else
    list_merged (self, transfer, first, n);
  return self->ways->len > 0;
}

/* --- what a router does --- */

static void
append_links (const FabPath *from, guint first, guint end, FabPath *path)
{
  for (guint i = first; i < end; i++)
    path->links[path->n++] = from->links[i];
}

/* Appends the inside of the sender's node, one way, and the inside of the receiver's. */
static gboolean
append_way (const Transfer *transfer, const Way *way, const FabPath *between, FabPath *path)
{
  guint n = transfer->first + 1 + between->n + (way->in != FAB_NO_LINK) + transfer->whole.n - transfer->end;

  if (path->n + n > FAB_PATH_MAX_LINKS)
    return FALSE;
  append_links (&transfer->whole, 0, transfer->first, path);
  path->links[path->n++] = way->out;
  append_links (between, 0, between->n, path);
  if (way->in != FAB_NO_LINK)
    path->links[path->n++] = way->in;
  append_links (&transfer->whole, transfer->end, transfer->whole.n, path);
  return TRUE;
}

static gboolean
port_append (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash, FabPath *path)
{
  PortRouter *self = (PortRouter *) router;
  FabPath between;
  Transfer transfer;

  if (!find_ends (self, src, dst, flow_hash, &transfer))
    return self->inner->ops->append (self->inner, src, dst, flow_hash, path);
  if (!list_ways (self, &transfer))
    return FALSE;
  const Way way = g_array_index (self->ways, Way, 0);
  between.n = 0;
  return (way.from == way.to
          || self->inner->ops->append (self->inner, way.from, way.to, transfer.flow_hash, &between))
      && append_way (&transfer, &way, &between, path);
}

static gboolean
port_hashed (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash, guint64 entropy,
             FabPath *path)
{
  PortRouter *self = (PortRouter *) router;
  const FabRouterOps *ops = self->inner->ops;
  FabPath between;
  Transfer transfer;

  if (!find_ends (self, src, dst, flow_hash, &transfer))
    return ops->hashed (self->inner, src, dst, flow_hash, entropy, path);
  if (!list_ways (self, &transfer))
    return FALSE;
  guint n = self->ways->len;
  const Way way = g_array_index (self->ways, Way, entropy % n);
  between.n = 0;
  return (way.from == way.to
          || ops->hashed (self->inner, way.from, way.to, transfer.flow_hash, entropy / n, &between))
      && append_way (&transfer, &way, &between, path);
}

static void
append_shares (const FabPath *path, guint first, guint end, GArray *shares)
{
  for (guint i = first; i < end; i++)
    g_array_append_val (shares, ((FabShare){ path->links[i], 1 }));
}

/* Asks the other router for the shares of a way between switches. */
typedef gboolean (*AskShares) (FabRouter *inner, FabVertexId from, FabVertexId to, guint64 flow_hash,
                               gboolean is_detour, GArray *shares);

static gboolean
ask_spread (FabRouter *inner, FabVertexId from, FabVertexId to, guint64 flow_hash,
            G_GNUC_UNUSED gboolean is_detour, GArray *shares)
{
  return fab_router_spread (inner, from, to, flow_hash, shares);
}

static gboolean
ask_choices (FabRouter *inner, FabVertexId from, FabVertexId to, guint64 flow_hash, gboolean is_detour,
             GArray *shares)
{
  return inner->ops->choices (inner, from, to, flow_hash, is_detour, shares);
}

static gboolean
share_way (PortRouter *self, const Transfer *transfer, const Way *way, AskShares ask, gboolean is_detour,
           double fraction, GArray *shares)
{
  g_array_append_val (shares, ((FabShare){ way->out, fraction }));
  guint before = shares->len;
  if (way->from != way->to && !ask (self->inner, way->from, way->to, transfer->flow_hash, is_detour, shares))
    return FALSE;
  for (guint i = before; i < shares->len; i++)
    g_array_index (shares, FabShare, i).fraction *= fraction;
  if (way->in != FAB_NO_LINK)
    g_array_append_val (shares, ((FabShare){ way->in, fraction }));
  return TRUE;
}

static gboolean
share_ports (PortRouter *self, const Transfer *transfer, AskShares ask, gboolean is_detour, GArray *shares)
{
  guint first = shares->len;
  gboolean is_whole = list_ways (self, transfer);
  guint n = self->ways->len;
  g_autofree Way *ways = g_memdup2 (self->ways->data, sizeof (Way) * n);

  append_shares (&transfer->whole, 0, transfer->first, shares);
  for (guint i = 0; is_whole && i < n; i++)
    is_whole = share_way (self, transfer, &ways[i], ask, is_detour, 1.0 / n, shares);
  append_shares (&transfer->whole, transfer->end, transfer->whole.n, shares);
  if (!is_whole)
    g_array_set_size (shares, first);
  else if (n > 1)
    fab_shares_merge (shares, first);
  return is_whole;
}

static gboolean
port_spread (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash, GArray *shares)
{
  PortRouter *self = (PortRouter *) router;
  Transfer transfer;

  return find_ends (self, src, dst, flow_hash, &transfer)
           ? share_ports (self, &transfer, ask_spread, FALSE, shares)
           : fab_router_spread (self->inner, src, dst, flow_hash, shares);
}

static gboolean
port_choices (FabRouter *router, FabVertexId src, FabVertexId dst, guint64 flow_hash, gboolean is_detour,
              GArray *shares)
{
  PortRouter *self = (PortRouter *) router;
  Transfer transfer;

  return find_ends (self, src, dst, flow_hash, &transfer)
           ? share_ports (self, &transfer, ask_choices, is_detour, shares)
           : self->inner->ops->choices (self->inner, src, dst, flow_hash, is_detour, shares);
}

static FabBalance
port_balance (const FabRouter *router)
{
  return fab_router_balance (((const PortRouter *) router)->inner);
}

static gboolean
port_uses_seed (const FabRouter *router)
{
  const PortRouter *self = (const PortRouter *) router;

  return self->mode == FAB_PORTS_BOND || fab_router_uses_seed (self->inner);
}

static void
port_destroy (FabRouter *router)
{
  PortRouter *self = (PortRouter *) router;

  fab_router_destroy (self->inner);
  g_array_unref (self->ways);
  g_free (self);
}

FabRouter *
fab_port_router_new (FabRouter *inner, const FabGraph *graph, FabPortMode mode, guint64 seed)
{
  const FabRouterOps *ops = inner->ops;

  g_assert (mode != FAB_PORTS_SEPARATE);
  if (mode == FAB_PORTS_BOND && ops->is_hashed)
    return inner;
  PortRouter *self = g_new0 (PortRouter, 1);
  self->inner = inner;
  self->graph = graph;
  self->mode = mode;
  self->seed = seed;
  self->ways = g_array_new (FALSE, FALSE, sizeof (Way));
  self->ops = (FabRouterOps){ .info = ops->info,
                              .is_hashed = mode == FAB_PORTS_BOND || ops->is_hashed,
                              .is_for_nics = ops->is_for_nics,
                              .create = ops->create,
                              .append = port_append,
                              .spread = mode == FAB_PORTS_MERGED || ops->spread != NULL ? port_spread : NULL,
                              .balance = port_balance,
                              .choices = ops->choices != NULL ? port_choices : NULL,
                              .hashed = ops->hashed != NULL ? port_hashed : NULL,
                              .uses_seed = port_uses_seed,
                              .destroy = port_destroy };
  self->base.ops = &self->ops;
  return &self->base;
}
