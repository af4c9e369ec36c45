/* SPDX-License-Identifier: Apache-2.0 */
/* catalog.h - the entries (entries.h) of all files of a catalogue, by name.
 *
 * The shipped entries are the YAML files of models/catalog. A scenario may hold sections of the same form; its
 * entries replace shipped ones of the same name. A loaded catalogue is read-only: any thread may use it.
 */
#pragma once

#include "sim/scenario/entries.h"

typedef struct _FabCatalog FabCatalog;

/* Reads every *.yaml of the directory in the order of names. Duplicate names, and wires or nodes that name a missing
 * entry, are diagnostics. (transfer full) */
FabCatalog *fab_catalog_load (const char *directory, const FabRegistry *registry, GError **error);

/* A catalogue file in memory. */
typedef struct {
  const char *name; /* for messages */
  const char *text;
  gsize size;
} FabCatalogText;

/* The same of texts that the caller has. (transfer full) */
FabCatalog *fab_catalog_parse (const FabCatalogText *texts, guint n, const FabRegistry *registry,
                               GError **error);

/* Returns everything that the files of a loaded catalogue say, with all defaults. Equal texts mean equal catalogues.
 * (transfer full) */
char *fab_catalog_write (const FabCatalog *self);
void fab_catalog_free (FabCatalog *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabCatalog, fab_catalog_free)

/* Returns a view in which the scenario's own entries come before the shipped ones. Both must outlive it. (transfer
 * full) */
FabCatalog *fab_catalog_overlay (const FabCatalog *shipped, const FabCatalogSections *own);

const FabLinkSpec *fab_catalog_link (const FabCatalog *self, const char *name);
const FabAcceleratorSpec *fab_catalog_accelerator (const FabCatalog *self, const char *name);
const FabNodeSpec *fab_catalog_node (const FabCatalog *self, const char *name);
const FabModelSpec *fab_catalog_model (const FabCatalog *self, const char *name);
const FabProductSpec *fab_catalog_product (const FabCatalog *self, const char *name);
const FabProcessor *fab_catalog_processor (const FabCatalog *self, const char *name);

/* NULL where no entry has this name. */
const FabGeneration *fab_catalog_generation (const FabCatalog *self, const char *name);
const FabBandSpec *fab_catalog_band (const FabCatalog *self, const char *name);
const FabSetup *fab_catalog_setup (const FabCatalog *self, const char *name);
const FabTechnology *fab_catalog_technology (const FabCatalog *self, const char *name);

/* The technology of a link; fab_technology_unnamed where it names none. Never NULL of a checked catalogue. */
const FabTechnology *fab_catalog_link_technology (const FabCatalog *self, const FabLinkSpec *spec);

/* What all links of the entry have in common; points into the entry and its technology's. */
FabLinkClass fab_catalog_link_class (const FabCatalog *self, const FabLinkSpec *spec);

/* Names of a section, for `describe` and for messages with the nearest name: a NULL-ended list, own entries first.
 * (transfer container) */
const char **fab_catalog_names (const FabCatalog *self, FabCatalogSection section);

/* A FabSchemaNamesFn for a FabCatalog. */
const char **fab_catalog_reference_names (gpointer catalog, FabRefers refers);

/* Entries whose summaries say a word that is no name, as fab_nearest_said () lists them. (transfer full) */
char *fab_catalog_said (const FabCatalog *self, FabCatalogSection section, const char *word);
/* The same as a FabSchemaSaidFn for a FabCatalog. */
char *fab_catalog_reference_said (gpointer catalog, FabRefers refers, const char *word);

/* An entry of any section, which is what its table in fab_catalog_params (catalog_params.h) describes; NULL: there is
 * none. */
gconstpointer fab_catalog_entry (const FabCatalog *self, FabCatalogSection section, const char *name);

/* Whether the scenario itself defines an entry with this name. */
gboolean fab_catalog_is_own (const FabCatalog *self, FabCatalogSection section, const char *name);

/* Returns where an entry was written, for messages; NULL when it is not from a file. */
const FabMark *fab_catalog_mark (const FabCatalog *self, gconstpointer field);
