/* SPDX-License-Identifier: Apache-2.0 */
/* backend.c - the module's entry: measures ports and methods in sequence, each as a pair with its own control
 * channel. */
#include <gmodule.h>

#include "sim/base/error.h"
#include "validate/measure/verbs/device.h"
#include "validate/measure/verbs/ends.h"

/* Records facts of the ports that this machine measures with. */
static gboolean
record_port (FabMeasureHost *host, const char *name, GError **error)
{
  FabVerbsPort port = { .name = NULL };
  gboolean is_open = fab_verbs_port_open (&port, name, error);

  if (is_open) {
    g_autofree char *words = fab_verbs_port_words (&port);

    host->machine (host, name, words);
  }
  fab_verbs_port_clear (&port);
  return is_open;
}

static gboolean
measure_method (FabMeasureHost *host, FabVerbsParams *params, FabVerbsMethod method, GError **error)
{
  gboolean has_gpu = params->memory == FAB_VERBS_GPU || params->peer_memory == FAB_VERBS_GPU;
  const gboolean *kinds = host->plan->kinds;

  params->method = (gint) method;
  if (method == FAB_VERBS_WRITE && has_gpu && (kinds[FAB_MEASURE_LATENCY] || kinds[FAB_MEASURE_EXCHANGE]))
    host->note (host,
                "A write alone is noticed by its last byte, which the processor cannot watch in GPU memory: "
                "measure latency there with method=send or method=read.");
  if (method == FAB_VERBS_READ && kinds[FAB_MEASURE_EXCHANGE])
    host->note (host, "A read tells the other end nothing, so that there is no exchange of reads.");
  return fab_pair_measure_peer (host, fab_verbs_ops (method, has_gpu), params, error);
}

/* Measures one port with the requested methods. */
static gboolean
measure_port (FabMeasureHost *host, const FabVerbsParams *params, const char *name, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (name, ":", 2);
  FabVerbsParams own = *params;
  gboolean is_all = params->method == FAB_VERBS_ALL;

  own.device = parts[0];
  own.port = (gint64) g_ascii_strtoull (parts[1], NULL, 10);
  if (!record_port (host, name, error))
    return FALSE;
  for (guint i = 0; i < FAB_VERBS_ALL; i++)
    if ((is_all || params->method == (gint) i) && !measure_method (host, &own, (FabVerbsMethod) i, error))
      return FALSE;
  return TRUE;
}

/* A port that cannot be used is left out with a note while there are others; any other failure ends the
 * measurement. */
static gboolean
measure (FabMeasureHost *host, gconstpointer params, GError **error)
{
  const FabVerbsParams *own = params;
  g_autoptr (GPtrArray) names = fab_verbs_active_ports (own->device, own->port, error);
  guint n_left_out = 0;

  for (guint i = 0; names != NULL && i < names->len; i++) {
    const char *name = names->pdata[i];
    g_autoptr (GError) reason = NULL;

    if (measure_port (host, own, name, &reason))
      continue;
    if (!g_error_matches (reason, FAB_ERROR, FAB_ERROR_UNSUPPORTED) || ++n_left_out == names->len) {
      g_propagate_error (error, g_steal_pointer (&reason));
      return FALSE;
    }
    host->note (host, "%s is not measured: %s.", name, reason->message);
  }
  return names != NULL;
}

static gboolean
serve (FabMeasureHost *host, gconstpointer params, GError **error)
{
  const FabVerbsParams *own = params;
  g_autoptr (GPtrArray) names = fab_verbs_active_ports (own->device, own->port, error);

  return names != NULL && fab_pair_serve_peers (host, fab_verbs_ops (FAB_VERBS_SEND, FALSE), params, error);
}

static gboolean
probe (GError **error)
{
  g_autoptr (GPtrArray) names = fab_verbs_active_ports (NULL, 0, error);

  return names != NULL;
}

static const FabMeasureBackend verbs = {
  .abi = FAB_MEASURE_ABI,
  .info = { .name = "verbs",
            .summary =
                "RDMA write, read and send between two hosts over InfiniBand or RoCE, from host or GPU memory.",
            .doc = "docs/how-to/measure-verbs.md",
            .params = fab_verbs_params,
            .params_size = sizeof (FabVerbsParams) },
  .needs = "libibverbs (rdma-core) and an active RDMA port on both hosts",
  .measure = measure,
  .serve = serve,
  .probe = probe,
};

G_MODULE_EXPORT const FabMeasureBackend *fab_measure_backend (void);

const FabMeasureBackend *
fab_measure_backend (void)
{
  return &verbs;
}
