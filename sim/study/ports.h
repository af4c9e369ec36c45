/* SPDX-License-Identifier: Apache-2.0 */
/* ports.h - NIC ports of the catalogue in the place of a rate, each played with its own headers, loss and latency. */
#pragma once

#include "sim/study/study.h"
#include "sim/study/target.h"

typedef struct {
  const FabLinkSpec *link;
  gboolean is_met;
  char *sets[3]; /* that put it in */
  FabTry trial;
} FabPort;

/* Of each technology the slowest ports that are at least as fast, up to two, and of these those up to the first with
 * which all targets are met: the machine's own technology first, then those that can be bought. Of FabPort. (transfer
 * full) */
GPtrArray *fab_ports_near (const FabStudy *study, const char *rate, const FabTarget *targets, guint n_targets,
                           GError **error);
