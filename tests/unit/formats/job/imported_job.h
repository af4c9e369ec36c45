/* SPDX-License-Identifier: Apache-2.0 */
/* imported_job.h - a configuration of a training program as the section `job` that is made of it, on one line. */
#pragma once

#include "tests/support/test.h"

#include <string.h>

#include "formats/job/job.h"

/* The text that is made, or what is wrong. `catalog` may be NULL. (transfer full) */
G_GNUC_UNUSED static char *
import_job (const FabCatalog *catalog, const char *name, const char *text, guint hidden, guint n_ranks)
{
  FabFileText file = { name, text, strlen (text) };
  FabImportJobRequest request = {
    .files = &file, .n_files = 1, .hidden = hidden, .n_ranks = n_ranks, .catalog = catalog
  };
  g_autoptr (GError) error = NULL;
  char *made = fab_import_job (&request, &error);

  return made != NULL ? made : g_strdup (error->message);
}

/* "kind=zero stage=2 parallel.tensor=4": the section `job`, in its order; a message as it is. (transfer full) */
G_GNUC_UNUSED static char *
flat_job (const char *made)
{
  g_auto (GStrv) lines = g_strsplit (made, "\n", -1);
  GString *out = g_string_new (NULL);
  const char *sections[8] = { NULL };
  gboolean is_inside = FALSE;

  if (made[0] != '#')
    return g_string_free (g_string_append (out, made), FALSE);
  for (guint i = 0; lines[i] != NULL; i++) {
    gsize blanks = strspn (lines[i], " "), depth = blanks / 2;
    char *colon = strchr (lines[i], ':');

    if (blanks == 0)
      is_inside = strcmp (lines[i], "job:") == 0;
    if (!is_inside || blanks == 0 || lines[i][blanks] == '#')
      continue;
    if (lines[i][blanks] == '-') { /* of a list, which has its key and no value before it */
      g_string_append_printf (out, "%s%s", out->str[out->len - 1] == '=' ? "" : ",", lines[i] + blanks + 2);
      continue;
    }
    if (colon == NULL)
      continue;
    *colon = '\0';
    if (colon[1] == '\0' && lines[i + 1] != NULL && strstr (lines[i + 1], "- ") == NULL) {
      assert_in_range (depth, 1, G_N_ELEMENTS (sections) - 1);
      sections[depth] = lines[i] + blanks;
      continue;
    }
    if (out->len > 0)
      g_string_append_c (out, ' ');
    for (gsize k = 1; k < depth; k++)
      g_string_append_printf (out, "%s.", sections[k]);
    g_string_append_printf (out, "%s=%s", lines[i] + blanks, colon[1] == '\0' ? "" : colon + 2);
  }
  return g_string_free (out, FALSE);
}

/* The same of the shape of the model that the file describes; "": it describes none. (transfer full) */
G_GNUC_UNUSED static char *
flat_shape (const char *made)
{
  const char *start = strstr (made, "\n    shape:\n");
  g_auto (GStrv) lines = g_strsplit (start != NULL ? start + strlen ("\n    shape:\n") : "", "\n", -1);
  g_autoptr (GString) text = g_string_new ("# as a job\njob:\n");

  for (guint i = 0; lines[i] != NULL && g_str_has_prefix (lines[i], "      "); i++)
    g_string_append_printf (text, "%s\n", lines[i] + 4);
  return flat_job (text->str);
}

/* The comments without the breaks of their lines. (transfer full) */
G_GNUC_UNUSED static char *
flat_notes (const char *made)
{
  GString *text = g_string_new (made);

  g_string_replace (text, "\n#   ", " ", 0);
  return g_string_free (text, FALSE);
}

/* A line of a configuration in a text that has the place KEY for it, and what the job has then. */
typedef struct {
  const char *key;
  const char *job;   /* all of it */
  const char *shape; /* of the model, without its kind; NULL: it is not looked at */
  const char *told;  /* among the comments; NULL: it is not looked at */
} ImportedJob;

G_GNUC_UNUSED static void
assert_imported_jobs (const FabCatalog *catalog, const char *name, const char *text, const ImportedJob *cases,
                      guint n)
{
  for (guint i = 0; i < n; i++) {
    GString *whole = g_string_new (text);

    g_string_replace (whole, "KEY", cases[i].key, 1);
    g_autofree char *made = import_job (catalog, name, whole->str, 0, 0), *job = flat_job (made),
                    *shape = flat_shape (made), *notes = flat_notes (made);
    if (strcmp (job, cases[i].job) != 0)
      fail_msg ("%s: '%s', and not '%s'", whole->str, job, cases[i].job);
    if (cases[i].shape != NULL
        && strcmp (shape + (shape[0] != '\0' ? strlen ("kind=transformer ") : 0), cases[i].shape) != 0)
      fail_msg ("%s: '%s', and not '%s'", whole->str, shape, cases[i].shape);
    if (cases[i].told != NULL && strstr (notes, cases[i].told) == NULL)
      fail_msg ("%s: '%s' is not in\n%s", whole->str, cases[i].told, notes);
    g_string_free (whole, TRUE);
  }
}
