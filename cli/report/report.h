/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - runs and sweeps of a results file as one page, for `fabricast report` and for whoever serves the page.
 *
 *   store, run ids  --fab_report_data-->  JSON text  --fab_report_page-->  one HTML text that needs nothing else
 *
 * The page draws `fabricast.render (data)` in its own script, with what JSON.parse makes of that text: once at the
 * start, and whenever another script calls it with fresh data. It redraws everything and keeps what the reader chose
 * (the run, what was opened), so a page that is served can fetch data of the same form and hand it over:
 *
 *   fetch ("run", { method: "POST", body: knobs }).then ((r) => r.json ()).then (fabricast.render);
 *
 * Such a page brings its own controls, style and script (FabReportPage). Everything that a person wrote (names,
 * scenarios) is data, set as text and never as markup.
 */
#pragma once

#include "sim/base/json.h"
#include "sim/result/store.h"
#include "sim/scenario/catalog.h"

typedef struct {
  FabStore *store;
  const gint64 *runs; /* ids; the first is the one that opens */
  guint n_runs;
  const gint64 *sweeps; /* ids */
  guint n_sweeps;
  const FabCatalog *catalog; /* for the sources of numbers; NULL: they are left out */
  guint max_spans;           /* of all runs in their timelines; more are drawn together. 0: the usual */
  guint max_rows;            /* of a table; 0: the usual */
  gboolean has_tables;       /* a redraw while a knob moves can do without them */
} FabReportRequest;

/* The data of the page, as JSON. (transfer full) */
char *fab_report_data (const FabReportRequest *request, GError **error);

/* What a page has beyond the report. Its texts are trusted: they go into the page as they are. */
typedef struct {
  const char *data;     /* of fab_report_data */
  const char *title;    /* any text; NULL: "Fabricast report" */
  const char *controls; /* HTML above the answer; NULL: none */
  const char *style;    /* CSS; NULL: none */
  const char *script;   /* JavaScript that runs after the first drawing; NULL: none */
  gboolean compares;    /* several runs, or a sweep: curves and maps can be drawn too */
  gboolean asks_server; /* the script may fetch from where the page came from; else from nowhere */
} FabReportPage;

/* The whole page; FAB_ERROR_UNSUPPORTED where the program was built without D3. (transfer full) */
char *fab_report_page (const FabReportPage *page, GError **error);

/* A file of the page: "page.css"; FAB_ERROR_UNSUPPORTED for D3, where the program was built without. (transfer full) */
char *fab_report_resource (const char *name, GError **error);

/* Declares what the files of a report's data share: a run that is being read, and its parts. */

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

/* Add members to the run's object, each under its own key. */
gboolean fab_report_add_timeline (const FabReportRun *run, guint max_spans, GError **error);
gboolean fab_report_add_links (const FabReportRun *run, GError **error);
gboolean fab_report_add_sources (const FabReportRun *run, GError **error);

/* Says whether a named query is a table of a run, or of a sweep. */
gboolean fab_report_is_table (const FabQuery *query, gboolean of_sweep);
