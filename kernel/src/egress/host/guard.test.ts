import { expect, test } from "vitest";
import { targetOf, type EgressTarget } from "../../policy/egress.ts";
import { shippedScanner } from "../../secret-scan/redact.ts";
import type { HostRequest, Substitution } from "../messages.ts";
import { guardOf } from "./guard.ts";
import type { Hop } from "./send.ts";

const token = `laressecret${"0123456789abcdef".repeat(3)}`;
const value = 'a"b&c=d é\\';
const url = "https://api.example.com/path?key=K&other=K".replaceAll("K", token);

async function guarded(
  hop: Partial<Hop>,
  request: Pick<HostRequest, "known" | "substitutions" | "masks">,
): Promise<Hop> {
  const whole = {
    method: "POST",
    url: "https://api.example.com/",
    headers: [],
    body: new Uint8Array(),
    ...hop,
  };
  return await guardOf(request, shippedScanner()).guard(whole, targetOf(whole.url) as EgressTarget);
}
const standing = (place: string, hosts = ["api.example.com"]): { substitutions: Substitution[] } => ({
  substitutions: [{ secret: "key", token, value, hosts, in: place }],
});
const textOf = ({ body }: Hop): string => Buffer.from(body).toString();
const body = Buffer.from(`{"key":"${token}"}`);
const headers = [
  ["Authorization", `Bearer ${token}`],
  ["X-Key", token],
  ["content-type", "application/json"],
] as const;

test("a value is inserted only in the place and for the hosts that it is bound to", async () => {
  const inHeader = await guarded({ url, headers, body }, standing("header"));
  expect(inHeader.headers[0]).toEqual(["Authorization", `Bearer ${value}`]);
  expect([inHeader.headers[1]?.[1], inHeader.url, textOf(inHeader)]).toEqual([token, url, String(body)]);

  const inOne = await guarded({ url, headers, body }, standing("header:x-key"));
  expect(inOne.headers.map(([, text]) => text).slice(0, 2)).toEqual([`Bearer ${token}`, value]);

  const inQuery = new URL((await guarded({ url, headers, body }, standing("query:key"))).url);
  expect([...inQuery.searchParams]).toEqual([
    ["key", value],
    ["other", token],
  ]);

  expect(JSON.parse(textOf(await guarded({ headers, body }, standing("body"))))).toEqual({ key: value });
  const form = await guarded(
    { headers: [["content-type", "application/x-www-form-urlencoded"]], body: Buffer.from(`key=${token}`) },
    standing("body"),
  );
  expect(new URLSearchParams(textOf(form)).get("key")).toBe(value);

  for (const elsewhere of ["other.example", "api.example.com:8443"])
    expect((await guarded({ url, headers, body }, standing("header", [elsewhere]))).headers).toEqual(headers);
});

test("a placeholder inside Basic credentials is replaced there", async () => {
  const basic = (user: string): string => `Basic ${Buffer.from(`ada:${user}`).toString("base64")}`;
  const hop = await guarded({ headers: [["authorization", basic(token)]] }, standing("header"));
  expect(hop.headers).toEqual([["authorization", basic(value)]]);
});

test("a value with a line break is never inserted into a header", async () => {
  const substitutions = [
    { secret: "key", token, value: "a\r\nx: y", hosts: ["api.example.com"], in: "header" },
  ];
  await expect(guarded({ headers }, { substitutions })).rejects.toThrow(/line break/);
});

test("a request with a secret is refused in each place and form; a placeholder is not a secret", async () => {
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
    await expect(guarded(hop, { known }), JSON.stringify(hop)).rejects.toThrow(
      expect.objectContaining({ where }),
    );
  await expect(guarded({ url, headers, body }, { known, ...standing("header") })).resolves.toBeDefined();
});

test("on the way to a model secrets in the body are marked, and nothing is refused", async () => {
  const key = `ghp_${"a1B2c3D4".repeat(4)}e5F6`;
  const known = [{ name: "weather", value: "correct horse" }];
  const hop = await guarded(
    {
      headers: [["authorization", `Bearer ${key}`]],
      body: Buffer.from(JSON.stringify([`see ${key}`, "correct horse"])),
    },
    { known, masks: true },
  );
  expect(JSON.parse(textOf(hop))).toEqual(["see [secret: github token]", "[secret: stored secret]"]);
  expect(hop.headers).toEqual([["authorization", `Bearer ${key}`]]);
});

test("placeholders cannot make a request of unlimited size", async () => {
  const many = token.repeat(33);
  for (const [hop, place] of [
    [{ body: Buffer.from(many) }, "body"],
    [{ headers: [["x-key", many]] }, "header:x-key"],
    [{ headers: [["authorization", `Basic ${Buffer.from(many).toString("base64")}`]] }, "header"],
    [{ url: `https://api.example.com/?key=${many}` }, "query:key"],
  ] as const)
    await expect(guarded(hop, standing(place))).rejects.toThrow("at most 32 times");
  expect(textOf(await guarded({ body: Buffer.from(token.repeat(32)) }, standing("body")))).toBe(
    value.repeat(32),
  );
});

const github = `ghp_${"a1B2c3D4".repeat(4)}e5F6`;

test("an escape that is none hides nothing in an address", async () => {
  for (const [where, query] of [
    ["url", `q=%${github.charCodeAt(0).toString(16)}${github.slice(1)}&z=%`],
    ["url", "q=%63orrect%20horse&z=%zz"],
  ] as const)
    await expect(
      guarded(
        { url: `https://api.example.com/?${query}` },
        { known: [{ name: "weather", value: "correct horse" }] },
      ),
      query,
    ).rejects.toThrow(expect.objectContaining({ where }));
});

test("a redirect that holds a known secret is refused, in the letters that the server wrote", () => {
  const known = [{ name: "weather", value: "CorrectHorse7" }];
  const { redirecting } = guardOf({ known }, shippedScanner());
  for (const location of [
    "https://CorrectHorse7.example/",
    "/path?key=CorrectHorse7",
    "https://x.example/%43orrectHorse7",
  ])
    expect(() => redirecting(location), location).toThrow(/secret/);
  expect(() => redirecting("https://x.example/path")).not.toThrow();
});

test("a large body is read in many turns of the loop, and a secret is found wherever it stands", async () => {
  const length = 300_000;
  // Borders of the steps are among them.
  for (const at of [0, 65_500, 65_530, 65_536, 131_050, length - github.length - 1]) {
    const text = `${" ".repeat(at)}${github}`.padEnd(length, " ");
    await expect(guarded({ body: Buffer.from(text) }, {}), String(at)).rejects.toThrow(/github/);
  }
  // Cut anywhere, what stands for a secret would look like one.
  const standing = `authorization: ${token}, `.repeat(4_000);
  let turns = 0;
  const counting = setInterval(() => turns++, 0);
  const substitutions = [{ secret: "key", token, value, hosts: ["other.example"], in: "body" }];
  await expect(guarded({ body: Buffer.from(standing) }, { substitutions })).resolves.toBeDefined();
  await guarded({ body: Buffer.alloc(4 * 1024 * 1024, "token key ") }, {});
  clearInterval(counting);
  expect(turns).toBeGreaterThan(10);
});

test.each([
  ["its place", "https://api.example.com/", "header:x-key", []],
  ["another header", "https://api.example.com/", "header:x-other", ["key"]],
  ["another host", "https://other.example/", "header:x-key", ["key"]],
])("a placeholder in %s: the secrets whose values were not inserted", async (_where, to, place, expected) => {
  const guard = guardOf(standing(place), shippedScanner());
  const hop = { method: "GET", url: to, headers: [["x-key", token]] as const, body: new Uint8Array() };
  await guard.guard(hop, targetOf(to) as EgressTarget);
  expect(guard.unfilled()).toEqual(expected);
});

test("a value that was inserted once is not missing after a redirect", async () => {
  const guard = guardOf(standing("header"), shippedScanner());
  for (const to of ["https://api.example.com/", "https://other.example/"]) {
    const hop = {
      method: "GET",
      url: to,
      headers: [["authorization", token]] as const,
      body: new Uint8Array(),
    };
    await guard.guard(hop, targetOf(to) as EgressTarget);
  }
  expect(guard.unfilled()).toEqual([]);
});
