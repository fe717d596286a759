import { cardState, grantedChoice, grantsOf, wholeChoice, type Choice } from "../../base/consent-choice.ts";
import type { CommandContext } from "../command.ts";
import { hasKeyScreen, onKeyScreen } from "../key-screen.ts";
import type { KernelClient } from "../kernel-client.ts";
import { isAllowed } from "../prompts/allow.ts";
import { drawAnswer, drawQuestion } from "../render/consent.ts";
import type { Status } from "../render/model.ts";
import { wrap } from "../render/width.ts";
import type { TrustQuestion } from "../../base/vocabulary/trust.ts";
import { ConsentScreen } from "./consent-screen.ts";
import { choiceOfGrants } from "./grants.ts";

/**
 * Asks the person what the workspace's agents may do. Returns false if they did not answer, or if nobody is at the
 * terminal. `grants`: what the command line names; then nobody is asked.
 */
export async function ensureTrust(
  context: CommandContext,
  kernel: KernelClient,
  status: Status,
  grants?: readonly string[],
): Promise<boolean> {
  const { terminal } = context;
  if (grants !== undefined) {
    const question = await kernel.question();
    await answer(context, kernel, question, choiceOfGrants(question, grants));
    return true;
  }
  if (status.trusted) return true;
  const question = await kernel.question();
  if (!terminal.isInteractive) {
    terminal.warn(drawQuestion(question, grantedChoice(question), terminal.errorSurface).lines);
    terminal.warn(
      "You have not accepted this yet. Run lares run or lares chat at a terminal to be asked. Without one, lares run --trust accepts everything, and --grant a part.",
    );
    return false;
  }
  if (await askForConsent(context, kernel, question)) return true;
  terminal.warn(
    wrap("No agent was started. You are asked again the next time.", terminal.errorSurface.width),
  );
  return false;
}

/** Shows what is newly requested while agents run, and asks. */
export async function askForMore(context: CommandContext, kernel: KernelClient): Promise<boolean> {
  return askForConsent(context, kernel, await kernel.question());
}

/**
 * Shows the question and asks; returns true once it was answered. A question that changed meanwhile is shown again.
 */
export async function askForConsent(
  context: CommandContext,
  kernel: KernelClient,
  question: TrustQuestion,
): Promise<boolean> {
  const choice = await chosen(context, kernel, question);
  if (choice === null) return false;
  await answer(context, kernel, question, choice);
  return true;
}

async function chosen(
  { terminal }: CommandContext,
  kernel: KernelClient,
  question: TrustQuestion,
): Promise<Choice | null> {
  if (hasKeyScreen(terminal)) {
    const screen = new ConsentScreen({
      question,
      surface: () => terminal.surface,
      program: (extension, path) => kernel.program(extension, path),
    });
    return await onKeyScreen(terminal, screen);
  }
  const whole = wholeChoice(question);
  terminal.print(drawQuestion(question, grantedChoice(question), terminal.surface).lines);
  terminal.print(wrap(footnote, terminal.surface.width));
  return (await isAllowed(terminal, "Allow everything?")) ? whole : null;
}

const nothingAllowed = "You ticked nothing, so no agent runs. To choose again, run: lares permissions";

const footnote =
  "Agents run in a sandbox, and change files only through proposals that you or these rules approve. Use lares run --grant to allow a part.";

async function answer(
  { terminal }: CommandContext,
  kernel: KernelClient,
  question: TrustQuestion,
  choice: Choice,
): Promise<void> {
  // Bound to what was shown: the kernel refuses if it has changed meanwhile.
  await kernel.trust(question.digest, grantsOf(choice));
  const names = question.extensions.some((card) => cardState(choice, card) !== "none");
  terminal.warn(names ? drawAnswer(question, choice, terminal.errorSurface) : nothingAllowed);
}

/**
 * Accepts changed programs of allowed extensions, with their existing grants; returns false if there is a new question.
 */
export async function acceptPrograms(
  kernel: Pick<KernelClient, "question" | "trust">,
  digest: string,
): Promise<boolean> {
  const question = await kernel.question();
  if (question.digest !== digest) return false;
  await kernel.trust(digest, grantsOf(grantedChoice(question)));
  return true;
}
