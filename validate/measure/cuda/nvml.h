/* SPDX-License-Identifier: Apache-2.0 */
/* nvml.h - asks NVML what the CUDA driver does not say: PCIe generation and width, NVLink, clocks, ECC, versions.
 *
 * The library is found at run time (libnvidia-ml.so.1, or the one that FABRICAST_NVML names) and declared here; every
 * function works without it, and then knows nothing.
 */
#pragma once

#include <glib.h>

typedef struct _FabNvml FabNvml;

FabNvml *fab_nvml_open (void);       /* NULL: the library is missing */
void fab_nvml_close (FabNvml *self); /* accepts NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabNvml, fab_nvml_close)

/* Returns the driver's version, "580.95.05"; NULL: unknown. All texts are (transfer full). */
char *fab_nvml_driver (const FabNvml *self);

/* These describe the GPU at a PCI address; NULL: unknown, or the GPU has none. */
char *fab_nvml_pcie (const FabNvml *self, const char *bus_id); /* "gen 5 x16, at most gen 5 x16" */
/* "SM 1980 of 1980 MHz, memory 3201 of 3201 MHz" */
char *fab_nvml_clocks (const FabNvml *self, const char *bus_id);
char *fab_nvml_ecc (const FabNvml *self, const char *bus_id); /* "on" */
/* "18 of 18 links up, version 4: 18 to 0000:05:00.0" */
char *fab_nvml_nvlink (const FabNvml *self, const char *bus_id);
