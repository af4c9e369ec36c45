/* SPDX-License-Identifier: Apache-2.0 */
/* change_fault.c - reads a fault written as KIND=NAME:WHAT@WHEN, as an item of `faults` or of the job's
 * `stragglers`. */
#include <string.h>

#include "sim/base/error.h"
#include "sim/study/axis.h"
#include "sim/study/change.h"

/* The parts of the word; absent parts are NULL. */
typedef struct {
  char *kind, *name, *what, *at, *until;
} Word;

static void
word_clear (Word *self)
{
  g_free (self->kind);
  g_free (self->name);
  g_free (self->what);
  g_free (self->at);
  g_free (self->until);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Word, word_clear)

/* Cuts off what follows the last `sign` of `text` and returns it; NULL: `sign` is absent. */
static char *
cut (char *text, const char *sign)
{
  char *at = g_strrstr (text, sign);

  if (at == NULL)
    return NULL;
  *at = '\0';
  return g_strstrip (g_strdup (at + strlen (sign)));
}

static gboolean
read_word (const char *text, Word *word, GError **error)
{
  word->kind = g_strdup (text);
  word->name = cut (word->kind, "=");
  if (word->name != NULL)
    word->at = cut (word->name, "@");
  if (word->at != NULL)
    word->until = cut (word->at, "..");
  if (word->name != NULL)
    word->what = cut (word->name, ":");
  if (word->name == NULL || *g_strstrip (word->name) == '\0' || word->what == NULL || *word->what == '\0')
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "a fault is KIND=NAME:WHAT, as nic=node2/nic1:50%%, link=leaf0->spine1:dead, rail=3:50%%, "
        "switch=spine1:dead, gpu=11:80%%");
  g_strstrip (word->kind);
  return TRUE;
}

/* --- GPUs --- */

static gboolean
read_rank (const char *name, guint gpus_per_node, guint64 *rank)
{
  guint64 node, gpu;
  g_auto (GStrv) parts = g_strsplit (name, "/", 2);

  if (g_ascii_string_to_unsigned (name, 10, 0, G_MAXINT32, rank, NULL))
    return TRUE;
  if (g_strv_length (parts) != 2 || !g_str_has_prefix (parts[0], "node")
      || !g_str_has_prefix (parts[1], "gpu")
      || !g_ascii_string_to_unsigned (parts[0] + 4, 10, 0, G_MAXINT32, &node, NULL)
      || !g_ascii_string_to_unsigned (parts[1] + 3, 10, 0, gpus_per_node - 1, &gpu, NULL))
    return FALSE;
  *rank = node * gpus_per_node + gpu;
  return TRUE;
}

/* A slow GPU becomes a straggler of the job. */
static gboolean
gpu_fault (const Word *word, guint gpus_per_node, FabEdits *edits, GError **error)
{
  g_autoptr (GError) cause = NULL;
  guint64 rank;
  double speed;

  if (!read_rank (word->name, gpus_per_node, &rank))
    return fab_throw (error, FAB_ERROR_INPUT,
                      "'%s' is no GPU: its rank, as 11, or node1/gpu3 (nodes have %u)", word->name,
                      gpus_per_node);
  if (strcmp (word->what, "dead") == 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "a dead GPU stops the job; what it costs to go on without its node says --nodes");
  if (word->at != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "a GPU is slow from the start and for good: leave out @%s",
                      word->at);
  if (!fab_units_parse_real (FAB_UNIT_FRACTION, word->what, &speed, &cause))
    return fab_throw (error, FAB_ERROR_INPUT, "%s", cause->message);
  if (speed <= 0 || speed > 1)
    return fab_throw (error, FAB_ERROR_INPUT, "'%s': a speed above 0%%, at most 100%%, is wanted",
                      word->what);
  FabValue *straggler = fab_value_mapping ();
  fab_value_put (straggler, "rank", fab_value_count ((gint64) rank));
  fab_value_put (straggler, "slowness", fab_value_real (FAB_UNIT_FACTOR, 1 / speed));
  fab_edits_set (edits, "job.stragglers.+", straggler);
  return TRUE;
}

/* --- links --- */

static gboolean
put_ends (FabValue *fault, const char *name, GError **error)
{
  const char *arrow = strstr (name, "->");

  if (arrow == NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "'%s': a link is named by its ends, as leaf0->spine1", name);
  g_autofree char *from = g_strstrip (g_strndup (name, (gsize) (arrow - name)));
  g_autofree char *to = g_strstrip (g_strdup (arrow + 2));
  fab_value_put (fault, "from", fab_value_text (from));
  fab_value_put (fault, "to", fab_value_text (to));
  return TRUE;
}

static gboolean
put_name (FabValue *fault, const Word *word, GError **error)
{
  static const char *const kinds[] = { "link", "nic", "rail", "switch", "gpu", NULL };

  if (!g_strv_contains (kinds, word->kind))
    return fab_throw (error, FAB_ERROR_INPUT,
                      "nothing of kind '%s' can break; there are link, nic, rail, switch, gpu", word->kind);
  fab_value_put (fault, "what", fab_value_text (word->kind));
  if (strcmp (word->kind, "link") == 0)
    return put_ends (fault, word->name, error);
  fab_value_put (fault, strcmp (word->kind, "rail") == 0 ? "rail" : "name", fab_value_written (word->name));
  return TRUE;
}

static void
put_what (FabValue *fault, const Word *word)
{
  if (strcmp (word->what, "dead") == 0)
    fab_value_put (fault, "dead", fab_value_flag (TRUE));
  else if (*word->what == '+')
    fab_value_put (fault, "latency", fab_value_written (word->what + 1));
  else
    fab_value_put (fault, "rate", fab_value_written (word->what));
  if (word->at != NULL)
    fab_value_put (fault, "at", fab_value_written (word->at));
  if (word->until != NULL)
    fab_value_put (fault, "until", fab_value_written (word->until));
}

gboolean
fab_change_fault (const char *text, guint gpus_per_node, FabEdits *edits, GError **error)
{
  g_auto (Word) word = { NULL, NULL, NULL, NULL, NULL };
  g_autoptr (FabValue) fault = NULL;

  if (!read_word (text, &word, error))
    return FALSE;
  if (strcmp (word.kind, "gpu") == 0)
    return gpu_fault (&word, gpus_per_node, edits, error);
  fault = fab_value_mapping ();
  if (!put_name (fault, &word, error))
    return FALSE;
  put_what (fault, &word);
  fab_edits_set (edits, "faults.+", g_steal_pointer (&fault));
  return TRUE;
}
