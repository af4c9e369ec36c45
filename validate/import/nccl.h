/* SPDX-License-Identifier: Apache-2.0 */
/* nccl.h - what nccl_xml.c and nccl_links.c share. */
#pragma once

#include "validate/import/nvlink.h"
#include "validate/import/xml.h"

enum { CLASS_BRIDGE = 0x0604, CLASS_NVSWITCH = 0x0680, CLASS_ETHERNET = 0x0200, CLASS_INFINIBAND = 0x0207 };

typedef struct {
  FabMachine *machine;
  const FabImportRequest *request;
  GHashTable *parts; /* lower-case busid -> part + 1 */
  GPtrArray *gpus;   /* FabXml: their pci elements, in the order of the tree */
  GPtrArray *nics;   /* FabXml: net elements, or pci elements without */
  GArray *gpu_parts; /* guint, as gpus */
  guint top_speed;   /* Mb/s of the fastest port */
} FabNcclReader;

/* The first child of that name; `element` may be NULL. */
const FabXml *fab_nccl_child (const FabXml *element, const char *name);

/* What stands in <gpu>: nvlink, xgmi, c2c. Without any, what machines with that accelerator have. */
gboolean fab_nccl_add_links (FabNcclReader *reader, GError **error);
