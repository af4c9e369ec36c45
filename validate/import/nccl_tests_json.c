/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_tests_json.c - the file that nccl-tests -J writes (src/util.cu, its "version" 1 and 2).
 *
 * It lists one device of each process, with however many threads and GPUs (config.nthreads, config.ngpus) that has.
 */
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "sim/base/error.h"
#include "validate/import/nccl_tests.h"

enum { MAX_DEPTH = 100 };

static JsonObject *
object_at (JsonObject *object, const char *key)
{
  JsonNode *node = object ? json_object_get_member (object, key) : NULL;

  return node && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

static JsonArray *
array_at (JsonObject *object, const char *key)
{
  JsonNode *node = object ? json_object_get_member (object, key) : NULL;

  return node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
}

static const char *
text_at (JsonObject *object, const char *key)
{
  JsonNode *node = object ? json_object_get_member (object, key) : NULL;

  return node && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING
           ? json_node_get_string (node)
           : NULL;
}

/* `fallback` for what is not there, is null or no number. */
static double
number_at (JsonObject *object, const char *key, double fallback)
{
  JsonNode *node = object ? json_object_get_member (object, key) : NULL;
  double value;

  if (node == NULL || !JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) == G_TYPE_STRING)
    return fallback;
  value = json_node_get_double (node);
  return isfinite (value) && value >= 0 ? value : fallback;
}

static JsonObject *
element_object (JsonArray *array, guint index)
{
  JsonNode *node = json_array_get_element (array, index);

  return JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

static void
read_devices (JsonObject *config, FabNcclTests *result)
{
  JsonArray *devices = array_at (config, "devices");
  g_autoptr (GHashTable) hosts = g_hash_table_new (g_str_hash, g_str_equal);
  double n_ranks = number_at (config, "nthreads", 1) * number_at (config, "ngpus", 1);

  for (guint i = 0; devices && i < json_array_get_length (devices); i++) {
    const char *host = text_at (element_object (devices, i), "hostname");

    if (host)
      g_hash_table_add (hosts, (gpointer) host);
  }
  n_ranks *= devices ? json_array_get_length (devices) : 0;
  result->n_ranks = n_ranks <= G_MAXINT ? (guint) n_ranks : 0;
  result->n_nodes = g_hash_table_size (hosts);
  result->gpus_per_thread = (guint) CLAMP (number_at (config, "ngpus", 0), 0, 1024);
}

static gboolean
read_result (JsonObject *object, FabNcclTests *result)
{
  JsonObject *out = object_at (object, "out_of_place"), *in = object_at (object, "in_place");
  JsonObject *first = out ? out : in;
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
read_program (JsonObject *root, FabNcclTests *result)
{
  JsonArray *args = array_at (root, "args");
  JsonNode *first = args && json_array_get_length (args) > 0 ? json_array_get_element (args, 0) : NULL;

  if (first && JSON_NODE_HOLDS_VALUE (first) && json_node_get_value_type (first) == G_TYPE_STRING)
    result->program = g_path_get_basename (json_node_get_string (first));
}

static gboolean
read_results (const char *name, JsonObject *root, FabNcclTests *result, GError **error)
{
  JsonArray *results = array_at (root, "results");

  for (guint i = 0; results && i < json_array_get_length (results); i++)
    if (!read_result (element_object (results, i), result))
      return fab_throw (error, FAB_ERROR_INPUT, "%s: results[%u] has no size, alg_bw or bus_bw", name, i);
  if (result->rows->len == 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s: no `results` with sizes; nccl-tests -J writes such a file, `-J FILE`", name);
  result->n_tables = 1;
  return TRUE;
}

/* json-glib descends by recursion: what is nested deeper than any such file would exhaust the stack. */
static gboolean
is_too_deep (const char *data, gsize size)
{
  gboolean is_text = FALSE;
  guint depth = 0;

  for (gsize i = 0; i < size; i++) {
    if (is_text && data[i] == '\\')
      i++;
    else if (data[i] == '"')
      is_text = !is_text;
    else if (!is_text && (data[i] == '{' || data[i] == '['))
      depth++;
    else if (!is_text && (data[i] == '}' || data[i] == ']') && depth > 0)
      depth--;
    if (depth > MAX_DEPTH)
      return TRUE;
  }
  return FALSE;
}

FabNcclTests *
fab_nccl_tests_parse_json (const char *name, const char *data, gsize size, GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (FabNcclTests) result = fab_nccl_tests_new ();
  g_autoptr (GError) cause = NULL;
  JsonNode *root;

  if (is_too_deep (data, size)) {
    fab_throw (error, FAB_ERROR_INPUT, "%s: not the file of nccl-tests -J: nested more than %d deep", name,
               MAX_DEPTH);
    return NULL;
  }
  if (!json_parser_load_from_data (parser, data, (gssize) size, &cause)) {
    fab_throw (error, FAB_ERROR_INPUT, "%s: not JSON: %s", name, cause->message);
    return NULL;
  }
  root = json_parser_get_root (parser);
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT (root)) {
    fab_throw (error, FAB_ERROR_INPUT, "%s: not the file of nccl-tests -J: no object", name);
    return NULL;
  }
  read_program (json_node_get_object (root), result);
  read_devices (object_at (json_node_get_object (root), "config"), result);
  if (!read_results (name, json_node_get_object (root), result, error))
    return NULL;
  return g_steal_pointer (&result);
}
