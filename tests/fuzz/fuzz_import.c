/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_import.c - broken prints of machines, models and benchmarks: nothing crashes, and what is accepted is a good
 * scenario, or with a machine and a job it makes one; or series with points that make sense.
 *
 * As a test it mutates the samples of tests/fixtures/import, huggingface, benchmarks and nccl-tests with the seeds
 * 1 to N_ROUNDS; FAB_TEST_SEED=17 runs that one alone. Compiled with -Dfuzz=true it is a libFuzzer target instead, with
 * the same checks.
 */
#include <string.h>

#include "answer/topology/cabling.h"
#include "formats/import.h"
#include "formats/measurement/measurements.h"
#include "models/models.h"
#include "sim/scenario/scenario.h"
#include "tests/support/random.h"
#include "validate/fit/accelerator.h"

#define N_ROUNDS 3000
#define SAMPLES FAB_SOURCE_DIR "/tests/fixtures/"
#define REST "name: fuzz\ncluster: {node: dgx-a100}\njob: {kind: ddp, model: made}\n"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* A text that lists a network has cables that can be compared. */
static void
check_network (const FabImportRequest *request)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabImportedNetwork) network = fab_import_network (request, &error);
  g_autoptr (FabCabling) cabling = network ? fab_cabling_of_network (network, "fuzz") : NULL;

  if (network == NULL && (error == NULL || !g_utf8_validate (error->message, -1, NULL)))
    g_error ("no network and no message:\n%s", request->file.text);
  if (cabling != NULL)
    fab_cabling_check (cabling);
  for (guint i = 0; cabling != NULL && i < cabling->findings->len; i++)
    if (!g_utf8_validate (g_array_index (cabling->findings, FabCablingFinding, i).text, -1, NULL))
      g_error ("a finding is no UTF-8:\n%s", request->file.text);
}

static const char fabric[] = "Switch 8 \"S-0a\" # \"leaf\"\n"
                             "[1] \"H-11\"[1] # \"n1 mlx5_0\" lid 5 4xNDR\n"
                             "[2] \"H-21\"[1] # \"n2 mlx5_0\" lid 6 4xNDR\n";
static const char host[] =
    "<system version=\"1\"><cpu numaid=\"0\" arch=\"x86_64\">"
    "<pci busid=\"0000:11:00.0\" class=\"0x030200\"><gpu dev=\"0\" sm=\"90\" rank=\"0\"/></pci>"
    "<pci busid=\"0000:12:00.0\" class=\"0x020700\"><nic>"
    "<net name=\"mlx5_0\" speed=\"400000\" port=\"1\" guid=\"0x11\"/></nic></pci>"
    "</cpu></system>";

/* The text as a network of a host, and as a host of a network: it is refused, or it makes a good scenario. */
static void
check_joined (const FabCatalog *catalog, const FabImportRequest *request)
{
  const FabFileText pairs[][2] = { { request->file, { "host", host, strlen (host) } },
                                   { { "fabric", fabric, strlen (fabric) }, request->file } };

  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++) {
    g_autoptr (GError) error = NULL, second = NULL;
    g_autofree char *made = fab_import_joined (request, pairs[i], 2, catalog, &error);
    g_autoptr (FabScenario) scenario = NULL;

    if (made == NULL && (error == NULL || !g_utf8_validate (error->message, -1, NULL)))
      g_error ("not joined and no message:\n%s", request->file.text);
    if (made != NULL)
      scenario = fab_scenario_parse ("made", made, strlen (made), NULL, &fab_models, catalog, &second);
    if (made != NULL && scenario == NULL)
      g_error ("no good scenario: %s\n%s\nof\n%s", second->message, made, request->file.text);
  }
}

static gboolean
check_input (const FabCatalog *catalog, const char *data, gsize size)
{
  g_autofree char *text = g_strndup (data, size);
  FabImportRequest request = { .file = { "fuzz", text, strlen (text) },
                               .name = "made",
                               .registry = &fab_models };
  g_autoptr (GError) error = NULL, second = NULL;
  gboolean is_fragment = FALSE;
  g_autofree char *made = fab_import (&request, catalog, &is_fragment, &error), *whole = NULL;
  g_autoptr (FabScenario) scenario = NULL;

  check_network (&request);
  check_joined (catalog, &request);
  if (made == NULL) {
    if (error == NULL || error->message[0] == '\0' || !g_utf8_validate (error->message, -1, NULL))
      g_error ("refused without a message:\n%s", text);
    return FALSE;
  }
  whole = g_strconcat (is_fragment ? REST : "", made, NULL);
  scenario = fab_scenario_parse ("made", whole, strlen (whole), NULL, &fab_models, catalog, &second);
  if (scenario == NULL)
    g_error ("no good scenario: %s\n%s\nof\n%s", second->message, made, text);
  return TRUE;
}

static void
check_series (const FabMeasuredSeries *measured, const char *text)
{
  FabBytes before = 0;

  if (measured->points->len == 0 || measured->series.backend == NULL || measured->series.source == NULL)
    g_error ("a series without points, backend or source:\n%s", text);
  for (guint i = 0; i < measured->points->len; i++) {
    const FabMeasuredPoint *point = &g_array_index (measured->points, FabMeasuredPoint, i);

    if (point->size_bytes <= before || point->time_ps <= 0)
      g_error ("point %u makes no sense:\n%s", i, text);
    before = point->size_bytes;
  }
}

/* Kernels are fitted, or refused with a message. */
static void
check_kernels (const FabCatalog *catalog, const GPtrArray *series, const char *text)
{
  static const char *const files[] = { "fuzz", NULL };
  FabAcceleratorRequest request = { .base = fab_catalog_accelerator (catalog, "h100-sxm5-80gb"),
                                    .date = "2026-11-28",
                                    .version = "0",
                                    .files = files };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabAcceleratorFit) fit = fab_accelerator_fit_new (series, &request, &error);
  g_autofree char *page = fit ? fab_accelerator_fit_to_text (fit) : NULL;

  if (fit == NULL && (error == NULL || !g_utf8_validate (error->message, -1, NULL)))
    g_error ("not fitted without a message:\n%s", text);
  if (page && !g_utf8_validate (page, -1, NULL))
    g_error ("not UTF-8:\n%s\nof\n%s", page, text);
}

static gboolean
check_benchmark (const FabCatalog *catalog, const char *data, gsize size)
{
  g_autofree char *text = g_strndup (data, size);
  FabMeasurementRequest request = { .file = { "fuzz", text, strlen (text) } };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabMeasurements) made = fab_measurements_read (&request, &error);

  if (made == NULL
      && (error == NULL || error->message[0] == '\0' || !g_utf8_validate (error->message, -1, NULL)))
    g_error ("refused without a message:\n%s", text);
  if (made == NULL)
    return FALSE;
  if (made->series->len == 0)
    g_error ("accepted without a series:\n%s", text);
  for (guint i = 0; i < made->series->len; i++)
    check_series (g_ptr_array_index (made->series, i), text);
  check_kernels (catalog, made->series, text);
  return TRUE;
}

static FabCatalog *
load_catalog (void)
{
  g_autoptr (GError) error = NULL;
  FabCatalog *catalog = fab_catalog_load (FAB_SOURCE_DIR "/models/catalog", &fab_models, &error);

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
  (void) check_benchmark (catalog, (const char *) data, size);
  return 0;
}

#ifndef FAB_LIBFUZZER

static const char *const words[] = {
  "NV2",
  "NV99",
  "PIX",
  "SYS",
  "X",
  "GPU0",
  "GPU99",
  "XGMI",
  "-1",
  "0",
  "99999999999",
  "\n",
  "\t",
  "\r\n",
  "\x1b[4m",
  "<",
  ">",
  "\"",
  "<gpu>",
  "</pci>",
  "0x0302",
  "0x068000",
  "\xff",
  "count=\"0\"",
  "<pci class=\"0x030200\"/>",
  "\"H-0\"[1]",
  "\"S-1\"",
  "4xHDR",
  "1xSDR",
  "Switch 3",
  "Ca 2",
  "[1]",
  "Package",
  "Bridge",
  "Numa Node: 3",
  "&amp;",
  "<!--",
  "]]>",
  "==( 4X",
  ")==>",
  "CA: ",
  "Switch: ",
  "CA  1 1",
  "4x NDR",
  "0x",
  "+ PCI[24.0]",
  "NVS/0",
  "DEV/0-1",
  "=== System :",
  "NCCL INFO",
  "LocalPort",
  "-----  -----  -----  -----  -----",
  "admin@x:~$ show",
  "100G",
  "BR",
  "SwitchName=",
  "Nodes=",
  "n[1-3]",
  "Switches=",
  "network_layers",
  "Link 0: ",
  "GPU 1: ",
  "GB/s",
  "<inactive>",
  "00000000:D5:00.0",
};

static const char *const json_words[] = {
  "null", "\"model_type\": \"mpt\",", "true", "-7", "1e9", "{", "[[", "\"", "\n", "\xff", "99999999999",
};

static const char *const benchmark_words[] = {
  "0",
  "-1",
  "nan",
  "1e400",
  "99999999999999999999",
  "N/A",
  "1k",
  "\n",
  "\t",
  "#",
  "# Size",
  "#bytes",
  "bytes",
  "SUM",
  "-----",
  "D\\D",
  "OSU MPI",
  "Total",
  "Fail",
  "{",
  "}",
  "[",
  "]",
  "\"",
  ",",
  ":",
  "\xff",
  "\r\n",
  "3: ",
  "[1,0]<stdout>:",
  "RDMA_Read BW Test",
  "Running all_to_one_write_ce.",
  "(row) <- (column) bandwidth (GB/s)",
  "# kind: latency",
  "size_bytes",
};

/* What is mutated, with which words, and what must hold of it. */
typedef struct {
  gboolean (*check) (const FabCatalog *catalog, const char *data, gsize size);
  const char *folder;
  const char *const *words;
  guint n_words;
  GPtrArray *samples; /* char */
} Kind;

/* A line twice, a line less, a line elsewhere: what pasting does. */
static void
move_line (Random *random, GString *text)
{
  g_auto (GStrv) lines = g_strsplit (text->str, "\n", -1);
  guint n = g_strv_length (lines), from = random_below (random, n), to = random_below (random, n);
  gboolean is_moved = random_below (random, 2) == 0;

  g_string_truncate (text, 0);
  for (guint i = 0; i < n; i++) {
    if (i == to)
      g_string_append_printf (text, "%s\n", lines[from]);
    if (i != from || !is_moved)
      g_string_append_printf (text, "%s\n", lines[i]);
  }
}

static void
mutate_once (const Kind *kind, Random *random, GString *text)
{
  gsize at = random_below (random, (guint) text->len + 1);
  gsize span = random_between (random, 1, 40);

  switch (random_below (random, 6)) {
  case 0: g_string_erase (text, (gssize) at, (gssize) MIN (span, text->len - at)); break;
  case 1: g_string_truncate (text, MAX (at, text->len / 2)); break;
  case 2:
    if (at < text->len)
      text->str[at] = (char) MAX (1, text->str[at] ^ (1 << random_below (random, 7)));
    break;
  case 3: g_string_insert (text, (gssize) at, kind->words[random_below (random, kind->n_words)]); break;
  default: move_line (random, text); break;
  }
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static void
list_samples (const char *folder, GPtrArray *names)
{
  g_autofree char *path = g_build_filename (SAMPLES, folder, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GDir) directory = g_dir_open (path, 0, &error);
  const char *name;

  while (directory && (name = g_dir_read_name (directory)) != NULL)
    if (!g_str_has_suffix (name, ".md"))
      g_ptr_array_add (names, g_build_filename (path, name, NULL));
}

static GPtrArray *
load_samples (const char *folder)
{
  GPtrArray *samples = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;

  list_samples (folder, names);
  g_ptr_array_sort (names, compare_names);
  for (guint i = 0; i < names->len; i++) {
    char *text = NULL;

    if (!g_file_get_contents (g_ptr_array_index (names, i), &text, NULL, &error))
      g_error ("%s", error->message);
    g_ptr_array_add (samples, text);
  }
  g_assert (samples->len > 0);
  return samples;
}

static gboolean
run_seed (const FabCatalog *catalog, const Kind *kind, guint seed)
{
  Random random = { .state = seed };
  g_autoptr (GString) text = g_string_new (g_ptr_array_index (kind->samples, seed % kind->samples->len));

  for (guint n = random_below (&random, 5); n > 0; n--)
    mutate_once (kind, &random, text);
  return kind->check (catalog, text->str, text->len);
}

/* Some are accepted, and some are not. */
static gboolean
run_kind (const FabCatalog *catalog, Kind *kind, const char *only)
{
  guint first = only != NULL ? (guint) g_ascii_strtoull (only, NULL, 10) : 1, n_accepted = 0;

  kind->samples = load_samples (kind->folder);
  for (guint seed = first; seed <= (only != NULL ? first : N_ROUNDS); seed++)
    n_accepted += run_seed (catalog, kind, seed);
  g_ptr_array_unref (kind->samples);
  g_print ("%s: %u of %u inputs accepted\n", kind->folder, n_accepted, only != NULL ? 1 : N_ROUNDS);
  return only != NULL || (n_accepted > N_ROUNDS / 10 && n_accepted < N_ROUNDS);
}

int
main (void)
{
  Kind kinds[] = {
    { .check = check_input, .folder = "import", .words = words, .n_words = G_N_ELEMENTS (words) },
    { .check = check_input,
      .folder = "huggingface",
      .words = json_words,
      .n_words = G_N_ELEMENTS (json_words) },
    { .check = check_benchmark,
      .folder = "benchmarks",
      .words = benchmark_words,
      .n_words = G_N_ELEMENTS (benchmark_words) },
    { .check = check_benchmark,
      .folder = "nccl-tests",
      .words = benchmark_words,
      .n_words = G_N_ELEMENTS (benchmark_words) },
  };
  g_autoptr (FabCatalog) catalog = load_catalog ();
  gboolean is_good = TRUE;

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    is_good = run_kind (catalog, &kinds[i], g_getenv ("FAB_TEST_SEED")) && is_good;
  return is_good ? 0 : 1;
}

#endif
