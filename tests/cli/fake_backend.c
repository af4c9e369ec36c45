/* SPDX-License-Identifier: Apache-2.0 */
/* fake_backend.c - a module for `fabricast measure` whose messages take as long as its parameters say. */
#include "sim/base/error.h"
#include "validate/measure/host.h"

typedef struct {
  FabTimePs message_ps;
  gboolean is_broken;
} Params;

static const FabParam params[] = {
  { .key = "message",
    .type = FAB_PARAM_TIME,
    .offset = G_STRUCT_OFFSET (Params, message_ps),
    .fallback = "20ms",
    .help = "What a message takes." },
  { .key = "broken",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (Params, is_broken),
    .fallback = "false",
    .help = "There is no device." },
  { 0 },
};

static gboolean
move (gpointer data, G_GNUC_UNUSED FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
      G_GNUC_UNUSED GError **error)
{
  *elapsed_ps = n_messages * ((const Params *) data)->message_ps;
  return TRUE;
}

static gboolean
measure (FabMeasureHost *host, gconstpointer data, GError **error)
{
  const Params *p = data;
  const FabSeries series = {
    .kind = FAB_MEASURE_LATENCY, .backend = (char *) "fake", .from = (char *) "gpu0", .to = (char *) "host"
  };

  if (p->is_broken)
    return fab_throw (error, FAB_ERROR_UNSUPPORTED, "there is no such device");
  host->machine (host, "gpu0", "made up");
  host->note (host, "Nothing is measured here.");
  return !host->plan->kinds[FAB_MEASURE_LATENCY]
      || host->measure (host, &series, 0, move, (gpointer) p, error);
}

static const FabMeasureBackend backend = {
  .abi = FAB_MEASURE_ABI,
  .info = { .name = "nccl",
            .summary = "made up",
            .doc = "docs/how-to/measure.md",
            .params = params,
            .params_size = sizeof (Params) },
  .needs = "nothing",
  .measure = measure,
};

const FabMeasureBackend *fab_measure_backend (void);

const FabMeasureBackend *
fab_measure_backend (void)
{
  return &backend;
}
