/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/help/topics.h"

#include <string.h>

#include "cli/help/data.h"
#include "cli/help/glossary.h"
#include "models/models.h"

struct _FabTopics {
  FabYamlDoc *doc;
  GArray *topics; /* FabTopic */
};

FabTopics *
fab_topics_new (void)
{
  FabTopics *self = g_new0 (FabTopics, 1);

  self->doc = fab_help_data ("topics.yaml");
  self->topics = g_array_new (FALSE, FALSE, sizeof (FabTopic));
  const FabYamlNode *list = fab_yaml_get (fab_yaml_doc_root (self->doc), "topics");
  for (guint i = 0; i < list->n; i++) {
    const FabYamlNode *item = list->values[i];
    FabTopic topic = { .name = fab_help_text (item, "name"),
                       .summary = fab_help_text (item, "summary"),
                       .text = fab_help_text (item, "text"),
                       .rows = fab_help_text (item, "rows") };

    g_array_append_val (self->topics, topic);
  }
  return self;
}

void
fab_topics_free (FabTopics *self)
{
  if (self == NULL)
    return;
  fab_yaml_doc_free (self->doc);
  g_array_unref (self->topics);
  g_free (self);
}

guint
fab_topics_count (const FabTopics *self)
{
  return self->topics->len;
}

const FabTopic *
fab_topics_at (const FabTopics *self, guint index)
{
  return &g_array_index (self->topics, FabTopic, index);
}

const FabTopic *
fab_topics_find (const FabTopics *self, const char *name)
{
  for (guint i = 0; i < self->topics->len; i++)
    if (strcmp (fab_topics_at (self, i)->name, name) == 0)
      return fab_topics_at (self, i);
  return NULL;
}

/* Models of a kind, a line each. (transfer full) */
static char *
models_of (FabModelKind kind)
{
  GString *out = g_string_new (NULL);

  for (const FabModelInfo *const *info = fab_models.lists[kind]; *info != NULL; info++)
    g_string_append_printf (out, "  %-16s  %s\n", (*info)->name, (*info)->summary);
  return g_string_free (out, FALSE);
}

char *
fab_topic_rows (const FabTopic *topic)
{
  static const struct {
    const char *rows;
    FabModelKind kind;
  } kinds[] = {
    { "fabrics", FAB_MODEL_FABRIC },
    { "algorithms", FAB_MODEL_ALGORITHM },
    { "fidelities", FAB_MODEL_NET },
  };

  if (topic->rows == NULL)
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (strcmp (kinds[i].rows, topic->rows) == 0)
      return models_of (kinds[i].kind);
  g_assert (strcmp (topic->rows, "terms") == 0);
  g_autoptr (FabGlossary) glossary = fab_glossary_new ();
  return fab_glossary_list (glossary);
}
