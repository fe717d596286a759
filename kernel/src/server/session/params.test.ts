import { expect, test } from "vitest";
import type { Session } from "./session.ts";
import { capability, documentPositionOf, documentRangeOf, documentUriOf, supports } from "./params.ts";

const textDocument = { uri: "file:///lares.yaml" };
const start = { line: 0, character: 1 };
const end = { line: 2, character: 0 };

test("valid params are parsed", () => {
  expect(documentUriOf({ textDocument })).toBe(textDocument.uri);
  expect(documentPositionOf({ textDocument, position: start })).toEqual({ ...textDocument, position: start });
  expect(documentRangeOf({ textDocument, range: { start, end } })).toEqual({
    ...textDocument,
    range: { start, end },
  });
});

test.each([
  [null],
  ["x"],
  [{}],
  [{ textDocument: null, position: start }],
  [{ textDocument: { uri: 7 }, position: start }],
  [{ textDocument, position: { line: -1, character: 0 } }],
  [{ textDocument, position: { line: 0.5, character: 0 } }],
  [{ textDocument, position: { line: "0", character: 0 } }],
  [{ textDocument, range: { start } }],
  [[textDocument]],
])("invalid params are null: %j", (params) => {
  expect(documentPositionOf(params)).toBeNull();
  expect(documentRangeOf(params)).toBeNull();
});

test("capabilities are read by their path, and a missing one is not supported", () => {
  const capabilities = {
    textDocument: { hover: { contentFormat: ["plaintext"] }, codeAction: { isPreferredSupport: true } },
  };
  const session = { capabilities } as unknown as Session;
  expect(capability(session, "textDocument", "hover", "contentFormat")).toEqual(["plaintext"]);
  expect(supports(session, "textDocument", "codeAction", "isPreferredSupport")).toBe(true);
  expect(supports(session, "textDocument", "hover", "contentFormat")).toBe(false);
  expect(supports(session, "window", "showDocument", "support")).toBe(false);
  expect(supports(session, "constructor")).toBe(false);
});
