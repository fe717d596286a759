import type { StillSaid } from "../../base/vocabulary/still-said.ts";
import { resolve } from "node:path";
import { type CommandContext, exitCodes, requireConfirmation, UsageError } from "../command.ts";
import type { KernelClient, MemoryOwner } from "../kernel-client.ts";
import { copyLines } from "../chat/render/redaction.ts";
import { remains } from "../render/still-said.ts";
import { oneLine } from "../render/foreign.ts";
import { truncate } from "../render/width.ts";
import { renderImport } from "../render/memory-stats.ts";
import { bytes, counted } from "../render/quantities.ts";
import { memoryNamed, type NamedMemory } from "./name-memory.ts";
import { nameOf } from "./select-memory.ts";

export interface TransferOptions {
  readonly force?: boolean;
  readonly yes?: boolean;
  readonly head?: string;
  readonly reason?: string;
  readonly copies?: boolean;
  readonly json?: boolean;
}

/** Characters of a memory's text in a question: enough to see that it is the right one. */
const maxQuoted = 200;

export async function exportTo(
  { terminal }: CommandContext,
  kernel: KernelClient,
  whose: MemoryOwner,
  file: string,
  { force, json }: TransferOptions,
): Promise<number> {
  const path = resolve(file);
  const done = await terminal.progress(
    `exporting ${nameOf(whose)}`,
    kernel.exportMemory(whose, path, force === true),
  );
  if (json === true) terminal.json(done);
  else {
    const { style } = terminal.surface;
    const vectors = done.vectors === 0 ? "" : ` and ${counted(done.vectors, "vector")}`;
    terminal.print([
      `${style.green("✓")} ${counted(done.records, "record")}${vectors}, ${bytes(done.bytes)}, in ${oneLine(done.path)}`,
      `  ${style.dim("head")} ${oneLine(done.head)}`,
      style.dim("    Compare the head when you import it: a forged memory has a different one."),
    ]);
  }
  return exitCodes.ok;
}

/** Shows what the file contains, asks, and imports it. */
export async function importFrom(
  context: CommandContext,
  kernel: KernelClient,
  agent: string,
  file: string,
  options: TransferOptions,
): Promise<number> {
  const { terminal } = context;
  const path = resolve(file);
  requireConfirmation(terminal, options, "Importing");
  const { head } = options;
  if (head !== undefined && !/^[0-9a-f]{64}$/.test(head))
    throw new UsageError("--head must be the complete head that the export printed: 64 hexadecimal digits.");
  const expected = head === undefined ? {} : { head };
  const found = await terminal.progress(
    "verifying the file",
    kernel.importMemory(agent, path, { preview: true, ...expected }),
  );
  if (options.json !== true)
    terminal.print([`${oneLine(path)} is whole. In it:`, ...renderImport(found, terminal.surface)]);
  if (
    options.yes !== true &&
    !(await terminal.confirm(`Make this the memory of ${oneLine(agent)}, which is empty?`))
  ) {
    terminal.warn("Nothing was imported.");
    return exitCodes.failed;
  }
  // Imports exactly what was shown, even if the file has changed meanwhile.
  const importing = kernel.importMemory(agent, path, { preview: false, head: found.head });
  const done = await terminal.progress(`importing into ${agent}`, importing);
  const { style } = terminal.surface;
  if (options.json === true) terminal.json(done);
  else
    terminal.print(`${style.green("✓")} ${counted(done.records, "record")} imported into ${oneLine(agent)}`);
  return exitCodes.ok;
}

export async function forget(
  context: CommandContext,
  kernel: KernelClient,
  agent: string,
  given: string,
  options: TransferOptions,
): Promise<number> {
  const { terminal } = context;
  requireConfirmation(terminal, options, "Forgetting");
  const found = await memoryNamed(kernel, { agent }, given, { events: true });
  const { id } = found;
  if (options.yes !== true) {
    terminal.print([
      `Deletes the contents of all records of ${shown(found)} from the journal of ${oneLine(agent)} and from its search indexes.`,
      "The journal still proves that it existed, and when. Its contents cannot be recovered, except from an export or a backup.",
    ]);
    if (!(await terminal.confirm("Forget it?"))) {
      terminal.warn("Nothing was forgotten.");
      return exitCodes.failed;
    }
  }
  const done = await terminal.progress(
    "forgetting",
    kernel.forgetMemory(agent, id, {
      ...(options.reason === undefined ? {} : { reason: options.reason }),
      ...(options.copies === true ? { copies: true } : {}),
    }),
  );
  const { style } = terminal.surface;
  if (options.json === true) terminal.json(done);
  else
    terminal.print([
      `${style.green("✓")} forgotten, recorded as record ${done.seq}`,
      ...(options.copies === true && (done.removed ?? []).length === 0 ? ["No copy was found."] : []),
      ...remaining(done),
      ...copyLines(done.removed ?? [], done.remains ?? [], terminal.surface),
    ]);
  return exitCodes.ok;
}

/** Replaces the text of what a mind remembers. */
export async function correct(
  context: CommandContext,
  kernel: KernelClient,
  agent: string,
  [given, ...words]: readonly string[],
  options: TransferOptions,
): Promise<number> {
  const { terminal } = context;
  const text = words.join(" ").trim();
  if (given === undefined || text === "")
    throw new UsageError("Which id, and what is right? lares memory correct [agent] <id> <text>");
  requireConfirmation(terminal, options, "Correcting");
  const found = await memoryNamed(kernel, { agent }, given, { events: false });
  const { id } = found;
  if (options.yes !== true) {
    terminal.print([
      `From now on ${oneLine(agent)} remembers: ${oneLine(text)}`,
      `What ${shown(found)} says now is forgotten, and cannot be recovered.`,
    ]);
    if (!(await terminal.confirm("Correct it?"))) {
      terminal.warn("Nothing was corrected.");
      return exitCodes.failed;
    }
  }
  const done = await terminal.progress("correcting", kernel.correctMemory(agent, id, text));
  const { style } = terminal.surface;
  if (options.json === true) terminal.json(done);
  else terminal.print([`${style.green("✓")} corrected; its id is ${done.id} now`, ...remaining(done)]);
  return exitCodes.ok;
}

/** Shows what was named by a part of its id with its text, so that it is seen which one that is. */
function shown({ id, text }: NamedMemory): string {
  return text === null ? oneLine(id) : `${oneLine(id)} ("${truncate(oneLine(text), maxQuoted)}")`;
}

function remaining(done: StillSaid): string[] {
  return [
    ...remains(done, {
      blocks: "see lares blocks",
      redact: "lares conversations redact <id> removes it there",
    }),
    ...(done.conversations ?? []).map(({ id, title }) => `  ${oneLine(id).slice(-8)}  ${oneLine(title)}`),
  ];
}
