/* SPDX-License-Identifier: Apache-2.0 */
/* server.h - the page and its knobs over HTTP, until the program is interrupted.
 *
 *   GET /                    the page
 *   GET /api/run?gpus=64...  what comes out of a setting, as JSON
 *
 * Nothing else is answered, and nothing of a request reaches a file. Sizes, times and numbers are bounded:
 * docs/explore.md.
 */
#pragma once

#include "cli/explore/explored.h"

typedef struct {
  const FabExplored *explored;
  const char *page;    /* HTML */
  const char *address; /* "127.0.0.1" */
  guint port;          /* 0: any that is free */
  void (*on_ready) (const char *url, gboolean is_local, gpointer data);
  gpointer data;
} FabExploreService;

/* Returns after SIGINT or SIGTERM. FALSE and *error when it cannot listen there, or was built without libsoup. */
gboolean fab_explore_serve (const FabExploreService *service, GError **error);
