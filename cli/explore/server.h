/* SPDX-License-Identifier: Apache-2.0 */
/* server.h - serves the page and the results of its knobs over HTTP, until the program is interrupted.
 *
 *   GET /                    the page
 *   GET /api/run?gpus=64...  the result of a setting, as JSON
 *
 * It answers nothing else, and nothing of a request reaches a file. docs/how-to/explore.md lists the limits of sizes,
 * times and numbers.
 */
#pragma once

#include "cli/explore/explored.h"

typedef struct {
  const FabExplored *explored;
  const char *page;    /* HTML */
  const char *address; /* "127.0.0.1" */
  guint port;          /* 0: any free port */
  void (*on_ready) (const char *url, gboolean is_local, gpointer data);
  gpointer data;
} FabExploreService;

/* Serves until SIGINT or SIGTERM. FALSE and *error when it cannot listen there, or was built without libsoup. */
gboolean fab_explore_serve (const FabExploreService *service, GError **error);
