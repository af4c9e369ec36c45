/* SPDX-License-Identifier: Apache-2.0 */
/* near.h - runs this thread on the processors near a GPU, so that the host memory it then takes is near as well. */
#pragma once

#include <glib.h>

#define FAB_NEAR_PCI_DIR "/sys/bus/pci/devices"

typedef struct _FabNear FabNear;

/* Binds the thread to the device's local_cpulist below `pci_dir`. NULL: the list cannot be read
 * or none of its processors may be used; the thread runs where it ran. */
FabNear *fab_near_enter (const char *pci_dir, const char *bus_id);
const char *fab_near_cpus (const FabNear *self); /* "0-31,64-95" */
void fab_near_leave (FabNear *self);             /* binds as before; accepts NULL */

/* Which processors a list like "0-3,8" names, as a bit per processor; NULL: it is no such list. (transfer full) */
gboolean *fab_near_parse (const char *list, guint n_cpus);
