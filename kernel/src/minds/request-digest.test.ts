import { expect, test } from "vitest";
import { canonicalJson } from "../base/json.ts";
import type { ModelMessage } from "../base/vocabulary/model.ts";
import { sha256 } from "../platform/files/hash.ts";
import { requestDigest } from "./request-digest.ts";

test("the digest is that of the digests of messages and tools, however the requests before it began", () => {
  const said = (text: string): ModelMessage => ({ role: "user", parts: [{ type: "text", text }] });
  const [one, two, other] = [said("one"), said('"two"'), said("other")];
  const tool = { name: "files/read", description: "", parameters: { type: "object" } };
  const digest = (part: object) => sha256(canonicalJson(part));
  for (const [messages, tools] of [
    [[], []],
    [[one], []],
    [[one, two], [tool]],
    [
      [one, two, other],
      [tool, tool],
    ],
    [[one, other], []],
    [[one, two], [tool]],
  ] as const)
    expect(requestDigest({ messages, tools })).toBe(
      sha256(canonicalJson({ messages: messages.map(digest), tools: tools.map(digest) })),
    );
});
