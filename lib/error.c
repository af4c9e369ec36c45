/* SPDX-License-Identifier: Apache-2.0 */
/* error.c - why a function failed, with every mistake and its place. */
#include "sim/base/error.h"

#include "lib/private.h"
#include "sim/config/diagnostics.h"

struct FabricastError {
  int status;
  char *message;
  GArray *issues; /* FabDiagnostic */
};

static int
status_of (const GError *problem)
{
  static const int statuses[] = {
    [FAB_ERROR_INPUT] = FABRICAST_INPUT,
    [FAB_ERROR_IO] = FABRICAST_IO,
    [FAB_ERROR_UNSUPPORTED] = FABRICAST_UNSUPPORTED,
    [FAB_ERROR_HUNG] = FABRICAST_HUNG,
    [FAB_ERROR_OVERSIZED] = FABRICAST_OVERSIZED,
    [FAB_ERROR_CANCELLED] = FABRICAST_CANCELLED,
    [FAB_ERROR_BROKEN] = FABRICAST_BROKEN,
  };

  if (problem->domain != FAB_ERROR)
    return FABRICAST_IO;
  g_assert ((guint) problem->code < G_N_ELEMENTS (statuses));
  return statuses[problem->code];
}

/* Takes the message. */
static int
set (FabricastError **error, int status, char *message)
{
  if (error != NULL) {
    *error = g_new0 (FabricastError, 1);
    (*error)->status = status;
    (*error)->message = message;
    (*error)->issues = fab_diagnostics_parse (message);
  } else {
    g_free (message);
  }
  return status;
}

int
lib_fail (FabricastError **error, int status, const char *format, ...)
{
  va_list args;
  char *message;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  return set (error, status, message);
}

int
lib_fail_with (FabricastError **error, GError *problem)
{
  g_autoptr (GError) taken = problem;

  return set (error, status_of (taken), g_strdup (taken->message));
}

void
fabricast_error_free (FabricastError *error)
{
  if (error == NULL)
    return;
  g_array_unref (error->issues);
  g_free (error->message);
  g_free (error);
}

int
fabricast_error_status (const FabricastError *error)
{
  return error != NULL ? error->status : FABRICAST_OK;
}

const char *
fabricast_error_message (const FabricastError *error)
{
  return error != NULL ? error->message : "";
}

int
fabricast_error_issue (const FabricastError *error, size_t i, FabricastIssue *issue)
{
  const FabDiagnostic *one;

  if (error == NULL || issue == NULL || i >= error->issues->len)
    return 0;
  one = &g_array_index (error->issues, FabDiagnostic, i);
  const FabricastIssue own = { sizeof own,      one->message,      one->file,
                               (int) one->line, (int) one->column, one->source };
  return lib_give (&own, sizeof own, issue);
}
