import { commands, Disposable, window, workspace } from "vscode";
import { reporting } from "./commands/explain.ts";
import type { ClientContext, Feature } from "./feature.ts";
import { trustQuestion, type TrustQuestion } from "./model/trust-question.ts";
import { consentPage, restrictedFirst } from "./views/consent.ts";

const review = "Review…";
const notNow = "Not Now";
/** The digest a person said "Not Now" to: they are not asked about it again by themselves. */
const declinedKey = "lares.trust.declined";

/** Tells a person that documents ask for something, and opens the page on which they answer. */
export const trust: Feature = (context) => {
  const { models, kernel, extension } = context;
  const page = consentPage(context, async (digest) => {
    await extension.workspaceState.update(declinedKey, digest);
  });
  let offered = "";
  const update = (): void => {
    const question = trustQuestion(models.status.current);
    const state = kernel.state;
    const words = state.kind === "untrusted" ? `untrusted-${state.by}` : state.kind;
    void commands.executeCommand("setContext", "lares.state", words);
    void commands.executeCommand("setContext", "lares.isAsking", question !== null && workspace.isTrusted);
    if (question === null || !workspace.isTrusted || offered === question.digest) return;
    offered = question.digest;
    // Who has the page open sees it there.
    if (page.isOpen || extension.workspaceState.get(declinedKey) === question.digest) return;
    void offer(question, extension.workspaceState);
  };
  update();
  return Disposable.from(
    page,
    models.status.onDidChange(update),
    kernel.onDidChangeState(update),
    commands.registerCommand("lares.trustWorkspace", () =>
      reporting("Nothing was allowed", async () => {
        if (!(await restrictedFirst())) page.open();
      }),
    ),
  );
};

async function offer(
  { title, digest }: TrustQuestion,
  state: ClientContext["extension"]["workspaceState"],
): Promise<void> {
  const answer = await window.showInformationMessage(`Lares: ${title}`, review, notNow);
  if (answer === review) await commands.executeCommand("lares.trustWorkspace");
  if (answer === notNow) await state.update(declinedKey, digest);
}
