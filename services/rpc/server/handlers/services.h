// The services of a node, each over the seams that it serves. What is passed in outlives the
// server.
#pragma once

#include "services/rpc/server/service.h"

namespace tapedeck::services {
class ChannelCatalog;
class Inlets;
class Jobs;
class LunCatalog;
class NodeDescriber;
class RecorderControl;
class RecordingCatalog;
class ScrubControl;
class ViewControl;
}  // namespace tapedeck::services
namespace tapedeck::services::doctor {
class Doctor;
}
namespace tapedeck::services::flight {
class Reader;
}

namespace tapedeck::services::server {

// tapedeck.v1.CatalogService: LUNs, channels and recordings. The three are often one object.
ServiceFactory CatalogServiceOver(LunCatalog& luns, ChannelCatalog& channels,
                                  RecordingCatalog& recordings);

// tapedeck.v1.RecorderService: triggers, annotations and scrubs of a storage node.
ServiceFactory RecorderServiceOver(RecorderControl& recorder, ScrubControl& scrubs);

// tapedeck.v1.ViewService: what recordings look like.
ServiceFactory ViewServiceOver(ViewControl& view);

// tapedeck.v1.PipelineService: a GPU worker's jobs.
ServiceFactory PipelineServiceOver(Jobs& jobs);

// tapedeck.v1.InletService: a GPU worker's inlets.
ServiceFactory InletServiceOver(Inlets& inlets);

// tapedeck.v1.NodeService: what a node tells about itself.
ServiceFactory NodeServiceOver(const NodeDescriber& describer);

// tapedeck.v1.DoctorService: what is wrong with a node.
ServiceFactory DoctorServiceOver(doctor::Doctor& doctor);

// tapedeck.v1.TraceService: a node's flight recorder.
ServiceFactory TraceServiceOver(const flight::Reader& reader);

}  // namespace tapedeck::services::server
