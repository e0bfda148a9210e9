#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "services/formats/hdf5/datasets.h"
#include "services/formats/io/input.h"
#include "services/model/words/field.h"
#include "services/signal/sigmf/foreign_json.h"
#include "services/signal/sigmf/origin_json.h"

namespace tapedeck::services::formats {
namespace {

constexpr char kRate[] = "sample_rate";
constexpr char kStart[] = "start_time_ns";
constexpr char kFrequency[] = "frequency";
constexpr char kTransforms[] = "transforms";
constexpr size_t kMostTextBytes = 64 << 10;
// Attributes of the dataset and its groups together that notes count.
constexpr size_t kMostAttributes = 10'000;
// What else an export of ours has.
constexpr const char* kOurs[] = {"datatype", "recording", "uid"};

bool Has(const FoundSamples& samples, const char* name) {
  return H5Aexists(samples.dataset.get(), name) > 0;
}

// One number, alone or in an array of one.
class Number {
 public:
  Number(const FoundSamples& samples, const char* name)
      : attribute_(H5Aopen(samples.dataset.get(), name, H5P_DEFAULT), H5Aclose),
        type_(H5Aget_type(attribute_.get()), H5Tclose) {}

  // None: it is no number, or not a finite one.
  std::optional<double> Real() const {
    double value = 0;
    const bool good = (IsOf(H5T_FLOAT) || IsOf(H5T_INTEGER)) && Read(H5T_NATIVE_DOUBLE, &value);
    return good && std::isfinite(value) ? std::optional(value) : std::nullopt;
  }

  // None: it is no number, or none of an int64.
  std::optional<int64_t> Whole() const {
    if (IsOf(H5T_FLOAT)) {
      const auto value = Real();
      constexpr double kMost = 9.2e18;
      return value.has_value() && std::fabs(*value) < kMost ? std::optional(std::llround(*value))
                                                            : std::nullopt;
    }
    constexpr size_t kMostBytes = 8;
    if (!IsOf(H5T_INTEGER) || H5Tget_size(type_.get()) > kMostBytes) return std::nullopt;
    if (H5Tget_sign(type_.get()) == H5T_SGN_NONE) {
      uint64_t value = 0;
      const bool good = Read(H5T_NATIVE_UINT64, &value) && value <= uint64_t{INT64_MAX};
      return good ? std::optional(static_cast<int64_t>(value)) : std::nullopt;
    }
    int64_t value = 0;
    return Read(H5T_NATIVE_INT64, &value) ? std::optional(value) : std::nullopt;
  }

 private:
  bool IsOf(H5T_class_t kind) const { return H5Tget_class(type_.get()) == kind; }
  bool Read(hid_t memory, void* value) const {
    const Handle space(H5Aget_space(attribute_.get()), H5Sclose);
    return H5Sget_simple_extent_npoints(space.get()) == 1 &&
           H5Aread(attribute_.get(), memory, value) >= 0;
  }

  const Handle attribute_;
  const Handle type_;
};

// Of one text of a fixed size; none: it is none, or longer.
std::optional<std::string> TextOf(const FoundSamples& samples, const char* name) {
  const Handle attribute(H5Aopen(samples.dataset.get(), name, H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute.get()), H5Tclose);
  const Handle space(H5Aget_space(attribute.get()), H5Sclose);
  const bool fixed = H5Tget_class(type.get()) == H5T_STRING && H5Tis_variable_str(type.get()) == 0;
  const size_t bytes = H5Tget_size(type.get());
  if (!fixed || bytes > kMostTextBytes || H5Sget_simple_extent_npoints(space.get()) != 1) {
    return std::nullopt;
  }
  std::string text(bytes, '\0');
  if (H5Aread(attribute.get(), type.get(), text.data()) < 0) return std::nullopt;
  return text.substr(0, text.find('\0'));
}

herr_t NoteAttribute(hid_t /*object*/, const char* name, const H5A_info_t* /*info*/, void* names) {
  auto& found = *static_cast<std::vector<std::string>*>(names);
  found.emplace_back(name);
  return found.size() > kMostAttributes ? 1 : 0;
}

// With the paths that have them; "/" is the file's own.
void AppendAttributes(const Handle& object, const std::string& path,
                      std::vector<std::string>* left_out) {
  std::vector<std::string> names;
  H5Aiterate2(object.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, NoteAttribute, &names);
  for (const std::string& name : names) left_out->push_back(absl::StrCat(name, " of ", path));
}

void NoteUnread(const char* name, absl::string_view must, absl::string_view option,
                Content* content) {
  content->notes.push_back(MakeNote("HDF5_ATTRIBUTE_UNREAD",
                                    absl::StrCat("its attribute \"", name, "\" is not one number ",
                                                 must, ", and is not read; give ", option),
                                    {{"name", name}}));
}

void NoteOthers(const Handle& file, const FoundSamples& samples, Content* content) {
  std::vector<std::string> left_out;
  AppendAttributes(samples.dataset, absl::StrCat("/", samples.name), &left_out);
  std::erase_if(left_out, [&](const std::string& text) {
    const std::string name = text.substr(0, text.rfind(" of /"));
    const bool ours = name == kOurs[0] || name == kTransforms;
    return name == kRate || name == kStart || name == kFrequency || (ours && IsOurs(samples));
  });
  for (std::string path = samples.name; !path.empty() && left_out.size() < kMostAttributes;) {
    const size_t slash = path.rfind('/');
    path.resize(slash == std::string::npos ? 0 : slash);
    const std::string group = absl::StrCat("/", path);
    const Handle object(H5Oopen(file.get(), group.c_str(), H5P_DEFAULT), H5Oclose);
    if (object.good()) AppendAttributes(object, group, &left_out);
  }
  if (left_out.empty()) return;
  const std::string names = ListOf(left_out);
  content->notes.push_back(MakeNote("LEFT_OUT",
                                    absl::StrCat("attributes that are not imported: ", names),
                                    {{"what", "attributes"}, {"names", names}}));
}

}  // namespace

bool IsOurs(const FoundSamples& samples) {
  return samples.name == "samples" &&
         std::ranges::all_of(kOurs, [&](const char* name) { return Has(samples, name); });
}

void TakeAttributes(const Handle& file, const FoundSamples& samples, Content* content) {
  if (Has(samples, kRate)) {
    const auto rate = Number(samples, kRate).Real();
    // An export of ours says 0 where nobody knows it.
    const bool unknown = rate == 0 && IsOurs(samples);
    if (rate.value_or(0) > 0) content->sample_rate = *rate;
    if (rate.value_or(0) <= 0 && !unknown) NoteUnread(kRate, "above 0", "--sample-rate", content);
  }
  if (Has(samples, kStart)) {
    const auto start_ns = Number(samples, kStart).Whole();
    const bool good = start_ns.has_value() && model::TimeAfter(*start_ns, 0, 0).has_value();
    if (good) content->start_ns = start_ns;
    if (!good) NoteUnread(kStart, "of ns since 1970", "--start", content);
  }
  if (Has(samples, kFrequency)) {
    const auto hertz = Number(samples, kFrequency).Real();
    const auto signal = SignalOf(hertz.value_or(NAN));
    const bool unknown = hertz == 0 && IsOurs(samples);
    if (signal.has_value() && !unknown) content->annotations.push_back(*signal);
    if (!signal.has_value()) NoteUnread(kFrequency, "of Hz", "--frequency", content);
  }
  if (Has(samples, kTransforms) && IsOurs(samples)) {
    const std::string text = TextOf(samples, kTransforms).value_or("");
    auto stages = sigmf::StagesIn(sigmf::ParseForeign(text));
    if (!stages.has_value())
      content->notes.push_back(
          MakeNote("TRANSFORMS_UNREAD", "its attribute \"transforms\" is not read"));
    content->transforms = std::move(stages).value_or(std::vector<model::OriginStage>());
  }
  NoteOthers(file, samples, content);
}

}  // namespace tapedeck::services::formats
