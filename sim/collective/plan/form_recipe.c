/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/plan/form_recipe.h"

#include <string.h>

#include "sim/collective/shape/form_hops.h"

/* A form with hops of more kinds has no whole record. */
enum { MOST_HOPS = 64, MOST_SAMPLES = 16 };

/* A link of a hop that stands for all of the hop with the same rate and class. */
typedef struct {
  FabLinkId link;
  FabBytesPerS rate_bytes_per_s;
  guint32 class_index;
} Sample;

typedef struct {
  FabHopKind kind;
  FabDrive drive;
  double stretch;
  guint n;
  Sample samples[MOST_SAMPLES];
} RecipeHop;

typedef struct {
  guint hop;
  guint n_after; /* of the list of them all */
  double factor;
} RecipeSend;

struct _FabFormRecipe {
  const FabGraph *graph; /* while it is recorded */
  GArray *hops;          /* RecipeHop, as they came up first */
  GArray *sends;         /* RecipeSend */
  GArray *after;         /* guint: sends that a send waits for, one list behind the other */
  guint part;            /* the first send of this part */
  gboolean is_broken;    /* rates decided about more than a recipe holds */
  gboolean is_closed, is_pipeline;
};

FabFormRecipe *
fab_form_recipe_new (const FabGraph *graph)
{
  FabFormRecipe *self = g_new0 (FabFormRecipe, 1);

  self->graph = graph;
  self->hops = g_array_new (FALSE, FALSE, sizeof (RecipeHop));
  self->sends = g_array_new (FALSE, FALSE, sizeof (RecipeSend));
  self->after = g_array_new (FALSE, FALSE, sizeof (guint));
  return self;
}

void
fab_form_recipe_free (FabFormRecipe *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->hops);
  g_array_unref (self->sends);
  g_array_unref (self->after);
  g_free (self);
}

static gboolean
add_sample (RecipeHop *self, Sample sample)
{
  for (guint i = 0; i < self->n; i++)
    if (self->samples[i].rate_bytes_per_s == sample.rate_bytes_per_s
        && self->samples[i].class_index == sample.class_index)
      return TRUE;
  if (self->n == MOST_SAMPLES)
    return FALSE;
  self->samples[self->n++] = sample;
  return TRUE;
}

/* FALSE: the hop spreads its bytes, and rates may have said how; or it has a limit that does not follow rates. */
static gboolean
look_at (const FabGraph *graph, const FabHop *hop, RecipeHop *found)
{
  *found = (RecipeHop){ .kind = hop->kind, .drive = hop->drive, .stretch = hop->stretch };
  if (hop->device_stretch > 1)
    return FALSE;
  for (guint i = 0; i < hop->shares->len; i++) {
    const FabShare *share = &g_array_index (hop->shares, FabShare, i);
    const FabLink *link = fab_graph_link (graph, share->link);

    if (share->fraction < 1
        || !add_sample (found, (Sample){ share->link, link->rate_bytes_per_s, link->class_index }))
      return FALSE;
  }
  return TRUE;
}

static gboolean
is_same_hop (const RecipeHop *a, const RecipeHop *b)
{
  if (a->kind != b->kind || a->drive != b->drive || a->n != b->n
      || memcmp (&a->stretch, &b->stretch, sizeof a->stretch) != 0)
    return FALSE;
  for (guint i = 0; i < a->n; i++)
    if (a->samples[i].rate_bytes_per_s != b->samples[i].rate_bytes_per_s
        || a->samples[i].class_index != b->samples[i].class_index)
      return FALSE;
  return TRUE;
}

guint
fab_form_recipe_hop (FabFormRecipe *self, const FabHop *hop)
{
  RecipeHop found;

  self->is_broken = self->is_broken || !look_at (self->graph, hop, &found);
  if (self->is_broken)
    return 0;
  for (guint i = 0; i < self->hops->len; i++)
    if (is_same_hop (&g_array_index (self->hops, RecipeHop, i), &found))
      return i;
  self->is_broken = self->hops->len == MOST_HOPS;
  g_array_append_val (self->hops, found);
  return self->hops->len - 1;
}

void
fab_form_recipe_send (FabFormRecipe *self, const FabHop *hop, double factor, const GArray *after)
{
  RecipeSend send = { fab_form_recipe_hop (self, hop), after != NULL ? after->len : 0, factor };

  if (self->is_broken)
    return;
  for (guint i = 0; i < send.n_after; i++) {
    guint index = self->part + g_array_index (after, guint, i);

    g_array_append_val (self->after, index);
  }
  g_array_append_val (self->sends, send);
}

void
fab_form_recipe_end_part (FabFormRecipe *self)
{
  self->part = self->sends->len;
}

void
fab_form_recipe_close (FabFormRecipe *self, gboolean is_pipeline)
{
  self->is_closed = TRUE;
  self->is_pipeline = is_pipeline;
}

/* --- a form of other rates --- */

/* As sim/machine/hop.c has it. */
static double
rate_of (const RecipeHop *self, const FabGraph *graph, const FabTechnology **technology)
{
  double slowest = G_MAXDOUBLE;

  for (guint i = 0; i < self->n; i++) {
    const FabLinkClass *link_class = fab_graph_link_class (graph, self->samples[i].link);
    double rate = (double) fab_graph_link (graph, self->samples[i].link)->rate_bytes_per_s
                / link_class->cost[self->drive];

    if (rate < slowest) {
      slowest = rate;
      *technology = link_class->technology;
    }
  }
  return self->stretch > 1 ? slowest / self->stretch : slowest;
}

/* The rates of all hops, and which hops are the slowest of the form. */
static void
take_rates (const FabFormRecipe *self, const FabGraph *graph, double *rates, FabCollectiveForm *form)
{
  FabSlowestHops slowest = { 0 };

  for (guint i = 0; i < self->hops->len; i++) {
    const RecipeHop *hop = &g_array_index (self->hops, RecipeHop, i);
    const FabTechnology *technology = NULL;

    rates[i] = rate_of (hop, graph, &technology);
    fab_slowest_hops_note_rate (&slowest, hop->kind, rates[i], technology, form);
  }
}

/* Seconds per byte of the slowest sequence of sends. */
static double
slowest_s_per_byte (const FabFormRecipe *self, const double *rates)
{
  g_autofree double *seconds = g_new (double, self->sends->len + 1);
  const guint *after = (const guint *) (gconstpointer) self->after->data;
  double slowest = 0;

  for (guint i = 0; i < self->sends->len; i++) {
    const RecipeSend *send = &g_array_index (self->sends, RecipeSend, i);
    double before = 0;

    for (guint k = 0; k < send->n_after; k++)
      before = MAX (before, seconds[after[k]]);
    after += send->n_after;
    seconds[i] = before + send->factor / rates[send->hop];
    slowest = MAX (slowest, seconds[i]);
  }
  return slowest;
}

gboolean
fab_form_recipe_is_whole (const FabFormRecipe *self)
{
  return self->is_closed && !self->is_broken;
}

guint
fab_form_recipe_n_sends (const FabFormRecipe *self)
{
  return self->sends->len;
}

void
fab_form_recipe_replay (const FabFormRecipe *self, const FabGraph *graph, const FabCollectiveForm *known,
                        FabCollectiveForm *form)
{
  double rates[MOST_HOPS];

  *form = *known;
  form->footprint = fab_footprint_on (known->footprint, graph);
  take_rates (self, graph, rates, form);
  if (self->is_pipeline)
    form->fill_s_per_byte = MAX (slowest_s_per_byte (self, rates) - 1 / form->footprint->rate_bytes_per_s, 0);
}
