/* SPDX-License-Identifier: Apache-2.0 */
/* import.h - what a machine prints about itself as a scenario, and a model's config.json as a part of one.
 * docs/import.md says what is read and inferred. */
#pragma once

#include "sim/scenario/catalog.h"

/* A larger text is refused. */
#define FAB_IMPORT_MAX_BYTES ((gsize) 8 << 20)

typedef struct {
  const char *file; /* what messages call it */
  const char *text;
  gsize size;
  const char *format;      /* NULL: found out */
  const char *accelerator; /* catalogue entries that the text does not name; NULL: inferred */
  const char *nic;
  const char *name; /* of the scenario; NULL: "imported" */
  guint n_nodes;    /* 0: what the text says, or 1 */
} FabImportRequest;

/* The names of the formats, NULL-ended. */
extern const char *const fab_import_formats[];

/* The name of the format of the text; NULL: it is none of these. */
const char *fab_import_format (const char *text);

/* YAML with comments: a scenario, or (*is_fragment, which may be NULL) sections of one for `include`.
 * (transfer full) */
char *fab_import (const FabImportRequest *request, const FabCatalog *catalog, gboolean *is_fragment,
                  GError **error);
