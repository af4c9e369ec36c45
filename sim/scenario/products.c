/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/products.h"

#include <math.h>

static const double rate_rounding = 1e-6;

/* How well a product meets a need; earlier members count first. */
typedef struct {
  gboolean is_same; /* it is the link's own product, at its own rate */
  FabBytesPerS rate_bytes_per_s;
  gboolean is_own, has_price;
  double usd;
} Fit;

static gboolean
is_better (const Fit *a, const Fit *b)
{
  if (a->is_same != b->is_same)
    return a->is_same;
  if (a->rate_bytes_per_s != b->rate_bytes_per_s)
    return a->rate_bytes_per_s < b->rate_bytes_per_s;
  if (a->is_own != b->is_own)
    return a->is_own;
  if (a->has_price != b->has_price)
    return a->has_price;
  return a->usd < b->usd;
}

static gboolean
is_fast_enough (FabBytesPerS rate, FabBytesPerS wanted)
{
  return (double) rate >= (double) wanted * (1 - rate_rounding);
}

static gboolean
serves_link (const FabCatalog *catalog, const FabProductSpec *product, const FabNeed *need, Fit *fit)
{
  const FabLinkSpec *link = fab_catalog_link (catalog, product->link);

  if (link == NULL || (need->kind == FAB_PRODUCT_CABLE && product->reach_mm < need->length_mm))
    return FALSE;
  FabBytesPerS rate = fab_link_spec_line_rate (link);
  double off = fabs ((double) rate - (double) need->rate_bytes_per_s) / (double) rate;
  fit->is_same = g_strcmp0 (product->link, need->name) == 0 && off < rate_rounding;
  if (!fit->is_same
      && (g_strcmp0 (link->technology, need->technology) != 0
          || !is_fast_enough (rate, need->rate_bytes_per_s)))
    return FALSE;
  fit->rate_bytes_per_s = rate;
  fit->usd = need->kind == FAB_PRODUCT_CABLE ? fab_product_cable_usd (catalog, product) : product->price_usd;
  fit->has_price = fit->usd > 0;
  return TRUE;
}

static gboolean
serves (const FabCatalog *catalog, const FabProductSpec *product, const FabNeed *need, Fit *fit)
{
  if (product->kind != (int) need->kind)
    return FALSE;
  *fit = (Fit){ .is_own = fab_catalog_is_own (catalog, FAB_SECTION_PRODUCTS, product->name) };
  if (need->kind == FAB_PRODUCT_ACCELERATOR)
    return g_strcmp0 (product->accelerator, need->name) == 0;
  if (need->kind == FAB_PRODUCT_NODE)
    return g_strcmp0 (product->node, need->name) == 0;
  return serves_link (catalog, product, need, fit);
}

const FabProductSpec *
fab_product_find (const FabCatalog *catalog, const FabNeed *need)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_PRODUCTS);
  const FabProductSpec *best = NULL;
  Fit best_fit = { 0 }, fit;

  for (guint i = 0; names[i] != NULL; i++) {
    const FabProductSpec *product = fab_catalog_product (catalog, names[i]);

    if (serves (catalog, product, need, &fit) && (best == NULL || is_better (&fit, &best_fit))) {
      best = product;
      best_fit = fit;
    }
  }
  return best;
}

double
fab_product_cable_usd (const FabCatalog *catalog, const FabProductSpec *cable)
{
  if (cable->n_optics == 0)
    return cable->price_usd;
  const FabLinkSpec *link = fab_catalog_link (catalog, cable->link);
  const FabProductSpec *optic = fab_product_find (
      catalog, &(FabNeed){ .kind = FAB_PRODUCT_OPTIC,
                           .name = cable->link,
                           .technology = link->technology,
                           .rate_bytes_per_s = fab_link_spec_line_rate (link) });
  return cable->price_usd > 0 && optic != NULL && optic->price_usd > 0
           ? cable->price_usd + (double) cable->n_optics * optic->price_usd
           : 0;
}
