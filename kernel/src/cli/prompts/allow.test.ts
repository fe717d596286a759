import { PassThrough } from "node:stream";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { keepWritten } from "../testing/test-shell.ts";
import { Terminal } from "../terminal.ts";
import { isAllowed } from "./allow.ts";

const written = keepWritten({ output: "", errors: "" });
const prompt = "Use it? [a allow, r reject] ";
let input: PassThrough;

beforeEach(() => {
  input = new PassThrough();
  vi.spyOn(process, "stdin", "get").mockReturnValue(
    Object.assign(input, { fd: 0 as const, isTTY: true, isRaw: false, setRawMode: () => input }) as never,
  );
  Object.defineProperty(process.stdout, "isTTY", { value: true, configurable: true });
  onTestFinished(() => void Reflect.deleteProperty(process.stdout, "isTTY"));
});

/** Asks at a terminal, and gives what the person types: each piece once the question is there, again. */
async function answered(pieces: readonly string[], term = "xterm"): Promise<boolean> {
  vi.stubEnv("TERM", term);
  using terminal = new Terminal();
  const answer = isAllowed(terminal, "Use it?");
  for (const [index, piece] of pieces.entries()) {
    await vi.waitFor(() => expect(written.output.split(prompt).length).toBeGreaterThan(index + 1));
    if (piece === "") input.end();
    else input.write(piece);
  }
  return await answer;
}

test.each([
  ["a", true],
  ["y", true],
  ["xa", true],
  ["\ra", true],
  ["r", false],
  ["n", false],
  ["\u0004", false],
])("the key %j answers at once: %s", async (typed, isYes) => {
  expect(await answered([typed])).toBe(isYes);
  expect(written.output).toBe(`${prompt}${isYes ? "a" : "r"}\n`);
});

test.each([
  [["a\n"], true],
  [["Yes\n"], true],
  [["what?\n", "\n", "a\n"], true],
  [["what?\n", "r\n"], false],
  [["b\n", "b\n", "b\n"], false],
])("the lines %j at a terminal without single keys answer: %s", async (typed, isYes) => {
  expect(await answered(typed, "dumb")).toBe(isYes);
});

test("Ctrl-C stops the command without an answer", async () => {
  vi.stubEnv("TERM", "xterm");
  using terminal = new Terminal();
  const answer = isAllowed(terminal, "Use it?");
  await vi.waitFor(() => expect(written.output).toBe(prompt));
  input.write("\u0003");
  expect(await answer).toBe(false);
  expect(terminal.interruptedCode).toBe(130);
  expect(written.output).toBe(`${prompt}\n`);
});

test.each(["xterm", "dumb"])("the end of the input is a no at %s", async (term) => {
  expect(await answered([""], term)).toBe(false);
});
