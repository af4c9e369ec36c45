/* SPDX-License-Identifier: Apache-2.0 */
/* play.h - a scenario from text, ready to step; what is wrong with the text aborts with its messages. */
#pragma once

#include "tests/support/test.h"

#include "sim/run/simulation.h"
#include "sim/study/study.h"

typedef struct {
  FabScenario *scenario;
  FabSimulation *simulation;
} Play;

/* models/catalog of the source tree (FAB_SOURCE_DIR). */
FabCatalog *play_catalog (void);

/* Runs all tests of a file as one group, with the catalogue in *catalog meanwhile. Returns how many failed. */
#define play_run_tests(name, tests, catalog) play_run_test_group (name, tests, G_N_ELEMENTS (tests), catalog)
int play_run_test_group (const char *name, const struct CMUnitTest *tests, gsize n, FabCatalog **catalog);

/* An all-reduce of 1 GB by the plain library on `cluster`, the keys of one line; `own`: entries of the catalogue. */
Play *play_cluster (const FabCatalog *catalog, const char *cluster, const char *own);

/* `what_if` may be NULL. */
Play *play_new (const FabCatalog *catalog, const char *yaml, const FabWhatIf *what_if);
void play_free (Play *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Play, play_free)

/* What is wrong with a scenario, or with what it builds; NULL: nothing. (transfer full) */
char *play_problem (const FabCatalog *catalog, const char *yaml);

/* Plays all iterations and returns what the probe said of each of them. (transfer full) */
char *play_text (const FabCatalog *catalog, const char *yaml);

/* A study of a scenario from text, with one thread and one seed. (transfer full) */
FabStudy *play_study (const FabCatalog *catalog, const char *yaml);
