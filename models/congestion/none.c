/* SPDX-License-Identifier: Apache-2.0 */
/* none.c - no congestion control: a sender puts packets out as fast as its line takes them, and only the flow control
 * of links holds it back. */
#include "models/models.h"

const FabCongestionOps fab_congestion_none = {
  .info = { .name = "none",
            .summary = "None: senders send packets at line rate and never slow down.",
            .doc = "docs/models/congestion.md" },
};
