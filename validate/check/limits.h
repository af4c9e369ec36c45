/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - the errors that are accepted: a gate against rot, tightened when a model gets better.
 *
 * A file names what was measured, each with a limit on its median |error|, and may have limits over all of it:
 *
 *   judged: {small: 25%, middle: 15%, large: 7%}                      collectives: accept.yaml
 *   tables:
 *     - {table: dgxa100_allreduce_32, middle: 30%, large: 8%}
 *
 *   all: {median: 8%, wrong: 0}                                       training steps: accept-training.yaml
 *   sources:
 *     - {source: modalities-leonardo, median: 12%, wrong: 1, skipped: 0}
 *
 *   tables:                                                           single kernels: accept-kernels.yaml
 *     - {table: h100_gemm, median: 4%}
 *
 * What was measured and has no limit exceeds it: nothing passes because nobody wrote it down.
 */
#pragma once

#include "sim/config/schema.h"
#include "validate/check/errors.h"

typedef struct {
  FabDiagnostics *diagnostics; /* for mistakes that have no field */
  FabSchemaReader *reader;     /* for fab_schema_report at a field */
  GPtrArray *docs;             /* FabYamlDoc */
} FabCheckFile;

FabCheckFile *fab_check_file_new (const FabRegistry *registry);
void fab_check_file_free (FabCheckFile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabCheckFile, fab_check_file_free)

/* Fills `out`, which the table describes. One FabCheckFile may read several paths. FALSE and *error: the file
 * cannot be read, or has mistakes. */
gboolean fab_check_file_read (FabCheckFile *self, const char *path, const FabParam *table, gpointer out,
                              GError **error);

/* FALSE and *error when mistakes were reported since. */
gboolean fab_check_file_is_right (const FabCheckFile *self, GError **error);

/* Throws "WHAT 'NAME'", with the nearest of `names` (NULL-ended) where one is near. Returns NULL. */
gpointer fab_check_throw_unknown (GError **error, const char *what, const char *name,
                                  const char *const *names);

typedef struct {
  const char *name; /* NULL: over all */
  double medians
      [FAB_N_SIZE_CLASSES]; /* 0: no limit. Only collectives have classes; the first is the others' limit */
  gint64 n_wrong;           /* changes that may be predicted in the wrong direction */
  gint64 n_skipped;         /* rows that may be left out because they cannot be read or simulated */
} FabLimit;

typedef enum { FAB_LIMITS_OF_COLLECTIVES, FAB_LIMITS_OF_TRAINING, FAB_LIMITS_OF_KERNELS } FabLimitsKind;

/* The full name of what `known` calls by this one; NULL and *error: it knows none. */
typedef const char *(*FabLimitsFindFn) (gconstpointer known, const char *name, GError **error);

typedef struct {
  FabLimitsKind kind;
  FabLimitsFindFn find;
  gconstpointer known;
  const FabRegistry *registry;
} FabLimitsRequest;

typedef struct _FabLimits FabLimits;

/* Every name must be known and stand once. */
FabLimits *fab_limits_load (const char *path, const FabLimitsRequest *request, GError **error);
void fab_limits_free (FabLimits *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabLimits, fab_limits_free)

const FabLimit *fab_limits_all (const FabLimits *self);
const FabLimit *fab_limits_find (const FabLimits *self, const char *name); /* NULL: none */

/* The limit of a class; FALSE when there is none. `self` may be NULL, which has none. */
gboolean fab_limits_median (const FabLimits *self, const char *name, FabSizeClass size_class,
                            double *limit_fraction);

/* Whether `n` rows can be all that the file names: a part says nothing of the whole. */
gboolean fab_limits_is_whole (const FabLimits *self, guint n);

/* `before`, the limit in percent and `after`; "" when there is none. (transfer full) */
char *fab_limits_show (const FabLimits *self, const char *name, FabSizeClass size_class, const char *before,
                       const char *after);

/* Adds a line when the errors of `what` exceed the limit; below 0: no limit is accepted. */
void fab_limits_hold (GPtrArray *lines, const char *what, const FabErrors *errors, double limit_fraction);
