/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/schedule/schedule.h"

#include <string.h>

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

/* A schedule says itself what a user says of others; both must agree. */
static gboolean
check_hint (const FabGiven *given, const FabGivenHint *hint, GError **error)
{
  if (hint->op >= 0 && (FabOp) hint->op != given->op)
    return fab_throw (error, FAB_ERROR_INPUT, "op is %s, but %s is made for %s", fab_op_names[hint->op],
                      given->name, fab_op_names[given->op]);
  return TRUE;
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
  FabGivenHint hint = { .path = file->path, .name = name, .bytes = file->size_bytes };
  g_autoptr (FabFileBytes) bytes = NULL;
  g_autoptr (FabGiven) given = NULL;
  const FabFileFormat *format;
  const char *head;
  gsize size = 0;

  if (!find_op (file->op, &hint.op, error))
    return NULL;
  bytes = fab_file_bytes_open (file->path, error);
  if (bytes == NULL || !fab_file_bytes_next (bytes, error)
      || !fab_file_bytes_peek (bytes, &head, &size, error))
    return NULL;
  format = fab_file_format_of_bytes (FAB_FILE_SCHEDULE, file->path, head, size);
  if (format == NULL) {
    fab_throw (error, FAB_ERROR_INPUT,
               "%s is no schedule: it is neither XML of MSCCL (<algo ...>), nor JSON of TE-CCL "
               "(\"1-Epoch_Duration\"), nor one of Chakra's files (NAME.0.et), nor GOAL (num_ranks ...)",
               file->path);
    return NULL;
  }
  given = format->read.schedule (bytes, &hint, error);
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
