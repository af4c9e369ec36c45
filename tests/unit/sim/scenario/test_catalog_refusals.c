/* SPDX-License-Identifier: Apache-2.0 */
/* test_catalog_refusals.c - what catalogue entries are refused for (sim/scenario/catalog_check.c), one mistake at a
 * time.
 *
 * Each row is a whole small catalogue with one entry more. With a mistake there is one message, at its place; beside
 * it stands the nearest entry without one, which is accepted.
 */
#include "sim/scenario/catalog.h"

#include <glib/gstdio.h>

#include "tests/support/small_models.h"
#include "tests/support/test.h"

#define ORIGIN ", source: s, date: d}"

/* What entries refer to. */
#define LINKS \
  "{name: wire, technology: Test, signalling: 8Gb/s" ORIGIN ", {name: port, signalling: 8Gb/s" ORIGIN
#define ACCELERATORS \
  "{name: chip, architecture: test, peak_fp16: 1TFLOP/s, peak_fp32: 1TFLOP/s, memory: 1GB, memory_rate: 1GB/s" ORIGIN
#define PROCESSORS "{name: generic" ORIGIN
#define TECHNOLOGIES "{name: Test, joins: accelerators" ORIGIN
#define NODES "{name: box, accelerator: chip, parts: [{name: gpu, kind: accelerator}]" ORIGIN

/* Loads the catalogue with `entry` in its section. */
static FabCatalog *
load (const char *section, const char *entry, GError **error)
{
  static const struct {
    const char *section, *entries;
  } parts[] = { { "links", LINKS },           { "accelerators", ACCELERATORS },
                { "processors", PROCESSORS }, { "technologies", TECHNOLOGIES },
                { "nodes", NODES },           { "products", NULL },
                { "generations", NULL },      { "bands", NULL },
                { "models", NULL },           { "setups", NULL },
                { "failures", NULL },         { "pairs", NULL },
                { "designs", NULL } };
  g_autofree char *directory = g_dir_make_tmp ("fab-catalog-XXXXXX", NULL);
  g_autofree char *path = g_strdup_printf ("%s/0.yaml", directory);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    gboolean is_own = strcmp (parts[i].section, section) == 0;

    if (parts[i].entries == NULL && !is_own)
      continue;
    g_string_append_printf (text, "%s: [%s%s%s]\n", parts[i].section,
                            parts[i].entries ? parts[i].entries : "", parts[i].entries && is_own ? ", " : "",
                            is_own ? entry : "");
  }
  assert_true (g_file_set_contents (path, text->str, -1, NULL));
  FabCatalog *catalog = fab_catalog_load (directory, &small_registry, error);
  g_remove (path);
  g_rmdir (directory);
  return catalog;
}

typedef struct {
  const char *wrong, *message, *right; /* `right`: NULL: none is so near */
} Row;

/* The underlined part of the text that a message shows below it. (transfer full) */
static char *
underlined (const char *message)
{
  g_auto (GStrv) lines = g_strsplit (message, "\n", -1);

  for (guint i = 1; lines[i] != NULL; i++) {
    gsize n_before = strcspn (lines[i], "^");

    if (lines[i][n_before] == '^' && strspn (lines[i], " |") == n_before)
      return g_strndup (lines[i - 1] + n_before, strspn (lines[i] + n_before, "^~"));
  }
  return NULL;
}

static void
assert_rows (const char *section, const Row *rows, guint n)
{
  for (guint i = 0; i < n; i++) {
    g_autoptr (GError) error = NULL, other = NULL;
    g_autoptr (FabCatalog) refused = load (section, rows[i].wrong, &error);
    g_autoptr (FabCatalog) accepted = rows[i].right != NULL ? load (section, rows[i].right, &other) : NULL;

    if (refused != NULL)
      fail_msg ("accepted: %s", rows[i].wrong);
    const char *found = strstr (error->message, "0.yaml:");
    if (strstr (error->message, rows[i].message) == NULL || found == NULL
        || strstr (found + 1, "0.yaml:") != NULL)
      fail_msg ("%s\nis not refused for '%s' alone, but:\n%s", rows[i].wrong, rows[i].message,
                error->message);
    if (rows[i].right != NULL && accepted == NULL)
      fail_msg ("%s\nis refused:\n%s", rows[i].right, other->message);
  }
}

#define LINK(keys_) "{name: a, signalling: 8Gb/s, " keys_ ORIGIN

static void
links_are_refused_for_one_thing_at_a_time (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { LINK ("copy: {overhead: 1B, source: s}"), "a packet with `overhead` needs a `payload`",
      LINK ("copy: {payload: 1B, overhead: 1B, source: s}") },
    { LINK ("kernel: {overhead: 1B, source: s}"), "a packet with `overhead` needs a `payload`",
      LINK ("kernel: {payload: 1B, source: s}") },
    { LINK ("multimem: {overhead: 1B, source: s}"), "a packet with `overhead` needs a `payload`",
      LINK ("multimem: {payload: 1B, source: s}") },
    { LINK ("copy: {achievable: 99%}"), "these packets have no source", LINK ("copy: {achievable: 100%}") },
    { LINK ("kernel: {payload: 1B}"), "these packets have no source", LINK ("kernel: {source: s}") },
    { LINK ("multimem: {payload: 1B}"), "these packets have no source",
      LINK ("multimem: {payload: 1B, source: s}") },
    { LINK ("collective_fraction: 90%"), "this share has no collective_source",
      LINK ("collective_fraction: 90%, collective_source: s") },
    { LINK ("measured: {from: 9B, to: 8B}"), "`from` is larger than `to`",
      LINK ("measured: {from: 8B, to: 8B}") },
    { "{name: a, lanes: 1000, signalling: 8.1Tb/s" ORIGIN, "it must be from 1 to 1e+15",
      "{name: a, lanes: 1000, signalling: 8Tb/s" ORIGIN },
    { "{name: a, lanes: 1, signalling: 1B/s, coding: 99%" ORIGIN, "it must be from 1 to 1e+15",
      "{name: a, lanes: 1, signalling: 1B/s" ORIGIN },
    { "{name: a" ORIGIN, "'links' lacks the key 'signalling'", NULL },
    { "{lanes: 1000, signalling: 8.1Tb/s" ORIGIN, "'links' lacks the key 'name'", NULL },
    { "{name: a, signalling: 8Gb/s, date: d}", "'a' has no source", NULL },
    { "{name: a, signalling: 8Gb/s, source: s}", "'a' has no date", NULL },
    { "{name: wire, signalling: 8Gb/s" ORIGIN, "link 'wire' is defined twice",
      "{name: chip, signalling: 8Gb/s" ORIGIN },
  };

  assert_rows ("links", rows, G_N_ELEMENTS (rows));
}

#define ROWS(rows_) LINK ("messages: [" rows_ "]")

/* 8 Gb/s are 1 GB/s; packets of 100 B with 25 of header leave 0.8 GB/s. A measured rate may be 2 % above. */
static void
messages_are_refused_for_one_thing_at_a_time (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { ROWS ("{overhead: 1us, rate: 1.021GB/s}"), "packets leave only 1 GB/s",
      ROWS ("{overhead: 1us, rate: 1.02GB/s}") },
    { LINK ("copy: {payload: 100B, overhead: 25B, source: s}, messages: [{overhead: 1us, rate: 0.82GB/s}]"),
      "packets leave only 0.8 GB/s",
      LINK ("copy: {payload: 100B, overhead: 25B, source: s}, messages: [{overhead: 1us, rate: 0.81GB/s}]") },
    { "{name: a, lanes: 2, signalling: 8Gb/s, coding: 50%, messages: [{overhead: 1us, rate: 1.1GB/s}]" ORIGIN,
      "packets leave only 1 GB/s",
      "{name: a, lanes: 2, signalling: 8Gb/s, coding: 50%, messages: [{overhead: 1us, rate: 1GB/s}]" ORIGIN },
    { ROWS ("{overhead: 1us, rate: 1GB/s}, {way: both, overhead: 1us, rate: 1.1GB/s}"),
      "packets leave only 1 GB/s",
      ROWS ("{up_to: 1kB, overhead: 1us, rate: 9GB/s}, {overhead: 1us, rate: 1GB/s}") },
    { ROWS ("{up_to: 2B, overhead: 1us, rate: 1GB/s}, {up_to: 2B, overhead: 1us, rate: 1GB/s}"),
      "this row ends at or below the row before",
      ROWS ("{up_to: 2B, overhead: 1us, rate: 1GB/s}, {up_to: 3B, overhead: 1us, rate: 1GB/s}") },
    { ROWS ("{overhead: 1us, rate: 1GB/s}, {up_to: 3B, overhead: 1us, rate: 1GB/s}"),
      "the row before it has no up_to",
      ROWS ("{overhead: 1us, rate: 1GB/s}, {way: both, up_to: 3B, overhead: 1us, rate: 1GB/s}") },
    { ROWS ("{way: both, overhead: 1us, rate: 1GB/s}"), "no row has way: one", NULL },
    { ROWS ("{up_to: 1B, overhead: 1us, rate: 1GB/s}, {up_to: 1B, overhead: 1us, rate: 1GB/s}"),
      "this row ends at or below the row before",
      ROWS ("{up_to: 1B, overhead: 1us, rate: 1GB/s}, {overhead: 1us, rate: 1GB/s}") },
    { "{name: a, messages: [{overhead: 1us, rate: 1GB/s}]" ORIGIN, "'links' lacks the key 'signalling'",
      NULL },
  };

  assert_rows ("links", rows, G_N_ELEMENTS (rows));
}

#define NODE(keys_) "{name: n, accelerator: chip, " keys_ ORIGIN
#define GPUS "{name: gpu, kind: accelerator, count: 4}"
#define PARTS(parts_) NODE ("parts: [" GPUS ", " parts_ "]")

static void
parts_are_refused_for_one_thing_at_a_time (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { NODE ("parts: [{name: hub, kind: switch}]"), "node 'n' has no part of kind accelerator",
      NODE ("parts: [{name: hub, kind: accelerator}]") },
    { PARTS ("{name: gpu, kind: host}"), "part 'gpu' is defined twice", PARTS ("{name: cpu, kind: host}") },
    { PARTS ("{name: gpu3, kind: host}"), "part 'gpu3' has the name of a member of part 'gpu'",
      PARTS ("{name: gpu4, kind: host}") },
    { NODE ("parts: [{name: gpu, kind: accelerator, count: 12}, {name: gpu11, kind: host}]"),
      "part 'gpu11' has the name of a member of part 'gpu'",
      NODE ("parts: [{name: gpu, kind: accelerator, count: 12}, {name: gpu12, kind: host}]") },
    { PARTS ("{name: gpu0, kind: host}"), "part 'gpu0' has the name of a member of part 'gpu'",
      PARTS ("{name: gpux, kind: host}") },
    { NODE ("nic: port, parts: [" GPUS "]"), "node 'n' names a NIC link and has no part of kind nic",
      NODE ("nic: port, parts: [" GPUS ", {name: nic, kind: nic}]") },
    { PARTS ("{name: a, kind: switch, shared: 2}, {name: b, kind: switch, shared: 3}"),
      "part 'a' is shared by 2 nodes and another by 3",
      PARTS (
          "{name: a, kind: switch, shared: 3}, {name: b, kind: switch, shared: 3}, {name: c, kind: switch}") },
    { PARTS ("{kind: host, shared: 2}, {name: b, kind: switch, shared: 3}"), "'parts' lacks the key 'name'",
      NULL },
    { PARTS ("{name: a, kind: host, shared: 2}"), "part 'a' is not a switch",
      PARTS ("{name: a, kind: host, shared: 1}") },
    { NODE ("rails: 2, parts: [" GPUS "]"), "the 0 NICs of node 'n' cannot be divided into boards of 2",
      NULL },
    { NODE ("nic: port, rails: 2, parts: [" GPUS ", {name: nic, kind: nic, count: 5}]"),
      "the 5 NICs of node 'n' cannot be divided into boards of 2",
      NODE ("nic: port, rails: 2, parts: [" GPUS ", {name: nic, kind: nic, count: 6}]") },
  };

  assert_rows ("nodes", rows, G_N_ELEMENTS (rows));
}

#define WIRE(wire_) NODE ("parts: [" GPUS ", {name: hub, kind: switch}], wires: [" wire_ "]")

static void
wires_are_refused_for_one_thing_at_a_time (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { WIRE ("{from: gpu, to: hubb, link: wire}"), "node 'n' has no part 'hubb'; nearest is 'hub'",
      WIRE ("{from: gpu, to: hub, link: wire}") },
    { NODE ("parts: [{name: g, kind: accelerator, count: 12}], wires: [{from: g0, to: g12, link: wire}]"),
      "node 'n' has no part 'g12'",
      NODE ("parts: [{name: g, kind: accelerator, count: 12}], wires: [{from: g0, to: g11, link: wire}]") },
    { WIRE ("{from: hub, to: gpu-1, link: wire}"), "node 'n' has no part 'gpu-1'", NULL },
    { WIRE ("{from: gpu4, to: hub, link: wire}"), "node 'n' has no part 'gpu4'",
      WIRE ("{from: gpu3, to: hub, link: wire}") },
    { WIRE ("{from: hub1, to: gpu, link: wire}"), "node 'n' has no part 'hub1'",
      WIRE ("{from: hub0, to: gpu, link: wire}") },
    { WIRE ("{from: 3, to: gpu, link: wire}"), "node 'n' has no part '3'", NULL },
    { WIRE ("{from: gpu, to: gpu, link: wire}"), "'gpu' to itself joins nothing",
      WIRE ("{from: gpu, to: gpu, link: wire, map: all}") },
    { WIRE ("{from: gpu, to: hub, link: wire, map: ring}"), "'gpu' and 'hub' are two parts",
      WIRE ("{from: gpu, to: gpu, link: wire, map: ring}") },
    { WIRE ("{from: gpu, link: wire, map: ring}"), "'wires' lacks the key 'to'", NULL },
    { WIRE ("{to: hub, link: wire, map: pairs}"), "'wires' lacks the key 'from'", NULL },
    { WIRE ("{from: gpu, to: hub, link: wire, map: pairs}"), "'gpu' and 'hub' are two parts",
      WIRE ("{from: gpu, to: gpu, link: wire, map: pairs}") },
  };

  assert_rows ("nodes", rows, G_N_ELEMENTS (rows));
}

/* What a node does not know has a name, and is not given. Its front end has a link and a number, or neither. */
static void
facts_are_known_or_unknown (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { NODE ("parts: [" GPUS "], unknown: colour"), "'colour' is none of drives, ",
      NODE ("parts: [" GPUS "], unknown: drives") },
    { NODE ("parts: [" GPUS "], unknown: 'drives, colour'"), "'colour' is none of ",
      NODE ("parts: [" GPUS "], unknown: 'drives, frontend'") },
    { NODE ("parts: [" GPUS ", {name: drive, kind: storage}], unknown: drives"), "so its drives are known",
      NODE ("parts: [" GPUS ", {name: drive, kind: storage}], unknown: frontend") },
    { NODE ("parts: [" GPUS "], frontend: port, frontend_nics: 1, unknown: frontend"),
      "node 'n' has frontend_nics, so they are known",
      NODE ("parts: [" GPUS "], frontend: port, frontend_nics: 1, unknown: drives") },
    { NODE ("parts: [" GPUS "], frontend: port"), "needs both `frontend` and `frontend_nics`, or neither",
      NODE ("parts: [" GPUS "], frontend: port, frontend_nics: 1") },
    { NODE ("parts: [" GPUS "], frontend_nics: 1"), "needs both `frontend` and `frontend_nics`, or neither",
      NULL },
  };

  assert_rows ("nodes", rows, G_N_ELEMENTS (rows));
}

#define PRODUCT(keys_) "{name: p, " keys_ ORIGIN

/* A product is one entry of the kind that it names; a rent is a node or an accelerator. */
static void
products_name_their_entry (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { PRODUCT ("kind: accelerator, node: box"), "so it must name an `accelerator` and nothing else",
      PRODUCT ("kind: accelerator, accelerator: chip") },
    { PRODUCT ("kind: accelerator, accelerator: chip, node: box"),
      "so it must name an `accelerator` and nothing else", NULL },
    { PRODUCT ("kind: node, accelerator: chip"), "so it must name a `node` and nothing else",
      PRODUCT ("kind: node, node: box") },
    { PRODUCT ("kind: nic, node: box"), "so it must name a `link` and nothing else",
      PRODUCT ("kind: nic, link: port") },
    { PRODUCT ("kind: cable, accelerator: chip"), "so it must name a `link` and nothing else",
      PRODUCT ("kind: cable, link: port") },
    { PRODUCT ("kind: optic"), "so it must name a `link` and nothing else",
      PRODUCT ("kind: optic, link: port") },
    { PRODUCT ("kind: rent, link: port"), "so it must name a `node` or accelerator and nothing else",
      PRODUCT ("kind: rent, node: box") },
    { PRODUCT ("kind: rent"), "so it must name a `node` or accelerator and nothing else",
      PRODUCT ("kind: rent, accelerator: chip") },
    { PRODUCT ("kind: switch, link: port, ports: 3"), "switch 'p' needs at least 4 `ports`",
      PRODUCT ("kind: switch, link: port, ports: 4") },
    { PRODUCT ("kind: switch, link: port, ports: 1"), "switch 'p' needs at least 4 `ports`", NULL },
    { PRODUCT ("kind: switch, link: port"), "switch 'p' needs at least 4 `ports`", NULL },
    { PRODUCT ("kind: nic, link: port, low_usd: 1"), "the price of 'p' is not from low_usd to high_usd",
      PRODUCT ("kind: nic, link: port, high_usd: 1") },
    { PRODUCT ("kind: nic, link: port, price_usd: 10, low_usd: 11"),
      "the price of 'p' is not from low_usd to high_usd",
      PRODUCT ("kind: nic, link: port, price_usd: 10, low_usd: 10") },
    { PRODUCT ("kind: nic, link: port, price_usd: 10, low_usd: 10, high_usd: 9"),
      "the price of 'p' is not from low_usd to high_usd", NULL },
    { PRODUCT ("kind: nic, link: port, price_usd: 10, high_usd: 1"),
      "the price of 'p' is not from low_usd to high_usd", NULL },
    { PRODUCT ("kind: nic, link: port, price_usd: 10, high_usd: 9"),
      "the price of 'p' is not from low_usd to high_usd",
      PRODUCT ("kind: nic, link: port, price_usd: 10, high_usd: 10") },
    { "{name: p, kind: nic, link: port, source: s}", "'p' has no date", NULL },
  };

  assert_rows ("products", rows, G_N_ELEMENTS (rows));
}

/* A slowdown has a rate with it and one without, neither of them faster; each of the four is asked. */
static void
slowdowns_slow_down (G_GNUC_UNUSED void **state)
{
  static const char *const keys[] = { "staged_copy", "staged_kernel", "staged_both_ways", "bridge_read" };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    g_autofree char
        *faster = g_strdup_printf ("{name: c, %s: {plain: 1GB/s, reached: 2GB/s, source: s}" ORIGIN, keys[i]),
        *alike = g_strdup_printf ("{name: c, %s: {plain: 1GB/s, reached: 1GB/s, source: s}" ORIGIN, keys[i]),
        *none = g_strdup_printf ("{name: c, %s: {plain: 1GB/s, source: s}" ORIGIN, keys[i]),
        *slowest = g_strdup_printf ("{name: c, %s: {plain: 1B/s, source: s}" ORIGIN, keys[i]),
        *least = g_strdup_printf ("{name: c, %s: {plain: 1B/s, reached: 1B/s}" ORIGIN, keys[i]),
        *alone = g_strdup_printf ("{name: c, %s: {reached: 1B/s, source: s}" ORIGIN, keys[i]),
        *origin = g_strdup_printf ("{name: c, %s: {plain: 1GB/s, reached: 1GB/s}" ORIGIN, keys[i]);
    const Row rows[] = { { faster, "`reached` must be from 1 B/s to `plain`", alike },
                         { none, "`reached` must be from 1 B/s to `plain`", NULL },
                         { slowest, "`reached` must be from 1 B/s to `plain`", NULL },
                         { alone, "`reached` must be from 1 B/s to `plain`", NULL },
                         { least, "these rates have no source", NULL },
                         { origin, "these rates have no source", NULL } };

    assert_rows ("processors", rows, G_N_ELEMENTS (rows));
  }
}

/* A message points at the value that is wrong: of two, at the one that was written, or at the one that the other
 * numbers contradict. */
static void
messages_point_at_what_is_wrong (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *section, *wrong, *at;
  } rows[] = {
    { "products", PRODUCT ("kind: switch, link: port, ports: 3"), "3" },
    { "products", PRODUCT ("kind: switch, link: port, ports: 1"), "1" },
    { "products", PRODUCT ("kind: switch, link: port"), "switch" },
    { "products", PRODUCT ("kind: nic, link: port, price_usd: 10, low_usd: 11, high_usd: 12"), "11" },
    { "products", PRODUCT ("kind: nic, link: port, price_usd: 10, low_usd: 10, high_usd: 9"), "9" },
    { "processors", "{name: c, bridge_read: {reached: 2GB/s, plain: 1GB/s, source: s}" ORIGIN, "2GB/s" },
    { "processors", "{name: c, bridge_read: {reached: 1B/s, source: s}" ORIGIN, "1B/s" },
    { "processors", "{name: c, bridge_read: {plain: 1B/s, source: s}" ORIGIN, "1B/s" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;

    assert_null (load (rows[i].section, rows[i].wrong, &error));
    g_autofree char *at = underlined (error->message);
    if (g_strcmp0 (at, rows[i].at) != 0)
      fail_msg ("%s\nis shown at %s, and not at %s:\n%s", rows[i].wrong, at, rows[i].at, error->message);
  }
}

/* Each group of measured numbers names its source, however small the numbers are. Where nothing was measured, none is
 * asked for. */
static void
measured_numbers_have_a_source (G_GNUC_UNUSED void **state)
{
  static const char *const groups[] = {
    "ll: {base: 1ps%s}",
    "ll128: {step: 1ps%s}",
    "simple: {base: 1ps, step: 1ps%s}",
    "ring_ll: {base: 1ps%s}",
    "ring_ll128: {base: 1ps%s}",
    "ring_simple: {base: 1ps%s}",
    "node_switch: {base: 1ps%s}",
    "sends: {rate: 1B/s%s}",
    "all_pairs: {rate: 1B/s%s}",
    "tokens: {dispatch: {start: 1ps%s}}",
    "tokens: {combine: {start: 1ps%s}}",
    "hybrid: {dispatch: {start: 1ps%s}}",
    "hybrid: {combine: {start: 1ps%s}}",
    "low_latency: {dispatch: {start: 1ps%s}}",
    "low_latency: {combine: {start: 1ps%s}}",
  };

  for (guint i = 0; i < G_N_ELEMENTS (groups); i++) {
    g_autoptr (GString) without = g_string_new (groups[i]), with = g_string_new (groups[i]);

    g_string_replace (without, "%s", "", 0);
    g_string_replace (with, "%s", ", source: t", 0);
    g_autofree char *wrong = g_strdup_printf ("{name: g, %s" ORIGIN, without->str),
                    *right = g_strdup_printf ("{name: g, %s" ORIGIN, with->str);
    const Row row = { wrong, "these numbers have no source", right };

    assert_rows ("generations", &row, 1);
  }
}

/* Every entry of every section says where it is from and when that was read, and has a name of its own. */
static void
entries_have_an_origin_and_a_name_of_their_own (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *section, *keys; /* beside the name */
  } sections[] = {
    { "links", ", signalling: 8Gb/s" },
    { "accelerators",
      ", architecture: test, peak_fp16: 1TFLOP/s, peak_fp32: 1TFLOP/s, memory: 1GB, memory_rate: 1GB/s" },
    { "nodes", ", accelerator: chip, parts: [{name: gpu, kind: accelerator}]" },
    { "products", ", kind: nic, link: port" },
    { "processors", "" },
    { "technologies", ", joins: accelerators" },
    { "generations", "" },
    { "bands", "" },
    { "models", ", shape: {kind: mlp, layers: 1, hidden: 16}" },
    { "setups", ", low: 0.5, high: 2" },
    { "failures", ", classes: [{name: c, per: gpu, per_year: 1}]" },
    { "pairs", ", cells: [{low: 0.5, high: 2}]" },
    { "designs", ", node: box, unit_nodes: 1, sizes: [{units: 1, fabric: switch}]" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (sections); i++) {
    const char *keys = sections[i].keys;
    g_autofree char *whole = g_strdup_printf ("{name: q%s, source: s, date: d}", keys),
                    *no_source = g_strdup_printf ("{name: q%s, date: d}", keys),
                    *no_date = g_strdup_printf ("{name: q%s, source: s}", keys),
                    *twice = g_strdup_printf ("%s, %s", whole, whole);
    g_autofree char *nameless = g_strdup_printf ("{%s}", *keys != '\0' ? keys + strlen (", ") : ""),
                    *lacking = g_strdup_printf ("'%s' lacks the key 'name'", sections[i].section);
    const Row rows[] = { { no_source, "'q' has no source", whole },
                         { no_date, "'q' has no date", whole },
                         { twice, "'q' is defined twice", NULL },
                         { nameless, lacking, NULL } };

    assert_rows (sections[i].section, rows, G_N_ELEMENTS (rows));
  }
}

#define FAILURES(keys_) "{name: f, classes: [" keys_ "]" ORIGIN
#define DESIGN(keys_) "{name: e, node: box, unit_nodes: 2, " keys_ ORIGIN
#define PAIR(keys_) "{name: q, cells: [{" keys_ "}]" ORIGIN

/* A set of failures has classes, of which NICs alone are slow. Fabrics of a design are for more and more units, and
 * each published row is for one of them. The ends of a pair lie on both sides of no difference. */
static void
sets_and_designs_are_refused_for_one_thing_at_a_time (G_GNUC_UNUSED void **state)
{
  static const Row failures[] = {
    { FAILURES (""), "'f' has no classes of failures", FAILURES ("{name: c, per: gpu, per_year: 1}") },
    { FAILURES ("{name: c, per: gpu, per_year: 1, does: slows}"), "only NICs are known to be slow: per: nic",
      FAILURES ("{name: c, per: nic, per_year: 1, does: slows}") },
    { FAILURES ("{name: c, per: nic, per_year: 1}, {name: d, per: link, per_year: 1, does: slows}"),
      "only NICs are known to be slow: per: nic",
      FAILURES ("{name: c, per: nic, per_year: 1}, {name: d, per: link, per_year: 1, does: planned}") },
  };
  static const Row designs[] = {
    { DESIGN ("sizes: []"), "design 'e' has no `sizes`", DESIGN ("sizes: [{units: 1, fabric: switch}]") },
    { DESIGN ("sizes: [{units: 2, fabric: switch}, {units: 2, fabric: switch}]"),
      "`units` of a size must be more than that of the size before, 2",
      DESIGN ("sizes: [{units: 2, fabric: switch}, {units: 3, fabric: switch}]") },
    { DESIGN ("sizes: [{units: 2, fabric: switch}, {units: 3, fabric: switch}, {units: 1, fabric: switch}]"),
      "`units` of a size must be more than that of the size before, 3", NULL },
    { DESIGN ("sizes: [{units: 2, fabric: switch}, {fabric: switch}]"), "'sizes' lacks the key 'units'",
      NULL },
    { DESIGN ("sizes: [{units: 2, fabric: switch}], counts: [{units: 3, table: t}]"),
      "no size of this design has 3 units",
      DESIGN ("sizes: [{units: 2, fabric: switch}], counts: [{units: 2, table: t}, {units: 1, table: t}]") },
  };

  static const Row pairs[] = {
    { PAIR ("low: 1.1, high: 2"), "'low' is 1.1: the upper limit is 1", PAIR ("low: 1, high: 1") },
    { PAIR ("low: 0.5, high: 0.9"), "'high' is 0.9: the lower limit is 1", NULL },
    { PAIR ("low: 0.5"), "'cells' lacks the key 'high'", NULL },
  };

  assert_rows ("failures", failures, G_N_ELEMENTS (failures));
  assert_rows ("pairs", pairs, G_N_ELEMENTS (pairs));
  assert_rows ("designs", designs, G_N_ELEMENTS (designs));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (links_are_refused_for_one_thing_at_a_time),
    cmocka_unit_test (messages_are_refused_for_one_thing_at_a_time),
    cmocka_unit_test (parts_are_refused_for_one_thing_at_a_time),
    cmocka_unit_test (wires_are_refused_for_one_thing_at_a_time),
    cmocka_unit_test (facts_are_known_or_unknown),
    cmocka_unit_test (products_name_their_entry),
    cmocka_unit_test (slowdowns_slow_down),
    cmocka_unit_test (messages_point_at_what_is_wrong),
    cmocka_unit_test (measured_numbers_have_a_source),
    cmocka_unit_test (sets_and_designs_are_refused_for_one_thing_at_a_time),
    cmocka_unit_test (entries_have_an_origin_and_a_name_of_their_own),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
