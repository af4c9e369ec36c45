/* SPDX-License-Identifier: Apache-2.0 */
/* accept.h - the errors that are allowed: a gate against rot, tightened when a model gets better.
 *
 *   judged: {small: 25%, middle: 15%, large: 7%}
 *   tables:
 *     - {table: dgxa100_allreduce_32, middle: 30%, large: 8%}
 *
 * A limit is on the median |error| of a table's size class, or of all judged tables together. A class of a table that
 * has sizes and no limit is exceeded: nothing passes because nobody wrote it down.
 */
#pragma once

#include "validate/compare/report.h"

typedef struct _FabAccept FabAccept;

/* Every table must be one of `measured`. */
FabAccept *fab_accept_load (const char *path, const FabMeasured *measured, const FabRegistry *registry,
                            GError **error);
void fab_accept_free (FabAccept *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabAccept, fab_accept_free)

/* The limit of a table's class; FALSE when there is none. */
gboolean fab_accept_limit (const FabAccept *self, const char *table, FabSizeClass size_class,
                           double *limit_fraction);

/* One line per limit that the report exceeds, NULL-ended; empty when all is well. (transfer full) */
char **fab_accept_exceeded (const FabAccept *self, const FabReport *report);
