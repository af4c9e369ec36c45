/* SPDX-License-Identifier: Apache-2.0 */
/* near.c - applies a PCI device's local_cpulist to the affinity of this thread. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_setaffinity */
#endif
#include "validate/measure/cuda/near.h"

#include <sched.h>

struct _FabNear {
  char *cpus;
  cpu_set_t before;
};

gboolean *
fab_near_parse (const char *list, guint n_cpus)
{
  g_autofree gboolean *is_in = g_new0 (gboolean, n_cpus);
  g_auto (GStrv) parts = g_strsplit (list, ",", -1);

  for (guint i = 0; parts[i]; i++) {
    g_auto (GStrv) ends = g_strsplit (parts[i], "-", 2);
    guint64 first, last;

    if (!ends[0] || !g_ascii_string_to_unsigned (ends[0], 10, 0, G_MAXUINT, &first, NULL))
      return NULL;
    last = first;
    if (ends[1] && !g_ascii_string_to_unsigned (ends[1], 10, first, G_MAXUINT, &last, NULL))
      return NULL;
    for (guint64 cpu = first; cpu <= last && cpu < n_cpus; cpu++)
      is_in[cpu] = TRUE;
  }
  return g_steal_pointer (&is_in);
}

FabNear *
fab_near_enter (const char *pci_dir, const char *bus_id)
{
  g_autofree char *path = g_build_filename (pci_dir, bus_id, "local_cpulist", NULL);
  g_autofree char *list = NULL;
  g_autofree gboolean *is_in = NULL;
  cpu_set_t before, wanted;
  FabNear *self;

  if (!g_file_get_contents (path, &list, NULL, NULL)
      || !(is_in = fab_near_parse (g_strstrip (list), CPU_SETSIZE))
      || sched_getaffinity (0, sizeof (before), &before) != 0)
    return NULL;
  CPU_ZERO (&wanted);
  for (gsize cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (is_in[cpu] && CPU_ISSET (cpu, &before))
      CPU_SET (cpu, &wanted);
  if (CPU_COUNT (&wanted) == 0 || sched_setaffinity (0, sizeof (wanted), &wanted) != 0)
    return NULL;
  self = g_new0 (FabNear, 1);
  self->cpus = g_steal_pointer (&list);
  self->before = before;
  return self;
}

const char *
fab_near_cpus (const FabNear *self)
{
  return self->cpus;
}

void
fab_near_leave (FabNear *self)
{
  if (!self)
    return;
  sched_setaffinity (0, sizeof (self->before), &self->before);
  g_free (self->cpus);
  g_free (self);
}
