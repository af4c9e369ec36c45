/* SPDX-License-Identifier: Apache-2.0 */
/* reach.c - which functions a program enters, as bytes of the file that $FAB_REACH names.
 *
 * It is linked into the library that tests/mutate builds with -finstrument-functions. The byte at the offset of a
 * function within that library is 1 when it was entered. The file is mapped, so children and aborted programs count.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define UNSEEN __attribute__ ((no_instrument_function))
#define LARGEST_BYTES (64 << 20) /* of the library; the file has holes where no function begins */

extern const char __ehdr_start[]
    __attribute__ ((visibility ("hidden"))); /* the linker's: where the library begins */

void __cyg_profile_func_enter (void *function, void *caller);
void __cyg_profile_func_exit (void *function, void *caller);

static char *reached;

UNSEEN __attribute__ ((constructor)) static void
map_file (void)
{
  const char *path = getenv ("FAB_REACH");
  int file = path != NULL ? open (path, O_RDWR | O_CREAT, 0600) : -1;

  if (file < 0 || ftruncate (file, LARGEST_BYTES) != 0)
    return;
  void *map = mmap (NULL, LARGEST_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  reached = map != MAP_FAILED ? map : NULL;
  close (file);
}

UNSEEN void
__cyg_profile_func_enter (void *function, __attribute__ ((unused)) void *caller)
{
  uintptr_t offset = (uintptr_t) function - (uintptr_t) __ehdr_start;

  if (reached != NULL && offset < LARGEST_BYTES)
    reached[offset] = 1;
}

UNSEEN void
__cyg_profile_func_exit (__attribute__ ((unused)) void *function, __attribute__ ((unused)) void *caller)
{
}
