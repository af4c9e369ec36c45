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

/* Quotes a text for YAML. */
static char *
quoted (const char *text)
{
  GString *out = g_string_new ("\"");

  for (; *text != '\0'; text++) {
    if (*text == '"' || *text == '\\')
      g_string_append_c (out, '\\');
    g_string_append_c (out, *text);
  }
  g_string_append_c (out, '"');
  return g_string_free (out, FALSE);
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
static char *
gpu_fault (const Word *word, guint gpus_per_node, GError **error)
{
  g_autoptr (GError) cause = NULL;
  guint64 rank;
  double speed;

  if (!read_rank (word->name, gpus_per_node, &rank))
    fab_throw (error, FAB_ERROR_INPUT, "'%s' is no GPU: its rank, as 11, or node1/gpu3 (nodes have %u)",
               word->name, gpus_per_node);
  else if (strcmp (word->what, "dead") == 0)
    fab_throw (error, FAB_ERROR_INPUT,
               "a dead GPU stops the job; what it costs to go on without its node says --nodes");
  else if (word->at != NULL)
    fab_throw (error, FAB_ERROR_INPUT, "a GPU is slow from the start and for good: leave out @%s", word->at);
  else if (!fab_units_parse_real (FAB_UNIT_FRACTION, word->what, &speed, &cause))
    fab_throw (error, FAB_ERROR_INPUT, "%s", cause->message);
  else if (speed <= 0 || speed > 1)
    fab_throw (error, FAB_ERROR_INPUT, "'%s': a speed above 0%%, at most 100%%, is wanted", word->what);
  else
    return g_strdup_printf ("job.stragglers.+={rank: %" G_GUINT64_FORMAT ", slowness: %.6g}", rank,
                            1 / speed);
  return NULL;
}

/* --- links --- */

static gboolean
append_ends (GString *out, const char *name, GError **error)
{
  const char *arrow = strstr (name, "->");

  if (arrow == NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "'%s': a link is named by its ends, as leaf0->spine1", name);
  g_autofree char *from = g_strstrip (g_strndup (name, (gsize) (arrow - name)));
  g_autofree char *to = g_strstrip (g_strdup (arrow + 2));
  g_autofree char *quoted_from = quoted (from), *quoted_to = quoted (to);
  g_string_append_printf (out, ", from: %s, to: %s", quoted_from, quoted_to);
  return TRUE;
}

static gboolean
append_name (GString *out, const Word *word, GError **error)
{
  static const char *const kinds[] = { "link", "nic", "rail", "switch", "gpu", NULL };
  g_autofree char *name = quoted (word->name);

  if (!g_strv_contains (kinds, word->kind))
    return fab_throw (error, FAB_ERROR_INPUT,
                      "nothing of kind '%s' can break; there are link, nic, rail, switch, gpu", word->kind);
  if (strcmp (word->kind, "link") == 0)
    return append_ends (out, word->name, error);
  g_string_append_printf (out, ", %s: %s", strcmp (word->kind, "rail") == 0 ? "rail" : "name", name);
  return TRUE;
}

static void
append_what (GString *out, const Word *word)
{
  g_autofree char *what = quoted (*word->what == '+' ? word->what + 1 : word->what);

  if (strcmp (word->what, "dead") == 0)
    g_string_append (out, ", dead: true");
  else
    g_string_append_printf (out, ", %s: %s", *word->what == '+' ? "latency" : "rate", what);
  if (word->at != NULL) {
    g_autofree char *at = quoted (word->at);

    g_string_append_printf (out, ", at: %s", at);
  }
  if (word->until != NULL) {
    g_autofree char *until = quoted (word->until);

    g_string_append_printf (out, ", until: %s", until);
  }
}

char *
fab_change_fault (const char *text, guint gpus_per_node, GError **error)
{
  g_auto (Word) word = { NULL, NULL, NULL, NULL, NULL };

  if (!read_word (text, &word, error))
    return NULL;
  if (strcmp (word.kind, "gpu") == 0)
    return gpu_fault (&word, gpus_per_node, error);
  g_autoptr (GString) out = g_string_new (NULL);
  g_string_append_printf (out, "faults.+={what: %s", word.kind);
  if (!append_name (out, &word, error))
    return NULL;
  append_what (out, &word);
  g_string_append_c (out, '}');
  return g_strdup (out->str);
}
