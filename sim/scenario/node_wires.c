/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/node_wires.h"

#include <string.h>

static const FabPartSpec *
part_at (const FabNodeSpec *node, guint index)
{
  return (const FabPartSpec *) node->parts.data + index;
}

FabWireEnd
fab_wire_end (const FabNodeSpec *node, const char *name)
{
  for (guint i = 0; i < node->parts.n; i++) {
    const FabPartSpec *part = part_at (node, i);
    gsize length = strlen (part->name);
    guint64 member;

    if (strcmp (part->name, name) == 0)
      return (FabWireEnd){ i, 0, (guint) part->count };
    if (strncmp (part->name, name, length) == 0
        && g_ascii_string_to_unsigned (name + length, 10, 0, (guint64) part->count - 1, &member, NULL))
      return (FabWireEnd){ i, (guint) member, 1 };
  }
  g_assert_not_reached (); /* the catalogue check makes this impossible */
}

/* A tree from the larger side to the smaller one: member i of m belongs to member floor (i n / m) of n. */
static gboolean
is_of_block (guint64 i, guint64 all_from, guint64 j, guint64 all_to)
{
  return all_from >= all_to ? i * all_to / all_from == j : j * all_from / all_to == i;
}

gboolean
fab_wire_joins (const FabWireSpec *wire, const FabWireEnd *from, guint i, const FabWireEnd *to, guint j)
{
  switch ((FabWireMap) wire->map) {
  case FAB_WIRE_BLOCK: return is_of_block (i, from->n, j, to->n);
  case FAB_WIRE_ALL: return TRUE;
  case FAB_WIRE_RING: return (i + 1) % from->n == j || (j + 1) % to->n == i;
  case FAB_WIRE_PAIRS: return i / 2 == j / 2;
  }
  g_assert_not_reached ();
}

/* The sockets of a node as disjoint sets. */
typedef struct {
  guint *first; /* [parts] number of a part's first socket; parts of other kinds have none */
  guint *above; /* [sockets] another socket of the same set, or itself */
  guint n_sets;
} Sockets;

static guint
set_of (const Sockets *self, guint socket)
{
  while (self->above[socket] != socket)
    socket = self->above[socket];
  return socket;
}

static void
unite (Sockets *self, guint a, guint b)
{
  a = set_of (self, a);
  b = set_of (self, b);
  if (a == b)
    return;
  self->above[MAX (a, b)] = MIN (a, b);
  self->n_sets--;
}

static void
unite_ends (Sockets *self, const FabNodeSpec *node, const FabWireSpec *wire)
{
  FabWireEnd from = fab_wire_end (node, wire->from), to = fab_wire_end (node, wire->to);

  if (part_at (node, from.part)->kind != FAB_PART_HOST || part_at (node, to.part)->kind != FAB_PART_HOST)
    return;
  for (guint i = 0; i < from.n; i++)
    for (guint j = 0; j < to.n; j++)
      if (fab_wire_joins (wire, &from, i, &to, j))
        unite (self, self->first[from.part] + from.first + i, self->first[to.part] + to.first + j);
}

guint
fab_node_spec_n_systems (const FabNodeSpec *node)
{
  guint n = fab_node_spec_n_parts (node, FAB_PART_HOST), n_seen = 0;
  g_autofree guint *first = g_new0 (guint, node->parts.n + 1), *above = g_new (guint, n + 1);
  Sockets sockets = { first, above, n };

  for (guint i = 0; i < n; i++)
    above[i] = i;
  for (guint i = 0; i < node->parts.n; i++) {
    first[i] = n_seen;
    n_seen += part_at (node, i)->kind == FAB_PART_HOST ? (guint) part_at (node, i)->count : 0;
  }
  for (guint w = 0; w < node->wires.n; w++)
    unite_ends (&sockets, node, (const FabWireSpec *) node->wires.data + w);
  return MAX (sockets.n_sets, 1);
}
