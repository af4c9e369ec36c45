/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h - a machine as a tool printed it, before it becomes a scenario.
 *
 * Hosts (sockets) are the roots of PCIe trees; every other part hangs below one. Links that join accelerators beside
 * PCIe are a separate list. Each statement about the origin of a number is a note, which the scenario repeats at its
 * top. The machine copies the texts that it is given.
 */
#pragma once

#include "formats/import_request.h"
#include "formats/text/notes.h"

typedef enum {
  FAB_IMPORTED_MACHINE_HOST,
  FAB_IMPORTED_MACHINE_BRIDGE,   /* host bridge */
  FAB_IMPORTED_MACHINE_SWITCH,   /* PCIe switch */
  FAB_IMPORTED_MACHINE_SCALE_UP, /* NVSwitch; has no parent */
  FAB_IMPORTED_MACHINE_GPU,
  FAB_IMPORTED_MACHINE_NIC,
  FAB_N_MACHINE_KINDS,
} FabImportedMachineKind;

#define FAB_IMPORTED_MACHINE_NO_PARENT G_MAXUINT

/* What readers take at most. */
enum { FAB_IMPORT_MAX_GPUS = 256, FAB_IMPORT_MAX_PARTS = 2048 };

typedef struct {
  FabImportedMachineKind kind;
  guint parent;
  const char *link; /* catalogue entry of the link to the parent */
  guint count;      /* number of those links; a host bridge has as many as there are trees below it */
  guint order;      /* number among its kind: GPU 3 is gpu3 wherever it was found */
  /* Of a NIC, as far as the text has them: */
  const char *name; /* "mlx5_0"; NULL: not stated */
  guint64 guid;     /* of the card or the device; 0: not stated */
  guint port;       /* of the device, from 1; 0: not stated */
} FabImportedMachinePart;

struct _FabImportedMachine {
  const char *tool;        /* "nvidia-smi topo -m" */
  const char *node_tool;   /* what printed the node, where that is another one; NULL: `tool` */
  const char *host_name;   /* what the text calls the machine; NULL: it does not */
  const char *accelerator; /* catalogue entry */
  const char *node;        /* catalogue entry that stands for a node; NULL: the parts are one */
  const char *nic;         /* catalogue entry of the NIC ports; NULL: no NICs */
  const char *socket_link; /* catalogue entry of the link between hosts */
  guint n_nodes;
  GArray *parts;               /* FabMachinePart */
  GArray *links;               /* FabMachineLink */
  GPtrArray *notes;            /* FabFileNote */
  GString *own_links;          /* YAML of link entries that the catalogue lacks */
  GString *fabric;             /* YAML of the `fabric:` section; empty: the default */
  GString *other_nodes;        /* YAML of further entries of `nodes` */
  GString *faults;             /* YAML of the items of `faults`; empty: none */
  FabImportedNetwork *network; /* that the text lists; NULL: none */
  GStringChunk *texts;
};

FabImportedMachine *fab_imported_machine_new (const char *tool);
void fab_imported_machine_free (FabImportedMachine *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabImportedMachine, fab_imported_machine_free)

/* Formats a text that lives as long as the machine. */
const char *fab_imported_machine_text (FabImportedMachine *self, const char *format, ...)
    G_GNUC_PRINTF (2, 3);

/* Adds a part and returns its index in `parts`. `order` G_MAXUINT numbers it after those already added. */
guint fab_imported_machine_add (FabImportedMachine *self, FabImportedMachineKind kind, guint parent,
                                const char *link, guint order);
FabImportedMachinePart *fab_imported_machine_part (const FabImportedMachine *self, guint index);
guint fab_imported_machine_count (const FabImportedMachine *self, FabImportedMachineKind kind);
/* Returns the host at the root of the tree in which a part is. */
guint fab_imported_machine_host (const FabImportedMachine *self, guint part);
/* Takes a part, below which is nothing, out of the machine. Indices of later parts change. */
void fab_imported_machine_drop (FabImportedMachine *self, guint part);
/* Copies the parts and links of another machine into this one, which has none, with its notes, whose places are in
 * `file`, but without its NIC entry. */
void fab_imported_machine_take_node (FabImportedMachine *self, const FabImportedMachine *other,
                                     const char *file);
void fab_imported_machine_join (FabImportedMachine *self, guint a, guint b, const char *link, guint count);

/* Add a note, unless it is already there: what the text says, what it does not say, and what it says that the machine
 * does not have. `line` is where in the text; 0: it is about all of it. */
void fab_imported_machine_read (FabImportedMachine *self, guint line, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
void fab_imported_machine_infer (FabImportedMachine *self, guint line, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
void fab_imported_machine_leave_out (FabImportedMachine *self, guint line, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* A wire of a node that is slower than that of others. */
typedef struct {
  char *from, *to; /* parts: "nic2", "pcie_switch2" */
  double share;    /* of the rate of the others */
} FabImportedSlowWire;

void fab_imported_slow_wire_clear (gpointer wire);

/* Returns the wires that are slower in a machine than in `usual`, which may be none, where both have the same parts
 * and wires, and differ in PCIe links alone; NULL: they differ otherwise. (transfer full) (element-type
 * FabImportedSlowWire) */
GArray *fab_imported_machine_slow_wires (const FabImportedMachine *self, const FabImportedMachine *usual);

/* Writes the entry of `nodes`. (transfer full) */
char *fab_imported_machine_node (const FabImportedMachine *self, const char *name);

/* Writes the scenario: comments, cluster, an all-reduce, the node. `file` names what was read. (transfer full) */
char *fab_imported_machine_scenario (const FabImportedMachine *self, const char *name, const char *file);
