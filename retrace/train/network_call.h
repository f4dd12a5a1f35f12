#pragma once
// What the arguments of train_network() and replay_network() say, as a training.

#include "retrace/train/train_network.h"
#include "retrace/train/training_run.h"

namespace retrace {

// The options as a job: its network and data mean nothing.
Job job_of(const TrainNetworkOptions& options);

// The network with that loss. Error(usage) for the name of a loss where the network has several outputs.
nn::Network with_loss(nn::Network network, const Loss& loss, Place place);

// Layers and a loss, by what the first observation is.
nn::Network network_of(const Datastore& data, const nn::Layer& layers, const Loss& loss, uint64_t seed, Place place);

// The training of a network that has its loss. Throws Error(usage) for options out of range. What it gets outlives it.
TrainingCall call_of(const Datastore& data, const nn::Network& network, const TrainNetworkOptions& options,
                     Place place);

}  // namespace retrace
