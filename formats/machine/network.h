/* SPDX-License-Identifier: Apache-2.0 */
/* network.h - switches, adapters and cables, as a tool printed them, before they become the fabric of a scenario.
 *
 * A reader adds the devices and the cables that a text lists. fab_imported_network_fill makes hosts of the adapters, a
 * fabric of kind `custom` of the switches, and a node of what most hosts have.
 */
#pragma once

#include "formats/import_request.h"

typedef struct {
  char *id; /* by which the text tells devices apart: "S-ec0d9a0300ec8240" */
  char
      *name; /* its description as written, "MF0;leaf04:MQM9701/U1", "gpu3 mlx5_0"; NULL: the text has none */
  char *
      host; /* of an adapter: the machine's name, "gpu3"; NULL: no description names one, or it is no adapter */
  char *adapter;       /* what its machine calls it: "mlx5_0", "HCA-1"; NULL: no description says it */
  guint64 guid;        /* of the device, as far as its id has it; 0: not stated */
  guint64 system_guid; /* of the card or the chassis that it is a part of; 0: not stated */
  gboolean is_switch;
  gboolean
      is_aggregation; /* the part of a switch that carries out SHARP; it looks like an adapter and is none */
  gboolean is_used;   /* hosts hang below it, or it connects switches that have hosts */
} FabImportedDevice;

typedef struct {
  guint a, b; /* indices of devices; a < b */
  guint port_a, port_b;
  guint line;           /* at which it is first listed */
  const char *speed;    /* "4xEDR"; owned by the network */
  const char *possible; /* what both ends could do, where the text says that it is more; NULL: it does not */
} FabImportedCable;

struct _FabImportedNetwork {
  GArray *devices; /* FabImportedDevice */
  GArray *cables;  /* FabImportedCable, each listed once */
  GHashTable *by_id, *seen;
  GStringChunk *texts;
  guint n_owners;
};

FabImportedNetwork *fab_imported_network_new (void);
/* Adds an owner; the last one that calls fab_imported_network_free frees it. */
FabImportedNetwork *fab_imported_network_ref (FabImportedNetwork *self);
void fab_imported_network_free (FabImportedNetwork *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabImportedNetwork, fab_imported_network_free)

/* Adds a device once and returns its index. `description` says the host of an adapter; one that comes later counts
 * where there was none (NULL). */
guint fab_imported_network_add (FabImportedNetwork *self, const char *id, gboolean is_switch,
                                const char *description);

/* Adds a cable, which texts list at either end, once. FALSE: there are more than a network has. */
gboolean fab_imported_network_join (FabImportedNetwork *self, const FabFileText *file, guint line, guint a,
                                    guint port_a, guint b, guint port_b, const char *speed, GError **error);

FabImportedDevice *fab_imported_network_device (const FabImportedNetwork *self, guint index);
FabImportedCable *fab_imported_network_cable (const FabImportedNetwork *self, guint index);
gboolean fab_imported_network_is_switch (const FabImportedNetwork *self, guint index);
/* Says whether a cable joins a switch and an adapter of a host. */
gboolean fab_imported_network_is_port (const FabImportedNetwork *self, const FabImportedCable *cable);
/* The end of such a cable that is the switch, or the adapter. */
guint fab_imported_network_switch_of (const FabImportedNetwork *self, const FabImportedCable *cable);
guint fab_imported_network_adapter_of (const FabImportedNetwork *self, const FabImportedCable *cable);

/* Returns what to call each device (NULL-ended): "leaf04" of "MF0;leaf04:MQM9701/U1" where no other device is called
 * so, else its name with its id. They are valid UTF-8 in one line. (transfer full) */
char **fab_imported_network_labels (const FabImportedNetwork *self);

/* Returns the rate of one direction in Gb/s, to compare speeds; 0: no such speed. */
double fab_imported_network_gbps (const char *speed);
gboolean fab_imported_network_is_speed (const char *speed);

/* Returns the catalogue's entry of a cable's speed. Adds an own entry to the machine for speeds before EDR, which the
 * catalogue lacks. NULL: no such speed. */
const char *fab_imported_network_link (FabImportedMachine *machine, const FabImportedCable *cable);

/* Makes the machine and its fabric of the network, which the machine keeps too. FALSE with *error: no host has a port
 * on a switch. */
gboolean fab_imported_network_fill (FabImportedNetwork *self, FabImportedMachine *machine,
                                    const FabImportRequest *request, GError **error);
