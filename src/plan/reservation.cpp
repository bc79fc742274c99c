// SPDX-License-Identifier: Apache-2.0
#include "plan/reservation.h"

namespace kvplan {

Waste reservation_waste(std::span<const std::int64_t> lengths, std::int64_t reserved,
                        std::int64_t block) {
  if (lengths.empty())
    throw Error("no request lengths").of("--lengths").advise("Give one length per line.");
  std::int64_t used = 0, in_blocks = 0;
  for (const std::int64_t length : lengths) {
    if (length < 1 || length > reserved)
      throw Error("a request length lies outside 1.." + std::to_string(reserved)).of("--lengths");
    used = checked_add(used, length);
    in_blocks = checked_add(in_blocks, round_up(length, block));
  }
  const auto share_unused = [&](std::int64_t held) {
    return 1 - static_cast<double>(used) / static_cast<double>(held);
  };
  return {share_unused(checked_mul(reserved, static_cast<std::int64_t>(lengths.size()))),
          share_unused(in_blocks)};
}

}  // namespace kvplan
