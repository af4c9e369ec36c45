/* SPDX-License-Identifier: Apache-2.0 */
/* samples_private.h - declares what the files of the measurements file share. */
#pragma once

#include "validate/measure/samples.h"

#define FAB_SAMPLES_APPLICATION_ID 0x4641424d /* "FABM", at byte 68 of the file */
#define FAB_SAMPLES_SCHEMA_VERSION 1          /* user_version, at byte 60 */

struct sqlite3_stmt;

struct _FabSamples {
  char *path; /* as the user wrote it */
  struct sqlite3 *db;
  FabSamplesMode mode;
  gboolean has_schema;
  struct sqlite3_stmt *insert; /* prepared statement that adds a sample; NULL until first used */
};

/* Sets *error to what SQLite just reported; `doing` completes "cannot ...". Returns FALSE. */
gboolean fab_samples_fail (FabSamples *self, const char *doing, GError **error);
gboolean fab_samples_exec (FabSamples *self, const char *sql, const char *doing, GError **error);

/* Prepares a statement; NULL and *error on failure. (transfer full) */
struct sqlite3_stmt *fab_samples_prepare (FabSamples *self, const char *sql, GError **error);
/* Runs a statement without rows and frees it. `stmt` NULL is a failure that was already reported: returns FALSE. */
gboolean fab_samples_finish (FabSamples *self, struct sqlite3_stmt *stmt, const char *doing, GError **error);

/* Finds the series' id; -1: there is none. */
gboolean fab_samples_find_series (FabSamples *self, const FabSeries *series, gint64 *id, GError **error);
