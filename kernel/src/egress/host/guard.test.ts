import { expect, test } from "vitest";
import { targetOf, type EgressTarget } from "../../policy/egress.ts";
import { shippedScanner } from "../../secret-scan/redact.ts";
import type { HostRequest, Substitution } from "../messages.ts";
import { guardOf } from "./guard.ts";
import type { Hop } from "./send.ts";

const token = `laressecret${"0123456789abcdef".repeat(3)}`;
const value = 'a"b&c=d é\\';
const url = "https://api.example.com/path?key=K&other=K".replaceAll("K", token);

function guarded(hop: Partial<Hop>, request: Pick<HostRequest, "known" | "substitutions" | "masks">): Hop {
  const whole = {
    method: "POST",
    url: "https://api.example.com/",
    headers: [],
    body: new Uint8Array(),
    ...hop,
  };
  return guardOf(request, shippedScanner())(whole, targetOf(whole.url) as EgressTarget);
}
const standing = (place: string, hosts = ["api.example.com"]): { substitutions: Substitution[] } => ({
  substitutions: [{ token, value, hosts, in: place }],
});
const textOf = ({ body }: Hop): string => Buffer.from(body).toString();
const body = Buffer.from(`{"key":"${token}"}`);
const headers = [
  ["Authorization", `Bearer ${token}`],
  ["X-Key", token],
  ["content-type", "application/json"],
] as const;

test("a value stands only in the place and for the hosts that it is bound to", () => {
  const inHeader = guarded({ url, headers, body }, standing("header"));
  expect(inHeader.headers[0]).toEqual(["Authorization", `Bearer ${value}`]);
  expect([inHeader.headers[1]?.[1], inHeader.url, textOf(inHeader)]).toEqual([token, url, String(body)]);

  const inOne = guarded({ url, headers, body }, standing("header:x-key"));
  expect(inOne.headers.map(([, text]) => text).slice(0, 2)).toEqual([`Bearer ${token}`, value]);

  const inQuery = new URL(guarded({ url, headers, body }, standing("query:key")).url);
  expect([...inQuery.searchParams]).toEqual([
    ["key", value],
    ["other", token],
  ]);

  expect(JSON.parse(textOf(guarded({ headers, body }, standing("body"))))).toEqual({ key: value });
  const form = guarded(
    { headers: [["content-type", "application/x-www-form-urlencoded"]], body: Buffer.from(`key=${token}`) },
    standing("body"),
  );
  expect(new URLSearchParams(textOf(form)).get("key")).toBe(value);

  expect(guarded({ url, headers, body }, standing("header", ["other.example"])).headers).toEqual(headers);
  expect(guarded({ url, headers, body }, standing("header", ["api.example.com:8443"])).headers).toEqual(
    headers,
  );
});

test("a placeholder inside Basic credentials is replaced there", () => {
  const basic = (user: string): string => `Basic ${Buffer.from(`ada:${user}`).toString("base64")}`;
  const hop = guarded({ headers: [["authorization", basic(token)]] }, standing("header"));
  expect(hop.headers).toEqual([["authorization", basic(value)]]);
});

test("a value with a line break never stands in a header", () => {
  const substitutions = [{ token, value: "a\r\nx: y", hosts: ["api.example.com"], in: "header" }];
  expect(() => guarded({ headers }, { substitutions })).toThrow(/line break/);
});

test("what holds a secret is refused in each place and form; a text that stands for one is none", () => {
  const secret = "correct horse battery staple";
  const known = [{ name: "weather", value: secret }];
  const base64 = Buffer.from(`user:${secret}`).toString("base64");
  for (const [where, hop] of [
    ["url", { url: `https://api.example.com/?q=${encodeURIComponent(secret)}` }],
    ["header", { headers: [["x-note", secret]] as const }],
    ["header", { headers: [["authorization", `Basic ${base64}`]] as const }],
    ["body", { body: Buffer.from(`x${Buffer.from(secret).toString("hex")}y`) }],
    ["body", { body: Buffer.from(`password: hunter2-hunter2`) }],
    [
      "header",
      {
        headers: [
          ["authorization", `Basic ${Buffer.from("ada:s3cr3t-Pa55word").toString("base64")}`],
        ] as const,
      },
    ],
  ] as const)
    expect(() => guarded(hop, { known }), JSON.stringify(hop)).toThrow(expect.objectContaining({ where }));
  expect(() => guarded({ url, headers, body }, { known, ...standing("header") })).not.toThrow();
});

test("on the way to a model secrets in the body are marked, and nothing is refused", () => {
  const key = `ghp_${"a1B2c3D4".repeat(4)}e5F6`;
  const known = [{ name: "weather", value: "correct horse" }];
  const hop = guarded(
    {
      headers: [["authorization", `Bearer ${key}`]],
      body: Buffer.from(JSON.stringify([`see ${key}`, "correct horse"])),
    },
    { known, masks: true },
  );
  expect(JSON.parse(textOf(hop))).toEqual(["see [secret: github token]", "[secret: stored secret]"]);
  expect(hop.headers).toEqual([["authorization", `Bearer ${key}`]]);
});

test("a text that stands for a secret cannot make a request of any size", () => {
  const many = token.repeat(33);
  for (const [hop, place] of [
    [{ body: Buffer.from(many) }, "body"],
    [{ headers: [["x-key", many]] }, "header:x-key"],
    [{ headers: [["authorization", `Basic ${Buffer.from(many).toString("base64")}`]] }, "header"],
    [{ url: `https://api.example.com/?key=${many}` }, "query:key"],
  ] as const)
    expect(() => guarded(hop, standing(place))).toThrow("at most 32 times");
  expect(textOf(guarded({ body: Buffer.from(token.repeat(32)) }, standing("body")))).toBe(value.repeat(32));
});
