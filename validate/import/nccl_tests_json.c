/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_tests_json.c - the file that nccl-tests -J writes (src/util.cu, its "version" 1 and 2).
 *
 * It lists one device of each process, with however many threads and GPUs (config.nthreads, config.ngpus) that has.
 * JSON is read as the YAML that it is, which says where a file is broken.
 */
#include <math.h>

#include "sim/base/error.h"
#include "sim/scenario/yaml_doc.h"
#include "validate/import/nccl_tests.h"

/* Returns a member of a mapping; NULL where it is missing, null or of another kind. */
static const FabYamlNode *
member (const FabYamlNode *mapping, const char *key, FabYamlKind kind)
{
  const FabYamlNode *node = mapping != NULL ? fab_yaml_get (mapping, key) : NULL;

  return node != NULL && node->kind == kind ? node : NULL;
}

static const char *
text_at (const FabYamlNode *mapping, const char *key)
{
  const FabYamlNode *node = member (mapping, key, FAB_YAML_SCALAR);

  return node != NULL && node->is_quoted ? node->text : NULL;
}

/* Returns a number of a mapping; `fallback` where it is missing, null or no number. */
static double
number_at (const FabYamlNode *mapping, const char *key, double fallback)
{
  const FabYamlNode *node = member (mapping, key, FAB_YAML_SCALAR);
  char *end;
  double value;

  if (node == NULL || node->text == NULL || node->is_quoted)
    return fallback;
  value = g_ascii_strtod (node->text, &end);
  return end != node->text && *end == '\0' && isfinite (value) && value >= 0 ? value : fallback;
}

static void
read_devices (const FabYamlNode *config, FabNcclTests *result)
{
  const FabYamlNode *devices = member (config, "devices", FAB_YAML_SEQUENCE);
  g_autoptr (GHashTable) hosts = g_hash_table_new (g_str_hash, g_str_equal);
  double n_ranks = number_at (config, "nthreads", 1) * number_at (config, "ngpus", 1);

  for (guint i = 0; devices != NULL && i < devices->n; i++) {
    const char *host = text_at (devices->values[i], "hostname");

    if (host)
      g_hash_table_add (hosts, (gpointer) host);
  }
  n_ranks *= devices != NULL ? devices->n : 0;
  result->n_ranks = n_ranks <= G_MAXINT ? (guint) n_ranks : 0;
  result->n_nodes = g_hash_table_size (hosts);
  result->gpus_per_thread = (guint) CLAMP (number_at (config, "ngpus", 0), 0, 1024);
}

static gboolean
read_result (const FabYamlNode *object, FabNcclTests *result)
{
  const FabYamlNode *out = member (object, "out_of_place", FAB_YAML_MAPPING);
  const FabYamlNode *in = member (object, "in_place", FAB_YAML_MAPPING), *first = out ? out : in;
  double size = number_at (object, "size", -1), count = number_at (object, "count", 0);
  FabNcclTestsRow row = { .time_us = number_at (first, "time", 0),
                          .algbw_GBps = number_at (first, "alg_bw", -1),
                          .busbw_GBps = number_at (first, "bus_bw", -1),
                          .in_place_busbw_GBps = number_at (in, "bus_bw", -1),
                          .n_wrong = number_at (out, "nwrong", 0) + number_at (in, "nwrong", 0) };

  if (size < 0 || size > 1e18 || count > 1e18 || row.algbw_GBps < 0 || row.busbw_GBps < 0)
    return FALSE;
  row.size_bytes = (FabBytes) size;
  row.count = (guint64) count;
  if (result->type == NULL)
    result->type = g_strdup (text_at (object, "type"));
  if (row.size_bytes > 0)
    g_array_append_val (result->rows, row);
  return TRUE;
}

static void
read_program (const FabYamlNode *root, FabNcclTests *result)
{
  const FabYamlNode *args = member (root, "args", FAB_YAML_SEQUENCE);
  const FabYamlNode *first = args != NULL && args->n > 0 ? args->values[0] : NULL;

  if (first != NULL && first->kind == FAB_YAML_SCALAR && first->text != NULL)
    result->program = g_path_get_basename (first->text);
}

static void
read_results (const FabYamlNode *root, FabNcclTests *result, FabDiagnostics *diagnostics)
{
  const FabYamlNode *results = member (root, "results", FAB_YAML_SEQUENCE);

  for (guint i = 0; results != NULL && i < results->n; i++)
    if (!read_result (results->values[i], result))
      fab_diagnostics_add (diagnostics, &results->values[i]->mark,
                           "results[%u] has no size, alg_bw or bus_bw", i);
  if (fab_diagnostics_count (diagnostics) == 0 && result->rows->len == 0)
    fab_diagnostics_add (diagnostics, &root->mark,
                         "no `results` with sizes; nccl-tests -J writes such a file, `-J FILE`");
  result->n_tables = 1;
}

FabNcclTests *
fab_nccl_tests_parse_json (const char *name, const char *data, gsize size, GError **error)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = fab_yaml_doc_parse (name, data, size, diagnostics);
  g_autoptr (FabNcclTests) result = fab_nccl_tests_new ();
  const FabYamlNode *root = doc != NULL ? fab_yaml_doc_root (doc) : NULL;

  if (root != NULL && fab_diagnostics_count (diagnostics) == 0) {
    read_program (root, result);
    read_devices (member (root, "config", FAB_YAML_MAPPING), result);
    read_results (root, result, diagnostics);
  }
  return fab_diagnostics_check (diagnostics, error) ? g_steal_pointer (&result) : NULL;
}
