#include "retrace/plan/programs/chain_order.h"

#include <algorithm>

#include "retrace/ops/rule_groups.h"
#include "retrace/trace/op.h"

namespace retrace {
namespace {

class Orderer {
 public:
  explicit Orderer(const Trace& body) : body_(body), index_(body), done_(body.nodes.size()) {}

  std::vector<OrderedNode> order() {
    for (size_t next = 0; next < body_.nodes.size();) {
      if (done_[next]) {
        ++next;
        continue;
      }
      const Node& node = body_.nodes[next];  // all before it are done
      add(link(next, node.inputs[0]));
      while (go_on()) {}
    }
    join();
    return std::move(order_);
  }

 private:
  // Where the rules of a group stand one behind another it begins a step of its own.
  bool begins_group(size_t at) const {
    const auto all = rule_groups();
    return std::any_of(all.begin(), all.end(), [&](const RuleGroup& group) {
      const size_t count = group.rules.size();
      for (size_t n = 0; n < count; ++n)
        if (at + n >= order_.size() || body_.nodes[order_[at + n].node].op->rule != group.rules[n]) return false;
      return true;
    });
  }
  void join() {
    for (size_t at = 1; at < order_.size(); ++at) {
      if (begins_group(at))
        order_[at].follows = order_[at - 1].leads = false;
      else
        order_[at].joins = order_[at - 1].code != kNoChainCode && order_[at].code != kNoChainCode;
    }
  }

  // The node as a link that finds this value in registers.
  OrderedNode link(size_t n, ValueId value) const {
    const Node& node = body_.nodes[n];
    const auto at = std::find(node.inputs.begin(), node.inputs.end(), value);
    const auto places = static_cast<size_t>(std::count(node.inputs.begin(), node.inputs.end(), value));
    const bool alone = places == node.inputs.size();
    const int position = alone ? -1 : static_cast<int>(at - node.inputs.begin());
    const bool can = alone || places == 1;
    return {n, can ? chain_code(*node.op->rule, position, alone) : kNoChainCode, position, false, false};
  }
  bool is_ready(size_t n) const {
    const auto& inputs = body_.nodes[n].inputs;
    return std::all_of(inputs.begin(), inputs.end(), [&](ValueId id) {
      const size_t made = body_.producer_index(id);
      return made == kNoNode || done_[made];
    });
  }
  void add(OrderedNode node) {
    done_[node.node] = true;
    order_.push_back(node);
  }

  // Adds the first reader of the last result that can take it from registers; false: there is none.
  bool go_on() {
    OrderedNode& last = order_.back();
    if (last.code == kNoChainCode) return false;
    const ValueId value = body_.nodes[last.node].first_output;
    for (size_t reader : index_.readers(value)) {
      if (done_[reader] || !is_ready(reader)) continue;
      OrderedNode node = link(reader, value);
      if (node.code == kNoChainCode) continue;
      last.leads = node.follows = true;
      add(node);
      return true;
    }
    return false;
  }

  const Trace& body_;
  TraceIndex index_;
  std::vector<bool> done_;
  std::vector<OrderedNode> order_;
};

}  // namespace

std::vector<OrderedNode> chain_order(const Trace& body) { return Orderer(body).order(); }

}  // namespace retrace
