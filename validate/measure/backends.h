/* SPDX-License-Identifier: Apache-2.0 */
/* backends.h - finds a backend by name: tcp is built in, the others are modules that are loaded on demand. */
#pragma once

#include "validate/measure/host.h"

typedef struct {
  const char *name;
  const char *summary;  /* what it measures; shown when the module is not installed */
  const char *build;    /* Debian packages needed to build its module; "": none; NULL: it is built in */
  const char *packages; /* Debian packages needed to run it */
} FabBackendRow;

extern const FabBackendRow fab_backend_rows[]; /* ended by a NULL name */

extern const FabMeasureBackend fab_measure_tcp;

/* Loads fabricast-measure-NAME.so from the first of the directories (NULL-ended) that has it. Fails with
 * FAB_ERROR_INPUT for an unknown backend, FAB_ERROR_UNSUPPORTED when its module or its library is missing. The module
 * stays loaded until the program ends. */
const FabMeasureBackend *fab_backend_load (const char *name, const char *const *directories, GError **error);
