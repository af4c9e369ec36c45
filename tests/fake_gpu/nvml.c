/* SPDX-License-Identifier: Apache-2.0 */
/* nvml.c - the functions of NVML that Fabricast uses, for the machine of machine.h: PCIe 4.0 x16, two NVLinks to the
 * next GPU and one to a switch; the fourth is down. */
#include <glib.h>

#include "tests/fake_gpu/machine.h"

typedef struct {
  char bus_id_legacy[16];
  guint domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
} PciInfo;

enum { INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3 };

int
nvmlInit_v2 (void)
{
  return fake_fails ("nvml") ? 9 : 0;
}

int
nvmlShutdown (void)
{
  return 0;
}

int
nvmlSystemGetDriverVersion (char *text, guint size)
{
  g_strlcpy (text, "550.54.15", size);
  return 0;
}

int
nvmlDeviceGetHandleByPciBusId_v2 (const char *bus_id, gpointer *device)
{
  *device = (gpointer) bus_id;
  return g_str_has_prefix (bus_id, "face:0") ? 0 : INVALID_ARGUMENT;
}

int
nvmlDeviceGetCurrPcieLinkGeneration (G_GNUC_UNUSED gpointer device, guint *generation)
{
  *generation = 4;
  return 0;
}

int
nvmlDeviceGetCurrPcieLinkWidth (G_GNUC_UNUSED gpointer device, guint *width)
{
  *width = 8;
  return 0;
}

int
nvmlDeviceGetMaxPcieLinkGeneration (G_GNUC_UNUSED gpointer device, guint *generation)
{
  *generation = 4;
  return 0;
}

int
nvmlDeviceGetMaxPcieLinkWidth (G_GNUC_UNUSED gpointer device, guint *width)
{
  *width = 16;
  return 0;
}

int
nvmlDeviceGetEccMode (G_GNUC_UNUSED gpointer device, int *is_on, int *is_pending)
{
  *is_on = *is_pending = 1;
  return 0;
}

int
nvmlDeviceGetNvLinkState (G_GNUC_UNUSED gpointer device, guint link, int *is_up)
{
  *is_up = link < 3;
  return link < 4 ? 0 : INVALID_ARGUMENT;
}

int
nvmlDeviceGetNvLinkVersion (G_GNUC_UNUSED gpointer device, G_GNUC_UNUSED guint link, guint *version)
{
  *version = 4;
  return 0;
}

int
nvmlDeviceGetNvLinkRemotePciInfo_v2 (G_GNUC_UNUSED gpointer device, guint link, PciInfo *pci)
{
  g_strlcpy (pci->bus_id, link < 2 ? "FACE:0B:00.0" : "FACE:55:00.0", sizeof pci->bus_id);
  return link < 4 ? 0 : NOT_SUPPORTED;
}
