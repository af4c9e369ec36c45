/* SPDX-License-Identifier: Apache-2.0 */
/* sources.h - published training runs: INDEX.yaml, a table and a scenario template per source.
 *
 * A template is a scenario with places for the columns of the table: `nodes: ${nodes}`. It may be chosen by a column
 * too: `scenario: playbook-${kind}.yaml`. ${mfu} is filled in by the protocol (report.h), everything else is what the
 * source says of its machine and its framework, or what its header line `inferred` names.
 */
#pragma once

#include <glib.h>

#include "sim/registry.h"

typedef struct {
  char **cells; /* one per column, NULL-ended */
  const char *id, *strategy;
  const char *doubtful; /* NULL: it is not */
  gboolean is_anchor;   /* marked so */
  guint gpus, nodes;
  double batch, step_s;
} FabTrainingRow;

typedef struct {
  GHashTable *header; /* key -> value */
  char **columns;     /* NULL-ended */
  GArray *rows;       /* FabTrainingRow, at least one */
  GPtrArray *skipped; /* char: "name:line: why" of each row that cannot be read */
} FabTrainingTable;

/* `name` stands for the path in messages. A row that cannot be read is skipped, and told. NULL and *error
 * (FAB_ERROR_INPUT, "name:line: ...") for what is wrong with the head, or where no row is left. */
FabTrainingTable *fab_training_table_parse (const char *name, const char *data, GError **error);
void fab_training_table_free (FabTrainingTable *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabTrainingTable, fab_training_table_free)

/* Of a column; -1: there is none. */
gint fab_training_table_column (const FabTrainingTable *self, const char *name);

static inline const FabTrainingRow *
fab_training_table_row (const FabTrainingTable *self, guint index)
{
  return &g_array_index (self->rows, FabTrainingRow, index);
}

/* Whether numbers of the catalogue may rest on a source (report.h). */
typedef enum {
  FAB_TRAINING_ALTERNATES, /* every second of its groups of one model and GPU calibrates */
  FAB_TRAINING_JUDGED,     /* none of it does */
} FabTrainingRole;

typedef struct {
  const char *name;
  const char *title;
  const char *file;     /* CSV, in the directory of INDEX.yaml */
  const char *scenario; /* template, likewise; may have places itself */
  int role;             /* FabTrainingRole */
  const char *same;     /* columns between blanks: rows equal in them have one compute efficiency */
  const char *factors;  /* columns between blanks: what else differs between rows, for report.h */
  gint64 n_sample;      /* rows that are played at most, unless all are asked for (report.h) */
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

/* The scenario of a row, with this efficiency where its template has a place for one, which `has_mfu` says; it may be
 * NULL. (transfer full) */
char *fab_training_source_scenario (const FabTrainingSource *self, guint row, double mfu_fraction,
                                    gboolean *has_mfu, GError **error);

/* Cells between commas; one in double quotes may have commas itself, which lists of numbers do. (transfer full) */
char **fab_training_split_cells (const char *line);

/* Text with places that a table fills: `nodes: ${nodes}`. */
typedef struct {
  const char *name;
  const char *value;
} FabTemplateValue;

/* `text` with every ${name} replaced by the value of that name (the first of equals). NULL and *error
 * (FAB_ERROR_INPUT) for a name that is not there, with the nearest, or a place without its brace. */
char *fab_template_fill (const char *text, const FabTemplateValue *values, guint n_values, GError **error);
