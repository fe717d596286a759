import { expect, test } from "vitest";
import { checkScript } from "./script.ts";

test("a script is read as it is written", async () => {
  const text = `context_tokens: 8000
turns:
  - { process: channel, when: hello, say: "Hi", call: [{ tool: files/read, arguments: { path: a.md } }], usage: { input_tokens: 10 }, delay_ms: 5 }
  - { process: worker, error: { class: RateLimited, retry_after_ms: 100 } }
`;
  const { value, diagnostics } = await checkScript(text, "rehearsal.yaml");
  expect(diagnostics).toEqual([]);
  expect(value?.turns.map(({ process }) => process)).toEqual(["channel", "worker"]);
});

test.each([
  ["", /lacks|has to be a map/],
  ["turns: [{ sya: hi }]\n", /did you mean "say"/],
  ["turns: [{ error: { class: Broken } }]\n", /one of RateLimited, Overloaded/],
  ["turns: [", /./],
])("%j is refused, and why is said", async (text, message) => {
  const { value, diagnostics } = await checkScript(text, "rehearsal.yaml");
  expect(value).toBe(null);
  expect(diagnostics[0]?.message).toMatch(message);
});
