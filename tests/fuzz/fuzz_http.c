/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_http.c - what a visitor may send to `fabricast explore`: the server answers in time and in bounds, or closes.
 *
 * An input is the bytes of one connection behind a byte that says in pieces of how many they are sent (0: at once).
 * The server is the program's own. A setting becomes its scenario, and is not simulated.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/explore/server.h"
#include "models/models.h"
#include "tests/fuzz/target.h"

enum { LONGEST_S = 5, MOST_PIECES = 8, MAX_ANSWER_BYTES = 1 << 20 };

/* --- answers without a simulation --- */

FabAnswer
fab_explored_answer (const FabExplored *self, const FabKnobSetting *setting,
                     G_GNUC_UNUSED gboolean has_report)
{
  FabAnswer answer = { .setting = fab_explored_yaml (self, setting) };
  g_autofree char *command = fab_explored_command (self, setting);
  g_autoptr (FabScenario) scenario = fab_explored_scenario (self, setting, &answer.problem);

  fuzz_check_text (command);
  if (scenario == NULL)
    fuzz_check_message (answer.problem);
  return answer;
}

void
fab_answer_clear (FabAnswer *self)
{
  g_free (self->setting);
  g_clear_error (&self->problem);
}

char *
fab_answer_json (const FabAnswer *self, G_GNUC_UNUSED gboolean has_report)
{
  fuzz_check_text (self->setting);
  return g_strdup ("{}");
}

char *
fab_explored_outlook (G_GNUC_UNUSED const FabExplored *self, G_GNUC_UNUSED const FabKnobSetting *setting)
{
  return g_strdup ("{}");
}

/* --- the server --- */

static GMutex lock;
static GCond is_ready;
static guint port;

static void
on_ready (const char *url, G_GNUC_UNUSED gboolean is_local, G_GNUC_UNUSED gpointer data)
{
  g_mutex_lock (&lock);
  port = (guint) g_ascii_strtoull (strrchr (url, ':') + 1, NULL, 10);
  g_cond_signal (&is_ready);
  g_mutex_unlock (&lock);
}

static gpointer
serve (gpointer data)
{
  g_autoptr (GError) error = NULL;

  if (!fab_explore_serve (data, &error))
    g_error ("no server: %s", error->message);
  return NULL;
}

static void
start (void)
{
  static FabExploreService service = { .page = "<p>page</p>", .address = "127.0.0.1", .on_ready = on_ready };
  g_autoptr (GError) error = NULL;
  FabCatalog *catalog = fab_catalog_load (FAB_SOURCE_DIR "/models/catalog", &fab_models, &error);

  service.explored = catalog
                       ? fab_explored_load (FAB_SOURCE_DIR "/scenarios/explore.yaml", NULL, catalog, &error)
                       : NULL;
  if (service.explored == NULL)
    g_error ("nothing to explore: %s", error->message);
  g_thread_unref (g_thread_new ("server", serve, &service));
  g_mutex_lock (&lock);
  while (port == 0)
    g_cond_wait (&is_ready, &lock);
  g_mutex_unlock (&lock);
}

/* --- the visitor --- */

static struct sockaddr_in
at (guint address, guint of_port)
{
  return (struct sockaddr_in){ .sin_family = AF_INET,
                               .sin_port = htons ((uint16_t) of_port),
                               .sin_addr.s_addr = htonl (address) };
}

/* Each visit comes from another address of this machine. A port stays taken for a minute after a visit, and a campaign
 * makes more visits in a minute than one address has ports. */
static int
visit (void)
{
  enum { ADDRESSES = 251 };
  static guint n_visits = 0;
  const struct timeval longest = { .tv_sec = LONGEST_S };
  struct sockaddr_in from = at (INADDR_LOOPBACK + 1 + n_visits++ % ADDRESSES, 0),
                     server = at (INADDR_LOOPBACK, (guint) port);
  int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

  if (fd < 0 || setsockopt (fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on) != 0
      || bind (fd, (const struct sockaddr *) &from, sizeof from) != 0
      || connect (fd, (const struct sockaddr *) &server, sizeof server) != 0)
    g_error ("a visitor cannot connect: %s", g_strerror (errno));
  setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
  setsockopt (fd, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
  return fd;
}

static void
say (int fd, const guint8 *data, gsize size, gsize piece)
{
  for (guint n = 0; size > 0; n++) {
    gsize part = piece == 0 || n == MOST_PIECES ? size : MIN (piece, size);

    if (send (fd, data, part, MSG_NOSIGNAL) != (gssize) part)
      break;
    data += part;
    size -= part;
  }
  shutdown (fd, SHUT_WR);
}

/* Reads until the server closes. */
static void
check_answer (int fd)
{
  g_autoptr (GByteArray) answer = g_byte_array_new ();
  guint8 bytes[4096];
  gssize n;

  while ((n = recv (fd, bytes, sizeof bytes, 0)) > 0) {
    g_byte_array_append (answer, bytes, (guint) n);
    if (answer->len > MAX_ANSWER_BYTES)
      g_error ("an answer without end");
  }
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    g_error ("no answer within %d s", LONGEST_S);
  if (answer->len > 0 && (answer->len < 7 || memcmp (answer->data, "HTTP/1.", 7) != 0))
    g_error ("an answer that is no HTTP");
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  int fd;

  if (size == 0)
    return 0;
  if (port == 0)
    start ();
  fd = visit ();
  say (fd, data + 1, size - 1, data[0]);
  check_answer (fd);
  close (fd);
  return 0;
}
