/* SPDX-License-Identifier: Apache-2.0 */
/* network.c - machine and fabric with a clock and no job, for hosts that have their own. */
#include <math.h>
#include <string.h>

#include "lib/private.h"
#include "sim/base/error.h"
#include "sim/base/units.h"
#include "sim/collective/play/play.h"
#include "sim/collective/shape/flow_path.h"
#include "sim/shortcut/time/skips.h"

struct FabricastNetwork {
  FabricastContext *context;
  FabScenario *scenario;
  FabPlant *plant;
  FabEngine *engine;
  FabNet *net;
  FabLibrary *library;
  GHashTable *views;   /* FabCluster, by their ranks (GBytes) */
  GHashTable *tickets; /* Ticket: what has begun and has not ended */
  GHashTable *paths;   /* FabFlowPath, by its two ranks */
  guint n_flying;      /* tickets that the network has to end */
  FabTimePs flying_ps; /* what these take on an idle network, one after the other */
  const LibDoor *door; /* while it advances; otherwise NULL */
  gboolean is_doomed;  /* to be freed when it has advanced */
};

/* What is under way, and whom to tell. */
typedef struct {
  FabricastNetwork *network;
  FabricastDoneFn done;
  void *user;
  gboolean is_flying;
  FabTimePs idle_ps;       /* of what is flying: what it takes on an idle network */
  FabFootprint *footprint; /* of its own; NULL: none */
  FabSchedule *schedule;   /* likewise */
  FabPlay *play;
} Ticket;

static void
ticket_free (gpointer data)
{
  Ticket *self = data;

  fab_play_free (self->play);
  if (self->schedule != NULL)
    fab_schedule_free (self->schedule);
  if (self->footprint != NULL)
    fab_footprint_free (self->footprint);
  g_free (self);
}

static Ticket *
ticket_new (FabricastNetwork *network, FabricastDoneFn done, void *user)
{
  Ticket *self = g_new0 (Ticket, 1);

  *self = (Ticket){ .network = network, .done = done, .user = user };
  g_hash_table_add (network->tickets, self);
  return self;
}

/* Of what the network has to end, within half of what the clock holds, even if everything goes one after the other.
 * NULL and *error: the clock cannot hold it. */
static Ticket *
ticket_fly (FabricastNetwork *network, FabTimePs idle_ps, FabricastDoneFn done, void *user,
            FabricastError **error)
{
  const double day_s = 24 * 3600;
  FabTimePs latest_ps = fab_ps_add (fab_ps_add (fab_engine_now (network->engine), network->flying_ps),
                                    idle_ps);

  if (latest_ps >= FAB_TIME_MAX / 2) {
    lib_fail (
        error, FABRICAST_UNSUPPORTED,
        "the traffic could last until day %.0f of simulated time, and the clock holds %.0f; send fewer bytes",
        fab_ps_to_seconds (latest_ps) / day_s, fab_ps_to_seconds (FAB_TIME_MAX / 2) / day_s);
    return NULL;
  }
  Ticket *self = ticket_new (network, done, user);
  self->is_flying = TRUE;
  self->idle_ps = idle_ps;
  network->n_flying++;
  network->flying_ps += idle_ps;
  return self;
}

static void
ticket_ended (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Ticket *self = owner;
  FabricastNetwork *network = self->network;
  FabricastDoneFn done = self->done;
  void *user = self->user;
  LibDoor again;

  network->n_flying -= self->is_flying ? 1 : 0;
  network->flying_ps -= self->idle_ps;
  g_hash_table_remove (network->tickets, self);
  if (done == NULL)
    return;
  lib_door_leave (network->door);
  done (user, fab_engine_now (network->engine));
  lib_door_enter (&again);
}

static FabDone
done_of (Ticket *ticket)
{
  return (FabDone){ ticket_ended, ticket, 0 };
}

static void
view_free (gpointer data)
{
  fab_cluster_clear (data);
  g_free (data);
}

static void
network_free (FabricastNetwork *self)
{
  fab_net_destroy (self->net);
  g_hash_table_unref (self->tickets);
  g_hash_table_unref (self->paths);
  fab_library_destroy (self->library);
  g_hash_table_unref (self->views);
  fab_engine_free (self->engine);
  if (self->plant != NULL)
    fab_plant_free (self->plant);
  fab_scenario_free (self->scenario);
  lib_context_unref (self->context);
  g_free (self);
}

void
fabricast_network_free (FabricastNetwork *network)
{
  if (network == NULL)
    return;
  if (network->door != NULL)
    network->is_doomed = TRUE;
  else
    network_free (network);
}

/* The scenario with a job that needs nothing. */
static FabScenario *
machine_of (const FabricastScenario *scenario, GError **error)
{
  g_autoptr (FabScenario) machine = NULL;
  FabValue *job = fab_value_mapping (), *operations = fab_value_list (), *operation = fab_value_mapping ();

  g_mutex_lock ((GMutex *) &scenario->lock);
  machine = fab_scenario_copy (scenario->inner);
  g_mutex_unlock ((GMutex *) &scenario->lock);
  fab_value_put (operation, "op", fab_value_text ("all_reduce"));
  fab_value_put (operation, "size", fab_value_written ("1B"));
  fab_value_append (operations, operation);
  fab_value_put (job, "kind", fab_value_text ("collective"));
  fab_value_put (job, "operations", operations);
  g_autoptr (FabEdits) edits = fab_edits_new ();
  fab_edits_set (edits, "job", job);
  fab_scenario_edit (machine, edits);
  return fab_scenario_check (machine, error) ? g_steal_pointer (&machine) : NULL;
}

static gboolean
build (FabricastNetwork *self, GError **error)
{
  const FabScenarioSpec *spec = fab_scenario_spec (self->scenario);
  const FabNetOps *net = (const FabNetOps *) spec->fidelity.info;
  const FabLibraryOps *library = (const FabLibraryOps *) spec->collectives.info;

  self->plant = fab_plant_new (self->scenario, NULL, error);
  if (self->plant == NULL)
    return FALSE;
  if (self->plant->disturbances != NULL || spec->neighbours.n > 0)
    return fab_throw (
        error, FAB_ERROR_UNSUPPORTED,
        "the scenario has faults in time, circuits, background traffic or neighbours, which belong to a run");
  self->engine = fab_engine_new ();
  self->net = net->create (&(FabNetEnv){ self->engine, self->plant->graph, self->plant->router,
                                         (guint64) spec->seed },
                           spec->fidelity.params);
  self->library = library->create (fab_models.lists[FAB_MODEL_ALGORITHM], spec->collectives.params);
  self->library->memo = self->plant->book != NULL ? fab_form_book_memo (self->plant->book) : NULL;
  return TRUE;
}

int
fabricast_network_new (const FabricastScenario *scenario, FabricastNetwork **network, FabricastError **error)
{
  GError *problem = NULL;
  int status = FABRICAST_OK;
  LibDoor door;

  LIB_NEED (scenario, error);
  LIB_NEED (network, error);
  lib_door_enter (&door);
  FabricastNetwork *self = g_new0 (FabricastNetwork, 1);
  self->context = lib_context_ref (scenario->context);
  self->tickets = g_hash_table_new_full (NULL, NULL, ticket_free, NULL);
  self->paths = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free,
                                       (GDestroyNotify) fab_flow_path_free);
  self->views = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref,
                                       view_free);
  self->scenario = machine_of (scenario, &problem);
  if (self->scenario != NULL && build (self, &problem)) {
    *network = self;
  } else {
    network_free (self);
    status = lib_fail_with (error, problem);
  }
  lib_door_leave (&door);
  return status;
}

uint32_t
fabricast_network_ranks (const FabricastNetwork *network)
{
  return network != NULL ? fab_cluster_n_ranks (&network->plant->cluster) : 0;
}

/* --- the clock --- */

int64_t
fabricast_network_now (const FabricastNetwork *network)
{
  return network != NULL ? fab_engine_now (network->engine) : 0;
}

int64_t
fabricast_network_next (const FabricastNetwork *network)
{
  return network != NULL ? fab_engine_next_ps (network->engine) : INT64_MAX;
}

/* Runs, and says what went wrong. */
static int
advance (FabricastNetwork *self, gint64 until_ps, FabricastError **error)
{
  const char *failure;

  fab_engine_run_until (self->engine, until_ps);
  failure = fab_engine_failure (self->engine);
  if (failure != NULL)
    return lib_fail (error, FABRICAST_BROKEN, "%s", failure);
  if (until_ps == INT64_MAX && self->n_flying > 0)
    return lib_fail (error, FABRICAST_HUNG, "%u %s forever, because no event is due", self->n_flying,
                     fab_plural (self->n_flying, "transfer waits", "transfers wait"));
  return FABRICAST_OK;
}

int
fabricast_network_advance (FabricastNetwork *network, int64_t until_ps, FabricastError **error)
{
  LibDoor door;
  int status;

  LIB_NEED (network, error);
  if (network->door != NULL)
    return lib_fail (error, FABRICAST_MISUSE,
                     "the network is already advancing; a function that it called may not advance it");
  if (until_ps < fab_engine_now (network->engine))
    return lib_fail (error, FABRICAST_MISUSE,
                     "%" G_GINT64_FORMAT " ps is in the past: it is %" G_GINT64_FORMAT " ps",
                     (gint64) until_ps, fab_engine_now (network->engine));
  lib_door_enter (&door);
  network->door = &door;
  status = advance (network, until_ps, error);
  network->door = NULL;
  lib_door_leave (&door);
  if (network->is_doomed)
    network_free (network);
  return status;
}

int
fabricast_network_at (FabricastNetwork *network, int64_t time_ps, FabricastDoneFn fn, void *user,
                      FabricastError **error)
{
  LIB_NEED (network, error);
  LIB_NEED (fn, error);
  if (time_ps < fab_engine_now (network->engine))
    return lib_fail (error, FABRICAST_MISUSE,
                     "%" G_GINT64_FORMAT " ps is in the past: it is %" G_GINT64_FORMAT " ps",
                     (gint64) time_ps, fab_engine_now (network->engine));
  fab_engine_at (network->engine, time_ps, ticket_ended, ticket_new (network, fn, user), 0);
  return FABRICAST_OK;
}

/* --- traffic --- */

static void
end_at_once (FabricastNetwork *self, FabricastDoneFn done, void *user)
{
  fab_engine_after (self->engine, 0, ticket_ended, ticket_new (self, done, user), 0);
}

/* As the executor begins the plan: by messages where the network has them, else as one stream. */
static int
begin_plan (FabricastNetwork *self, const FabCollectivePlan *plan, FabricastDoneFn done, void *user,
            FabricastError **error)
{
  const FabCollectivePlanSteps *steps = &plan->steps;
  Ticket *ticket = ticket_fly (self, fab_collective_plan_idle_ps (plan), done, user, error);

  if (ticket == NULL)
    return FABRICAST_UNSUPPORTED;
  if (self->net->ops->message == NULL || steps->make == NULL) {
    FabStream stream = fab_collective_plan_stream (plan);

    stream.done = done_of (ticket);
    fab_net_stream (self->net, &stream);
    return FABRICAST_OK;
  }
  ticket->schedule = steps->make (steps->owner, plan);
  FabPlaySpec spec = fab_play_spec_of_plan (plan);
  spec.watch = &fab_skips_watch;
  spec.done = done_of (ticket);
  ticket->play = fab_play_new (ticket->schedule, self->net, &spec);
  return FABRICAST_OK;
}

/* The way from one rank to another, found once: messages of a connection follow one way. */
static const FabFlowPath *
find_path (FabricastNetwork *self, guint from, guint to, GError **error)
{
  const FabCluster *cluster = &self->plant->cluster;
  gint64 key = (gint64) from * fab_cluster_n_ranks (cluster) + to;
  FabFlowPath *path = g_hash_table_lookup (self->paths, &key);
  guint64 flow = g_hash_table_size (self->paths);

  if (path != NULL)
    return path;
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (cluster->graph);
  path = fab_flow_path_new (cluster, from, to, flow, builder, error);
  if (path != NULL)
    g_hash_table_insert (self->paths, g_memdup2 (&key, sizeof key), path);
  return path;
}

static int
send (FabricastNetwork *self, guint from, guint to, FabBytes bytes, FabricastDoneFn done, void *user,
      FabricastError **error)
{
  GError *problem = NULL;

  if (from == to || bytes == 0) {
    end_at_once (self, done, user);
    return FABRICAST_OK;
  }
  const FabFlowPath *path = find_path (self, from, to, &problem);
  if (path == NULL) {
    g_clear_error (&problem);
    return lib_fail (error, FABRICAST_UNSUPPORTED, "no path leads from rank %u to rank %u", from, to);
  }
  FabCollectivePlan plan = fab_flow_path_plan (path, bytes);
  return begin_plan (self, &plan, done, user, error);
}

int
fabricast_network_send (FabricastNetwork *network, uint32_t from, uint32_t to, uint64_t bytes,
                        FabricastDoneFn done, void *user, FabricastError **error)
{
  LibDoor door;
  int status;

  LIB_NEED (network, error);
  guint n = fab_cluster_n_ranks (&network->plant->cluster);
  if (from >= n || to >= n || bytes > G_MAXINT64)
    return lib_fail (error, FABRICAST_MISUSE,
                     "from %u to %u: the ranks are 0 to %u, and 2^63 - 1 bytes are the most", from, to,
                     n - 1);
  lib_door_enter (&door);
  status = send (network, from, to, bytes, done, user, error);
  lib_door_leave (&door);
  return status;
}

static FabFootprint *
footprint_of (const FabGraph *graph, const guint32 *links, const double *weights, gsize n)
{
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (graph);

  for (gsize i = 0; i < n; i++) {
    const FabPath path = { 1, { links[i] } };

    fab_footprint_builder_add (builder, &path,
                               (FabUse){ .weight = weights[i], .drive = FAB_DRIVE_KERNEL, .stretch = 1 });
  }
  return fab_footprint_builder_finish (builder);
}

static int
stream_over (FabricastNetwork *self, FabFootprint *footprint, FabStream *stream, FabricastDoneFn done,
             void *user, FabricastError **error)
{
  FabTimePs bytes_ps = footprint->rate_bytes_per_s > 0
                         ? fab_flow_ps ((double) stream->bytes, fab_stream_rate_alone (stream))
                         : FAB_TIME_MAX; /* weights that no double holds */
  Ticket *ticket = ticket_fly (self, fab_ps_add (stream->startup_ps, bytes_ps), done, user, error);

  if (ticket == NULL) {
    fab_footprint_free (footprint);
    return FABRICAST_UNSUPPORTED;
  }
  ticket->footprint = footprint;
  stream->done = done_of (ticket);
  fab_net_stream (self->net, stream);
  return FABRICAST_OK;
}

int
fabricast_network_stream (FabricastNetwork *network, const uint32_t *links, const double *weights,
                          size_t n_links, uint64_t bytes, int64_t startup_ps, FabricastDoneFn done,
                          void *user, FabricastError **error)
{
  LibDoor door;
  int status = FABRICAST_OK;

  LIB_NEED (network, error);
  LIB_NEED (links, error);
  LIB_NEED (weights, error);
  if (n_links < 1 || startup_ps < 0 || bytes > G_MAXINT64)
    return lib_fail (error, FABRICAST_MISUSE,
                     "a stream needs a link, a startup of 0 or more and at most 2^63 - 1 bytes");
  for (size_t i = 0; i < n_links; i++)
    if (links[i] >= fab_graph_n_links (network->plant->graph) || !isfinite (weights[i]) || weights[i] <= 0)
      return lib_fail (error, FABRICAST_MISUSE,
                       "link %u with weight %g: the link must be in the table \"link\", and its "
                       "weight above 0",
                       links[i], weights[i]);
  lib_door_enter (&door);
  if (bytes == 0) {
    end_at_once (network, done, user);
  } else {
    FabFootprint *footprint = footprint_of (network->plant->graph, links, weights, n_links);
    FabStream stream = {
      .footprint = footprint, .bytes = bytes, .startup_ps = startup_ps, .wire_factor = 1, .share = 1
    };

    status = stream_over (network, footprint, &stream, done, user, error);
  }
  lib_door_leave (&door);
  return status;
}

/* The cluster of these ranks, made once; the library tells groups apart by it. */
static const FabCluster *
find_view (FabricastNetwork *self, const guint32 *ranks, gsize n)
{
  g_autoptr (GBytes) key = g_bytes_new (ranks, n * sizeof *ranks);
  FabCluster *view = g_hash_table_lookup (self->views, key);

  if (view == NULL) {
    view = g_new0 (FabCluster, 1);
    fab_cluster_view_ranks (view, &self->plant->cluster, ranks, (guint) n);
    g_hash_table_insert (self->views, g_steal_pointer (&key), view);
  }
  return view;
}

static int
collective (FabricastNetwork *self, FabOp op, const FabCluster *cluster, FabBytes bytes, FabricastDoneFn done,
            void *user, FabricastError **error)
{
  const FabGroup group = { cluster, cluster->n_nodes, cluster->gpus_per_node };
  FabCollectivePlan plan;
  GError *problem = NULL;

  if (!fab_library_plan (self->library, &group, op, bytes, &plan, &problem))
    return lib_fail_with (error, problem);
  if (plan.footprint != NULL && bytes > 0)
    return begin_plan (self, &plan, done, user, error);
  end_at_once (self, done, user);
  return FABRICAST_OK;
}

static gboolean
are_ranks (const FabricastNetwork *self, const guint32 *ranks, gsize n)
{
  for (gsize i = 0; i < n; i++)
    if (ranks[i] >= fab_cluster_n_ranks (&self->plant->cluster) || (i > 0 && ranks[i] <= ranks[i - 1]))
      return FALSE;
  return n > 0;
}

int
fabricast_network_collective (FabricastNetwork *network, const char *op, const uint32_t *ranks,
                              size_t n_ranks, uint64_t bytes, FabricastDoneFn done, void *user,
                              FabricastError **error)
{
  LibDoor door;
  FabOp kind = FAB_OP_ALL_REDUCE;
  int status;

  LIB_NEED (network, error);
  LIB_NEED (op, error);
  if (!fab_op_find (op, &kind))
    return lib_fail (error, FABRICAST_INPUT, "there is no operation '%s'", op);
  if (ranks != NULL && !are_ranks (network, ranks, n_ranks))
    return lib_fail (error, FABRICAST_MISUSE, "the ranks must be in ascending order, from 0 to %u",
                     fab_cluster_n_ranks (&network->plant->cluster) - 1);
  if (bytes > G_MAXINT64)
    return lib_fail (error, FABRICAST_MISUSE, "2^63 - 1 bytes are the most");
  lib_door_enter (&door);
  status = collective (network, kind,
                       ranks != NULL ? find_view (network, ranks, n_ranks) : &network->plant->cluster, bytes,
                       done, user, error);
  lib_door_leave (&door);
  return status;
}

int
fabricast_network_table (const FabricastNetwork *network, const char *name, FabricastTable **table,
                         FabricastError **error)
{
  LIB_NEED (network, error);
  LIB_NEED (name, error);
  LIB_NEED (table, error);
  if (strcmp (name, "link") != 0)
    return lib_fail (error, FABRICAST_INPUT, "there is no table '%s'; there is link", name);
  *table = lib_table_of_links (network->plant->graph);
  return FABRICAST_OK;
}
