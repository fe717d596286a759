import { beforeEach, expect, it } from "vitest";
import { playedContext } from "./testing/played-context.ts";
import { status } from "./testing/things.ts";
import { commands, seen, workspace } from "./testing/vscode.ts";
import { settled } from "./testing/wire.ts";
import { trust } from "./trust.ts";

beforeEach(() => seen.forget());

function asking(digit: string, asks: string[] = ["one asks for something"]) {
  const digest = `sha256:${digit.repeat(64)}` as const;
  return status({ trusted: false, trust: { digest, asks, pending: asks, changedPrograms: [] } });
}

function start() {
  const fake = playedContext();
  const feature = trust(fake.context);
  const review = async (): Promise<void> => {
    void commands.executeCommand("lares.trustWorkspace");
    await settled();
  };
  return { ...fake, feature, review };
}

it("all asks are shown, and only a yes accepts exactly these", async () => {
  const { wire, review } = start();
  await review();
  await wire.answer("lares/status", asking("1", ["one asks for a", "two asks for b"]));
  const [question] = seen.messages;
  expect(question).toMatchObject({ isModal: true, buttons: ["Allow"] });
  expect(question?.detail).toContain("• One asks for a\n• Two asks for b");
  question?.answer("Allow");
  await settled();
  expect(wire.asked[0]).toMatchObject({
    method: "lares/trust",
    params: { trusted: true, digest: asking("1").trust.digest },
  });
});

it("no is no", async () => {
  const { wire, review } = start();
  await review();
  await wire.answer("lares/status", asking("1"));
  seen.messages[0]?.answer(undefined);
  await settled();
  expect(wire.asked).toEqual([]);
});

it("what changed while it was read is shown again, and accepted as it is then", async () => {
  const { wire, review } = start();
  await review();
  await wire.answer("lares/status", asking("1"));
  seen.messages[0]?.answer("Allow");
  await settled();
  await wire.refuse("lares/trust", "changed", "DigestMismatch");
  await wire.answer("lares/status", asking("2", ["one asks for more"]));
  const question = seen.messages.at(-1);
  expect(question?.detail).toContain("One asks for more");
  question?.answer("Allow");
  await settled();
  expect(wire.asked[0]?.params).toEqual({ trusted: true, digest: asking("2").trust.digest });
});

it("more than a message holds is shown as a document before the question", async () => {
  const { wire, review } = start();
  const asks = Array.from({ length: 40 }, (_, index) => `number ${index} asks for something`);
  await review();
  await wire.answer("lares/status", asking("1", asks));
  await settled();
  expect(workspace.openedTexts.at(-1)).toContain("• Number 39 asks for something");
  expect(seen.messages.at(-1)).toMatchObject({ isModal: false, buttons: ["Allow", "Not Now"] });
});

it("a sentence that is long is shown to its end, in lines that an editor shows whole", async () => {
  const { wire, review } = start();
  const ask = `one asks to see files that match "${"x".repeat(3000)}", in the whole workspace`;
  await review();
  await wire.answer("lares/status", asking("1", [ask]));
  await settled();
  const lines = workspace.openedTexts.at(-1)?.split("\n") ?? [];
  expect(lines.join(" ")).toContain("in the whole workspace");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
});

it("a person is told once of what waits, and not again after “Not Now”", async () => {
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

it("in a folder that the editor does not trust, nothing is offered and the editor's own question comes first", async () => {
  workspace.isTrusted = false;
  const { setStatus, review, wire } = start();
  setStatus(asking("1"));
  expect(seen.messages).toHaveLength(0);
  await review();
  expect(wire.asked).toEqual([]);
  expect(seen.commands.map(({ id }) => id)).toContain("workbench.trust.manage");
});
