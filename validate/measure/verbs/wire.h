/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h - exchanges what the ends need before RDMA works: the asking end's request, then the cards of both.
 *
 * The structures are sent as they lie in memory; a machine with another layout shows another magic. */
#pragma once

#include "validate/measure/verbs/verbs.h"

/* the last byte is the version */
enum { FAB_VERBS_REQUEST = 0x46767202, FAB_VERBS_CARD = 0x46766302 };

gboolean fab_verbs_receive_request (FabControl *control, FabVerbsRequest *request, GError **error);
gboolean fab_verbs_receive_card (FabControl *control, FabVerbsCard *card, GError **error);
