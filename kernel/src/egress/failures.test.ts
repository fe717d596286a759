import { expect, test } from "vitest";
import { connectionError } from "./failures.ts";

const systemError = (facts: object): Error => Object.assign(new Error("connect FAILED"), facts);

test.each<[string, object, string | null, RegExp]>([
  [
    "a name that does not exist",
    { code: "ENOTFOUND", hostname: "api.example.com" },
    null,
    /^the name api\.example\.com was not found \(ENOTFOUND\)\. Check the name/,
  ],
  [
    "a port where nothing listens",
    { code: "ECONNREFUSED", address: "127.0.0.1", port: 9 },
    null,
    /^nothing listens at 127\.0\.0\.1:9 \(ECONNREFUSED\)\. Start the server/,
  ],
  [
    "a proxy that is not there",
    { code: "ECONNREFUSED", address: "127.0.0.1", port: 3128 },
    "proxy.example:3128",
    /^the proxy proxy\.example:3128 did not connect: nothing listens .* address\. Check "egress\.proxy"/,
  ],
  [
    "a plain http server that is asked by https",
    {
      code: "EPROTO",
      message:
        "write EPROTO 409D2BB6D37F0000:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:../deps/openssl/openssl/ssl/record/methods/tlsany_meth.c:77:\n",
    },
    null,
    /^the server does not speak https there\. Check the scheme and the port of the address[^\n]*http:\/\/\.$/,
  ],
  [
    "another fault of TLS",
    {
      code: "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE",
      message:
        "409D2BB6D37F0000:error:0A000410:SSL routines:ssl3_read_bytes:ssl/tls alert handshake failure:../deps/x.c:908:SSL alert number 40\n",
    },
    null,
    /^the encrypted connection could not be set up \(ssl\/tls alert handshake failure\)\.$/,
  ],
  ["what the system says otherwise", { code: "EPIPE" }, null, /^connect FAILED$/],
])("%s is said in words, with what to do", (_case, facts, proxy, message) => {
  expect(connectionError(systemError(facts), proxy).message).toMatch(message);
});

test("several attempts at one name are said together", () => {
  const attempts = ["::1", "127.0.0.1"].map((address) =>
    systemError({ code: "ECONNREFUSED", address, port: 9 }),
  );
  expect(connectionError(new AggregateError(attempts), null).message).toMatch(
    /::1:9 .*; nothing listens at 127/,
  );
});
