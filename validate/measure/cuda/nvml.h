/* SPDX-License-Identifier: Apache-2.0 */
/* nvml.h - what NVML knows and the driver does not say: PCIe generation and width, NVLink, clocks, ECC, versions.
 *
 * Found at run time (libnvidia-ml.so.1, or what FABRICAST_NVML names), with own declarations; nothing depends on it.
 */
#pragma once

#include <glib.h>

typedef struct _FabNvml FabNvml;

FabNvml *fab_nvml_open (void);       /* NULL: not there */
void fab_nvml_close (FabNvml *self); /* accepts NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabNvml, fab_nvml_close)

/* "580.95.05"; NULL: it does not say. All are (transfer full). */
char *fab_nvml_driver (const FabNvml *self);

/* Of the GPU at this PCI address; NULL: it does not say, or has none. */
char *fab_nvml_pcie (const FabNvml *self, const char *bus_id); /* "gen 5 x16, at most gen 5 x16" */
char *fab_nvml_clocks (const FabNvml *self,
                       const char *bus_id); /* "SM 1980 of 1980 MHz, memory 3201 of 3201 MHz" */
char *fab_nvml_ecc (const FabNvml *self, const char *bus_id); /* "on" */
/* "18 of 18 links up, version 4: 18 to 0000:05:00.0" */
char *fab_nvml_nvlink (const FabNvml *self, const char *bus_id);
