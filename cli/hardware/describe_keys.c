/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/hardware/describe_keys.h"

#include <string.h>

#include "models/models.h"
#include "sim/registry.h"
#include "sim/scenario/scenario_params.h"

/* --- tables --- */

static void
append_range (GString *page, const FabParam *param)
{
  if (param->min <= 0 && param->max <= 0)
    return;
  g_string_append_printf (page, " [%.12g", param->min);
  if (param->max > 0)
    g_string_append_printf (page, " to %.12g", param->max);
  g_string_append_printf (page, "%s]", param->max > 0 ? "" : " or more");
}

/* The line of a key that is called `name` here, and below it what it means. */
static void
append_key (GString *page, const FabParam *param, const char *name, guint indent)
{
  g_autofree char *choices = param->choices ? g_strjoinv (" | ", (char **) param->choices) : NULL;
  const char *type = param->type == FAB_PARAM_MODEL ? fab_model_kind_name (param->models)
                   : param->refers                  ? fab_refers_name (param->refers)
                                                    : fab_param_type_name (param->type);

  g_string_append_printf (page, "%*s%-*s %s", (int) indent, "", (int) (22 - MIN (indent, 16)), name,
                          choices ? choices : type);
  append_range (page, param);
  if (param->fallback == NULL && param->type != FAB_PARAM_TABLE && param->type != FAB_PARAM_LIST)
    g_string_append (page, ", required");
  else if (param->fallback && *param->fallback)
    g_string_append_printf (page, ", default %s", param->fallback);
  g_string_append_printf (page, "\n%*s%s\n", (int) indent + 4, "", param->help);
}

void
fab_describe_params (GString *page, const FabParam *table, guint indent)
{
  for (const FabParam *param = table; param && param->key; param++) {
    append_key (page, param, param->key, indent);
    fab_describe_params (page, param->table, indent + 2);
  }
}

/* --- keys by their path --- */

typedef struct {
  char *path;
  const FabParam *param;
  GString *models; /* those that have the key, divided by commas; "": it is no key of a model */
} Key;

static void
key_clear (gpointer data)
{
  Key *self = data;

  g_free (self->path);
  g_string_free (self->models, TRUE);
}

typedef struct {
  const char *wanted;
  gboolean is_whole;                   /* the path is the wanted one; else it ends with it */
  gboolean is_open[FAB_N_MODEL_KINDS]; /* on the way to here; a model may have others of its kind in it */
  GArray *keys;                        /* Key */
} Search;

static gboolean
is_wanted (const Search *self, const char *path)
{
  gsize n = strlen (path), n_wanted = strlen (self->wanted);

  if (self->is_whole)
    return strcmp (path, self->wanted) == 0;
  return n > n_wanted && path[n - n_wanted - 1] == '.' && strcmp (path + n - n_wanted, self->wanted) == 0;
}

static gboolean
is_same (const FabParam *a, const FabParam *b)
{
  return a->type == b->type && a->choices == b->choices && a->table == b->table && a->min == b->min
      && a->max == b->max && g_strcmp0 (a->fallback, b->fallback) == 0 && strcmp (a->help, b->help) == 0;
}

/* A key that is found by its end alone is said once, though other jobs (`neighbours`, `mix`) have it too. */
static void
add_key (Search *self, const FabParam *param, const char *path, const char *model)
{
  Key *known = NULL;

  for (guint i = 0; i < self->keys->len && known == NULL; i++) {
    Key *key = &g_array_index (self->keys, Key, i);

    if (!is_same (key->param, param))
      continue;
    if (strcmp (key->path, path) == 0)
      known = key;
    else if (!self->is_whole)
      return;
  }
  if (known == NULL) {
    Key key = { g_strdup (path), param, g_string_new (model) };

    g_array_append_val (self->keys, key);
  } else if (model != NULL) {
    g_string_append_printf (known->models, ", %s", model);
  }
}

static void look_in (Search *self, const FabParam *table, const char *path, const char *model);

static void
look_in_models (Search *self, FabModelKind kind, const char *path)
{
  g_autofree const char **names = fab_registry_names (&fab_models, kind);

  if (self->is_open[kind])
    return;
  self->is_open[kind] = TRUE;
  for (guint i = 0; names[i] != NULL; i++)
    look_in (self, fab_registry_find (&fab_models, kind, names[i])->params, path, names[i]);
  self->is_open[kind] = FALSE;
}

static void
look_in (Search *self, const FabParam *table, const char *above, const char *model)
{
  for (const FabParam *param = table; param && param->key; param++) {
    g_autofree char *path = above != NULL ? g_strconcat (above, ".", param->key, NULL)
                                          : g_strdup (param->key);

    if (is_wanted (self, path))
      add_key (self, param, path, model);
    look_in (self, param->table, path, model);
    if (param->type == FAB_PARAM_MODEL)
      look_in_models (self, param->models, path);
  }
}

static void
append_found (GString *page, const Key *key, gboolean is_brief)
{
  append_key (page, key->param, key->path, 0);
  if (key->models->len > 0)
    g_string_append_printf (page, "    It is a key of %s.\n", key->models->str);
  if (key->param->type == FAB_PARAM_MODEL)
    g_string_append_printf (page, "    `fabricast describe %s` lists them.\n",
                            fab_model_kind_name (key->param->models));
  if (!is_brief)
    fab_describe_params (page, key->param->table, 2);
}

/* Without the indices of lists: job.operations[0].size has the row of job.operations.size. */
static char *
without_indices (const char *path)
{
  GString *out = g_string_new (NULL);

  for (const char *at = path; *at != '\0'; at++) {
    const char *end = *at == '[' ? strchr (at, ']') : NULL;

    if (end != NULL)
      at = end;
    else
      g_string_append_c (out, *at);
  }
  return g_string_free (out, FALSE);
}

char *
fab_describe_key (const char *path, gboolean only_names)
{
  g_autofree char *wanted = without_indices (path);
  g_autoptr (GArray) keys = g_array_new (FALSE, FALSE, sizeof (Key));
  Search search = { .wanted = wanted, .is_whole = TRUE, .keys = keys };
  GString *page = g_string_new (NULL);

  g_array_set_clear_func (keys, key_clear);
  look_in (&search, fab_scenario_params, NULL, NULL);
  search.is_whole = keys->len > 0;
  if (!search.is_whole)
    look_in (&search, fab_scenario_params, NULL, NULL);
  for (guint i = 0; i < keys->len; i++) {
    const Key *key = &g_array_index (keys, Key, i);

    if (!only_names)
      append_found (page, key, !search.is_whole && keys->len > 1);
    else if (i == 0 || strcmp (key->path, (key - 1)->path) != 0)
      g_string_append_printf (page, "%s\n", key->path);
  }
  return g_string_free (page, keys->len == 0);
}
