/* SPDX-License-Identifier: Apache-2.0 */
/* door.c - the environment of the calling thread, and structs that cross the border. */
#include <string.h>

#include "lib/private.h"

void
lib_door_enter (LibDoor *door)
{
  feholdexcept (&door->floats);
  fesetenv (FE_DFL_ENV);
  /* The "C" locale of all categories is static in the C library, so nothing is allocated. */
  door->locale = uselocale (newlocale (LC_ALL_MASK, "C", (locale_t) 0));
}

void
lib_door_leave (const LibDoor *door)
{
  locale_t own = uselocale (door->locale);

  freelocale (own);
  fesetenv (&door->floats);
}

gboolean
lib_door_tell (const LibDoor *door, FabricastProgressFn progress, void *user, gint64 done, gint64 all)
{
  LibDoor again;
  gboolean goes_on;

  if (progress == NULL)
    return TRUE;
  lib_door_leave (door);
  goes_on = progress (user, done, all) == 0;
  lib_door_enter (&again);
  return goes_on;
}

gboolean
lib_take (void *own, gsize size, const void *theirs, FabricastError **error)
{
  const guint8 *bytes = theirs;
  gsize given;

  memset (own, 0, size);
  if (theirs == NULL)
    return TRUE;
  memcpy (&given, theirs, sizeof given);
  if (given < sizeof given) {
    lib_fail (error, FABRICAST_MISUSE, "struct_size is %" G_GSIZE_FORMAT ": set it to sizeof the struct",
              given);
    return FALSE;
  }
  for (gsize i = size; i < given; i++)
    if (bytes[i] != 0) {
      lib_fail (error, FABRICAST_MISUSE,
                "the host was made for a newer library than " FAB_VERSION
                " and uses what this one does not know");
      return FALSE;
    }
  memcpy (own, theirs, MIN (given, size));
  return TRUE;
}

gboolean
lib_give (const void *own, gsize size, void *theirs)
{
  gsize given;

  memcpy (&given, theirs, sizeof given);
  if (given < sizeof given)
    return FALSE;
  if (given > size)
    memset ((guint8 *) theirs + size, 0, given - size);
  memcpy ((guint8 *) theirs + sizeof given, (const guint8 *) own + sizeof given,
          MIN (given, size) - sizeof given);
  return TRUE;
}

const char *
fabricast_version (void)
{
  return FAB_VERSION;
}
