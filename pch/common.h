/* SPDX-License-Identifier: Apache-2.0 */
/* common.h - the headers of others that most sources include, to be compiled once (-Db_pch=true). */
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
