#include "retrace/monitor/sink_kind.h"

namespace retrace {
namespace {

class PageView : public Monitor {
 public:
  explicit PageView(const SinkStream& stream) : terminal_(stream.write, stream.view), serve_(stream.serve_page) {}

  void receive(const Event& event) override {
    if (const auto* started = std::get_if<RunStarted>(&event); started && serve_ && !started->run_dir.empty())
      serve_(started->run_dir);
    terminal_.receive(event);
  }

 private:
  Terminal terminal_;
  std::function<void(const std::string& run)> serve_;
};

}  // namespace

SinkKind page_sink() {
  return {
      .name = "page",
      .help = "that of terminal, and a live page in a browser, whose address is told",
      .make = [](const SinkStream& stream) -> std::unique_ptr<Monitor> { return std::make_unique<PageView>(stream); }};
}

}  // namespace retrace
