#!/bin/sh
# The command as a user meets it: cli_test.sh PATH_OF_RETRACE, run from the source tree. Exit codes, error texts,
# what is printed where, and what is left on the disk.
. tests/command_testing.sh

# silent ARGUMENTS...: exit code 0, and nothing in either output.
silent() {
  "$retrace" "$@" >out 2>err || fail "retrace $*: exit code $?"
  [ ! -s out ] && [ ! -s err ] || fail "retrace $*: is not silent"
}

# --- Calls that are wrong: 2, with the nearest right one.
expect 2 'retrace needs a command'
expect 2 'did you mean train?' trian "$jobs/digits.toml"
expect 2 'retrace train needs JOB' train
expect 2 'did you mean --threads?' train "$jobs/digits.toml" --thread 2
expect 2 'there is no monitor "jsn"' train "$golden/peaks.toml" --monitor jsn
expect 2 'did you mean --json?' info --jsn
expect 2 'did you mean --input?' predict run --inptu x
expect 2 'did you mean digits?' data digit
expect 2 'needs --out' data digits
expect 2 'needs RUN2' compare one
expect 2 'no argument b' train a b
expect 2 '--threads' train "$jobs/digits.toml" --threads
expect 2 'is empty' train "$jobs/digits.toml" --out ''
expect 2 'did you mean "training.max_epochs"?' train "$jobs/digits.toml" --set training.max_epoch=2
expect 2 'is no key=value' train "$jobs/digits.toml" --set training
expect 2 'autoencoder, cifar10, digits, peaks' train "$jobs/digits.toml" --set network.name=resnet
expect 2 'threads is out of range' train "$jobs/digits.toml" --threads -1
expect 2 'threads must be a whole number' plan "$jobs/digits.toml" --threads two
expect 2 'seed is out of range' train "$jobs/digits.toml" --seed=-1
expect 2 'threads is out of range' train "$jobs/digits.toml" --threads 99999999999999999999
expect 2 'device has no choice "tpu"' train "$jobs/digits.toml" --device tpu
expect 69 'device cuda is not available' train "$jobs/digits.toml" --device gpu
expect 2 'device has no choice "cuda:0,x"' train "$jobs/digits.toml" --device cuda:0,x
for part in 'training.max_epoch' 'out of range' 'no choice "tpu"'; do
  expect 2 "$part" train "$jobs/digits.toml" --seed -1 --device tpu --set training.max_epoch=2 --json
done

# --- What does not exist: 66; damaged: 65; absent devices: 69.
expect 66 'did you mean' train "$jobs/digit.toml"
expect 66 'data folder' train "$jobs/mnist.toml" --set data.path=absent
expect 66 'does not exist' compare a b
expect 66 'does not exist' predict absent --input x
expect 69 'cuda' train "$jobs/digits.toml" --device cuda
expect 69 'cuda:7' train "$jobs/digits.toml" --device cuda:7
expect 69 'cuda:7,9' train "$jobs/digits.toml" --device cuda:7,9
mkdir damaged
for name in train-images-idx3-ubyte train-labels-idx1-ubyte t10k-images-idx3-ubyte t10k-labels-idx1-ubyte; do
  printf 'this is no gzip file' >"damaged/$name.gz"
done
expect 65 'images-idx3-ubyte' train "$jobs/mnist.toml" --set data.path=damaged
printf 'name = [' >broken.toml
expect 2 'broken.toml:1:' train broken.toml
printf 'sed = 1\n[network]\nname = "digit"\n' >two.toml
expect 2 'two.toml:1:1' train two.toml
has 'two.toml:3:1' err
expect 65 'is a folder' train .

# --- Help, version, info.
expect 0 'retrace ' --version
expect 0 'write a built-in data set' --help
expect 0 'contact sheet' data digits --help
expect 0 '--threads' train --help
expect 0 '--threads' help train
expect 0 'contact sheet' help data digits
expect 0 'write a built-in data set' help
expect 0 'retrace init my.toml --data photos' help
expect 2 'did you mean train?' help trian
expect 0 'retrace ' version
expect 2 'did you mean test?' eval run
expect 2 'did you mean --learn-rate?' train x.toml --lr 0.1
expect 2 'did you mean --device?' train x.toml --gpu
expect 0 'contract  1' info
expect 0 '"contract_version":1' info --json
[ "$(wc -l <out)" -eq 1 ] || fail 'info --json: more than one line'
for key in version cpu simd_targets simd_target threads devices absent libraries; do has "\"$key\":" out; done
RETRACE_TREADS=1 "$retrace" info >out 2>err
has 'did you mean RETRACE_THREADS?' err
RETRACE_SIMD=mmx "$retrace" info >out 2>err
[ $? -eq 2 ] || fail 'an unknown RETRACE_SIMD is accepted'
RETRACE_SIMD=scalar "$retrace" info --json >out 2>err
has '"simd_target":"scalar"' out
RETRACE_PASSES_OFF=fuse_epilogues,merge_common "$retrace" plan "$golden/peaks.toml" >out 2>err
[ "$(grep -c '^  \(fuse_epilogues\|merge_common\) .*(off)$' out)" -eq 2 ] && [ "$(grep -c '(off)' out)" -eq 2 ] ||
  fail 'RETRACE_PASSES_OFF does not switch off what it names'
RETRACE_PASSES_OFF=fuse "$retrace" plan "$golden/peaks.toml" >out 2>err
[ $? -eq 2 ] || fail 'an unknown name in RETRACE_PASSES_OFF is accepted'

# --- A run: one JSON line on standard output, progress on standard error, the folder's files.
expect 0 'fingerprint' train "$golden/peaks.toml" --json
[ "$(wc -l <out)" -eq 1 ] || fail 'train --json: more than one line'
for key in job device threads epochs iterations seconds validation_loss metrics fingerprint peak_mib run_dir stop_reason; do
  has "\"$key\":" out
done
has '"iterations":12,"output_iteration":12,' out
has '"run_dir":"runs/golden-peaks-1"' out
has 'epoch 3/3' err
for name in job.toml versions.json metrics.jsonl fingerprints.txt weights.safetensors; do
  [ -s "runs/golden-peaks-1/$name" ] || fail "no $name in the run folder"
done
[ "$(grep -c ' all$' runs/golden-peaks-1/fingerprints.txt)" -eq 3 ] || fail 'not one fingerprint an epoch'
[ -z "$(find runs -name '*.partial')" ] || fail 'a temporary file is left'
first=$(sed 's/.*"fingerprint":"\([0-9a-f]*\)".*/\1/' out)
[ ${#first} -eq 16 ] || fail 'the fingerprint has not 16 digits'
expect 0 "$first" train "$golden/peaks.toml" --threads 1
has 'runs/golden-peaks-2' out
# --- Silence but for errors; the workers are a key; the stream says its version.
silent train "$golden/peaks.toml" --quiet --out quiet
expect 0 '"fingerprint"' train "$golden/peaks.toml" --quiet --json --out quiet-json
[ ! -s err ] || fail 'train --quiet --json tells progress'
expect 2 'did you mean' train "$golden/peaks.toml" --quiet --set training.max_epoch=2
# A checkpoint that finds no room is told also by a quiet training, which goes on: files of 8 KiB hold all but that.
(trap '' XFSZ; ulimit -f 16; "$retrace" train "$golden/peaks.toml" --quiet --no-report --set training.checkpoint_iterations=5 \
  --out full >out 2>err) || fail 'a checkpoint without room ends a training'
has 'warning: the training goes on without the checkpoint of iteration' err
has '{"event":"started","schema":1,' quiet/metrics.jsonl
[ "$(grep -c '"event":"validation".*"validation_loss":' quiet/metrics.jsonl)" -eq 3 ] || fail 'not one validation an epoch'
silent train "$golden/peaks.toml" --quiet --set validation.frequency=2 --out seldom
[ "$(grep -o '"validation","epoch":[0-9]' seldom/metrics.jsonl | tr -dc 0-9)" = 23 ] || fail 'validation.frequency=2 of 3'
silent train "$golden/peaks.toml" --quiet --set validation.data=none --out never
! grep -q '"validation"' never/metrics.jsonl || fail 'validation.data=none validates'
expect 2 'unknown key "training.validation"' train "$golden/peaks.toml" --set training.validation=false
expect 0 '"workers":2' train "$golden/peaks.toml" --set training.shards=4 --set workers=2 --json --out two
expect 2 'set training.shards = 2 or more' train "$golden/peaks.toml" --workers 2
expect 2 'workers must be a whole number' train "$golden/peaks.toml" --workers two
expect 2 'workers is out of range' train "$golden/peaks.toml" --workers 257
for speed in plain default accelerated; do
  expect 0 "$first" train "$golden/peaks.toml" --set training.acceleration=$speed --out "speed-$speed"
  has "acceleration = \"$speed\"" "speed-$speed/job.toml"
done
expect 2 'plain, default, accelerated' train "$golden/peaks.toml" --set training.acceleration=fast
expect 0 'equal: the fingerprints of 3 epochs and the last weights' compare runs/golden-peaks-1 runs/golden-peaks-2
expect 0 '"equal":true' compare runs/golden-peaks-1 runs/golden-peaks-2 --json
expect 0 '"threads":1' train runs/golden-peaks-1/job.toml --threads 1 --device auto --json --out again
has "$first" out
has '"device":"cpu"' out
expect 0 'fingerprint' train "$golden/peaks.toml" --seed 2 --monitor json --out other
has '{"event":"epoch","epoch":1,' err
expect 0 '"iterations":2,' train "$golden/peaks.toml" --epochs 1 --batch-size 200 --learn-rate 0.25 --json --out short
grep -q 'initial_learn_rate = 0.25' short/job.toml || fail "--learn-rate is no key"
expect 2 'training.max_epochs is out of range' train "$golden/peaks.toml" --epochs 0
expect 76 'first epoch that differs: 1' compare runs/golden-peaks-1 other
has 'setting seed: 1 and 2' out
has 'units in the last place' out
expect 76 '"equal":false' compare runs/golden-peaks-1 other --json
expect 76 'different' compare runs/golden-peaks-1/weights.safetensors other
expect 2 'is not empty' train "$golden/peaks.toml" --out other
head -c 1000 other/weights.safetensors >cut.safetensors
expect 65 'cut.safetensors' compare cut.safetensors other
expect 0 '677,610' analyze "$golden/cifar10.toml" --set network.width=32
expect 0 '"learnables":677610' analyze "$golden/cifar10.toml" --set network.width=32 --json
expect 0 'stage_2/conv2d_1' analyze "$jobs/layers.toml"
expect 2 'must be a list of tables' analyze "$jobs/layers.toml" --set network.layers=x
expect 0 '"plan":"' plan "$golden/digits.toml" --json
[ "$(wc -l <out)" -eq 1 ] || fail 'plan --json: more than one line'
expect 0 'conv' plan "$golden/digits.toml"
for pass in lower_composites fold_constants simplify merge_common merge_loops remove_dead mask_before_unpool sink_views recompute_cheap \
  fuse_parts fuse_rows fuse_prologues fuse_pointwise fuse_epilogues fuse_samples fuse_lines fuse_reductions order_by_memory; do
  grep -q "^  $pass .* nodes .* ms$" out || fail "plan: the pass $pass is not timed"
done
[ "$(grep -c '^call ' out)" -eq 0 ] || fail 'plan: reasons that nobody asked for'
expect 0 'instead of the trace' plan --help
expect 0 'simplify: ' plan "$golden/digits.toml" --passes
! grep -q '^call ' out || fail 'plan --passes: reasons that nobody asked for'
grep -q '^  - %[0-9]* = reshape' out || fail 'plan --passes: nothing is taken away'
grep -q '^  + %[0-9]* = fused' out || fail 'plan --passes: nothing is made'
expect 0 'others read it, too' plan "$golden/digits.toml" --why
calls=$(sed -n 's/^plan: \([0-9]*\) kernel calls.*/\1/p' out)
[ "$(grep -c '^call ' out)" -eq "$calls" ] || fail 'plan --why: not every kernel call'
grep -q '^    conv2d .* digits.cpp:[0-9]*$' out || fail 'plan --why: no place of a convolution'
expect 2 'did you mean --passes?' plan "$golden/digits.toml" --pass

# --- Prediction.
expect 0 'digits.png' data digits --out digits
for name in train t10k; do
  [ -s "digits/$name-images-idx3-ubyte.gz" ] || fail "data digits: no $name images"
done
[ "$(head -c 4 digits/digits.png | tail -c 3)" = PNG ] || fail 'the contact sheet is no PNG'
expect 0 'accuracy' train "$golden/digits.toml" --out seen
has 'angle_rmse' seen/metrics.jsonl
expect 0 '5000 rows' predict seen --input digits/t10k-images-idx3-ubyte.gz --out seen.csv
[ "$(head -n 1 seen.csv | tr -cd , | wc -c)" -eq 12 ] || fail 'seen.csv has not index, class, ten scores and angle'
[ "$(wc -l <seen.csv)" -eq 5001 ] || fail 'seen.csv has not a line an image'
expect 2 'for network "peaks", whose samples are [2]' predict other --input digits/t10k-images-idx3-ubyte.gz
expect 65 'labels' predict seen --input digits/t10k-labels-idx1-ubyte.gz

# --- Standard output that cannot be written: 74, and the run is kept.
"$retrace" info >/dev/full 2>err
[ $? -eq 74 ] || fail 'info >/dev/full'
"$retrace" --help >/dev/full 2>err
[ $? -eq 74 ] || fail '--help >/dev/full'
"$retrace" train "$golden/peaks.toml" --json --out closed >&- 2>err
[ $? -eq 74 ] || fail 'train >&-'
cmp -s closed/weights.safetensors again/weights.safetensors || fail 'the run of a closed standard output is damaged'
{ "$retrace" info 2>err; echo $? >code; } | :
[ "$(cat code)" -eq 74 ] || [ "$(cat code)" -eq 0 ] || fail 'a reader that went away'
"$retrace" train "$golden/peaks.toml" --out silent >out 2>&-
[ $? -eq 0 ] || fail 'train 2>&-'

# --- Signals: after the current iteration, with what was learned, and a checkpoint.
for signal in INT:130 TERM:143; do
  "$retrace" train "$golden/peaks.toml" --set training.max_epochs=100000000 --json --out "stop-$signal" >out 2>err &
  process=$!
  while [ ! -s "stop-$signal/fingerprints.txt" ] && kill -0 $process; do sleep 0.1; done
  kill -s "${signal%:*}" $process
  wait $process
  code=$?
  [ $code -eq "${signal#*:}" ] || fail "signal $signal: exit code $code"
  has '"stop_reason":"stopped"' out
  [ -s "stop-$signal/weights.safetensors" ] || fail "signal $signal: no weights"
  has "go on with: retrace train --resume stop-$signal" err
done

# --- The mode fast is told wherever a fingerprint is. One thread adds in one order, which is not that of the contract.
expect 0 '"mode":"fast"' train "$golden/digits.toml" --set training.mode=fast --threads 1 --json --out fast
expect 0 ', of this run alone: it is of the mode fast' train fast/job.toml --out fast-again
expect 0 '"mode":"reproducible"' train "$golden/digits.toml" --json --out in-order
has '(mode fast)' fast/report.html
expect 76 'different, as the mode fast allows: the second run is of the mode fast, the first one is reproducible' \
  compare in-order fast
has 'setting training.mode: "reproducible" and "fast"' out
expect 76 '"modes":["reproducible","fast"]' compare in-order fast --json
expect 76 'that proves nothing' compare in-order fast --replay
expect 0 'the last weights; both runs are of the mode fast' compare fast fast-again
expect 0 '"mode":"fast"' replay fast --json
expect 2 'a run that goes on keeps training.mode' train --resume fast --set training.mode=reproducible

# --- A stop within an epoch is told where it was made and where it is compared.
"$retrace" train "$jobs/digits.toml" --set training.max_epochs=1 --set data.test_samples=32 --out within >out 2>err &
process=$!
until grep -qF '"event":"started"' within/metrics.jsonl 2>err || ! kill -0 $process; do sleep 0.02; done
kill -s INT $process
wait $process
has '"complete":false' within/metrics.jsonl
has 'stopped after iteration' within/fingerprints.txt
expect 76 'first run: stopped within epoch 1, after iteration ' compare within seen
expect 76 '"stopped":[{"epoch":1,"iteration":' compare within seen --json
has '"complete":true' seen/metrics.jsonl

# --- Memory that runs out; a sanitizer does not start with so little.
if (ulimit -v 600000 && "$retrace" --version) >out 2>err; then
  (ulimit -v 600000 && exec "$retrace" train "$jobs/digits.toml" --set network.width=4096 --threads 2 --out huge) >out 2>err
  code=$?
  [ $code -eq 69 ] || fail "too little memory: exit code $code"
  has 'there is not enough memory' err
  has 'network.width = 4096' err
  has 'RETRACE_MEMORY_LIMIT' err
fi

# --- A run is tested as it was validated; other data and metrics; every class.
# scores FILE: loss and metrics of a line that has them.
scores() { sed -n 's/.*"validation_loss":\([^,]*\),.*"metrics":\({[^}]*}\).*/\1 \2/p' "$1"; }
expect 0 '"samples":24' test seen --json
cp out tested
tail -n 1 seen/metrics.jsonl >finished
[ -n "$(scores tested)" ] && [ "$(scores tested)" = "$(scores finished)" ] || fail 'test: not what the last validation said'
expect 0 'fingerprint' train "$golden/digits.toml" --set training.max_epochs=1 --set data.train_samples=128 \
  --set data.test_samples=32 --set training.metrics=f-score,mae,confusion-matrix --out small
has ', angle_mae ' out
has 'confusion_matrix: classes in rows' out
has '"f_score":' small/metrics.jsonl
has '"confusion_matrix":[[' small/metrics.jsonl
expect 0 'test set: 32 samples, loss ' test small
has 'confusion_matrix: classes in rows' out
expect 0 ', angle_rmse ' test small --set 'training.metrics=["accuracy", "rmse"]'
expect 0 ', top_k 1' test small --set training.metrics=top-k --set training.top_k=10 --threads 1
expect 0 'class  samples  predicted  precision' test small --classes
expect 0 '"classes":{"class":[{"class":0,"name":"0","samples":' test small --classes --json
[ "$(wc -l <out)" -eq 1 ] || fail 'test --json: more than one line'
silent test small --quiet
expect 2 'seed cannot be replaced' test small --set seed=3
expect 2 'did you mean "top-k"?' test small --set training.metrics=topk
expect 2 'can measure no output' test small --set training.metrics=psnr
expect 2 'data.path has a meaning only with' test small --data digits
expect 2 'did you mean --classes?' test small --class
expect 2 'retrace test needs RUN' test
expect 66 'does not exist' test absent
# The job of a run has every option of its solver; another solver drops them.
expect 0 'fingerprint' train small/job.toml --set training.solver=sgdm --out other-solver
has 'momentum = 0.9' other-solver/job.toml
! grep -q 'gradient_decay' other-solver/job.toml || fail 'the options of the old solver stay'

# --- A job to start from, the page of a run, plots.
mkdir points
printf 'x,kind\n1,a\n2,b\n3,a\n4,b\n' >points/train.csv
cp points/train.csv points/test.csv
expect 0 'job.toml: 4 samples of [1] in 2 classes, read by the data source csv' init --data points
has 'train it: retrace train job.toml' out
expect 2 '"job.toml" is there already' init --data points
expect 2 'retrace init NAME.toml --data ...' init --data points
expect 0 '"source":"csv","samples":4,"test_samples":4,"sample":[1],"classes":2}' init other.toml --data points --json
expect 0 'source = "csv"' init - --data points
expect 2 '--json and the job cannot both go to standard output' init - --data points --json
silent init third.toml --data points --quiet
cmp -s third.toml other.toml && fail 'the name of the job file is not in it'
expect 2 'retrace init needs --data' init
expect 2 'is neither a folder nor a built-in data set' init x.toml --data pionts
expect 2 'did you mean --network?' init x.toml --data points --netwrk digits
expect 0 'fingerprint' train job.toml --epochs 2 --out begun
[ -s begun/report.html ] || fail 'train leaves no report'
expect 0 'fingerprint' train job.toml --epochs 2 --out plain --no-report
[ ! -e plain/report.html ] || fail 'train --no-report leaves one'
cmp -s begun/weights.safetensors plain/weights.safetensors || fail 'the report changes bits'
expect 0 'begun/report.html: open it in a browser' report begun
has 'Samples of the test set' begun/report.html
expect 0 '{"run_dir":"begun","out":"page.html"}' report begun --out page.html --json
expect 0 '<!DOCTYPE html>' report begun --out - --fast
expect 2 '--json and the page cannot both go to standard output' report begun --out - --json
expect 2 'job.toml' report begun --out begun/job.toml
silent report begun --quiet
expect 0 'plot.svg' plot begun --metric loss,accuracy,learn_rate
expect 0 '{"metrics":["loss"],"out":"loss.svg"}' plot begun --out loss.svg --json
expect 0 '</svg>' plot begun --out - --log
expect 2 'did you mean "accuracy"?' plot begun --metric acuracy
if command -v rsvg-convert >/dev/null; then
  expect 0 '{"metrics":["loss"],"out":"loss.png"}' plot begun --out loss.png --json
  [ "$(head -c 4 loss.png | tail -c 3)" = PNG ] || fail 'plot --out loss.png writes no PNG'
else
  echo 'cli_test: PNG pictures SKIPPED, there is no rsvg-convert (make packages LIST=test)'
fi
PATH=/nonexistent "$retrace" plot begun --out absent.png >out 2>err
[ $? -eq 69 ] && [ ! -e absent.png ] || fail 'plot without rsvg-convert'
has 'install the package librsvg2-bin, or give --out a name that ends in .svg' err
expect 2 'give --out loss.svg' plot begun --out loss.jpg
expect 2 'give --out loss.svg' plot begun --out loss
expect 2 '--json and the picture cannot both go to standard output' plot begun --out - --json
expect 2 'job.toml' plot begun --out begun/job.toml
silent plot begun --quiet
expect 66 'does not exist' plot absent
expect 66 'does not exist' report absent

# --- Runs of programs: asked and tested as those of jobs are.
program=$(dirname "$retrace")/examples/train_network
if [ -x "$program" ]; then
  "$program" --quick --json --out own >out 2>err || fail 'examples/train_network --out'
  guess=$(sed 's/.*"guess":\([^,]*\),.*/\1/' out)
  printf 'x,y\n0.5,-0.6\n' >points.csv
  expect 0 '1 rows in own.csv' predict own --input points.csv --out own.csv
  [ "$(head -n 1 own.csv)" = 'index,y' ] || fail 'predict of a run of a program: another header'
  # shellcheck disable=SC2059
  [ "$(printf %g "$(sed -n '2s/0,//p' own.csv)")" = "$guess" ] || fail 'predict of a run of a program: another value'
  mkdir table
  printf 'x,y,height\n0.5,-0.6,-0.3\n1,1,1\n' | tee table/train.csv >table/test.csv
  expect 0 'test set: 2 samples, loss ' test own --set data.source=csv --data table
  expect 0 '"metrics":{"mae":' test own --set data.source=csv --data table --set training.metrics=mae --json
  expect 2 '--set data.source=csv --data DIR' test own
  expect 2 'over a file of a run' predict own --input points.csv --out own/network.toml
  silent report own --quiet
  has 'does not say how its data are read' own/report.html
  sed 's/features = 32/features = 33/' own/network.toml >changed && mv changed own/network.toml
  expect 65 'network.toml' predict own --input points.csv --out own.csv
else
  echo 'cli_test: runs of programs SKIPPED, the examples are not built'
fi

# --- Files in and out: nothing is written over what is read, over what is no regular file, or over data of others.
expect 0 'fingerprint' train "$golden/digits.toml" --set training.max_epochs=1 --set data.train_samples=128 \
  --set data.test_samples=32 --out trained
# The first 20 images.
{
  printf '\000\000\010\003\000\000\000\024\000\000\000\034\000\000\000\034'
  gzip -dc digits/t10k-images-idx3-ubyte.gz | tail -c +17 | head -c 15680
} | gzip >images.gz
cp images.gz in.gz
ln -s in.gz soft.gz
ln in.gz hard.gz
for output in in.gz soft.gz hard.gz trained/weights.safetensors trained/job.toml; do
  expect 2 'would be written over' predict trained --input in.gz --out $output
done
cmp -s in.gz images.gz || fail 'the input of predict was written over'
expect 74 'Is a directory' predict trained --input in.gz --out trained
mkfifo pipe
wc -l <pipe >lines &
expect 0 'rows in pipe' predict trained --input in.gz --out pipe
wait $!
[ -p pipe ] && [ "$(cat lines)" -eq 21 ] || fail 'predict does not write into a pipe'
ln -s /dev/null null
expect 0 'rows in null' predict trained --input in.gz --out null
[ -L null ] && [ -c /dev/null ] || fail 'predict replaces a link to a device'
echo old >kept.csv
chmod 600 kept.csv
expect 0 '{"rows":20,"out":"rows.csv"}' predict trained --input in.gz --out rows.csv --json
silent predict trained --input in.gz --out rows.csv --quiet
expect 2 'cannot both go to standard output' predict trained --input in.gz --out - --json
expect 0 'rows in kept.csv' predict trained --input in.gz --out kept.csv
[ "$(stat -c %a kept.csv)" = 600 ] || fail 'predict changes the mode of its output'
for output in - /dev/stdout; do
  "$retrace" predict trained --input in.gz --out $output >out 2>err || fail "predict --out $output"
  cmp -s out kept.csv || fail "predict --out $output does not write the rows alone to standard output"
done
[ ! -e ./- ] || fail 'predict makes a file -'
expect 0 'digits.png' data digits --out digits
expect 0 '{"source":"digits","out":"digits"}' data digits --out digits --json
mkdir foreign
gzip -dc digits/t10k-images-idx3-ubyte.gz >foreign/train-images-idx3-ubyte
echo mine >foreign/README
expect 2 'is not replaced' data digits --out foreign
[ "$(ls foreign | wc -l)" -eq 2 ] || fail 'data digits writes beside data of others'
rm foreign/train-images-idx3-ubyte
expect 0 'digits.png' data digits --out foreign
[ "$(cat foreign/README)" = mine ] || fail 'data digits touches other files'

# --- Damaged files of a run: 65, with file and tensor.
cp -r trained flipped
size=$(stat -c %s flipped/weights.safetensors)
printf '\001' | dd of=flipped/weights.safetensors bs=1 seek=$((size - 2)) conv=notrunc 2>err
for command in "predict flipped --input in.gz" "compare trained flipped" "compare flipped/weights.safetensors trained"; do
  expect 65 'has not the written fingerprint' $command
done
awk 'BEGIN { for (i = 0; i < 15000; ++i) printf "a."; print "a = 1" }' >deep.toml
expect 2 'too deep' train deep.toml
cp deep.toml flipped/job.toml
expect 65 "is not what was written: job.toml has" predict flipped --input in.gz
rm flipped/manifest.json
expect 65 'too deep' predict flipped --input in.gz
expect 65 'too deep' compare trained flipped

# --- A refused folder is left alone; who uses a folder is told.
expect 2 'is not empty' train "$golden/peaks.toml" --out foreign
[ ! -e foreign/.lock ] || fail 'a refused folder has a lock'
"$retrace" train "$golden/peaks.toml" --set training.max_epochs=100000000 --out busy >out 2>err &
process=$!
while [ ! -s busy/fingerprints.txt ] && kill -0 $process; do sleep 0.1; done
expect 2 "process $process on " train "$golden/peaks.toml" --out busy
kill -s KILL $process
wait $process

# --- What the system refuses is named as such; only where strace is there to refuse it.
if strace -f -o trace.log -e trace=flock -e inject=flock:error=ENOLCK true 2>err; then
  export ASAN_OPTIONS=detect_leaks=0  # the search for leaks needs ptrace, which strace has
  strace -f -o trace.log -e trace=flock -e inject=flock:error=ENOLCK \
    "$retrace" train "$golden/peaks.toml" --out unlocked >out 2>err || fail 'train without locks'
  has 'cannot be locked (No locks available)' err
  strace -f -o trace.log -e trace=flock -e inject=flock:error=EINTR:when=1 \
    "$retrace" train "$golden/peaks.toml" --out interrupted >out 2>err || fail 'train with an interrupted lock'
  cp "$golden/peaks.toml" unread.toml
  strace -f -o trace.log -P "$work/unread.toml" -e trace=pread64 -e inject=pread64:error=EIO \
    "$retrace" train unread.toml >out 2>err
  has 'cannot read job file "unread.toml": Input/output error' err
  unset ASAN_OPTIONS
fi

# --- Texts: the right suggestion, one JSON object, nothing that a terminal obeys.
expect 2 'there is digits' data cifar10 --out c
expect 2 '--json takes no value' info --json=3
expect 66 '"exit_code":66' train absent.toml --json
[ "$(wc -l <out)" -eq 1 ] || fail 'an error with --json: more than one line'
expect 2 'data.train_samples is larger than the set' train "$jobs/digits.toml" --set data.train_samples=1000000000
expect 2 'at most training.mini_batch_size' train "$jobs/digits.toml" --set training.shards=4096
ln -s nowhere.toml dangling.toml
expect 66 'is a link to "nowhere.toml"' train dangling.toml
RETRACE_PASSES_OFF=$(printf '\033[31mx') "$retrace" plan "$golden/peaks.toml" >out 2>err
has '"?[31mx"' err

finish
