/* SPDX-License-Identifier: Apache-2.0 */
/* nccl.h - declares what nccl_xml.c and nccl_links.c share. */
#pragma once

#include "validate/import/nvlink.h"
#include "validate/import/xml.h"

enum { CLASS_BRIDGE = 0x0604, CLASS_NVSWITCH = 0x0680, CLASS_ETHERNET = 0x0200, CLASS_INFINIBAND = 0x0207 };

typedef struct {
  FabMachine *machine;
  const FabImportRequest *request;
  GHashTable *parts; /* lower-case busid -> part + 1 */
  GPtrArray *gpus;   /* FabXml: the GPUs' pci elements, in the order of the file */
  GPtrArray *nics;   /* FabXml: net elements, or pci elements of NICs without one */
  GArray *gpu_parts; /* guint: index in `machine` of each of `gpus` */
  guint top_speed;   /* Mb/s of the fastest port */
} FabNcclReader;

/* Returns the first child of that name; NULL: none. `element` may be NULL. */
const FabXml *fab_nccl_child (const FabXml *element, const char *name);

/* Adds the links in the <gpu> elements: nvlink, xgmi, c2c. If there are none, adds those that machines with that
 * accelerator usually have. */
gboolean fab_nccl_add_links (FabNcclReader *reader, GError **error);
