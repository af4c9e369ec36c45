/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_time.c - what a schedule takes without a network, when somebody says what each message does.
 *
 * Messages stand in an order in which none waits for a later one, so that one walk through them finds the longest way.
 * O(messages + waits).
 */
#include <string.h>

#include "sim/work/schedule_private.h"

/* Its index in time when every message takes one step: those of one level are under way together. */
static guint *
find_levels (const FabSchedule *self, guint *n_levels)
{
  guint *levels = g_new0 (guint, self->messages->len + 1);

  *n_levels = 0;
  for (guint i = 0; i < self->messages->len; i++) {
    const Message *message = message_at (self, i);

    *n_levels = MAX (*n_levels, levels[i] + 1);
    if (message->follower != NO_INDEX)
      levels[message->follower] = MAX (levels[message->follower], levels[i] + 1);
    for (guint wait = message->first_wait; wait != NO_INDEX;) {
      const Wait *next = &g_array_index (self->waits, Wait, wait);

      levels[next->message] = MAX (levels[next->message], levels[i] + 1);
      wait = next->next;
    }
  }
  return levels;
}

/* Messages in the order of their levels; `starts` [n_levels + 1]. */
static guint *
sort_by_level (const guint *levels, guint n, guint n_levels, guint *starts)
{
  guint *order = g_new (guint, n + 1);

  memset (starts, 0, (n_levels + 1) * sizeof *starts);
  for (guint i = 0; i < n; i++)
    starts[levels[i] + 1]++;
  for (guint level = 0; level < n_levels; level++)
    starts[level + 1] += starts[level];
  for (guint i = n; i-- > 0;)
    order[--starts[levels[i] + 1]] = i; /* from the end of its level */
  for (guint level = 0; level < n_levels; level++)
    starts[level] = starts[level + 1];
  starts[n_levels] = n;
  return order;
}

static const FabHop *
hop_of (const FabSchedule *self, guint message)
{
  return &connection_at (self, message_at (self, message)->connection)->hop;
}

static double
weight_of (const FabSchedule *self, guint message)
{
  const Message *m = message_at (self, message);

  return g_array_index (connection_at (self, m->connection)->loads, Load, m->load).weight;
}

/* What goes through a port in the level at hand. */
typedef struct {
  guint level;
  double weight;
} PortLoad;

static double
load_of_port (const PortLoad *loads, FabLinkId port, guint level)
{
  return loads[port].level == level ? loads[port].weight : 0;
}

static void
add_to_port (PortLoad *loads, FabLinkId port, guint level, double weight)
{
  loads[port] = (PortLoad){ level, load_of_port (loads, port, level) + weight };
}

/* `loads` [links]; levels count from 1 there. */
static void
find_ways_of_level (FabSchedule *self, const guint *messages, guint n, guint level, PortLoad *loads)
{
  const FabGraph *graph = self->cluster->graph;

  for (guint i = 0; i < n; i++) {
    const FabHop *hop = hop_of (self, messages[i]);

    if (hop->out_port == FAB_NO_LINK)
      continue;
    add_to_port (loads, hop->out_port, level, weight_of (self, messages[i]));
    if (hop->in_port != hop->out_port)
      add_to_port (loads, hop->in_port, level, weight_of (self, messages[i]));
  }
  for (guint i = 0; i < n; i++) {
    const FabHop *hop = hop_of (self, messages[i]);
    Message *message = message_at (self, messages[i]);

    if (hop->out_port == FAB_NO_LINK)
      continue;
    message->port_weight = MAX (loads[hop->out_port].weight, loads[hop->in_port].weight);
    message->is_both = load_of_port (loads, fab_graph_link (graph, hop->out_port)->reverse, level) > 0
                    || load_of_port (loads, fab_graph_link (graph, hop->in_port)->reverse, level) > 0;
  }
}

static void
find_ways (FabSchedule *self)
{
  guint n_levels, n = self->messages->len;
  g_autofree guint *levels = find_levels (self, &n_levels);
  g_autofree guint *starts = g_new (guint, n_levels + 1);
  g_autofree guint *order = sort_by_level (levels, n, n_levels, starts);
  g_autofree PortLoad *loads = g_new0 (PortLoad, fab_graph_n_links (self->cluster->graph) + 1);

  for (guint level = 0; level < n_levels; level++)
    find_ways_of_level (self, order + starts[level], starts[level + 1] - starts[level], level + 1, loads);
  self->has_ways = TRUE;
}

static FabMessageStep
step_of (const FabSchedule *self, guint index, FabBytes bytes)
{
  const Message *message = message_at (self, index);
  double weight = weight_of (self, index);

  return (FabMessageStep){ hop_of (self, index), weight * (double) bytes,
                           MAX (message->port_weight, weight) * (double) bytes, message->is_both };
}

double
fab_schedule_longest (FabSchedule *self, FabBytes bytes, FabMessageTime time, gconstpointer data)
{
  g_autofree double *starts = g_new0 (double, self->messages->len + 1);
  double longest = 0;

  if (!self->has_ways)
    find_ways (self);
  for (guint i = 0; i < self->messages->len; i++) {
    const Message *message = message_at (self, i);
    FabMessageStep step = step_of (self, i, bytes);
    double end = starts[i] + time (data, &step);

    longest = MAX (longest, end);
    if (message->follower != NO_INDEX)
      starts[message->follower] = MAX (starts[message->follower], end);
    for (guint wait = message->first_wait; wait != NO_INDEX;) {
      const Wait *next = &g_array_index (self->waits, Wait, wait);

      starts[next->message] = MAX (starts[next->message], end);
      wait = next->next;
    }
  }
  return longest;
}

/* --- sizes --- */

static void
add_size (GArray *sizes, const FabMessages *messages, double bytes)
{
  FabMessageSize size = { .bytes = (FabBytes) (bytes + 0.5) };

  size.is_outside = size.bytes < messages->from_bytes || size.bytes > messages->to_bytes;
  for (guint i = 0; i < sizes->len; i++) {
    const FabMessageSize *known = &g_array_index (sizes, FabMessageSize, i);

    if (known->bytes == size.bytes && known->is_outside == size.is_outside)
      return;
  }
  g_array_append_val (sizes, size);
}

void
fab_schedule_add_sizes (const FabSchedule *self, FabBytes bytes, GArray *sizes)
{
  for (guint i = 0; i < self->connections->len; i++) {
    const Connection *connection = connection_at (self, i);
    const FabMessages *messages = connection->hop.messages;

    if (messages == NULL || messages->to_bytes == 0)
      continue;
    for (guint l = 0; l < connection->loads->len; l++)
      add_size (sizes, messages, g_array_index (connection->loads, Load, l).weight * (double) bytes);
  }
}
