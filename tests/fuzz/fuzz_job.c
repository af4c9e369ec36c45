/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_job.c - broken configurations of training programs: nothing crashes, what is refused has a message, and what is
 * taken is YAML with a kind of job.
 *
 * As a test it mutates the samples of validate/measured/jobs with the seeds 1 to N_ROUNDS; FAB_TEST_SEED=17 runs that one
 * alone. Compiled with -Dfuzz=true it is a libFuzzer target with the same check.
 */
#include <string.h>

#include "formats/job/job.h"
#include "sim/config/yaml_doc.h"
#include "tests/support/random.h"

enum { N_ROUNDS = 6000 };

#define SAMPLES FAB_SOURCE_DIR "/validate/measured/jobs/"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
check_job (const char *made, const char *text)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = fab_yaml_doc_parse ("made", made, strlen (made), diagnostics);
  const FabYamlNode *job = doc ? fab_yaml_get (fab_yaml_doc_root (doc), "job") : NULL;

  if (fab_diagnostics_count (diagnostics) > 0 || job == NULL || fab_yaml_get (job, "kind") == NULL)
    g_error ("no good job:\n%s\nof\n%s", made, text);
}

static void
check_as (const char *format, const char *text)
{
  FabFileText file = { "fuzz", text, strlen (text) };
  FabImportJobRequest request = { .files = &file, .n_files = 1, .format = format };
  g_autoptr (GError) error = NULL;
  g_autofree char *made = fab_import_job (&request, &error);

  if ((made == NULL) != (error != NULL))
    g_error ("neither a job nor a message:\n%s", text);
  if (error != NULL && (error->message[0] == '\0' || !g_utf8_validate (error->message, -1, NULL)))
    g_error ("refused without a message:\n%s", text);
  if (made != NULL)
    check_job (made, text);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static const char *const formats[] = { NULL,       "torchtitan", "nanotron",           "gpt-neox",
                                         "composer", "deepspeed",  "training-arguments", "accelerate",
                                         "megatron" };
  g_autofree char *text = g_strndup ((const char *) data, size);

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    check_as (formats[i], text);
  return 0;
}

#ifndef FAB_LIBFUZZER

static const char *const words[] = {
  "\n",   "\t",     "\"",    "'",         "\"\"\"",   "[",        "]",    "{",      "}",
  "=",    ".",      "#",     "auto",      "null",     "-1",       "1e15", "1e400",  "99999999999999999999",
  "--",   "--bf16", "$A",    "${A:-${B}", "$((8*0))", "$((A/0))", "A=(",  ")",      "\\\n",
  "\xff", "- ",     "stage", "[[x]]",     "0",        "true",     "${.}", "${a.b}", "__",
  "'=",   "!tag",   "\r",
};

static gint
compare_texts (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

static GPtrArray *
load_samples (void)
{
  GPtrArray *samples = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) folder = g_dir_open (SAMPLES, 0, NULL);
  const char *name;

  while (folder != NULL && (name = g_dir_read_name (folder)) != NULL) {
    g_autofree char *path = g_build_filename (SAMPLES, name, NULL);
    char *text = NULL;

    if (!g_str_has_suffix (name, ".md") && g_file_get_contents (path, &text, NULL, NULL))
      g_ptr_array_add (samples, text);
  }
  g_ptr_array_sort (samples, compare_texts); /* a seed means the same everywhere */
  if (samples->len == 0)
    g_error ("no samples in " SAMPLES);
  return samples;
}

static void
mutate (Random *random, GString *text)
{
  for (guint n = random_between (random, 1, 6); n > 0; n--) {
    gsize at = random_below (random, (guint) text->len + 1);
    gsize span = random_between (random, 1, 40);

    switch (random_below (random, 4)) {
    case 0: g_string_erase (text, (gssize) at, (gssize) MIN (span, text->len - at)); break;
    case 1: g_string_truncate (text, MAX (at, text->len / 2)); break;
    case 2:
      if (at < text->len)
        text->str[at] = (char) MAX (1, text->str[at] ^ (1 << random_below (random, 7)));
      break;
    default: g_string_insert (text, (gssize) at, words[random_below (random, G_N_ELEMENTS (words))]); break;
    }
  }
}

static void
check_seed (const GPtrArray *samples, guint64 seed)
{
  Random random = { seed };
  g_autoptr (GString) text = g_string_new (g_ptr_array_index (samples, random_below (&random, samples->len)));

  mutate (&random, text);
  (void) LLVMFuzzerTestOneInput ((const guint8 *) text->str, text->len);
}

int
main (void)
{
  g_autoptr (GPtrArray) samples = load_samples ();
  const char *only = g_getenv ("FAB_TEST_SEED");

  if (only != NULL) {
    check_seed (samples, g_ascii_strtoull (only, NULL, 10));
    return 0;
  }
  for (guint64 seed = 1; seed <= N_ROUNDS; seed++)
    check_seed (samples, seed);
  return 0;
}

#endif
