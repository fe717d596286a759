import { expect, test } from "vitest";
import { png } from "../../../test/support/pictures.ts";
import { finished } from "../base/steps.ts";
import type { ModelRequest } from "../base/vocabulary/model.ts";
import { shippedScanner } from "../secret-scan/redact.ts";
import { maskingRequest } from "./mask.ts";

const key = `ghp_${"a1B2c3D4".repeat(4)}e5F6`;
const known = [{ name: "weather", value: "correct horse" }];
const masked = (request: ModelRequest): ModelRequest =>
  finished(maskingRequest(request, known, shippedScanner()));
const opaque = { model: "lab/x", value: { signature: key } };

test("no text of a request carries a secret to a model, wherever an agent put it", () => {
  const schema = {
    type: "object",
    properties: { [key]: { type: "string", description: `as ${key}` }, a: { enum: ["correct horse"] } },
  };
  const request: ModelRequest = {
    model: "lab/x",
    messages: [
      { role: "system", text: `system ${key}` },
      { role: "user", parts: [{ type: "text", text: `line\n${key}` }] },
      {
        role: "assistant",
        parts: [
          { type: "text", text: "correct horse" },
          {
            type: "tool_call",
            call: "1",
            tool: "t",
            arguments: { text: `line\n${key}`, list: [key, 7, null] },
          },
        ],
      },
      { role: "tool", parts: [{ type: "tool_result", call: "1", text: key }] },
    ],
    tools: [{ name: "t", description: key, parameters: schema }],
    schema,
  };
  const text = JSON.stringify(masked(request));
  expect(text).not.toContain(key);
  expect(text).not.toContain("correct horse");
  expect(text).toContain("[secret: github token]");
  expect(masked(request)).toEqual(masked(request));
});

test("a picture goes to a model byte by byte, and one in whose bytes a secret stands does not go", () => {
  const withText = (words: string): string =>
    Buffer.concat([png(2, 2), Buffer.from(words), Buffer.alloc(9)]).toString("base64");
  const picture = (base64: string) => ({ type: "image" as const, media_type: "image/png", base64 });
  const plain = withText("made by a camera at noon");
  const { messages } = masked({
    model: "lab/x",
    messages: [
      {
        role: "user",
        parts: [plain, withText("correct horse"), withText(`comment ${key}`)].map(picture),
      },
    ],
  });
  const left = {
    type: "text",
    text: expect.stringContaining("because a secret stands in its bytes") as string,
  };
  expect(messages[0]).toMatchObject({ parts: [picture(plain), left, left] });
});

test("a value that only its name gives away is marked", () => {
  const given = {
    password: "hunter2-hunter2",
    nested: { db_password: "Tr0ub4dor&3x", path: "a/b" },
    count: 3,
  };
  const { messages } = masked({
    model: "lab/x",
    messages: [{ role: "assistant", parts: [{ type: "tool_call", call: "1", tool: "t", arguments: given }] }],
  });
  expect(messages[0]).toMatchObject({
    parts: [
      {
        arguments: {
          password: expect.stringMatching(/^\[secret: /) as string,
          nested: { db_password: expect.stringMatching(/^\[secret: /) as string, path: "a/b" },
          count: 3,
        },
      },
    ],
  });
});

test("what a provider wants back byte by byte stays as it is", () => {
  const messages = [{ role: "assistant", parts: [{ type: "reasoning", text: key, opaque }] }] as const;
  expect(masked({ model: "lab/x", messages }).messages).toEqual(messages);
});
