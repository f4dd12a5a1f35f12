#!/usr/bin/env python3
"""s3_server: object storage for tests, on a free port of the loopback interface, which it prints. Objects are in memory;
those of FOLDER... are there from the start, as BUCKET/KEY. Each signature is computed again with botocore. Faults come by
POST /-/faults with a JSON list; each is used once, by the next request that it fits. GET /-/seen: what was asked for."""

import hashlib
import http.server
import json
import os
import re
import sys
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

KEY_ID, SECRET, REGION = "TESTKEY", "secret/of+tests", "eu-test-1"
BUCKETS = {}  # name -> {key: bytes}
UPLOADS = {}  # id -> {number: bytes}
LOCK = threading.Lock()
FAULTS = []  # {"match": text in "METHOD path?query", "count": times, and what happens: see Handler.fault}
SEEN = []  # "METHOD path?query status"
TOKEN = {"good": ""}  # the token that sessions need


def tag_of(data):
    return '"%s"' % hashlib.md5(data).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    # --- Answers.

    def answer(self, status, body=b"", headers=None, length=None):
        if isinstance(body, str):
            body = body.encode()
        SEEN.append(f"{self.command} {self.path} {status}")
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)
        if length is not None and length != len(body):
            self.close_connection = True

    def refuse(self, status, code, message="", headers=None):
        self.answer(status, f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{message}</Message></Error>", headers)

    # --- Signatures.

    def check(self, body):
        given = self.headers.get("Authorization", "")
        match = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d+)/([^/]+)/s3/aws4_request, ?"
                             r"SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})", given)
        if not match:
            return self.refuse(403, "AccessDenied", "no signature")
        key_id, _, region, names, signature = match.groups()
        if key_id != KEY_ID:
            return self.refuse(403, "InvalidAccessKeyId")
        if region != REGION:
            return self.refuse(400, "AuthorizationHeaderMalformed", f"expecting '{REGION}'", {"x-amz-bucket-region": REGION})
        names = names.split(";")
        if not {"host", "x-amz-date", "x-amz-content-sha256"} <= set(names):
            return self.refuse(403, "AccessDenied", "too few headers are signed")
        if self.headers["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest():
            return self.refuse(400, "XAmzContentSHA256Mismatch")
        request = AWSRequest(self.command, f"http://{self.headers['Host']}{self.path}", data=body)
        for name in names:
            request.headers[name] = self.headers[name]
        request.context["timestamp"] = self.headers["x-amz-date"]
        request.context["signing"] = {}
        auth = S3SigV4Auth(Credentials(KEY_ID, SECRET, self.headers.get("x-amz-security-token")), "s3", region)
        text = auth.string_to_sign(request, auth.canonical_request(request))
        if auth.signature(text, request) != signature:
            return self.refuse(403, "SignatureDoesNotMatch")
        if TOKEN["good"] and self.headers.get("x-amz-security-token") != TOKEN["good"]:
            return self.refuse(400, "ExpiredToken", "The provided token has expired.")
        return True

    # --- Faults.

    def fault(self):
        with LOCK:
            asked = f"{self.command} {self.path}"
            fault = next((f for f in FAULTS if f.get("match", "") in asked), None)
            if not fault:
                return None
            fault["count"] = fault.get("count", 1) - 1
            if fault["count"] <= 0:
                FAULTS.remove(fault)
            return fault

    def broken(self, fault):
        """Whether the fault was an answer."""
        if "wait" in fault:
            time.sleep(fault["wait"])
        if "status" in fault:
            self.refuse(fault["status"], fault.get("code", "InternalError"), "a fault of the test", fault.get("headers"))
            return True
        if "body" in fault:
            self.answer(200, fault["body"])
            return True
        if "close" in fault:
            self.close_connection = True
            return True
        return False

    # --- Requests.

    def handle_request(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urllib.parse.urlsplit(self.path)
        if url.path.startswith("/-/"):
            return self.control(url.path, body)
        fault = self.fault() or {}
        if self.broken(fault) or not self.check(body):
            return None
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        name, _, key = url.path[1:].partition("/")
        key = urllib.parse.unquote(key)
        with LOCK:
            bucket = BUCKETS.get(name)
        if bucket is None:
            return self.refuse(404, "NoSuchBucket")
        if key == "" and self.command == "GET":
            return self.list(bucket, query, fault)
        return getattr(self, "on_" + self.command.lower())(bucket, key, query, body, fault)

    do_GET = do_PUT = do_POST = do_DELETE = handle_request

    def control(self, path, body):
        with LOCK:
            if path == "/-/faults":
                FAULTS[:] = json.loads(body)
            elif path == "/-/token":
                TOKEN["good"] = body.decode()
            elif path == "/-/many":  # BUCKET PREFIX COUNT
                name, prefix, count = body.decode().split()
                BUCKETS.setdefault(name, {}).update({f"{prefix}{i:05}.png": b"x" for i in range(int(count))})
            elif path == "/-/load":  # BUCKET PREFIX FOLDER
                load(*body.decode().split())
            elif path == "/-/put":  # BUCKET KEY, a line, and then the content
                name, _, rest = body.partition(b" ")
                key, _, data = rest.partition(b"\n")
                BUCKETS.setdefault(name.decode(), {})[key.decode()] = data
            seen = "\n".join(SEEN)
            if path == "/-/seen":
                SEEN.clear()
        self.answer(200, seen if path == "/-/seen" else "")

    def answer_so(self, fault, status, data):
        """As the fault says, which is no answer of its own."""
        if fault.get("truncate"):
            return self.answer(status, data[:len(data) // 2], length=len(data))
        if fault.get("stall"):
            self.answer(status, data[:len(data) // 2], length=len(data))
            return time.sleep(fault["stall"])
        if fault.get("shorten"):
            data = data[:-1]
        if fault.get("lengthen"):
            data += b"x"
        return self.answer(status, data)

    def list(self, bucket, query, fault):
        prefix, after = query.get("prefix", ""), query.get("continuation-token", "")
        with LOCK:
            keys = sorted(k for k in bucket if k.startswith(prefix) and k > after)
            count = min(int(query.get("max-keys", 1000)), 1000)
            items = "".join(f"<Contents><Key>{escape(urllib.parse.quote_plus(k, safe='/'))}</Key><Size>{len(bucket[k])}</Size>"
                            f"<ETag>{escape(tag_of(bucket[k]), {chr(34): '&quot;'})}</ETag></Contents>" for k in keys[:count])
        more = len(keys) > count
        token = f"<NextContinuationToken>{escape(keys[count - 1])}</NextContinuationToken>" if more else ""
        text = ('<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
                f"<EncodingType>url</EncodingType><IsTruncated>{str(more).lower()}</IsTruncated>{token}{items}</ListBucketResult>")
        self.answer_so(fault, 200, text.encode())

    def on_get(self, bucket, key, _, body, fault):
        data = bucket.get(key)
        if data is None:
            return self.refuse(404, "NoSuchKey")
        if self.headers.get("If-Match", tag_of(data)) != tag_of(data):
            return self.refuse(412, "PreconditionFailed")
        status, asked = 200, re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if asked:
            status, data = 206, data[int(asked[1]):int(asked[2]) + 1]
        return self.answer_so(fault, status, data)

    def on_put(self, bucket, key, query, body, _):
        with LOCK:
            if "uploadId" in query:
                UPLOADS[query["uploadId"]][int(query["partNumber"])] = body
            else:
                bucket[key] = body
        self.answer(200, headers={"ETag": tag_of(body)})

    def on_post(self, bucket, key, query, body, fault):
        if "uploads" in query:
            upload = f"upload/{len(UPLOADS)}+x"
            UPLOADS[upload] = {}
            return self.answer(200, f"<InitiateMultipartUploadResult><UploadId>{upload}</UploadId></InitiateMultipartUploadResult>")
        parts = UPLOADS.pop(query["uploadId"])
        wanted = [int(n) for n in re.findall(r"<PartNumber>(\d+)</PartNumber>", body.decode())]
        tags = re.findall(r"<ETag>(.*?)</ETag>", body.decode())
        if wanted != sorted(parts) or tags != [tag_of(parts[n]) for n in wanted]:
            return self.refuse(400, "InvalidPart")
        with LOCK:
            bucket[key] = b"".join(parts[n] for n in wanted)
        return self.answer(200, "<CompleteMultipartUploadResult/>")

    def on_delete(self, bucket, key, query, *_):
        with LOCK:
            if "uploadId" in query:
                UPLOADS.pop(query["uploadId"], None)
            else:
                bucket.pop(key, None)
        self.answer(204)


def load(name, prefix, folder):
    bucket = BUCKETS.setdefault(name, {})
    for root, _, files in os.walk(folder):
        for file in files:
            path = os.path.join(root, file)
            with open(path, "rb") as data:
                bucket[prefix + os.path.relpath(path, folder)] = data.read()


def main():
    http.server.ThreadingHTTPServer.request_queue_size = 128
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    # Ends with the test that started it: its standard input is closed then.
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    server.serve_forever()


main()
