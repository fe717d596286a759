import { expect, test } from "vitest";
import type { ProviderSettings } from "../base/vocabulary/model-settings.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import { LocalWindows } from "./local-windows.ts";

const provider = (contextTokens?: number): ProviderSettings => ({
  id: "local",
  api: "llama",
  files: { small: "/models/small.gguf" },
  ...(contextTokens === undefined ? {} : { contextTokens }),
});

test("a file is looked at once, and again a while after it could not be read", async () => {
  const clock = new ManualClock();
  const asked: (number | null)[] = [];
  let answers = false;
  const windows = new LocalWindows(
    {
      inspect: async (_model, contextTokens) => {
        asked.push(contextTokens);
        if (!answers) throw new Error("There is no file.");
        return { contextTokens: Math.min(contextTokens ?? 8_192, 8_192) };
      },
    },
    clock,
  );
  expect(await windows.of(provider(), "local/other")).toBeNull();
  expect(await windows.of(provider(), "local/small")).toBeNull();
  answers = true;
  expect(await windows.of(provider(), "local/small")).toBeNull();
  clock.advance(10_000);
  expect(await windows.of(provider(), "local/small")).toBe(8_192);
  expect(await windows.of(provider(), "local/small")).toBe(8_192);
  // Another size in the document is another window of the same file.
  expect(await windows.of(provider(2_048), "local/small")).toBe(2_048);
  expect(asked).toEqual([null, null, 2_048]);
});
