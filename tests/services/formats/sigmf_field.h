// A SigMF pair in a folder of its own, of which a test changes one thing.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "services/formats/sigmf/sigmf.h"
#include "tests/services/formats/ramp.h"

namespace tapedeck::services::formats {

inline constexpr uint64_t kFieldSamples = 1000;
// 2024-01-02T03:04:05Z
inline constexpr int64_t kFieldNs = 1'704'164'645'000'000'000;

// What lies in a folder: x.sigmf-meta with `text` or else `meta`, and its data.
struct FieldFiles {
  nlohmann::json meta = {
      {"global",
       {{"core:datatype", "ci16_le"}, {"core:sample_rate", 1e6}, {"core:version", "1.2.0"}}},
      {"captures", {{{"core:sample_start", 0}, {"core:datetime", "2024-01-02T03:04:05Z"}}}},
      {"annotations", nlohmann::json::array()}};
  std::string text = {};
  std::string name = "x";
  std::string data_name = "x.sigmf-data";  // empty: there is none
  std::string data = Ramp(kFieldSamples);
  ReadOptions options = {};

  nlohmann::json& global() { return meta["global"]; }
  nlohmann::json& capture() { return meta["captures"][0]; }
  void Annotate(const nlohmann::json& one) { meta["annotations"].push_back(one); }
};

using Change = std::function<void(FieldFiles&)>;

class SigmfFieldTest : public testing::Test {
 protected:
  SigmfFieldTest() { std::filesystem::create_directories(folder_); }
  ~SigmfFieldTest() override { std::filesystem::remove_all(folder_); }

  absl::StatusOr<std::unique_ptr<Reader>> Open(const Change& change) {
    FieldFiles files;
    change(files);
    const std::string path = absl::StrCat(folder_, "/", files.name, ".sigmf-meta");
    WriteFile(path, files.text.empty() ? files.meta.dump() : files.text);
    if (!files.data_name.empty()) WriteFile(folder_ + "/" + files.data_name, files.data);
    return OpenSigmf(path, files.options);
  }

  const std::string folder_ = ScratchPath("field");
};

inline Change Global(const char* key, const nlohmann::json& value) {
  return [key, value](FieldFiles& x) { x.global()[key] = value; };
}
inline Change CaptureKey(const char* key, const nlohmann::json& value) {
  return [key, value](FieldFiles& x) { x.capture()[key] = value; };
}
// A meta in which one text stands for another.
inline Change Instead(const std::string& of, const std::string& by) {
  return [of, by](FieldFiles& x) { x.text = absl::StrReplaceAll(x.meta.dump(), {{of, by}}); };
}
inline Change Text(const std::string& text) {
  return [text](FieldFiles& x) { x.text = text; };
}

}  // namespace tapedeck::services::formats
