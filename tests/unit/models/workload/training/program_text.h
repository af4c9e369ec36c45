/* SPDX-License-Identifier: Apache-2.0 */
/* program_text.h - the program of a rank as text.
 *
 * A line is a stream. `F` is a forward pass, `B` a backward pass. `<` names tasks of other streams that end before. One
 * stream runs its tasks in their order.
 */
#pragma once

#include <string.h>

#include "sim/run/simulation.h"

static void
append_name (GString *text, const FabDag *dag, FabTaskId task)
{
  gint32 collective = dag->tasks[task].collective;
  const char *name = collective < 0 ? dag->tasks[task].name : dag->collectives[collective].name;

  if (g_str_has_prefix (name, "forward "))
    g_string_append_printf (text, "F %s", name + strlen ("forward "));
  else if (g_str_has_prefix (name, "backward "))
    g_string_append_printf (text, "B %s", name + strlen ("backward "));
  else
    g_string_append (text, name);
}

static void
append_waits (GString *text, const FabDag *dag, FabTaskId task)
{
  for (FabTaskId before = 0; before < dag->n_tasks; before++)
    for (guint e = dag->next_starts[before]; e < dag->next_starts[before + 1]; e++)
      if (dag->next[e] == task && dag->tasks[before].stream != dag->tasks[task].stream) {
        g_string_append (text, " < ");
        append_name (text, dag, before);
      }
}

/* Leaves out streams that have nothing to do. (transfer full) */
static char *
program_text (const FabDag *dag)
{
  GString *text = g_string_new (NULL);

  for (guint s = 0; s < dag->n_streams; s++) {
    gboolean is_first = TRUE;

    for (FabTaskId t = 0; t < dag->n_tasks; t++) {
      const FabDagCollective *collective = &dag->collectives[MAX (dag->tasks[t].collective, 0)];

      if (dag->tasks[t].stream != s)
        continue;
      if (is_first)
        g_string_append_printf (text, "%s%u %s: ", text->len > 0 ? "\n" : "", dag->streams[s].rank_class,
                                dag->streams[s].name);
      else
        g_string_append (text, ", ");
      is_first = FALSE;
      append_name (text, dag, t);
      if (dag->tasks[t].collective >= 0)
        g_string_append_printf (text, " %s %" G_GUINT64_FORMAT, fab_op_names[collective->plan.op],
                                (guint64) collective->plan.bytes);
      append_waits (text, dag, t);
    }
  }
  return g_string_free (text, FALSE);
}
