import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { before, describe, it } from "mocha";
import * as vscode from "vscode";
import { isAlive, until } from "../../support/until.ts";
import { type LaresApi, openLares, writeText } from "./lares.ts";

/** The kernel is polled at intervals, and then has its time to answer. */
const silentPatienceMs = 45_000;

describe("a kernel that is killed", () => {
  let lares: LaresApi;
  before(async () => {
    lares = await openLares();
  });

  it("is restarted automatically, with its agents and pending changes", async () => {
    await writeText("notes/walks.md", "over the hill\n");
    const waiting = await until("a proposal", () =>
      lares.models.actions.pending.find(({ effects }) =>
        effects.some(({ path }) => path === "notes/walks.md"),
      ),
    );
    const { pid, pendingActions } = await lares.kernel.request("lares/status", {});
    process.kill(pid, "SIGKILL");
    await until("it to end", () => !isAlive(pid));
    const status = await until("the next one", async () => {
      const next = await lares.kernel.request("lares/status", {}).catch((error: Error) => {
        // Between two kernels a request is refused, and can be repeated.
        if (/kernel/i.test(error.message)) return undefined;
        throw error;
      });
      return next !== undefined && next.pid !== pid && next.ready && next;
    });
    assert.equal(status.pendingActions, pendingActions);
    await until("the same proposal", () => lares.models.actions.get(waiting.id)?.state === "PendingApproval");
    await until("the agents", () => lares.models.agents.get("com.example.titles"));
  });
});

describe("a kernel that stands still", () => {
  let lares: LaresApi;
  before(async () => {
    lares = await openLares();
  });

  it("is said to, refuses what would wait for ever, and is ended and followed by “Restart Kernel”", async () => {
    const path = "notes/still.md";
    await writeText(path, "without a title\n");
    const waiting = await until("a proposal", () =>
      lares.models.actions.pending.find(({ effects }) => effects.some((effect) => effect.path === path)),
    );
    const { pid } = await lares.kernel.request("lares/status", {});
    process.kill(pid, "SIGSTOP");
    await until("it to be said", () => lares.kernel.state.kind === "silent", silentPatienceMs);
    const { id, digest } = waiting;
    await assert.rejects(lares.kernel.request("lares/actions/approve", { id, digest }), /does not answer/);

    await vscode.commands.executeCommand("lares.restartKernel");

    assert.equal(isAlive(pid), false);
    const status = await until("the next one", () => lares.models.status.current);
    assert.notEqual(status.pid, pid);
    await until("the same proposal", () => {
      const kept = lares.models.actions.get(id);
      return kept?.state === "PendingApproval" && kept.digest === digest;
    });
    await until("the agents", () => lares.models.agents.get("com.example.titles"));
    assert.equal(lares.kernel.state.kind, "running");
  });
});

describe("a front that stands still", () => {
  let lares: LaresApi;
  before(async function () {
    if (process.platform !== "linux") this.skip();
    lares = await openLares();
  });

  it("is ended and followed, too, and its kernel with it", async () => {
    const { pid } = await lares.kernel.request("lares/status", {});
    const front = frontOfThis();
    process.kill(front, "SIGSTOP");
    await until("it to be said", () => lares.kernel.state.kind === "silent", silentPatienceMs);
    await vscode.commands.executeCommand("lares.restartKernel");
    await until("it to be gone", () => !isAlive(front));
    await until("its kernel to be gone", () => !isAlive(pid));
    await until("the next one", () => lares.models.status.current?.ready);
    assert.notEqual(frontOfThis(), front);
    assert.notEqual(lares.models.status.current?.pid, pid);
  });
});

/** Returns the process that this extension host talks to, found among its children. Linux only. */
function frontOfThis(): number {
  const isFront = (pid: string): boolean => {
    try {
      const parent = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return Number(parent) === process.pid && words.includes("serve");
    } catch (error) {
      // It has ended meanwhile.
      if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
      throw error;
    }
  };
  const found = readdirSync("/proc").find((name) => /^\d+$/.test(name) && isFront(name));
  if (found === undefined) throw new Error("No front runs.");
  return Number(found);
}
