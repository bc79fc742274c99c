// SPDX-License-Identifier: Apache-2.0
// kv-plan models --on DEVICE: which models run there, and in which format.
#pragma once
#include <optional>

#include "catalog/catalog.h"
#include "cli/request.h"
#include "plan/ladder.h"
#include "report/document.h"

namespace kvplan {

// How a model runs on one device in the widest format that does what was asked.
class ModelsOn {
 public:
  // Throws Error for a device or a format that is not known, and for more than one --context.
  ModelsOn(const Request&, const Catalog&);

  // What the list says of the model beside its shape; absent where it does not run there.
  std::optional<Object> columns(const ModelSpec&) const;

  const DeviceSpec& device() const { return *setup_.device; }
  // `run` of the `named` models do.
  std::string lead(std::size_t run, std::size_t named) const;
  Table table() const;

 private:
  struct Lengths {
    Tokens longest, room, usual;  // of the model; that must fit; for users and rates
  };
  Lengths lengths_of(const ModelSpec&) const;
  std::optional<Rung> widest(const Setup&, const Lengths&) const;

  Setup setup_;
  std::optional<AskedLength> asked_;
  std::optional<std::string> weights_;
};

}  // namespace kvplan
