/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_xml.c - what NCCL and RCCL write to NCCL_TOPO_DUMP_FILE and read from NCCL_TOPO_FILE.
 *
 * system > cpu > pci > ... > pci > gpu > nvlink | xgmi | c2c, and pci > nic > net. A pci with class 0x0604 is a PCIe
 * switch: NCCL leaves the ports out when it walks up from a device. Files for cloud machines often have no gpu and
 * net.
 */
#include <string.h>

#include "formats/machine/known.h"
#include "formats/text/xml.h"
#include "sim/base/units.h"

enum { CLASS_BRIDGE = 0x0604, CLASS_NVSWITCH = 0x0680, CLASS_ETHERNET = 0x0200, CLASS_INFINIBAND = 0x0207 };
enum { VENDOR_AMAZON = 0x1d0f };

typedef struct {
  FabImportedMachine *machine;
  const FabFileText *file;
  GHashTable *parts; /* lower-case busid -> part + 1 */
  GPtrArray *gpus;   /* FabXml: the GPUs' pci elements, in the order of the file */
  GPtrArray *nics;   /* FabXml: net elements, or pci elements of NICs without one */
  GArray *gpu_parts; /* guint: index in `machine` of each of `gpus` */
  guint top_speed;   /* Mb/s of the fastest port */
} FabNcclReader;

/* Adds the NVLink, xGMI and C2C elements of a topology file as wires. */

/* Returns the first child of that name; NULL: none. `element` may be NULL. */
static const FabXml *
nccl_child (const FabXml *element, const char *name)
{
  for (guint i = 0; element && i < element->children->len; i++)
    if (fab_xml_is (g_ptr_array_index (element->children, i), name))
      return g_ptr_array_index (element->children, i);
  return NULL;
}

/* Adds a link to another accelerator once: the file lists it at both ends, and the first counts. */
static gboolean
add_peer (FabNcclReader *reader, guint part, const FabXml *link, guint count, GError **error)
{
  const char *target = fab_xml_get (link, "target"),
             *entry = fab_xml_is (link, "xgmi") ? fab_xgmi_link (reader->machine->accelerator)
                                                : fab_known_accelerator (reader->machine->accelerator)->link;
  g_autofree char *busid = g_ascii_strdown (target ? target : "", -1);
  guint peer = GPOINTER_TO_UINT (g_hash_table_lookup (reader->parts, busid));

  if (peer == 0 || peer - 1 == part)
    return fab_file_text_fail (reader->file, link->line, error,
                               "<%s target=\"%s\">: no other GPU has this busid", link->name,
                               target ? target : "");
  if (entry == NULL)
    return fab_file_text_fail (
        reader->file, link->line, error,
        "<%s>, but the catalogue knows no such links of %s; --accelerator names another", link->name,
        reader->machine->accelerator);
  if (part < peer - 1)
    fab_imported_machine_join (reader->machine, part, peer - 1, entry, count);
  return TRUE;
}

/* Adds a link of the scale-up network; *to_switch counts links that end at an NVSwitch. */
static gboolean
add_scale_up (FabNcclReader *reader, guint part, const FabXml *link, guint *to_switch, GError **error)
{
  guint tclass = fab_xml_number (link, "tclass", G_MAXUINT), count = fab_xml_number (link, "count", 1);
  gboolean is_nvlink = fab_xml_is (link, "nvlink");

  if (fab_xml_is (link, "c2c")) {
    fab_imported_machine_join (reader->machine, part, fab_imported_machine_host (reader->machine, part),
                               "nvlink-c2c", 1);
    return TRUE;
  }
  if (!is_nvlink && !fab_xml_is (link, "xgmi"))
    return TRUE;
  if (count < 1 || count > 64)
    return fab_file_text_fail (reader->file, link->line, error, "<%s count=\"%s\">: from 1 to 64", link->name,
                               fab_xml_get (link, "count"));
  if (is_nvlink && fab_known_accelerator (reader->machine->accelerator)->n_links > 0
      && count > fab_known_accelerator (reader->machine->accelerator)->n_links)
    fab_imported_machine_infer (
        reader->machine, link->line,
        "%u NVLinks in line %u, and %s has %u: is it another accelerator? --accelerator names it", count,
        link->line, reader->machine->accelerator,
        fab_known_accelerator (reader->machine->accelerator)->n_links);
  if (is_nvlink && tclass == 0x068001) /* the other end is a CPU of POWER */
    fab_imported_machine_join (reader->machine, part, fab_imported_machine_host (reader->machine, part),
                               "nvlink2-power9", count);
  else if (is_nvlink && tclass >> 8 == CLASS_NVSWITCH)
    *to_switch += count;
  else
    return add_peer (reader, part, link, count, error);
  return TRUE;
}

/* Adds the links in the <gpu> elements: nvlink, xgmi, c2c. If there are none, adds those that machines with that
 * accelerator usually have. */
static gboolean
nccl_add_links (FabNcclReader *reader, GError **error)
{
  FabImportedMachine *machine = reader->machine;
  guint centre = FAB_IMPORTED_MACHINE_NO_PARENT;

  for (guint i = 0; i < reader->gpus->len; i++) {
    const FabXml *gpu = nccl_child (g_ptr_array_index (reader->gpus, i), "gpu");
    guint part = g_array_index (reader->gpu_parts, guint, i), to_switch = 0;

    for (guint j = 0; gpu && j < gpu->children->len; j++)
      if (!add_scale_up (reader, part, g_ptr_array_index (gpu->children, j), &to_switch, error))
        return FALSE;
    if (to_switch == 0)
      continue;
    if (centre == FAB_IMPORTED_MACHINE_NO_PARENT) {
      const char *entry = fab_known_accelerator (machine->accelerator)->link;
      centre = fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_SCALE_UP,
                                         FAB_IMPORTED_MACHINE_NO_PARENT, NULL, 0);
      fab_imported_machine_infer (machine, gpu->line, "the NVSwitches are one switch%s",
                                  entry ? "" : ", and the links nvlink3");
    }
    const char *entry = fab_known_accelerator (machine->accelerator)->link;
    fab_imported_machine_join (machine, part, centre, entry ? entry : "nvlink3", to_switch);
  }
  if (machine->links->len > 0)
    fab_imported_machine_read (machine, 0, "%u %s between GPUs, or of GPUs and their switch",
                               machine->links->len, fab_plural (machine->links->len, "wire", "wires"));
  else
    fab_nvlink_assume (machine, 0, reader->gpu_parts->len,
                       (const guint *) (gpointer) reader->gpu_parts->data);
  return TRUE;
}

static guint
class_of (const FabXml *pci)
{
  return fab_xml_number (pci, "class", 0) >> 8;
}

static gboolean
is_gpu (const FabXml *pci)
{
  guint class = class_of (pci);

  return fab_xml_is (pci, "pci") && (class >> 8 == 0x03 || class >> 8 == 0x12);
}

static gboolean
is_nic (const FabXml *pci)
{
  return fab_xml_is (pci, "pci") && (class_of (pci) == CLASS_ETHERNET || class_of (pci) == CLASS_INFINIBAND);
}

/* Collects every element below, in the order of the text. */
static void
collect (FabNcclReader *reader, const FabXml *element)
{
  if (is_gpu (element))
    g_ptr_array_add (reader->gpus, (gpointer) element);
  if (is_nic (element))
    g_ptr_array_add (reader->nics, (gpointer) element);
  if (fab_xml_is (element, "net") && fab_known_is_port_speed (fab_xml_number (element, "speed", 0)))
    reader->top_speed = MAX (reader->top_speed, fab_xml_number (element, "speed", 0));
  for (guint i = 0; i < element->children->len; i++)
    collect (reader, g_ptr_array_index (element->children, i));
}

/* Returns a NIC's fastest port; NULL: the file lists none. */
static const FabXml *
fastest_net (const FabXml *pci)
{
  const FabXml *best = NULL;

  for (guint i = 0; i < pci->children->len; i++) {
    const FabXml *nic = g_ptr_array_index (pci->children, i);

    for (guint j = 0; fab_xml_is (nic, "nic") && j < nic->children->len; j++) {
      const FabXml *net = g_ptr_array_index (nic->children, j);

      if (fab_xml_is (net, "net")
          && (best == NULL || fab_xml_number (net, "speed", 0) > fab_xml_number (best, "speed", 0)))
        best = net;
    }
  }
  return best;
}

/* Returns the speed in Mb/s of a NIC's fastest port; 0: the file does not say. */
static guint
port_speed (const FabXml *pci)
{
  const FabXml *net = fastest_net (pci);

  return net ? fab_xml_number (net, "speed", 0) : 0;
}

static gboolean
is_wanted_nic (const FabNcclReader *reader, const FabXml *pci)
{
  guint speed = port_speed (pci);

  return speed == 0 || speed == reader->top_speed || !fab_known_is_port_speed (speed);
}

/* What the file says of a GPU that is not in the table. */
static const char *
unknown_id (FabImportedMachine *machine, guint vendor, guint device)
{
  if (device == 0)
    return " and the file gives no PCI id";
  return fab_imported_machine_text (machine, " and its PCI id %04x:%04x is not in the table", vendor, device);
}

/* Chooses the accelerator by the first GPU: by its PCI id, else its architecture, else its PCIe rate. */
static void
choose_accelerator (FabNcclReader *reader)
{
  FabImportedMachine *machine = reader->machine;
  const FabXml *pci = g_ptr_array_index (reader->gpus, 0), *gpu = nccl_child (pci, "gpu");
  const char *gfx = gpu ? fab_xml_get (gpu, "gcn") : NULL;
  guint vendor = fab_xml_number (pci, "vendor", 0), device = fab_xml_number (pci, "device", 0);
  const char *name;
  guint generation = fab_known_pcie_generation (fab_xml_get (pci, "link_speed"));

  if (machine->accelerator || fab_known_accelerator_by_pci (machine, pci->line, vendor, device))
    return;
  if (gpu
      && (name = gfx ? fab_known_gfx (gfx) : fab_known_sm (fab_xml_number (gpu, "sm", G_MAXUINT))) != NULL)
    fab_imported_machine_infer (
        machine, pci->line,
        "accelerator: %s, the usual one of its architecture (%s %s)%s; --accelerator names another", name,
        gfx ? "gcn" : "sm", gfx ? gfx : fab_xml_get (gpu, "sm"), unknown_id (machine, vendor, device));
  else {
    name = gfx             ? "mi250x-gcd"
         : generation >= 5 ? "h100-sxm5-80gb"
         : generation == 4 ? "a100-sxm4-80gb"
                           : "v100-sxm2-16gb";
    fab_imported_machine_infer (
        machine, pci->line,
        "accelerator: %s stands in, as its PCIe is generation %u%s; --accelerator names the real one", name,
        generation, unknown_id (machine, vendor, device));
  }
  machine->accelerator = name;
}

static const char *
link_of (FabNcclReader *reader, const FabXml *pci)
{
  guint generation = fab_known_pcie_generation (fab_xml_get (pci, "link_speed")),
        lanes = fab_xml_number (pci, "link_width", 0);
  const FabKnownAccelerator *known = fab_known_accelerator (reader->machine->accelerator);

  if (lanes > 32)
    fab_imported_machine_infer (
        reader->machine, pci->line,
        "PCIe: x16 where the file has link_width %u, which no link has; virtual machines print it", lanes);
  if (generation == 0 || lanes == 0) {
    fab_imported_machine_infer (reader->machine, pci->line,
                                "PCIe: generation %u x16 where the file has no link_speed and link_width",
                                known->pcie_generation);
    return fab_known_usual_pcie (reader->machine);
  }
  return fab_known_pcie (reader->machine, pci->line, generation, lanes);
}

static gboolean
holds_device (const FabNcclReader *reader, const FabXml *pci)
{
  if (is_gpu (pci) || (is_nic (pci) && is_wanted_nic (reader, pci)))
    return TRUE;
  for (guint i = 0; i < pci->children->len; i++)
    if (holds_device (reader, g_ptr_array_index (pci->children, i)))
      return TRUE;
  return FALSE;
}

static void
remember (FabNcclReader *reader, const FabXml *pci, guint part)
{
  const char *busid = fab_xml_get (pci, "busid");

  if (busid)
    g_hash_table_insert (reader->parts, g_ascii_strdown (busid, -1), GUINT_TO_POINTER (part + 1));
}

/* NCCL's guid is that of the whole card (sys_image_guid). */
static void
add_nic (FabImportedMachine *machine, guint parent, const char *link, const FabXml *net)
{
  guint part = fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_NIC, parent, link, G_MAXUINT);
  FabImportedMachinePart *nic = fab_imported_machine_part (machine, part);
  const char *name = net ? fab_xml_get (net, "name") : NULL, *guid = net ? fab_xml_get (net, "guid") : NULL;

  if (name != NULL)
    nic->name = fab_imported_machine_text (machine, "%s", name);
  if (guid != NULL && g_str_has_prefix (guid, "0x"))
    nic->guid = g_ascii_strtoull (guid + 2, NULL, 16);
  nic->port = net ? fab_xml_number (net, "port", 0) : 0;
}

static void
add_pci (FabNcclReader *reader, const FabXml *pci, guint parent)
{
  FabImportedMachine *machine = reader->machine;
  const FabXml *gpu = nccl_child (pci, "gpu");
  guint part = parent;

  if (!fab_xml_is (pci, "pci") || !holds_device (reader, pci))
    return;
  if (is_gpu (pci)) {
    guint order = gpu ? fab_xml_number (gpu, "dev", G_MAXUINT) : G_MAXUINT;

    part = fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_GPU, parent, link_of (reader, pci), order);
    remember (reader, pci, part);
    g_array_append_val (reader->gpu_parts, part);
    return;
  }
  if (is_nic (pci)) {
    add_nic (machine, parent, link_of (reader, pci), fastest_net (pci));
    return;
  }
  if (class_of (pci) == CLASS_BRIDGE)
    part = fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_SWITCH, parent, link_of (reader, pci),
                                     G_MAXUINT);
  for (guint i = 0; i < pci->children->len; i++)
    add_pci (reader, g_ptr_array_index (pci->children, i), part);
}

static gboolean
add_cpu (FabNcclReader *reader, const FabXml *cpu)
{
  guint host;

  if (!fab_xml_is (cpu, "cpu"))
    return FALSE;
  for (guint i = 0; i < cpu->children->len; i++)
    if (holds_device (reader, g_ptr_array_index (cpu->children, i))) {
      host = fab_imported_machine_add (reader->machine, FAB_IMPORTED_MACHINE_HOST,
                                       FAB_IMPORTED_MACHINE_NO_PARENT, NULL, G_MAXUINT);
      for (guint j = 0; j < cpu->children->len; j++)
        add_pci (reader, g_ptr_array_index (cpu->children, j), host);
      return TRUE;
    }
  return FALSE;
}

static void
choose_port (FabNcclReader *reader)
{
  FabImportedMachine *machine = reader->machine;
  const FabXml *first = NULL, *slower = NULL, *strange = NULL;
  guint n = fab_imported_machine_count (machine, FAB_IMPORTED_MACHINE_NIC);

  for (guint i = reader->nics->len; i-- > 0;) {
    const FabXml *nic = g_ptr_array_index (reader->nics, i);
    gboolean is_strange = !fab_known_is_port_speed (port_speed (nic));

    *(is_strange ? &strange : is_wanted_nic (reader, nic) ? &first : &slower) = nic;
  }
  if (n == 0) {
    machine->nic = NULL;
    return;
  }
  if (first != NULL && strange != NULL)
    fab_imported_machine_infer (
        machine, strange->line,
        "a speed in line %u is more than any port has, so that NIC counts as the others do; what "
        "unit was meant?",
        strange->line);
  first = first != NULL ? first : strange;
  fab_imported_machine_read (machine, first->line, "%u %s", n, fab_plural (n, "NIC", "NICs"));
  if (n < reader->nics->len)
    fab_imported_machine_leave_out (machine, slower ? slower->line : 0, "left out: %u %s %s",
                                    reader->nics->len - n,
                                    fab_plural (reader->nics->len - n, "NIC that is", "NICs that are"),
                                    slower ? "slower than the others" : "below no <cpu>");
  const FabXml *net = fastest_net (first);
  const char *name = net ? fab_xml_get (net, "name") : NULL;
  guint speed = port_speed (first);
  FabPortKind kind = class_of (first) == CLASS_INFINIBAND ? FAB_PORT_INFINIBAND : FAB_PORT_ETHERNET;

  if (machine->nic == NULL && (speed == 0 || fab_xml_number (first, "vendor", 0) == VENDOR_AMAZON))
    machine->nic = fab_known_port_by_pci (machine, first->line, fab_xml_number (first, "vendor", 0),
                                          fab_xml_number (first, "device", 0), kind);
  if (machine->nic == NULL)
    machine->nic = fab_known_port (machine, first->line, kind, name, speed);
}

static void
choose_sockets (FabNcclReader *reader, const FabXml *system)
{
  const FabXml *cpu = nccl_child (system, "cpu");
  const char *vendor = cpu ? fab_xml_get (cpu, "vendor") : NULL, *found = NULL, *called = NULL;

  if (cpu && g_strcmp0 (fab_xml_get (cpu, "arch"), "arm64") == 0)
    found = "nv-grace-socket";
  else if (cpu && g_strcmp0 (fab_xml_get (cpu, "arch"), "ppc64") == 0)
    found = "xbus-power9";
  else if (cpu)
    found = fab_known_socket (vendor, fab_xml_number (cpu, "familyid", 0),
                              fab_xml_number (cpu, "modelid", 0));
  if (found)
    fab_imported_machine_read (reader->machine, cpu->line, "CPU %s family %s model %s, so %s between hosts",
                               vendor ? vendor : "",
                               fab_xml_get (cpu, "familyid") ? fab_xml_get (cpu, "familyid") : "-",
                               fab_xml_get (cpu, "modelid") ? fab_xml_get (cpu, "modelid") : "-", found);
  if (cpu && (vendor || fab_xml_get (cpu, "arch")))
    called = fab_imported_machine_text (reader->machine, "%s family %u model %u",
                                        vendor ? vendor : fab_xml_get (cpu, "arch"),
                                        fab_xml_number (cpu, "familyid", 0),
                                        fab_xml_number (cpu, "modelid", 0));
  fab_nvlink_sockets (reader->machine, cpu ? cpu->line : 0, called, found);
}

static gboolean
read_system (FabNcclReader *reader, const FabXml *system, GError **error)
{
  guint n_hosts = 0;

  if (!fab_xml_is (system, "system"))
    return fab_file_text_fail (reader->file, system->line, error, "the first element is <%s>, not <system>",
                               system->name);
  collect (reader, system);
  if (reader->gpus->len == 0)
    return fab_file_text_fail (reader->file, system->line, error,
                               "there is no GPU, that is no <pci> of class 0x03.... or 0x12....");
  if (reader->gpus->len > FAB_IMPORT_MAX_GPUS || reader->nics->len > FAB_IMPORT_MAX_GPUS)
    return fab_file_text_fail (reader->file, system->line, error, "the machine has more than %d GPUs or NICs",
                               FAB_IMPORT_MAX_GPUS);
  choose_accelerator (reader);
  for (guint i = 0; i < system->children->len; i++)
    n_hosts += add_cpu (reader, g_ptr_array_index (system->children, i));
  if (reader->gpu_parts->len != reader->gpus->len)
    return fab_file_text_fail (
        reader->file, system->line, error,
        "there are %u GPUs, but only %u of them are below a <cpu>; all must be, and none below another GPU",
        reader->gpus->len, reader->gpu_parts->len);
  if (reader->machine->parts->len > FAB_IMPORT_MAX_PARTS)
    return fab_file_text_fail (reader->file, system->line, error, "the machine has more than %d parts",
                               FAB_IMPORT_MAX_PARTS);
  fab_imported_machine_read (reader->machine, system->line,
                             "%u %s below %u %s, with the PCIe switches between", reader->gpus->len,
                             fab_plural (reader->gpus->len, "GPU", "GPUs"), n_hosts,
                             fab_plural (n_hosts, "host (NUMA node)", "hosts (NUMA nodes)"));
  if (!nccl_add_links (reader, error))
    return FALSE;
  choose_port (reader);
  choose_sockets (reader, system);
  return TRUE;
}

static gboolean
nccl_xml_recognises (const FabFileText *text)
{
  return fab_xml_begins_with (text->text, "system");
}

static gboolean
nccl_xml_read (FabImportedMachine *machine, const FabImportRequest *request, GError **error)
{
  const FabFileText *file = &request->file;
  g_autoptr (FabXml) system = fab_xml_parse (file, error);
  FabNcclReader reader = { .machine = machine, .file = file };

  if (system == NULL)
    return FALSE;
  reader.parts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  reader.gpus = g_ptr_array_new ();
  reader.nics = g_ptr_array_new ();
  reader.gpu_parts = g_array_new (FALSE, FALSE, sizeof (guint));
  gboolean is_good = read_system (&reader, system, error);
  g_hash_table_unref (reader.parts);
  g_ptr_array_unref (reader.gpus);
  g_ptr_array_unref (reader.nics);
  g_array_unref (reader.gpu_parts);
  return is_good;
}

const FabFileFormat fab_file_nccl_xml = {
  .name = "nccl-xml",
  .tool = "NCCL_TOPO_DUMP_FILE",
  .help = "the file that NCCL_TOPO_DUMP_FILE names (NCCL, RCCL)",
  .kind = FAB_FILE_MACHINE,
  .recognises = nccl_xml_recognises,
  .read.machine = nccl_xml_read,
};
