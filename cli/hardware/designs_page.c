/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/hardware/designs_page.h"

#include "sim/base/units.h"

enum {
  MOST_DRAWN_NODES = 12000, /* a larger machine is drawn with few units */
  FEW_UNITS = 4,
};

static const char head[] =
    "# Designs\n\n"
    "This page is for planners who look for a machine by its name. `fabricast describe designs --format\n"
    "markdown` writes it, and a test holds it and its pictures against the program.\n"
    "[Machines as they are sold](../how-to/designs.md) says how to use a design, and\n"
    "[the table of bills](validation-bills.md) holds counts against the documents.\n\n"
    "A picture is of the size whose storage and other networks the document counts, and these stand below\n"
    "it; where no document does, of the largest size. Boxes that are alike are drawn a few times. Machines\n"
    "of clouds have the usual fabric of their node, since nobody publishes theirs, and no picture.\n\n";

static gboolean
is_text (const char *text)
{
  return text != NULL && *text != '\0';
}

static const FabDesignSize *
last_size (const FabDesignSpec *self)
{
  return fab_design_size (self, fab_design_most_units (self));
}

static gboolean
has_picture (const FabDesignSpec *self)
{
  return last_size (self)->fabric.info != NULL;
}

/* The size whose other networks the document counts, or else the largest one. */
static gint64
drawn_units (const FabDesignSpec *self)
{
  gint64 most = fab_design_most_units (self);

  if (self->parts.n > 0)
    return ((const FabDesignPart *) self->parts.data)->units;
  return most * self->unit_nodes <= MOST_DRAWN_NODES ? most : FEW_UNITS;
}

/* Rows of counts that were read in a document. */
static guint
n_checked (const FabDesignSpec *self)
{
  guint n = 0;

  for (guint i = 0; i < self->counts.n; i++)
    n += !((const FabDesignCounts *) self->counts.data)[i].is_unchecked;
  return n;
}

static gboolean
is_assuming (const FabDesignSpec *self)
{
  gboolean is_assumed = is_text (self->assumed);

  for (guint i = 0; i < self->sizes.n; i++)
    is_assumed = is_assumed || is_text (((const FabDesignSize *) self->sizes.data)[i].assumed);
  return is_assumed;
}

/* How much of the entry a document says. */
static const char *
basis_of (const FabDesignSpec *self)
{
  return n_checked (self) == 0 ? "assumed" : is_assuming (self) ? "published in part" : "published";
}

static void
append_overview (GString *page, const FabDesignSpec *self)
{
  g_string_append_printf (
      page, "| [%s](#%s) | `%s` | %" G_GINT64_FORMAT " | %" G_GINT64_FORMAT " | %s | %u | %s |\n", self->name,
      self->name, self->node, self->unit_nodes, fab_design_most_units (self),
      has_picture (self) ? last_size (self)->fabric.info->name : "usual", n_checked (self), basis_of (self));
}

/* "up to 1, 2 and 4 units" */
static void
append_sizes (GString *page, const FabDesignSpec *self)
{
  const FabDesignSize *sizes = self->sizes.data;

  g_string_append (page, "- Sizes: up to ");
  for (guint i = 0; i < self->sizes.n; i++)
    g_string_append_printf (page, "%s%" G_GINT64_FORMAT,
                            i == 0                   ? ""
                            : i + 1 == self->sizes.n ? " and "
                                                     : ", ",
                            sizes[i].units);
  g_string_append_printf (page, " units of %" G_GINT64_FORMAT " node%s `%s`%s%s%s.\n", self->unit_nodes,
                          fab_plural (self->unit_nodes, "", "s"), self->node,
                          self->nic != NULL ? " with NICs `" : "", self->nic != NULL ? self->nic : "",
                          self->nic != NULL ? "`" : "");
}

static void
append_picture (GString *page, const FabDesignSpec *self)
{
  if (has_picture (self))
    g_string_append_printf (page,
                            "![The fabric of %s](pictures/%s.svg)\n\n"
                            "    fabricast topo --design %s --units %" G_GINT64_FORMAT
                            " --only fabric --format svg > pictures/%s.svg\n\n",
                            self->name, self->name, self->name, drawn_units (self), self->name);
}

/* Sizes that follow one another and assume the same share a line. */
static void
append_size_assumptions (GString *page, const FabDesignSpec *self)
{
  const FabDesignSize *sizes = self->sizes.data;

  for (guint i = 0; i < self->sizes.n; i++) {
    gint64 from = i > 0 ? sizes[i - 1].units + 1 : 1;

    if (!is_text (sizes[i].assumed))
      continue;
    while (i + 1 < self->sizes.n && g_strcmp0 (sizes[i].assumed, sizes[i + 1].assumed) == 0)
      i++;
    if (from < sizes[i].units)
      g_string_append_printf (page, "- Assumed from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " units: %s\n",
                              from, sizes[i].units, sizes[i].assumed);
    else
      g_string_append_printf (page, "- Assumed with %" G_GINT64_FORMAT " unit%s: %s\n", from,
                              fab_plural (from, "", "s"), sizes[i].assumed);
  }
}

static void
append_design (GString *page, const FabDesignSpec *self)
{
  g_string_append_printf (page, "\n## %s\n\n", self->name);
  append_picture (page, self);
  g_string_append_printf (page, "- Machine: %s.\n", self->summary);
  append_sizes (page, self);
  if (is_text (self->transport))
    g_string_append_printf (page, "- Routing and congestion control: %s.\n", self->transport);
  if (is_text (self->assumed))
    g_string_append_printf (page, "- Assumed: %s\n", self->assumed);
  append_size_assumptions (page, self);
  g_string_append_printf (page, "- Source: %s (read on %s).\n", self->source, self->date);
}

char *
fab_designs_markdown (const FabCatalog *catalog)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_DESIGNS);
  GString *page = g_string_new (head);

  g_string_append (page, "| design | node | nodes of a unit | most units | fabric | checked rows | basis |\n"
                         "|---|---|---|---|---|---|---|\n");
  for (guint i = 0; names[i] != NULL; i++)
    append_overview (page, fab_catalog_entry (catalog, FAB_SECTION_DESIGNS, names[i]));
  for (guint i = 0; names[i] != NULL; i++)
    append_design (page, fab_catalog_entry (catalog, FAB_SECTION_DESIGNS, names[i]));
  return g_string_free (page, FALSE);
}
