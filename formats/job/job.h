/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - turns the configuration of a training program into a section `job:` of a scenario.
 *
 * docs/how-to/my-job.md says what is read and what is inferred. */
#pragma once

#include "formats/job/imported.h"

/* Returns commented YAML: a section `job:`, and `models:` where the files describe the model. (transfer full) */
char *fab_import_job (const FabImportJobRequest *request, GError **error);
