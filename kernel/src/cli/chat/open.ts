import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { grantsOf, wholeChoice } from "../../base/consent-choice.ts";
import { isLaresError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type { Agent } from "../../base/vocabulary/agent.ts";
import type { Conversation } from "../../base/vocabulary/conversation.ts";
import { laresNames } from "../../documents/names.ts";
import { exitCodes, folderNamed, UsageError, whenReady, type CommandContext } from "../command.ts";
import { KernelClient } from "../kernel-client.ts";
import { agentNamed } from "../one-named.ts";
import type { KernelConnection } from "../ports.ts";
import { isAllowed } from "../prompts/allow.ts";
import { chooseFrom } from "../prompts/prompts.ts";
import { drawQuestion } from "../render/consent.ts";
import { oneLine } from "../render/foreign.ts";
import { renderNoModel } from "../render/language-models.ts";
import { wrap } from "../render/width.ts";
import { withEnvironment } from "../run/environment.ts";
import { warnOfFaults } from "../run/faults.ts";
import { ensureTrust } from "../run/trust.ts";
import { chosenConversation, conversationNamed } from "./choices.ts";
import { kernelFor } from "./kernel-for.ts";
import { addSteward } from "./steward.ts";

export interface ChatOptions {
  readonly folder?: string;
  /** True: without an id. */
  readonly resume?: string | true;
  readonly fork?: string;
  readonly rehearse?: string;
  readonly model?: string;
}

export interface OpenedChat {
  readonly connection: KernelConnection;
  connect(): Promise<KernelConnection>;
  readonly conversation: Conversation;
  /** It was begun here, so that it is deleted if nothing is said in it. */
  readonly isNew: boolean;
  readonly agents: readonly Agent[];
  /** The name of the script that answers instead of a model. */
  readonly rehearsal: string | null;
  /** The command, without its arguments, that talks again in this folder and with this script. */
  readonly again: string;
  /** The folder as a word behind other commands, with a blank before it; empty for the current one. */
  readonly place: string;
}

/** The provider that a rehearsal brings; see `LARES_REHEARSE`. */
const rehearsalModel = "rehearsal/script";

/**
 * Opens a conversation as the command line says: with a mind of the folder, or the one that is resumed or forked. Calls
 * `use` with it; returns an exit code if there is none.
 */
export async function withConversation(
  context: CommandContext,
  agent: string | undefined,
  options: ChatOptions,
  use: (chat: OpenedChat) => Promise<number>,
): Promise<number> {
  const folder = await folderNamed(options.folder ?? ".");
  const script = options.rehearse === undefined ? null : await scriptNamed(options.rehearse);
  // A kernel that is started here ends with this run; one that runs already asks the person's own models.
  const run = newId();
  const settings =
    script === null ? {} : { LARES_REHEARSE: script, LARES_REHEARSE_RUN: run, LARES_KERNEL_LINGER: "0s" };
  return withEnvironment(settings, async () => {
    const first = await firstUse(context, folder, script);
    if (typeof first === "number") return first;
    const connect = (): Promise<KernelConnection> => context.ports.connect({ folder });
    const connection = await context.terminal.progress(
      "starting the kernel",
      kernelFor(context.ports, folder, script === null ? null : { script, run }),
    );
    try {
      const kernel = new KernelClient(connection);
      if (!(await accepted(context, kernel, first))) {
        await connection[Symbol.asyncDispose]();
        return unlessInterrupted(context, exitCodes.failed);
      }
      await context.terminal.progress("indexing", whenReady(kernel, context.terminal.interrupted));
      // A fault in a document explains more than a missing agent does.
      const faults = await warnOfFaults(context, folder);
      let agents = await minds(kernel);
      const isAsking = agent === undefined && options.resume === undefined && options.fork === undefined;
      if (agents.length === 0 && faults > 0) throw new UsageError(noMind(faults));
      if (agents.length === 0 && isAsking && first === null && context.terminal.isInteractive) {
        if ((await addSteward(context, kernel, folder)) === "refused") {
          await connection[Symbol.asyncDispose]();
          return unlessInterrupted(context, exitCodes.failed);
        }
        agents = await minds(kernel);
      }
      const opened = await conversationOf(context, kernel, agents, agent, {
        ...options,
        ...(script === null ? {} : { model: rehearsalModel }),
      });
      if (opened === null) {
        await connection[Symbol.asyncDispose]();
        return unlessInterrupted(context, exitCodes.failed);
      }
      if (opened.isNew && opened.conversation.context.limit === 0 && opened.conversation.model === "") {
        // The first message would fail.
        await kernel.deleteConversation(opened.conversation.id);
        await context.ports.withUserServices(async ({ documentPath }) =>
          context.terminal.warn(renderNoModel(documentPath)),
        );
        await connection[Symbol.asyncDispose]();
        return exitCodes.usage;
      }
      const rehearsal = script === null ? null : basename(script);
      const again = againWith(options);
      return await use({ connection, connect, ...opened, agents, rehearsal, again, place: placeOf(options) });
    } catch (error) {
      await connection[Symbol.asyncDispose]();
      throw error;
    }
  });
}

const minds = async (kernel: KernelClient): Promise<readonly Agent[]> =>
  (await kernel.agents()).filter(({ mind }) => mind === true);

const noMind = (faults: number): string =>
  faults > 0
    ? "No agent of this folder has a mind that you can talk to, and its documents have the errors above. Repair them first."
    : "No agent of this folder has a mind that you can talk to. Add dev.lares.steward to extensions in lares.yaml, or allow it with lares permissions.";

function unlessInterrupted({ terminal }: CommandContext, code: number): number {
  return terminal.interrupted.aborted ? terminal.interruptedCode : code;
}

/** Returns the command for the same folder and script, to be copied into a shell. */
function againWith({ folder = ".", rehearse }: Pick<ChatOptions, "folder" | "rehearse">): string {
  return [
    "lares chat",
    ...(folder === "." ? [] : ["--folder", shellWord(folder)]),
    ...(rehearse === undefined ? [] : ["--rehearse", shellWord(rehearse)]),
  ].join(" ");
}

function placeOf({ folder = "." }: Pick<ChatOptions, "folder">): string {
  return folder === "." ? "" : ` ${shellWord(folder)}`;
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${oneLine(text).replaceAll("'", "'\\''")}'`;
}

async function scriptNamed(name: string): Promise<string> {
  const path = resolve(name);
  if ((await stat(path).catch(() => null))?.isFile() !== true)
    throw new UsageError(`The script "${name}" does not exist. --rehearse names a file with turns.`);
  return path;
}

/** The question that is asked in a folder without a document. */
interface FirstUse {
  /** The document that was written to ask, which is removed if the person says no. */
  readonly document: string;
  readonly sees: string;
}

/**
 * Prepares a folder without a document: writes the one that asks for the steward into the folder's state. Returns null
 * if there is a document already, or an exit code.
 */
async function firstUse(
  { ports, terminal }: CommandContext,
  folder: string,
  script: string | null,
): Promise<FirstUse | null | number> {
  const state = await ports.stateOf(folder);
  for (const place of [folder, state])
    for (const name of laresNames)
      if ((await stat(join(place, name)).catch(() => null))?.isFile() === true) return null;
  const model = script === null ? await modelOf(ports, terminal) : null;
  if (script === null && model === null) return exitCodes.usage;
  if (!terminal.isInteractive)
    throw new UsageError(
      `There is no lares.yaml in ${folder}, and nobody can be asked whether to use the steward there. Run lares chat once at a terminal, or write lares.yaml.`,
    );
  const document = join(state, "lares.yaml");
  const text = await readFile(join(ports.templatesFolder, "chat.yaml"), "utf8");
  await writeFile(document, text, { flag: "wx", mode: 0o600 });
  const sees =
    model === null
      ? `Nothing of them leaves this machine: ${basename(script ?? "")} answers instead of a model.`
      : `What it reads of them is sent to the model ${model}.`;
  return { document, sees };
}

/** Returns the model that a conversation uses; null, with what to do on the screen, if there is none. */
async function modelOf(
  ports: CommandContext["ports"],
  terminal: CommandContext["terminal"],
): Promise<string | null> {
  return ports.withUserServices(async ({ models, documentPath }) => {
    const known = await models.list(false, terminal.interrupted);
    const listing =
      known.providers.length > 0
        ? known
        : await terminal.progress("looking for models", models.list(true, terminal.interrupted));
    const scripted = listing.providers.find(({ api }) => api === "scripted");
    const model =
      listing.routes["channel"] ??
      listing.routes["default"] ??
      (scripted === undefined ? undefined : `${scripted.id}/script`);
    if (model !== undefined) {
      const provider = listing.providers.find(({ id }) => model.startsWith(`${id}/`));
      return provider?.local === true ? `${model} on this machine` : model;
    }
    terminal.warn(renderNoModel(documentPath));
    return null;
  });
}

async function accepted(
  context: CommandContext,
  kernel: KernelClient,
  first: FirstUse | null,
): Promise<boolean> {
  const status = await kernel.status();
  if (first === null) return ensureTrust(context, kernel, status);
  const { terminal } = context;
  try {
    const question = await kernel.question();
    const { style, width } = terminal.surface;
    terminal.print([
      ...drawQuestion(question, wholeChoice(question), terminal.surface).lines,
      "",
      // At the end, where it is read: the rest may have been scrolled away.
      ...wrap(
        `There is no lares.yaml here. Lares' steward can talk with you about the files of ${oneLine(status.workspace)}.`,
        width,
      ),
      ...wrap(first.sees, width).map((line) => style.bold(line)),
    ]);
    if (await isAllowed(terminal, "Use it in this folder?")) {
      await kernel.trust(question.digest, grantsOf(wholeChoice(question)));
      return true;
    }
  } catch (error) {
    await rm(first.document, { force: true });
    throw error;
  }
  await rm(first.document, { force: true });
  terminal.warn("Nothing was allowed. Start lares chat again to be asked again.");
  return false;
}

async function conversationOf(
  { terminal }: CommandContext,
  kernel: KernelClient,
  agents: readonly Agent[],
  agent: string | undefined,
  { resume, fork, model }: ChatOptions,
): Promise<{ readonly conversation: Conversation; readonly isNew: boolean } | null> {
  const chosen = agent === undefined ? undefined : agentNamed(agents, agent).id;
  const withModel = async (conversation: Conversation): Promise<Conversation> =>
    model === undefined
      ? conversation
      : modelNamed(model, kernel.updateConversation({ id: conversation.id, model }));
  if (fork !== undefined) {
    const { id, at } = forkNamed(fork);
    const origin = await conversationNamed(kernel, id);
    const copy = await kernel.forkConversation(origin.id, at);
    try {
      return { conversation: await withModel(copy), isNew: false };
    } catch (error) {
      // Nobody would know of it.
      await kernel.deleteConversation(copy.id).catch(() => null);
      throw error;
    }
  }
  if (typeof resume === "string")
    return { conversation: await withModel(await conversationNamed(kernel, resume)), isNew: false };
  if (resume === true) {
    const conversation = await chosenConversation(terminal, kernel, agents, chosen);
    return conversation === null ? null : { conversation: await withModel(conversation), isNew: false };
  }
  const id = chosen ?? (await onlyAgent(terminal, agents));
  if (id === null) return null;
  return {
    conversation: await (model === undefined
      ? kernel.openConversation({ agent: id })
      : modelNamed(model, kernel.openConversation({ agent: id, model }))),
    isNew: true,
  };
}

/** Returns what the request does; UsageError if the model that the person named does not exist. */
async function modelNamed(model: string, request: Promise<Conversation>): Promise<Conversation> {
  try {
    return await request;
  } catch (error) {
    if (model !== rehearsalModel && isLaresError(error, "ModelError"))
      throw new UsageError(oneLine(error.message), { cause: error });
    throw error;
  }
}

function forkNamed(text: string): { readonly id: string; readonly at?: number } {
  const [id = "", at] = text.split("@");
  if (at === undefined) return { id };
  if (!/^[1-9]\d{0,15}$/.test(at))
    throw new UsageError(
      `"${at}" is not the number of an entry. Write --fork ID@SEQ, such as --fork 5c1f9e20@12.`,
    );
  return { id, at: Number(at) };
}

async function onlyAgent(
  terminal: CommandContext["terminal"],
  agents: readonly Agent[],
): Promise<string | null> {
  const usable = agents.filter(({ disabled, state }) => disabled !== true && state !== "Suspended");
  const [only, other] = usable;
  if (only === undefined) throw new UsageError(noMind(0));
  if (other === undefined) return only.id;
  if (!terminal.isInteractive)
    throw new UsageError(`Several agents have a mind. Name one: ${usable.map(({ id }) => id).join(", ")}.`);
  return chooseFrom(terminal, {
    message: "Whom do you want to talk to?",
    options: usable.map(({ id, name }) => ({ value: id, label: oneLine(name), hint: oneLine(id) })),
  });
}
