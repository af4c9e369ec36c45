/* SPDX-License-Identifier: Apache-2.0 */
/* accept.h - the errors that are allowed: a gate against rot, tightened when a model gets better.
 *
 *   all: {median: 8%, wrong: 0}
 *   sources:
 *     - {source: modalities-leonardo, median: 12%, wrong: 1}
 *
 * A limit is on the median |error| of the judged rows and on the number of pairs with the wrong direction. A source
 * with judged rows and without a limit is exceeded.
 */
#pragma once

#include "validate/training/report.h"

typedef struct _FabTrainingAccept FabTrainingAccept;

/* Every source must be one of `sources`. */
FabTrainingAccept *fab_training_accept_load (const char *path, const FabTrainingSources *sources,
                                             const FabRegistry *registry, GError **error);
void fab_training_accept_free (FabTrainingAccept *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabTrainingAccept, fab_training_accept_free)

/* The limit on a source's median; FALSE when there is none. */
gboolean fab_training_accept_limit (const FabTrainingAccept *self, const char *source,
                                    double *limit_fraction);

/* One line per limit that the report exceeds, NULL-ended; empty when all is well. (transfer full) */
char **fab_training_accept_exceeded (const FabTrainingAccept *self, const FabTrainingReport *report);
