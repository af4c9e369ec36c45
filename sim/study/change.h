/* SPDX-License-Identifier: Apache-2.0 */
/* change.h - changes of a scenario in short words: "nic=node2/nic1:50%" halves a NIC, "800Gb/s" sets the rate of the
 * adapters, 72 sets the GPUs of an NVLink domain. A change consists of a few edits. */
#pragma once

#include "sim/scenario/scenario.h"

typedef enum {
  FAB_CHANGE_FAULT,  /* KIND=NAME:WHAT, described below */
  FAB_CHANGE_SHARP,  /* on, off: whether the network's switches reduce */
  FAB_CHANGE_NVLS,   /* on, off: whether NVLink switches reduce */
  FAB_CHANGE_NIC,    /* 800Gb/s: the rate of the ports; ib-xdr: their link entry */
  FAB_CHANGE_DOMAIN, /* 72: number of GPUs of an NVLink domain */
  FAB_CHANGE_GPUS,
  FAB_CHANGE_NODES,
  FAB_CHANGE_SET, /* any KEY=VALUE */
  FAB_N_CHANGES,
} FabChangeKind;

extern const char *const fab_change_names[FAB_N_CHANGES + 1]; /* "fault", ...: NULL-ended */

typedef struct {
  FabChangeKind kind;
  char *name; /* "nic=node2/nic1:50%", "nvls off", "cluster.nodes=8" */
  FabEdits *edits;
} FabChange;

/* Reads a change of a scenario that was loaded without it. Returns NULL and *error, which says what would be right.
 * (transfer full) */
FabChange *fab_change_parse (FabChangeKind kind, const char *text, const FabScenario *scenario,
                             GError **error);
void fab_change_free (FabChange *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabChange, fab_change_free)

/* Returns a key that both changes set, so that they exclude each other; NULL: there is none. Adding items to a list
 * does not count. (transfer full) */
char *fab_change_clash (const FabChange *a, const FabChange *b);
