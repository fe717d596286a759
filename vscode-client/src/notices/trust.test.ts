import { beforeEach, expect, it } from "vitest";
import { playedContext } from "../testing/played-context.ts";
import { status } from "../testing/things.ts";
import { commands, seen, Uri, window, workspace } from "../testing/vscode.ts";
import { FakeWebview } from "../testing/webview.ts";
import { settled } from "../testing/wire.ts";
import { trust, waitingQuestion } from "./trust.ts";
import { consentContract } from "../webviews/consent/messages.ts";

beforeEach(() => seen.forget());

const digestOf = (digit: string) => `sha256:${digit.repeat(64)}` as const;

function asking(digit: string, asks: string[] = ["one asks for something"]) {
  return status({
    trusted: false,
    trust: { digest: digestOf(digit), asks, pending: asks, changedPrograms: [] },
  });
}

const question = (digit: string) => ({
  digest: digestOf(digit),
  trusted: false,
  answered: false,
  since: null,
  extensions: [],
  workspace: [],
});
const grants = {
  extensions: [{ extension: "dev.x", parts: ["read_entries"], folders: ["in"] }],
  workspace: [],
};

function start() {
  const fake = playedContext();
  Object.assign(fake.context.extension, { extensionUri: Uri.file("/extension") });
  const panel = new FakeWebview(consentContract).asPanel();
  const feature = trust(fake.context);
  const review = async (): Promise<void> => {
    void commands.executeCommand("lares.trustWorkspace");
    await settled();
  };
  return { ...fake, feature, review, panel };
}

it("the page gets the kernel's question unchanged", async () => {
  const { wire, review, panel } = start();
  await review();
  const asked = panel.host.ask("question", {});
  await wire.answer("lares/trust/question", question("1"));
  await expect(asked).resolves.toMatchObject({ digest: digestOf("1"), extensions: [] });
});

it("only what the page names is granted, bound to the shown digest", async () => {
  const { wire, review, panel } = start();
  await review();
  const answered = panel.host.ask("answer", { digest: digestOf("1"), grants });
  await settled();
  expect(wire.asked[0]).toMatchObject({
    method: "lares/trust",
    params: { trusted: true, digest: digestOf("1"), grants },
  });
  await wire.answer("lares/trust", status());
  await expect(answered).resolves.toEqual({ accepted: true });
  expect(window.statusBarMessages.at(-1)).toContain("Allowed");
});

it("an outdated answer accepts nothing, and the page is told to ask again", async () => {
  const { wire, review, panel } = start();
  await review();
  const answered = panel.host.ask("answer", { digest: digestOf("1"), grants });
  await settled();
  await wire.refuse("lares/trust", "changed", "DigestMismatch");
  await expect(answered).resolves.toEqual({ accepted: false });
});

it("an open page is notified that the documents changed, and there is only one page", async () => {
  const { review, panel, setStatus } = start();
  setStatus(asking("1"));
  await review();
  await review();
  expect([seen.panels.length, panel.revealed]).toEqual([1, 1]);
  let changes = 0;
  panel.host.on("changed", () => (changes += 1));
  setStatus({ ...asking("1"), pendingActions: 3 });
  setStatus(asking("2"));
  expect(changes).toBe(1);
});

it("a person is notified once, and not again after “Not Now”", async () => {
  const { setStatus, feature, context } = start();
  setStatus(asking("1"));
  setStatus({ ...asking("1"), pendingActions: 1 });
  expect(seen.messages).toHaveLength(1);
  seen.messages[0]?.answer("Not Now");
  await settled();
  feature.dispose();

  seen.forget();
  const again = playedContext();
  trust({ ...again.context, extension: context.extension });
  again.setStatus(asking("1"));
  expect(seen.messages).toHaveLength(0);
  again.setStatus(asking("2"));
  expect(seen.messages).toHaveLength(1);
});

it("“Not Now” on the page has the same effect as on the message", async () => {
  const { review, panel, context } = start();
  await review();
  await panel.host.ask("notNow", { digest: digestOf("1") });
  expect(context.extension.workspaceState.get("lares.trust.declined")).toBe(digestOf("1"));
});

it("in a restricted folder, nothing is offered and the editor's own question comes first", async () => {
  workspace.isTrusted = false;
  const { setStatus, review, wire } = start();
  setStatus(asking("1"));
  expect(seen.messages).toHaveLength(0);
  await review();
  expect(wire.asked).toEqual([]);
  expect(seen.panels).toHaveLength(0);
  expect(seen.commands.map(({ id }) => id)).toContain("workbench.trust.manage");
});

it("a reminder is about an open question that was not postponed", async () => {
  const { context } = start();
  const state = context.extension.workspaceState;
  expect(waitingQuestion(asking("1"), state)).toMatchObject({ digest: digestOf("1") });
  expect(waitingQuestion(asking("1", []), state)).toBeNull();
  expect(waitingQuestion(undefined, state)).toBeNull();
  await state.update("lares.trust.declined", digestOf("1"));
  expect(waitingQuestion(asking("1"), state)).toBeNull();
  expect(waitingQuestion(asking("2"), state)).not.toBeNull();
  workspace.isTrusted = false;
  expect(waitingQuestion(asking("2"), state)).toBeNull();
});
