/* SPDX-License-Identifier: Apache-2.0 */
/* secret.h - two ends prove to each other that they know a secret, without sending it.
 *
 * Each end chooses a nonce. An end's code is HMAC-SHA256 (RFC 2104) with the secret as its key, over who speaks, the
 * version of the protocol, both nonces and the HELLO frame: so a code cannot be sent again in another conversation, nor
 * sent back to the end that made it, and nobody can have changed the HELLO. What follows is neither encrypted nor
 * authenticated: the secret keeps strangers out, not those who can change what is on the wire.
 */
#pragma once

#include "validate/measure/frame.h"

/* Fewer characters could be guessed by whoever has seen one conversation. */
#define FAB_SECRET_MIN_BYTES 16
#define FAB_SECRET_MAX_BYTES 4096

/* Fills with random bytes of the kernel. */
void fab_secret_random (gpointer bytes, gsize size);

/* The asking end: answers `challenge` to its HELLO, and checks that the other end knows the secret too. */
gboolean fab_secret_prove (FabControl *control, GBytes *secret, const FabFrame *hello,
                           const FabFrame *challenge, GError **error);

/* The listening end: asks the end that sent HELLO for a proof, and proves its own knowledge. */
gboolean fab_secret_demand (FabControl *control, GBytes *secret, const FabFrame *hello, GError **error);
