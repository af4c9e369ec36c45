/* SPDX-License-Identifier: Apache-2.0 */
/* report_parts.h - declares what the files of a report's data share: a run that is being read, and its parts. */
#pragma once

#include "cli/report.h"
#include "sim/base/json.h"

/* A run, and its last iteration, which is shown. */
typedef struct {
  const FabReportRequest *request;
  gint64 id, iteration;
  FabTimePs start_ps, duration_ps;
  char *scenario; /* YAML */
  FabJson *json;  /* its members are appended here */
} FabReportRun;

/* Runs a query on the run; `sql` may contain :run, and :iteration is replaced. */
gboolean fab_report_each (const FabReportRun *run, const char *sql, FabStoreRowFunc on_row, gpointer data,
                          GError **error);

/* Adds an array of objects. `sql` begins with the names of its columns: "from to|SELECT a, b FROM ...". */
gboolean fab_report_rows (const FabReportRun *run, const char *key, const char *sql, GError **error);

/* Add members to the run's object, each under its own key. */
gboolean fab_report_add_timeline (const FabReportRun *run, guint max_spans, GError **error);
gboolean fab_report_add_links (const FabReportRun *run, GError **error);
gboolean fab_report_add_sources (const FabReportRun *run, GError **error);

/* Adds the member "tables" of a run, or of the chosen sweep. */
gboolean fab_report_add_tables (const FabReportRequest *request, gboolean of_sweep, gint64 run_id,
                                FabJson *json, GError **error);
/* Says whether a named query is a table of a run, or of a sweep. */
gboolean fab_report_is_table (const FabQuery *query, gboolean of_sweep);

/* Adds a sweep as an item of an array. */
gboolean fab_report_add_sweep (const FabReportRequest *request, gint64 sweep_id, FabJson *json,
                               GError **error);

/* Says whether the file has a table; a file of an older program may lack it. */
gboolean fab_report_has (FabStore *store, const char *table);
