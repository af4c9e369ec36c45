/* SPDX-License-Identifier: Apache-2.0 */
/* report_parts.h - what the files of a report's data share: one run while it is read, and its parts. */
#pragma once

#include "cli/report.h"
#include "sim/base/json.h"

/* A run, and the iteration that is shown: the last. */
typedef struct {
  const FabReportRequest *request;
  gint64 id, iteration;
  FabTimePs start_ps, duration_ps;
  char *scenario; /* YAML */
  FabJson *json;  /* where its members go */
} FabReportRun;

/* Asks about the run; `sql` may hold :run, and :iteration is replaced. */
gboolean fab_report_each (const FabReportRun *run, const char *sql, FabStoreRowFunc on_row, gpointer data,
                          GError **error);

/* An array of objects. `sql` begins with the names of its columns: "from to|SELECT a, b FROM ...". */
gboolean fab_report_rows (const FabReportRun *run, const char *key, const char *sql, GError **error);

/* Members of the run's object, each by its own key. */
gboolean fab_report_add_timeline (const FabReportRun *run, guint max_spans, GError **error);
gboolean fab_report_add_links (const FabReportRun *run, GError **error);
gboolean fab_report_add_sources (const FabReportRun *run, GError **error);

/* Of a run, or of the sweep that is chosen: member "tables". */
gboolean fab_report_add_tables (const FabReportRequest *request, gboolean of_sweep, gint64 run_id,
                                FabJson *json, GError **error);
/* Whether a named question is a table of a run, or of a sweep. */
gboolean fab_report_is_table (const FabQuery *query, gboolean of_sweep);

/* One sweep as an item of an array. */
gboolean fab_report_add_sweep (const FabReportRequest *request, gint64 sweep_id, FabJson *json,
                               GError **error);

/* Whether the file has a table: it may be of an older program. */
gboolean fab_report_has (FabStore *store, const char *table);
