#include "services/formats/hdf5/datasets.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "dataplane/printable.h"
#include "services/base/files/errors.h"
#include "services/formats/io/input.h"

namespace tapedeck::services::formats {
namespace {

// Links in all groups together, among which datasets of samples are looked for.
constexpr size_t kMostLinks = 10'000;
constexpr size_t kMostErrorShown = 256;

struct Links {
  std::vector<std::string> own;    // names of objects of the file
  std::vector<std::string> other;  // as "/iq (a link to elsewhere)"
};

herr_t NoteLink(hid_t /*group*/, const char* name, const H5L_info_t* link, void* links) {
  auto& found = *static_cast<Links*>(links);
  if (link->type == H5L_TYPE_HARD) {
    found.own.emplace_back(name);
  } else {
    found.other.push_back(absl::StrCat("/", name, " (a link to elsewhere)"));
  }
  return found.own.size() + found.other.size() > kMostLinks ? 1 : 0;
}

// None: it has several dimensions, or a datatype that is none of SigMF's.
std::optional<FoundSamples> SamplesIn(const std::string& name, Handle dataset) {
  FoundSamples found{.name = name, .size = SizeOf(dataset)};
  const auto is_long = [](hsize_t size) { return size != 1; };
  if (found.size.empty() || std::ranges::count_if(found.size, is_long) > 1) return std::nullopt;
  const auto axis = std::ranges::find_if(found.size, is_long);
  found.axis = axis == found.size.end() ? 0 : static_cast<size_t>(axis - found.size.begin());
  const Handle type(H5Dget_type(dataset.get()), H5Tclose);
  const auto samples = SampleTypeOf(type.get());
  if (!samples.has_value()) return std::nullopt;
  found.type = *samples;
  found.dataset = std::move(dataset);
  return found;
}

// As "/iq (500 x 2, ri16_le)".
std::string Described(const std::string& name, const Handle& dataset) {
  const std::vector<hsize_t> size = SizeOf(dataset);
  const Handle type(H5Dget_type(dataset.get()), H5Tclose);
  return absl::StrCat(name, " (", size.empty() ? "no array" : absl::StrJoin(size, " x "), ", ",
                      TypeText(type.get()), ")");
}

// Rows of two numbers, which may be I and Q.
bool IsColumns(const Handle& dataset) {
  const std::vector<hsize_t> size = SizeOf(dataset);
  const Handle type(H5Dget_type(dataset.get()), H5Tclose);
  const auto samples = SampleTypeOf(type.get());
  return size.size() == 2 && size.back() == 2 && samples.has_value() && !samples->datatype.complex;
}

absl::Status NotOne(const std::string& path, const std::vector<std::string>& candidates,
                    const std::vector<std::string>& others, const std::string& columns,
                    absl::string_view wanted) {
  if (candidates.empty()) {
    std::string text = absl::StrCat("has no dataset of one dimension and a datatype of SigMF",
                                    others.empty() ? "" : "; it has ", ListOf(others));
    if (!columns.empty()) {
      absl::StrAppend(&text, "; h5dump -d ", ListOf({columns}),
                      " -b LE -o OUT.raw FILE writes I and Q for --format raw");
    }
    return files::Invalid(path, text);
  }
  return files::Invalid(path, absl::StrCat(wanted.empty() ? "has more than one dataset of samples"
                                                          : "has no such dataset of samples",
                                           "; --dataset takes one of these: ", ListOf(candidates)));
}

herr_t TakeFirst(unsigned /*number*/, const H5E_error2_t* error, void* text) {
  *static_cast<std::string*>(text) = error->desc == nullptr ? "" : error->desc;
  return 1;
}

}  // namespace

std::string LastError() {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, TakeFirst, &text);
  return dataplane::Printable(text, kMostErrorShown);
}

Handle DatasetNamed(const Handle& file, const std::string& name) {
  H5L_info_t link;
  const bool own =
      H5Lget_info(file.get(), name.c_str(), &link, H5P_DEFAULT) >= 0 && link.type == H5L_TYPE_HARD;
  return own ? Handle(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), H5Dclose) : Handle();
}

std::vector<hsize_t> SizeOf(const Handle& dataset) {
  const Handle space(H5Dget_space(dataset.get()), H5Sclose);
  const int dimensions = H5Sget_simple_extent_ndims(space.get());
  std::vector<hsize_t> size(static_cast<size_t>(std::max(dimensions, 0)));
  if (size.empty() || H5Sget_simple_extent_dims(space.get(), size.data(), nullptr) < 0) return {};
  return size;
}

absl::StatusOr<FoundSamples> FindSamples(const Handle& file, const std::string& path,
                                         absl::string_view wanted) {
  Links links;
  if (H5Lvisit(file.get(), H5_INDEX_NAME, H5_ITER_INC, NoteLink, &links) < 0) {
    return files::Invalid(path, absl::StrCat("has groups that cannot be read: ", LastError()));
  }
  if (links.own.size() + links.other.size() > kMostLinks) {
    return files::Invalid(path, absl::StrCat("has more than ", kMostLinks, " objects"));
  }
  absl::ConsumePrefix(&wanted, "/");
  std::optional<FoundSamples> chosen;
  std::vector<std::string> candidates, left_out;
  std::vector<std::string>& others = links.other;
  std::string columns;
  size_t fitting = 0;
  for (const std::string& name : links.own) {
    Handle dataset = DatasetNamed(file, name);
    if (!dataset.good()) continue;
    const std::string shown = absl::StrCat("/", name);
    left_out.push_back(shown);
    std::string text = Described(shown, dataset);
    if (columns.empty() && IsColumns(dataset)) columns = shown;
    auto found = SamplesIn(name, std::move(dataset));
    (found.has_value() ? candidates : others).push_back(std::move(text));
    if (!found.has_value() || (!wanted.empty() && name != wanted)) continue;
    ++fitting;
    chosen = std::move(found);
  }
  if (fitting != 1) return NotOne(path, candidates, others, columns, wanted);
  std::erase(left_out, absl::StrCat("/", chosen->name));
  chosen->others = std::move(left_out);
  return *std::move(chosen);
}

}  // namespace tapedeck::services::formats
