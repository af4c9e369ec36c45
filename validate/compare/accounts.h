/* SPDX-License-Identifier: Apache-2.0 */
/* accounts.h - which tables are counted together, and three ways to count them.
 *
 *   by size     every size of every table counts once: a table with many sizes counts more
 *   by table    the median over tables of each table's own median: every table counts once
 *   by family   the median over families of the median over each family's tables: every family counts once
 *
 * A family is an `interconnect` of INDEX.yaml. Doubtful tables are counted among themselves and nowhere else.
 */
#pragma once

#include "validate/check/errors.h"
#include "validate/compare/measured.h"

/* Between which GPUs a table's bytes went. */
typedef enum {
  FAB_PLACE_NODE,  /* of one node */
  FAB_PLACE_RACK,  /* of several nodes that share the switches of their accelerators */
  FAB_PLACE_NODES, /* of several nodes, over NICs */
  FAB_N_PLACES,
} FabPlace;

/* Operations that are predicted by the same mechanisms. */
typedef enum {
  FAB_OPERATIONS_RINGS, /* all-reduce and what rings and trees do beside it */
  FAB_OPERATIONS_PAIRS, /* all-to-all and send-receive: every pair of ranks by itself */
  FAB_N_OPERATIONS,
} FabOperations;

extern const char *const fab_operations_names[FAB_N_OPERATIONS + 1]; /* NULL-ended */

FabOperations fab_operations_of (FabOp op);

/* One table as accounts see it. */
typedef struct {
  const FabMeasuredSpec *spec;
  FabMeasuredRole role; /* that it counts as */
  FabPlace place;
  gboolean is_amd;             /* of AMD accelerators, whose collectives are RCCL's */
  guint n;                     /* sizes */
  const double *errors;        /* [n] signed */
  const FabBytes *sizes_bytes; /* [n] */
} FabAccountTable;

/* The errors of one size class of some tables. */
typedef struct {
  FabErrors sizes; /* by size */
  guint n_tables;  /* that have such sizes */
  double tables_fraction;
  guint n_families;
  double families_fraction;
} FabTally;

typedef enum {
  FAB_ACCOUNT_ALL,
  FAB_ACCOUNT_PLACE,
  FAB_ACCOUNT_OPERATIONS,
  FAB_ACCOUNT_PLACE_AND_OPERATIONS,
  FAB_ACCOUNT_AMD,
  FAB_ACCOUNT_DOUBTFUL,
  FAB_ACCOUNT_INTERCONNECT,
  FAB_N_ACCOUNT_KINDS,
} FabAccountKind;

extern const char *const fab_account_kind_names[FAB_N_ACCOUNT_KINDS + 1]; /* NULL-ended */

typedef struct {
  FabAccountKind kind;
  char *name; /* "several nodes", "NVLink 3, NVSwitch" */
  FabTally tallies[FAB_N_ROLES][FAB_N_SIZE_CLASSES];
} FabAccount;

/* The accounts of `n` tables, in the order of their kinds; the first is of all that are not doubtful. Those that no
 * table belongs to are left out, but for the first. (transfer full: FabAccount; the array frees what its rows own) */
GArray *fab_accounts_of (const FabAccountTable *tables, guint n);

/* Whether the account has sizes of that role. */
gboolean fab_account_has_role (const FabAccount *self, FabMeasuredRole role);
