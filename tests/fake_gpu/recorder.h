/* SPDX-License-Identifier: Apache-2.0 */
/* recorder.h - a host of backends that takes one sample of each size and remembers what it was. */
#pragma once

#include "validate/measure/host.h"

#define RECORDER_MESSAGES 100u /* in a sample */

typedef struct {
  FabMeasureHost base;
  FabMeasurePlan plan;
  GHashTable *times_ps; /* "cuda bandwidth, host to gpu0, copy, window 64 @8" -> FabTimePs, of one message */
  GHashTable *machine;  /* key -> value */
  GPtrArray *notes;
} Recorder;

Recorder *recorder_new (const FabBytes *sizes_bytes, guint n_sizes);
void recorder_free (Recorder *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Recorder, recorder_free)

/* Time of one message; fails the test when there is no such series or size. */
FabTimePs recorder_time (const Recorder *self, const char *title, FabBytes size_bytes);
gboolean recorder_has (const Recorder *self, const char *title, FabBytes size_bytes);
gboolean recorder_noted (const Recorder *self, const char *part);
