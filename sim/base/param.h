/* SPDX-License-Identifier: Apache-2.0 */
/* param.h - parameter tables: the one description of every key a person may write.
 *
 * A table is an array of FabParam ended by a row without key. It feeds the
 * parser, the error messages, `fabricast describe`, the JSON Schema, the docs and
 * the resolved scenario. A FabModelInfo names a model and points at its table;
 * it is the first member of every model's ops struct.
 */
#pragma once

#include <glib.h>

#include "sim/base/units.h"

typedef enum {
  FAB_PARAM_TIME,       /* FabTimePs */
  FAB_PARAM_BYTES,      /* FabBytes */
  FAB_PARAM_LENGTH,     /* gint64: millimetres */
  FAB_PARAM_RATE,       /* FabBytesPerS */
  FAB_PARAM_FLOPS,      /* double */
  FAB_PARAM_FLOPS_RATE, /* double */
  FAB_PARAM_FRACTION,   /* double */
  FAB_PARAM_FACTOR,     /* double */
  FAB_PARAM_COUNT,      /* gint64 */
  FAB_PARAM_BOOL,       /* gboolean */
  FAB_PARAM_TEXT,       /* const char *; NULL when absent */
  FAB_PARAM_CHOICE,     /* gint: index into `choices` */
  FAB_PARAM_TABLE,      /* the nested struct itself, at `offset` */
  FAB_PARAM_LIST,       /* FabParamList of nested structs */
  FAB_PARAM_MODEL,      /* FabModelChoice: one row of a registry list, with its parameters */
} FabParamType;

/* What the text of a TEXT row names; checked after reading, with the nearest name in the message. */
typedef enum {
  FAB_REFERS_NOTHING,
  FAB_REFERS_LINK, /* an entry of the catalogue or of the scenario's own section */
  FAB_REFERS_ACCELERATOR,
  FAB_REFERS_NODE,
  FAB_REFERS_MODEL,
  FAB_REFERS_ALGORITHM, /* of the registry's list, not of the catalogue */
  FAB_REFERS_FILES, /* a path or a list of paths, taken out before the table is read: always absent in the struct */
} FabRefers;

/* The lists of models that a registry holds (sim/registry.h). */
typedef enum {
  FAB_MODEL_FABRIC,    /* how NICs are joined: FabFabricOps */
  FAB_MODEL_ROUTE,     /* which path a transfer takes: FabRouterOps */
  FAB_MODEL_NET,       /* fidelity: FabNetOps */
  FAB_MODEL_ALGORITHM, /* collective algorithm: FabAlgorithmOps */
  FAB_MODEL_LIBRARY,   /* collective library, chooses algorithm and protocol: FabLibraryOps */
  FAB_MODEL_COMPUTE,   /* FLOPs to time: FabComputeOps */
  FAB_MODEL_SHAPE,     /* neural network to layers: FabShapeOps */
  FAB_MODEL_WORKLOAD,  /* job to task DAG: FabWorkloadOps */
  FAB_N_MODEL_KINDS,
} FabModelKind;

typedef struct _FabParam FabParam;

/* `fallback` is written as a user would write it; NULL: the key is required. TEXT: "" means absent, stored as
 * NULL. TABLE, LIST: ignored; an absent table takes its own fallbacks, an absent list is empty. MODEL: the
 * name of the default row.
 *
 * `min` and `max` are inclusive and in canonical units. Both 0: any value >= 0 (RATE, FLOPS_RATE: > 0).
 * `max` 0 with `min` > 0: no upper bound. */
struct _FabParam {
  const char *key;
  FabParamType type;
  gsize offset; /* into the struct that the table describes */
  const char *fallback;
  const char *help; /* one sentence */
  double min, max;
  const char *const *choices; /* CHOICE: NULL-ended names */
  const FabParam *table;      /* TABLE, LIST: the nested table */
  gsize table_size;           /* TABLE, LIST: sizeof the nested struct */
  FabModelKind models;        /* MODEL: which list */
  FabRefers refers;           /* TEXT: what must hold this name */
};

typedef struct {
  gpointer data; /* array of `n` structs of the row's table_size; owned by the reader's arena */
  guint n;
} FabParamList;

/* Where a model's `check` says what is wrong; handed in, so that sim/base knows no diagnostics. */
typedef struct _FabCheck FabCheck;

struct _FabCheck {
  void (*report) (FabCheck *self, gconstpointer field, const char *message);
};

/* `field` is the address of the member of the checked struct that should change: the message appears
 * where it was written. No full stop: "hidden 1000 is not a multiple of heads 12". */
void fab_check_fail (FabCheck *check, gconstpointer field, const char *format, ...) G_GNUC_PRINTF (3, 4);

typedef struct {
  const char *name;       /* what a scenario writes */
  const char *summary;    /* one sentence */
  const char *doc;        /* page below the root: docs/models/fluid.md */
  const FabParam *params; /* NULL: none */
  gsize params_size;      /* sizeof the struct the table fills */
  /* Finds values that do not fit together; called when each alone is right. NULL: all combinations fit. */
  void (*check) (gconstpointer params, FabCheck *check);
} FabModelInfo;

typedef struct {
  const FabModelInfo *info; /* cast to the ops struct of its kind */
  gpointer params;          /* filled struct; NULL when info->params is NULL */
} FabModelChoice;

/* How the type is called in messages and docs: "time", "rate", ... */
const char *fab_param_type_name (FabParamType type);

/* The catalogue section behind a reference: "link", "model"; asserts on FAB_REFERS_NOTHING. */
const char *fab_refers_name (FabRefers refers);

/* The unit behind a number type; asserts on the others. */
FabUnit fab_param_unit (FabParamType type);
gboolean fab_param_is_number (FabParamType type);

guint fab_param_count (const FabParam *table);
