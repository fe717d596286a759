import assert from "node:assert/strict";
import process from "node:process";
import { before, describe, it } from "mocha";
import { isAlive, until } from "../../support/until.ts";
import { type LaresApi, openLares, writeText } from "./lares.ts";

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
