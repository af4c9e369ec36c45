/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_log.c - the log of NCCL with NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=INIT,COLL,GRAPH: "host:12:34 [0] NCCL INFO
 * AllReduce: opCount 0 sendbuff .. count 1024 datatype 7 op 0 root 0 comm 0x55 [nranks=8] stream .." (NCCL,
 * src/enqueue.cc and src/init.cc). */
#include <string.h>

#include "formats/trace/lines.h"

#define MAX_CHOICES 4096  /* that differ */
#define MAX_CHANNELS 64   /* MAXCHANNELS of NCCL */
#define MAX_RING_TEXT 320 /* bytes of a ring that are told */

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
log_rank (FabTraceLines *self, GHashTable *ranks, const char *line)
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
log_collective (FabTraceLines *self, FabTracedRank *rank, const char *line)
{
  static const guint8 type_bytes[] = { 1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1 }; /* ncclDataType_t */
  const char *name = strstr (line, "NCCL INFO ") + strlen ("NCCL INFO ");
  g_autofree char *called = g_strndup (name, strcspn (name, ":"));
  const char *op = fab_trace_op_name (called);
  guint64 count = 0, type = 1, n_ranks = 0;
  double bytes;
  FabTraceComm comm = { .op = op, .dimension = "other", .group = "" };

  if (op == NULL || !value_after (line, "count ", &count) || !value_after (line, "datatype ", &type))
    return;
  (void) value_after (line, "nranks=", &n_ranks);
  comm.n_ranks = (guint) MIN (n_ranks, FAB_TRACE_MAX_RANKS);
  bytes = (double) count * type_bytes[MIN (type, G_N_ELEMENTS (type_bytes) - 1)];
  if (strcmp (op, "all_gather") == 0 || strcmp (op, "reduce_scatter") == 0) /* count is of one rank */
    bytes *= MAX (comm.n_ranks, 1);
  comm.bytes = fab_trace_whole_bytes (bytes);
  fab_trace_set_comm (rank,
                      fab_trace_add_node (rank, fab_trace_intern (self->trace, called), FAB_TRACE_COMM, 0),
                      comm);
}

/* "RING" or "1"; `names` is in NCCL's order (src/include/nccl_tuner.h). */
static const char *
log_name (FabTraceLines *self, const char *text, const char *const *names, guint n)
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

/* The channels from one number to another one, both with them; 0: there are none. */
static guint
channels_between (const char *low, const char *high)
{
  guint64 first = g_ascii_strtoull (low, NULL, 10), last = g_ascii_strtoull (high, NULL, 10);

  return last >= first ? (guint) MIN (last - first, MAX_CHANNELS - 1) + 1 : 0;
}

/* NCCL_DEBUG_SUBSYS=TUNING, of rank 0: "AllReduce: 4000000 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..15}",
 * before NCCL 2.24 "4000000 Bytes -> Algo 1 proto 1 time 123.4" (src/enqueue.cc). */
static void
log_choice (FabTraceLines *self, const FabTracedRank *rank, const char *line)
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
    choice.n_channels = channels_between (low + 2, high + 2);
  keep_choice (self->trace, &choice);
}

/* The ring of a channel. */
typedef struct {
  char *ranks; /* " 0 1 3 2"; NULL: the log does not say it */
  guint line;  /* that says it last */
} Ring;

/* "Channel 00/02 :    0   1   2   3": the ring of a channel. */
static void
log_ring (FabTraceLines *self, Ring *rings, const char *line, guint64 channel)
{
  const char *list = strstr (line, " : ");
  g_auto (GStrv) words = g_strsplit_set (list + 3, " \t", -1);
  g_autoptr (GString) ring = g_string_new (NULL);

  if (channel >= MAX_CHANNELS)
    return;
  for (char **word = words; *word != NULL; word++)
    if (**word != '\0' && ring->len < MAX_RING_TEXT)
      g_string_append_printf (ring, " %s", *word);
    else if (**word != '\0') {
      g_string_append (ring, " ...");
      break;
    }
  g_free (rings[channel].ranks);
  rings[channel] = (Ring){ g_string_free (g_steal_pointer (&ring), FALSE), self->number };
}

/* Channels in a row with the same ring are told together. */
static void
note_rings (FabTraceLines *self, const Ring *rings)
{
  const char *file = fab_file_bytes_name (self->bytes);

  for (guint first = 0, end; first < MAX_CHANNELS; first = end) {
    for (end = first + 1; end < MAX_CHANNELS && g_strcmp0 (rings[end].ranks, rings[first].ranks) == 0;)
      end++;
    const char *ring = rings[first].ranks;

    if (ring != NULL && end - first > 1)
      fab_trace_note (self->trace, FAB_NOTE_READ, file, rings[first].line,
                      "The ring of channels %u to %u goes through the ranks%s", first, end - 1, ring);
    else if (ring != NULL)
      fab_trace_note (self->trace, FAB_NOTE_READ, file, rings[first].line,
                      "The ring of channel %u goes through the ranks%s", first, ring);
  }
}

static gboolean
log_reader (FabTraceLines *self)
{
  Ring rings[MAX_CHANNELS] = { 0 };
  g_autoptr (GHashTable) ranks = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  guint64 n_rings = 0, channel, value;
  guint n_calls = 0;
  gboolean has_tree = FALSE;

  while (fab_trace_lines_next (self)) {
    const char *line = self->line->str;
    FabTracedRank *rank;

    if (strstr (line, " NCCL INFO ") == NULL)
      continue;
    if (g_hash_table_size (ranks) > FAB_TRACE_MAX_RANKS) {
      (void) fab_trace_lines_fail (self, "more than %d ranks", FAB_TRACE_MAX_RANKS);
      break;
    }
    rank = log_rank (self, ranks, line);
    has_tree = has_tree || strstr (line, "=== System :") != NULL;
    n_calls += strstr (line, " opCount ") != NULL || strstr (line, " Bytes -> Algo ") != NULL;
    if (strstr (line, " opCount ") != NULL)
      log_collective (self, rank, line);
    else if (strstr (line, " Bytes -> Algo ") != NULL)
      log_choice (self, rank, line);
    else if (strstr (line, "Init COMPLETE") != NULL) {
      if (value_after (line, " rank ", &value) && rank->rank < 0)
        rank->rank = (gint64) MIN (value, FAB_TRACE_MAX_RANKS);
      if (value_after (line, " nranks ", &value))
        rank->n_world = MAX (rank->n_world, (guint) MIN (value, FAB_TRACE_MAX_RANKS));
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
  if (self->error == NULL && has_tree && n_calls + n_rings > 0)
    fab_trace_note (self->trace, FAB_NOTE_LEFT_OUT, fab_file_bytes_name (self->bytes), 0,
                    "The tree of the machine (=== System) is left out: `fabricast import` reads it");
  return self->error == NULL
      && (g_hash_table_size (ranks) > 0 || fab_trace_lines_fail (self, "no line is of NCCL"))
      && (n_calls + n_rings > 0
          || fab_trace_lines_fail (
              self, "the log holds no collectives, which NCCL prints with NCCL_DEBUG_SUBSYS=COLL%s",
              has_tree ? "; `fabricast import` reads the tree of the machine in it" : ""));
}

static gboolean
read_log (FabTrace *trace, FabFileBytes *bytes, GError **error)
{
  return fab_trace_lines_read (trace, bytes, log_reader, error);
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
