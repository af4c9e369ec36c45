/* SPDX-License-Identifier: Apache-2.0 */
/* error.c - the error quark, and fab_throw, which sets an error and returns FALSE on one line. */
#include "sim/base/error.h"

G_DEFINE_QUARK (fab - error - quark, fab_error)

gboolean
fab_throw (GError **error, FabErrorCode code, const char *format, ...)
{
  va_list args;
  g_autofree char *message = NULL;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error_literal (error, FAB_ERROR, (gint) code, message);
  return FALSE;
}
