/* SPDX-License-Identifier: Apache-2.0 */
#include "models/format/trace/schedule.h"

#include <string.h>

#include "models/models.h"
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
  return fab_throw (error, FAB_ERROR_INPUT, "op: '%s' is no operation; it is one of %s", name, names);
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

static gpointer
read_schedule (const FabScheduleFile *file, GError **error)
{
  g_autofree char *name = g_path_get_basename (file->path);
  FabGivenHint hint = { .name = name, .bytes = file->size_bytes };
  g_autoptr (FabTraceBytes) bytes = NULL;
  g_autoptr (FabGiven) given = NULL;
  const char *head;
  gsize size = 0;

  if (!find_op (file->op, &hint.op, error))
    return NULL;
  bytes = fab_trace_bytes_open (file->path, error);
  if (bytes == NULL || !fab_trace_bytes_next (bytes, error)
      || !fab_trace_bytes_peek (bytes, &head, &size, error))
    return NULL;
  if (!is_xml (head, size)) {
    fab_throw (error, FAB_ERROR_INPUT,
               "%s is no schedule: it is neither XML of MSCCL (<algo ...>) nor Chakra's", file->path);
    return NULL;
  }
  given = fab_given_read_msccl (bytes, &hint, error);
  return given != NULL && check_hint (given, &hint, error) ? g_steal_pointer (&given) : NULL;
}

static void
free_schedule (gpointer given)
{
  fab_given_free (given);
}

const FabScheduleFileFormat fab_format_schedule = { .read = read_schedule, .free = free_schedule };
