/* SPDX-License-Identifier: Apache-2.0 */
/* goal.c - GOAL: `num_ranks 2`, then `rank 0 { l1: calc 100  l2: send 8b to 1 tag 0  l2 requires l1 }`; times in ns
 * (spcl/LogGOPSim, README). */
#include <string.h>

#include "formats/trace/lines.h"
#include "sim/collective/collective.h"

#define MAX_NODES 50000000

typedef struct {
  GHashTable *labels; /* of the rank: text -> node + 1 */
  FabTracedRank *rank;
  gint64 n_ranks;
} Goal;

static gboolean
goal_number (FabTraceLines *self, const char *word, gint64 *value)
{
  g_autofree char *digits = g_strdup (word);
  gsize n = strlen (digits);

  if (n > 1 && digits[n - 1] == 'b')
    digits[n - 1] = '\0';
  return (fab_trace_parse_whole (digits, value) && *value >= 0)
      || fab_trace_lines_fail (self, "%s is no number", word);
}

static gboolean
goal_work (FabTraceLines *self, Goal *goal, char **words, const char *label)
{
  gboolean is_calc = g_strcmp0 (words[0], "calc") == 0;
  gboolean is_message = g_strcmp0 (words[0], "send") == 0 || g_strcmp0 (words[0], "recv") == 0;
  gint64 amount = 0, peer = -1, tag = 0;
  FabTraceNode *node;

  if ((!is_calc && !is_message) || words[1] == NULL || (is_message && (words[2] == NULL || words[3] == NULL)))
    return fab_trace_lines_fail (self, "a line is a calc, a send, a recv or a requires");
  if (!goal_number (self, words[1], &amount) || (is_message && !goal_number (self, words[3], &peer)))
    return FALSE;
  if (is_message && g_strcmp0 (words[4], "tag") == 0 && words[5] != NULL
      && !goal_number (self, words[5], &tag))
    return FALSE;
  if (peer >= goal->n_ranks)
    return fab_trace_lines_fail (self, "rank %s is not below num_ranks", words[3]);
  if (goal->rank->nodes->len >= MAX_NODES)
    return fab_trace_lines_fail (self, "more than %d nodes", MAX_NODES);
  node = fab_trace_add_node (goal->rank, fab_trace_intern (self->trace, words[0]),
                             is_calc ? FAB_TRACE_COMPUTE : FAB_TRACE_COMM,
                             is_calc ? MIN (amount, G_MAXINT64 / 1000) * 1000 : 0);
  g_array_set_size (goal->rank->deps, node->first_dep); /* only `requires` says what waits */
  node->n_deps = 0;
  node->peer = peer;
  node->is_send = words[0][0] == 's';
  node->tag = (guint64) tag;
  if (label != NULL)
    g_hash_table_insert (goal->labels, g_strdup (label), GUINT_TO_POINTER (goal->rank->nodes->len));
  if (is_message)
    fab_trace_set_comm (goal->rank, node,
                        (FabTraceComm){ .op = fab_op_names[FAB_OP_SEND_RECV],
                                        .dimension = "other",
                                        .group = "",
                                        .bytes = (FabBytes) amount,
                                        .n_ranks = 2 });
  return TRUE;
}

/* l2 requires l1. Dependencies of a node lie together: they move to the end when one is added. */
static gboolean
goal_requires (FabTraceLines *self, Goal *goal, char **words)
{
  guint from = GPOINTER_TO_UINT (g_hash_table_lookup (goal->labels, words[0]));
  guint to = words[2] ? GPOINTER_TO_UINT (g_hash_table_lookup (goal->labels, words[2])) : 0;
  GArray *deps = goal->rank->deps;
  FabTraceNode *node;
  guint64 id = to;
  guint first;

  if (from == 0 || to == 0)
    return fab_trace_lines_fail (self, "requires names a label that no line above has");
  if (from == to)
    return fab_trace_lines_fail (self, "%s requires itself", words[0]);
  id = to - 1;
  node = &g_array_index (goal->rank->nodes, FabTraceNode, from - 1);
  if (node->first_dep + node->n_deps != deps->len) {
    first = deps->len;
    for (guint i = 0; i < node->n_deps; i++) {
      guint64 old = g_array_index (deps, guint64, node->first_dep + i);

      g_array_append_val (deps, old);
    }
    node->first_dep = first;
  }
  g_array_append_val (deps, id);
  node->n_deps++;
  return TRUE;
}

static gboolean
goal_rank (FabTraceLines *self, Goal *goal, char **words)
{
  gint64 rank;

  if (words[1] == NULL || !fab_trace_parse_whole (words[1], &rank) || rank < 0 || rank >= goal->n_ranks)
    return fab_trace_lines_fail (self, "a rank is a number below num_ranks");
  g_hash_table_remove_all (goal->labels);
  goal->rank = fab_trace_add_rank (self->trace, fab_file_bytes_name (self->bytes));
  goal->rank->rank = rank;
  goal->rank->n_world = (guint) goal->n_ranks;
  return TRUE;
}

static gboolean
goal_line (FabTraceLines *self, Goal *goal, char **words)
{
  gsize n = strlen (words[0]);

  if (strcmp (words[0], "num_ranks") == 0)
    return (words[1] != NULL && fab_trace_parse_whole (words[1], &goal->n_ranks) && goal->n_ranks >= 1
            && goal->n_ranks <= FAB_TRACE_MAX_RANKS)
        || fab_trace_lines_fail (self, "num_ranks is between 1 and %d", FAB_TRACE_MAX_RANKS);
  if (strcmp (words[0], "rank") == 0)
    return goal_rank (self, goal, words);
  if (strcmp (words[0], "}") == 0 || strcmp (words[0], "{") == 0)
    return TRUE;
  if (goal->rank == NULL)
    return fab_trace_lines_fail (self, "a rank { must come before its lines");
  if (g_strcmp0 (words[1], "requires") == 0 || g_strcmp0 (words[1], "irequires") == 0)
    return goal_requires (self, goal, words);
  if (n > 1 && words[0][n - 1] == ':') {
    words[0][n - 1] = '\0';
    return goal_work (self, goal, words + 1, words[0]);
  }
  return goal_work (self, goal, words, NULL);
}

static gboolean
goal_reader (FabTraceLines *self)
{
  g_autoptr (GHashTable) labels = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Goal goal = { .labels = labels };

  while (fab_trace_lines_next (self)) {
    g_auto (GStrv) words = NULL;
    char *comment = strstr (self->line->str, "//");

    if (comment != NULL)
      *comment = '\0';
    words = fab_trace_words (self->line->str);
    if (words[0] != NULL && !goal_line (self, &goal, words))
      return FALSE;
  }
  return self->error == NULL && (goal.rank != NULL || fab_trace_lines_fail (self, "the file has no rank"));
}

static gboolean
read_goal (FabTrace *trace, FabFileBytes *bytes, GError **error)
{
  return fab_trace_lines_read (trace, bytes, goal_reader, error);
}

static gboolean
is_goal (const FabFileText *text)
{
  return fab_file_text_has (text, "num_ranks");
}

const FabFileFormat fab_file_goal = {
  .name = "GOAL",
  .kind = FAB_FILE_TRACE,
  .recognises = is_goal,
  .read.trace = read_goal,
};
