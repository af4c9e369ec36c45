/* SPDX-License-Identifier: Apache-2.0 */
/* teccl.c - schedules of TE-CCL: JSON with the flows of chunks, epoch by epoch.
 *
 * As its solvers write it (microsoft/TE-CCL, teccl/solvers/allgather.py and alltoall.py):
 *
 *   all_gather   "7-Flows": ["Chunk 0 from 3 traveled over 3->5 in epoch 0 via switches 17", ...]
 *   all_to_all   the same with "with volume 0.5", and
 *                "8-Chunk paths": {"Demand at 5 for chunk 1 from 3 met by epoch 4":
 *                [[[0, "3->4 with volume 0.5 in epoch 0"], [2, "4->5 with volume 0.5 in epoch 2"]], ...], ...}
 *
 * The numbers before the names depend on the version. Its list of flows merges those of an all-to-all that look alike,
 * so that the paths are read there. Nodes are numbered with the switches; the GPUs are those that have chunks of their
 * own, and the smallest of them is rank 0. In an all-to-all of n GPUs chunk c goes to rank c mod n.
 *
 * A flow becomes a message. It waits until its chunk, or this part of it, has arrived, and until the flows of earlier
 * epochs have left the same link out of its GPU.
 */
#include <math.h>
#include <string.h>

#include "formats/schedule/schedule.h"
#include "formats/text/json.h"
#include "sim/base/error.h"
#include "sim/base/order.h"

#define MOST_NODES 65536
#define MOST_CHUNKS 16777216
#define NOTHING G_MAXUINT
#define VOLUME_ERROR 1e-3 /* what a solver's tolerance may leave of a chunk */

typedef struct {
  guint source, chunk; /* whose chunk it is, and which */
  guint from, to;      /* nodes */
  guint first_stop;    /* the switch to which the link out of `from` leads, or `to` */
  guint epoch;
  double volume; /* in chunks */
  guint number;  /* in the order of the file */
  guint
      before; /* number of the flow that brings this part of the chunk; NOTHING: its sender's own, or not known */
  guint at; /* which entry of the file it is */
} Flow;

/* A list of flows that becomes messages. */
typedef struct {
  const char *source;
  FabGiven *given;
  GArray *flows;       /* Flow */
  GHashTable *ranks;   /* node -> rank + 1 */
  GHashTable *links;   /* Link * */
  guint n_chunks;      /* of each GPU */
  guint *messages;     /* [flows] by their numbers */
  const char *section; /* of the file, for messages */
  GPtrArray *entries;  /* names of the entries; NULL: they have numbers */
  GError **error;
} Schedule;

typedef struct {
  FabFileJson *json;
  GArray *flows, *hops; /* Flow: of the list of flows, and of all paths */
  GPtrArray *demands;   /* names of the entries of `hops` */
  gboolean has_volumes;
  char *section; /* the present one */
} Reader;

/* --- texts --- */

static gboolean
take (const char **at, const char *literal)
{
  if (!g_str_has_prefix (*at, literal))
    return FALSE;
  *at += strlen (literal);
  return TRUE;
}

static gboolean
take_number (const char **at, guint most, guint *value)
{
  guint64 sum = 0;

  if (!g_ascii_isdigit (**at))
    return FALSE;
  for (; g_ascii_isdigit (**at); ++*at) {
    sum = sum * 10 + (guint64) (**at - '0');
    if (sum > most)
      return FALSE;
  }
  *value = (guint) sum;
  return TRUE;
}

/* Stays before what is no volume. */
static void
take_volume (const char **at, double *value)
{
  char *end;

  *value = g_ascii_strtod (*at, &end);
  if (*value > 0 && *value <= 1 + VOLUME_ERROR)
    *at = end;
}

/* "3->5 [with volume 0.5 ]in epoch 0[ via switches 17 -> 34]" */
static gboolean
take_hop (const char *at, Flow *flow)
{
  guint other;

  flow->volume = 0;
  if (!take_number (&at, MOST_NODES - 1, &flow->from) || !take (&at, "->")
      || !take_number (&at, MOST_NODES - 1, &flow->to))
    return FALSE;
  if (take (&at, " with volume "))
    take_volume (&at, &flow->volume);
  if (!take (&at, " in epoch ") || !take_number (&at, G_MAXINT, &flow->epoch))
    return FALSE;
  flow->first_stop = flow->to;
  if (take (&at, " via switches ")) {
    if (!take_number (&at, MOST_NODES - 1, &flow->first_stop))
      return FALSE;
    while (take (&at, " -> ") || take (&at, "->"))
      if (!take_number (&at, MOST_NODES - 1, &other))
        return FALSE;
  }
  return *at == '\0';
}

/* "Chunk 0 from 3 traveled over ..." */
static gboolean
take_flow (const char *at, Flow *flow)
{
  return take (&at, "Chunk ") && take_number (&at, MOST_CHUNKS - 1, &flow->chunk) && take (&at, " from ")
      && take_number (&at, MOST_NODES - 1, &flow->source) && take (&at, " traveled over ")
      && take_hop (at, flow);
}

/* "Demand at 5 for chunk 1 from 3 met by epoch 4"; what it says of the receiver is in its paths too. */
static gboolean
take_demand (const char *at, Flow *flow)
{
  guint other;

  return take (&at, "Demand at ") && take_number (&at, MOST_NODES - 1, &other) && take (&at, " for chunk ")
      && take_number (&at, MOST_CHUNKS - 1, &flow->chunk) && take (&at, " from ")
      && take_number (&at, MOST_NODES - 1, &flow->source) && take (&at, " met by epoch ")
      && take_number (&at, G_MAXINT, &other) && *at == '\0';
}

/* --- the file --- */

static gboolean
fail_text (Reader *self, const char *what)
{
  g_autofree char *text = g_utf8_make_valid (self->json->text, (gssize) MIN (self->json->text_size, 80));

  return fab_file_json_fail (self->json, "%s: '%s' is no %s of TE-CCL", self->section, text, what);
}

static gboolean
add_flow (Reader *self, GArray *flows, Flow *flow)
{
  if (flows->len >= FAB_GIVEN_MOST_MESSAGES)
    return fab_file_json_fail (self->json,
                               "%s: the schedule has more flows than the reader has room for (%d)",
                               self->section, FAB_GIVEN_MOST_MESSAGES);
  flow->number = flows->len;
  g_array_append_val (flows, *flow);
  return TRUE;
}

static gboolean
read_flows (Reader *self)
{
  FabFileJsonToken token = fab_file_json_next (self->json);

  if (token != FAB_FILE_JSON_ARRAY)
    return fab_file_json_fail (self->json, "%s is not a list", self->section);
  while ((token = fab_file_json_next (self->json)) == FAB_FILE_JSON_TEXT) {
    Flow flow = { .before = NOTHING, .at = self->flows->len };

    if (!take_flow (self->json->text, &flow))
      return fail_text (self, "flow");
    self->has_volumes |= flow.volume > 0;
    if (!add_flow (self, self->flows, &flow))
      return FALSE;
  }
  return token == FAB_FILE_JSON_ARRAY_END
      || fab_file_json_fail (self->json, "%s: a flow is not a text", self->section);
}

/* [epoch, "3->4 with volume 0.5 in epoch 0"], of which '[' was read. */
static gboolean
read_hop (Reader *self, Flow *flow)
{
  if (fab_file_json_next (self->json) != FAB_FILE_JSON_NUMBER
      || fab_file_json_next (self->json) != FAB_FILE_JSON_TEXT)
    return fab_file_json_fail (self->json, "%s: a step of a path is no epoch with a text", self->section);
  if (!take_hop (self->json->text, flow) || flow->volume <= 0)
    return fail_text (self, "step of a path");
  return fab_file_json_next (self->json) == FAB_FILE_JSON_ARRAY_END
      || fab_file_json_fail (self->json, "%s: a step of a path has more than an epoch and a text",
                             self->section);
}

/* The steps of a path, of which '[' was read. */
static gboolean
read_path (Reader *self, Flow flow)
{
  FabFileJsonToken token;

  flow.before = NOTHING;
  while ((token = fab_file_json_next (self->json)) == FAB_FILE_JSON_ARRAY) {
    if (!read_hop (self, &flow) || !add_flow (self, self->hops, &flow))
      return FALSE;
    flow.before = flow.number;
  }
  return token == FAB_FILE_JSON_ARRAY_END
      || fab_file_json_fail (self->json, "%s: a path is not a list of steps", self->section);
}

/* The paths of one demand. Those of an all-gather are texts, which say what the flows say too. */
static gboolean
read_demand (Reader *self)
{
  Flow flow = { .at = self->demands->len };
  FabFileJsonToken token;

  if (!take_demand (self->json->text, &flow))
    return fail_text (self, "demand");
  if (self->demands->len >= FAB_GIVEN_MOST_MESSAGES)
    return fab_file_json_fail (self->json, "%s: there are more than %d demands", self->section,
                               FAB_GIVEN_MOST_MESSAGES);
  g_ptr_array_add (self->demands, g_strdup (self->json->text));
  if (fab_file_json_next (self->json) != FAB_FILE_JSON_ARRAY)
    return fab_file_json_fail (self->json, "%s: the paths of a demand are not a list", self->section);
  while ((token = fab_file_json_next (self->json)) != FAB_FILE_JSON_ARRAY_END) {
    if (token == FAB_FILE_JSON_TEXT)
      continue;
    if (token != FAB_FILE_JSON_ARRAY)
      return fab_file_json_fail (self->json, "%s: a path is not a list", self->section);
    if (!read_path (self, flow))
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_paths (Reader *self)
{
  FabFileJsonToken token;

  if (fab_file_json_next (self->json) != FAB_FILE_JSON_OBJECT)
    return fab_file_json_fail (self->json, "%s is not an object", self->section);
  while ((token = fab_file_json_next (self->json)) == FAB_FILE_JSON_KEY)
    if (!read_demand (self))
      return FALSE;
  return token == FAB_FILE_JSON_OBJECT_END;
}

static gboolean
read_section (Reader *self)
{
  g_free (self->section);
  self->section = g_utf8_make_valid (self->json->text, (gssize) MIN (self->json->text_size, 40));
  if (g_str_has_suffix (self->section, "-Flows"))
    return read_flows (self);
  if (g_str_has_suffix (self->section, "hunk paths"))
    return read_paths (self);
  return fab_file_json_skip (self->json);
}

static gboolean
read_file (Reader *self)
{
  FabFileJsonToken token = fab_file_json_next (self->json);

  if (token != FAB_FILE_JSON_OBJECT)
    return fab_file_json_fail (self->json, "the schedule is not an object");
  while ((token = fab_file_json_next (self->json)) == FAB_FILE_JSON_KEY)
    if (!read_section (self))
      return FALSE;
  if (token != FAB_FILE_JSON_OBJECT_END || fab_file_json_next (self->json) != FAB_FILE_JSON_END)
    return fab_file_json_fail (self->json, "the schedule does not end behind its object");
  if (self->flows->len == 0)
    return fab_file_json_fail (self->json, "the schedule has no flows");
  if (self->has_volumes && self->hops->len == 0)
    return fab_file_json_fail (self->json,
                               "the flows have volumes, as in an all-to-all, but there are no paths");
  return TRUE;
}

/* --- messages --- */

static gboolean fail_flow (const Schedule *self, const Flow *flow, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

static gboolean
fail_flow (const Schedule *self, const Flow *flow, const char *format, ...)
{
  g_autofree char *entry = self->entries != NULL
                             ? g_strdup_printf ("\"%s\"",
                                                (char *) g_ptr_array_index (self->entries, flow->at))
                             : g_strdup_printf ("%u", flow->at);
  va_list args;

  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  return fab_throw (self->error, FAB_ERROR_INPUT, "%s: %s[%s]: %u->%u in epoch %u: %s", self->source,
                    self->section, entry, flow->from, flow->to, flow->epoch, text);
}

static const Flow *
flow_at (const Schedule *self, guint index)
{
  return &g_array_index (self->flows, Flow, index);
}

static guint
rank_of (const Schedule *self, guint node)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (self->ranks, GUINT_TO_POINTER (node))) - 1;
}

static gint
compare_numbers (gconstpointer a, gconstpointer b)
{
  guint x = GPOINTER_TO_UINT (a), y = GPOINTER_TO_UINT (b);

  return fab_order_guints (&x, &y);
}

static gint
compare_epochs (gconstpointer a, gconstpointer b)
{
  const Flow *x = a, *y = b;

  return x->epoch != y->epoch ? fab_order_guints (&x->epoch, &y->epoch)
                              : fab_order_guints (&x->number, &y->number);
}

/* The GPUs are the nodes with chunks of their own. */
static gboolean
find_gpus (Schedule *self)
{
  for (guint i = 0; i < self->flows->len; i++)
    g_hash_table_add (self->ranks, GUINT_TO_POINTER (flow_at (self, i)->source));
  g_autoptr (GList) nodes = g_list_sort (g_hash_table_get_keys (self->ranks), compare_numbers);
  for (GList *at = nodes; at != NULL; at = at->next)
    g_hash_table_insert (self->ranks, at->data, GUINT_TO_POINTER (++self->given->n_ranks));
  if (self->given->n_ranks < 2)
    return fab_throw (self->error, FAB_ERROR_INPUT, "%s: %s: all chunks are those of one GPU", self->source,
                      self->section);
  return TRUE;
}

static gboolean
check_flow (Schedule *self, const Flow *flow)
{
  const guint ends[] = { flow->from, flow->to };

  if (flow->from == flow->to)
    return fail_flow (self, flow, "a GPU sends to itself");
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    if (!g_hash_table_contains (self->ranks, GUINT_TO_POINTER (ends[i])))
      return fail_flow (self, flow,
                        "node %u has no chunk of its own, so that it is no GPU; flows that name switches one "
                        "by one, as the A* solver writes them, are not read",
                        ends[i]);
  self->n_chunks = MAX (self->n_chunks, flow->chunk + 1);
  return TRUE;
}

/* A link out of a GPU: messages of the present epoch, and of the last one before in which it had any. */
typedef struct {
  guint from, to, epoch;
  GArray *now, *before; /* guint */
} Link;

static guint
link_hash (gconstpointer a)
{
  const Link *link = a;

  return link->from * 65599 + link->to;
}

static gboolean
link_equal (gconstpointer a, gconstpointer b)
{
  const Link *x = a, *y = b;

  return x->from == y->from && x->to == y->to;
}

static void
link_free (gpointer data)
{
  Link *link = data;

  g_array_unref (link->now);
  g_array_unref (link->before);
  g_free (link);
}

/* The link of a flow, in the flow's epoch. */
static Link *
link_of (Schedule *self, const Flow *flow)
{
  Link key = { .from = flow->from, .to = flow->first_stop };
  Link *link = g_hash_table_lookup (self->links, &key);

  if (link == NULL) {
    link = g_new0 (Link, 1);
    *link = (Link){ flow->from, flow->first_stop, flow->epoch, g_array_new (FALSE, FALSE, sizeof (guint)),
                    g_array_new (FALSE, FALSE, sizeof (guint)) };
    g_hash_table_add (self->links, link);
  }
  if (link->epoch < flow->epoch) {
    GArray *last = link->before;

    link->before = link->now;
    link->now = last;
    g_array_set_size (link->now, 0);
    link->epoch = flow->epoch;
  }
  return link;
}

/* Adds a flow's message, which waits for `arrival` (NOTHING: its sender's own data). */
static gboolean
add_message (Schedule *self, const Flow *flow, guint arrival, double weight)
{
  g_autoptr (GArray) waits = g_array_new (FALSE, FALSE, sizeof (FabGivenWait));
  Link *link = link_of (self, flow);

  if (arrival != NOTHING) {
    FabGivenWait wait = { arrival, FALSE };

    g_array_append_val (waits, wait);
  }
  for (guint i = 0; i < link->before->len; i++) {
    FabGivenWait wait = { g_array_index (link->before, guint, i), TRUE };

    g_array_append_val (waits, wait);
  }
  if (self->given->waits->len + waits->len > FAB_GIVEN_MOST_WAITS)
    return fail_flow (self, flow, "the flows wait for more than four million others");
  guint message = fab_given_add (self->given, rank_of (self, flow->from), rank_of (self, flow->to), weight,
                                 waits);
  self->messages[flow->number] = message;
  g_array_append_val (link->now, message);
  return TRUE;
}

/* The most GPUs to which one sends. */
static guint
count_peers (const FabGiven *given)
{
  g_autoptr (GHashTable) pairs = g_hash_table_new (NULL, NULL);
  g_autofree guint *n = g_new0 (guint, given->n_ranks);
  guint most = 1;

  for (guint i = 0; i < given->messages->len; i++) {
    const FabGivenMessage *message = &g_array_index (given->messages, FabGivenMessage, i);

    if (g_hash_table_add (pairs, GSIZE_TO_POINTER ((gsize) message->from * MOST_NODES + message->to)))
      n[message->from]++;
    most = MAX (most, n[message->from]);
  }
  return most;
}

/* --- all-gather --- */

/* The message that brought a chunk to a GPU, and when. */
typedef struct {
  guint message, epoch;
} Arrival;

static guint
place_of (const Schedule *self, guint source, guint chunk, guint rank)
{
  return (source * self->n_chunks + chunk) * self->given->n_ranks + rank;
}

static gboolean
add_gathered (Schedule *self, const Flow *flow, Arrival *arrivals)
{
  guint source = rank_of (self, flow->source), from = rank_of (self, flow->from),
        to = rank_of (self, flow->to);
  const Arrival *had = &arrivals[place_of (self, source, flow->chunk, from)];
  Arrival *got = &arrivals[place_of (self, source, flow->chunk, to)];
  double share = 1.0 / self->given->n_ranks / self->n_chunks;

  if (from != source && (had->message == NOTHING || had->epoch >= flow->epoch))
    return fail_flow (self, flow, "chunk %u of GPU %u has not come to GPU %u before", flow->chunk,
                      flow->source, flow->from);
  if (!add_message (self, flow, from != source ? had->message : NOTHING, share))
    return FALSE;
  if (got->message == NOTHING)
    *got = (Arrival){ self->messages[flow->number], flow->epoch };
  return TRUE;
}

static gboolean
check_gathered (const Schedule *self, const Arrival *arrivals)
{
  guint n = self->given->n_ranks;

  for (guint i = 0; i < n * self->n_chunks * n; i++) {
    guint source = i / n / self->n_chunks;

    if (i % n != source && arrivals[i].message == NOTHING)
      return fab_throw (self->error, FAB_ERROR_INPUT,
                        "%s: %s: this is no all_gather: chunk %u of rank %u does not come to rank %u",
                        self->source, self->section, i / n % self->n_chunks, source, i % n);
  }
  return TRUE;
}

static gboolean
gather (Schedule *self)
{
  guint64 n = self->given->n_ranks, needed = n * (n - 1) * self->n_chunks;

  if (needed > self->flows->len)
    return fab_throw (self->error, FAB_ERROR_INPUT,
                      "%s: %s: this is no all_gather: %u chunks of each of %u GPUs need %" G_GUINT64_FORMAT
                      " flows, and there are %u",
                      self->source, self->section, self->n_chunks, self->given->n_ranks, needed,
                      self->flows->len);
  g_autofree Arrival *arrivals = g_new (Arrival, n * n * self->n_chunks);
  for (guint64 i = 0; i < n * n * self->n_chunks; i++)
    arrivals[i].message = NOTHING;
  for (guint i = 0; i < self->flows->len; i++)
    if (!add_gathered (self, flow_at (self, i), arrivals))
      return FALSE;
  return check_gathered (self, arrivals);
}

/* --- all-to-all --- */

/* Adds up in `volumes` what comes to each receiver. Flows are in the order of the file. */
static gboolean
check_paths (const Schedule *self, double *volumes)
{
  guint n = self->given->n_ranks;

  for (guint i = 0; i < self->flows->len; i++) {
    const Flow *flow = flow_at (self, i),
               *before = flow->before != NOTHING ? flow_at (self, flow->before) : NULL;
    gboolean is_last = i + 1 == self->flows->len || flow_at (self, i + 1)->before != i;
    guint source = rank_of (self, flow->source), receiver = flow->chunk % n;

    if (flow->from != (before != NULL ? before->to : flow->source))
      return fail_flow (self, flow, "the path does not go on from node %u",
                        before != NULL ? before->to : flow->source);
    if (before != NULL && before->epoch >= flow->epoch)
      return fail_flow (self, flow, "the chunk comes in epoch %u only", before->epoch);
    if (before != NULL && fabs (before->volume - flow->volume) > VOLUME_ERROR)
      return fail_flow (self, flow, "the path changes its volume");
    if (!is_last)
      continue;
    if (source == receiver)
      return fail_flow (self, flow, "chunk %u is GPU %u's own, of %u GPUs", flow->chunk, flow->source, n);
    if (rank_of (self, flow->to) != receiver)
      return fail_flow (self, flow, "chunk %u of GPU %u is for rank %u, not for GPU %u", flow->chunk,
                        flow->source, receiver, flow->to);
    volumes[source * self->n_chunks + flow->chunk] += flow->volume;
  }
  return TRUE;
}

static gboolean
check_volumes (const Schedule *self, const double *volumes)
{
  guint n = self->given->n_ranks;

  for (guint i = 0; i < n * self->n_chunks; i++) {
    guint source = i / self->n_chunks, chunk = i % self->n_chunks;

    if (chunk % n != source && fabs (volumes[i] - 1) > VOLUME_ERROR)
      return fab_throw (self->error, FAB_ERROR_INPUT,
                        "%s: %s: this is no all_to_all: %.4g of chunk %u of rank %u come to rank %u",
                        self->source, self->section, volumes[i], chunk, source, chunk % n);
  }
  return TRUE;
}

static gboolean
exchange (Schedule *self)
{
  guint n = self->given->n_ranks;

  if (self->n_chunks % n != 0 || (guint64) (n - 1) * self->n_chunks > self->flows->len)
    return fab_throw (self->error, FAB_ERROR_INPUT,
                      "%s: %s: this is no all_to_all: %u GPUs have %u chunks each, and %u flows",
                      self->source, self->section, n, self->n_chunks, self->flows->len);
  g_autofree double *volumes = g_new0 (double, (gsize) n * self->n_chunks);
  if (!check_paths (self, volumes) || !check_volumes (self, volumes))
    return FALSE;
  g_array_sort (self->flows, compare_epochs);
  for (guint i = 0; i < self->flows->len; i++) {
    const Flow *flow = flow_at (self, i);
    double whole = volumes[rank_of (self, flow->source) * self->n_chunks + flow->chunk];

    if (!add_message (self, flow, flow->before != NOTHING ? self->messages[flow->before] : NOTHING,
                      flow->volume / whole / self->n_chunks))
      return FALSE;
  }
  return TRUE;
}

/* --- whole --- */

static gboolean
make_messages (Schedule *self)
{
  if (!find_gpus (self))
    return FALSE;
  for (guint i = 0; i < self->flows->len; i++)
    if (!check_flow (self, flow_at (self, i)))
      return FALSE;
  self->messages = g_new (guint, self->flows->len);
  if (self->given->op == FAB_OP_ALL_TO_ALL)
    return exchange (self);
  g_array_sort (self->flows, compare_epochs);
  return gather (self);
}

static FabGiven *
schedule_of (const Reader *reader, const char *source, const FabGivenHint *hint, GError **error)
{
  g_autoptr (FabGiven) given = fab_given_new (hint->name, source);
  Schedule self = { .source = source,
                    .given = given,
                    .flows = reader->has_volumes ? reader->hops : reader->flows,
                    .ranks = g_hash_table_new (NULL, NULL),
                    .links = g_hash_table_new_full (link_hash, link_equal, link_free, NULL),
                    .section = reader->has_volumes ? "Chunk paths" : "Flows",
                    .entries = reader->has_volumes ? reader->demands : NULL,
                    .error = error };

  given->op = reader->has_volumes ? FAB_OP_ALL_TO_ALL : FAB_OP_ALL_GATHER;
  gboolean is_good = make_messages (&self);
  g_hash_table_unref (self.ranks);
  g_hash_table_unref (self.links);
  g_free (self.messages);
  if (!is_good)
    return NULL;
  given->n_channels = count_peers (given);
  fab_given_finish (given);
  return g_steal_pointer (&given);
}

static FabGiven *
read_teccl (FabFileBytes *bytes, const FabGivenHint *hint, GError **error)
{
  g_autofree FabFileJson *json = g_new (FabFileJson, 1);
  Reader self = { .json = json,
                  .flows = g_array_new (FALSE, FALSE, sizeof (Flow)),
                  .hops = g_array_new (FALSE, FALSE, sizeof (Flow)),
                  .demands = g_ptr_array_new_with_free_func (g_free) };
  FabGiven *given = NULL;

  fab_file_json_init (json, bytes);
  if (read_file (&self))
    given = schedule_of (&self, fab_file_bytes_name (bytes), hint, error);
  else
    g_propagate_error (error, g_steal_pointer (&json->error));
  fab_file_json_clear (json);
  g_array_unref (self.flows);
  g_array_unref (self.hops);
  g_ptr_array_unref (self.demands);
  g_free (self.section);
  return given;
}

/* Its keys are sorted, and this one is the first. */
static gboolean
is_teccl (const FabFileText *text)
{
  return fab_file_text_is_json (text) && fab_file_text_has (text, "\"1-Epoch_Duration\"");
}

const FabFileFormat fab_file_teccl = {
  .name = "TE-CCL",
  .kind = FAB_FILE_SCHEDULE,
  .recognises = is_teccl,
  .read.schedule = read_teccl,
};
