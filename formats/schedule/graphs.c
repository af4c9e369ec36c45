/* SPDX-License-Identifier: Apache-2.0 */
/* graphs.c - schedules that are graphs of sends and receives: Chakra and GOAL, by the readers of traces. */
#include <string.h>

#include "formats/schedule/messages.h"

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
read_graphs (FabFileBytes *bytes G_GNUC_UNUSED, const FabGivenHint *hint, GError **error)
{
  g_auto (GStrv) files = list_files (hint->path);
  g_autoptr (FabTrace) trace = fab_trace_read (files, NULL, NULL, error);

  return trace != NULL ? fab_given_of_messages (trace, hint, error) : NULL;
}

static gboolean
is_graph (const FabFileText *text)
{
  return g_str_has_suffix (text->name, ".et") || fab_file_text_has (text, "num_ranks");
}

const FabFileFormat fab_file_message_graphs = {
  .name = "graphs of messages",
  .kind = FAB_FILE_SCHEDULE,
  .recognises = is_graph,
  .read.schedule = read_graphs,
};
