/* SPDX-License-Identifier: Apache-2.0 */
/* old.c - a driver library that has nothing of what is needed. */
int
cuInit (unsigned flags)
{
  return (int) flags;
}
