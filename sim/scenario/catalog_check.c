/* SPDX-License-Identifier: Apache-2.0 */
/* catalog_check.c - names are unique, wires end at parts of their node, packets have a payload, every shipped entry has
 * a source and a date. Each violation is a diagnostic at its field. */
#include "sim/scenario/catalog_check.h"

#include <string.h>

#include "sim/scenario/catalog_params.h"

static const char *const section_words[FAB_N_SECTIONS] = {
  "link",       "accelerator", "node",   "model",           "product", "technology", "processor",
  "generation", "band",        "set-up", "set of failures", "pair",    "design"
};

static void
check_name (FabSchemaReader *reader, GHashTable *seen, guint section, const char *const *name)
{
  const char *word = section_words[section];

  if (*name != NULL && !g_hash_table_add (seen, (gpointer) *name))
    fab_schema_report (reader, name, "%s '%s' is defined twice", word, *name);
}

/* A missing name is reported where the table is read. */
static void
check_origin (FabSchemaReader *reader, guint section, gconstpointer entry)
{
  static const char *const keys[] = { "source", "date" };
  const char *const *name = entry; /* the first member of all structs */

  for (guint i = 0; *name != NULL && i < G_N_ELEMENTS (keys); i++) {
    const FabParam *row = fab_schema_find_row (fab_catalog_params[section].table, keys[i]);

    if (*(const char *const *) fab_schema_field (entry, row) == NULL)
      fab_schema_report (reader, name, "'%s' has no %s", *name, keys[i]);
  }
}

/* Links ---------------------------------------------------------------------------------------------- */

static void
check_drive (FabSchemaReader *reader, const FabLinkDriveSpec *drive, gboolean is_shipped)
{
  gboolean is_stated = drive->payload_bytes > 0 || drive->achievable_fraction < 1.0;

  if (drive->payload_bytes == 0 && drive->overhead_bytes > 0)
    fab_schema_report (reader, &drive->overhead_bytes, "a packet with `overhead` needs a `payload`");
  if (is_shipped && is_stated && drive->source == NULL)
    fab_schema_report (reader, &drive->payload_bytes, "these packets have no source");
}

/* Short messages may be faster than the wire for a while (caches, the buckets of a rate limit); long messages may
 * not. `last`: NULL: there is no row of this way. */
static void
check_last_regime (FabSchemaReader *reader, const FabLinkSpec *link, const FabMessageRegime *last)
{
  const double rounding = 1.02;
  double packets = link->copy.payload_bytes > 0
                     ? (double) (link->copy.payload_bytes + link->copy.overhead_bytes)
                           / (double) link->copy.payload_bytes
                     : 1;
  double most = (double) link->lanes * (double) link->signalling_bytes_per_s * link->coding_fraction
              / packets;

  if (last != NULL && link->signalling_bytes_per_s > 0 && (double) last->rate_bytes_per_s > most * rounding)
    fab_schema_report (reader, &last->rate_bytes_per_s,
                       "long messages have %.6g GB/s; packets leave only %.6g GB/s of link '%s'",
                       (double) last->rate_bytes_per_s / 1e9, most / 1e9, link->name);
}

static void
check_messages (FabSchemaReader *reader, const FabLinkSpec *link)
{
  const FabMessageRegime *regimes = link->messages.data;
  const FabMessageRegime *last[FAB_N_WAYS] = { NULL };

  for (guint i = 0; i < link->messages.n; i++) {
    const FabMessageRegime *before = last[regimes[i].way];

    if (before != NULL && before->up_to_bytes == 0)
      fab_schema_report (
          reader, &regimes[i].rate_bytes_per_s,
          "the row before it has no up_to, so this row is never used; only the last row of a way has none");
    else if (before != NULL && regimes[i].up_to_bytes > 0 && regimes[i].up_to_bytes <= before->up_to_bytes)
      fab_schema_report (reader, &regimes[i].up_to_bytes,
                         "rows of a way go from small to large; this row ends at or below the row before");
    last[regimes[i].way] = &regimes[i];
  }
  if (link->messages.n > 0 && last[FAB_WAY_ONE] == NULL)
    fab_schema_report (reader, &regimes[0].rate_bytes_per_s,
                       "no row has way: one, which is for a message without traffic in the other direction");
  check_last_regime (reader, link, last[FAB_WAY_ONE]);
  check_last_regime (reader, link, last[FAB_WAY_BOTH]);
}

static void
check_link (FabSchemaReader *reader, const FabLinkSpec *link, gboolean is_shipped)
{
  const double most = 1e15; /* so that 4096 times twice this rate still fits 64 bits */
  double rate = (double) link->lanes * (double) link->signalling_bytes_per_s * link->coding_fraction;

  if (link->name == NULL) /* the missing name is already reported */
    return;
  check_drive (reader, &link->copy, is_shipped);
  check_drive (reader, &link->kernel, is_shipped);
  check_drive (reader, &link->multimem, is_shipped);
  if (is_shipped && link->collective_fraction > 0 && link->collective_source == NULL)
    fab_schema_report (reader, &link->collective_fraction, "this share has no collective_source");
  if (link->signalling_bytes_per_s > 0 && !(rate >= 1 && rate <= most))
    fab_schema_report (reader, &link->signalling_bytes_per_s,
                       "link '%s': lanes x signalling x coding is %.3g B/s; it must be from 1 to %.0e",
                       link->name, rate, most);
  check_messages (reader, link);
  if (link->measured.from_bytes > link->measured.to_bytes)
    fab_schema_report (reader, &link->measured.from_bytes,
                       "`from` is larger than `to`; write the smaller size first");
}

/* Nodes ---------------------------------------------------------------------------------------------- */

/* Whether `name` is that of a member of the part: "gpu1" of a part "gpu" of more than one. */
static gboolean
is_member_name (const char *name, const FabPartSpec *part)
{
  guint64 member;

  return name && part->name && g_str_has_prefix (name, part->name)
      && g_ascii_string_to_unsigned (name + strlen (part->name), 10, 0, (guint64) part->count - 1, &member,
                                     NULL);
}

/* Whether `end` names a part, or one of its members. */
static gboolean
names_part (const FabNodeSpec *node, const char *end)
{
  const FabPartSpec *parts = node->parts.data;

  for (guint i = 0; i < node->parts.n; i++)
    if (g_strcmp0 (parts[i].name, end) == 0 || is_member_name (end, &parts[i]))
      return TRUE;
  return FALSE;
}

static void
check_wire_end (FabSchemaReader *reader, const FabNodeSpec *node, const char *const *end)
{
  const FabPartSpec *parts = node->parts.data;
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  const char *nearest;

  if (*end == NULL || names_part (node, *end))
    return;
  for (guint i = 0; i < node->parts.n; i++)
    if (parts[i].name != NULL)
      g_ptr_array_add (names, (gpointer) parts[i].name);
  g_ptr_array_add (names, NULL);
  nearest = fab_diagnostics_nearest (reader->diagnostics, *end, (const char *const *) names->pdata);
  if (nearest != NULL)
    fab_schema_report (reader, end, "node '%s' has no part '%s'; nearest is '%s'", node->name, *end, nearest);
  else
    fab_schema_report (reader, end, "node '%s' has no part '%s'", node->name, *end);
}

static void
check_parts (FabSchemaReader *reader, const FabNodeSpec *node)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  const FabPartSpec *parts = node->parts.data;
  gboolean has_accelerator = FALSE, has_nic = FALSE;

  for (guint i = 0; i < node->parts.n; i++) {
    has_accelerator |= parts[i].kind == FAB_PART_ACCELERATOR;
    has_nic |= parts[i].kind == FAB_PART_NIC;
    if (parts[i].name != NULL && !g_hash_table_add (names, (gpointer) parts[i].name))
      fab_schema_report (reader, &parts[i].name, "part '%s' is defined twice", parts[i].name);
  }
  for (guint i = 0; i < node->parts.n; i++)
    for (guint j = 0; j < node->parts.n; j++)
      if (is_member_name (parts[i].name, &parts[j]))
        fab_schema_report (reader, &parts[i].name, "part '%s' has the name of a member of part '%s'",
                           parts[i].name, parts[j].name);
  if (!has_accelerator)
    fab_schema_report (reader, &node->name, "node '%s' has no part of kind accelerator", node->name);
  if (node->nic != NULL && !has_nic)
    fab_schema_report (reader, &node->nic, "node '%s' names a NIC link and has no part of kind nic",
                       node->name);
}

/* Nodes that share parts form one domain, so all shared parts must give the same number. */
static void
check_sharing (FabSchemaReader *reader, const FabNodeSpec *node)
{
  const FabPartSpec *parts = node->parts.data;
  gint64 most = fab_node_spec_sharers (node);

  for (guint i = 0; i < node->parts.n; i++) {
    if (parts[i].shared <= 1 || parts[i].name == NULL) /* the missing name is already reported */
      continue;
    if (parts[i].shared != most)
      fab_schema_report (reader, &parts[i].shared,
                         "part '%s' is shared by %" G_GINT64_FORMAT " nodes and another by %" G_GINT64_FORMAT
                         "; shared parts of a node must agree",
                         parts[i].name, parts[i].shared, most);
    if (parts[i].kind != FAB_PART_SWITCH)
      fab_schema_report (reader, &parts[i].shared, "part '%s' is not a switch; nodes can share only switches",
                         parts[i].name);
  }
}

/* All boards of a node have as many NICs. */
static void
check_rails (FabSchemaReader *reader, const FabNodeSpec *node)
{
  guint n_nics = fab_node_spec_n_parts (node, FAB_PART_NIC);

  if (node->rails > 0 && (n_nics == 0 || n_nics % node->rails != 0))
    fab_schema_report (reader, &node->rails,
                       "the %u NICs of node '%s' cannot be divided into boards of %" G_GINT64_FORMAT, n_nics,
                       node->name, node->rails);
}

/* What is said to be unknown has a name, and is not given all the same. */
static void
check_unknown (FabSchemaReader *reader, const FabNodeSpec *node)
{
  g_auto (GStrv) names = g_strsplit (node->unknown != NULL ? node->unknown : "", ",", -1);
  g_autofree char *all = g_strjoinv (", ", (char **) fab_node_fact_names);

  for (guint i = 0; names[i] != NULL; i++)
    if (!g_strv_contains (fab_node_fact_names, g_strstrip (names[i])))
      fab_schema_report (reader, &node->unknown, "'%s' is none of %s", names[i], all);
  if (fab_node_spec_is_unknown (node, FAB_NODE_DRIVES) && fab_node_spec_n_parts (node, FAB_PART_STORAGE) > 0)
    fab_schema_report (reader, &node->unknown, "node '%s' has parts of kind storage, so its drives are known",
                       node->name);
  if (fab_node_spec_is_unknown (node, FAB_NODE_FRONTEND) && node->frontend_nics > 0)
    fab_schema_report (reader, &node->unknown, "node '%s' has frontend_nics, so they are known", node->name);
  if ((node->frontend != NULL) != (node->frontend_nics > 0))
    fab_schema_report (reader, &node->name, "node '%s' needs both `frontend` and `frontend_nics`, or neither",
                       node->name);
}

static void
check_node (FabSchemaReader *reader, const FabNodeSpec *node)
{
  const FabWireSpec *wires = node->wires.data;

  if (node->name == NULL) /* the missing name is already reported */
    return;
  check_parts (reader, node);
  check_sharing (reader, node);
  check_rails (reader, node);
  check_unknown (reader, node);
  for (guint i = 0; i < node->wires.n; i++) {
    check_wire_end (reader, node, &wires[i].from);
    check_wire_end (reader, node, &wires[i].to);
    if (wires[i].map == FAB_WIRE_BLOCK && wires[i].from && g_strcmp0 (wires[i].from, wires[i].to) == 0)
      fab_schema_report (reader, &wires[i].to,
                         "'%s' to itself joins nothing; write map: all to connect every pair", wires[i].to);
    if ((wires[i].map == FAB_WIRE_RING || wires[i].map == FAB_WIRE_PAIRS) && wires[i].from && wires[i].to
        && strcmp (wires[i].from, wires[i].to) != 0)
      fab_schema_report (reader, &wires[i].to,
                         "ring and pairs connect the members of one part; '%s' and '%s' are two parts",
                         wires[i].from, wires[i].to);
  }
}

/* Products ------------------------------------------------------------------------------------------- */

static gboolean
names_its_entry (const FabProductSpec *self)
{
  gboolean is_rent = self->kind == FAB_PRODUCT_RENT, has_link = !is_rent && self->kind > FAB_PRODUCT_NODE;
  return (self->accelerator != NULL) + (self->node != NULL) + (self->link != NULL) == 1
      && has_link == (self->link != NULL)
      && (is_rent || (self->kind == FAB_PRODUCT_NODE) == (self->node != NULL));
}

static void
check_product (FabSchemaReader *reader, const FabProductSpec *product)
{
  static const char *const wanted[] = { "an `accelerator`", "a `node`", "a `link`",
                                        "a `node` or accelerator" };
  guint entry = product->kind == FAB_PRODUCT_RENT ? 3 : (guint) MIN (product->kind, FAB_PRODUCT_NIC);

  if (product->name == NULL) /* the missing name is already reported */
    return;
  if (!names_its_entry (product))
    fab_schema_report (reader, &product->kind,
                       "product '%s' is of kind %s, so it must name %s and nothing else", product->name,
                       fab_product_kind_names[product->kind], wanted[entry]);
  else if (product->kind == FAB_PRODUCT_SWITCH && product->n_ports < FAB_SWITCH_LEAST_PORTS)
    fab_schema_report (reader, product->n_ports > 0 ? (gconstpointer) &product->n_ports : &product->kind,
                       "switch '%s' needs at least %d `ports`", product->name, FAB_SWITCH_LEAST_PORTS);
  if (product->low_usd > product->price_usd
      || (product->high_usd > 0 && product->high_usd < product->price_usd))
    fab_schema_report (reader, product->low_usd > product->price_usd ? &product->low_usd : &product->high_usd,
                       "the price of '%s' is not from low_usd to high_usd", product->name);
}

/* Processors ----------------------------------------------------------------------------------------- */

static void
check_slowdown (FabSchemaReader *reader, const FabSlowdown *slowdown, gboolean is_shipped)
{
  if (slowdown->reached_bytes_per_s > slowdown->plain_bytes_per_s
      || (slowdown->reached_bytes_per_s == 0 && slowdown->plain_bytes_per_s > 0))
    fab_schema_report (reader,
                       slowdown->reached_bytes_per_s > 0 ? &slowdown->reached_bytes_per_s
                                                         : &slowdown->plain_bytes_per_s,
                       "`reached` must be from 1 B/s to `plain`");
  if (is_shipped && slowdown->plain_bytes_per_s > 0 && slowdown->source == NULL)
    fab_schema_report (reader, &slowdown->plain_bytes_per_s, "these rates have no source");
}

static void
check_processor (FabSchemaReader *reader, const FabProcessor *processor, gboolean is_shipped)
{
  check_slowdown (reader, &processor->staged_copy, is_shipped);
  check_slowdown (reader, &processor->staged_kernel, is_shipped);
  check_slowdown (reader, &processor->staged_both_ways, is_shipped);
  check_slowdown (reader, &processor->bridge_read, is_shipped);
}

/* Generations ---------------------------------------------------------------------------------------- */

static void
check_measured (FabSchemaReader *reader, gconstpointer field, gboolean is_measured, const char *source)
{
  if (is_measured && source == NULL)
    fab_schema_report (reader, field, "these numbers have no source");
}

static void
check_startup (FabSchemaReader *reader, const FabStartup *self)
{
  check_measured (reader, &self->base_ps, self->base_ps + self->step_ps > 0, self->source);
}

static void
check_ring (FabSchemaReader *reader, const FabRingCost *self)
{
  check_measured (reader, &self->base_ps, self->base_ps > 0, self->source);
}

static void
check_tokens (FabSchemaReader *reader, const FabTokenCost *self)
{
  check_measured (reader, &self->start_ps, self->start_ps > 0, self->source);
}

static void
check_generation (FabSchemaReader *reader, const FabGeneration *self)
{
  check_startup (reader, &self->startups.ll);
  check_startup (reader, &self->startups.ll128);
  check_startup (reader, &self->startups.simple);
  check_ring (reader, &self->rings.ll);
  check_ring (reader, &self->rings.ll128);
  check_ring (reader, &self->rings.simple);
  check_tokens (reader, &self->tokens.dispatch);
  check_tokens (reader, &self->tokens.combine);
  check_tokens (reader, &self->hybrid.dispatch);
  check_tokens (reader, &self->hybrid.combine);
  check_tokens (reader, &self->low_latency.dispatch);
  check_tokens (reader, &self->low_latency.combine);
  check_measured (reader, &self->node_switch.base_ps, self->node_switch.base_ps > 0,
                  self->node_switch.source);
  check_measured (reader, &self->sends.both_bytes_per_s, self->sends.both_bytes_per_s > 0,
                  self->sends.source);
  check_measured (reader, &self->all_pairs.bytes_per_s, self->all_pairs.bytes_per_s > 0,
                  self->all_pairs.source);
}

/* Sections ------------------------------------------------------------------------------------------- */

static void
check_entry (FabSchemaReader *reader, guint section, gconstpointer entry, gboolean is_shipped)
{
  if (section == FAB_SECTION_LINKS)
    check_link (reader, entry, is_shipped);
  else if (section == FAB_SECTION_NODES)
    check_node (reader, entry);
  else if (section == FAB_SECTION_PRODUCTS)
    check_product (reader, entry);
  else if (section == FAB_SECTION_PROCESSORS)
    check_processor (reader, entry, is_shipped);
  else if (section == FAB_SECTION_GENERATIONS && is_shipped)
    check_generation (reader, entry);
  else if (section == FAB_SECTION_FAILURES)
    fab_failure_set_check (reader, entry);
  else if (section == FAB_SECTION_DESIGNS)
    fab_design_check (reader, entry);
}

void
fab_catalog_check_sections (FabSchemaReader *reader, const FabCatalogSections *const *all,
                            gboolean is_shipped)
{
  for (guint section = 0; section < FAB_N_SECTIONS; section++) {
    g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

    for (guint file = 0; all[file] != NULL; file++) {
      gsize size;
      const FabParamList *list = fab_catalog_section (all[file], section, &size);

      for (guint i = 0; i < list->n; i++) {
        const char *entry = (const char *) list->data + i * size;

        /* `name` is the first member of all structs */
        check_name (reader, seen, section, (const char *const *) entry);
        check_entry (reader, section, entry, is_shipped);
        if (is_shipped)
          check_origin (reader, section, entry);
      }
    }
  }
}

static gboolean
has_wire (const FabNodeSpec *node, const char *link)
{
  const FabWireSpec *wires = node->wires.data;

  for (guint i = 0; i < node->wires.n; i++)
    if (g_strcmp0 (wires[i].link, link) == 0)
      return TRUE;
  return FALSE;
}

void
fab_catalog_check_wires (FabSchemaReader *reader, const FabParamList *links, const FabNodeSpec *node)
{
  const FabLinkSpec *all = links->data;

  for (guint i = 0; i < links->n; i++)
    if (all[i].technology == NULL && all[i].name != NULL && has_wire (node, all[i].name))
      fab_schema_report (reader, &all[i].name,
                         "link '%s' is a wire inside node '%s', so it must say its technology; "
                         "'fabricast describe technologies' lists them",
                         all[i].name, node->name);
}
