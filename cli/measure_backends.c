/* SPDX-License-Identifier: Apache-2.0 */
/* measure_backends.c - where the modules of backends are, and which of them work here. */
#include "cli/measure.h"

/* $FABRICAST_PLUGINS, the build of a program that was only built, beside the program, where it was configured to be. */
static GPtrArray *
module_directories (const char *name)
{
  GPtrArray *directories = g_ptr_array_new_with_free_func (g_free);
  const char *plugins = g_getenv ("FABRICAST_PLUGINS");
  g_auto (GStrv) named = g_strsplit (plugins ? plugins : "", ":", -1);
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *directory = program ? g_path_get_dirname (program) : g_strdup (".");

  for (guint i = 0; named[i]; i++)
    if (*named[i])
      g_ptr_array_add (directories, g_strdup (named[i]));
  if (g_str_has_prefix (directory, FAB_BUILD_DIR))
    g_ptr_array_add (directories, g_build_filename (FAB_BUILD_DIR, "validate", "measure", name, NULL));
  g_ptr_array_add (directories, g_build_filename (directory, "..", FAB_LIB_DIR, "fabricast", NULL));
  g_ptr_array_add (directories, g_build_filename (FAB_PREFIX, FAB_LIB_DIR, "fabricast", NULL));
  g_ptr_array_add (directories, NULL);
  return directories;
}

const FabMeasureBackend *
measure_backend (const char *name, GError **error)
{
  g_autoptr (GPtrArray) directories = module_directories (name);

  return fab_backend_load (name, (const char *const *) directories->pdata, error);
}

FabTable *
measure_backends (void)
{
  FabTable *table = fab_table_new ((const char *const[]){ "backend", "works", "what", NULL });

  for (guint i = 0; fab_backend_rows[i].name; i++) {
    g_autoptr (GError) problem = NULL;
    const FabMeasureBackend *backend = measure_backend (fab_backend_rows[i].name, &problem);
    gboolean works = backend && (backend->probe == NULL || backend->probe (&problem));

    fab_table_add_text (table, fab_backend_rows[i].name);
    fab_table_add_text (table, works ? "yes" : "no");
    fab_table_add_text (table, works ? fab_backend_rows[i].summary : problem->message);
  }
  return table;
}
