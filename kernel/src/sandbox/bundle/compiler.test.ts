import { stop } from "esbuild";
import { expect, onTestFinished, test, vi } from "vitest";
import { compileWith } from "./compiler.ts";
import { transformFile } from "./transform.ts";

vi.mock(import("esbuild"), async (original) => {
  const compiler = await original();
  return { ...compiler, stop: vi.fn<typeof compiler.stop>(compiler.stop) };
});

const compile = async (): Promise<string> => (await transformFile("const one: number = 1;", "ts")).code;

test("the compiler's process ends once nothing has used it for a while, not while it is in use, and is started again", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { promise, resolve } = Promise.withResolvers<void>();
  const long = compileWith(() => promise);
  await compile();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(stop).not.toHaveBeenCalled();

  resolve();
  await long;
  await vi.advanceTimersByTimeAsync(9000);
  await compile();
  await vi.advanceTimersByTimeAsync(9000);
  expect(stop).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1000);
  await vi.waitFor(() => expect(stop).toHaveBeenCalledTimes(1));
  expect(await compile()).toContain("const one = 1;");
});
