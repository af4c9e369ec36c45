/* SPDX-License-Identifier: Apache-2.0 */
/* groups.h - finds which series of a file were measured over the same link.
 *
 * Series belong to one link when they come from one machine, run between memories of the same kind by the same
 * method, and their pairs of ends reach rates within a factor of 1.3. Copy engines and kernels are two drives of one
 * link; kernels that read count as another link. Collectives belong to no link.
 */
#pragma once

#include "formats/measurement/series.h"
#include "sim/scenario/catalog.h"

/* Which series to use; a NULL member accepts every series. */
typedef struct {
  const char *system, *from, *to, *method, *memory; /* must be equal; memory is that of either end */
  const char *series; /* a link's suffix, KEY=VALUE, or a part of a series' key */
} FabGroupFilter;

typedef struct {
  char *suffix;      /* "gpu-to-gpu", "write-2": names the group uniquely */
  GPtrArray *series; /* FabMeasuredSeries, at least one; not owned */
} FabLinkGroup;

/* A method that moves bytes between memories of a machine, by the name that `measure cuda` and the importers use. */
typedef struct {
  const char *name;  /* "copy", "kernel-read" */
  gboolean is_plain; /* the link's suffix names the memories alone, not this method */
  gboolean is_read;  /* the receiver moves the bytes */
  FabDrive drive;
} FabDeviceMethod;

/* Returns how the series moved its bytes; NULL for messages of a network. */
const FabDeviceMethod *fab_series_device_method (const FabSeries *series);
FabDrive fab_series_drive (
    /* Returns the drive of a series. Network adapters count as copy engines. */
    const FabSeries *series);

/* Returns a GPtrArray of FabLinkGroup, at least one, in the order of their first series. The series must outlive the
 * groups. (transfer full) */
GPtrArray *fab_link_groups_new (const GPtrArray *series, const FabGroupFilter *filter, GError **error);

/* Returns the suffixes, "gpu-to-gpu, host-to-gpu", for a message. (transfer full) */
char *fab_link_groups_list (const GPtrArray *groups);
