/* SPDX-License-Identifier: Apache-2.0 */
/* ports.c - findings about the switches that a fabric buys: half-used ones, and those that join nothing. */
#include "sim/cost/ports.h"

#include "sim/verdict/verdict.h"

/* "leaves", "switches", "routers". (transfer full) */
static char *
plural (const char *name)
{
  if (g_str_has_suffix (name, "leaf"))
    return g_strdup_printf ("%.*sves", (int) strlen (name) - 1, name);
  return g_strconcat (name, g_str_has_suffix (name, "ch") ? "es" : "s", NULL);
}

/* "72 leaves", "4 of 12 leaves". (transfer full) */
static char *
counted (guint n, guint n_all, const char *name)
{
  g_autofree char *names = plural (name);

  return n == n_all ? g_strdup_printf ("%u %s", n, names) : g_strdup_printf ("%u of %u %s", n, n_all, names);
}

static void
append_row (GString *text, const FabEmptyPorts *row)
{
  g_autofree char *names = counted (row->n, row->n_all, row->name);

  g_string_append_printf (text, "%s%s use ", text->len > 0 ? "; " : "", names);
  if (row->n_least_ports < row->n_most_ports)
    g_string_append_printf (text, "%u to ", row->n_least_ports);
  g_string_append_printf (text, "%u of %u ports", row->n_most_ports, row->n_ports);
}

static void
note_half_used (FabVerdict *self, const FabPortUse *use)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < use->half_used->len; i++)
    append_row (text, &g_array_index (use->half_used, FabEmptyPorts, i));
  if (text->len == 0 || use->n_switches <= use->n_enough)
    return;
  fab_verdict_add (
      self, FAB_FINDING_HALF_USED_SWITCHES,
      g_strdup_printf ("%s. The fabric has %" G_GUINT64_FORMAT " switches, and %" G_GUINT64_FORMAT
                       " would join its %" G_GUINT64_FORMAT " NICs without blocking.",
                       text->str, use->n_switches, use->n_enough, use->n_nic_ports),
      g_strdup ("If the machine will not grow, compare its cost with cluster.fabric=leaf_spine, or with more "
                "nodes on a leaf (nodes_per_leaf)."));
}

static void
note_lone (FabVerdict *self, const FabPortUse *use)
{
  if (use->n_lone == 0)
    return;
  g_autofree char *names = counted (use->n_lone, use->n_all_lone, use->lone_name);
  fab_verdict_add (self, FAB_FINDING_LONE_RAILS,
                   g_strdup_printf ("%s %s one NIC each, so all bytes go on to another switch.", names,
                                    fab_plural (use->n_lone, "has", "have")),
                   g_strdup ("Put several nodes on a leaf (nodes_per_leaf), so that nodes meet on it."));
}

void
fab_verdict_note_ports (FabVerdict *self, const FabScenario *scenario, const FabGraph *graph)
{
  g_autoptr (FabPortUse) use = fab_port_use_new (scenario, graph);

  note_half_used (self, use);
  note_lone (self, use);
}
