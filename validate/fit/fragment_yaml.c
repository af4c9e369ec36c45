/* SPDX-License-Identifier: Apache-2.0 */
/* fragment_yaml.c - writes link entries as a commented catalogue file. */
#include "validate/fit/fragment.h"

/* Escapes control characters and odd line ends as in values: YAML does not allow them in comments either. */
static void
append_comment (GString *out, const char *text)
{
  g_autofree char *line = g_strdelimit (g_utf8_make_valid (text, -1), "\r\n\t", ' ');

  g_string_append (out, "# ");
  for (const char *p = line; *p; p = g_utf8_next_char (p)) {
    gunichar c = g_utf8_get_char (p);

    if (g_unichar_isprint (c) && c != 0x2028 && c != 0x2029)
      g_string_append_unichar (out, c);
    else
      g_string_append_printf (out, c < 0x10000 ? "\\u%04X" : "\\U%08X", c);
  }
  g_string_append_c (out, '\n');
}

static void
append_kinds (GString *out, const FabLinkFit *fit)
{
  for (FabDrive drive = FAB_DRIVE_COPY; drive <= FAB_DRIVE_KERNEL; drive++)
    for (FabMeasureKind which = 0; which < FAB_N_MEASURE_KINDS; which++) {
      const FabFitKind *kind = &fit->kinds[drive][which];
      g_autofree char *title = kind->series ? fab_series_title (kind->series) : NULL;
      g_autofree char *text = kind->series
                                ? g_strdup_printf ("  %s%s: %u series, %" G_GUINT64_FORMAT
                                                   " to %" G_GUINT64_FORMAT " B, %" G_GUINT64_FORMAT
                                                   " samples%s",
                                                   title, kind->n_series > 1 ? " and others" : "",
                                                   kind->n_series, kind->from_bytes, kind->to_bytes,
                                                   kind->n_samples, kind->n_samples == 0 ? " known" : "")
                                : NULL;

      if (text)
        append_comment (out, text);
    }
}

static void
append_notes (GString *out, const GPtrArray *notes)
{
  for (guint i = 0; i < notes->len; i++) {
    g_autofree char *text = g_strconcat ("  ", g_ptr_array_index (notes, i), NULL);

    append_comment (out, text);
  }
}

char *
fab_fragments_yaml (const GPtrArray *fragments, const FabFragmentRequest *request)
{
  g_autoptr (GArray) specs = g_array_new (FALSE, FALSE, sizeof (FabLinkSpec));
  GString *out = g_string_new (NULL);

  g_string_append_printf (out, "# Written by fabricast calibrate %s on %s from:\n", request->version,
                          request->date);
  for (guint i = 0; request->files[i]; i++) {
    g_autofree char *name = g_path_get_basename (request->files[i]);
    g_autofree char *text = g_strconcat ("  ", name, NULL);

    append_comment (out, text);
  }
  for (guint i = 0; i < fragments->len; i++) {
    const FabFragment *self = g_ptr_array_index (fragments, i);
    g_autofree char *head = g_strdup_printf ("Link '%s':", self->spec.name);

    append_comment (out, head);
    append_kinds (out, self->fit);
    append_notes (out, self->fit->notes);
    append_notes (out, self->notes);
    g_array_append_val (specs, self->spec);
  }
  append_comment (out, "A scenario takes it with `include:` and names a link of it where a link is named.");
  FabCatalogSections sections = { .links = { specs->data, specs->len } };
  g_autofree char *yaml = fab_schema_write (fab_catalog_params, &sections);
  g_string_append_printf (out, "\n%s", yaml);
  return g_string_free (out, FALSE);
}
