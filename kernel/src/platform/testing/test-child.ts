import { onTestFinished } from "vitest";
import { silentLog } from "../../base/log.ts";
import { Child } from "../children/child.ts";
import { startChildProcess } from "../children/child-process.ts";
import { systemClock } from "../clock.ts";
import type { TestWords } from "./child-main.ts";

type TestChild = Child<TestWords, { readonly said: string }>;

/** Starts a child that follows instructions; it is killed when the test has ended. */
export async function startTestChild(
  receive: (said: string, bytes: Uint8Array) => void = () => undefined,
  argument = "",
): Promise<TestChild> {
  const process = await startChildProcess({
    entry: new URL("./child-main.ts", import.meta.url),
    readable: [new URL("../../", import.meta.url)],
    workers: false,
    arguments: [argument],
  });
  onTestFinished(() => process.kill());
  return new Child(process, {
    name: "test child",
    log: silentLog,
    clock: systemClock,
    maxFrameBytes: 1000,
    receive: ({ said }, bytes) => receive(said, bytes),
  });
}
