/* SPDX-License-Identifier: Apache-2.0 */
/* near.h - moves this thread to processors near a GPU, so that host memory allocated afterwards is near it too. */
#pragma once

#include <glib.h>

#define FAB_NEAR_PCI_DIR "/sys/bus/pci/devices"

typedef struct _FabNear FabNear;

/* Binds the calling thread to the device's local_cpulist below `pci_dir`. Returns NULL when the list cannot be
 * read or none of its processors may be used; the thread then stays where it was. (transfer full) */
FabNear *fab_near_enter (const char *pci_dir, const char *bus_id);
const char *fab_near_cpus (const FabNear *self); /* "0-31,64-95" */
void fab_near_leave (FabNear *self);             /* restores the thread's old binding; accepts NULL */

/* Parses a list of processors such as "0-3,8" into one bit per processor; NULL: it is no such list. (transfer
 * full) */
gboolean *fab_near_parse (const char *list, guint n_cpus);
