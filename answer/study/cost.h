/* SPDX-License-Identifier: Apache-2.0 */
/* cost.h - what a machine consists of and costs, and what a job on it costs, with the range of each amount. */
#pragma once

#include "sim/result/table.h"
#include "sim/study/study_band.h"

typedef struct {
  FabScenario *scenario;
  const FabCostSpec *cost; /* of the scenario */
  FabBill *bill;
  FabPoint *point;
  FabBand *band;      /* of the step; NULL: not asked for, or nothing is uncertain */
  char **no_price;    /* "nic connectx-7", parts without a price, NULL-ended */
  char **no_watts;    /* parts without watts, as above; cables draw none */
  char **not_counted; /* what a bought machine costs beside, and nobody said how much: "staff"; NULL-ended */
  const FabDesignSpec *design; /* of the cluster; NULL: none */
  GPtrArray *
      beside; /* FabDesignPart that the design's document counts beside the compute network for as many units */
  const char
      *left_out; /* of what was bought, no row counts it: "racks, cooling"; NULL: the machine is rented */
  const char *first_date, *last_date; /* of the prices; NULL: there is none */
} FabCostAnswer;

/* Of the study's own scenario. NULL and *error when it cannot be simulated or its parts not counted. (transfer full) */
FabCostAnswer *fab_cost_answer (const FabStudy *study, gboolean has_band, GError **error);
void fab_cost_answer_free (FabCostAnswer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabCostAnswer, fab_cost_answer_free)

/* The range of an amount of money of a point: over prices, and over the band of its step (NULL: none). */
FabMoney fab_cost_range (const FabPoint *point, const FabBand *band, double usd);

/* The figures with a range, NULL-ended, and that of one of them: of the step in seconds, of the others in dollars. */
extern const char *const fab_cost_ranged[];
FabMoney fab_cost_figure_range (const FabCostAnswer *self, const FabFigure *figure);

/* Whether the part is a cable with a product: it draws no power. */
gboolean fab_cost_is_passive (const FabBillRow *row);

/* The price of all parts of a kind; 0: there is none. */
double fab_cost_part_usd (const FabCostAnswer *self, const FabDesignPart *part);

/* The parts as rows. (transfer full) */
FabTable *fab_cost_table (const FabCostAnswer *self);
