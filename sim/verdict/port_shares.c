/* SPDX-License-Identifier: Apache-2.0 */
/* port_shares.c - a finding about NICs of several ports: one port carries more than its part, because a hash put flows
 * there, or because the other ports reach nobody. */
#include "sim/fabric/port_router.h"
#include "sim/verdict/verdict.h"

/* Below this multiple of an even share nothing is said. */
static const double least_factor = 1.25;

typedef struct {
  const FabGraph *graph;
  const FabFootprint *footprint;
  guint n_ports;          /* of an intact NIC */
  guint n_nics, n_uneven; /* that carry bytes; of these */
  guint n_idle;           /* of these, with a port that carries nothing */
  double worst_factor;    /* load of the fullest port over an even share */
  FabLinkId worst;
} Shares;

static double
weight_of (const Shares *self, FabLinkId link)
{
  guint at;

  return fab_footprint_has (self->footprint, link, &at) ? self->footprint->weights[at] : 0;
}

/* One direction of the ports of a NIC. Returns the load of the fullest over an even share; 0: nothing goes that way.
 * *is_idle is set where something does, and a port carries none of it. */
static double
look_at_direction (Shares *self, FabLinkId first, guint n, gboolean is_out, gboolean *is_idle)
{
  double sum = 0, most = 0;
  FabLinkId fullest = FAB_NO_LINK;
  gboolean has_empty = FALSE;

  for (guint k = 0; k < n; k++) {
    FabLinkId link = is_out ? first + k : fab_graph_link (self->graph, first + k)->reverse;
    double weight = weight_of (self, link);

    has_empty |= weight <= 0;
    sum += weight;
    fullest = weight > most ? link : fullest;
    most = MAX (most, weight);
  }
  if (sum <= 0)
    return 0;
  *is_idle |= has_empty;
  double factor = most * self->n_ports / sum;
  if (factor > self->worst_factor) {
    self->worst_factor = factor;
    self->worst = fullest;
  }
  return factor;
}

static void
look_at_nic (Shares *self, FabVertexId nic)
{
  FabLinkId first;
  guint n = fab_nic_ports (self->graph, nic, &first);
  gboolean is_idle = n < self->n_ports;
  double out = look_at_direction (self, first, n, TRUE, &is_idle),
         in = look_at_direction (self, first, n, FALSE, &is_idle), most = MAX (out, in);

  self->n_nics += most > 0;
  self->n_uneven += most >= least_factor;
  self->n_idle += most > 0 && is_idle;
}

/* The collective that took longest in the last iteration; NULL: none used links. */
static const FabFootprint *
longest_footprint (const FabSimulation *simulation)
{
  const FabProbe *probe = fab_simulation_probe (simulation);
  const FabFootprint *longest = NULL;
  FabTimePs longest_ps = 0;

  for (guint i = 0; i < probe->collectives->len; i++) {
    const FabCollectiveRecord *record = &g_array_index (probe->collectives, FabCollectiveRecord, i);
    const FabFootprint
        *footprint = fab_simulation_dag (simulation)->collectives[record->index].plan.footprint;

    if (footprint != NULL && record->end_ps - record->start_ps > longest_ps) {
      longest_ps = record->end_ps - record->start_ps;
      longest = footprint;
    }
  }
  return longest;
}

static void
add_finding (FabVerdict *self, const Shares *shares)
{
  const FabLink *link = fab_graph_link (shares->graph, shares->worst);
  g_autofree char *from = fab_graph_vertex_name (shares->graph, link->src),
                  *to = fab_graph_vertex_name (shares->graph, link->dst);
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_append_printf (
      text,
      "%u of %u NICs use their ports unevenly: %s -> %s carries %.0f %% of what goes that way "
      "through its NIC, and an even share is %.0f %%.",
      shares->n_uneven, shares->n_nics, from, to, 100 * shares->worst_factor / shares->n_ports,
      100.0 / shares->n_ports);
  if (shares->n_idle > 0)
    g_string_append_printf (text, " %u of them %s a port empty.", shares->n_idle,
                            fab_plural (shares->n_idle, "leaves", "leave"));
  fab_verdict_add_finding (
      self,
      (FabFinding){
          FAB_FINDING_UNEVEN_PORTS, g_strdup (text->str),
          g_strdup ("Divide messages among the ports (cluster.port_use=merged), or give each connection more "
                    "queue pairs to hash (cluster.route={kind: ecmp, queue_pairs: 16})."),
          g_strdup_printf ("%s -> %s", from, to), -1 });
}

void
fab_verdict_note_port_shares (FabVerdict *self, const FabSimulation *simulation)
{
  const FabCluster *cluster = fab_simulation_cluster (simulation);
  Shares shares = { .graph = cluster->graph,
                    .n_ports = cluster->nic_ports,
                    .footprint = longest_footprint (simulation) };

  for (guint i = 0; shares.footprint != NULL && i < cluster->n_nodes * cluster->nics_per_node; i++)
    look_at_nic (&shares, cluster->nics[i]);
  if (shares.n_uneven > 0)
    add_finding (self, &shares);
}
