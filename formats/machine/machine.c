/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c - a machine as a scenario that a person would have written.
 *
 * Parts of one kind (PCIe switches: of one level) are one line with a count. Wires between two such groups
 * are one line when they are the tree that `map: block` makes, or all pairs; otherwise a line each.
 * O(parts + wires x wires of the same group).
 */
#include "formats/machine/machine.h"

#include <stdio.h>
#include <string.h>

#include "formats/machine/network.h"

/* Links between two parts that are not parent and child: NVLink, xGMI. */
typedef struct {
  guint a, b;
  const char *link;
  guint count;
} FabImportedMachineLink;

FabImportedMachine *
fab_imported_machine_new (const char *tool)
{
  FabImportedMachine *self = g_new0 (FabImportedMachine, 1);

  self->tool = tool;
  self->n_nodes = 1;
  self->parts = g_array_new (FALSE, FALSE, sizeof (FabImportedMachinePart));
  self->links = g_array_new (FALSE, FALSE, sizeof (FabImportedMachineLink));
  self->notes = fab_file_notes_new ();
  self->own_links = g_string_new (NULL);
  self->fabric = g_string_new (NULL);
  self->faults = g_string_new (NULL);
  self->other_nodes = g_string_new (NULL);
  self->texts = g_string_chunk_new (1024);
  return self;
}

void
fab_imported_machine_free (FabImportedMachine *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->parts);
  g_array_unref (self->links);
  g_ptr_array_unref (self->notes);
  g_string_free (self->own_links, TRUE);
  g_string_free (self->fabric, TRUE);
  g_string_free (self->faults, TRUE);
  g_string_free (self->other_nodes, TRUE);
  g_string_chunk_free (self->texts);
  fab_imported_network_free (self->network);
  g_free (self);
}

const char *
fab_imported_machine_text (FabImportedMachine *self, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  return g_string_chunk_insert_const (self->texts, text);
}

guint
fab_imported_machine_count (const FabImportedMachine *self, FabImportedMachineKind kind)
{
  guint n = 0;

  for (guint i = 0; i < self->parts->len; i++)
    n += fab_imported_machine_part (self, i)->kind == kind;
  return n;
}

guint
fab_imported_machine_add (FabImportedMachine *self, FabImportedMachineKind kind, guint parent,
                          const char *link, guint order)
{
  FabImportedMachinePart part = { .kind = kind,
                                  .parent = parent,
                                  .link = link ? g_string_chunk_insert_const (self->texts, link) : NULL,
                                  .count = kind == FAB_IMPORTED_MACHINE_BRIDGE ? 0 : 1,
                                  .order = order == G_MAXUINT ? fab_imported_machine_count (self, kind)
                                                              : order };

  if (parent != FAB_IMPORTED_MACHINE_NO_PARENT
      && fab_imported_machine_part (self, parent)->kind == FAB_IMPORTED_MACHINE_BRIDGE)
    fab_imported_machine_part (self, parent)->count++;
  g_array_append_val (self->parts, part);
  return self->parts->len - 1;
}

FabImportedMachinePart *
fab_imported_machine_part (const FabImportedMachine *self, guint index)
{
  return &g_array_index (self->parts, FabImportedMachinePart, index);
}

guint
fab_imported_machine_host (const FabImportedMachine *self, guint part)
{
  while (fab_imported_machine_part (self, part)->parent != FAB_IMPORTED_MACHINE_NO_PARENT)
    part = fab_imported_machine_part (self, part)->parent;
  return part;
}

void
fab_imported_machine_join (FabImportedMachine *self, guint a, guint b, const char *link, guint count)
{
  FabImportedMachineLink joined = { a, b, g_string_chunk_insert_const (self->texts, link), count };

  g_array_append_val (self->links, joined);
}

void
fab_imported_machine_drop (FabImportedMachine *self, guint part)
{
  guint parent = fab_imported_machine_part (self, part)->parent;

  if (parent != FAB_IMPORTED_MACHINE_NO_PARENT
      && fab_imported_machine_part (self, parent)->kind == FAB_IMPORTED_MACHINE_BRIDGE)
    fab_imported_machine_part (self, parent)->count--;
  g_array_remove_index (self->parts, part);
  for (guint i = 0; i < self->parts->len; i++) {
    FabImportedMachinePart *other = fab_imported_machine_part (self, i);

    other->parent -= other->parent != FAB_IMPORTED_MACHINE_NO_PARENT && other->parent > part;
  }
  for (guint i = 0; i < self->links->len; i++) {
    FabImportedMachineLink *link = &g_array_index (self->links, FabImportedMachineLink, i);

    link->a -= link->a > part;
    link->b -= link->b > part;
  }
}

static const char *
copy_text (FabImportedMachine *self, const char *text)
{
  return text ? g_string_chunk_insert_const (self->texts, text) : NULL;
}

void
fab_imported_machine_take_node (FabImportedMachine *self, const FabImportedMachine *other, const char *file)
{
  for (guint i = 0; i < other->parts->len; i++) {
    FabImportedMachinePart part = *fab_imported_machine_part (other, i);

    part.link = copy_text (self, part.link);
    part.name = copy_text (self, part.name);
    g_array_append_val (self->parts, part);
  }
  for (guint i = 0; i < other->links->len; i++) {
    const FabImportedMachineLink *link = &g_array_index (other->links, FabImportedMachineLink, i);

    fab_imported_machine_join (self, link->a, link->b, link->link, link->count);
  }
  for (guint i = 0; i < other->notes->len; i++) {
    const FabFileNote *note = fab_file_note (other->notes, i);
    g_autofree char *text = g_strdup_printf ("%s: %s", file, note->text);

    fab_file_notes_add (self->notes, note->kind, file, note->line, text);
  }
  self->node_tool = other->tool;
  self->accelerator = copy_text (self, other->accelerator);
  self->socket_link = copy_text (self, other->socket_link);
  g_string_append (self->own_links, other->own_links->str);
}

static void G_GNUC_PRINTF (4, 0)
    add_note (FabImportedMachine *self, FabFileNoteKind kind, guint line, const char *format, va_list args)
{
  g_autofree char *text = g_strdup_vprintf (format, args);

  fab_file_notes_add (self->notes, kind, NULL, line, text);
}

void
fab_imported_machine_read (FabImportedMachine *self, guint line, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  add_note (self, FAB_NOTE_READ, line, format, args);
  va_end (args);
}

void
fab_imported_machine_infer (FabImportedMachine *self, guint line, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  add_note (self, FAB_NOTE_INFERRED, line, format, args);
  va_end (args);
}

void
fab_imported_machine_leave_out (FabImportedMachine *self, guint line, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  add_note (self, FAB_NOTE_LEFT_OUT, line, format, args);
  va_end (args);
}

/* A machine as a scenario that a person would have written.
 *
 * Parts of one kind (PCIe switches: of one level) are one line with a count. Wires between two such groups
 * are one line when they are the tree that `map: block` makes, or all pairs; otherwise a line each.
 * O(parts + wires x wires of the same group).
 */

enum { MAX_LEVELS = 26 };

/* One line of `parts`. */
typedef struct {
  char *name;
  FabImportedMachineKind kind;
  guint level; /* number of PCIe switches above it */
  guint n;
} Group;

static void
group_clear (gpointer data)
{
  Group *group = data;

  g_free (group->name);
}

/* One wire, between members of two groups. */
typedef struct {
  guint from, from_member, to, to_member;
  const char *link;
  guint count;
  gboolean is_written;
} Wire;

typedef struct {
  const FabImportedMachine *machine;
  GArray *groups; /* Group */
  guint *group;   /* [parts]: index in `groups` */
  guint *member;  /* [parts]: index within the group */
  GArray *wires;  /* Wire */
  GString *out;
} Writer;

static const char *const kind_words[FAB_N_MACHINE_KINDS] = {
  [FAB_IMPORTED_MACHINE_HOST] = "host",       [FAB_IMPORTED_MACHINE_BRIDGE] = "bridge",
  [FAB_IMPORTED_MACHINE_SWITCH] = "switch",   [FAB_IMPORTED_MACHINE_SCALE_UP] = "switch",
  [FAB_IMPORTED_MACHINE_GPU] = "accelerator", [FAB_IMPORTED_MACHINE_NIC] = "nic",
};

static const char *const part_names[FAB_N_MACHINE_KINDS] = {
  [FAB_IMPORTED_MACHINE_HOST] = "cpu",
  [FAB_IMPORTED_MACHINE_BRIDGE] = "host_bridge",
  [FAB_IMPORTED_MACHINE_SWITCH] = "pcie_switch",
  [FAB_IMPORTED_MACHINE_SCALE_UP] = "nvswitch",
  [FAB_IMPORTED_MACHINE_GPU] = "gpu",
  [FAB_IMPORTED_MACHINE_NIC] = "nic",
};

/* The order in which people read: accelerators first, hosts last. */
static const FabImportedMachineKind kind_order[FAB_N_MACHINE_KINDS] = {
  FAB_IMPORTED_MACHINE_GPU,    FAB_IMPORTED_MACHINE_SCALE_UP, FAB_IMPORTED_MACHINE_NIC,
  FAB_IMPORTED_MACHINE_SWITCH, FAB_IMPORTED_MACHINE_BRIDGE,   FAB_IMPORTED_MACHINE_HOST,
};

static guint
level_of (const FabImportedMachine *machine, guint index)
{
  guint level = 0;

  if (fab_imported_machine_part (machine, index)->kind != FAB_IMPORTED_MACHINE_SWITCH)
    return 0;
  for (guint i = fab_imported_machine_part (machine, index)->parent; i != FAB_IMPORTED_MACHINE_NO_PARENT;
       i = fab_imported_machine_part (machine, i)->parent)
    level += fab_imported_machine_part (machine, i)->kind == FAB_IMPORTED_MACHINE_SWITCH;
  return MIN (level, MAX_LEVELS - 1);
}

/* Adds a group with its members in their order; parts of the same order stay as they were added. */
static void
add_group (Writer *writer, FabImportedMachineKind kind, guint level)
{
  const FabImportedMachine *machine = writer->machine;
  Group group = { .kind = kind, .level = level };

  for (guint i = 0; i < machine->parts->len; i++) {
    guint order = fab_imported_machine_part (machine, i)->order, before = 0;

    if (fab_imported_machine_part (machine, i)->kind != kind || level_of (machine, i) != level)
      continue;
    for (guint j = 0; j < machine->parts->len; j++) {
      const FabImportedMachinePart *other = fab_imported_machine_part (machine, j);
      before += other->kind == kind && level_of (machine, j) == level
             && (other->order < order || (other->order == order && j < i));
    }
    writer->group[i] = writer->groups->len;
    writer->member[i] = before;
    group.n++;
  }
  if (group.n == 0)
    return;
  group.name = level == 0 ? g_strdup (part_names[kind])
                          : g_strdup_printf ("%s_%c", part_names[kind], 'a' + (char) level);
  g_array_append_val (writer->groups, group);
}

static void
add_groups (Writer *writer)
{
  for (guint k = 0; k < FAB_N_MACHINE_KINDS; k++)
    for (guint level = 0; level < (kind_order[k] == FAB_IMPORTED_MACHINE_SWITCH ? MAX_LEVELS : 1); level++)
      add_group (writer, kind_order[k], level);
}

static void
add_wire (Writer *writer, guint from, guint to, const char *link, guint count)
{
  Wire wire = {
    writer->group[from], writer->member[from], writer->group[to], writer->member[to], link, count, FALSE
  };

  g_array_append_val (writer->wires, wire);
}

static gint
compare_wires (gconstpointer a, gconstpointer b)
{
  const Wire *x = a, *y = b;
  gint order = (gint) x->from - (gint) y->from;

  order = order ? order : (gint) x->to - (gint) y->to;
  order = order ? order : (gint) x->from_member - (gint) y->from_member;
  return order ? order : (gint) x->to_member - (gint) y->to_member;
}

static void
add_wires (Writer *writer)
{
  const FabImportedMachine *machine = writer->machine;

  for (guint i = 0; i < machine->links->len; i++) {
    const FabImportedMachineLink *link = &g_array_index (machine->links, FabImportedMachineLink, i);
    add_wire (writer, link->a, link->b, link->link, link->count);
  }
  for (guint i = 0; i < machine->parts->len; i++)
    if (fab_imported_machine_part (machine, i)->parent != FAB_IMPORTED_MACHINE_NO_PARENT)
      add_wire (writer, i, fab_imported_machine_part (machine, i)->parent,
                fab_imported_machine_part (machine, i)->link,
                MAX (fab_imported_machine_part (machine, i)->count, 1));
  for (guint i = 0; i < machine->parts->len; i++)
    for (guint j = i + 1; j < machine->parts->len; j++)
      if (fab_imported_machine_part (machine, i)->kind == FAB_IMPORTED_MACHINE_HOST
          && fab_imported_machine_part (machine, j)->kind == FAB_IMPORTED_MACHINE_HOST)
        add_wire (writer, i, j, machine->socket_link, 1);
  g_array_sort (writer->wires, compare_wires);
}

static gboolean
is_alike (const Wire *a, const Wire *b)
{
  return a->from == b->from && a->to == b->to && a->count == b->count && strcmp (a->link, b->link) == 0;
}

/* Says whether a wire is one that `map: block` makes: member i of the larger group below member floor (i n / m) of
 * the smaller. */
static gboolean
is_of_block (guint64 i, guint64 n_from, guint64 j, guint64 n_to)
{
  return n_from >= n_to ? i * n_to / n_from == j : j * n_from / n_to == i;
}

/* Returns "block" or "all" when the wires between the groups of `first` are such a map; NULL: they are neither. */
static const char *
find_map (const Writer *writer, const Wire *first)
{
  guint64 n_from = g_array_index (writer->groups, Group, first->from).n,
          n_to = g_array_index (writer->groups, Group, first->to).n, n = 0;
  gboolean is_block = first->from != first->to;

  for (guint i = 0; i < writer->wires->len; i++) {
    const Wire *wire = &g_array_index (writer->wires, Wire, i);

    if (!is_alike (wire, first))
      continue;
    n++;
    is_block = is_block && is_of_block (wire->from_member, n_from, wire->to_member, n_to);
  }
  if (is_block && n == MAX (n_from, n_to))
    return "block";
  return n == (first->from == first->to ? n_from * (n_from - 1) / 2 : n_from * n_to) ? "all" : NULL;
}

static void
write_end (const Writer *writer, const char *key, guint group, guint member, gboolean is_whole)
{
  const Group *of = &g_array_index (writer->groups, Group, group);

  if (is_whole || of->n == 1)
    g_string_append_printf (writer->out, "%s: %s, ", key, of->name);
  else
    g_string_append_printf (writer->out, "%s: %s%u, ", key, of->name, member);
}

static void
write_wire (Writer *writer, const Wire *wire, const char *map)
{
  g_string_append (writer->out, "      - {");
  write_end (writer, "from", wire->from, wire->from_member, map != NULL);
  write_end (writer, "to", wire->to, wire->to_member, map != NULL);
  g_string_append_printf (writer->out, "link: %s", wire->link);
  if (wire->count != 1)
    g_string_append_printf (writer->out, ", count: %u", wire->count);
  g_string_append (writer->out, g_strcmp0 (map, "all") == 0 ? ", map: all}\n" : "}\n");
}

static void
write_wires (Writer *writer)
{
  for (guint i = 0; i < writer->wires->len; i++) {
    Wire *wire = &g_array_index (writer->wires, Wire, i);
    const char *map = wire->is_written ? NULL : find_map (writer, wire);

    if (wire->is_written)
      continue;
    write_wire (writer, wire, map);
    for (guint j = i + 1; map && j < writer->wires->len; j++)
      if (is_alike (&g_array_index (writer->wires, Wire, j), wire))
        g_array_index (writer->wires, Wire, j).is_written = TRUE;
  }
}

static void
write_node (Writer *writer, const char *name)
{
  const FabImportedMachine *machine = writer->machine;

  g_string_append_printf (writer->out, "  - name: %s\n    accelerator: %s\n", name, machine->accelerator);
  if (machine->nic)
    g_string_append_printf (writer->out, "    nic: %s\n", machine->nic);
  g_string_append (writer->out, "    parts:\n");
  for (guint i = 0; i < writer->groups->len; i++) {
    const Group *group = &g_array_index (writer->groups, Group, i);
    g_string_append_printf (writer->out, "      - {name: %s, kind: %s, count: %u}\n", group->name,
                            kind_words[group->kind], group->n);
  }
  g_string_append (writer->out, "    wires:\n");
  write_wires (writer);
  g_string_append_printf (writer->out, "    source: %s\n",
                          machine->node_tool ? machine->node_tool : machine->tool);
}

/* Writes the notes on what was read, or all others. */
static void
write_notes (const Writer *writer, gboolean are_read)
{
  const GPtrArray *notes = writer->machine->notes;

  for (guint i = 0; i < notes->len; i++)
    if ((fab_file_note (notes, i)->kind == FAB_NOTE_READ) == are_read)
      fab_file_note_write (writer->out, fab_file_note (notes, i)->text);
}

static void
write_head (const Writer *writer, const char *file)
{
  const FabImportedMachine *machine = writer->machine;
  g_autofree char *plain = fab_file_comment (file);

  g_string_append_printf (writer->out, "# A machine, from what `%s` prints: %s\n#\n# Read:\n", machine->tool,
                          plain);
  write_notes (writer, TRUE);
  g_string_append (writer->out, "#\n# Not in that text, so inferred; change it where you know better:\n");
  write_notes (writer, FALSE);
  g_string_append_c (writer->out, '\n');
}

static void
write_job (const Writer *writer, const char *name)
{
  const FabImportedMachine *machine = writer->machine;

  if (machine->node != NULL)
    g_string_append_printf (writer->out,
                            "name: %s\nsummary: %u %s, all-reduce of 1 GB\niterations: 1\n\n"
                            "cluster:\n  node: %s\n  nodes: %u\n",
                            name, machine->n_nodes, machine->node, machine->node, machine->n_nodes);
  else
    g_string_append_printf (writer->out,
                            "name: %s\nsummary: %ux %s, all-reduce of 1 GB\niterations: 1\n\n"
                            "cluster:\n  node: %s-node\n  nodes: %u\n",
                            name,
                            fab_imported_machine_count (machine, FAB_IMPORTED_MACHINE_GPU) * machine->n_nodes,
                            machine->accelerator, name, machine->n_nodes);
  if (machine->node != NULL && machine->nic != NULL)
    g_string_append_printf (writer->out, "  nic: %s\n", machine->nic);
  if (machine->fabric->len > 0)
    g_string_append_printf (writer->out, "  fabric:\n%s", machine->fabric->str);
  g_string_append (writer->out, "\njob:\n  kind: collective\n  operations:\n"
                                "    - {op: all_reduce, size: 1GB}\n\n");
  if (machine->faults->len > 0)
    g_string_append_printf (writer->out, "faults:\n%s\n", machine->faults->str);
  if (machine->own_links->len > 0)
    g_string_append_printf (writer->out, "links:\n%s\n", machine->own_links->str);
}

static void
writer_init (Writer *self, const FabImportedMachine *machine)
{
  self->machine = machine;
  self->groups = g_array_new (FALSE, FALSE, sizeof (Group));
  g_array_set_clear_func (self->groups, group_clear);
  self->group = g_new0 (guint, machine->parts->len);
  self->member = g_new0 (guint, machine->parts->len);
  self->wires = g_array_new (FALSE, FALSE, sizeof (Wire));
  self->out = g_string_new (NULL);
  add_groups (self);
  add_wires (self);
}

/* Returns what was written. (transfer full) */
static char *
writer_finish (Writer *self)
{
  g_array_unref (self->groups);
  g_array_unref (self->wires);
  g_free (self->group);
  g_free (self->member);
  return g_string_free (self->out, FALSE);
}

/* --- wires that are slower than those of another machine --- */

void
fab_imported_slow_wire_clear (gpointer data)
{
  FabImportedSlowWire *wire = data;

  g_free (wire->from);
  g_free (wire->to);
}

/* Reads the rate of "pcie5-x16" in lanes of generation 0. FALSE: it is no PCIe link. Each generation has about twice
 * the rate of the one before. */
static gboolean
read_pcie (const char *link, double *lanes)
{
  guint generation, n;

  if (sscanf (link, "pcie%1u-x%2u", &generation, &n) != 2 || generation == 0 || n == 0)
    return FALSE;
  *lanes = (double) (n << generation);
  return TRUE;
}

static char *
member_name (const Writer *writer, guint group, guint member)
{
  const Group *of = &g_array_index (writer->groups, Group, group);

  return of->n == 1 ? g_strdup (of->name) : g_strdup_printf ("%s%u", of->name, member);
}

static gboolean
have_same_groups (const Writer *one, const Writer *other)
{
  for (guint i = 0; i < one->groups->len && i < other->groups->len; i++) {
    const Group *a = &g_array_index (one->groups, Group, i), *b = &g_array_index (other->groups, Group, i);

    if (a->kind != b->kind || a->level != b->level || a->n != b->n)
      return FALSE;
  }
  return one->groups->len == other->groups->len && one->wires->len == other->wires->len;
}

/* Adds a wire to `slow` where it is slower than `usual`. FALSE: they differ otherwise. */
static gboolean
compare_wire (const Writer *writer, const Wire *wire, const Wire *usual, GArray *slow)
{
  double lanes, usual_lanes;

  if (wire->from != usual->from || wire->to != usual->to || wire->from_member != usual->from_member
      || wire->to_member != usual->to_member || wire->count != usual->count)
    return FALSE;
  if (strcmp (wire->link, usual->link) == 0)
    return TRUE;
  if (!read_pcie (wire->link, &lanes) || !read_pcie (usual->link, &usual_lanes))
    return FALSE;
  if (lanes < usual_lanes) {
    FabImportedSlowWire found = { member_name (writer, wire->from, wire->from_member),
                                  member_name (writer, wire->to, wire->to_member), lanes / usual_lanes };

    g_array_append_val (slow, found);
  }
  return TRUE;
}

GArray *
fab_imported_machine_slow_wires (const FabImportedMachine *self, const FabImportedMachine *usual)
{
  GArray *slow = g_array_new (FALSE, FALSE, sizeof (FabImportedSlowWire));
  Writer one, other;

  g_array_set_clear_func (slow, fab_imported_slow_wire_clear);
  writer_init (&one, self);
  writer_init (&other, usual);
  gboolean is_alike = g_strcmp0 (self->accelerator, usual->accelerator) == 0
                   && have_same_groups (&one, &other);
  for (guint i = 0; is_alike && i < one.wires->len; i++)
    is_alike = compare_wire (&one, &g_array_index (one.wires, Wire, i), &g_array_index (other.wires, Wire, i),
                             slow);
  g_free (writer_finish (&one));
  g_free (writer_finish (&other));
  if (is_alike)
    return slow;
  g_array_unref (slow);
  return NULL;
}

char *
fab_imported_machine_node (const FabImportedMachine *self, const char *name)
{
  Writer writer;

  writer_init (&writer, self);
  write_node (&writer, name);
  return writer_finish (&writer);
}

char *
fab_imported_machine_scenario (const FabImportedMachine *self, const char *name, const char *file)
{
  g_autofree char *node = g_strdup_printf ("%s-node", name);
  Writer writer;

  writer_init (&writer, self);
  write_head (&writer, file);
  write_job (&writer, name);
  if (self->node == NULL) {
    g_string_append (writer.out, "nodes:\n");
    write_node (&writer, node);
  }
  g_string_append (writer.out, self->other_nodes->str);
  return writer_finish (&writer);
}
