# A Slurm of this machine alone; sourced behind command_testing.sh, and by what has a function `skip`. It ends with the
# script.
for tool in munged slurmctld slurmd srun; do
  command -v $tool >/dev/null || skip "there is no $tool (packages munge and slurm-wlm)"
done
[ "$(id -u)" -eq 0 ] || skip "slurmd wants to be root"
[ -e "$(dirname "$retrace")/libretrace_mpi.so" ] || skip "the build found no MPI"

host=$(hostname -s) port=$((20000 + $$ % 20000))
mkdir state spool
head -c 1024 /dev/urandom >key && chmod 400 key && chmod 755 .
cat >slurm.conf <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc)
PartitionName=all Nodes=ALL Default=YES State=UP
AuthInfo=socket=$work/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
CONF
export SLURM_CONF="$work/slurm.conf"
stop() {
  for name in slurmd slurmctld munged; do
    [ -s $name.pid ] && kill "$(cat $name.pid)"
  done
  cd / && rm -rf "$work"
}
trap stop EXIT
munged --force --key-file="$work/key" --socket="$work/munge" --pid-file="$work/munged.pid" --seed-file="$work/seed" \
  --log-file="$work/munged.log" 2>err || skip "munged does not start: $(cat err)"
slurmctld -c 2>err || skip "slurmctld does not start: $(cat err)"
slurmd 2>err || skip "slurmd does not start: $(cat err)"
for i in $(seq 100); do
  sinfo --noheader --format=%T 2>/dev/null | grep -q idle && break
  sleep 0.1
done
sinfo --noheader --format=%T 2>/dev/null | grep -q idle || skip "no node comes: $(tail -n 3 slurmctld.log slurmd.log)"
