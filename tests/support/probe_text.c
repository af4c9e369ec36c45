/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/probe_text.h"

#define PS "%" G_GINT64_FORMAT " "

static void
add_times (const FabIterationRecord *r, GString *text)
{
  g_string_append_printf (text, "iteration %u class %u " PS PS PS PS PS PS PS PS PS "\n", r->iteration,
                          r->rank_class, r->start_ps, r->duration_ps, r->compute_ps, r->comm_ps,
                          r->overlapped_ps, r->exposed_ps, r->idle_ps, r->waiting_ps,
                          r->exposed_inter_node_ps);
}

static void
add_span (const FabSpanRecord *r, GString *text)
{
  g_string_append_printf (text, "span %u %u %d %s/%s " PS PS "%d\n", r->iteration, r->rank_class,
                          (int) r->kind, r->stream, r->name, r->start_ps, r->end_ps, r->collective);
}

static void
add_collective (const FabCollectiveRecord *r, GString *text)
{
  g_string_append_printf (text,
                          "collective %u %u %s %s %s %s %u %u %" G_GUINT64_FORMAT " " PS PS PS PS
                          "%a %a %u\n",
                          r->iteration, r->index, r->name, r->op, r->algorithm, r->protocol, r->n_channels,
                          r->n_ranks, r->bytes, r->ready_ps, r->start_ps, r->end_ps, r->exposed_ps,
                          r->algbw_bytes_per_s, r->busbw_bytes_per_s, r->binding_link);
}

static void
add_reasons (const FabProbe *probe, GString *text)
{
  for (guint i = 0; i < probe->exposures->len; i++) {
    const FabExposureRecord *r = &g_array_index (probe->exposures, FabExposureRecord, i);

    g_string_append_printf (text, "exposure %u %u %s %s %u %" G_GUINT64_FORMAT " " PS PS PS PS "\n",
                            r->iteration, r->rank_class, r->dimension, r->op, r->n_collectives, r->bytes,
                            r->comm_ps, r->exposed_ps, r->exposed_inter_node_ps, r->waiting_ps);
  }
  for (guint i = 0; i < probe->path->len; i++) {
    const FabPathRecord *r = &g_array_index (probe->path, FabPathRecord, i);

    g_string_append_printf (text, "path %u %u %u %s/%s " PS PS "%u\n", r->iteration, r->place, r->rank_class,
                            r->stream, r->name, r->start_ps, r->end_ps, r->binding_link);
  }
  for (guint i = 0; i < probe->samples->len; i++) {
    const FabLinkSampleRecord *r = &g_array_index (probe->samples, FabLinkSampleRecord, i);

    g_string_append_printf (text, "sample %u %u " PS PS "%a\n", r->iteration, r->link, r->start_ps, r->end_ps,
                            r->bytes_per_s);
  }
}

void
probe_text (const FabProbe *probe, GString *text)
{
  add_times (&probe->step.times, text);
  g_string_append_printf (text, "%a %a %a\n", probe->step.mfu_fraction, probe->step.hfu_fraction,
                          probe->step.tokens_per_s);
  for (guint i = 0; i < probe->iterations->len; i++)
    add_times (&g_array_index (probe->iterations, FabIterationRecord, i), text);
  for (guint i = 0; i < probe->spans->len; i++)
    add_span (&g_array_index (probe->spans, FabSpanRecord, i), text);
  for (guint i = 0; i < probe->collectives->len; i++)
    add_collective (&g_array_index (probe->collectives, FabCollectiveRecord, i), text);
  for (guint i = 0; i < probe->link_loads->len; i++) {
    const FabLinkLoadRecord *r = &g_array_index (probe->link_loads, FabLinkLoadRecord, i);

    g_string_append_printf (text, "load %u %u %" G_GUINT64_FORMAT " %a\n", r->iteration, r->link, r->bytes,
                            r->busy_fraction);
  }
  add_reasons (probe, text);
}
