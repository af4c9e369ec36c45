/* SPDX-License-Identifier: Apache-2.0 */
/* trace_ranks.c - of which ranks files are written. */
#include "cli/trace.h"
#include "sim/base/error.h"

/* Classes that follow each other without a gap: then first rank and size say of which class any rank is. */
static gboolean
are_tiled (const GArray *classes, guint n_ranks)
{
  guint n_tiled = 0;

  for (guint i = 0; i < classes->len; i++) {
    const FabTraceClass *class = &g_array_index (classes, FabTraceClass, i);

    if (class->first_rank != n_tiled)
      return FALSE;
    n_tiled += class->n_ranks;
  }
  return n_tiled == n_ranks;
}

static const FabTraceClass *
class_of (const FabTraceSource *source, guint rank)
{
  gboolean is_tiled = are_tiled (source->classes, source->n_ranks);

  for (guint i = 0; i < source->classes->len; i++) {
    const FabTraceClass *class = &g_array_index (source->classes, FabTraceClass, i);

    if (rank == class->first_rank
        || (is_tiled && rank > class->first_rank && rank - class->first_rank < class->n_ranks))
      return class;
  }
  return NULL;
}

static gboolean
add_rank (const FabTraceSource *source, GArray *ranks, guint rank, GError **error)
{
  const FabTraceClass *class = class_of (source, rank);
  FabTraceRank added = { rank, class ? class->rank_class : 0 };

  if (rank >= source->n_ranks)
    return fab_throw (error, FAB_ERROR_INPUT, "--ranks: no rank %u; they are 0 to %u", rank,
                      source->n_ranks - 1);
  if (class == NULL)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "--ranks: %s does not tell of which class rank %u is; leave --ranks out for the first rank of"
        " every class",
        source->db, rank);
  g_array_append_val (ranks, added);
  return TRUE;
}

GArray *
fab_trace_ranks (const FabTraceSource *source, const char *list, GError **error)
{
  g_autoptr (GArray) ranks = g_array_new (FALSE, FALSE, sizeof (FabTraceRank));
  g_auto (GStrv) words = g_strsplit (list ? list : "", ",", -1);

  for (guint i = 0; list == NULL && i < source->classes->len; i++)
    if (!add_rank (source, ranks, g_array_index (source->classes, FabTraceClass, i).first_rank, error))
      return NULL;
  for (guint i = 0; list && words[i]; i++) {
    guint64 rank;

    if (!g_ascii_string_to_unsigned (words[i], 10, 0, G_MAXUINT, &rank, NULL)) {
      fab_throw (error, FAB_ERROR_INPUT, "--ranks '%s': expected numbers with commas, as 0,8", list);
      return NULL;
    }
    if (!add_rank (source, ranks, (guint) rank, error))
      return NULL;
  }
  if (ranks->len > 0)
    return g_steal_pointer (&ranks);
  fab_throw (error, FAB_ERROR_INPUT, "--ranks: expected numbers with commas, as 0,8");
  return NULL;
}

static gboolean
is_written (const GArray *ranks, const char *name)
{
  for (guint i = 0; i < ranks->len; i++) {
    g_autofree char *ours = g_strdup_printf ("rank-%u.json", g_array_index (ranks, FabTraceRank, i).rank);

    if (g_str_equal (ours, name))
      return TRUE;
  }
  return FALSE;
}

gboolean
fab_trace_ranks_alone (const GArray *ranks, const char *directory, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autoptr (GDir) folder = g_dir_open (directory, 0, &cause);
  const char *name;

  if (folder == NULL)
    return fab_throw (error, FAB_ERROR_IO, "%s", cause->message);
  while ((name = g_dir_read_name (folder)) != NULL)
    if ((g_str_has_suffix (name, ".json") || g_str_has_suffix (name, ".gz")) && !is_written (ranks, name))
      return fab_throw (
          error, FAB_ERROR_INPUT,
          "%s holds %s, which readers of the folder would take for a rank of this run; choose another"
          " folder or remove it",
          directory, name);
  return TRUE;
}
