/* SPDX-License-Identifier: Apache-2.0 */
/* validate.h - what every `fabricast validate` shares: options, a page in each format, limits and the exit code.
 *
 * A kind says which options it takes and makes an answer of them. cmd_validate.c parses, prints the page, then the
 * limits that are exceeded, and exits with 1 when there are some.
 */
#pragma once

#include "cli/cli.h"
#include "cli/hardware/fit_options.h"
#include "validate/compare/left_out.h"

typedef struct {
  FabFormat format;
  char *format_name;
  gboolean is_summary, plays_all;
  char *accept_path, *data_path; /* NULL: the shipped ones */
  char *entries_path;            /* where the catalogue's file is written as well; NULL: nowhere */
  char *training_path;           /* where the page of `validate training` is written as well; NULL: nowhere */
  char *fidelity, *link;
  char **sets, **with;
  FabFitOptions fit;
} FabValidateOptions;

typedef struct {
  char *page;      /* in the format that was asked for */
  char **exceeded; /* a line per limit, NULL-ended; NULL: there are no limits */
} FabValidateAnswer;

/* An option that a kind takes. */
typedef struct {
  const char *name; /* as in cmd_validate.c; NULL ends the list */
  const char *help; /* NULL: that of all kinds */
} FabValidateOption;

typedef struct {
  const char *name; /* of `fabricast validate NAME`; "": without one */
  FabUsage usage;
  FabValidateOption options[8]; /* in the order of --help */
  gboolean has_fit_options;     /* those of fit_options.h behind them */
  /* `names`: what it is asked for, n of them; may be none. FALSE and *error: it cannot be had. */
  gboolean (*play) (const FabValidateOptions *o, char **names, guint n, FabValidateAnswer *answer,
                    GError **error);
} FabValidateKind;

extern const FabValidateKind fab_validate_collectives, fab_validate_training, fab_validate_fidelity,
    fab_validate_links, fab_validate_calibrated, fab_validate_bands, fab_validate_accuracy,
    fab_validate_experts, fab_validate_setups, fab_validate_published, fab_validate_pairs,
    fab_validate_memory, fab_validate_kernels, fab_validate_bills, fab_validate_jobs, fab_validate_congestion;

/* `path`, or else the shipped file or directory. (transfer full) */
char *fab_validate_path (const char *path, const char *shipped, GError **error);

/* The measured tables of --measured, or the shipped ones. (transfer full) */
FabMeasured *fab_validate_measured (const FabValidateOptions *o, const FabCatalog *catalog, GError **error);

/* Predicts all measured tables as they are, and with bands that were made without each family. FALSE and *error: one of
 * them cannot be predicted. */
gboolean fab_validate_predict (const FabCatalog *catalog, const FabMeasured *measured, FabReport **report,
                               FabReport **left_out, GError **error);

/* Whether limits count: they do, but for somebody's own measurements without --accept. */
gboolean fab_validate_has_limits (const FabValidateOptions *o);

/* Where names are looked up. */
typedef struct {
  gconstpointer owner;
  guint n;
  gconstpointer (*get) (gconstpointer owner, guint index);
  gconstpointer (*find) (gconstpointer owner, const char *name, GError **error);
} FabValidateChoice;

/* The named ones, each once, or all. NULL and *error: one is unknown. (transfer container) */
GPtrArray *fab_validate_choose (const FabValidateChoice *choice, char **names, guint n, GError **error);
