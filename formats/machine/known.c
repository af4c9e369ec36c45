/* SPDX-License-Identifier: Apache-2.0 */
/* known.c - tables only; docs/how-to/import.md says the rules in words.
 *
 * PCI ids: the public pci.ids list. CPUID models: NVIDIA/nccl src/graph/topo.cc and Linux intel-family.h.
 */
#include "formats/machine/known.h"

#include <string.h>

static const FabKnownAccelerator accelerators[] = {
  /* prefix, links, link, switch, PCIe, NIC, EFA, sockets */
  { "p100-sxm", 4, "nvlink1", FALSE, 3, "ib-edr", "efa-v1", "qpi-socket-broadwell" },
  { "v100-sxm3", 6, "nvlink2", TRUE, 3, "ib-edr", "efa-v1", "upi-socket-skylake" },
  { "v100-sxm", 6, "nvlink2", FALSE, 3, "ib-edr", "efa-v1", "upi-socket-skylake" },
  { "rtx2080ti", 2, "nvlink2-rtx", FALSE, 3, "ib-edr", "efa-v1", "upi-socket-skylake" },
  { "t4", 0, NULL, FALSE, 3, "ib-edr", "efa-v1", "upi-socket-skylake" },
  { "a100-sxm", 12, "nvlink3", TRUE, 4, "ib-hdr", "efa-v1", "xgmi-socket-rome" },
  { "a100-pcie", 12, "nvlink3-bridge", FALSE, 4, "ib-hdr", "efa-v1", "xgmi-socket-rome" },
  { "rtx3090", 4, "nvlink3-rtx", FALSE, 4, "ib-hdr", "efa-v1", "xgmi-socket-rome" },
  { "rtx-a6000", 4, "nvlink3-rtx", FALSE, 4, "ib-hdr", "efa-v1", "xgmi-socket-rome" },
  { "h100-sxm", 18, "nvlink4", TRUE, 5, "ib-ndr", "efa-v2", "upi-socket-sapphire-rapids" },
  { "h100-pcie", 12, "nvlink4-bridge", FALSE, 5, "ib-ndr", "efa-v2", "upi-socket-sapphire-rapids" },
  { "h800", 8, "nvlink4", TRUE, 5, "ib-ndr", "efa-v2", "upi-socket-sapphire-rapids" },
  { "h200", 18, "nvlink4", TRUE, 5, "ib-ndr", "efa-v3", "upi-socket-sapphire-rapids" },
  { "gh200", 18, "nvlink4", FALSE, 5, "ib-ndr", "efa-v3", "nv-grace-socket" },
  { "b200", 18, "nvlink5", TRUE, 5, "ib-ndr", "efa-v4", "upi-socket-sapphire-rapids" },
  { "b300", 18, "nvlink5", TRUE, 6, "ib-xdr", "efa-v4", "upi-socket-emerald-rapids" },
  { "gb200", 18, "nvlink5", TRUE, 5, "ib-ndr", "efa-v4", "nv-grace-socket" },
  { "gb300", 18, "nvlink5", TRUE, 6, "ib-xdr", "efa-v4", "nv-grace-socket" },
  { "mi250x", 8, "xgmi-mi250x", FALSE, 4, "ib-hdr", "efa-v1", "xgmi-socket-rome" },
  { "mi300x", 7, "xgmi-mi300x", FALSE, 5, "ib-ndr", "efa-v2", "upi-socket-sapphire-rapids" },
  { "mi325x", 7, "xgmi-mi325x", FALSE, 5, "ib-ndr", "efa-v2", "xgmi-socket-genoa" },
  { "mi355x", 7, "xgmi-mi355x", FALSE, 5, "ib-ndr", "efa-v2", "xgmi-socket-genoa" },
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

static const struct {
  guint vendor, device;
  const char *accelerator;
} pci_ids[] = {
  { 0x10de, 0x15f9, "p100-sxm2" },
  { 0x10de, 0x1db1, "v100-sxm2-16gb" },
  { 0x10de, 0x1db5, "v100-sxm2-32gb" },
  { 0x10de, 0x1db8, "v100-sxm3-32gb" },
  { 0x10de, 0x1e04, "rtx2080ti" },
  { 0x10de, 0x1e07, "rtx2080ti" },
  { 0x10de, 0x1eb8, "t4" },
  { 0x10de, 0x20b0, "a100-sxm4-40gb" },
  { 0x10de, 0x20b2, "a100-sxm4-80gb" },
  { 0x10de, 0x20f1, "a100-pcie-40gb" },
  { 0x10de, 0x20b5, "a100-pcie-80gb" },
  { 0x10de, 0x2204, "rtx3090" },
  { 0x10de, 0x2230, "rtx-a6000" },
  { 0x10de, 0x2237, "a10g" },
  { 0x10de, 0x27b8, "l4" },
  { 0x10de, 0x26b1, "rtx6000-ada" },
  { 0x10de, 0x26b9, "l40s" },
  { 0x10de, 0x2684, "rtx4090" },
  { 0x10de, 0x2330, "h100-sxm5-80gb" },
  { 0x10de, 0x2331, "h100-pcie-80gb" },
  { 0x10de, 0x2324, "h800-sxm5" },
  { 0x10de, 0x2335, "h200-sxm5" },
  { 0x10de, 0x2342, "gh200-96gb" },
  { 0x10de, 0x2901, "b200-sxm" },
  { 0x1002, 0x66a1, "mi50" },
  { 0x1002, 0x738c, "mi100" },
  { 0x1002, 0x7408, "mi250x-gcd" },
  { 0x1002, 0x74a1, "mi300x" },
  { 0x1002, 0x74a5, "mi325x" },
  { 0x1002, 0x75a3, "mi355x" },
};

const char *
fab_known_pci (guint vendor, guint device)
{
  for (guint i = 0; i < G_N_ELEMENTS (pci_ids); i++)
    if (pci_ids[i].vendor == vendor && pci_ids[i].device == device)
      return pci_ids[i].accelerator;
  return NULL;
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

const char *
fab_known_gfx (const char *gfx)
{
  if (strcmp (gfx, "gfx906") == 0)
    return "mi50";
  if (strcmp (gfx, "gfx908") == 0)
    return "mi100";
  if (g_str_has_prefix (gfx, "gfx90a"))
    return "mi250x-gcd";
  if (g_str_has_prefix (gfx, "gfx94"))
    return "mi300x";
  return g_str_has_prefix (gfx, "gfx950") ? "mi355x" : NULL;
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
};

const char *
fab_known_socket (const char *vendor, guint family, guint model)
{
  if (family > 15 && (family & 15) == 15) /* CPUID packs it: 0x8f is family 15 + 8 */
    family = 15 + (family >> 4);
  for (guint i = 0; vendor && i < G_N_ELEMENTS (sockets); i++)
    if (strcmp (sockets[i].vendor, vendor) == 0 && sockets[i].family == family && model >= sockets[i].first
        && model <= sockets[i].last)
      return sockets[i].link;
  return NULL;
}

const char *
fab_known_pcie (FabImportedMachine *machine, guint line, guint generation, guint lanes)
{
  static const guint widths[] = { 16, 8, 4, 2, 1 };
  guint shift = generation < 3 ? 3 - generation : 0, wanted = MAX (lanes >> shift, 1), i = 0;

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

guint
fab_known_pcie_generation (const char *speed)
{
  static const double giga_transfers[] = { 2.5, 5, 8, 16, 32, 64, 128 };
  double found = speed ? g_ascii_strtod (speed, NULL) : 0;
  guint generation = 0;

  while (generation < G_N_ELEMENTS (giga_transfers) && found >= giga_transfers[generation])
    generation++;
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

static const char *
ethernet (FabImportedMachine *machine, guint line, guint gbps)
{
  static const guint speeds[] = { 25, 50, 100, 200, 400, 800, 0 };
  guint found = round_down (speeds, gbps);

  if (found != gbps)
    fab_imported_machine_infer (
        machine, line, "Ethernet at %u Gb/s is not in the catalogue: the entry of %u Gb/s stands for it",
        gbps, found);
  return fab_imported_machine_text (machine, "roce-%u", found);
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
  if (speed_mbps == 0 || kind == FAB_PORT_UNKNOWN) {
    fab_imported_machine_infer (machine, line, "NIC ports: %s, the usual ones beside %s; --nic names others",
                                known->nic, machine->accelerator);
    return known->nic;
  }
  return kind == FAB_PORT_INFINIBAND ? infiniband (machine, line, speed_mbps / 1000)
                                     : ethernet (machine, line, speed_mbps / 1000);
}

/* Holds all rules for numbers of links; docs/how-to/import.md explains them. */

/* the most links that any GPU has (H100, B200) */
enum { MOST_LINKS = 18 };

/* Returns the number of links that all pairs have; 0: pairs differ, or there are no links. */
static guint
common_count (guint n, const guint *n_links)
{
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < n; j++)
      if (i != j && n_links[i * n + j] != n_links[1])
        return 0;
  return n > 1 ? n_links[1] : 0;
}

/* Says whether a switch connects the GPUs: then every pair shows a GPU's total, while direct links add up to it. */
static gboolean
is_switched (guint n, const guint *n_links, guint n_of_accelerator)
{
  guint count = common_count (n, n_links);

  return n > 2 && count > 0 && (count * (n - 1) > MOST_LINKS || count == n_of_accelerator);
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

const char *
fab_nvlink_accelerator (FabImportedMachine *machine, guint line, guint n, const guint *n_links)
{
  guint total = links_of_gpu (n, n_links);
  const char *name = total == 0  ? "l40s"
                   : total <= 2  ? "rtx2080ti"
                   : total == 4  ? (n == 2 ? "rtx3090" : "p100-sxm2")
                   : total <= 6  ? "v100-sxm2-16gb"
                   : total <= 12 ? "a100-sxm4-80gb"
                                 : "h100-sxm5-80gb";

  if (total == 0)
    fab_imported_machine_infer (
        machine, line, "accelerator: %s stands in, as there is no NVLink; --accelerator names the real one",
        name);
  else
    fab_imported_machine_infer (
        machine, line,
        "accelerator: %s, and so the NVLink generation, from %u NVLinks per GPU (2 Turing, 4 RTX 3090 or P100, "
        "6 V100, 12 A100, 18 H100 or B200); --accelerator names another",
        name, total);
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
  guint count = common_count (n, n_links);

  if (is_switched (n, n_links, known->n_links)) {
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
    fab_imported_machine_read (machine, line, "%u of the pairs of %u GPUs are joined by NVLink, directly",
                               machine->links->len, n);
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
fab_nvlink_sockets (FabImportedMachine *machine, guint line, const char *found)
{
  machine->socket_link = found ? found : fab_known_accelerator (machine->accelerator)->socket;
  if (found == NULL && fab_imported_machine_count (machine, FAB_IMPORTED_MACHINE_HOST) > 1)
    fab_imported_machine_infer (machine, line,
                                "between hosts: %s, often seen beside %s; the text names no CPU",
                                machine->socket_link, machine->accelerator);
}
