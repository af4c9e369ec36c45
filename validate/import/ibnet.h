/* SPDX-License-Identifier: Apache-2.0 */
/* ibnet.h - reads the devices and cables that ibnetdiscover lists. */
#pragma once

#include "validate/import/format.h"

typedef struct {
  char *guid;       /* "S-ec0d9a0300ec8240", "H-506b4b03003fa9b6" */
  char *host;       /* of an adapter: the machine's name, or the adapter's own guid; NULL for a switch */
  gboolean is_used; /* hosts hang below it, or it connects switches that have hosts */
} FabIbDevice;

typedef struct {
  guint a, b; /* indices of devices; a < b */
  guint port_a, port_b;
  const char *speed; /* "4xEDR"; owned by `texts` */
} FabIbCable;

typedef struct {
  GArray *devices; /* FabIbDevice */
  GArray *cables;  /* FabIbCable, each listed once */
  GHashTable *by_guid, *seen;
  GStringChunk *texts;
} FabIbNet;

FabIbNet *fab_ibnet_parse (const FabImportRequest *request, GError **error);
void fab_ibnet_free (FabIbNet *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabIbNet, fab_ibnet_free)

FabIbDevice *fab_ibnet_device (const FabIbNet *self, guint index);
FabIbCable *fab_ibnet_cable (const FabIbNet *self, guint index);
gboolean fab_ibnet_is_switch (const FabIbNet *self, guint index);

/* Returns the catalogue's entry of a speed, "4xEDR". Adds an own entry to the machine for speeds before EDR, which the
 * catalogue lacks. NULL: no such speed. */
const char *fab_ibnet_link (FabMachine *machine, const char *speed);
/* Returns the rate of one direction in Gb/s, to compare speeds; 0: no such speed. */
double fab_ibnet_gbps (const char *speed);
