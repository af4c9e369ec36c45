/* SPDX-License-Identifier: Apache-2.0 */
/* known.h - the importers' rules as tables: which links a name, a PCI id or a CPU model implies. */
#pragma once

#include "formats/machine/machine.h"

/* What is known of machines with an accelerator whose catalogue name begins with `prefix`. */
typedef struct {
  const char *prefix;
  guint n_links;       /* links of its scale-up network; 0: it has PCIe only */
  const char *link;    /* the entry of one such link */
  gboolean has_switch; /* such machines usually have a switch between the accelerators (NVSwitch) */
  guint pcie_generation;
  const char *nic;    /* the NIC port that usually accompanies it */
  const char *efa;    /* the same in a cloud with EFA */
  const char *socket; /* the link that usually connects the sockets of its hosts */
} FabKnownAccelerator;

/* Never returns NULL: an unknown accelerator has PCIe 4 and nothing else. */
const FabKnownAccelerator *fab_known_accelerator (const char *name);

typedef struct {
  guint vendor, device;
  const char *accelerator; /* catalogue entry */
  const char *stands_for;  /* the product, where the catalogue lacks it; NULL: the entry is it */
} FabKnownDevice;

/* Returns the accelerator of a PCI id, or NULL. */
const FabKnownDevice *fab_known_device (guint vendor, guint device);

/* Sets the machine's accelerator by a PCI id, with a note. FALSE: the id is not in the table. */
gboolean fab_known_accelerator_by_pci (FabImportedMachine *machine, guint line, guint vendor, guint device);

/* Sets the machine's accelerator by the name of a product in the text, "NVIDIA H100 80GB HBM3", with a note. FALSE: it
 * names none that is known. */
gboolean fab_known_accelerator_in_text (FabImportedMachine *machine, const FabFileText *file);

/* Returns the accelerator of an NVIDIA compute capability without its dot (60, 90); NULL: unknown. */
const char *fab_known_sm (guint sm);

/* Returns the accelerator of an AMD architecture, "gfx942" or "942"; NULL: not known. */
const char *fab_known_gfx (const char *gfx);

/* Returns the link between sockets of a CPU model (from CPUID); NULL: not known. */
const char *fab_known_socket (const char *vendor, guint family, guint model);

/* Returns the link between sockets of a CPU with such a name, "POWER9, altivec supported"; NULL: not known. */
const char *fab_known_socket_named (const char *name);

typedef struct {
  guint vendor, device;
  const char *product;
  guint gbps;        /* of its fastest port */
  const char *entry; /* NULL: the catalogue's InfiniBand or Ethernet of that rate */
} FabKnownAdapter;

/* Returns the network adapter of a PCI id, or NULL. */
const FabKnownAdapter *fab_known_adapter (guint vendor, guint device);

/* Functions that add a note to the machine take the line of the text that it is about; 0: it is about all of it. */

/* Returns the catalogue's PCIe entry of a generation and width. Generations 1 and 2 have none: it returns the
 * narrower entry of generation 3 with the same rate, and adds a note to the machine. */
const char *fab_known_pcie (FabImportedMachine *machine, guint line, guint generation, guint lanes);

enum { FAB_PCIE_LANES = 16 }; /* of the widest link */

/* Returns the widest PCIe link of the generation that the machine's accelerator has. */
const char *fab_known_usual_pcie (FabImportedMachine *machine);

/* Returns the PCIe generation of a rate, "16.0 GT/s PCIe" or "8 GT/s"; 0: none. */
guint fab_known_pcie_generation (const char *speed);

typedef enum { FAB_PORT_UNKNOWN, FAB_PORT_INFINIBAND, FAB_PORT_ETHERNET } FabPortKind;

/* Returns the entry of an Ethernet port with RDMA; a rate that the catalogue lacks gets the one below, with a note. */
const char *fab_known_ethernet (FabImportedMachine *machine, guint line, guint gbps);

/* Whether a port can be that fast; what is faster was meant in another unit. */
gboolean fab_known_is_port_speed (guint speed_mbps);

/* Returns the entry of a NIC port. With `speed_mbps` 0 or an unknown `kind` it returns the port that usually
 * accompanies the accelerator, and adds a note. */
const char *fab_known_port (FabImportedMachine *machine, guint line, FabPortKind kind, const char *name,
                            guint speed_mbps);

/* Returns the entry of the ports of a PCI device, with a note; NULL: the id is not in the table. */
const char *fab_known_port_by_pci (FabImportedMachine *machine, guint line, guint vendor, guint device,
                                   FabPortKind kind);

/* Infers from numbers of NVLinks which accelerator it is and whether a switch connects them. */

/* Returns the accelerator by the largest number of links of a GPU, and adds a note. n_links is [n * n], symmetric. */
const char *fab_nvlink_accelerator (FabImportedMachine *machine, guint line, guint n, const guint *n_links);

/* Adds the NVLinks: to one switch when every pair shows a GPU's total number of links, else directly between pairs.
 * parts[i] is GPU i. */
void fab_nvlink_add (FabImportedMachine *machine, guint line, guint n, const guint *n_links,
                     const guint *parts);

/* Adds the NVLinks for texts that do not show any: all GPUs at one switch, where machines with them have one. */
void fab_nvlink_assume (FabImportedMachine *machine, guint line, guint n, const guint *parts);

/* Sets socket_link to `found`, or to the link that usually connects sockets beside that accelerator, with a note.
 * `cpu` is what the text calls the CPU; NULL: it names none. */
void fab_nvlink_sockets (FabImportedMachine *machine, guint line, const char *cpu, const char *found);

/* Adds the NVLinks between V100 and POWER9, where sockets are joined as POWER9 is. FALSE: it is no such machine. */
gboolean fab_nvlink_power9 (FabImportedMachine *machine, guint line, guint n, const guint *parts);

/* Returns the link of an accelerator's xGMI; NULL: it has none, or the catalogue does not know it. */
const char *fab_xgmi_link (const char *accelerator);

/* Adds xGMI between the pairs of is_wired[n * n], which the text says to be peers without counting their links. */
void fab_xgmi_add (FabImportedMachine *machine, guint line, guint n, const gboolean *is_wired,
                   const guint *parts);
