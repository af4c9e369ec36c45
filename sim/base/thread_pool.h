/* SPDX-License-Identifier: Apache-2.0 */
/* thread_pool.h - a thread pool for independent items of work. */
#pragma once

#include <glib.h>

enum { FAB_THREAD_POOL_MOST_THREADS = 256 };

/* Returns the number of threads of a pool: `n_threads`, at least 1 and at most FAB_THREAD_POOL_MOST_THREADS; 0 stands
 * for the number of processors. */
guint fab_thread_pool_size (guint n_threads);

typedef void (*FabThreadPoolFn) (gpointer data, guint item);

/* Calls `work` once for each item from 0 to n - 1 and returns when all calls have ended. `n_threads` items run at
 * once (0: one per processor), in no particular order and on no particular thread, so an item must not write what
 * another item reads or writes. The calling thread works too; with one thread or one item, no thread is started. */
void fab_thread_pool_run (guint n_threads, guint n, FabThreadPoolFn work, gpointer data);
