/* SPDX-License-Identifier: Apache-2.0 */
/* fold.c - colour refinement with colours of 64 bits: the colour of a lane is mixed with the sums over its dependencies
 * and links, that of a link with the sum over its lanes, until the number of colours grows no more. Two different
 * classes get the same colour with a probability of about (lanes + links)^2 / 2^64.
 */
#include "sim/shortcut/space/fold.h"

#include <string.h>

#include "sim/base/mix.h"
#include "sim/base/order.h"
#include "sim/shortcut/space/schedule_classes.h"

/* Rounds until lanes whose differences still spread are played one by one; the shipped scenarios need up to 11. */
enum { MOST_ROUNDS = 40 };

/* Stands for the offset of a dependency that waits until a message has left. */
enum { AFTER_DEPARTURE = 2 };

typedef struct {
  const FabGraph *graph;
  const FabFoldSpec *spec;
  guint *firsts;           /* [n_uses + 1]: the first lane of each, numbered through all of them */
  guint *first_lists;      /* [n_uses + 1]: likewise of the lists of what lanes wait for */
  guint64 *lists;          /* [lists] colours of this round, when the first lane of each has its own */
  guint64 *lanes, *before; /* [lanes] colours after this round and after the one before */
  gboolean *is_left_out;   /* [links] it never holds back a lane */
  guint64 *links, *sums;   /* [links] colours, 0: nothing crosses it; what its lanes add in this round */
  guint *ahead,
      *farther; /* [lanes] the lane that this one depends on over 2^round others in a ring; itself: no ring */
  guint64 *table; /* [n_slots, a power of 2] for counting colours */
  guint n_slots;
} Refinement;

/* --- links that hold back nothing --- */

/* Lanes of rings alone are known to keep to the limit of their collective (play.c). */
static double
most_of_lane (const FabFoldUse *use, guint l)
{
  const FabSchedule *schedule = use->schedule;
  const FabScheduleLane *lane = fab_schedule_lane_at (schedule, l);
  gboolean has_limit = schedule->has_offsets && use->limit_bytes_per_s > 0;

  if (!use->is_once)
    return G_MAXDOUBLE;
  if (!has_limit || fab_schedule_list_of (schedule, l)->hands_on)
    return lane->footprint->rate_bytes_per_s;
  return MIN (lane->footprint->rate_bytes_per_s, use->limit_bytes_per_s * lane->weight * lane->n_messages);
}

static void
find_room (const FabGraph *graph, const FabFoldSpec *spec, gboolean *is_left_out)
{
  const double rounding = 1e-9;
  guint n_links = fab_graph_n_links (graph);
  g_autofree double *demands = g_new0 (double, n_links);

  for (guint s = 0; s < spec->n_uses; s++)
    for (guint l = 0; l < fab_schedule_n_lanes (spec->uses[s].schedule); l++) {
      const FabScheduleLane *lane = fab_schedule_lane_at (spec->uses[s].schedule, l);
      double most = most_of_lane (&spec->uses[s], l);

      for (guint i = 0; i < lane->footprint->n; i++)
        demands[lane->footprint->links[i]] += most * lane->footprint->line_weights[i];
    }
  for (guint s = 0; s < spec->n_streams; s++)
    for (guint i = 0; i < spec->streams[s]->n; i++)
      demands[spec->streams[s]->links[i]] = G_MAXDOUBLE;
  for (guint i = 0; i < spec->n_apart; i++)
    demands[spec->apart[i]] = G_MAXDOUBLE;
  for (FabLinkId link = 0; link < n_links; link++)
    is_left_out[link] = demands[link]
                     <= (double) fab_graph_link (graph, link)->rate_bytes_per_s * (1 - rounding);
}

/* More links of one lane are not looked through. */
enum { MOST_LINKS = 8 };

/* For every link another one that may be full before it. */
typedef struct {
  const FabGraph *graph;
  FabLinkId *fuller; /* [links]; FAB_NO_LINK: none */
} Fullness;

/* Returns how much of a link a lane takes per byte, as a part of its rate. */
static double
part_of_link (const Fullness *self, const FabFootprint *footprint, guint i)
{
  return footprint->line_weights[i]
       / (double) fab_graph_link (self->graph, footprint->links[i])->rate_bytes_per_s;
}

/* The link that the lane fills first; of equal ones that with the lowest number. */
static FabLinkId
fullest_link (const Fullness *self, const FabFootprint *footprint)
{
  guint fullest = 0;

  for (guint i = 1; i < footprint->n; i++)
    if (part_of_link (self, footprint, i) > part_of_link (self, footprint, fullest))
      fullest = i;
  return footprint->links[fullest];
}

static gboolean
fills_first (const Fullness *self, const FabFootprint *footprint, FabLinkId link, double part)
{
  for (guint i = 0; i < footprint->n; i++)
    if (footprint->links[i] == link)
      return part_of_link (self, footprint, i) >= part;
  return FALSE;
}

/* Keeps for each link of the lane the fuller one only if the lane crosses that too, and fills it first. */
static void
compare_links_of_lane (Fullness *self, const FabFootprint *footprint, gboolean *is_seen)
{
  gboolean is_wide = footprint->n > MOST_LINKS;
  FabLinkId fullest = is_wide || footprint->n == 0 ? FAB_NO_LINK : fullest_link (self, footprint);

  for (guint i = 0; i < footprint->n; i++) {
    FabLinkId link = footprint->links[i], *fuller = &self->fuller[link];

    if (!is_seen[link])
      *fuller = fullest;
    is_seen[link] = TRUE;
    if (is_wide || *fuller == link
        || (*fuller != FAB_NO_LINK
            && !fills_first (self, footprint, *fuller, part_of_link (self, footprint, i))))
      *fuller = FAB_NO_LINK;
  }
}

/* When all lanes of a link cross another one, and take a larger part of that one, the other one is full first. No two
 * links are left out for each other: of two that are equally full, the one with the lower number stays. */
static void
find_emptier (const FabGraph *graph, const FabFoldSpec *spec, gboolean *is_left_out)
{
  guint n_links = fab_graph_n_links (graph);
  g_autofree FabLinkId *fuller = g_new (FabLinkId, n_links);
  g_autofree gboolean *is_seen = g_new0 (gboolean, n_links);
  Fullness fullness = { graph, fuller };

  for (guint s = 0; s < spec->n_uses; s++)
    for (guint l = 0; l < fab_schedule_n_lanes (spec->uses[s].schedule); l++)
      compare_links_of_lane (&fullness, fab_schedule_lane_at (spec->uses[s].schedule, l)->footprint, is_seen);
  for (guint s = 0; s < spec->n_streams; s++)
    for (guint i = 0; i < spec->streams[s]->n; i++)
      is_seen[spec->streams[s]->links[i]] = FALSE;
  for (guint i = 0; i < spec->n_apart; i++)
    is_seen[spec->apart[i]] = FALSE;
  for (FabLinkId link = 0; link < n_links; link++)
    is_left_out[link] |= is_seen[link] && fuller[link] != FAB_NO_LINK;
}

/* --- colours --- */

/* Sums in another order differ in their last digits. */
static guint64
mix_real (guint64 colour, double value)
{
  union {
    double value;
    guint64 bits;
  } real = { value };

  return fab_mix (colour, (real.bits + (1u << 9)) >> 10);
}

static const FabSchedule *
schedule_at (const Refinement *self, guint s)
{
  return self->spec->uses[s].schedule;
}

static guint
n_lanes (const Refinement *self)
{
  return self->firsts[self->spec->n_uses];
}

/* Whether every step of the ring costs the same, and more than any wire (step_cost_find () of play.c). */
static gboolean
has_even_steps (const FabFoldUse *use)
{
  const FabSchedule *schedule = use->schedule;
  guint n_messages = fab_schedule_lane_at (schedule, 0)->n_messages;

  for (guint l = 0; l < fab_schedule_n_lanes (schedule); l++) {
    const FabScheduleLane *lane = fab_schedule_lane_at (schedule, l);

    if (lane->n_messages != n_messages || lane->hop.latency_ps > use->steps_ps / n_messages)
      return FALSE;
  }
  return schedule->has_offsets;
}

static guint64
first_colour (const FabScheduleLane *lane, guint schedule, gboolean is_even)
{
  guint64 colour = fab_mix (schedule, lane->n_messages);

  if (!is_even)
    colour = fab_mix (colour, (guint64) lane->hop.latency_ps * 2 + fab_hop_kind_is_net (lane->hop.kind));
  colour = mix_real (mix_real (colour, lane->weight), lane->footprint->rate_bytes_per_s);
  return mix_real (colour, lane->footprint->binding_weight);
}

static void
colour_first (Refinement *self)
{
  const FabFoldSpec *spec = self->spec;

  for (guint s = 0; s < spec->n_uses; s++) {
    gboolean is_even = has_even_steps (&spec->uses[s]);

    for (guint l = 0; l < fab_schedule_n_lanes (schedule_at (self, s)); l++) {
      const FabScheduleLane *lane = fab_schedule_lane_at (schedule_at (self, s), l);

      self->lanes[self->firsts[s] + l] = first_colour (lane, s, is_even);
      for (guint i = 0; i < lane->footprint->n; i++)
        self->links[lane->footprint->links[i]] = !self->is_left_out[lane->footprint->links[i]];
    }
  }
  for (FabLinkId link = 0; link < fab_graph_n_links (self->graph); link++)
    if (self->links[link] > 0)
      self->links[link] = fab_mix (1, fab_graph_link (self->graph, link)->rate_bytes_per_s);
  for (guint s = 0; s < spec->n_streams; s++)
    for (guint i = 0; i < spec->streams[s]->n; i++) {
      guint64 *colour = &self->links[spec->streams[s]->links[i]];

      *colour = mix_real (fab_mix (*colour, s), spec->streams[s]->line_weights[i]);
    }
  for (guint i = 0; i < spec->n_apart; i++)
    self->links[spec->apart[i]] = fab_mix (self->links[spec->apart[i]], i + 1);
}

/* A dependency without offset comes from a lane whose new colour is known. */
static guint64
colour_list (Refinement *self, guint s, guint l)
{
  const FabSchedule *schedule = schedule_at (self, s);
  const FabWaitList *list = fab_schedule_list_of (schedule, l);
  guint first = self->firsts[s];
  guint64 colour = 0;

  if (fab_schedule_like (schedule, l) != l)
    return self->lists[self->first_lists[s] + fab_schedule_lane_at (schedule, l)->list];
  for (guint i = list->start; i < list->end; i++) {
    const FabDependency *dependency = fab_schedule_dependency_at (schedule, i);

    colour += fab_mix (dependency->is_departure ? AFTER_DEPARTURE : dependency->offset,
                       (dependency->offset > 0 ? self->before : self->lanes)[first + dependency->from]);
  }
  if (fab_wait_list_is_shared (list))
    self->lists[self->first_lists[s] + fab_schedule_lane_at (schedule, l)->list] = colour;
  return colour;
}

static void
colour_lane (Refinement *self, guint s, guint l)
{
  const FabSchedule *schedule = schedule_at (self, s);
  const FabFootprint *footprint = fab_schedule_lane_at (schedule, l)->footprint;
  guint first = self->firsts[s];
  guint64 dependencies = colour_list (self, s, l), links = 0, colour;

  for (guint i = 0; i < footprint->n; i++)
    if (!self->is_left_out[footprint->links[i]])
      links += mix_real (self->links[footprint->links[i]], footprint->line_weights[i]);
  colour = fab_mix (fab_mix (self->before[first + l], dependencies), links);
  colour = fab_mix (colour, self->before[self->ahead[first + l]]);
  self->lanes[first + l] = colour;
  for (guint i = 0; i < footprint->n; i++)
    self->sums[footprint->links[i]] += mix_real (colour, footprint->line_weights[i]);
}

/* Lanes of one class have all their predecessors in the same classes, so that looking at a distant one as well tells
 * apart what would be told apart many rounds later. */
static void
look_twice_as_far (Refinement *self)
{
  guint *ahead = self->ahead;

  for (guint l = 0; l < n_lanes (self); l++)
    self->farther[l] = ahead[ahead[l]];
  self->ahead = self->farther;
  self->farther = ahead;
}

static void
refine_round (Refinement *self)
{
  guint n_links = fab_graph_n_links (self->graph);

  memset (self->sums, 0, n_links * sizeof *self->sums);
  guint64 *before = self->before;
  self->before = self->lanes;
  self->lanes = before;
  for (guint s = 0; s < self->spec->n_uses; s++)
    for (guint l = 0; l < fab_schedule_n_lanes (schedule_at (self, s)); l++)
      colour_lane (self, s, l);
  for (FabLinkId link = 0; link < n_links; link++)
    if (self->links[link] > 0)
      self->links[link] = fab_mix (self->links[link], self->sums[link]);
  look_twice_as_far (self);
}

/* --- counts --- */

/* Returns the slot of a colour, or the empty slot where it would go. */
static guint
find_slot (const Refinement *self, guint64 colour)
{
  guint i = (guint) colour & (self->n_slots - 1);

  while (self->table[i] > 0 && self->table[i] != colour)
    i = (i + 1) & (self->n_slots - 1);
  return i;
}

static guint
count_colours (Refinement *self, const guint64 *colours, guint n)
{
  guint n_found = 0;

  memset (self->table, 0, self->n_slots * sizeof *self->table);
  for (guint i = 0; i < n; i++) {
    guint slot = find_slot (self, colours[i]);

    n_found += self->table[slot] == 0;
    self->table[slot] = colours[i];
  }
  return n_found;
}

/* Returns TRUE once a round has told nothing more apart. */
static gboolean
refine (Refinement *self)
{
  guint n_before = 0, n = 0;

  for (guint i = 0; i < MOST_ROUNDS; i++) {
    n_before = n;
    refine_round (self);
    n = count_colours (self, self->lanes, n_lanes (self))
      + count_colours (self, self->links, fab_graph_n_links (self->graph));
    if (n == n_before)
      return TRUE;
  }
  return FALSE;
}

/* --- classes --- */

typedef struct {
  const Refinement *refinement;
  guint *lanes;              /* [lanes] the lane that is played for each */
  FabLinkId *links;          /* [links] the link that stands for each */
  FabFootprint **footprints; /* [lanes] of the lanes that are played */
} Classes;

/* Writes the first item of the same colour for each. */
static void
find_firsts (Refinement *self, const guint64 *colours, guint n, guint *firsts)
{
  g_autofree guint *in_slot = g_new (guint, self->n_slots);

  memset (self->table, 0, self->n_slots * sizeof *self->table);
  for (guint i = 0; i < n; i++) {
    guint slot = find_slot (self, colours[i]);

    if (self->table[slot] == 0)
      in_slot[slot] = i;
    self->table[slot] = colours[i];
    firsts[i] = in_slot[slot];
  }
}

/* The links that stand for those of a footprint, with nothing on them yet. */
static FabFootprint *
folded_footprint_new (const Classes *self, const FabFootprint *footprint)
{
  FabFootprint *folded = fab_footprint_new (MAX (footprint->n, 1));
  guint n = 0;

  folded->rate_bytes_per_s = footprint->rate_bytes_per_s;
  folded->line_bound_bytes_per_s = footprint->line_bound_bytes_per_s;
  folded->binding_weight = footprint->binding_weight;
  for (guint i = 0; i < footprint->n; i++)
    if (!self->refinement->is_left_out[footprint->links[i]])
      folded->links[n++] = self->links[footprint->links[i]];
  qsort (folded->links, n, sizeof (FabLinkId), fab_order_guints);
  for (guint i = 0; i < n; i++)
    if (i == 0 || folded->links[i] != folded->links[i - 1])
      folded->links[folded->n++] = folded->links[i];
  folded->binding_link = self->links[footprint->binding_link];
  return folded;
}

/* Adds what a lane puts on links that stand for others to the lane that is played for it. */
static void
add_lane (Classes *self, guint number, const FabFootprint *footprint)
{
  FabFootprint **folded = &self->footprints[self->lanes[number]];

  if (*folded == NULL)
    *folded = folded_footprint_new (self, footprint);
  for (guint i = 0; i < footprint->n; i++)
    if (!self->refinement->is_left_out[footprint->links[i]]
        && self->links[footprint->links[i]] == footprint->links[i]) {
      guint place = fab_footprint_find (*folded, footprint->links[i]);

      (*folded)->weights[place] += footprint->weights[i];
      (*folded)->line_weights[place] += footprint->line_weights[i];
    }
}

/* --- schedules --- */

static void
fold_schedule (FabSchedule *self, const Classes *classes, guint first)
{
  g_autofree guint *lanes = g_new (guint, self->lanes->len);

  for (guint l = 0; l < self->lanes->len; l++)
    lanes[l] = classes->lanes[first + l] - first;
  fab_schedule_keep (self, lanes, classes->footprints + first);
}

/* Folds all schedules: even those that keep all their lanes must agree on which links stand for others. */
static void
fold_all (Refinement *self)
{
  guint n = n_lanes (self), n_links = fab_graph_n_links (self->graph);
  g_autofree guint *lanes = g_new (guint, n), *links = g_new (guint, n_links);
  g_autofree FabFootprint **footprints = g_new0 (FabFootprint *, n);
  Classes classes = { self, lanes, links, footprints };

  find_firsts (self, self->lanes, n, lanes);
  find_firsts (self, self->links, n_links, links);
  for (guint s = 0; s < self->spec->n_uses; s++)
    for (guint l = self->firsts[s]; l < self->firsts[s + 1]; l++)
      add_lane (&classes, l, fab_schedule_lane_at (schedule_at (self, s), l - self->firsts[s])->footprint);
  for (guint s = 0; s < self->spec->n_uses; s++)
    fold_schedule (self->spec->uses[s].schedule, &classes, self->firsts[s]);
}

/* --- all --- */

static void
find_ahead (Refinement *self)
{
  for (guint s = 0; s < self->spec->n_uses; s++)
    for (guint l = 0; l < fab_schedule_n_lanes (schedule_at (self, s)); l++) {
      const FabSchedule *schedule = schedule_at (self, s);
      const FabWaitList *list = fab_schedule_list_of (schedule, l);
      gboolean is_ring = list->end == list->start + 1
                      && fab_schedule_dependency_at (schedule, list->start)->offset > 0;

      self->ahead[self->firsts[s] + l] = self->firsts[s]
                                       + (is_ring ? fab_schedule_dependency_at (schedule, list->start)->from
                                                  : l);
    }
}

static void
refinement_init (Refinement *self)
{
  guint n_links = fab_graph_n_links (self->graph), n;

  self->firsts = g_new0 (guint, self->spec->n_uses + 1);
  self->first_lists = g_new0 (guint, self->spec->n_uses + 1);
  for (guint s = 0; s < self->spec->n_uses; s++) {
    fab_schedule_freeze (self->spec->uses[s].schedule);
    fab_schedule_make_footprints (self->spec->uses[s].schedule, FALSE);
    self->firsts[s + 1] = self->firsts[s] + fab_schedule_n_lanes (schedule_at (self, s));
    self->first_lists[s + 1] = self->first_lists[s] + schedule_at (self, s)->n_lists;
  }
  self->lists = g_new (guint64, self->first_lists[self->spec->n_uses]);
  n = n_lanes (self);
  self->lanes = g_new (guint64, n);
  self->before = g_new (guint64, n);
  self->ahead = g_new (guint, n);
  self->farther = g_new (guint, n);
  find_ahead (self);
  self->links = g_new0 (guint64, n_links);
  self->sums = g_new (guint64, n_links);
  self->is_left_out = g_new (gboolean, n_links);
  find_room (self->graph, self->spec, self->is_left_out);
  find_emptier (self->graph, self->spec, self->is_left_out);
  self->n_slots = 2u << g_bit_storage (MAX (n, n_links));
  self->table = g_new (guint64, self->n_slots);
}

static void
refinement_clear (Refinement *self)
{
  g_free (self->firsts);
  g_free (self->first_lists);
  g_free (self->lists);
  g_free (self->lanes);
  g_free (self->before);
  g_free (self->ahead);
  g_free (self->farther);
  g_free (self->links);
  g_free (self->sums);
  g_free (self->is_left_out);
  g_free (self->table);
}

void
fab_schedules_fold (const FabGraph *graph, const FabFoldSpec *spec)
{
  Refinement refinement = { .graph = graph, .spec = spec };

  refinement_init (&refinement);
  colour_first (&refinement);
  if (refine (&refinement)
      && count_colours (&refinement, refinement.lanes, n_lanes (&refinement)) < n_lanes (&refinement))
    fold_all (&refinement);
  refinement_clear (&refinement);
}
