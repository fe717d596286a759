import { isLaresError } from "../../base/errors.ts";
import type { Ask, AskScope } from "../../base/vocabulary/ask.ts";
import type { KernelClient } from "../kernel-client.ts";
import { cardKeys } from "../keyboard/card-keys.ts";
import { pickByKey } from "../prompts/pick-by-key.ts";
import { answersTo } from "../render/question-keys.ts";
import { oneLine } from "../render/foreign.ts";
import { renderAsk } from "../render/asks.ts";
import type { Terminal } from "../terminal.ts";

/** "later": it stays open, and can be answered elsewhere. "ended": it was, or nothing waits for it any more. */
export type AskAnswer =
  { readonly allow: boolean; readonly remember?: AskScope } | "later" | "ended" | "quit";

interface QuestionPorts {
  readonly kernel: Pick<KernelClient, "asks" | "answerAsk" | "on">;
  /**
   * Shows the question and waits for the answer; null where nobody can be asked. `ended`: it was answered elsewhere, or
   * nothing waits for it any more.
   */
  readonly ask: ((ask: Ask, ended: AbortSignal) => Promise<AskAnswer>) | null;
  /** Nobody would answer before the run ends by itself: what waits is denied. */
  readonly denies: boolean;
  remark(text: string): void;
  quit(): void;
}

/**
 * Asks what calls wait for, beginning with what waits already. Where nobody can be asked, it says so, and denies it if
 * the run would otherwise wait for ever.
 */
export async function followAsks(ports: QuestionPorts): Promise<Disposable & { readonly isBusy: boolean }> {
  const { kernel } = ports;
  /** Those that wait, by id; the kernel bounds how many do. One that was put off stays and is not asked again. */
  const waiting = new Map<string, { readonly ended: AbortController; isAsking: boolean }>();
  let isOver = false;
  const consider = async (ask: Ask): Promise<void> => {
    const known = waiting.get(ask.id);
    if (ask.state !== "Pending") {
      waiting.delete(ask.id);
      return known?.ended.abort(ask.state);
    }
    if (known !== undefined || isOver) return;
    const question = { ended: new AbortController(), isAsking: true };
    waiting.set(ask.id, question);
    try {
      await answer(ask, question.ended.signal, ports);
    } finally {
      question.isAsking = false;
    }
  };
  const listening = kernel.on("lares/asks/changed", (ask) => void consider(ask));
  for (const ask of (await kernel.asks("Pending")).toReversed()) void consider(ask);
  return {
    get isBusy() {
      return [...waiting.values()].some(({ isAsking }) => isAsking);
    },
    [Symbol.dispose]() {
      isOver = true;
      listening[Symbol.dispose]();
    },
  };
}

async function answer(
  asked: Ask,
  ended: AbortSignal,
  { kernel, ask, denies, remark, quit }: QuestionPorts,
): Promise<void> {
  const { id, digest, title } = asked;
  if (ask === null && !denies)
    return remark(`A question waits: ${oneLine(title)} Answer it with: lares asks allow ${id.slice(-8)}`);
  const given = ask === null ? ({ allow: false, remember: "once" } as const) : await ask(asked, ended);
  if (given === "later") return;
  if (given === "ended")
    return remark(
      ended.reason === "Expired"
        ? `Nothing waits for that answer any more: ${oneLine(title)}`
        : `${String(ended.reason)} elsewhere: ${oneLine(title)}`,
    );
  if (given === "quit") return quit();
  try {
    await kernel.answerAsk(id, { digest, ...given });
    if (ask === null) remark(`Denied, because this run can ask nobody: ${oneLine(title)}`);
  } catch (error) {
    // It was answered elsewhere or expired meanwhile, or the kernel has gone.
    if (!isLaresError(error)) throw error;
    remark(`That question could not be answered: ${error.message}`);
  }
}

/**
 * Shows a question and asks, until it is answered or `ended` says that it was elsewhere. Ctrl-C leaves it waiting and
 * ends the run.
 */
export async function askQuestion(terminal: Terminal, ask: Ask, ended: AbortSignal): Promise<AskAnswer> {
  // While it waited for its turn; nobody has seen it here.
  if (ended.aborted) return "later";
  terminal.print(["", ...renderAsk(ask, terminal.surface)]);
  const choice = await pickByKey<AskAnswer>(terminal, {
    message: "Your answer?",
    signal: AbortSignal.any([terminal.interrupted, ended]),
    choices: [
      ...answersTo(ask).map(({ key, words, allow, remember }) => ({
        key,
        words,
        value: { allow, remember },
      })),
      { key: cardKeys.later, words: "later", hint: "keep it waiting", value: "later" as const },
    ],
  });
  if (choice === null) return ended.aborted && !terminal.interrupted.aborted ? "ended" : "quit";
  return choice;
}
