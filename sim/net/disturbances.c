/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/disturbances.h"

#include <math.h>

#include "sim/base/mix.h"
#include "sim/base/order.h"

/* Something that reduces the capacity of one link while it is active. */
typedef struct {
  FabLinkId link;
  double fraction; /* share of the line rate that it leaves */
  gboolean is_on;
  FabTimePs at_ps, until_ps; /* of a spell; until_ps 0: for good */
  double on_ps, off_ps;      /* mean durations of bursts; 0: a spell */
  guint64 seed, n_drawn;
} Source;

typedef struct {
  FabFootprint *footprint;
  FabSideFlow flow;
  FabTimePs started_ps;
} Flow;

struct _FabDisturbances {
  FabNet *net;
  FabEngine *engine;
  FabStuckFn is_stuck;
  gconstpointer owner;
  GArray *sources;      /* of Source, sorted by link */
  GArray *flows;        /* Flow */
  guint n_spell_events; /* number still to come */
};

FabDisturbancesPlan *
fab_disturbances_plan_new (void)
{
  FabDisturbancesPlan *self = g_new0 (FabDisturbancesPlan, 1);

  self->spells = g_array_new (FALSE, FALSE, sizeof (FabSpell));
  self->bursts = g_array_new (FALSE, FALSE, sizeof (FabBursts));
  self->flows = g_array_new (FALSE, FALSE, sizeof (FabSideFlow));
  return self;
}

void
fab_disturbances_plan_free (FabDisturbancesPlan *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->spells);
  g_array_unref (self->bursts);
  g_array_unref (self->flows);
  g_free (self);
}

static void
flow_clear (gpointer data)
{
  fab_footprint_free (((Flow *) data)->footprint);
}

void
fab_disturbances_free (FabDisturbances *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->sources);
  g_array_unref (self->flows);
  g_free (self);
}

gboolean
fab_disturbances_is_settled (const FabDisturbances *self)
{
  return self == NULL || self->n_spell_events == 0;
}

/* --- links --- */

static Source *
source_at (const FabDisturbances *self, guint index)
{
  return &g_array_index (self->sources, Source, index);
}

/* Applies everything that is active on the link of this source. */
static void
set_capacity (FabDisturbances *self, guint index)
{
  FabLinkId link = source_at (self, index)->link;
  double fraction = 1;

  while (index > 0 && source_at (self, index - 1)->link == link)
    index--;
  for (; index < self->sources->len && source_at (self, index)->link == link; index++)
    if (source_at (self, index)->is_on)
      fraction *= source_at (self, index)->fraction;
  fab_net_set_capacity (self->net, link, fraction);
}

/* Called after an event that repeats for ever. */
static void
stop_if_stuck (FabDisturbances *self)
{
  if (self->n_spell_events == 0 && self->net->dead->len > 0 && self->is_stuck (self->owner))
    fab_engine_stop (self->engine);
}

static void
spell_change (gpointer owner, guint64 index)
{
  FabDisturbances *self = owner;
  Source *source = source_at (self, (guint) index);

  self->n_spell_events--;
  source->is_on = !source->is_on;
  if (source->is_on && source->until_ps > 0) {
    self->n_spell_events++;
    fab_engine_at (self->engine, source->until_ps, spell_change, self, index);
  }
  set_capacity (self, (guint) index);
}

/* Draws a number uniform in (0, 1]. */
static double
draw (Source *source)
{
  return ((double) (fab_mix (source->seed, source->n_drawn++) >> 11) + 1) * 0x1p-53;
}

static FabTimePs
draw_length_ps (Source *source)
{
  double ps = -log (draw (source)) * (source->is_on ? source->on_ps : source->off_ps);

  return (FabTimePs) MIN (ps, (double) FAB_PS_PER_S * 3600) + 1;
}

static void
burst_change (gpointer owner, guint64 index)
{
  FabDisturbances *self = owner;
  Source *source = source_at (self, (guint) index);

  source->is_on = !source->is_on;
  fab_engine_after (self->engine, draw_length_ps (source), burst_change, self, index);
  set_capacity (self, (guint) index);
  stop_if_stuck (self);
}

static void
list_sources (FabDisturbances *self, const FabDisturbancesPlan *plan)
{
  for (guint i = 0; i < plan->spells->len; i++) {
    const FabSpell *spell = &g_array_index (plan->spells, FabSpell, i);
    Source source = {
      .link = spell->link, .fraction = spell->fraction, .at_ps = spell->at_ps, .until_ps = spell->until_ps
    };

    g_array_append_val (self->sources, source);
  }
  for (guint i = 0; i < plan->bursts->len; i++) {
    const FabBursts *bursts = &g_array_index (plan->bursts, FabBursts, i);
    double on_ps = (double) bursts->burst_ps;
    Source source = { .link = bursts->link,
                      .fraction = 1 - bursts->peak_fraction,
                      .on_ps = on_ps,
                      .off_ps = on_ps * (bursts->peak_fraction / bursts->load_fraction - 1),
                      .seed = bursts->seed };

    g_array_append_val (self->sources, source);
  }
  g_array_sort (self->sources, fab_order_guints); /* by `link`, which comes first */
}

/* Bursts start in their steady state: active with probability load / peak. */
static void
schedule_sources (FabDisturbances *self)
{
  for (guint i = 0; i < self->sources->len; i++) {
    Source *source = source_at (self, i);

    if (source->on_ps > 0) {
      source->is_on = draw (source) * (source->on_ps + source->off_ps) <= source->on_ps;
      fab_engine_after (self->engine, draw_length_ps (source), burst_change, self, i);
      set_capacity (self, i);
      continue;
    }
    self->n_spell_events++;
    fab_engine_at (self->engine, source->at_ps, spell_change, self, i);
  }
}

/* --- flows --- */

static void flow_done (gpointer owner, guint64 index);

static void
flow_start (gpointer owner, guint64 index)
{
  FabDisturbances *self = owner;
  Flow *flow = &g_array_index (self->flows, Flow, index);

  flow->started_ps = fab_engine_now (self->engine);
  fab_net_stream (self->net, &(FabStream){ .footprint = flow->footprint,
                                           .bytes = flow->flow.bytes,
                                           .wire_factor = 1,
                                           .limit_bytes_per_s = (double) flow->flow.limit_bytes_per_s,
                                           .share = 1,
                                           .traffic = "background",
                                           .done = { flow_done, self, index } });
}

static void
flow_done (gpointer owner, guint64 index)
{
  FabDisturbances *self = owner;
  const Flow *flow = &g_array_index (self->flows, Flow, index);
  FabTimePs next_ps = fab_ps_add (flow->started_ps, flow->flow.every_ps);

  fab_engine_at (self->engine, MAX (next_ps, fab_engine_now (self->engine)), flow_start, self, index);
  stop_if_stuck (self);
}

static FabFootprint *
flow_footprint (const FabNet *net, const FabSideFlow *flow, guint64 hash)
{
  FabRouter *router = net->env.router;
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (net->env.graph);
  g_autoptr (GArray) shares = g_array_new (FALSE, FALSE, sizeof (FabShare));
  gboolean has_path = fab_router_spread (router, flow->src, flow->dst, hash, shares);

  g_assert (has_path);
  fab_footprint_builder_add_shares (builder, shares, (FabUse){ 1, FAB_DRIVE_COPY, 1, 1, 1 });
  return fab_footprint_builder_finish (builder);
}

FabDisturbances *
fab_disturbances_new (FabNet *net, const FabDisturbancesPlan *plan, FabStuckFn is_stuck, gconstpointer owner)
{
  FabDisturbances *self = g_new0 (FabDisturbances, 1);

  g_assert (fab_engine_now (net->env.engine) == 0);
  self->net = net;
  self->engine = net->env.engine;
  self->is_stuck = is_stuck;
  self->owner = owner;
  self->sources = g_array_new (FALSE, FALSE, sizeof (Source));
  self->flows = g_array_new (FALSE, FALSE, sizeof (Flow));
  g_array_set_clear_func (self->flows, flow_clear);
  list_sources (self, plan);
  schedule_sources (self);
  for (guint i = 0; i < plan->flows->len; i++) {
    Flow flow = { .flow = g_array_index (plan->flows, FabSideFlow, i) };

    flow.footprint = flow_footprint (net, &flow.flow, i);
    g_array_append_val (self->flows, flow);
    fab_engine_after (self->engine, 0, flow_start, self, i);
  }
  return self;
}
