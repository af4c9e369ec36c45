/* SPDX-License-Identifier: Apache-2.0 */
/* network.h - switches, adapters and cables, as a tool printed them, before they become the fabric of a scenario.
 *
 * A reader adds the devices and the cables that a text lists. fab_imported_network_fill makes hosts of the adapters, a
 * fabric of kind `custom` of the switches, and a node of what most hosts have.
 */
#pragma once

#include "formats/machine/machine.h"

typedef struct {
  char *id;   /* by which the text tells devices apart: "S-ec0d9a0300ec8240" */
  char *host; /* of an adapter: the machine's name, or the adapter's own id; NULL for a switch */
  gboolean is_switch;
  gboolean is_used; /* hosts hang below it, or it connects switches that have hosts */
} FabImportedDevice;

typedef struct {
  guint a, b; /* indices of devices; a < b */
  guint port_a, port_b;
  guint line;        /* at which it is first listed */
  const char *speed; /* "4xEDR"; owned by the network */
} FabImportedCable;

typedef struct {
  GArray *devices; /* FabImportedDevice */
  GArray *cables;  /* FabImportedCable, each listed once */
  GHashTable *by_id, *seen;
  GStringChunk *texts;
} FabImportedNetwork;

FabImportedNetwork *fab_imported_network_new (void);
void fab_imported_network_free (FabImportedNetwork *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabImportedNetwork, fab_imported_network_free)

/* Adds a device once and returns its index. `description` says the host of an adapter; NULL: its id does. */
guint fab_imported_network_add (FabImportedNetwork *self, const char *id, gboolean is_switch,
                                const char *description);

/* Adds a cable, which texts list at either end, once. FALSE: there are more than a network has. */
gboolean fab_imported_network_join (FabImportedNetwork *self, const FabFileText *file, guint line, guint a,
                                    guint port_a, guint b, guint port_b, const char *speed, GError **error);

FabImportedDevice *fab_imported_network_device (const FabImportedNetwork *self, guint index);
FabImportedCable *fab_imported_network_cable (const FabImportedNetwork *self, guint index);
gboolean fab_imported_network_is_switch (const FabImportedNetwork *self, guint index);

/* Returns the rate of one direction in Gb/s, to compare speeds; 0: no such speed. */
double fab_imported_network_gbps (const char *speed);

/* Returns the catalogue's entry of a cable's speed. Adds an own entry to the machine for speeds before EDR, which the
 * catalogue lacks. NULL: no such speed. */
const char *fab_imported_network_link (FabImportedMachine *machine, const FabImportedCable *cable);

/* Makes the machine and its fabric of the network. FALSE with *error: no host has a port on a switch. */
gboolean fab_imported_network_fill (FabImportedNetwork *self, FabImportedMachine *machine,
                                    const FabImportRequest *request, GError **error);
