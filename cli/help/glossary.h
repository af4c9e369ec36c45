/* SPDX-License-Identifier: Apache-2.0 */
/* glossary.h - what the field's words mean, and where each shows in Fabricast.
 *
 * The tables in terms_jobs.c, terms_machines.c and terms_networks.c are behind `fabricast describe glossary`,
 * `fabricast help glossary`, docs/reference/glossary.md and the tooltips of the HTML pages. Terms are in the order of
 * their groups; lists of them are alphabetical.
 */
#pragma once

#include <glib.h>

typedef enum {
  FAB_TERMS_TRAINING,
  FAB_TERMS_PARALLELISM,
  FAB_TERMS_COLLECTIVES,
  FAB_TERMS_MACHINE,
  FAB_TERMS_NETWORK,
  FAB_TERMS_CONGESTION,
  FAB_TERMS_FIGURES,
  FAB_TERMS_SIMULATION,
  FAB_N_TERM_GROUPS,
} FabTermGroup;

typedef struct {
  const char *name;  /* as a sentence has it: "all-reduce" */
  const char *also;  /* other names, separated by ", "; NULL: none */
  const char *text;  /* what it means: one to three sentences */
  const char *shows; /* where it shows in Fabricast: one sentence */
  const char *see;   /* names of related terms, separated by ", "; NULL: none */
  const char *page;  /* a page that tells more, from the root of the sources; NULL: none */
  FabTermGroup group;
} FabTerm;

/* Each ends with a name that is NULL. */
extern const FabTerm fab_terms_jobs[], fab_terms_machines[], fab_terms_networks[];

/* Returns the group's heading: "Collectives". */
const char *fab_term_group_name (FabTermGroup group);

/* Finds a term by its name or another name of it, whatever the case, and whether it has dashes, blanks or low lines.
 * NULL: there is none. */
const FabTerm *fab_glossary_find (const char *name);
/* Returns the nearest name to one that is unknown, or NULL. */
const char *fab_glossary_nearest (const char *name);
/* Lists all terms in alphabetical order. (transfer container) (element-type FabTerm) */
GPtrArray *fab_glossary_sorted (void);

/* Every term as JSON, in alphabetical order: an array of {name, also, group, text, shows, see, page}. (transfer
 * full) */
char *fab_glossary_json (void);
/* The page docs/reference/glossary.md. (transfer full) */
char *fab_glossary_markdown (void);
/* One term for a person, with its see-also. (transfer full) */
char *fab_glossary_entry (const FabTerm *term);
/* The names of all terms by group. (transfer full) */
char *fab_glossary_list (void);
