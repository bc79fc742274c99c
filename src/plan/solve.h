// SPDX-License-Identifier: Apache-2.0
// What to set for a load: the least share of memory and the most sequence slots, by exact inversion
// of the engine's own account.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "plan/setup.h"

namespace kvplan {

// The least share of its memory, in hundredths, with which the engine holds the load. Empty for an
// engine without such a share, and where not even 0.99 holds it. Requires a device.
std::optional<double> least_utilization(const Setup&, const Load&);

// The engine's flag for the sequences that one replica takes at once: "max_num_seqs". Empty for the
// ideal.
std::string_view sequences_flag(std::string_view engine);

// The most sequences of `context` tokens that fit one replica when the engine is told to take just
// so many; it reserves less for fewer. Requires a device. Empty: not even one, or no such flag.
std::optional<std::int64_t> most_sequences(const Setup&, Tokens context);

// The most sequences of `context` tokens that fit and of which each can still get `each` tokens per
// second at the ceiling. Empty: not even one. Requires a device.
std::optional<std::int64_t> most_users_at(const Setup&, Tokens context, double each);

}  // namespace kvplan
