/* SPDX-License-Identifier: Apache-2.0 */
/* test_registry.c - what every row of models/models.h and every catalogue entry must be: described, with defaults
 * that parse, and joined together. What models do: test_contracts.c. */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/scenario/catalog_params.h"
#include "sim/verdict/verdict.h"
#include "tests/support/params.h"
#include "tests/support/play.h"
#include "tests/support/seeds.h"

static FabCatalog *catalog;

static int
load_catalog (G_GNUC_UNUSED void **state)
{
  catalog = play_catalog ();
  return 0;
}

static int
drop_catalog (G_GNUC_UNUSED void **state)
{
  fab_catalog_free (g_steal_pointer (&catalog));
  return 0;
}

/* --- every row --- */

typedef void (*InfoFn) (const FabModelInfo *info);

static void
for_every_model (InfoFn check)
{
  for (guint kind = 0; kind < FAB_N_MODEL_KINDS; kind++) {
    assert_non_null (fab_models.lists[kind]);
    assert_non_null (fab_models.lists[kind][0]);
    for (guint i = 0; fab_models.lists[kind][i]; i++)
      check (fab_models.lists[kind][i]);
  }
}

static void
check_described (const FabModelInfo *info)
{
  assert_non_null (info->name);
  assert_true (g_regex_match_simple ("^[a-z][a-z0-9_]*$", info->name, 0, 0));
  assert_true (g_str_has_suffix (info->summary, "."));
  assert_true (g_str_has_prefix (info->doc, "docs/models/") && g_str_has_suffix (info->doc, ".md"));
  assert_int_equal (info->params != NULL, info->params_size > 0);
}

static void
every_model_is_described (G_GNUC_UNUSED void **state)
{
  for_every_model (check_described);
}

/* docs/reference/verdict.md explains every code, with its severity, and no other. */
static void
every_finding_is_described (G_GNUC_UNUSED void **state)
{
  g_autofree char *path = g_build_filename (g_getenv ("FAB_SOURCE_DIR"), "docs", "reference", "verdict.md",
                                            NULL);
  g_autofree char *page = NULL;
  g_autoptr (GRegex) row = g_regex_new ("^\\| `([a-z_]+)` \\| (stops|warns|notes) \\|", G_REGEX_MULTILINE, 0,
                                        NULL);
  g_autoptr (GMatchInfo) match = NULL;
  guint n_rows = 0;

  assert_true (g_file_get_contents (path, &page, NULL, NULL));
  for (g_regex_match (row, page, 0, &match); g_match_info_matches (match); g_match_info_next (match, NULL)) {
    g_autofree char *name = g_match_info_fetch (match, 1), *severity = g_match_info_fetch (match, 2);

    assert_true (n_rows < FAB_N_FINDING_CODES);
    assert_string_equal (name, fab_finding_kinds[n_rows].name);
    assert_string_equal (severity, fab_severity_names[fab_finding_kinds[n_rows].severity]);
    assert_true (g_str_has_suffix (fab_finding_kinds[n_rows].summary, "."));
    n_rows++;
  }
  assert_int_equal (n_rows, FAB_N_FINDING_CODES);
}

static void
names_are_unique_and_found (G_GNUC_UNUSED void **state)
{
  for (guint kind = 0; kind < FAB_N_MODEL_KINDS; kind++)
    for (guint i = 0; fab_models.lists[kind][i]; i++)
      assert_ptr_equal (fab_registry_find (&fab_models, (FabModelKind) kind, fab_models.lists[kind][i]->name),
                        fab_models.lists[kind][i]);
}

static void
check_table (const FabParam *table, gsize size)
{
  for (const FabParam *row = table; row && row->key; row++) {
    assert_true (g_regex_match_simple ("^[a-z][a-z0-9_]*$", row->key, 0, 0));
    assert_true (row->help && g_str_has_suffix (row->help, "."));
    assert_true (row->offset < size);
    assert_true (row->max >= row->min || row->max <= 0);
    for (const FabParam *before = table; before < row; before++)
      assert_string_not_equal (before->key, row->key);
    if (row->type == FAB_PARAM_CHOICE)
      assert_non_null (row->choices);
    if (row->type == FAB_PARAM_TABLE || row->type == FAB_PARAM_LIST)
      check_table (row->table, row->table_size);
  }
}

static void
check_params (const FabModelInfo *info)
{
  check_table (info->params, info->params_size);
}

static void
tables_say_what_every_key_is (G_GNUC_UNUSED void **state)
{
  for_every_model (check_params);
  check_table (fab_scenario_params, sizeof (FabScenarioSpec));
  check_table (fab_catalog_params, sizeof (FabCatalogSections));
}

static gboolean
has_required_key (const FabParam *table)
{
  for (const FabParam *row = table; row && row->key; row++) {
    if (row->type == FAB_PARAM_TABLE ? has_required_key (row->table)
                                     : row->type != FAB_PARAM_LIST && row->fallback == NULL)
      return TRUE;
  }
  return FALSE;
}

/* Reading nothing takes every fallback; one that does not parse aborts. Missing keys are the only complaint. */
static void
check_defaults (const FabModelInfo *info)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabSchemaReader) reader = fab_schema_reader_new (&fab_models, diagnostics);
  g_autofree gpointer params = g_malloc0 (info->params_size + 1);

  if (info->params == NULL)
    return;
  fab_schema_read (reader, NULL, info->params, params);
  if (has_required_key (info->params))
    return;
  assert_int_equal (fab_diagnostics_count (diagnostics), 0);
  assert_non_null (fab_schema_model_defaults (reader, info));
}

static void
defaults_parse (G_GNUC_UNUSED void **state)
{
  for_every_model (check_defaults);
}

/* --- fabrics and routes --- */

static const FabLinkClass port_class = { .name = "port", .cost = { 1.0625, 1.0625, 1 } };

/* What a fabric has to be told; "": its defaults do. */
static const char *
fabric_keys (const char *name)
{
  return g_str_equal (name, "custom") ? "switches: [{name: sw}], attach: [{to: sw}]" : "";
}

static FabLinkForm
find_port (gconstpointer port, G_GNUC_UNUSED const char *name)
{
  return *(const FabLinkForm *) port;
}

/* NICs, one switch in each node, and what the fabric joins them with; NIC i is vertex i. */
static FabGraph *
build_fabric (const FabFabricOps *ops, guint n_nodes, guint nics_per_node)
{
  g_autofree char *yaml = g_strdup_printf ("{%s}", fabric_keys (ops->info.name));
  g_autoptr (Params) params = params_new (&ops->info, yaml);
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  g_autofree FabVertexId *nics = g_new (FabVertexId, n_nodes * nics_per_node);
  guint part = fab_graph_builder_part (builder, "nic", TRUE);
  FabLinkForm port = { 25000000000, 600000, fab_graph_builder_class (builder, &port_class), 1 };
  g_autofree FabNicSeat *seats = g_new0 (FabNicSeat, nics_per_node);
  FabFabricEnv env = { .builder = builder,
                       .n_places = n_nodes,
                       .nics_per_node = nics_per_node,
                       .n_rails = nics_per_node,
                       .n_boards = 1,
                       .seats = seats,
                       .nics = nics,
                       .port = port,
                       .find_link = find_port,
                       .links = &port };

  for (guint i = 0; i < nics_per_node; i++)
    seats[i].rail = i;
  for (guint i = 0; i < n_nodes * nics_per_node; i++)
    nics[i] = fab_graph_builder_vertex (builder, FAB_VERTEX_NIC, i / nics_per_node, part, i % nics_per_node);
  for (guint node = 0; node < n_nodes; node++) {
    FabVertexId inside = fab_graph_builder_vertex (builder, FAB_VERTEX_SWITCH, node, part, node);

    for (guint nic = 0; nic < nics_per_node; nic++)
      fab_graph_builder_join (builder, nics[node * nics_per_node + nic], inside, &port);
  }
  assert_true (ops->build (&env, params->params, NULL));
  return fab_graph_builder_freeze (builder);
}

static void
assert_leads (const FabGraph *graph, const FabPath *path, FabVertexId src, FabVertexId dst)
{
  FabVertexId at = src;

  for (guint i = 0; i < path->n; i++) {
    assert_int_equal (fab_graph_link (graph, path->links[i])->src, at);
    at = fab_graph_link (graph, path->links[i])->dst;
  }
  assert_int_equal (at, dst);
}

/* All bytes leave src and arrive at dst, and what comes to any other vertex leaves it. */
static void
assert_conserved (const FabGraph *graph, const GArray *shares, FabVertexId src, FabVertexId dst)
{
  g_autofree double *net = g_new0 (double, fab_graph_n_vertices (graph));

  for (guint i = 0; i < shares->len; i++) {
    const FabShare *share = &g_array_index (shares, FabShare, i);

    assert_true (share->fraction > 0 && share->fraction <= 1 + 1e-12);
    net[fab_graph_link (graph, share->link)->src] += share->fraction;
    net[fab_graph_link (graph, share->link)->dst] -= share->fraction;
  }
  for (FabVertexId v = 0; src != dst && v < fab_graph_n_vertices (graph); v++)
    assert_true (fabs (net[v] - (v == src ? 1 : v == dst ? -1 : 0)) < 1e-9);
}

static void
check_pair (FabRouter *router, const FabGraph *graph, FabVertexId src, FabVertexId dst, gboolean is_joined)
{
  g_autoptr (GArray) shares = g_array_new (FALSE, FALSE, sizeof (FabShare));
  FabPath there = { 0 }, again = { 0 };

  assert_int_equal (fab_router_append (router, src, dst, 7, &there), is_joined);
  assert_int_equal (fab_router_append (router, src, dst, 7, &again), is_joined);
  assert_int_equal (fab_router_spread (router, src, dst, 7, shares), is_joined);
  assert_memory_equal (&there, &again, sizeof there);
  if (!is_joined)
    return;
  assert_leads (graph, &there, src, dst);
  assert_conserved (graph, shares, src, dst);
}

/* Any NIC to any other, but those of other rails where these are joined nowhere; equal hashes, equal paths. */
static void
check_route (FabRouter *router, const FabGraph *graph, guint n_nics, guint n_rails)
{
  for (FabVertexId src = 0; src < n_nics; src += 13)
    for (FabVertexId dst = 0; dst < n_nics; dst += 17) {
      gboolean is_one_node = fab_graph_vertex (graph, src)->node == fab_graph_vertex (graph, dst)->node;

      check_pair (router, graph, src, dst, is_one_node || src % n_rails == dst % n_rails);
    }
}

static void
check_fabric (const FabFabricOps *fabric, guint n_nodes, guint nics_per_node)
{
  g_autoptr (FabGraph) graph = build_fabric (fabric, n_nodes, nics_per_node);
  guint n_rails = g_str_equal (fabric->info.name, "rail_only") ? nics_per_node : 1;

  fab_graph_check (graph); /* connected, positive rates, reverses */
  for (guint i = 0; fab_models.lists[FAB_MODEL_ROUTE][i]; i++) {
    const FabRouterOps *ops = (const FabRouterOps *) fab_models.lists[FAB_MODEL_ROUTE][i];
    g_autoptr (Params) params = params_new (&ops->info, "{}");
    FabRouter *router = ops->create (graph, params->params, 1);

    check_route (router, graph, n_nodes * nics_per_node, n_rails);
    fab_router_destroy (router);
  }
}

/* 33 and 70 nodes: more than one default unit of 32, and one that is not full. */
static void
every_fabric_joins_all_nics_and_every_route_finds_them (G_GNUC_UNUSED void **state)
{
  static const guint node_counts[] = { 1, 2, 4, 33, 70 }, nic_counts[] = { 1, 2, 8 };

  for (guint f = 0; fab_models.lists[FAB_MODEL_FABRIC][f]; f++)
    for (guint n = 0; n < G_N_ELEMENTS (node_counts); n++)
      for (guint k = 0; k < G_N_ELEMENTS (nic_counts); k++)
        if (seeds_take (f + n + k))
          check_fabric ((const FabFabricOps *) fab_models.lists[FAB_MODEL_FABRIC][f], node_counts[n],
                        nic_counts[k]);
}

/* --- catalogue --- */

/* Sixteen of many: every pair of a rack's 72 GPUs and NICs on every fabric would take minutes. */
static guint
stride_of (guint n)
{
  return MAX (1, n / 16);
}

/* A path between GPUs of the first node, and from them to NICs of the cluster. */
static void
check_plant (const FabPlant *plant)
{
  const FabCluster *cluster = &plant->cluster;
  guint n_gpus = cluster->gpus_per_node, n_nics = cluster->n_nodes * cluster->nics_per_node;

  fab_graph_check (plant->graph);
  for (guint a = 0; a < n_gpus; a += stride_of (n_gpus)) {
    for (guint b = 0; b < n_gpus; b += stride_of (n_gpus))
      assert_true (fab_router_append (plant->router, cluster->gpus[a], cluster->gpus[b], 0, &(FabPath){ 0 }));
    for (guint nic = 0; nic < n_nics; nic += stride_of (n_nics))
      assert_true (
          fab_router_append (plant->router, cluster->gpus[a], cluster->nics[nic], 0, &(FabPath){ 0 }));
  }
  assert_true (cluster->device.peak_flops_per_s[FAB_PRECISION_BF16] > 0
               && cluster->device.memory_bytes_per_s > 0);
}

static void
check_node (const char *node, const char *fabric, guint gpus, guint nics)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: n\ncluster: {node: %s, nodes: %u, fabric: {kind: %s, %s}, gpus_per_node: %u, nics_per_node: %u}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
      node, g_str_equal (node, "superpod-h100-256") ? 1 : 3, fabric, fabric_keys (fabric), gpus, nics);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  g_autoptr (FabPlant) plant = fab_plant_new (play->scenario, NULL, NULL);

  check_plant (plant);
  assert_true (fab_simulation_step (play->simulation));
}

/* Whole nodes, and what is left of them with one GPU or one NIC. */
static void
every_node_on_every_fabric_is_one_graph (G_GNUC_UNUSED void **state)
{
  g_autofree const char **nodes = fab_catalog_names (catalog, FAB_SECTION_NODES);
  g_autofree const char **fabrics = fab_registry_names (&fab_models, FAB_MODEL_FABRIC);

  for (guint n = 0; nodes[n]; n++)
    for (guint f = 0; fabrics[f]; f++) {
      if (!seeds_take (n + f))
        continue;
      check_node (nodes[n], fabrics[f], 0, 0);
      check_node (nodes[n], fabrics[f], 1, 0);
      check_node (nodes[n], fabrics[f], 0, 1);
      check_node (nodes[n], fabrics[f], 1, 1);
    }
}

static FabTimePs
time_all_reduce (const char *fabric, const char *route, const char *fidelity)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: n\ncluster: {node: dgx-h100, nodes: 9, fabric: {kind: %s, %s}, route: %s}\n"
      "fidelity: %s\niterations: 1\ncollectives: plain\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 100MB}]}\n",
      fabric, fabric_keys (fabric), route, fidelity);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  assert_true (fab_simulation_step (play->simulation));
  return fab_simulation_probe (play->simulation)->step.times.duration_ps;
}

/* What shares links is never faster than what sees an empty fabric; a single collective is as fast. */
static void
every_fabric_and_route_carries_an_all_reduce (G_GNUC_UNUSED void **state)
{
  g_autofree const char **fabrics = fab_registry_names (&fab_models, FAB_MODEL_FABRIC);
  g_autofree const char **routes = fab_registry_names (&fab_models, FAB_MODEL_ROUTE);

  for (guint f = 0; fabrics[f]; f++)
    for (guint r = 0; routes[r]; r++)
      assert_true (time_all_reduce (fabrics[f], routes[r], "fluid")
                   >= time_all_reduce (fabrics[f], routes[r], "analytic"));
}

/* No link is faster than its lanes, and no drive gets more than the line. */
static void
every_link_keeps_below_its_signalling (G_GNUC_UNUSED void **state)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_LINKS);

  for (guint i = 0; names[i]; i++) {
    const FabLinkSpec *link = fab_catalog_link (catalog, names[i]);

    assert_true (fab_link_spec_line_rate (link) > 0);
    assert_true (fab_link_spec_line_rate (link) <= (guint64) link->lanes * link->signalling_bytes_per_s);
    for (guint drive = 0; drive < FAB_N_DRIVES; drive++)
      assert_true (fab_link_spec_cost (link, (FabDrive) drive) >= 1);
  }
}

static void
every_model_has_parameters_and_work (G_GNUC_UNUSED void **state)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_MODELS);

  for (guint i = 0; names[i]; i++) {
    const FabModelSpec *model = fab_catalog_model (catalog, names[i]);
    g_autoptr (FabLayerStack) stack = fab_layer_stack_new ();
    guint64 sum = 0;

    ((const FabShapeOps *) model->shape.info)->expand (model->shape.params, 2048, stack);
    for (guint l = 0; l < stack->layers->len; l++) {
      const FabLayer *layer = &g_array_index (stack->layers, FabLayer, l);

      for (guint t = 0; t < layer->tensors->len; t++)
        sum += g_array_index (layer->tensors, FabTensor, t).parameters;
    }
    assert_int_equal (stack->parameters, sum);
    assert_true (sum > 0 && stack->forward_flops_per_token > 0);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_model_is_described),
    cmocka_unit_test (every_finding_is_described),
    cmocka_unit_test (names_are_unique_and_found),
    cmocka_unit_test (tables_say_what_every_key_is),
    cmocka_unit_test (defaults_parse),
    cmocka_unit_test (every_fabric_joins_all_nics_and_every_route_finds_them),
    cmocka_unit_test (every_node_on_every_fabric_is_one_graph),
    cmocka_unit_test (every_fabric_and_route_carries_an_all_reduce),
    cmocka_unit_test (every_link_keeps_below_its_signalling),
    cmocka_unit_test (every_model_has_parameters_and_work),
  };

  return cmocka_run_group_tests_name ("registry", tests, load_catalog, drop_catalog);
}
