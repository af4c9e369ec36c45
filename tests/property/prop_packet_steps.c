/* SPDX-License-Identifier: Apache-2.0 */
/* prop_packet_steps.c - packets against a slow simulator that does what docs/models/packet.md says, event by event.
 *
 * Messages of random sizes begin at random times between random GPUs of up to three nodes. Links have queues without
 * limit, where messages may have windows, or credits with a small buffer, or pauses between nodes; packets are stored
 * and forwarded, or cut through. Every message must end at the same picosecond, and every link must have carried as
 * much, had as long queues, and paused as often.
 *
 *   wire time   bytes x cost / rate, rounded up in whole numbers
 *   link        serves its queues in turn, one packet at a time: one for each link from which packets come, and one for
 *               each message that begins there
 *   credit      a packet starts when the far end has room for a whole one; room is given back an eighth of the buffer
 *               at a time, when the last byte has left, and known one latency later
 *   pause       a port between nodes has one queue. A link is paused when more than `pause` bytes that came over it
 *               wait, and goes on at `resume`; it knows one latency later
 *   classes     each has queues and room of its own; strictly, the waiting one of the larger weight goes first; by
 *               weight, the one that has had the least service for its weight, the next in turn of equals
 *   window      a packet starts when no more than the window is under way with it; the receiver tells of a quarter of
 *               the window at a time, and the sender knows after the latencies of the way
 *
 * Where several things happen at one time the page does not say which comes first. The slow simulator plays each case
 * in several orders of these: as they were found, the other way round, by their kinds, and at random. Cases in which
 * they matter are left out.
 */
#include "tests/support/test.h"

#include "tests/support/load.h"
#include "tests/support/seeds.h"

enum { MOST_MESSAGES = 24, MOST_LINKS = 64, MTU = 1000, SIXTEENTHS = 16, ORDERS = 16, SEEDS = 500 };

static guint n_compared;

/* A lane is what one class has of a link. The queue of a lane from which packets come, or a message: lanes first, then
 * messages. */
enum { CLASSES = 2, MOST_LANES = CLASSES * MOST_LINKS, MOST_SOURCES = MOST_LANES + MOST_MESSAGES };

typedef struct {
  guint message, hop;
  FabBytes bytes;
  gint from; /* lane over which it came; -1: none */
} Piece;

typedef struct {
  const FabLink *link;
  guint cost; /* sixteenths */
  gboolean has_credit, has_pause, is_paused, has_asked;
  FabBytes held_bytes; /* came over it and wait */
  guint64 n_pauses;
  GArray *turns;                /* guint: sources that wait */
  GArray *queues[MOST_SOURCES]; /* Piece; NULL: none yet */
  gboolean last_was_served, is_into_memory;
  gint64 room_bytes, owed_bytes;
  FabBytes carried_bytes, waiting_bytes;
  FabBytes lasted_bytes,
      most_bytes;         /* the longest queue that lasted; the same where all of one time come first */
  FabBytes instant_bytes; /* what waited before now, and all that came now */
  double byte_ps;
  FabTimePs changed_ps;
  FabBytes seen_carried_bytes; /* at `look_ps` */
  double seen_byte_ps;
} Line;

typedef enum { BEGIN, ARRIVE, FREE, CREDIT, PAUSE, RESUME, ACK } Kind;

typedef struct {
  FabTimePs at_ps;
  guint64 number; /* of events of one time the lowest comes first */
  Kind kind;
  guint of; /* message or lane */
  Piece piece;
} Event;

typedef struct {
  const Rig *rig;
  gboolean stores, has_credit, has_pause;
  FabBytes buffer_bytes, pause_bytes, resume_bytes, window_bytes; /* window 0: none */
  gboolean has_classes, is_weighted;
  guint weight; /* of the second class, where there are two */
  Line lines[MOST_LANES];
  FabTimePs free_ps[MOST_LINKS];
  guint last_class[MOST_LINKS];
  double class_service[MOST_LANES]; /* where a class stands: bytes over its weight */
  double link_service[MOST_LINKS];  /* where that stood which was served last */
  LoadItem *items;
  FabBytes left_bytes[MOST_MESSAGES], missing_bytes[MOST_MESSAGES];
  FabBytes flight_bytes[MOST_MESSAGES], untold_bytes[MOST_MESSAGES];
  gboolean waits[MOST_MESSAGES];
  FabTimePs end_ps[MOST_MESSAGES];
  FabPath paths[MOST_MESSAGES];
  GArray *events;
  guint order; /* of events of one time */
  guint64 n_events;
  Random random;
  FabTimePs now_ps, look_ps; /* look: when queues are looked at while messages are on their way */
  gboolean has_looked;       /* not all had ended then */
} Steps;

static void
later (Steps *self, Event event)
{
  guint64 n = self->n_events++;
  Random of_kind = { (guint64) self->order * 16 + event.kind };

  if (self->order < ORDERS / 2)
    event.number = (self->order < 2 ? 0 : random_next (&of_kind) >> 32 << 32)
                 + (self->order % 2 == 0 ? n : G_MAXUINT32 - n);
  else
    event.number = random_next (&self->random);
  g_array_append_val (self->events, event);
}

static gboolean
take_next (Steps *self, Event *next)
{
  guint best = 0;

  for (guint i = 1; i < self->events->len; i++) {
    const Event *a = &g_array_index (self->events, Event, i), *b = &g_array_index (self->events, Event, best);

    if (a->at_ps < b->at_ps || (a->at_ps == b->at_ps && a->number < b->number))
      best = i;
  }
  if (self->events->len == 0)
    return FALSE;
  *next = g_array_index (self->events, Event, best);
  g_array_remove_index_fast (self->events, best);
  self->now_ps = next->at_ps;
  return TRUE;
}

static FabTimePs
wire_ps (const Line *line, FabBytes bytes)
{
  __extension__ typedef unsigned __int128 Wide;
  Wide over = (Wide) bytes * line->cost * (Wide) FAB_PS_PER_S,
       rate = (Wide) line->link->rate_bytes_per_s * SIXTEENTHS;

  return (FabTimePs) ((over + rate - 1) / rate);
}

static void
count_waiting (Steps *self, Line *line, FabBytes bytes)
{
  if (self->now_ps > line->changed_ps) {
    line->lasted_bytes = MAX (line->lasted_bytes, line->waiting_bytes);
    line->instant_bytes = line->waiting_bytes;
  }
  if (bytes > line->waiting_bytes)
    line->instant_bytes += bytes - line->waiting_bytes;
  line->most_bytes = MAX (line->most_bytes, line->instant_bytes);
  line->byte_ps += (double) line->waiting_bytes * (double) (self->now_ps - line->changed_ps);
  line->changed_ps = self->now_ps;
  line->waiting_bytes = bytes;
}

static guint
class_of (const Steps *self, guint message)
{
  return self->items[message].transfer.traffic != NULL ? 1 : 0;
}

static guint
lane_of (const Steps *self, guint message, guint hop)
{
  return class_of (self, message) * MOST_LINKS + self->paths[message].links[hop];
}

static const FabPath *
path_of (const Steps *self, const Piece *piece)
{
  return &self->paths[piece->message];
}

/* When a packet that starts now, and whose last byte leaves at `left_ps`, can go on. */
static FabTimePs
goes_on_ps (const Steps *self, const Line *line, const Piece *piece, FabTimePs left_ps)
{
  const FabPath *path = path_of (self, piece);
  FabTimePs all_ps = left_ps + line->link->latency_ps;

  if (self->stores || piece->hop + 1 == path->n)
    return all_ps;
  FabTimePs head_ps = self->now_ps + line->link->latency_ps,
            needed_ps = wire_ps (&self->lines[path->links[piece->hop + 1]], piece->bytes);
  return MAX (head_ps, all_ps - needed_ps);
}

/* The buffer at the end of the link over which the packet came has its room again at `at_ps`. */
static void
give_back (Steps *self, const Piece *piece, FabTimePs at_ps)
{
  Line *before = &self->lines[piece->from];

  if (!before->has_credit)
    return;
  before->owed_bytes += (gint64) piece->bytes;
  if (before->owed_bytes < (gint64) self->buffer_bytes / 8)
    return;
  before->owed_bytes -= (gint64) self->buffer_bytes / 8;
  later (self, (Event){ at_ps + before->link->latency_ps, 0, CREDIT, (guint) piece->from, { 0 } });
}

/* Start-time fair queueing: who did not ask for service before does not get it afterwards. */
static void
count_service (Steps *self, guint lane, FabBytes bytes)
{
  guint link = lane % MOST_LINKS, weight = lane < MOST_LINKS ? 1 : self->weight;

  self->last_class[link] = lane / MOST_LINKS;
  self->link_service[link] = MAX (self->link_service[link], self->class_service[lane]);
  self->class_service[lane] = self->link_service[link] + (double) bytes / weight;
}

static void
start (Steps *self, guint l, Piece piece)
{
  Line *line = &self->lines[l];
  FabTimePs left_ps = self->now_ps + wire_ps (line, piece.bytes);

  self->free_ps[l % MOST_LINKS] = left_ps;
  if (self->has_classes)
    count_service (self, l, piece.bytes);
  line->carried_bytes += piece.bytes;
  if (piece.from >= 0 && !self->lines[piece.from].is_into_memory)
    give_back (self, &piece, left_ps);
  if (line->has_credit)
    line->room_bytes -= (gint64) piece.bytes;
  piece.from = (gint) l;
  later (self, (Event){ goes_on_ps (self, line, &piece, left_ps), 0, ARRIVE, l, piece });
  later (self, (Event){ left_ps, 0, FREE, l, { 0 } });
}

static gboolean
may_start (const Line *line)
{
  return !line->is_paused && (!line->has_credit || line->room_bytes >= MTU);
}

/* What came over a link and waits at its end has changed. */
static void
hold (Steps *self, const Piece *piece, gint64 change)
{
  Line *before = &self->lines[piece->from];

  if (!before->has_pause || before->is_into_memory)
    return;
  before->held_bytes = (FabBytes) ((gint64) before->held_bytes + change);
  if (!before->has_asked && before->held_bytes > self->pause_bytes) {
    before->has_asked = TRUE;
    before->n_pauses++;
    later (self, (Event){ self->now_ps + before->link->latency_ps, 0, PAUSE, (guint) piece->from, { 0 } });
  } else if (before->has_asked && before->held_bytes <= self->resume_bytes) {
    before->has_asked = FALSE;
    later (self, (Event){ self->now_ps + before->link->latency_ps, 0, RESUME, (guint) piece->from, { 0 } });
  }
}

static gboolean
may_send (const Steps *self, guint message)
{
  return self->left_bytes[message] > 0
      && (self->window_bytes == 0 || self->flight_bytes[message] + MTU <= self->window_bytes);
}

/* Whether lane `a` goes before `b`, which comes sooner in turn. */
static gboolean
goes_before (const Steps *self, guint a, guint b)
{
  return self->is_weighted ? self->class_service[a] < self->class_service[b]
                           : a / MOST_LINKS > b / MOST_LINKS;
}

/* The lane that is to be served. -1: none may send. */
static gint
choose_lane (const Steps *self, guint link)
{
  gint best = -1;

  for (guint i = 1; i <= CLASSES; i++) {
    guint lane = (self->last_class[link] + i) % CLASSES * MOST_LINKS + link;

    if (self->lines[lane].turns->len > 0 && may_start (&self->lines[lane])
        && (best < 0 || goes_before (self, lane, (guint) best)))
      best = (gint) lane;
  }
  return best;
}

static void
serve (Steps *self, guint lane)
{
  guint link = lane % MOST_LINKS;
  gint best = choose_lane (self, link);

  if (self->free_ps[link] > self->now_ps || best < 0)
    return;
  guint l = (guint) best;
  Line *line = &self->lines[l];
  guint source = g_array_index (line->turns, guint, 0);
  gboolean stays;

  g_array_remove_index (line->turns, 0);
  if (source >= MOST_LANES) {
    guint message = source - MOST_LANES;
    FabBytes bytes = MIN (self->left_bytes[message], MTU);

    self->left_bytes[message] -= bytes;
    self->flight_bytes[message] += bytes;
    stays = self->waits[message] = may_send (self, message);
    start (self, l, (Piece){ message, 0, bytes, -1 });
  } else {
    Piece piece = g_array_index (line->queues[source], Piece, 0);

    g_array_remove_index (line->queues[source], 0);
    count_waiting (self, line, line->waiting_bytes - piece.bytes);
    hold (self, &piece, -(gint64) piece.bytes);
    stays = line->queues[source]->len > 0;
    start (self, l, piece);
  }
  line->last_was_served = stays;
  if (stays)
    g_array_append_val (line->turns, source);
}

/* A message goes before the queue that was served last. */
static void
wait (Steps *self, guint l, guint source)
{
  Line *line = &self->lines[l];

  if (source >= MOST_LANES && line->last_was_served && line->turns->len > 0) {
    g_array_insert_val (line->turns, line->turns->len - 1, source);
  } else {
    g_array_append_val (line->turns, source);
    line->last_was_served = FALSE;
  }
  serve (self, l);
}

static void
join (Steps *self, guint message)
{
  if (self->waits[message] || !may_send (self, message))
    return;
  self->waits[message] = TRUE;
  wait (self, lane_of (self, message, 0), MOST_LANES + message);
}

static FabBytes
told_at_once (const Steps *self)
{
  return MAX (self->window_bytes / 4, MTU);
}

/* Where there is a window, the receiver tells a sender that has more to send of what has come. */
static void
tell (Steps *self, guint message, FabBytes bytes)
{
  FabTimePs back_ps = 0;

  self->untold_bytes[message] += bytes;
  if (self->window_bytes == 0 || self->left_bytes[message] == 0
      || self->untold_bytes[message] < told_at_once (self))
    return;
  self->untold_bytes[message] -= told_at_once (self);
  for (guint i = 0; i < self->paths[message].n; i++)
    back_ps += self->lines[self->paths[message].links[i]].link->latency_ps;
  later (self, (Event){ self->now_ps + back_ps, 0, ACK, message, { 0 } });
}

static void
arrive (Steps *self, Piece piece)
{
  const FabPath *path = path_of (self, &piece);

  piece.hop++;
  if (piece.hop == path->n) {
    give_back (self, &piece, self->now_ps); /* memory takes whatever arrives */
    tell (self, piece.message, piece.bytes);
    self->missing_bytes[piece.message] -= piece.bytes;
    if (self->missing_bytes[piece.message] == 0)
      self->end_ps[piece.message] = self->now_ps;
    return;
  }
  guint l = lane_of (self, piece.message, piece.hop);
  Line *line = &self->lines[l];
  guint source = line->has_pause ? l : (guint) piece.from;
  if (self->free_ps[l % MOST_LINKS] <= self->now_ps && line->turns->len == 0
      && may_start (line)) { /* it does not wait */
    start (self, l, piece);
    return;
  }
  if (line->queues[source] == NULL)
    line->queues[source] = g_array_new (FALSE, FALSE, sizeof (Piece));
  g_array_append_val (line->queues[source], piece);
  count_waiting (self, line, line->waiting_bytes + piece.bytes);
  hold (self, &piece, (gint64) piece.bytes);
  if (line->queues[source]->len == 1)
    wait (self, l, source);
}

/* Notes what queues say at `look_ps`, when nothing earlier is to come. */
static void
look (Steps *self)
{
  for (guint i = 0; i < MOST_MESSAGES; i++)
    self->has_looked = self->has_looked || self->missing_bytes[i] > 0;
  for (guint l = 0; l < MOST_LANES; l++) {
    Line *line = &self->lines[l];

    line->seen_carried_bytes = line->carried_bytes;
    line->seen_byte_ps = line->byte_ps
                       + (double) line->waiting_bytes * (double) (self->look_ps - line->changed_ps);
  }
}

static void
steps_play (Steps *self, guint n)
{
  Event event;
  FabTimePs before_ps = 0;

  for (guint i = 0; i < n; i++)
    later (self, (Event){ self->items[i].start_ps, 0, BEGIN, i, { 0 } });
  while (take_next (self, &event)) {
    if (before_ps <= self->look_ps && self->now_ps > self->look_ps)
      look (self);
    before_ps = self->now_ps;
    switch (event.kind) {
    case BEGIN: join (self, event.of); break;
    case ARRIVE: arrive (self, event.piece); break;
    case CREDIT:
      self->lines[event.of].room_bytes += (gint64) self->buffer_bytes / 8;
      serve (self, event.of);
      break;
    case ACK:
      self->flight_bytes[event.of] -= MIN (self->flight_bytes[event.of], told_at_once (self));
      join (self, event.of);
      break;
    case PAUSE:
    case RESUME:
      self->lines[event.of].is_paused = event.kind == PAUSE;
      serve (self, event.of);
      break;
    case FREE: serve (self, event.of); break;
    }
  }
}

static void
steps_init (Steps *self, const Rig *rig, LoadItem *items, guint n)
{
  const FabGraph *graph = rig->graph;

  self->rig = rig;
  self->items = items;
  self->events = g_array_new (FALSE, FALSE, sizeof (Event));
  for (guint lane = 0; lane < MOST_LANES; lane++) {
    FabLinkId l = lane % MOST_LINKS;
    if (l >= fab_graph_n_links (graph))
      continue;
    const FabLink *link = fab_graph_link (graph, l);
    double cost = fab_graph_link_class (graph, l)->cost[FAB_DRIVE_COPY];
    gboolean is_inside = fab_graph_vertex (graph, link->src)->node != FAB_NO_NODE
                      && fab_graph_vertex (graph, link->dst)->node != FAB_NO_NODE;

    self->lines[lane] = (Line){ .link = link,
                                .cost = (guint) (cost * SIXTEENTHS + 0.5),
                                .turns = g_array_new (FALSE, FALSE, sizeof (guint)),
                                .is_into_memory = fab_graph_vertex (graph, link->dst)->kind
                                               == FAB_VERTEX_ACCELERATOR,
                                .has_credit = self->has_credit || (self->has_pause && is_inside),
                                .has_pause = self->has_pause && !is_inside,
                                .room_bytes = (gint64) self->buffer_bytes };
  }
  for (guint i = 0; i < n; i++) {
    self->left_bytes[i] = self->missing_bytes[i] = items[i].transfer.bytes;
    fab_router_append (rig->router, items[i].transfer.src, items[i].transfer.dst, 0, &self->paths[i]);
  }
}

static void
steps_free (Steps *self)
{
  g_array_unref (self->events);
  for (guint l = 0; l < MOST_LANES; l++) {
    g_clear_pointer (&self->lines[l].turns, g_array_unref);
    for (guint s = 0; s < MOST_SOURCES; s++)
      if (self->lines[l].queues[s] != NULL)
        g_array_unref (self->lines[l].queues[s]);
  }
  g_free (self);
}

static Rig *
random_rig (Random *random)
{
  guint n_nodes = random_between (random, 1, 3);

  return rig_new (
      &(RigSpec){ .n_nodes = n_nodes,
                  .gpus_per_node = random_between (random, 2, 4),
                  .nics_per_node = n_nodes > 1 ? random_between (random, 1, 2) : 0,
                  .gpu_bytes_per_s = random_between (random, 20, 999) * G_GUINT64_CONSTANT (100000007),
                  .nic_bytes_per_s = random_between (random, 20, 999) * G_GUINT64_CONSTANT (50000017),
                  .gpu_latency_ps = random_below (random, 50000),
                  .nic_latency_ps = random_below (random, 300000),
                  .gpu_cost = 1 + random_below (random, 4) / 16.0,
                  .nic_cost = 1 + random_below (random, 4) / 16.0 });
}

typedef struct {
  LoadItem items[MOST_MESSAGES];
  guint n, n_left;
  RigNet net;
} Played;

static void
note_end (gpointer owner, guint64 index)
{
  Played *played = owner;

  played->items[index].end_ps = fab_engine_now (played->net.engine);
  if (--played->n_left == 0)
    fab_engine_stop (played->net.engine);
}

static void
begin (gpointer owner, guint64 index)
{
  Played *played = owner;

  played->items[index].transfer.done = (FabDone){ note_end, played, index };
  fab_net_send (played->net.net, &played->items[index].transfer);
}

/* The same lane by lane, as those ask who remember episodes. */
static void
assert_listed (const Steps *steps, const Played *played)
{
  g_autoptr (GArray) listed = g_array_new (FALSE, FALSE, sizeof (FabLaneQueue));
  double byte_ps[MOST_LINKS] = { 0 };
  FabBytes carried_bytes[MOST_LINKS] = { 0 };

  played->net.net->ops->list_queues (played->net.net, listed);
  for (guint i = 0; i < listed->len; i++) {
    const FabLaneQueue *one = &g_array_index (listed, FabLaneQueue, i);

    byte_ps[one->link] += one->byte_ps;
    carried_bytes[one->link] += one->carried_bytes;
  }
  for (guint l = 0; l < MOST_LINKS; l++) {
    double expected = 0;
    FabBytes carried = 0;

    for (guint lane = l; lane < MOST_LANES; lane += MOST_LINKS) {
      carried += steps->lines[lane].seen_carried_bytes;
      if (steps->lines[lane].seen_carried_bytes > 0) /* others are not listed */
        expected += steps->lines[lane].seen_byte_ps;
    }
    assert_int_equal (carried_bytes[l], carried);
    assert_true (fabs (byte_ps[l] - expected) <= 1e-6 * expected + 1);
  }
}

/* While messages are on their way. */
static void
assert_looked (const Steps *steps, Played *played)
{
  g_autofree FabLinkQueue *queues = fab_net_link_queues (played->net.net);

  for (guint l = 0; l < fab_graph_n_links (steps->rig->graph); l++) {
    const Line *line = &steps->lines[l], *other = &steps->lines[MOST_LINKS + l];
    double byte_ps = line->seen_byte_ps + other->seen_byte_ps;

    assert_int_equal (queues[l].carried_bytes, line->seen_carried_bytes + other->seen_carried_bytes);
    if (fabs (queues[l].mean_bytes * (double) steps->look_ps - byte_ps) > 1e-6 * byte_ps + 1)
      fail_msg ("link %u: mean queue of %g bytes until then, in steps %g", l, queues[l].mean_bytes,
                byte_ps / (double) steps->look_ps);
  }
}

static void
assert_queues (const Steps *steps, Played *played)
{
  g_autofree FabLinkQueue *queues = fab_net_link_queues (played->net.net);
  double now_ps = (double) fab_engine_now (played->net.engine);

  for (guint l = 0; l < fab_graph_n_links (steps->rig->graph); l++) {
    const Line *line = &steps->lines[l], *other = &steps->lines[MOST_LINKS + l];
    double byte_ps = line->byte_ps + other->byte_ps;

    assert_int_equal (queues[l].carried_bytes, line->carried_bytes + other->carried_bytes);
    assert_int_equal (queues[l].n_pauses, line->n_pauses + other->n_pauses);
    if (!steps->has_classes)
      assert_in_range (queues[l].most_bytes, line->lasted_bytes, line->most_bytes);
    if (fabs (queues[l].mean_bytes * now_ps - byte_ps) > 1e-6 * byte_ps + 1)
      fail_msg ("link %u: mean queue of %g bytes, in steps %g", l, queues[l].mean_bytes, byte_ps / now_ps);
  }
}

/* Returns the keys of what it has chosen. */
static char *
choose (Steps *steps, Random *random)
{
  g_autofree char *control = NULL, *classes = NULL;
  guint way = random_below (random, 4);

  steps->stores = random_chance (random, 50);
  steps->look_ps = random_between (random, 1000, 3000000);
  steps->buffer_bytes = 8 * MTU * random_between (random, 1, 3);
  steps->has_credit = way == 0;
  steps->has_pause = way == 1;
  steps->resume_bytes = random_between (random, 500, 9000);
  steps->pause_bytes = steps->resume_bytes + random_between (random, 500, 9000);
  steps->window_bytes = way == 2 ? random_between (random, MTU, 20 * MTU) : 0;
  if (steps->has_credit)
    control = g_strdup_printf ("credit, buffer: %uB", (guint) steps->buffer_bytes);
  else if (steps->has_pause)
    control = g_strdup_printf ("pfc, congestion: none, buffer: %uB, pause: %uB, resume: %uB",
                               (guint) steps->buffer_bytes, (guint) steps->pause_bytes,
                               (guint) steps->resume_bytes);
  else if (steps->window_bytes > 0)
    control = g_strdup_printf ("none, window: %uB", (guint) steps->window_bytes);
  else
    control = g_strdup ("none, window: 1GB"); /* more than all messages */
  steps->has_classes = random_chance (random, 40);
  steps->is_weighted = random_chance (random, 50);
  steps->weight = random_between (random, 2, 5);
  classes = !steps->has_classes ? g_strdup ("")
                                : g_strdup_printf (", arbitration: %s, classes: [{of: tensor, weight: %u}]",
                                                   steps->is_weighted ? "weighted" : "strict", steps->weight);
  return g_strdup_printf ("{mtu: 1000B, flow_control: %s%s, switching: %s, memo: %s}", control, classes,
                          steps->stores ? "store_and_forward" : "cut_through",
                          random_chance (random, 50) ? "true" : "false");
}

static void
draw_messages (Played *played, const Rig *rig, gboolean has_classes, Random *random)
{
  guint n_ranks = fab_cluster_n_ranks (&rig->cluster);

  played->n = random_between (random, 1, MOST_MESSAGES);
  for (guint i = 0; i < played->n; i++) {
    guint from = random_below (random, n_ranks),
          to = (from + random_between (random, 1, n_ranks - 1)) % n_ranks;

    played->items[i] = (LoadItem){
      .start_ps = random_below (random, 2000000),
      .transfer = { .src = rig_gpu (rig, from),
                    .dst = rig_gpu (rig, to),
                    .bytes = random_between (random, 1, 60000),
                    .drive = FAB_DRIVE_COPY,
                    .traffic = has_classes && random_chance (random, 50) ? "tensor" : NULL },
    };
  }
}

/* Returns NULL where the order of what happens at one time matters. `chosen` has the rules alone. */
static Steps *
play_in_steps (const Steps *chosen, const Rig *rig, Played *played)
{
  Steps *first = NULL;

  for (guint order = 0; order < ORDERS; order++) {
    Steps *steps = g_memdup2 (chosen, sizeof *chosen);

    steps->order = order;
    steps->random = (Random){ order };
    steps_init (steps, rig, played->items, played->n);
    steps_play (steps, played->n);
    if (first == NULL) {
      first = steps;
      continue;
    }
    gboolean is_same = memcmp (first->end_ps, steps->end_ps, sizeof steps->end_ps) == 0;
    for (guint l = 0; l < MOST_LANES; l++)
      is_same = is_same && first->lines[l].n_pauses == steps->lines[l].n_pauses
             && is_near (first->lines[l].byte_ps, steps->lines[l].byte_ps, 1e-9)
             && is_near (first->lines[l].seen_byte_ps, steps->lines[l].seen_byte_ps, 1e-9)
             && first->lines[l].seen_carried_bytes == steps->lines[l].seen_carried_bytes;
    steps_free (steps);
    if (!is_same) {
      steps_free (first);
      return NULL;
    }
  }
  return first;
}

static void
check (Random *random)
{
  g_autoptr (Rig) rig = random_rig (random);
  Steps *chosen = g_new0 (Steps, 1);
  Played played = { 0 };
  g_autofree char *yaml = choose (chosen, random);

  draw_messages (&played, rig, chosen->has_classes, random);
  Steps *steps = play_in_steps (chosen, rig, &played);
  g_free (chosen);
  if (steps == NULL)
    return;
  n_compared++;
  played.net = rig_net_with (rig, &fab_net_packet, yaml);
  played.n_left = played.n;
  for (guint i = 0; i < played.n; i++)
    fab_engine_at (played.net.engine, played.items[i].start_ps, begin, &played, i);
  if (steps->has_looked) {
    fab_engine_run_until (played.net.engine, steps->look_ps);
    assert_looked (steps, &played);
    assert_listed (steps, &played);
  }
  fab_engine_run (played.net.engine);
  for (guint i = 0; i < played.n; i++)
    if (played.items[i].end_ps != steps->end_ps[i])
      fail_msg ("message %u of %u ends at %" G_GINT64_FORMAT ", in steps at %" G_GINT64_FORMAT ", with %s", i,
                played.n, played.items[i].end_ps, steps->end_ps[i], yaml);
  assert_queues (steps, &played);
  rig_net_clear (&played.net);
  steps_free (steps);
}

static void
packets_go_as_a_slow_simulator_says (G_GNUC_UNUSED void **state)
{
  n_compared = 0;
  seeds_run (SEEDS, check);
  if (seeds_are_all ())
    assert_true (n_compared > SEEDS / 3);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (packets_go_as_a_slow_simulator_says),
  };

  return cmocka_run_group_tests_name ("packet_steps", tests, NULL, NULL);
}
