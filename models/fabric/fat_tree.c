/* SPDX-License-Identifier: Apache-2.0 */
/* fat_tree.c - two or three tiers of switches with the same number of ports (radix), as few as the ports allow.
 *
 *   leaf    down d, up u = d x rate ratio / oversubscription, rounded up;  d + u <= radix
 *   spine   the fewest per pod whose ports down take all uplinks of the pod's leaves
 *   core    likewise for the uplinks of spine s of all pods
 *
 * (C. Leiserson, IEEE Trans. Computers C-34(10), 1985; M. Al-Fares, A. Loukissas, A. Vahdat, SIGCOMM 2008.) Without
 * oversubscription, two tiers of radix r connect r x r / 2 ports and three tiers r^3 / 4. The wiring is in
 * sim/fabric/clos.h.
 */
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/fabric/clos.h"

typedef struct {
  gint64 tiers, radix, planes;
  gint64 nodes_per_leaf, leaves_per_pod, spines_per_pod, cores_per_spine;
  double leaf_oversubscription_factor, pod_oversubscription_factor;
  const char *uplink, *core_link;
  gint64 cable_mm, uplink_cable_mm, core_cable_mm;
} FatTreeParams;

#define ROW(key_, type_, field_, fallback_, help_)                                           \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (FatTreeParams, field_), \
  .fallback = fallback_, .help = help_

static const FabParam fat_tree_params[] = {
  { ROW ("tiers", COUNT, tiers, "0", "Tiers of switches, 2 or 3; 0: the fewest that have enough ports."),
    .min = 0, .max = 3 },
  { ROW ("radix", COUNT, radix, "64", "Ports of every switch."), .min = 2, .max = 1e5 },
  { ROW ("oversubscription", FACTOR, leaf_oversubscription_factor, "1",
         "Oversubscription of a leaf: its downlink rate over its uplink rate. The number of uplinks is "
         "rounded up."),
    .min = 0.1, .max = 1e3, .is_in_title = TRUE },
  { ROW ("pod_oversubscription", FACTOR, pod_oversubscription_factor, "1",
         "Oversubscription of a spine, in the same way; three tiers only."),
    .min = 0.1, .max = 1e3, .is_in_title = TRUE },
  { ROW ("nodes_per_leaf", COUNT, nodes_per_leaf, "0",
         "Nodes per leaf; 0: as many as the ports of a leaf allow."),
    .min = 0, .max = 1e5 },
  { ROW ("leaves_per_pod", COUNT, leaves_per_pod, "0",
         "Leaves per pod, three tiers only; 0: one for each downlink of a spine."),
    .min = 0, .max = 1e5 },
  { ROW ("spines_per_pod", COUNT, spines_per_pod, "0", "Spines per pod; 0: the fewest whose ports suffice."),
    .min = 0, .max = 1e5 },
  { ROW ("cores_per_spine", COUNT, cores_per_spine, "0",
         "Cores that spine s of every pod connects to; 0: the fewest whose ports suffice."),
    .min = 0, .max = 1e5 },
  { ROW ("planes", COUNT, planes, "1",
         "Planes: separate trees in parallel. NIC k of a node is in plane k mod planes."),
    .min = 1, .max = 256 },
  { ROW ("uplink", TEXT, uplink, "", "Link entry from leaf to spine; empty: the same as the NICs have."),
    .refers = FAB_REFERS_LINK },
  { ROW ("core_link", TEXT, core_link, "",
         "Link entry from spine to core; empty: the same as the NICs have."),
    .refers = FAB_REFERS_LINK },
  { ROW ("cable", LENGTH, cable_mm, "0m", "NIC to leaf: cable beyond the length in the link entry."),
    .max = 1e8 },
  { ROW ("uplink_cable", LENGTH, uplink_cable_mm, "0m",
         "Leaf to spine: cable beyond the length in the link entry."),
    .max = 1e8 },
  { ROW ("core_cable", LENGTH, core_cable_mm, "0m",
         "Spine to core: cable beyond the length in the link entry."),
    .max = 2e10 },
  { .key = NULL },
};

static void
fat_tree_check (gconstpointer params, FabCheck *check)
{
  const FatTreeParams *p = params;

  if (p->tiers == 1)
    fab_check_fail (check, &p->tiers,
                    "tiers must be 2, 3, or 0 for the fewest; for one tier write `fabric: "
                    "switch`");
}

static double
rate_ratio (const FabLinkForm *down, const FabLinkForm *up)
{
  return (double) down->rate_bytes_per_s / (double) up->rate_bytes_per_s;
}

static gboolean
check_ports (const char *what, guint64 needed, guint radix, GError **error)
{
  return needed <= radix
      || fab_throw (error, FAB_ERROR_INPUT,
                    "a %s of this fat tree needs %" G_GUINT64_FORMAT " ports, but radix is %u", what, needed,
                    radix);
}

/* Returns the fewest of `n_most` upper switches such that each has enough ports for its links from n_below switches
 * with `up` links. */
static guint
fewest_above (guint n_below, guint up, guint ports)
{
  guint n = 1;

  while (n < up && (guint64) n_below * ((up + n - 1) / n) > ports)
    n++;
  return n;
}

/* Returns the ports down of a switch whose ports up meet the oversubscription. */
static guint
ports_down (guint radix, double oversubscription, double ratio)
{
  return MAX (1, (guint) (radix / (1 + ratio / oversubscription) * (1 + 1e-12)));
}

static gboolean
plan_leaves (const FabFabricEnv *env, const FatTreeParams *p, FabClos *clos, GError **error)
{
  double ratio = rate_ratio (&clos->port, &clos->leaf_link);

  clos->leaf_down = p->nodes_per_leaf > 0
                      ? (guint) p->nodes_per_leaf
                            * fab_clos_nics_per_plane (env->nics_per_node, clos->n_planes)
                      : ports_down ((guint) p->radix, p->leaf_oversubscription_factor, ratio);
  clos->leaf_up = fab_clos_ports_up (clos->leaf_down, p->leaf_oversubscription_factor, ratio);
  return check_ports ("leaf", (guint64) clos->leaf_down + clos->leaf_up, (guint) p->radix, error);
}

static gboolean
plan_two_tiers (const FatTreeParams *p, guint n_leaves, FabClos *clos, GError **error)
{
  guint radix = (guint) p->radix;

  clos->leaves_per_pod = G_MAXUINT;
  clos->n_spines = p->spines_per_pod > 0 ? MIN ((guint) p->spines_per_pod, clos->leaf_up)
                                         : fewest_above (n_leaves, clos->leaf_up, radix);
  return check_ports ("spine", (guint64) n_leaves * ((clos->leaf_up + clos->n_spines - 1) / clos->n_spines),
                      radix, error);
}

static gboolean
plan_three_tiers (const FatTreeParams *p, guint n_leaves, FabClos *clos, GError **error)
{
  guint radix = (guint) p->radix;
  double ratio = rate_ratio (&clos->leaf_link, &clos->spine_link);
  guint most_down = ports_down (radix, p->pod_oversubscription_factor, ratio);

  clos->leaves_per_pod = p->leaves_per_pod > 0 ? (guint) p->leaves_per_pod : most_down;
  guint n_pods = (n_leaves + clos->leaves_per_pod - 1) / clos->leaves_per_pod;
  guint n_in_pod = MIN (n_leaves, clos->leaves_per_pod);
  clos->n_spines = p->spines_per_pod > 0 ? MIN ((guint) p->spines_per_pod, clos->leaf_up)
                                         : fewest_above (n_in_pod, clos->leaf_up, most_down);
  guint64 down = (guint64) n_in_pod * ((clos->leaf_up + clos->n_spines - 1) / clos->n_spines);
  if (!check_ports ("spine", down, radix, error))
    return FALSE;
  guint64 used = ((guint64) n_in_pod * clos->leaf_up + clos->n_spines - 1) / clos->n_spines;
  clos->spine_up = fab_clos_ports_up ((guint) used, p->pod_oversubscription_factor, ratio);
  clos->cores_per_spine = p->cores_per_spine > 0 ? MIN ((guint) p->cores_per_spine, clos->spine_up)
                                                 : fewest_above (n_pods, clos->spine_up, radix);
  return check_ports ("spine", down + clos->spine_up, radix, error)
      && check_ports ("core",
                      (guint64) n_pods
                          * ((clos->spine_up + clos->cores_per_spine - 1) / clos->cores_per_spine),
                      radix, error);
}

static gboolean
fat_tree_build (const FabFabricEnv *env, gconstpointer params, GError **error)
{
  const FatTreeParams *p = params;
  FabClos clos = { .n_planes = MIN ((guint) p->planes, env->nics_per_node),
                   .n_tors = 1,
                   .port = fab_fabric_link (env, NULL, p->cable_mm),
                   .leaf_link = fab_fabric_link (env, p->uplink, p->uplink_cable_mm),
                   .spine_link = fab_fabric_link (env, p->core_link, p->core_cable_mm) };

  if (!plan_leaves (env, p, &clos, error))
    return FALSE;
  guint n_leaves = fab_clos_n_leaves (env, clos.n_planes, clos.leaf_down);
  guint most_in_pod = p->leaves_per_pod > 0 ? (guint) p->leaves_per_pod : (guint) p->radix;
  gboolean has_core = p->tiers == 3 || (p->tiers == 0 && n_leaves > most_in_pod);
  if (!(has_core ? plan_three_tiers (p, n_leaves, &clos, error) : plan_two_tiers (p, n_leaves, &clos, error)))
    return FALSE;
  fab_clos_build (env, &clos);
  return TRUE;
}

const FabFabricOps fab_fabric_fat_tree = {
  .info = { .name = "fat_tree",
            .summary = "Two or three tiers of switches of one radix; each tier may be oversubscribed.",
            .doc = "docs/models/fat_tree.md",
            .params = fat_tree_params,
            .params_size = sizeof (FatTreeParams),
            .check = fat_tree_check },
  .build = fat_tree_build,
  .has_choice = fab_fabric_always_has_choice,
};
