/* SPDX-License-Identifier: Apache-2.0 */
/* doubts.h - where the fidelity of a scenario is known to be wrong, as far as the scenario itself shows it.
 *
 *   collision  a hash put several flows on one uplink of a leaf while others are emptier
 *   incast     flows fill the port of one receiver several times over
 *   spreading  a flow shares a link with others that wait for a full one which it does not cross
 *   channels   collectives of different numbers of channels share a full link: each counts with all of its channels
 *
 * The first three need queues, the last one messages. What is looked at: every collective by itself, and what is
 * surely under way at once: collectives that wait for nothing, the longest collective of each of several jobs,
 * transfers in the background. A fidelity that knows no sharing, or knows queues, has no doubts.
 */
#pragma once

#include "sim/run/effort.h"
#include "sim/run/simulation.h"

typedef enum {
  FAB_DOUBT_COLLISION,
  FAB_DOUBT_INCAST,
  FAB_DOUBT_SPREADING,
  FAB_DOUBT_CHANNELS,
  FAB_N_DOUBTS
} FabDoubtKind;

extern const char *const fab_doubt_names[FAB_N_DOUBTS + 1]; /* "colliding paths", ...; NULL-ended */

typedef struct {
  FabDoubtKind kind;
  char *text;         /* a sentence without its full stop, which names a link */
  char *link;         /* that it is about; NULL: none */
  const char *better; /* the fidelity that knows; NULL: the registry has none */
  FabEffort effort;   /* about how long an iteration takes there */
} FabDoubt;

/* What takes longer to play is not proposed without saying so. */
enum { FAB_DOUBT_PATIENCE_S = 60 };

/* Returns "an iteration at that fidelity takes at most about 12 min"; NULL: it takes no longer than a person waits, if
 * what is alike is simulated once. (transfer full) */
char *fab_doubt_warning (const FabDoubt *doubt);

/* FabDoubt, one of a kind at most: the worst. NULL and *error: a neighbour cannot be built. (transfer full) */
GArray *fab_doubts_find (const FabScenario *scenario, const FabPlant *plant, const FabDag *dag,
                         const FabRegistry *registry, GError **error);
