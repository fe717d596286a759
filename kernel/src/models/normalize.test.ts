import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { nextTurn } from "../base/next-turn.ts";
import type { ModelMessage, ModelRequest } from "../base/vocabulary/model.ts";
import { providerApis } from "../base/vocabulary/model-settings.ts";
import { maxInputTokens } from "./cost.ts";
import { dialects } from "./dialect.ts";
import { interruptedResult, normalize } from "./normalize.ts";
import { faultsOf } from "./testing/pairing.ts";

const model = "anthropic/claude";
const user = (text: string): ModelMessage => ({ role: "user", parts: [{ type: "text", text }] });
const call = (id: string, tool = "files/read"): ModelMessage => ({
  role: "assistant",
  parts: [{ type: "tool_call", call: id, tool, arguments: {} }],
});
const result = (id: string, text = "done"): ModelMessage => ({
  role: "tool",
  parts: [{ type: "tool_result", call: id, text }],
});
const normalized = (messages: readonly ModelMessage[], request: Partial<ModelRequest> = {}) =>
  normalize({ model, messages, ...request }, dialects.anthropic);
const kinds = (messages: readonly ModelMessage[]) => normalized(messages).repairs.map(({ kind }) => kind);

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom("", " ", "\n", "\ud800", "hello", "x\udc00y"),
);
const id = fc.oneof(
  fc.constantFrom("", "call_0", "call_1", "a/b", "a_b", "x".repeat(200), "ключ", "__proto__"),
  fc.string({ maxLength: 70 }),
);
const opaque = fc.option(
  fc.record({ model: fc.constantFrom(model, "openai/gpt"), value: fc.jsonValue({ maxDepth: 1 }) }),
  { nil: undefined },
);
const withOpaque = <Part extends object>(part: fc.Arbitrary<Part>) =>
  fc.tuple(part, opaque).map(([value, made]) => (made === undefined ? value : { ...value, opaque: made }));
const cache = fc.constantFrom({}, { cache: true });
const message: fc.Arbitrary<ModelMessage> = fc
  .tuple(
    fc.oneof(
      fc.record({ role: fc.constant("system" as const), text }),
      fc.record({
        role: fc.constant("user" as const),
        parts: fc.array(
          fc.oneof(
            fc.record({ type: fc.constant("text" as const), text }),
            fc.constant({ type: "image" as const, media_type: "image/png", base64: "AAAA" }),
          ),
          { maxLength: 3 },
        ),
      }),
      fc.record({
        role: fc.constant("assistant" as const),
        parts: fc.array(
          fc.oneof(
            fc.record({ type: fc.constant("text" as const), text }),
            withOpaque(fc.record({ type: fc.constant("reasoning" as const), text })),
            withOpaque(
              fc.record({
                type: fc.constant("tool_call" as const),
                call: id,
                tool: id,
                arguments: fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant(undefined), text),
              }),
            ),
          ),
          { maxLength: 4 },
        ),
      }),
      fc.record({
        role: fc.constant("tool" as const),
        parts: fc.array(fc.record({ type: fc.constant("tool_result" as const), call: id, text }), {
          maxLength: 4,
        }),
      }),
    ),
    cache,
  )
  .map(([value, mark]) => ({ ...value, ...mark }));
const log = fc.array(message, { maxLength: 14 });
const offered = fc.option(
  fc
    .uniqueArray(id, { maxLength: 4 })
    .map((names) => names.map((name) => ({ name, description: "", parameters: { type: "object" } }))),
  { nil: undefined },
);

test("any history becomes valid for every provider", () => {
  fc.assert(
    fc.property(log, offered, fc.constantFrom(...providerApis), (messages, tools, api) => {
      const given = { model, messages, ...(tools === undefined ? {} : { tools }) };
      const dialect = dialects[api];
      const { request } = normalize(given, dialect);
      expect(
        faultsOf(request, { alternates: dialect.alternates, declared: dialect.declaresCalledTools }),
      ).toEqual([]);
      const names = request.tools?.map(({ name }) => name) ?? [];
      expect(new Set(names).size).toBe(names.length);
    }),
    { numRuns: 2000 },
  );
});

test("a normalized history is passed on unchanged, and the given one is not touched", () => {
  fc.assert(
    fc.property(log, fc.constantFrom(...providerApis), (messages, api) => {
      const before = JSON.stringify(messages);
      const { request } = normalize({ model, messages }, dialects[api]);
      expect(JSON.stringify(messages)).toBe(before);
      const again = normalize(request, dialects[api]);
      expect(again.request).toEqual(request);
      expect(again.repairs.filter(({ kind }) => kind !== "tools_declared")).toEqual([]);
    }),
  );
});

test("a growing history keeps its normalized prefix", () => {
  fc.assert(
    fc.property(log, log, (first, more) => {
      const grown = [...first, user("next"), ...more.filter(({ role }) => role !== "tool")];
      const before = normalized([...first, user("next")]).request.messages;
      // A later turn of the user is merged with the last one.
      expect(normalized(grown).request.messages.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
    }),
  );
});

test("a request that begins with the messages of another is normalized as if it were the only one", () => {
  const edits = fc.array(fc.record({ kept: fc.nat(14), more: log, tools: offered }), {
    minLength: 2,
    maxLength: 6,
  });
  fc.assert(
    fc.property(message, edits, fc.constantFrom(...providerApis), (first, requests, api) => {
      let messages: readonly ModelMessage[] = [first];
      const [{ tools }] = requests as [(typeof requests)[number]];
      for (const [index, { kept, more, tools: others }] of requests.entries()) {
        messages = [...messages.slice(0, 1 + kept), ...more];
        // Most requests of a conversation offer the same tools.
        const given = index % 3 === 2 ? others : tools;
        const request = { model, messages, ...(given === undefined ? {} : { tools: given }) };
        const continued = normalize(request, dialects[api]);
        const alone = normalize(structuredClone(request), dialects[api]);
        expect([continued.request, continued.repairs, [...continued.tools.entries()]]).toEqual([
          alone.request,
          alone.repairs,
          [...alone.tools.entries()],
        ]);
      }
    }),
    { numRuns: 2000 },
  );
});

test("messages that were sent before are the same objects in the next request, whatever their calls are named", () => {
  const sent = [user("a"), call("c1"), result("c1"), user("b")];
  const before = normalized(sent).request.messages;
  const after = normalized([...sent, call("c2"), result("c2"), user("c")]).request.messages;
  expect(after.length).toBe(7);
  for (const [index, each] of before.slice(0, -1).entries()) expect(after[index]).toBe(each);
});

test("the bytes of a request's pictures are not held, and what is before them is", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const before = [user("a"), call("c1"), result("c1"), user("b")];
  const asked = (): WeakRef<ModelMessage> => {
    const picture: ModelMessage = {
      role: "user",
      parts: [{ type: "image", media_type: "image/png", base64: "AAAA".repeat(1000) }],
    };
    const { request } = normalized([...before, picture]);
    expect(maxInputTokens(request)).toBeGreaterThan(0);
    return new WeakRef(picture);
  };
  const sent = asked();
  for (let turn = 0; turn < 20 && sent.deref() !== undefined; turn++) {
    await nextTurn();
    collect();
  }
  expect(sent.deref()).toBeUndefined();
  const written = (): readonly ModelMessage[] => normalized([...before, user("c")]).request.messages;
  expect(written()[1]).toBe(written()[1]);
});

test("opaque parts go only to the model that made them", () => {
  fc.assert(
    fc.property(log, (messages) => {
      const sent = JSON.stringify(normalized(messages).request.messages);
      expect(sent).not.toContain('"model":"openai/gpt"');
    }),
  );
});

test("a call without a result gets a placeholder", () => {
  const { request, repairs } = normalized([user("read"), call("c1"), user("well?")]);
  expect(request.messages[2]).toEqual({
    role: "tool",
    parts: [{ type: "tool_result", call: "c1", text: interruptedResult, is_error: true }],
  });
  expect(repairs.map(({ kind }) => kind)).toContain("result_missing");
});

test("a late result is moved next to its call", () => {
  const { request } = normalized([user("read"), call("c1"), user("well?"), result("c1", "text")]);
  expect(request.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
  expect(kinds([user("read"), call("c1"), user("well?"), result("c1")])).toContain("result_moved");
});

test("a result without a call and a second result of a call are dropped", () => {
  expect(kinds([user("a"), result("c9"), call("c1"), result("c1"), result("c1")])).toEqual([
    "result_without_call",
    "identifier_changed",
    "result_without_call",
    "tools_declared",
  ]);
});

test("reused call ids are matched with the right results", () => {
  const { request } = normalized([
    user("a"),
    call("call_0"),
    result("call_0", "one"),
    call("call_0"),
    result("call_0", "two"),
  ]);
  expect(request.messages.filter(({ role }) => role === "tool")).toMatchObject([
    { parts: [{ call: "call_0", text: "one" }] },
    { parts: [{ call: "call_0_2", text: "two" }] },
  ]);
});

test("names that differ only in invalid characters stay different, and can be mapped back", () => {
  const tools = ["a/b", "a_b", "a.b", "x".repeat(80), "x".repeat(81)].map((name) => ({
    name,
    description: "",
    parameters: { type: "object" },
  }));
  const { request, tools: names } = normalized([user("a")], { tools });
  const sent = request.tools?.map(({ name }) => name) ?? [];
  expect(sent.slice(0, 3)).toEqual(["a_b", "a_b_2", "a_b_3"]);
  expect(sent.map((name) => names.nameOf(name))).toEqual(tools.map(({ name }) => name));
});

test("names keep their identifiers after earlier messages are removed", () => {
  const { tools } = normalized([user("a"), call("1", "a/b"), result("1"), call("2", "a.b"), result("2")]);
  const later = normalize(
    { model, messages: [user("a"), call("2", "a.b")] },
    dialects.anthropic,
    tools.entries(),
  );
  expect(later.request.messages[1]).toMatchObject({ parts: [{ tool: "a_b_2" }] });
});

test("a provider that requires declared tools gets those of the history, and none may be called", () => {
  const { request } = normalized([user("a"), call("1"), result("1"), user("sum up")]);
  expect(request).toMatchObject({ tools: [{ name: "files_read" }], tool_choice: "none" });
});

test.each(["llama", "editor"] as const)("a picture becomes a sentence for a model of %s", (api) => {
  const picture: ModelMessage = {
    role: "user",
    parts: [{ type: "image", media_type: "image/png", base64: "AAA=" }],
  };
  const { request, repairs } = normalize({ model, messages: [picture] }, dialects[api]);
  expect(request.messages).toEqual([
    {
      role: "user",
      parts: [{ type: "text", text: "[picture, image/png, 2 bytes: this model takes no pictures]" }],
    },
  ]);
  expect(repairs).toEqual([{ kind: "image_left_out", message: 0 }]);
});

test("a system message behind a turn may be the last, where late ones are accepted", () => {
  const messages: ModelMessage[] = [user("hello"), { role: "system", text: "status" }];
  const roles = (api: "openai" | "anthropic") =>
    normalize({ model, messages }, dialects[api]).request.messages.map(({ role }) => role);
  expect(roles("openai")).toEqual(["user", "system"]);
  expect(roles("anthropic")).toEqual(["user"]);
});

test("for a local model, a late system message stands before the user's last words, also behind a tool's result", () => {
  const status: ModelMessage = { role: "system", text: "status" };
  const textsOf = (messages: readonly ModelMessage[], api: "llama" | "anthropic") =>
    normalize({ model, messages }, dialects[api]).request.messages.map(({ role, ...message }) => [
      role,
      ...("parts" in message ? message.parts.map((part) => ("text" in part ? part.text : part.type)) : []),
    ]);
  expect(textsOf([user("hello"), status], "llama")).toEqual([["user", "status", "hello"]]);
  const called = [user("hello"), call("1"), result("1"), status];
  expect(textsOf(called, "llama")).toEqual([
    ["user", "status", "hello"],
    ["assistant", "tool_call"],
    ["tool", "done"],
  ]);
  expect(textsOf(called, "anthropic").at(-1)).toEqual(["user", "status"]);
});
