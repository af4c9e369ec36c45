/* SPDX-License-Identifier: Apache-2.0 */
/* version.c - the version without a commit. The program has a version.c of its own, which the linker takes before this
 * one of a library; so a new commit links the program anew, and not all the tests. */
#include "sim/base/version.h"

const char *
fab_version (void)
{
  return FAB_VERSION;
}
