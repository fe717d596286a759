import { expect, it } from "vitest";
import { useLater } from "./use-later.ts";

const thing = (closed: string[], name: string): AsyncDisposable => ({
  [Symbol.asyncDispose]: async () => void closed.push(name),
});

it("a resource that opens later is closed in order, also after an earlier failure", async () => {
  const closed: string[] = [];
  const { promise, resolve } = Promise.withResolvers<AsyncDisposable>();
  const opened = new AsyncDisposableStack();
  void useLater(opened, promise);
  opened.use(thing(closed, "the second"));
  const closing = opened.disposeAsync();
  resolve(thing(closed, "the first"));
  await closing;
  expect(closed).toEqual(["the second", "the first"]);
});

it("a failure to open is reported to whoever waits for it, and not as an unhandled rejection", async () => {
  const unhandled: unknown[] = [];
  const listen = (error: unknown): void => void unhandled.push(error);
  process.on("unhandledRejection", listen);
  try {
    await using opened = new AsyncDisposableStack();
    const opening = useLater(opened, Promise.reject(new Error("the disk is gone")));
    await new Promise((later) => setImmediate(later));
    await expect(opening).rejects.toThrow("the disk is gone");
    await opened.disposeAsync();
  } finally {
    process.off("unhandledRejection", listen);
  }
  expect(unhandled).toEqual([]);
});
