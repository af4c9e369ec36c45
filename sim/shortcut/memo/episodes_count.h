/* SPDX-License-Identifier: Apache-2.0 */
/* episodes_count.h - how much of the episodes (episodes.h) of a network was played. */
#pragma once

#include <glib.h>

/* The tree's memory is bounded: what does not fit is played each time. */
typedef struct {
  guint64 n_episodes;    /* that have ended */
  guint64 n_remembered;  /* of them, played no event of the network */
  guint64 n_replays;     /* times that an episode was played from its begin to where it was new */
  guint64 n_collectives; /* that have ended */
  guint64 n_collectives_remembered;
  guint64 n_warm_ups;      /* collectives that were played before the clock started */
  guint64 n_warm_ups_used; /* of them, from which the first such collective of the run took its times */
  guint64 n_rehearsals;    /* episodes of several collectives that were played before the clock started */
  guint64 n_joins;         /* times that two episodes became one */
  guint64 n_skipped;       /* packets times links that were not played, because rounds repeat */
} FabEpisodesCount;
