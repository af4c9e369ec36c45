/* SPDX-License-Identifier: Apache-2.0 */
/* format.h - the interface of the readers, one per format; private to formats/machine.
 *
 * A reader of a machine fills a FabMachine, whose `accelerator` and `nic` are set beforehand when the user named
 * them.
 * A reader of anything else returns the fragment of a scenario. */
#pragma once

#include "formats/import.h"
#include "formats/machine/machine.h"

enum { FAB_IMPORT_MAX_GPUS = 256, FAB_IMPORT_MAX_PARTS = 2048 };

typedef struct {
  const char *name;                          /* as --from takes it */
  const char *tool;                          /* the command that prints it */
  gboolean (*recognises) (const char *text); /* says whether the text is of that format */
  /* fills the machine; NULL when there is `fragment` */
  gboolean (*read) (FabImportedMachine *machine, const FabImportRequest *request, GError **error);
  char *(*fragment) (const FabImportRequest *request, GError **error);
} FabImportFormat;

extern const FabImportFormat fab_import_huggingface;
extern const FabImportFormat fab_import_hwloc_xml;
extern const FabImportFormat fab_import_ibnetdiscover;
extern const FabImportFormat fab_import_nccl_xml;
extern const FabImportFormat fab_import_nvidia_smi;
extern const FabImportFormat fab_import_rocm_smi;

/* Sets *error to "file:line: what is wrong" and returns FALSE. Line 0 stands for the whole file. */
gboolean fab_import_fail (const FabImportRequest *request, guint line, GError **error, const char *format,
                          ...) G_GNUC_PRINTF (4, 5);
