/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/training/template.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/scenario/diagnostics.h"

static const char *
find (const FabTemplateValue *values, guint n_values, const char *name, GError **error)
{
  g_autofree const char **names = g_new0 (const char *, n_values + 1);
  const char *near;

  for (guint i = 0; i < n_values; i++) {
    if (strcmp (values[i].name, name) == 0)
      return values[i].value;
    names[i] = values[i].name;
  }
  near = fab_nearest (name, names);
  fab_throw (error, FAB_ERROR_INPUT, "there is no column for ${%s}%s%s%s", name, near ? "; nearest is '" : "",
             near ? near : "", near ? "'" : "");
  return NULL;
}

char *
fab_template_fill (const char *text, const FabTemplateValue *values, guint n_values, GError **error)
{
  g_autoptr (GString) out = g_string_new (NULL);
  const char *at;

  while ((at = strstr (text, "${")) != NULL) {
    const char *end = strchr (at, '}');

    if (end == NULL) {
      fab_throw (error, FAB_ERROR_INPUT, "a ${ without its }");
      return NULL;
    }
    g_autofree char *name = g_strndup (at + 2, (gsize) (end - at - 2));
    const char *value = find (values, n_values, name, error);

    if (value == NULL)
      return NULL;
    g_string_append_len (out, text, at - text);
    g_string_append (out, value);
    text = end + 1;
  }
  g_string_append (out, text);
  return g_string_free (g_steal_pointer (&out), FALSE);
}
