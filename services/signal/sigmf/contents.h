// What a SigMF file says of its samples, as a recording has it. Every key of the file is in one of
// the fields, or counted and named in a note. Values; any thread.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "services/model/recording/origin.h"
#include "services/model/words/note.h"
#include "services/signal/sigmf/layout.h"

namespace tapedeck::services::sigmf {

struct Contents {
  double sample_rate = 0;  // 0: it does not say
  Layout layout;           // its gaps are those of the captures, and ours (tapedeck:missing)
  // Samples count from the recording's first. Captures are marks `signal`.
  std::vector<Annotation> annotations;
  std::string metadata;                        // a JSON object, for model::Origin; empty: nothing
  std::vector<model::OriginStage> transforms;  // of an export of ours
  std::string sha512;                          // of the data, in lower case; empty: it does not say
  model::Notes notes;                          // for the user
};

// Of a data file of so many bytes. `told_rate` are samples a second that the user tells, by which
// times count; 0: those that the file says. INVALID_ARGUMENT (FILE_INVALID): the errors of
// ReadLayout, a datatype that is none, or several channels in turn; RESOURCE_EXHAUSTED
// (LIMIT_REACHED): it says more of all samples than a recording keeps.
absl::StatusOr<Contents> ReadContents(const SigmfRecording& meta, uint64_t data_bytes,
                                      double told_rate = 0);

}  // namespace tapedeck::services::sigmf
