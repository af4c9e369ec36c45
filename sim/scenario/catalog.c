/* SPDX-License-Identifier: Apache-2.0 */
/* catalog.c - the entries of all catalogue files, found by name in O(1).
 * One reader fills and owns the sections of every file. An overlay indexes a scenario's own entries, asks the shipped
 * catalogue for the rest, and owns neither. */
#include "sim/scenario/catalog.h"

#include <math.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/order.h"
#include "sim/config/schema_reader.h"
#include "sim/scenario/catalog_params.h"

struct _FabCatalog {
  const FabCatalog *shipped;           /* of an overlay only */
  GPtrArray *names[FAB_N_SECTIONS];    /* in file order */
  GHashTable *entries[FAB_N_SECTIONS]; /* name -> spec */
  FabDiagnostics *diagnostics;         /* from here on: of a loaded catalogue only */
  FabSchemaReader *reader;
  GPtrArray *docs, *sections; /* FabYamlDoc, FabCatalogSections; one per file */
};

FabBytesPerS
fab_link_spec_line_rate (const FabLinkSpec *spec)
{
  long double lanes_bytes_per_s = (long double) spec->lanes * (long double) spec->signalling_bytes_per_s;

  return (FabBytesPerS) floorl (lanes_bytes_per_s * (long double) spec->coding_fraction);
}

guint
fab_node_spec_n_parts (const FabNodeSpec *spec, FabPartKind kind)
{
  const FabPartSpec *parts = spec->parts.data;
  gint64 n = 0;

  for (guint i = 0; i < spec->parts.n; i++)
    if (parts[i].kind == (int) kind)
      n += parts[i].count;
  return (guint) n;
}

guint
fab_node_spec_sharers (const FabNodeSpec *spec)
{
  const FabPartSpec *parts = spec->parts.data;
  guint n = 1;

  for (guint i = 0; i < spec->parts.n; i++)
    n = MAX (n, (guint) parts[i].shared);
  return n;
}

double
fab_link_spec_cost (const FabLinkSpec *spec, FabDrive drive)
{
  const FabLinkDriveSpec *d = drive == FAB_DRIVE_COPY   ? &spec->copy
                            : drive == FAB_DRIVE_KERNEL ? &spec->kernel
                                                        : &spec->multimem;
  double packets = d->payload_bytes > 0
                     ? (double) (d->payload_bytes + d->overhead_bytes) / (double) d->payload_bytes
                     : 1.0;

  return packets / d->achievable_fraction;
}

static FabCatalog *
catalog_new (void)
{
  FabCatalog *self = g_new0 (FabCatalog, 1);

  for (guint i = 0; i < FAB_N_SECTIONS; i++) {
    self->names[i] = g_ptr_array_new ();
    self->entries[i] = g_hash_table_new (g_str_hash, g_str_equal);
  }
  return self;
}

void
fab_catalog_free (FabCatalog *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < FAB_N_SECTIONS; i++) {
    g_ptr_array_unref (self->names[i]);
    g_hash_table_unref (self->entries[i]);
  }
  fab_schema_reader_free (self->reader);
  fab_diagnostics_free (self->diagnostics);
  g_clear_pointer (&self->sections, g_ptr_array_unref);
  g_clear_pointer (&self->docs, g_ptr_array_unref);
  g_free (self);
}

/* Indexes the first of several equal names. The duplicate is reported elsewhere. */
static void
index_sections (FabCatalog *self, const FabCatalogSections *sections)
{
  for (guint section = 0; section < FAB_N_SECTIONS; section++) {
    gsize size;
    const FabParamList *list = fab_catalog_section (sections, section, &size);

    for (guint i = 0; i < list->n; i++) {
      char *entry = (char *) list->data + i * size;
      char *name = *(char **) entry;

      if (name == NULL || g_hash_table_contains (self->entries[section], name))
        continue;
      g_hash_table_insert (self->entries[section], name, entry);
      g_ptr_array_add (self->names[section], name);
    }
  }
}

/* Takes the document; NULL: its diagnostics are kept, and the other files are still read. */
static void
add_doc (FabCatalog *self, FabYamlDoc *doc)
{
  FabCatalogSections *sections;

  if (doc == NULL)
    return;
  g_ptr_array_add (self->docs, doc);
  sections = g_new0 (FabCatalogSections, 1);
  g_ptr_array_add (self->sections, sections);
  fab_schema_read (self->reader, fab_yaml_doc_root (doc), fab_catalog_params, sections);
  index_sections (self, sections);
}

static gboolean
load_file (FabCatalog *self, const char *path, GError **error)
{
  GError *problem = NULL;

  add_doc (self, fab_yaml_doc_load (path, self->diagnostics, &problem));
  if (problem != NULL)
    g_propagate_error (error, problem);
  return problem == NULL;
}

static GPtrArray *
list_files (const char *directory, GError **error)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) problem = NULL;
  g_autoptr (GDir) dir = g_dir_open (directory, 0, &problem);
  const char *name;

  if (dir == NULL) {
    fab_throw (error, FAB_ERROR_IO, "cannot read the catalogue: %s", problem->message);
    return NULL;
  }
  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, ".yaml") && name[0] != '.')
      g_ptr_array_add (paths, g_build_filename (directory, name, NULL));
  g_ptr_array_sort (paths, fab_order_texts);
  return g_steal_pointer (&paths);
}

static void
free_doc (gpointer doc)
{
  fab_yaml_doc_free (doc);
}

static void
check_wires (FabCatalog *self, const FabParamList *links)
{
  const GPtrArray *nodes = self->names[FAB_SECTION_NODES];

  for (guint i = 0; i < nodes->len; i++)
    fab_catalog_check_wires (self->reader, links, fab_catalog_node (self, g_ptr_array_index (nodes, i)));
}

static void
check_all (FabCatalog *self)
{
  guint n = self->sections->len;

  g_ptr_array_add (self->sections, NULL);
  fab_catalog_check_sections (self->reader, (const FabCatalogSections *const *) self->sections->pdata, TRUE);
  for (guint i = 0; i < n; i++) {
    const FabCatalogSections *sections = g_ptr_array_index (self->sections, i);

    check_wires (self, &sections->links);
    fab_schema_check_references (self->reader, fab_catalog_params, sections, fab_catalog_reference_names,
                                 self);
  }
}

/* For files to be read into. */
static FabCatalog *
begin_reading (const FabRegistry *registry)
{
  FabCatalog *self = catalog_new ();

  self->diagnostics = fab_diagnostics_new ();
  self->reader = fab_schema_reader_new (registry, self->diagnostics);
  self->docs = g_ptr_array_new_with_free_func (free_doc);
  self->sections = g_ptr_array_new_with_free_func (g_free);
  return self;
}

FabCatalog *
fab_catalog_parse (const FabCatalogText *texts, guint n, const FabRegistry *registry, GError **error)
{
  g_autoptr (FabCatalog) self = begin_reading (registry);

  for (guint i = 0; i < n; i++)
    add_doc (self, fab_yaml_doc_parse (texts[i].name, texts[i].text, texts[i].size, self->diagnostics));
  check_all (self);
  return fab_diagnostics_check (self->diagnostics, error) ? g_steal_pointer (&self) : NULL;
}

FabCatalog *
fab_catalog_load (const char *directory, const FabRegistry *registry, GError **error)
{
  g_autoptr (GPtrArray) paths = list_files (directory, error);
  g_autoptr (FabCatalog) self = paths != NULL ? begin_reading (registry) : NULL;

  if (self == NULL)
    return NULL;
  for (guint i = 0; i < paths->len; i++)
    if (!load_file (self, g_ptr_array_index (paths, i), error))
      return NULL;
  check_all (self);
  return fab_diagnostics_check (self->diagnostics, error) ? g_steal_pointer (&self) : NULL;
}

char *
fab_catalog_write (const FabCatalog *self)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < self->docs->len; i++) {
    g_autofree char *one = fab_schema_write (fab_catalog_params, g_ptr_array_index (self->sections, i));

    g_string_append (text, one);
  }
  return g_string_free (text, FALSE);
}

FabCatalog *
fab_catalog_overlay (const FabCatalog *shipped, const FabCatalogSections *own)
{
  FabCatalog *self = catalog_new ();

  self->shipped = shipped;
  index_sections (self, own);
  return self;
}

static gconstpointer
find (const FabCatalog *self, FabCatalogSection section, const char *name)
{
  gconstpointer entry = name != NULL ? g_hash_table_lookup (self->entries[section], name) : NULL;

  return entry == NULL && self->shipped != NULL ? find (self->shipped, section, name) : entry;
}

gconstpointer
fab_catalog_entry (const FabCatalog *self, FabCatalogSection section, const char *name)
{
  return find (self, section, name);
}

const FabLinkSpec *
fab_catalog_link (const FabCatalog *self, const char *name)
{
  return find (self, FAB_SECTION_LINKS, name);
}

const FabAcceleratorSpec *
fab_catalog_accelerator (const FabCatalog *self, const char *name)
{
  return find (self, FAB_SECTION_ACCELERATORS, name);
}

const FabNodeSpec *
fab_catalog_node (const FabCatalog *self, const char *name)
{
  return find (self, FAB_SECTION_NODES, name);
}

const FabModelSpec *
fab_catalog_model (const FabCatalog *self, const char *name)
{
  return find (self, FAB_SECTION_MODELS, name);
}

const FabProductSpec *
fab_catalog_product (const FabCatalog *self, const char *name)
{
  return find (self, FAB_SECTION_PRODUCTS, name);
}

const FabProcessor *
fab_catalog_processor (const FabCatalog *self, const char *name)
{
  return find (self, FAB_SECTION_PROCESSORS, name);
}

const FabGeneration *
fab_catalog_generation (const FabCatalog *self, const char *name)
{
  return find (self, FAB_SECTION_GENERATIONS, name);
}

const FabBandSpec *
fab_catalog_band (const FabCatalog *self, const char *name)
{
  return find (self, FAB_SECTION_BANDS, name);
}

const FabEfficiency *
fab_catalog_efficiency (const FabCatalog *self, const char *name)
{
  return find (self, FAB_SECTION_EFFICIENCIES, name);
}

const FabTechnology *
fab_catalog_technology (const FabCatalog *self, const char *name)
{
  return find (self, FAB_SECTION_TECHNOLOGIES, name);
}

const FabTechnology *
fab_catalog_link_technology (const FabCatalog *self, const FabLinkSpec *spec)
{
  return spec->technology != NULL ? fab_catalog_technology (self, spec->technology) : &fab_technology_unnamed;
}

FabLinkClass
fab_catalog_link_class (const FabCatalog *catalog, const FabLinkSpec *spec)
{
  const FabTechnology *technology = fab_catalog_link_technology (catalog, spec);
  int flow_control = spec->flow_control > 0 ? spec->flow_control - 1 : technology->flow_control;
  FabLinkClass self = { .name = spec->name,
                        .technology = technology,
                        .flow_control = (FabFlowControl) flow_control,
                        .endpoint_ps = spec->endpoint_ps,
                        .rendezvous = spec->rendezvous,
                        .messages = { .regimes = spec->messages.data,
                                      .n = spec->messages.n,
                                      .factor = 1,
                                      .from_bytes = spec->measured.from_bytes,
                                      .to_bytes = spec->measured.to_bytes },
                        .has_reduction = spec->can_reduce || spec->multimem.payload_bytes > 0,
                        .inlined = spec->inlined };

  for (FabDrive drive = 0; drive < FAB_N_DRIVES; drive++)
    self.cost[drive] = fab_link_spec_cost (spec, drive);
  if (spec->collective_fraction > 0)
    self.collective_stretch = 1 / spec->collective_fraction;
  return self;
}

gboolean
fab_catalog_is_own (const FabCatalog *self, FabCatalogSection section, const char *name)
{
  return self->shipped != NULL && g_hash_table_contains (self->entries[section], name);
}

const char **
fab_catalog_names (const FabCatalog *self, FabCatalogSection section)
{
  GPtrArray *names = g_ptr_array_new ();

  for (const FabCatalog *at = self; at != NULL; at = at->shipped)
    for (guint i = 0; i < at->names[section]->len; i++) {
      gpointer name = g_ptr_array_index (at->names[section], i);

      if (at == self || !g_hash_table_contains (self->entries[section], name))
        g_ptr_array_add (names, name);
    }
  g_ptr_array_add (names, NULL);
  return (const char **) g_ptr_array_free (names, FALSE);
}

const char **
fab_catalog_reference_names (gpointer catalog, FabRefers refers)
{
  static const FabCatalogSection sections[] = {
    [FAB_REFERS_LINK] = FAB_SECTION_LINKS,
    [FAB_REFERS_ACCELERATOR] = FAB_SECTION_ACCELERATORS,
    [FAB_REFERS_NODE] = FAB_SECTION_NODES,
    [FAB_REFERS_MODEL] = FAB_SECTION_MODELS,
    [FAB_REFERS_TECHNOLOGY] = FAB_SECTION_TECHNOLOGIES,
    [FAB_REFERS_PROCESSOR] = FAB_SECTION_PROCESSORS,
    [FAB_REFERS_FAILURES] = FAB_SECTION_FAILURES,
  };

  return fab_catalog_names (catalog, sections[refers]);
}

const FabMark *
fab_catalog_mark (const FabCatalog *self, gconstpointer field)
{
  const FabMark *mark = self->reader != NULL ? fab_schema_mark (self->reader, field) : NULL;

  return mark == NULL && self->shipped != NULL ? fab_catalog_mark (self->shipped, field) : mark;
}

/* The rules for entries that their tables cannot express: names are unique, wires end at parts of their node, packets
 * have a payload, every shipped entry has a source and a date. Each violation is a diagnostic at its field. */

static const char *const section_words[FAB_N_SECTIONS] = { "link",       "accelerator",     "node",
                                                           "model",      "product",         "technology",
                                                           "processor",  "generation",      "band",
                                                           "efficiency", "set of failures", "pair" };

static void
check_name (FabSchemaReader *reader, GHashTable *seen, guint section, const char *const *name)
{
  const char *word = section_words[section];

  if (*name != NULL && !g_hash_table_add (seen, (gpointer) *name))
    fab_schema_report (reader, name, "%s '%s' is defined twice", word, *name);
}

static void
check_origin (FabSchemaReader *reader, const char *const *name, const char *source, const char *date)
{
  if (*name != NULL && source == NULL)
    fab_schema_report (reader, name, "'%s' has no source", *name);
  if (*name != NULL && date == NULL)
    fab_schema_report (reader, name, "'%s' has no date", *name);
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
 * not. */
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

  if (link->signalling_bytes_per_s > 0 && (double) last->rate_bytes_per_s > most * rounding)
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
          reader, &regimes[i].way,
          "the row before it has no up_to, so this row is never used; only the last row of a way has none");
    else if (before != NULL && regimes[i].up_to_bytes > 0 && regimes[i].up_to_bytes <= before->up_to_bytes)
      fab_schema_report (reader, &regimes[i].up_to_bytes,
                         "rows of a way go from small to large; this row ends at or below the row before");
    last[regimes[i].way] = &regimes[i];
  }
  if (link->messages.n > 0 && last[FAB_WAY_ONE] == NULL)
    fab_schema_report (reader, &regimes[0].rate_bytes_per_s,
                       "no row has way: one, which is for a message without traffic in the other direction");
  for (guint way = 0; way < FAB_N_WAYS; way++)
    if (last[way] != NULL)
      check_last_regime (reader, link, last[way]);
}

static void
check_link (FabSchemaReader *reader, const FabLinkSpec *link, gboolean is_shipped)
{
  const double most = 1e15; /* so that 4096 times twice this rate still fits 64 bits */
  double rate = (double) link->lanes * (double) link->signalling_bytes_per_s * link->coding_fraction;
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
  if (is_shipped)
    check_origin (reader, &link->name, link->source, link->date);
}

/* Nodes ---------------------------------------------------------------------------------------------- */

/* Whether `end` names a part, or one of its members: "gpu", or "gpu3" of a part with more than 3. */
static gboolean
names_part (GHashTable *parts, const char *end)
{
  gsize length = strlen (end);

  if (g_hash_table_contains (parts, end))
    return TRUE;
  while (length > 1 && g_ascii_isdigit (end[length - 1])) {
    g_autofree char *name = g_strndup (end, --length);
    const FabPartSpec *part = g_hash_table_lookup (parts, name);
    guint64 member;

    if (part != NULL
        && g_ascii_string_to_unsigned (end + length, 10, 0, (guint64) part->count - 1, &member, NULL))
      return TRUE;
  }
  return FALSE;
}

static void
check_wire_end (FabSchemaReader *reader, const FabNodeSpec *node, GHashTable *parts, const char *const *end)
{
  g_autofree const char **names = NULL;
  const char *nearest;

  if (*end == NULL || names_part (parts, *end))
    return;
  names = (const char **) g_hash_table_get_keys_as_array (parts, NULL);
  nearest = fab_diagnostics_nearest (reader->diagnostics, *end, names);
  if (nearest != NULL)
    fab_schema_report (reader, end, "node '%s' has no part '%s'; nearest is '%s'", node->name, *end, nearest);
  else
    fab_schema_report (reader, end, "node '%s' has no part '%s'", node->name, *end);
}

/* Whether `name` looks like a member of the part: "gpu1" beside a part "gpu" of more than one. */
static gboolean
is_member_name (const char *name, const FabPartSpec *part)
{
  guint64 member;

  return name && part->name && g_str_has_prefix (name, part->name) && strlen (name) > strlen (part->name)
      && g_ascii_string_to_unsigned (name + strlen (part->name), 10, 0, (guint64) MAX (part->count, 1) - 1,
                                     &member, NULL);
}

/* Fills `by_name`: name -> FabPartSpec. */
static void
check_parts (FabSchemaReader *reader, const FabNodeSpec *node, GHashTable *by_name)
{
  const FabPartSpec *parts = node->parts.data;
  gboolean has_accelerator = FALSE, has_nic = FALSE;

  for (guint i = 0; i < node->parts.n; i++) {
    has_accelerator |= parts[i].kind == FAB_PART_ACCELERATOR;
    has_nic |= parts[i].kind == FAB_PART_NIC;
    if (parts[i].name != NULL
        && !g_hash_table_insert (by_name, (gpointer) parts[i].name, (gpointer) &parts[i]))
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
    if (parts[i].shared <= 1)
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

static void
check_node (FabSchemaReader *reader, const FabNodeSpec *node, gboolean is_shipped)
{
  g_autoptr (GHashTable) parts = g_hash_table_new (g_str_hash, g_str_equal);
  const FabWireSpec *wires = node->wires.data;

  if (node->name == NULL) /* the missing name is already reported */
    return;
  check_parts (reader, node, parts);
  check_sharing (reader, node);
  for (guint i = 0; i < node->wires.n; i++) {
    check_wire_end (reader, node, parts, &wires[i].from);
    check_wire_end (reader, node, parts, &wires[i].to);
    if (wires[i].map == FAB_WIRE_BLOCK && wires[i].from && g_strcmp0 (wires[i].from, wires[i].to) == 0)
      fab_schema_report (reader, &wires[i].to,
                         "'%s' to itself joins nothing; write map: all to connect every pair", wires[i].to);
    if ((wires[i].map == FAB_WIRE_RING || wires[i].map == FAB_WIRE_PAIRS)
        && g_strcmp0 (wires[i].from, wires[i].to) != 0)
      fab_schema_report (reader, &wires[i].to,
                         "ring and pairs connect the members of one part; '%s' and '%s' are two parts",
                         wires[i].from, wires[i].to);
  }
  if (is_shipped)
    check_origin (reader, &node->name, node->source, node->date);
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
check_product (FabSchemaReader *reader, const FabProductSpec *product, gboolean is_shipped)
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
    fab_schema_report (reader, &product->n_ports, "switch '%s' needs at least %d `ports`", product->name,
                       FAB_SWITCH_LEAST_PORTS);
  if (product->low_usd > product->price_usd
      || (product->high_usd > 0 && product->high_usd < product->price_usd))
    fab_schema_report (reader, &product->price_usd, "the price of '%s' is not from low_usd to high_usd",
                       product->name);
  if (is_shipped)
    check_origin (reader, &product->name, product->source, product->date);
}

/* Processors ----------------------------------------------------------------------------------------- */

static void
check_slowdown (FabSchemaReader *reader, const FabSlowdown *slowdown, gboolean is_shipped)
{
  if (slowdown->reached_bytes_per_s > slowdown->plain_bytes_per_s
      || (slowdown->reached_bytes_per_s == 0 && slowdown->plain_bytes_per_s > 0))
    fab_schema_report (reader, &slowdown->reached_bytes_per_s, "`reached` must be from 1 B/s to `plain`");
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
  if (is_shipped)
    check_origin (reader, &processor->name, processor->source, processor->date);
}

/* Generations and bands ------------------------------------------------------------------------------ */

static void
check_measured (FabSchemaReader *reader, gconstpointer field, gboolean is_measured, const char *source)
{
  if (is_measured && source == NULL)
    fab_schema_report (reader, field, "these numbers have no source");
}

static void
check_generation (FabSchemaReader *reader, const FabGeneration *self, gboolean is_shipped)
{
  const FabStartup *startups[] = { &self->startups.ll, &self->startups.ll128, &self->startups.simple };
  const FabRingCost *rings[] = { &self->rings.ll, &self->rings.ll128, &self->rings.simple };
  const FabTokenCost *tokens[] = { &self->tokens.dispatch,      &self->tokens.combine,
                                   &self->hybrid.dispatch,      &self->hybrid.combine,
                                   &self->low_latency.dispatch, &self->low_latency.combine };

  if (!is_shipped)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (startups); i++)
    check_measured (reader, &startups[i]->base_ps, startups[i]->base_ps + startups[i]->step_ps > 0,
                    startups[i]->source);
  for (guint i = 0; i < G_N_ELEMENTS (rings); i++)
    check_measured (reader, &rings[i]->base_ps, rings[i]->base_ps > 0, rings[i]->source);
  for (guint i = 0; i < G_N_ELEMENTS (tokens); i++)
    check_measured (reader, &tokens[i]->start_ps, tokens[i]->start_ps > 0, tokens[i]->source);
  check_measured (reader, &self->node_switch.base_ps, self->node_switch.base_ps > 0,
                  self->node_switch.source);
  check_measured (reader, &self->sends.both_bytes_per_s, self->sends.both_bytes_per_s > 0,
                  self->sends.source);
  check_measured (reader, &self->all_pairs.bytes_per_s, self->all_pairs.bytes_per_s > 0,
                  self->all_pairs.source);
  check_origin (reader, &self->name, self->source, self->date);
}

static void
check_band (FabSchemaReader *reader, const FabBandSpec *self, gboolean is_shipped)
{
  const FabBandCellSpec *cells = self->cells.data;

  for (guint i = 0; i < self->cells.n; i++)
    if (cells[i].low_factor > 1 || cells[i].high_factor < 1)
      fab_schema_report (reader, &cells[i].low_factor, "`low` must be at most 1, and `high` at least 1");
  if (is_shipped)
    check_origin (reader, &self->name, self->source, self->date);
}

/* Sections ------------------------------------------------------------------------------------------- */

static void
check_entry (FabSchemaReader *reader, guint section, gconstpointer entry, gboolean is_shipped)
{
  const FabAcceleratorSpec *accelerator = entry;
  const FabModelSpec *model = entry;
  const FabTechnology *technology = entry;

  if (section == FAB_SECTION_LINKS)
    check_link (reader, entry, is_shipped);
  else if (section == FAB_SECTION_NODES)
    check_node (reader, entry, is_shipped);
  else if (section == FAB_SECTION_PRODUCTS)
    check_product (reader, entry, is_shipped);
  else if (section == FAB_SECTION_PROCESSORS)
    check_processor (reader, entry, is_shipped);
  else if (section == FAB_SECTION_GENERATIONS)
    check_generation (reader, entry, is_shipped);
  else if (section == FAB_SECTION_BANDS)
    check_band (reader, entry, is_shipped);
  else if (section == FAB_SECTION_EFFICIENCIES)
    fab_catalog_check_efficiency (reader, entry, is_shipped);
  else if (section == FAB_SECTION_FAILURES)
    fab_failure_set_check (reader, entry, is_shipped);
  else if (section == FAB_SECTION_PAIRS)
    fab_pair_check (reader, entry, is_shipped);
  else if (section == FAB_SECTION_ACCELERATORS && is_shipped)
    check_origin (reader, &accelerator->name, accelerator->source, accelerator->date);
  else if (section == FAB_SECTION_MODELS && is_shipped)
    check_origin (reader, &model->name, model->source, model->date);
  else if (section == FAB_SECTION_TECHNOLOGIES && is_shipped)
    check_origin (reader, &technology->name, technology->source, technology->date);
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
      }
    }
  }
}
