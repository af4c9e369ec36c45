/* SPDX-License-Identifier: Apache-2.0 */
/* copies.c - lets the host measure series of copies and of ping-pong. */
#include "validate/measure/cuda/ping.h"
#include "validate/measure/cuda/run.h"

/* The shortest sample: events and the first copy take about 2 us to start, 0.2 % of this. */
#define MIN_SAMPLE_PS G_GINT64_CONSTANT (1000000000)

typedef struct {
  FabMeasureKind kind;
  guint n_lanes;
  FabTimedFunc func;
} Method;

static const Method methods[] = {
  { FAB_MEASURE_LATENCY, 1, fab_lanes_single },
  { FAB_MEASURE_BANDWIDTH, 1, fab_lanes_stream },
  { FAB_MEASURE_EXCHANGE, 2, fab_lanes_exchange },
  { FAB_MEASURE_BIDIRECTIONAL, 2, fab_lanes_stream },
};

FabSeries
fab_cuda_series (const FabGpu *from, const FabGpu *to, const char *host_memory, const char *method)
{
  return (FabSeries){
    .backend = (char *) "cuda",
    .from = from ? from->name : (char *) "host",
    .to = to ? to->name : (char *) "host",
    .from_memory = (char *) (from ? "gpu" : host_memory),
    .to_memory = (char *) (to ? "gpu" : host_memory),
    .method = (char *) method,
    .n_ranks = 2,
    .n_pairs = 1,
  };
}

static gboolean
set_lane (FabLanes *lanes, guint index, const FabWay *way, GError **error)
{
  return fab_lanes_set (lanes, index, way->how, way->from, way->to, way->host, error);
}

gboolean
fab_cuda_lanes (FabCudaRun *run, const FabSeries *series, FabLanes *lanes, FabBytes max_bytes,
                FabTimedFunc func, GError **error)
{
  FabSeries own = *series;
  gboolean is_ok;

  if (func == fab_lanes_stream)
    own.window = lanes->window;
  run->host->min_sample_ps = func == fab_lanes_single ? 0 : MIN_SAMPLE_PS;
  is_ok = run->host->measure (run->host, &own, max_bytes, func, lanes, error);
  run->host->min_sample_ps = 0;
  return is_ok;
}

static gboolean
measure_kind (FabCudaRun *run, const FabCopies *copies, const Method *method, GError **error)
{
  g_autoptr (FabLanes) lanes = fab_lanes_new (run->gpus, method->n_lanes, 1, run->window);
  FabSeries series = copies->series;

  lanes->is_held = !copies->is_pageable;
  series.kind = method->kind;
  return set_lane (lanes, 0, &copies->there, error)
      && (method->n_lanes == 1 || set_lane (lanes, 1, &copies->back, error))
      && fab_cuda_lanes (run, &series, lanes, 0, method->func, error);
}

gboolean
fab_cuda_copies (FabCudaRun *run, const FabCopies *copies, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (methods); i++)
    if ((copies->kinds & 1u << methods[i].kind) && run->host->plan->kinds[methods[i].kind]
        && !measure_kind (run, copies, &methods[i], error))
      return FALSE;
  return TRUE;
}

gboolean
fab_cuda_ping (FabCudaRun *run, const FabGpu *begins, const FabGpu *answers, GError **error)
{
  FabSeries series = fab_cuda_series (begins, answers, "host", answers ? "kernel" : "flag");
  FabPingPong ping;
  gboolean is_ok;

  if (!run->host->plan->kinds[FAB_MEASURE_LATENCY])
    return TRUE;
  series.kind = FAB_MEASURE_LATENCY;
  if (!answers)
    /* both flags are in the same memory */
    series.from_memory = series.to_memory;
  is_ok = fab_ping_open (&ping, run->gpus, begins, answers, error)
       && run->host->measure (run->host, &series, answers ? run->params->ping_bytes : sizeof (guint64),
                              fab_ping_time, &ping, error);
  fab_ping_close (&ping);
  return is_ok;
}
