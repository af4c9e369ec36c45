/* SPDX-License-Identifier: Apache-2.0 */
/* pcie_tree.h - builds a PCIe tree from the distances between devices that a tool prints. */
#pragma once

#include "validate/import/machine.h"

/* Distances in the words of `nvidia-smi topo -m`, nearest first. */
typedef enum {
  FAB_APART_PIX,
  FAB_APART_PXB,
  FAB_APART_PHB,
  FAB_APART_NODE,
  FAB_APART_SYS,
  FAB_APART_UNKNOWN, /* the tool prints something else for this pair */
} FabApart;

typedef struct {
  guint n;
  const FabMachineKind *kinds; /* [n]: GPU or NIC */
  const FabApart *apart;       /* [n * n], symmetric */
  const char *const *affinity; /* [n]: devices with equal texts have the same host; NULL: unknown */
  const char *link;            /* catalogue entry of every wire */
} FabPcieDevices;

/* Adds hosts, bridges, switches and devices to the machine. Sets parts[i] to the index of device i. O(n^2). */
void fab_pcie_tree_add (FabMachine *machine, const FabPcieDevices *devices, guint *parts);
