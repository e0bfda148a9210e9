#include "services/model/seams/features.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "services/model/seams/inlets.h"
#include "services/model/words/invalid.h"
#include "services/model/words/storage_list.h"

namespace tapedeck::services {
namespace {

using model::EnumNames;
using model::NameOf;

bool Needs(Feature one, Feature other) {
  return std::ranges::any_of(kNeededPairs, [&](const FeaturePair& pair) {
    return pair.one == one && pair.other == other;
  });
}

bool Brings(Feature one, Feature other) { return one == other || Needs(one, other); }

std::string CellOf(Feature row, Feature column) {
  if (row == column) return "";
  if (Needs(row, column)) return "needed";
  return RefusalOf(row, column) == nullptr ? "works" : "refused";
}

}  // namespace

bool Has(const RecordSpec& spec, Feature feature) {
  switch (feature) {
    case Feature::kStandby:
      return !spec.transfer.standbys.empty();
    case Feature::kParts:
      return StoragesOf(spec.transfer.storage).size() > 1;
    case Feature::kCopies:
      return spec.copies > 1;
    case Feature::kGroup:
      return spec.transfer.group.has_value();
    case Feature::kSecondOutput:
      return !spec.outputs.empty();
    case Feature::kInlet:
      return IsInletName(spec.transfer.target);
    case Feature::kAllDevices:
      return spec.transfer.device == kAllDevices;
    case Feature::kResume:
      return spec.resume_for_ns > 0;
    case Feature::kAt:
      return spec.at_ns != 0;
  }
  return false;
}

const FeaturePair* RefusalOf(Feature one, Feature other) {
  for (const FeaturePair& pair : kRefusedPairs) {
    const bool there = Brings(one, pair.one) && Brings(other, pair.other);
    if (there || (Brings(one, pair.other) && Brings(other, pair.one))) return &pair;
  }
  return nullptr;
}

absl::Status CheckFeatures(const RecordSpec& spec) {
  for (const FeaturePair& pair : kRefusedPairs) {
    if (Has(spec, pair.one) && Has(spec, pair.other)) return model::Invalid(pair.field, pair.why);
  }
  for (const FeaturePair& pair : kNeededPairs) {
    if (Has(spec, pair.one) && !Has(spec, pair.other)) return model::Invalid(pair.field, pair.why);
  }
  return absl::OkStatus();
}

std::string FeatureTable() {
  std::string table = "| with |";
  std::string rule = "|---|";
  for (const auto& [column, word] : EnumNames<Feature>::kTable) {
    absl::StrAppend(&table, " ", word, " |");
    rule += "---|";
  }
  absl::StrAppend(&table, "\n", rule, "\n");
  for (const auto& [row, word] : EnumNames<Feature>::kTable) {
    absl::StrAppend(&table, "| ", word, " |");
    for (const auto& [column, unused] : EnumNames<Feature>::kTable) {
      absl::StrAppend(&table, " ", CellOf(row, column), " |");
    }
    table += "\n";
  }
  table += "\n| refused | the error says |\n|---|---|\n";
  for (const FeaturePair& pair : kRefusedPairs) {
    absl::StrAppend(&table, "| ", NameOf(pair.one), " with ", NameOf(pair.other), " | `",
                    pair.field, "`: ", pair.why, " |\n");
  }
  for (const FeaturePair& pair : kNeededPairs) {
    absl::StrAppend(&table, "| ", NameOf(pair.one), " without ", NameOf(pair.other), " | `",
                    pair.field, "`: ", pair.why, " |\n");
  }
  return table;
}

}  // namespace tapedeck::services
