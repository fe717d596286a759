import { setTimeout as pause } from "node:timers/promises";
import { grantedChoice, grantsOf, keptChoice, wholeChoice, type Choice } from "../../base/consent-choice.ts";
import { isLaresError } from "../../base/errors.ts";
import type { TrustCard, TrustQuestion } from "../../base/vocabulary/trust.ts";
import { exitCodes, whenReady, withKernel, type CommandContext } from "../command.ts";
import type { KernelClient } from "../kernel-client.ts";
import { type PackageOffer, runsModel } from "../../services/packages.ts";
import { oneLine } from "../render/foreign.ts";
import { askForConsent } from "../run/trust.ts";

/** How the question about an installed extension is answered. */
type Answering =
  /** A person ticks what they allow. */
  | "ask"
  /** Everything that the extension requests is allowed. */
  | "all"
  /** Its new version keeps the permissions that were allowed before. */
  | "as-before";

export interface Started {
  readonly code: number;
  /** The agent's state in this workspace; null if it was not allowed to run. */
  readonly state: string | null;
}

/** How long the kernel may take to find a changed document and extension. */
const findMs = 30_000;
const pollMs = 100;
/** The documents may change while the answer is on its way. */
const maxAnswers = 5;

/** Asks for consent to an installed extension through the workspace's kernel, and starts its agent. */
export async function startInstalled(
  context: CommandContext,
  folder: string,
  offer: Pick<PackageOffer, "id" | "version" | "requests">,
  answering: Answering,
): Promise<Started> {
  const { id, version } = offer;
  const { terminal } = context;
  return withKernel(context, { folder }, async (kernel) => {
    const question = await terminal.progress(
      "looking for the extension",
      found(kernel, id, version, terminal.interrupted),
    );
    if (question === null) {
      terminal.warn(`The kernel of this workspace does not find ${id} ${version}. lares check shows why.`);
      return { code: exitCodes.failed, state: null };
    }
    const card = cardOf(question, id, version);
    if (card?.program.fault !== undefined)
      terminal.warn(`Its program cannot run: ${oneLine(card.program.fault)}`);
    if (card?.granted !== true && answering === "as-before") {
      terminal.warn(`${id} was not allowed to run here before. lares permissions asks you.`);
      return { code: exitCodes.ok, state: null };
    }
    const isKnown = card?.answered === true && card.granted && (await isUnchanged(kernel, question));
    const isAnswered =
      isKnown ||
      (answering === "ask"
        ? await askForConsent(context, kernel, await kernel.question())
        : await answer(context, kernel, question, offer, answering));
    if (!isAnswered) {
      terminal.warn(`${id} is installed and does not run yet. To be asked again: lares permissions`);
      return { code: exitCodes.waiting, state: null };
    }
    await terminal.progress("starting", whenReady(kernel, terminal.interrupted));
    const agent = (await kernel.agents()).find((each) => each.id === id);
    if (agent?.state === "Error") terminal.warn(`${id}: ${oneLine(agent.error ?? "It cannot run.")}`);
    return { code: agent?.state === "Error" ? exitCodes.failed : exitCodes.ok, state: agent?.state ?? null };
  });
}

/** Returns true if the kernel, which reads documents and programs again, still asks for nothing beyond the grants. */
async function isUnchanged(kernel: KernelClient, question: TrustQuestion): Promise<boolean> {
  try {
    await kernel.trust(question.digest, grantsOf(grantedChoice(question)));
    return true;
  } catch (error) {
    if (isLaresError(error, "DigestMismatch")) return false;
    throw error;
  }
}

/** Resolves with the question once it is about this version; null if the kernel does not find it. */
async function found(
  kernel: KernelClient,
  id: string,
  version: string,
  signal: AbortSignal,
): Promise<TrustQuestion | null> {
  for (let waitedMs = 0; waitedMs < findMs; waitedMs += pollMs) {
    const question = await kernel.question();
    if (cardOf(question, id, version) !== undefined) return question;
    await pause(pollMs, undefined, { signal });
  }
  return null;
}

const cardOf = (question: TrustQuestion, id: string, version: string): TrustCard | undefined =>
  question.extensions.find((card) => card.extension === id && card.version === version);

/** Changes that every version may make: they are accepted with the update itself. */
const ordinary =
  /^(?:No longer requested: |(?:version|name|main): |Its program has changed\.$|Its identity, prompts or skills have changed\.$)/i;

/**
 * True if the card asks nothing that the person has not answered in this workspace. The installed version may have asked for more
 * than they have: it may come from another workspace, or its question was left open.
 */
function asksNothingNew({ parts, folders, facts, changes }: TrustCard): boolean {
  const isKnown = ({ change }: { readonly change: string }): boolean => change === "unchanged";
  return [...parts, ...folders, ...facts].every(isKnown) && changes.every((change) => ordinary.test(change));
}

/** Returns what the package's offer did not show: settings and models of `lares.yaml`, which may be a stranger's. */
function unseenFacts(card: TrustCard | undefined, requests: readonly string[]): string[] {
  return (card?.facts ?? []).flatMap(({ kind, change, text }) => {
    if (change === "unchanged") return [];
    if (kind === "setting") return [`the setting ${text}`];
    return kind === "model" && !requests.includes(runsModel(text)) ? [`the model ${text}`] : [];
  });
}

/** Answers for this extension alone: everything else stays as it was granted. */
async function answer(
  { terminal }: CommandContext,
  kernel: KernelClient,
  shown: TrustQuestion,
  { id, version, requests }: Pick<PackageOffer, "id" | "version" | "requests">,
  answering: "all" | "as-before",
): Promise<boolean> {
  let question = shown;
  for (let count = 0; count < maxAnswers; count++) {
    const card = cardOf(question, id, version);
    if (answering === "as-before" && (card === undefined || !asksNothingNew(card))) {
      terminal.warn([
        `${id} ${version} requests what you have not answered yet in this workspace:`,
        ...(card?.changes ?? []).map((change) => `  - ${oneLine(change)}`),
      ]);
      return false;
    }
    const unseen = unseenFacts(card, requests);
    if (answering === "all" && unseen.length > 0) {
      terminal.warn([
        `The lares.yaml of this workspace has for ${id} what the package does not, so --yes does not allow it:`,
        ...unseen.map((fact) => `  - ${oneLine(fact)}`),
      ]);
      return false;
    }
    const granted = grantedChoice(question);
    const whole = wholeChoice(question).extensions.get(id);
    const choice: Choice =
      answering === "all" && whole !== undefined
        ? { ...granted, extensions: new Map(granted.extensions).set(id, whole) }
        : keptChoice(granted, question);
    try {
      await kernel.trust(question.digest, grantsOf(choice));
      const others = question.extensions.filter((card) => card.extension !== id && !card.answered);
      if (others.length > 0)
        terminal.warn(
          `This workspace also names ${others.map(({ extension }) => extension).join(", ")}, which you have not allowed. lares permissions shows what they request.`,
        );
      return true;
    } catch (error) {
      if (!isLaresError(error, "DigestMismatch")) throw error;
      const next = await found(kernel, id, version, terminal.interrupted);
      if (next === null) return false;
      question = next;
    }
  }
  terminal.warn(
    "The workspace's documents keep changing, so nothing was allowed. Run lares permissions later.",
  );
  return false;
}
