/* SPDX-License-Identifier: Apache-2.0 */
/* import.h - turns what a tool prints about a machine into a scenario, and a model's config.json into a part of one.
 *
 * docs/how-to/import.md says what is read and what is inferred. */
#pragma once

#include "formats/format.h"
#include "sim/scenario/catalog.h"

struct _FabImportRequest {
  FabFileText file;
  const char *format;      /* NULL: recognised from the text */
  const char *accelerator; /* catalogue entries, where the text does not name them; NULL: inferred */
  const char *nic;
  const char *name;            /* of the scenario; NULL: "imported" */
  guint n_nodes;               /* 0: the number in the text, or 1 */
  const FabRegistry *registry; /* whose keys an entry of `models` has */
};

/* Returns commented YAML: a scenario, or sections of one for `include` (then *is_fragment, which may be NULL, is
 * TRUE). (transfer full) */
char *fab_import (const FabImportRequest *request, const FabCatalog *catalog, gboolean *is_fragment,
                  GError **error);
