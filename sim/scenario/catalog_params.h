/* SPDX-License-Identifier: Apache-2.0 */
/* catalog_params.h - the rows of the catalogue sections.
 *
 * A catalogue file holds the sections at its root, a scenario beside its own keys. `struct_` and `prefix_` say where
 * they are in the struct: FAB_CATALOG_ROWS (FabScenarioSpec, own.).
 */
#pragma once

#include "sim/scenario/entries.h"

#define FAB_N_SECTIONS 13

extern const FabParam fab_catalog_params[];    /* describes FabCatalogSections */
extern const FabParam fab_generation_params[]; /* describes FabGeneration */

extern const FabParam fab_link_params[];
extern const FabParam fab_accelerator_params[];
extern const FabParam fab_node_params[];
extern const FabParam fab_model_params[];
extern const FabParam fab_product_params[];
extern const FabParam fab_technology_params[];
extern const FabParam fab_processor_params[];
extern const FabParam fab_band_params[];
extern const FabParam fab_setup_params[];

#define FAB_CATALOG_ROWS(struct_, prefix_)                                                                  \
  { .key = "links",                                                                                         \
    .type = FAB_PARAM_LIST,                                                                                 \
    .offset = G_STRUCT_OFFSET (struct_, prefix_ links),                                                     \
    .table = fab_link_params,                                                                               \
    .table_size = sizeof (FabLinkSpec),                                                                     \
    .help = "Links; the numbers are for one direction." },                                                  \
      { .key = "accelerators",                                                                              \
        .type = FAB_PARAM_LIST,                                                                             \
        .offset = G_STRUCT_OFFSET (struct_, prefix_ accelerators),                                          \
        .table = fab_accelerator_params,                                                                    \
        .table_size = sizeof (FabAcceleratorSpec),                                                          \
        .help = "GPUs and other accelerators." },                                                           \
      { .key = "nodes",                                                                                     \
        .type = FAB_PARAM_LIST,                                                                             \
        .offset = G_STRUCT_OFFSET (struct_, prefix_ nodes),                                                 \
        .table = fab_node_params,                                                                           \
        .table_size = sizeof (FabNodeSpec),                                                                 \
        .help = "Machines, with their parts and wires." },                                                  \
      { .key = "models",                                                                                    \
        .type = FAB_PARAM_LIST,                                                                             \
        .offset = G_STRUCT_OFFSET (struct_, prefix_ models),                                                \
        .table = fab_model_params,                                                                          \
        .table_size = sizeof (FabModelSpec),                                                                \
        .help = "Neural networks, by their dimensions." },                                                  \
      { .key = "products",                                                                                  \
        .type = FAB_PARAM_LIST,                                                                             \
        .offset = G_STRUCT_OFFSET (struct_, prefix_ products),                                              \
        .table = fab_product_params,                                                                        \
        .table_size = sizeof (FabProductSpec),                                                              \
        .help = "Products, with prices and watts." },                                                       \
      { .key = "technologies",                                                                              \
        .type = FAB_PARAM_LIST,                                                                             \
        .offset = G_STRUCT_OFFSET (struct_, prefix_ technologies),                                          \
        .table = fab_technology_params,                                                                     \
        .table_size = sizeof (FabTechnology),                                                               \
        .help = "Technologies of links: the devices they connect and their flow control." },                \
      { .key = "processors",                                                                                \
        .type = FAB_PARAM_LIST,                                                                             \
        .offset = G_STRUCT_OFFSET (struct_, prefix_ processors),                                            \
        .table = fab_processor_params,                                                                      \
        .table_size = sizeof (FabProcessor),                                                                \
        .help = "Processors (sockets): the rate of bytes that pass through them." },                        \
      { .key = "generations",                                                                               \
        .type = FAB_PARAM_LIST,                                                                             \
        .offset = G_STRUCT_OFFSET (struct_, prefix_ generations),                                           \
        .table = fab_generation_params,                                                                     \
        .table_size = sizeof (FabGeneration),                                                               \
        .help = "Generations of accelerators: measured costs that they add to collectives." },              \
      { .key = "bands",                                                                                     \
        .type = FAB_PARAM_LIST,                                                                             \
        .offset = G_STRUCT_OFFSET (struct_, prefix_ bands),                                                 \
        .table = fab_band_params,                                                                           \
        .table_size = sizeof (FabBandSpec),                                                                 \
        .help = "Bands of collectives: measured over predicted time, by family of links." },                \
      { .key = "setups",                                                                                    \
        .type = FAB_PARAM_LIST,                                                                             \
        .offset = G_STRUCT_OFFSET (struct_, prefix_ setups),                                                \
        .table = fab_setup_params,                                                                          \
        .table_size = sizeof (FabSetup),                                                                    \
        .help = "What published runs take beyond what is priced by name." },                                \
      { .key = "failures",                                                                                  \
        .type = FAB_PARAM_LIST,                                                                             \
        .offset = G_STRUCT_OFFSET (struct_, prefix_ failures),                                              \
        .table = fab_failure_set_params,                                                                    \
        .table_size = sizeof (FabFailureSetSpec),                                                           \
        .help = "Published rates at which parts fail." },                                                   \
      { .key = "pairs",                                                                                     \
        .type = FAB_PARAM_LIST,                                                                             \
        .offset = G_STRUCT_OFFSET (struct_, prefix_ pairs),                                                 \
        .table = fab_pair_params,                                                                           \
        .table_size = sizeof (FabPairSpec),                                                                 \
        .help = "Bands of ratios of two times, measured over predicted, by what the two have in common." }, \
  {                                                                                                         \
    .key = "designs", .type = FAB_PARAM_LIST, .offset = G_STRUCT_OFFSET (struct_, prefix_ designs),         \
    .table = fab_design_params, .table_size = sizeof (FabDesignSpec),                                       \
    .help = "Machines as they are sold or were built, in scalable units."                                   \
  }

/* Returns the entries of one section; `entry_size` may be NULL. */
const FabParamList *fab_catalog_section (const FabCatalogSections *sections, guint section,
                                         gsize *entry_size);
