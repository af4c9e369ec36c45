/* SPDX-License-Identifier: Apache-2.0 */
/* bill.c - counts the NICs, switches, cables and transceivers of the fabric in the graph. */
#include "sim/cost/bill.h"

#include <math.h>

#include "sim/assembly/assemble.h"
#include "sim/cost/tiers.h"
#include "sim/scenario/catalog.h"
#include "sim/scenario/power_cap.h"

typedef struct {
  const FabScenario *scenario;
  const FabCatalog *catalog;
  const FabCostSpec *cost;
  const FabGraph *graph;
  const FabProductSpec *node; /* NULL: the catalogue has none */
  gboolean is_as_built;       /* a single switch never stands for several */
  gboolean is_design;         /* so many switches were drawn, and are bought */
  FabBill *bill;
} FabBillCount;

static const double rate_rounding = 1e-6, fill_rounding = 1e-9;

static void bill_add (FabBillCount *self, const FabNeed *need, const FabProductSpec *product, guint64 count);
static void bill_add_found (FabBillCount *self, const FabNeed *need, guint64 count);

/* Counts the NICs, switches, cables and transceivers of the fabric in the graph. */

/* Links of the fabric that are the same. */
typedef struct {
  FabLinkId first;  /* one of them */
  gboolean has_nic; /* one of the ends is a NIC */
  guint64 n;
} LinkKind;

typedef struct {
  FabBillCount *count;
  const FabGraph *graph;
  const gboolean *is_switch; /* per vertex: whether it is a switch of the fabric */
  const double *fill;        /* per vertex: share of a leaf's uplinks that its NICs can fill; 1 for others */
  GArray *kinds;             /* LinkKind */
} Network;

/* Switches with the same links to the same neighbours. */
typedef struct {
  const FabGraph *graph;
  FabVertexId id; /* one of them */
  guint n;
} RankSymmetry;

static FabNeed
need_of_link (const Network *self, FabProductKind kind, FabLinkId id)
{
  const FabLink *link = fab_graph_link (self->graph, id);
  const FabLinkClass *link_class = fab_graph_link_class (self->graph, id);

  return (FabNeed){ .kind = kind,
                    .name = link_class->name,
                    .technology = link_class->technology->name,
                    .rate_bytes_per_s = link->rate_bytes_per_s / link->count };
}

static void
add_cables (Network *self, const FabNeed *need, guint64 count)
{
  const FabProductSpec *cable = fab_product_find (self->count->catalog, need);
  FabNeed optic = { .kind = FAB_PRODUCT_OPTIC,
                    .name = need->name,
                    .technology = need->technology,
                    .rate_bytes_per_s = need->rate_bytes_per_s };

  bill_add (self->count, need, cable, count);
  if (cable != NULL)
    bill_add_found (self->count, &optic, count * (guint64) cable->n_optics);
}

/* Whether a link leads from a machine to the fabric, or lies within the fabric. */
static gboolean
is_fabric_link (const Network *self, const FabLink *link)
{
  gboolean begins = self->is_switch[link->src], ends = self->is_switch[link->dst];

  return begins ? ends || fab_graph_vertex (self->graph, link->dst)->kind == FAB_VERTEX_NIC
                : ends && fab_graph_vertex (self->graph, link->src)->kind == FAB_VERTEX_NIC;
}

/* Returns the parallel links that count: uplinks that nothing below can fill are not bought. */
static guint
links_of (const Network *self, const FabLink *link)
{
  return (guint) ceil (link->count * MIN (self->fill[link->src], self->fill[link->dst])
                       * (1 - fill_rounding));
}

static void
tally_link (Network *self, FabLinkId id)
{
  const FabLink *link = fab_graph_link (self->graph, id);
  gboolean has_nic = !self->is_switch[link->src] || !self->is_switch[link->dst];

  for (guint i = 0; i < self->kinds->len; i++) {
    LinkKind *kind = &g_array_index (self->kinds, LinkKind, i);
    const FabLink *first = fab_graph_link (self->graph, kind->first);

    if (kind->has_nic == has_nic && first->class_index == link->class_index
        && first->rate_bytes_per_s / first->count == link->rate_bytes_per_s / link->count) {
      kind->n += links_of (self, link);
      return;
    }
  }
  g_array_append_val (self->kinds, ((LinkKind){ id, has_nic, links_of (self, link) }));
}

static void
tally_links (Network *self)
{
  for (FabLinkId id = 0; id < fab_graph_n_links (self->graph); id++) {
    const FabLink *link = fab_graph_link (self->graph, id);

    if (id < link->reverse && is_fabric_link (self, link))
      tally_link (self, id);
  }
}

/* `has_uplinks` FALSE: only the links of NICs. */
static void
add_links (Network *self, gboolean has_uplinks)
{
  for (guint i = 0; i < self->kinds->len; i++) {
    const LinkKind *kind = &g_array_index (self->kinds, LinkKind, i);
    FabNeed nic = need_of_link (self, FAB_PRODUCT_NIC, kind->first);
    FabNeed cable = need_of_link (self, FAB_PRODUCT_CABLE, kind->first);

    if (!kind->has_nic && !has_uplinks)
      continue;
    cable.length_mm = kind->has_nic ? self->count->cost->nic_cable_mm : self->count->cost->switch_cable_mm;
    nic.n_ports = (guint) fab_scenario_spec (self->count->scenario)->cluster.nic_ports;
    bill_add_found (self->count, &nic, kind->has_nic ? kind->n / nic.n_ports : 0);
    add_cables (self, &cable, kind->n);
  }
}

static guint
links_per_port (const Network *self, const FabProductSpec *product, const FabLink *link)
{
  double port = (double) fab_link_spec_line_rate (fab_catalog_link (self->count->catalog, product->link));
  double fit = port / ((double) link->rate_bytes_per_s / link->count) * (1 + rate_rounding);

  return MAX (1, (guint) MIN (fit, (double) product->links_per_port));
}

/* Groups the neighbours with equal links; `n_alike` vertices have the same groups. */
static GArray *
group_ports (const Network *self, const RankSymmetry *rank_symmetry, const FabProductSpec *product,
             gboolean *can_deal)
{
  GArray *groups = g_array_new (FALSE, FALSE, sizeof (FabPortGroup));
  FabLinkId first;
  guint n = fab_graph_out_links (self->graph, rank_symmetry->id, &first);

  *can_deal = TRUE;
  for (guint i = 0; i < n; i++) {
    const FabLink *link = fab_graph_link (self->graph, first + i);
    FabPortGroup group = { 1, links_of (self, link) * rank_symmetry->n,
                           links_per_port (self, product, link) };
    guint g = 0;

    *can_deal &= self->is_switch[link->dst];
    while (g < groups->len
           && (g_array_index (groups, FabPortGroup, g).n_links != group.n_links
               || g_array_index (groups, FabPortGroup, g).links_per_port != group.links_per_port))
      g++;
    if (g < groups->len)
      g_array_index (groups, FabPortGroup, g).n++;
    else
      g_array_append_val (groups, group);
  }
  return groups;
}

/* Returns the fastest link of a switch, which decides the kind of its ports. */
static FabLinkId
fastest_link (const FabGraph *graph, FabVertexId id)
{
  FabLinkId first, best = FAB_NO_LINK;
  guint n = fab_graph_out_links (graph, id, &first);

  for (guint i = 0; i < n; i++) {
    const FabLink *link = fab_graph_link (graph, first + i);
    const FabLink *other = best != FAB_NO_LINK ? fab_graph_link (graph, best) : NULL;

    if (other == NULL || link->rate_bytes_per_s / link->count > other->rate_bytes_per_s / other->count)
      best = first + i;
  }
  return best;
}

static void
add_switches (Network *self, const RankSymmetry *rank_symmetry)
{
  FabLinkId fastest = fastest_link (self->graph, rank_symmetry->id);

  if (fastest == FAB_NO_LINK)
    return;
  FabNeed need = need_of_link (self, FAB_PRODUCT_SWITCH, fastest);
  FabNeed cable = need_of_link (self, FAB_PRODUCT_CABLE, fastest);
  const FabProductSpec *product = fab_product_find (self->count->catalog, &need);
  FabBillSwitchCount count = { rank_symmetry->n, 0 };
  gboolean can_deal;

  if (product != NULL) {
    g_autoptr (GArray) groups = group_ports (self, rank_symmetry, product, &can_deal);

    count = fab_bill_switch_count ((const FabPortGroup *) (gpointer) groups->data, groups->len, can_deal,
                                   (guint) product->n_ports);
  }
  cable.length_mm = self->count->cost->switch_cable_mm;
  bill_add (self->count, &need, product, count.n_switches);
  add_cables (self, &cable, count.n_cables);
  self->count->bill->n_switches += count.n_switches;
}

/* --- identical switches --- */

static guint
rank_symmetry_hash (gconstpointer key)
{
  const RankSymmetry *rank_symmetry = key;
  FabLinkId first;
  guint n = fab_graph_out_links (rank_symmetry->graph, rank_symmetry->id, &first), hash = n;

  for (FabLinkId link = first; link < first + n; link++)
    hash = hash * 31 + fab_graph_link (rank_symmetry->graph, link)->dst;
  return hash;
}

static gboolean
rank_symmetry_equal (gconstpointer a, gconstpointer b)
{
  const FabGraph *graph = ((const RankSymmetry *) a)->graph;
  FabLinkId first_a, first_b;
  guint n = fab_graph_out_links (graph, ((const RankSymmetry *) a)->id, &first_a);

  if (n != fab_graph_out_links (graph, ((const RankSymmetry *) b)->id, &first_b))
    return FALSE;
  for (guint i = 0; i < n; i++) {
    const FabLink *x = fab_graph_link (graph, first_a + i), *y = fab_graph_link (graph, first_b + i);

    if (x->dst != y->dst || x->count != y->count || x->rate_bytes_per_s != y->rate_bytes_per_s
        || x->class_index != y->class_index)
      return FALSE;
  }
  return TRUE;
}

static gboolean
has_nics (const Network *self, FabVertexId id)
{
  FabLinkId first;
  guint n = fab_graph_out_links (self->graph, id, &first);

  for (FabLinkId link = first; link < first + n; link++)
    if (!self->is_switch[fab_graph_link (self->graph, link)->dst])
      return TRUE;
  return FALSE;
}

/* Spines with the same neighbours may be one product that ends all links of a leaf to them. A switch with NICs is
 * counted on its own. */
static void
add_all_switches (Network *self)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) known = g_hash_table_new (rank_symmetry_hash, rank_symmetry_equal);

  for (FabVertexId id = 0; id < fab_graph_n_vertices (self->graph); id++) {
    RankSymmetry *rank_symmetry = self->is_switch[id] ? g_new (RankSymmetry, 1) : NULL, *other = NULL;

    if (rank_symmetry == NULL)
      continue;
    *rank_symmetry = (RankSymmetry){ self->graph, id, 1 };
    g_ptr_array_add (all, rank_symmetry);
    if (self->count->is_design || has_nics (self, id))
      continue;
    other = g_hash_table_lookup (known, rank_symmetry);
    if (other != NULL) {
      other->n++;
      g_ptr_array_set_size (all, (gint) all->len - 1);
    } else {
      g_hash_table_add (known, rank_symmetry);
    }
  }
  for (guint i = 0; i < all->len; i++)
    add_switches (self, g_ptr_array_index (all, i));
}

/* Uses a single switch when its ports suffice for every NIC that has a place: no fabric does better. */
static gboolean
add_one_switch (Network *self)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (self->count->scenario)->cluster;
  const LinkKind *only = NULL;

  for (guint i = 0; i < self->kinds->len; i++) {
    const LinkKind *kind = &g_array_index (self->kinds, LinkKind, i);

    if (kind->has_nic && only != NULL)
      return FALSE;
    only = kind->has_nic ? kind : only;
  }
  if (only == NULL)
    return FALSE;
  FabNeed need = need_of_link (self, FAB_PRODUCT_SWITCH, only->first);
  const FabProductSpec *product = fab_product_find (self->count->catalog, &need);
  if (product == NULL)
    return FALSE;
  guint per_port = links_per_port (self, product, fab_graph_link (self->graph, only->first));
  guint64 nodes = (guint64) cluster->nodes, places = MAX (nodes, (guint64) cluster->places);
  if (only->n / nodes * places > (guint64) product->n_ports * per_port)
    return FALSE;
  bill_add (self->count, &need, product, 1);
  self->count->bill->n_switches = 1;
  return TRUE;
}

/* The rates of a switch to nodes and to other switches. */
static void
rates_of (const Network *self, FabVertexId id, double *down, double *up)
{
  FabLinkId first;
  guint n_links = self->is_switch[id] ? fab_graph_out_links (self->graph, id, &first) : 0;

  *down = *up = 0;
  for (guint i = 0; i < n_links; i++) {
    const FabLink *link = fab_graph_link (self->graph, first + i);

    *(self->is_switch[link->dst] ? up : down) += (double) link->rate_bytes_per_s;
  }
}

static void
note_replaced (const Network *self)
{
  FabBill *bill = self->count->bill;

  for (FabVertexId id = 0; id < fab_graph_n_vertices (self->graph); id++) {
    double down, up;

    rates_of (self, id, &down, &up);
    bill->n_replaced += self->is_switch[id];
    if (up > 0)
      bill->replaced_ratio = MAX (bill->replaced_ratio, down / up);
  }
}

/* When places stay empty on purpose (cluster.places), their uplinks exist. Otherwise a leaf that is not full has as
 * many uplinks as its NICs can fill. */
static double *
fill_of (const Network *self)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (self->count->scenario)->cluster;
  guint n = fab_graph_n_vertices (self->graph);
  double *fill = g_new (double, n);

  for (FabVertexId id = 0; id < n; id++) {
    double down, up;

    rates_of (self, id, &down, &up);
    fill[id] = down > 0 && up > down && cluster->places <= cluster->nodes && !self->count->is_design
                 ? down / up
                 : 1;
  }
  return fill;
}

/* Adds NICs, switches, cables and optics. O(vertices + links). */
static void
bill_add_network (FabBillCount *count)
{
  guint n = fab_graph_n_vertices (count->graph);
  g_autofree gboolean *is_switch = g_new (gboolean, n);
  g_autoptr (GArray) kinds = g_array_new (FALSE, FALSE, sizeof (LinkKind));
  Network self = { count, count->graph, is_switch, NULL, kinds };

  for (FabVertexId id = 0; id < n; id++)
    is_switch[id] = fab_tiers_is_switch (count->graph, id);
  g_autofree double *fill = fill_of (&self);
  self.fill = fill;
  tally_links (&self);
  gboolean is_one = !count->is_as_built && add_one_switch (&self);
  if (is_one)
    note_replaced (&self);
  else
    add_all_switches (&self);
  add_links (&self, !is_one);
}

void
fab_bill_free (FabBill *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->rows);
  g_free (self);
}

gboolean
fab_bill_row_is_network (const FabBillRow *row)
{
  return row->kind != FAB_PRODUCT_ACCELERATOR && row->kind != FAB_PRODUCT_NODE;
}

/* --- rows --- */

static gboolean
is_included (const FabBillCount *self, FabProductKind kind)
{
  return self->node != NULL
      && ((kind == FAB_PRODUCT_ACCELERATOR && self->node->has_accelerators)
          || (kind == FAB_PRODUCT_NIC && self->node->has_nics));
}

/* The watts of an accelerator come from its catalogue entry. */
static double
watts_of (const FabBillCount *self, const FabBillRow *row)
{
  if (row->kind == FAB_PRODUCT_ACCELERATOR)
    return (double) fab_catalog_accelerator (self->catalog, row->what)->power_watts;
  return row->product != NULL ? row->product->power_watts : 0;
}

FabMoney
fab_product_price (const FabProductSpec *self)
{
  double usd = self->price_usd;

  if (usd <= 0)
    return (FabMoney){ .usd = 0 };
  return (FabMoney){ usd, self->low_usd > 0 ? self->low_usd : usd,
                     self->high_usd > 0 ? self->high_usd : usd };
}

/* Adds `count` of a product, which may be NULL. */
static void
bill_add (FabBillCount *self, const FabNeed *need, const FabProductSpec *product, guint64 count)
{
  GArray *rows = self->bill->rows;
  FabBillRow row = { .kind = need->kind, .what = need->name, .product = product, .count = count };

  for (guint i = 0; i < rows->len; i++) {
    FabBillRow *other = &g_array_index (rows, FabBillRow, i);

    if (other->kind == row.kind && other->product == product && g_strcmp0 (other->what, row.what) == 0) {
      other->count += count;
      return;
    }
  }
  if (count == 0)
    return;
  row.is_included = is_included (self, row.kind);
  if (product != NULL && !row.is_included) {
    FabMoney price = fab_product_price (product);

    row.usd_each = price.usd;
    row.low_usd_each = price.low_usd;
    row.high_usd_each = price.high_usd;
  }
  row.watts_each = watts_of (self, &row);
  g_array_append_val (rows, row);
}

/* Adds `count` of the product that meets the need. */
static void
bill_add_found (FabBillCount *self, const FabNeed *need, guint64 count)
{
  bill_add (self, need, fab_product_find (self->catalog, need), count);
}

/* --- the sum --- */

static int
compare_rows (gconstpointer a, gconstpointer b)
{
  return (int) ((const FabBillRow *) a)->kind - (int) ((const FabBillRow *) b)->kind;
}

static void
add_money (FabMoney *sum, const FabBillRow *row)
{
  sum->usd += row->usd_each * (double) row->count;
  sum->low_usd += row->low_usd_each * (double) row->count;
  sum->high_usd += row->high_usd_each * (double) row->count;
}

static void
sum_up (FabBill *self)
{
  self->is_priced = self->is_powered = TRUE;
  g_array_sort (self->rows, compare_rows);
  for (guint i = 0; i < self->rows->len; i++) {
    const FabBillRow *row = &g_array_index (self->rows, FabBillRow, i);
    double watts = row->watts_each * (double) row->count;

    add_money (&self->total, row);
    if (fab_bill_row_is_network (row))
      add_money (&self->network, row);
    *(row->kind == FAB_PRODUCT_ACCELERATOR ? &self->accelerator_watts
      : row->kind == FAB_PRODUCT_NODE      ? &self->node_watts
                                           : &self->network_watts) += watts;
    self->is_priced &= row->is_included || row->usd_each > 0;
    self->is_powered &= row->watts_each > 0 || (row->kind == FAB_PRODUCT_CABLE && row->product != NULL);
  }
}

static void
add_machines (FabBillCount *self)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (self->scenario)->cluster;
  const FabNodeSpec *spec = fab_catalog_node (self->catalog, cluster->node);
  FabNeed node = { .kind = FAB_PRODUCT_NODE, .name = spec->name };
  FabNeed accelerator = { .kind = FAB_PRODUCT_ACCELERATOR, .name = spec->accelerator };

  for (FabVertexId id = 0; id < fab_graph_n_vertices (self->graph); id++)
    self->bill->n_accelerators += fab_graph_vertex (self->graph, id)->kind == FAB_VERTEX_ACCELERATOR;
  self->node = fab_product_find (self->catalog, &node);
  bill_add_found (self, &accelerator, self->bill->n_accelerators);
  bill_add (self, &node, self->node, (guint64) cluster->nodes);
}

/* Adds what an hour of the rented machine costs. */
static void
add_rent (FabBillCount *self)
{
  FabBill *bill = self->bill;
  const FabProductSpec *rent = self->cost->rent != NULL
                                 ? fab_catalog_product (self->catalog, self->cost->rent)
                                 : NULL;

  if (rent == NULL)
    return;
  double n = rent->node != NULL ? (double) fab_scenario_spec (self->scenario)->cluster.nodes
                                : (double) bill->n_accelerators;
  bill->rent = rent;
  FabMoney each = fab_product_price (rent);
  bill->rent_per_hour = (FabMoney){ n * each.usd, n * each.low_usd, n * each.high_usd };
}

static double
cap_of (const FabScenario *scenario)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  const FabCatalog *catalog = fab_scenario_catalog (scenario);
  const FabNodeSpec *node = fab_catalog_node (catalog, spec->cluster.node);

  return fab_power_cap_share (&spec->cluster.power_cap, fab_catalog_accelerator (catalog, node->accelerator));
}

static FabBill *
count_bill (const FabScenario *scenario, const FabGraph *graph, gboolean is_as_built)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  FabBill *self = g_new0 (FabBill, 1);
  FabBillCount count = { .scenario = scenario,
                         .catalog = fab_scenario_catalog (scenario),
                         .cost = &spec->cost,
                         .graph = graph,
                         .is_as_built = is_as_built || spec->cluster.design != NULL,
                         .is_design = spec->cluster.design != NULL,
                         .bill = self };

  self->rows = g_array_new (FALSE, FALSE, sizeof (FabBillRow));
  self->cap_fraction = cap_of (scenario);
  add_machines (&count);
  if (MAX (spec->cluster.nodes, spec->cluster.places) > 1)
    bill_add_network (&count);
  sum_up (self);
  add_rent (&count);
  return self;
}

FabBill *
fab_bill_of_graph (const FabScenario *scenario, const FabGraph *graph)
{
  return count_bill (scenario, graph, FALSE);
}

static FabBill *
build_bill (const FabScenario *scenario, gboolean is_as_built, GError **error)
{
  g_autoptr (FabPlant) plant = fab_plant_new (scenario, &(FabWhatIf){ .is_intact = TRUE }, error);

  return plant != NULL ? count_bill (scenario, plant->graph, is_as_built) : NULL;
}

FabBill *
fab_bill_new (const FabScenario *scenario, GError **error)
{
  return build_bill (scenario, FALSE, error);
}

FabBill *
fab_bill_as_built (const FabScenario *scenario, GError **error)
{
  return build_bill (scenario, TRUE, error);
}

static guint64
divide_up (guint64 a, guint64 b)
{
  return (a + b - 1) / b;
}

/* Returns the ports of a plane when every neighbour distributes its links over `n_planes`. */
static guint64
ports_of_plane (const FabPortGroup *groups, guint n_groups, guint n_planes)
{
  guint64 n = 0;

  for (guint i = 0; i < n_groups; i++)
    n += divide_up ((guint64) groups[i].n * divide_up (groups[i].n_links, n_planes),
                    groups[i].links_per_port);
  return n;
}

static FabBillSwitchCount
count_clos (guint64 n_ports, guint64 k)
{
  guint64 half = k / 2, room = k, tiers = 1;

  for (; room < n_ports; room *= half)
    tiers++;
  if (tiers == 1)
    return (FabBillSwitchCount){ 1, 0 };
  guint64 per_tier = divide_up (n_ports, half), n_cables = per_tier * half;
  return (FabBillSwitchCount){ (tiers - 1) * per_tier + divide_up (n_cables, k), (tiers - 1) * n_cables };
}

FabBillSwitchCount
fab_bill_switch_count (const FabPortGroup *groups, guint n_groups, gboolean can_deal, guint ports_per_switch)
{
  guint most_planes = can_deal ? G_MAXUINT : 1;
  FabBillSwitchCount best = { G_MAXUINT64, 0 };

  g_assert (ports_per_switch >= FAB_SWITCH_LEAST_PORTS);
  for (guint i = 0; i < n_groups; i++)
    most_planes = MIN (most_planes, groups[i].n_links);
  for (guint planes = 1; planes <= most_planes && n_groups > 0; planes++) {
    FabBillSwitchCount plane = count_clos (ports_of_plane (groups, n_groups, planes), ports_per_switch);

    if (plane.n_switches * planes < best.n_switches)
      best = (FabBillSwitchCount){ plane.n_switches * planes, plane.n_cables * planes };
  }
  return n_groups > 0 ? best : (FabBillSwitchCount){ 1, 0 };
}

/* How well a product meets a need; earlier members count first. */
typedef struct {
  gboolean is_same; /* it is the link's own product, at its own rate */
  FabBytesPerS rate_bytes_per_s;
  gboolean is_own, has_price;
  double usd;
} Fit;

static gboolean
is_better (const Fit *a, const Fit *b)
{
  if (a->is_same != b->is_same)
    return a->is_same;
  if (a->rate_bytes_per_s != b->rate_bytes_per_s)
    return a->rate_bytes_per_s < b->rate_bytes_per_s;
  if (a->is_own != b->is_own)
    return a->is_own;
  if (a->has_price != b->has_price)
    return a->has_price;
  return a->usd < b->usd;
}

static gboolean
is_fast_enough (FabBytesPerS rate, FabBytesPerS wanted)
{
  return (double) rate >= (double) wanted * (1 - rate_rounding);
}

static gboolean
serves_link (const FabCatalog *catalog, const FabProductSpec *product, const FabNeed *need, Fit *fit)
{
  const FabLinkSpec *link = fab_catalog_link (catalog, product->link);

  if (link == NULL || (need->kind == FAB_PRODUCT_CABLE && product->reach_mm < need->length_mm)
      || (need->kind == FAB_PRODUCT_NIC && MAX (product->n_ports, 1) != MAX (need->n_ports, 1)))
    return FALSE;
  FabBytesPerS rate = fab_link_spec_line_rate (link);
  double off = fabs ((double) rate - (double) need->rate_bytes_per_s) / (double) rate;
  fit->is_same = g_strcmp0 (product->link, need->name) == 0 && off < rate_rounding;
  if (!fit->is_same
      && (g_strcmp0 (link->technology, need->technology) != 0
          || !is_fast_enough (rate, need->rate_bytes_per_s)))
    return FALSE;
  fit->rate_bytes_per_s = rate;
  fit->usd = need->kind == FAB_PRODUCT_CABLE ? fab_product_cable_usd (catalog, product) : product->price_usd;
  fit->has_price = fit->usd > 0;
  return TRUE;
}

static gboolean
serves (const FabCatalog *catalog, const FabProductSpec *product, const FabNeed *need, Fit *fit)
{
  if (product->kind != (int) need->kind)
    return FALSE;
  *fit = (Fit){ .is_own = fab_catalog_is_own (catalog, FAB_SECTION_PRODUCTS, product->name) };
  if (need->kind == FAB_PRODUCT_ACCELERATOR)
    return g_strcmp0 (product->accelerator, need->name) == 0;
  if (need->kind == FAB_PRODUCT_NODE)
    return g_strcmp0 (product->node, need->name) == 0;
  return serves_link (catalog, product, need, fit);
}

const FabProductSpec *
fab_product_find (const FabCatalog *catalog, const FabNeed *need)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_PRODUCTS);
  const FabProductSpec *best = NULL;
  Fit best_fit, fit;

  for (guint i = 0; names[i] != NULL; i++) {
    const FabProductSpec *product = fab_catalog_product (catalog, names[i]);

    if (serves (catalog, product, need, &fit) && (best == NULL || is_better (&fit, &best_fit))) {
      best = product;
      best_fit = fit;
    }
  }
  return best;
}

double
fab_product_cable_usd (const FabCatalog *catalog, const FabProductSpec *cable)
{
  if (cable->n_optics == 0)
    return cable->price_usd;
  const FabLinkSpec *link = fab_catalog_link (catalog, cable->link);
  const FabProductSpec *optic = fab_product_find (
      catalog, &(FabNeed){ .kind = FAB_PRODUCT_OPTIC,
                           .name = cable->link,
                           .technology = link->technology,
                           .rate_bytes_per_s = fab_link_spec_line_rate (link) });
  return cable->price_usd > 0 && optic != NULL && optic->price_usd > 0
           ? cable->price_usd + (double) cable->n_optics * optic->price_usd
           : 0;
}
