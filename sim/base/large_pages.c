/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/base/large_pages.h"

#include <sys/mman.h>

enum { LINE_BYTES = 64, PAGE_BYTES = 1 << 21 };

gpointer
fab_large_pages_alloc (gsize size)
{
  gpointer memory = g_aligned_alloc (size, 1, size < PAGE_BYTES ? LINE_BYTES : PAGE_BYTES);

#ifdef MADV_HUGEPAGE
  if (size >= PAGE_BYTES)
    (void) madvise (memory, size / PAGE_BYTES * PAGE_BYTES, MADV_HUGEPAGE);
#endif
  return memory;
}

void
fab_large_pages_free (gpointer memory)
{
  g_aligned_free (memory);
}
