/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/assembly/faults.h"

#include <string.h>

#include "sim/assembly/circuits.h"
#include "sim/assembly/failover.h"
#include "sim/assembly/names.h"
#include "sim/base/error.h"
#include "sim/base/mix.h"
#include "sim/config/diagnostics.h"
#include "sim/fabric/graph.h"
#include "sim/fabric/port_router.h"
#include "sim/machine/cluster.h"
#include "sim/scenario/fault_params.h"

/* The networks of a fabric. */
typedef struct {
  const FabCluster *cluster;
  guint *network;  /* [vertices] 1 + number; 0: none */
  GArray *reaches; /* guint per network: how many nodes have a NIC on it */
  guint widest;    /* the largest of the reaches */
} Networks;

/* Numbers everything that a NIC reaches through the fabric, but not through nodes. */
static void
spread (Networks *self, FabVertexId nic, guint number)
{
  const FabGraph *graph = self->cluster->graph;
  g_autoptr (GArray) queue = g_array_new (FALSE, FALSE, sizeof (FabVertexId));

  self->network[nic] = number;
  g_array_append_val (queue, nic);
  for (guint i = 0; i < queue->len; i++) {
    FabVertexId vertex = g_array_index (queue, FabVertexId, i);
    guint32 node = fab_graph_vertex (graph, vertex)->node;
    FabLinkId first;
    guint n = fab_graph_out_links (graph, vertex, &first);

    for (FabLinkId link = first; link < first + n; link++) {
      FabVertexId next = fab_graph_link (graph, link)->dst;
      const FabVertex *to = fab_graph_vertex (graph, next);

      if (self->network[next] > 0
          || (to->node != FAB_NO_NODE && (to->node == node || to->kind != FAB_VERTEX_NIC)))
        continue;
      self->network[next] = number;
      g_array_append_val (queue, next);
    }
  }
}

static guint
count_nodes (const Networks *self, guint number)
{
  const FabCluster *cluster = self->cluster;
  guint n = 0;

  for (guint node = 0; node < cluster->n_nodes; node++)
    for (guint i = 0; i < cluster->nics_per_node; i++)
      if (self->network[cluster->nics[node * cluster->nics_per_node + i]] == number) {
        n++;
        break;
      }
  return n;
}

static gboolean
has_port (const FabGraph *graph, FabVertexId nic)
{
  FabLinkId first;
  guint n = fab_graph_out_links (graph, nic, &first);

  for (FabLinkId link = first; link < first + n; link++)
    if (fab_graph_vertex (graph, fab_graph_link (graph, link)->dst)->node
        != fab_graph_vertex (graph, nic)->node)
      return TRUE;
  return FALSE;
}

static void
networks_init (Networks *self, const FabCluster *cluster)
{
  guint n_nics = cluster->n_nodes * cluster->nics_per_node;

  *self = (Networks){ cluster, g_new0 (guint, fab_graph_n_vertices (cluster->graph) + 1),
                      g_array_new (FALSE, FALSE, sizeof (guint)), 0 };
  for (guint i = 0; i < n_nics; i++) {
    FabVertexId nic = cluster->nics[i];

    if (self->network[nic] > 0 || !has_port (cluster->graph, nic))
      continue;
    spread (self, nic, self->reaches->len + 1);
    guint reach = count_nodes (self, self->reaches->len + 1);
    g_array_append_val (self->reaches, reach);
    self->widest = MAX (self->widest, reach);
  }
}

static void
networks_clear (Networks *self)
{
  g_clear_pointer (&self->network, g_free);
  g_clear_pointer (&self->reaches, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Networks, networks_clear)

/* Returns how many nodes the widest network reaches. */
static guint
nics_reach (const FabCluster *cluster)
{
  g_auto (Networks) networks = { 0 };

  networks_init (&networks, cluster);
  return networks.widest;
}

static gboolean
is_good (const Networks *self, guint node, guint slot)
{
  guint number = self->network[self->cluster->nics[node * self->cluster->nics_per_node + slot]];

  return number > 0 && g_array_index (self->reaches, guint, number - 1) == self->widest;
}

static guint
count_good (const Networks *self, guint node)
{
  guint n = 0;

  for (guint slot = 0; slot < self->cluster->nics_per_node; slot++)
    n += is_good (self, node, slot);
  return n;
}

/* --- a network in pieces --- */

static gboolean
throw_cut (const Networks *self, GError **error)
{
  guint in = G_MAXUINT, out = G_MAXUINT;

  for (guint node = self->cluster->n_nodes; node-- > 0;)
    if (count_good (self, node) > 0)
      in = node;
    else
      out = node;
  if (in == G_MAXUINT || out == G_MAXUINT)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "with these faults the machine is cut: no network joins all of its nodes");
  g_autofree char *a = fab_graph_vertex_name (self->cluster->graph,
                                              self->cluster->gpus[in * self->cluster->gpus_per_node]),
                  *b = fab_graph_vertex_name (self->cluster->graph,
                                              self->cluster->gpus[out * self->cluster->gpus_per_node]);
  return fab_throw (
      error, FAB_ERROR_INPUT,
      "with these faults the machine is cut in two: no network leads from the NICs of %s to those of %s", a,
      b);
}

/* The parts inside a node must be connected. Dead parts have no links and may be missing, but GPUs may not. */
static gboolean
check_whole (const FabCluster *cluster, GError **error)
{
  const FabGraph *graph = cluster->graph;
  guint n = fab_graph_n_vertices (graph);
  g_autofree guint8 *is_seen = g_new0 (guint8, n + 1);
  g_autoptr (GArray) queue = g_array_new (FALSE, FALSE, sizeof (FabVertexId));

  g_array_append_val (queue, cluster->gpus[0]);
  is_seen[cluster->gpus[0]] = TRUE;
  for (guint i = 0; i < queue->len; i++) {
    FabLinkId first;
    guint n_out = fab_graph_out_links (graph, g_array_index (queue, FabVertexId, i), &first);

    for (FabLinkId link = first; link < first + n_out; link++) {
      FabVertexId next = fab_graph_link (graph, link)->dst;

      if (!is_seen[next])
        g_array_append_val (queue, next);
      is_seen[next] = TRUE;
    }
  }
  for (FabVertexId v = 0; v < n; v++)
    if (!is_seen[v] && fab_graph_vertex (graph, v)->kind == FAB_VERTEX_ACCELERATOR) {
      g_autofree char *name = fab_graph_vertex_name (graph, v);

      return fab_throw (error, FAB_ERROR_INPUT,
                        "with these faults the machine is in parts: no wires lead to %s", name);
    }
  return TRUE;
}

/* --- the choice --- */

/* Chooses the NICs that are good in most nodes, the first of equals; ascending. */
static void
choose_slots (const Networks *self, guint n_slots, gboolean *is_chosen)
{
  guint k = self->cluster->nics_per_node;
  g_autofree guint *votes = g_new0 (guint, k);

  for (guint node = 0; node < self->cluster->n_nodes; node++)
    for (guint slot = 0; slot < k; slot++)
      votes[slot] += is_good (self, node, slot);
  for (guint i = 0; i < n_slots; i++) {
    guint best = G_MAXUINT;

    for (guint slot = 0; slot < k; slot++)
      if (!is_chosen[slot] && (best == G_MAXUINT || votes[slot] > votes[best]))
        best = slot;
    is_chosen[best] = TRUE;
  }
}

static guint
nearest_spare (const Networks *self, guint node, guint slot, const gboolean *is_chosen,
               const gboolean *is_taken)
{
  guint best = G_MAXUINT;

  for (guint spare = 0; spare < self->cluster->nics_per_node; spare++) {
    if (is_chosen[spare] || is_taken[spare] || !is_good (self, node, spare))
      continue;
    if (best == G_MAXUINT || ABS ((int) spare - (int) slot) < ABS ((int) best - (int) slot))
      best = spare;
  }
  g_assert (best != G_MAXUINT); /* every node has as many good NICs as are chosen */
  return best;
}

static void
fill_node (const Networks *self, guint node, const gboolean *is_chosen, FabVertexId *nics)
{
  guint k = self->cluster->nics_per_node, n = 0;
  g_autofree gboolean *is_taken = g_new0 (gboolean, k);

  for (guint slot = 0; slot < k; slot++) {
    guint used = slot;

    if (!is_chosen[slot])
      continue;
    if (!is_good (self, node, slot))
      used = nearest_spare (self, node, slot, is_chosen, is_taken);
    is_taken[used] = TRUE;
    nics[n++] = self->cluster->nics[node * k + used];
  }
}

static void
keep_slots (FabCluster *cluster, const Networks *networks, const gboolean *is_chosen, guint n_slots)
{
  FabVertexId *nics = g_new (FabVertexId, (gsize) cluster->n_nodes * n_slots + 1);
  guint *hops = g_new (guint, (gsize) cluster->gpus_per_node * n_slots + 1), n = 0;

  for (guint node = 0; node < cluster->n_nodes; node++)
    fill_node (networks, node, is_chosen, nics + (gsize) node * n_slots);
  for (guint local = 0; local < cluster->gpus_per_node; local++)
    for (guint slot = 0; slot < cluster->nics_per_node; slot++)
      if (is_chosen[slot])
        hops[n++] = fab_cluster_nic_hops (cluster, local, slot);
  g_free (cluster->nics);
  g_free (cluster->nic_hops);
  cluster->nics = nics;
  cluster->nic_hops = hops;
  cluster->nics_per_node = n_slots;
}

/* Changes nics, nic_hops and nics_per_node, which describe the machine before its graph was changed.
 * `reach_before` is the nics_reach () of that time. FALSE and *error when nodes can no longer communicate, or a node
 * has lost a GPU. */
static gboolean
nics_choose (FabCluster *cluster, guint reach_before, GError **error)
{
  g_auto (Networks) networks = { 0 };
  guint least = cluster->nics_per_node;

  networks_init (&networks, cluster);
  if (cluster->n_nodes > 1 && networks.widest < reach_before)
    return throw_cut (&networks, error);
  for (guint node = 0; node < cluster->n_nodes; node++)
    least = MIN (least, count_good (&networks, node));
  if (cluster->n_nodes > 1 && least == 0)
    return throw_cut (&networks, error);
  if (!check_whole (cluster, error))
    return FALSE;
  if (least == cluster->nics_per_node)
    return TRUE;
  g_autofree gboolean *is_chosen = g_new0 (gboolean, cluster->nics_per_node);
  choose_slots (&networks, least, is_chosen);
  keep_slots (cluster, &networks, is_chosen, least);
  return TRUE;
}

/* The machine before any change. */
typedef struct {
  const FabScenario *scenario;
  const FabNames *names;     /* of the graph */
  const FabVertexId *nics;   /* NICs, machine by machine */
  guint n_machines, n_ports; /* n_ports: NICs of one machine */
  guint n_rails; /* of one machine: NICs that stand at the same place of their boards are on one */
  /* [n_machines * n_ports] a bit for each port of a NIC that the changed graph lacks; NULL: it is not changed */
  const guint32 *gone;
} Site;

typedef struct {
  const Site *site;
  const FabGraph *graph;
  FabDiagnostics *diagnostics;
} Search;

static const FabParamList *
faults_of (const Site *site)
{
  return &fab_scenario_spec (site->scenario)->faults;
}

static const FabParamList *
background_of (const Site *site)
{
  return &fab_scenario_spec (site->scenario)->background;
}

static FabVertexId
find (const Search *self, const char *const *name, guint kinds, const char *noun)
{
  return fab_names_find (self->site->names, *name, kinds, noun,
                         fab_scenario_mark (self->site->scenario, name), self->diagnostics);
}

/* --- links of a fault --- */

/* Appends a link and its reverse. */
static void
append_both (const FabGraph *graph, FabLinkId link, GArray *links)
{
  FabLinkId reverse = fab_graph_link (graph, link)->reverse;

  g_array_append_val (links, link);
  g_array_append_val (links, reverse);
}

static gboolean
is_port (const FabGraph *graph, FabLinkId link)
{
  return fab_graph_vertex (graph, fab_graph_link (graph, link)->src)->node
      != fab_graph_vertex (graph, fab_graph_link (graph, link)->dst)->node;
}

static void
append_all_of (const FabGraph *graph, FabVertexId vertex, gboolean ports_only, GArray *links)
{
  FabLinkId first;
  guint n = fab_graph_out_links (graph, vertex, &first);

  for (FabLinkId link = first; link < first + n; link++)
    if (!ports_only || is_port (graph, link))
      append_both (graph, link, links);
}

static void
report_not_joined (const Search *self, FabVertexId from, FabVertexId to, const FabFaultSpec *fault)
{
  g_autoptr (GString) list = g_string_new (NULL);
  FabLinkId first;
  guint n = fab_graph_out_links (self->graph, from, &first);
  const guint most = 8;

  for (guint i = 0; i < MIN (n, most); i++)
    g_string_append_printf (list, "%s%s", i > 0 ? ", " : "",
                            fab_names_of (self->site->names, fab_graph_link (self->graph, first + i)->dst));
  fab_diagnostics_add (self->diagnostics, fab_scenario_mark (self->site->scenario, &fault->to),
                       "no link joins %s and %s; from %s links lead to %s%s",
                       fab_names_of (self->site->names, from), fab_names_of (self->site->names, to),
                       fab_names_of (self->site->names, from), list->len > 0 ? list->str : "nothing",
                       n > most ? ", ..." : "");
}

static void
append_between (const Search *self, const FabFaultSpec *fault, GArray *links)
{
  FabVertexId from = find (self, &fault->from, FAB_NAMES_ALL_KINDS, "part"),
              to = find (self, &fault->to, FAB_NAMES_ALL_KINDS, "part");
  FabLinkId first;

  if (from == FAB_NO_VERTEX || to == FAB_NO_VERTEX)
    return;
  guint n = fab_graph_out_links (self->graph, from, &first), before = links->len;
  for (FabLinkId link = first; link < first + n; link++)
    if (fab_graph_link (self->graph, link)->dst == to)
      append_both (self->graph, link, links);
  if (links->len == before)
    report_not_joined (self, from, to, fault);
}

/* Faults during the run hit the ports only. What is dead from the start is removed from the graph. */
static gboolean
hits_ports_only (const FabFaultSpec *fault)
{
  return !fault->is_dead || fab_fault_spec_is_timed (fault);
}

static void
append_rail (const Search *self, const FabFaultSpec *fault, GArray *links)
{
  const Site *site = self->site;

  if (fault->rail >= site->n_rails) {
    fab_diagnostics_add (self->diagnostics, fab_scenario_mark (site->scenario, &fault->rail),
                         site->n_rails < site->n_ports
                             ? "rail does not exist: boards of the nodes have %u NICs, so rails are 0 to %d"
                             : "rail does not exist: nodes have %u NICs, so rails are 0 to %d",
                         site->n_rails, (int) site->n_rails - 1);
    return;
  }
  for (guint nic = (guint) fault->rail; nic < site->n_machines * site->n_ports; nic++)
    if (nic % site->n_ports % site->n_rails == fault->rail)
      append_all_of (self->graph, site->nics[nic], hits_ports_only (fault), links);
}

/* Ports that are used together are links of one NIC; ports that are apart are NICs, which stand one after another. */
static void
append_port_of (const Search *self, guint nic, const FabFaultSpec *fault, GArray *links)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (self->site->scenario)->cluster;
  guint32 gone = self->site->gone != NULL ? self->site->gone[nic] : 0, bit = 1U << fault->port;
  FabLinkId first;

  if (cluster->port_use == FAB_PORTS_SEPARATE) {
    append_all_of (self->graph, self->site->nics[nic + fault->port], TRUE, links);
    return;
  }
  guint n = fab_nic_ports (self->graph, self->site->nics[nic], &first),
        at = (guint) fault->port - (guint) __builtin_popcount (gone & (bit - 1));
  if ((gone & bit) == 0 && at < n)
    append_both (self->graph, first + at, links);
}

static void
append_port (const Search *self, const FabFaultSpec *fault, GArray *links)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (self->site->scenario)->cluster;
  guint step = cluster->port_use == FAB_PORTS_SEPARATE ? (guint) cluster->nic_ports : 1;
  FabVertexId only = fault->name != NULL ? find (self, &fault->name, 1U << FAB_VERTEX_NIC, "NIC")
                                         : FAB_NO_VERTEX;

  if (fault->port >= cluster->nic_ports)
    fab_diagnostics_add (self->diagnostics, fab_scenario_mark (self->site->scenario, &fault->port),
                         "port does not exist: NICs have cluster.nic_ports = %" G_GINT64_FORMAT
                         ", so ports are 0 to %" G_GINT64_FORMAT,
                         cluster->nic_ports, cluster->nic_ports - 1);
  if (fault->port >= cluster->nic_ports || (fault->name != NULL && only == FAB_NO_VERTEX))
    return;
  for (guint nic = 0; nic < self->site->n_machines * self->site->n_ports; nic++) {
    if (only != FAB_NO_VERTEX ? self->site->nics[nic] != only : nic % step != 0)
      continue;
    if (nic % step == 0)
      append_port_of (self, nic, fault, links);
    else
      fab_diagnostics_add (self->diagnostics, fab_scenario_mark (self->site->scenario, &fault->name),
                           "%s is port %u of a NIC; name the NIC by its first port, %s", fault->name,
                           nic % step, fab_names_of (self->site->names, self->site->nics[nic - nic % step]));
  }
}

/* Returns the links of a fault; a link may appear twice. (transfer full) */
static GArray *
links_of (const Search *self, const FabFaultSpec *fault)
{
  GArray *links = g_array_new (FALSE, FALSE, sizeof (FabLinkId));
  guint kind = 1U << (fault->what == FAB_FAULT_NIC ? FAB_VERTEX_NIC : FAB_VERTEX_SWITCH);
  FabVertexId vertex;

  switch ((FabFaultKind) fault->what) {
  case FAB_FAULT_LINK: append_between (self, fault, links); break;
  case FAB_FAULT_RAIL: append_rail (self, fault, links); break;
  case FAB_FAULT_PORT: append_port (self, fault, links); break;
  case FAB_FAULT_NIC:
  case FAB_FAULT_SWITCH:
    vertex = find (self, &fault->name, kind, fault->what == FAB_FAULT_NIC ? "NIC" : "switch");
    if (vertex != FAB_NO_VERTEX)
      append_all_of (self->graph, vertex, fault->what == FAB_FAULT_NIC && hits_ports_only (fault), links);
    break;
  default: g_assert_not_reached ();
  }
  return links;
}

/* --- links of background traffic --- */

static gboolean
is_uplink (const FabGraph *graph, FabLinkId link)
{
  return fab_graph_vertex (graph, fab_graph_link (graph, link)->src)->node == FAB_NO_NODE
      && fab_graph_vertex (graph, fab_graph_link (graph, link)->dst)->node == FAB_NO_NODE;
}

static gboolean
is_loaded (const Search *self, FabLinkId link, const char *pattern)
{
  if (pattern == NULL || strcmp (pattern, "uplinks") == 0)
    return is_uplink (self->graph, link);
  if (strcmp (pattern, "all") == 0)
    return is_port (self->graph, link) || is_uplink (self->graph, link);
  return fab_names_link_fits (self->site->names, link, pattern);
}

/* Returns the links that a background load uses. (transfer full) */
static GArray *
loaded_links (const Search *self, const FabBackgroundSpec *one)
{
  GArray *links = g_array_new (FALSE, FALSE, sizeof (FabLinkId));

  for (FabLinkId link = 0; link < fab_graph_n_links (self->graph); link++)
    if (is_loaded (self, link, one->links))
      g_array_append_val (links, link);
  if (links->len == 0)
    fab_diagnostics_add (self->diagnostics,
                         fab_scenario_mark (self->site->scenario,
                                            one->links != NULL ? (gconstpointer) &one->links : &one->kind),
                         "no link of this machine is one of '%s'; `fabricast topo` shows what it has",
                         one->links != NULL ? one->links : "uplinks");
  return links;
}

/* --- changes from the start --- */

static void
change (FabLinkChange *one, const FabFaultSpec *fault)
{
  one->rate_fraction *= fault->is_dead ? 0 : fault->rate_fraction;
  one->added_ps = fab_ps_add (one->added_ps, fault->latency_ps);
}

/* Applies a fault once to each of its links, however often it names them. */
static void
add_fault (const Search *self, const FabFaultSpec *fault, guint8 *is_changed, FabLinkChange *changes)
{
  g_autoptr (GArray) links = links_of (self, fault);

  for (guint i = 0; i < links->len; i++) {
    FabLinkId link = g_array_index (links, FabLinkId, i);

    if (!is_changed[link])
      change (&changes[link], fault);
    is_changed[link] = TRUE;
  }
  for (guint i = 0; i < links->len; i++)
    is_changed[g_array_index (links, FabLinkId, i)] = FALSE;
}

static void
add_load (const Search *self, const FabBackgroundSpec *one, FabLinkChange *changes)
{
  g_autoptr (GArray) links = loaded_links (self, one);

  for (guint i = 0; i < links->len; i++)
    changes[g_array_index (links, FabLinkId, i)].rate_fraction *= 1 - one->load_fraction;
}

/* Returns the change of each link. (transfer full) */
static FabLinkChange *
list_changes (const Site *site, const FabGraph *graph, FabDiagnostics *diagnostics)
{
  Search search = { site, graph, diagnostics };
  guint n_links = fab_graph_n_links (graph);
  g_autofree guint8 *is_changed = g_new0 (guint8, n_links + 1);
  FabLinkChange *changes = g_new (FabLinkChange, n_links + 1);

  for (guint i = 0; i < n_links; i++)
    changes[i] = (FabLinkChange){ 1, 0 };
  for (guint i = 0; i < faults_of (site)->n; i++) {
    const FabFaultSpec *fault = (const FabFaultSpec *) faults_of (site)->data + i;

    if (!fab_fault_spec_is_timed (fault))
      add_fault (&search, fault, is_changed, changes);
  }
  for (guint i = 0; i < background_of (site)->n; i++) {
    const FabBackgroundSpec *one = (const FabBackgroundSpec *) background_of (site)->data + i;

    if (one->kind == FAB_BACKGROUND_CONSTANT)
      add_load (&search, one, changes);
  }
  return changes;
}

/* Which ports of each NIC the changes take out of the graph. (transfer full) */
static guint32 *
list_gone (const Site *site, const FabGraph *graph, const FabLinkChange *changes)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (site->scenario)->cluster;
  guint n_nics = site->n_machines * site->n_ports;
  guint32 *gone = g_new0 (guint32, n_nics + 1);

  for (guint nic = 0; nic < n_nics; nic++) {
    FabLinkId first;
    guint n = fab_nic_ports (graph, site->nics[nic], &first);

    for (guint port = 0; port < MIN (n, (guint) cluster->nic_ports); port++)
      if (changes[first + port].rate_fraction <= 0)
        gone[nic] |= 1U << port;
  }
  return gone;
}

/* --- changes during the run --- */

static void
add_spells (const Search *self, const FabFaultSpec *fault, FabDisturbancesPlan *plan)
{
  g_autoptr (GArray) links = links_of (self, fault);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  /* What a dead leaf passed on goes by the other ports of its NICs, so that its uplinks stop nothing. */
  gboolean is_leaf = fault->is_dead && fault->what == FAB_FAULT_SWITCH
                  && fab_failover_has_ports (self->graph, links);

  for (guint i = 0; i < links->len; i++) {
    if (is_leaf && is_uplink (self->graph, g_array_index (links, FabLinkId, i)))
      continue;
    FabSpell spell = { g_array_index (links, FabLinkId, i), fault->is_dead ? 0 : fault->rate_fraction,
                       fault->at_ps, fault->until_ps };

    if (g_hash_table_add (seen, GUINT_TO_POINTER (spell.link)))
      g_array_append_val (plan->spells, spell);
  }
}

static gboolean
is_circuit (const Search *self, FabLinkId link, const char *pattern)
{
  return fab_names_link_fits (self->site->names, link, pattern)
      || fab_names_link_fits (self->site->names, fab_graph_link (self->graph, link)->reverse, pattern);
}

static void
add_circuits (const Search *self, FabDisturbancesPlan *plan)
{
  const FabParamList *circuits = &fab_scenario_spec (self->site->scenario)->circuits;
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (FabCircuitTime));

  for (guint i = 0; i < circuits->n; i++) {
    const FabCircuitSpec *circuit = (const FabCircuitSpec *) circuits->data + i;
    guint n_before = times->len;

    for (FabLinkId link = 0; link < fab_graph_n_links (self->graph); link++) {
      FabCircuitTime time = { link, circuit };

      if (is_circuit (self, link, circuit->links))
        g_array_append_val (times, time);
    }
    if (times->len == n_before)
      fab_diagnostics_add (self->diagnostics, fab_scenario_mark (self->site->scenario, &circuit->links),
                           "no link of this machine is one of '%s'; `fabricast topo` shows what it has",
                           circuit->links);
  }
  fab_circuits_darken (times, plan->spells);
}

static void
add_bursts (const Search *self, const FabBackgroundSpec *one, guint64 seed, FabDisturbancesPlan *plan)
{
  g_autoptr (GArray) links = loaded_links (self, one);

  for (guint i = 0; i < links->len && one->load_fraction > 0; i++) {
    FabLinkId link = g_array_index (links, FabLinkId, i);
    FabBursts bursts = { link, one->load_fraction, one->peak_fraction, one->burst_ps, fab_mix (seed, link) };

    g_array_append_val (plan->bursts, bursts);
  }
}

/* Finds a part by its name; "node3" means the first NIC of a machine. */
static FabVertexId
find_end (const Search *self, const char *const *name)
{
  guint ends = 1U << FAB_VERTEX_NIC | 1U << FAB_VERTEX_ACCELERATOR;
  guint64 machine;

  if (g_str_has_prefix (*name, "node")
      && g_ascii_string_to_unsigned (*name + 4, 10, 0, G_MAXUINT, &machine, NULL)
      && machine < self->site->n_machines && self->site->n_ports > 0)
    return self->site->nics[machine * self->site->n_ports];
  return find (self, name, ends, "node, NIC or GPU");
}

static void
add_flow (const Search *self, const FabBackgroundSpec *one, FabDisturbancesPlan *plan)
{
  FabSideFlow flow = { find_end (self, &one->from), find_end (self, &one->to), one->bytes,
                       one->rate_bytes_per_s, one->every_ps };

  if (flow.src == FAB_NO_VERTEX || flow.dst == FAB_NO_VERTEX)
    return;
  if (flow.src == flow.dst) {
    fab_diagnostics_add (self->diagnostics, fab_scenario_mark (self->site->scenario, &one->to),
                         "from and to are the same place; give two different places");
    return;
  }
  if (flow.bytes == 0)
    flow.bytes = (FabBytes) ((double) one->rate_bytes_per_s * fab_ps_to_seconds (one->every_ps)) + 1;
  g_array_append_val (plan->flows, flow);
}

/* Plans the disturbances in the changed graph. (transfer full) */
static FabDisturbancesPlan *
plan_disturbances (const Site *site, const FabGraph *graph, FabDiagnostics *diagnostics)
{
  Search search = { site, graph, diagnostics };
  guint64 seed = (guint64) fab_scenario_spec (site->scenario)->seed;
  FabDisturbancesPlan *plan = fab_disturbances_plan_new ();

  for (guint i = 0; i < faults_of (site)->n; i++) {
    const FabFaultSpec *fault = (const FabFaultSpec *) faults_of (site)->data + i;

    if (fab_fault_spec_is_timed (fault))
      add_spells (&search, fault, plan);
  }
  fab_failover_spread (graph, plan->spells);
  add_circuits (&search, plan);
  for (guint i = 0; i < background_of (site)->n; i++) {
    const FabBackgroundSpec *one = (const FabBackgroundSpec *) background_of (site)->data + i;

    if (one->kind == FAB_BACKGROUND_BURSTS)
      add_bursts (&search, one, fab_mix (seed, i), plan);
    if (one->kind == FAB_BACKGROUND_TRANSFER)
      add_flow (&search, one, plan);
  }
  return plan;
}

/* Ports that are left may be in planes which do not meet. */
static gboolean
check_planes (const FabCluster *cluster, GError **error)
{
  FabVertexId a, b;

  if (cluster->nic_ports <= 1 || fab_failover_meets (cluster, &a, &b))
    return TRUE;
  g_autofree char *one = fab_graph_vertex_name (cluster->graph, a),
                  *other = fab_graph_vertex_name (cluster->graph, b);
  return fab_throw (
      error, FAB_ERROR_INPUT,
      "with these faults %s and %s have no plane in common, and no switch joins planes; join the "
      "planes (cluster.fabric.planes=1), or leave one of the faults out",
      one, other);
}

gboolean
fab_faults_apply (const FabScenario *scenario, FabGraph *graph, FabCluster *cluster, guint n_ports,
                  FabDisturbancesPlan **disturbances, GError **error)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  guint n_machines = (guint) spec->cluster.nodes, reach;

  *disturbances = NULL;
  if (spec->faults.n == 0 && spec->background.n == 0 && spec->circuits.n == 0)
    return TRUE;
  reach = nics_reach (cluster);
  g_autoptr (FabNames) names = fab_names_new (graph);
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autofree FabVertexId *nics = g_memdup2 (cluster->nics, sizeof (FabVertexId) * (n_machines * n_ports + 1));
  guint n_rails = MIN (n_ports, cluster->nics_per_board > 0 ? cluster->nics_per_board : n_ports);
  Site site = { scenario, names, nics, n_machines, n_ports, n_rails, NULL };
  g_autofree FabLinkChange *changes = list_changes (&site, graph, diagnostics);
  fab_disturbances_plan_free (plan_disturbances (&site, graph, diagnostics)); /* only for its diagnostics */
  if (!fab_diagnostics_check (diagnostics, error))
    return FALSE;
  g_autofree guint32 *gone = list_gone (&site, graph, changes);
  site.gone = gone;
  fab_graph_change (graph, changes);
  g_autoptr (FabDisturbancesPlan) plan = plan_disturbances (&site, graph, diagnostics);
  if (!fab_diagnostics_check (diagnostics, error) || !nics_choose (cluster, reach, error)
      || !check_planes (cluster, error))
    return FALSE;
  *disturbances = g_steal_pointer (&plan);
  return TRUE;
}
