#pragma once
// Ranks that read and transform samples for those that compute. A sample is a function of the data, the pass and its
// number alone, so it does not matter who makes it.

#include <memory>
#include <vector>

#include "retrace/data/datastore.h"
#include "retrace/distributed/group.h"

namespace retrace {

// Of `computing` ranks that come first in a group, the loaders of one: all others in turn, at least one.
std::vector<int> loaders_of(int rank, int computing, int size);

// The store for a rank that computes: a mini-batch comes from a loader that has at most one other to make for this
// rank, or is made here. It throws Error(lost) if a loader is lost or fails.
Datastore loaded_store(const Datastore& store, std::shared_ptr<Group> group, std::vector<int> loaders);

// How many mini-batches are made at the same time with so many loaders, one of them here: the loader threads of a rank.
int threads_for_loaders(size_t loaders);

// The work of a loader: makes what it is asked for, each mini-batch on a thread of its own, until end_loaders(). Throws
// what the source throws, and Error(lost) as Group::receive() does.
void serve_samples(const DataSource& source, Group& group);
// Called by rank 0 when no rank asks any more.
void end_loaders(Group& group, int computing);

}  // namespace retrace
