/* SPDX-License-Identifier: Apache-2.0 */
/* bottleneck.h - what limits a step: which change of the machine or of the software shortens it most.
 *
 * A lever is one change: every link of an entry twice as fast, as many NICs again, twice the library's channels, no
 * latency, compute twice as fast, ... bottleneck_find.h plays them.
 *
 *   saved   1 - step with the lever / step without, the median over the draws (difference.h), of which three stand for
 *           all where the step is the same in all draws without the lever and in these three with it
 *
 * Levers are ranked by what they save. The first one limits the step, if it saves FAB_BOTTLENECK_LEAST or more. "Every
 * link" only counts as the first one where no single kind of link saves half as much.
 */
#pragma once

#include "sim/base/json.h"
#include "sim/decision/difference.h"
#include "sim/decision/draw.h"
#include "sim/verdict/verdict.h"

typedef enum {
  FAB_LEVER_LINK,     /* every link of one entry, twice as fast */
  FAB_LEVER_LINKS,    /* every link, twice as fast */
  FAB_LEVER_PAIR,     /* links that leave the node, and one thing more: where faster ones alone do not help */
  FAB_LEVER_NICS,     /* as many NICs again, where the node has them */
  FAB_LEVER_CHANNELS, /* twice as many channels of the library */
  FAB_LEVER_MESSAGES, /* senders take half the time for each message */
  FAB_LEVER_LATENCY,  /* collectives move bytes at once */
  FAB_LEVER_COMPUTE,  /* kernels twice as fast */
  FAB_LEVER_MEMORY,   /* the accelerators' memory twice as fast */
  FAB_LEVER_HOST,     /* work on the host twice as fast */
  FAB_LEVER_RANKS,    /* no rank slower than the others */
  FAB_LEVER_DRAWS,    /* the luckiest of the draws */
  FAB_N_LEVERS,
} FabLeverKind;

extern const char *const fab_lever_names[FAB_N_LEVERS + 1]; /* "link", ...: NULL-ended */

#define FAB_BOTTLENECK_LEAST 0.01 /* a lever that saves less changes nothing to speak of */
#define FAB_LEVER_FACTOR 2.0      /* "twice as fast" */

typedef struct {
  FabLeverKind kind;
  char *name;       /* what limits, in a column: "ib-hdr", "ib-hdr at 100 Gb/s", "NICs", "compute" */
  char *change;     /* what was changed: "every ib-hdr twice as fast", "2 NICs a node in place of 1" */
  char *link_class; /* of LINK: the entry of the links; NULL: of another kind */
  gboolean is_port; /* of LINK: links of this entry leave the node */
  double step_s, exposed_s; /* with the lever: of the draw with the median step */
  FabDifference step;       /* from the step without it */
} FabLever;

typedef struct {
  GArray *levers;       /* FabLever, by what they save */
  gint first;           /* the one that limits the step; -1: none alone does */
  FabDrawTimes base;    /* of the draw with the median step */
  double low_s, high_s; /* the shortest and the longest step of all draws */
  guint n_draws;
  guint n_channels;     /* of the library, in the collectives that are exposed most; 0: it has none */
  const char *fidelity; /* that played them, where it is not the scenario's own; NULL: it is */
  FabVerdict *waits;    /* with one finding: what the step waits for (waits.h) */
} FabBottleneck;

/* One without levers. (transfer full) */
FabBottleneck *fab_bottleneck_new (void);
FabLever fab_lever_copy (const FabLever *lever); /* with texts of its own */
void fab_lever_clear (gpointer lever);           /* frees the texts of a FabLever */
FabBottleneck *fab_bottleneck_copy (const FabBottleneck *self);
void fab_bottleneck_free (FabBottleneck *self); /* accepts NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabBottleneck, fab_bottleneck_free)

static inline const FabLever *
fab_bottleneck_lever (const FabBottleneck *self, guint i)
{
  return &g_array_index (self->levers, FabLever, i);
}

/* By how much the lever shortens the step, as a fraction of it; below 0: it makes it longer. */
static inline double
fab_lever_saved (const FabLever *self)
{
  return 0 - self->step.median; /* 0 and not -0 where nothing changes */
}

/* Returns the lever of this kind that saves most; NULL: there is none. */
const FabLever *fab_bottleneck_of_kind (const FabBottleneck *self, FabLeverKind kind);

/* Returns the links between nodes that do not help although faster links everywhere do; NULL: there are none. */
const FabLever *fab_bottleneck_useless_port (const FabBottleneck *self);

/* Sorts the levers by what they save, and finds the one that limits the step: the first that is neither a pair nor all
 * links, unless these save more than twice what one kind of link, or more NICs, save. */
void fab_bottleneck_rank (FabBottleneck *self);

/* Of the pairs, only the one is kept that gains most beyond what both of its changes save by themselves, if it gains
 * more than nothing. There is a useless port. */
void fab_bottleneck_keep_best_pair (FabBottleneck *self);

/* Returns the lever that limits the step; NULL: none alone does. Accepts NULL. */
const FabLever *fab_bottleneck_first (const FabBottleneck *self);

/* Returns in a word or two what limits the step: "ib-hdr", "compute"; "nothing alone". NULL of NULL. (static, or owned
 * by `self`) */
const char *fab_bottleneck_name (const FabBottleneck *self);

/* The same without a rate that the scenario gives the links, which tells two bottlenecks apart: "ib-hdr". */
const char *fab_bottleneck_part (const FabBottleneck *self);

/* Returns in a sentence or three what helps and what does not. (transfer full) */
char *fab_bottleneck_words (const FabBottleneck *self);

/* Puts the finding that says what the step waits for into a verdict, in place of one that is there, and likewise how
 * far the step spreads over the draws. */
void fab_bottleneck_judge (const FabBottleneck *self, FabVerdict *verdict);

/* Adds the object `bottleneck`: the name, the sentence, and the levers. */
void fab_bottleneck_add_json (const FabBottleneck *self, FabJson *json);
