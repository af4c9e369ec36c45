/* SPDX-License-Identifier: Apache-2.0 */
/* fragment.h - a fit as a link entry of the catalogue, which a scenario includes.
 * docs/decisions/0010-measurements.md says which key comes from what. Keys that nothing was measured for are the
 * base's; without a base the line rate is what was reached and the latency 0.
 */
#pragma once

#include "validate/fit/link.h"

typedef struct {
  const char *name;         /* of the new entry; NULL: base's with "-measured", or "measured" */
  const char *suffix;       /* of the name, behind a "-"; NULL: none */
  const FabLinkSpec *base;  /* NULL: none */
  guint count;              /* links side by side between the two ends, which rates are divided by */
  guint hops;               /* links in a row between the two ends: 2 through one switch */
  const char *date;         /* of the entry: "2026-11-20" */
  const char *version;      /* of the program */
  const char *const *files; /* what was read, NULL-ended */
} FabFragmentRequest;

typedef struct {
  const FabLinkFit *fit;   /* what it was made of; not owned */
  const FabLinkSpec *base; /* NULL: none; not owned */
  guint count;
  FabLinkSpec spec;
  gboolean is_measured; /* some number of it is; else all are the base's */
  gboolean is_endpoint_measured, is_collective_measured;
  GPtrArray *notes; /* char: what had to be bent, and what the link cannot say */
  GPtrArray *texts; /* char: that the spec points to */
  GArray *messages; /* FabMessageRegime */
} FabFragment;

/* Saturated rates of the fit that the base cannot carry are bounded. Refused: a base whose line is slower than what
 * was measured; nothing that tells a rate, and no base. */
FabFragment *fab_fragment_new (FabLinkFit *fit, const FabFragmentRequest *request, GError **error);
void fab_fragment_free (FabFragment *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabFragment, fab_fragment_free)

/* A catalogue file with these entries (FabFragment), where they come from at its head. (transfer full) */
char *fab_fragments_yaml (const GPtrArray *fragments, const FabFragmentRequest *request);
