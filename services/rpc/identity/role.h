// What an identity may do. Each role may do what those before it may; kWorker stands beside them.
#pragma once

#include <utility>

#include "services/model/words/names.h"

namespace tapedeck::services::identity {

enum class Role {
  kNone = 0,
  kViewer = 1,    // see what there is
  kPlayer = 2,    // and play it
  kOperator = 3,  // and record, trigger, annotate, keep
  kAdmin = 4,     // and make, change and delete
  kWorker = 5,    // see what there is, and hold sessions for others, who need roles of their own
};

}  // namespace tapedeck::services::identity

namespace tapedeck::services::model {

template <>
struct EnumNames<identity::Role> {
  using enum identity::Role;
  static constexpr absl::string_view kWhat = "role";
  static constexpr std::pair<identity::Role, absl::string_view> kTable[] = {
      {kNone, "none"},         {kViewer, "viewer"}, {kPlayer, "player"},
      {kOperator, "operator"}, {kAdmin, "admin"},   {kWorker, "worker"}};
};

}  // namespace tapedeck::services::model
