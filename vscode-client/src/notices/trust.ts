import { performance } from "node:perf_hooks";
import { commands, Disposable, window, workspace, type Memento } from "vscode";
import { reporting } from "../deciding/explain.ts";
import type { ClientContext, Feature } from "../feature.ts";
import { trustQuestion, type TrustQuestion } from "../model/trust-question.ts";
import type { Status } from "../protocol.ts";
import { consentPage, restrictedFirst } from "../views/consent.ts";

const reviewButton = "Choose…";
const notNow = "Not Now";
/** The digest that a person answered with "Not Now": they are not asked about it again automatically. */
const declinedKey = "lares.trust.declined";

/**
 * Returns the question that waits for the person, unless they postponed it; null if there is none, and in Restricted
 * Mode.
 */
export function waitingQuestion(status: Status | undefined, state: Memento): TrustQuestion | null {
  const question = trustQuestion(status);
  if (question === null || !workspace.isTrusted || status?.trust.asks.length === 0) return null;
  return state.get(declinedKey) === question.digest ? null : question;
}

/** Tells a person that documents request something, and opens the page on which they answer. */
export const trust: Feature = (context) => {
  const { models, kernel, extension } = context;
  const page = consentPage(context, async (digest) => {
    await extension.workspaceState.update(declinedKey, digest);
  });
  let offered = "";
  /** Number of reviews that a person has started; what is on the screen, or about to be, is not announced again. */
  let reviews = 0;
  const review = async (given: unknown): Promise<void> => {
    reviews++;
    try {
      if (isForWhatComes(given)) await questionOf(context, maxQuestionWaitMs);
      if (!(await restrictedFirst())) await page.open();
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
    if (reviews > 0 || page.isOpen) return;
    if (extension.workspaceState.get(declinedKey) === question.digest) return;
    void offer(question, extension.workspaceState);
  };
  update();
  return Disposable.from(
    page,
    models.status.onDidChange(update),
    kernel.onDidChangeState(update),
    commands.registerCommand("lares.trustWorkspace", (given?: unknown) =>
      reporting("Nothing was allowed", () => review(given)),
    ),
  );
};

/** The kernel reads a new document shortly after it was written; this is how long a person waits for its question. */
const maxQuestionWaitMs = 15_000;
const betweenQuestionsMs = 300;

/** The starter's argument for documents that were written just now, and that the kernel has yet to read. */
export const forWhatComes = { awaits: true } as const;

function isForWhatComes(given: unknown): boolean {
  return typeof given === "object" && given !== null && "awaits" in given && given.awaits === true;
}

/** Resolves once the kernel has a question, or after `patienceMs`. */
async function questionOf({ kernel }: ClientContext, patienceMs: number): Promise<void> {
  const endsAt = performance.now() + patienceMs;
  while (performance.now() < endsAt) {
    // A starting kernel answers with an error.
    const status = await kernel.request("lares/status", {}).catch(() => undefined);
    // A workspace without documents has an empty question; the awaited one is not empty.
    if (status !== undefined && trustQuestion(status) !== null && status.trust.asks.length > 0) return;
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
