/* SPDX-License-Identifier: Apache-2.0 */
/* crew.h - a thread pool for independent items of work. */
#pragma once

#include <glib.h>

enum { FAB_CREW_MOST_THREADS = 256 };

/* How many threads work at once where `n_threads` are wanted: at least 1, at most FAB_CREW_MOST_THREADS; 0 stands for
 * as many as there are processors. */
guint fab_crew_size (guint n_threads);

typedef void (*FabCrewFn) (gpointer data, guint item);

/* Calls `work` for items 0 to n - 1, `n_threads` at once (0: one per processor), each once; returns when all are
 * done. Which thread does which, and in what order they end, is not said: what an item writes, no other item may
 * touch. On one processor, and for one item, no thread is made. */
void fab_crew_run (guint n_threads, guint n, FabCrewFn work, gpointer data);
