/* SPDX-License-Identifier: Apache-2.0 */
/* crew.h - independent work on all processors. */
#pragma once

#include <glib.h>

typedef void (*FabCrewFn) (gpointer data, guint item);

/* Calls `work` for items 0 to n - 1, several at once, each once; returns when all are done. Which thread does which,
 * and in what order they end, is not said: what an item writes, no other item may touch. On one processor, and for one
 * item, no thread is made. FABRICAST_THREADS in the environment says how many threads there are instead. */
void fab_crew_run (guint n, FabCrewFn work, gpointer data);
