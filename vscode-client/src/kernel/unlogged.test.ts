import { expect, it } from "vitest";
import type { LogOutputChannel } from "vscode";
import { withoutSecrets } from "./unlogged.ts";

function start() {
  const written: unknown[][] = [];
  // As the editor makes them: not to be changed.
  const log = Object.freeze({
    get logLevel() {
      return 1;
    },
    trace: (...values: unknown[]) => void written.push(values),
    info: (...values: unknown[]) => void written.push(values),
  }) as unknown as LogOutputChannel;
  return { written, log: withoutSecrets(log) };
}

it.each([
  `Sending request 'lares/secrets/set - (7)'.\nParams: {\n  "name": "weather",\n  "value": "sesame"\n}`,
  `{"type":"send-request","message":{"method":"lares/secrets/set","params":{"value":"sesame"}}}`,
])("what stores a secret is written without what was said: %j", (text) => {
  const { written, log } = start();
  log.trace(text);
  expect(written).toEqual([[expect.stringContaining("Stores a secret") as string]]);
});

it("everything else is written as it is", () => {
  const { written, log } = start();
  log.trace("Sending request 'lares/secrets/list - (8)'.", { a: 1 });
  log.info("lares/secrets/set");
  expect(written).toEqual([["Sending request 'lares/secrets/list - (8)'.", { a: 1 }], ["lares/secrets/set"]]);
  expect(log.logLevel).toBe(1);
});
