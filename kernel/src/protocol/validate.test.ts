import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { ErrorCodes as JsonRpcCodes } from "vscode-jsonrpc";
import { LaresError, type ErrorCode } from "../base/errors.ts";
import { fromWireError, toWireError, wireCodes } from "./errors.ts";
import { guestCalls, isGuestMethod } from "./guest/v1/calls.ts";
import { guestRequests } from "./guest/v1/lifecycle.ts";
import { publishedSchemas } from "./published/published.ts";
import { serverNotifications } from "./v1/notifications.ts";
import { clientRequests, isClientRequest } from "./v1/requests.ts";
import { checkParams, validate } from "./validate.ts";

const digest = `sha256:${"a".repeat(64)}`;
const propose = (effect: object) => ({ title: "t", reason: "", effects: [effect] });

/** `says` null: it fits. */
const cases: readonly {
  method: keyof typeof clientRequests | keyof typeof guestCalls;
  params: unknown;
  says: string | null;
}[] = [
  { method: "lares/status", params: { unknown: 1 }, says: null },
  { method: "lares/status", params: [], says: "params is an array; it must be an object." },
  { method: "lares/trust", params: {}, says: 'params has no "trusted", which is required.' },
  {
    method: "lares/trust",
    params: { trusted: "yes" },
    says: 'params.trusted is "yes"; it must be a boolean.',
  },
  {
    method: "lares/agents/control",
    params: { id: "a", command: "fly" },
    says: 'params.command is "fly"; it must be one of "enable", "disable", "suspend", "resume", "reload".',
  },
  {
    method: "lares/agents/control",
    params: { id: "", command: "enable" },
    says: "params.id has 0 characters; it must have at least 1.",
  },
  {
    method: "lares/traces/query",
    params: { limit: 0 },
    says: "params.limit is 0; it must be >= 1 (How many to answer at most).",
  },
  {
    method: "lares/traces/query",
    params: { limit: 1.5 },
    says: "params.limit is 1.5; it must be an integer.",
  },
  { method: "lares/actions/approve", params: { id: "a", digest }, says: null },
  {
    method: "lares/actions/approve",
    params: { id: "a", digest: "abc" },
    says: 'params.digest is "abc"; it must match ^sha256:[0-9a-f]{64}$ (The `digest` of the action as it was shown; SHA-256, lower case hexadecimal).',
  },
  {
    method: "lares/actions/approve",
    params: { id: "a", digest, rules: [{ decide: "allow", pth: "x" }] },
    says: 'params.rules[0] has a field "pth" that is not known; known are: decide, agent, kind, path, until.',
  },
  { method: "lares/entries/query", params: { path: "**", later: 1 }, says: null },
  {
    method: "lares/memory/query",
    params: { agent: "a", kind: "temporal", limit: -1 },
    says: "params.limit is -1; it must be >= 1 (How many to answer at most).",
  },
  {
    method: "lares/memory/query",
    params: { agent: "a" },
    says: 'params.kind is missing; it must be one of "temporal", "associative", "working", "search".',
  },
  {
    method: "vdfs/query",
    params: { later: 1 },
    says: 'params has a field "later" that is not known; known are: path, tag, kind, media, extension, text, limit, cursor.',
  },
  { method: "vdfs/get", params: {}, says: "params has the fields (none); it must be { path } or { id }." },
  {
    method: "vdfs/read",
    params: { path: "a", length: 262_145 },
    says: "params.length is 262145; it must be <= 262144 (How long the piece is at most, bytes).",
  },
  {
    method: "memory/temporal/query",
    params: { where: [{ field: "a", op: "like", value: 1 }] },
    says: 'params.where[0].op is "like"; it must be one of "eq", "ne", "in", "gt", "gte", "lt", "lte", "contains", "near".',
  },
  {
    method: "actions/propose",
    params: propose({ kind: "file.write", path: "a", content_base64: "" }),
    says: null,
  },
  {
    method: "actions/propose",
    params: propose({ kind: "file.move", from: "a" }),
    says: 'params.effects[0] has no "to", which is required.',
  },
  {
    method: "actions/propose",
    params: propose({ kind: "file.write", path: "a", content_base64: 3 }),
    says: "params.effects[0].content_base64 is 3; it must be a string.",
  },
  {
    method: "actions/propose",
    params: propose({ kind: "file.delete", path: "a", recursive: true }),
    says: 'params.effects[0] has a field "recursive" that is not known; known are: kind, path, expected.',
  },
  {
    method: "actions/propose",
    params: { title: "t", reason: "", effects: [] },
    says: "params.effects has 0 items; it must have at least 1.",
  },
];

describe("params", () => {
  for (const { method, params, says } of cases)
    test(`${method} ${JSON.stringify(params).slice(0, 80)}`, () => {
      const shapes: Record<string, { params: object }> = { ...clientRequests, ...guestCalls };
      expect(validate(shapes[method]?.params ?? {}, params)?.message ?? null).toBe(says);
    });

  test("the error for an unknown kind of effect lists the known ones", () => {
    const fault = validate(guestCalls["actions/propose"].params, propose({ kind: "file.burn" }));
    expect(fault).toMatchObject({
      path: "params.effects[0].kind",
      message: expect.stringMatching(/"file.burn"; .*"sidecar.write"/),
    });
  });

  test("a hostile value is not echoed at length", () => {
    const fault = validate(clientRequests["lares/trust"].params, { trusted: "x".repeat(1e6) });
    expect(fault?.message.length).toBeLessThan(200);
  });

  test("faults are InvalidParams with the method and the place", () => {
    expect(() => checkParams("lares/trust", clientRequests["lares/trust"].params, {})).toThrowError(
      expect.objectContaining({
        code: "InvalidParams",
        facts: { method: "lares/trust", path: "params" },
      }) as Error,
    );
  });

  test("every schema of the wire compiles", () => {
    for (const { params, result } of Object.values({ ...clientRequests, ...guestCalls, ...guestRequests }))
      for (const schema of [params, result]) validate(schema, {});
    for (const { params } of Object.values(serverNotifications)) validate(params, {});
  });

  test("names that every object inherits are not methods", () => {
    for (const name of ["constructor", "toString", "__proto__"]) {
      expect(isClientRequest(name)).toBe(false);
      expect(isGuestMethod(name)).toBe(false);
    }
  });
});

describe("published schemas", () => {
  for (const [file, schema] of Object.entries(publishedSchemas()))
    test(`${file} is draft-07, and all of its definitions compile`, () => {
      const ajv = new Ajv({ strict: true, allowUnionTypes: true });
      expect(ajv.validateSchema(schema)).toBe(true);
      ajv.addSchema(schema, file);
      for (const name of Object.keys((schema as { definitions: object }).definitions))
        ajv.compile({ $ref: `${file}#/definitions/${encodeURIComponent(name.replaceAll("/", "~1"))}` });
    });

  test("name every request of the protocol", () => {
    const { definitions } = publishedSchemas()["protocol.schema.json"] as {
      definitions: Record<string, object>;
    };
    for (const method of Object.keys(clientRequests)) {
      expect(definitions).toHaveProperty([`${method}:params`]);
      expect(definitions).toHaveProperty([`${method}:result`]);
    }
    expect(JSON.stringify(definitions["lares/actions/get:result"])).toBe('{"$ref":"#/definitions/Action"}');
  });
});

describe("errors", () => {
  test("go over the wire and back", () => {
    for (const code of Object.keys(wireCodes) as ErrorCode[]) {
      const error = new LaresError(code, "What was wrong.", { path: "a" });
      const wire = toWireError(error);
      expect(wire).toEqual({ code: wireCodes[code], message: "What was wrong.", data: { path: "a", code } });
      expect(fromWireError(JSON.parse(JSON.stringify(wire)))).toEqual(error);
    }
  });

  test("numbers of the JSON-RPC faults are JSON-RPC's", () => {
    expect(wireCodes.InvalidParams).toBe(JsonRpcCodes.InvalidParams);
    expect(wireCodes.MethodNotFound).toBe(JsonRpcCodes.MethodNotFound);
    expect(wireCodes.InternalError).toBe(JsonRpcCodes.InternalError);
  });

  test("a foreign error passes on only its message", () => {
    const error = Object.assign(new Error("boom"), { secret: "x" });
    expect(toWireError(error)).toEqual({
      code: -32603,
      message: "The kernel failed: boom",
      data: { code: "InternalError" },
    });
    expect(fromWireError({ code: 7, message: "?" })).toMatchObject({
      code: "InternalError",
      facts: { wireCode: 7 },
    });
  });
});
