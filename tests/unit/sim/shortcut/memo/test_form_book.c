/* SPDX-License-Identifier: Apache-2.0 */
/* test_form_book.c - which machines have forms in common, and which group a form is found for. That forms are the same
 * to the last bit as those made anew: tests/property/prop_plants.c.
 */
#include "tests/support/test.h"

#include "sim/collective/plan/form_recipe.h"
#include "sim/shortcut/memo/form_book.h"
#include "tests/support/technologies.h"

/* A GPU, a switch in its node, its NIC, a switch of the fabric, the NIC of another node, a second switch, a drive. */
enum { GPU, INNER, NIC, LEAF, OTHER_NIC, SPINE, DRIVE, N_VERTICES };
enum { WIRE, INNER_WIRE, PORT, OTHER_PORT, UPLINK, DRIVE_WIRE, N_WIRES };

typedef struct {
  guint from, to;
  FabBytesPerS rate_bytes_per_s;
  FabTimePs latency_ps;
  guint class_index, count;
} Wire;

typedef struct {
  Wire wires[N_WIRES];
  guint n_wires, n_vertices;
} Machine;

/* The drive has the rate of the ports. */
static const Machine plain = { .wires = { [WIRE] = { GPU, INNER, 1000, 10, 0, 1 },
                                          [INNER_WIRE] = { INNER, NIC, 3000, 10, 0, 1 },
                                          [PORT] = { NIC, LEAF, 2000, 20, 0, 1 },
                                          [OTHER_PORT] = { OTHER_NIC, LEAF, 2000, 20, 0, 1 },
                                          [UPLINK] = { LEAF, SPINE, 2000, 30, 0, 2 },
                                          [DRIVE_WIRE] = { DRIVE, INNER, 2000, 10, 0, 1 } },
                               .n_wires = N_WIRES,
                               .n_vertices = N_VERTICES };

static FabGraphBuilder *
builder_new (void)
{
  static const char *const names[] = { "one", "other" };
  FabGraphBuilder *builder = fab_graph_builder_new ();

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    fab_graph_builder_class (
        builder, &(FabLinkClass){ .name = names[i], .technology = &test_nvlink, .cost = { 1, 1, 1 } });
  return builder;
}

static FabGraph *
graph_of (const Machine *machine)
{
  static const struct {
    FabVertexKind kind;
    guint32 node;
  } vertices[N_VERTICES] = {
    [GPU] = { FAB_VERTEX_ACCELERATOR, 0 }, [INNER] = { FAB_VERTEX_SWITCH, 0 },
    [NIC] = { FAB_VERTEX_NIC, 0 },         [LEAF] = { FAB_VERTEX_SWITCH, FAB_NO_NODE },
    [OTHER_NIC] = { FAB_VERTEX_NIC, 1 },   [SPINE] = { FAB_VERTEX_SWITCH, FAB_NO_NODE },
    [DRIVE] = { FAB_VERTEX_STORAGE, 0 },
  };
  g_autoptr (FabGraphBuilder) builder = builder_new ();
  guint part = fab_graph_builder_part (builder, "vertex", TRUE);

  for (guint i = 0; i < machine->n_vertices; i++)
    fab_graph_builder_vertex (builder, vertices[i % N_VERTICES].kind, vertices[i % N_VERTICES].node, part, i);
  for (guint i = 0; i < machine->n_wires; i++) {
    const Wire *wire = &machine->wires[i];

    fab_graph_builder_join (builder, wire->from, wire->to,
                            &(FabLinkForm){ wire->rate_bytes_per_s, wire->latency_ps, wire->class_index,
                                            wire->count });
  }
  return fab_graph_builder_freeze (builder);
}

static gboolean
fits (const Machine *known, const Machine *machine)
{
  g_autoptr (FabGraph) first = graph_of (known), second = graph_of (machine);
  FabFormBook *book = fab_form_book_new (first);
  gboolean is_fit = fab_form_book_fits (book, second);

  fab_form_book_unref (book);
  return is_fit;
}

/* --- machines --- */

/* Rates of the fabric may change while none of them meets another or overtakes one. */
static void
a_machine_fits_while_rates_keep_their_order (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabBytesPerS port, other_port, uplink;
    gboolean is_fit;
  } rows[] = {
    { 2000, 2000, 4000, TRUE },  { 2500, 2500, 4000, TRUE },    { 1001, 1001, 4000, TRUE },
    { 2999, 2999, 3002, TRUE },  { 2000, 2000, 1000000, TRUE }, { 2500, 2501, 4000, FALSE },
    { 2000, 2001, 4000, FALSE }, { 1000, 1000, 4000, FALSE },   { 3000, 3000, 4000, FALSE },
    { 999, 999, 4000, FALSE },   { 3500, 3500, 4000, FALSE },   { 2000, 2000, 3000, FALSE },
    { 2000, 2000, 2500, FALSE }, { 2000, 2000, 2000, FALSE },   { 5000, 5000, 4000, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Machine machine = plain;

    machine.wires[PORT].rate_bytes_per_s = rows[i].port;
    machine.wires[OTHER_PORT].rate_bytes_per_s = rows[i].other_port;
    machine.wires[UPLINK].rate_bytes_per_s = rows[i].uplink / 2; /* it has two links */
    if (fits (&plain, &machine) != rows[i].is_fit)
      fail_msg ("row %u", i);
  }
}

/* What is in a node keeps its rates. */
static void
wires_of_nodes_must_be_the_same (G_GNUC_UNUSED void **state)
{
  static const guint in_nodes[] = { WIRE, INNER_WIRE, DRIVE_WIRE };

  for (guint i = 0; i < G_N_ELEMENTS (in_nodes); i++) {
    Machine machine = plain;

    machine.wires[in_nodes[i]].rate_bytes_per_s++;
    assert_false (fits (&plain, &machine));
  }
}

/* A drive has the rate of the ports, and is no part of the order, whichever end of its wire it is. */
static void
drives_are_no_part_of_the_order (G_GNUC_UNUSED void **state)
{
  Machine machine = plain;

  machine.wires[PORT].rate_bytes_per_s = machine.wires[OTHER_PORT].rate_bytes_per_s = 2500;
  assert_true (fits (&plain, &machine));
  machine.n_vertices--;
  machine.n_wires--;
  assert_false (fits (&plain, &machine));
}

static void
what_is_no_rate_must_be_the_same (G_GNUC_UNUSED void **state)
{
  Machine slower = plain, classed = plain, doubled = plain, larger = plain, fewer = plain, moved = plain;

  slower.wires[PORT].latency_ps++;
  classed.wires[PORT].class_index = 1;
  doubled.wires[PORT].count = 2;
  doubled.wires[PORT].rate_bytes_per_s /= 2;
  larger.n_vertices++;
  fewer.n_wires--;
  moved.wires[OTHER_PORT].to = SPINE;
  assert_true (fits (&plain, &plain));
  assert_false (fits (&plain, &slower));
  assert_false (fits (&plain, &classed));
  assert_false (fits (&plain, &doubled));
  assert_false (fits (&plain, &larger));
  assert_false (fits (&larger, &plain));
  assert_false (fits (&plain, &fewer));
  assert_false (fits (&fewer, &plain));
  assert_false (fits (&plain, &moved));
}

/* Of 32 rates the order is known, and of more it is not. */
static void
a_machine_of_very_many_rates_fits_nothing (G_GNUC_UNUSED void **state)
{
  for (guint n = 32; n <= 33; n++) {
    g_autoptr (FabGraphBuilder) builder = builder_new ();
    guint part = fab_graph_builder_part (builder, "vertex", TRUE);

    for (guint i = 0; i <= n; i++)
      fab_graph_builder_vertex (builder, FAB_VERTEX_SWITCH, FAB_NO_NODE, part, i);
    for (guint i = 0; i < n; i++)
      fab_graph_builder_join (builder, 0, i + 1, &(FabLinkForm){ 1000 + i, 10, 0, 1 });
    g_autoptr (FabGraph) graph = fab_graph_builder_freeze (builder);
    FabFormBook *book = fab_form_book_new (graph);

    assert_int_equal (fab_form_book_fits (book, graph), n == 32);
    fab_form_book_unref (book);
  }
}

/* --- forms --- */

/* Two nodes of two GPUs and one NIC each; the numbers of their vertices are only compared. */
typedef struct {
  FabGraph *graph;
  FabFormBook *book;
  FabVertexId gpus[4], nics[2];
  guint nic_hops[2];
  FabCluster cluster;
  FabGroup group;
  FabCollectiveForm form;
} Scene;

static const FabAlgorithmOps ring = { .info = { .name = "ring" } }, tree = { .info = { .name = "tree" } };

static void
scene_init (Scene *self)
{
  *self = (Scene){
    .graph = graph_of (&plain), .gpus = { 0, 1, 2, 3 }, .nics = { 4, 5 }, .nic_hops = { 1, 2 }
  };
  self->book = fab_form_book_new (self->graph);
  self->cluster = (FabCluster){ .graph = self->graph,
                                .n_nodes = 2,
                                .gpus_per_node = 2,
                                .nics_per_node = 1,
                                .gpus = self->gpus,
                                .nics = self->nics,
                                .nic_hops = self->nic_hops };
  self->group = (FabGroup){ &self->cluster, 2, 2 };
  self->form = (FabCollectiveForm){ .footprint = fab_footprint_new (1), .n_channels = 3, .n_intra_steps = 5 };
  *self->form.footprint->links = 2;
  *self->form.footprint->weights = *self->form.footprint->line_weights = 0.5;
  self->form.footprint->n = 1;
}

static void
scene_clear (Scene *self)
{
  fab_footprint_free (self->form.footprint);
  fab_form_book_unref (self->book);
  fab_graph_free (self->graph);
}

/* `is_whole`: the recipe was closed. */
static void
add (Scene *self, gboolean is_whole)
{
  FabFormMemo *memo = fab_form_book_memo (self->book);
  FabFormRecipe *recipe = fab_form_recipe_new (self->graph);

  if (is_whole)
    fab_form_recipe_close (recipe, FALSE);
  memo->add (memo, &ring, &self->group, FAB_OP_ALL_REDUCE, 1.5, &self->form, recipe);
}

/* Whether the book has the form of that. */
static gboolean
has (Scene *self, const FabAlgorithmOps *algorithm, FabOp op, double net_stretch)
{
  FabFormMemo *memo = fab_form_book_memo (self->book);
  FabCollectiveForm form = { .footprint = NULL };
  gboolean is_found = memo->find (memo, algorithm, &self->group, op, net_stretch, &form);

  if (is_found) {
    assert_int_equal (form.n_channels, 3);
    assert_int_equal (form.n_intra_steps, 5);
    assert_int_equal (form.footprint->n, 1);
    assert_int_equal (*form.footprint->links, 2);
  }
  fab_footprint_free (form.footprint);
  return is_found;
}

static gboolean
has_known (Scene *self)
{
  return has (self, &ring, FAB_OP_ALL_REDUCE, 1.5);
}

static void
a_form_is_found_for_what_it_was_made_for (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_init (&scene);

  assert_false (has_known (&scene));
  add (&scene, TRUE);
  assert_true (has_known (&scene));
  assert_false (has (&scene, &tree, FAB_OP_ALL_REDUCE, 1.5));
  assert_false (has (&scene, &ring, FAB_OP_ALL_GATHER, 1.5));
  assert_false (has (&scene, &ring, FAB_OP_ALL_REDUCE, 1.25));
  assert_true (has_known (&scene));
  scene_clear (&scene);
}

/* The group is known by where its ranks and NICs are. The book has copies of the places. */
static void
a_form_is_found_for_the_same_places (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_init (&scene);
  guint *const numbers[] = { &scene.group.n_nodes,
                             &scene.group.gpus_per_node,
                             &scene.cluster.n_nodes,
                             &scene.cluster.gpus_per_node,
                             &scene.cluster.nics_per_node,
                             &scene.gpus[0],
                             &scene.gpus[3],
                             &scene.nics[0],
                             &scene.nics[1],
                             &scene.nic_hops[0],
                             &scene.nic_hops[1] };

  add (&scene, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    --*numbers[i];
    if (has_known (&scene))
      fail_msg ("number %u", i);
    ++*numbers[i];
    assert_true (has_known (&scene));
  }
  scene_clear (&scene);
}

/* A node may have no NIC. */
static void
places_may_be_none (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_init (&scene);
  scene.cluster.nics_per_node = 0;
  scene.cluster.nics = scene.cluster.nic_hops = NULL;

  add (&scene, TRUE);
  assert_true (has_known (&scene));
  scene_clear (&scene);
}

/* A form whose recipe is not whole, and those of uneven groups, are made anew each time. */
static void
not_all_forms_are_kept (G_GNUC_UNUSED void **state)
{
  FabUneven uneven = { NULL };
  Scene scene;
  scene_init (&scene);

  add (&scene, FALSE);
  assert_false (has_known (&scene));
  scene.cluster.uneven = &uneven;
  add (&scene, TRUE);
  scene.cluster.uneven = NULL;
  assert_false (has_known (&scene));
  add (&scene, TRUE);
  assert_true (has_known (&scene));
  scene.cluster.uneven = &uneven;
  assert_false (has_known (&scene));
  scene_clear (&scene);
}

/* A form has one link and no sends. There is room for so many, and what is known stays. */
static void
forms_are_kept_while_there_is_room (G_GNUC_UNUSED void **state)
{
  for (guint n = 0; n <= 3; n++) {
    Scene scene;
    scene_init (&scene);

    fab_form_book_keep_at_most (scene.book, n);
    for (guint i = 0; i < 3; i++) {
      scene.gpus[0] = 10 + i;
      add (&scene, TRUE);
    }
    for (guint i = 0; i < 3; i++) {
      scene.gpus[0] = 10 + i;
      assert_int_equal (has_known (&scene), i < n);
    }
    scene_clear (&scene);
  }
}

/* On a machine with ports of twice the rate, a form over half of one of its links has twice the rate. */
static void
a_form_has_the_rates_of_the_machine (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_init (&scene);
  Machine faster = plain;
  FabFormMemo *memo = fab_form_book_memo (scene.book);
  FabLinkId port = 0;

  while (fab_graph_link (scene.graph, port)->src != NIC || fab_graph_link (scene.graph, port)->dst != LEAF)
    port++;
  *scene.form.footprint->links = port;
  add (&scene, TRUE);
  for (guint times = 1; times <= 2; times++) {
    FabCollectiveForm form = { .footprint = NULL };

    faster.wires[PORT].rate_bytes_per_s = faster.wires[OTHER_PORT].rate_bytes_per_s = 2000
                                                                                    + 500 * (times - 1);
    g_autoptr (FabGraph) graph = graph_of (&faster);
    assert_true (fab_form_book_fits (scene.book, graph));
    scene.cluster.graph = graph;
    assert_true (memo->find (memo, &ring, &scene.group, FAB_OP_ALL_REDUCE, 1.5, &form));
    assert_near (form.footprint->rate_bytes_per_s, times == 1 ? 4000 : 5000, 1e-12);
    fab_footprint_free (form.footprint);
  }
  scene_clear (&scene);
}

/* The book goes with the last who has it. */
static void
a_book_has_several_owners (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_init (&scene);
  FabFormBook *again = fab_form_book_ref (scene.book);

  assert_ptr_equal (again, scene.book);
  add (&scene, TRUE);
  fab_form_book_unref (again);
  assert_true (has_known (&scene));
  fab_form_book_unref (NULL);
  scene_clear (&scene);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_machine_fits_while_rates_keep_their_order),
    cmocka_unit_test (wires_of_nodes_must_be_the_same),
    cmocka_unit_test (drives_are_no_part_of_the_order),
    cmocka_unit_test (what_is_no_rate_must_be_the_same),
    cmocka_unit_test (a_machine_of_very_many_rates_fits_nothing),
    cmocka_unit_test (a_form_is_found_for_what_it_was_made_for),
    cmocka_unit_test (a_form_is_found_for_the_same_places),
    cmocka_unit_test (places_may_be_none),
    cmocka_unit_test (not_all_forms_are_kept),
    cmocka_unit_test (forms_are_kept_while_there_is_room),
    cmocka_unit_test (a_form_has_the_rates_of_the_machine),
    cmocka_unit_test (a_book_has_several_owners),
  };

  return cmocka_run_group_tests_name ("form_book", tests, NULL, NULL);
}
