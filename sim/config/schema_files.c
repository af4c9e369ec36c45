/* SPDX-License-Identifier: Apache-2.0 */
/* schema_files.c - the files that a filled struct names, and what they hold. */
#include "sim/config/schema_reader.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/order.h"

/* Chakra's files are one for each rank. A key names that of rank 0, and means all. */
#define FIRST_RANK ".0.et"

static void
list_row (const FabParam *row, gconstpointer field, GPtrArray *paths)
{
  const FabModelChoice *choice = field;
  const FabParamList *list = field;

  if (row->type == FAB_PARAM_TEXT && row->refers == FAB_REFERS_FILE && *(const char *const *) field != NULL)
    g_ptr_array_add (paths, g_strdup (*(const char *const *) field));
  if (row->type == FAB_PARAM_TABLE)
    fab_schema_list_files (row->table, field, paths);
  if (row->type == FAB_PARAM_MODEL && choice->info != NULL && choice->params != NULL)
    fab_schema_list_files (choice->info->params, choice->params, paths);
  for (guint i = 0; row->type == FAB_PARAM_LIST && i < list->n; i++)
    fab_schema_list_files (row->table, (const char *) list->data + i * row->table_size, paths);
}

void
fab_schema_list_files (const FabParam *table, gconstpointer in, GPtrArray *paths)
{
  for (const FabParam *row = table; row != NULL && row->key != NULL; row++)
    list_row (row, fab_schema_field (in, row), paths);
}

/* Adds what a file holds. FALSE: it cannot be read. */
static gboolean
add_content (GChecksum *sum, const char *path)
{
  guchar part[65536];
  gsize n;
  FILE *file = fopen (path, "rbe");

  if (file == NULL)
    return FALSE;
  while ((n = fread (part, 1, sizeof part, file)) > 0)
    g_checksum_update (sum, part, (gssize) n);
  gboolean is_good = !ferror (file);
  fclose (file);
  return is_good;
}

/* A folder holds its files, in the order of their names. */
static gboolean
add_folder (GChecksum *sum, const char *path)
{
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  gboolean is_good = folder != NULL;

  for (const char *name = NULL; folder != NULL && (name = g_dir_read_name (folder)) != NULL;)
    g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, fab_order_texts);
  for (guint i = 0; i < names->len; i++) {
    const char *name = g_ptr_array_index (names, i);
    g_autofree char *file = g_build_filename (path, name, NULL);

    g_checksum_update (sum, (const guchar *) name, (gssize) strlen (name) + 1);
    if (g_file_test (file, G_FILE_TEST_IS_REGULAR))
      is_good = add_content (sum, file) && is_good;
  }
  return is_good;
}

/* The files of the other ranks: NAME.1.et, NAME.2.et and so on after NAME.0.et. */
static gboolean
add_ranks (GChecksum *sum, const char *first)
{
  g_autofree char *stem = g_strndup (first, strlen (first) - strlen (FIRST_RANK));
  gboolean is_good = TRUE;

  for (guint rank = 1; is_good; rank++) {
    g_autofree char *path = g_strdup_printf ("%s.%u.et", stem, rank);

    if (!g_file_test (path, G_FILE_TEST_IS_REGULAR))
      break;
    is_good = add_content (sum, path);
  }
  return is_good;
}

char *
fab_schema_file_sum (const char *path)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  gboolean is_good = g_file_test (path, G_FILE_TEST_IS_DIR) ? add_folder (sum, path)
                                                            : add_content (sum, path);

  if (is_good && g_str_has_suffix (path, FIRST_RANK))
    is_good = add_ranks (sum, path);

  return is_good ? g_strdup (g_checksum_get_string (sum)) : NULL;
}
