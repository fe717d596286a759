import { expect } from "vitest";
import { uriOfSide } from "../../changes/addresses.ts";
import { ChangeContents } from "../../changes/contents.ts";
import { editing } from "../../changes/edit.ts";
import { PendingFiles } from "../../changes/file-decorations.ts";
import { decorationsOf } from "../../changes/gutter.ts";
import { approvalLenses } from "../../changes/lenses.ts";
import { ChangeFiles } from "../../changes/provider.ts";
import { showChanges } from "../../changes/show.ts";
import { agentCommands } from "../../commands/agents.ts";
import { approvalCommands } from "../../commands/approvals.ts";
import { decisionCommands } from "../../commands/decisions.ts";
import { jobCommands } from "../../commands/jobs.ts";
import { kernelCommands } from "../../commands/kernel.ts";
import { modelCommands } from "../../commands/models.ts";
import { offeredCommands } from "../../commands/offered.ts";
import { proposalCommands } from "../../commands/proposals.ts";
import { approveFresh } from "../../deciding/fresh-proposal.ts";
import { approveEach, rejectEach, undoEach } from "../../deciding/review-batches.ts";
import { settleUnsaved } from "../../deciding/unsaved.ts";
import { fakeContext } from "../context.ts";
import { effect } from "../things.ts";
import { Uri, languages, seen, window, workspace } from "../vscode.ts";
import { settled } from "../wire.ts";
import { drawnSoFar, press, run, stranger, type Places } from "./drawing.ts";
import { answers, ended, evil, hostile, hostileEffects, path, refusal, states } from "./words.ts";

export const changePlaces: Places = {
  "changes/diff.ts": async () => {
    showChanges(stranger.fake.context);
    stranger.fake.actions = [hostile({ effects: [hostileEffects[0]!] })];
    await run("lares.showChanges", "action-1");
  },
  "changes/edit.ts": async () => {
    stranger.fake.actions = [
      hostile({ effects: [hostileEffects[0]!] }),
      hostile({ id: "other", effects: [effect({ path })] }),
    ];
    editing(stranger.fake.context, new ChangeContents(stranger.fake.context.kernel));
    await run("lares.editProposal");
    stranger.fake.actions = [hostile({ effects: [effect({ path }), effect({ path: `b ${path}` })] })];
    await run("lares.editProposal", "action-1");
    await run("lares.approveEdited");
  },
  "changes/file-decorations.ts": async () => {
    const uri = Uri.joinPath(Uri.file("/w"), path);
    new PendingFiles(stranger.fake.context).provideFileDecoration(uri as never);
  },
  "changes/gutter.ts": async () => {
    const lines = [{ line: 1, kind: "changed" as const }];
    const files = [{ action: hostile(), lines, before: null }];
    const { about } = decorationsOf(files, { isDirty: false, lineCount: 9 });
    expect(JSON.stringify(about)).not.toMatch(/\]\(|\$\(|[^\\]<img/);
  },
  "changes/lenses.ts": async () => {
    approvalLenses(stranger.fake.context);
    for (const { path: name } of hostileEffects) {
      const uri = Uri.joinPath(Uri.file("/w"), name);
      for (const provider of languages.lensProviders)
        await provider.provideCodeLenses({ uri, isDirty: false, lineCount: 9 } as never, {} as never);
    }
  },
  "changes/provider.ts": async () => {
    const changes = new ChangeFiles(stranger.fake.context, new ChangeContents(stranger.fake.context.kernel));
    for (const action of [hostile(), ...ended()]) {
      stranger.fake.actions = [action];
      changes.provideFileDecoration(uriOfSide(action.id, 0, hostileEffects[0]!, "after"));
    }
  },
  "changes/show.ts": async () => {
    showChanges(stranger.fake.context);
    await run("lares.showChanges");
    for (const action of ended()) {
      stranger.fake.actions = [action];
      await run("lares.showChanges", action.id);
    }
  },
  "commands/agents.ts": async () => {
    agentCommands(stranger.fake.context);
    for (const id of ["lares.agentReload", "lares.agentDisable", "lares.agentShowProblem"]) await run(id);
  },
  "commands/approvals.ts": async () => {
    approvalCommands(stranger.fake.context);
    window.input = evil;
    for (const id of ["approve", "approveSome", "approveAlways", "reject", "rejectWithReason"])
      await run(`lares.${id}`);
    await run("lares.reject", { id: "action-1", digest: hostile().digest, effects: [0] });
    for (const state of states) {
      stranger.fake = fakeContext({ ...answers, "lares/actions/approve": () => hostile({ state }) });
      stranger.fake.actions = [hostile({ effects: [hostileEffects[0]!], impact_score: 0 })];
      seen.forget();
      approvalCommands(stranger.fake.context);
      await run("lares.approve", "action-1");
      stranger.fake.actions = ended();
      for (const action of ended()) await run("lares.approve", action.id);
      await run("lares.undo");
      await run("lares.rebase");
      drawnSoFar();
    }
  },
  "deciding/confirm-undo.ts": async () => {
    approvalCommands(stranger.fake.context);
    stranger.fake.actions = ended();
    await run("lares.undo", "Committed");
  },
  "deciding/decide.ts": async () => {
    approvalCommands(stranger.fake.context);
    await run("lares.approve", "action-1");
  },
  "commands/decisions.ts": async () => {
    decisionCommands(stranger.fake.context);
    await run("lares.openDecisions");
    window.madePick?.accept(window.madePick.items[0]);
    await settled();
    await press();
  },
  "deciding/explain.ts": async () => {
    approvalCommands(stranger.fake.context);
    stranger.fake.actions = ended();
    await run("lares.rebase", "Stale");
  },
  "deciding/fresh-proposal.ts": async () => {
    const known = new Set<string>();
    const asking = approveFresh(stranger.fake.context, {
      action: hostile(),
      known,
      answeredBy: "lares.approve",
    });
    window.cancelProgress();
    await settled();
    await press();
    await asking;
    stranger.fake.actions = [hostile({ effects: [effect({ kind: "file.write", before: null, path })] })];
    const other = approveFresh(stranger.fake.context, {
      action: hostile(),
      known,
      answeredBy: "lares.approve",
    });
    await settled();
    await press();
    window.cancelProgress();
    await settled();
    await press();
    await other;
  },
  "commands/jobs.ts": async () => {
    jobCommands(stranger.fake.context);
    await run("lares.jobCancel");
    await run("lares.jobCancelAll");
  },
  "commands/kernel.ts": async () => {
    stranger.fake.state = { kind: "failed", reason: evil };
    const feature = kernelCommands({ restart: async () => refusal(), log: { show: () => undefined } });
    feature(stranger.fake.context);
    stranger.fake.stateChanged.fire({ kind: "silent", reason: evil });
    await press(["Restart"]);
  },
  "commands/models.ts": async () => {
    modelCommands(stranger.fake.context);
    seen.holdsPicks = true;
    await run("lares.openModels");
    window.pick((items) => items[1]);
    seen.holdsPicks = false;
    await settled();
    await press();
    await run("lares.openSecrets");
    window.madePick?.button.fire({ button: undefined, item: window.madePick.items[0] });
    await settled();
    await press(["Remove"]);
    window.input = evil;
    await run("lares.storeSecret");
  },
  "commands/offered.ts": async () => {
    offeredCommands(stranger.fake.context);
    window.input = evil;
    await run("lares.runCommand");
  },
  "commands/proposals.ts": async () => {
    const feature = proposalCommands(stranger.fake.context);
    await run("lares.approveAllOfAgent");
    await run("lares.rejectAllOfAgent");
    stranger.fake.actions = ended();
    await run("lares.undoAutomatic");
    feature.dispose();
  },
  "deciding/unsaved.ts": async () => {
    const uri = Uri.joinPath(Uri.file("/w"), path);
    workspace.textDocuments = [{ uri, isDirty: true, save: async () => true }];
    const settling = settleUnsaved([hostileEffects[0]!]);
    await press();
    await settling;
  },
  "deciding/review-batches.ts": async () => {
    const asking = undoEach(stranger.fake.context, ended());
    await press(["none"]);
    void approveEach(stranger.fake.context, stranger.fake.actions, "shown");
    await press(["none"]);
    window.input = "";
    await rejectEach(stranger.fake.context, stranger.fake.actions, "shown");
    stranger.fake.actions = [hostile({ effects: [effect({ path })], impact_score: 0 })];
    const approving = approveEach(stranger.fake.context, stranger.fake.actions, "shown");
    await settled();
    await press();
    await Promise.all([asking, approving]);
  },
};
