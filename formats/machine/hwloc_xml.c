/* SPDX-License-Identifier: Apache-2.0 */
/* hwloc_xml.c - hwloc's XML (`lstopo --of xml`), version 2 and later.
 *
 * Packages hold host bridges (Bridge of bridge_type 0-1), these hold PCI bridges (1-1) and devices. hwloc shows
 * every port, so going down from a host bridge it is root port, upstream port, downstream port, ...: every second one
 * is a switch, as NCCL counts too. A device that hangs above all packages belongs to the first.
 */
#include <string.h>

#include "formats/machine/known.h"
#include "formats/text/xml.h"

typedef struct {
  FabImportedMachine *machine;
  const FabFileText *file;
  GPtrArray *gpus;   /* FabXml */
  GArray *gpu_parts; /* guint, as gpus */
} Reader;

static gboolean
is_type (const FabXml *object, const char *type)
{
  return fab_xml_is (object, "object") && g_strcmp0 (fab_xml_get (object, "type"), type) == 0;
}

/* Reads the hexadecimal digits behind a mark in pci_type="0302 [10de:06d2] [00de:0030] a3 00". */
static guint
hex_after (const FabXml *device, char mark, guint length)
{
  const char *text = fab_xml_get (device, "pci_type"), *start = text && mark ? strchr (text, mark) : text;
  g_autofree char *digits = start ? g_strndup (start + (mark ? 1 : 0), length) : NULL;
  guint64 value;

  return digits && g_ascii_string_to_unsigned (digits, 16, 0, G_MAXUINT, &value, NULL) ? (guint) value : 0;
}

/* Accepts display and compute cards of NVIDIA and AMD, not the graphics of a management controller. */
static gboolean
is_gpu (const FabXml *object)
{
  guint class = hex_after (object, '\0', 4) >> 8, vendor = hex_after (object, '[', 4);

  return is_type (object, "PCIDev") && (class == 0x03 || class == 0x12)
      && (vendor == 0x10de || (vendor == 0x1002 && (class == 0x12 || hex_after (object, '\0', 4) == 0x0380)));
}

/* Returns the OpenFabrics device of a NIC ("mlx5_0"); NULL for a plain network card. From hwloc 3 on osdev_type is a
 * set of bits. */
static const char *
fabrics_device (const FabXml *object)
{
  for (guint i = 0; is_type (object, "PCIDev") && i < object->children->len; i++) {
    const FabXml *child = g_ptr_array_index (object->children, i);
    guint type = is_type (child, "OSDev") ? fab_xml_number (child, "osdev_type", 0) : 0;

    if (type == 3 || type == 32
        || (type != 0 && g_strcmp0 (fab_xml_get (child, "subtype"), "OpenFabrics") == 0))
      return fab_xml_get (child, "name") ? fab_xml_get (child, "name") : "";
  }
  return NULL;
}

static gboolean
holds_device (const FabXml *object)
{
  if (is_gpu (object) || fabrics_device (object))
    return TRUE;
  for (guint i = 0; i < object->children->len; i++)
    if (holds_device (g_ptr_array_index (object->children, i)))
      return TRUE;
  return FALSE;
}

static void
collect_gpus (Reader *reader, const FabXml *object)
{
  if (is_gpu (object))
    g_ptr_array_add (reader->gpus, (gpointer) object);
  for (guint i = 0; i < object->children->len; i++)
    collect_gpus (reader, g_ptr_array_index (object->children, i));
}

/* Returns the widest PCIe link of the rate that hwloc prints: GB/s, one direction, without line coding, which costs
 * generations 1 and 2 20 %. */
static const char *
link_of (Reader *reader, const FabXml *device)
{
  static const double lane_GBps[] = { 0.25, 0.5, 0.984615, 1.969231, 3.938462, 7.563, 15.125 };
  const char *text = fab_xml_get (device, "pci_link_speed");
  double rate = text ? g_ascii_strtod (text, NULL) : 0;

  for (guint lanes = 16; lanes >= 1; lanes /= 2)
    for (guint generation = 1; generation <= G_N_ELEMENTS (lane_GBps); generation++) {
      double expected = lane_GBps[generation - 1] * lanes;
      if (rate > 0.99 * expected && rate < 1.01 * expected) {
        fab_imported_machine_infer (reader->machine, device->line,
                                    "PCIe: the widest link that gives the printed GB/s");
        return fab_known_pcie (reader->machine, device->line, generation, lanes);
      }
    }
  guint generation = fab_known_accelerator (reader->machine->accelerator)->pcie_generation;
  fab_imported_machine_infer (reader->machine, device->line,
                              "PCIe: generation %u x16 where the file has no known pci_link_speed",
                              generation);
  return fab_known_pcie (reader->machine, device->line, generation, 16);
}

static void add_below (Reader *reader, const FabXml *object, guint parent, guint n_bridges);

static void
add_object (Reader *reader, const FabXml *object, guint parent, guint n_bridges)
{
  FabImportedMachine *machine = reader->machine;
  guint part;

  if (!holds_device (object))
    return;
  if (is_gpu (object)) {
    part = fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_GPU, parent, link_of (reader, object),
                                     G_MAXUINT);
    g_array_append_val (reader->gpu_parts, part);
  } else if (fabrics_device (object)) {
    fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_NIC, parent, link_of (reader, object), G_MAXUINT);
  } else if (is_type (object, "Bridge") && g_strcmp0 (fab_xml_get (object, "bridge_type"), "1-1") == 0) {
    part = n_bridges % 2 == 0 ? parent
                              : fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_SWITCH, parent,
                                                          link_of (reader, object), G_MAXUINT);
    add_below (reader, object, part, n_bridges + 1);
  } else
    add_below (reader, object, parent, n_bridges);
}

static void
add_below (Reader *reader, const FabXml *object, guint parent, guint n_bridges)
{
  for (guint i = 0; i < object->children->len; i++)
    add_object (reader, g_ptr_array_index (object->children, i), parent, n_bridges);
}

static gboolean
is_host_bridge (const FabXml *object)
{
  return is_type (object, "Bridge") && g_strcmp0 (fab_xml_get (object, "bridge_type"), "0-1") == 0;
}

static guint
count_host_bridges (const FabXml *object)
{
  guint n = is_host_bridge (object) && holds_device (object);

  for (guint i = 0; i < object->children->len; i++)
    n += count_host_bridges (g_ptr_array_index (object->children, i));
  return n;
}

/* Adds host bridges as vertices only where a host has several: their devices are then NODE apart. */
static void
add_host_bridges (Reader *reader, const FabXml *object, guint host, gboolean are_vertices)
{
  for (guint i = 0; i < object->children->len; i++) {
    const FabXml *child = g_ptr_array_index (object->children, i);

    if (is_host_bridge (child) && holds_device (child)) {
      guint generation = fab_known_accelerator (reader->machine->accelerator)->pcie_generation;
      guint above = are_vertices ? fab_imported_machine_add (
                        reader->machine, FAB_IMPORTED_MACHINE_BRIDGE, host,
                        fab_known_pcie (reader->machine, child->line, generation, 16), G_MAXUINT)
                                 : host;
      add_below (reader, child, above, 0);
    } else if (!is_type (child, "Package"))
      add_host_bridges (reader, child, host, are_vertices);
  }
}

static const FabXml *
find_type (const FabXml *object, const char *type)
{
  if (is_type (object, type))
    return object;
  for (guint i = 0; i < object->children->len; i++) {
    const FabXml *found = find_type (g_ptr_array_index (object->children, i), type);
    if (found)
      return found;
  }
  return NULL;
}

static void
add_packages (Reader *reader, const FabXml *object)
{
  if (is_type (object, "Package") && holds_device (object)) {
    guint host = fab_imported_machine_add (reader->machine, FAB_IMPORTED_MACHINE_HOST,
                                           FAB_IMPORTED_MACHINE_NO_PARENT, NULL, G_MAXUINT);
    add_host_bridges (reader, object, host, count_host_bridges (object) > 1);
    return;
  }
  for (guint i = 0; i < object->children->len; i++)
    add_packages (reader, g_ptr_array_index (object->children, i));
}

/* Adds the bridges beside the packages: the machine has one package, or does not say which package they belong to. */
static void
add_outside (Reader *reader, const FabXml *machine)
{
  guint n_inside = 0, n = count_host_bridges (machine);

  for (guint i = 0; i < machine->children->len; i++)
    if (find_type (g_ptr_array_index (machine->children, i), "Package"))
      n_inside += count_host_bridges (g_ptr_array_index (machine->children, i));
  if (n == n_inside)
    return;
  guint host = fab_imported_machine_count (reader->machine, FAB_IMPORTED_MACHINE_HOST) > 0
                 ? 0
                 : fab_imported_machine_add (reader->machine, FAB_IMPORTED_MACHINE_HOST,
                                             FAB_IMPORTED_MACHINE_NO_PARENT, NULL, G_MAXUINT);
  add_host_bridges (reader, machine, host, n - n_inside > 1);
}

static const char *
info (const FabXml *object, const char *name)
{
  for (guint i = 0; object && i < object->children->len; i++) {
    const FabXml *child = g_ptr_array_index (object->children, i);
    if (fab_xml_is (child, "info") && g_strcmp0 (fab_xml_get (child, "name"), name) == 0)
      return fab_xml_get (child, "value");
  }
  return NULL;
}

static void
choose_accelerator (Reader *reader)
{
  FabImportedMachine *machine = reader->machine;
  const FabXml *gpu = g_ptr_array_index (reader->gpus, 0);
  guint vendor = hex_after (gpu, '[', 4), device = hex_after (gpu, ':', 4);
  const char *name = fab_known_pci (vendor, device);

  if (machine->accelerator)
    return;
  if (name)
    fab_imported_machine_read (machine, gpu->line, "accelerator: %s, by its PCI id %04x:%04x", name, vendor,
                               device);
  else {
    name = vendor == 0x1002 ? "mi50" : "l40s";
    fab_imported_machine_infer (machine, gpu->line,
                                "accelerator: %s stands in for PCI id %04x:%04x, which is not in the table; "
                                "--accelerator names another",
                                name, vendor, device);
  }
  machine->accelerator = name;
}

static void
choose_port (Reader *reader)
{
  guint n = fab_imported_machine_count (reader->machine, FAB_IMPORTED_MACHINE_NIC);

  if (n == 0) {
    reader->machine->nic = NULL;
    return;
  }
  fab_imported_machine_read (reader->machine, 0,
                             "%u NICs with an OpenFabrics device; other network cards are left out", n);
  if (reader->machine->nic == NULL)
    reader->machine->nic = fab_known_port (reader->machine, 0, FAB_PORT_UNKNOWN, NULL, 0);
}

static void
choose_sockets (Reader *reader, const FabXml *topology)
{
  const FabXml *package = find_type (topology, "Package");
  const char *vendor = info (package, "CPUVendor"), *family = info (package, "CPUFamilyNumber"),
             *model = info (package, "CPUModelNumber"), *found = NULL;
  guint64 family_number, model_number;

  if (vendor && family && model && g_ascii_string_to_unsigned (family, 10, 0, 999, &family_number, NULL)
      && g_ascii_string_to_unsigned (model, 10, 0, 999, &model_number, NULL))
    found = fab_known_socket (vendor, (guint) family_number, (guint) model_number);
  fab_nvlink_sockets (reader->machine, package ? package->line : 0, found);
}

static gboolean
read_topology (Reader *reader, const FabXml *topology, GError **error)
{
  const FabXml *root = find_type (topology, "Machine");

  if (!fab_xml_is (topology, "topology"))
    return fab_file_text_fail (reader->file, topology->line, error,
                               "the first element is <%s>, not <topology>", topology->name);
  if (root == NULL)
    return fab_file_text_fail (reader->file, topology->line, error, "an object of type Machine is missing");
  collect_gpus (reader, root);
  if (reader->gpus->len == 0)
    return fab_file_text_fail (
        reader->file, root->line, error,
        "there is no GPU, that is no PCIDev of NVIDIA or AMD; was lstopo run with --no-io?");
  choose_accelerator (reader);
  add_packages (reader, root);
  add_outside (reader, root);
  if (reader->gpu_parts->len != reader->gpus->len)
    return fab_file_text_fail (reader->file, root->line, error,
                               "there are %u GPUs, but only %u of them are below a host bridge",
                               reader->gpus->len, reader->gpu_parts->len);
  if (reader->gpus->len > FAB_IMPORT_MAX_GPUS || reader->machine->parts->len > FAB_IMPORT_MAX_PARTS)
    return fab_file_text_fail (reader->file, root->line, error,
                               "the machine has more than %d GPUs or %d parts", FAB_IMPORT_MAX_GPUS,
                               FAB_IMPORT_MAX_PARTS);
  fab_imported_machine_read (reader->machine, root->line,
                             "%u GPUs below %u packages, with the PCIe bridges between", reader->gpus->len,
                             fab_imported_machine_count (reader->machine, FAB_IMPORTED_MACHINE_HOST));
  fab_nvlink_assume (reader->machine, root->line, reader->gpu_parts->len,
                     (const guint *) (gpointer) reader->gpu_parts->data);
  choose_port (reader);
  choose_sockets (reader, topology);
  return TRUE;
}

static gboolean
hwloc_xml_recognises (const FabFileText *text)
{
  return fab_xml_begins_with (text->text, "topology");
}

static gboolean
hwloc_xml_read (FabImportedMachine *machine, const FabImportRequest *request, GError **error)
{
  const FabFileText *file = &request->file;
  g_autoptr (FabXml) topology = fab_xml_parse (file, error);
  Reader reader = { .machine = machine, .file = file };

  if (topology == NULL)
    return FALSE;
  reader.gpus = g_ptr_array_new ();
  reader.gpu_parts = g_array_new (FALSE, FALSE, sizeof (guint));
  gboolean is_good = read_topology (&reader, topology, error);
  g_ptr_array_unref (reader.gpus);
  g_array_unref (reader.gpu_parts);
  return is_good;
}

const FabFileFormat fab_file_hwloc = {
  .name = "hwloc",
  .tool = "lstopo --of xml",
  .kind = FAB_FILE_MACHINE,
  .recognises = hwloc_xml_recognises,
  .read.machine = hwloc_xml_read,
};
