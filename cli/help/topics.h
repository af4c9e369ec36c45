/* SPDX-License-Identifier: Apache-2.0 */
/* topics.h - what `fabricast help TOPIC` explains beside commands and terms of the glossary. */
#pragma once

#include <glib.h>

typedef struct {
  const char *name;
  const char *summary;  /* one line for `fabricast help` */
  const char *text;     /* paragraphs of prose; an indented line is a command or a row */
  char *(*rows) (void); /* what the program's own tables add to it, or NULL; (transfer full) */
} FabTopic;

extern const FabTopic fab_topics[]; /* ends with a name that is NULL */
