// SPDX-License-Identifier: Apache-2.0
// "devices" of a load: which can serve it, each with as few as do.
#pragma once
#include "plan/choices.h"
#include "report/layouts.h"
#include "report/record.h"
#include "report/speed.h"

namespace kvplan {

template <>
inline constexpr auto description<Choice> = std::tuple{
    field(
        "name", [](const Choice& c) { return c.device.name; }, "device"),
    field("title", [](const Choice& c) { return c.device.title; }),
    field("engine", &Choice::engine, "engine").where_it_varies().sparing(4),
    field(
        "gpus", [](const Choice& c) { return c.layout.layout.gpus(); }, "how many"),
    field(
        "layout", [](const Choice& c) { return text_of(c.layout.layout); }, "layout")
        .where_it_varies()
        .sparing(2),
    field(
        "memory_bytes", [](const Choice& c) { return c.device.memory.value; }, "memory each")
        .sparing(1),
    field(
        "users", [](const Choice& c) { return c.layout.users; }, "users"),
    field(
        "tokens_per_second_one_user", [](const Choice& c) { return c.layout.one_user; },
        "tok/s alone")
        .as(Show::tokens_per_second),
    field(
        "tokens_per_second_each", [](const Choice& c) { return c.layout.tokens_per_second_each; },
        "each")
        .unless_same_as("tokens_per_second_one_user")
        .as(Show::tokens_per_second),
    field(
        "tokens_per_second", [](const Choice& c) { return c.layout.tokens_per_second; }, "all")
        .as(Show::tokens_per_second)
        .unless_same_as("tokens_per_second_each"),
    field(
        "expected", [](const Choice& c) { return expected_of(c.rate); }, "expected")
        .where_known(),
    field("usd_per_hour", &Choice::usd_per_hour, "$/h").as(Show::usd).where_known(),
    field(
        "usd_per_million_tokens", [](const Choice& c) { return c.rate.usd_per_million_tokens; },
        "$ per M tokens")
        .as(Show::usd)
        .where_known()
        .sparing(3)};

}  // namespace kvplan
