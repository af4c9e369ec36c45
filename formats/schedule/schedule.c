/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/schedule/schedule.h"

#include <string.h>

#include "formats/schedule/messages.h"
#include "sim/base/error.h"

static gboolean
find_op (const char *name, gint *op, GError **error)
{
  g_autofree char *names = NULL;

  *op = -1;
  if (name == NULL)
    return TRUE;
  for (gint i = 0; i < FAB_N_OPS; i++)
    if (strcmp (fab_op_names[i], name) == 0)
      *op = i;
  if (*op >= 0)
    return TRUE;
  names = g_strjoinv (", ", (char **) fab_op_names);
  return fab_throw (error, FAB_ERROR_INPUT, "op: '%s' is not an operation; choose one of %s", name, names);
}

/* Whether the first character that is no space is that of XML. */
static gboolean
is_xml (const char *head, gsize size)
{
  gsize at = 0;

  while (at < size && g_ascii_isspace (head[at]))
    at++;
  return at < size && head[at] == '<';
}

/* A schedule says itself what a user says of others; both must agree. */
static gboolean
check_hint (const FabGiven *given, const FabGivenHint *hint, GError **error)
{
  if (hint->op >= 0 && (FabOp) hint->op != given->op)
    return fab_throw (error, FAB_ERROR_INPUT, "op is %s, but %s is made for %s", fab_op_names[hint->op],
                      given->name, fab_op_names[given->op]);
  return TRUE;
}

/* Chakra has a file for each rank, of which the first is named. */
static char **
list_files (const char *path)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new ();
  const char *first = ".0.et";

  g_ptr_array_add (files, g_strdup (path));
  if (g_str_has_suffix (path, first)) {
    g_autofree char *stem = g_strndup (path, strlen (path) - strlen (first));

    for (guint rank = 1;; rank++) {
      g_autofree char *next = g_strdup_printf ("%s.%u.et", stem, rank);

      if (!g_file_test (next, G_FILE_TEST_IS_REGULAR))
        break;
      g_ptr_array_add (files, g_steal_pointer (&next));
    }
  }
  g_ptr_array_add (files, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&files), FALSE);
}

static FabGiven *
read_graphs (const char *path, const FabGivenHint *hint, GError **error)
{
  g_auto (GStrv) files = list_files (path);
  g_autoptr (FabTrace) trace = fab_trace_read (files, NULL, NULL, error);

  return trace != NULL ? fab_given_of_messages (trace, hint, error) : NULL;
}

/* A file of MSCCL may say its protocol; others never do. */
static gboolean
set_protocol (FabGiven *given, const char *protocol, GError **error)
{
  static const char *const known[] = { "simple", "ll", "ll128" };

  if (protocol == NULL)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (strcmp (known[i], protocol) == 0
        && (given->protocol == NULL || strcmp (given->protocol, known[i]) == 0)) {
      given->protocol = known[i];
      return TRUE;
    }
  if (given->protocol != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "protocol is %s, but %s is made for %s", protocol, given->name,
                      given->protocol);
  return fab_throw (error, FAB_ERROR_INPUT, "protocol: '%s' is not known; it is simple, ll or ll128",
                    protocol);
}

static gpointer
read_schedule (const FabScheduleFile *file, GError **error)
{
  g_autofree char *name = g_path_get_basename (file->path);
  FabGivenHint hint = { .name = name, .bytes = file->size_bytes };
  g_autoptr (FabFileBytes) bytes = NULL;
  g_autoptr (FabGiven) given = NULL;
  const char *head;
  gsize size = 0;

  if (!find_op (file->op, &hint.op, error))
    return NULL;
  bytes = fab_file_bytes_open (file->path, error);
  if (bytes == NULL || !fab_file_bytes_next (bytes, error)
      || !fab_file_bytes_peek (bytes, &head, &size, error))
    return NULL;
  if (is_xml (head, size))
    given = fab_given_read_msccl (bytes, &hint, error);
  else if (g_str_has_suffix (file->path, ".et") || g_strstr_len (head, (gssize) size, "num_ranks") != NULL)
    given = read_graphs (file->path, &hint, error);
  else
    fab_throw (error, FAB_ERROR_INPUT,
               "%s is no schedule: it is neither XML of MSCCL (<algo ...>), nor one of Chakra's files "
               "(NAME.0.et), nor GOAL (num_ranks ...)",
               file->path);
  if (given == NULL || !check_hint (given, &hint, error))
    return NULL;
  return set_protocol (given, file->protocol, error) ? g_steal_pointer (&given) : NULL;
}

static void
free_schedule (gpointer given)
{
  fab_given_free (given);
}

const FabScheduleFileFormat fab_format_schedule = { .read = read_schedule, .free = free_schedule };
