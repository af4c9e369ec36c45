/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c - describes a machine from what the kernel says, so that people know later what was measured. */
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "validate/measure/host_run.h"

/* Returns the value of the first "key : value" line with this key in a file of /proc. (transfer full) */
static char *
proc_value (const char *path, const char *key)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return NULL;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i]; i++) {
    const char *colon = strchr (lines[i], ':');

    if (colon && g_str_has_prefix (lines[i], key))
      return g_strstrip (g_strdup (colon + 1));
  }
  return NULL;
}

static char *
cpu_name (void)
{
  struct utsname system = { 0 };
  char *name = proc_value ("/proc/cpuinfo", "model name"); /* on x86; Arm has none */

  uname (&system);
  return name ? name : g_strdup (system.machine);
}

char *
fab_machine_name (void)
{
  g_autofree char *cpu = cpu_name ();

  return g_strdup_printf ("%s: %s, %u CPUs", g_get_host_name (), cpu, g_get_num_processors ());
}

void
fab_machine_describe (FabMeasureHost *host)
{
  struct utsname system = { 0 };
  g_autofree char *cpu = cpu_name ();
  g_autofree char *n_cpus = g_strdup_printf ("%u", g_get_num_processors ());
  g_autofree char *memory = fab_units_show (FAB_UNIT_BYTES, (double) sysconf (_SC_PHYS_PAGES)
                                                                * (double) sysconf (_SC_PAGESIZE));
  g_autofree char *board = NULL, *kernel = NULL, *date = NULL;
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();

  uname (&system);
  kernel = g_strdup_printf ("%s %s", system.sysname, system.release);
  date = g_date_time_format (now, "%Y-%m-%d %H:%M:%S UTC");
  host->machine (host, "host", g_get_host_name ());
  host->machine (host, "cpu", cpu);
  host->machine (host, "cpus", n_cpus);
  host->machine (host, "memory", memory);
  host->machine (host, "kernel", kernel);
  host->machine (host, "date", date);
  host->machine (host, "fabricast", FAB_VERSION);
  if (g_file_get_contents ("/sys/class/dmi/id/product_name", &board, NULL, NULL))
    host->machine (host, "product", g_strstrip (board));
}
