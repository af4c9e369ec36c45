/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/decision/bottleneck.h"

#include <math.h>
#include <string.h>

const char *const fab_lever_names[FAB_N_LEVERS + 1] = {
  [FAB_LEVER_LINK] = "link",       [FAB_LEVER_LINKS] = "links",       [FAB_LEVER_PAIR] = "pair",
  [FAB_LEVER_NICS] = "nics",       [FAB_LEVER_CHANNELS] = "channels", [FAB_LEVER_MESSAGES] = "messages",
  [FAB_LEVER_LATENCY] = "latency", [FAB_LEVER_COMPUTE] = "compute",   [FAB_LEVER_MEMORY] = "memory",
  [FAB_LEVER_HOST] = "host",       [FAB_LEVER_RANKS] = "ranks",       [FAB_LEVER_DRAWS] = "draws",
};

void
fab_lever_clear (gpointer lever)
{
  FabLever *self = lever;

  g_free (self->name);
  g_free (self->change);
  g_free (self->link_class);
}

FabLever
fab_lever_copy (const FabLever *lever)
{
  FabLever copy = *lever;

  copy.name = g_strdup (lever->name);
  copy.change = g_strdup (lever->change);
  copy.link_class = g_strdup (lever->link_class);
  return copy;
}

FabBottleneck *
fab_bottleneck_new (void)
{
  FabBottleneck *self = g_new0 (FabBottleneck, 1);

  self->levers = g_array_new (FALSE, FALSE, sizeof (FabLever));
  g_array_set_clear_func (self->levers, fab_lever_clear);
  self->first = -1;
  return self;
}

FabBottleneck *
fab_bottleneck_copy (const FabBottleneck *self)
{
  FabBottleneck *copy = fab_bottleneck_new ();
  GArray *levers = copy->levers;

  *copy = *self;
  copy->levers = levers;
  copy->waits = fab_verdict_copy (self->waits);
  for (guint i = 0; i < self->levers->len; i++) {
    FabLever lever = fab_lever_copy (fab_bottleneck_lever (self, i));

    g_array_append_val (levers, lever);
  }
  return copy;
}

void
fab_bottleneck_free (FabBottleneck *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->levers);
  fab_verdict_free (self->waits);
  g_free (self);
}

const FabLever *
fab_bottleneck_of_kind (const FabBottleneck *self, FabLeverKind kind)
{
  for (guint i = 0; i < self->levers->len; i++)
    if (fab_bottleneck_lever (self, i)->kind == kind)
      return fab_bottleneck_lever (self, i);
  return NULL;
}

const FabLever *
fab_bottleneck_useless_port (const FabBottleneck *self)
{
  const FabLever *links = fab_bottleneck_of_kind (self, FAB_LEVER_LINKS);

  if (links == NULL || fab_lever_saved (links) < FAB_BOTTLENECK_LEAST)
    return NULL;
  for (guint i = 0; i < self->levers->len; i++) {
    const FabLever *lever = fab_bottleneck_lever (self, i);

    if (lever->kind == FAB_LEVER_LINK && lever->is_port
        && fab_lever_saved (lever) < fab_lever_saved (links) / 2)
      return lever;
  }
  return NULL;
}

const FabLever *
fab_bottleneck_first (const FabBottleneck *self)
{
  return self != NULL && self->first >= 0 ? fab_bottleneck_lever (self, (guint) self->first) : NULL;
}

const char *
fab_bottleneck_name (const FabBottleneck *self)
{
  const FabLever *first = fab_bottleneck_first (self);

  return self == NULL ? NULL : first != NULL ? first->name : "nothing alone";
}

const char *
fab_bottleneck_part (const FabBottleneck *self)
{
  const FabLever *first = fab_bottleneck_first (self);

  return first != NULL && first->link_class != NULL ? first->link_class : fab_bottleneck_name (self);
}

/* --- ranking --- */

/* Of two that save the same, to half a percent, the one whose kind comes first. */
static gint
by_saving (gconstpointer a, gconstpointer b)
{
  const double same = 0.005;
  const FabLever *x = a, *y = b;
  long saves_x = lround (fab_lever_saved (x) / same), saves_y = lround (fab_lever_saved (y) / same);

  if (saves_x != saves_y)
    return saves_x > saves_y ? -1 : 1;
  return x->kind != y->kind ? (gint) x->kind - (gint) y->kind : strcmp (x->name, y->name);
}

static gint
find_first (const FabBottleneck *self)
{
  double single = 0; /* most that one kind of link, or more NICs, save */

  for (guint i = 0; i < self->levers->len; i++) {
    const FabLever *lever = fab_bottleneck_lever (self, i);

    if (lever->kind == FAB_LEVER_LINK || lever->kind == FAB_LEVER_NICS)
      single = MAX (single, fab_lever_saved (lever));
  }
  for (guint i = 0; i < self->levers->len; i++) {
    const FabLever *lever = fab_bottleneck_lever (self, i);

    if (fab_lever_saved (lever) >= FAB_BOTTLENECK_LEAST && lever->kind != FAB_LEVER_PAIR
        && (lever->kind != FAB_LEVER_LINKS || single < fab_lever_saved (lever) / 2))
      return (gint) i;
  }
  return -1;
}

void
fab_bottleneck_rank (FabBottleneck *self)
{
  g_array_sort (self->levers, by_saving);
  self->first = find_first (self);
}

static double
saved_by (const FabBottleneck *self, FabLeverKind kind, const char *name)
{
  for (guint i = 0; i < self->levers->len; i++) {
    const FabLever *lever = fab_bottleneck_lever (self, i);

    if (lever->kind == kind && (name == NULL || strcmp (lever->name, name) == 0))
      return MAX (fab_lever_saved (lever), 0);
  }
  return 0;
}

/* What a pair saves beyond what both of its changes save by themselves. */
static double
gain_of (const FabBottleneck *self, const FabLever *pair, const FabLever *port)
{
  FabLeverKind kind = strstr (pair->name, " channels") != NULL ? FAB_LEVER_CHANNELS : FAB_LEVER_LINK;

  return fab_lever_saved (pair) - MAX (fab_lever_saved (port), 0)
       - saved_by (self, kind, kind == FAB_LEVER_LINK ? pair->name : NULL);
}

void
fab_bottleneck_keep_best_pair (FabBottleneck *self)
{
  const FabLever *port = fab_bottleneck_useless_port (self);
  double most = FAB_BOTTLENECK_LEAST;
  gint best = -1;

  for (guint i = 0; i < self->levers->len; i++) {
    const FabLever *lever = fab_bottleneck_lever (self, i);

    if (lever->kind != FAB_LEVER_PAIR || gain_of (self, lever, port) < most)
      continue;
    most = gain_of (self, lever, port);
    best = (gint) i;
  }
  for (guint i = self->levers->len; i-- > 0;)
    if (fab_bottleneck_lever (self, i)->kind == FAB_LEVER_PAIR && (gint) i != best)
      g_array_remove_index (self->levers, i);
}

/* --- words --- */

/* Other changes that save something, at most two of them. */
static void
append_others (GString *out, const FabBottleneck *self)
{
  enum { MOST = 2 };
  const FabLever *first = fab_bottleneck_first (self);
  guint n = 0;

  for (guint i = 0; i < self->levers->len && n < MOST; i++) {
    const FabLever *lever = fab_bottleneck_lever (self, i);
    gboolean is_more = lever->kind != FAB_LEVER_LINKS || first == NULL
                    || fab_lever_saved (lever) > fab_lever_saved (first) + FAB_BOTTLENECK_LEAST;

    if ((gint) i == self->first || lever->kind == FAB_LEVER_PAIR || !is_more
        || fab_lever_saved (lever) < FAB_BOTTLENECK_LEAST)
      continue;
    g_string_append_printf (out, "%s %s: %.1f %%", n++ == 0 ? " Other changes save:" : ";", lever->change,
                            100 * fab_lever_saved (lever));
  }
  if (n > 0)
    g_string_append_c (out, '.');
}

/* Why faster links between nodes do not help, where one would think so: what else is as slow. */
static void
append_reason (GString *out, const FabBottleneck *self)
{
  const FabLever *pair = fab_bottleneck_of_kind (self, FAB_LEVER_PAIR),
                 *port = fab_bottleneck_useless_port (self);

  if (port == NULL || pair == NULL)
    return;
  g_string_append_printf (out, " Faster %s alone saves %.1f %%: ", port->name,
                          100 * MAX (fab_lever_saved (port), 0));
  if (strstr (pair->name, " channels") != NULL)
    g_string_append_printf (out, "the library drives %u %s, and with %s both save %.1f %%.", self->n_channels,
                            self->n_channels == 1 ? "channel" : "channels", pair->name,
                            100 * fab_lever_saved (pair));
  else
    g_string_append_printf (out, "%s is as slow on the same way, and both together save %.1f %%.", pair->name,
                            100 * fab_lever_saved (pair));
}

char *
fab_bottleneck_words (const FabBottleneck *self)
{
  const FabLever *first = fab_bottleneck_first (self);
  GString *out = g_string_new (NULL);

  if (self->fidelity != NULL)
    g_string_append_printf (out, "At fidelity %s, %s", self->fidelity, first == NULL ? "no" : "the");
  else
    g_string_append (out, first == NULL ? "No" : "The");
  if (first == NULL)
    g_string_append (out, " single change shortens the step by 1 %.");
  else
    g_string_append_printf (out, " step is limited by %s: %s shortens it by %.1f %%.", first->name,
                            first->change, 100 * fab_lever_saved (first));
  append_others (out, self);
  append_reason (out, self);
  return g_string_free (out, FALSE);
}

void
fab_bottleneck_add_json (const FabBottleneck *self, FabJson *json)
{
  g_autofree char *words = fab_bottleneck_words (self);

  fab_json_begin_object (json, "bottleneck");
  fab_json_add_text (json, "limited_by", fab_bottleneck_name (self));
  fab_json_add_text (json, "explanation", words);
  fab_json_add_whole (json, "seeds", self->n_draws);
  fab_json_add_real (json, "step_s", self->base.step_s);
  fab_json_add_real (json, "step_low_s", self->low_s);
  fab_json_add_real (json, "step_high_s", self->high_s);
  fab_json_add_text (json, "fidelity", self->fidelity);
  fab_json_begin_array (json, "levers");
  for (guint i = 0; i < self->levers->len; i++) {
    const FabLever *lever = fab_bottleneck_lever (self, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "kind", fab_lever_names[lever->kind]);
    fab_json_add_text (json, "name", lever->name);
    fab_json_add_text (json, "change", lever->change);
    fab_json_add_real (json, "step_s", lever->step_s);
    fab_json_add_real (json, "exposed_s", lever->exposed_s);
    fab_json_add_real (json, "saved_fraction", fab_lever_saved (lever));
    fab_json_end (json);
  }
  fab_json_end (json);
  fab_json_end (json);
}

static void
drop (FabVerdict *verdict, const FabFinding *finding)
{
  if (finding != NULL)
    g_array_remove_index (verdict->findings,
                          (guint) (finding - (const FabFinding *) (gpointer) verdict->findings->data));
}

void
fab_bottleneck_judge (const FabBottleneck *self, FabVerdict *verdict)
{
  const FabFinding *own = fab_verdict_waits_for (self->waits);

  drop (verdict, fab_verdict_waits_for (verdict));
  fab_verdict_add_finding (verdict, (FabFinding){ own->code, g_strdup (own->text), g_strdup (own->advice),
                                                  g_strdup (own->link), own->rank });
  /* How far the steps of another network spread says nothing of this one. */
  if (self->n_draws < 2 || self->fidelity != NULL)
    return;
  fab_verdict_note_spread (verdict, self->n_draws, self->low_s, self->high_s);
}
