# Three hosts for scripts that run the command: network namespaces of this machine, joined by a bridge; sourced after
# command_testing.sh. `hosts_up` makes them, or says why that cannot be in hosts.err; they are gone at the end.
name=rt$$ network=10.177.$(($$ % 256))
hosts="${name}a ${name}b ${name}c"
hosts_down() {
  for host in $hosts; do
    ip netns pids "$host" | xargs -r kill -9
    ip netns del "$host"
  done
  ip link del "$name"
} 2>/dev/null
make_hosts() {
  command -v ip >/dev/null && command -v unshare >/dev/null || {
    echo 'there is no ip or no unshare (packages iproute2 and util-linux)' >&2
    return 1
  }
  ip link add "$name" type bridge && ip addr add $network.254/24 dev "$name" && ip link set "$name" up || return 1
  i=0
  for host in $hosts; do
    i=$((i + 1))
    ip netns add "$host" && ip link add "$host" type veth peer name eth0 netns "$host" &&
      ip link set "$host" master "$name" up && ip -n "$host" addr add "$network.$i/24" dev eth0 &&
      ip -n "$host" link set eth0 up && ip -n "$host" link set lo up || return 1
  done
}
link_up() {
  ip link set "$1" up && python3 "$tests/host_link.py" "$1"
}
# Also writes `agent`, in place of ssh (agent HOST COMMAND...), and the profile `three` of profiles.toml, one rank on each.
# Each host has memory of its own, shm-HOST, and was started at a time of its own.
hosts_up() {
  make_hosts 2>hosts.err || return 1
  for host in $hosts; do
    mkdir "shm-$host" && cat /proc/sys/kernel/random/uuid >"boot-$host"
  done
  cat >agent <<AGENT
#!/bin/sh
host=\$1
shift
exec ip netns exec "\$host" unshare --uts --mount sh -c "hostname \$host; mount --bind $work/shm-\$host /dev/shm &&
  mount --bind $work/boot-\$host /proc/sys/kernel/random/boot_id; \$*"
AGENT
  chmod +x agent
  cat >>profiles.toml <<PROFILES
[three]
engine = "mpi"
workers = 3
hosts = ["${name}a", "${name}b", "${name}c"]
options = ["--allow-run-as-root", "--mca", "plm_rsh_agent", "$work/agent", "--mca", "oob_tcp_if_include", "$network.0/24",
  "--mca", "btl_tcp_if_include", "$network.0/24", "--mca", "btl", "tcp,self", "--mca", "pml", "ob1"]
PROFILES
}
export RETRACE_PROFILES="$work/profiles.toml"
