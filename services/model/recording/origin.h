// How a recording was made: its source and transforms with their parameters, and the program that
// recorded it. The one who opens the session says it once; nobody changes it later, and no label
// has any part in it. A value; any thread.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/string_view.h"
#include "services/model/words/field.h"

namespace tapedeck::services::model {

// A source or transform, with the parameters that make it again.
struct OriginStage {
  std::string name;
  std::map<std::string, std::string> parameters;  // each has its name; a value as people write it
  bool operator==(const OriginStage&) const = default;
};

template <>
struct Fields<OriginStage> {
  static constexpr auto kList = std::make_tuple(
      Describe(&OriginStage::name, {.name = "name", .role = Role::kNoted}),
      Describe(&OriginStage::parameters, {.name = "parameters", .role = Role::kNoted}));
};

struct Origin {
  OriginStage source;                   // without a name: unknown
  std::vector<OriginStage> transforms;  // in their order
  std::string datatype;                 // of the samples; empty: the channel's
  std::string device;                   // that made or moved them
  std::string worker;                   // by its own name
  std::string version;                  // of that program
  std::string beside;                   // of a second output: the channel of the first
  // Of a copy: why its original was not closed in order; empty: it was.
  std::string original_cause;
  // Marks of copies that are not finished, each of its own maker. Empty: it is none.
  std::string move_draft;  // uid of the recording that a policy moves
  std::string repairs;     // ID of the recording whose part is repaired
  // A JSON object: what an imported file says and no other field has; empty: nothing.
  std::string metadata;
  bool operator==(const Origin&) const = default;
};

template <>
struct Fields<Origin> {
  static constexpr auto kList = std::make_tuple(
      Describe(&Origin::source, {.name = "source", .role = Role::kNoted}),
      Describe(&Origin::transforms, {.name = "transforms", .role = Role::kNoted}),
      Describe(&Origin::datatype, {.name = "datatype", .role = Role::kNoted}),
      Describe(&Origin::device, {.name = "device", .role = Role::kNoted}),
      Describe(&Origin::worker, {.name = "worker", .role = Role::kNoted}),
      Describe(&Origin::version, {.name = "version", .role = Role::kNoted}),
      Describe(&Origin::beside, {.name = "beside", .role = Role::kNoted}),
      Describe(&Origin::original_cause, {.name = "original_cause", .role = Role::kNoted}),
      Describe(&Origin::move_draft, {.name = "move_draft", .role = Role::kNoted}),
      Describe(&Origin::repairs, {.name = "repairs", .role = Role::kNoted}),
      Describe(&Origin::metadata, {.name = "metadata", .role = Role::kNoted}));
};

// Of both outputs of a job together.
inline constexpr size_t kMaxOriginTransforms = 32;
// Of one stage. A value may be a path, or a list of tones.
inline constexpr size_t kMaxOriginParameters = 64;
inline constexpr size_t kMaxOriginValueBytes = 4096;
inline constexpr size_t kMaxOriginTextBytes = 256;
inline constexpr size_t kMaxOriginMetadataBytes = 48 << 10;
inline constexpr size_t kMaxOriginBytes = 64 << 10;  // all of it

// What is wrong with it, as in "has more than 32 transforms"; empty: nothing.
std::string OriginProblem(const Origin& origin);

// What it takes in a manifest, where some characters take six bytes.
size_t WrittenBytes(const Origin& origin);

// What the samples are: of a recording whose channel has `of_channel`.
inline const std::string& SampleType(const Origin& origin, const std::string& of_channel) {
  return origin.datatype.empty() ? of_channel : origin.datatype;
}

// "synth(noise=0.1, seed=1) -> fft(points=1024), on host, by w1 0.1.0", for people; without what is
// not known.
std::string OriginText(const Origin& origin);

}  // namespace tapedeck::services::model
