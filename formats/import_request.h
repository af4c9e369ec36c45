/* SPDX-License-Identifier: Apache-2.0 */
/* import_request.h - what a reader of a machine or of a model is given. */
#pragma once

#include "formats/format.h"
#include "sim/registry.h"

struct _FabImportRequest {
  FabFileText file;
  const char *format;      /* NULL: recognised from the text */
  const char *accelerator; /* catalogue entries, where the text does not name them; NULL: inferred */
  const char *nic;
  const char *name;       /* of the scenario; NULL: "imported" */
  guint n_nodes;          /* 0: the number in the text, or 1 */
  const GPtrArray *hosts; /* FabImportedHost: machines of which a network is (network_join.h); NULL: none */
  const FabRegistry *registry; /* whose keys an entry of `models` has */
};
