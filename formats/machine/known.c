/* SPDX-License-Identifier: Apache-2.0 */
/* known.c - tables only; docs/how-to/import.md says the rules in words.
 *
 * PCI ids: the public pci.ids list; of AMD since MI200 also amd/MxGPU-Virtualization, amdgv_marketing_name.c. CPUID
 * models: NVIDIA/nccl src/graph/topo.cc and Linux intel-family.h. xGMI links of a card: AMD's data sheets (MI50 and
 * MI60 two, MI100 and MI210 three, a die of MI250 eight of which one leads to the processor, MI300 and later seven).
 */
#include "formats/machine/known.h"

#include <string.h>

#include "sim/base/units.h"

static const FabKnownAccelerator accelerators[] = {
  /* prefix, links, link, switch, PCIe, NIC, EFA, sockets */
  { "p100-sxm", 4, "nvlink1", FALSE, 3, "ib-edr", "efa-v1", "qpi-socket-broadwell" },
  { "v100-sxm3", 6, "nvlink2", TRUE, 3, "ib-edr", "efa-v1", "upi-socket-skylake" },
  { "v100-sxm", 6, "nvlink2", FALSE, 3, "ib-edr", "efa-v1", "upi-socket-skylake" },
  { "v100-pcie", 0, NULL, FALSE, 3, "ib-edr", "efa-v1", "upi-socket-skylake" },
  { "rtx2080ti", 2, "nvlink2-rtx", FALSE, 3, "ib-edr", "efa-v1", "upi-socket-skylake" },
  { "t4", 0, NULL, FALSE, 3, "ib-edr", "efa-v1", "upi-socket-skylake" },
  { "a100-sxm", 12, "nvlink3", TRUE, 4, "ib-hdr", "efa-v1", "xgmi-socket-rome" },
  { "a800-sxm", 8, "nvlink3", TRUE, 4, "ib-hdr", "efa-v1", "xgmi-socket-rome" },
  { "a100-pcie", 12, "nvlink3-bridge", FALSE, 4, "ib-hdr", "efa-v1", "xgmi-socket-rome" },
  { "a30", 4, "nvlink3-bridge", FALSE, 4, "ib-hdr", "efa-v1", "xgmi-socket-rome" },
  { "rtx3090", 4, "nvlink3-rtx", FALSE, 4, "ib-hdr", "efa-v1", "xgmi-socket-rome" },
  { "rtx-a6000", 4, "nvlink3-rtx", FALSE, 4, "ib-hdr", "efa-v1", "xgmi-socket-rome" },
  { "rtx-a5000", 4, "nvlink3-rtx", FALSE, 4, "ib-hdr", "efa-v1", "xgmi-socket-rome" },
  { "h100-sxm", 18, "nvlink4", TRUE, 5, "ib-ndr", "efa-v2", "upi-socket-sapphire-rapids" },
  { "h100-pcie", 12, "nvlink4-bridge", FALSE, 5, "ib-ndr", "efa-v2", "upi-socket-sapphire-rapids" },
  { "h100-nvl", 18, "nvlink4-bridge", FALSE, 5, "ib-ndr", "efa-v2", "upi-socket-sapphire-rapids" },
  { "h20-", 18, "nvlink4", TRUE, 5, "ib-ndr", "efa-v2", "upi-socket-sapphire-rapids" },
  { "h800", 8, "nvlink4", TRUE, 5, "ib-ndr", "efa-v2", "upi-socket-sapphire-rapids" },
  { "h200", 18, "nvlink4", TRUE, 5, "ib-ndr", "efa-v3", "upi-socket-sapphire-rapids" },
  { "gh200", 18, "nvlink4", FALSE, 5, "ib-ndr", "efa-v3", "nv-grace-socket" },
  { "b200", 18, "nvlink5", TRUE, 5, "ib-ndr", "efa-v4", "upi-socket-sapphire-rapids" },
  { "b300", 18, "nvlink5", TRUE, 6, "ib-xdr", "efa-v4", "upi-socket-emerald-rapids" },
  { "gb200", 18, "nvlink5", TRUE, 5, "ib-ndr", "efa-v4", "nv-grace-socket" },
  { "gb300", 18, "nvlink5", TRUE, 6, "ib-xdr", "efa-v4", "nv-grace-socket" },
  { "mi50", 2, "xgmi-mi100", FALSE, 4, "ib-hdr", "efa-v1", "xgmi-socket-rome" },
  { "mi100", 3, "xgmi-mi100", FALSE, 4, "ib-hdr", "efa-v1", "xgmi-socket-rome" },
  { "mi250", 8, "xgmi-mi250x", FALSE, 4, "ib-hdr", "efa-v1", "xgmi-socket-rome" },
  { "mi210", 3, "xgmi-mi250x", FALSE, 4, "ib-hdr", "efa-v1", "xgmi-socket-rome" },
  { "mi300a", 6, "xgmi-mi300x", FALSE, 5, "slingshot-11", "efa-v2", "xgmi-socket-genoa" },
  { "mi300x", 7, "xgmi-mi300x", FALSE, 5, "ib-ndr", "efa-v2", "upi-socket-sapphire-rapids" },
  { "mi325x", 7, "xgmi-mi325x", FALSE, 5, "ib-ndr", "efa-v2", "xgmi-socket-genoa" },
  { "mi308x", 7, "xgmi-mi300x", FALSE, 5, "ib-ndr", "efa-v2", "xgmi-socket-genoa" },
  { "mi350x", 7, "xgmi-mi355x", FALSE, 5, "ib-ndr", "efa-v2", "xgmi-socket-genoa" },
  { "mi355x", 7, "xgmi-mi355x", FALSE, 5, "ib-ndr", "efa-v2", "xgmi-socket-genoa" },
  { "rtx-pro-6000", 0, NULL, FALSE, 5, "ib-ndr", "efa-v2", "xgmi-socket-genoa" },
  { "rtx-6000d", 0, NULL, FALSE, 5, "ib-ndr", "efa-v2", "xgmi-socket-genoa" },
  { "rtx5090", 0, NULL, FALSE, 5, "ib-ndr", "efa-v2", "xgmi-socket-genoa" },
  { "", 0, NULL, FALSE, 4, "ib-hdr", "efa-v1", "xgmi-socket-rome" }, /* any other */
};

const FabKnownAccelerator *
fab_known_accelerator (const char *name)
{
  guint i = 0;

  while (!g_str_has_prefix (name, accelerators[i].prefix))
    i++;
  return &accelerators[i];
}

static const FabKnownDevice devices[] = {
  { 0x10de, 0x15f9, "p100-sxm2", NULL },
  { 0x10de, 0x1db1, "v100-sxm2-16gb", NULL },
  { 0x10de, 0x1db5, "v100-sxm2-32gb", NULL },
  { 0x10de, 0x1db8, "v100-sxm3-32gb", NULL },
  { 0x10de, 0x1e04, "rtx2080ti", NULL },
  { 0x10de, 0x1e07, "rtx2080ti", NULL },
  { 0x10de, 0x1eb8, "t4", NULL },
  { 0x10de, 0x20b0, "a100-sxm4-40gb", NULL },
  { 0x10de, 0x20b2, "a100-sxm4-80gb", NULL },
  { 0x10de, 0x20b3, "a100-sxm4-64gb", NULL },
  { 0x10de, 0x20f1, "a100-pcie-40gb", NULL },
  { 0x10de, 0x20b5, "a100-pcie-80gb", NULL },
  { 0x10de, 0x20b7, "a30", NULL },
  { 0x10de, 0x20f3, "a800-sxm4-80gb", NULL },
  { 0x10de, 0x2204, "rtx3090", NULL },
  { 0x10de, 0x2230, "rtx-a6000", NULL },
  { 0x10de, 0x2231, "rtx-a5000", NULL },
  { 0x10de, 0x2237, "a10g", NULL },
  { 0x10de, 0x27b8, "l4", NULL },
  { 0x10de, 0x26b1, "rtx6000-ada", NULL },
  { 0x10de, 0x26b5, "l40", NULL },
  { 0x10de, 0x26b9, "l40s", NULL },
  { 0x10de, 0x2684, "rtx4090", NULL },
  { 0x10de, 0x2330, "h100-sxm5-80gb", NULL },
  { 0x10de, 0x2331, "h100-pcie-80gb", NULL },
  { 0x10de, 0x2321, "h100-nvl-94gb", NULL },
  { 0x10de, 0x2324, "h800-sxm5", NULL },
  { 0x10de, 0x2329, "h20-sxm5", NULL },
  { 0x10de, 0x2335, "h200-sxm5", NULL },
  { 0x10de, 0x2342, "gh200-96gb", NULL },
  { 0x10de, 0x2901, "b200-sxm", NULL },
  { 0x10de, 0x2941, "gb200", NULL },
  { 0x10de, 0x2b85, "rtx5090", NULL },
  { 0x1002, 0x66a0, "mi50", "MI60" },
  { 0x1002, 0x66a1, "mi50", NULL },
  { 0x1002, 0x738c, "mi100", NULL },
  { 0x1002, 0x738e, "mi100", NULL },
  { 0x1002, 0x7408, "mi250x-gcd", NULL },
  { 0x1002, 0x740c, "mi250x-gcd", NULL },
  { 0x1002, 0x740f, "mi210", NULL },
  { 0x1002, 0x74a0, "mi300a", NULL },
  { 0x1002, 0x74a1, "mi300x", NULL },
  { 0x1002, 0x74a9, "mi300x", NULL },
  { 0x1002, 0x74b5, "mi300x", NULL },
  { 0x1002, 0x74bd, "mi300x", NULL },
  { 0x1002, 0x74a2, "mi308x", NULL },
  { 0x1002, 0x74a8, "mi308x", NULL },
  { 0x1002, 0x74b6, "mi308x", NULL },
  { 0x1002, 0x74bc, "mi308x", NULL },
  { 0x1002, 0x74a5, "mi325x", NULL },
  { 0x1002, 0x74b9, "mi325x", NULL },
  { 0x1002, 0x75a0, "mi350x", NULL },
  { 0x1002, 0x75b0, "mi350x", NULL },
  { 0x1002, 0x75a3, "mi355x", NULL },
  { 0x1002, 0x75b3, "mi355x", NULL },
  { 0, 0, NULL, NULL },
};

const FabKnownDevice *
fab_known_device (guint vendor, guint device)
{
  for (const FabKnownDevice *row = devices; row->accelerator != NULL; row++)
    if (row->vendor == vendor && row->device == device)
      return row;
  return NULL;
}

gboolean
fab_known_accelerator_by_pci (FabImportedMachine *machine, guint line, guint vendor, guint device)
{
  const FabKnownDevice *known = fab_known_device (vendor, device);

  if (known == NULL)
    return FALSE;
  if (known->stands_for == NULL)
    fab_imported_machine_read (machine, line, "accelerator: %s, by its PCI id %04x:%04x", known->accelerator,
                               vendor, device);
  else
    fab_imported_machine_infer (machine, line,
                                "accelerator: %s stands in for %s (PCI id %04x:%04x), which the catalogue "
                                "lacks; --accelerator names another",
                                known->accelerator, known->stands_for, vendor, device);
  machine->accelerator = known->accelerator;
  return TRUE;
}

const char *
fab_known_sm (guint sm)
{
  switch (sm) {
  case 60: return "p100-sxm2";
  case 70: return "v100-sxm2-16gb";
  case 75: return "t4";
  case 80: return "a100-sxm4-80gb";
  case 86: return "rtx3090";
  case 89: return "l40s";
  case 90: return "h100-sxm5-80gb";
  case 100: return "b200-sxm";
  default: return NULL;
  }
}

static const char *const architectures[][2] = {
  { "906", "mi50" },       { "908", "mi100" },  { "90a", "mi250x-gcd" },
  { "910", "mi250x-gcd" }, /* as older versions of RCCL write 90a */
  { "94", "mi300x" },      { "950", "mi355x" }, { NULL, NULL },
};

const char *
fab_known_gfx (const char *gfx)
{
  if (g_str_has_prefix (gfx, "gfx"))
    gfx += strlen ("gfx");
  for (guint i = 0; architectures[i][0] != NULL; i++)
    if (g_str_has_prefix (gfx, architectures[i][0]))
      return architectures[i][1];
  return NULL;
}

static const struct {
  const char *vendor;
  guint family, first, last; /* CPUID models */
  const char *link;
} sockets[] = {
  { "GenuineIntel", 6, 63, 63, "qpi-socket-broadwell" }, /* Haswell has the same link */
  { "GenuineIntel", 6, 79, 79, "qpi-socket-broadwell" },
  { "GenuineIntel", 6, 85, 85, "upi-socket-skylake" }, /* Cascade Lake has it too */
  { "GenuineIntel", 6, 106, 106, "upi-socket-icelake" },
  { "GenuineIntel", 6, 143, 143, "upi-socket-sapphire-rapids" },
  { "GenuineIntel", 6, 207, 207, "upi-socket-emerald-rapids" },
  { "AuthenticAMD", 23, 0, 255, "xgmi-socket-rome" },
  { "AuthenticAMD", 25, 0, 15, "xgmi-socket-rome" }, /* Milan has the same link */
  { "AuthenticAMD", 25, 16, 255, "xgmi-socket-genoa" },
  { "AuthenticAMD", 26, 0, 255, "xgmi-socket-genoa" }, /* Turin is as fast or faster */
  { NULL, 0, 0, 0, NULL },
};

const char *
fab_known_socket (const char *vendor, guint family, guint model)
{
  if ((family & 15) == 15) /* CPUID packs it: 0x8f is family 15 + 8 */
    family = 15 + (family >> 4);
  for (guint i = 0; vendor && sockets[i].vendor; i++)
    if (strcmp (sockets[i].vendor, vendor) == 0 && sockets[i].family == family && model >= sockets[i].first
        && model <= sockets[i].last)
      return sockets[i].link;
  return NULL;
}

/* Names that a processor has, where CPUID says nothing: POWER and Arm. */
static const char *const processors[][2] = {
  { "POWER8", "xbus-power8" },
  { "POWER9", "xbus-power9" },
  { "Grace", "nv-grace-socket" },
  { NULL, NULL },
};

const char *
fab_known_socket_named (const char *name)
{
  for (guint i = 0; processors[i][0] != NULL; i++)
    if (strstr (name, processors[i][0]) != NULL)
      return processors[i][1];
  return NULL;
}

/* Adapters whose device id says their kind and rate. Mellanox and NVIDIA: pci.ids; HPE Slingshot 11 is 17db:0501. */
static const FabKnownAdapter adapters[] = {
  { 0x15b3, 0x1013, "ConnectX-4", 100, NULL },
  { 0x15b3, 0x1017, "ConnectX-5", 100, NULL },
  { 0x15b3, 0x1019, "ConnectX-5 Ex", 100, NULL },
  { 0x15b3, 0x101b, "ConnectX-6", 200, NULL },
  { 0x15b3, 0x101d, "ConnectX-6 Dx", 100, NULL },
  { 0x15b3, 0x1021, "ConnectX-7", 400, NULL },
  { 0x15b3, 0x1023, "ConnectX-8", 800, NULL },
  { 0x15b3, 0xa2d6, "BlueField-2", 200, NULL },
  { 0x15b3, 0xa2dc, "BlueField-3", 400, NULL },
  { 0x17db, 0x0501, "Slingshot 11", 200, "slingshot-11" },
  { 0x8086, 0x24f0, "Omni-Path 100", 100, "opa-100" },
  { 0x8086, 0x24f1, "Omni-Path 100", 100, "opa-100" },
  { 0, 0, NULL, 0, NULL },
};

const FabKnownAdapter *
fab_known_adapter (guint vendor, guint device)
{
  for (const FabKnownAdapter *row = adapters; row->product != NULL; row++)
    if (row->vendor == vendor && row->device == device)
      return row;
  return NULL;
}

/* Amazon's adapters: 0xefa0 and on. */
static gboolean
is_efa (guint vendor, guint device)
{
  return vendor == 0x1d0f && device >> 4 == 0xefa;
}

const char *
fab_known_port_by_pci (FabImportedMachine *machine, guint line, guint vendor, guint device, FabPortKind kind)
{
  const FabKnownAccelerator *known = fab_known_accelerator (machine->accelerator);
  const FabKnownAdapter *adapter = fab_known_adapter (vendor, device);
  const char *entry;

  if (is_efa (vendor, device)) {
    fab_imported_machine_infer (machine, line,
                                "NIC ports: %s, as the PCI id %04x:%04x is one of EFA and %s usually stands "
                                "beside %s; --nic names another",
                                known->efa, vendor, device, known->efa, machine->accelerator);
    return known->efa;
  }
  if (adapter == NULL)
    return NULL;
  entry = adapter->entry ? adapter->entry
        : kind == FAB_PORT_ETHERNET
            ? fab_known_port (machine, line, kind, NULL, adapter->gbps * 1000)
            : fab_known_port (machine, line, FAB_PORT_INFINIBAND, NULL, adapter->gbps * 1000);
  fab_imported_machine_infer (
      machine, line,
      "NIC ports: %s, as the PCI id %04x:%04x is a %s, at its full rate%s; --nic names another", entry,
      vendor, device, adapter->product,
      adapter->entry || kind != FAB_PORT_UNKNOWN ? "" : " and with InfiniBand, which the text does not say");
  return entry;
}

const char *
fab_known_pcie (FabImportedMachine *machine, guint line, guint generation, guint lanes)
{
  static const guint widths[] = { FAB_PCIE_LANES, 8, 4, 2, 1 };
  guint shift = 3 - MIN (generation, 3), wanted = MAX (lanes >> shift, 1), i = 0;

  if (shift > 0)
    fab_imported_machine_infer (
        machine, line,
        "PCIe generation %u is not in the catalogue: pcie3 with fewer lanes is as fast. Cards that "
        "idle fall back to it, so look at one that works",
        generation);
  while (widths[i] > wanted)
    i++;
  return fab_imported_machine_text (machine, "pcie%u-x%u", CLAMP (generation, 3, 7), widths[i]);
}

const char *
fab_known_usual_pcie (FabImportedMachine *machine)
{
  guint generation = fab_known_accelerator (machine->accelerator)->pcie_generation;

  return fab_imported_machine_text (machine, "pcie%u-x%d", generation, FAB_PCIE_LANES);
}

guint
fab_known_pcie_generation (const char *speed)
{
  static const double giga_transfers[] = { 2.5, 5, 8, 16, 32, 64, 128 };
  double found = speed ? g_ascii_strtod (speed, NULL) : 0;
  guint generation = G_N_ELEMENTS (giga_transfers);

  while (generation > 0 && !(found >= giga_transfers[generation - 1]))
    generation--;
  return generation;
}

/* Returns the largest of `speeds` (Gb/s, ascending, 0-ended) that is at most `gbps`. */
static guint
round_down (const guint *speeds, guint gbps)
{
  guint best = speeds[0];

  for (guint i = 0; speeds[i] > 0 && speeds[i] <= gbps; i++)
    best = speeds[i];
  return best;
}

static const char *
infiniband (FabImportedMachine *machine, guint line, guint gbps)
{
  static const guint speeds[] = { 100, 200, 400, 800, 0 };
  guint found = round_down (speeds, gbps);

  if (found != gbps)
    fab_imported_machine_infer (
        machine, line, "InfiniBand at %u Gb/s is not in the catalogue: the entry of %u Gb/s stands for it",
        gbps, found);
  return found == 100 ? "ib-edr" : found == 200 ? "ib-hdr" : found == 400 ? "ib-ndr" : "ib-xdr";
}

const char *
fab_known_ethernet (FabImportedMachine *machine, guint line, guint gbps)
{
  static const guint speeds[] = { 25, 50, 100, 200, 400, 800, 0 };
  guint found = round_down (speeds, gbps);

  if (found != gbps)
    fab_imported_machine_infer (
        machine, line, "Ethernet at %u Gb/s is not in the catalogue: the entry of %u Gb/s stands for it",
        gbps, found);
  return fab_imported_machine_text (machine, "roce-%u", found);
}

/* The fastest port today has 1.6 Tb/s. */
enum { MOST_MBPS = 1600000 };

gboolean
fab_known_is_port_speed (guint speed_mbps)
{
  return speed_mbps <= MOST_MBPS;
}

const char *
fab_known_port (FabImportedMachine *machine, guint line, FabPortKind kind, const char *name, guint speed_mbps)
{
  const FabKnownAccelerator *known = fab_known_accelerator (machine->accelerator);

  if (name && (g_str_has_prefix (name, "rdmap") || g_str_has_prefix (name, "efa"))) {
    fab_imported_machine_infer (
        machine, line,
        "NIC ports: %s, as '%s' is a name of EFA and %s usually stands beside %s; --nic names "
        "another",
        known->efa, name, known->efa, machine->accelerator);
    return known->efa;
  }
  if (!fab_known_is_port_speed (speed_mbps)) {
    fab_imported_machine_infer (
        machine, line,
        "NIC ports: a speed of %u Mb/s, that is %u Gb/s, is more than any port has, so "
        "it does not count; what unit was meant?",
        speed_mbps, speed_mbps / 1000);
    speed_mbps = 0;
  }
  if (speed_mbps == 0 || kind == FAB_PORT_UNKNOWN) {
    fab_imported_machine_infer (machine, line, "NIC ports: %s, the usual ones beside %s; --nic names others",
                                known->nic, machine->accelerator);
    return known->nic;
  }
  return kind == FAB_PORT_INFINIBAND ? infiniband (machine, line, speed_mbps / 1000)
                                     : fab_known_ethernet (machine, line, speed_mbps / 1000);
}

/* Holds all rules for numbers of links; docs/how-to/import.md explains them. */

/* the most links that any GPU has (H100, B200) */
enum { MOST_LINKS = 18 };

/* Returns the number of links that all pairs of several GPUs have; 0: pairs differ, or there are no links. */
static guint
common_count (guint n, const guint *n_links)
{
  for (guint i = 2; i < n; i++)
    for (guint j = 0; j < i; j++)
      if (n_links[i * n + j] != n_links[1])
        return 0;
  return n_links[1];
}

/* Says whether a switch connects the GPUs: then every pair shows a GPU's total, while direct links add up to it. */
static gboolean
is_switched (guint n, const guint *n_links, guint n_of_accelerator)
{
  guint count;

  if (n < 3)
    return FALSE;
  count = common_count (n, n_links);
  return count > 0 && (count * (n - 1) > MOST_LINKS || count == n_of_accelerator);
}

static guint
links_of_gpu (guint n, const guint *n_links)
{
  guint most = 0;

  if (is_switched (n, n_links, 0))
    return common_count (n, n_links);
  for (guint i = 0; i < n; i++) {
    guint sum = 0;

    for (guint j = 0; j < n; j++)
      sum += n_links[i * n + j];
    most = MAX (most, sum);
  }
  return most;
}

/* Whether NVLinks join no more than pairs, of more than two GPUs: bridges between PCIe cards do. */
static gboolean
is_paired (guint n, const guint *n_links)
{
  for (guint i = 0; i < n; i++) {
    guint n_peers = 0;

    for (guint j = 0; j < n; j++)
      n_peers += n_links[i * n + j] > 0;
    if (n_peers > 1)
      return FALSE;
  }
  return n > 2;
}

/* The PCIe card with bridges of that many links; NULL: none has them. */
static const char *
bridged_card (guint total)
{
  return total == 4                ? "rtx-a6000"
       : total == 8 || total == 12 ? "a100-pcie-80gb"
       : total == 18               ? "h100-nvl-94gb"
                                   : NULL;
}

const char *
fab_nvlink_accelerator (FabImportedMachine *machine, guint line, guint n, const guint *n_links)
{
  guint total = links_of_gpu (n, n_links);
  const char *card = is_paired (n, n_links) ? bridged_card (total) : NULL;
  const char *name = total == 0  ? "l40s"
                   : total <= 2  ? "rtx2080ti"
                   : total == 4  ? (n == 2 ? "rtx3090" : "p100-sxm2")
                   : total <= 6  ? "v100-sxm2-16gb"
                   : total <= 12 ? "a100-sxm4-80gb"
                                 : "h100-sxm5-80gb";

  if (card != NULL) {
    fab_imported_machine_infer (
        machine, line,
        "accelerator: %s, as %u NVLinks join pairs only, which bridges between PCIe "
        "cards do (4 RTX A6000 or A30, 4 for each of up to three A100 or H100 PCIe, 18 "
        "H100 NVL); --accelerator names another",
        card, total);
    return card;
  }
  if (total == 0)
    fab_imported_machine_infer (
        machine, line, "accelerator: %s stands in, as there is no NVLink; --accelerator names the real one",
        name);
  else
    fab_imported_machine_infer (
        machine, line,
        "accelerator: %s, and so the NVLink generation, from %u NVLinks per GPU (2 Turing, 4 RTX 3090 or P100, "
        "6 V100, 12 A100, 18 H100 or B200%s); --accelerator names another",
        name, total, n == 2 && total >= 4 ? "; two PCIe cards with bridges print the same" : "");
  return name;
}

static void
add_switch (FabImportedMachine *machine, guint n, const guint *parts, const char *link, guint count)
{
  guint centre = fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_SCALE_UP,
                                           FAB_IMPORTED_MACHINE_NO_PARENT, NULL, 0);

  for (guint i = 0; i < n; i++)
    fab_imported_machine_join (machine, parts[i], centre, link, count);
}

void
fab_nvlink_add (FabImportedMachine *machine, guint line, guint n, const guint *n_links, const guint *parts)
{
  const FabKnownAccelerator *known = fab_known_accelerator (machine->accelerator);
  const char *link = known->link && g_str_has_prefix (known->link, "nvlink") ? known->link : "nvlink3";

  if (is_switched (n, n_links, known->n_links)) {
    guint count = common_count (n, n_links);

    fab_imported_machine_read (machine, line, "all %u GPUs are NV%u to each other", n, count);
    fab_imported_machine_infer (
        machine, line,
        "one NVSwitch with %u %s to each GPU: more than %u direct links for %u peers cannot be", count, link,
        known->n_links ? known->n_links : MOST_LINKS, n - 1);
    add_switch (machine, n, parts, link, count);
    return;
  }
  for (guint i = 0; i < n; i++)
    for (guint j = i + 1; j < n; j++)
      if (n_links[i * n + j] > 0)
        fab_imported_machine_join (machine, parts[i], parts[j], link, n_links[i * n + j]);
  if (machine->links->len > 0)
    fab_imported_machine_read (machine, line, "%u of the pairs of %u GPUs %s joined by NVLink, directly",
                               machine->links->len, n, fab_plural (machine->links->len, "is", "are"));
}

void
fab_nvlink_assume (FabImportedMachine *machine, guint line, guint n, const guint *parts)
{
  const FabKnownAccelerator *known = fab_known_accelerator (machine->accelerator);

  if (n > 1 && known->has_switch) {
    fab_imported_machine_infer (
        machine, line,
        "one NVSwitch with %u %s to each GPU: the text shows PCIe only, and machines with %s "
        "have it",
        known->n_links, known->link, machine->accelerator);
    add_switch (machine, n, parts, known->link, known->n_links);
  } else if (n > 1 && known->link)
    fab_imported_machine_infer (machine, line,
                                "PCIe only: the text shows no %s, and how it would be wired is not known",
                                known->link);
}

void
fab_nvlink_sockets (FabImportedMachine *machine, guint line, const char *cpu, const char *found)
{
  gboolean is_joined = fab_imported_machine_count (machine, FAB_IMPORTED_MACHINE_HOST) > 1;

  machine->socket_link = found ? found : fab_known_accelerator (machine->accelerator)->socket;
  if (found == NULL && is_joined && cpu != NULL)
    fab_imported_machine_infer (
        machine, line,
        "between hosts: %s, often seen beside %s; the links of the CPU '%s' are not in the table",
        machine->socket_link, machine->accelerator, cpu);
  else if (found == NULL && is_joined)
    fab_imported_machine_infer (machine, line,
                                "between hosts: %s, often seen beside %s; the text names no CPU",
                                machine->socket_link, machine->accelerator);
}

/* --- xGMI --- */

const char *
fab_xgmi_link (const char *accelerator)
{
  const char *link = fab_known_accelerator (accelerator)->link;

  return link && g_str_has_prefix (link, "xgmi") ? link : NULL;
}

/* Links between the eight dies of four MI250X, as in the catalogue's node mi250x (models/catalog/nodes-amd.yaml says
 * what is known of them). */
static const struct {
  guint a, b, count;
} mi250x_wires[] = {
  { 0, 1, 4 }, { 2, 3, 4 }, { 4, 5, 4 }, { 6, 7, 4 }, { 0, 6, 2 }, { 2, 4, 2 },
  { 0, 2, 1 }, { 4, 6, 1 }, { 1, 3, 1 }, { 1, 5, 1 }, { 3, 7, 1 }, { 5, 7, 1 },
};

static guint
count_peers (guint n, const gboolean *is_wired, guint i)
{
  guint n_peers = 0;

  for (guint j = 0; j < n; j++)
    n_peers += is_wired[i * n + j] != FALSE;
  return n_peers;
}

static guint
most_peers (guint n, const gboolean *is_wired)
{
  guint most = 0;

  for (guint i = 0; i < n; i++)
    most = MAX (most, count_peers (n, is_wired, i));
  return most;
}

/* Links of a die of MI250X: more peers than that are reached over other dies, since four links stay in the package. */
enum { MI250X_DIES = 8, MI250X_PEERS = 4 };

static gboolean
is_mesh_of_dies (const FabImportedMachine *machine, guint n, guint n_peers)
{
  return g_str_has_prefix (machine->accelerator, "mi250") && n == MI250X_DIES && n_peers > MI250X_PEERS;
}

/* Joins each GPU to the next of its hive, the last to the first; of a hive of two the second is joined already. */
static void
add_ring (FabImportedMachine *machine, guint n, const gboolean *is_wired, const guint *parts,
          const char *link)
{
  for (guint i = 0; i < n; i++) {
    guint j = i + 1;

    while (j % n != i && !is_wired[i * n + j % n])
      j++;
    if (j % n != i && (j < n || count_peers (n, is_wired, i) > 1))
      fab_imported_machine_join (machine, parts[MIN (i, j % n)], parts[MAX (i, j % n)], link, 1);
  }
}

void
fab_xgmi_add (FabImportedMachine *machine, guint line, guint n, const gboolean *is_wired, const guint *parts)
{
  guint n_links = fab_known_accelerator (machine->accelerator)->n_links, n_peers = most_peers (n, is_wired);
  const char *link = fab_xgmi_link (machine->accelerator);

  if (link == NULL) {
    fab_imported_machine_leave_out (
        machine, line,
        "left out: xGMI, as the catalogue knows no xGMI links of %s; --accelerator "
        "names another",
        machine->accelerator);
    return;
  }
  if (is_mesh_of_dies (machine, n, n_peers)) {
    for (guint i = 0; i < G_N_ELEMENTS (mi250x_wires); i++)
      fab_imported_machine_join (machine, parts[mi250x_wires[i].a], parts[mi250x_wires[i].b], link,
                                 mi250x_wires[i].count);
    fab_imported_machine_infer (
        machine, line,
        "xGMI: the text says that %u dies are peers and not which links join them; they "
        "are wired as in the catalogue's node mi250x",
        n);
    return;
  }
  if (n_peers > n_links) {
    add_ring (machine, n, is_wired, parts, link);
    fab_imported_machine_infer (
        machine, line,
        "xGMI: %s has %u links for %u peers, so that the GPUs of a hive are a ring in "
        "their order",
        machine->accelerator, n_links, n_peers);
    return;
  }
  for (guint i = 0; i < n; i++)
    for (guint j = i + 1; j < n; j++)
      if (is_wired[i * n + j])
        fab_imported_machine_join (machine, parts[i], parts[j], link, 1);
  fab_imported_machine_infer (
      machine, line, "one %s on each of the %u pairs with xGMI: the text does not count links%s", link,
      machine->links->len,
      g_str_has_prefix (machine->accelerator, "mi250") ? " (MI250X has up to four on some)" : "");
}

/* --- NVLinks of POWER9 --- */

enum { V100_LINKS = 6 };

gboolean
fab_nvlink_power9 (FabImportedMachine *machine, guint line, guint n, const guint *parts)
{
  guint n_hosts = fab_imported_machine_count (machine, FAB_IMPORTED_MACHINE_HOST), n_beside, count;

  if (g_strcmp0 (machine->socket_link, "xbus-power9") != 0
      || !g_str_has_prefix (machine->accelerator, "v100-sxm2") || n % n_hosts != 0)
    return FALSE;
  n_beside = n / n_hosts;
  count = V100_LINKS / n_beside;
  if (n_beside > 3)
    return FALSE;
  for (guint i = 0; i < n; i++) {
    guint host = fab_imported_machine_host (machine, parts[i]);

    fab_imported_machine_join (machine, parts[i], host, "nvlink2-power9", count);
    for (guint j = i + 1; j < n; j++)
      if (fab_imported_machine_host (machine, parts[j]) == host)
        fab_imported_machine_join (machine, parts[i], parts[j], "nvlink2", count);
  }
  fab_imported_machine_infer (
      machine, line,
      "NVLink: %u links of each V100 to its POWER9 and to each other V100 beside it, as "
      "in IBM's AC922, the only machine that joins the two; the text does not show them",
      count);
  return TRUE;
}
