import { expect, it } from "vitest";
import type { PolledStatus } from "./polled-status.ts";
import type { Status } from "../protocol.ts";
import { status as aStatus } from "../testing/things.ts";
import { EventEmitter } from "../testing/vscode.ts";
import { FakeWire } from "../testing/wire.ts";
import type { Connection, ConnectionState } from "./connection.ts";
import { LaresKernel } from "./lares-kernel.ts";

function start(known = aStatus()) {
  const wire = new FakeWire<ConnectionState>({ kind: "up" });
  const changed = new EventEmitter<void>();
  const status = {
    current: known as Status | undefined,
    silence: null as string | null,
    taken: [] as Status[],
    onDidChange: changed.event,
    take: (given: Status) => void status.taken.push(given),
  };
  const editor = { isTrusted: true };
  const kernel = new LaresKernel(
    wire as unknown as Connection,
    status as unknown as PolledStatus,
    () => editor.isTrusted,
  );
  const heard: string[] = [];
  kernel.onDidChangeState(({ kind }) => heard.push(kind));
  return { wire, status, editor, kernel, heard, tell: () => changed.fire() };
}

it("a silent kernel gets no requests until it answers again", async () => {
  const { wire, status, kernel, heard, tell } = start();
  status.silence = "It has not answered for long.";
  tell();
  await expect(kernel.request("lares/status", {})).rejects.toThrow("does not answer");
  expect(wire.asked).toEqual([]);
  status.silence = null;
  tell();
  const asked = kernel.request("lares/status", {});
  await wire.answer("lares/status", aStatus());
  await asked;
  expect(heard).toEqual(["silent", "running"]);
});

it("a request from before the kernel fell silent is still answered", async () => {
  const { wire, status, kernel, tell } = start();
  const asked = kernel.request("lares/agents/list", {});
  status.silence = "It has not answered for long.";
  tell();
  await wire.answer("lares/agents/list", []);
  await expect(asked).resolves.toEqual([]);
});

it("a status answer is shared with all views, whoever asked; a refusal is not", async () => {
  const { wire, status, kernel } = start();
  const [asked, refused] = [kernel.request("lares/status", {}), kernel.request("lares/trust", {} as never)];
  await wire.answer("lares/status", aStatus({ pid: 7 }));
  refused.catch(() => undefined);
  await wire.refuse("lares/trust", "It changed.", "DigestMismatch");
  await asked;
  await expect(refused).rejects.toThrow("It changed.");
  expect(status.taken.map(({ pid }) => pid)).toEqual([7]);
});

it("views are notified of a state once, however often it is reported", () => {
  const { wire, heard, tell } = start();
  tell();
  wire.become({ kind: "failed", reason: "gone" });
  wire.become({ kind: "failed", reason: "gone" });
  wire.become({ kind: "up" });
  expect(heard).toEqual(["failed", "running"]);
});

it.each([
  ["what is not known yet", undefined, true, "starting"],
  ["what the editor does not trust", aStatus(), false, "untrusted"],
  ["what asks for more than was allowed", aStatus({ trusted: false }), true, "untrusted"],
] as const)("a kernel that is up is not running for %s", (_name, known, isTrusted, kind) => {
  const { status, editor, kernel, tell } = start();
  status.current = known;
  editor.isTrusted = isTrusted;
  tell();
  expect(kernel.state.kind).toBe(kind);
});
