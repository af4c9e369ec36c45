/* SPDX-License-Identifier: Apache-2.0 */
/* change.h - what may become of a scenario, in the words of whoever asks: "nic=node2/nic1:50%" is broken, "800Gb/s" are
 * its adapters, 72 GPUs are one NVLink domain. A change is a few assignments. */
#pragma once

#include "sim/scenario/scenario.h"

typedef enum {
  FAB_CHANGE_FAULT,  /* KIND=NAME:WHAT, see below */
  FAB_CHANGE_SHARP,  /* on, off: the network's switches reduce */
  FAB_CHANGE_NVLS,   /* on, off: NVLink switches reduce */
  FAB_CHANGE_NIC,    /* 800Gb/s: the rate of the ports; ib-xdr: their link entry */
  FAB_CHANGE_DOMAIN, /* 72: GPUs of an NVLink domain */
  FAB_CHANGE_GPUS,
  FAB_CHANGE_NODES,
  FAB_CHANGE_SET, /* any KEY=VALUE */
  FAB_N_CHANGES,
} FabChangeKind;

extern const char *const fab_change_names[FAB_N_CHANGES + 1]; /* "fault", ...: NULL-ended */

typedef struct {
  FabChangeKind kind;
  char *name;  /* "nic=node2/nic1:50%", "nvls off", "cluster.nodes=8" */
  char **sets; /* NULL-ended */
} FabChange;

/* Of a scenario that was loaded without it. NULL and *error, which says what would be right. */
FabChange *fab_change_parse (FabChangeKind kind, const char *text, const FabScenario *scenario,
                             GError **error);
void fab_change_free (FabChange *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabChange, fab_change_free)

/* A key that both set, so that they cannot be together; NULL: there is none. Items added to a list are none. (transfer
 * full) */
char *fab_change_clash (const FabChange *a, const FabChange *b);

/* --- faults ---
 *
 *   link=A->B, nic=node2/nic1, rail=3, switch=spine1, gpu=11 or gpu=node1/gpu3
 *   :50% of its rate (of a GPU: its speed), :dead, :+2us of latency;  @1s..2s: then, else from the start
 *
 * (transfer full): the assignment. NULL and *error. */
char *fab_change_fault (const char *text, guint gpus_per_node, GError **error);
