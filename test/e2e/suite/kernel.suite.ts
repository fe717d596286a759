import assert from "node:assert/strict";
import process from "node:process";
import { before, describe, it } from "mocha";
import * as vscode from "vscode";
import { isAlive, until } from "../../support/until.ts";
import { type LaresApi, openLares, writeText } from "./lares.ts";

/** It is asked now and then, and then has its time to answer. */
const silentPatienceMs = 45_000;

describe("a kernel that is killed", () => {
  let lares: LaresApi;
  before(async () => {
    lares = await openLares();
  });

  it("comes back by itself, with its agents, and with what waited for a person", async () => {
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
        // Between two kernels a request is refused, and may be asked again.
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
