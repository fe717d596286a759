import { afterAll, describe, expect, test } from "vitest";
import { ArgumentChecker, argumentBounds } from "./argument-checker.ts";

const checker = new ArgumentChecker({ ...argumentBounds, deadlineMs: 60_000 });
afterAll(() => checker[Symbol.asyncDispose]());

const object = (properties: object, more: object = {}): Record<string, unknown> => ({
  type: "object",
  properties,
  ...more,
});

/** Returns what is wrong, or null. */
async function fault(
  schema: Record<string, unknown>,
  args: unknown,
  use = checker,
  caller = "c",
): Promise<string | null> {
  try {
    await use.check(caller, "a/t", schema, args);
    return null;
  } catch (error) {
    expect(error).toMatchObject({ code: "ToolError" });
    return (error as Error).message;
  }
}

/** Definitions that each refer twice to the next one: 2^levels comparisons. */
function fanOut(levels: number): Record<string, unknown> {
  const definitions: Record<string, unknown> = { [`d${levels}`]: { type: "object" } };
  for (let level = 0; level < levels; level++) {
    const next = { $ref: `#/definitions/d${level + 1}` };
    definitions[`d${level}`] = { allOf: [next, next] };
  }
  return object({}, { allOf: [{ $ref: "#/definitions/d0" }], definitions });
}

describe("arguments", () => {
  test("are accepted if they fit, and refused with the place if not", async () => {
    const schema = object({ n: { type: "integer" } }, { required: ["n"] });
    expect(await fault(schema, { n: 1 })).toBeNull();
    expect(await fault(schema, {})).toBe('a/t: the arguments must have required property "n".');
    expect(await fault(schema, { n: "x" })).toBe("a/t: /n must be integer.");
  });

  test("are refused with what is expected, and the validator's facts are in the error's data", async () => {
    const schema = object(
      { unit: { enum: ["C", "F"] }, kind: { const: "now" } },
      { additionalProperties: false },
    );
    expect(await fault(schema, { unit: "K" })).toBe('a/t: /unit must be one of "C", "F".');
    expect(await fault(schema, { kind: "then" })).toBe('a/t: /kind must be "now".');
    expect(await fault(schema, { citty: 1 })).toBe('a/t: the arguments must not have the property "citty".');
    await expect(checker.check("c", "a/t", schema, { kind: 1 })).rejects.toMatchObject({
      facts: { errors: [{ path: "/kind", message: 'must be "now"', params: { allowedValue: "now" } }] },
    });
  });

  test("are refused for an invalid schema", async () => {
    expect(await fault({ type: "objekt" }, {})).toMatch(
      /^The parameters of a\/t are not a valid JSON Schema: /,
    );
    expect(await fault(object({ a: { $ref: "#/definitions/none" } }), {})).toMatch(/not a valid JSON Schema/);
    expect(await fault(object({ a: { pattern: "(a)\\1" } }), {})).toMatch(/not a valid JSON Schema/);
  });

  test("do not have the properties that every JavaScript object inherits", async () => {
    const schema = object({}, { required: ["toString", "constructor"] });
    expect(await fault(schema, {})).toMatch(/must have required property "toString"/);
    expect(await fault(schema, { toString: 1, constructor: 1 })).toBeNull();
  });

  test("are not checked against what stands beside a $ref", async () => {
    const definitions = { text: { type: "string" } };
    const schema = object({ a: { $ref: "#/definitions/text", maxLength: 1 } }, { definitions });
    expect(await fault(schema, { a: "long" })).toBeNull();
    expect(await fault(schema, { a: 1 })).toMatch(/must be string/);
  });

  test("match ECMAScript patterns", async () => {
    const check = (pattern: string, a: string) => fault(object({ a: { pattern } }), { a });
    for (const [pattern, good, bad] of [
      ["^\\p{Letter}+$", "\u00e4b", "1"],
      ["^\\p{gc=Lu}\\P{Script=Greek}$", "Ab", "A\u03b1"],
      ["^[\\s]\\S$", "\u00a0x", "x\u00a0"],
      ["^\\cC\\u0041$", "\u0003A", "A"],
    ] as const)
      expect([pattern, await check(pattern, good), (await check(pattern, bad)) !== null]).toEqual([
        pattern,
        null,
        true,
      ]);
  });

  test("are checked against each of two patterns in one schema", async () => {
    const schema = object({ a: { pattern: "^a$" }, b: { pattern: "^b$" } });
    expect(await fault(schema, { a: "a", b: "b" })).toBeNull();
    expect(await fault(schema, { a: "a", b: "a" })).toMatch(/^a\/t: \/b must match pattern "\^b\$"/);
  });

  test("with the same $id in two schemas are checked against their own", async () => {
    const schema = (type: string): Record<string, unknown> =>
      object({ a: { type } }, { $id: "https://same.example/schema" });
    expect(await fault(schema("string"), { a: "x" })).toBeNull();
    expect(await fault(schema("number"), { a: 1 })).toBeNull();
  });

  test("of a megabyte are not quoted in full", async () => {
    const schema = object({}, { additionalProperties: false });
    expect((await fault(schema, { ["x".repeat(1e6)]: 1 }))?.length).toBeLessThan(3000);
  });
});

describe("formats", () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ["date", ["2026-02-28"], ["2026-02-30"]],
    [
      "date-time",
      ["2026-01-01T00:00:00Z", "1998-12-31T15:59:60.1-08:00", "2026-01-01T00:00:59.999999999999999z"],
      [
        "2026-01-01",
        "2026-01-01T00:00:00+01",
        "2026-01-01T24:00:00Z",
        "2026-01-01 00:00:00Z",
        "2026-01-01T12:00:60Z",
      ],
    ],
    ["time", ["23:59:60Z"], ["22:59:60Z", "12:00:00"]],
    ["iri", ["http://ex\u00e4mple.example/\u00fc?x"], ["//ex\u00e4mple.example", "http://[::01.2.3.4]"]],
    ["duration", ["P1D", "PT1H30M", "P2W", "P1Y2M"], ["P", "PT", "P1DT", "1D", "P1H"]],
    ["email", ["a@b.example", "A@B.EXAMPLE"], ["a@", "a b@c"]],
    [
      "hostname",
      ["example.com", "a-b.C", "xn--nxasmq6b"],
      ["-a", "a.", "a..b", "a".repeat(64), "a.".repeat(127) + "bc", "\u212aelvin", "ab--c"],
    ],
    ["ipv4", ["10.0.0.1"], ["10.0.0.256"]],
    ["ipv6", ["::1", "FE80::1"], ["::g"]],
    ["regex", ["^a+$"], ["("]],
    [
      "uri",
      ["http://a.example/x?y#z", "URN:x:y", "http://u@[::1]:80/", "ftp://[vF.x]"],
      ["/x", "x", "http://a b", "http://a:port/", "http://a/[b]", 'http://a/"b"', "http://a@b@c"],
    ],
    ["uri-reference", ["/x", "x", "./a:b"], ["\\", "1:b"]],
    ["uri-template", ["/{a.b}/it's{?c*}"], ["/{"]],
    ["url", ["https://a.example"], ["a"]],
    ["uuid", ["018F0000-0000-7000-8000-000000000000"], ["018f"]],
    ["json-pointer", ["/a/0"], ["a"]],
    ["unheard-of", ["anything"], []],
  ])("%s", async (format, good, bad) => {
    const schema = object({ value: { type: "string", format } });
    for (const value of good) expect([value, await fault(schema, { value })]).toEqual([value, null]);
    for (const value of bad)
      expect([value, await fault(schema, { value })]).toEqual([value, expect.any(String)]);
  });
});

describe("an endless check", () => {
  test("is stopped at the deadline and named, and the next check runs", async () => {
    await using quick = new ArgumentChecker({ ...argumentBounds, deadlineMs: 500 });
    expect(await fault(fanOut(40), {}, quick)).toMatch(
      /^a\/t: its parameters schema takes too long to check\. /,
    );
    const items = Array.from({ length: 60_000 }, (_, index) => ({ index }));
    const unique = object({ items: { type: "array", uniqueItems: true } });
    expect(await fault(unique, { items }, quick)).toMatch(/too long/);
    expect(await fault(unique, { items: [1, 2] }, quick)).toBeNull();
  });

  test("is not repeated for ever; another caller's calls of the same tool are checked", async () => {
    await using quick = new ArgumentChecker({ ...argumentBounds, deadlineMs: 500, maxOverruns: 1 });
    const schema = object({ a: { $ref: "#/definitions/d0" } }, { definitions: fanOut(40)["definitions"] });
    expect(await fault(schema, { a: {} }, quick)).toMatch(/took longer than 500 ms/);
    expect(await fault(schema, { a: {} }, quick)).toMatch(
      /It took too long 1 times and is not checked again/,
    );
    expect(await fault(schema, {}, quick, "another")).toBeNull();
  });

  test("that one caller requests many times at once delays another caller only once", async () => {
    await using quick = new ArgumentChecker({ ...argumentBounds, deadlineMs: 500, maxOverruns: 100 });
    const ended: string[] = [];
    const slow = Array.from({ length: 3 }, () =>
      fault(fanOut(40), {}, quick, "evil").then(() => ended.push("evil")),
    );
    await fault(object({}, { patternProperties: {} }), {}, quick, "good").then(() => ended.push("good"));
    await Promise.all(slow);
    expect(ended).toEqual(["evil", "good", "evil", "evil"]);
  });
});
