/* SPDX-License-Identifier: Apache-2.0 */
/* left_out.h - predictions as they would be if no table of a family had been measured.
 *
 * left-out.yaml lists for each family (an `interconnect` of INDEX.yaml) what puts the constants that rest on its
 * tables back to what would be used without them: those of another entry of the catalogue, or none, which is the
 * library's own. Its own `generations` are fitted without the family (validate/refit.py).
 *
 *   families:
 *     - interconnect: InfiniBand HDR
 *       put_back:
 *         - {section: links, entry: ib-hdr, keys: collective_fraction}          cleared
 *         - {section: generations, entry: ampere, as: volta, keys: ll simple}   those of volta
 *         - {section: generations, entry: hopper, as: hopper-of-meshes}         those of an entry of this file
 *       set: collectives.net_efficiency=1
 *       kept: cost.c                                                            constants in code stay
 */
#pragma once

#include "validate/check/limits.h"
#include "validate/compare/report.h"

typedef struct {
  const char *section, *entry; /* of the catalogue */
  const char *as;              /* the entry whose numbers count; NULL: the keys are cleared */
  const char *keys; /* of the entry, between blanks, nested ones with dots; NULL: all that it says */
} FabPutBackSpec;

typedef struct {
  const char *interconnect;
  FabParamList put_back; /* FabPutBackSpec */
  const char *sets;      /* assignments between blanks; NULL: none */
  const char *kept; /* files of the source code whose constants rest on its tables and stay; NULL: none */
} FabLeftOutSpec;

typedef struct _FabLeftOut FabLeftOut;

/* Every mistake at its place. `catalog` and `measured` outlive it. (transfer full) */
FabLeftOut *fab_left_out_load (const char *path, const FabCatalog *catalog, const FabMeasured *measured,
                               const FabRegistry *registry, GError **error);
void fab_left_out_free (FabLeftOut *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabLeftOut, fab_left_out_free)

/* NULL: it is not listed. */
const FabLeftOutSpec *fab_left_out_find (const FabLeftOut *self, const char *interconnect);

typedef struct _FabLeftOutCatalog FabLeftOutCatalog;

/* The catalogue without what was learned of this family. (transfer full) */
FabLeftOutCatalog *fab_left_out_catalog (const FabLeftOut *self, const FabLeftOutSpec *family);
const FabCatalog *fab_left_out_catalog_get (const FabLeftOutCatalog *self);
void fab_left_out_catalog_free (FabLeftOutCatalog *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabLeftOutCatalog, fab_left_out_catalog_free)

/* Predicts the tables (FabMeasuredTable), each as if its family had not been measured, where that is listed; others are
 * left out. (transfer full) */
FabReport *fab_left_out_report (const FabLeftOut *self, const GPtrArray *tables, const FabRegistry *registry,
                                GError **error);
