/* SPDX-License-Identifier: Apache-2.0 */
/* large_pages.h - memory for long arrays that are read in any order.
 *
 * A page of 4 KiB costs a fault when it is first touched, and a look-up of its address when it has not been touched for
 * long. A page of 2 MiB costs both once for 512 of them, where the system has such pages.
 */
#pragma once

#include <glib.h>

/* Not cleared. An array of 2 MiB or more begins on a page of this size. (transfer full: fab_large_pages_free) */
gpointer fab_large_pages_alloc (gsize size);
void fab_large_pages_free (gpointer memory); /* accepts NULL */
