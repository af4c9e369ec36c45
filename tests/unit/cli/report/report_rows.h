/* SPDX-License-Identifier: Apache-2.0 */
/* report_rows.h - a run of a results file, written row by row, and what the page of a report gets of it. */
#pragma once

#include "tests/support/test.h"

#include <json-glib/json-glib.h>

#include "cli/report/report.h"

enum { N_ITERATIONS = 2 };

/* The last iteration begins at 1 us and takes 9000.5 ns. */
static const FabTimePs last_start_ps = 1000000, last_ps = 9000500;

static inline void
must (gboolean is_done, GError *error)
{
  if (!is_done)
    fail_msg ("%s", error != NULL ? error->message : "no reason");
}

static inline void
begin_run (FabStore *store, gint64 *id)
{
  FabRunRecord run = {
    "small",
    "name: small\nsummary: A small run.\ncluster: {node: box, nic: card, nics_per_node: 3, "
    "nic_rate: 200 Gb/s, fabric: {kind: clos}, route: spray}\njob: {kind: train, stage: 2, "
    "model: tiny, micro_batch: 4, parallel: {tensor: 5, pipeline: 6, expert: 7, context: "
    "8}}\n",
    "0.9",
    "packet",
    11,
    8,
    2,
    1.5e12,
    64000000000,
    3e11
  };
  FabRankClassRecord classes[] = { { 0, 0, 6, "stage 0" }, { 1, 6, 2, "stage 1" } };
  GError *error = NULL;

  must (fab_store_begin_run (store, &run, id, &error), error);
  must (fab_store_add_classes (store, classes, 2, &error), error);
}

static inline void
add_steps (FabStore *store)
{
  FabStepRecord steps[] = {
    { { 0, 0, 0, 1000000, 600000, 500000, 300000, 200000, 200000, 50000, 150000 }, 0.25, 0.375, 8 },
    { { 1, 0, last_start_ps, last_ps, 5000000, 4000000, 3000000, 1000000, 3000500, 0, 0 }, 0.5, 0.625, 16 }
  };
  FabIterationRecord times[] = {
    { 0, 0, 0, 1000000, 1, 2, 3, 4, 5, 6, 7 },
    { 1, 1, last_start_ps, 9000000, 4000000, 3000000, 2000000, 1000000, 500000, 0, 0 },
    { 1, 0, last_start_ps, 8000000, 7000000, 6000000, 5000000, 1500000, 250000, 0, 0 }
  };
  GError *error = NULL;

  must (fab_store_add_steps (store, steps, N_ITERATIONS, &error), error);
  must (fab_store_add_iterations (store, times, G_N_ELEMENTS (times), &error), error);
}

/* (transfer full) */
static inline JsonNode *
told (const FabReportRequest *request)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *data = fab_report_data (request, &error);

  must (data != NULL, error);
  JsonNode *root = json_from_string (data, &error);
  must (root != NULL, error);
  return root;
}

static inline JsonObject *
item_of (JsonNode *root, const char *list, guint i)
{
  return json_array_get_object_element (json_object_get_array_member (json_node_get_object (root), list), i);
}

/* The member is this JSON, with ' for ". */
static inline void
assert_member (JsonObject *object, const char *name, const char *wanted)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = g_strdelimit (g_strdup (wanted), "'", '"'), *left = NULL, *right = NULL;
  g_autoptr (JsonNode) node = json_from_string (text, &error);

  must (error == NULL, error);
  assert_true (json_object_has_member (object, name));
  left = json_to_string (json_object_get_member (object, name), FALSE);
  right = json_to_string (node, FALSE);
  if (strcmp (left, right) != 0)
    fail_msg ("%s is %s, and not %s", name, left, right);
}

/* The members of an object, in their order. */
static inline void
assert_names (JsonObject *object, const char *wanted)
{
  g_autoptr (GList) members = json_object_get_members (object);
  g_autoptr (GString) names = g_string_new (NULL);

  for (GList *at = members; at != NULL; at = at->next)
    g_string_append_printf (names, "%s%s", at == members ? "" : " ", (const char *) at->data);
  assert_string_equal (names->str, wanted);
}

static inline JsonNode *
told_of (FabStore *store, gint64 id, guint max_spans)
{
  return told (&(FabReportRequest){ .store = store, .runs = &id, .n_runs = 1, .max_spans = max_spans });
}

static inline void
add_links (FabStore *store, const FabLinkRecord *links, guint n, const FabLinkLoadRecord *loads,
           guint n_loads)
{
  GError *error = NULL;

  must (fab_store_add_links (store, links, n, &error), error);
  add_steps (store);
  must (fab_store_add_link_loads (store, loads, n_loads, &error), error);
}

static const FabLinkRecord two_links[] = { { 0, "node0/gpu0", "leaf0", "wire", 2, 50, 9 },
                                           { 1, "leaf0", "node1/gpu0", "cable", 3, 70, 8 } };

/* A collective of which these are the exposed time, the whole time and the link. */
static inline FabCollectiveRecord
collective (guint iteration, guint index, FabTimePs exposed_ps, FabTimePs time_ps, guint link)
{
  return (FabCollectiveRecord){ .iteration = iteration,
                                .index = index,
                                .name = "bucket",
                                .op = index == 0 ? "all_reduce" : "all_gather",
                                .dimension = index == 0 ? "data" : "tensor",
                                .algorithm = index == 0 ? "ring" : NULL,
                                .protocol = index == 0 ? NULL : "simple",
                                .n_channels = 2 + index,
                                .n_ranks = 4 + index,
                                .bytes = 1000 + index,
                                .ready_ps = 10,
                                .start_ps = 20,
                                .end_ps = 20 + time_ps,
                                .exposed_ps = exposed_ps,
                                .binding_link = link };
}
