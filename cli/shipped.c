/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/shipped.h"

#include <string.h>

#include "cli/files.h"
#include "cli/places.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "sim/base/order.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/title.h"

static const char suffix[] = ".yaml";
static const char prefix[] = "scenarios/";
static const char *const folders[] = { ".", "learn" }; /* below scenarios/ */

/* Returns where a data directory is in a source tree. (transfer full) */
static char *
source_path (const char *tree, const char *name)
{
  const char *parent = g_str_has_prefix (name, "catalog")   ? "models"
                     : g_str_has_prefix (name, "scenarios") ? ""
                                                            : "validate";

  return g_build_filename (tree, parent, name, NULL);
}

static gboolean
is_file (const char *path)
{
  return g_file_test (path, G_FILE_TEST_EXISTS) && !g_file_test (path, G_FILE_TEST_IS_DIR);
}

/* Says in which folders the data were looked for, and what would mend it. */
static void
throw_missing (const char *name, const FabCliBuild *build, char *const *candidates, guint n, GError **error)
{
  g_autoptr (GString) looked = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    if (candidates[i] != NULL) {
      g_autofree char *path = g_canonicalize_filename (candidates[i], NULL);

      g_string_append_printf (looked, "%s%s", looked->len > 0 ? ", " : "", path);
    }
  if (build->build != NULL && !build->is_unmoved)
    fab_throw (
        error, FAB_ERROR_IO,
        "cannot find Fabricast's data '%s': this program was built in %s and lies in a source tree that was copied or "
        "moved; `./dev build` in that tree mends it",
        name, build->build);
  else
    fab_throw (
        error, FAB_ERROR_IO,
        "cannot find Fabricast's data '%s' (looked for %s); set FABRICAST_DATA to the directory that holds it",
        name, looked->str);
}

/* A folder that FABRICAST_DATA names must have the catalogue: another one would be used without a word. */
static gboolean
check_named (const char *data, GError **error)
{
  g_autofree char *catalog = data != NULL ? g_build_filename (data, "catalog", NULL) : NULL;

  if (data == NULL || g_file_test (catalog, G_FILE_TEST_IS_DIR))
    return TRUE;
  return fab_throw (
      error, FAB_ERROR_IO, "FABRICAST_DATA is '%s', which %s", data,
      g_file_test (data, G_FILE_TEST_IS_DIR)
          ? "holds no catalog/; it must be the folder with catalog/ and scenarios/, as share/fabricast is"
          : "is no folder");
}

char *
fab_cli_data_path (const char *name, GError **error)
{
  const char *data = g_getenv ("FABRICAST_DATA");
  g_autofree char *directory = fab_cli_program_directory ();
  g_auto (FabCliBuild) build = fab_cli_build ();
  char *candidates[] = { data ? g_build_filename (data, name, NULL) : NULL,
                         g_build_filename (directory, "..", "share", "fabricast", name, NULL),
                         build.is_unmoved ? source_path (build.source, name) : NULL,
                         g_build_filename (fab_cli_data_dir, name, NULL) };
  char *found = NULL;

  if (check_named (data, error)) {
    for (guint i = 0; i < G_N_ELEMENTS (candidates) && found == NULL; i++)
      if (candidates[i] != NULL && g_file_test (candidates[i], G_FILE_TEST_EXISTS))
        found = g_strdup (candidates[i]);
    if (found == NULL)
      throw_missing (name, &build, candidates, G_N_ELEMENTS (candidates), error);
  }
  for (guint i = 0; i < G_N_ELEMENTS (candidates); i++)
    g_free (candidates[i]);
  return found;
}

static char *
with_suffix (const char *name)
{
  return g_strconcat (name, g_str_has_suffix (name, suffix) ? "" : suffix, NULL);
}

/* Returns the path of the shipped scenario of this base name, or NULL. (transfer full) */
static char *
find_shipped (const char *name)
{
  g_autofree char *root = fab_cli_data_path ("scenarios", NULL);
  g_autofree char *base = g_path_get_basename (name);
  g_autofree char *file = with_suffix (base);

  for (guint i = 0; root != NULL && i < G_N_ELEMENTS (folders); i++) {
    g_autofree char *folder = g_canonicalize_filename (folders[i], root);
    g_autofree char *path = g_build_filename (folder, file, NULL);

    if (is_file (path))
      return g_steal_pointer (&path);
  }
  return NULL;
}

char *
fab_cli_scenario_path (const char *name)
{
  gboolean is_bare = *name != '\0' && strcmp (name, "-") != 0 && strchr (name, '/') == NULL;
  g_autofree char *file = with_suffix (name);
  char *found = NULL;

  fab_cli_keep_pipe (name);
  if (is_file (name))
    return g_strdup (name);
  if (is_bare && is_file (file))
    return g_steal_pointer (&file);
  if (is_bare || g_str_has_prefix (name, prefix))
    found = find_shipped (name);
  return found != NULL ? found : g_strdup (name);
}

/* Adds the names of the scenarios of a folder, without their suffix. */
static void
add_names (GPtrArray *names, const char *folder)
{
  g_autoptr (GDir) directory = g_dir_open (folder, 0, NULL);
  const char *file;

  while (directory != NULL && (file = g_dir_read_name (directory)) != NULL)
    if (g_str_has_suffix (file, suffix))
      g_ptr_array_add (names, g_strndup (file, strlen (file) - strlen (suffix)));
}

GPtrArray *
fab_cli_shipped_scenarios (void)
{
  g_autofree char *root = fab_cli_data_path ("scenarios", NULL);
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; root != NULL && i < G_N_ELEMENTS (folders); i++) {
    g_autofree char *folder = g_build_filename (root, folders[i], NULL);

    add_names (names, folder);
  }
  g_ptr_array_sort (names, fab_order_texts);
  return names;
}

char *
fab_cli_shipped_summary (const char *name, const FabCatalog *catalog)
{
  g_autofree char *path = find_shipped (name);
  g_autoptr (FabScenario) scenario = path != NULL ? fab_scenario_load (path, NULL, &fab_models, catalog, NULL)
                                                  : NULL;

  if (scenario == NULL)
    return g_strdup ("");
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  return spec->summary != NULL ? g_strdup (spec->summary) : fab_scenario_title (spec);
}

/* Returns the name of the shipped scenario that is nearest to a word, or NULL. (transfer full) */
static char *
nearest_shipped (const char *name)
{
  g_autoptr (GPtrArray) names = fab_cli_shipped_scenarios ();
  g_autofree char *base = g_path_get_basename (name);

  if (g_str_has_suffix (base, suffix))
    base[strlen (base) - strlen (suffix)] = '\0';
  g_ptr_array_add (names, NULL);
  return g_strdup (fab_nearest (base, (const char *const *) names->pdata));
}

void
fab_cli_name_shipped (const char *name, GError **error)
{
  if (error == NULL || *error == NULL || strcmp (name, "-") == 0 || g_file_test (name, G_FILE_TEST_EXISTS))
    return;
  g_autofree char *message = (*error)->message;
  g_autofree char *shipped = find_shipped (name);
  g_autofree char *nearest = shipped == NULL ? nearest_shipped (name) : NULL;

  if (shipped != NULL)
    (*error)->message = g_strdup_printf ("%s; the one that comes with Fabricast is %s", message, shipped);
  else if (nearest != NULL)
    (*error)->message = g_strdup_printf ("%s; nearest is %s, which comes with Fabricast", message, nearest);
  else
    (*error)->message = g_strdup_printf (
        "%s; `fabricast describe scenarios` lists those that come with Fabricast", message);
}
