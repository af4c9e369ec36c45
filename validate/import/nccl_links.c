/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_links.c - adds the NVLink, xGMI and C2C elements of a topology file as wires. */
#include "validate/import/nccl.h"

const FabXml *
fab_nccl_child (const FabXml *element, const char *name)
{
  for (guint i = 0; element && i < element->children->len; i++)
    if (fab_xml_is (g_ptr_array_index (element->children, i), name))
      return g_ptr_array_index (element->children, i);
  return NULL;
}

static guint
host_of (const FabMachine *machine, guint part)
{
  while (fab_machine_part (machine, part)->parent != FAB_MACHINE_NO_PARENT)
    part = fab_machine_part (machine, part)->parent;
  return part;
}

/* Adds a link to another accelerator once: the file lists it at both ends, and the first counts. */
static gboolean
add_peer (FabNcclReader *reader, guint part, const FabXml *link, guint count, GError **error)
{
  const char *target = fab_xml_get (link, "target"),
             *entry = fab_known_accelerator (reader->machine->accelerator)->link;
  g_autofree char *busid = g_ascii_strdown (target ? target : "", -1);
  guint peer = GPOINTER_TO_UINT (g_hash_table_lookup (reader->parts, busid));

  if (peer == 0 || peer - 1 == part)
    return fab_import_fail (reader->request, link->line, error,
                            "<%s target=\"%s\">: no other GPU has this busid", link->name,
                            target ? target : "");
  if (entry == NULL)
    return fab_import_fail (reader->request, link->line, error,
                            "<%s>, but %s has none; --accelerator names another", link->name,
                            reader->machine->accelerator);
  if (part < peer - 1)
    fab_machine_join (reader->machine, part, peer - 1, entry, count);
  return TRUE;
}

/* Adds a link of the scale-up network; *to_switch counts links that end at an NVSwitch. */
static gboolean
add_scale_up (FabNcclReader *reader, guint part, const FabXml *link, guint *to_switch, GError **error)
{
  guint class = fab_xml_number (link, "tclass", 0) >> 8, count = fab_xml_number (link, "count", 1);
  gboolean is_nvlink = fab_xml_is (link, "nvlink");

  if (fab_xml_is (link, "c2c")) {
    fab_machine_join (reader->machine, part, host_of (reader->machine, part), "nvlink-c2c", 1);
    return TRUE;
  }
  if (!is_nvlink && !fab_xml_is (link, "xgmi"))
    return TRUE;
  if (count < 1 || count > 64)
    return fab_import_fail (reader->request, link->line, error, "<%s count=\"%s\">: from 1 to 64", link->name,
                            fab_xml_get (link, "count"));
  if (is_nvlink && fab_xml_number (link, "tclass", 0) == 0x068001) /* the other end is a CPU of POWER */
    fab_machine_join (reader->machine, part, host_of (reader->machine, part), "nvlink2-power9", count);
  else if (is_nvlink && class == CLASS_NVSWITCH)
    *to_switch += count;
  else
    return add_peer (reader, part, link, count, error);
  return TRUE;
}

gboolean
fab_nccl_add_links (FabNcclReader *reader, GError **error)
{
  FabMachine *machine = reader->machine;
  guint centre = FAB_MACHINE_NO_PARENT;

  for (guint i = 0; i < reader->gpus->len; i++) {
    const FabXml *gpu = fab_nccl_child (g_ptr_array_index (reader->gpus, i), "gpu");
    guint part = g_array_index (reader->gpu_parts, guint, i), to_switch = 0;

    for (guint j = 0; gpu && j < gpu->children->len; j++)
      if (!add_scale_up (reader, part, g_ptr_array_index (gpu->children, j), &to_switch, error))
        return FALSE;
    if (to_switch == 0)
      continue;
    if (centre == FAB_MACHINE_NO_PARENT) {
      const char *entry = fab_known_accelerator (machine->accelerator)->link;
      centre = fab_machine_add (machine, FAB_MACHINE_SCALE_UP, FAB_MACHINE_NO_PARENT, NULL, 0);
      fab_machine_infer (machine, "the NVSwitches are one switch%s", entry ? "" : ", and the links nvlink3");
    }
    const char *entry = fab_known_accelerator (machine->accelerator)->link;
    fab_machine_join (machine, part, centre, entry ? entry : "nvlink3", to_switch);
  }
  if (machine->links->len > 0)
    fab_machine_read (machine, "%u wires between GPUs, or of GPUs and their switch", machine->links->len);
  else
    fab_nvlink_assume (machine, reader->gpu_parts->len, (const guint *) (gpointer) reader->gpu_parts->data);
  return TRUE;
}
