/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/design.h"

#include <string.h>

#include "sim/config/schema_reader.h"
#include "sim/scenario/catalog_params.h"

/* A design that is laid under a cluster. */
typedef struct {
  FabYamlDoc *doc;
  const FabCatalog *shipped;
  FabSchemaReader *own; /* of the document's own designs */
  const FabDesignSpec *spec;
  char *origin; /* what messages call the keys */
  FabDiagnostics *diagnostics;
} Laying;

static const FabYamlNode *
cluster_of (const FabYamlDoc *doc)
{
  return fab_yaml_get (fab_yaml_doc_root (doc), "cluster");
}

static const char *
text_at (const FabYamlNode *mapping, const char *key)
{
  const FabYamlNode *node = mapping != NULL ? fab_yaml_get (mapping, key) : NULL;

  return node != NULL && node->kind == FAB_YAML_SCALAR ? node->text : NULL;
}

static const gint64 most_units = 1000000; /* and nodes */

/* A whole number of the cluster; 0: it is not there, or wrong, which the reader of the scenario says. One below 0 means
 * no more than 0 does. */
static gint64
whole_at (const FabYamlDoc *doc, const char *key)
{
  const char *text = text_at (cluster_of (doc), key);
  gint64 value;

  return text != NULL && fab_units_parse_whole (FAB_UNIT_COUNT, text, &value, NULL) && value <= most_units
           ? value
           : 0;
}

/* The design in the document's own list; what is wrong with the list is said elsewhere. */
static const FabDesignSpec *
find_own (FabSchemaReader *reader, const FabYamlDoc *doc, const char *name)
{
  const FabYamlNode *list = fab_yaml_get (fab_yaml_doc_root (doc), "designs");
  const FabYamlNode *item = list != NULL ? fab_yaml_named_item (list, name) : NULL;

  if (item == NULL)
    return NULL;
  FabDesignSpec *self = fab_schema_reader_alloc (reader, sizeof *self);
  fab_schema_read (reader, item, fab_design_params, self);
  return self->node != NULL && self->unit_nodes > 0 ? self : NULL;
}

static gboolean
is_written (const Laying *self, gconstpointer field)
{
  return fab_schema_mark (self->own, field) != NULL || fab_catalog_mark (self->shipped, field) != NULL;
}

/* Adds a key that the document has not. */
static void
lay (const Laying *self, const char *key, FabValue *value)
{
  g_autoptr (FabValue) taken = value;
  g_autofree char *path = g_strconcat ("cluster.", key, NULL);

  if (taken != NULL && (cluster_of (self->doc) == NULL || fab_yaml_get (cluster_of (self->doc), key) == NULL))
    fab_yaml_doc_put (self->doc, self->origin, path, taken, self->diagnostics);
}

/* Whether the document chooses no model of its own here: it may set keys of the design's. */
static gboolean
is_open (const FabYamlNode *written, const char *kind)
{
  const char *own = text_at (written, "kind");

  return written == NULL || (written->kind == FAB_YAML_MAPPING && (own == NULL || strcmp (own, kind) == 0));
}

/* Lays the model and its written keys. */
static void
lay_model (const Laying *self, const char *key, const FabModelChoice *choice)
{
  const FabYamlNode *cluster = cluster_of (self->doc);
  const FabYamlNode *written = cluster != NULL ? fab_yaml_get (cluster, key) : NULL;

  if (choice->info == NULL || !is_open (written, choice->info->name))
    return;
  for (const FabParam *row = choice->info->params; row != NULL && row->key != NULL; row++) {
    g_autofree char *path = g_strconcat ("cluster.", key, ".", row->key, NULL);
    g_autoptr (FabValue) value = NULL;

    if (is_written (self, fab_schema_field (choice->params, row))
        && (written == NULL || fab_yaml_get (written, row->key) == NULL)
        && fab_schema_get (choice->info->params, choice->params, row->key, &value, NULL))
      fab_yaml_doc_put (self->doc, self->origin, path, value, self->diagnostics);
  }
  g_autofree char *path = g_strconcat ("cluster.", key, ".kind", NULL);
  g_autoptr (FabValue) kind = fab_value_text (choice->info->name);
  if (text_at (written, "kind") == NULL)
    fab_yaml_doc_put (self->doc, self->origin, path, kind, self->diagnostics);
}

/* As many as are written, or as the nodes need. */
static gint64
units_of (const Laying *self)
{
  gint64 units = whole_at (self->doc, "scalable_units"), nodes = whole_at (self->doc, "nodes"),
         each = self->spec->unit_nodes;

  return units > 0 ? units : MAX (1, (nodes + each - 1) / each);
}

static void
report_units (const Laying *self, gint64 units)
{
  const FabYamlNode *cluster = cluster_of (self->doc), *at = fab_yaml_get (cluster, "scalable_units");
  gint64 most = fab_design_most_units (self->spec), each = self->spec->unit_nodes;

  at = at != NULL ? at : fab_yaml_get (cluster, "nodes");
  fab_diagnostics_add (self->diagnostics, at != NULL ? &at->mark : &cluster->mark,
                       "design '%s' goes up to %" G_GINT64_FORMAT " scalable %s of %" G_GINT64_FORMAT
                       " %s, not %" G_GINT64_FORMAT "; for more, write the fabric of the cluster",
                       self->spec->name, most, fab_plural ((guint64) most, "unit", "units"), each,
                       fab_plural ((guint64) each, "node", "nodes"), units);
}

static void
report_nodes (const Laying *self, gint64 nodes, gint64 most)
{
  fab_diagnostics_add (self->diagnostics, &fab_yaml_get (cluster_of (self->doc), "nodes")->mark,
                       "%" G_GINT64_FORMAT
                       " nodes are more than the scalable units of design '%s' hold, which is "
                       "%" G_GINT64_FORMAT "; leave `scalable_units` out for as many as are needed",
                       nodes, self->spec->name, most);
}

static void
lay_cluster (const Laying *self)
{
  gint64 units = units_of (self), all = units * self->spec->unit_nodes, nodes = whole_at (self->doc, "nodes");
  const FabDesignSize *size = fab_design_size (self->spec, units);
  gboolean has_fabric = !is_open (fab_yaml_get (cluster_of (self->doc), "fabric"), "");

  if (nodes > all)
    report_nodes (self, nodes, all);
  if (size == NULL && !has_fabric)
    report_units (self, units);
  lay (self, "node", fab_value_text (self->spec->node));
  lay (self, "nic", fab_value_text (self->spec->nic));
  if (self->spec->nic_ports > 1)
    lay (self, "nic_ports", fab_value_count (self->spec->nic_ports));
  if (nodes > 0 && nodes < all)
    lay (self, "places", fab_value_count (all));
  lay (self, "nodes", fab_value_count (all));
  lay (self, "scalable_units", fab_value_count (units));
  if (size != NULL)
    lay_model (self, "fabric", &size->fabric);
  lay_model (self, "route", &self->spec->route);
}

void
fab_design_lay (FabYamlDoc *doc, const FabRegistry *registry, const FabCatalog *shipped,
                FabDiagnostics *diagnostics)
{
  const char *name = text_at (cluster_of (doc), "design");
  g_autoptr (FabDiagnostics) unheard = fab_diagnostics_new ();
  g_autoptr (FabSchemaReader) own = fab_schema_reader_new (registry, unheard);
  Laying self = { .doc = doc, .shipped = shipped, .own = own, .diagnostics = diagnostics };

  if (name == NULL)
    return;
  self.spec = find_own (own, doc, name);
  if (self.spec == NULL)
    self.spec = fab_catalog_entry (shipped, FAB_SECTION_DESIGNS, name);
  if (self.spec == NULL || self.spec->sizes.n == 0)
    return;
  self.origin = g_strconcat ("design ", name, NULL);
  lay_cluster (&self);
  g_free (self.origin);
}
