import { UsageError } from "../command.ts";
import { oneLine } from "../render/foreign.ts";
import { knownLines, shortIdLength } from "./render/known.ts";
import type { Terminal } from "../terminal.ts";
import type { Asking } from "./asking.ts";
import { correctKnown, forgetKnown, memoriesLike } from "./known.ts";
import { forgetQuestion, type Known } from "./state/memories.ts";

type Verb = "memories" | "correct" | "forget";

/** The words behind an id with which a memory is forgotten. */
const forgetWords = ["yes", "everywhere"] as const;

/**
 * Lists what the mind remembers; or, where the end of a memory's id is given, corrects or forgets that one. Forgetting
 * needs another word, because nobody can be asked here.
 */
export async function knownInLines(
  { kernel, conversation }: Asking,
  terminal: Terminal,
  verb: Verb,
  rest: string,
): Promise<void> {
  const [, named = "", said = ""] = /^(\S+)\s*([^]*)/.exec(rest) ?? [];
  const item = verb === "memories" || named === "" ? null : await memoryNamed(named);
  if (item === null) {
    const listed = await memoriesLike(kernel, conversation, rest);
    terminal.print(knownLines(listed, terminal.surface));
    if (verb !== "memories" && listed.items.length > 0)
      terminal.warn(
        verb === "correct"
          ? "Correct one with: /correct ID what it says from now on"
          : `Forget one with: /forget ID ${forgetWords.join(" | ")}`,
      );
    return;
  }
  if (verb === "correct") {
    if (said.trim() === "") throw new UsageError(`Write what it says from now on: /correct ${named} TEXT`);
    terminal.warn(await correctKnown(kernel, conversation, item, said.trim()));
    return;
  }
  const word = forgetWords.find((each) => each === said.trim());
  if (word === undefined) {
    terminal.print(knownLines({ title: forgetQuestion(item), items: [item] }, terminal.surface));
    throw new UsageError(
      `Nothing was forgotten. Write "/forget ${oneLine(named)} yes"; or "everywhere" instead of "yes" to remove its text from all conversations that have it, too.`,
    );
  }
  terminal.warn(await forgetKnown(kernel, conversation, item, word === "everywhere"));

  /** Returns the memory whose id ends like this; null for a word. */
  async function memoryNamed(end: string): Promise<Known | null> {
    if (end.length < shortIdLength || !/^[\w-]+$/.test(end)) return null;
    const { items } = await memoriesLike(kernel, conversation, "");
    return items.find((each) => each.kind === "memory" && each.id?.endsWith(end) === true) ?? null;
  }
}
