/* SPDX-License-Identifier: Apache-2.0 */
/* job.c - reads the files of a job, and writes the section with what was read, inferred and left. */
#include "formats/job/job.h"

#include <string.h>

#include "formats/job/rows.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"

/* --- models by name --- */

/* Letters and digits, in lower case, and the points of numbers where they count ("gpt3-1.3b" and "gpt3-13b"); versions
 * 3.1 of Llama have the shapes of 3: "Llama-3.1-8B", "llama3.1_8B". */
static char *
squeeze (const char *name, gboolean has_points)
{
  g_autofree char *dashes = g_strdelimit (g_strdup (name), "_", '-');
  g_auto (GStrv) parts = g_strsplit (dashes, "3.1-", -1);
  g_autofree char *plain = g_strjoinv ("3-", parts);
  const char *slash = strrchr (plain, '/');
  GString *out = g_string_new (NULL);

  for (const char *c = slash && slash[1] ? slash + 1 : plain; *c != '\0'; c++)
    if (g_ascii_isalnum (*c) || (has_points && *c == '.' && g_ascii_isdigit (c[1])))
      g_string_append_c (out, g_ascii_tolower (*c));
  return g_string_free (out, FALSE);
}

/* Whether a text says another number of parameters: "16b". */
static gboolean
says_size (const char *text)
{
  for (const char *c = text; *c != '\0'; c++)
    if (*c == 'b' && c > text && g_ascii_isdigit (c[-1]))
      return TRUE;
  return FALSE;
}

/* The entry whose name is within the name that a file gives; the longest one. NULL: none. */
static const char *
model_named (const FabCatalog *catalog, const char *said, gboolean has_points)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_MODELS);
  g_autofree char *wanted = squeeze (said, has_points);
  const char *found = NULL;
  gsize longest = 0;

  for (guint i = 0; names[i] != NULL; i++) {
    g_autofree char *name = squeeze (names[i], has_points);
    const char *at = strstr (wanted, name);

    gboolean is_whole = at != NULL
                     && g_str_has_prefix (at + strlen (name), "671b"); /* DeepSeek-V3 has one size */
    if (at == NULL || strlen (name) <= longest
        || (!is_whole
            && (g_ascii_isdigit (at[strlen (name)]) || at[strlen (name)] == '.'
                || says_size (at + strlen (name)))))
      continue;
    longest = strlen (name);
    found = names[i];
  }
  return found;
}

static void
choose_model (FabImportedJob *self)
{
  const FabImportJobRequest *request = self->request;

  if (request->model_name != NULL) {
    self->model = request->model_name;
    fab_imported_job_infer (self, "job.model: %s, as --model says", request->model_name);
    return;
  }
  if (self->model_said != NULL && request->catalog != NULL) {
    self->model = model_named (request->catalog, self->model_said, TRUE);
    if (self->model == NULL) /* "qwen25_7b" */
      self->model = model_named (request->catalog, self->model_said, FALSE);
    if (self->model != NULL)
      fab_imported_job_infer (self, "job.model: %s, the catalogue's entry for %s", self->model,
                              self->model_said);
    else
      fab_imported_job_infer (self, "job.model: the catalogue has none for %s; --model config.json gives it",
                              self->model_said);
  }
  if (fab_imported_job_get (self, "shape.layers") != NULL && self->model == NULL)
    self->model = "imported";
}

/* --- the text --- */

static void
write_notes (const FabImportedJob *self, GString *out, FabFileNoteKind kind, const char *title)
{
  gboolean is_first = TRUE;

  for (guint i = 0; i < self->notes->len; i++) {
    const FabFileNote *note = fab_file_note (self->notes, i);

    if (note->kind != kind)
      continue;
    if (is_first)
      g_string_append_printf (out, "#\n# %s\n", title);
    is_first = FALSE;
    fab_file_note_write (out, note->text);
  }
}

static void
write_list (GString *out, const GPtrArray *list, const char *title)
{
  if (list->len == 0)
    return;
  g_string_append_printf (out, "#\n# %s\n", title);
  for (guint i = 0; i < list->len; i++)
    fab_file_note_write (out, g_ptr_array_index (list, i));
}

static void
write_unread (const FabImportedJob *self, GString *out)
{
  g_autoptr (GString) names = g_string_new (NULL);

  if (self->unread->len == 0)
    return;
  for (guint i = 0; i < self->unread->len; i++)
    g_string_append_printf (names, "%s%s", i ? ", " : "", (char *) g_ptr_array_index (self->unread, i));
  g_string_append (out,
                   "#\n# Not looked at, because nothing here depends on them or they are not known here:\n");
  fab_file_note_write (out, names->str);
}

static void
write_head (const FabImportedJob *self, GString *out)
{
  const FabImportJobRequest *request = self->request;

  g_string_append (out, "# A job, from");
  for (guint i = 0; i < request->n_files; i++) {
    g_autofree char *name = fab_file_comment (request->files[i].name);

    g_string_append_printf (out, "%s %s", i ? "," : "", name);
  }
  g_string_append_c (out, '\n');
  write_notes (self, out, FAB_NOTE_READ, "Read:");
  write_notes (self, out, FAB_NOTE_INFERRED, "Inferred; change it where you know better:");
  write_list (out, self->effects, "Changes communication, and no key of Fabricast says it:");
  write_unread (self, out);
}

/* Adds a key to the document under `root`. */
static void
put (FabYamlDoc *doc, const char *root, const char *key, const char *value, FabDiagnostics *diagnostics)
{
  g_autofree char *assignment = g_strdup_printf ("%s.%s=%s", root, key, value);

  fab_yaml_doc_set (doc, "--set", assignment, diagnostics);
}

static void
write_job (const FabImportedJob *self, GString *out, FabDiagnostics *diagnostics)
{
  g_autoptr (FabYamlDoc) doc = fab_yaml_doc_new ("job");
  g_autofree char *text = NULL;

  put (doc, "job", "kind", self->kind, diagnostics);
  if (self->model != NULL)
    put (doc, "job", "model", self->model, diagnostics);
  if (fab_imported_job_get (self, "compute.stack") != NULL)
    put (doc, "job", "compute.kind", "auto", diagnostics);
  for (guint i = 0; i < self->keys->len; i++) {
    const FabJobKey *key = g_ptr_array_index (self->keys, i);

    if (!g_str_has_prefix (key->key, "shape."))
      put (doc, "job", key->key, key->value, diagnostics);
  }
  text = fab_yaml_node_text (fab_yaml_doc_root (doc));
  g_string_append_printf (out, "\n%s%s", text, g_str_has_suffix (text, "\n") ? "" : "\n");
  if (self->model == NULL)
    g_string_append (
        out, "  # model: NAME  # no file names it: --model config.json, or a name of `describe models`\n");
}

static void
write_model (const FabImportedJob *self, GString *out, FabDiagnostics *diagnostics)
{
  g_autoptr (FabYamlDoc) doc = fab_yaml_doc_new ("model");
  g_autofree char *shape = NULL;
  g_auto (GStrv) lines = NULL;

  if (self->request->model != NULL) {
    g_string_append_printf (out, "\n%s", self->request->model);
    return;
  }
  if (g_strcmp0 (self->model, "imported") != 0)
    return;
  put (doc, "shape", "kind", "transformer", diagnostics);
  for (guint i = 0; i < self->keys->len; i++) {
    const FabJobKey *key = g_ptr_array_index (self->keys, i);

    if (g_str_has_prefix (key->key, "shape."))
      put (doc, "shape", key->key + strlen ("shape."), key->value, diagnostics);
  }
  shape = fab_yaml_node_text (fab_yaml_doc_root (doc));
  lines = g_strsplit (shape, "\n", -1);
  g_string_append (out, "\nmodels:\n  - name: imported\n");
  for (guint i = 0; lines[i] && lines[i][0]; i++)
    g_string_append_printf (out, "    %s\n", lines[i]);
  g_string_append (out, "    source: the configuration of the job\n");
}

/* How many nodes and GPUs the files start. */
static void
note_ranks (FabImportedJob *self)
{
  guint n = self->n_ranks > 0 ? self->n_ranks : self->n_nodes * self->gpus_per_node;

  if (self->n_nodes > 0 && self->gpus_per_node == 0 && self->n_ranks >= self->n_nodes)
    self->gpus_per_node = self->n_ranks / self->n_nodes;
  if (self->n_nodes > 0 && self->gpus_per_node > 0)
    fab_imported_job_infer (self, "the files start %u %s of %u GPUs: cluster: {nodes: %u, gpus_per_node: %u}",
                            self->n_nodes, self->n_nodes == 1 ? "node" : "nodes", self->gpus_per_node,
                            self->n_nodes, self->gpus_per_node);
  else if (n > 0)
    fab_imported_job_infer (self, "the files start %u GPUs", n);
  if (n > 0 && self->request->n_ranks > 0 && n != self->request->n_ranks)
    fab_imported_job_infer (
        self,
        "the machine has %u GPUs; the batch of each GPU stays as it is, unless the job has a "
        "global_batch",
        self->request->n_ranks);
}

/* A batch of the whole job and an accumulation that contradict each other: the former holds. */
static void
settle_batch (FabImportedJob *self)
{
  if (fab_imported_job_get (self, "global_batch") == NULL
      || fab_imported_job_get (self, "accumulation") == NULL)
    return;
  fab_imported_job_set (self, NULL, NULL, "accumulation", NULL);
  fab_imported_job_infer (self, "job.accumulation: left out, as job.global_batch says it");
}

/* Megatron-LM and torchtitan ignore sequence parallelism without tensor parallelism; a scenario refuses it. */
static void
settle_sequence (FabImportedJob *self)
{
  const char *tensor = fab_imported_job_get (self, "parallel.tensor");

  if (g_strcmp0 (fab_imported_job_get (self, "parallel.sequence"), "true") != 0
      || (tensor != NULL && strcmp (tensor, "1") != 0))
    return;
  fab_imported_job_set (self, NULL, NULL, "parallel.sequence", NULL);
  fab_imported_job_set (self, NULL, NULL, "parallel.overlap_tensor", NULL);
  fab_imported_job_infer (
      self, "job.parallel.sequence: left out, as it means nothing with one tensor-parallel rank");
}

void
fab_job_list_unread (FabImportedJob *self, const FabJobSettings *settings)
{
  for (guint i = 0; i < settings->all->len; i++) {
    const FabJobSetting *setting = &g_array_index (settings->all, FabJobSetting, i);

    if (!setting->is_used)
      g_ptr_array_add (self->unread, g_strdup (setting->key));
  }
}

static const FabFileFormat *
find_format (const FabImportJobRequest *request, const FabFileText *file, GError **error)
{
  const FabFileFormat *format = request->format ? fab_file_format_named (FAB_FILE_JOB, request->format)
                                                : fab_file_format_of (FAB_FILE_JOB, file);
  g_autofree const char **names = fab_file_format_names (FAB_FILE_JOB);
  g_autofree char *all = g_strjoinv (", ", (char **) names);
  const char *nearest = request->format ? fab_nearest (request->format, names) : NULL;

  if (format != NULL)
    return format;
  if (request->format)
    fab_throw (error, FAB_ERROR_INPUT, "--from %s: unknown format of jobs%s%s; the formats are %s",
               request->format, nearest ? "; nearest is " : "", nearest ? nearest : "", all);
  else
    fab_file_text_fail (
        file, 0, error,
        "this is no configuration of a training program that is known here; known are %s, and --from "
        "names one",
        all);
  return NULL;
}

static gboolean
read_file (FabImportedJob *self, const FabFileText *file, GError **error)
{
  const FabFileFormat *format = find_format (self->request, file, error);
  g_autoptr (FabJobSettings) settings = NULL;
  FabJobReading reading = { .job = self, .error = error, .is_good = TRUE };

  if (format == NULL)
    return FALSE;
  if (file->size > FAB_IMPORT_MAX_BYTES || strlen (file->text) != file->size)
    return fab_file_text_fail (file, 0, error, "the file is no text, or larger than %u MiB",
                               (guint) (FAB_IMPORT_MAX_BYTES >> 20));
  settings = fab_job_settings_read (file, error);
  if (settings == NULL)
    return FALSE;
  reading.settings = settings;
  for (guint i = 0; i < settings->twice->len; i++)
    fab_imported_job_infer (self, "%s", (const char *) g_ptr_array_index (settings->twice, i));
  if (!format->read.job (&reading))
    return FALSE;
  fab_job_list_unread (self, settings);
  return TRUE;
}

static gboolean
check_whole (const FabImportedJob *self, GError **error)
{
  if (!self->request->has_machine || self->model != NULL)
    return TRUE;
  return fab_throw (error, FAB_ERROR_INPUT,
                    "%s: no file names a model of the catalogue; --model config.json, or a "
                    "name of `fabricast describe models`, gives it",
                    self->request->files[0].name);
}

static char *
write_all (FabImportedJob *self, GError **error)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (GString) out = g_string_new (NULL);

  choose_model (self);
  settle_batch (self);
  settle_sequence (self);
  note_ranks (self);
  if (!check_whole (self, error))
    return NULL;
  write_head (self, out);
  write_job (self, out, diagnostics);
  write_model (self, out, diagnostics);
  return fab_diagnostics_check (diagnostics, error) ? g_string_free (g_steal_pointer (&out), FALSE) : NULL;
}

char *
fab_import_job (const FabImportJobRequest *request, GError **error)
{
  FabImportedJob self;
  gboolean is_good = TRUE;
  char *text;

  fab_imported_job_init (&self, request);
  for (guint i = 0; i < request->n_files && is_good; i++)
    is_good = read_file (&self, &request->files[i], error);
  text = is_good ? write_all (&self, error) : NULL;
  fab_imported_job_clear (&self);
  return text;
}
