/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/lanes.h"

#include "sim/collective/play/schedule_parts.h"
#include "tests/support/test.h"

static guint
rank_of (const FabCluster *cluster, FabVertexId vertex)
{
  for (guint i = 0; i < cluster->n_nodes * cluster->gpus_per_node; i++)
    if (cluster->gpus[i] == vertex)
      return i;
  return G_MAXUINT;
}

static FabVertexId
sender_of (const FabSchedule *schedule, guint lane)
{
  return fab_schedule_lane_at (schedule, lane)->hop.legs[0].src;
}

static FabVertexId
receiver_of (const FabSchedule *schedule, guint lane)
{
  const FabHop *hop = &fab_schedule_lane_at (schedule, lane)->hop;

  return hop->legs[hop->n_legs - 1].dst;
}

guint
lanes_from (const FabSchedule *schedule, const FabCluster *cluster, guint lane)
{
  return rank_of (cluster, sender_of (schedule, lane));
}

guint
lanes_to (const FabSchedule *schedule, const FabCluster *cluster, guint lane)
{
  return rank_of (cluster, receiver_of (schedule, lane));
}

double
lanes_weight (const FabSchedule *schedule, guint lane)
{
  const FabScheduleLane *one = fab_schedule_lane_at (schedule, lane);

  return one->weight * one->n_messages;
}

/* (transfer full) */
static char *
vertex_text (const FabCluster *cluster, FabVertexId vertex)
{
  guint rank = rank_of (cluster, vertex);

  return rank != G_MAXUINT ? g_strdup_printf ("%u", rank) : fab_graph_vertex_name (cluster->graph, vertex);
}

static gint
compare_waits (gconstpointer a, gconstpointer b)
{
  const FabDependency *x = a, *y = b;

  return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
                            : (x->is_departure > y->is_departure) - (x->is_departure < y->is_departure);
}

static void
add_waits (const FabSchedule *schedule, guint lane, GString *text)
{
  const FabWaitList *list = fab_schedule_list_of (schedule, lane);
  g_autoptr (GArray) waits = g_array_new (FALSE, FALSE, sizeof (FabDependency));

  for (guint i = list->start; i < list->end; i++)
    g_array_append_val (waits, *fab_schedule_dependency_at (schedule, i));
  g_array_sort (waits, compare_waits);
  for (guint i = 0; i < waits->len; i++) {
    const FabDependency *wait = &g_array_index (waits, FabDependency, i);

    g_string_append_printf (text, "%s%u%s%s", i == 0 ? " after " : " ", wait->from,
                            wait->offset > 0 ? "'" : "", wait->is_departure ? "-" : "");
  }
}

char *
lanes_text (FabSchedule *schedule, const FabCluster *cluster)
{
  GString *text = g_string_new (NULL);

  fab_schedule_freeze (schedule);
  for (guint l = 0; l < fab_schedule_n_lanes (schedule); l++) {
    const FabScheduleLane *lane = fab_schedule_lane_at (schedule, l);
    g_autofree char *from = vertex_text (cluster, sender_of (schedule, l));
    g_autofree char *to = vertex_text (cluster, receiver_of (schedule, l));

    g_string_append_printf (text, "%s>%s %.10g", from, to, lane->weight);
    if (lane->n_messages > 1)
      g_string_append_printf (text, " x%u", lane->n_messages);
    add_waits (schedule, l, text);
    g_string_append_c (text, '\n');
  }
  return g_string_free (text, FALSE);
}

void
lanes_assert (FabSchedule *schedule, const FabCluster *cluster, const char *expected)
{
  g_autofree char *text = lanes_text (schedule, cluster);

  assert_string_equal (text, expected);
}

guint64 *
lanes_sources (FabSchedule *schedule, const FabCluster *cluster)
{
  guint n = fab_schedule_n_lanes (schedule);
  guint64 *sources = g_new0 (guint64, n + 1);

  fab_schedule_freeze (schedule);
  for (guint l = 0; l < n; l++) {
    const FabWaitList *list = fab_schedule_list_of (schedule, l);
    guint from = lanes_from (schedule, cluster, l);

    sources[l] = from != G_MAXUINT ? G_GUINT64_CONSTANT (1) << from : 0;
    for (guint i = list->start; i < list->end; i++) {
      const FabDependency *wait = fab_schedule_dependency_at (schedule, i);

      assert_true (wait->from < l);
      sources[l] |= sources[wait->from];
    }
  }
  return sources;
}
