/* SPDX-License-Identifier: Apache-2.0 */
/* control.h - the channel over which the two ends of a measurement agree, apart from what is measured. */
#pragma once

#include "validate/measure/host.h"

/* A channel for ordered bytes between the two ends. */
typedef struct _FabControl FabControl;

struct _FabControl {
  gboolean (*send) (FabControl *self, gconstpointer data, gsize size, GError **error);
  /* receives exactly `size` bytes, or fails */
  gboolean (*receive) (FabControl *self, gpointer data, gsize size, GError **error);
  void (*close) (FabControl *self); /* frees the channel too */
  char *here, *there;               /* names of the two ends for series: addresses */
  guint timeout_s;                  /* limit of each send and receive, where there is one */
  gint64 end_us;                    /* when all must be over, as of g_get_monotonic_time; 0: no limit */
  FabMeasureHost *canceller;        /* says when the person wants to end; NULL: never */
  gboolean is_known;                /* the end that asks has said who it is, and proved that it may */
};

/* Fails with G_IO_ERROR_CANCELLED when the person wants to end, and with FAB_ERROR_IO when the conversation has reached
 * `end_us`. Whatever waits without the control channel calls it several times a second. */
gboolean fab_control_check (const FabControl *self, GError **error);

/* Says that the time of `who` is over. Returns FALSE. */
gboolean fab_control_throw_over (const char *who, GError **error);
