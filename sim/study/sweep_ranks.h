/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_ranks.h - rank 0's view of the other ranks: which points each has, and which ranks are alive.
 *
 * Ranks ask for points and report their results. A rank that sends nothing for a while counts as dead, and its points
 * go to others. If it sends results later, they are accepted, because the result of a point is the same from every
 * rank.
 */
#pragma once

#include <glib.h>

#include "sim/study/sweep_record.h"

#define FAB_RANKS_ABI 1u

typedef struct _FabRanks FabRanks;

struct _FabRanks {
  guint abi;           /* FAB_RANKS_ABI */
  guint rank, n_ranks; /* this rank, and the number of ranks */
  guint n_here;        /* how many of them run on this machine */
  const char *host;

  /* Sends a copy of the bytes, without waiting. */
  void (*send) (FabRanks *self, guint to, gconstpointer bytes, gsize size);

  /* Replaces the content of *bytes by a message that has arrived; FALSE: there is none. Messages of one rank keep
   * their order. */
  gboolean (*receive) (FabRanks *self, guint *from, GByteArray *bytes);

  /* Ends the membership and frees it. `is_whole`: all ranks are still present and leave too; otherwise no rank waits
   * for the others. */
  void (*leave) (FabRanks *self, gboolean is_whole);
};

/* The only symbol of a module, "fab_ranks_join". It returns NULL when there are no other ranks. */
typedef FabRanks *(*FabRanksFunc) (void);

typedef struct _FabSweepRanks FabSweepRanks;

/* The first byte of a message. */
typedef enum {
  FAB_RANKS_HELLO = 'h', /* to rank 0: fingerprint, host, process id, problem, each NUL-terminated */
  /* to rank 0: guint32, number of points that it wants; then the records that it simulated */
  FAB_RANKS_REPORT = 'r',
  FAB_RANKS_BYE = 'b',    /* to rank 0: it leaves */
  FAB_RANKS_POINTS = 'p', /* from rank 0: gint64 for each point; without points: a sign of life */
  FAB_RANKS_END = 'e',    /* from rank 0: guint8, whether all ranks are still present */
} FabRanksKind;

/* Takes up to `n` unassigned points; returns how many it took. */
typedef guint (*FabSweepGiveFunc) (gpointer data, gint64 *points, guint n);
typedef void (*FabSweepNoteFunc) (gpointer data, const char *sentence);

FabSweepRanks *fab_sweep_ranks_new (FabRanks *ranks, const char *fingerprint, FabSweepNoteFunc note,
                                    gpointer data);

/* Reads the messages of the others: records go to `played` (transfer full), points of ranks that died to `lost`
 * (gint64). */
void fab_sweep_ranks_hear (FabSweepRanks *self, GPtrArray *played, GArray *lost);

/* Gives points to the ranks that want some. */
void fab_sweep_ranks_feed (FabSweepRanks *self, FabSweepGiveFunc give, gpointer data);

/* Whether no living rank has a point. */
gboolean fab_sweep_ranks_are_idle (const FabSweepRanks *self);

/* Tells all ranks to end, waits for them, leaves and frees the object. */
void fab_sweep_ranks_end (FabSweepRanks *self);
