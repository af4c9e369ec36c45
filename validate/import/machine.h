/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h - what a tool printed about a machine, before it becomes a scenario.
 *
 * Hosts (sockets) are the roots of PCIe trees; every other part hangs below one. What joins accelerators
 * beside PCIe is a list of links. Everything that is said about where a number came from is a note, and
 * stands on top of the scenario. Texts given in are copied.
 */
#pragma once

#include <glib.h>

typedef enum {
  FAB_MACHINE_HOST,
  FAB_MACHINE_BRIDGE,   /* host bridge */
  FAB_MACHINE_SWITCH,   /* of PCIe */
  FAB_MACHINE_SCALE_UP, /* NVSwitch: no parent */
  FAB_MACHINE_GPU,
  FAB_MACHINE_NIC,
  FAB_N_MACHINE_KINDS,
} FabMachineKind;

#define FAB_MACHINE_NO_PARENT G_MAXUINT

typedef struct {
  FabMachineKind kind;
  guint parent;
  const char *link; /* catalogue entry of the wire to the parent */
  guint count;      /* of those links: a host bridge has as many as there are trees below it */
  guint order;      /* among its kind: GPU 3 is gpu3 wherever it was found */
} FabMachinePart;

/* Between two parts that are not parent and child: NVLink, xGMI. */
typedef struct {
  guint a, b;
  const char *link;
  guint count;
} FabMachineLink;

typedef struct {
  const char *tool;        /* "nvidia-smi topo -m" */
  const char *accelerator; /* catalogue entry */
  const char *nic;         /* catalogue entry of the NIC ports; NULL: no NICs */
  const char *socket_link; /* between hosts */
  guint n_nodes;
  GArray *parts;       /* FabMachinePart */
  GArray *links;       /* FabMachineLink */
  GPtrArray *read;     /* char: what the text says */
  GPtrArray *inferred; /* char: what it does not say */
  GString *own_links;  /* YAML of link entries that the catalogue does not have */
  GString *fabric;     /* YAML below `fabric:`; empty: the default */
  GStringChunk *texts;
} FabMachine;

FabMachine *fab_machine_new (const char *tool);
void fab_machine_free (FabMachine *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabMachine, fab_machine_free)

/* A text that lives as long as the machine. */
const char *fab_machine_text (FabMachine *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* `order` G_MAXUINT: after those that are there. Returns the index in `parts`. */
guint fab_machine_add (FabMachine *self, FabMachineKind kind, guint parent, const char *link, guint order);
FabMachinePart *fab_machine_part (const FabMachine *self, guint index);
guint fab_machine_count (const FabMachine *self, FabMachineKind kind);
void fab_machine_join (FabMachine *self, guint a, guint b, const char *link, guint count);

/* The same note counts once. */
void fab_machine_read (FabMachine *self, const char *format, ...) G_GNUC_PRINTF (2, 3);
void fab_machine_infer (FabMachine *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* The scenario: comments, cluster, an all-reduce, the node. `file` is what was read. (transfer full) */
char *fab_machine_scenario (const FabMachine *self, const char *name, const char *file);
