/* SPDX-License-Identifier: Apache-2.0 */
/* ports.h - NIC ports of the catalogue that can replace a plain rate, each simulated with its own headers, loss and
 * latency. */
#pragma once

#include "sim/study/study.h"
#include "sim/study/target.h"

typedef struct {
  const FabLinkSpec *link;
  const FabTechnology *technology;
  gboolean is_met;
  FabEdits *edits; /* that use this port */
  FabTry trial;
} FabPort;

/* Returns FabPort: for each technology the slowest ports that are at least as fast as `rate`, up to two, ending with
 * the first with which all targets are met. The machine's own technology comes first, then those of any machine.
 * (transfer full) */
GPtrArray *fab_ports_near (const FabStudy *study, const char *rate, const FabTarget *targets, guint n_targets,
                           GError **error);
