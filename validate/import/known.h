/* SPDX-License-Identifier: Apache-2.0 */
/* known.h - what a name, a PCI id or a CPU model says about links: the rules of the importers, as tables. */
#pragma once

#include "validate/import/machine.h"

/* An accelerator of the catalogue by the beginning of its name. */
typedef struct {
  const char *prefix;
  guint n_links;       /* of its scale-up network; 0: PCIe only */
  const char *link;    /* one of them */
  gboolean has_switch; /* machines with it usually have a switch between them (NVSwitch) */
  guint pcie_generation;
  const char *nic;    /* the port that usually stands beside it */
  const char *efa;    /* the same in a cloud that has EFA */
  const char *socket; /* what usually joins the sockets of its hosts */
} FabKnownAccelerator;

/* Never NULL: an unknown one has PCIe 4 and nothing else. */
const FabKnownAccelerator *fab_known_accelerator (const char *name);

/* The catalogue entry of a PCI device, or NULL. */
const char *fab_known_pci (guint vendor, guint device);
/* "60", "90": of NVIDIA's compute capability. NULL when not known. */
const char *fab_known_sm (guint sm);
/* "gfx942". NULL when not known. */
const char *fab_known_gfx (const char *gfx);

/* Between sockets, by CPUID; NULL when not known. */
const char *fab_known_socket (const char *vendor, guint family, guint model);

/* The catalogue's PCIe entry of a generation and width. Generations 1 and 2 have none: the narrower entry of
 * generation 3 that is as fast, and a note. */
const char *fab_known_pcie (FabMachine *machine, guint generation, guint lanes);
/* Generation of "16.0 GT/s PCIe", "8 GT/s"; 0: none. */
guint fab_known_pcie_generation (const char *speed);

typedef enum { FAB_PORT_UNKNOWN, FAB_PORT_INFINIBAND, FAB_PORT_ETHERNET } FabPortKind;

/* The entry of a NIC port. `speed_mbps` 0 or `kind` unknown: what usually stands beside the accelerator, and a note. */
const char *fab_known_port (FabMachine *machine, FabPortKind kind, const char *name, guint speed_mbps);
