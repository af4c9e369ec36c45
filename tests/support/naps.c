/* SPDX-License-Identifier: Apache-2.0 */
/* naps.c - preloaded into programs that wait by asking again and again, as MPI and libfabric do: where they offer the
 * processor to others, they sleep. Eight hosts on two processors then wait as quietly as on eight machines.
 */
#include <sched.h>
#include <time.h>

int
sched_yield (void)
{
  const struct timespec nap = { .tv_nsec = 20000 };

  return nanosleep (&nap, NULL);
}
