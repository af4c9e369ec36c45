/* SPDX-License-Identifier: Apache-2.0 */
/* rotate.c - a rotation moves the accelerators at the ends of lanes. Which lane turns into which one follows from that,
 * from what tells lanes apart (their colours), and from their order; what links do follows from the paths of the lanes.
 */
#include "sim/shortcut/space/rotate.h"

#include <string.h>

#include "sim/base/mix.h"
#include "sim/base/order.h"
#include "sim/shortcut/space/schedule_classes.h"

enum {
  N_ROUNDS = 32,        /* of colours: how far away lanes see a difference */
  MOST_LANES = 1 << 20, /* more are played one by one */
};

#define NONE G_MAXUINT32

/* Lanes of one colour between the same places, in `order`. */
typedef struct {
  guint first, n;
} Group;

typedef struct {
  const FabRotateSpec *spec;
  const FabGraph *graph;
  guint n_nodes, n_members; /* nodes; the most accelerators of any */
  guint *firsts;            /* [n + 1] the first lane of each schedule, numbered through all of them */
  guint *starts;            /* [lanes + 1] into `links` */
  GArray *links;            /* FabLinkId: the paths of all lanes */
  guint32 *from, *to;       /* [lanes] the places of their ends */
  guint64 *colours;         /* [lanes] */
  guint64 *keys;            /* [lanes] of the group */
  guint *order;             /* [lanes] sorted by group, then by number */
  guint *place;             /* [lanes] in `order` */
  GHashTable *groups;       /* from key to Group */
} Finder;

/* What one rotation does. */
typedef struct {
  guint order;
  guint32 *lanes;   /* [lanes] into which each turns */
  FabLinkId *links; /* [links] likewise; NONE: no lane crosses it */
} Turn;

/* Accelerator m of node n goes to (m + by) modulo the members; node n, in its block, to n + step. */
typedef struct {
  guint order, by, block, step;
} Candidate;

static guint
n_lanes (const Finder *self)
{
  return self->firsts[self->spec->n];
}

static FabScheduleLane *
lane_of (const Finder *self, guint s, guint l)
{
  return fab_schedule_lane_at (self->spec->schedules[s], l);
}

/* --- paths --- */

static gboolean
add_path (Finder *self, const FabScheduleLane *lane)
{
  const FabNet *net = self->spec->net;
  guint first = self->links->len;

  for (guint i = 0; i < lane->hop.n_legs; i++) {
    const FabLeg *leg = &lane->hop.legs[i];
    FabPath path = { 0 };

    if (!fab_router_append (net->env.router, leg->src, leg->dst, leg->flow_hash, &path))
      return FALSE;
    g_array_append_vals (self->links, path.links, path.n);
  }
  for (guint i = first; i < self->links->len; i++) {
    FabLinkId link = g_array_index (self->links, FabLinkId, i);
    guint at;

    if (!fab_footprint_has (lane->footprint, link, &at) || !net->ops->plays_alike (net, link, 1))
      return FALSE;
  }
  return self->links->len > first && fab_footprint_is_path (lane->footprint, self->links->len - first);
}

static gboolean
crosses_apart (const Finder *self)
{
  for (guint i = 0; i < self->links->len; i++)
    for (guint a = 0; a < self->spec->n_apart; a++)
      if (g_array_index (self->links, FabLinkId, i) == self->spec->apart[a])
        return TRUE;
  return FALSE;
}

/* --- lanes --- */

static void
count_places (Finder *self)
{
  for (FabVertexId v = 0; v < fab_graph_n_vertices (self->graph); v++) {
    const FabVertex *vertex = fab_graph_vertex (self->graph, v);

    if (vertex->kind == FAB_VERTEX_ACCELERATOR && vertex->node != FAB_NO_NODE) {
      self->n_nodes = MAX (self->n_nodes, vertex->node + 1);
      self->n_members = MAX (self->n_members, vertex->member + 1);
    }
  }
}

/* An accelerator has a place of its own. All else of a node is at one place, and so is all that is in no node. */
static guint32
place_of (const Finder *self, FabVertexId v)
{
  const FabVertex *vertex = fab_graph_vertex (self->graph, v);
  guint32 node = MIN (vertex->node, self->n_nodes);
  guint32 member = vertex->kind == FAB_VERTEX_ACCELERATOR ? vertex->member : self->n_members;

  return node * (self->n_members + 1) + MIN (member, self->n_members);
}

static guint64
mix_real (guint64 colour, double value)
{
  guint64 bits;

  memcpy (&bits, &value, sizeof bits);
  return fab_mix (colour, bits);
}

static guint64
link_colour (const Finder *self, FabLinkId id)
{
  const FabLink *link = fab_graph_link (self->graph, id), *back = fab_graph_link (self->graph, link->reverse);
  guint64 colour = fab_mix (link->rate_bytes_per_s, (guint64) link->latency_ps);

  colour = fab_mix (fab_mix (colour, link->class_index), (guint64) link->joins_groups << 32 | link->count);
  colour = fab_mix (fab_mix (colour, back->rate_bytes_per_s), (guint64) back->latency_ps);
  return fab_mix (fab_mix (colour, fab_graph_vertex (self->graph, link->src)->kind),
                  fab_graph_vertex (self->graph, link->dst)->kind);
}

static guint64
first_colour (const Finder *self, guint s, guint l)
{
  const FabScheduleLane *lane = lane_of (self, s, l);
  guint64 colour = fab_mix (fab_mix (s, lane->n_messages), (guint64) lane->hop.latency_ps);

  colour = mix_real (fab_mix (colour, lane->hop.kind), lane->weight);
  colour = mix_real (fab_mix (colour, lane->hop.drive), lane->footprint->rate_bytes_per_s);
  for (guint i = self->starts[self->firsts[s] + l]; i < self->starts[self->firsts[s] + l + 1]; i++) {
    FabLinkId link = g_array_index (self->links, FabLinkId, i);
    guint at = fab_footprint_find (lane->footprint, link);

    colour = mix_real (fab_mix (colour, link_colour (self, link)), lane->footprint->weights[at]);
    colour = mix_real (colour, lane->footprint->line_weights[at]);
  }
  return colour;
}

static inline guint64
dependency_colour (const FabDependency *dependency, guint64 other)
{
  return fab_mix (fab_mix (dependency->offset, dependency->is_departure), other);
}

/* Adds what the dependencies of one list say of the lanes that wait and of those from which they come. Of its waiters
 * the sum of their colours counts. */
static void
colour_list (const Finder *self, const FabSchedule *schedule, guint first, const FabWaitList *list,
             guint64 *dependencies, guint64 *dependents)
{
  guint64 befores = 0, waiters = 0;

  for (guint w = list->first; w < list->after; w++)
    waiters += self->colours[first + schedule->waiters[w]];
  for (guint i = list->start; i < list->end; i++) {
    const FabDependency *dependency = fab_schedule_dependency_at (schedule, i);

    befores += dependency_colour (dependency, self->colours[first + dependency->from]);
    dependents[first + dependency->from] += dependency_colour (dependency, waiters);
  }
  for (guint w = list->first; w < list->after; w++)
    dependencies[first + schedule->waiters[w]] += befores;
}

/* What a lane depends on, and what depends on it, tells it apart from others. In each round what was seen in earlier
 * ones counts as well, which tells apart no less. */
static void
colour_lanes (Finder *self)
{
  guint n = n_lanes (self);
  g_autofree guint64 *dependencies = g_new0 (guint64, n), *dependents = g_new0 (guint64, n);

  for (guint s = 0; s < self->spec->n; s++)
    for (guint l = 0; l < self->firsts[s + 1] - self->firsts[s]; l++)
      self->colours[self->firsts[s] + l] = first_colour (self, s, l);
  for (guint round = 0; round < N_ROUNDS; round++) {
    for (guint s = 0; s < self->spec->n; s++)
      for (guint i = 0; i < self->spec->schedules[s]->n_lists; i++)
        colour_list (self, self->spec->schedules[s], self->firsts[s], &self->spec->schedules[s]->lists[i],
                     dependencies, dependents);
    for (guint l = 0; l < n; l++)
      self->colours[l] = fab_mix (fab_mix (self->colours[l], dependencies[l]), dependents[l]);
  }
}

static guint64
group_key (guint64 colour, guint32 from, guint32 to)
{
  return fab_mix (colour, (guint64) from << 32 | to);
}

static gint
compare_lanes (gconstpointer a, gconstpointer b, gpointer data)
{
  const guint64 *keys = data;
  guint x = *(const guint *) a, y = *(const guint *) b;

  return (keys[x] > keys[y]) - (keys[x] < keys[y]);
}

static void
group_lanes (Finder *self)
{
  guint n = n_lanes (self);
  Group *group = NULL;

  for (guint l = 0; l < n; l++) {
    self->keys[l] = group_key (self->colours[l], self->from[l], self->to[l]);
    self->order[l] = l;
  }
  fab_order_numbers (self->order, n, compare_lanes, self->keys);
  for (guint i = 0; i < n; i++) {
    guint lane = self->order[i];

    self->place[lane] = i;
    if (i == 0 || self->keys[lane] != self->keys[self->order[i - 1]]) {
      group = g_new (Group, 1);
      *group = (Group){ i, 0 };
      g_hash_table_insert (self->groups, &self->keys[lane], group);
    }
    group->n++;
  }
}

/* --- one rotation --- */

static guint32
turn_place (const Finder *self, const Candidate *by, guint32 place)
{
  guint32 width = self->n_members + 1, node = place / width, member = place % width;

  if (member < self->n_members)
    member = (member + by->by) % self->n_members;
  if (node < self->n_nodes)
    node = node / by->block * by->block + (node % by->block + by->step) % by->block;
  return node * width + member;
}

/* Lanes of a group turn into those of another one, in their order. */
static gboolean
turn_lanes (const Finder *self, const Candidate *by, guint32 *lanes)
{
  for (guint l = 0; l < n_lanes (self); l++) {
    guint64 key = group_key (self->colours[l], turn_place (self, by, self->from[l]),
                             turn_place (self, by, self->to[l]));
    const Group *own = g_hash_table_lookup (self->groups, &self->keys[l]),
                *other = g_hash_table_lookup (self->groups, &key);

    if (other == NULL || other->n != own->n)
      return FALSE;
    lanes[l] = self->order[other->first + self->place[l] - own->first];
  }
  return TRUE;
}

/* Lanes of one colour cross links of the same kinds, so that only their identity is looked at. No two links turn into
 * one: they come back with their lanes. */
static gboolean
turn_links (const Finder *self, const guint32 *lanes, FabLinkId *links)
{
  guint n_links = fab_graph_n_links (self->graph);
  const FabLinkId *all = (const FabLinkId *) (gconstpointer) self->links->data;

  for (FabLinkId link = 0; link < n_links; link++)
    links[link] = NONE;
  for (guint l = 0; l < n_lanes (self); l++)
    for (guint i = self->starts[l], k = self->starts[lanes[l]]; i < self->starts[l + 1]; i++, k++) {
      if (links[all[i]] == NONE)
        links[all[i]] = all[k];
      if (links[all[i]] != all[k])
        return FALSE;
    }
  return TRUE;
}

/* Takes what the lanes of a list wait for from them, and gives it, turned, to the lanes that they turn into. */
static void
turn_list (const FabSchedule *schedule, guint first, const FabWaitList *list, const guint32 *lanes,
           guint64 *sums)
{
  guint64 own = 0, turned = 0;

  for (guint i = list->start; i < list->end; i++) {
    const FabDependency *dependency = fab_schedule_dependency_at (schedule, i);

    own += dependency_colour (dependency, first + dependency->from);
    turned += dependency_colour (dependency, lanes[first + dependency->from]);
  }
  for (guint w = list->first; w < list->after; w++) {
    sums[first + schedule->waiters[w]] -= own;
    sums[lanes[first + schedule->waiters[w]]] += turned;
  }
}

static gboolean
turns_dependencies (const Finder *self, const guint32 *lanes)
{
  g_autofree guint64 *sums = g_new0 (guint64, n_lanes (self));

  for (guint s = 0; s < self->spec->n; s++)
    for (guint i = 0; i < self->spec->schedules[s]->n_lists; i++)
      turn_list (self->spec->schedules[s], self->firsts[s], &self->spec->schedules[s]->lists[i], lanes, sums);
  for (guint l = 0; l < n_lanes (self); l++)
    if (sums[l] != 0)
      return FALSE;
  return TRUE;
}

/* What is turned `order` times comes back, as the places of the lanes do. Returns whether it does not before. */
static gboolean
has_all_places (const guint32 *next, guint32 from, guint order)
{
  guint32 at = next[from];

  for (guint k = 1; k < order; k++, at = next[at])
    if (at == from)
      return FALSE;
  return TRUE;
}

static gboolean
all_lanes_turn (const Finder *self, const Turn *turn)
{
  for (guint l = 0; l < n_lanes (self); l++)
    if (!has_all_places (turn->lanes, l, turn->order))
      return FALSE;
  return TRUE;
}

/* Whether nodes may share the link, so that it stays where it is: a bundle of links between switches that has a link
 * for each of them. With fewer links they would wait for whole packets of each other. */
static gboolean
may_stay (const Finder *self, FabLinkId id, guint n_sharers)
{
  const FabLink *link = fab_graph_link (self->graph, id);
  const FabVertex *src = fab_graph_vertex (self->graph, link->src),
                  *dst = fab_graph_vertex (self->graph, link->dst);

  return src->kind == FAB_VERTEX_SWITCH && dst->kind == FAB_VERTEX_SWITCH && src->node == FAB_NO_NODE
      && dst->node == FAB_NO_NODE && n_sharers <= link->count
      && self->spec->net->ops->plays_alike (self->spec->net, id, n_sharers);
}

/* Links turn, or are shared. */
static gboolean
all_links_turn (const Finder *self, const Turn *turn)
{
  for (FabLinkId link = 0; link < fab_graph_n_links (self->graph); link++)
    if (turn->links[link] == link
            ? !may_stay (self, link, turn->order)
            : turn->links[link] != NONE && !has_all_places (turn->links, link, turn->order))
      return FALSE;
  return TRUE;
}

static void
turn_clear (Turn *self)
{
  g_free (self->lanes);
  g_free (self->links);
  *self = (Turn){ .order = 1 };
}

static gboolean
try_turn (const Finder *self, const Candidate *by, Turn *turn)
{
  guint n_links = fab_graph_n_links (self->graph);

  *turn = (Turn){ by->order, g_new (guint32, n_lanes (self)), g_new (FabLinkId, n_links) };
  if (turn_lanes (self, by, turn->lanes) && turns_dependencies (self, turn->lanes)
      && turn_links (self, turn->lanes, turn->links) && all_lanes_turn (self, turn)
      && all_links_turn (self, turn))
    return TRUE;
  turn_clear (turn);
  return FALSE;
}

/* --- the largest rotations --- */

static void
add_candidate (GArray *candidates, Candidate candidate)
{
  g_array_append_val (candidates, candidate);
}

/* The largest first. */
static GArray *
list_in_nodes (const Finder *self)
{
  GArray *found = g_array_new (FALSE, FALSE, sizeof (Candidate));

  for (guint order = self->n_members; order > 1; order--)
    if (self->n_members % order == 0)
      add_candidate (found, (Candidate){ order, self->n_members / order, 1, 0 });
  return found;
}

static GArray *
list_of_nodes (const Finder *self)
{
  GArray *found = g_array_new (FALSE, FALSE, sizeof (Candidate));

  for (guint order = self->n_nodes; order > 1; order--)
    for (guint block = self->n_nodes; self->n_nodes % order == 0 && block >= order; block--)
      if (self->n_nodes % block == 0 && block % order == 0)
        add_candidate (found, (Candidate){ order, 0, block, block / order });
  return found;
}

/* Takes the array. */
static Turn
find_turn (const Finder *self, GArray *candidates)
{
  Turn turn = { .order = 1 };

  for (guint i = 0; i < candidates->len; i++)
    if (try_turn (self, &g_array_index (candidates, Candidate, i), &turn))
      break;
  g_array_unref (candidates);
  return turn;
}

/* --- orbits --- */

static guint32
turned (const guint32 *next, guint32 at)
{
  return next == NULL ? at : next[at];
}

/* How often a rotation moves it before it is back. */
static guint
n_places (const guint32 *next, guint32 at, guint order)
{
  return turned (next, at) == at ? 1 : order;
}

/* Writes for the orbit of one of them that it stands for all, and how they are turned from there. FALSE: two ways of
 * turning lead to the same place. `turn` may be NULL. */
static gboolean
walk_orbit (const Turn *const *turns, gboolean are_links, guint32 from, guint32 *stands_for, guint32 *turn)
{
  const guint32 *first = are_links ? turns[0]->links : turns[0]->lanes,
                *second = are_links ? turns[1]->links : turns[1]->lanes;
  guint rows = n_places (first, from, turns[0]->order), columns = n_places (second, from, turns[1]->order);
  guint32 row = from;

  for (guint a = 0; a < rows; a++, row = turned (first, row)) {
    guint32 at = row;

    for (guint b = 0; b < columns; b++, at = turned (second, at)) {
      if (stands_for[at] != NONE)
        return FALSE;
      stands_for[at] = from;
      if (turn != NULL)
        turn[at] = a * turns[1]->order + b;
    }
  }
  return TRUE;
}

/* The same for all orbits. What no lane crosses stands for itself. */
static gboolean
find_orbits (const Turn *const *turns, gboolean are_links, guint n, guint32 *stands_for, guint32 *turn)
{
  const Turn *known = turns[0]->order > 1 ? turns[0] : turns[1];

  for (guint i = 0; i < n; i++)
    stands_for[i] = NONE;
  for (guint i = 0; i < n; i++) {
    if (stands_for[i] != NONE)
      continue;
    if (are_links && known->links[i] == NONE)
      stands_for[i] = i;
    else if (!walk_orbit (turns, are_links, i, stands_for, turn))
      return FALSE;
  }
  return TRUE;
}

static void
join_orbits (FabRotation *rotation)
{
  for (FabLinkId link = 0; link < rotation->n_links; link++) {
    FabLinkId stands = rotation->stands_for[link];

    if (stands == link)
      continue;
    rotation->next[link] = rotation->next[stands];
    rotation->next[stands] = link;
  }
}

/* Notes which links the rotations leave where they are. */
static void
note_stays (const Turn *const *turns, FabRotation *rotation)
{
  for (guint t = 0; t < 2; t++)
    for (FabLinkId link = 0; link < rotation->n_links; link++)
      if (turns[t]->order > 1 && turns[t]->links[link] == link)
        rotation->stays[link] |= t == 0 ? FAB_ROTATION_STAYS_IN_FIRST : FAB_ROTATION_STAYS_IN_SECOND;
}

static void
list_shared (FabRotation *rotation)
{
  g_autoptr (GArray) shared = g_array_new (FALSE, FALSE, sizeof (FabLinkId));

  for (FabLinkId link = 0; link < rotation->n_links; link++)
    if (rotation->stays[link] != 0)
      g_array_append_val (shared, link);
  rotation->n_shared = shared->len;
  rotation->shared = (FabLinkId *) (gpointer) g_array_free (g_steal_pointer (&shared), FALSE);
}

/* Whether links that stay in both rotations are not shared by too many. */
static gboolean
may_all_stay (const Finder *self, const FabRotation *rotation)
{
  for (FabLinkId link = 0; link < rotation->n_links; link++)
    if (rotation->stays[link] != 0 && !may_stay (self, link, fab_rotation_sharers (rotation, link)))
      return FALSE;
  return TRUE;
}

/* Keeps the first lane of every orbit. The two rotations move what they turn in any order, as they do the places of the
 * lanes. FALSE: they do not go together. */
static gboolean
keep_orbits (const Finder *self, const Turn *first, const Turn *second)
{
  const Turn *const turns[] = { first, second };
  guint n_links = fab_graph_n_links (self->graph);
  g_autofree guint32 *lanes = g_new (guint32, n_lanes (self));
  FabRotation *rotation = fab_rotation_new (n_links, first->order, second->order);

  note_stays (turns, rotation);
  if (!may_all_stay (self, rotation) || !find_orbits (turns, FALSE, n_lanes (self), lanes, NULL)
      || !find_orbits (turns, TRUE, n_links, rotation->stands_for, rotation->turn)) {
    fab_rotation_unref (rotation);
    return FALSE;
  }
  join_orbits (rotation);
  list_shared (rotation);
  for (guint s = 0; s < self->spec->n; s++) {
    FabSchedule *schedule = self->spec->schedules[s];

    for (guint l = self->firsts[s]; l < self->firsts[s + 1]; l++)
      lanes[l] -= self->firsts[s];
    fab_schedule_keep (schedule, lanes + self->firsts[s], NULL);
    schedule->rotation = fab_rotation_ref (rotation);
  }
  fab_rotation_unref (rotation);
  return TRUE;
}

/* --- all --- */

static gboolean
find_and_keep (Finder *self)
{
  const Turn none = { .order = 1 };
  Turn in_nodes = find_turn (self, list_in_nodes (self)), of_nodes = find_turn (self, list_of_nodes (self));
  const Turn *larger = in_nodes.order >= of_nodes.order ? &in_nodes : &of_nodes;
  gboolean is_kept = larger->order > 1
                  && (keep_orbits (self, &in_nodes, &of_nodes) || keep_orbits (self, larger, &none));

  turn_clear (&in_nodes);
  turn_clear (&of_nodes);
  return is_kept;
}

static void
finder_init (Finder *self, const FabRotateSpec *spec)
{
  *self = (Finder){ .spec = spec, .graph = spec->net->env.graph };
  self->firsts = g_new0 (guint, spec->n + 1);
  for (guint s = 0; s < spec->n; s++) {
    fab_schedule_freeze (spec->schedules[s]);
    fab_schedule_make_footprints (spec->schedules[s], FALSE);
    self->firsts[s + 1] = self->firsts[s] + fab_schedule_n_lanes (spec->schedules[s]);
  }
  guint n = n_lanes (self);
  self->starts = g_new0 (guint, n + 1);
  self->links = g_array_new (FALSE, FALSE, sizeof (FabLinkId));
  self->from = g_new (guint32, n);
  self->to = g_new (guint32, n);
  self->colours = g_new (guint64, n);
  self->keys = g_new (guint64, n);
  self->order = g_new (guint, n);
  self->place = g_new (guint, n);
  self->groups = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, g_free);
  count_places (self);
}

static void
finder_clear (Finder *self)
{
  g_free (self->firsts);
  g_free (self->starts);
  g_array_unref (self->links);
  g_free (self->from);
  g_free (self->to);
  g_free (self->colours);
  g_free (self->keys);
  g_free (self->order);
  g_free (self->place);
  g_hash_table_unref (self->groups);
}

/* FALSE: a lane has no path that could be turned. */
static gboolean
read_lanes (Finder *self)
{
  for (guint s = 0; s < self->spec->n; s++)
    for (guint l = self->firsts[s]; l < self->firsts[s + 1]; l++) {
      const FabScheduleLane *lane = lane_of (self, s, l - self->firsts[s]);

      if (!add_path (self, lane))
        return FALSE;
      self->starts[l + 1] = self->links->len;
      self->from[l] = place_of (self, lane->hop.legs[0].src);
      self->to[l] = place_of (self, lane->hop.legs[lane->hop.n_legs - 1].dst);
    }
  return !crosses_apart (self);
}

gboolean
fab_schedules_rotate (const FabRotateSpec *spec)
{
  gboolean is_kept = FALSE;
  Finder finder;

  finder_init (&finder, spec);
  if (n_lanes (&finder) <= MOST_LANES && read_lanes (&finder)) {
    colour_lanes (&finder);
    group_lanes (&finder);
    is_kept = find_and_keep (&finder);
  }
  finder_clear (&finder);
  return is_kept;
}
