/* SPDX-License-Identifier: Apache-2.0 */
/* scenario.h - a scenario: what was written of it, and its struct with units converted and defaults filled in.
 *
 * It is loaded from a file or made empty, edited by key, checked, and copied for every variant of it. What was
 * written (a tree of keys, values and where they stand) is kept apart from the struct that the tables make of it, so
 * that an edit sees what a person would: a default follows what it depends on, and keys of a job that becomes another
 * kind stay and are looked at again.
 */
#pragma once

#include "sim/scenario/catalog.h"
#include "sim/scenario/edits.h"
#include "sim/scenario/scenario_params.h"

typedef struct _FabScenario FabScenario;

/* --- whole ---
 *
 * `load` and `parse` lay the "a.b=c" assignments of `sets` (NULL-ended, or NULL) over the text and check all that
 * can be checked without building the graph: keys, units, ranges, and that every named entry exists (those that
 * the job names too, by FabParam.refers). NULL and *error with all messages otherwise. */
FabScenario *fab_scenario_load (const char *path, const char *const *sets, const FabRegistry *registry,
                                const FabCatalog *catalog, GError **error);
FabScenario *fab_scenario_parse (const char *name, const char *data, gsize size, const char *const *sets,
                                 const FabRegistry *registry, const FabCatalog *catalog, GError **error);

/* `registry` and `catalog` outlive it and its copies. */
void fab_scenario_free (FabScenario *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabScenario, fab_scenario_free)

/* --- by key ---
 *
 * A key is a path: "cluster.nodes", "job.compute.mfu", "faults.0.rail", "links.wire.latency", "faults.+" for a new
 * last item. An edited scenario is not checked any more. */

/* A file as it stands: what is wrong with it is told by the check, as an edit may mend it. NULL and *error when it
 * cannot be read or is no YAML. */
FabScenario *fab_scenario_open (const char *path, const FabRegistry *registry, const FabCatalog *catalog,
                                GError **error);

/* The same of a text; `name` is what messages call it. */
FabScenario *fab_scenario_open_text (const char *name, const char *data, gsize size,
                                     const FabRegistry *registry, const FabCatalog *catalog, GError **error);

/* Nothing yet; `origin` is what messages call the edits: "request". */
FabScenario *fab_scenario_new (const char *origin, const FabRegistry *registry, const FabCatalog *catalog);

/* Costs next to nothing; neither sees the other's edits. Several threads may copy one scenario at once. */
FabScenario *fab_scenario_copy (const FabScenario *self);

/* Sets a key to a typed value, which it takes; NULL: none. The key and the value are checked at once, alone: unknown
 * keys (with the nearest), types, units, ranges, choices. FALSE and *error, and nothing has changed. */
gboolean fab_scenario_set (FabScenario *self, const char *key, FabValue *value, GError **error);

/* The same for what a person wrote, "a.b=c"; FALSE only where that is no assignment. Its key and value are told by
 * the check, since a later assignment may give them their meaning. */
gboolean fab_scenario_assign (FabScenario *self, const char *assignment, GError **error);

/* Many at once; what is wrong with them is told by the check: also that one undoes another of the same group that a
 * person asked for as well. */
void fab_scenario_edit (FabScenario *self, const FabEdits *edits);

/* The edit ("a.b=c") that wrote the value of `key`, or something in it; NULL when none did. It lives until the next
 * edit. */
const char *fab_scenario_assigned (const FabScenario *self, const char *key);

/* What the scenario is after all edits, and whether it fits together. FALSE and *error with all messages; the
 * scenario can still be edited. */
gboolean fab_scenario_check (FabScenario *self, GError **error);

/* The paths of the files that it was read from; of a scenario that was checked since its last edit, also of the files
 * and folders that its keys name. (transfer full) */
char **fab_scenario_files (const FabScenario *self);

/* --- of a checked scenario --- */

/* The value of a key, or its default; *value is NULL for an absent text, and of the caller. FALSE and *error when
 * there is no such key. */
gboolean fab_scenario_get (const FabScenario *self, const char *key, FabValue **value, GError **error);

/* A whole number of it; `fallback` where there is no such key or no whole number. */
gint64 fab_scenario_get_whole (const FabScenario *self, const char *key, gint64 fallback);

/* The keys that were written in the struct `in` of the spec, which `table` describes, as a mapping; without those of
 * `but` (NULL-ended, or NULL). (transfer full) */
FabValue *fab_scenario_written (const FabScenario *self, const FabParam *table, gconstpointer in,
                                const char *const *but);

const FabScenarioSpec *fab_scenario_spec (const FabScenario *self);
const FabCatalog *fab_scenario_catalog (const FabScenario *self); /* shipped entries and its own */

/* Where a field of the spec was written; NULL when it came from a fallback. */
const FabMark *fab_scenario_mark (const FabScenario *self, gconstpointer field);

/* YAML for people: with every default filled in and every unit written out; loads to the same scenario. A comment at
 * its end has the SHA-256 of each file that a key names, so that equal texts mean equal scenarios. */
char *fab_scenario_resolved (const FabScenario *self);

/* The same with what the node brings where nothing else is said (its GPUs, NICs and their link), and comments that say
 * what each other 0 stands for. */
char *fab_scenario_explained (const FabScenario *self);

/* The same of what was written, without defaults. Of an edited scenario that has been checked, its new summary. */
char *fab_scenario_text (const FabScenario *self);
