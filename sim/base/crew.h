/* SPDX-License-Identifier: Apache-2.0 */
/* crew.h - a thread pool for independent items of work. */
#pragma once

#include <glib.h>

enum { FAB_CREW_MOST_THREADS = 256 };

/* Returns the number of threads of a pool: FABRICAST_THREADS from the environment, or else the number of processors. */
guint fab_crew_size (void);

typedef void (*FabCrewFn) (gpointer data, guint item);

/* Calls `work` once for each item from 0 to n - 1 and returns when all calls have ended. Several items run at once, in
 * no particular order and on no particular thread, so an item must not write what another item reads or writes. The
 * calling thread works too; with one processor or one item, no thread is started. */
void fab_crew_run (guint n, FabCrewFn work, gpointer data);
