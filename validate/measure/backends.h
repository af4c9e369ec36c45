/* SPDX-License-Identifier: Apache-2.0 */
/* backends.h - the backends by name: tcp is built in, the others are modules that are loaded when asked for. */
#pragma once

#include "validate/measure/host.h"

typedef struct {
  const char *name;
  const char *summary;  /* what it measures: shown where the module is not there */
  const char *build;    /* Debian packages that its module is built with; "": none; NULL: built in */
  const char *packages; /* Debian packages that it runs with */
} FabBackendRow;

extern const FabBackendRow fab_backend_rows[]; /* ended by a NULL name */

extern const FabMeasureBackend fab_measure_tcp;

/* Looks for fabricast-measure-NAME.so in the directories (NULL-ended), in this order. FAB_ERROR_INPUT: no such
 * backend; FAB_ERROR_UNSUPPORTED: its module or its library is not here. The module stays loaded. */
const FabMeasureBackend *fab_backend_load (const char *name, const char *const *directories, GError **error);
