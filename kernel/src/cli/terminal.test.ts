import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { Terminal } from "./terminal.ts";

let screen = "";

beforeEach(() => {
  screen = "";
  vi.stubEnv("NO_COLOR", "1");
  vi.stubEnv("TERM", "xterm");
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, "write").mockImplementation((text) => ((screen += String(text)), true));
  onTestFinished(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });
});

function atTerminal(...streams: NodeJS.WriteStream[]): void {
  for (const stream of streams) {
    Object.defineProperty(stream, "isTTY", { value: true, configurable: true });
    onTestFinished(() => void Reflect.deleteProperty(stream, "isTTY"));
  }
}

const answer = (terminal: Terminal): void => {
  terminal.write("Two notes ");
  terminal.warn("calls files/list");
  terminal.warn("worker starts");
  terminal.write("are about birds.");
  terminal.warn("worker is done");
  terminal.write("\n");
  terminal.write("\n");
  terminal.warn("Done.");
};

test("a message does not stand in the middle of an answer's line, and adds no empty line", () => {
  atTerminal(process.stdout, process.stderr);
  using terminal = new Terminal();
  answer(terminal);
  expect(screen).toBe(
    "Two notes \ncalls files/list\nworker starts\nare about birds.\nworker is done\n\nDone.\n",
  );
});

test.each([
  ["standard output", () => [process.stderr]],
  ["standard error", () => [process.stdout]],
])("an answer stays whole where %s is a file", (_name, streams) => {
  atTerminal(...streams());
  using terminal = new Terminal();
  answer(terminal);
  expect(screen).toContain(
    "Two notes calls files/list\nworker starts\nare about birds.worker is done\n\n\nDone.",
  );
});

test("the work on the bottom line begins a line of its own, and what a terminal is told ends none", () => {
  atTerminal(process.stdout, process.stderr);
  using terminal = new Terminal();
  terminal.write("Two notes ");
  terminal.status("indexing");
  expect(screen).toMatch(/^Two notes \n.*indexing/);
  terminal.status(null);
  screen = "";
  terminal.write("\u001b]9;done\u0007");
  terminal.warn("done");
  expect(screen).toBe("\u001b]9;done\u0007done\n");
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("a command that %s ends has its exit code %i", (signal, code) => {
  using terminal = new Terminal();
  process.emit(signal, signal);
  expect(terminal.interruptedCode).toBe(code);
});
