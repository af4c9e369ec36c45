/* SPDX-License-Identifier: Apache-2.0 */
/* version.h - which program made a figure: the version, and the commit that it was built from.
 *
 * Threads: constant.
 */
#pragma once

/* Returns "0.3.0+g387d95116b", with "-dirty" where the checkout had changes that were not committed; "0.1.0" where the
 * commit is not known (a tarball, the tests). */
const char *fab_version (void);
