/* SPDX-License-Identifier: Apache-2.0 */
/* private.h - what the files of the library share: handles, the door, errors and tables in the making. */
#pragma once

#include <fenv.h>
#include <glib.h>
#include <locale.h>

#include "answer/run.h"
#define FABRICAST_UNSTABLE
#include "lib/fabricast.h"
#include "models/models.h"
#include "sim/result/columns.h"
#include "sim/study/study.h"
#include "sim/study/sweep_record.h"

/* --- the door: what the library changes of the calling thread while it works --- */

typedef struct {
  fenv_t floats;
  locale_t locale;
} LibDoor;

/* Every public function that computes does so between these two. */
void lib_door_enter (LibDoor *door);
void lib_door_leave (const LibDoor *door);

/* Calls the host's function in the host's environment. TRUE: it wants to go on. */
gboolean lib_door_tell (const LibDoor *door, FabricastProgressFn progress, void *user, gint64 done,
                        gint64 all);

/* --- errors --- */

/* Makes *error of a text and returns the status. */
int lib_fail (FabricastError **error, int status, const char *format, ...) G_GNUC_PRINTF (3, 4);
/* The same of an error of the simulator, which it takes. */
int lib_fail_with (FabricastError **error, GError *problem);

/* Makes MISUSE of an argument that must not be NULL. */
#define LIB_NEED(argument, error) \
  if ((argument) == NULL)         \
    return lib_fail (error, FABRICAST_MISUSE, "%s: the argument `" #argument "` is NULL", G_STRFUNC);

/* --- structs that callers fill, and those that they get --- */

/* Copies what the caller gave into `own`, which has `size` bytes and becomes the defaults for NULL. FALSE and *error
 * (MISUSE): struct_size is 0, or the caller set members that this version does not know. */
gboolean lib_take (void *own, gsize size, const void *theirs, FabricastError **error);
/* Copies `own` into the caller's struct as far as that reaches. FALSE: struct_size is 0. */
gboolean lib_give (const void *own, gsize size, void *theirs);

/* --- tables --- */

#define LIB_CELL_BYTES 8 /* of every kind: gint64, double or char * */
G_STATIC_ASSERT (sizeof (gint64) == LIB_CELL_BYTES && sizeof (double) == LIB_CELL_BYTES
                 && sizeof (char *) == LIB_CELL_BYTES);

typedef struct {
  char *name;
  int kind;
  GArray *cells; /* of its kind */
} LibColumn;

struct FabricastTable {
  GArray *columns; /* LibColumn */
  gsize n_rows;
};

FabricastTable *lib_table_new (void);
/* Adds a column without cells and returns its number. */
guint lib_table_add (FabricastTable *self, const char *name, int kind);
/* Each appends a cell to a column; all columns get one per row. `text` is copied. */
void lib_table_whole (FabricastTable *self, guint column, gint64 value);
void lib_table_real (FabricastTable *self, guint column, double value);
void lib_table_text (FabricastTable *self, guint column, const char *text);
/* Adds the columns of a table of results files, and rows of such records. Without the first `skip` columns. */
void lib_table_add_records (FabricastTable *self, const FabRecordTable *table);
void lib_table_append_records (FabricastTable *self, guint first, const FabRecordTable *table,
                               gconstpointer rows, gsize n);
/* A table of such records alone. (transfer full) */
FabricastTable *lib_table_of_records (FabTableKind kind, gconstpointer rows, gsize n);

/* The links of a graph. (transfer full) */
FabricastTable *lib_table_of_links (const FabGraph *graph);

/* --- handles --- */

struct FabricastContext {
  gint n_refs;
  FabCatalog *catalog;
  guint n_threads;
  char *schema;
};

FabricastContext *lib_context_ref (FabricastContext *self);
void lib_context_unref (FabricastContext *self);

struct FabricastScenario {
  FabricastContext *context;
  FabScenario *inner;
  GMutex lock;         /* of the next two and of checking */
  GStringChunk *texts; /* that were given out */
  char *text;          /* NULL: nobody asked */
};

/* Returns a checked copy. NULL and *error. (transfer full) */
FabScenario *lib_scenario_checked (const FabricastScenario *self, GError **error);

struct FabricastResult {
  FabricastContext *context;
  FabScenario *scenario;
  FabRunResult run;
  FabPoint *point;
  FabSweepPointRecord *record;            /* of the point */
  char *link, *link_entry, *most, *codes; /* that figures name */
  GMutex lock;                            /* of what reads the simulation */
};
