# The front door; CMake presets do the work. Every target first asks for its packages, silently if none is missing.

demo:            ## build the library and the command, train the digits network
	@scripts/packages demo
	@scripts/demo

test:            ## build everything, run all tests but those of test-systems
	@scripts/packages test
	@scripts/test

test-systems:    ## whole systems: ranks and hosts that are lost, Slurm, object storage, the live page in a browser
	@scripts/packages test
	@scripts/test systems

examples:        ## build/examples/NAME for each examples/NAME.cpp
	@scripts/packages demo
	@scripts/build examples

bench:           ## every bench: times, floors, ratios
	@scripts/packages test
	@scripts/bench

bench-scaling:   ## cost against batch, depth and width: docs/scaling.md
	@scripts/packages test
	@scripts/bench_scaling

bench-peers:     ## the other frameworks, for make bench: DIR=folder
	@scripts/run_if_present bench-peers scripts/bench_peers

bench-agreement: ## solvers, schedules, metrics and ops beside PyTorch's, Optax's and scikit-learn's: docs/peers.md, docs/peers-ops.md
	@scripts/packages test
	@scripts/bench_agreement

gpu-check:       ## kernels, bits and times on a GPU: DEPS=folder of unpacked packages (scripts/gpu_deps), PART=...
	@DEPS="$(DEPS)" scripts/gpu_check $(PART)

cuda-check:      ## all that is compiled for CUDA compiles; machine code and launches keep their figures
	@scripts/packages test
	@scripts/cuda_check

aarch64-check:   ## golden fingerprints on AArch64: Clang, arm64 packages, emulator
	@scripts/packages aarch64
	@scripts/aarch64_check $(JOB)

fuzz:            ## every fuzzer for FUZZ_SECONDS (60)
	@scripts/packages development
	@scripts/fuzz

check:           ## format, layering, public headers, sizes, docs, error codes, symbols, contraction, adding one thing of each kind
	@scripts/packages development
	@scripts/check

reference:       ## pages of the public declarations: build/reference/html (needs the generated headers of a build)
	@scripts/packages development
	@scripts/check_reference

matrix:          ## golden fingerprints over presets, compilers and the -Ofast program
	@scripts/packages development
	@scripts/matrix

screenshots:     ## the live page as pictures, light, dark and narrow: DIR=folder
	@scripts/packages development
	@scripts/build retrace
	@mkdir -p "$(DIR)"
	@RETRACE_PICTURES="$(abspath $(DIR))" sh tests/page_test.sh build/retrace

packages:        ## install what is missing: LIST=demo, test or development
	@scripts/packages $(LIST)

test-faults:     ## 200 kills of trainings, 1,000 changes of finished runs
	@scripts/packages test
	@scripts/test_faults

test-exhaustive: ## every input of every elementary function
	@scripts/packages test
	@scripts/test_exhaustive

.PHONY: demo test test-systems examples bench bench-scaling bench-peers bench-agreement gpu-check cuda-check aarch64-check fuzz check reference matrix screenshots packages test-faults test-exhaustive
