/* SPDX-License-Identifier: Apache-2.0 */
/* play.h - messages on a network by its name, over a tree. */
#pragma once

#include "sim/net/net.h"
#include "tests/bench/tree.h"
#include "tests/support/params.h"

typedef struct {
  FabEngine *engine;
  FabNet *net;
  Params *params;
} Play;

/* FALSE: there is no network of that name in this build. `params` as a scenario would give them. */
gboolean play_exists (const char *net);
Play play_new (const Tree *tree, const char *net, const char *params);
Play play_new_with_seed (const Tree *tree, const char *net, const char *params, guint64 seed);
void play_clear (Play *self);

void play_send (Play *self, guint src, guint dst, FabBytes bytes, FabEventFn done, gpointer owner,
                guint64 arg);
double play_run_s (Play *self); /* to the last event; simulated seconds */
