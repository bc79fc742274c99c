// SPDX-License-Identifier: Apache-2.0
// A fixed answer with every kind of value, for the renderers' tests.
#pragma once
#include "report/document.h"

kvplan::Document sample_document();
