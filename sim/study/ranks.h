/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h - processes that were started together, here or on many machines, and send each other bytes.
 *
 * Whoever can start them fills this in: a module that is loaded when the program was started so. It is called by one
 * thread only. Nothing here fails: what is sent to a rank that died is lost, and of that rank nothing is heard.
 */
#pragma once

#include <glib.h>

#define FAB_RANKS_ABI 1u

typedef struct _FabRanks FabRanks;

struct _FabRanks {
  guint abi;           /* FAB_RANKS_ABI */
  guint rank, n_ranks; /* this one, of how many */
  guint n_here;        /* of them on this machine */
  const char *host;

  /* Takes a copy, and does not wait. */
  void (*send) (FabRanks *self, guint to, gconstpointer bytes, gsize size);

  /* A message that is there replaces what *bytes held; FALSE: there is none. Those of one rank keep their order. */
  gboolean (*receive) (FabRanks *self, guint *from, GByteArray *bytes);

  /* Frees it. `is_whole`: all ranks are still here and leave too; otherwise nobody waits for the others. */
  void (*leave) (FabRanks *self, gboolean is_whole);
};

/* The one symbol of a module, "fab_ranks_join". NULL: there are no other ranks. */
typedef FabRanks *(*FabRanksFunc) (void);
