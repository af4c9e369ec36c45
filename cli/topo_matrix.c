/* SPDX-License-Identifier: Apache-2.0 */
/* topo_matrix.c - a node as `nvidia-smi topo -m` prints it: tabs between columns, legend below. */
#include <string.h>

#include "cli/topo.h"

static const char *const legend =
    "\nLegend:\n\n"
    "  X    = Self\n"
    "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)\n"
    "  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node\n"
    "  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)\n"
    "  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)\n"
    "  PIX  = Connection traversing at most a single PCIe bridge\n"
    "  NV#  = Connection traversing a bonded set of # NVLinks\n";

/* Row or column i: GPUs first, then NICs. */
static FabVertexId
vertex_at (const FabCluster *cluster, guint i)
{
  return i < cluster->gpus_per_node ? cluster->gpus[i] : cluster->nics[i - cluster->gpus_per_node];
}

static char *
head_at (const FabCluster *cluster, guint i)
{
  return i < cluster->gpus_per_node ? g_strdup_printf ("GPU%u", i)
                                    : g_strdup_printf ("NIC%u", i - cluster->gpus_per_node);
}

static gboolean
is_in_legend (const char *label)
{
  static const char *const known[] = { "X", "SYS", "NODE", "PHB", "PXB", "PIX", "N/A", NULL };

  return g_strv_contains (known, label)
      || (g_str_has_prefix (label, "NV") && g_ascii_isdigit (label[strlen ("NV")]));
}

/* `others`: labels that NVIDIA's legend does not explain. */
static void
print_row (const FabTopology *topology, guint row, guint n, GHashTable *others)
{
  const FabCluster *cluster = topology->cluster;
  g_autofree char *head = head_at (cluster, row);

  g_print ("%s", head);
  for (guint column = 0; column < n; column++) {
    char *label = fab_topology_label (topology, vertex_at (cluster, row), vertex_at (cluster, column));

    g_print (row == column ? "\t %s " : "\t%s", label);
    if (is_in_legend (label))
      g_free (label);
    else
      g_hash_table_add (others, label); /* keeps it, or frees it when it has it */
  }
  if (row < cluster->gpus_per_node) {
    guint socket = fab_topology_socket_of (topology, vertex_at (cluster, row));
    g_autofree char *text = socket == G_MAXUINT ? g_strdup ("N/A") : g_strdup_printf ("%u", socket);

    g_print ("\tN/A\t%s\t\tN/A", text);
  }
  g_print ("\n");
}

static void
print_others (GHashTable *others)
{
  g_autoptr (GList) labels = g_list_sort (g_hash_table_get_keys (others), (GCompareFunc) strcmp);

  for (GList *label = labels; label != NULL; label = label->next)
    g_print ("  %-4s = Connection traversing links of that kind between accelerators only\n",
             (const char *) label->data);
}

static void
print_nics (const FabTopology *topology)
{
  const FabCluster *cluster = topology->cluster;

  if (cluster->nics_per_node == 0)
    return;
  g_print ("\nNIC Legend:\n\n");
  for (guint i = 0; i < cluster->nics_per_node; i++) {
    g_autofree char *name = fab_topology_name (topology, cluster->nics[i]);

    g_print ("  NIC%u: %s\n", i, name);
  }
}

void
fab_topo_print_matrix (const FabTopoPicture *picture)
{
  const FabCluster *cluster = picture->topology->cluster;
  guint n = cluster->gpus_per_node + cluster->nics_per_node;
  g_autoptr (GHashTable) others = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < n; i++) {
    g_autofree char *head = head_at (cluster, i);

    g_print ("\t%s", head);
  }
  g_print ("\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n");
  for (guint i = 0; i < n; i++)
    print_row (picture->topology, i, n, others);
  g_print ("%s", legend);
  print_others (others);
  print_nics (picture->topology);
}
