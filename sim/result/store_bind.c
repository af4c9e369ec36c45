/* SPDX-License-Identifier: Apache-2.0 */
/* store_bind.c - binds the fields of each record to the columns of its table.
 *
 * `self` supplies the run, the first column of every table. Texts are bound without a copy. */
#include "sim/result/store_private.h"

#include <sqlite3.h>

static void
bind_text (sqlite3_stmt *stmt, gint column, const char *text)
{
  sqlite3_bind_text (stmt, column, text, -1, SQLITE_STATIC);
}

static void
bind_bytes (sqlite3_stmt *stmt, gint column, guint64 bytes)
{
  g_assert (bytes <= G_MAXINT64);
  sqlite3_bind_int64 (stmt, column, (gint64) bytes);
}

/* Binds an index; a negative one becomes NULL. */
static void
bind_index (sqlite3_stmt *stmt, gint column, gint64 index)
{
  if (index < 0)
    sqlite3_bind_null (stmt, column);
  else
    sqlite3_bind_int64 (stmt, column, index);
}

static void
bind_link_id (sqlite3_stmt *stmt, gint column, guint link)
{
  bind_index (stmt, column, link == FAB_RECORD_NO_LINK ? -1 : (gint64) link);
}

static void
bind_run (G_GNUC_UNUSED FabStore *self, sqlite3_stmt *stmt, gint column, gconstpointer row)
{
  const FabRunRecord *run = row;

  sqlite3_bind_null (stmt, column); /* SQLite numbers the row itself */
  bind_text (stmt, column + 1, run->name);
  bind_text (stmt, column + 2, run->scenario_yaml);
  bind_text (stmt, column + 3, run->version);
  bind_text (stmt, column + 4, run->fidelity);
  sqlite3_bind_int64 (stmt, column + 5, run->seed);
  sqlite3_bind_int64 (stmt, column + 6, run->n_ranks);
  sqlite3_bind_int64 (stmt, column + 7, run->n_nodes);
  sqlite3_bind_double (stmt, column + 8, run->peak_flops_per_s);
  bind_bytes (stmt, column + 9, run->memory_bytes);
  sqlite3_bind_double (stmt, column + 10, run->train_tokens);
}

static void
bind_class (FabStore *self, sqlite3_stmt *stmt, gint column, gconstpointer row)
{
  const FabRankClassRecord *class = row;

  sqlite3_bind_int64 (stmt, column, self->run_id);
  sqlite3_bind_int64 (stmt, column + 1, class->rank_class);
  sqlite3_bind_int64 (stmt, column + 2, class->first_rank);
  sqlite3_bind_int64 (stmt, column + 3, class->n_ranks);
  bind_text (stmt, column + 4, class->name);
}

static void
bind_link (FabStore *self, sqlite3_stmt *stmt, gint column, gconstpointer row)
{
  const FabLinkRecord *link = row;

  sqlite3_bind_int64 (stmt, column, self->run_id);
  sqlite3_bind_int64 (stmt, column + 1, link->link);
  bind_text (stmt, column + 2, link->from);
  bind_text (stmt, column + 3, link->to);
  bind_text (stmt, column + 4, link->spec);
  sqlite3_bind_int64 (stmt, column + 5, link->count);
  bind_bytes (stmt, column + 6, link->line_rate_bytes_per_s);
  sqlite3_bind_int64 (stmt, column + 7, link->latency_ps);
}

static void
bind_times (sqlite3_stmt *stmt, gint column, const FabIterationRecord *times)
{
  sqlite3_bind_int64 (stmt, column, times->start_ps);
  sqlite3_bind_int64 (stmt, column + 1, times->duration_ps);
  sqlite3_bind_int64 (stmt, column + 2, times->compute_ps);
  sqlite3_bind_int64 (stmt, column + 3, times->comm_ps);
  sqlite3_bind_int64 (stmt, column + 4, times->overlapped_ps);
  sqlite3_bind_int64 (stmt, column + 5, times->exposed_ps);
  sqlite3_bind_int64 (stmt, column + 6, times->idle_ps);
}

static void
bind_step (FabStore *self, sqlite3_stmt *stmt, gint column, gconstpointer row)
{
  const FabStepRecord *step = row;

  sqlite3_bind_int64 (stmt, column, self->run_id);
  sqlite3_bind_int64 (stmt, column + 1, step->times.iteration);
  bind_times (stmt, column + 2, &step->times);
  sqlite3_bind_double (stmt, column + 9, step->mfu_fraction);
  sqlite3_bind_double (stmt, column + 10, step->hfu_fraction);
  sqlite3_bind_double (stmt, column + 11, step->tokens_per_s);
}

static void
bind_iteration (FabStore *self, sqlite3_stmt *stmt, gint column, gconstpointer row)
{
  const FabIterationRecord *times = row;

  sqlite3_bind_int64 (stmt, column, self->run_id);
  sqlite3_bind_int64 (stmt, column + 1, times->iteration);
  sqlite3_bind_int64 (stmt, column + 2, times->rank_class);
  bind_times (stmt, column + 3, times);
}

static void
bind_collective (FabStore *self, sqlite3_stmt *stmt, gint column, gconstpointer row)
{
  const FabCollectiveRecord *collective = row;

  sqlite3_bind_int64 (stmt, column, self->run_id);
  sqlite3_bind_int64 (stmt, column + 1, collective->iteration);
  sqlite3_bind_int64 (stmt, column + 2, collective->index);
  bind_text (stmt, column + 3, collective->name);
  bind_text (stmt, column + 4, collective->op);
  bind_text (stmt, column + 5, collective->dimension);
  bind_text (stmt, column + 6, collective->algorithm);
  bind_text (stmt, column + 7, collective->protocol);
  sqlite3_bind_int64 (stmt, column + 8, collective->n_channels);
  sqlite3_bind_int64 (stmt, column + 9, collective->n_ranks);
  bind_bytes (stmt, column + 10, collective->bytes);
  sqlite3_bind_int64 (stmt, column + 11, collective->ready_ps);
  sqlite3_bind_int64 (stmt, column + 12, collective->start_ps);
  sqlite3_bind_int64 (stmt, column + 13, collective->end_ps);
  sqlite3_bind_int64 (stmt, column + 14, collective->exposed_ps);
  sqlite3_bind_double (stmt, column + 15, collective->algbw_bytes_per_s);
  sqlite3_bind_double (stmt, column + 16, collective->busbw_bytes_per_s);
  bind_link_id (stmt, column + 17, collective->binding_link);
}

static const char *
span_kind_name (FabSpanKind kind)
{
  switch (kind) {
  case FAB_SPAN_COMPUTE: return "compute";
  case FAB_SPAN_COMM: return "comm";
  case FAB_SPAN_LOAD: return "load";
  case FAB_SPAN_WAIT: return "wait";
  }
  g_assert_not_reached ();
}

static void
bind_span (FabStore *self, sqlite3_stmt *stmt, gint column, gconstpointer row)
{
  const FabSpanRecord *span = row;

  sqlite3_bind_int64 (stmt, column, self->run_id);
  sqlite3_bind_int64 (stmt, column + 1, self->n_spans++);
  sqlite3_bind_int64 (stmt, column + 2, span->iteration);
  sqlite3_bind_int64 (stmt, column + 3, span->rank_class);
  bind_text (stmt, column + 4, span_kind_name (span->kind));
  bind_text (stmt, column + 5, span->stream);
  bind_text (stmt, column + 6, span->name);
  sqlite3_bind_int64 (stmt, column + 7, span->start_ps);
  sqlite3_bind_int64 (stmt, column + 8, span->end_ps);
  bind_index (stmt, column + 9, span->collective);
}

static void
bind_link_load (FabStore *self, sqlite3_stmt *stmt, gint column, gconstpointer row)
{
  const FabLinkLoadRecord *load = row;

  sqlite3_bind_int64 (stmt, column, self->run_id);
  sqlite3_bind_int64 (stmt, column + 1, load->iteration);
  sqlite3_bind_int64 (stmt, column + 2, load->link);
  bind_bytes (stmt, column + 3, load->bytes);
  sqlite3_bind_double (stmt, column + 4, load->busy_fraction);
}

static void
bind_exposure (FabStore *self, sqlite3_stmt *stmt, gint column, gconstpointer row)
{
  const FabExposureRecord *exposure = row;

  sqlite3_bind_int64 (stmt, column, self->run_id);
  sqlite3_bind_int64 (stmt, column + 1, exposure->iteration);
  sqlite3_bind_int64 (stmt, column + 2, exposure->rank_class);
  bind_text (stmt, column + 3, exposure->dimension);
  bind_text (stmt, column + 4, exposure->op);
  sqlite3_bind_int64 (stmt, column + 5, exposure->n_collectives);
  bind_bytes (stmt, column + 6, exposure->bytes);
  sqlite3_bind_int64 (stmt, column + 7, exposure->comm_ps);
  sqlite3_bind_int64 (stmt, column + 8, exposure->exposed_ps);
}

static void
bind_path (FabStore *self, sqlite3_stmt *stmt, gint column, gconstpointer row)
{
  const FabPathRecord *path = row;

  sqlite3_bind_int64 (stmt, column, self->run_id);
  sqlite3_bind_int64 (stmt, column + 1, path->iteration);
  sqlite3_bind_int64 (stmt, column + 2, path->place);
  sqlite3_bind_int64 (stmt, column + 3, path->rank_class);
  bind_text (stmt, column + 4, path->stream);
  bind_text (stmt, column + 5, span_kind_name (path->kind));
  bind_text (stmt, column + 6, path->name);
  sqlite3_bind_int64 (stmt, column + 7, path->start_ps);
  sqlite3_bind_int64 (stmt, column + 8, path->end_ps);
  bind_index (stmt, column + 9, path->collective);
  bind_link_id (stmt, column + 10, path->binding_link);
}

static void
bind_link_sample (FabStore *self, sqlite3_stmt *stmt, gint column, gconstpointer row)
{
  const FabLinkSampleRecord *sample = row;

  sqlite3_bind_int64 (stmt, column, self->run_id);
  sqlite3_bind_int64 (stmt, column + 1, sample->iteration);
  sqlite3_bind_int64 (stmt, column + 2, sample->link);
  sqlite3_bind_int64 (stmt, column + 3, sample->start_ps);
  sqlite3_bind_int64 (stmt, column + 4, sample->end_ps);
  sqlite3_bind_double (stmt, column + 5, sample->bytes_per_s);
}

static void
bind_link_queue (FabStore *self, sqlite3_stmt *stmt, gint column, gconstpointer row)
{
  const FabLinkQueueRecord *queue = row;

  sqlite3_bind_int64 (stmt, column, self->run_id);
  sqlite3_bind_int64 (stmt, column + 1, queue->link);
  bind_bytes (stmt, column + 2, queue->carried_bytes);
  bind_bytes (stmt, column + 3, queue->most_bytes);
  sqlite3_bind_double (stmt, column + 4, queue->mean_bytes);
  sqlite3_bind_int64 (stmt, column + 5, (sqlite3_int64) queue->n_stalls);
  sqlite3_bind_int64 (stmt, column + 6, (sqlite3_int64) queue->n_marks);
  sqlite3_bind_int64 (stmt, column + 7, (sqlite3_int64) queue->n_pauses);
  sqlite3_bind_int64 (stmt, column + 8, (sqlite3_int64) queue->n_drops);
}

static void
bind_memory (FabStore *self, sqlite3_stmt *stmt, gint column, gconstpointer row)
{
  const FabMemoryRecord *memory = row;

  sqlite3_bind_int64 (stmt, column, self->run_id);
  sqlite3_bind_int64 (stmt, column + 1, memory->rank_class);
  bind_text (stmt, column + 2, memory->part);
  bind_bytes (stmt, column + 3, memory->bytes);
}

const FabInsert fab_inserts[FAB_N_INSERTS] = {
  [FAB_INSERT_RUN] = { "the run", "run", 11, sizeof (FabRunRecord), bind_run },
  [FAB_INSERT_CLASS] = { "rank classes", "rank_class", 5, sizeof (FabRankClassRecord), bind_class },
  [FAB_INSERT_LINK] = { "links", "link", 8, sizeof (FabLinkRecord), bind_link },
  [FAB_INSERT_STEP] = { "iterations", "iteration", 12, sizeof (FabStepRecord), bind_step },
  [FAB_INSERT_ITERATION] = { "iterations of classes", "iteration_class", 10, sizeof (FabIterationRecord),
                             bind_iteration },
  [FAB_INSERT_COLLECTIVE] = { "collectives", "collective", 18, sizeof (FabCollectiveRecord),
                              bind_collective },
  [FAB_INSERT_SPAN] = { "spans", "span", 10, sizeof (FabSpanRecord), bind_span },
  [FAB_INSERT_LINK_LOAD] = { "link loads", "link_load", 5, sizeof (FabLinkLoadRecord), bind_link_load },
  [FAB_INSERT_EXPOSURE] = { "exposures", "exposure", 9, sizeof (FabExposureRecord), bind_exposure },
  [FAB_INSERT_PATH] = { "the critical path", "critical_path", 11, sizeof (FabPathRecord), bind_path },
  [FAB_INSERT_LINK_SAMPLE] = { "link samples", "link_sample", 6, sizeof (FabLinkSampleRecord),
                               bind_link_sample },
  [FAB_INSERT_LINK_QUEUE] = { "link queues", "link_queue", 9, sizeof (FabLinkQueueRecord), bind_link_queue },
  [FAB_INSERT_MEMORY] = { "memory", "memory", 4, sizeof (FabMemoryRecord), bind_memory },
};
