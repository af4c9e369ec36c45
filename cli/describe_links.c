/* SPDX-License-Identifier: Apache-2.0 */
/* describe_links.c - links as a table by technology, technologies as one, and the rates that one link's
 * numbers make. O(links^2). */
#include "cli/describe_links.h"

#include <string.h>

static double
achievable_gb_per_s (const FabLinkSpec *link, FabDrive drive)
{
  return (double) fab_link_spec_line_rate (link) / fab_link_spec_cost (link, drive) / 1e9;
}

static gboolean
has_multimem (const FabLinkSpec *link)
{
  return link->multimem.payload_bytes > 0;
}

void
fab_describe_link_rates (const FabLinkSpec *link)
{
  static const char *const drives[] = { "copy engine, NIC", "kernel", "kernel, reduced in a switch" };

  g_print ("# line rate, one direction: %.6g GB/s\n", (double) fab_link_spec_line_rate (link) / 1e9);
  for (guint drive = 0; drive < (has_multimem (link) ? FAB_N_DRIVES : FAB_DRIVE_MULTIMEM); drive++)
    g_print ("# achievable, %s: %.6g GB/s\n", drives[drive], achievable_gb_per_s (link, (FabDrive) drive));
  if (link->collective_fraction > 0)
    g_print ("# reached by collectives: %.6g GB/s\n",
             achievable_gb_per_s (link, FAB_DRIVE_COPY) * link->collective_fraction);
}

static const char *
technology_of (const FabLinkSpec *link)
{
  return link->technology ? link->technology : "other";
}

static void
print_link (const FabLinkSpec *link)
{
  g_print ("  %-26s %8.2f %8.2f %8.2f ", link->name, (double) fab_link_spec_line_rate (link) / 1e9,
           achievable_gb_per_s (link, FAB_DRIVE_COPY), achievable_gb_per_s (link, FAB_DRIVE_KERNEL));
  if (has_multimem (link))
    g_print ("%8.2f", achievable_gb_per_s (link, FAB_DRIVE_MULTIMEM));
  else
    g_print ("%8s", "-");
  g_print ("  %s\n", link->summary ? link->summary : "");
}

static void
print_technology (const FabCatalog *catalog, const char *const *names, const char *technology)
{
  g_print ("\n%s\n", technology);
  for (guint i = 0; names[i]; i++) {
    const FabLinkSpec *link = fab_catalog_link (catalog, names[i]);

    if (strcmp (technology_of (link), technology) == 0)
      print_link (link);
  }
}

void
fab_describe_links (const FabCatalog *catalog)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_LINKS);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) technologies = g_ptr_array_new ();

  for (guint i = 0; names[i]; i++) {
    const char *technology = technology_of (fab_catalog_link (catalog, names[i]));

    if (g_hash_table_add (seen, (gpointer) technology))
      g_ptr_array_add (technologies, (gpointer) technology);
  }
  g_print (
      "GB/s, one link, one direction: line rate, and what a copy engine or NIC, a kernel, and a kernel whose\n"
      "data a switch reduces reach of it.\n\n");
  g_print ("  %-26s %8s %8s %8s %8s\n", "link", "line", "copy", "kernel", "reduced");
  for (guint i = 0; i < technologies->len; i++)
    print_technology (catalog, names, g_ptr_array_index (technologies, i));
}

static const char *
choice_of (const char *key, int value)
{
  const FabParam *row = fab_catalog_params[FAB_SECTION_TECHNOLOGIES].table;

  while (strcmp (row->key, key) != 0)
    row++;
  return row->choices[value];
}

void
fab_describe_technologies (const FabCatalog *catalog)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_TECHNOLOGIES);

  g_print ("%-20s %-14s %-14s %s\n", "technology", "joins", "flow control", "summary");
  for (guint i = 0; names[i]; i++) {
    const FabTechnology *technology = fab_catalog_technology (catalog, names[i]);

    g_print ("%-20s %-14s %-14s %s\n", names[i], choice_of ("joins", technology->joins),
             choice_of ("flow_control", technology->flow_control),
             technology->summary ? technology->summary : "");
  }
}
