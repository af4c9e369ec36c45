/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler_tree.c - a scheduler's tree of switches as a custom fabric.
 *
 * Each switch is a vertex. What stands above others in such a file is a layer of switches in life, and how many cables
 * lead to it is not said: a link has as many as NICs are below, so that nothing is oversubscribed. Nodes have numbers
 * leaf by leaf, so that neighbours in the tree are neighbours in number. Linear in switches and nodes.
 */
#include "formats/machine/scheduler_tree.h"

#include <string.h>

#include "formats/machine/known.h"

enum { MAX_NODES = 200000, MAX_SWITCHES = 20000, MAX_NAME = 256, NONE = -1 };

typedef struct {
  char *name;
  guint line;
  gint parent;   /* index; NONE: none */
  GArray *below; /* guint: switches */
  guint n_nodes;
  char *first, *last; /* names of nodes */
  guint depth;        /* of switches below it */
  guint n_below;      /* nodes below it, at whatever depth */
  guint number;       /* in its tier */
  gboolean is_seen;
} Switch;

struct _FabSchedulerTree {
  GArray *switches; /* Switch */
  GHashTable *by_name, *nodes;
  guint n_nodes;
};

FabSchedulerTree *
fab_scheduler_tree_new (void)
{
  FabSchedulerTree *self = g_new0 (FabSchedulerTree, 1);

  self->switches = g_array_new (FALSE, FALSE, sizeof (Switch));
  self->by_name = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->nodes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return self;
}

static Switch *
switch_at (const FabSchedulerTree *self, guint index)
{
  return &g_array_index (self->switches, Switch, index);
}

void
fab_scheduler_tree_free (FabSchedulerTree *self)
{
  for (guint i = 0; i < self->switches->len; i++) {
    g_free (switch_at (self, i)->name);
    g_free (switch_at (self, i)->first);
    g_free (switch_at (self, i)->last);
    g_array_unref (switch_at (self, i)->below);
  }
  g_array_unref (self->switches);
  g_hash_table_unref (self->by_name);
  g_hash_table_unref (self->nodes);
  g_free (self);
}

/* --- names --- */

static gboolean expand_from (GPtrArray *names, const char *before, const char *rest);

/* Adds the names of one range, "01-03" or "7", each followed by what stands behind the bracket. */
static gboolean
expand_range (GPtrArray *names, const char *before, const char *range, const char *rest)
{
  g_auto (GStrv) ends = g_strsplit (range, "-", 2); /* an empty text has no part */
  guint64 first, last;

  if (ends[0] == NULL || !g_ascii_string_to_unsigned (ends[0], 10, 0, G_MAXINT, &first, NULL))
    return FALSE;
  last = first;
  if (ends[1] != NULL && !g_ascii_string_to_unsigned (ends[1], 10, first, G_MAXINT, &last, NULL))
    return FALSE;
  if (last - first >= MAX_NODES)
    return FALSE;
  for (guint64 i = first; i <= last; i++) {
    g_autofree char *name = g_strdup_printf ("%s%0*" G_GUINT64_FORMAT, before,
                                             (int) MIN (strlen (ends[0]), 20), i);

    if (!expand_from (names, name, rest)) /* a name is shorter than what it is expanded from */
      return FALSE;
  }
  return TRUE;
}

/* Adds the names that `before` and `rest` make, whose first bracket is expanded. */
static gboolean
expand_from (GPtrArray *names, const char *before, const char *rest)
{
  const char *open = strchr (rest, '['), *close = open ? strchr (open, ']') : NULL;

  if (open == NULL) {
    if (strchr (rest, ']') != NULL || names->len >= MAX_NODES)
      return FALSE;
    g_ptr_array_add (names, g_strconcat (before, rest, NULL));
    return TRUE;
  }
  if (close == NULL)
    return FALSE;
  g_autofree char *inner = g_strndup (open + 1, (gsize) (close - open) - 1),
                  *start = g_strndup (rest, (gsize) (open - rest));
  g_autofree char *whole = g_strconcat (before, start, NULL);
  g_auto (GStrv) ranges = g_strsplit (inner, ",", -1);

  for (guint i = 0; ranges[i] != NULL; i++)
    if (!expand_range (names, whole, ranges[i], close + 1))
      return FALSE;
  return ranges[0] != NULL;
}

GPtrArray *
fab_scheduler_tree_expand (const char *list)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const char *from = list;
  guint depth = 0;

  for (const char *c = list;; c++) {
    depth += *c == '[';
    depth -= *c == ']' && depth > 0;
    if (*c != '\0' && (*c != ',' || depth > 0))
      continue;
    g_autofree char *one = g_strstrip (g_strndup (from, (gsize) (c - from)));

    if (*one == '\0' || strlen (one) > MAX_NAME || !expand_from (names, "", one))
      return NULL;
    if (*c == '\0')
      return g_steal_pointer (&names);
    from = c + 1;
  }
}

/* --- the tree --- */

guint
fab_scheduler_tree_add (FabSchedulerTree *self, const char *name, guint line)
{
  gpointer found = g_hash_table_lookup (self->by_name, name);
  Switch fresh = { .line = line, .parent = NONE };

  if (found != NULL)
    return GPOINTER_TO_UINT (found) - 1;
  fresh.name = g_strdup (name);
  fresh.below = g_array_new (FALSE, FALSE, sizeof (guint));
  g_array_append_val (self->switches, fresh);
  g_hash_table_insert (self->by_name, g_strdup (name), GUINT_TO_POINTER (self->switches->len));
  return self->switches->len - 1;
}

gboolean
fab_scheduler_tree_put_switch (FabSchedulerTree *self, guint parent, const char *name, guint line, char **why)
{
  guint index = fab_scheduler_tree_add (self, name, line);
  Switch *below = switch_at (self, index);

  if (self->switches->len > MAX_SWITCHES) {
    *why = g_strdup_printf ("there are more than %d switches", MAX_SWITCHES);
    return FALSE;
  }
  if (below->parent != NONE && below->parent != (gint) parent) {
    *why = g_strdup_printf ("switch '%s' is below '%s' already; a tree has one above each", name,
                            switch_at (self, (guint) below->parent)->name);
    return FALSE;
  }
  for (gint above = (gint) parent; above != NONE; above = switch_at (self, (guint) above)->parent)
    if (above == (gint) index) {
      *why = g_strdup_printf ("switch '%s' would be below itself", name);
      return FALSE;
    }
  if (below->parent == NONE) {
    below->parent = (gint) parent;
    g_array_append_val (switch_at (self, parent)->below, index);
  }
  return TRUE;
}

gboolean
fab_scheduler_tree_put_node (FabSchedulerTree *self, guint parent, const char *name, char **why)
{
  Switch *leaf = switch_at (self, parent);
  gpointer found = g_hash_table_lookup (self->nodes, name);

  if (found != NULL && GPOINTER_TO_UINT (found) - 1 != parent) {
    *why = g_strdup_printf ("node '%s' is below switch '%s' already", name,
                            switch_at (self, GPOINTER_TO_UINT (found) - 1)->name);
    return FALSE;
  }
  if (found != NULL)
    return TRUE;
  if (self->n_nodes >= MAX_NODES) {
    *why = g_strdup_printf ("there are more than %d nodes", MAX_NODES);
    return FALSE;
  }
  g_hash_table_insert (self->nodes, g_strdup (name), GUINT_TO_POINTER (parent + 1));
  self->n_nodes++;
  if (leaf->n_nodes++ == 0)
    leaf->first = g_strdup (name);
  g_free (leaf->last);
  leaf->last = g_strdup (name);
  return TRUE;
}

/* --- the machine --- */

typedef struct {
  FabSchedulerTree *tree;
  FabImportedMachine *machine;
  GArray *order;  /* guint: switches, each before those below it */
  guint *in_tier; /* [tiers] */
  guint n_tiers;
  guint n_next; /* the number of the next node */
} Writer;

static const char *
tier_name (guint tier)
{
  return tier == 0 ? "leaf" : tier == 1 ? "spine" : tier == 2 ? "core" : "top";
}

/* Puts a switch and all below it in order, and counts what is below it. */
static void
visit (Writer *self, guint index)
{
  guint at = self->order->len;

  g_array_append_val (self->order, index);
  for (; at < self->order->len; at++) {
    const Switch *one = switch_at (self->tree, g_array_index (self->order, guint, at));

    g_array_append_vals (self->order, one->below->data, one->below->len);
  }
}

static void
count (Writer *self)
{
  for (guint i = self->order->len; i-- > 0;) {
    Switch *one = switch_at (self->tree, g_array_index (self->order, guint, i));

    one->n_below += one->n_nodes;
    if (one->parent == NONE)
      continue;
    Switch *above = switch_at (self->tree, (guint) one->parent);
    above->n_below += one->n_below;
    above->depth = MAX (above->depth, one->depth + 1);
  }
}

static guint
tier_of (const Switch *one)
{
  return MIN (one->depth, 3);
}

static char *
name_of (const Writer *self, const Switch *one)
{
  guint tier = tier_of (one);

  return self->in_tier[tier] == 1 ? g_strdup (tier_name (tier))
                                  : g_strdup_printf ("%s%u", tier_name (tier), one->number);
}

static void
write_switches (Writer *self)
{
  GString *out = self->machine->fabric;

  for (guint i = 0; i < self->order->len; i++) {
    Switch *one = switch_at (self->tree, g_array_index (self->order, guint, i));

    if (one->n_below > 0)
      one->number = self->in_tier[tier_of (one)]++;
  }
  g_string_append (out, "    kind: custom\n    switches:\n");
  for (guint tier = 0; tier < 4; tier++)
    if (self->in_tier[tier] > 0)
      g_string_append_printf (out, "      - {name: %s, count: %u}\n", tier_name (tier), self->in_tier[tier]);
  for (guint i = 0; i < self->order->len; i++) {
    const Switch *one = switch_at (self->tree, g_array_index (self->order, guint, i));
    g_autofree char *name = one->n_below > 0 ? name_of (self, one) : NULL;
    g_autofree char *plain = fab_file_comment (one->name);

    if (name != NULL)
      g_string_append_printf (out, "      # %s: %s\n", name, plain);
  }
}

/* FALSE: there is one switch alone. */
static gboolean
write_links (Writer *self, guint n_nics)
{
  GString *out = self->machine->fabric;
  gboolean has_any = FALSE;

  for (guint i = 0; i < self->order->len; i++) {
    const Switch *one = switch_at (self->tree, g_array_index (self->order, guint, i));

    if (one->n_below == 0 || one->parent == NONE)
      continue;
    g_autofree char *from = name_of (self, one),
                    *to = name_of (self, switch_at (self->tree, (guint) one->parent));

    g_string_append_printf (out, "%s      - {from: %s, to: %s, count: %u}\n", has_any ? "" : "    links:\n",
                            from, to, MIN (one->n_below * n_nics, 100000));
    has_any = TRUE;
  }
  return has_any;
}

/* Nodes in the order of a walk through the tree, so that those of one branch follow each other. */
static void
write_nodes (Writer *self, guint index)
{
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (guint));

  g_array_append_val (stack, index);
  while (stack->len > 0) {
    guint at = g_array_index (stack, guint, stack->len - 1);
    const Switch *one = switch_at (self->tree, at);

    g_array_set_size (stack, stack->len - 1);
    for (guint i = one->below->len; i-- > 0;)
      g_array_append_val (stack, g_array_index (one->below, guint, i));
    if (one->n_nodes == 0)
      continue;
    g_autofree char *name = name_of (self, one), *text = g_strdup_printf ("%s ... %s", one->first, one->last),
                    *plain = fab_file_comment (text);

    g_string_append_printf (self->machine->fabric, "      - {to: %s, nodes: %u-%u} # %s\n", name,
                            self->n_next, self->n_next + one->n_nodes - 1, plain);
    self->n_next += one->n_nodes;
  }
}

/* The machine of the catalogue that usually has such accelerators; NULL: none is known here. */
static const char *
usual_node (const char *accelerator, guint *n_nics)
{
  static const struct {
    const char *accelerator, *node;
    guint n_nics;
  } rows[] = {
    { "v100-sxm2", "dgx1-v100", 4 }, { "a100-sxm", "dgx-a100", 8 }, { "h100-sxm", "dgx-h100", 8 },
    { "h200", "hgx-h200", 8 },       { "b200", "hgx-b200", 8 },     { "mi300x", "mi300x", 8 },
    { "mi250x", "mi250x", 4 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_str_has_prefix (accelerator, rows[i].accelerator)) {
      *n_nics = rows[i].n_nics;
      return rows[i].node;
    }
  return NULL;
}

static gboolean
choose_node (Writer *self, const FabImportRequest *request, guint *n_nics, GError **error)
{
  FabImportedMachine *machine = self->machine;
  gboolean is_given = machine->accelerator != NULL;

  machine->accelerator = is_given ? machine->accelerator : "h100-sxm5-80gb";
  machine->node = usual_node (machine->accelerator, n_nics);
  if (machine->node == NULL
      && (g_str_has_prefix (machine->accelerator, "gb200")
          || g_str_has_prefix (machine->accelerator, "gb300")))
    return fab_file_text_fail (&request->file, 0, error,
                               "a node of %s is a tray here and a rack of 18 trays in the catalogue "
                               "(%.5s-nvl72): name the racks as nodes in a scenario",
                               machine->accelerator, machine->accelerator);
  if (machine->node == NULL)
    return fab_file_text_fail (&request->file, 0, error,
                               "no machine with %s is known that such a file could be of; leave "
                               "--accelerator out and write the node into the scenario",
                               machine->accelerator);
  fab_imported_machine_infer (
      machine, 0,
      "node: %s%s, with %u NICs; the file says nothing of what a node is. --accelerator names another, "
      "or take the node from an import of one of the hosts",
      machine->node, is_given ? ", as it has that accelerator" : " stands in", *n_nics);
  return TRUE;
}

/* Roots that no switch joins, though nodes below each of them are of one machine. */
static void
join_roots (FabSchedulerTree *self, FabImportedMachine *machine)
{
  guint n_roots = 0, n = self->switches->len, root;

  for (guint i = 0; i < n; i++)
    n_roots += switch_at (self, i)->parent == NONE;
  if (n_roots < 2)
    return;
  root = fab_scheduler_tree_add (self, "(joins the trees)", 0);
  for (guint i = 0; i < n; i++)
    if (switch_at (self, i)->parent == NONE && i != root) {
      switch_at (self, i)->parent = (gint) root;
      g_array_append_val (switch_at (self, root)->below, i);
    }
  fab_imported_machine_infer (
      machine, 0,
      "a switch joins the %u that have none above them, as the file does not show what joins them", n_roots);
}

gboolean
fab_scheduler_tree_fill (FabSchedulerTree *self, FabImportedMachine *machine, const FabImportRequest *request,
                         GError **error)
{
  guint in_tier[4] = { 0 }, n_nics = 0, root = 0;
  g_autoptr (GArray) order = g_array_new (FALSE, FALSE, sizeof (guint));
  Writer writer = { .tree = self, .machine = machine, .order = order, .in_tier = in_tier };

  if (self->n_nodes == 0)
    return fab_file_text_fail (&request->file, 0, error, "no node is below a switch");
  if (request->n_nodes > self->n_nodes)
    return fab_file_text_fail (&request->file, 0, error, "--nodes %u, but there are %u", request->n_nodes,
                               self->n_nodes);
  if (!choose_node (&writer, request, &n_nics, error))
    return FALSE;
  join_roots (self, machine);
  while (switch_at (self, root)->parent != NONE)
    root = (guint) switch_at (self, root)->parent;
  visit (&writer, root);
  count (&writer);
  write_switches (&writer);
  gboolean has_links = write_links (&writer, n_nics);
  g_string_append (machine->fabric, "    attach:\n");
  write_nodes (&writer, root);
  machine->n_nodes = self->n_nodes;
  fab_imported_machine_read (machine, 0, "%u nodes below %u switches, %u of which have nodes", self->n_nodes,
                             in_tier[0] + in_tier[1] + in_tier[2] + in_tier[3], in_tier[0]);
  if (has_links)
    fab_imported_machine_infer (
        machine, 0,
        "cables: as many up as NICs are below each switch; the file says who is below whom and not how "
        "many cables there are. What is one switch above others may be a layer of several");
  return TRUE;
}
