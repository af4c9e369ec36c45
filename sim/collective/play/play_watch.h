/* SPDX-License-Identifier: Apache-2.0 */
/* play_watch.h - who hears of the messages of plays, and may move a play on without them (sim/shortcut/time).
 *
 * A play without one has all of its messages on the network. All plays of one network have the same one, or none.
 */
#pragma once

#include "sim/base/units.h"

typedef struct _FabPlay FabPlay;

typedef struct {
  /* The play is about to begin. What is returned stands for it in the other calls. (transfer full: `clear`) */
  gpointer (*begins) (FabPlay *play);
  /* Whether messages of the play may be left out, which the network is told (FabConnection.repeats). */
  gboolean (*repeats) (gconstpointer watched);
  /* A message of a lane begins at that time, now or later; it has been counted in FabPlayLane.next. Times of a lane
   * never decrease. */
  void (*message_begins) (gpointer watched, guint lane, FabTimePs begin_ps);
  void (*message_arrives) (gpointer watched, guint lane, FabTimePs at_ps);
  /* All messages have arrived. */
  void (*ends) (gpointer watched);
  void (*clear) (gpointer watched);
} FabMessageWatch;
