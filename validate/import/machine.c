/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/import/machine.h"

FabMachine *
fab_machine_new (const char *tool)
{
  FabMachine *self = g_new0 (FabMachine, 1);

  self->tool = tool;
  self->n_nodes = 1;
  self->parts = g_array_new (FALSE, FALSE, sizeof (FabMachinePart));
  self->links = g_array_new (FALSE, FALSE, sizeof (FabMachineLink));
  self->read = g_ptr_array_new_with_free_func (g_free);
  self->inferred = g_ptr_array_new_with_free_func (g_free);
  self->own_links = g_string_new (NULL);
  self->fabric = g_string_new (NULL);
  self->texts = g_string_chunk_new (1024);
  return self;
}

void
fab_machine_free (FabMachine *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->parts);
  g_array_unref (self->links);
  g_ptr_array_unref (self->read);
  g_ptr_array_unref (self->inferred);
  g_string_free (self->own_links, TRUE);
  g_string_free (self->fabric, TRUE);
  g_string_chunk_free (self->texts);
  g_free (self);
}

const char *
fab_machine_text (FabMachine *self, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  return g_string_chunk_insert_const (self->texts, text);
}

guint
fab_machine_count (const FabMachine *self, FabMachineKind kind)
{
  guint n = 0;

  for (guint i = 0; i < self->parts->len; i++)
    n += fab_machine_part (self, i)->kind == kind;
  return n;
}

guint
fab_machine_add (FabMachine *self, FabMachineKind kind, guint parent, const char *link, guint order)
{
  FabMachinePart part = { .kind = kind,
                          .parent = parent,
                          .link = link ? g_string_chunk_insert_const (self->texts, link) : NULL,
                          .count = kind == FAB_MACHINE_BRIDGE ? 0 : 1,
                          .order = order == G_MAXUINT ? fab_machine_count (self, kind) : order };

  if (parent != FAB_MACHINE_NO_PARENT && fab_machine_part (self, parent)->kind == FAB_MACHINE_BRIDGE)
    fab_machine_part (self, parent)->count++;
  g_array_append_val (self->parts, part);
  return self->parts->len - 1;
}

FabMachinePart *
fab_machine_part (const FabMachine *self, guint index)
{
  return &g_array_index (self->parts, FabMachinePart, index);
}

void
fab_machine_join (FabMachine *self, guint a, guint b, const char *link, guint count)
{
  FabMachineLink joined = { a, b, g_string_chunk_insert_const (self->texts, link), count };

  g_array_append_val (self->links, joined);
}

static void
add_note (GPtrArray *notes, const char *format, va_list args)
{
  g_autofree char *note = g_strdup_vprintf (format, args);

  if (!g_ptr_array_find_with_equal_func (notes, note, g_str_equal, NULL))
    g_ptr_array_add (notes, g_steal_pointer (&note));
}

void
fab_machine_read (FabMachine *self, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  add_note (self->read, format, args);
  va_end (args);
}

void
fab_machine_infer (FabMachine *self, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  add_note (self->inferred, format, args);
  va_end (args);
}
