/* SPDX-License-Identifier: Apache-2.0 */
/* texts.c - traces that are lines: SimAI's workload, AICB's table of a run, GOAL, and the log of NCCL. */
#include <string.h>

#include "formats/trace/reading.h"
#include "sim/base/error.h"
#include "sim/collective/collective.h"

#define MAX_RANKS 1048576
#define MAX_NODES 50000000
#define MAX_CHOICES 4096  /* of NCCL, that differ */
#define MAX_CHANNELS 64   /* of NCCL (MAXCHANNELS) */
#define MAX_RING_TEXT 320 /* bytes of a ring that are told */

/* Where a reader of lines is. */
typedef struct {
  FabTrace *trace;
  FabFileBytes *bytes;
  GString *line;
  guint64 line_at; /* the byte at which the line begins */
  guint number;    /* of the line, from 1 */
  GError *error;
} Lines;

static gboolean
next_line (Lines *self)
{
  self->line_at = fab_file_bytes_at (self->bytes);
  self->number++;
  return self->error == NULL && fab_file_bytes_line (self->bytes, self->line, &self->error);
}

static gboolean G_GNUC_PRINTF (2, 3) fail (Lines *self, const char *format, ...)
{
  va_list list;
  g_autofree char *what = NULL, *plain = NULL;

  va_start (list, format);
  what = g_strdup_vprintf (format, list);
  va_end (list);
  plain = fab_printable (what);
  return fab_throw (&self->error, FAB_ERROR_INPUT, "%s: byte %" G_GUINT64_FORMAT ": %s",
                    fab_file_bytes_name (self->bytes), self->line_at, plain);
}

/* Runs a reader over lines. */
static gboolean
read_lines (FabTrace *trace, FabFileBytes *bytes, gboolean (*reader) (Lines *self), GError **error)
{
  g_autoptr (GString) line = g_string_new (NULL);
  Lines self = { .trace = trace, .bytes = bytes, .line = line };
  gboolean is_read = reader (&self) && self.error == NULL;

  if (!is_read && self.error == NULL)
    fail (&self, "the file ends early; it is cut");
  if (!is_read)
    g_propagate_error (error, self.error);
  return is_read;
}

/* Words of a line between blanks. (transfer full) */
static char **
words_of (const char *line)
{
  g_auto (GStrv) all = g_strsplit_set (line, " \t", -1);
  GStrvBuilder *builder = g_strv_builder_new ();
  char **words;

  for (char **word = all; *word != NULL; word++)
    if (**word != '\0')
      g_strv_builder_add (builder, *word);
  words = g_strv_builder_end (builder);
  g_strv_builder_unref (builder);
  return words;
}

/* Adds a node that waits for the one before it. */
static FabTraceNode *
add_node (FabTracedRank *rank, const char *name, FabTraceKind kind, FabTimePs duration_ps)
{
  FabTraceNode node = { .name = name,
                        .id = rank->nodes->len,
                        .duration_ps = duration_ps,
                        .peer = -1,
                        .kind = kind,
                        .comm = -1,
                        .first_dep = rank->deps->len };

  if (rank->nodes->len > 0) {
    guint64 before = node.id - 1;

    g_array_append_val (rank->deps, before);
    node.n_deps = 1;
  }
  g_array_append_val (rank->nodes, node);
  return &g_array_index (rank->nodes, FabTraceNode, rank->nodes->len - 1);
}

static void
set_comm (FabTracedRank *rank, FabTraceNode *node, FabTraceComm comm)
{
  node->comm = (gint32) rank->comms->len;
  g_array_append_val (rank->comms, comm);
}

/* --- SimAI's workload: name, dependency, then time in ns, collective and bytes of the forward pass, of the gradients
 * of inputs and of the gradients of weights, and the time of the update (aliyun/SimAI, docs/Tutorial.md) --- */

static const char *
simai_dimension (const char *comm, guint pass)
{
  if (g_str_has_suffix (comm, "_EP") && !g_str_has_suffix (comm, "_DP_EP"))
    return "expert";
  return pass == 2 || g_str_has_suffix (comm, "_DP_EP") ? "data" : "tensor";
}

static gboolean
simai_pass (Lines *self, FabTracedRank *rank, char **words, guint pass)
{
  const char *comm = words[3 + 3 * pass];
  const char *name = fab_trace_intern (self->trace, words[0]);
  const char *op = strcmp (comm, "NONE") == 0 ? NULL : fab_trace_op_name (comm);
  gint64 time_ns, n_bytes;

  if (!fab_trace_parse_whole (words[2 + 3 * pass], &time_ns) || time_ns < 0 || time_ns > G_MAXINT64 / 1000)
    return fail (self, "%s is no time in ns", words[2 + 3 * pass]);
  if (!fab_trace_parse_whole (words[4 + 3 * pass], &n_bytes) || n_bytes < 0)
    return fail (self, "%s is no number of bytes", words[4 + 3 * pass]);
  if (op == NULL && strcmp (comm, "NONE") != 0)
    return fail (self, "%s is no collective that SimAI has", comm);
  add_node (rank, name, FAB_TRACE_COMPUTE, time_ns * 1000);
  if (op != NULL && n_bytes > 0)
    set_comm (rank, add_node (rank, name, FAB_TRACE_COMM, 0),
              (FabTraceComm){ .op = op,
                              .dimension = simai_dimension (comm, pass),
                              .group = "",
                              .bytes = (FabBytes) n_bytes });
  return TRUE;
}

static gboolean
simai_head (Lines *self, FabTracedRank *rank, gint64 *n_layers)
{
  const char *all;

  if (!next_line (self))
    return FALSE;
  all = strstr (self->line->str, "all_gpus:");
  if (all != NULL)
    rank->n_world = (guint) g_ascii_strtoull (all + strlen ("all_gpus:"), NULL, 10);
  if (!next_line (self) || !fab_trace_parse_whole (g_strstrip (self->line->str), n_layers) || *n_layers < 1)
    return self->error == NULL && fail (self, "the number of layers is missing");
  return TRUE;
}

static gboolean
simai_layers (Lines *self, GPtrArray *layers)
{
  while (next_line (self)) {
    char **words = words_of (self->line->str);

    if (words[0] == NULL) {
      g_strfreev (words);
      continue;
    }
    g_ptr_array_add (layers, words);
    if (g_strv_length (words) != 12)
      return fail (self, "a layer has 12 words, and this one %u", g_strv_length (words));
  }
  return self->error == NULL;
}

static gboolean
simai_reader (Lines *self)
{
  FabTracedRank *rank = fab_trace_add_rank (self->trace, fab_file_bytes_name (self->bytes));
  g_autoptr (GPtrArray) layers = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  gint64 n_layers = 0;

  if (!simai_head (self, rank, &n_layers) || !simai_layers (self, layers))
    return FALSE;
  if (layers->len != n_layers)
    return fail (self, "the file announces %" G_GINT64_FORMAT " layers and has %u", n_layers, layers->len);
  for (guint i = 0; i < layers->len; i++)
    if (!simai_pass (self, rank, g_ptr_array_index (layers, i), 0))
      return FALSE;
  for (guint i = layers->len; i-- > 0;)
    if (!simai_pass (self, rank, g_ptr_array_index (layers, i), 1)
        || !simai_pass (self, rank, g_ptr_array_index (layers, i), 2))
      return FALSE;
  return TRUE;
}

static gboolean
read_simai (FabTrace *trace, FabFileBytes *bytes, GError **error)
{
  return read_lines (trace, bytes, simai_reader, error);
}

static gboolean
is_simai (const FabFileText *text)
{
  return fab_file_text_begins (text, "HYBRID_") || fab_file_text_begins (text, "DATA")
      || fab_file_text_begins (text, "MODEL") || fab_file_text_begins (text, "MICRO");
}

const FabFileFormat fab_file_simai = {
  .name = "SimAI workload",
  .kind = FAB_FILE_TRACE,
  .recognises = is_simai,
  .read.trace = read_simai,
};

/* --- AICB's table of a run: a row per collective with its time in ms (aliyun/aicb, log_analyzer/log.py) --- */

typedef struct {
  gint op, group, n_ranks, bytes, time, last;
} AicbColumns;

static gint
column_of (char **names, const char *wanted)
{
  for (gint i = 0; names[i] != NULL; i++)
    if (strcmp (names[i], wanted) == 0)
      return i;
  return -1;
}

static gboolean
aicb_head (Lines *self, AicbColumns *columns)
{
  g_auto (GStrv) names = NULL;

  if (!next_line (self))
    return FALSE;
  names = g_strsplit (self->line->str, ",", -1);
  columns->op = column_of (names, "comm_type");
  columns->group = column_of (names, "comm_group");
  columns->n_ranks = column_of (names, "comm_group_size");
  columns->bytes = column_of (names, "msg_size");
  columns->time = column_of (names, "_elapsed_time");
  columns->last = MAX (MAX (columns->op, columns->group),
                       MAX (MAX (columns->n_ranks, columns->bytes), columns->time));
  if (MIN (MIN (columns->op, columns->group), MIN (MIN (columns->n_ranks, columns->bytes), columns->time))
      < 0)
    return fail (self,
                 "needs the columns comm_type, comm_group, comm_group_size, msg_size and _elapsed_time");
  return TRUE;
}

static gboolean
aicb_row (Lines *self, FabTracedRank *rank, const AicbColumns *columns, char **cells)
{
  const char *op = fab_trace_op_name (cells[columns->op]);
  gint64 n_ranks, n_bytes;
  double time_ms;
  char *end;

  if (strstr (cells[columns->op], "epoch_end") != NULL)
    return TRUE;
  if (op == NULL)
    return fail (self, "%s is no collective", cells[columns->op]);
  time_ms = g_ascii_strtod (cells[columns->time], &end);
  if (end == cells[columns->time] || !(time_ms >= 0 && time_ms < 1e9))
    return fail (self, "%s is no time in ms", cells[columns->time]);
  if (strcmp (cells[columns->n_ranks], "None") == 0)
    n_ranks = 0; /* AICB does not know it */
  else if (!fab_trace_parse_whole (cells[columns->n_ranks], &n_ranks) || n_ranks < 1 || n_ranks > G_MAXINT)
    return fail (self, "%s is no size of a group", cells[columns->n_ranks]);
  if (!fab_trace_parse_whole (cells[columns->bytes], &n_bytes) || n_bytes < 0)
    return fail (self, "%s is no number of bytes", cells[columns->bytes]);
  set_comm (rank,
            add_node (rank, fab_trace_intern (self->trace, cells[columns->op]), FAB_TRACE_COMM,
                      (FabTimePs) (time_ms * 1e9)),
            (FabTraceComm){ .op = op,
                            .dimension = fab_trace_dimension (cells[columns->group]),
                            .group = fab_trace_intern (self->trace, cells[columns->group]),
                            .bytes = (FabBytes) n_bytes,
                            .n_ranks = (guint) n_ranks });
  return TRUE;
}

static gboolean
aicb_reader (Lines *self)
{
  FabTracedRank *rank = fab_trace_add_rank (self->trace, fab_file_bytes_name (self->bytes));
  AicbColumns columns;

  if (!aicb_head (self, &columns))
    return FALSE;
  while (next_line (self)) {
    g_auto (GStrv) cells = g_strsplit (self->line->str, ",", -1);

    if (self->line->len == 0)
      continue;
    if ((gint) g_strv_length (cells) <= columns.last)
      return fail (self, "a row has fewer cells than the head");
    if (!aicb_row (self, rank, &columns, cells))
      return FALSE;
  }
  return self->error == NULL;
}

static gboolean
read_aicb (FabTrace *trace, FabFileBytes *bytes, GError **error)
{
  return read_lines (trace, bytes, aicb_reader, error);
}

static gboolean
is_aicb (const FabFileText *text)
{
  return fab_file_text_begins (text, "comm_type,");
}

const FabFileFormat fab_file_aicb = {
  .name = "AICB's table of a run",
  .kind = FAB_FILE_TRACE,
  .recognises = is_aicb,
  .read.trace = read_aicb,
};

static gboolean
is_aiob (const FabFileText *text)
{
  return fab_file_text_begins (text, "train_iter:");
}

const FabFileFormat fab_file_aiob = {
  .name = "AIOB",
  .kind = FAB_FILE_TRACE,
  .recognises = is_aiob,
  .why_not = "holds times of kernels that AICB puts into a workload; import the workload",
};

/* --- GOAL: `num_ranks 2`, then `rank 0 { l1: calc 100  l2: send 8b to 1 tag 0  l2 requires l1 }`; times in ns
 * (spcl/LogGOPSim, README) --- */

typedef struct {
  GHashTable *labels; /* of the rank: text -> node + 1 */
  FabTracedRank *rank;
  gint64 n_ranks;
} Goal;

static gboolean
goal_number (Lines *self, const char *word, gint64 *value)
{
  g_autofree char *digits = g_strdup (word);
  gsize n = strlen (digits);

  if (n > 1 && digits[n - 1] == 'b')
    digits[n - 1] = '\0';
  return (fab_trace_parse_whole (digits, value) && *value >= 0) || fail (self, "%s is no number", word);
}

static gboolean
goal_work (Lines *self, Goal *goal, char **words, const char *label)
{
  gboolean is_calc = g_strcmp0 (words[0], "calc") == 0;
  gboolean is_message = g_strcmp0 (words[0], "send") == 0 || g_strcmp0 (words[0], "recv") == 0;
  gint64 amount = 0, peer = -1, tag = 0;
  FabTraceNode *node;

  if ((!is_calc && !is_message) || words[1] == NULL || (is_message && (words[2] == NULL || words[3] == NULL)))
    return fail (self, "a line is a calc, a send, a recv or a requires");
  if (!goal_number (self, words[1], &amount) || (is_message && !goal_number (self, words[3], &peer)))
    return FALSE;
  if (is_message && g_strcmp0 (words[4], "tag") == 0 && words[5] != NULL
      && !goal_number (self, words[5], &tag))
    return FALSE;
  if (peer >= goal->n_ranks)
    return fail (self, "rank %s is not below num_ranks", words[3]);
  if (goal->rank->nodes->len >= MAX_NODES)
    return fail (self, "more than %d nodes", MAX_NODES);
  node = add_node (goal->rank, fab_trace_intern (self->trace, words[0]),
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
    set_comm (goal->rank, node,
              (FabTraceComm){ .op = fab_op_names[FAB_OP_SEND_RECV],
                              .dimension = "other",
                              .group = "",
                              .bytes = (FabBytes) amount,
                              .n_ranks = 2 });
  return TRUE;
}

/* l2 requires l1. Dependencies of a node lie together: they move to the end when one is added. */
static gboolean
goal_requires (Lines *self, Goal *goal, char **words)
{
  guint from = GPOINTER_TO_UINT (g_hash_table_lookup (goal->labels, words[0]));
  guint to = words[2] ? GPOINTER_TO_UINT (g_hash_table_lookup (goal->labels, words[2])) : 0;
  GArray *deps = goal->rank->deps;
  FabTraceNode *node;
  guint64 id = to;
  guint first;

  if (from == 0 || to == 0)
    return fail (self, "requires names a label that no line above has");
  if (from == to)
    return fail (self, "%s requires itself", words[0]);
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
goal_rank (Lines *self, Goal *goal, char **words)
{
  gint64 rank;

  if (words[1] == NULL || !fab_trace_parse_whole (words[1], &rank) || rank < 0 || rank >= goal->n_ranks)
    return fail (self, "a rank is a number below num_ranks");
  g_hash_table_remove_all (goal->labels);
  goal->rank = fab_trace_add_rank (self->trace, fab_file_bytes_name (self->bytes));
  goal->rank->rank = rank;
  goal->rank->n_world = (guint) goal->n_ranks;
  return TRUE;
}

static gboolean
goal_line (Lines *self, Goal *goal, char **words)
{
  gsize n = strlen (words[0]);

  if (strcmp (words[0], "num_ranks") == 0)
    return (words[1] != NULL && fab_trace_parse_whole (words[1], &goal->n_ranks) && goal->n_ranks >= 1
            && goal->n_ranks <= MAX_RANKS)
        || fail (self, "num_ranks is between 1 and %d", MAX_RANKS);
  if (strcmp (words[0], "rank") == 0)
    return goal_rank (self, goal, words);
  if (strcmp (words[0], "}") == 0 || strcmp (words[0], "{") == 0)
    return TRUE;
  if (goal->rank == NULL)
    return fail (self, "a rank { must come before its lines");
  if (g_strcmp0 (words[1], "requires") == 0 || g_strcmp0 (words[1], "irequires") == 0)
    return goal_requires (self, goal, words);
  if (n > 1 && words[0][n - 1] == ':') {
    words[0][n - 1] = '\0';
    return goal_work (self, goal, words + 1, words[0]);
  }
  return goal_work (self, goal, words, NULL);
}

static gboolean
goal_reader (Lines *self)
{
  g_autoptr (GHashTable) labels = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Goal goal = { .labels = labels };

  while (next_line (self)) {
    g_auto (GStrv) words = NULL;
    char *comment = strstr (self->line->str, "//");

    if (comment != NULL)
      *comment = '\0';
    words = words_of (self->line->str);
    if (words[0] != NULL && !goal_line (self, &goal, words))
      return FALSE;
  }
  return self->error == NULL && (goal.rank != NULL || fail (self, "the file has no rank"));
}

static gboolean
read_goal (FabTrace *trace, FabFileBytes *bytes, GError **error)
{
  return read_lines (trace, bytes, goal_reader, error);
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

/* --- NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=INIT,COLL,GRAPH: "host:12:34 [0] NCCL INFO AllReduce: opCount 0 sendbuff ..
 * count 1024 datatype 7 op 0 root 0 comm 0x55 [nranks=8] stream .." (NCCL, src/enqueue.cc and src/init.cc) --- */

static gboolean
value_after (const char *line, const char *word, guint64 *value)
{
  const char *found = strstr (line, word);
  char *end;

  if (found == NULL)
    return FALSE;
  found += strlen (word);
  *value = g_ascii_strtoull (found, &end, 10);
  return end != found;
}

static FabTracedRank *
log_rank (Lines *self, GHashTable *ranks, const char *line)
{
  const char *end = strstr (line, " NCCL INFO");
  g_autofree char *key = g_strndup (line, (gsize) (end - line));
  char *pid = strchr (key, ':'), *tid = pid ? strchr (pid + 1, ':') : NULL, *device = strchr (key, '[');
  g_autofree char *who = NULL;
  FabTracedRank *rank;

  if (tid != NULL)
    *tid = '\0';
  who = g_strdup_printf ("%s %s", key, device ? device : "");
  rank = g_hash_table_lookup (ranks, who);
  if (rank == NULL) {
    rank = fab_trace_add_rank (self->trace, fab_file_bytes_name (self->bytes));
    g_hash_table_insert (ranks, g_steal_pointer (&who), rank);
  }
  return rank;
}

static void
log_collective (Lines *self, FabTracedRank *rank, const char *line)
{
  static const guint8 type_bytes[] = { 1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1 }; /* ncclDataType_t */
  const char *name = strstr (line, "NCCL INFO ") + strlen ("NCCL INFO ");
  g_autofree char *called = g_strndup (name, strcspn (name, ":"));
  const char *op = fab_trace_op_name (called);
  guint64 count = 0, type = 1, n_ranks = 0;
  FabTraceComm comm = { .op = op, .dimension = "other", .group = "" };

  if (op == NULL || !value_after (line, "count ", &count) || !value_after (line, "datatype ", &type))
    return;
  (void) value_after (line, "nranks=", &n_ranks);
  comm.n_ranks = (guint) MIN (n_ranks, MAX_RANKS);
  comm.bytes = MIN (count, G_MAXINT64 / 16) * type_bytes[MIN (type, G_N_ELEMENTS (type_bytes) - 1)];
  if (strcmp (op, "all_gather") == 0 || strcmp (op, "reduce_scatter") == 0) /* count is of one rank */
    comm.bytes *= MAX (comm.n_ranks, 1);
  set_comm (rank, add_node (rank, fab_trace_intern (self->trace, called), FAB_TRACE_COMM, 0), comm);
}

/* "RING" or "1"; `names` is in NCCL's order (src/include/nccl_tuner.h). */
static const char *
log_name (Lines *self, const char *text, const char *const *names, guint n)
{
  g_autofree char *word = g_strndup (text, strcspn (text, " ")), *name = g_ascii_strdown (word, -1);
  gint64 number;

  if (fab_trace_parse_whole (word, &number) && number >= 0 && number < n)
    return names[number];
  return fab_trace_intern (self->trace, name);
}

static void
keep_choice (FabTrace *trace, const FabTraceChoice *choice)
{
  for (guint i = 0; i < trace->choices->len; i++) {
    FabTraceChoice *known = &g_array_index (trace->choices, FabTraceChoice, i);

    if (known->bytes == choice->bytes && strcmp (known->op, choice->op) == 0
        && strcmp (known->algorithm, choice->algorithm) == 0
        && strcmp (known->protocol, choice->protocol) == 0) {
      known->n_times++;
      return;
    }
  }
  if (trace->choices->len < MAX_CHOICES)
    g_array_append_val (trace->choices, *choice);
}

/* NCCL_DEBUG_SUBSYS=TUNING, of rank 0: "AllReduce: 4000000 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..15}",
 * before NCCL 2.24 "4000000 Bytes -> Algo 1 proto 1 time 123.4" (src/enqueue.cc). */
static void
log_choice (Lines *self, const FabTracedRank *rank, const char *line)
{
  static const char *const algorithms[] = { "tree",      "ring", "collnet_direct", "collnet_chain", "nvls",
                                            "nvls_tree", "pat" };
  static const char *const protocols[] = { "ll", "ll128", "simple" };
  const char *name = strstr (line, "NCCL INFO ") + strlen ("NCCL INFO "), *bytes = name;
  const char *algorithm = strstr (line, "-> Algo "), *protocol = strstr (line, " proto ");
  const char *low = strstr (line, "={"), *high = low != NULL ? strstr (low, "..") : NULL;
  FabTraceChoice choice = { .op = "", .n_times = 1 };
  double size;

  if (algorithm == NULL || protocol == NULL)
    return;
  if (!g_ascii_isdigit (*name)) {
    g_autofree char *called = g_strndup (name, strcspn (name, ":"));

    choice.op = fab_trace_op_name (called);
    bytes = name + strcspn (name, ":");
    bytes += *bytes == ':';
  }
  if (choice.op == NULL)
    return;
  size = g_ascii_strtod (bytes, NULL);
  if (strcmp (choice.op, "all_gather") == 0 || strcmp (choice.op, "reduce_scatter") == 0)
    size *= MAX (rank->n_world, 1);
  choice.bytes = fab_trace_whole_bytes (size);
  choice.algorithm = log_name (self, algorithm + strlen ("-> Algo "), algorithms, G_N_ELEMENTS (algorithms));
  choice.protocol = log_name (self, protocol + strlen (" proto "), protocols, G_N_ELEMENTS (protocols));
  if (high != NULL)
    choice.n_channels = (guint) CLAMP (
        g_ascii_strtoll (high + 2, NULL, 10) - g_ascii_strtoll (low + 2, NULL, 10) + 1, 0, 1024);
  keep_choice (self->trace, &choice);
}

/* The ring of a channel. */
typedef struct {
  char *ranks; /* " 0 1 3 2"; NULL: the log does not say it */
  guint line;  /* that says it last */
} Ring;

/* "Channel 00/02 :    0   1   2   3": the ring of a channel. */
static void
log_ring (Lines *self, Ring *rings, const char *line, guint64 channel)
{
  const char *list = strstr (line, " : ");
  g_auto (GStrv) words = g_strsplit_set (list + 3, " \t", -1);
  g_autoptr (GString) ring = g_string_new (NULL);

  if (channel >= MAX_CHANNELS)
    return;
  for (char **word = words; *word != NULL && ring->len < MAX_RING_TEXT; word++)
    if (**word != '\0')
      g_string_append_printf (ring, " %s", *word);
  g_free (rings[channel].ranks);
  rings[channel] = (Ring){ g_string_free (g_steal_pointer (&ring), FALSE), self->number };
}

/* Channels in a row with the same ring are told together. */
static void
note_rings (Lines *self, const Ring *rings)
{
  const char *file = fab_file_bytes_name (self->bytes);

  for (guint first = 0, end; first < MAX_CHANNELS; first = end) {
    for (end = first + 1; end < MAX_CHANNELS && g_strcmp0 (rings[end].ranks, rings[first].ranks) == 0;)
      end++;
    const char *ring = rings[first].ranks,
               *rest = ring != NULL && strlen (ring) >= MAX_RING_TEXT ? " ..." : "";

    if (ring != NULL && end - first > 1)
      fab_trace_note (self->trace, FAB_NOTE_READ, file, rings[first].line,
                      "The ring of channels %u to %u goes through the ranks%s%s", first, end - 1, ring, rest);
    else if (ring != NULL)
      fab_trace_note (self->trace, FAB_NOTE_READ, file, rings[first].line,
                      "The ring of channel %u goes through the ranks%s%s", first, ring, rest);
  }
}

static gboolean
log_reader (Lines *self)
{
  Ring rings[MAX_CHANNELS] = { 0 };
  g_autoptr (GHashTable) ranks = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  guint64 n_rings = 0, channel, value;

  while (next_line (self)) {
    const char *line = self->line->str;
    FabTracedRank *rank;

    if (strstr (line, " NCCL INFO ") == NULL)
      continue;
    if (g_hash_table_size (ranks) > MAX_RANKS) {
      (void) fail (self, "more than %d ranks", MAX_RANKS);
      break;
    }
    rank = log_rank (self, ranks, line);
    if (strstr (line, " opCount ") != NULL)
      log_collective (self, rank, line);
    else if (strstr (line, " Bytes -> Algo ") != NULL)
      log_choice (self, rank, line);
    else if (strstr (line, "Init COMPLETE") != NULL) {
      if (value_after (line, " rank ", &value) && rank->rank < 0)
        rank->rank = (gint64) MIN (value, MAX_RANKS);
      if (value_after (line, " nranks ", &value))
        rank->n_world = MAX (rank->n_world, (guint) MIN (value, MAX_RANKS));
    } else if (value_after (line, "Channel ", &channel) && strstr (line, " : ") != NULL) {
      n_rings = MAX (n_rings, channel + 1);
      log_ring (self, rings, line, channel);
    }
  }
  note_rings (self, rings);
  for (guint i = 0; i < MAX_CHANNELS; i++)
    g_free (rings[i].ranks);
  if (n_rings > 0)
    fab_trace_note (self->trace, FAB_NOTE_READ, fab_file_bytes_name (self->bytes), 0,
                    "NCCL has %" G_GUINT64_FORMAT " channels", n_rings);
  return self->error == NULL && (g_hash_table_size (ranks) > 0 || fail (self, "no line is of NCCL"));
}

static gboolean
read_log (FabTrace *trace, FabFileBytes *bytes, GError **error)
{
  return read_lines (trace, bytes, log_reader, error);
}

static gboolean
is_log (const FabFileText *text)
{
  return fab_file_text_has (text, " NCCL INFO ");
}

const FabFileFormat fab_file_nccl_log = {
  .name = "NCCL log",
  .kind = FAB_FILE_TRACE,
  .recognises = is_log,
  .read.trace = read_log,
};
