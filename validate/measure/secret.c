/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/measure/secret.h"

#include <string.h>
#include <sys/random.h>

#include "sim/base/error.h"

enum { NONCE_BYTES = 32, CODE_BYTES = 32 };

typedef enum { ASKING, LISTENING } Speaker;

/* What the two ends chose: the nonce of the asking end, then that of the listening one. */
typedef struct {
  guint8 asking[NONCE_BYTES], listening[NONCE_BYTES];
} Nonces;

/* The data of the asking end's PROOF. */
typedef struct {
  guint8 nonce[NONCE_BYTES], code[CODE_BYTES];
} Proof;

void
fab_secret_random (gpointer bytes, gsize size)
{
  for (gsize n = 0; n < size;) {
    gssize got = getrandom ((char *) bytes + n, size - n, 0);

    n += got > 0 ? (gsize) got : 0;
  }
}

static void
make_code (GBytes *secret, Speaker speaker, const Nonces *nonces, const FabFrame *hello, guint8 *code)
{
  gsize n_key, n_code = CODE_BYTES;
  const guint8 *key = g_bytes_get_data (secret, &n_key);
  g_autoptr (GHmac) hmac = g_hmac_new (G_CHECKSUM_SHA256, key, n_key);
  g_autofree char *head = g_strdup_printf ("fabricast measure %u %s %u %u %" G_GUINT64_FORMAT
                                           " %" G_GSIZE_FORMAT "\n",
                                           FAB_FRAME_VERSION, speaker == ASKING ? "asks" : "listens",
                                           hello->number, hello->count, (guint64) hello->size_bytes,
                                           hello->n_data);

  g_hmac_update (hmac, (const guchar *) head, (gssize) strlen (head));
  g_hmac_update (hmac, (const guchar *) nonces, sizeof *nonces);
  if (hello->n_data > 0)
    g_hmac_update (hmac, (const guchar *) hello->data, (gssize) hello->n_data);
  g_hmac_get_digest (hmac, code, &n_code);
}

/* Compares in a time that does not depend on where they differ. */
static gboolean
is_same_code (const guint8 *a, const guint8 *b)
{
  guint8 difference = 0;

  for (guint i = 0; i < CODE_BYTES; i++)
    difference |= a[i] ^ b[i];
  return difference == 0;
}

static gboolean
fail_secret (const FabControl *control, GError **error)
{
  return fab_throw (error, FAB_ERROR_IO,
                    "%s does not know the secret of this end; give both ends the same --secret-file",
                    control->there);
}

gboolean
fab_secret_prove (FabControl *control, GBytes *secret, const FabFrame *hello, const FabFrame *challenge,
                  GError **error)
{
  Nonces nonces;
  Proof proof;
  guint8 expected[CODE_BYTES];
  g_auto (FabFrame) answer = { 0 };

  if (challenge->n_data != NONCE_BYTES)
    return fab_throw (error, FAB_ERROR_IO, "%s sends a message that the protocol does not have",
                      control->there);
  if (secret == NULL)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s asks for a secret; give the file that holds it: --secret-file FILE",
                      control->there);
  fab_secret_random (nonces.asking, NONCE_BYTES);
  memcpy (nonces.listening, challenge->data, NONCE_BYTES);
  memcpy (proof.nonce, nonces.asking, NONCE_BYTES);
  make_code (secret, ASKING, &nonces, hello, proof.code);
  FabFrame frame = { .type = FAB_FRAME_PROOF, .n_data = sizeof proof, .data = (char *) &proof };
  if (!fab_frame_send (control, &frame, error)
      || !fab_frame_expect (control, FAB_FRAME_PROOF, &answer, error))
    return FALSE;
  make_code (secret, LISTENING, &nonces, hello, expected);
  return (answer.n_data == CODE_BYTES && is_same_code (expected, (const guint8 *) answer.data))
      || fail_secret (control, error);
}

gboolean
fab_secret_demand (FabControl *control, GBytes *secret, const FabFrame *hello, GError **error)
{
  Nonces nonces;
  guint8 code[CODE_BYTES];
  g_auto (FabFrame) proof = { 0 };

  fab_secret_random (nonces.listening, NONCE_BYTES);
  FabFrame challenge = { .type = FAB_FRAME_CHALLENGE,
                         .n_data = NONCE_BYTES,
                         .data = (char *) nonces.listening };
  if (!fab_frame_send (control, &challenge, error)
      || !fab_frame_expect (control, FAB_FRAME_PROOF, &proof, error))
    return FALSE;
  if (proof.n_data != sizeof (Proof))
    return fail_secret (control, error);
  memcpy (nonces.asking, proof.data, NONCE_BYTES);
  make_code (secret, ASKING, &nonces, hello, code);
  if (!is_same_code (code, (const guint8 *) proof.data + NONCE_BYTES))
    return fail_secret (control, error);
  make_code (secret, LISTENING, &nonces, hello, code);
  FabFrame answer = { .type = FAB_FRAME_PROOF, .n_data = CODE_BYTES, .data = (char *) code };
  return fab_frame_send (control, &answer, error);
}
