/* SPDX-License-Identifier: Apache-2.0 */
/* network_join.h - finds the hosts of a network in files of their own, so that their NICs reach the right switches.
 *
 * A file belongs to the host whose adapters have the GUIDs of its NICs, else to the one whose name it says or has, else
 * it stands for all hosts. A NIC belongs to the port whose adapter has its GUID, its name ("mlx5_5") or its number
 * ("HCA-6"), else they go by their order, where there are as many ports as NICs.
 */
#pragma once

#include "formats/machine/machine.h"
#include "formats/machine/network_hosts.h"

/* A machine from the file of one host. */
typedef struct {
  FabImportedMachine *machine; /* owned */
  char *file;                  /* owned; as messages call it */
} FabImportedHost;

void fab_imported_host_free (gpointer host);

/* Keeps those of `hosts` (FabNetworkHost) that are like the most frequent kind of `machines` (FabImportedHost), each
 * with as many ports as that has NICs and in their order, and says in notes of `out` what belongs to what. Returns the
 * number of ports, with the parts of that kind in `out`; 0 and *error: no host is like it. `name` is that of the
 * scenario. */
guint fab_network_join (FabImportedMachine *out, const FabImportedNetwork *network, GPtrArray *hosts,
                        const GPtrArray *machines, const char *name, const FabFileText *file, GError **error);
