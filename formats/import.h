/* SPDX-License-Identifier: Apache-2.0 */
/* import.h - turns what a tool prints about a machine into a scenario, and a model's config.json into a part of one.
 *
 * docs/how-to/import.md says what is read and what is inferred. */
#pragma once

#include "formats/machine/network.h"
#include "sim/scenario/catalog.h"

/* Returns commented YAML: a scenario, or sections of one for `include` (then *is_fragment, which may be NULL, is
 * TRUE). (transfer full) */
char *fab_import (const FabImportRequest *request, const FabCatalog *catalog, gboolean *is_fragment,
                  GError **error);

/* The same of a network and of hosts in it, each in a file of its own, in any order: request->file counts for nothing.
 * (transfer full) */
char *fab_import_joined (const FabImportRequest *request, const FabFileText *files, guint n_files,
                         const FabCatalog *catalog, GError **error);

/* Returns the network that a text lists; NULL and *error where it lists none, or has a mistake. (transfer full) */
FabImportedNetwork *fab_import_network (const FabImportRequest *request, GError **error);
