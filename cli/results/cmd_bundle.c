/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_bundle.c - `fabricast bundle DIR`: a run with all that another machine needs to get the same bytes: the resolved
 * scenario, the catalogue, the answers to questions about it with their checksums, and a script that compares.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/shipped.h"
#include "sim/base/error.h"
#include "sim/base/version.h"
#include "sim/result/store.h"

typedef struct {
  char *db;
  char **with;
  gint64 run_id;
} BundleOptions;

static const FabUsage usage = {
  .arguments = "DIR",
  .summary =
      "Writes a stored run into a new directory, with all that another machine needs to get the same bytes:\n"
      "scenario.yaml (resolved), data/ (the catalogue), results/*.csv with SHA256SUMS, and `reproduce`, a\n"
      "script that runs the scenario again and compares.\n"
      "\n"
      "Publish the directory beside a paper. README.md in it names the version of\n"
      "Fabricast; the same version, built against the same C library, gives the same bytes.",
  .examples = "  fabricast bundle hello-run\n"
              "  fabricast bundle first-run --db fabricast.db --run 1\n",
  .min_rest = 1,
  .max_rest = 1,
};

/* Questions whose answers depend on the simulation alone. */
static const char *const questions[] = { "iterations", "classes",       "collectives", "flows", "links",
                                         "queues",     "queue-lengths", "memory",      NULL };

/* A bundle while it is written: into DIR.part, which becomes DIR at the end. */
typedef struct {
  char *dir;       /* DIR.part */
  GString *sums;   /* lines of SHA256SUMS */
  GPtrArray *made; /* paths of files that were begun */
} Bundle;

static gboolean
is_gone (int code)
{
  return code == 0 || errno == ENOENT;
}

/* Takes away what was written, and the folders that are empty then. */
static void
remove_made (const Bundle *self)
{
  for (guint i = 0; i < self->made->len; i++) {
    g_autofree char *path = g_strdup (g_ptr_array_index (self->made, i));
    gboolean goes_on = is_gone (g_unlink (path));

    while (goes_on && strcmp (path, self->dir) != 0) {
      char *parent = g_path_get_dirname (path);

      g_free (path);
      path = parent;
      goes_on = is_gone (g_rmdir (path));
    }
  }
}

static gboolean
write_file (const Bundle *self, const char *name, const char *text, gssize length, GError **error)
{
  g_autofree char *path = g_build_filename (self->dir, name, NULL);
  g_autofree char *parent = g_path_get_dirname (path);

  g_ptr_array_add (self->made, g_strdup (path));
  if (g_mkdir_with_parents (parent, 0777) != 0)
    return fab_throw (error, FAB_ERROR_IO, "cannot make the directory '%s': %s", parent, g_strerror (errno));
  return g_file_set_contents (path, text, length, error);
}

static gboolean
copy_file (const Bundle *self, const char *from, const char *name, GError **error)
{
  g_autofree char *text = NULL;
  gsize length;

  return g_file_get_contents (from, &text, &length, error)
      && write_file (self, name, text, (gssize) length, error);
}

static gboolean
copy_catalogue (const Bundle *self, GError **error)
{
  g_autofree char *from = fab_cli_data_path ("catalog", error);
  g_autoptr (GDir) dir = from != NULL ? g_dir_open (from, 0, error) : NULL;
  const char *name;

  if (dir == NULL)
    return FALSE;
  while ((name = g_dir_read_name (dir)) != NULL) {
    g_autofree char *path = g_build_filename (from, name, NULL);
    g_autofree char *to = g_build_filename ("data", "catalog", name, NULL);

    if (g_str_has_suffix (name, ".yaml") && !copy_file (self, path, to, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
copy_entries (const Bundle *self, char **with, GError **error)
{
  for (guint i = 0; with != NULL && with[i] != NULL; i++) {
    g_autofree char *name = g_strdup_printf ("with/%u.yaml", i);

    if (!copy_file (self, with[i], name, error))
      return FALSE;
  }
  return TRUE;
}

/* Before anything is written. */
static gboolean
check_entries (char **with, GError **error)
{
  for (guint i = 0; with != NULL && with[i] != NULL; i++)
    if (!g_file_test (with[i], G_FILE_TEST_IS_REGULAR))
      return fab_throw (error, FAB_ERROR_INPUT, "--with: there is no file '%s'", with[i]);
  return TRUE;
}

static gboolean
write_answer (Bundle *self, FabStore *store, gint64 run_id, const char *question, GError **error)
{
  g_autofree char *sql = fab_query_sql (fab_query_find (question));
  g_autoptr (FabTable) table = fab_store_query (store, sql, run_id, error);

  if (table == NULL)
    return FALSE;
  g_autofree char *csv = fab_table_to_csv (table);
  g_autofree char *name = g_strdup_printf ("results/%s.csv", question);
  g_autofree char *sum = g_compute_checksum_for_string (G_CHECKSUM_SHA256, csv, -1);
  g_string_append_printf (self->sums, "%s  %s\n", sum, name);
  return write_file (self, name, csv, -1, error);
}

/* The script. What was made by another version is compared all the same, and said. */
static char *
script_of (const char *version, guint n_with)
{
  GString *script = g_string_new (
      "#!/bin/sh\n"
      "# Runs scenario.yaml again and compares the results with those of this bundle.\n"
      "set -eu\n"
      "cd \"$(dirname \"$0\")\"\n"
      "export FABRICAST_DATA=\"$PWD/data\"\n"
      "fabricast=${FABRICAST:-fabricast}\n");

  g_string_append_printf (script,
                          "made_by='%s'\n"
                          "here=$(\"$fabricast\" --version | head -n 1)\n"
                          "case $here in *\"$made_by\"*) ;;\n"
                          "  *) echo \"The bundle was made by $made_by; this is $here.\" ;;\n"
                          "esac\n"
                          "rm -rf again && mkdir -p again/results\n"
                          "\"$fabricast\" run scenario.yaml --db again/run.db",
                          version);
  for (guint i = 0; i < n_with; i++)
    g_string_append_printf (script, "%swith/%u.yaml%s", i == 0 ? " --set 'include=[" : ", ", i,
                            i + 1 == n_with ? "]'" : "");
  g_string_append (script, " --no-band > again/run.txt\nfor question in");
  for (guint i = 0; questions[i] != NULL; i++)
    g_string_append_printf (script, " %s", questions[i]);
  g_string_append (script, "; do\n"
                           "  \"$fabricast\" query \"$question\" --db again/run.db --format csv > "
                           "\"again/results/$question.csv\"\n"
                           "done\n"
                           "cd again && sha256sum --check ../SHA256SUMS\n");
  return g_string_free (script, FALSE);
}

static gboolean
write_script (const Bundle *self, const char *version, guint n_with, GError **error)
{
  g_autofree char *script = script_of (version, n_with);
  g_autofree char *path = g_build_filename (self->dir, "reproduce", NULL);

  if (!write_file (self, "reproduce", script, -1, error))
    return FALSE;
  return g_chmod (path, 0755) == 0
      || fab_throw (error, FAB_ERROR_IO, "cannot make '%s' executable: %s", path, g_strerror (errno));
}

static gboolean
write_readme (const Bundle *self, const char *name, const char *version, GError **error)
{
  g_autofree char *text = g_strdup_printf (
      "# %s\n\nThis directory holds a run of Fabricast %s.\n\n"
      "- `scenario.yaml`: the scenario with every default filled in, its seed among them.\n"
      "- `data/catalog/`: the catalogue of links, nodes and models that it names.\n"
      "- `with/`: entries of the run's own, where it had any.\n"
      "- `results/`: the answers of `fabricast query`, and `SHA256SUMS` over them.\n"
      "- `reproduce`: runs the scenario again and compares. `FABRICAST=/path/to/fabricast ./reproduce` takes "
      "another program.\n\n"
      "The same version, built against the same C library, gives the same bytes.\n",
      name, version);

  return write_file (self, "README.md", text, -1, error);
}

static gboolean
write_all (Bundle *self, FabStore *store, const BundleOptions *o, GError **error)
{
  g_autoptr (FabTable) run = fab_store_query (
      store, "SELECT scenario_yaml, name, version FROM run WHERE run_id = :run", o->run_id, error);

  if (run == NULL)
    return FALSE;
  if (run->n_rows == 0)
    return fab_throw (error, FAB_ERROR_INPUT, "%s has no such run; `fabricast query runs` lists them",
                      o->db ? o->db : "fabricast.db");
  const char *yaml = fab_table_cell (run, 0, 0)->text, *name = fab_table_cell (run, 0, 1)->text,
             *version = fab_table_cell (run, 0, 2)->text;
  for (guint i = 0; questions[i] != NULL; i++)
    if (!write_answer (self, store, o->run_id, questions[i], error))
      return FALSE;
  return write_file (self, "scenario.yaml", yaml, -1, error) && copy_catalogue (self, error)
      && copy_entries (self, o->with, error) && write_file (self, "SHA256SUMS", self->sums->str, -1, error)
      && write_script (self, version, o->with != NULL ? g_strv_length (o->with) : 0, error)
      && write_readme (self, name, version, error);
}

static gboolean
bundle (const BundleOptions *o, const char *dir, GError **error)
{
  g_autofree char *part = g_strconcat (dir, ".part", NULL);

  if (g_file_test (dir, G_FILE_TEST_EXISTS))
    return fab_throw (error, FAB_ERROR_INPUT, "'%s' exists; name a directory that does not", dir);
  if (g_file_test (part, G_FILE_TEST_EXISTS))
    return fab_throw (error, FAB_ERROR_INPUT, "'%s' is a bundle that was not finished; remove it", part);
  g_autoptr (FabStore) store = fab_store_open (o->db ? o->db : "fabricast.db", FAB_STORE_READ, error);
  g_autoptr (GPtrArray) made = g_ptr_array_new_with_free_func (g_free);
  Bundle self = { .dir = part, .sums = g_string_new (NULL), .made = made };
  gboolean is_done = store != NULL && check_entries (o->with, error) && write_all (&self, store, o, error);

  if (is_done && g_rename (part, dir) != 0)
    is_done = fab_throw (error, FAB_ERROR_IO, "cannot rename '%s' to '%s': %s", part, dir,
                         g_strerror (errno));
  g_string_free (self.sums, TRUE);
  if (!is_done)
    remove_made (&self);
  if (is_done)
    g_print ("%s: scenario, catalogue and results of %s; %s/reproduce runs it again and compares\n", dir,
             fab_version (), dir);
  return is_done;
}

static FabExit
run (int argc, char **argv)
{
  BundleOptions o = { 0 };
  const GOptionEntry entries[] = {
    { "db", 0, 0, G_OPTION_ARG_FILENAME, &o.db, "Results file (default fabricast.db)", "FILE" },
    { "run", 0, 0, G_OPTION_ARG_INT64, &o.run_id, "Run id (default: the last)", "N" },
    { "with", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o.with,
      "File of your own entries that the run used, as --set include=FILE has them; repeatable", "FILE" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error);

  if (is_done && o.run_id < 0)
    is_done = fab_throw (&error, FAB_ERROR_INPUT, "--run counts from 1; leave it out for the last run");
  is_done = is_done && bundle (&o, argv[1], &error);
  g_free (o.db);
  g_strfreev (o.with);
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("bundle", error);
}

const FabCommand fab_command_bundle = {
  .name = "bundle",
  .summary = "Write a run with all that another machine needs to get the same bytes",
  .run = run,
};
