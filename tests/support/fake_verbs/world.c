/* SPDX-License-Identifier: Apache-2.0 */
/* world.c - what the processes share: a table in a mapped file, and registered memory, a mapped file each. */
#define _GNU_SOURCE
#include "tests/support/fake_verbs/fake.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

char *
fake_path (const char *format, ...)
{
  g_autofree char *name = NULL;
  va_list args;

  va_start (args, format);
  name = g_strdup_vprintf (format, args);
  va_end (args);
  return g_build_filename (g_getenv ("FAB_FAKE_VERBS"), name, NULL);
}

static void *
map_file (const char *path, int flags, gsize size, void *at)
{
  int fd = open (path, O_RDWR | flags, 0600);
  void *map = MAP_FAILED;

  if (fd >= 0 && ftruncate (fd, (off_t) size) == 0)
    map = mmap (at, size, PROT_READ | PROT_WRITE, MAP_SHARED | (at != NULL ? MAP_FIXED : 0), fd, 0);
  if (fd >= 0)
    close (fd);
  return map != MAP_FAILED ? map : NULL;
}

/* Made aside and moved into place, so that nobody sees half of it; the first one stays. */
static void
make_world (const char *path)
{
  g_autofree char *aside = fake_path ("world-%d-%p", getpid (), (void *) &path);
  FakeWorld *world = map_file (aside, O_CREAT | O_EXCL, sizeof *world, NULL);
  pthread_mutexattr_t attr;

  g_assert (world != NULL);
  pthread_mutexattr_init (&attr);
  pthread_mutexattr_setpshared (&attr, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust (&attr, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init (&world->lock, &attr);
  munmap (world, sizeof *world);
  if (link (aside, path) != 0)
    g_assert (errno == EEXIST);
  unlink (aside);
}

FakeWorld *
fake_world_open (void)
{
  g_autofree char *path = fake_path ("world");
  FakeWorld *world;

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    make_world (path);
  world = map_file (path, 0, sizeof *world, NULL);
  g_assert (world != NULL);
  return world;
}

void
fake_world_close (FakeWorld *self)
{
  munmap (self, sizeof *self);
}

/* A process may have died with it. */
void
fake_world_lock (FakeWorld *self)
{
  if (pthread_mutex_lock (&self->lock) == EOWNERDEAD)
    pthread_mutex_consistent (&self->lock);
}

void
fake_world_unlock (FakeWorld *self)
{
  pthread_mutex_unlock (&self->lock);
}

static FakeMemory *
same_bytes (FakeWorld *self, guint64 address, guint64 size, guint but)
{
  for (guint i = 0; i < FAKE_MEMORIES; i++) {
    FakeMemory *memory = &self->memories[i];

    if (i != but && memory->is_used && memory->pid == getpid () && memory->address == address
        && memory->size == size)
      return memory;
  }
  return NULL;
}

static void *
copy_of (guint64 address, guint64 size)
{
  return memcpy (g_malloc (size), (void *) (guintptr) address, size);
}

/* The pages in place are exchanged for those of a file, with what they hold. */
static gboolean
expose (guint file, guint64 address, guint64 size)
{
  g_autofree char *path = fake_path ("memory-%u", file);
  g_autofree void *kept = copy_of (address, size);
  void *map = map_file (path, O_CREAT, size, (void *) (guintptr) address);

  if (map != NULL)
    memcpy (map, kept, size);
  return map != NULL;
}

guint32
fake_memory_add (FakeWorld *self, guint64 address, guint64 size, guint access)
{
  FakeMemory *twin;
  guint i = 0;

  fake_world_lock (self);
  while (self->memories[i].is_used)
    g_assert (++i < FAKE_MEMORIES);
  twin = same_bytes (self, address, size, i);
  if (twin == NULL && !expose (i, address, size)) {
    fake_world_unlock (self);
    errno = EINVAL;
    return 0;
  }
  self->memories[i] = (FakeMemory){ TRUE, getpid (), address, size, access, twin != NULL ? twin->file : i };
  fake_world_unlock (self);
  return i + 1;
}

void
fake_memory_remove (FakeWorld *self, guint32 key)
{
  FakeMemory *memory = &self->memories[key - 1];

  fake_world_lock (self);
  if (same_bytes (self, memory->address, memory->size, key - 1) == NULL) {
    g_autofree void *kept = copy_of (memory->address, memory->size);

    mmap ((void *) (guintptr) memory->address, memory->size, PROT_READ | PROT_WRITE,
          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    memcpy ((void *) (guintptr) memory->address, kept, memory->size);
  }
  memory->is_used = FALSE;
  fake_world_unlock (self);
}

gboolean
fake_memory_copy (FakeWorld *self, guint32 key, guint access, guint64 address, void *data, guint64 size,
                  gboolean is_writing)
{
  const FakeMemory *memory = key >= 1 && key <= FAKE_MEMORIES ? &self->memories[key - 1] : NULL;
  g_autofree char *path = NULL;
  guint8 *map;

  if (memory == NULL || !memory->is_used || (memory->access & access) != access || address < memory->address
      || address - memory->address + size > memory->size)
    return FALSE;
  map = (guint8 *) (guintptr) memory->address;
  if (memory->pid != getpid ()) {
    path = fake_path ("memory-%u", memory->file);
    map = map_file (path, 0, memory->size, NULL);
    g_assert (map != NULL);
  }
  if (is_writing)
    memcpy (map + (address - memory->address), data, size);
  else
    memcpy (data, map + (address - memory->address), size);
  if (memory->pid != getpid ())
    munmap (map, memory->size);
  return TRUE;
}
