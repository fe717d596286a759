import type { ModelMessage } from "../../kernel/src/base/vocabulary/model.ts";

/** Four characters are about a token. */
const charactersPerToken = 4;
const sentence = "The quick brown fox jumps over the lazy dog, ünd so weiter: 42 times. ";
const textOf = (characters: number): string =>
  sentence.repeat(Math.ceil(characters / sentence.length)).slice(0, characters);

/**
 * Returns a conversation with so many tokens, as agents have them: most of it are results of tools. Some of it needs
 * repairs, as what was interrupted does.
 */
export function longHistory(tokens: number): readonly ModelMessage[] {
  const messages: ModelMessage[] = [{ role: "system", text: textOf(4000), cache: true }];
  let left = tokens * charactersPerToken - 4000;
  for (let turn = 0; left > 0; turn++) {
    const calls = [0, 1, 2].map((at) => ({
      type: "tool_call" as const,
      call: turn % 7 === 0 ? `call/${turn}.${at}` : `call_${turn}_${at}`,
      tool: "files/read",
      arguments: { path: `notes/${turn}/${at}.md`, lines: [1, 200], query: textOf(60) },
    }));
    const results = calls
      // A result that never came.
      .filter((_call, at) => turn % 11 !== 0 || at !== 1)
      .map(({ call }, at) => ({ type: "tool_result" as const, call, text: textOf(1000 + 900 * at) }));
    messages.push(
      { role: "user", parts: [{ type: "text", text: textOf(200) }] },
      { role: "assistant", parts: [{ type: "text", text: textOf(300) }, ...calls] },
      { role: "tool", parts: results },
      { role: "assistant", parts: [{ type: "text", text: textOf(500) }] },
    );
    left -= 200 + 300 + 3 * 100 + 500 + results.reduce((sum, { text }) => sum + text.length, 0);
  }
  return messages;
}
