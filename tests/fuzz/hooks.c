/* SPDX-License-Identifier: Apache-2.0 */
/* hooks.c - what libFuzzer does before the first input. */
#include <signal.h>
#include <stdlib.h>

int LLVMFuzzerInitialize (int *argc, char ***argv);

static void
end (int number)
{
  (void) number;
  abort ();
}

/* GLib ends the process by SIGTRAP, of which libFuzzer would not know that it is a finding. */
int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  (void) argc;
  (void) argv;
  signal (SIGTRAP, end);
  return 0;
}
