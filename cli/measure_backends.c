/* SPDX-License-Identifier: Apache-2.0 */
/* measure_backends.c - which backends work here. */
#include "cli/measure.h"

const FabMeasureBackend *
measure_backend (const char *name, GError **error)
{
  g_autofree char *built = g_build_filename ("validate", "measure", name, NULL);
  g_autoptr (GPtrArray) directories = fab_cli_module_directories (built);

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
