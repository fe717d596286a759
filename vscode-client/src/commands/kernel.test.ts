import { beforeEach, expect, it } from "vitest";
import { fakeContext } from "../testing/context.ts";
import { seen } from "../testing/vscode.ts";
import { kernelCommands } from "./kernel.ts";

beforeEach(() => seen.forget());

const commands = kernelCommands({ restart: async () => undefined, log: { show: () => undefined } });

it("a kernel that cannot be started is reported, although it failed before anything listened", () => {
  const fake = fakeContext();
  fake.state = { kind: "failed", reason: "there is none" };
  commands(fake.context);
  expect(seen.messages.map(({ text }) => text)).toEqual(["Lares is not running: there is none"]);
});

it("a kernel that does not answer is reported once, until it answers again", () => {
  const fake = fakeContext();
  commands(fake.context);
  for (const reason of ["busy", "still busy"]) fake.stateChanged.fire({ kind: "silent", reason });
  expect(seen.messages).toHaveLength(1);
  fake.stateChanged.fire({ kind: "running" });
  fake.stateChanged.fire({ kind: "silent", reason: "busy" });
  expect(seen.messages).toHaveLength(2);
});
