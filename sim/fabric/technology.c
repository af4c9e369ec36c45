/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/technology.h"

const FabTechnology fab_technology_unnamed = {
  .name = "other",
  .joins = FAB_JOINS_MACHINES,
  .flow_control = FAB_FLOW_CREDIT,
  .has_p2p = TRUE,
  .host_stretch = 1,
};
