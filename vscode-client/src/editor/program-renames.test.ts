import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { middleware } from "./middleware.ts";
import { Range, seen, Uri, WorkspaceEdit } from "../testing/vscode.ts";

const program = "/w/.lares/extensions/x/agent.ts";
const manifest = "/w/.lares/extensions/x/extension.yaml";
const refusal = 'The manifest names a handler "b" already; the two could not be told apart.';

const prepared = (path: string, answer: () => unknown): unknown =>
  middleware.prepareRename?.({ uri: Uri.file(path) } as never, {} as never, {} as never, answer as never);
const renamed = (path: string, answer: () => unknown, isCancellationRequested = false): unknown =>
  middleware.provideRenameEdits?.(
    { uri: Uri.file(path) } as never,
    {} as never,
    "b",
    { isCancellationRequested } as never,
    answer as never,
  );
const refused = async (): Promise<never> => {
  throw new Error(refusal);
};
const notAsked = (): never => {
  throw new Error("It was asked.");
};

beforeEach(() => seen.forget());
afterEach(() => vi.useRealTimers());

describe("whether a name can be changed", () => {
  it.each([program, "/w/a.mjs", "/w/a.cts", manifest])("in %s is decided by the kernel", async (path) => {
    const location = { range: new Range(0, 1, 0, 2), placeholder: "a" };
    expect(await prepared(path, async () => location)).toBe(location);
  });

  it.each(["/w/notes.md", "/w/a.tsx", "/w/agent.ts/readme"])(
    "in %s is not a question for the kernel",
    (path) => {
      expect(prepared(path, notAsked)).toBeUndefined();
      expect(renamed(path, notAsked)).toBeUndefined();
    },
  );

  it("without a handler is left to TypeScript, including its reason", async () => {
    expect(await prepared(program, refused)).toBeUndefined();
    await expect(prepared(manifest, refused)).rejects.toThrow(refusal);
  });

  it("is left to TypeScript if the kernel does not answer, and a late answer is ignored", async () => {
    vi.useFakeTimers();
    const { promise, reject } = Promise.withResolvers<never>();
    const waiting = prepared(program, () => promise);
    await vi.runAllTimersAsync();
    expect(await waiting).toBeUndefined();
    reject(new Error("late"));
  });

  it("leaves no timer behind", async () => {
    vi.useFakeTimers();
    await prepared(program, async () => null);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("a rename in a program", () => {
  it("is the kernel's edit, or nothing if it has none", async () => {
    const edit = new WorkspaceEdit();
    expect(await renamed(program, async () => edit)).toBe(edit);
    expect(await renamed(program, async () => null)).toBeNull();
    expect(seen.messages).toEqual([]);
  });

  it("that is refused changes nothing and shows the reason, so that no other provider is asked", async () => {
    expect(await renamed(program, refused)).toBeInstanceOf(WorkspaceEdit);
    expect(seen.messages).toMatchObject([{ severity: "error", text: `Not renamed: ${refusal}` }]);
  });

  it("that was cancelled shows nothing", async () => {
    expect(await renamed(program, refused, true)).toBeUndefined();
    expect(seen.messages).toEqual([]);
  });
});
