/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_yaml.c - hostile scenarios: nothing crashes, and what is accepted survives being written and read.
 *
 * As a test it mutates the fixtures with the seeds 1 to N_ROUNDS; FAB_TEST_SEED=17 runs that one alone. Compiled
 * with -Dfuzz=true it is a libFuzzer target instead, with the same check. The first line of an input
 * that begins with '#=' is a --set assignment.
 */
#include <string.h>

#include "sim/scenario/scenario.h"
#include "tests/support/random.h"
#include "tests/support/small_models.h"

#define N_ROUNDS 4000

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static FabScenario *
load (const FabCatalog *catalog, const char *data, gsize size, const char *const *sets, GError **error)
{
  return fab_scenario_parse ("fuzz.yaml", data, size, sets, &small_registry, catalog, error);
}

/* Accepted once, the resolved text must be accepted again and say the same. */
static gboolean
check_input (const FabCatalog *catalog, const char *data, gsize size)
{
  const char *line_end = size > 2 && memcmp (data, "#=", 2) == 0 ? memchr (data, '\n', size) : NULL;
  g_autofree char *set = line_end != NULL ? g_strndup (data + 2, (gsize) (line_end - data) - 2) : NULL;
  const char *const sets[] = { set, NULL };
  g_autoptr (GError) error = NULL, second_error = NULL;
  g_autoptr (FabScenario) scenario = load (catalog, data, size, sets, &error), again = NULL;
  g_autofree char *text = NULL, *second = NULL;

  if (scenario == NULL) {
    if (error == NULL || error->message[0] == '\0' || !g_utf8_validate (error->message, -1, NULL))
      g_error ("refused without a message:\n%.*s", (int) size, data);
    return FALSE;
  }
  text = fab_scenario_resolved (scenario);
  again = load (catalog, text, strlen (text), NULL, &second_error);
  if (again == NULL)
    g_error ("the resolved text is refused: %s\n%s", second_error->message, text);
  second = fab_scenario_resolved (again);
  if (!g_str_equal (text, second))
    g_error ("the resolved text changes:\n%s\n%s", text, second);
  return TRUE;
}

static FabCatalog *
load_catalog (void)
{
  g_autoptr (GError) error = NULL;
  FabCatalog *catalog = fab_catalog_load (SMALL_CATALOG, &small_registry, &error);

  if (catalog == NULL)
    g_error ("%s", error->message);
  return catalog;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static FabCatalog *catalog; /* of all inputs */

  if (catalog == NULL)
    catalog = load_catalog ();
  (void) check_input (catalog, (const char *) data, size);
  return 0;
}

#ifndef FAB_LIBFUZZER

static const char *const words[] = {
  "kind: ",
  "- ",
  "{",
  "}",
  "[",
  "]",
  ": ",
  "&a ",
  "*a",
  "*stage",
  "<<: ",
  "~",
  "\"",
  "'",
  "|\n",
  ">\n",
  "\n",
  "  ",
  "\t",
  "#",
  "---\n",
  "...\n",
  "%YAML 1.1\n",
  "!!int ",
  "? ",
  "\xEF\xBB\xBF",
  "\xFF",
  "\xC3\xA4",
  "\r\n",
  "\\0",
  "\\x00",
  "25MiB",
  "400Gb/s",
  "1e9999s",
  "-1",
  "99999999999999999999",
  "0",
  "nodes: ",
  "links:\n",
  "name: ",
  "#=seed=3\n",
  "#=job.stages.0.link=wire\n",
  "#=fidelity.mtu=1KiB\n",
  "hierarchical",
  "inner: ",
  "\xE2\x80\xA8",
  "yes",
  "0.5",
  "50%",
};

static void
mutate_once (Random *random, GString *text)
{
  gsize at = random_below (random, (guint) text->len + 1),
        other = random_below (random, (guint) text->len + 1);
  gsize span = random_between (random, 1, 40), copied = random_between (random, 1, 200);
  g_autofree char *piece = g_strndup (text->str + other, MIN (copied, text->len - other));

  switch (random_below (random, 6)) {
  case 0: g_string_erase (text, (gssize) at, (gssize) MIN (span, text->len - at)); break;
  case 1: g_string_insert (text, (gssize) at, piece); break;
  case 2: g_string_truncate (text, MAX (at, text->len / 2)); break;
  case 3: g_string_insert_c (text, (gssize) at, (char) random_below (random, 256)); break;
  case 4:
    if (at < text->len)
      text->str[at] = (char) (text->str[at] ^ (1 << random_below (random, 7)));
    break;
  default: g_string_insert (text, (gssize) at, words[random_below (random, G_N_ELEMENTS (words))]); break;
  }
}

static void
add_file (GPtrArray *inputs, const char *path)
{
  g_autoptr (GError) error = NULL;
  char *text = NULL;

  if (!g_file_get_contents (path, &text, NULL, &error))
    g_error ("%s", error->message);
  g_ptr_array_add (inputs, text);
}

static gboolean
run_seed (const FabCatalog *catalog, const GPtrArray *inputs, guint seed)
{
  Random random = { .state = seed };
  g_autoptr (GString) text = g_string_new (g_ptr_array_index (inputs, seed % inputs->len));

  for (guint n = random_below (&random, 6); n > 0; n--)
    mutate_once (&random, text);
  return check_input (catalog, text->str, text->len);
}

int
main (void)
{
  const char *only = g_getenv ("FAB_TEST_SEED");
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (FabCatalog) catalog = load_catalog ();
  guint n_accepted = 0;

  add_file (inputs, SMALL_SCENARIO);
  add_file (inputs, SMALL_CATALOG "/small.yaml");
  g_ptr_array_add (inputs, g_strdup ("name: t\ncluster: {node: box}\njob: {kind: ddp, model: tiny}\n"));
  if (only != NULL) {
    (void) run_seed (catalog, inputs, (guint) g_ascii_strtoull (only, NULL, 10));
    return 0;
  }
  for (guint seed = 1; seed <= N_ROUNDS; seed++)
    n_accepted += run_seed (catalog, inputs, seed);
  g_print ("%u of %u inputs accepted\n", n_accepted, N_ROUNDS);
  return n_accepted > 0 ? 0 : 1;
}

#endif
