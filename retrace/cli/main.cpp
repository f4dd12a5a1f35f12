#include "retrace/cli/cli.h"

int main(int argc, char** argv) { return retrace::cli::run(argc, argv); }
