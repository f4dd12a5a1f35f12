# Object storage of this machine alone, tests/s3_server.py; sourced behind command_testing.sh, with `source`, the source tree. `server` is
# its address, "" where there is none and server.err says why. The environment leads to it, and to nothing of the user's. It
# ends with the script.
mkfifo pipe
python3 "$source/tests/s3_server.py" <pipe >port 2>server.err &
exec 9>pipe # the server ends when this is closed
for i in $(seq 100); do
  [ -s port ] && break
  kill -0 $! 2>/dev/null || break
  sleep 0.1
done
server=
[ -s port ] && server="http://127.0.0.1:$(cat port)"
unset AWS_PROFILE AWS_SESSION_TOKEN AWS_ENDPOINT_URL_S3 AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE http_proxy HTTP_PROXY
export HOME="$work/home" XDG_CACHE_HOME="$work/cache" AWS_REGION=eu-test-1 AWS_ENDPOINT_URL="$server"
export AWS_ACCESS_KEY_ID=TESTKEY AWS_SECRET_ACCESS_KEY=secret/of+tests
# tell NAME TEXT: what the server's /-/NAME says.
tell() { python3 -c 'import sys, urllib.request
print(urllib.request.urlopen(sys.argv[1], sys.argv[2].encode()).read().decode())' "$server/-/$1" "$2"; }
