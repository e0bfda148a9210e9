// The features of a store beyond the calls of every store. A kind names those that it has.
#pragma once

#include <cstdint>

#include "storage_node/store/behind_mark.h"
#include "storage_node/store/copies.h"
#include "storage_node/store/layout.h"
#include "storage_node/store/member_files.h"
#include "storage_node/store/member_list.h"
#include "storage_node/store/notebook.h"
#include "storage_node/store/open_data.h"
#include "storage_node/store/recovery.h"

namespace tapedeck::storage_node::engine {
class Engine;
}

namespace tapedeck::storage_node::store {

// The pointers are valid as long as the store. `recovery` and `member_files` are never null.
struct Extras {
  Layout layout = {};
  // Room for recordings, as `layout` counts it; 0: not known.
  uint64_t size_bytes = 0;
  Recovery* recovery = Recovery::None();
  MemberFiles* member_files = MemberFiles::None();
  // Where members that are no directories say what their LUN is; null: they are directories, or it
  // has none.
  Notebook* notebook = nullptr;
  // How other programs find the samples of recordings on one member; null: they are no files of
  // their own.
  OpenData* open_data = nullptr;
  // How it takes more members; null: it is one, or has none.
  MemberList* member_list = nullptr;
  // Null: it keeps one copy.
  Copies* copies = nullptr;
  // Where a member keeps that a copy is behind; null: it cannot.
  BehindMark* behind_mark = nullptr;
  // It adopts the memory of rings; null: they need nothing of the disk.
  engine::Engine* disk_engine = nullptr;
};

}  // namespace tapedeck::storage_node::store
