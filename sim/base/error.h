/* SPDX-License-Identifier: Apache-2.0 */
/* error.h - the errors that a person can cause; programming mistakes assert instead. */
#pragma once

#include <glib.h>

#define FAB_ERROR (fab_error_quark ())

typedef enum {
  FAB_ERROR_INPUT,       /* what the user wrote is wrong: exit code 2 */
  FAB_ERROR_IO,          /* a file could not be read or written: exit code 2 */
  FAB_ERROR_UNSUPPORTED, /* not possible on this machine: exit code 3 */
  FAB_ERROR_HUNG,        /* the job waits for ever for what is broken: exit code 1 */
} FabErrorCode;

GQuark fab_error_quark (void);

/* Sets *error and returns FALSE: `return fab_throw (error, FAB_ERROR_INPUT, "...");` */
gboolean fab_throw (GError **error, FabErrorCode code, const char *format, ...) G_GNUC_PRINTF (3, 4);
