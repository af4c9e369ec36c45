/* SPDX-License-Identifier: Apache-2.0 */
/* param.h - parameter tables: the one description of every key that a user may write.
 *
 * A table is an array of FabParam, ended by a row without a key. The parser, the error messages, `fabricast
 * describe`, the JSON Schema, the documentation and the resolved scenario all come from it. A FabModelInfo names a
 * model and points at its table; it is the first member of every model's ops struct. Tables are constant: any thread
 * may read them.
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
  FAB_PARAM_PERIOD,     /* FabPeriod */
  FAB_PARAM_POWER,      /* FabPower */
  FAB_PARAM_BOOL,       /* gboolean */
  FAB_PARAM_TEXT,       /* const char *; NULL when the key is absent */
  FAB_PARAM_CHOICE,     /* gint: index into `choices` */
  FAB_PARAM_TABLE,      /* the nested struct itself, at `offset` */
  FAB_PARAM_LIST,       /* FabParamList of nested structs */
  FAB_PARAM_MODEL,      /* FabModelChoice: one row of a registry list, with its parameters */
} FabParamType;

/* How far apart two events are: in steps of a job ("500") or in time ("30min"). One of the two is 0. */
typedef struct {
  gint64 n_steps;
  FabTimePs time_ps;
} FabPeriod;

/* The power of a device: in watts ("500W") or as a share of what it may draw ("70%"). One of the two is 0. */
typedef struct {
  gint64 watts;
  double fraction;
} FabPower;

/* What the text of a TEXT row names. The reader checks the name and suggests the nearest one in its message. */
typedef enum {
  FAB_REFERS_NOTHING,
  FAB_REFERS_LINK, /* an entry of the catalogue or of the scenario's own section */
  FAB_REFERS_ACCELERATOR,
  FAB_REFERS_NODE,
  FAB_REFERS_MODEL,
  FAB_REFERS_TECHNOLOGY,
  FAB_REFERS_PROCESSOR,
  FAB_REFERS_FAILURES,
  FAB_REFERS_DESIGN,
  FAB_REFERS_ALGORITHM, /* a row of the registry's list, not an entry of the catalogue */
  FAB_REFERS_FILE,      /* a path, relative to the file that says it; the struct has the absolute one */
  /* A path or a list of paths. The reader takes it out before it reads the table, so the struct never holds it. */
  FAB_REFERS_FILES,
} FabRefers;

/* The lists of models that a registry holds (sim/registry.h). */
typedef enum {
  FAB_MODEL_FABRIC,     /* how NICs are connected: FabFabricOps */
  FAB_MODEL_ROUTE,      /* which path a transfer takes: FabRouterOps */
  FAB_MODEL_NET,        /* network fidelity: FabNetOps */
  FAB_MODEL_CONGESTION, /* how senders answer to congestion: FabCongestionOps */
  FAB_MODEL_ALGORITHM,  /* collective algorithm: FabAlgorithmOps */
  FAB_MODEL_LIBRARY,    /* collective library, which chooses algorithm and protocol: FabLibraryOps */
  FAB_MODEL_COMPUTE,    /* from FLOPs to time: FabComputeOps */
  FAB_MODEL_SHAPE,      /* from neural network to layers: FabShapeOps */
  FAB_MODEL_WORKLOAD,   /* from job to task DAG: FabWorkloadOps */
  FAB_N_MODEL_KINDS,
} FabModelKind;

typedef struct _FabParam FabParam;

/* `fallback` is the default as a user would write it; NULL: the key is required. For TEXT, "" means absent and is
 * stored as NULL. TABLE and LIST ignore it: an absent table takes the fallbacks of its own rows, an absent list is
 * empty. For MODEL it is the name of the default row.
 *
 * `min` and `max` are inclusive and in canonical units. Both 0: any value >= 0 (RATE, FLOPS_RATE: > 0). `max` 0 with
 * `min` > 0: no upper bound. PERIOD: they limit the steps; a time is at most FAB_TIME_MAX. POWER: they
 * limit the share; watts are whole and at least 1. */
struct _FabParam {
  const char *key;
  FabParamType type;
  gsize offset; /* offset in the struct that the table describes */
  const char *fallback;
  const char *help; /* one sentence */
  double min, max;
  const char *const *choices; /* CHOICE: NULL-ended names */
  const FabParam *table;      /* TABLE, LIST: the nested table */
  gsize table_size;           /* TABLE, LIST: sizeof the nested struct */
  FabModelKind models;        /* MODEL: which list */
  FabRefers refers;           /* TEXT: the list or section that must hold this name */
  gboolean takes_list;        /* TEXT: a list of texts may stand there, which commas join */
  gboolean is_in_title;       /* a title of the scenario says it, where it is not the default */
};

typedef struct {
  gpointer data; /* array of `n` structs of the row's table_size; owned by the reader's arena */
  guint n;
} FabParamList;

/* A model's `check` reports mistakes through this interface, so that sim/base need not know the diagnostics. */
typedef struct _FabCheck FabCheck;

struct _FabCheck {
  void (*report) (FabCheck *self, gconstpointer field, const char *message);
};

/* Reports a mistake. `field` is the address of the member that the user should change: the message points at the
 * place where it was written. The message has no full stop: "hidden 1000 is not a multiple of heads 12". */
void fab_check_fail (FabCheck *check, gconstpointer field, const char *format, ...) G_GNUC_PRINTF (3, 4);

typedef struct {
  const char *name;       /* the name that a scenario writes */
  const char *summary;    /* one sentence */
  const char *doc;        /* path of its page from the root: docs/models/fluid.md */
  const FabParam *params; /* NULL: none */
  gsize params_size;      /* sizeof the struct that the table fills */
  /* Finds values that do not fit together. It is called when each value alone is valid. NULL: all combinations
   * fit. */
  void (*check) (gconstpointer params, FabCheck *check);
} FabModelInfo;

typedef struct {
  const FabModelInfo *info; /* cast to the ops struct of its kind */
  gpointer params;          /* the filled struct; NULL when info->params is NULL */
} FabModelChoice;

/* Returns the name of the type in messages and docs: "time", "rate", ... */
const char *fab_param_type_name (FabParamType type);

/* Returns what a reference names, in messages: "link", "set of failures". Asserts on FAB_REFERS_NOTHING. */
const char *fab_refers_name (FabRefers refers);

/* Returns the section that `fabricast describe` lists it in: "links", "failures". Asserts on files and on
 * FAB_REFERS_NOTHING. */
const char *fab_refers_section (FabRefers refers);

/* Returns the unit of a number type; asserts on the other types. */
FabUnit fab_param_unit (FabParamType type);
gboolean fab_param_is_number (FabParamType type);
gboolean fab_param_is_whole (FabParamType type); /* of those a gint64, or what a gint64 can hold */
