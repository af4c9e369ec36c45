/* SPDX-License-Identifier: Apache-2.0 */
/* schema_unknown.c - what to say of a key that a table does not have: where it belongs, or what is nearest to it.
 *
 * It is looked for in the mappings and models that the table names, then in the other models of the same kind, then
 * among other programs' words, then at the top level and in its mappings, then among the keys of the table.
 * O(models x keys), once for a mistake.
 */
#include <string.h>

#include "sim/config/schema_reader.h"

/* Words of PyTorch, DeepSpeed, Megatron-LM, Hugging Face and of people who begin, and the keys that mean the same. */
static const char *const synonyms[][2] = {
  { "batch_size", "micro_batch" },
  { "micro_batch_size", "micro_batch" },
  { "per_device_train_batch_size", "micro_batch" },
  { "train_micro_batch_size_per_gpu", "micro_batch" },
  { "global_batch_size", "global_batch" },
  { "train_batch_size", "global_batch" },
  { "gradient_accumulation_steps", "accumulation" },
  { "grad_accum", "accumulation" },
  { "seq_len", "sequence" },
  { "seq_length", "sequence" },
  { "sequence_length", "sequence" },
  { "max_seq_len", "sequence" },
  { "block_size", "sequence" },
  { "dtype", "precision" },
  { "reduce_dtype", "gradient" },
  { "activation_checkpointing", "recompute" },
  { "gradient_checkpointing", "recompute" },
  { "sharding_strategy", "sharding" },
  { "reshard_after_forward", "sharding" },
  { "bucket_cap_mb", "bucket" },
  { "zero_stage", "stage" },
  { "tp", "tensor" },
  { "pp", "pipeline" },
  { "cp", "context" },
  { "ep", "expert" },
  { "num_nodes", "nodes" },
  { "nnodes", "nodes" },
  { "nproc_per_node", "gpus_per_node" },
  { "gpus", "gpus_per_node" },
  { "num_gpus", "gpus_per_node" },
  { "machines", "nodes" },
  { "servers", "nodes" },
  { "nics", "nics_per_node" },
  { "num_nics", "nics_per_node" },
  { "hcas", "nics_per_node" },
  { "adapters", "nics_per_node" },
  { "bandwidth", "nic_rate" },
  { "link_speed", "nic_rate" },
  { "speed", "nic_rate" },
  { "network", "nic" },
};

/* NULL: the word is none of another program's. */
static const char *
synonym_of (const char *word)
{
  for (guint i = 0; i < G_N_ELEMENTS (synonyms); i++)
    if (g_ascii_strcasecmp (synonyms[i][0], word) == 0)
      return synonyms[i][1];
  return NULL;
}

/* How to write a key that belongs below `row`; without a key, the model alone. In an assignment the path up to the
 * unknown key stays, unless `row` is one of the top level, and the value: 'job.micro_batch=8'. (transfer full) */
static char *
written_below (const FabSchemaReader *self, const FabParam *row, const char *model, const char *key,
               const FabMark *mark)
{
  if (mark != NULL && fab_mark_is_assignment (mark)) {
    g_autofree char *text = g_strndup (mark->text, mark->text_length);
    const char *at = g_utf8_offset_to_pointer (text, (glong) mark->column - 1);
    int n_before = self->top != NULL && fab_schema_find_row (self->top, row->key) == row ? 0
                                                                                         : (int) (at - text);

    return key == NULL
             ? g_strdup_printf ("%.*s%s=%s", n_before, text, row->key, model)
             : g_strdup_printf ("%.*s%s.%s%s", n_before, text, row->key, key, at + strcspn (at, ".="));
  }
  if (key == NULL)
    return g_strdup_printf ("%s: %s", row->key, model);
  if (model == NULL)
    return g_strdup_printf ("%s: {%s: ...}", row->key, key);
  return g_strdup_printf ("%s: {kind: %s, %s: ...}", row->key, model, key);
}

/* Looks for a key in one row: in its mapping, or in the models that it names, of which one is named where it alone has
 * the key. A model of that name counts too. */
static char *
find_in_row (const FabSchemaReader *self, const FabParam *row, const char *key, const FabMark *mark)
{
  const FabModelInfo *const *infos = row->type == FAB_PARAM_MODEL ? self->registry->lists[row->models] : NULL;
  const char *model = NULL;
  guint n_models = 0;

  if (row->type == FAB_PARAM_TABLE && fab_schema_find_row (row->table, key) != NULL)
    return written_below (self, row, NULL, key, mark);
  for (guint i = 0; infos != NULL && infos[i] != NULL; i++)
    if (fab_schema_find_row (infos[i]->params, key) != NULL) {
      if (model == NULL)
        model = infos[i]->name;
      n_models++;
    }
  if (n_models > 0)
    return written_below (self, row, n_models == 1 ? model : NULL, key, mark);
  for (guint i = 0; infos != NULL && infos[i] != NULL; i++)
    if (g_str_equal (infos[i]->name, key))
      return written_below (self, row, key, NULL, mark);
  return NULL;
}

/* Looks for an unknown key below the rows of a table. */
static char *
find_below (const FabSchemaReader *self, const FabParam *table, const char *key, const FabMark *mark)
{
  for (const FabParam *row = table; row != NULL && row->key != NULL; row++) {
    g_autofree char *written = find_in_row (self, row, key, mark);

    if (written != NULL)
      return g_strdup_printf ("it is a key of '%s': write '%s'", row->key, written);
  }
  return NULL;
}

/* Looks for another program's word among the keys of a table and below them. */
static char *
find_synonym (const FabSchemaReader *self, const FabParam *table, const char *key, const FabMark *mark)
{
  const char *meant = synonym_of (key);
  const FabParam *row = meant != NULL ? fab_schema_find_row (table, meant) : NULL;

  if (meant == NULL)
    return NULL;
  if (row != NULL && row->type != FAB_PARAM_LIST)
    return g_strdup_printf ("here it is called '%s'", meant);
  g_autofree char *below = find_below (self, table, meant, mark);
  return below != NULL ? g_strdup_printf ("here it is called '%s'; %s", meant, below) : NULL;
}

/* Looks for an unknown key of a mapping at the top level of the file and in its mappings. */
static char *
find_at_top (const FabSchemaReader *self, const FabParam *table, const char *key, const FabMark *mark)
{
  if (self->top == NULL || self->top == table)
    return NULL;
  return fab_schema_find_row (self->top, key) != NULL
           ? g_strdup ("it is a key of the top level, outside of all others")
           : find_below (self, self->top, key, mark);
}

char *
fab_schema_namesake (const FabSchemaReader *self, const FabParam *table, const char *key,
                     const FabMark *value)
{
  FabMark mark = *value;

  if (fab_mark_is_assignment (&mark) && mark.column > strlen (key) + 1)
    mark.column -= (guint) strlen (key) + 1; /* to the key, which stands before "=" and the value */
  for (const FabParam *row = table; row != NULL && row->key != NULL; row++) {
    g_autofree char *written = row->type == FAB_PARAM_TABLE ? find_in_row (self, row, key, &mark) : NULL;

    if (written != NULL)
      return g_strdup_printf ("'%s' is a list here; for the key of '%s' write '%s'", key, row->key, written);
  }
  return NULL;
}

/* Names of the models of a list that have a key, as "'a', 'b'"; NULL when none has it. */
static char *
models_with (const FabModelInfo *const *infos, const char *key)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; infos[i] != NULL; i++)
    if (fab_schema_find_row (infos[i]->params, key) != NULL)
      g_string_append_printf (names, "%s'%s'", names->len != 0 ? ", " : "", infos[i]->name);
  return names->len > 0 ? g_string_free (g_steal_pointer (&names), FALSE) : NULL;
}

/* Looks for an unknown key of a model in the other models of its kind. */
static char *
find_beside (const FabSchemaReader *self, const FabParam *table, const char *key)
{
  for (guint kind = 0; kind < G_N_ELEMENTS (self->registry->lists); kind++) {
    const FabModelInfo *const *infos = self->registry->lists[kind];

    for (guint i = 0; infos != NULL && infos[i] != NULL; i++) {
      g_autofree char *names = infos[i]->params == table ? models_with (infos, key) : NULL;

      if (names != NULL)
        return g_strdup_printf ("'%s' does not have it; these have it: %s", infos[i]->name, names);
    }
  }
  return NULL;
}

void
fab_schema_report_unknown (FabSchemaReader *self, const FabParam *table, const char *extra, const char *key,
                           const FabMark *mark)
{
  g_autoptr (GPtrArray) known = g_ptr_array_new ();
  const char *nearest;

  for (const FabParam *row = table; row != NULL && row->key != NULL; row++)
    g_ptr_array_add (known, (gpointer) row->key);
  if (extra != NULL)
    g_ptr_array_add (known, (gpointer) extra);
  g_ptr_array_add (known, NULL);
  g_autofree char *below = find_below (self, table, key, mark), *beside = find_beside (self, table, key);
  g_autofree char *synonym = find_synonym (self, table, key, mark),
                  *at_top = find_at_top (self, table, key, mark);
  nearest = fab_diagnostics_nearest (self->diagnostics, key, (const char *const *) known->pdata);
  const char *elsewhere = below != NULL ? below : beside == NULL && synonym == NULL ? at_top : NULL;
  if (elsewhere != NULL && nearest != NULL
      && (g_str_has_prefix (key, nearest) || g_str_has_prefix (nearest, key))) {
    fab_diagnostics_add (self->diagnostics, mark, "unknown key '%s'; nearest is '%s', or %s", key, nearest,
                         elsewhere);
  } else if (elsewhere != NULL) {
    fab_diagnostics_add (self->diagnostics, mark, "unknown key '%s'; %s", key, elsewhere);
  } else if (beside != NULL) {
    fab_diagnostics_add (self->diagnostics, mark, "unknown key '%s'; %s", key, beside);
  } else if (synonym != NULL) {
    fab_diagnostics_add (self->diagnostics, mark, "unknown key '%s'; %s", key, synonym);
  } else if (nearest != NULL) {
    fab_diagnostics_add (self->diagnostics, mark, "unknown key '%s'; nearest is '%s'", key, nearest);
  } else {
    g_autofree char *joined = g_strjoinv (", ", (char **) known->pdata);

    fab_diagnostics_add (self->diagnostics, mark, "unknown key '%s'; known here: %s", key, joined);
  }
}
