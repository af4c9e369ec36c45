/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_library.c - a scenario through the public library: parsed, changed, checked, written, read again, and run where it
 * is small. Whatever a caller passes is answered by a status and a message.
 *
 * Lines that begin with '#=' are assignments, as of --set.
 */
#include <stdlib.h>
#include <string.h>

#include <fabricast.h>

#include "tests/fuzz/target.h"

enum { MOST_NODES = 4, MOST_DIGITS = 4, LONGEST_MS = 2000 };

/* --- a run that is cancelled after LONGEST_MS --- */

static GMutex lock;
static GCond changed;
static gint64 end_us; /* 0: nothing runs */
static int is_cancelled;

static gpointer
watch (G_GNUC_UNUSED gpointer data)
{
  g_mutex_lock (&lock);
  for (;;) {
    if (end_us == 0)
      g_cond_wait (&changed, &lock);
    else if (!g_cond_wait_until (&changed, &lock, end_us) && end_us != 0)
      g_atomic_int_set (&is_cancelled, 1);
    if (g_atomic_int_get (&is_cancelled) != 0)
      end_us = 0;
  }
  return NULL;
}

static void
set_watch (gint64 until_us)
{
  static GThread *thread;

  if (thread == NULL)
    thread = g_thread_new ("watch", watch, NULL);
  g_mutex_lock (&lock);
  end_us = until_us;
  if (until_us != 0)
    g_atomic_int_set (&is_cancelled, 0);
  g_cond_signal (&changed);
  g_mutex_unlock (&lock);
}

/* --- checks --- */

/* A status that is not FABRICAST_OK has an error with a message and a mistake. */
static gboolean
is_done (int status, FabricastError **told)
{
  FabricastIssue issue = { .struct_size = sizeof issue };
  FabricastError *error = *told; /* was set by the call that gave the status */

  if ((status == FABRICAST_OK) != (error == NULL) || status == FABRICAST_BROKEN)
    g_error ("status %d: %s", status, error != NULL ? fabricast_error_message (error) : "no message");
  if (error == NULL)
    return TRUE;
  fuzz_check_text (fabricast_error_message (error));
  if (fabricast_error_message (error)[0] == '\0' || fabricast_error_issue (error, 0, &issue) == 0)
    g_error ("an error that says nothing");
  fuzz_check_text (issue.message);
  fabricast_error_free (error);
  *told = NULL;
  return FALSE;
}

/* A simulation of large numbers takes long, which is not what is tried. */
static gboolean
is_small (const FabricastScenario *scenario, const char *text)
{
  FabricastValue nodes = { .struct_size = sizeof nodes };
  guint n_digits = 0;

  for (; *text != '\0' && n_digits <= MOST_DIGITS; text++)
    n_digits = g_ascii_isdigit (*text) ? n_digits + 1 : 0;
  return n_digits <= MOST_DIGITS
      && fabricast_scenario_get (scenario, "cluster.nodes", &nodes, NULL) == FABRICAST_OK
      && nodes.kind == FABRICAST_WHOLE && nodes.whole >= 1 && nodes.whole <= MOST_NODES;
}

static void
check_result (FabricastResult *result)
{
  static const char *const figures[] = { "step_ps", "compute_ps", "exposed_ps", "idle_ps" };
  static const char *const tables[] = { "iteration", "collective", "link_load", "finding" };
  int64_t times_ps[G_N_ELEMENTS (figures)];

  for (guint i = 0; i < G_N_ELEMENTS (figures); i++) {
    FabricastValue value = { .struct_size = sizeof value };

    if (fabricast_result_figure (result, figures[i], &value, NULL) != FABRICAST_OK || value.whole < 0)
      g_error ("no %s", figures[i]);
    times_ps[i] = value.whole;
  }
  if (llabs (times_ps[0] - times_ps[1] - times_ps[2] - times_ps[3]) > 4)
    g_error ("times that do not add up");
  for (guint i = 0; i < G_N_ELEMENTS (tables); i++) {
    FabricastTable *table = NULL;
    FabricastError *error = NULL;

    if (!is_done (fabricast_result_table (result, tables[i], &table, &error), &error))
      g_error ("no table %s", tables[i]);
    fabricast_table_free (table);
  }
}

static void
run (const FabricastScenario *scenario)
{
  FabricastRunOptions options = { .struct_size = sizeof options, .cancel = &is_cancelled };
  FabricastResult *result = NULL;
  FabricastError *error = NULL;

  set_watch (g_get_monotonic_time () + LONGEST_MS * 1000);
  if (is_done (fabricast_run (scenario, &options, &result, &error), &error))
    check_result (result);
  set_watch (0);
  fabricast_result_free (result);
}

/* What is written says what was read. */
static void
check_written (FabricastContext *context, const FabricastScenario *scenario)
{
  const char *text = fabricast_scenario_text (scenario);
  FabricastScenario *again = NULL;
  FabricastError *error = NULL;

  if (text == NULL)
    return;
  fuzz_check_text (text);
  if (!is_done (fabricast_scenario_parse (context, "again", text, strlen (text), &again, &error), &error))
    g_error ("the written scenario is refused:\n%s", text);
  if (g_strcmp0 (fabricast_scenario_text (again), text) != 0)
    g_error ("the written scenario changes:\n%s\n%s", text, fabricast_scenario_text (again));
  fabricast_scenario_free (again);
}

/* Returns the rest of the text. */
static const char *
assign_all (FabricastScenario *scenario, const char *text)
{
  while (g_str_has_prefix (text, "#=")) {
    const char *end = strchr (text, '\n');
    g_autofree char *assignment = end != NULL ? g_strndup (text + 2, (gsize) (end - text) - 2)
                                              : g_strdup (text + 2);
    FabricastError *error = NULL;

    if (scenario != NULL)
      is_done (fabricast_scenario_assign (scenario, assignment, &error), &error);
    text = end != NULL ? end + 1 : text + strlen (text);
  }
  return text;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static FabricastContext *context;
  g_autofree char *all = g_strndup ((const char *) data, size);
  const char *text = assign_all (NULL, all);
  FabricastScenario *scenario = NULL, *copy = NULL;
  FabricastError *error = NULL;

  if (context == NULL && fabricast_context_new (NULL, &context, NULL) != FABRICAST_OK)
    g_error ("no context");
  /* a file that a scenario includes is read, which may be a device */
  if (strstr (text, "include") != NULL || strstr (text, "/dev") != NULL || strstr (text, "/proc") != NULL)
    return 0;
  if (!is_done (fabricast_scenario_parse (context, "fuzz.yaml", text, strlen (text), &scenario, &error),
                &error))
    return 0;
  if (!is_done (fabricast_scenario_copy (scenario, &copy, &error), &error))
    g_error ("no copy");
  assign_all (copy, all);
  if (is_done (fabricast_scenario_check (copy, &error), &error)) {
    check_written (context, copy);
    if (is_small (copy, all))
      run (copy);
  }
  fabricast_scenario_free (scenario);
  fabricast_scenario_free (copy);
  return 0;
}
