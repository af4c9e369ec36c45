/* SPDX-License-Identifier: Apache-2.0 */
/* pair.c - the asking and the serving end of a measurement (frame.h describes their conversation). */
#include "validate/measure/pair.h"

#include <gio/gio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"
#include "validate/measure/control_tcp.h"
#include "validate/measure/frame.h"
#include "validate/measure/secret.h"
#include "validate/measure/stats.h"

enum {
  PROBE_BYTES = 8,
  N_PROBES = 21, /* number of round trips whose median is used */
  /* unless the ends take turns, one starts earlier; a sample lasts at least as many round trips so that this is
   * negligible */
  SAMPLE_ROUND_TRIPS = 50,
  DEFAULT_TIMEOUT_S = 30,
  HELLO_S = 5, /* how long a new connection may take to introduce itself; no other one is served meanwhile */
  GIVE_UP_S = 5, /* how long an end that gives up waits for what the other one says */
};

/* The shortest sample of a stream, 20 ms: what happens between two samples (token buckets that refill, clocks that
 * slow down) is small compared with it. */
#define STREAM_SAMPLE_PS (20 * G_GINT64_CONSTANT (1000000000))

typedef struct {
  FabMeasureHost *host;
  const FabPairOps *ops;
  FabControl *control;
  FabControl *framed; /* the channel that the pair may use */
  FabPair *pair;
  char *system;
  FabMeasureKind kind;     /* the kind that is being measured */
  FabTimePs round_trip_ps; /* of PROBE_BYTES; 0: unknown */
} Asker;

static FabBytes
largest_size (const FabMeasurePlan *plan)
{
  return plan->sizes_bytes[plan->n_sizes - 1];
}

/* Tells the other end that this one gives up, and adds what went wrong there when that is something else. */
static void
give_up (FabControl *control, GError *cause, GError **error)
{
  g_auto (FabFrame) frame = { 0 };
  g_autoptr (GError) there = NULL;

  fab_frame_send_failed (control, cause);
  control->end_us = fab_measure_deadline_us (GIVE_UP_S);
  while (fab_control_check (control, NULL) && fab_frame_receive (control, &frame, &there)) {}
  if (there && frame.type == FAB_FRAME_FAILED && strstr (there->message, cause->message) == NULL)
    g_prefix_error (&cause, "%s; here: ", there->message);
  g_propagate_error (error, cause);
}

/* --- opening --- */

/* Opens either end's part of the pair; each end reports that it is ready, or why not. */
static FabPair *
open_pair (FabControl *control, FabControl *framed, const FabPairOps *ops, gconstpointer params,
           const FabMeasurePlan *plan, FabBytes max_bytes, gboolean is_asking, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_auto (FabFrame) frame = { 0 };
  FabPair *pair = ops->open (framed, params, plan, max_bytes, is_asking, &cause);

  if (pair == NULL && is_asking)
    give_up (control, g_steal_pointer (&cause), error);
  else if (pair == NULL)
    g_propagate_error (error, g_steal_pointer (&cause)); /* fab_pair_serve reports it */
  if (pair == NULL)
    return NULL;
  if (fab_frame_send_type (control, FAB_FRAME_OPENED, error)
      && fab_frame_expect (control, FAB_FRAME_OPENED, &frame, error))
    return pair;
  ops->close (pair);
  return NULL;
}

/* Receives WELCOME, or first proves that this end knows the secret. An end that has one refuses an end that asks for
 * no proof: it may be another than the one that was meant. */
static gboolean
await_welcome (Asker *self, const FabFrame *hello, FabFrame *welcome, GError **error)
{
  GBytes *secret = self->host->plan->secret;
  g_autoptr (GError) cause = NULL;

  if (!fab_frame_receive (self->control, welcome, error))
    return FALSE;
  if (welcome->type != FAB_FRAME_CHALLENGE && secret)
    return fab_throw (error, FAB_ERROR_IO,
                      "%s asks for no proof of the secret; give it --secret-file too, or measure without one",
                      self->control->there);
  if (welcome->type != FAB_FRAME_CHALLENGE)
    return welcome->type == FAB_FRAME_WELCOME
        || fab_throw (error, FAB_ERROR_IO, "%s sends a message that the protocol does not have",
                      self->control->there);
  if (fab_secret_prove (self->control, secret, hello, welcome, &cause))
    return fab_frame_expect (self->control, FAB_FRAME_WELCOME, welcome, error);
  fab_frame_send_failed (self->control, cause);
  g_propagate_error (error, g_steal_pointer (&cause));
  return FALSE;
}

static gboolean
say_hello (Asker *self, const char *backend, GError **error)
{
  const FabMeasurePlan *plan = self->host->plan;
  const char *here = self->host->system ? self->host->system : "";
  g_autofree char *data = g_strdup_printf ("%s\n%s", backend, here);
  g_auto (FabFrame) answer = { 0 };
  FabFrame hello = { .type = FAB_FRAME_HELLO,
                     .number = plan->timeout_s,
                     .count = plan->window,
                     .size_bytes = largest_size (plan),
                     .n_data = strlen (data),
                     .data = data };

  if (!fab_frame_send (self->control, &hello, error) || !await_welcome (self, &hello, &answer, error))
    return FALSE;
  const char *there = answer.data ? answer.data : "";
  if (*here == '\0' || *there == '\0' || strcmp (here, there) == 0)
    self->system = *here || *there ? g_strdup (*here ? here : there) : NULL;
  else
    self->system = g_strdup_printf ("%s and %s", here, there);
  return TRUE;
}

/* --- measuring --- */

static gboolean
move_once (Asker *self, FabMeasureKind kind, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
           GError **error)
{
  g_auto (FabFrame) frame = { 0 };
  g_autoptr (GError) cause = NULL;
  FabFrame go = { .type = FAB_FRAME_GO, .number = kind, .count = n_messages, .size_bytes = size_bytes };

  if (!fab_frame_send (self->control, &go, error)
      || !fab_frame_expect (self->control, FAB_FRAME_READY, &frame, error))
    return FALSE;
  if (!self->ops->move (self->pair, kind, size_bytes, n_messages, elapsed_ps, &cause)) {
    give_up (self->control, g_steal_pointer (&cause), error);
    return FALSE;
  }
  return fab_frame_expect (self->control, FAB_FRAME_DONE, &frame, error);
}

static gboolean
is_streaming (FabMeasureKind kind)
{
  return kind == FAB_MEASURE_BANDWIDTH || kind == FAB_MEASURE_BIDIRECTIONAL;
}

/* A FabTimedFunc. */
static gboolean
time_messages (gpointer data, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps, GError **error)
{
  Asker *self = data;

  if (!move_once (self, self->kind, size_bytes, n_messages, elapsed_ps, error))
    return FALSE;
  if (self->kind == FAB_MEASURE_LATENCY)
    *elapsed_ps /= 2;
  else if (is_streaming (self->kind) && *elapsed_ps > 2 * self->round_trip_ps)
    *elapsed_ps -= self->round_trip_ps;
  return TRUE;
}

static gboolean
probe_round_trip (Asker *self, GError **error)
{
  FabTimePs times_ps[N_PROBES], elapsed_ps;
  FabBytes size_bytes = MIN (PROBE_BYTES, largest_size (self->host->plan));
  FabMeasuredPoint median = { .size_bytes = size_bytes };

  if (!self->ops->can[FAB_MEASURE_LATENCY])
    return TRUE;
  for (guint i = 0; i < 2 * N_PROBES; i++) { /* the first half only warms up */
    if (!move_once (self, FAB_MEASURE_LATENCY, size_bytes, 1, &elapsed_ps, error))
      return FALSE;
    times_ps[i % N_PROBES] = elapsed_ps;
  }
  fab_stats_point (times_ps, N_PROBES, &median);
  self->round_trip_ps = median.time_ps;
  return TRUE;
}

static gboolean
measure_kind (Asker *self, FabMeasureKind kind, const char *backend, GError **error)
{
  FabMeasureHost *host = self->host;
  FabSeries series = { .kind = kind,
                       .backend = g_strdup (backend),
                       .system = g_strdup (self->system),
                       .from = g_strdup (self->control->here),
                       .to = g_strdup (self->control->there),
                       .n_ranks = 2,
                       .n_pairs = 1,
                       .window = is_streaming (kind) ? host->plan->window : 1 };
  gboolean is_measured;

  if (kind != FAB_MEASURE_LATENCY && self->round_trip_ps == 0 && !probe_round_trip (self, error)) {
    fab_series_clear (&series);
    return FALSE;
  }
  self->kind = kind;
  self->ops->describe (self->pair, &series);
  host->min_sample_ps = kind == FAB_MEASURE_LATENCY ? 0 : SAMPLE_ROUND_TRIPS * self->round_trip_ps;
  if (is_streaming (kind))
    host->min_sample_ps = MAX (host->min_sample_ps, STREAM_SAMPLE_PS);
  is_measured = host->measure (host, &series, 0, time_messages, self, error);
  host->min_sample_ps = 0;
  fab_series_clear (&series);
  return is_measured;
}

static gboolean
measure_kinds (Asker *self, const char *backend, GError **error)
{
  const gboolean *kinds = self->host->plan->kinds;
  guint n_measured = 0;

  for (guint i = 0; i < FAB_N_MEASURE_KINDS; i++) {
    if (!kinds[i])
      continue;
    if (!self->ops->can[i]) {
      if (i < FAB_MEASURE_COLLECTIVE)
        self->host->note (self->host, "%s does not measure %s.", backend, fab_measure_kind_names[i]);
      continue;
    }
    if (!measure_kind (self, (FabMeasureKind) i, backend, error))
      return FALSE;
    n_measured++;
  }
  return n_measured > 0
      || fab_throw (error, FAB_ERROR_INPUT, "%s measures none of the kinds that were asked for", backend);
}

gboolean
fab_pair_measure (FabMeasureHost *host, const char *backend, const FabPairOps *ops, FabControl *control,
                  gconstpointer params, GError **error)
{
  Asker self = { .host = host, .ops = ops, .control = control };
  gboolean is_measured = FALSE;

  if (!say_hello (&self, backend, error))
    return FALSE;
  self.framed = fab_framed_control_new (control);
  self.pair = open_pair (control, self.framed, ops, params, host->plan, largest_size (host->plan), TRUE,
                         error);
  if (self.pair) {
    is_measured = measure_kinds (&self, backend, error);
    fab_frame_send_type (control, FAB_FRAME_BYE, NULL);
    ops->close (self.pair);
  }
  self.framed->close (self.framed);
  g_free (self.system);
  return is_measured;
}

/* --- serving --- */

static gboolean
check_hello (const FabPairOps *ops, const FabControl *control, const FabFrame *hello, GError **error)
{
  g_auto (GStrv) words = g_strsplit (hello->data ? hello->data : "", "\n", 2);
  g_autofree char *backend = fab_printable (words[0] ? words[0] : "");

  if (ops->name && strcmp (backend, ops->name) != 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "this end measures with '%s' and %s with '%s'; use the same on both", ops->name,
                      control->there, backend);
  if (hello->size_bytes > FAB_PAIR_MAX_BYTES)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s asks for messages of %" G_GUINT64_FORMAT
                      " bytes; this end takes messages of up to 16 GiB: measure smaller sizes",
                      control->there, (guint64) hello->size_bytes);
  return hello->count <= FAB_FRAME_MAX_WINDOW
      || fab_throw (error, FAB_ERROR_INPUT,
                    "%s asks for %u messages under way; this end takes up to %u (--window)", control->there,
                    hello->count, FAB_FRAME_MAX_WINDOW);
}

/* Who has not said who it is, and proved it where that is asked for, has a few seconds in all. */
static gboolean
greet (FabMeasureHost *host, const FabPairOps *ops, FabControl *control, FabFrame *hello, GError **error)
{
  const char *here = host->system ? host->system : "";
  FabFrame welcome = { .type = FAB_FRAME_WELCOME, .n_data = strlen (here), .data = (char *) here };
  GBytes *secret = host->plan->secret;

  control->timeout_s = HELLO_S;
  control->end_us = fab_measure_deadline_us (HELLO_S);
  control->is_known = fab_frame_expect (control, FAB_FRAME_HELLO, hello, error)
                   && (secret == NULL || fab_secret_demand (control, secret, hello, error));
  return control->is_known && check_hello (ops, control, hello, error)
      && fab_frame_send (control, &welcome, error);
}

/* Serves one sample. FALSE without an error: the measurement is over. */
static gboolean
serve_one (FabPair *pair, const FabPairOps *ops, FabControl *control, FabBytes max_bytes, GError **error)
{
  g_auto (FabFrame) frame = { 0 };
  g_autoptr (GError) cause = NULL;
  FabTimePs elapsed_ps;

  if (!fab_frame_receive (control, &frame, error) || frame.type == FAB_FRAME_BYE)
    return FALSE;
  if (frame.type != FAB_FRAME_GO || frame.number >= FAB_N_MEASURE_KINDS || !ops->can[frame.number]
      || frame.count == 0 || frame.count > FAB_FRAME_MAX_MESSAGES || frame.size_bytes > max_bytes)
    return fab_throw (error, FAB_ERROR_IO, "%s asks for what was not agreed on", control->there);
  if (!fab_frame_send_type (control, FAB_FRAME_READY, error))
    return FALSE;
  if (ops->move (pair, (FabMeasureKind) frame.number, frame.size_bytes, frame.count, &elapsed_ps, &cause))
    return fab_frame_send_type (control, FAB_FRAME_DONE, error);
  g_propagate_error (error, g_steal_pointer (&cause));
  return FALSE;
}

static gboolean
serve_agreed (FabMeasureHost *host, const FabPairOps *ops, FabControl *control, gconstpointer params,
              GError **error)
{
  g_auto (FabFrame) hello = { 0 };
  g_autoptr (GError) cause = NULL;
  FabMeasurePlan plan = *host->plan;

  if (!greet (host, ops, control, &hello, error))
    return FALSE;
  plan.window = hello.count;
  /* The limits are this end's own: who asks may shorten them, and only that. */
  plan.timeout_s = plan.timeout_s > 0 ? plan.timeout_s : DEFAULT_TIMEOUT_S;
  plan.timeout_s = hello.number > 0 ? MIN (hello.number, plan.timeout_s) : plan.timeout_s;
  control->timeout_s = plan.timeout_s;
  control->end_us = plan.session_s > 0 ? fab_measure_deadline_us (plan.session_s) : 0;
  FabControl *framed = fab_framed_control_new (control);
  FabPair *pair = open_pair (control, framed, ops, params, &plan, hello.size_bytes, FALSE, &cause);

  while (pair && serve_one (pair, ops, control, hello.size_bytes, &cause)
         && fab_control_check (control, &cause)) {}
  if (pair)
    ops->close (pair);
  framed->close (framed);
  if (cause == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&cause));
  return FALSE;
}

gboolean
fab_pair_serve (FabMeasureHost *host, const FabPairOps *ops, FabControl *control, gconstpointer params,
                GError **error)
{
  g_autoptr (GError) cause = NULL;

  if (serve_agreed (host, ops, control, params, &cause))
    return TRUE;
  fab_frame_send_failed (control, cause);
  g_propagate_error (error, g_steal_pointer (&cause));
  return FALSE;
}

/* Two ends that find each other over TCP. */

#define RETRY_US 200000

/* Connects repeatedly: the other end may not have been started yet. */
static FabControl *
connect_patiently (FabMeasureHost *host, GError **error)
{
  const FabMeasurePlan *plan = host->plan;
  gint64 deadline_us = fab_measure_deadline_us (plan->timeout_s);

  for (;;) {
    g_autoptr (GError) cause = NULL;
    FabControl *control = fab_control_connect (plan->peer, plan->timeout_s, host, &cause);

    if (control)
      return control;
    if (host->is_cancelled (host)) {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "interrupted while waiting for %s", plan->peer);
      return NULL;
    }
    if (!g_error_matches (cause, FAB_ERROR, FAB_ERROR_IO) || g_get_monotonic_time () >= deadline_us) {
      g_propagate_error (error, g_steal_pointer (&cause));
      return NULL;
    }
    g_usleep (RETRY_US);
  }
}

gboolean
fab_pair_measure_peer (FabMeasureHost *host, const FabPairOps *ops, gconstpointer params, GError **error)
{
  FabControl *control;
  gboolean is_measured;

  if (host->plan->peer == NULL)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "%s needs another host: start `fabricast measure %s --listen 0.0.0.0:7471` there and give "
        "--peer HOST here",
        ops->name, ops->name);
  control = connect_patiently (host, error);
  if (control == NULL)
    return FALSE;
  is_measured = fab_pair_measure (host, ops->name, ops, control, params, error);
  control->close (control);
  return is_measured;
}

/* Sets `is_known`: the one who asked has introduced itself. */
static void
serve_next (FabMeasureHost *host, const FabPairOps *ops, FabListener *listener, gconstpointer params,
            gboolean *is_known, GError **error)
{
  FabControl *control = fab_listener_accept (listener, 0, host, error);

  *is_known = FALSE;
  if (control == NULL)
    return;
  if (!fab_pair_serve (host, ops, control, params, error))
    g_prefix_error (error, "asked by %s: ", control->there);
  *is_known = control->is_known;
  control->close (control);
}

/* Says who can ask. */
static void
note_reach (FabMeasureHost *host, const FabListener *listener)
{
  const FabMeasurePlan *plan = host->plan;

  if (fab_listener_is_local (listener) && *plan->listen == ':')
    host->note (host, "Only this machine reaches it; --listen 0.0.0.0%s lets other hosts ask.", plan->listen);
  else if (!fab_listener_is_local (listener) && plan->secret == NULL)
    host->note (host,
                "Whoever reaches this port can ask; --secret-file FILE at both ends keeps strangers out.");
}

gboolean
fab_pair_serve_peers (FabMeasureHost *host, const FabPairOps *ops, gconstpointer params, GError **error)
{
  g_autoptr (GError) cause = NULL;
  gboolean is_known;
  FabListener *listener = fab_listener_new (host->plan->listen, host->plan->timeout_s, host, error);

  if (listener == NULL)
    return FALSE;
  host->note (host, "Waits for the other end on port %u.", fab_listener_port (listener));
  note_reach (host, listener);
  do {
    if (cause && !host->is_cancelled (host))
      host->note (host, "%s%s", cause->message, g_str_has_suffix (cause->message, "?") ? "" : ".");
    g_clear_error (&cause);
    serve_next (host, ops, listener, params, &is_known, &cause);
  } while (!(host->plan->once && is_known) && !host->is_cancelled (host));
  fab_listener_free (listener);
  if (cause == NULL || host->is_cancelled (host))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&cause));
  return FALSE;
}
