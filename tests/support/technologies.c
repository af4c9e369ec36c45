/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/technologies.h"

const FabTechnology test_pcie = { .name = "PCIe", .joins = FAB_JOINS_DEVICES, .has_p2p = TRUE };
const FabTechnology test_nvlink = {
  .name = "NVLink", .joins = FAB_JOINS_ACCELERATORS, .has_p2p = TRUE, .can_relay = TRUE, .matrix_label = "NV"
};
const FabTechnology test_c2c = { .name = "NVLink-C2C", .joins = FAB_JOINS_COHERENTLY, .has_p2p = TRUE };
const FabTechnology test_xgmi = { .name = "xGMI", .joins = FAB_JOINS_ACCELERATORS, .has_p2p = TRUE };
const FabTechnology test_upi = {
  .name = "UPI", .joins = FAB_JOINS_SOCKETS, .has_p2p = TRUE, .host_stretch = 1.2
};
const FabTechnology test_memory = { .name = "Memory", .joins = FAB_JOINS_MEMORY, .has_p2p = TRUE };
const FabTechnology test_ethernet = {
  .name = "Ethernet", .joins = FAB_JOINS_ETHERNET, .flow_control = FAB_FLOW_PFC, .has_p2p = TRUE
};
const FabTechnology test_infiniband = { .name = "InfiniBand", .joins = FAB_JOINS_MACHINES, .has_p2p = TRUE };
const FabGeneration test_generation = {
  .name = "ampere",
  .issue_ps = 4300000,
  .startups = { .ll = { 6600000, 1000000, NULL },
                .ll128 = { 14000000, 2500000, NULL },
                .simple = { 15000000, 5000000, NULL } },
  .sends = { .ll_ps = 9700000,
             .simple_ps = 7800000,
             .channel_ps = 770000,
             .ll_bytes_per_s = 4900000000,
             .both_bytes_per_s = 13900000000,
             .alone_bytes_per_s = 21200000000,
             .sharpness = 2.1 },
};

const FabProcessor test_processor = { .name = "generic", .proxy_ps = 1000000 };
