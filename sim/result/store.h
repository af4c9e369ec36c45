/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - results in SQLite. The only door to SQLite. Schema: docs/results-schema.md.
 *
 * A run is one transaction from begin to commit: a killed or failed run leaves nothing.
 * Several runs live in one file, several processes may write to it in turn (WAL, busy
 * timeout). A file that is no Fabricast database, or of a newer schema, is refused untouched; one of an
 * older schema can be asked, but takes no runs.
 * Every function that fails says which file, what is wrong and what to do; disk full and
 * read-only files included. A store belongs to one thread at a time.
 */
#pragma once

#include "sim/result/record.h"
#include "sim/result/table.h"

typedef struct _FabStore FabStore;

typedef enum { FAB_STORE_READ, FAB_STORE_WRITE /* created when missing */ } FabStoreMode;

FabStore *fab_store_open (const char *path, FabStoreMode mode, GError **error);
/* One that is nowhere but in memory, for who asks at once: it takes runs and answers. */
FabStore *fab_store_new (GError **error);
void fab_store_free (FabStore *self); /* rolls back an open run */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabStore, fab_store_free)

/* Frees *self, clears it, and leaves a single file: the write-ahead log is folded in and removed.
 * FALSE: the committed runs are safe, but some of them still lie in PATH-wal (the disk filled
 * up). fab_store_free does the same and keeps quiet. A log that another process still uses is
 * left to that process. */
gboolean fab_store_close (FabStore **self, GError **error);

/* One run. Ids count from 1; *run_id (may be NULL) is set by begin. Rows name rows that were added
 * before them, so add classes and links first and then, iteration by iteration or all at once, in
 * the order of these lines. From begin to commit other writers wait (for minutes, then they give
 * up), readers do not. When a call fails, the run is gone and another may begin. */
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
gboolean fab_store_add_link_queues (FabStore *self, const FabLinkQueueRecord *rows, guint n, GError **error);
gboolean fab_store_commit_run (FabStore *self, GError **error);

/* --- sweeps --- */

/* The sweep with this fingerprint; a new one when the file has none. */
gboolean fab_store_open_sweep (FabStore *self, const FabSweepRecord *sweep, gint64 *sweep_id, GError **error);

/* Adds those of the points that are not there yet, in one transaction; *n_added (may be NULL): how many those were.
 * Points of a sweep are the same whoever plays them, so it does not matter who comes first. */
gboolean fab_store_add_points (FabStore *self, gint64 sweep_id, const FabSweepPointRecord *rows, guint n,
                               guint *n_added, GError **error);

/* Has another process changed the file since this was last asked? */
gboolean fab_store_has_changed (FabStore *self);

/* Sets the bytes of those points that are there, of `n` points, to 1. */
gboolean fab_store_mark_points (FabStore *self, gint64 sweep_id, guint8 *marks, gint64 n, GError **error);

/* In the order of their numbers; texts live until the function returns. */
typedef void (*FabSweepPointFunc) (const FabSweepPointRecord *point, gpointer data);
gboolean fab_store_each_point (FabStore *self, gint64 sweep_id, FabSweepPointFunc on_point, gpointer data,
                               GError **error);

/* Which sweep :sweep stands for in questions; 0, as at first: the last one. */
void fab_store_choose_sweep (FabStore *self, gint64 sweep_id);

/* Named questions (`fabricast query`): each is one SQL statement over the views, with columns
 * that carry their unit. `run_id` 0: the last run. */
typedef struct {
  const char *name;    /* "exposed" */
  const char *summary; /* "Exposed communication per iteration." */
  const char *sql;     /* one statement, :run bound to the run, :sweep to the sweep */
} FabQuery;

extern const FabQuery fab_queries[]; /* ended by a row without name */

const FabQuery *fab_query_find (const char *name); /* NULL: no such question */

/* `sql` may be any single read-only statement; whatever would change the file, or open another
 * one, is refused. Asking for :run of a file without a run, and a run that
 * is not in it, are errors, and the same with :sweep; so is a file without either. */
FabTable *fab_store_query (FabStore *self, const char *sql, gint64 run_id, GError **error);

/* One value of a row while it is read; nothing is copied. */
typedef struct {
  FabCellKind kind;
  gint64 integer;   /* of INTEGER */
  double real;      /* of REAL and INTEGER */
  const char *text; /* of TEXT, until the function returns; else NULL */
} FabField;

/* FALSE with *error ends the reading. */
typedef gboolean (*FabStoreRowFunc) (const FabField *fields, gpointer data, GError **error);

/* As fab_store_query, but hands over row by row, so that an answer of any size needs no memory. `on_row` may ask
 * the store again. */
gboolean fab_store_each (FabStore *self, const char *sql, gint64 run_id, FabStoreRowFunc on_row,
                         gpointer data, GError **error);

/* The run that `run_id` names: itself, or the last one for 0. */
gboolean fab_store_find_run (FabStore *self, gint64 run_id, gint64 *found, GError **error);
