// What is said once of each member of a struct of the model: its name, who sets it and within what.
// The messages, the JSON on disk, the JSON of the command line, its options, and the updates by
// mask are all made of these lists (the list of a struct follows it), so that a new member is one
// more entry. Constants alone; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>

#include "absl/strings/string_view.h"

namespace tapedeck::services::model {

enum class Role {
  kName,      // by which it is called
  kSetting,   // chosen when the thing is made, and can be changed
  kFixed,     // chosen when it is made, for good
  kNoted,     // noted by the storage node when it is made, for good
  kInternal,  // the same, and told to nobody
  kReported,  // said by the storage node, and kept by none
};

// What a number counts. Times and durations are int64_t nanoseconds here, google.protobuf types on
// the wire, `NAME_ns` on disk; for people a time is RFC 3339 and a duration NAME_s, in seconds.
enum class Unit { kNone, kBytes, kTime, kDuration, kDecibels, kMegabytesPerS };

// Durations, 73 years, and times before or since 1970: a time and a duration, or three durations,
// add up within an int64_t.
inline constexpr int64_t kMaxDurationNs = int64_t{1} << 61;
inline constexpr int64_t kMaxTimeNs = int64_t{1} << 62;

struct FieldTraits {
  absl::string_view name;  // in the proto; where nothing else is said, everywhere
  Role role = Role::kSetting;
  Unit unit = Unit::kNone;
  uint64_t most = UINT64_MAX;  // of an unsigned number, a duration, or the entries of a list
  bool required = false;       // an enum of which "not set" on the wire is an error
  bool grows = false;          // an enum of which a later version's value is as if not set
  bool in_some = false;        // of several messages that are made of the list, some have it
  bool keeps = false;   // not set on the wire, it is as in a new struct; a duration of 0 is set
  bool flat = false;    // its own fields stand in its place, in a message that has none of its name
  bool sparse = false;  // left out of the JSON where it says nothing
  absl::string_view fixed;    // why it cannot change, where its role does not say it
  absl::string_view option;   // on the command line, without "--"; empty: none of its own
  absl::string_view help;     // what to give the option
  absl::string_view zero;     // what 0, or none, means
  absl::string_view initial;  // what the command line gives a new one, as it would be typed

  constexpr bool kept() const { return role != Role::kReported; }
  constexpr bool told() const { return role != Role::kInternal; }
  constexpr bool settable() const { return role == Role::kSetting; }
  constexpr bool chosen_when_made() const { return role == Role::kSetting || role == Role::kFixed; }
};

template <typename Struct, typename Value>
struct Field : FieldTraits {
  Value Struct::*member;
};

template <typename Struct, typename Value>
constexpr Field<Struct, Value> Describe(Value Struct::*member, const FieldTraits& traits) {
  return {traits, member};
}

// One that the storage node, or the worker, says and nobody sets.
template <typename Struct, typename Value>
constexpr Field<Struct, Value> Report(Value Struct::*member, absl::string_view name,
                                      FieldTraits traits = {}) {
  traits.name = name;
  traits.role = Role::kReported;
  return {traits, member};
}

// What follows from the members: told, and not read.
template <typename Struct, typename Value>
struct Derived : FieldTraits {
  Value (*member)(const Struct&);
};

template <typename Struct, typename Value>
constexpr Derived<Struct, Value> Derive(Value (*value)(const Struct&), const FieldTraits& traits) {
  return {traits, value};
}

// Has kList, a tuple of the Field of each member, and of each Derived.
template <typename Struct>
struct Fields;

// `visit` gets each Field of the struct, in the order of its list.
template <typename Struct, typename Visit>
constexpr void ForEachField(Visit visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, Fields<Struct>::kList);
}

// The name of the field that has this member.
template <typename Struct, typename Value>
constexpr absl::string_view FieldName(Value Struct::*member) {
  absl::string_view name;
  ForEachField<Struct>([&](const auto& field) {
    if constexpr (std::is_same_v<decltype(field.member), Value Struct::*>) {
      if (field.member == member) name = field.name;
    }
  });
  return name;
}

// Why the field cannot change.
constexpr absl::string_view WhyFixed(const FieldTraits& field) {
  return field.fixed.empty() ? "the storage node sets it" : field.fixed;
}

}  // namespace tapedeck::services::model
