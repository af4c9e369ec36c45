/* SPDX-License-Identifier: Apache-2.0 */
/* measured.h - the published measurements that predictions are held against: INDEX.yaml and its tables.
 *
 * A calibration table may set numbers of the catalogue and of models; a judged one is only compared with.
 */
#pragma once

#include <glib.h>

#include "sim/base/units.h"
#include "sim/collective/collective.h"
#include "sim/scenario/catalog.h"

typedef struct {
  FabBytes size_bytes;
  double time_us;    /* as printed; from busbw when the table has no times; 0 when it printed a busbw of 0 */
  double busbw_GBps; /* as printed; from the time when the table has none */
  double
      rounding_fraction; /* of time_us: half a unit of the last digit that it was read or made from; 1 at 0 */
} FabMeasuredRow;

typedef struct {
  GHashTable *header; /* key -> value */
  GArray *rows;       /* FabMeasuredRow, at least one */
  guint first_line;   /* of the rows, from 1 */
} FabMeasuredCsv;

/* `name` stands for the path in messages; `bus_factor` is busbw over algbw (fab_op_bus_factor). NULL and *error
 * (FAB_ERROR_INPUT, "name:line: ...") for the first thing that is wrong. */
FabMeasuredCsv *fab_measured_csv_parse (const char *name, const char *data, gsize size, double bus_factor,
                                        GError **error);
void fab_measured_csv_free (FabMeasuredCsv *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabMeasuredCsv, fab_measured_csv_free)

typedef enum { FAB_ROLE_CALIBRATION, FAB_ROLE_JUDGED, FAB_N_ROLES } FabMeasuredRole;

extern const char *const fab_measured_role_names[FAB_N_ROLES + 1]; /* NULL-ended */

typedef struct {
  const char *file; /* in the directory of INDEX.yaml */
  const char *node; /* node entry of the catalogue */
  gint64 nodes, gpus_per_node;
  int op;                   /* FabOp */
  const char *interconnect; /* what is tried: "NVLink 3, NVSwitch"; tables of one are summarised together */
  const char *sets;         /* assignments of what is known of its software, between blanks; NULL: none */
  int role;                 /* FabMeasuredRole */
  gboolean is_doubtful;     /* its source doubts that the machine was well: listed, counted in no summary */
  gboolean is_untuned;      /* its header finds small messages slow (validate/compare/health.h) */
  const char *note;         /* NULL: none */
} FabMeasuredSpec;

typedef struct {
  const FabMeasuredSpec *spec;
  char *name; /* file without ".csv" */
  char *
      publication; /* who measured it: "github:owner/name", or all that its header says of its source; "": nothing */
  FabMeasuredCsv *csv;
} FabMeasuredTable;

/* Who published a table of this source: files of one repository are one publication, "github:owner/name". NULL: nobody
 * is known, "". (transfer full) */
char *fab_measured_publication (const char *source);

typedef struct _FabMeasured FabMeasured;

/* INDEX.yaml of the directory with all its tables, every mistake at its place. */
FabMeasured *fab_measured_load (const char *directory, const FabCatalog *catalog, const FabRegistry *registry,
                                GError **error);
void fab_measured_free (FabMeasured *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabMeasured, fab_measured_free)

guint fab_measured_n_tables (const FabMeasured *self);
const FabMeasuredTable *fab_measured_table (const FabMeasured *self,
                                            guint index); /* in the order of INDEX.yaml */

/* By name, with or without ".csv"; NULL and *error with the nearest name. */
const FabMeasuredTable *fab_measured_find (const FabMeasured *self, const char *name, GError **error);

static inline guint
fab_measured_spec_n_ranks (const FabMeasuredSpec *spec)
{
  return (guint) (spec->nodes * spec->gpus_per_node);
}
