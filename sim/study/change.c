/* SPDX-License-Identifier: Apache-2.0 */
/* change.c - reads a fault written as KIND=NAME:WHAT@WHEN, as an item of `faults` or of the job's
 * `stragglers`. */
#include "sim/study/change.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/study/axis.h"
#include "sim/study/machine.h"

/* Reads a fault written as KIND=NAME:WHAT@WHEN, as an item of `faults` or of the job's
 * `stragglers`. */

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
    return fab_throw (error, FAB_ERROR_INPUT,
                      "a fault has the form KIND=NAME:WHAT; write for example nic=node2/nic1:50%%, "
                      "link=leaf0->spine1:dead, rail=3:50%%, switch=spine1:dead or gpu=11:80%%");
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
                      "'%s' is not a GPU; write its rank, as 11, or its name, as node1/gpu3 (nodes have "
                      "%u GPUs)",
                      word->name, gpus_per_node);
  if (strcmp (word->what, "dead") == 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "a dead GPU stops the job; use --nodes to see the job without its node");
  if (word->at != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "a GPU is slow during the whole run; leave out @%s", word->at);
  if (!fab_units_parse_real (FAB_UNIT_FRACTION, word->what, &speed, &cause))
    return fab_throw (error, FAB_ERROR_INPUT, "%s", cause->message);
  if (speed <= 0 || speed > 1)
    return fab_throw (error, FAB_ERROR_INPUT, "'%s': the speed must be above 0%% and at most 100%%",
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
    return fab_throw (error, FAB_ERROR_INPUT, "'%s': name a link by its two ends, as leaf0->spine1", name);
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
                      "unknown kind of fault '%s'; the kinds are link, nic, rail, switch, gpu", word->kind);
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

/* --- faults ---
 *
 *   link=A->B, nic=node2/nic1, rail=3, switch=spine1, gpu=11 or gpu=node1/gpu3
 *   :50% of its rate (of a GPU: its speed), :dead, :+2us of latency;  @1s..2s: only then, else from the start
 *
 * Adds the edit. FALSE and *error. */
static gboolean
change_fault (const char *text, guint gpus_per_node, FabEdits *edits, GError **error)
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

const char *const fab_change_names[FAB_N_CHANGES + 1] = {
  [FAB_CHANGE_FAULT] = "fault", [FAB_CHANGE_SHARP] = "sharp",   [FAB_CHANGE_NVLS] = "nvls",
  [FAB_CHANGE_NIC] = "nic",     [FAB_CHANGE_DOMAIN] = "domain", [FAB_CHANGE_GPUS] = "gpus",
  [FAB_CHANGE_NODES] = "nodes", [FAB_CHANGE_SET] = "set",
};

void
fab_change_free (FabChange *self)
{
  if (self == NULL)
    return;
  g_free (self->name);
  fab_edits_free (self->edits);
  g_free (self);
}

/* --- kinds --- */

/* The parts of a change. */
typedef struct {
  const char *text;
  const FabScenario *scenario;
  FabEdits *edits;
} Making;

static gboolean
has_key (const FabModelInfo *model, const char *key)
{
  for (const FabParam *row = model->params; row != NULL && row->key != NULL; row++)
    if (strcmp (row->key, key) == 0)
      return TRUE;
  return FALSE;
}

/* Switches that reduce in-network are an option of the collective library: one that can use them has a key for it. */
static gboolean
make_switch (Making *self, const char *key, GError **error)
{
  const FabModelInfo *library = fab_scenario_spec (self->scenario)->collectives.info;
  g_autofree char *path = g_strconcat ("collectives.", key, NULL);

  if (strcmp (self->text, "on") != 0 && strcmp (self->text, "off") != 0)
    return fab_throw (error, FAB_ERROR_INPUT, "'%s' is neither on nor off", self->text);
  if (!has_key (library, key))
    return fab_throw (error, FAB_ERROR_INPUT,
                      "collectives of '%s' never reduce in switches: that library has no key '%s'",
                      library->name, key);
  fab_edits_set (self->edits, path, fab_value_flag (strcmp (self->text, "on") == 0));
  return TRUE;
}

/* A rate keeps the link entry; an entry brings its own rate. */
static gboolean
make_nic (Making *self)
{
  const char *unit;
  double number;

  if (fab_axis_split_number (self->text, &number, &unit)) {
    fab_edits_set (self->edits, "cluster.nic_rate", fab_value_written (self->text));
    return TRUE;
  }
  fab_edits_set (self->edits, "cluster.nic", fab_value_text (self->text));
  fab_edits_set (self->edits, "cluster.nic_rate", NULL);
  return TRUE;
}

static gboolean
make_count (Making *self, FabChangeKind kind, GError **error)
{
  guint64 n;

  if (!g_ascii_string_to_unsigned (self->text, 10, 1, G_MAXINT32, &n, NULL))
    return fab_throw (error, FAB_ERROR_INPUT, "'%s' is not a number of %s", self->text,
                      kind == FAB_CHANGE_NODES ? "nodes" : "GPUs");
  if (kind == FAB_CHANGE_DOMAIN)
    return fab_machine_set_domain (self->scenario, (guint) n, self->edits, error);
  if (kind == FAB_CHANGE_GPUS)
    return fab_machine_set_gpus (self->scenario, (guint) n, self->edits, error);
  fab_edits_set (self->edits, "cluster.nodes", fab_value_count ((gint64) n));
  return TRUE;
}

static gboolean
make_set (Making *self, GError **error)
{
  const char *equals = strchr (self->text, '=');

  if (equals == NULL || equals == self->text)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "'%s' is not of the form KEY=VALUE; write for example cluster.nodes=8", self->text);
  fab_edits_assign (self->edits, self->text);
  return TRUE;
}

static gboolean
make (Making *self, FabChangeKind kind, GError **error)
{
  switch (kind) {
  case FAB_CHANGE_FAULT:
    return change_fault (self->text, fab_machine_gpus_per_node (self->scenario), self->edits, error);
  case FAB_CHANGE_SHARP: return make_switch (self, "collnet", error);
  case FAB_CHANGE_NVLS: return make_switch (self, "nvls", error);
  case FAB_CHANGE_NIC: return make_nic (self);
  case FAB_CHANGE_SET: return make_set (self, error);
  case FAB_CHANGE_DOMAIN:
  case FAB_CHANGE_GPUS:
  case FAB_CHANGE_NODES:
  case FAB_N_CHANGES:
  default: return make_count (self, kind, error);
  }
}

FabChange *
fab_change_parse (FabChangeKind kind, const char *text, const FabScenario *scenario, GError **error)
{
  gboolean is_named = kind == FAB_CHANGE_FAULT || kind == FAB_CHANGE_SET;
  Making making = { text, scenario, fab_edits_new () };

  if (!make (&making, kind, error)) {
    g_prefix_error (error, "--%s %s: ", fab_change_names[kind], text);
    fab_edits_free (making.edits);
    return NULL;
  }
  FabChange *self = g_new0 (FabChange, 1);
  self->kind = kind;
  self->name = is_named ? g_strdup (text) : g_strdup_printf ("%s %s", fab_change_names[kind], text);
  self->edits = making.edits;
  return self;
}

/* --- together --- */

static char *
key_of (const FabEdit *edit)
{
  return g_strndup (edit->text, (gsize) (strchr (edit->text, '=') - edit->text));
}

char *
fab_change_clash (const FabChange *a, const FabChange *b)
{
  for (guint i = 0; i < fab_edits_count (a->edits); i++) {
    g_autofree char *key = key_of (fab_edits_at (a->edits, i));

    for (guint k = 0; k < fab_edits_count (b->edits) && !g_str_has_suffix (key, ".+"); k++) {
      g_autofree char *other = key_of (fab_edits_at (b->edits, k));

      if (strcmp (key, other) == 0)
        return g_steal_pointer (&key);
    }
  }
  return NULL;
}
