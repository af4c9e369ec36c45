/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/decision/bottleneck_find.h"

#include <math.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/thread_pool.h"
#include "sim/config/schema_reader.h"
#include "sim/decision/waits.h"
#include "sim/run/run.h"

/* --- the list --- */

/* One lever while it is played: what is changed, and its times with each draw. */
typedef struct {
  FabLever lever;
  FabWhatIf what_if;
  char *link_class, *second_class; /* of what_if; owned */
  const char *key;                 /* set to `value` in the scenario; NULL: nothing is set */
  gint64 value;
  FabUnit unit;        /* of `value` */
  FabDrawTimes *times; /* [n_draws] */
  gboolean *is_played; /* [n_draws] */
  guint n_tried;       /* draws, from the first on: all, or PROBES where the rest would be the same */
} Playing;

/* A lever is played with so many draws first. Where the step is the same in all draws of the base, and the same in
 * these with the lever, the other draws are left out: two of three plays, where a hash decides nothing. */
enum { PROBES = 3 };
static const double same_step = 1e-9; /* of the step: less than a picosecond in a millisecond */

typedef struct {
  const FabDecisionEnv *env;
  GPtrArray *draws;   /* FabScenario of each draw */
  GPtrArray *list;    /* Playing */
  FabDrawTimes *base; /* [draws->len] */
  GError **errors;    /* [draws->len] of the base */
  guint first_base;   /* of the draws of the base that are still to play: 1, as draw 0 was */
  GArray *items;      /* Item: what the threads play now */
} Plays;

typedef struct {
  Playing *lever; /* NULL: the base */
  guint draw;
} Item;

static void
playing_free (gpointer data)
{
  Playing *self = data;

  fab_lever_clear (&self->lever);
  g_free (self->link_class);
  g_free (self->second_class);
  g_free (self->times);
  g_free (self->is_played);
  g_free (self);
}

/* Takes the texts. */
static Playing *
add (GPtrArray *list, FabLeverKind kind, char *name, char *change)
{
  Playing *self = g_new0 (Playing, 1);

  self->lever = (FabLever){ .kind = kind, .name = name, .change = change };
  self->unit = FAB_UNIT_COUNT;
  g_ptr_array_add (list, self);
  return self;
}

/* --- links --- */

/* The classes of links that carry collectives: the entry's name, what people call it, and whether such a link leaves a
 * node. */
typedef struct {
  const char *name;
  char *label;
  FabBytesPerS rate_bytes_per_s; /* of one link of the first that was seen */
  gboolean is_port;
} Carrier;

static void
carrier_clear (gpointer data)
{
  g_free (((Carrier *) data)->label);
}

static void
note_carrier (GArray *carriers, const FabGraph *graph, FabLinkId id)
{
  const FabLinkClass *link_class = fab_graph_link_class (graph, id);
  const FabLink *link = fab_graph_link (graph, id);
  FabBytesPerS rate_bytes_per_s = link->rate_bytes_per_s / MAX (link->count, 1);
  gboolean is_port = fab_graph_vertex (graph, link->src)->node == FAB_NO_NODE
                  || fab_graph_vertex (graph, link->dst)->node == FAB_NO_NODE;

  for (guint i = 0; i < carriers->len; i++) {
    Carrier *one = &g_array_index (carriers, Carrier, i);

    if (strcmp (one->name, link_class->name) != 0)
      continue;
    one->is_port |= is_port;
    if (one->rate_bytes_per_s != rate_bytes_per_s) { /* ports and uplinks of one entry, at two rates */
      g_free (one->label);
      one->label = g_strdup (one->name);
    }
    return;
  }
  Carrier made = { link_class->name, fab_link_class_label (link_class), rate_bytes_per_s, is_port };
  g_array_append_val (carriers, made);
}

static GArray *
find_carriers (const FabSimulation *simulation)
{
  const FabDag *dag = fab_simulation_dag (simulation);
  const FabGraph *graph = fab_simulation_cluster (simulation)->graph;
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL); /* footprints */
  GArray *carriers = g_array_new (FALSE, FALSE, sizeof (Carrier));

  g_array_set_clear_func (carriers, carrier_clear);
  for (guint i = 0; i < dag->n_collectives; i++) {
    const FabFootprint *footprint = dag->collectives[i].plan.footprint;

    if (footprint == NULL || !g_hash_table_add (seen, (gpointer) footprint))
      continue;
    for (guint k = 0; k < footprint->n; k++)
      note_carrier (carriers, graph, footprint->links[k]);
  }
  return carriers;
}

static void
add_links (GPtrArray *list, const FabSimulation *simulation)
{
  g_autoptr (GArray) carriers = find_carriers (simulation);

  for (guint i = 0; i < carriers->len; i++) {
    const Carrier *one = &g_array_index (carriers, Carrier, i);
    Playing *made = add (list, FAB_LEVER_LINK, g_strdup (one->label),
                         g_strdup_printf ("every %s twice as fast", one->label));

    made->lever.is_port = one->is_port;
    made->lever.link_class = g_strdup (one->name);
    made->link_class = g_strdup (one->name);
    made->what_if.link_class = made->link_class;
    made->what_if.rate_factor = FAB_LEVER_FACTOR;
  }
  if (carriers->len < 2)
    return;
  Playing *all = add (list, FAB_LEVER_LINKS, g_strdup ("all links"), g_strdup ("every link twice as fast"));
  all->what_if.is_every_link = TRUE;
  all->what_if.rate_factor = FAB_LEVER_FACTOR;
}

/* --- NICs and channels --- */

static void
add_nics (GPtrArray *list, const FabScenario *scenario, const FabSimulation *simulation)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (scenario)->cluster;
  const FabNodeSpec *node = fab_catalog_node (fab_scenario_catalog (scenario), cluster->node);
  guint all = fab_node_spec_n_parts (node, FAB_PART_NIC);
  guint has = cluster->nics_per_node > 0 ? (guint) cluster->nics_per_node : all, n = MIN (2 * has, all);

  if (fab_simulation_cluster (simulation)->n_nodes < 2 || n <= has)
    return;
  Playing *made = add (list, FAB_LEVER_NICS, g_strdup ("NICs"),
                       g_strdup_printf ("%u NICs a node in place of %u", n, has));
  made->key = "cluster.nics_per_node";
  made->value = n;
}

/* The collectives that are exposed most, or take most time where nothing is exposed: the plan of one of them. */
static const FabCollectivePlan *
find_main (const FabSimulation *simulation)
{
  const FabDag *dag = fab_simulation_dag (simulation);
  const GArray *records = fab_simulation_probe (simulation)->collectives;
  const FabCollectivePlan *main_plan = NULL;
  FabTimePs most_ps = 0;

  for (guint pass = 0; pass < 2 && main_plan == NULL; pass++)
    for (guint i = 0; i < records->len; i++) {
      const FabCollectiveRecord *record = &g_array_index (records, FabCollectiveRecord, i);
      FabTimePs ps = pass == 0 ? record->exposed_ps : record->end_ps - record->start_ps;

      if (ps > most_ps && dag->collectives[record->index].plan.footprint != NULL) {
        most_ps = ps;
        main_plan = &dag->collectives[record->index].plan;
      }
    }
  return main_plan;
}

/* Libraries that have channels have a key for the least number of them. */
static void
add_channels (GPtrArray *list, const FabScenario *scenario, guint n_channels)
{
  const FabModelInfo *library = fab_scenario_spec (scenario)->collectives.info;
  const FabParam *row = fab_schema_find_row (library->params, "min_channels");
  gint64 n = 2 * (gint64) n_channels;

  if (row == NULL || n_channels == 0 || (row->max > 0 && (double) n > (double) row->max))
    return;
  Playing *made = add (list, FAB_LEVER_CHANNELS, g_strdup ("channels"),
                       g_strdup_printf ("at least %" G_GINT64_FORMAT " channels in place of %u", n,
                                        n_channels));
  made->key = "collectives.min_channels";
  made->value = n;
}

/* Jobs whose software sends message by message have a key for the time that it takes of the sender. */
static void
add_messages (GPtrArray *list, const FabScenario *scenario)
{
  const FabModelChoice *job = &fab_scenario_spec (scenario)->job;
  const FabParam *row = fab_schema_find_row (job->info->params, "message_time");
  FabTimePs message_ps = row != NULL ? *(const FabTimePs *) ((const char *) job->params + row->offset) : 0;

  if (message_ps < 2)
    return;
  Playing *made = add (list, FAB_LEVER_MESSAGES, g_strdup ("messages"),
                       g_strdup ("half the time of a message (job.message_time)"));
  made->key = "job.message_time";
  made->value = message_ps / 2;
  made->unit = FAB_UNIT_TIME;
}

/* --- the job --- */

static gboolean
has_tasks (const FabDag *dag, FabSpanKind kind)
{
  for (guint i = 0; i < dag->n_tasks; i++)
    if (dag->tasks[i].collective < 0 && dag->tasks[i].kind == kind && dag->tasks[i].duration_ps > 0)
      return TRUE;
  return FALSE;
}

static void
add_job (GPtrArray *list, const FabSimulation *simulation)
{
  const FabDag *dag = fab_simulation_dag (simulation);

  if (dag->n_collectives > 0)
    add (list, FAB_LEVER_LATENCY, g_strdup ("latency"), g_strdup ("no latency of software and wires"))
        ->what_if.has_no_latency = TRUE;
  if (has_tasks (dag, FAB_SPAN_COMPUTE)) {
    add (list, FAB_LEVER_COMPUTE, g_strdup ("compute"), g_strdup ("compute twice as fast"))
        ->what_if.compute_factor = 1 / FAB_LEVER_FACTOR;
    add (list, FAB_LEVER_MEMORY, g_strdup ("memory rate"),
         g_strdup ("memory of the accelerators twice as fast"))
        ->what_if.memory_factor = FAB_LEVER_FACTOR;
  }
  if (has_tasks (dag, FAB_SPAN_LOAD))
    add (list, FAB_LEVER_HOST, g_strdup ("host"), g_strdup ("work on the host twice as fast"))
        ->what_if.host_factor = 1 / FAB_LEVER_FACTOR;
  if (fab_simulation_totals (simulation)->slowness != NULL)
    add (list, FAB_LEVER_RANKS, g_strdup ("slow ranks"), g_strdup ("no rank slower than the others"))
        ->what_if.is_even = TRUE;
}

/* --- playing --- */

static FabScenario *
scenario_of (const Playing *self, const FabScenario *draw)
{
  FabScenario *copy = fab_scenario_copy (draw);

  if (fab_scenario_set (copy, self->key, fab_value_whole (self->unit, self->value), NULL)
      && fab_scenario_check (copy, NULL))
    return copy;
  fab_scenario_free (copy);
  return NULL;
}

static void
play_lever (const Plays *plays, Playing *self, guint draw)
{
  const FabScenario *scenario = g_ptr_array_index (plays->draws, draw);
  g_autoptr (FabScenario) changed = self->key != NULL ? scenario_of (self, scenario) : NULL;

  if (self->key == NULL || changed != NULL)
    self->is_played[draw] = fab_draw_play (plays->env, changed != NULL ? changed : scenario, &self->what_if,
                                           &self->times[draw], NULL);
}

static void
play_item (gpointer data, guint which)
{
  const Plays *self = data;
  const Item *item = &g_array_index (self->items, Item, which);

  if (item->lever != NULL)
    play_lever (self, item->lever, item->draw);
  else
    fab_draw_play (self->env, g_ptr_array_index (self->draws, item->draw), NULL, &self->base[item->draw],
                   &self->errors[item->draw]);
}

static void
ask (Plays *self, Playing *lever, guint from, guint to)
{
  for (guint draw = from; draw < to; draw++) {
    Item item = { lever, draw };

    g_array_append_val (self->items, item);
  }
  if (lever != NULL)
    lever->n_tried = to;
}

static void
play_asked (Plays *self)
{
  fab_pulse_expect (self->env->pulse, self->items->len);
  fab_thread_pool_run (self->env->n_threads, self->items->len, play_item, self);
  g_array_set_size (self->items, 0);
}

static gboolean
are_same (const FabDrawTimes *times, guint n)
{
  for (guint i = 1; i < n; i++)
    if (fabs (times[i].step_s - times[0].step_s) > same_step * times[0].step_s)
      return FALSE;
  return TRUE;
}

/* Whether a draw decides nothing, as far as those that were played show. */
static gboolean
is_known (const Plays *self, const Playing *lever)
{
  for (guint i = 0; i < lever->n_tried; i++)
    if (!lever->is_played[i])
      return TRUE; /* it is dropped */
  return are_same (self->base, self->draws->len) && are_same (lever->times, lever->n_tried);
}

static void
play_all (Plays *self)
{
  guint n_draws = self->draws->len;

  ask (self, NULL, self->first_base, n_draws);
  for (guint i = 0; i < self->list->len; i++) {
    Playing *one = g_ptr_array_index (self->list, i);

    one->times = g_new0 (FabDrawTimes, n_draws);
    one->is_played = g_new0 (gboolean, n_draws);
    ask (self, one, 0, MIN (PROBES, n_draws));
  }
  play_asked (self);
  for (guint i = 0; i < self->list->len; i++) {
    Playing *one = g_ptr_array_index (self->list, i);

    if (!is_known (self, one))
      ask (self, one, one->n_tried, n_draws);
  }
  play_asked (self);
}

/* --- what came out --- */

static double *
steps_of (const FabDrawTimes *times, guint n)
{
  double *steps_s = g_new (double, n);

  for (guint i = 0; i < n; i++)
    steps_s[i] = times[i].step_s;
  return steps_s;
}

static void
take_lever (FabBottleneck *self, const Plays *plays, Playing *one)
{
  guint n = one->n_tried;
  g_autofree double *base = steps_of (plays->base, n), *steps = steps_of (one->times, n);

  for (guint i = 0; i < n; i++)
    if (!one->is_played[i])
      return;
  const FabDrawTimes *median = &one->times[fab_draw_median (steps, n)];
  one->lever.step_s = median->step_s;
  one->lever.exposed_s = median->exposed_s;
  one->lever.step = fab_difference_of (base, n, steps, n, TRUE);
  FabLever taken = fab_lever_copy (&one->lever);
  g_array_append_val (self->levers, taken);
}

/* By how much the draw with the shortest step is shorter than the one with the median step. */
static void
take_luck (FabBottleneck *self, const Plays *plays)
{
  guint n = plays->draws->len, best = 0;
  double median_s = self->base.step_s;

  if (n < 2)
    return;
  for (guint i = 1; i < n; i++)
    if (plays->base[i].step_s < plays->base[best].step_s)
      best = i;
  double best_s = plays->base[best].step_s;
  FabLever lever = { .kind = FAB_LEVER_DRAWS,
                     .name = g_strdup ("bad luck"),
                     .change = g_strdup_printf ("the luckiest of %u seeds", n),
                     .step_s = best_s,
                     .exposed_s = plays->base[best].exposed_s,
                     .step = fab_difference_of (&median_s, 1, &best_s, 1, TRUE) };
  g_array_append_val (self->levers, lever);
}

static void
take_base (FabBottleneck *self, const Plays *plays)
{
  guint n = plays->draws->len;
  g_autofree double *steps = steps_of (plays->base, n);

  self->n_draws = n;
  self->base = plays->base[fab_draw_median (steps, n)];
  self->low_s = self->high_s = steps[0];
  for (guint i = 1; i < n; i++) {
    self->low_s = MIN (self->low_s, steps[i]);
    self->high_s = MAX (self->high_s, steps[i]);
  }
}

static void
take_levers (FabBottleneck *self, const Plays *plays)
{
  for (guint i = 0; i < plays->list->len; i++)
    take_lever (self, plays, g_ptr_array_index (plays->list, i));
}

/* --- pairs --- */

/* Faster ports with every other kind of link, and with more channels. */
static void
add_pairs (GPtrArray *list, const GPtrArray *singles, const FabLever *port)
{
  for (guint i = 0; i < singles->len; i++) {
    const Playing *other = g_ptr_array_index (singles, i);
    gboolean is_link = other->lever.kind == FAB_LEVER_LINK
                    && strcmp (other->link_class, port->link_class) != 0;

    if (!is_link && other->lever.kind != FAB_LEVER_CHANNELS)
      continue;
    Playing *made = add (list, FAB_LEVER_PAIR,
                         is_link ? g_strdup (other->lever.name)
                                 : g_strdup_printf ("%" G_GINT64_FORMAT " channels", other->value),
                         is_link ? g_strdup_printf ("%s and %s twice as fast", port->name, other->lever.name)
                                 : g_strdup_printf ("%s twice as fast, %" G_GINT64_FORMAT " channels",
                                                    port->name, other->value));
    made->link_class = g_strdup (port->link_class);
    made->what_if.link_class = made->link_class;
    made->second_class = is_link ? g_strdup (other->link_class) : NULL;
    made->what_if.second_class = made->second_class;
    made->what_if.rate_factor = FAB_LEVER_FACTOR;
    made->key = other->key;
    made->value = other->value;
  }
}

static void
play_pairs (FabBottleneck *self, Plays *plays)
{
  const GPtrArray *singles = plays->list;
  const FabLever *port = fab_bottleneck_useless_port (self);
  g_autoptr (GPtrArray) pairs = g_ptr_array_new_with_free_func (playing_free);

  if (port == NULL)
    return;
  add_pairs (pairs, singles, port);
  plays->list = pairs;
  plays->first_base = plays->draws->len;
  play_all (plays);
  take_levers (self, plays);
  fab_bottleneck_keep_best_pair (self);
}

/* --- all --- */

static void
list_levers (FabBottleneck *self, GPtrArray *list, const FabScenario *scenario,
             const FabSimulation *simulation)
{
  const FabCollectivePlan *main_plan = find_main (simulation);

  self->n_channels = main_plan != NULL ? main_plan->n_channels : 0;
  add_links (list, simulation);
  add_nics (list, scenario, simulation);
  add_channels (list, scenario, self->n_channels);
  add_messages (list, scenario);
  add_job (list, simulation);
}

/* The draws of a scenario of which the first was played. FALSE and *error: there are not so many seeds. */
static gboolean
make_draws (GPtrArray *draws, const FabScenario *scenario, guint n, GError **error)
{
  for (guint i = 0; i < n; i++) {
    FabScenario *draw = fab_draw_of (scenario, i, error);

    if (draw == NULL)
      return FALSE;
    g_ptr_array_add (draws, draw);
  }
  return TRUE;
}

/* Says what came of the draws of the base: FALSE and *error when one of them could not be played. */
static gboolean
check_base (const Plays *self, GError **error)
{
  gboolean is_played = TRUE;

  for (guint i = 0; i < self->draws->len; i++) {
    if (self->errors[i] == NULL)
      continue;
    if (is_played)
      g_propagate_error (error, self->errors[i]);
    else
      g_error_free (self->errors[i]);
    is_played = FALSE;
  }
  if (!is_played || self->env->cancel == NULL || g_atomic_int_get (self->env->cancel) == 0)
    return is_played;
  return fab_throw (error, FAB_ERROR_CANCELLED, "the run was cancelled");
}

static gboolean
play_levers (FabBottleneck *self, const FabDecisionEnv *env, const FabScenario *scenario, FabDrawTimes first,
             GPtrArray *list, guint n_draws, GError **error)
{
  g_autoptr (GPtrArray) draws = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_scenario_free);
  g_autofree FabDrawTimes *base = g_new0 (FabDrawTimes, n_draws);
  g_autofree GError **errors = g_new0 (GError *, n_draws);
  g_autoptr (GArray) items = g_array_new (FALSE, FALSE, sizeof (Item));
  Plays plays = { env, draws, list, base, errors, 1, items };

  if (!make_draws (draws, scenario, n_draws, error))
    return FALSE;
  base[0] = first;
  play_all (&plays);
  if (!check_base (&plays, error))
    return FALSE;
  take_base (self, &plays);
  take_levers (self, &plays);
  play_pairs (self, &plays);
  if (self->fidelity == NULL)
    take_luck (self, &plays);
  fab_bottleneck_rank (self);
  return TRUE;
}

/* The scenario on a network of flows, where levers on its own network would take too long. NULL: they would not.
 * (transfer full) */
static FabScenario *
find_fast (const FabDecisionEnv *env, const FabScenario *scenario, FabPlayedOnce once)
{
  const FabNetOps *own = (const FabNetOps *) fab_scenario_spec (scenario)->fidelity.info;
  guint n_draws = once.n_draws > 0 ? once.n_draws : FAB_DRAWS;

  if (own->sampled_on == NULL && once.n_events <= FAB_LEVER_EVENTS / n_draws)
    return NULL;
  return fab_draw_fast (scenario, env->registry);
}

FabBottleneck *
fab_bottleneck_find (const FabDecisionEnv *env, const FabScenario *scenario, FabPlayedOnce once,
                     GError **error)
{
  const FabRunOptions options = { .cancel = env->cancel };
  g_autoptr (FabScenario) fast = find_fast (env, scenario, once);
  guint n_draws = once.n_draws;
  const FabScenario *played = fast != NULL ? fast : scenario;
  g_autoptr (FabSimulation) simulation = fab_simulation_build (played, env->registry, NULL, env->cancel,
                                                               error);
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (playing_free);
  g_autoptr (FabBottleneck) self = fab_bottleneck_new ();

  if (simulation == NULL || !fab_simulation_run (simulation, &options, error))
    return NULL;
  const FabIterationRecord *times = &fab_simulation_probe (simulation)->step.times;
  const FabDrawTimes first = { fab_ps_to_seconds (times->duration_ps), fab_ps_to_seconds (times->exposed_ps),
                               0 };
  if (n_draws == 0)
    n_draws = fab_draw_count (fab_simulation_uses_seed (simulation), fab_simulation_events (simulation));
  list_levers (self, list, played, simulation);
  self->fidelity = fast != NULL ? fab_scenario_spec (fast)->fidelity.info->name : NULL;
  if (!play_levers (self, env, played, first, list, n_draws, error))
    return NULL;
  self->waits = fab_verdict_new ();
  fab_verdict_add_finding (self->waits, fab_waits_find (self, simulation));
  return g_steal_pointer (&self);
}
