/* SPDX-License-Identifier: Apache-2.0 */
/* schema_refs.c - every text that names a catalogue entry or an algorithm, checked in one walk.
 *
 * The walk follows the table: nested tables, lists, and the parameters of chosen models. The
 * names of a section are asked for once and kept in a set, so the cost is
 * O(fields + names). What came from a fallback is reported where its surroundings were written.
 */
#include <string.h>

#include "sim/scenario/schema_reader.h"

#define N_SECTIONS (FAB_REFERS_FILES + 1)

typedef struct {
  FabSchemaReader *reader;
  FabSchemaNamesFn names_of;
  gpointer user;
  const char **names[N_SECTIONS]; /* NULL: not asked for yet */
  GHashTable *sets[N_SECTIONS];
} Walk;

static void walk (Walk *self, const FabParam *table, gconstpointer in, const FabMark *around);

static const char **
algorithm_names (const FabRegistry *registry)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (const FabModelInfo *const *info = registry->lists[FAB_MODEL_ALGORITHM]; info && *info; info++)
    g_ptr_array_add (names, (gpointer) (*info)->name);
  g_ptr_array_add (names, NULL);
  return (const char **) g_ptr_array_free (g_steal_pointer (&names), FALSE);
}

static gboolean
is_known (Walk *self, FabRefers refers, const char *name)
{
  if (self->names[refers] == NULL) {
    self->names[refers] = refers == FAB_REFERS_ALGORITHM ? algorithm_names (self->reader->registry)
                                                         : self->names_of (self->user, refers);
    self->sets[refers] = g_hash_table_new (g_str_hash, g_str_equal);
    for (guint i = 0; self->names[refers][i] != NULL; i++)
      g_hash_table_add (self->sets[refers], (gpointer) self->names[refers][i]);
  }
  return g_hash_table_contains (self->sets[refers], name);
}

static void
check_text (Walk *self, FabRefers refers, const char *name, const FabMark *mark)
{
  const char *section, *nearest;

  if (name == NULL || is_known (self, refers, name))
    return;
  if (refers == FAB_REFERS_MODEL && self->reader->registry->model_file != NULL
      && g_str_has_suffix (name, ".json"))
    return; /* a file, and why it could not be read has been said */
  section = fab_refers_name (refers);
  gboolean is_in_y = g_str_has_suffix (section, "y"); /* technology, technologies */
  nearest = fab_diagnostics_nearest (self->reader->diagnostics, name, self->names[refers]);
  if (nearest != NULL)
    fab_diagnostics_add (self->reader->diagnostics, mark, "unknown %s '%s'; nearest is '%s'", section, name,
                         nearest);
  else
    fab_diagnostics_add (self->reader->diagnostics, mark,
                         "unknown %s '%s'; 'fabricast describe %.*s%s' lists them", section, name,
                         (int) (strlen (section) - (is_in_y ? 1 : 0)), section, is_in_y ? "ies" : "s");
}

static void
walk_row (Walk *self, const FabParam *row, gconstpointer field, const FabMark *mark)
{
  const FabModelChoice *choice = field;
  const FabParamList *list = field;

  if (row->type == FAB_PARAM_TEXT && row->refers != FAB_REFERS_NOTHING)
    check_text (self, row->refers, *(const char *const *) field, mark);
  if (row->type == FAB_PARAM_TABLE)
    walk (self, row->table, field, mark);
  if (row->type == FAB_PARAM_MODEL && choice->info != NULL && choice->params != NULL)
    walk (self, choice->info->params, choice->params, mark);
  for (guint i = 0; row->type == FAB_PARAM_LIST && i < list->n; i++)
    walk (self, row->table, (const char *) list->data + i * row->table_size, mark);
}

static void
walk (Walk *self, const FabParam *table, gconstpointer in, const FabMark *around)
{
  for (const FabParam *row = table; row != NULL && row->key != NULL; row++) {
    gconstpointer field = fab_schema_field (in, row);
    const FabMark *mark = fab_schema_mark (self->reader, field);

    walk_row (self, row, field, mark != NULL ? mark : around);
  }
}

void
fab_schema_check_references (FabSchemaReader *self, const FabParam *table, gconstpointer in,
                             FabSchemaNamesFn names, gpointer user)
{
  Walk state = { .reader = self, .names_of = names, .user = user };

  walk (&state, table, in, NULL);
  for (guint i = 0; i < N_SECTIONS; i++) {
    g_free (state.names[i]);
    g_clear_pointer (&state.sets[i], g_hash_table_unref);
  }
}
