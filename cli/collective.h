/* SPDX-License-Identifier: Apache-2.0 */
/* collective.h - the parts of `fabricast collective`: what was asked for, and the ways to print it. */
#pragma once

#include "answer/predict.h"
#include "cli/cli.h"
#include "validate/compare/nccl_names.h"
#include "validate/import/nccl_tests.h"

/* As they stand on the command line; NULL or 0: not given. */
typedef struct {
  char *format_name, *node, *op_name, *type_name, *min_size, *max_size, *step_size, *nic, *fabric;
  char *library, *algorithm, *protocol, *form_name, *json_path, *check_path, *tolerance, *check_from;
  char **sets, **environment, **with;
  const FabScenario *base; /* the scenario that was named; `node` is then its node */
  gboolean has_no_band;
  gint64 nodes, gpus_per_node, gpus_per_thread, threads, iterations, warmup, check;
  double factor;
} CollectiveOptions;

void collective_options_clear (CollectiveOptions *self);

/* What they come to. */
typedef struct {
  const CollectiveOptions *options;
  FabFormat format;
  FabForm form;
  FabOp op;
  const FabNcclType *type;
  gint64 nodes, gpus_per_node, gpus_per_process;
  guint n_ranks;
  FabBytes first_bytes, last_bytes, step_bytes;
  guint n_too_small; /* sizes with less than an element for each rank: nccl-tests runs them empty */
  GArray *sizes;     /* FabBytes, those that nccl-tests runs */
  GArray *counts;    /* guint64, of each */
  FabEdits *edits;
  FabNcclTests *file; /* of --check, or NULL */
} CollectiveRequest;

/* Also with what the file of --check says; NULL and *error for what cannot be meant. */
CollectiveRequest *collective_request_new (const CollectiveOptions *options, const FabCatalog *catalog,
                                           GError **error);
void collective_request_free (CollectiveRequest *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CollectiveRequest, collective_request_free)

/* "32K" and the like, as nccl-tests reads them. */
gboolean collective_parse_size (const char *option, const char *text, FabBytes *bytes, GError **error);

/* The assignments that a variable of NCCL ("NCCL_ALGO=Ring", or the name of one that is set) stands for. */
gboolean collective_add_nccl_env (const char *assignment, FabEdits *edits, GError **error);

/* The scenario's name of an algorithm or protocol that NCCL spells its own way. (transfer full) */
char *collective_nccl_name (const char *name);

void collective_print (const CollectiveRequest *request, const GArray *rows);

/* nccl-tests' -J; refuses to replace a file, as nccl-tests does. */
gboolean collective_write_json (const CollectiveRequest *request, const GArray *rows, GError **error);

/* Number `value` in `width` columns with as many decimals as fit, two at most. (transfer full) */
char *collective_fit (double value, guint width);

/* Prints measured beside predicted. FALSE and no *error: a size is below the tolerance. */
gboolean collective_check (const CollectiveRequest *request, const GArray *rows, GError **error);
