/* SPDX-License-Identifier: Apache-2.0 */
/* megatron_layers.c - stages of a pipeline and their blocks: virtual stages, which come in three ways, and divisions
 * that are not equal (NVIDIA/Megatron-LM megatron/core/transformer/pipeline_parallel_layer_layout.py,
 * megatron/core/transformer/transformer_block.py: get_num_layers_to_build).
 */
#include "formats/job/megatron_layers.h"

#include <string.h>

/* A layout that is longer is none. */
enum { MAX_LAYOUT = 100000, MAX_PARTS = 10000 };

/* Appends what "t*3" or "(tt|)*29" at *c stands for, and passes over it. FALSE: it is no layout. */
static gboolean
expand_one (const char **c, GString *out)
{
  const char *inner = *c, *end = inner + 1;
  guint64 n = 1;

  if (*inner == '(') {
    end = strchr (inner, ')');
    if (end == NULL)
      return FALSE;
    inner++;
  }
  gsize length = (gsize) (end - inner);
  *c = *inner == '\0' ? end : end + (**c == '(');
  if (**c == '*') {
    char *behind;

    n = g_ascii_strtoull (*c + 1, &behind, 10);
    if (behind == *c + 1)
      return FALSE;
    *c = behind;
  }
  if (n > MAX_LAYOUT || out->len + n * length > MAX_LAYOUT)
    return FALSE;
  for (guint64 i = 0; i < n; i++)
    g_string_append_len (out, inner, (gssize) length);
  return TRUE;
}

/* "Et*3|(tt|)*29L": a letter for each layer, "|" between parts. NULL: it is none. (transfer full): blocks of each
 * part, "[3, 2, ...]". */
static char *
blocks_of (const char *layout, guint *n_parts)
{
  g_autoptr (GString) all = g_string_new (NULL), list = g_string_new ("[");
  guint n = 0;

  for (const char *c = layout; *c != '\0';) {
    if (*c == ',' || g_ascii_isspace (*c))
      c++;
    else if (!expand_one (&c, all))
      return NULL;
  }
  *n_parts = 1;
  for (const char *c = all->str; *c != '\0'; c++) {
    if (strchr ("tEmLd|", *c) == NULL)
      return NULL;
    n += *c == 't' || *c == 'd';
    if (*c != '|')
      continue;
    g_string_append_printf (list, "%u, ", n);
    n = 0;
    (*n_parts)++;
  }
  if (*n_parts > MAX_PARTS)
    return NULL;
  g_string_append_printf (list, "%u]", n);
  return g_string_free (g_steal_pointer (&list), FALSE);
}

static void
conclude_parts (FabJobReading *self, gint64 parts, const char *why)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, parts);

  if (parts < 2 || parts > MAX_PARTS)
    return;
  fab_job_conclude (self, "parallel.virtual", text, why);
  fab_job_conclude (self, "parallel.schedule", "interleaved", "as stages have several parts");
}

/* A list of parts, each a list of layers: "[embedding, decoder, decoder]" of the key "...layout.0". NULL: there is
 * none. (transfer full) */
static char *
blocks_of_lists (FabJobReading *self, guint *n_parts, const FabJobSetting **first)
{
  g_autoptr (GString) list = g_string_new ("[");

  for (*n_parts = 0; *n_parts < MAX_PARTS; (*n_parts)++) {
    g_autofree char *key = g_strdup_printf ("model.pipeline_model_parallel_layout.%u", *n_parts);
    const FabJobSetting *part = fab_job_settings_find (self->settings, key);
    guint n = 0;

    if (part == NULL || part->value == NULL)
      break;
    for (const char *c = strstr (part->value, "decoder"); c != NULL; c = strstr (c + 1, "decoder"))
      n++;
    if (*n_parts == 0)
      *first = part;
    g_string_append_printf (list, "%s%u", *n_parts ? ", " : "", n);
  }
  g_string_append_c (list, ']');
  return *n_parts > 0 ? g_string_free (g_steal_pointer (&list), FALSE) : NULL;
}

static gboolean
take_layout (FabJobReading *self, gint64 stages)
{
  const FabJobSetting *layout = fab_job_settings_find (self->settings, "*.pipeline_model_parallel_layout");
  guint n_parts = 0;
  g_autofree char *blocks = layout && layout->value && layout->value[0] && layout->value[0] != '['
                              ? blocks_of (layout->value, &n_parts)
                              : blocks_of_lists (self, &n_parts, &layout);

  if (blocks == NULL || n_parts % stages != 0) {
    if (layout != NULL && layout->value != NULL && *layout->value != '\0'
        && g_ascii_strcasecmp (layout->value, "null") != 0)
      fab_imported_job_effect (self->job, self->settings, layout,
                               "stages have their own layers: parallel.layers says that");
    return FALSE;
  }
  conclude_parts (self, n_parts / stages, "parts of each stage, by pipeline_model_parallel_layout");
  fab_imported_job_set (self->job, self->settings, layout, "parallel.layers", blocks);
  return TRUE;
}

/* The embedding, or the loss, counts as a block of its stage; or the first and the last stage have a number of their
 * own. All other parts are equal. */
static void
take_uneven (FabJobReading *self, gint64 n_parts, gint64 layers)
{
  gint64 first = fab_job_whole (self, "*.decoder_first_pipeline_num_layers", 0);
  gint64 last = fab_job_whole (self, "*.decoder_last_pipeline_num_layers", 0);
  gboolean has_embedding = fab_job_is_on (self, "*.account_for_embedding_in_pipeline_split");
  gboolean has_loss = fab_job_is_on (self, "*.account_for_loss_in_pipeline_split");
  gint64 each = (layers + has_embedding + has_loss) / MAX (n_parts, 1);
  g_autoptr (GString) list = g_string_new ("[");

  if (first <= 0 && last <= 0 && !has_embedding && !has_loss)
    return;
  if (n_parts < 2 || n_parts > MAX_PARTS || layers <= 0 || layers > 100000)
    return;
  if (first > 0 || last > 0) {
    gint64 n_others = n_parts - (first > 0) - (last > 0);

    each = n_others > 0 ? (layers - first - last) / n_others : 0;
  }
  for (gint64 i = 0; i < n_parts; i++) {
    gint64 n = i == 0           ? (first > 0 ? first : each - has_embedding)
             : i == n_parts - 1 ? (last > 0 ? last : each - has_loss)
                                : each;

    g_string_append_printf (list, "%s%" G_GINT64_FORMAT, i ? ", " : "", MAX (n, 0));
  }
  g_string_append_c (list, ']');
  fab_job_conclude (self, "parallel.layers", list->str,
                    first > 0 || last > 0 ? "by the numbers of the first and the last stage"
                                          : "as the embedding or the loss counts as a block");
}

void
fab_job_take_stages (FabJobReading *self, gint64 stages)
{
  gint64 layers = fab_job_whole (self, "*.num_layers", 0);
  gint64 per_part = fab_job_whole (self, "*.num_layers_per_virtual_pipeline_stage", 0);
  gint64 parts = fab_job_whole (self, "*.num_virtual_stages_per_pipeline_rank",
                                fab_job_whole (self, "*.virtual_pipeline_model_parallel_size", 0));

  if (stages < 2 || stages > MAX_PARTS || take_layout (self, stages))
    return;
  if (parts == 0 && per_part > 0)
    parts = layers / stages / per_part;
  conclude_parts (self, parts, "parts of each stage, by the virtual pipeline stages");
  if (parts <= MAX_PARTS)
    take_uneven (self, stages * MAX (parts, 1), layers);
}
