import { performance } from "node:perf_hooks";
import { commands, Disposable, window, workspace } from "vscode";
import { refusalOf, reporting } from "./commands/explain.ts";
import type { ClientContext, Feature } from "./feature.ts";
import { label, wrapped } from "./model/text.ts";
import { trustQuestion, type TrustQuestion } from "./model/trust-question.ts";

const allow = "Allow";
const reviewButton = "Choose…";
const notNow = "Not Now";
/** The digest a person said "Not Now" to: they are not asked about it again by themselves. */
const declinedKey = "lares.trust.declined";
/** Of a line in that document: an editor neither breaks long lines nor shows the ends of very long ones. */
const maxLineCharacters = 100;
/** A modal message has room for so much; more is shown as a document beside the question. */
const maxModalLines = 12;
const maxModalCharacters = 2_000;

/** What the workspace's documents ask for, and a person's yes to it. */
export const trust: Feature = (context) => {
  const { models, kernel, extension } = context;
  let offered = "";
  /** Reviews that a person began: what is on the screen, or about to be, is not offered beside it. */
  let reviews = 0;
  const review = async (given: unknown): Promise<void> => {
    reviews++;
    try {
      if (isForWhatComes(given)) await questionOf(context, maxQuestionWaitMs);
      await reviewAll(context);
    } finally {
      reviews--;
    }
  };
  const update = (): void => {
    const question = trustQuestion(models.status.current);
    const state = kernel.state;
    const words = state.kind === "untrusted" ? `untrusted-${state.by}` : state.kind;
    void commands.executeCommand("setContext", "lares.state", words);
    void commands.executeCommand("setContext", "lares.isAsking", question !== null && workspace.isTrusted);
    if (question === null || !workspace.isTrusted || offered === question.digest) return;
    offered = question.digest;
    if (reviews > 0) return;
    if (extension.workspaceState.get(declinedKey) === question.digest) return;
    void offer(question, extension.workspaceState);
  };
  update();
  return Disposable.from(
    models.status.onDidChange(update),
    kernel.onDidChangeState(update),
    commands.registerCommand("lares.trustWorkspace", (given?: unknown) =>
      reporting("Nothing was allowed", () => review(given)),
    ),
  );
};

/** The kernel reads a new document soon after it was written; a person does not wait longer for its question. */
const maxQuestionWaitMs = 15_000;
const betweenQuestionsMs = 300;

/** As the starter calls it: for documents that were written just now, and that the kernel has yet to read. */
export const forWhatComes = { awaits: true } as const;

function isForWhatComes(given: unknown): boolean {
  return typeof given === "object" && given !== null && "awaits" in given && given.awaits === true;
}

/** Resolves once the kernel has something to ask, or after `patienceMs`. */
async function questionOf({ kernel }: ClientContext, patienceMs: number): Promise<void> {
  const endsAt = performance.now() + patienceMs;
  while (performance.now() < endsAt) {
    // A kernel that is starting says so by an error.
    const status = await kernel.request("lares/status", {}).catch(() => undefined);
    // A workspace without documents is asked about as well; the question that is waited for has something in it.
    if ((trustQuestion(status)?.asks.length ?? 0) > 0) return;
    await new Promise((resolve) => setTimeout(resolve, betweenQuestionsMs));
  }
}

async function offer(
  { title, digest }: TrustQuestion,
  state: ClientContext["extension"]["workspaceState"],
): Promise<void> {
  const answer = await window.showInformationMessage(`Lares: ${title}`, reviewButton, notNow);
  if (answer === reviewButton) await commands.executeCommand("lares.trustWorkspace");
  if (answer === notNow) await state.update(declinedKey, digest);
}

/** Shows all of it and asks; where it changed meanwhile, shows the new one and asks again. */
async function reviewAll({ kernel }: ClientContext): Promise<void> {
  if (!workspace.isTrusted) {
    await commands.executeCommand("workbench.trust.manage");
    return;
  }
  for (;;) {
    const status = await kernel.request("lares/status", {});
    const question = trustQuestion(status);
    if (question === null) {
      await showAccepted(status.trust.asks);
      return;
    }
    if (!(await isAllowed(question))) return;
    try {
      await kernel.request("lares/trust", { trusted: true, digest: question.digest });
      window.setStatusBarMessage("$(check) Allowed. The agents are starting.", 6_000);
      return;
    } catch (error) {
      if (refusalOf(error) !== "DigestMismatch") throw error;
      void window.showWarningMessage("What this workspace asks for has changed meanwhile; look at it again.");
    }
  }
}

async function isAllowed({ title, asks }: TrustQuestion): Promise<boolean> {
  const list = asks.map((ask) => `• ${ask}`).join("\n");
  const footnote =
    "Only what is listed is allowed. Changes to files are still shown to you first, unless a rule in the list says otherwise.";
  if (asks.length <= maxModalLines && list.length <= maxModalCharacters)
    return (
      (await window.showInformationMessage(
        title,
        { modal: true, detail: asks.length === 0 ? footnote : `${list}\n\n${footnote}` },
        allow,
      )) === allow
    );
  const lines = [title, ...asks.map((ask) => `• ${ask}`), footnote];
  const document = await workspace.openTextDocument({
    language: "plaintext",
    content: `${lines.map((line) => wrapped(line, maxLineCharacters)).join("\n\n")}\n`,
  });
  await window.showTextDocument(document, { preview: true });
  return (
    (await window.showInformationMessage(`${title} All of it is in the editor.`, allow, notNow)) === allow
  );
}

async function showAccepted(asks: readonly string[]): Promise<void> {
  const detail = asks.length === 0 ? "The documents of this workspace ask for nothing." : trustList(asks);
  await window.showInformationMessage("You have allowed what this workspace asks for.", {
    modal: true,
    detail,
  });
}

function trustList(asks: readonly string[]): string {
  const shown = asks.slice(0, maxModalLines).map((ask) => label(ask, 400));
  const left = asks.length - shown.length;
  return [...shown.map((ask) => `• ${ask}`), ...(left > 0 ? [`• … and ${left} more`] : [])].join("\n");
}
