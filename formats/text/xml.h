/* SPDX-License-Identifier: Apache-2.0 */
/* xml.h - parses XML into a tree whose elements know their line.
 *
 * An element owns its children; only the root is freed. */
#pragma once

#include "formats/text/text.h"

typedef struct _FabXml FabXml;

struct _FabXml {
  char *name;
  char **keys, **values; /* NULL-ended */
  guint line;            /* at which its tag ends */
  FabXml *parent;
  GPtrArray *children; /* FabXml */
  GString *text;       /* before its first child; NULL: none */
};

FabXml *fab_xml_parse (const FabFileText *file, GError **error);
void fab_xml_free (FabXml *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabXml, fab_xml_free)

/* Returns the attribute's value; NULL: there is no such attribute. */
const char *fab_xml_get (const FabXml *self, const char *key);
/* Returns the text of an element without children, "" where there is none. */
const char *fab_xml_text (const FabXml *self);
/* Returns a decimal or 0x... attribute; `fallback` when it is missing or no number. */
guint fab_xml_number (const FabXml *self, const char *key, guint fallback);
gboolean fab_xml_is (const FabXml *self, const char *name);

/* Says whether <name is the first element of the text. */
gboolean fab_xml_begins_with (const char *text, const char *name);
