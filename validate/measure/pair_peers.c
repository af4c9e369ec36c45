/* SPDX-License-Identifier: Apache-2.0 */
/* pair_peers.c - two ends that find each other over TCP. */
#include <gio/gio.h>

#include "sim/base/error.h"
#include "validate/measure/pair.h"

#define RETRY_US 200000

/* Connects repeatedly: the other end may not have been started yet. */
static FabControl *
connect_patiently (FabMeasureHost *host, GError **error)
{
  const FabMeasurePlan *plan = host->plan;
  gint64 deadline_us = fab_measure_deadline_us (plan->timeout_s);

  for (;;) {
    g_autoptr (GError) cause = NULL;
    FabControl *control = fab_control_connect (plan->peer, plan->timeout_s, &cause);

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
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s needs another host: start `fabricast measure %s --listen :7471` there and give "
                      "--peer HOST here",
                      ops->name, ops->name);
  control = connect_patiently (host, error);
  if (control == NULL)
    return FALSE;
  is_measured = fab_pair_measure (host, ops->name, ops, control, params, error);
  control->close (control);
  return is_measured;
}

static gboolean
serve_next (FabMeasureHost *host, const FabPairOps *ops, FabListener *listener, gconstpointer params,
            GError **error)
{
  FabControl *control = fab_listener_accept (listener, 0, host, error);
  gboolean is_served;

  if (control == NULL)
    return FALSE;
  is_served = fab_pair_serve (host, ops, control, params, error);
  if (!is_served)
    g_prefix_error (error, "asked by %s: ", control->there);
  control->close (control);
  return is_served;
}

gboolean
fab_pair_serve_peers (FabMeasureHost *host, const FabPairOps *ops, gconstpointer params, GError **error)
{
  g_autoptr (GError) cause = NULL;
  FabListener *listener = fab_listener_new (host->plan->listen, error);

  if (listener == NULL)
    return FALSE;
  host->note (host, "Waits for the other end on port %u.", fab_listener_port (listener));
  do {
    if (cause && !host->is_cancelled (host))
      host->note (host, "%s%s", cause->message, g_str_has_suffix (cause->message, "?") ? "" : ".");
    g_clear_error (&cause);
    serve_next (host, ops, listener, params, &cause);
  } while (!host->plan->once && !host->is_cancelled (host));
  fab_listener_free (listener);
  if (cause == NULL || host->is_cancelled (host))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&cause));
  return FALSE;
}
