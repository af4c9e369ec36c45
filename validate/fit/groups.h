/* SPDX-License-Identifier: Apache-2.0 */
/* groups.h - which series are of one link: what a file holds, taken apart.
 *
 * Of one link are series of one machine, between memories of the same sort, by the same method, whose pairs of ends
 * reach rates within 1.3 of each other. Copy engines and kernels are two drives of one link, and of another one
 * where they read. Collectives are of none.
 */
#pragma once

#include "sim/scenario/catalog.h"
#include "validate/measure/series.h"

/* What to take of what was measured; NULL: everything. */
typedef struct {
  const char *system, *from, *to, *method, *memory; /* equal texts; memory is that of either end */
  const char *series;                               /* a link's suffix; KEY=VALUE; a part of a series' key */
} FabGroupFilter;

typedef struct {
  char *suffix;      /* "gpu-to-gpu", "write-2": tells it from the others; unique */
  GPtrArray *series; /* FabMeasuredSeries, at least one; not owned */
} FabLinkGroup;

/* How bytes are moved between memories of a machine, as `measure cuda` and imports call it. */
typedef struct {
  const char *name;  /* "copy", "kernel-read" */
  gboolean is_plain; /* of the link that the memories alone name */
  gboolean is_read;  /* the receiver moves them */
  FabDrive drive;
} FabDeviceMethod;

/* NULL: messages of a network. */
const FabDeviceMethod *fab_series_device_method (const FabSeries *series);
FabDrive fab_series_drive (
    const FabSeries *series); /* of a network the adapters, which are as copy engines */

/* GPtrArray of FabLinkGroup, in the order of their first series; at least one. The series outlive them. */
GPtrArray *fab_link_groups_new (const GPtrArray *series, const FabGroupFilter *filter, GError **error);

/* "gpu-to-gpu, host-to-gpu", for messages. (transfer full) */
char *fab_link_groups_list (const GPtrArray *groups);
