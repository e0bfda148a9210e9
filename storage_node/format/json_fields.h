// Reads the members of a JSON object from a disk, and checks each against its limits.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tapedeck::storage_node::format {

// Keeps the first member that is bad: of another type, or beyond its bounds. What is absent, null
// or bad is zero or empty. Refers to the object. One thread.
class JsonFields {
 public:
  // `what` names the file in errors.
  JsonFields(const nlohmann::json& object, absl::string_view what) : object_(object), what_(what) {}

  std::string Text(const char* key);
  // 1 to 63 of [A-Za-z0-9._-], starting with a letter or digit.
  std::string Id(const char* key);
  uint64_t Uint(const char* key, uint64_t most);
  uint32_t Uint32(const char* key, uint32_t most = UINT32_MAX) {
    return static_cast<uint32_t>(Uint(key, most));
  }
  int64_t Int(const char* key, int64_t least, int64_t most);
  // None where it is absent or null.
  std::optional<int64_t> IntOrNone(const char* key, int64_t least, int64_t most);
  // A rate or the like: finite, and not negative.
  double Rate(const char* key);
  bool Bool(const char* key);
  // Texts by name; empty where it is absent.
  std::map<std::string, std::string> Texts(const char* key);
  // Empty where it is absent.
  const nlohmann::json& List(const char* key);
  const nlohmann::json& Map(const char* key);

  // `problem` goes on after the key: "is 0". DATA_LOSS.
  JsonFields& Require(bool good, const char* key, absl::string_view problem);
  const absl::Status& status() const { return status_; }

 private:
  // Null if it is not there.
  const nlohmann::json* Find(const char* key) const;

  const nlohmann::json& object_;
  const std::string what_;
  absl::Status status_;
};

}  // namespace tapedeck::storage_node::format
