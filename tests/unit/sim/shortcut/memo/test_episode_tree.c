/* SPDX-License-Identifier: Apache-2.0 */
/* test_episode_tree.c - the tree of inputs and outputs: what is found, what is kept once, how many bytes it has. */
#include "tests/support/test.h"

#include "sim/shortcut/memo/episode_tree.h"

static FabEpisodeNode *
add_input (FabEpisodeTree *tree, FabEpisodeNode *parent, guint32 what, FabTimePs after_ps)
{
  FabEpisodeNode *node = fab_episode_tree_add (tree, parent, FALSE, what, after_ps);

  node->sibling = parent->inputs;
  parent->inputs = node;
  return node;
}

static FabEpisodeNode *
add_output (FabEpisodeTree *tree, FabEpisodeNode *parent, guint32 what, FabTimePs after_ps)
{
  return parent->output = fab_episode_tree_add (tree, parent, TRUE, what, after_ps);
}

static void
a_new_node_knows_where_it_is (G_GNUC_UNUSED void **state)
{
  FabEpisodeTree tree;
  fab_episode_tree_init (&tree);
  FabEpisodeNode *root = fab_episode_tree_add (&tree, NULL, FALSE, 7, 0),
                 *output = add_output (&tree, root, 3, 50);

  assert_null (root->parent);
  assert_int_equal (root->what, 7);
  assert_false (root->is_output);
  assert_int_equal (root->quiet_ps, -1);
  assert_ptr_equal (output->parent, root);
  assert_int_equal (output->what, 3);
  assert_int_equal (output->after_ps, 50);
  assert_true (output->is_output);
  assert_int_equal (tree.n_bytes, 2 * sizeof (FabEpisodeNode));
  fab_episode_tree_cut (&tree, root);
  fab_episode_tree_clear (&tree);
}

/* Inputs with siblings, outputs, and inputs that follow outputs: all that follow a node go with it, and no others. */
static void
what_follows_a_node_is_cut_with_it (G_GNUC_UNUSED void **state)
{
  FabEpisodeTree tree;
  fab_episode_tree_init (&tree);
  FabEpisodeNode *root = fab_episode_tree_add (&tree, NULL, FALSE, 0, 0),
                 *output = add_output (&tree, root, 0, 10), *left = add_input (&tree, root, 1, 20);

  add_input (&tree, root, 2, 20);
  add_input (&tree, left, 1, 5);
  add_output (&tree, add_input (&tree, left, 2, 5), 1, 5);
  add_output (&tree, add_input (&tree, output, 3, 5), 1, 5);
  add_output (&tree, add_output (&tree, output, 4, 5), 2, 6);
  assert_int_equal (tree.n_bytes, 11 * sizeof (FabEpisodeNode));
  root->output = NULL;
  fab_episode_tree_cut (&tree, output);
  assert_int_equal (tree.n_bytes, 6 * sizeof (FabEpisodeNode));
  fab_episode_tree_cut (&tree, root);
  assert_int_equal (tree.n_bytes, 0);
  fab_episode_tree_cut (&tree, NULL);
  assert_int_equal (tree.n_bytes, 0);
  fab_episode_tree_clear (&tree);
}

/* Equal arrays are kept once, and each other one costs its bytes and the same on top. */
static void
equal_arrays_are_kept_once (G_GNUC_UNUSED void **state)
{
  static const guint64 words[] = { 1, 2, 3, 4, 5 };
  FabEpisodeTree tree;
  g_autoptr (GArray) array = g_array_new (FALSE, FALSE, sizeof *words);
  GBytes *kept[G_N_ELEMENTS (words) + 1];
  gsize empty = 0;

  fab_episode_tree_init (&tree);
  for (guint n = 0; n <= G_N_ELEMENTS (words); n++) {
    kept[n] = fab_episode_tree_keep (&tree, array);
    empty = n == 0 ? tree.n_bytes : empty;
    assert_int_equal (tree.n_bytes, (n + 1) * empty + n * (n + 1) / 2 * sizeof *words);
    assert_int_equal (g_bytes_get_size (kept[n]), n * sizeof *words);
    assert_memory_equal (g_bytes_get_data (kept[n], NULL), words, n * sizeof *words);
    if (n < G_N_ELEMENTS (words))
      g_array_append_val (array, words[n]);
  }
  assert_in_range (empty, 1, 1000);
  gsize n_bytes = tree.n_bytes;
  for (guint n = 0; n <= G_N_ELEMENTS (words); n++) {
    g_array_set_size (array, n);
    assert_ptr_equal (fab_episode_tree_keep (&tree, array), kept[n]);
  }
  assert_int_equal (tree.n_bytes, n_bytes);
  fab_episode_tree_clear (&tree);
}

static void
there_is_room_up_to_the_bound (G_GNUC_UNUSED void **state)
{
  FabEpisodeTree tree = { NULL, FAB_EPISODE_TREE_BYTES - 1 };

  assert_true (fab_episode_tree_has_room (&tree));
  tree.n_bytes++;
  assert_false (fab_episode_tree_has_room (&tree));
}

/* Of the inputs of this key the nearest is found, sooner or later, up to the slack itself. */
static void
the_nearest_input_is_found (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabTimePs after_ps, slack_ps;
    int found; /* index of an input; -1: none */
  } rows[] = {
    { 100, 0, 0 },  { 101, 0, -1 }, { 101, 1, 0 },  { 99, 1, 0 },    { 98, 1, -1 },   { 104, 100, 0 },
    { 106, 10, 1 }, { 110, 0, 1 },  { 120, 10, 1 }, { 121, 10, -1 }, { 125, 100, 1 }, { 5, 100, 0 },
  };
  FabEpisodeTree tree;
  fab_episode_tree_init (&tree);
  FabEpisodeNode *root = fab_episode_tree_add (&tree, NULL, FALSE, 0, 0), *inputs[2];

  inputs[0] = add_input (&tree, root, 1, 100);
  add_input (&tree, root, 2, 105);
  inputs[1] = add_input (&tree, root, 1, 110);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_ptr_equal (fab_episode_node_find (root, 1, rows[i].after_ps, rows[i].slack_ps),
                      rows[i].found >= 0 ? inputs[rows[i].found] : NULL);
  assert_null (fab_episode_node_find (root, 3, 100, 100));
  assert_null (fab_episode_node_find (inputs[0], 1, 100, 100));
  assert_null (fab_episode_node_find (NULL, 1, 100, 100));
  /* Of two that are as near, the one that came last, which is the first in the list. */
  assert_ptr_equal (fab_episode_node_find (root, 1, 105, 10), inputs[1]);
  fab_episode_tree_cut (&tree, root);
  fab_episode_tree_clear (&tree);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_new_node_knows_where_it_is), cmocka_unit_test (what_follows_a_node_is_cut_with_it),
    cmocka_unit_test (equal_arrays_are_kept_once),   cmocka_unit_test (there_is_room_up_to_the_bound),
    cmocka_unit_test (the_nearest_input_is_found),
  };

  return cmocka_run_group_tests_name ("episode_tree", tests, NULL, NULL);
}
