#include "services/model/recording/part.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "services/model/words/invalid.h"
#include "services/model/words/resource_name.h"

namespace tapedeck::services::model {

absl::Status CheckPart(const Part& part) {
  if (part.parts < 1 || part.parts > kMaxParts) {
    return Invalid("part.parts", absl::StrCat("is ", part.parts, ", not 1 to ", kMaxParts));
  }
  if (part.number < 1 || part.number > part.parts) {
    return Invalid("part.number", absl::StrCat("is ", part.number, " of ", part.parts));
  }
  if (part.copies < 1 || part.copies > std::min(kMaxPartCopies, part.parts)) {
    return Invalid("part.copies", absl::StrCat("is ", part.copies, " of ", part.parts, " parts"));
  }
  return CheckId(part.whole);
}

std::string NameOfPart(const Part& part) {
  return absl::StrCat("part ", part.number, " of ", part.parts);
}

}  // namespace tapedeck::services::model
