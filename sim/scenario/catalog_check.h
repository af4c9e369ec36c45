/* SPDX-License-Identifier: Apache-2.0 */
/* catalog_check.h - the rules for entries of the catalogue that their tables cannot express. */
#pragma once

#include "sim/config/schema_reader.h"
#include "sim/scenario/entries.h"

/* Checks what no table can express, over the sections of several files at once (NULL-ended): a name is unique within
 * its section, wires end at parts of their node, packet sizes are consistent. `is_shipped`: every entry must have a
 * source and a date. */
void fab_catalog_check_sections (FabSchemaReader *reader, const FabCatalogSections *const *all,
                                 gboolean is_shipped);

/* Reports each of these links (FabLinkSpec) that is a wire inside the node and names no technology: what the node can
 * do depends on whether a wire is PCIe, or connects accelerators or sockets. */
void fab_catalog_check_wires (FabSchemaReader *reader, const FabParamList *links, const FabNodeSpec *node);
