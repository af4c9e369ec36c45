/* SPDX-License-Identifier: Apache-2.0 */
/* cabling_rules.h - what the rules of a check share: the cables of each part, and votes of peers. */
#pragma once

#include "answer/topology/cabling.h"

/* The cables of each part, as one row of indices. */
typedef struct {
  guint *starts; /* [parts + 1] */
  guint *cables; /* [2 x cables] */
} FabCablingIndex;

void fab_cabling_index_init (FabCablingIndex *self, const FabCabling *cabling);
void fab_cabling_index_clear (FabCablingIndex *self);

static inline guint
fab_cabling_far_end (const FabCable *cable, guint near)
{
  return cable->a == near ? cable->b : cable->a;
}

static inline const char *
fab_cabling_port_at (const FabCable *cable, guint part)
{
  return cable->a == part ? cable->port_a : cable->port_b;
}

/* Votes for numbers, each with a weight. */
typedef struct {
  GHashTable *weights; /* 1 + number to weight */
  guint total;
} FabCablingVotes;

void fab_cabling_votes_init (FabCablingVotes *self);
void fab_cabling_votes_clear (FabCablingVotes *self);
void fab_cabling_votes_add (FabCablingVotes *self, guint number, guint weight);
/* The number that more than half of all votes are for, of at least three; G_MAXUINT: there is none. Sets *weight (may
 * be NULL) to its votes. */
guint fab_cabling_votes_winner (const FabCablingVotes *self, guint *weight);

/* Says whether two sets, sorted, have at least half of the smaller one in common. An empty set has, with any. */
gboolean fab_cabling_overlap (const GArray *one, const GArray *other);

/* Two lists with as many numbers as a key of a GHashTable. (transfer full) */
GBytes *fab_cabling_key (const GArray *one, const GArray *other);

/* Adds a finding and takes `text`; copies the names. */
void fab_cabling_find (FabCabling *self, FabCablingFinding finding);

/* The rules. Each adds its findings. */
void fab_cabling_check_switches (FabCabling *self, const FabCablingIndex *index);
void fab_cabling_check_hosts (FabCabling *self, const FabCablingIndex *index);
void fab_cabling_check_speeds (FabCabling *self);
