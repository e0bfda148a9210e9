// Samples that lie one behind the other in a file, from some byte on. One thread that may wait.
#pragma once

#include <utility>

#include "services/files/input_file.h"
#include "services/formats/input.h"
#include "services/formats/reader.h"

namespace tapedeck::services::formats {

class SamplesFile final : public Reader {
 public:
  SamplesFile(files::InputFile file, uint64_t begin, Content content)
      : file_(std::move(file)), begin_(begin), content_(std::move(content)) {}

  const Content& content() const override { return content_; }
  absl::Status Read(uint64_t offset, std::span<std::byte> into) override {
    return ReadExactly(file_, begin_ + offset, into);
  }

 private:
  const files::InputFile file_;
  const uint64_t begin_;
  const Content content_;
};

}  // namespace tapedeck::services::formats
