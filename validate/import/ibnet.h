/* SPDX-License-Identifier: Apache-2.0 */
/* ibnet.h - the devices and cables that ibnetdiscover lists. */
#pragma once

#include "validate/import/format.h"

typedef struct {
  char *guid;       /* "S-ec0d9a0300ec8240", "H-506b4b03003fa9b6" */
  char *host;       /* of an adapter: the machine's name, or its own guid; NULL for a switch */
  gboolean is_used; /* hosts hang below it, or it joins switches that have some */
} FabIbDevice;

typedef struct {
  guint a, b; /* devices; a < b */
  guint port_a, port_b;
  const char *speed; /* "4xEDR"; in `texts` */
} FabIbCable;

typedef struct {
  GArray *devices; /* FabIbDevice */
  GArray *cables;  /* FabIbCable, each once */
  GHashTable *by_guid, *seen;
  GStringChunk *texts;
} FabIbNet;

FabIbNet *fab_ibnet_parse (const FabImportRequest *request, GError **error);
void fab_ibnet_free (FabIbNet *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabIbNet, fab_ibnet_free)

FabIbDevice *fab_ibnet_device (const FabIbNet *self, guint index);
FabIbCable *fab_ibnet_cable (const FabIbNet *self, guint index);
gboolean fab_ibnet_is_switch (const FabIbNet *self, guint index);

/* The catalogue's entry of "4xEDR"; of speeds before EDR an entry of the machine's own. NULL: no such speed. */
const char *fab_ibnet_link (FabMachine *machine, const char *speed);
/* One direction, to compare; 0: no such speed. */
double fab_ibnet_gbps (const char *speed);
