/* SPDX-License-Identifier: Apache-2.0 */
/* error.h - the errors that a user can cause. Programming mistakes are asserted instead. */
#pragma once

#include <glib.h>

#define FAB_ERROR (fab_error_quark ())

typedef enum {
  FAB_ERROR_INPUT,       /* the input is wrong: exit code 2 */
  FAB_ERROR_IO,          /* a file could not be read or written: exit code 2 */
  FAB_ERROR_UNSUPPORTED, /* this machine cannot do it: exit code 3 */
  FAB_ERROR_HUNG,        /* the job waits for a broken part and never ends: exit code 1 */
} FabErrorCode;

GQuark fab_error_quark (void);

/* Sets *error and returns FALSE: `return fab_throw (error, FAB_ERROR_INPUT, "...");` */
gboolean fab_throw (GError **error, FabErrorCode code, const char *format, ...) G_GNUC_PRINTF (3, 4);
