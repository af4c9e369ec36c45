/* SPDX-License-Identifier: Apache-2.0 */
/* sources.h - published training runs: INDEX.yaml, a table and a scenario template per source.
 *
 * A template is a scenario with places for the columns of the table: `nodes: ${nodes}`. It may be chosen by a column
 * too: `scenario: playbook-${kind}.yaml`. ${mfu} is filled in by the protocol (report.h), everything else is what the
 * source says of its machine and its framework, or what its header line `inferred` names.
 */
#pragma once

#include "sim/registry.h"
#include "validate/training/table.h"

typedef struct {
  const char *name;
  const char *title;
  const char *file;     /* CSV, in the directory of INDEX.yaml */
  const char *scenario; /* template, likewise; may have places itself */
  const char *same;     /* columns between blanks: rows equal in them have one compute efficiency */
  const char *factors;  /* columns between blanks: what else differs between rows, for directions.h */
  const char *network;  /* where the constants of its network come from */
  const char *note;     /* NULL: none */
} FabTrainingSourceSpec;

typedef struct {
  const FabTrainingSourceSpec *spec;
  FabTrainingTable *table;
  const char *directory;
} FabTrainingSource;

typedef struct _FabTrainingSources FabTrainingSources;

/* INDEX.yaml of the directory with all its tables, every mistake at its place. */
FabTrainingSources *fab_training_sources_load (const char *directory, const FabRegistry *registry,
                                               GError **error);
void fab_training_sources_free (FabTrainingSources *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabTrainingSources, fab_training_sources_free)

guint fab_training_sources_n (const FabTrainingSources *self);
const FabTrainingSource *fab_training_sources_get (const FabTrainingSources *self,
                                                   guint index); /* in the order of INDEX.yaml */

/* NULL and *error with the nearest name. */
const FabTrainingSource *fab_training_sources_find (const FabTrainingSources *self, const char *name,
                                                    GError **error);

/* The scenario of a row, with this efficiency. (transfer full) */
char *fab_training_source_scenario (const FabTrainingSource *self, guint row, double mfu_fraction,
                                    GError **error);
