// A recording becomes a file: block by block, and again from where it was broken off. One thread
// that may wait.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "services/copy/pump.h"
#include "services/formats/io/subject.h"
#include "services/formats/list.h"
#include "services/model/words/note.h"

namespace tapedeck::services::formats {

struct ExportRequest {
  Format format;
  std::string to;  // as the user names it
  // Gets it in the place of a file; outlives the export. None: `to` is one.
  OutputStream* stream = nullptr;
  std::string collection = {};  // base name of the SigMF collection that it becomes one of
  uint64_t packet_samples = 0;
  bool resume = false;
  bool gaps = false;  // zeros for what is missing are welcome in a format that does not tell of it
  // Begins to play at that block.
  std::function<absl::StatusOr<copying::NextBlock>(uint64_t block)> play;
  // Called again and again: bytes of samples that are done. False ends it.
  std::function<bool(uint64_t bytes)> progress;
};

struct Exported {
  std::string file;
  uint64_t file_bytes = 0;
  uint64_t samples = 0;
  uint64_t missing_samples = 0;
  uint64_t lost_samples = 0;  // of blocks that are there; a note says where it may be fewer
  uint64_t resumed_at = 0;    // sample; 0: from the first on
  model::Notes notes;         // what the file does not tell
};

// DATA_LOSS (BLOCK_DAMAGED): samples are missing or lost, and the format has no word for that; a
// stream has then only what is before the first that is missing;
// CANCELLED (JOB_CANCELLED); the errors of ExportFile, of the writer, and of the player.
absl::StatusOr<Exported> Export(const Subject& subject, const ExportRequest& request);

}  // namespace tapedeck::services::formats
