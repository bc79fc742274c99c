// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/team.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <vector>

#include "kernels/cpu/arena.h"

using namespace kvplan;

TEST_CASE("every member of a team runs each task once") {
  Team team(3);
  std::vector<int> runs(3, 0);
  for (int round = 0; round < 20; ++round) team.run([&](int thread) { ++runs[thread]; });
  CHECK(runs == std::vector<int>{20, 20, 20});
}

TEST_CASE("what members wrote before they meet is seen by all afterwards") {
  Team team(4);
  std::vector<int> written(4, 0), seen(4, 0);
  for (int round = 1; round <= 50; ++round) {
    team.run([&](int thread) {
      written[thread] = round;
      team.meet();
      seen[thread] = written[(thread + 1) % 4];
    });
    REQUIRE(seen == std::vector<int>(4, round));
  }
}

TEST_CASE("a team of one works and time passes forward") {
  Team team(1);
  volatile double work = 0;
  const Seconds time = team.run([&](int) {
    for (int i = 0; i < 1000; ++i) work = work + 1;
  });
  CHECK(time.v > 0);
}

TEST_CASE("two members on one processor wait for each other, where the system tells") {
  Team team(2 * static_cast<int>(usable_cpus().size()));
  team.run([](int) {});
  if (!team.lost()) return;
  team.run([](int) {
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(60)) {
    }
  });
  CHECK(*team.lost() > Seconds(1e-3));
}

TEST_CASE("slices cover all units once, in whole grains") {
  for (const int parts : {1, 2, 3, 7})
    for (const std::int64_t count : {0, 1, 5, 64, 1000}) {
      std::int64_t next = 0;
      for (int part = 0; part < parts; ++part) {
        const Slice slice = slice_of(count, part, parts, 8);
        CHECK(slice.first == next);
        CHECK((slice.first % 8 == 0 || slice.first == count));
        next = slice.last;
      }
      CHECK(next == count);
    }
}

TEST_CASE("places follow each other through the whole arena before they come back") {
  Team team(2);
  Arena arena(team, Bytes(8 * kMiB));
  REQUIRE(arena.region_bytes().n == 4 * kMiB);  // regions are whole huge pages
  Place one(arena, Bytes(kMiB)), other(arena, Bytes(2 * kMiB));
  const std::byte* start = arena.region(1);
  one.advance();
  CHECK(one.of(1) == start);
  other.advance();
  CHECK(other.of(1) == start + kMiB);
  one.advance();
  CHECK(one.of(1) == start + 3 * kMiB);
  other.advance();
  CHECK(other.of(1) == start);
  CHECK_THROWS_AS(Place(arena, Bytes(5 * kMiB)), Error);
}
