/* SPDX-License-Identifier: Apache-2.0 */
/* format.h - one reader per format, private to validate/import. A reader of a machine fills it, `accelerator` and `nic`
 * being set when the user named them; one of anything else writes the fragment of a scenario. */
#pragma once

#include "validate/import/import.h"
#include "validate/import/machine.h"

enum { FAB_IMPORT_MAX_GPUS = 256, FAB_IMPORT_MAX_PARTS = 2048 };

typedef struct {
  const char *name;                          /* as --from takes it */
  const char *tool;                          /* the command that prints it */
  gboolean (*recognises) (const char *text); /* is this that format? */
  gboolean (*read) (FabMachine *machine, const FabImportRequest *request, GError **error); /* or NULL, and: */
  char *(*fragment) (const FabImportRequest *request, GError **error);
} FabImportFormat;

extern const FabImportFormat fab_import_huggingface;
extern const FabImportFormat fab_import_hwloc_xml;
extern const FabImportFormat fab_import_ibnetdiscover;
extern const FabImportFormat fab_import_nccl_xml;
extern const FabImportFormat fab_import_nvidia_smi;
extern const FabImportFormat fab_import_rocm_smi;

/* Sets *error to "file:line: what is wrong" and returns FALSE. Line 0: of the whole file. */
gboolean fab_import_fail (const FabImportRequest *request, guint line, GError **error, const char *format,
                          ...) G_GNUC_PRINTF (4, 5);
