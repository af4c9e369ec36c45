/* SPDX-License-Identifier: Apache-2.0 */
/* fragment.h - turns a fit into a link entry of the catalogue that a scenario can include.
 *
 * docs/decisions/0010-measurements.md says which measurement sets which key. Keys that nothing was measured for are
 * copied from the base. Without a base the line rate is the highest rate reached, and the latency is 0.
 */
#pragma once

#include "validate/fit/link.h"

typedef struct {
  const char *name;         /* of the new entry; NULL: the base's with "-measured", or "measured" */
  const char *suffix;       /* appended to the name behind a "-"; NULL: nothing */
  const FabLinkSpec *base;  /* NULL: none */
  guint count;              /* links side by side between the two ends; rates are divided by it */
  guint hops;               /* links in a row between the two ends: 2 through one switch */
  const char *date;         /* date of the entry: "2026-11-20" */
  const char *version;      /* version of the program */
  const char *const *files; /* files that were read, NULL-ended */
} FabFragmentRequest;

typedef struct {
  const FabLinkFit *fit;   /* not owned */
  const FabLinkSpec *base; /* NULL: none; not owned */
  guint count;
  FabLinkSpec spec;
  gboolean is_measured; /* at least one number is measured; otherwise all are the base's */
  gboolean is_endpoint_measured, is_collective_measured;
  GPtrArray *notes; /* char: sentences on what was adjusted, and what the entry cannot express */
  GPtrArray *texts; /* char: owns the texts that `spec` points to */
  GArray *messages; /* FabMessageRegime */
} FabFragment;

/* Makes the entry. Limits the saturated rates of `fit` to what the base can carry. Fails when the base's
 * line is slower than what was measured, and when there is neither a base nor a measured rate. The fit and the
 * request must outlive the fragment. (transfer full) */
FabFragment *fab_fragment_new (FabLinkFit *fit, const FabFragmentRequest *request, GError **error);
void fab_fragment_free (FabFragment *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabFragment, fab_fragment_free)

/* Writes a catalogue file with these entries (FabFragment); its first lines say where they come from. (transfer
 * full) */
char *fab_fragments_yaml (const GPtrArray *fragments, const FabFragmentRequest *request);
