/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h - the interface of processes that were started together, on one or many machines, and exchange bytes.
 *
 * A module that is loaded under a launcher (MPI) implements it. One thread only may call it. No function fails:
 * messages to a rank that has died are lost, and nothing arrives from that rank.
 */
#pragma once

#include <glib.h>

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
