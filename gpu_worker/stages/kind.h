// What the list of stages has of each: how its parameters are read, what they tell of a recording,
// and how it is made of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/stages/stage.h"
#include "gpu_worker/stages/stage_report.h"
#include "services/base/files/file_roots.h"
#include "services/model/recording/recording.h"
#include "services/model/words/note.h"
#include "services/model/words/stage_spec.h"
#include "services/rpc/identity/address_patterns.h"

namespace tapedeck::gpu_worker::stages {

// What most transforms work on.
inline constexpr char kTransformable[] = "cf32_le";

// By their names, as people write them.
using TextParameters = std::map<std::string, std::string>;

// What a stage's parameters tell before the stage is made.
struct Description {
  // For the origin of a recording made with it: what makes the same again.
  TextParameters parameters;
  bool ends = false;   // of a source: by itself
  bool waits = false;  // of a source: it may have nothing yet, or lose a block
  // Datatypes of a transform's samples, and what a source always makes. Empty: any, as they come.
  std::string takes;
  std::string gives;
  uint64_t samples_for_one = 1;  // of a transform: it makes of so many one
  bool in_place = true;          // of a transform: what it gives lies where lay what it takes
  bool triggers = false;         // of a transform: it is for recordings, Find tells
};

// A stage whose parameters have been read. Any thread.
template <typename Place, typename Made>
struct Chosen {
  std::string name;
  Description description;
  std::function<absl::StatusOr<Made>(const Place&)> create;
};

// One line of the list: a stage's name and the three functions of its folder. `Parameters` is a
// struct of the folder's own, which nobody else sees.
template <typename Place, typename Made>
class Kind {
 public:
  template <typename Parameters>
  Kind(absl::string_view name,
       absl::StatusOr<Parameters> (*parse)(const services::StageParameters&),
       Description (*describe)(const Parameters&),
       absl::StatusOr<Made> (*create)(const Parameters&, const Place&))
      : name_(name),
        choose_([name, parse, describe, create](const services::StageParameters& given) {
          return Choose<Parameters>(name, parse(given), describe, create);
        }) {}

  const std::string& name() const { return name_; }

  // The errors of ParameterReader.
  absl::StatusOr<Chosen<Place, Made>> Choose(const services::StageParameters& given) const {
    return choose_(given);
  }

 private:
  template <typename Parameters>
  static absl::StatusOr<Chosen<Place, Made>> Choose(
      absl::string_view name, const absl::StatusOr<Parameters>& parameters,
      Description (*describe)(const Parameters&),
      absl::StatusOr<Made> (*create)(const Parameters&, const Place&)) {
    TD_RETURN_IF_ERROR(parameters.status());
    return Chosen<Place, Made>{.name = std::string(name),
                               .description = describe(*parameters),
                               .create = [create, parameters = *parameters](const Place& setup) {
                                 return create(parameters, setup);
                               }};
  }

  std::string name_;
  std::function<absl::StatusOr<Chosen<Place, Made>>(const services::StageParameters&)> choose_;
};

// Where a source is made.
struct SourceSetup {
  device::Device* device = nullptr;  // outlives it
  std::string datatype;              // of what it must make
  double sample_rate = 0;            // of that; 0: unknown
  uint64_t block_bytes = 0;
  int64_t at_ns = 0;  // UTC; samples that come from elsewhere count from then; 0: from the first
  bool in_group = false;             // what it makes counts from at_ns as well
  bool transformed = false;          // what it makes goes into a transform, not into the channel
  services::files::FileRoots files;  // that may be read
};
struct MadeSource {
  std::unique_ptr<SourceStage> stage;
  std::string datatype;       // of what it makes
  uint64_t bytes = 0;         // 0: endless
  TextParameters parameters;  // what is known only when it is made
  std::string metadata;       // of a file, for the origin
  // That made its samples before, says a file.
  std::vector<services::model::OriginStage> transforms;
  services::Notes notes;                // for the job
  std::shared_ptr<StageReport> report;  // of the stage; null: it has none
};
using SourceKind = Kind<SourceSetup, MadeSource>;
using ChosenSource = Chosen<SourceSetup, MadeSource>;

// Where a transform is made; both outlive it.
struct TransformSetup {
  device::Device* device = nullptr;
  device::Queue* queue = nullptr;  // the pipeline's
  size_t block_bytes = 0;          // of what it takes
  size_t at_once = 1;              // so many blocks, one behind the other, in each payload at most
};
using TransformKind = Kind<TransformSetup, std::unique_ptr<Transform>>;
using ChosenTransform = Chosen<TransformSetup, std::unique_ptr<Transform>>;

// Where a sink is made.
struct SinkSetup {
  services::files::FileRoots files;                      // that may be written
  services::identity::AddressPatterns destinations;      // that may be sent to
  uint64_t block_bytes = 0;                              // after the transforms of the playback
  uint64_t blocks = 0;                                   // that will come; 0: unknown
  services::model::Origin origin;                        // of the recording
  std::vector<services::model::OriginStage> transforms;  // of the playback
  std::string datatype;                                  // of what comes
  double sample_rate = 0;                                // of that; 0: unknown
  // Of the recording, by its samples; none where those that come cannot be counted as its own are.
  std::vector<services::Annotation> annotations;
  // Blocks are not those of the recording: they begin at other samples, and the last may be short.
  bool cut = false;
  bool loops = false;  // the same samples come again
};
struct MadeSink {
  std::unique_ptr<SinkStage> stage;
  bool needs_order = false;             // blocks must come in the order of their sequence
  bool damaged_blocks = false;          // of a damaged block, what is good is wanted
  services::Notes notes;                // for the job
  std::shared_ptr<StageReport> report;  // of the stage, notes alone; null: it has none
  // Blocks that it has compared with their source so far; null: it is not there to compare.
  std::shared_ptr<const std::atomic<uint64_t>> compared;
};
using SinkKind = Kind<SinkSetup, MadeSink>;
using ChosenSink = Chosen<SinkSetup, MadeSink>;

}  // namespace tapedeck::gpu_worker::stages
