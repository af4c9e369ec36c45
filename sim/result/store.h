/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - results in SQLite, and the only user of SQLite for results. Schema: docs/reference/results-schema.md.
 *
 * A run is one transaction from begin to commit: a killed or failed run leaves nothing. One file holds several runs,
 * and several processes may write to it in turn (WAL, busy timeout). A file that is not a Fabricast database, or has a
 * newer schema, is refused unchanged. A file with an older schema is brought to the present one when it is opened for
 * writing. A reader asks a copy that was brought there, and leaves the file as it is. Every function that fails says
 * which file, what is wrong and what to do; this includes full disks and read-only files. A store owns its connection;
 * one thread at a time may use it.
 */
#pragma once

#include "sim/result/record.h"
#include "sim/result/table.h"

typedef struct _FabStore FabStore;

typedef enum { FAB_STORE_READ, FAB_STORE_WRITE /* the file is created when it is missing */ } FabStoreMode;

FabStore *fab_store_open (const char *path, FabStoreMode mode, GError **error);

/* Opens a store that lives in memory only, for a caller that queries its results at once. (transfer full) */
FabStore *fab_store_new (GError **error);
void fab_store_free (FabStore *self); /* rolls back an open run */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabStore, fab_store_free)

/* Frees *self, clears it, and leaves a single file: the write-ahead log is merged into it and removed. FALSE: the
 * committed runs are safe, but some of them are still in PATH-wal (the disk filled up). fab_store_free does the same
 * without a message. A log that another process still uses is left to that process. */
gboolean fab_store_close (FabStore **self, GError **error);

/* Stores one run. Ids count from 1; begin sets *run_id (which may be NULL). Rows refer to rows that were added before
 * them, so add classes and links first. Then add the rest in the order of these functions, iteration by iteration or
 * all at once. From begin to commit other writers wait (for minutes, then they give up); readers do not wait. When a
 * call fails, the run is dropped and another may begin. */
gboolean fab_store_begin_run (FabStore *self, const FabRunRecord *run, gint64 *run_id, GError **error);
gboolean fab_store_add_classes (FabStore *self, const FabRankClassRecord *rows, guint n, GError **error);
gboolean fab_store_add_memory (FabStore *self, const FabMemoryRecord *rows, guint n, GError **error);
gboolean fab_store_add_links (FabStore *self, const FabLinkRecord *rows, guint n, GError **error);
gboolean fab_store_add_steps (FabStore *self, const FabStepRecord *rows, guint n, GError **error);
gboolean fab_store_add_iterations (FabStore *self, const FabIterationRecord *rows, guint n, GError **error);
gboolean fab_store_add_collectives (FabStore *self, const FabCollectiveRecord *rows, guint n, GError **error);
gboolean fab_store_add_spans (FabStore *self, const FabSpanRecord *rows, guint n, GError **error);
gboolean fab_store_add_link_loads (FabStore *self, const FabLinkLoadRecord *rows, guint n, GError **error);
gboolean fab_store_add_exposures (FabStore *self, const FabExposureRecord *rows, guint n, GError **error);
gboolean fab_store_add_path (FabStore *self, const FabPathRecord *rows, guint n, GError **error);
gboolean fab_store_add_link_samples (FabStore *self, const FabLinkSampleRecord *rows, guint n,
                                     GError **error);
gboolean fab_store_add_queue_lengths (FabStore *self, const FabQueueLengthRecord *rows, guint n,
                                      GError **error);
gboolean fab_store_add_link_queues (FabStore *self, const FabLinkQueueRecord *rows, guint n, GError **error);
gboolean fab_store_add_findings (FabStore *self, const FabFindingRecord *rows, guint n, GError **error);
gboolean fab_store_add_memo (FabStore *self, const FabMemoRecord *row, GError **error);
gboolean fab_store_add_pace (FabStore *self, const FabPaceRecord *row, GError **error);
gboolean fab_store_add_goodput (FabStore *self, const FabGoodputRecord *row, GError **error);
gboolean fab_store_commit_run (FabStore *self, GError **error);

/* What is found of a run after it was stored. */
typedef struct {
  const FabBandRecord *bands;
  const FabLeverRecord *levers;
  const FabFindingRecord *findings; /* in place of those that the run has; NULL: those stay */
  guint n_bands, n_levers, n_findings;
} FabOutlookRecords;

/* Adds to a run that is stored how sure it is and what limits it, in one transaction. FALSE and *error when that
 * fails; the run itself stays. */
gboolean fab_store_add_outlook (FabStore *self, gint64 run_id, const FabOutlookRecords *records,
                                GError **error);

/* Drops the run that was begun and not committed, if there is one. */
void fab_store_abandon_run (FabStore *self);

/* --- sweeps --- */

/* Finds the sweep with this fingerprint, and creates it when the file has none. */
gboolean fab_store_open_sweep (FabStore *self, const FabSweepRecord *sweep, gint64 *sweep_id, GError **error);

/* Adds those of the points that are missing, in one transaction, and sets *n_added (which may be NULL) to their
 * number. The result of a point does not depend on the process that simulates it, so the first one is kept. */
gboolean fab_store_add_points (FabStore *self, gint64 sweep_id, const FabSweepPointRecord *rows, guint n,
                               guint *n_added, GError **error);

/* Whether another process has changed the file since the last call. */
gboolean fab_store_has_changed (FabStore *self);

/* Sets marks[i] to 1 for every stored point i of the `n` points. */
gboolean fab_store_mark_points (FabStore *self, gint64 sweep_id, guint8 *marks, gint64 n, GError **error);

/* Called for the points in the order of their numbers; texts live until the function returns. */
typedef void (*FabSweepPointFunc) (const FabSweepPointRecord *point, gpointer data);
gboolean fab_store_each_point (FabStore *self, gint64 sweep_id, FabSweepPointFunc on_point, gpointer data,
                               GError **error);

/* Limits what one query may return and how long it may take; 0, the default: no limit. */
void fab_store_limit_queries (FabStore *self, guint64 max_rows, guint max_s);

/* Chooses the sweep that :sweep means in queries; 0, the default: the last one. */
void fab_store_choose_sweep (FabStore *self, gint64 sweep_id);

/* Named queries (`fabricast query`): each is one SQL statement over the views. Its columns carry their unit. `run_id`
 * 0: the last run. */
typedef struct {
  const char *name;    /* "exposed" */
  const char *summary; /* "Exposed communication per iteration." */
  const char
      *sql; /* one statement, with :run bound to the run and :sweep to the sweep; see fab_query_sql () */
} FabQuery;

extern const FabQuery fab_queries[]; /* ended by a row without name */

/* The statement with all columns that its view shows. (transfer full) */
char *fab_query_sql (const FabQuery *query);

const FabQuery *fab_query_find (const char *name); /* NULL: there is no such query */

/* Runs a query. `sql` may be any single read-only statement; a statement that would change the file or open another
 * one is refused. It is an error to use :run in a file without runs or for a run that is missing, and likewise for
 * :sweep, and to query a file that has neither. (transfer full) */
FabTable *fab_store_query (FabStore *self, const char *sql, gint64 run_id, GError **error);

/* Sets *has: whether the file has a column of a table, or the table (`column` NULL). A file of an older program may
 * lack it. FALSE and *error: the file cannot be read, which says nothing of what it has. */
gboolean fab_store_has (FabStore *self, const char *table, const char *column, gboolean *has, GError **error);

/* Returning FALSE with *error set ends the reading. */
typedef gboolean (*FabStoreRowFunc) (const FabField *fields, gpointer data, GError **error);

/* As fab_store_query, but passes on one row at a time, so that memory does not grow with the answer. `on_row` may run
 * other queries on the store. */
gboolean fab_store_each (FabStore *self, const char *sql, gint64 run_id, FabStoreRowFunc on_row,
                         gpointer data, GError **error);

/* Sets *found to run_id, or for 0 to the last run. */
gboolean fab_store_find_run (FabStore *self, gint64 run_id, gint64 *found, GError **error);
