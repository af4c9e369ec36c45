/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "answer/predict.h"
#include "cli/cli.h"
#include "formats/measurement/nccl_names.h"
#include "formats/measurement/nccl_tests.h"

/* No factor that anybody writes: NaN is one that must be refused. */
#define COLLECTIVE_NO_FACTOR (-G_MAXDOUBLE)

/* The options as given on the command line; NULL or 0: not given. */
typedef struct {
  char *format_name, *node, *op_name, *type_name, *min_size, *max_size, *step_size, *nic, *fabric;
  char *library, *algorithm, *protocol, *form_name, *json_path, *check_path, *tolerance, *check_from;
  char **sets, **environment, **with;
  const FabScenario *base; /* the scenario that was named; `node` is then its node */
  gboolean has_no_band;
  gint64 nodes, gpus_per_node, gpus_per_thread, threads, iterations, warmup, check;
  double factor; /* COLLECTIVE_NO_FACTOR: not given */
} CollectiveOptions;

void collective_options_clear (CollectiveOptions *self);

/* The request that the options describe. */
typedef struct {
  const CollectiveOptions *options;
  FabFormat format;
  FabForm form;
  FabOp op;
  const FabNcclType *type;
  gint64 nodes, gpus_per_node, gpus_per_process;
  guint n_ranks;
  FabBytes first_bytes, last_bytes, step_bytes;
  guint n_too_small; /* sizes with less than one element per rank; nccl-tests runs them empty */
  GArray *sizes;     /* FabBytes: the sizes that nccl-tests runs */
  GArray *counts;    /* guint64: elements of each size */
  FabEdits *edits;
  FabNcclTests *file; /* the file of --check, or NULL */
} CollectiveRequest;

/* Makes the request from the options and the file of --check; NULL and *error when they contradict. `options` must
 * outlive it. (transfer full) */
CollectiveRequest *collective_request_new (const CollectiveOptions *options, const FabCatalog *catalog,
                                           GError **error);
void collective_request_free (CollectiveRequest *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CollectiveRequest, collective_request_free)

/* The factor between sizes: -f, or 2. */
double collective_factor (const CollectiveOptions *options);

/* Parses "32K" and the like, as nccl-tests does. */
gboolean collective_parse_size (const char *option, const char *text, FabBytes *bytes, GError **error);

/* Parses "20%" or "0.2"; NULL is 0.2. */
gboolean collective_read_tolerance (const char *text, double *tolerance, GError **error);

/* Adds the assignments equivalent to a variable of NCCL: "NCCL_ALGO=Ring", or the name of one in the environment. */
gboolean collective_add_nccl_env (const char *assignment, FabEdits *edits, GError **error);

/* Returns the scenario's name of an algorithm or protocol that NCCL spells differently. (transfer full) */
char *collective_nccl_name (const char *name);

/* --- answers --- */

/* Prints the rows in the format of the request. */
void collective_print (const CollectiveRequest *request, const GArray *rows);
/* Writes what nccl-tests writes for -J. Refuses to replace a file, as nccl-tests does. */
gboolean collective_write_json (const CollectiveRequest *request, const GArray *rows, GError **error);
/* Prints measured beside predicted values. FALSE without *error: a size is below the tolerance. */
gboolean collective_check (const CollectiveRequest *request, const GArray *rows, GError **error);

/* Formats a number in `width` columns, with as many decimals as fit but at most two. (transfer full) */
char *collective_fit (double value, guint width);
/* What limits a row: its slowest link, or the name of another bound. */
const char *collective_binding (const FabPrediction *row);

/* Prints bus bandwidth over the sizes of the predictions as a curve, where stdout is a terminal. */
void collective_print_curve (const GArray *rows);
