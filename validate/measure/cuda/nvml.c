/* SPDX-License-Identifier: Apache-2.0 */
/* nvml.c - loads NVML at run time and describes in words what it knows of a GPU. */
#include "validate/measure/cuda/nvml.h"

#include <glib.h>

#include "validate/measure/cuda/symbols.h"

typedef struct _FabNvml FabNvml;

static void nvml_close (FabNvml *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabNvml, nvml_close)

#define MAX_LINKS 36u /* more than any GPU has */
#define TEXT_SIZE 96

typedef int Result; /* 0: success */
typedef struct NvmlDevice *Device;

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };

typedef struct {
  char bus_id_legacy[16];
  guint domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
} PciInfo;

struct _FabNvml {
  gpointer library;
  gboolean is_started;
  Result (*init) (void);
  Result (*shutdown) (void);
  Result (*driver_version) (char *text, guint size);
  Result (*by_bus_id) (const char *bus_id, Device *device);
  /* NULL where this NVML lacks them */
  Result (*pcie_generation) (Device device, guint *generation);
  Result (*pcie_width) (Device device, guint *width);
  Result (*max_pcie_generation) (Device device, guint *generation);
  Result (*max_pcie_width) (Device device, guint *width);
  Result (*clock) (Device device, int type, guint *mhz);
  Result (*max_clock) (Device device, int type, guint *mhz);
  Result (*ecc_mode) (Device device, int *is_on, int *is_pending);
  Result (*link_state) (Device device, guint link, int *is_up);
  Result (*link_version) (Device device, guint link, guint *version);
  Result (*link_remote) (Device device, guint link, PciInfo *pci);
};

static const FabSymbol symbols[] = {
  { "nvmlInit_v2", G_STRUCT_OFFSET (FabNvml, init), FALSE },
  { "nvmlShutdown", G_STRUCT_OFFSET (FabNvml, shutdown), FALSE },
  { "nvmlSystemGetDriverVersion", G_STRUCT_OFFSET (FabNvml, driver_version), FALSE },
  { "nvmlDeviceGetHandleByPciBusId_v2", G_STRUCT_OFFSET (FabNvml, by_bus_id), FALSE },
  { "nvmlDeviceGetCurrPcieLinkGeneration", G_STRUCT_OFFSET (FabNvml, pcie_generation), TRUE },
  { "nvmlDeviceGetCurrPcieLinkWidth", G_STRUCT_OFFSET (FabNvml, pcie_width), TRUE },
  { "nvmlDeviceGetMaxPcieLinkGeneration", G_STRUCT_OFFSET (FabNvml, max_pcie_generation), TRUE },
  { "nvmlDeviceGetMaxPcieLinkWidth", G_STRUCT_OFFSET (FabNvml, max_pcie_width), TRUE },
  { "nvmlDeviceGetClockInfo", G_STRUCT_OFFSET (FabNvml, clock), TRUE },
  { "nvmlDeviceGetMaxClockInfo", G_STRUCT_OFFSET (FabNvml, max_clock), TRUE },
  { "nvmlDeviceGetEccMode", G_STRUCT_OFFSET (FabNvml, ecc_mode), TRUE },
  { "nvmlDeviceGetNvLinkState", G_STRUCT_OFFSET (FabNvml, link_state), TRUE },
  { "nvmlDeviceGetNvLinkVersion", G_STRUCT_OFFSET (FabNvml, link_version), TRUE },
  { "nvmlDeviceGetNvLinkRemotePciInfo_v2", G_STRUCT_OFFSET (FabNvml, link_remote), TRUE },
};

/* NULL: the library is missing */
static FabNvml *
nvml_open (void)
{
  g_autoptr (FabNvml) self = g_new0 (FabNvml, 1);

  self->library = fab_symbols_open (fab_symbols_library ("FABRICAST_NVML", "libnvidia-ml.so.1"));
  if (!self->library || fab_symbols_fill (self->library, self, symbols, G_N_ELEMENTS (symbols)))
    return NULL;
  self->is_started = self->init () == 0;
  return self->is_started ? g_steal_pointer (&self) : NULL;
}

/* accepts NULL */
static void
nvml_close (FabNvml *self)
{
  if (!self)
    return;
  if (self->is_started)
    self->shutdown ();
  fab_symbols_close (self->library);
  g_free (self);
}

/* Returns the driver's version, "580.95.05"; NULL: unknown. All texts are (transfer full). */
static char *
nvml_driver (const FabNvml *self)
{
  char text[TEXT_SIZE] = "";

  return self->driver_version (text, sizeof (text) - 1) == 0 ? g_strdup (text) : NULL;
}

static gboolean
find (const FabNvml *self, const char *bus_id, Device *device)
{
  return self->by_bus_id (bus_id, device) == 0;
}

/* These describe the GPU at a PCI address; NULL: unknown, or the GPU has none. */
/* "gen 5 x16, at most gen 5 x16" */
static char *
nvml_pcie (const FabNvml *self, const char *bus_id)
{
  guint generation, width, max_generation, max_width;
  Device device;

  if (!self->pcie_generation || !self->pcie_width || !self->max_pcie_generation || !self->max_pcie_width
      || !find (self, bus_id, &device) || self->pcie_generation (device, &generation) != 0
      || self->pcie_width (device, &width) != 0 || self->max_pcie_generation (device, &max_generation) != 0
      || self->max_pcie_width (device, &max_width) != 0)
    return NULL;
  return g_strdup_printf ("gen %u x%u, at most gen %u x%u", generation, width, max_generation, max_width);
}

/* "SM 1980 of 1980 MHz, memory 3201 of 3201 MHz" */
static char *
nvml_clocks (const FabNvml *self, const char *bus_id)
{
  guint sm, memory, max_sm, max_memory;
  Device device;

  if (!self->clock || !self->max_clock || !find (self, bus_id, &device)
      || self->clock (device, CLOCK_SM, &sm) != 0 || self->clock (device, CLOCK_MEMORY, &memory) != 0
      || self->max_clock (device, CLOCK_SM, &max_sm) != 0
      || self->max_clock (device, CLOCK_MEMORY, &max_memory) != 0)
    return NULL;
  return g_strdup_printf ("SM %u of %u MHz, memory %u of %u MHz", sm, max_sm, memory, max_memory);
}

/* "on" */
static char *
nvml_ecc (const FabNvml *self, const char *bus_id)
{
  int is_on, is_pending;
  Device device;

  if (!self->ecc_mode || !find (self, bus_id, &device) || self->ecc_mode (device, &is_on, &is_pending) != 0)
    return NULL;
  return g_strdup (is_on ? "on" : "off");
}

/* Describes the other ends of the links, GPUs or switches, in the order of the links. (transfer full) */
static char *
remotes_text (const char *const *remotes, guint n)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n; i++) {
    guint n_same = 0;
    gboolean is_first = TRUE;

    for (guint j = 0; j < n; j++) {
      if (!g_str_equal (remotes[i], remotes[j]))
        continue;
      n_same++;
      is_first = is_first && j >= i;
    }
    if (is_first)
      g_string_append_printf (text, "%s%u to %s", text->len > 0 ? ", " : "", n_same, remotes[i]);
  }
  return g_string_free (text, FALSE);
}

/* "18 of 18 links up, version 4: 18 to 0000:05:00.0" */
static char *
nvml_nvlink (const FabNvml *self, const char *bus_id)
{
  g_autoptr (GPtrArray) remotes = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *text = NULL;
  guint n_links = 0, version = 0;
  Device device;
  int is_up;

  if (!self->link_state || !find (self, bus_id, &device))
    return NULL;
  for (guint link = 0; link < MAX_LINKS && self->link_state (device, link, &is_up) == 0; link++) {
    PciInfo pci = { 0 };

    n_links++;
    if (!is_up)
      continue;
    if (self->link_version)
      self->link_version (device, link, &version);
    if (!self->link_remote || self->link_remote (device, link, &pci) != 0)
      g_strlcpy (pci.bus_id, "an unnamed end", sizeof (pci.bus_id));
    g_ptr_array_add (remotes, g_ascii_strdown (pci.bus_id, -1));
  }
  if (n_links == 0)
    return NULL;
  if (remotes->len == 0)
    return g_strdup_printf ("none of %u links up", n_links);
  text = remotes_text ((const char *const *) remotes->pdata, remotes->len);
  return g_strdup_printf ("%u of %u links up, version %u: %s", remotes->len, n_links, version, text);
}

static void
take (FabMeasureHost *host, const FabGpu *gpu, const char *what, char *value)
{
  g_autofree char *key = g_strdup_printf ("%s.%s", gpu->name, what);

  if (value)
    host->machine (host, key, value);
  g_free (value);
}

static void
describe_gpu (FabMeasureHost *host, const FabGpu *gpu, const FabNvml *nvml)
{
  g_autofree char *memory = fab_units_show (FAB_UNIT_BYTES, (double) gpu->memory_bytes);
  g_autofree char *text = g_strdup_printf ("%s, %u SMs, sm_%u%u, %s, PCI %s, %s", gpu->model,
                                           gpu->n_multiprocessors, gpu->capability_major,
                                           gpu->capability_minor, memory, gpu->bus_id, gpu->uuid);

  host->machine (host, gpu->name, text);
  if (!nvml)
    return;
  take (host, gpu, "pcie", nvml_pcie (nvml, gpu->bus_id));
  take (host, gpu, "clocks", nvml_clocks (nvml, gpu->bus_id));
  take (host, gpu, "ecc", nvml_ecc (nvml, gpu->bus_id));
  take (host, gpu, "nvlink", nvml_nvlink (nvml, gpu->bus_id));
}

void
fab_cuda_describe (FabMeasureHost *host, const FabGpus *gpus)
{
  g_autoptr (FabNvml) nvml = nvml_open ();
  g_autofree char *version = nvml ? nvml_driver (nvml) : NULL;
  g_autofree char *driver = version ? g_strdup_printf ("%s, %s", version, gpus->driver)
                                    : g_strdup (gpus->driver);

  host->machine (host, "driver", driver);
  if (!nvml)
    host->note (host,
                "NVML (libnvidia-ml.so.1) was not found: PCIe generation, NVLink and clocks of the GPUs "
                "are not recorded");
  for (guint i = 0; i < gpus->n_gpus; i++)
    describe_gpu (host, &gpus->gpus[i], nvml);
}
