/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/aborts.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

gboolean
aborts (void (*breach) (void))
{
  int status = 0;
  pid_t child = fork ();

  if (child == 0) {
    struct rlimit no_core = { 0, 0 };
    int nowhere = open ("/dev/null", O_WRONLY);

    setrlimit (RLIMIT_CORE, &no_core);
    dup2 (nowhere, STDOUT_FILENO);
    dup2 (nowhere, STDERR_FILENO);
    breach ();
    _exit (0);
  }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  return WIFSIGNALED (status) && (WTERMSIG (status) == SIGABRT || WTERMSIG (status) == SIGTRAP);
}
