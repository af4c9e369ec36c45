/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h - what the two ends tell each other before RDMA works: first the asking end its request, then both their
 * card. The structures are sent as they are; a machine that lays them out differently shows another magic. */
#pragma once

#include "validate/measure/verbs/verbs.h"

/* The last byte is the version. */
enum { FAB_VERBS_REQUEST = 0x46767202, FAB_VERBS_CARD = 0x46766302 };

gboolean fab_verbs_receive_request (FabControl *control, FabVerbsRequest *request, GError **error);
gboolean fab_verbs_receive_card (FabControl *control, FabVerbsCard *card, GError **error);
