/* SPDX-License-Identifier: Apache-2.0 */
/* pcie_tree.c - groups of devices within each distance, from hosts down.
 *
 * Groups nest: what is PIX apart is also within PXB, and so on. A host bridge is a vertex of its own only below
 * a host that has several (NODE), since only then does it tell anything apart; a group within PXB hangs below a
 * switch, and when it holds several groups within PIX, each of these below a switch of its own.
 */
#include "validate/import/pcie_tree.h"

#include <string.h>

enum { N_LEVELS = FAB_APART_NODE + 1 };

typedef struct {
  FabMachine *machine;
  const FabPcieDevices *devices;
  guint *group[N_LEVELS]; /* first device of the group */
  /* by first device of a group: the part that stands for the group; FAB_MACHINE_NO_PARENT: none yet */
  guint *vertex[N_LEVELS];
} Tree;

static gboolean
is_together (const FabPcieDevices *devices, guint level, guint i, guint j)
{
  const char *a = devices->affinity[i], *b = devices->affinity[j];

  if (devices->apart[i * devices->n + j] <= level)
    return TRUE;
  return level == FAB_APART_NODE && a && b && strcmp (a, b) == 0;
}

static void
find_groups (Tree *tree, guint level)
{
  const FabPcieDevices *devices = tree->devices;
  guint *group = tree->group[level];

  for (guint i = 0; i < devices->n; i++)
    group[i] = i;
  for (guint i = 0; i < devices->n; i++)
    for (guint j = 0; j < i; j++) {
      guint from = MAX (group[i], group[j]), to = MIN (group[i], group[j]);

      if (from == to || !is_together (devices, level, i, j))
        continue;
      for (guint k = 0; k < devices->n; k++)
        if (group[k] == from)
          group[k] = to;
    }
}

/* Counts the groups of level `inner` inside the group of level `outer` that holds the device. */
static guint
count_inside (const Tree *tree, guint inner, guint outer, guint device)
{
  guint n = 0;

  for (guint i = 0; i < tree->devices->n; i++)
    n += tree->group[inner][i] == i && tree->group[outer][i] == tree->group[outer][device];
  return n;
}

static guint
count_members (const Tree *tree, guint level, guint device)
{
  guint n = 0;

  for (guint i = 0; i < tree->devices->n; i++)
    n += tree->group[level][i] == tree->group[level][device];
  return n;
}

/* Says whether the device's host has pairs that are NODE apart. */
static gboolean
has_bridges (const Tree *tree, guint device)
{
  const FabPcieDevices *devices = tree->devices;

  for (guint i = 0; i < devices->n; i++)
    for (guint j = 0; j < i; j++)
      if (devices->apart[i * devices->n + j] == FAB_APART_NODE
          && tree->group[FAB_APART_NODE][i] == tree->group[FAB_APART_NODE][device])
        return TRUE;
  return FALSE;
}

static guint
vertex_of (Tree *tree, guint level, guint device, FabMachineKind kind, guint parent)
{
  guint *vertex = &tree->vertex[level][tree->group[level][device]];

  if (*vertex == FAB_MACHINE_NO_PARENT)
    *vertex = fab_machine_add (tree->machine, kind, parent,
                               parent == FAB_MACHINE_NO_PARENT ? NULL : tree->devices->link, G_MAXUINT);
  return *vertex;
}

static guint
add_device (Tree *tree, guint device)
{
  guint above = vertex_of (tree, FAB_APART_NODE, device, FAB_MACHINE_HOST, FAB_MACHINE_NO_PARENT);

  if (has_bridges (tree, device))
    above = vertex_of (tree, FAB_APART_PHB, device, FAB_MACHINE_BRIDGE, above);
  if (count_members (tree, FAB_APART_PXB, device) > 1)
    above = vertex_of (tree, FAB_APART_PXB, device, FAB_MACHINE_SWITCH, above);
  if (count_inside (tree, FAB_APART_PIX, FAB_APART_PXB, device) > 1)
    above = vertex_of (tree, FAB_APART_PIX, device, FAB_MACHINE_SWITCH, above);
  return fab_machine_add (tree->machine, tree->devices->kinds[device], above, tree->devices->link, G_MAXUINT);
}

void
fab_pcie_tree_add (FabMachine *machine, const FabPcieDevices *devices, guint *parts)
{
  Tree tree = { .machine = machine, .devices = devices };

  for (guint level = 0; level < N_LEVELS; level++) {
    tree.group[level] = g_new (guint, devices->n + 1);
    tree.vertex[level] = g_new (guint, devices->n + 1);
    memset (tree.vertex[level], 0xff, (devices->n + 1) * sizeof (guint));
    find_groups (&tree, level);
  }
  for (guint i = 0; i < devices->n; i++)
    parts[i] = add_device (&tree, i);
  for (guint level = 0; level < N_LEVELS; level++) {
    g_free (tree.group[level]);
    g_free (tree.vertex[level]);
  }
}
