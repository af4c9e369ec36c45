/* SPDX-License-Identifier: Apache-2.0 */
/* edits.h - what is to be changed of a scenario, in order: typed values of a program and assignments of people.
 *
 * NULL is no edit. Read-only, they may be laid over scenarios by several threads at once.
 */
#pragma once

#include "sim/config/value.h"

typedef struct {
  const char *text;   /* "job.bucket=25MiB": what a person wrote, or would write; owned by the edits */
  const char *origin; /* of a person's: the option that it was given to, such as "--set"; NULL otherwise */
  char *key;          /* of a typed value; NULL: `text` is a person's */
  FabValue *value;    /* NULL: the key is taken away */
  gboolean is_asked;  /* a person asked for it: another of the same group must not undo it */
  guint group;        /* edits that were made together; `append` begins a new one */
} FabEdit;

typedef struct _FabEdits FabEdits;

FabEdits *fab_edits_new (void);
/* Of assignments, NULL-ended, or NULL. */
FabEdits *fab_edits_of (const char *const *assignments);
void fab_edits_free (FabEdits *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabEdits, fab_edits_free)

void fab_edits_set (FabEdits *self, const char *key, FabValue *value); /* takes the value */
/* The same of a value that a person asked for by an option. */
void fab_edits_ask (FabEdits *self, const char *key, FabValue *value);
void fab_edits_assign (FabEdits *self, const char *assignment); /* of `--set` */
/* A value of `--vary` in the words of the person who gave it. */
void fab_edits_vary (FabEdits *self, const char *key, const char *value);
/* The appended edits may undo those that are already there. */
void fab_edits_append (FabEdits *self, const FabEdits *more);

guint fab_edits_count (const FabEdits *self);
const FabEdit *fab_edits_at (const FabEdits *self, guint index);
/* Of all, NULL-ended, for people: what `--set` takes. Valid until the next edit is added. */
const char *const *fab_edits_texts (const FabEdits *self);
