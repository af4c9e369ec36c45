/* SPDX-License-Identifier: Apache-2.0 */
/* glossary.h - what the field's words mean, and where each shows in Fabricast.
 *
 * glossary.yaml is behind `fabricast describe glossary`, `fabricast help glossary`, docs/reference/glossary.md and the
 * tooltips of the HTML pages. Terms are in the order of their groups; lists of them are alphabetical.
 */
#pragma once

#include <glib.h>

/* Its texts belong to the glossary. */
typedef struct {
  const char *name;  /* as a sentence has it: "all-reduce" */
  const char *also;  /* other names, separated by ", "; NULL: none */
  const char *text;  /* what it means: one to three sentences */
  const char *shows; /* where it shows in Fabricast: one sentence */
  const char *see;   /* names of related terms, separated by ", "; NULL: none */
  const char *page;  /* a page that tells more, from the root of the sources; NULL: none */
  const char *group; /* the heading of its group: "Collectives" */
} FabGlossaryTerm;

typedef struct _FabGlossary FabGlossary;

/* Reads the glossary. (transfer full) */
FabGlossary *fab_glossary_new (void);
void fab_glossary_free (FabGlossary *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabGlossary, fab_glossary_free)

/* Finds a term by its name or another name of it, whatever the case, and whether it has dashes, blanks or low lines.
 * NULL: there is none. */
const FabGlossaryTerm *fab_glossary_find (const FabGlossary *self, const char *name);
/* Returns the nearest name to one that is unknown, or NULL. */
const char *fab_glossary_nearest (const FabGlossary *self, const char *name);
/* Lists all terms in alphabetical order. (transfer container) (element-type FabGlossaryTerm) */
GPtrArray *fab_glossary_sorted (const FabGlossary *self);

/* Every term as JSON, in alphabetical order: an array of {name, also, group, text, shows, see, page}. (transfer
 * full) */
char *fab_glossary_json (const FabGlossary *self);
/* The page docs/reference/glossary.md. (transfer full) */
char *fab_glossary_markdown (const FabGlossary *self);
/* One term for a person, with its see-also. (transfer full) */
char *fab_glossary_entry (const FabGlossaryTerm *term);
/* The names of all terms by group. (transfer full) */
char *fab_glossary_list (const FabGlossary *self);
