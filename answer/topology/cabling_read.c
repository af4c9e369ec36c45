/* SPDX-License-Identifier: Apache-2.0 */
/* cabling_read.c - cables of a graph and of an imported network. */
#include <string.h>

#include "answer/topology/cabling.h"
#include "formats/machine/network_hosts.h"
#include "sim/machine/topology.h"

/* Ports of one NIC that are told apart. */
enum { MAX_PORTS = 16 };

/* --- of a graph --- */

/* Adds the nodes, then the switches. Returns the part of each vertex; G_MAXUINT: it is none. (transfer full) */
static guint *
add_parts (FabCabling *self, const FabCluster *cluster)
{
  const FabGraph *graph = cluster->graph;
  guint *parts = g_new (guint, fab_graph_n_vertices (graph) + 1);

  for (guint i = 0; i < cluster->n_nodes; i++)
    fab_cabling_add_part (self, g_strdup_printf ("node%u", i), TRUE);
  for (FabVertexId id = 0; id < fab_graph_n_vertices (graph); id++) {
    gboolean is_switch = fab_graph_vertex (graph, id)->node == FAB_NO_NODE
                      && !fab_topology_is_shared (graph, id);

    parts[id] = is_switch ? fab_cabling_add_part (self, fab_graph_vertex_name (graph, id), FALSE) : G_MAXUINT;
  }
  return parts;
}

/* The cables of a link, from part `a` to part `b`; takes `port`. */
static FabCable
cable_of (const FabGraph *graph, FabLinkId id, guint a, guint b, char *port)
{
  const FabLink *link = fab_graph_link (graph, id);

  return (FabCable){ .a = a,
                     .b = b,
                     .port_a = port,
                     .speed = g_strdup (fab_graph_link_class (graph, id)->name),
                     .count = link->count,
                     .bytes_per_s = (double) link->rate_bytes_per_s / link->count };
}

static void
add_nic (FabCabling *self, const FabCluster *cluster, const guint *parts, guint i)
{
  guint node = i / cluster->nics_per_node, nic = i % cluster->nics_per_node, n_ports = 0;
  FabLinkId first;
  guint n = fab_graph_out_links (cluster->graph, cluster->nics[i], &first);

  for (FabLinkId id = first; id < first + n; id++) {
    guint to = parts[fab_graph_link (cluster->graph, id)->dst];

    if (to == G_MAXUINT || n_ports == MAX_PORTS)
      continue;
    FabCable cable = cable_of (cluster->graph, id, node, to,
                               n_ports == 0 ? g_strdup_printf ("nic%u", nic)
                                            : g_strdup_printf ("nic%u port %u", nic, n_ports + 1));
    cable.nic = nic * MAX_PORTS + n_ports++;
    fab_cabling_add_cable (self, cable);
  }
}

FabCabling *
fab_cabling_of_cluster (const FabCluster *cluster, const char *source)
{
  FabCabling *self = fab_cabling_new (source);
  g_autofree guint *parts = add_parts (self, cluster);

  for (guint i = 0; i < cluster->n_nodes * cluster->nics_per_node; i++)
    add_nic (self, cluster, parts, i);
  for (FabLinkId id = 0; id < fab_graph_n_links (cluster->graph); id++) {
    const FabLink *link = fab_graph_link (cluster->graph, id);

    if (parts[link->src] != G_MAXUINT && parts[link->dst] != G_MAXUINT && link->src < link->dst)
      fab_cabling_add_cable (self, cable_of (cluster->graph, id, parts[link->src], parts[link->dst], NULL));
  }
  return self;
}

/* --- of a network --- */

/* Bytes per second of "4xNDR". */
static double
rate_of (const char *speed)
{
  return fab_imported_network_gbps (speed) * 1e9 / 8;
}

/* What is known of adapters' names: in how many adapters each is, and its number among them. */
typedef struct {
  GHashTable *counts, *numbers; /* name to how many adapters, to 1 + number */
} Names;

/* Numbers of adapters that have none in their names: of names that several hosts have, and of switches. */
enum { FIRST_NAME = 1 << 16, FIRST_SWITCH = 1 << 17 };

static void
names_init (Names *self, const FabImportedNetwork *network)
{
  self->counts = g_hash_table_new (g_str_hash, g_str_equal);
  self->numbers = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < network->devices->len; i++) {
    char *name = fab_imported_network_device (network, i)->adapter;
    guint n = name ? GPOINTER_TO_UINT (g_hash_table_lookup (self->counts, name)) : 0;

    if (name == NULL)
      continue;
    g_hash_table_insert (self->counts, name, GUINT_TO_POINTER (n + 1));
    if (n == 0)
      g_hash_table_insert (self->numbers, name, GUINT_TO_POINTER (g_hash_table_size (self->numbers) + 1));
  }
}

static void
names_clear (Names *self)
{
  g_hash_table_unref (self->counts);
  g_hash_table_unref (self->numbers);
}

/* Says whether a name tells which adapter of its host it is: it has a number, or other hosts have it too. */
static gboolean
is_telling (const Names *self, const char *name)
{
  return name != NULL
      && (fab_network_adapter_number (name) != G_MAXUINT
          || GPOINTER_TO_UINT (g_hash_table_lookup (self->counts, name)) > 1);
}

/* The port of an adapter: the adapter's name, with the number of its port where it is not the first; else the switch to
 * which it goes. (transfer full) */
static char *
port_name (const Names *names, const FabImportedDevice *adapter, guint port, const char *leaf)
{
  if (!is_telling (names, adapter->adapter))
    return g_strdup_printf ("port to %s", leaf);
  return port > 1 ? g_strdup_printf ("%s port %u", adapter->adapter, port) : g_strdup (adapter->adapter);
}

/* A number that corresponding ports of other hosts have, too: by the adapter's number, else by its name, else by the
 * switch. */
static guint
nic_number (const Names *names, const FabImportedDevice *adapter, guint port, guint leaf)
{
  guint number = fab_network_adapter_number (adapter->adapter);

  if (!is_telling (names, adapter->adapter))
    number = FIRST_SWITCH + leaf;
  else if (number == G_MAXUINT)
    number = FIRST_NAME + GPOINTER_TO_UINT (g_hash_table_lookup (names->numbers, adapter->adapter));
  return number * MAX_PORTS + MIN (port > 0 ? port - 1 : 0, MAX_PORTS - 1);
}

static void
add_host (FabCabling *self, const FabImportedNetwork *network, const FabNetworkHost *host, const Names *names,
          const guint *parts)
{
  guint part = fab_cabling_add_part (self, g_utf8_make_valid (host->name, -1), TRUE);
  g_autoptr (GHashTable) taken = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < host->ports->len; i++) {
    const FabImportedCable *cable = fab_imported_network_cable (network,
                                                                g_array_index (host->ports, guint, i));
    const FabImportedDevice *adapter = fab_network_host_adapter (network, host, i);
    guint leaf = fab_imported_network_switch_of (network, cable),
          port = fab_network_host_port (network, host, i);
    guint nic = nic_number (names, adapter, port, leaf);

    while (!g_hash_table_add (taken, GUINT_TO_POINTER (nic + 1))) /* several that nothing tells apart */
      nic++;
    fab_cabling_add_cable (
        self,
        (FabCable){ .a = part,
                    .b = parts[leaf],
                    .port_a = port_name (names, adapter, port, fab_cabling_part (self, parts[leaf])->name),
                    .port_b = g_strdup_printf ("%u", leaf == cable->a ? cable->port_a : cable->port_b),
                    .speed = g_strdup (cable->speed),
                    .possible = g_strdup (cable->possible),
                    .count = 1,
                    .nic = nic,
                    .bytes_per_s = rate_of (cable->speed),
                    .possible_bytes_per_s = cable->possible ? rate_of (cable->possible) : 0 });
  }
}

static void
add_trunk (FabCabling *self, const FabImportedCable *cable, const guint *parts)
{
  fab_cabling_add_cable (self, (FabCable){ .a = parts[cable->a],
                                           .b = parts[cable->b],
                                           .port_a = g_strdup_printf ("%u", cable->port_a),
                                           .port_b = g_strdup_printf ("%u", cable->port_b),
                                           .speed = g_strdup (cable->speed),
                                           .possible = g_strdup (cable->possible),
                                           .count = 1,
                                           .bytes_per_s = rate_of (cable->speed),
                                           .possible_bytes_per_s = cable->possible ? rate_of (cable->possible)
                                                                                   : 0 });
}

/* Adapters of unknown hosts stay out, but their switches are leaves. */
static void
add_hosts (FabCabling *self, const FabImportedNetwork *network, const guint *parts)
{
  g_autoptr (GPtrArray) hosts = fab_network_hosts_of (network);
  guint n_unnamed = 0;
  Names names;

  names_init (&names, network);
  for (guint i = 0; i < hosts->len; i++) {
    const FabNetworkHost *host = g_ptr_array_index (hosts, i);

    if (host->is_named)
      add_host (self, network, host, &names, parts);
    else
      n_unnamed++;
    for (guint k = 0; !host->is_named && k < host->ports->len; k++) {
      const FabImportedCable *cable = fab_imported_network_cable (network,
                                                                  g_array_index (host->ports, guint, k));

      fab_cabling_part (self, parts[fab_imported_network_switch_of (network, cable)])->n_unnamed++;
    }
  }
  names_clear (&names);
  if (n_unnamed > 0)
    g_ptr_array_add (
        self->notes,
        g_strdup_printf (
            "The descriptions of %u adapters name no host of their own, so their ports were not compared.",
            n_unnamed));
}

FabCabling *
fab_cabling_of_network (const FabImportedNetwork *network, const char *source)
{
  FabCabling *self = fab_cabling_new (source);
  g_auto (GStrv) labels = fab_imported_network_labels (network);
  g_autofree guint *parts = g_new (guint, network->devices->len + 1);

  for (guint i = 0; i < network->devices->len; i++)
    parts[i] = fab_imported_network_is_switch (network, i)
                 ? fab_cabling_add_part (self, g_strdup (labels[i]), FALSE)
                 : G_MAXUINT;
  add_hosts (self, network, parts);
  for (guint i = 0; i < network->cables->len; i++) {
    const FabImportedCable *cable = fab_imported_network_cable (network, i);

    if (parts[cable->a] != G_MAXUINT && parts[cable->b] != G_MAXUINT)
      add_trunk (self, cable, parts);
  }
  return self;
}
