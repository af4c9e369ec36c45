/* SPDX-License-Identifier: Apache-2.0 */
/* outer.h - data parallelism between sites that seldom talk: local steps in each site, an outer step every so often.
 *
 * The data-parallel replicas are divided into `sites` runs of neighbours. Inside a site the strategy of the job works
 * as ever. After `every` steps the sites sum how far their parameters have moved, and an outer optimizer (Nesterov
 * momentum) updates all of them: DiLoCo (Douillard et al. 2023, arXiv 2311.08105). Each rank sums the part of the
 * parameters that it has, or, where ranks have whole copies, an equal part, which it then gathers inside its site.
 *
 * The simulator plays one step, the average one: it has 1 / every of that communication. With `overlap` the sums of
 * fragments of the model are spread over the steps and go on beside the compute: Streaming DiLoCo (Douillard et al.
 * 2025, arXiv 2501.18512). outer_step.h adds them to a stage.
 */
#pragma once

#include "sim/base/param.h"

typedef struct {
  gint64 sites;      /* 1: there is no outer step */
  gint64 every;      /* steps */
  gint64 bits;       /* of a number that is sent */
  gboolean overlaps; /* the sums go on beside the compute of the step */
  FabBytes state_bytes_per_parameter;
} OuterParams;

extern const FabParam outer_params[];

/* Whether the job can be divided into sites. `n_experts` ranks share the experts. */
gboolean outer_check_layout (const OuterParams *self, guint n_data, guint n_experts, GError **error);
