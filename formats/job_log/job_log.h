/* SPDX-License-Identifier: Apache-2.0 */
/* job_log.h - logs of jobs that schedulers write: who came when, with how many nodes, for how long.
 *
 * Two formats are told apart by the first line that is no comment:
 *
 *   a table with a header, its columns divided by commas, semicolons, bars or tabs: sacct -P of Slurm, the traces of
 *   Helios, a table of one's own. Columns are known by name, whatever their case: see docs/how-to/mix.md
 *   the Standard Workload Format: 18 numbers a line; Feitelson, parallel workloads archive, version 2.2
 *
 * A file may be gzipped. Rows of jobs that never ran, or that had no node, are counted and left out.
 */
#pragma once

#include <glib.h>

typedef struct {
  double submit_s;   /* of the file's own clock: seconds since whatever it counts from */
  double duration_s; /* > 0 */
  guint64 n_nodes;   /* >= 1; of GPUs or processors, as many nodes as hold them */
  gint64 priority;   /* 0 where the file does not say it */
  const char *kind;  /* of the log; NULL where the file does not say it */
} FabJobLogRow;

typedef struct {
  GArray *rows; /* FabJobLogRow, sorted by submit_s; rows of one time keep the order of the file */
  GStringChunk *kinds;
  guint64 n_left_out; /* rows that are no job that ran */
  /* Of `rows`, those that ended in failure, and those that were stopped for others: they kept their nodes busy as well,
   * and count with the time that they ran. 0 where the file does not say how jobs ended. */
  guint64 n_failed, n_preempted;
} FabJobLog;

enum { FAB_JOB_LOG_MOST_ROWS = 5000000 };

/* NULL and *error: "file:line: what is wrong". (transfer full) */
FabJobLog *fab_job_log_read (const char *path, guint gpus_per_node, GError **error);
/* The same of bytes; `name` is what messages call them. */
FabJobLog *fab_job_log_parse (const char *name, const void *data, gsize size, guint gpus_per_node,
                              GError **error);
void fab_job_log_free (FabJobLog *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabJobLog, fab_job_log_free)
