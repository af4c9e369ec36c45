/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/measure/control.h"

#include <gio/gio.h>

#include "sim/base/error.h"

gboolean
fab_control_throw_over (const char *who, GError **error)
{
  return fab_throw (error, FAB_ERROR_IO,
                    "%s has had its time: the listening end gives no more to one that asks (--session-limit)",
                    who);
}

gboolean
fab_control_check (const FabControl *self, GError **error)
{
  if (self->canceller && self->canceller->is_cancelled (self->canceller)) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "interrupted");
    return FALSE;
  }
  return self->end_us == 0 || g_get_monotonic_time () < self->end_us
      || fab_control_throw_over (self->there, error);
}
