// Training steps of llm.c's CPU program on the tokens of bench/gpt.cpp: llmc_gpt CHECKPOINT CONTEXT BATCH.
//
// bench/peers/llmc.py compiles it with a checkout of llm.c in the path of headers, and writes CHECKPOINT. Speaks the line protocol
// of bench/gpt.cpp, but for "probe" and "weights". Every function that computes is llm.c's own.
#define TESTING
#include "train_gpt2.c"

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// As retrace::bench::synthetic, times the size of the vocabulary.
static int* tokens(int count, unsigned salt, int vocabulary) {
  int* all = malloc((size_t)count * sizeof *all);
  for (int i = 0; i < count; ++i) {
    unsigned x = (unsigned)i + salt * 0x9E3779B9u;
    x ^= x >> 16, x *= 0x7FEB352Du, x ^= x >> 15, x *= 0x846CA68Bu, x ^= x >> 16;
    const float uniform = (float)(x >> 8) * (1.0f / 16777216.0f);
    all[i] = (int)(uniform * (float)vocabulary);
  }
  return all;
}

static float run(GPT2* model, int* inputs, int* targets, int batch, int context, int steps, int* done) {
  for (int i = 0; i < steps; ++i) {
    gpt2_forward(model, inputs, targets, batch, context);
    gpt2_zero_grad(model);
    gpt2_backward(model);
    gpt2_update(model, 3e-4f, 0.9f, 0.999f, 1e-8f, 0.0f, ++*done);
  }
  return model->mean_loss;
}

int main(int argc, char** argv) {
  if (argc != 4) return fprintf(stderr, "llmc_gpt: CHECKPOINT CONTEXT BATCH\n"), 2;
  const int context = atoi(argv[2]), batch = atoi(argv[3]);
  char line[64], command[16];
  int steps, done = 0;
  FILE* answers = fdopen(dup(STDOUT_FILENO), "w");
  if (!answers || !freopen("/dev/null", "w", stdout)) return 1;  // where llm.c prints what it builds
  GPT2 model;
  gpt2_build_from_checkpoint(&model, argv[1]);
  int* inputs = tokens(batch * context, 1, model.config.vocab_size);
  int* targets = tokens(batch * context, 2, model.config.vocab_size);
  run(&model, inputs, targets, batch, context, 1, &done);
  fputs("ready\n", answers), fflush(answers);
  while (fgets(line, sizeof line, stdin) && sscanf(line, "%15s %d", command, &steps) == 2) {
    if (strcmp(command, "loss") == 0) {
      gpt2_free(&model);
      gpt2_build_from_checkpoint(&model, argv[1]);
      done = 0;
      fprintf(answers, "%.9g\n", run(&model, inputs, targets, batch, context, steps, &done));
    } else {
      const double start = seconds();
      run(&model, inputs, targets, batch, context, steps, &done);
      fprintf(answers, "%.9f\n", seconds() - start);
    }
    fflush(answers);
  }
  return 0;
}
