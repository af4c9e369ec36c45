/* SPDX-License-Identifier: Apache-2.0 */
/* columns.h - the tables of a results file, column by column.
 *
 * A column says where its value stands in a record and how SQLite stores it. What follows is made from these rows, so
 * that a new column is one row here and one field in record.h: CREATE TABLE, INSERT and the migration of older files;
 * the views and questions that show the table; JSON and CSV of `fabricast run`; the tables and figures of the library;
 * the section "Tables" of docs/reference/results-schema.md. The first column of each table is the number of the run or
 * sweep that owns the row; it is in no record and not among the columns.
 *
 * Threads: all of this is constant.
 */
#pragma once

#include "sim/result/record.h"
#include "sim/result/table.h"

/* What varies in a sweep, as its two tables have it. */
typedef struct {
  guint axis; /* from 0 */
  const char *key;
} FabSweepAxisRow;

typedef struct {
  guint axis;
  guint item; /* from 0 */
  const char *value;
} FabSweepValueRow;

typedef enum {
  FAB_COLUMN_REAL,     /* double; NAN is NULL */
  FAB_COLUMN_WHOLE,    /* gint64; FAB_RECORD_UNKNOWN is NULL */
  FAB_COLUMN_UNSIGNED, /* guint64, at most G_MAXINT64: bytes, rates, counts of packets */
  FAB_COLUMN_COUNT,    /* guint; FAB_RECORD_NO_LINK is NULL */
  FAB_COLUMN_INDEX,    /* gint32; below 0 is NULL */
  FAB_COLUMN_TEXT,     /* const char *; NULL is NULL */
  FAB_COLUMN_SPAN,     /* FabSpanKind by its name */
  FAB_COLUMN_SERIAL,   /* no field: counts the rows of the run from 0 */
} FabColumnKind;

typedef struct {
  const char *name; /* with the unit at its end: "start_ps" */
  FabColumnKind kind;
  gsize offset; /* of the field in the record */
  gboolean may_be_null;
  gboolean is_unique;
  gboolean zero_is_null; /* of FAB_POINT_FIGURES */
  gboolean is_place;     /* says which row it is, or when: no figure of it */
  const char *check;     /* what must be true of the row; NULL: anything goes */
  guint since;           /* the version of the schema that brought it; 0: the first */
  const char *former;    /* its name in files of older versions; NULL: the same */
  const char *before; /* as SQL, what rows of older files get; NULL: NULL, or 0 or '' where that may not be */
  const char *meaning; /* a sentence for the table and its page; NULL: the name says it */
} FabColumn;

typedef enum {
  FAB_TABLE_RUN,
  FAB_TABLE_CLASS,
  FAB_TABLE_LINK,
  FAB_TABLE_STEP,
  FAB_TABLE_ITERATION,
  FAB_TABLE_COLLECTIVE,
  FAB_TABLE_SPAN,
  FAB_TABLE_LINK_LOAD,
  FAB_TABLE_LINK_QUEUE,
  FAB_TABLE_EXPOSURE,
  FAB_TABLE_PATH,
  FAB_TABLE_LINK_SAMPLE,
  FAB_TABLE_MEMORY,
  FAB_TABLE_FINDING,
  FAB_TABLE_MEMO,
  FAB_TABLE_BAND,
  FAB_TABLE_LEVER,
  FAB_TABLE_GOODPUT,
  FAB_TABLE_PACE,
  FAB_TABLE_QUEUE_LENGTH,
  FAB_N_RUN_TABLES, /* those above have the rows of runs */
  FAB_TABLE_SWEEP = FAB_N_RUN_TABLES,
  FAB_TABLE_SWEEP_AXIS,
  FAB_TABLE_SWEEP_VALUE,
  FAB_TABLE_SWEEP_POINT,
  FAB_N_TABLES,
} FabTableKind;

typedef struct {
  const char *name;
  const char *what;  /* completes "cannot store ..." */
  const char *about; /* what a row is, for the page */
  const char *note;  /* what else to know of it, for the page; NULL: nothing */
  guint since;       /* as of a column */
  const char *owner; /* the definition of the first column */
  const FabColumn *columns;
  guint n_columns;
  gsize row_size;
  const char *keys[6]; /* the end of CREATE TABLE, NULL-ended: keys and checks; none: the owner is the key */
} FabRecordTable;

/* In an order in which every table stands behind those that its keys name. */
extern const FabRecordTable fab_record_tables[FAB_N_TABLES];

/* Reads the value of a column from a record; `row` is what a column that counts rows has. A text belongs to the
 * record. */
FabField fab_column_read (const FabColumn *column, gconstpointer record, gint64 row);

gboolean fab_column_is_time (const FabColumn *column); /* in whole picoseconds, "start_ps" */

/* The unit at the end of its name: "ps", "s", "B", "1/s", "B/s"; NULL: none. */
const char *fab_column_unit (const FabColumn *column);

/* The type that SQLite has for it: "INTEGER", "REAL" or "TEXT". */
const char *fab_column_type (const FabColumn *column);

/* CREATE TABLE, ended by a semicolon and a line end. (transfer full) */
char *fab_record_table_sql (const FabRecordTable *table);
