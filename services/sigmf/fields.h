// What a pipeline needs of the text of a .sigmf-meta file, kept while it is parsed: the rest, which
// may be hundreds of thousands of annotations, takes no memory.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tapedeck::services::sigmf {

// A value of the text.
struct SigmfValue {
  enum class Kind { kAbsent, kText, kNumber, kBool, kOther };
  Kind kind = Kind::kAbsent;
  std::string text;
  uint64_t number = 0;
  bool flag = false;

  bool absent() const { return kind == Kind::kAbsent; }
  bool is_text() const { return kind == Kind::kText; }
  // Of an integer that is not negative.
  bool is_positive() const { return kind == Kind::kNumber && number > 0; }
};

// Of the object "global", unless it says otherwise.
class SigmfFields final : public nlohmann::json_sax<nlohmann::json> {
 public:
  // False: no JSON object, or nested deeper than any description.
  bool Read(absl::string_view text);

  bool has_global = false;
  SigmfValue datatype;
  SigmfValue channels;
  SigmfValue metadata_only;
  SigmfValue dataset;
  SigmfValue trailing_bytes;
  bool captures_have_headers = false;  // one at least has header bytes

 private:
  enum class Level : char { kObject, kList };

  bool null() override { return Put({.kind = SigmfValue::Kind::kOther}); }
  bool boolean(bool value) override {
    return Put({.kind = SigmfValue::Kind::kBool, .flag = value});
  }
  bool number_integer(int64_t) override { return null(); }  // below 0
  bool number_unsigned(uint64_t value) override {
    return Put({.kind = SigmfValue::Kind::kNumber, .number = value});
  }
  bool number_float(double, const std::string&) override { return null(); }
  bool string(std::string& value) override {
    return Put({.kind = SigmfValue::Kind::kText, .text = value});
  }
  bool binary(nlohmann::json::binary_t&) override { return false; }  // not in a text
  bool start_object(size_t) override { return Begin(Level::kObject); }
  bool start_array(size_t) override { return Begin(Level::kList); }
  bool end_object() override { return End(); }
  bool end_array() override { return End(); }
  bool key(std::string& name) override;
  bool parse_error(size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }

  bool Begin(Level level);
  bool End();
  bool Put(SigmfValue value);
  // Where the value of that key of "global" goes; null: nowhere.
  SigmfValue* Wanted();

  std::vector<Level> levels_;
  std::string section_;  // key of the outermost object
  std::string key_;      // of the innermost
};

}  // namespace tapedeck::services::sigmf
