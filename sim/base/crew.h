/* SPDX-License-Identifier: Apache-2.0 */
/* crew.h - independent work on all processors. */
#pragma once

#include <glib.h>

enum { FAB_CREW_MOST_THREADS = 256 };

/* How many threads work at once: as many as there are processors, or what FABRICAST_THREADS in the environment says. */
guint fab_crew_size (void);

typedef void (*FabCrewFn) (gpointer data, guint item);

/* Calls `work` for items 0 to n - 1, several at once, each once; returns when all are done. Which thread does which,
 * and in what order they end, is not said: what an item writes, no other item may touch. On one processor, and for one
 * item, no thread is made. */
void fab_crew_run (guint n, FabCrewFn work, gpointer data);
