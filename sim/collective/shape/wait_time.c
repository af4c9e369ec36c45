/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/shape/wait_time.h"

#include "sim/fabric/footprint.h"
#include "sim/solve/maxmin.h"

typedef struct {
  FabFootprint *footprint;
  double left;     /* share of the message that is left, from 1 to 0 */
  guint n_missing; /* number of messages for which it waits */
  GArray *waiting; /* guint: messages that wait for it */
} Message;

struct _FabWaitTime {
  const FabGraph *graph;
  GArray *messages;                 /* Message */
  GArray *active;                   /* guint: active messages */
  GArray *starts, *links, *weights; /* of the active messages: entries of the sharing problem */
  GArray *shares, *rates;
  double *capacities; /* [n_links] */
  FabMaxmin *maxmin;
};

static void
message_clear (gpointer data)
{
  fab_footprint_free (((Message *) data)->footprint);
  g_array_unref (((Message *) data)->waiting);
}

static GArray *
indices_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (guint));
}

static GArray *
reals_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (double));
}

FabWaitTime *
fab_wait_time_new (const FabGraph *graph)
{
  FabWaitTime *self = g_new0 (FabWaitTime, 1);
  guint n_links = fab_graph_n_links (graph);

  self->graph = graph;
  self->messages = g_array_new (FALSE, FALSE, sizeof (Message));
  g_array_set_clear_func (self->messages, message_clear);
  self->active = indices_new ();
  self->starts = indices_new ();
  self->links = indices_new ();
  self->weights = reals_new ();
  self->shares = reals_new ();
  self->rates = reals_new ();
  self->capacities = g_new (double, n_links + 1);
  for (FabLinkId link = 0; link < n_links; link++)
    self->capacities[link] = (double) fab_graph_link (graph, link)->rate_bytes_per_s;
  self->maxmin = fab_maxmin_new ();
  return self;
}

void
fab_wait_time_free (FabWaitTime *self)
{
  GArray *arrays[] = { self->messages, self->active, self->starts, self->links,
                       self->weights,  self->shares, self->rates };

  for (guint i = 0; i < G_N_ELEMENTS (arrays); i++)
    g_array_unref (arrays[i]);
  g_free (self->capacities);
  fab_maxmin_free (self->maxmin);
  g_free (self);
}

static Message *
message_at (const FabWaitTime *self, guint index)
{
  return &g_array_index (self->messages, Message, index);
}

guint
fab_wait_time_add (FabWaitTime *self, FabFootprint *footprint, const guint *after, guint n_after)
{
  guint index = self->messages->len;
  Message message = { footprint, 1, n_after, indices_new () };

  for (guint i = 0; i < n_after; i++) {
    g_assert (after[i] < index);
    g_array_append_val (message_at (self, after[i])->waiting, index);
  }
  g_array_append_val (self->messages, message);
  return index;
}

static void
enter (FabWaitTime *self, guint index)
{
  const FabFootprint *footprint = message_at (self, index)->footprint;
  double share = 1 / footprint->binding_weight;

  g_array_append_vals (self->links, footprint->links, footprint->n);
  g_array_append_vals (self->weights, footprint->line_weights, footprint->n);
  g_array_append_val (self->shares, share);
  g_array_append_val (self->starts, self->links->len);
}

/* Rates are in messages per second, per byte of the collective. */
static void
solve (FabWaitTime *self)
{
  const guint none = 0;

  g_array_set_size (self->starts, 0);
  g_array_set_size (self->links, 0);
  g_array_set_size (self->weights, 0);
  g_array_set_size (self->shares, 0);
  g_array_append_val (self->starts, none);
  for (guint i = 0; i < self->active->len; i++)
    enter (self, g_array_index (self->active, guint, i));
  g_array_set_size (self->rates, self->active->len);
  FabMaxminProblem problem = { .n_flows = self->active->len,
                               .n_links = fab_graph_n_links (self->graph),
                               .capacity = self->capacities,
                               .starts = (const guint *) (gpointer) self->starts->data,
                               .links = (const guint *) (gpointer) self->links->data,
                               .weights = (const double *) (gpointer) self->weights->data,
                               .shares = (const double *) (gpointer) self->shares->data };
  fab_maxmin_solve (self->maxmin, &problem, (double *) (gpointer) self->rates->data, NULL);
}

static double
left_s (const FabWaitTime *self, guint i)
{
  return message_at (self, g_array_index (self->active, guint, i))->left
       / g_array_index (self->rates, double, i);
}

static void
end_message (FabWaitTime *self, guint index, GArray *started)
{
  const GArray *waiting = message_at (self, index)->waiting;

  for (guint i = 0; i < waiting->len; i++) {
    guint next = g_array_index (waiting, guint, i);

    if (--message_at (self, next)->n_missing == 0)
      g_array_append_val (started, next);
  }
}

/* Advances to the next end of a message. Messages that end at the same time except for rounding end too. */
static double
advance (FabWaitTime *self)
{
  const double rounding = 1e-9;
  g_autoptr (GArray) next = indices_new ();
  double step_s = G_MAXDOUBLE;

  for (guint i = 0; i < self->active->len; i++)
    step_s = MIN (step_s, left_s (self, i));
  for (guint i = 0; i < self->active->len; i++) {
    guint index = g_array_index (self->active, guint, i);
    Message *message = message_at (self, index);

    message->left -= step_s * g_array_index (self->rates, double, i);
    if (message->left <= rounding)
      end_message (self, index, next);
    else
      g_array_append_val (next, index);
  }
  g_array_set_size (self->active, 0);
  g_array_append_vals (self->active, next->data, next->len);
  return step_s;
}

double
fab_wait_time_s_per_byte (FabWaitTime *self)
{
  double sum_s = 0;

  for (guint i = 0; i < self->messages->len; i++)
    if (message_at (self, i)->n_missing == 0)
      g_array_append_val (self->active, i);
  while (self->active->len > 0) {
    solve (self);
    sum_s += advance (self);
  }
  return sum_s;
}
