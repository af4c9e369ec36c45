/* SPDX-License-Identifier: Apache-2.0 */
/* pcie_tree.h - a PCIe tree in which devices are as far apart as a tool says. */
#pragma once

#include "validate/import/machine.h"

/* Nearest first; the words of `nvidia-smi topo -m`. */
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
  const char *const *affinity; /* [n]: devices of the same text have the same host; NULL: not known */
  const char *link;            /* of every wire */
} FabPcieDevices;

/* Adds hosts, bridges, switches and devices. parts[i] becomes the index of device i. O(n^2). */
void fab_pcie_tree_add (FabMachine *machine, const FabPcieDevices *devices, guint *parts);
