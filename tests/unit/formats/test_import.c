/* SPDX-License-Identifier: Apache-2.0 */
/* test_import.c - which reader a text goes to, what the user may say beside it, and what is refused before a reader
 * sees it. */
#include "tests/support/play.h"

#include <string.h>

#include "formats/import.h"
#include "models/models.h"

#define MATRIX "      GPU0 GPU1\nGPU0  X    NV4\nGPU1  NV4  X\n"
#define WITH_NIC "      GPU0 GPU1 NIC0\nGPU0  X    NV4  PXB\nGPU1  NV4  X    PXB\nNIC0  PXB  PXB  X\n"
#define ON_ONE_HOST "      GPU0 GPU1\nGPU0  X    PHB\nGPU1  PHB  X\n"
#define NETWORK                                                                    \
  "Switch 36 \"S-01\" # \"leaf\"\n[1] \"H-0a\"[1] # \"node1 HCA-1\" lid 1 4xHDR\n" \
  "[2] \"H-0b\"[1] # \"node2 HCA-1\" lid 2 4xHDR\n"
#define TWO_PORTS                                                                                  \
  "Switch 36 \"S-01\" # \"leaf\"\n[1] \"H-0a\"[1] # \"node1 HCA-1\" lid 1 4xHDR\n"                 \
  "[2] \"H-0a\"[2] # \"node1 HCA-1\" lid 1 4xHDR\n[3] \"H-0b\"[1] # \"node2 HCA-1\" lid 2 4xHDR\n" \
  "[4] \"H-0b\"[2] # \"node2 HCA-1\" lid 2 4xHDR\n"
#define MODEL                                                                                               \
  "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 2, " \
  "\"intermediate_size\": 128, \"vocab_size\": 1000}"

static FabCatalog *catalog;

static FabImportRequest
request_of (const char *name, const char *text)
{
  return (FabImportRequest){ .file = { name, text, strlen (text) }, .registry = &fab_models };
}

/* The text that is made, or what is wrong. (transfer full) */
static char *
import (const FabImportRequest *request)
{
  g_autoptr (GError) error = NULL;
  char *made = fab_import (request, catalog, NULL, &error);

  assert_true ((made == NULL) == (error != NULL));
  return made != NULL ? made : g_strdup (error->message);
}

static void
assert_begins (const FabImportRequest *request, const char *wanted)
{
  g_autofree char *found = import (request);

  if (!g_str_has_prefix (found, wanted))
    fail_msg ("'%s' does not begin with '%s'", found, wanted);
}

/* What is no machine is told by what it is. */
static void
texts_are_known_by_their_kind (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name, *text, *wanted;
  } cases[] = {
    { "m", MATRIX, "# A machine, from what `nvidia-smi topo -m` prints: m\n" },
    { "m", MODEL, "# A model" },
    { "t.json", "{\"schemaVersion\": 1, \"traceEvents\": []}",
      "t.json: this is a trace and no machine: `fabricast import trace t.json`" },
    { "g.goal", "num_ranks 1\nrank 0 {\na: calc 1\n}\n",
      "g.goal: this is a trace and no machine: `fabricast import trace g.goal`" },
    { "g.et", "hello", "g.et: this is a trace and no machine: `fabricast import trace g.et`" },
    { "c.json", "{\"hello\": 1}",
      "c.json: this text has none of the known formats; the formats are nvidia-smi, " },
    { "d.json", "{\"train_batch_size\": 8}",
      "d.json: this is a job's configuration (DeepSpeed's JSON) and no machine: `fabricast import job d.json`" },
    { "x", "hello\n", "x: this text has none of the known formats; the formats are nvidia-smi, " },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabImportRequest request = request_of (cases[i].name, cases[i].text);

    assert_begins (&request, cases[i].wanted);
  }
}

/* A format that the user names is the one that reads; of a name that is none, the nearest is told. */
static void
formats_are_named (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *format, *wanted;
  } cases[] = {
    { "nvidia-smi", "# A machine, from what `nvidia-smi topo -m` prints: m\n" },
    { "nvidia-smy",
      "--from nvidia-smy: unknown format; nearest is nvidia-smi; the formats are nvidia-smi, " },
    { "perftets", "--from perftets: unknown format; nearest is perftest; the formats are nvidia-smi, " },
    { "zzzzzzzz", "--from zzzzzzzz: unknown format; the formats are nvidia-smi, " },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabImportRequest request = request_of ("m", MATRIX);

    request.format = cases[i].format;
    assert_begins (&request, cases[i].wanted);
  }
  FabImportRequest trace = request_of ("t.json", "{\"traceEvents\": []}");
  trace.format = "osu2";
  assert_begins (&trace, "--from osu2: unknown format; nearest is osu; the formats are ");
}

/* A text ends at its size, which has a limit. */
static void
texts_have_limits (G_GNUC_UNUSED void **state)
{
  g_autofree char *word = g_strnfill (FAB_IMPORT_MAX_BYTES + 1, 'x');
  FabImportRequest large = request_of ("l", word);
  FabImportRequest zero = { .file = { "z", "a\0b", 3 } }, graph = { .file = { "z.et", "a\0b", 3 } };

  assert_begins (&large, "l: the text is larger than 8 MiB, and no machine prints as much");
  large.file.size = FAB_IMPORT_MAX_BYTES;
  word[FAB_IMPORT_MAX_BYTES] = '\0';
  large.format = "nvidia-smi";
  g_autofree char *read = import (&large);
  assert_null (strstr (read, "larger"));
  assert_begins (&zero, "z: this is not a text, because it holds a byte 0");
  assert_begins (&graph, "z.et: this is a trace and no machine: `fabricast import trace z.et`");
}

static void
names_and_counts_are_checked (G_GNUC_UNUSED void **state)
{
  static const char *const bad[] = { "", "1x", "-x", "a b", "a/b", "\xc3\xa4" }, *const good[] = { "a",
                                                                                                   "A-_.9" };
  FabImportRequest request = request_of ("m", MATRIX);

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autofree char *wanted = g_strdup_printf (
        "--name %s: a name begins with a letter and holds letters, digits, - _ .", bad[i]);

    request.name = bad[i];
    assert_begins (&request, wanted);
  }
  for (guint i = 0; i < G_N_ELEMENTS (good); i++) {
    g_autofree char *wanted = g_strdup_printf ("\nname: %s\n", good[i]), *made = NULL;

    request.name = good[i];
    made = import (&request);
    assert_non_null (strstr (made, wanted));
  }
  request.name = NULL;
  request.n_nodes = 200001;
  assert_begins (&request, "--nodes 200001: at most 200000 are possible");
  request.n_nodes = 200000;
  assert_begins (&request, "# A machine");
  request.n_nodes = 0;
  request.accelerator = "p100-sxn2";
  assert_begins (&request, "--accelerator p100-sxn2: no such entry; nearest is p100-sxm2; "
                           "`fabricast describe accelerators` lists them");
  request.accelerator = "ib-hdr";
  assert_begins (&request, "--accelerator ib-hdr: no such entry");
  request.accelerator = NULL;
  request.nic = "zzzzzzzz";
  assert_begins (&request, "--nic zzzzzzzz: no such entry; `fabricast describe links` lists them");
}

/* Several machines have NICs: where the text shows none, one beside each GPU. */
static void
nics_are_added_where_none_is_shown (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *accelerator, *nic;
    guint n_nodes;
    const char *told[3];
    const char *written[2]; /* in the scenario; an "!" in front: it is not there */
  } cases[] = {
    { MATRIX,
      NULL,
      NULL,
      0,
      { "- nodes: 1; --nodes asks for more of the same, behind one switch\n" },
      { "\n  nodes: 1\n", "!kind: nic" } },
    { MATRIX, NULL, NULL, 1, { NULL }, { "\n  nodes: 1\n", "!kind: nic" } },
    { MATRIX,
      NULL,
      NULL,
      2,
      { "- a NIC beside each GPU, since the text shows none and there are several nodes\n" },
      { "\n  nodes: 2\n", "{name: nic, kind: nic, count: 2}" } },
    { MATRIX,
      NULL,
      "ib-ndr",
      0,
      { "- NIC ports: ib-ndr, as --nic says\n",
        "- a NIC beside each GPU, since the text shows none and --nic was given\n" },
      { "    nic: ib-ndr\n", "{name: nic, kind: nic, count: 2}" } },
    { MATRIX,
      "p100-sxm2",
      NULL,
      0,
      { "- accelerator: p100-sxm2, as --accelerator says\n" },
      { "    accelerator: p100-sxm2\n", "!kind: nic" } },
    { ON_ONE_HOST,
      NULL,
      NULL,
      2,
      { "- a NIC beside each GPU, since the text shows none and there are several nodes\n" },
      { "{name: nic, kind: nic, count: 2}", "kind: host, count: 1}" } },
    { WITH_NIC, NULL, NULL, 2, { NULL }, { "\n  nodes: 2\n", "kind: nic" } },
    { WITH_NIC,
      NULL,
      "ib-ndr",
      2,
      { "- NIC ports: ib-ndr, as --nic says\n" },
      { "    nic: ib-ndr\n", "kind: nic" } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabImportRequest request = request_of ("m", cases[i].text);
    request.accelerator = cases[i].accelerator;
    request.nic = cases[i].nic;
    request.n_nodes = cases[i].n_nodes;
    g_autofree char *made = import (&request);

    for (guint k = 0; k < 3 && cases[i].told[k] != NULL; k++)
      if (strstr (made, cases[i].told[k]) == NULL)
        fail_msg ("case %u: '%s' is not in\n%s", i, cases[i].told[k], made);
    for (guint k = 0; k < 2; k++) {
      gboolean is_absent = cases[i].written[k][0] == '!';

      if ((strstr (made, cases[i].written[k] + is_absent) == NULL) != is_absent)
        fail_msg ("case %u: '%s' in\n%s", i, cases[i].written[k], made);
    }
    assert_int_equal (strstr (made, "--nodes asks for more") != NULL, cases[i].n_nodes == 0);
    assert_int_equal (strstr (made, "a NIC beside each GPU") != NULL,
                      cases[i].text[16] != 'N' && (cases[i].nic != NULL || cases[i].n_nodes == 2));
  }
}

/* A model is a part of a scenario, which what belongs to machines does not go with. */
static void
models_are_fragments (G_GNUC_UNUSED void **state)
{
  FabImportRequest model = request_of ("config.json", MODEL), machine = request_of ("m", MATRIX);
  gboolean is_fragment = FALSE;
  g_autofree char *made = fab_import (&model, catalog, &is_fragment, NULL), *other = NULL;

  assert_non_null (strstr (made, "\nmodels:\n"));
  assert_true (is_fragment);
  other = fab_import (&machine, catalog, &is_fragment, NULL);
  assert_non_null (other);
  assert_false (is_fragment);
  model.n_nodes = 2;
  assert_begins (&model, "--nodes: config.json is a ");
  model.nic = "ib-hdr";
  assert_begins (&model, "--nic: config.json is a ");
  model.accelerator = "p100-sxm2";
  assert_begins (&model, "--accelerator: config.json is a ");
}

/* Several files: hosts, and one network that joins them. */
static void
files_are_joined (G_GNUC_UNUSED void **state)
{
#define FILE_OF(name, text)     \
  {                             \
    name, text, sizeof text - 1 \
  }
  static const struct {
    FabFileText files[3];
    guint n_files;
    const char *wanted;
  } cases[] = {
    { { FILE_OF ("a", MATRIX), FILE_OF ("b", MATRIX) },
      2,
      "several files of machines need one that lists their network, as ibnetdiscover prints it; a, b do not" },
    { { FILE_OF ("n", NETWORK), FILE_OF ("node1", MATRIX), FILE_OF ("o", NETWORK) },
      3,
      "o: this is a second network, after n; import each by itself" },
    { { FILE_OF ("n", NETWORK), FILE_OF ("c", MODEL) }, 2, "c: " },
    { { FILE_OF ("n", NETWORK), FILE_OF ("x", "hello") }, 2, "x: this text has none of the known formats" },
    { { FILE_OF ("x", "hello"), FILE_OF ("n", NETWORK) }, 2, "x: this text has none of the known formats" },
    { { FILE_OF ("n", NETWORK), FILE_OF ("z", "a\0b") }, 2, "z: this is not a text" },
  };
  FabImportRequest request = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *made = fab_import_joined (&request, cases[i].files, cases[i].n_files, catalog, &error);

    if (made != NULL || !g_str_has_prefix (error->message, cases[i].wanted))
      fail_msg ("case %u: %s", i, made ? made : error->message);
  }
  /* Hosts that show no NICs have one beside each GPU, as the network has two ports of each. */
  const FabFileText whole[] = { FILE_OF ("node2", MATRIX), FILE_OF ("n", TWO_PORTS),
                                FILE_OF ("node1", MATRIX) };
  request.n_nodes = 2;
  request.name = "joined";
  g_autofree char *joined = fab_import_joined (&request, whole, 3, catalog, NULL);
  assert_true (g_str_has_prefix (joined, "# A machine, from what `ibnetdiscover` prints: node2, n, node1\n"));
  assert_non_null (strstr (joined, "\nname: joined\n"));
  assert_non_null (strstr (joined, "a NIC beside each GPU"));
  assert_non_null (strstr (joined, "{name: nic, kind: nic, count: 2}"));
  g_autoptr (GError) error = NULL;
  request.name = "1x";
  assert_null (fab_import_joined (&request, cases[0].files, 2, catalog, &error));
  assert_true (g_str_has_prefix (error->message, "--name 1x: "));
}

/* A network is one also where it is no scenario. */
static void
networks_are_read_by_themselves (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name, *text, *problem;
  } cases[] = {
    { "m", MATRIX,
      "m: this is nvidia-smi topo -m, which lists no network; give what `ibnetdiscover` prints, or a scenario" },
    { "c", MODEL, "c: this is " },
    { "x", "hello", "x: this text has none of the known formats" },
    { "g.et", "hello", "g.et: this is a trace and no machine" },
    { "m", "      GPU0 GPU1\nGPU0  X    ZZ\nGPU1  NV4  X\n", "m:2:" },
  };
  FabImportRequest request = request_of ("n", NETWORK);
  g_autoptr (FabImportedNetwork) network = fab_import_network (&request, NULL);

  assert_non_null (network);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabImportRequest other = request_of (cases[i].name, cases[i].text);
    g_autoptr (GError) error = NULL;

    assert_null (fab_import_network (&other, &error));
    if (!g_str_has_prefix (error->message, cases[i].problem))
      fail_msg ("%s", error->message);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (texts_are_known_by_their_kind),
    cmocka_unit_test (formats_are_named),
    cmocka_unit_test (texts_have_limits),
    cmocka_unit_test (names_and_counts_are_checked),
    cmocka_unit_test (nics_are_added_where_none_is_shown),
    cmocka_unit_test (models_are_fragments),
    cmocka_unit_test (files_are_joined),
    cmocka_unit_test (networks_are_read_by_themselves),
  };

  return play_run_tests ("import", tests, &catalog);
}
