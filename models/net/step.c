/* SPDX-License-Identifier: Apache-2.0 */
/* step.c - collectives message by message; active messages share links by weighted max-min.
 *
 *   rate        max-min over line rate / line weight (sim/solve/sharing.h), as in fluid
 *   completion  begin + bytes / rate, rounded up to a ps; it arrives after the latency of the wires
 *   fairness    a link is shared per connection
 *
 * A link is tight when all lines over it together could fill it. A message without a tight link affects no other: it
 * is one event, and nothing is solved. Other messages take part in the sharing while they are active. A line whose
 * next message follows in the same instant stays in it.
 */
#include <math.h>

#include "models/models.h"
#include "sim/base/pool.h"
#include "sim/net/net.h"
#include "sim/solve/sharing.h"

typedef struct {
  gboolean has_memo, has_skip;
} StepParams;

static const FabParam step_params[] = {
  { .key = "memo",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (StepParams, has_memo),
    .fallback = "true",
    .help = "Remember a pattern of traffic and reuse its times when it repeats. Figures stay the same; the "
            "run ends sooner." },
  { .key = "skip",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (StepParams, has_skip),
    .fallback = "true",
    .help =
        "With memo: stop simulating the rounds of rings once the pace of each is steady to within 0.1 %. A ring that "
        "runs alone and has fewer than half a million messages keeps every digit." },
  { .key = NULL },
};

typedef struct _Member Member;

/* A line in the list of lines of a link. */
struct _Member {
  FabNetLine *line;
  Member *next, *prev;
};

typedef enum {
  LINE_IDLE,
  LINE_WAITS,   /* waits for the begin of its message */
  LINE_FREE,    /* sends at the rate of a line that is alone, from `begin_ps` on */
  LINE_SHARES,  /* takes part in the sharing */
  LINE_LEAVING, /* takes part in the sharing until the end of this instant */
} LineState;

struct _FabNetLine {
  FabSharer sharer; /* rate is in payload bytes per second */
  LineState state;
  guint n_tight; /* number of its links that are tight */
  double alone_bytes_per_s;
  double left_bytes, rate_bytes_per_s; /* at `updated_ps`; for a free line: the whole message at its begin */
  FabTimePs updated_ps;
  FabTimer timer;
  FabConnection connection;
  double sum_bytes;  /* sum over all its messages */
  Member *members;   /* [sharer.n] */
  FabDone done;      /* of a stream or transfer; fn NULL: the caller opened the line */
  FabFootprint *own; /* of a transfer */
  guint index;       /* its index in `open` */
};

typedef struct {
  double capacity;
  double demand; /* sum over all lines on it, each as if alone */
  guint n_lines;
  gboolean is_tight, is_slowed;
  Member *lines;
} Link;

typedef struct {
  FabNet base;
  FabPool lines;
  FabBlocks members;
  Link *links;
  GPtrArray *open;    /* FabNetLine */
  GPtrArray *leaving; /* FabNetLine that left in this instant */
  FabSharing *sharing;
  FabFootprintBuilder *builder; /* for transfers */
  gboolean is_solve_due;
  gboolean may_repeat;           /* by the parameters */
  guint64 n_messages, n_at_mark; /* that have begun */
} StepNet;

static FabNetLine *step_open (FabNet *net, const FabConnection *connection);
static void step_message (FabNet *net, FabNetLine *line, double bytes, FabTimePs begin_ps);

/* Streams and transfers on the network `step`, as lines of one message. */

/* Open a line for one message, and close it when that has left. */
static void
step_stream (FabNet *net, const FabStream *stream)
{
  FabTimePs begin_ps = fab_engine_now (net->env.engine) + stream->startup_ps;
  FabNetLine *line;

  if (stream->bytes == 0) {
    fab_engine_at (net->env.engine, begin_ps, stream->done.fn, stream->done.owner, stream->done.arg);
    return;
  }
  line = step_open (net, &(FabConnection){ .footprint = stream->footprint,
                                           .share = stream->share,
                                           .wire_factor = stream->wire_factor,
                                           .limit_bytes_per_s = stream->limit_bytes_per_s });
  line->done = stream->done;
  step_message (net, line, (double) stream->bytes, begin_ps);
}

static FabFootprint *
footprint_of (StepNet *self, const FabTransfer *transfer, const FabPath *path)
{
  FabFootprint *spread = fab_net_spread (&self->base, transfer);

  if (spread != NULL)
    return spread;
  fab_footprint_builder_add (self->builder, path, (FabUse){ 1, transfer->drive, 1, 1, 1 });
  return fab_footprint_builder_finish (self->builder);
}

static void
step_send (FabNet *net, const FabTransfer *transfer)
{
  FabPath path = { 0 };
  gboolean has_path = fab_router_append (net->env.router, transfer->src, transfer->dst, transfer->flow_hash,
                                         &path);
  FabTimePs begin_ps = fab_engine_now (net->env.engine) + fab_path_latency_ps (net->env.graph, &path);

  g_assert (has_path);
  if (transfer->bytes == 0 || path.n == 0) {
    fab_engine_at (net->env.engine, begin_ps, transfer->done.fn, transfer->done.owner, transfer->done.arg);
    return;
  }
  FabFootprint *footprint = footprint_of ((StepNet *) net, transfer, &path);
  FabNetLine *line = step_open (net,
                                &(FabConnection){ .footprint = footprint, .share = 1, .wire_factor = 1 });
  line->own = footprint;
  line->sharer.share = 1;
  line->done = transfer->done;
  step_message (net, line, (double) transfer->bytes, begin_ps);
}

static void line_left (gpointer owner, guint64 arg);
static void line_begin (gpointer owner, guint64 arg);

static FabTimePs
now_ps (const StepNet *self)
{
  return fab_engine_now (self->base.env.engine);
}

/* --- rates --- */

static void
line_time (StepNet *self, FabNetLine *line, FabTimePs at_ps, FabEventFn fn)
{
  if (line->timer)
    fab_engine_cancel (self->base.env.engine, line->timer);
  line->timer = fn ? fab_engine_at (self->base.env.engine, at_ps, fn, self, GPOINTER_TO_SIZE (line)) : 0;
}

/* Sends at this rate from now on; at rate 0 the line waits at a dead link. */
static void
line_go (StepNet *self, FabNetLine *line)
{
  if (line->rate_bytes_per_s > 0)
    line_time (self, line, now_ps (self) + fab_flow_ps (line->left_bytes, line->rate_bytes_per_s), line_left);
  else
    line_time (self, line, 0, NULL);
}

static void
line_set_rate (gpointer owner, FabSharer *sharer, double rate_bytes_per_s)
{
  StepNet *self = owner;
  FabNetLine *line = (FabNetLine *) sharer;

  if (line->timer && fabs (rate_bytes_per_s - line->rate_bytes_per_s) <= 1e-12 * rate_bytes_per_s)
    return;
  line->left_bytes -= line->rate_bytes_per_s * fab_ps_to_seconds (now_ps (self) - line->updated_ps);
  line->left_bytes = MAX (line->left_bytes, 0);
  line->rate_bytes_per_s = rate_bytes_per_s;
  line->updated_ps = now_ps (self);
  line_go (self, line);
}

/* Runs at the end of the instant and removes the lines that have not begun another message. */
static void
solve (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  StepNet *self = owner;

  self->is_solve_due = FALSE;
  for (guint i = 0; i < self->leaving->len; i++) {
    FabNetLine *line = g_ptr_array_index (self->leaving, i);

    if (line->state != LINE_LEAVING)
      continue;
    fab_sharing_remove (self->sharing, &line->sharer);
    line->state = LINE_IDLE;
  }
  g_ptr_array_set_size (self->leaving, 0);
  fab_sharing_solve (self->sharing);
}

static void
solve_soon (StepNet *self)
{
  if (!self->is_solve_due)
    fab_engine_after (self->base.env.engine, 0, solve, self, 0);
  self->is_solve_due = TRUE;
}

/* Enters the sharing with what is left of its message; the line has no new rate until the end of the instant. */
static void
line_share (StepNet *self, FabNetLine *line, double rate_bytes_per_s)
{
  line->state = LINE_SHARES;
  line->updated_ps = now_ps (self);
  line->rate_bytes_per_s = rate_bytes_per_s;
  fab_sharing_add (self->sharing, &line->sharer);
  solve_soon (self);
}

/* --- tight links --- */

/* A link of the line has become tight, or is no longer tight. */
static void
line_tighten (StepNet *self, FabNetLine *line, gboolean is_tight)
{
  FabTimePs begun_ps = now_ps (self) - line->updated_ps;

  line->n_tight += is_tight ? 1 : -1;
  if (line->state != LINE_FREE || line->n_tight == 0)
    return;
  if (begun_ps < 0) {
    line->state = LINE_WAITS;
    line_time (self, line, line->updated_ps, line_begin);
    return;
  }
  line_time (self, line, 0, NULL);
  line->left_bytes = MAX (line->left_bytes - line->alone_bytes_per_s * fab_ps_to_seconds (begun_ps), 0);
  line_share (self, line, 0);
}

static void
link_update (StepNet *self, Link *link)
{
  const double rounding = 1e-9;
  gboolean is_tight = link->is_slowed || link->demand > link->capacity * (1 + rounding);

  if (is_tight == link->is_tight)
    return;
  link->is_tight = is_tight;
  for (Member *member = link->lines; member; member = member->next)
    line_tighten (self, member->line, is_tight);
}

static void
link_enter (StepNet *self, FabNetLine *line, guint i)
{
  Link *link = &self->links[line->sharer.links[i]];
  Member *member = &line->members[i];

  *member = (Member){ line, link->lines, NULL };
  if (link->lines)
    link->lines->prev = member;
  link->lines = member;
  link->n_lines++;
  line->n_tight += link->is_tight;
  link->demand += line->alone_bytes_per_s * line->sharer.weights[i] * line->sharer.weight_factor;
  link_update (self, link);
}

static void
link_leave (StepNet *self, FabNetLine *line, guint i)
{
  Link *link = &self->links[line->sharer.links[i]];
  Member *member = &line->members[i];

  if (member->prev)
    member->prev->next = member->next;
  else
    link->lines = member->next;
  if (member->next)
    member->next->prev = member->prev;
  link->n_lines--;
  link->demand -= line->alone_bytes_per_s * line->sharer.weights[i] * line->sharer.weight_factor;
  if (link->n_lines == 0)
    link->demand = 0;
  link_update (self, link);
}

/* --- lines --- */

static FabNetLine *
step_open (FabNet *net, const FabConnection *connection)
{
  StepNet *self = (StepNet *) net;
  const FabFootprint *footprint = connection->footprint;
  FabNetLine *line = fab_pool_take (&self->lines);

  self->base.n_changes++;
  line->connection = *connection;
  line->alone_bytes_per_s = footprint->rate_bytes_per_s / connection->wire_factor;
  if (connection->limit_bytes_per_s > 0)
    line->alone_bytes_per_s = MIN (line->alone_bytes_per_s, connection->limit_bytes_per_s);
  line->sharer = (FabSharer){
    .links = footprint->links,
    .weights = footprint->line_weights,
    .n = footprint->n,
    .weight_factor = connection->wire_factor,
    .share = connection->share / (footprint->binding_weight * connection->wire_factor),
    .limit = connection->limit_bytes_per_s,
  };
  line->members = fab_blocks_take (&self->members, footprint->n);
  line->index = self->open->len;
  g_ptr_array_add (self->open, line);
  for (guint i = 0; i < footprint->n; i++)
    link_enter (self, line, i);
  return line;
}

static void
step_close (FabNet *net, FabNetLine *line)
{
  StepNet *self = (StepNet *) net;
  FabNetLine *last = g_ptr_array_index (self->open, self->open->len - 1);

  net->n_changes++;
  if (line->state == LINE_LEAVING) {
    g_ptr_array_remove_fast (self->leaving, line);
    fab_sharing_remove (self->sharing, &line->sharer);
    line->state = LINE_IDLE;
  }
  g_assert (line->state == LINE_IDLE);
  for (guint i = 0; i < line->sharer.n; i++)
    link_leave (self, line, i);
  if (!line->connection.is_counted_apart)
    fab_meter_add_line (net->meter, line->connection.footprint, line->sum_bytes,
                        line->connection.wire_factor);
  last->index = line->index;
  self->open->pdata[line->index] = last;
  g_ptr_array_set_size (self->open, (gint) self->open->len - 1);
  fab_footprint_free (line->own);
  fab_blocks_give (&self->members, line->members, line->sharer.n);
  fab_pool_give (&self->lines, line);
}

static void
line_begin (gpointer owner, guint64 arg)
{
  StepNet *self = owner;
  FabNetLine *line = GSIZE_TO_POINTER (arg);

  line->timer = 0;
  line_share (self, line, 0);
}

static void
step_message (FabNet *net, FabNetLine *line, double bytes, FabTimePs begin_ps)
{
  StepNet *self = (StepNet *) net;

  self->n_messages++;
  line->left_bytes = bytes;
  line->sum_bytes += bytes;
  line->updated_ps = begin_ps;
  if (line->state == LINE_LEAVING && begin_ps == now_ps (self)) {
    line->state = LINE_SHARES; /* it keeps its rate */
    line_go (self, line);
    return;
  }
  if (line->state == LINE_LEAVING)
    fab_sharing_remove (self->sharing, &line->sharer);
  line->state = line->n_tight == 0 ? LINE_FREE : LINE_WAITS;
  if (line->state == LINE_FREE)
    line_time (self, line, begin_ps + fab_flow_ps (bytes, line->alone_bytes_per_s), line_left);
  else if (begin_ps > now_ps (self))
    line_time (self, line, begin_ps, line_begin);
  else
    line_share (self, line, 0);
}

static void
line_left (gpointer owner, guint64 arg)
{
  StepNet *self = owner;
  FabNetLine *line = GSIZE_TO_POINTER (arg);
  const FabConnection *connection = &line->connection;
  FabDone done = line->done;

  line->timer = 0;
  if (line->state == LINE_SHARES) {
    line->state = LINE_LEAVING;
    g_ptr_array_add (self->leaving, line);
    solve_soon (self);
  } else {
    line->state = LINE_IDLE;
  }
  if (done.fn != NULL) {
    step_close (&self->base, line);
    done.fn (done.owner, done.arg);
    return;
  }
  connection->left (connection->owner, connection->arg);
  connection->arrives (connection->owner, connection->arg, now_ps (self) + connection->latency_ps);
}

/* --- the network --- */

static gboolean
step_skip (FabNet *net, guint n_lines, FabTimePs by_ps)
{
  StepNet *self = (StepNet *) net;

  if (self->open->len != n_lines)
    return FALSE;
  for (guint i = 0; by_ps > 0 && i < n_lines; i++)
    ((FabNetLine *) g_ptr_array_index (self->open, i))->updated_ps += by_ps;
  return TRUE;
}

static gboolean
step_mark (FabNet *net, guint n_lines)
{
  StepNet *self = (StepNet *) net;

  self->n_at_mark = self->n_messages;
  return self->may_repeat && self->open->len == n_lines;
}

static gboolean
step_repeat (FabNet *net, double n_times, FabTimePs by_ps)
{
  StepNet *self = (StepNet *) net;

  net->n_skipped += (guint64) (n_times * (double) (self->n_messages - self->n_at_mark) + 0.5);
  return step_skip (net, self->open->len, by_ps);
}

static void
step_set_capacity (FabNet *net, FabLinkId id, double fraction)
{
  StepNet *self = (StepNet *) net;
  Link *link = &self->links[id];

  net->n_changes++;
  fab_sharing_change_capacity (self->sharing, id, link->capacity * fraction);
  link->is_slowed = fraction < 1;
  link_update (self, link);
  solve_soon (self);
}

static FabNet *
step_create (const FabNetEnv *env, gconstpointer params)
{
  const StepParams *what = params;
  StepNet *self = g_new0 (StepNet, 1);
  guint n_links = fab_graph_n_links (env->graph);

  self->may_repeat = what->has_memo && what->has_skip;
  fab_net_init (&self->base, &fab_net_step, env);
  fab_pool_init (&self->lines, sizeof (FabNetLine));
  fab_blocks_init (&self->members, sizeof (Member));
  self->open = g_ptr_array_new ();
  self->leaving = g_ptr_array_new ();
  self->builder = fab_footprint_builder_new (env->graph);
  self->links = g_new0 (Link, n_links + 1);
  self->sharing = fab_sharing_new (n_links, line_set_rate, self);
  for (guint link = 0; link < n_links; link++) {
    self->links[link].capacity = (double) fab_graph_link (env->graph, link)->rate_bytes_per_s;
    fab_sharing_set_capacity (self->sharing, link, self->links[link].capacity);
  }
  return &self->base;
}

static gboolean
step_remembers (gconstpointer params)
{
  return ((const StepParams *) params)->has_memo;
}

static void
step_destroy (FabNet *net)
{
  StepNet *self = (StepNet *) net;

  for (guint i = 0; i < self->open->len; i++)
    fab_footprint_free (((FabNetLine *) g_ptr_array_index (self->open, i))->own);
  g_ptr_array_unref (self->open);
  g_ptr_array_unref (self->leaving);
  fab_footprint_builder_free (self->builder);
  fab_sharing_free (self->sharing);
  g_free (self->links);
  fab_pool_clear (&self->lines);
  fab_blocks_clear (&self->members);
  fab_net_clear (net);
  g_free (self);
}

static gboolean
step_is_separable (G_GNUC_UNUSED const FabNet *net, G_GNUC_UNUSED FabLinkId link)
{
  return TRUE;
}

const FabNetOps fab_net_step = {
  .info = { .name = "step",
            .summary = "Plays collectives message by message; messages share links by weighted max-min.",
            .doc = "docs/models/step.md",
            .params = step_params,
            .params_size = sizeof (StepParams) },
  .shares_links = TRUE,
  .is_symmetric = TRUE,
  .is_separable = step_is_separable,
  .create = step_create,
  .send = step_send,
  .stream = step_stream,
  .open = step_open,
  .message = step_message,
  .close = step_close,
  .skip = step_skip,
  .mark = step_mark,
  .repeat = step_repeat,
  .destroy = step_destroy,
  .set_capacity = step_set_capacity,
  .remembers = step_remembers,
};
