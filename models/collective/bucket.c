/* SPDX-License-Identifier: Apache-2.0 */
/* bucket.c - rings along every axis of a torus, in both directions and along all axes at once.
 *
 * The bytes are cut into as many parts as there are axes, and each part in two halves, one for each direction. Part p
 * reduce-scatters along axis p, then what is left of it along the next axis, and so on round all axes; it all-gathers
 * in the reverse order. So every link of a router is busy:
 *
 *   part p on its k-th axis, of n ranks   (n - 1) / n / (ranks of its axes before) of the part, in n - 1 steps
 *   all_reduce of S bytes, D axes alike   2 (N - 1) / N x S / (2 D) over each link of N ranks: 2 D times as fast as a
 *                                         ring over one link of each router
 *   steps                                 sum of (n - 1) over all axes, twice in an all_reduce
 *
 * Where axes are not alike, the shares of the parts are chosen so that the whole ends soonest. Port 2 a + direction of
 * a chip sends along axis a. A group that has only some places of an axis, or an axis whose ends are not joined, closes
 * its rings by going back, which uses links twice.
 *
 * (M. Barnett, R. Littlefield, D. Payne, R. van de Geijn, "Global combine on mesh architectures with wormhole routing",
 * IPPS 1993, the bucket algorithm; N. Jain, Y. Sabharwal, "Optimal bucket algorithms for large MPI collectives on torus
 * interconnects", ICS 2010, all links at once; P. Sack, W. Gropp, "Collective algorithms for multiported torus
 * networks", ACM TOPC 1(2), 2015. Google states 1.1 PB/s of all-reduce bandwidth for 4096 TPU v4 of six links of 50
 * GB/s (docs.cloud.google.com/tpu/docs/v4): 269 of 300 GB/s per chip, which one ring could not reach.)
 */
#include <string.h>

#include "models/models.h"
#include "sim/base/mix.h"
#include "sim/collective/shape/form_hops.h"
#include "sim/machine/nic_paths.h"

#define MAX_AXES 3

/* The box of places that a group has. Rank = node, for every node has one GPU. */
typedef struct {
  guint n_axes;          /* along which it has more than one place; those are numbered from 0 */
  guint sizes[MAX_AXES]; /* places of the group along each */
  guint passes
      [MAX_AXES]; /* times that rings in both directions use a link of the axis: 1, or 2 where they go back */
  guint *ranks;   /* [product of sizes] the rank in each place, axis 0 first */
} Box;

static void
box_clear (Box *self)
{
  g_free (self->ranks);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Box, box_clear)

/* Returns the place on the lattice of the router that a node's first NIC is attached to; G_MAXUINT: there is none. */
static guint
place_of (const FabGroup *group, const FabLattice *lattice, guint node)
{
  const FabGraph *graph = group->cluster->graph;
  guint n_places = lattice->sizes[0] * lattice->sizes[1] * lattice->sizes[2];
  FabLinkId first;
  guint n = fab_graph_out_links (graph, fab_group_nic (group, node, 0), &first);

  for (FabLinkId link = first; link < first + n; link++) {
    FabVertexId to = fab_graph_link (graph, link)->dst;

    if (to >= lattice->first && to < lattice->first + n_places)
      return to - lattice->first;
  }
  return G_MAXUINT;
}

/* Numbers the coordinates that occur along an axis, and returns how many there are. */
static guint
number_coordinates (const guint *places, guint n_nodes, guint step, guint size, guint *numbers)
{
  guint n = 0;

  for (guint c = 0; c < size; c++)
    numbers[c] = G_MAXUINT;
  for (guint node = 0; node < n_nodes; node++)
    numbers[places[node] / step % size] = 0;
  for (guint c = 0; c < size; c++)
    if (numbers[c] == 0)
      numbers[c] = n++;
  return n;
}

static void
add_axis (Box *self, const FabLattice *lattice, guint axis, guint n)
{
  self->sizes[self->n_axes] = n;
  self->passes[self->n_axes] = n < lattice->sizes[axis] || lattice->is_open[axis] ? 2 : 1;
  self->n_axes++;
}

/* Fills `self` where the nodes have all places of a box, each its own. Axes are added one by one: `at` is the place of
 * each node in the box so far. */
static gboolean
fill_box (const FabGroup *group, const FabLattice *lattice, const guint *places, Box *self)
{
  g_autofree guint *at = g_new0 (guint, group->n_nodes);
  guint n_places = 1, step = 1;

  for (guint axis = 0; axis < MAX_AXES; step *= lattice->sizes[axis++]) {
    g_autofree guint *numbers = g_new (guint, lattice->sizes[axis]);
    guint n = number_coordinates (places, group->n_nodes, step, lattice->sizes[axis], numbers);

    for (guint node = 0; node < group->n_nodes; node++)
      at[node] += numbers[places[node] / step % lattice->sizes[axis]] * n_places;
    if (n > 1)
      add_axis (self, lattice, axis, n);
    if ((guint64) n_places * n > group->n_nodes)
      return FALSE;
    n_places *= n;
  }
  self->ranks = g_new (guint, n_places);
  for (guint i = 0; i < n_places; i++)
    self->ranks[i] = G_MAXUINT;
  for (guint node = 0; node < group->n_nodes; node++) {
    if (self->ranks[at[node]] != G_MAXUINT)
      return FALSE;
    self->ranks[at[node]] = node;
  }
  return n_places == group->n_nodes;
}

static gboolean
find_box (const FabGroup *group, Box *self)
{
  const FabLattice *lattice = fab_graph_lattice (group->cluster->graph);

  *self = (Box){ 0 };
  if (lattice == NULL || group->gpus_per_node != 1 || group->cluster->uneven != NULL
      || group->cluster->nics_per_node == 0 || group->n_nodes < 2)
    return FALSE;
  g_autofree guint *places = g_new (guint, group->n_nodes);
  for (guint node = 0; node < group->n_nodes; node++) {
    places[node] = place_of (group, lattice, node);
    if (places[node] == G_MAXUINT)
      return FALSE;
  }
  return fill_box (group, lattice, places, self);
}

/* The place that follows along an axis, round its ring. */
static guint
place_after (const Box *self, guint place, guint axis, gboolean is_back)
{
  guint step = 1, size = self->sizes[axis];

  for (guint a = 0; a < axis; a++)
    step *= self->sizes[a];
  guint at = place / step % size;
  return place - at * step + (is_back ? at + size - 1 : at + 1) % size * step;
}

/* --- parts --- */

/* Axis of a part's k-th phase of a reduce-scatter. */
static guint
axis_of (const Box *self, guint part, guint k)
{
  return (part + k) % self->n_axes;
}

/* The share of a part that is left for its k-th phase. */
static double
left_of (const Box *self, guint part, guint k)
{
  double left = 1;

  for (guint i = 0; i < k; i++)
    left /= self->sizes[axis_of (self, part, i)];
  return left;
}

/* Time on the links of the part's k-th axis, in units of the time of the whole part over one link. */
static double
work_of (const Box *self, guint part, guint k)
{
  guint axis = axis_of (self, part, k), n = self->sizes[axis];

  return left_of (self, part, k) * (n - 1) / n * self->passes[axis];
}

/* Fills in the phases of an operation, each by its k, and returns their number: a reduce-scatter goes from the first to
 * the last axis of a part, an all-gather back. */
static guint
list_phases (const Box *self, FabOp op, guint phases[2 * MAX_AXES])
{
  guint n = 0;

  for (guint k = 0; op != FAB_OP_ALL_GATHER && k < self->n_axes; k++)
    phases[n++] = k;
  for (guint k = self->n_axes; op != FAB_OP_REDUCE_SCATTER && k-- > 0;)
    phases[n++] = k;
  return n;
}

/* Parts on their way through the phases: part p is in phase `at[p]`, and has the work `left[p]` of it left. */
typedef struct {
  const Box *box;
  const double *shares;
  guint phases[2 * MAX_AXES], n_phases;
  guint at[MAX_AXES];
  double left[MAX_AXES];
} Race;

static guint
race_axis (const Race *self, guint part)
{
  return axis_of (self->box, part, self->phases[self->at[part]]);
}

static void
race_enter (Race *self, guint part)
{
  if (self->at[part] < self->n_phases)
    self->left[part] = self->shares[part] / 2 * work_of (self->box, part, self->phases[self->at[part]]);
}

/* Goes on to the next end of a phase, and returns the time until then; 0: all parts have ended. Parts that are on the
 * same axis share it alike. */
static double
race_step (Race *self)
{
  guint n_on[MAX_AXES] = { 0 }, d = self->box->n_axes;
  double step = G_MAXDOUBLE;

  for (guint p = 0; p < d; p++)
    if (self->at[p] < self->n_phases)
      n_on[race_axis (self, p)]++;
  for (guint p = 0; p < d; p++)
    if (self->at[p] < self->n_phases)
      step = MIN (step, self->left[p] * n_on[race_axis (self, p)]);
  for (guint p = 0; p < d; p++) {
    if (self->at[p] == self->n_phases)
      continue;
    self->left[p] -= step / n_on[race_axis (self, p)];
    if (self->left[p] > 1e-12)
      continue;
    self->at[p]++;
    race_enter (self, p);
  }
  return step < G_MAXDOUBLE ? step : 0;
}

/* Returns the time of the operation, in units of the time of all bytes over one link. */
static double
time_parts (const Box *self, FabOp op, const double *shares)
{
  Race race = { .box = self, .shares = shares };
  double sum = 0, step;

  race.n_phases = list_phases (self, op, race.phases);
  for (guint p = 0; p < self->n_axes; p++)
    race_enter (&race, p);
  while ((step = race_step (&race)) > 0)
    sum += step;
  return sum;
}

/* Returns the time that the busiest axis carries in a reduce-scatter or an all-gather. */
static double
busiest_axis (const Box *self, const double *shares)
{
  double sums[MAX_AXES] = { 0 }, most = 0;

  for (guint p = 0; p < self->n_axes; p++)
    for (guint k = 0; k < self->n_axes; k++)
      sums[axis_of (self, p, k)] += shares[p] / 2 * work_of (self, p, k);
  for (guint a = 0; a < self->n_axes; a++)
    most = MAX (most, sums[a]);
  return most;
}

/* What shares of the parts cost. */
typedef double (*SharesCost) (const Box *box, FabOp op, const double *shares);

static double
cost_of_busiest (const Box *self, G_GNUC_UNUSED FabOp op, const double *shares)
{
  return busiest_axis (self, shares);
}

/* Moves bytes from one part to another, in smaller and smaller amounts, as long as that costs less. Returns the
 * cost. */
static double
improve (const Box *self, FabOp op, SharesCost cost_of, double *shares)
{
  guint d = self->n_axes;
  double best = cost_of (self, op, shares);

  for (double amount = 1 / 16.0; amount > 1e-4; amount /= 2)
    for (guint i = 0; i < d * d; i++) {
      guint from = i / d, to = i % d;
      gboolean is_better = from != to;

      while (is_better && shares[from] > amount) {
        shares[from] -= amount;
        shares[to] += amount;
        double cost = cost_of (self, op, shares);
        is_better = cost < best * (1 - 1e-9);
        best = is_better ? cost : best;
        shares[from] += is_better ? 0 : amount;
        shares[to] -= is_better ? 0 : amount;
      }
    }
  return best;
}

/* Chooses the share of each part, and returns the time of the operation: from equal shares on, or from those that load
 * all axes alike, whichever ends at less. */
static double
choose_shares (const Box *self, FabOp op, double shares[MAX_AXES])
{
  double balanced[MAX_AXES] = { 0 };

  for (guint p = 0; p < self->n_axes; p++)
    shares[p] = balanced[p] = 1.0 / self->n_axes;
  improve (self, op, cost_of_busiest, balanced);
  double time = improve (self, op, time_parts, shares);
  double other = improve (self, op, time_parts, balanced);
  if (other >= time * (1 - 1e-9))
    return time;
  memcpy (shares, balanced, sizeof balanced);
  return other;
}

/* --- hops --- */

/* The hop from the rank in a place to the next along an axis. It leaves by the port that belongs to the direction and
 * enters by the one that faces it. */
static gboolean
find_hop (const FabGroup *group, const FabNicPaths *ways, const Box *box, guint place, guint axis,
          gboolean is_back, FabHop *hop, GError **error)
{
  guint from = box->ranks[place], to = box->ranks[place_after (box, place, axis, is_back)];
  const GArray *out = fab_nic_paths_nics (ways, from, 0), *in = fab_nic_paths_nics (ways, to, 0);
  guint out_port = 2 * axis + is_back, in_port = 2 * axis + !is_back;

  if (out->len == 0 || in->len == 0)
    return fab_hop_ranks (group, from, to, hop, error);
  return fab_hop_over (group->cluster, fab_group_gpu (group, from, 0),
                       fab_group_nic (group, from, g_array_index (out, guint, out_port % out->len)),
                       fab_group_nic (group, to, g_array_index (in, guint, in_port % in->len)),
                       fab_group_gpu (group, to, 0), fab_mix (from, to), hop, error);
}

/* --- form --- */

static guint
count_rounds (FabOp op)
{
  return op == FAB_OP_ALL_REDUCE ? 2 : 1;
}

/* Bytes that a rank sends each way along an axis, per byte of size, in one reduce-scatter or all-gather. */
static double
weight_on (const Box *self, const double *shares, guint axis)
{
  double sum = 0;

  for (guint p = 0; p < self->n_axes; p++)
    for (guint k = 0; k < self->n_axes; k++)
      if (axis_of (self, p, k) == axis)
        sum += shares[p] / 2 * work_of (self, p, k) / self->passes[axis];
  return sum;
}

static gboolean
bucket_form (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, FabCollectiveForm *form,
             GError **error)
{
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (group->cluster->graph);
  g_autoptr (FabNicPaths) ways = fab_nic_paths_new (group);
  g_auto (Box) box = { 0 };
  double shares[MAX_AXES];
  FabSlowestHops slowest = { 0 };
  gboolean is_box = find_box (group, &box);

  g_assert (is_box);
  double time = choose_shares (&box, op, shares);
  double busiest = count_rounds (op) * busiest_axis (&box, shares);
  *form = (FabCollectiveForm){ .n_channels = 2 * box.n_axes };
  for (guint axis = 0; axis < box.n_axes; axis++) {
    double weight = count_rounds (op) * weight_on (&box, shares, axis);

    form->n_inter_steps += count_rounds (op) * (box.sizes[axis] - 1);
    for (guint place = 0; place < group->n_nodes; place++)
      for (guint is_back = 0; is_back < 2; is_back++) {
        FabHop hop;

        if (!find_hop (group, ways, &box, place, axis, is_back, &hop, error))
          return FALSE;
        fab_slowest_hops_note_step (&slowest, &hop, form);
        fab_hop_use (&hop, weight, env->net_stretch, builder);
        fab_hop_clear (&hop);
      }
  }
  form->footprint = fab_footprint_builder_finish (builder);
  if (time > busiest * (1 + 1e-9))
    form->phases_bytes_per_s = form->footprint->rate_bytes_per_s * busiest / time;
  return TRUE;
}

/* --- messages --- */

typedef struct {
  const FabGroup *group;
  const FabNicPaths *ways;
  const Box *box;
  const FabAlgorithmEnv *env;
  FabSchedule *schedule;
} Emitting;

/* A step that brought something to every rank. */
typedef struct {
  guint first; /* of its lanes, one for each place */
  guint axis;
} Step;

/* Adds one step of one half of a part: every rank sends to the next what it received in the steps `after` (Step).
 * Fills in *made. */
static gboolean
add_step (const Emitting *self, guint axis, gboolean is_back, double weight, const GArray *after, Step *made,
          GError **error)
{
  *made = (Step){ fab_schedule_n_lanes (self->schedule), axis };
  for (guint place = 0; place < self->group->n_nodes; place++) {
    FabHop hop;

    if (!find_hop (self->group, self->ways, self->box, place, axis, is_back, &hop, error))
      return FALSE;
    guint lane = fab_schedule_lane (self->schedule, &hop, self->env->net_stretch, weight, 1);
    for (guint i = 0; i < after->len; i++) {
      const Step *step = &g_array_index (after, Step, i);

      fab_schedule_depend (self->schedule, lane,
                           step->first + place_after (self->box, place, step->axis, !is_back), 0);
    }
  }
  return TRUE;
}

/* The phases of one half of a part. What a rank has of its own are the last sums along each axis, and all that it
 * gathered along the axes before. It adds its own to every sum that it passes on. When it gathers it begins with its
 * own, and then passes on what has come alone. */
static gboolean
add_half (const Emitting *self, FabOp op, guint part, gboolean is_back, double share, GError **error)
{
  guint phases[2 * MAX_AXES], n_phases = list_phases (self->box, op, phases);
  g_autoptr (GArray) own = g_array_new (FALSE, FALSE, sizeof (Step));
  g_autoptr (GArray) along = g_array_new (FALSE, FALSE, sizeof (Step)); /* steps of the present phase */
  g_autoptr (GArray) after = g_array_new (FALSE, FALSE, sizeof (Step));

  for (guint i = 0; i < n_phases; i++) {
    guint axis = axis_of (self->box, part, phases[i]), n = self->box->sizes[axis];
    gboolean adds = op != FAB_OP_ALL_GATHER && i < self->box->n_axes;

    g_array_set_size (along, 0);
    for (guint step = 0; step + 1 < n; step++) {
      double weight = share * left_of (self->box, part, phases[i]) / n;
      Step made;

      g_array_set_size (after, 0);
      if (adds || step == 0)
        g_array_append_vals (after, own->data, own->len);
      if (step > 0)
        g_array_append_val (after, g_array_index (along, Step, step - 1));
      if (!add_step (self, axis, is_back, weight, after, &made, error))
        return FALSE;
      g_array_append_val (along, made);
    }
    guint n_kept = adds ? 1 : along->len;
    g_array_append_vals (own, &g_array_index (along, Step, along->len - n_kept), n_kept);
  }
  return TRUE;
}

static gboolean
bucket_schedule (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, G_GNUC_UNUSED guint n_chunks,
                 FabSchedule *schedule, GError **error)
{
  g_autoptr (FabNicPaths) ways = fab_nic_paths_new (group);
  g_auto (Box) box = { 0 };
  Emitting self = { group, ways, &box, env, schedule };
  double shares[MAX_AXES];
  gboolean is_box = find_box (group, &box);

  g_assert (is_box);
  choose_shares (&box, op, shares);
  for (guint part = 0; part < box.n_axes; part++)
    for (guint is_back = 0; is_back < 2; is_back++)
      if (!add_half (&self, op, part, is_back, shares[part] / 2, error))
        return FALSE;
  return TRUE;
}

static gboolean
bucket_supports (const FabGroup *group, FabOp op)
{
  g_auto (Box) box = { 0 };

  return (op == FAB_OP_ALL_REDUCE || op == FAB_OP_ALL_GATHER || op == FAB_OP_REDUCE_SCATTER)
      && find_box (group, &box);
}

const FabAlgorithmOps fab_algorithm_bucket = {
  .info = { .name = "bucket",
            .summary = "Rings along every axis of a torus at once, in both directions; one GPU per node.",
            .doc = "docs/models/bucket.md" },
  .preference = 120,
  .follows_fabric = bucket_supports,
  .supports = bucket_supports,
  .form = bucket_form,
  .schedule = bucket_schedule,
};
