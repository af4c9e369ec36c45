/* SPDX-License-Identifier: Apache-2.0 */
/* xml.h - an XML text as a tree whose elements know their line. */
#pragma once

#include "validate/import/format.h"

typedef struct _FabXml FabXml;

struct _FabXml {
  char *name;
  char **keys, **values; /* NULL-ended */
  guint line;
  FabXml *parent;
  GPtrArray *children; /* FabXml */
};

FabXml *fab_xml_parse (const FabImportRequest *request, GError **error);
void fab_xml_free (FabXml *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabXml, fab_xml_free)

/* NULL when there is no such attribute. */
const char *fab_xml_get (const FabXml *self, const char *key);
/* Decimal or 0x...; `fallback` when there is none or it is no number. */
guint fab_xml_number (const FabXml *self, const char *key, guint fallback);
gboolean fab_xml_is (const FabXml *self, const char *name);

/* Is <name the first element of the text? */
gboolean fab_xml_begins_with (const char *text, const char *name);
