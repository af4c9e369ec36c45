/* SPDX-License-Identifier: Apache-2.0 */
/* topics.h - what `fabricast help TOPIC` explains beside commands and terms of the glossary: topics.yaml. */
#pragma once

#include <glib.h>

/* Its texts belong to the topics. */
typedef struct {
  const char *name;
  const char *summary; /* one line for `fabricast help` */
  const char *text;    /* paragraphs of prose; an indented line is a command or a row */
  const char *rows;    /* what the program's own tables add to it, or NULL */
} FabTopic;

typedef struct _FabTopics FabTopics;

/* Reads the topics. (transfer full) */
FabTopics *fab_topics_new (void);
void fab_topics_free (FabTopics *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabTopics, fab_topics_free)

guint fab_topics_count (const FabTopics *self);
const FabTopic *fab_topics_at (const FabTopics *self, guint index);
/* NULL: there is none of this name. */
const FabTopic *fab_topics_find (const FabTopics *self, const char *name);

/* The rows that stand below the text of a topic; NULL: none. (transfer full) */
char *fab_topic_rows (const FabTopic *topic);
