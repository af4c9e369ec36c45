/* SPDX-License-Identifier: Apache-2.0 */
/* both_ends.h - two ends of the verbs backend in one process, a thread each, with a socket pair for control. */
#pragma once

#include "validate/measure/verbs/verbs.h"

/* What one sample was. */
typedef struct {
  FabMeasureKind kind;
  FabBytes size_bytes;
  guint n_messages;
} Sample;

/* What both ends are and do, and what came of it. Index 0 is the asking end. */
typedef struct {
  const char *devices;     /* FAB_FAKE_DEVICES */
  const char *params[2];   /* YAML */
  guint window, timeout_s; /* 0: usual */
  FabBytes max_bytes;
  const Sample *samples; /* ended by n_messages 0 */
  gboolean is_peer_gone; /* the other end closes after opening, and moves nothing */

  gboolean is_open[2];
  FabTimePs elapsed_ps; /* of the last sample, at the asking end */
  FabSeries series;     /* as the asking end describes it, of the last sample's kind */
  char *errors[2];      /* NULL: none */
  guint n_received[2];  /* bytes of the receiving half that the other end's pattern filled */
} BothEnds;

void both_ends_run (BothEnds *self);
void both_ends_clear (BothEnds *self);

/* A directory for FAB_FAKE_VERBS: *state. */
int both_ends_set_up (void **state);
int both_ends_tear_down (void **state);
