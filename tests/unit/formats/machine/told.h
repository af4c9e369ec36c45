/* SPDX-License-Identifier: Apache-2.0 */
/* told.h - what a reader made of the text of a machine, as lines that a test can hold against that text. */
#pragma once

#include <string.h>

#include "formats/machine/machine.h"
#include "formats/machine/network.h"
#include "tests/support/test.h"

/* Reads a text as the format that recognises it. NULL: it was refused. */
G_GNUC_UNUSED static FabImportedMachine *
read_machine (const char *format, const char *accelerator, const char *text, GError **error)
{
  const FabImportRequest request = { .file = { "x", text, strlen (text) } };
  const FabFileFormat *row = fab_file_format_of (FAB_FILE_MACHINE, &request.file);
  FabImportedMachine *machine = fab_imported_machine_new ("test");

  assert_non_null (row);
  assert_string_equal (row->name, format);
  machine->accelerator = accelerator;
  if (row->read.machine (machine, &request, error))
    return machine;
  fab_imported_machine_free (machine);
  return NULL;
}

/* "gpu 3", as `order` numbers it. */
static void
tell_part (GString *out, const FabImportedMachine *machine, guint index)
{
  static const char *const kinds[FAB_N_MACHINE_KINDS] = {
    "host", "bridge", "switch", "centre", "gpu", "nic"
  };
  const FabImportedMachinePart *part = fab_imported_machine_part (machine, index);

  g_string_append_printf (out, "%s %u", kinds[part->kind], part->order);
}

/* Every part with what it is below: "gpu 3 < switch 0, pcie5-x16". */
G_GNUC_UNUSED static char *
parts_told (const FabImportedMachine *machine)
{
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < machine->parts->len; i++) {
    const FabImportedMachinePart *part = fab_imported_machine_part (machine, i);

    tell_part (out, machine, i);
    if (part->parent != FAB_IMPORTED_MACHINE_NO_PARENT) {
      g_string_append (out, " < ");
      tell_part (out, machine, part->parent);
      g_string_append_printf (out, ", %s", part->link);
      if (part->count != 1)
        g_string_append_printf (out, " x %u", part->count);
    }
    if (part->name != NULL)
      g_string_append_printf (out, ", %s", part->name);
    if (part->guid != 0)
      g_string_append_printf (out, ", %" G_GINT64_MODIFIER "x", part->guid);
    if (part->port != 0)
      g_string_append_printf (out, ", port %u", part->port);
    g_string_append_c (out, '\n');
  }
  return g_string_free (out, FALSE);
}

/* Links that are no part of the tree of PCIe, of which a scenario has lines: "gpu0 - gpu1: nvlink2 x 4". */
G_GNUC_UNUSED static char *
links_told (const FabImportedMachine *machine)
{
  g_autofree char *node = fab_imported_machine_node (machine, "n");
  g_auto (GStrv) lines = g_strsplit (node, "\n", -1);
  GString *out = g_string_new (NULL);

  for (guint i = 0; lines[i]; i++)
    if (g_str_has_prefix (lines[i], "      - {from: ") && strstr (lines[i], "link: pcie") == NULL)
      g_string_append_printf (out, "%s\n", lines[i] + strlen ("      - "));
  return g_string_free (out, FALSE);
}

/* Every note, with its line: "4 read: 2 GPUs". */
G_GNUC_UNUSED static char *
notes_told (const GPtrArray *notes)
{
  static const char *const kinds[] = { "read", "inferred", "left out" };
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < notes->len; i++)
    g_string_append_printf (out, "%u %s: %s\n", fab_file_note (notes, i)->line,
                            kinds[fab_file_note (notes, i)->kind], fab_file_note (notes, i)->text);
  return g_string_free (out, FALSE);
}

/* Every cable of a network, "leaf:0 - n1 eth2:1 100G". */
G_GNUC_UNUSED static char *
cables_told (const FabImportedNetwork *network)
{
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < network->cables->len; i++) {
    const FabImportedCable *cable = fab_imported_network_cable (network, i);

    g_string_append_printf (out, "%s:%u - %s:%u %s\n", fab_imported_network_device (network, cable->a)->id,
                            cable->port_a, fab_imported_network_device (network, cable->b)->id, cable->port_b,
                            cable->speed);
  }
  return g_string_free (out, FALSE);
}

typedef struct {
  const char *format, *text;
  const char *accelerator, *nic, *socket;
  guint n_nodes;
  const char *parts, *links, *notes;
} MachineCase;

G_GNUC_UNUSED static void
assert_told (const MachineCase *row)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabImportedMachine) machine = read_machine (row->format, NULL, row->text, &error);

  if (machine == NULL)
    fail_msg ("%s", error->message);
  g_autofree char *parts = parts_told (machine), *links = links_told (machine),
                  *notes = notes_told (machine->notes);
  assert_string_equal (parts, row->parts);
  assert_string_equal (links, row->links);
  assert_string_equal (notes, row->notes);
  assert_string_equal (machine->accelerator, row->accelerator);
  assert_true (g_strcmp0 (machine->nic, row->nic) == 0);
  assert_true (g_strcmp0 (machine->socket_link, row->socket) == 0);
  assert_int_equal (machine->n_nodes, row->n_nodes);
}
